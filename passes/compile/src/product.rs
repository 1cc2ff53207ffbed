//! A product that stays whole, on a GPU: its loops with lengths and distances as expressions of the extents, its tile, and its launch.
//!
//! Axes of the result that only one factor has are its rows or columns; where several lie in memory as one, they are one. Of those that are left the
//! longest is the one of the tile, the others are loops around it.

use fuser_artifact::{Factor, SizeExpr, SizeOp};
use fuser_dialects::kernel::product::{Loop, Product, Size, Tile};
use fuser_ir::DType;

/// The facts on which tiles are chosen.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Multiprocessors.
    pub workers: u64,
    /// The length of each named extent that decisions are made for.
    pub lengths: Vec<i64>,
    /// A number that divides each of them.
    pub multiples: Vec<i64>,
}

/// A product with its launch.
pub struct Launch {
    /// The kernel.
    pub product: Product,
    /// Its buffers.
    pub buffers: Vec<u32>,
    /// Its parameters behind them.
    pub extents: Vec<SizeExpr>,
    /// Blocks.
    pub grid: SizeExpr,
}

/// Plans the product of two tensors that have these element types; none where no kernel computes it.
pub fn plan(
    name: String,
    [factors, result]: [DType; 2],
    tensors: &[Factor; 3],
    facts: &Facts,
) -> Option<Launch> {
    let mut loops = Loops::of(tensors)?;
    let [longest_row, longest_column] = [&mut loops.rows, &mut loops.columns].map(|own| {
        join(own);
        let length = |own: &Run| facts.length(&own.extent);
        let longest = (0..own.len()).max_by_key(|&n| (length(&own[n]), std::cmp::Reverse(n)));
        longest.map_or_else(Run::once, |n| own.remove(n))
    });
    let others = loops.rows.into_iter().chain(loops.columns);
    loops.batch.extend(others);
    join(&mut loops.batch);
    let [mut rows, mut columns] = [longest_row, longest_column];
    let mut sources = tensors.each_ref().map(|factor| factor.tensor.buffer);
    // Stores go along columns: where rows lie beside each other, all is turned.
    if !columns.strides[2].is_one() && rows.strides[2].is_one() {
        std::mem::swap(&mut rows, &mut columns);
        sources.swap(0, 1);
        let all = loops.batch.iter_mut();
        let all = all.chain([&mut rows, &mut columns, &mut loops.terms]);
        all.for_each(|own| own.strides.swap(0, 1));
    }
    let blocks = |tile: &Tile| {
        let of = |own: &Run, side: u32| own.extent.size().ceil_div(i64::from(side).into());
        let batch = loops.batch.iter().map(|own| own.extent.size());
        let matrix = of(&rows, tile.sides[0]) * of(&columns, tile.sides[1]);
        SizeExpr::product(batch) * matrix
    };
    let workers = i64::try_from(facts.workers).unwrap_or(i64::MAX);
    let enough = |tile: &Tile| {
        let blocks = blocks(tile).evaluate(&facts.lengths);
        blocks.is_ok_and(|blocks| blocks >= workers)
    };
    let tiles = Tile::of(factors);
    let mut buffers = vec![sources[0]];
    buffers.extend(sources[1..].iter().filter(|&&b| b != sources[0]));
    let number = |buffer: u32| buffers.iter().position(|&b| b == buffer);
    let numbers = [
        number(sources[0])?,
        number(sources[1])?,
        number(sources[2])?,
    ];
    let mut parameters = Vec::new();
    let mut all = |own: &Run| Loop {
        extent: facts.size(&own.extent, &mut parameters),
        strides: own
            .strides
            .each_ref()
            .map(|s| facts.size(s, &mut parameters)),
    };
    let batch = loops.batch.iter().map(&mut all).collect();
    let mut product = Product {
        name,
        factors,
        result,
        batch,
        rows: all(&rows),
        columns: all(&columns),
        terms: all(&loops.terms),
        tile: *tiles.last()?,
        buffers: numbers,
        parameters: parameters.len(),
    };
    let mut larger = tiles.iter();
    let larger = larger.find(|tile| enough(tile) && product.suits(tile));
    product.tile = larger.copied().unwrap_or(product.tile);
    Some(Launch {
        grid: blocks(&product.tile),
        product,
        buffers,
        extents: parameters.iter().map(Monomial::size).collect(),
    })
}

