//! A product that stays whole, on a GPU: its loops with lengths and distances as expressions of the extents, its tile, and its launch.
//!
//! Axes of the result that only one factor has are its rows or columns; where several lie in memory as one, they are one. Of those that are left the
//! longest is the one of the tile, the others are loops around it.

use fuser_artifact::{Factor, GpuProduct, SizeExpr, SizeOp};
use fuser_dialects::kernel::product::{Bias, Loop, Product, Size, Tile};
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
    tensors: &GpuProduct,
    facts: &Facts,
) -> Option<Launch> {
    let bias = tensors.bias.as_ref();
    let tensors = &tensors.factors;
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
    let mut turned = false;
    // Stores go along columns: where rows lie beside each other, all is turned.
    if !columns.strides[2].is_one() && rows.strides[2].is_one() {
        std::mem::swap(&mut rows, &mut columns);
        sources.swap(0, 1);
        turned = true;
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
    let mut buffers = Vec::new();
    let added = bias.map(|bias| bias.tensor.buffer);
    for buffer in [sources[0], sources[1]]
        .into_iter()
        .chain(added)
        .chain([sources[2]])
    {
        if !buffers.contains(&buffer) {
            buffers.push(buffer);
        }
    }
    let number = |buffer: u32| buffers.iter().position(|&b| b == buffer);
    let numbers = [
        number(sources[0])?,
        number(sources[1])?,
        number(sources[2])?,
    ];
    // The last axis of the result is that of the columns.
    let bias = bias.map(|bias| {
        Some(Bias {
            buffer: number(bias.tensor.buffer)?,
            of_rows: turned,
            stride: i64::from(!bias.tensor.dims.first()?.broadcast),
        })
    });
    let bias = match bias {
        Some(bias) => Some(bias?),
        None => None,
    };
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
        bias,
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

/// Collapses two adjacent loops if a step of the outer one equals the whole range of the inner one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_artifact::{DimSpec, TensorSpec};
    use fuser_dialects::kernel::product::Along;

    const ROWS: u32 = 0;
    const TERMS: u32 = 1;

    fn factor(buffer: u32, loops: &[u32], extents: &[SizeExpr], order: &[u32]) -> Factor {
        Factor {
            tensor: TensorSpec {
                name: "x".into(),
                dtype: fuser_artifact::DType::Bf16,
                dims: extents.iter().cloned().map(DimSpec::stored).collect(),
                order: order.to_vec(),
                buffer,
            },
            loops: loops.to_vec(),
        }
    }

    fn facts(workers: u64, multiple: i64) -> Facts {
        Facts {
            workers,
            lengths: vec![1024, 1024],
            multiples: vec![multiple, multiple],
        }
    }

    fn planned(factors: [Factor; 3], facts: &Facts) -> Launch {
        let tensors = GpuProduct {
            factors,
            bias: None,
        };
        plan("f".into(), [DType::BF16; 2], &tensors, facts).unwrap()
    }

    /// Rows of a named length by a named number of terms, and 64 columns.
    fn named(order: &[u32]) -> [Factor; 3] {
        let (rows, terms) = (SizeExpr::extent(ROWS), SizeExpr::extent(TERMS));
        [
            factor(3, &[0, 2], &[rows.clone(), terms.clone()], &[]),
            factor(4, &[2, 1], &[terms, 64.into()], &[]),
            factor(5, &[0, 1], &[rows, 64.into()], order),
        ]
    }

    #[test]
    fn axes_that_lie_as_one_are_one() {
        let (batch, rows) = (SizeExpr::extent(0), SizeExpr::extent(1));
        let x = [batch.clone(), rows.clone(), 32.into()];
        let y = [batch, rows, 40.into()];
        let tensors = |order: &[u32]| {
            [
                factor(0, &[0, 1, 3], &x, order),
                factor(1, &[2, 3], &[40.into(), 32.into()], &[]),
                factor(2, &[0, 1, 2], &y, order),
            ]
        };
        let launch = planned(tensors(&[]), &facts(1, 1));
        assert!(launch.product.batch.is_empty());
        assert_eq!(launch.product.rows.strides, [32, 0, 40].map(Size::Constant));
        assert_eq!(launch.extents[0].evaluate(&[3, 5]), Ok(15));
        assert_eq!(launch.grid.evaluate(&[3, 50]), Ok(2));
        // Beside another order of both they are two, and the longer one is the rows.
        let launch = planned(tensors(&[1, 0, 2]), &facts(1, 1));
        assert_eq!(launch.product.batch.len(), 1);
        assert_eq!(launch.grid.evaluate(&[3, 50]), Ok(50));
    }

    #[test]
    fn a_result_whose_rows_lie_beside_each_other_is_turned() {
        let Launch {
            product, buffers, ..
        } = planned(named(&[1, 0]), &facts(1, 1));
        assert_eq!((buffers, product.buffers), (vec![4, 3, 5], [0, 1, 2]));
        assert_eq!(product.columns.strides[2], Size::Constant(1));
        assert_eq!(product.load(0), (Along::Lines, 8));
        let mut square = named(&[]);
        square[1].tensor.buffer = 3;
        let launch = planned(square, &facts(1, 1));
        assert_eq!(
            (launch.buffers, launch.product.buffers),
            (vec![3, 5], [0, 0, 1])
        );
    }

    #[test]
    fn loads_are_as_wide_as_lengths_allow_and_tiles_as_large_as_blocks_do() {
        for (multiple, width) in [(1, 1), (2, 2), (4, 4), (16, 8)] {
            let launch = planned(named(&[]), &facts(1, multiple));
            assert_eq!(launch.product.load(0), (Along::Terms, width));
            // The columns of the right factor are 64, whatever the terms.
            assert_eq!(launch.product.load(1), (Along::Lines, 8));
        }
        let tile = |workers, multiple| {
            let launch = planned(named(&[]), &facts(workers, multiple));
            launch.product.tile.sides
        };
        // 1,024 rows and 64 columns: 8 large tiles.
        assert_eq!((tile(8, 16), tile(9, 16)), ([128; 2], [64; 2]));
        assert_eq!(tile(8, 1), [64; 2]);
    }
}