impl Facts {
    fn length(&self, of: &Monomial) -> i64 {
        of.size().evaluate(&self.lengths).unwrap_or(i64::MAX)
    }
    /// A monomial as a kernel sees it: a constant, or a parameter, which is a new one if there is none of it yet.
    fn size(&self, of: &Monomial, parameters: &mut Vec<Monomial>) -> Size {
        if of.factors.is_empty() {
            return Size::Constant(of.constant);
        }
        let known = parameters.iter().position(|known| known == of);
        let number = known.unwrap_or_else(|| {
            parameters.push(of.clone());
            parameters.len() - 1
        });
        let factors = of.factors.iter().map(|factor| self.divisor(factor));
        let of = factors.fold(of.constant, shorten);
        Size::Parameter { number, of }
    }
    /// A positive number that divides an expression.
    fn divisor(&self, of: &SizeExpr) -> i64 {
        let mut stack: Vec<i64> = Vec::new();
        for op in of.ops() {
            let next = match *op {
                SizeOp::Const(value) => value.saturating_abs(),
                SizeOp::Extent(n) => self.multiples.get(n as usize).copied().unwrap_or(1),
                op => {
                    let (b, a) = (stack.pop().unwrap_or(1), stack.pop().unwrap_or(1));
                    match op {
                        SizeOp::Mul => shorten(a, b),
                        SizeOp::Add | SizeOp::Sub | SizeOp::Min | SizeOp::Max => gcd(a, b),
                        _ => 1,
                    }
                }
            };
            stack.push(next);
        }
        stack.pop().unwrap_or(1).max(1)
    }
}

/// A product of divisors, or one of them where it is too large.
fn shorten(a: i64, b: i64) -> i64 {
    a.checked_mul(b).unwrap_or(a)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A product of a number and of expressions that are no numbers, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Monomial {
    constant: i64,
    factors: Vec<SizeExpr>,
}

impl Monomial {
    const fn number(constant: i64) -> Self {
        Self {
            constant,
            factors: Vec::new(),
        }
    }
    fn of(expr: &SizeExpr) -> Self {
        match expr.as_constant() {
            Some(constant) => Self::number(constant),
            None => Self {
                constant: 1,
                factors: vec![expr.clone()],
            },
        }
    }
    fn is_one(&self) -> bool {
        *self == Self::number(1)
    }
    fn times(&self, other: &Self) -> Option<Self> {
        let constant = self.constant.checked_mul(other.constant)?;
        if constant == 0 {
            return Some(Self::number(0));
        }
        let mut factors = [&self.factors[..], &other.factors].concat();
        factors.sort();
        Some(Self { constant, factors })
    }
    fn size(&self) -> SizeExpr {
        SizeExpr::product(
            [self.constant.into()]
                .into_iter()
                .chain(self.factors.clone()),
        )
    }
}

/// A loop: its length, and by how much a step moves in each tensor.
#[derive(Clone, Debug)]
struct Run {
    extent: Monomial,
    strides: [Monomial; 3],
}

impl Run {
    fn new(extent: Monomial) -> Self {
        Self {
            extent,
            strides: [const { Monomial::number(0) }; 3],
        }
    }
    fn once() -> Self {
        Self::new(Monomial::number(1))
    }
}

/// The loops of a product by the tensors that have them.
struct Loops {
    batch: Vec<Run>,
    rows: Vec<Run>,
    columns: Vec<Run>,
    terms: Run,
}

impl Loops {
    fn of(tensors: &[Factor; 3]) -> Option<Self> {
        let rank = tensors[2].loops.len();
        let mut loops: Vec<Option<Run>> = vec![None; rank + 1];
        for (which, factor) in tensors.iter().enumerate() {
            let dims = &factor.tensor.dims;
            let mut order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            if order.is_empty() {
                order = (0..dims.len()).collect();
            }
            let mut stride = Monomial::number(1);
            for axis in order.into_iter().rev() {
                let dim = dims.get(axis)?;
                let slot = loops.get_mut(*factor.loops.get(axis)? as usize)?;
                let extent = Monomial::of(&dim.extent);
                let own = slot.get_or_insert(Run::new(extent.clone()));
                if !dim.broadcast {
                    own.strides[which] = stride.clone();
                    stride = stride.times(&extent)?;
                } else if which == 2 {
                    // Along such an axis of the result there is one element.
                    own.extent = Monomial::of(&dim.extent.clone().minimum(1.into()));
                }
            }
        }
        let mut loops = loops.into_iter().collect::<Option<Vec<Run>>>()?;
        let terms = loops.pop()?;
        let mut all = Self {
            batch: Vec::new(),
            rows: Vec::new(),
            columns: Vec::new(),
            terms,
        };
        let has = |which: usize, number: usize| tensors[which].loops.contains(&(number as u32));
        for (number, own) in loops.into_iter().enumerate() {
            match (has(0, number), has(1, number)) {
                (true, false) => all.rows.push(own),
                (false, true) => all.columns.push(own),
                _ => all.batch.push(own),
            }
        }
        Some(all)
    }
}

/// Makes one loop of two, of which the outer one moves as far as all of the inner one does.
fn join(loops: &mut Vec<Run>) {
    let mut at = 1;
    while at < loops.len() {
        let (outer, inner) = (&loops[at - 1], &loops[at]);
        let strides = outer.strides.iter().zip(&inner.strides);
        let mut whole = strides.map(|(far, near)| near.times(&inner.extent).as_ref() == Some(far));
        let joined = whole.all(|whole| whole);
        match (joined, outer.extent.times(&inner.extent)) {
            (true, Some(extent)) => {
                let inner = loops.remove(at);
                loops[at - 1] = Run { extent, ..inner };
            }
            _ => at += 1,
        }
    }
}
