//! Terms, and the search for ops that are what a term says.
//!
//! A term is the form of the ops that make a value, read from the value back to what they read. A *reading* is a value with the iterator
//! whose index each of its axes has. The axes of the value that is matched are iterators `0..rank`; each axis that ops sum along is one
//! more, the same wherever the term names it. So the order of axes, axes that repeat and axes of extent 1 are no part of a term:
//!
//! ```text
//! %p = fusion.broadcast %a dims [0, 1] shape [M, K, N]
//! %q = fusion.broadcast %b dims [1, 2] shape [M, K, N]
//! %m = fusion.mul %p, %q                                 // iterators 0, k, 1
//! %y = fusion.sum %m dims [1]                            // iterators 0, 1       =>     %a at [0, k], %b at [k, 1]
//! ```
//!
//! Between the ops of a term may stand shape ops that move no data, and casts among floats. An op that carries a hint, or stands in another
//! block, is none of a term's ops. Never edits.

use fuser_dialects::fusion;
use fuser_dialects::fusion::maps;
use fuser_ir::attr::AttrKind;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::maps::{Index, Map};
use fuser_ir::{DType, Dim, Extent, Ir, Op, OpDef, Traits, Value, float};
use smallvec::SmallVec;

/// The form of the ops that make a value.
pub enum Term {
    /// Any value.
    Operand(Slot),
    /// The same value wherever the name stands.
    Named(Slot, &'static Term),
    /// An op of this table and of operands of these forms, in either order where it commutes.
    Of(&'static OpDef, &'static [&'static Term]),
    /// A comparison by this predicate.
    Compared(&'static str, [&'static Term; 2]),
    /// A reduction by an op of this table along one axis.
    Along(&'static OpDef, Axis, &'static Term),
    /// A sum of products along an axis, as ops or as one op.
    Product(Axis, [&'static Term; 2]),
    /// A constant of this value.
    Exactly(f64),
    /// A constant.
    Number(Slot),
    /// The length of an axis, as a float.
    Length(Axis),
    /// This form of a value that others may read, too: they are left with its ops.
    Beside(&'static Term),
    /// The index along an axis.
    Index(Slot),
    /// The first of these forms that it has.
    Either(&'static [&'static Term]),
    /// This form: ops that are as the term says up to here, and not further, are a near miss.
    Alike(&'static Term),
}

/// The values that a term names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// A factor of a product, or the queries.
    First,
    /// The other factor, or the keys.
    Second,
    /// The values of attention.
    Values,
    /// The value that is added.
    Bias,
    /// True where a score counts.
    Mask,
    /// True where a score does not count.
    Hidden,
    /// The factor of the scores.
    Scale,
    /// The divisor of the scores.
    Divisor,
    /// The square root of the number of terms, or one over it.
    Root,
    /// The number that stands for `-inf` where the mask leaves a key out.
    Low,
    /// The number that stands for `-inf` behind the query.
    LowBehind,
    /// The scores.
    Scores,
    /// Their exponentials.
    Weights,
    /// The index of the query, where keys behind it are left out.
    Query,
    /// That of the key.
    Key,
    /// True where the sum of the weights is zero.
    Empty,
    /// True where the greatest score is `-inf`.
    Lowest,
}

/// The number of slots.
const SLOTS: usize = Slot::Lowest as usize + 1;

/// The axes along which a term sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// The terms of the first product.
    Terms,
    /// The keys.
    Keys,
}

/// The most ops between two of a term, so that the work grows with the program alone.
const MAX_BETWEEN: usize = 16;

/// The number of such axes.
const AXES: usize = 2;

/// A value, and the iterator of each of its axes; none where the index is 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The value.
    pub value: Value,
    /// One entry for each axis.
    pub axes: SmallVec<[Option<usize>; 4]>,
}

impl Reading {
    /// True if the value varies along the iterator.
    pub fn has(&self, iter: usize) -> bool {
        self.axes.contains(&Some(iter))
    }
}

/// The ops and values that a term was found to be.
#[derive(Clone, Debug)]
pub struct Found {
    slots: [Option<Reading>; SLOTS],
    /// The extents of the iterators.
    pub extents: Vec<Dim>,
    axes: [Option<usize>; AXES],
    /// The ops that are what the term says, and those between them.
    pub inner: Vec<Op>,
    /// The inner ops that others may read, too.
    pub beside: Vec<Op>,
}

impl Found {
    /// The reading in a slot.
    pub fn get(&self, slot: Slot) -> Option<&Reading> {
        self.slots[slot as usize].as_ref()
    }
    /// The iterator of an axis.
    pub fn axis(&self, axis: Axis) -> Option<usize> {
        self.axes[axis as usize]
    }
}

/// The deepest place at which ops were something else.
struct Miss {
    /// The number of ops that were what the term says.
    depth: usize,
    value: Value,
    wanted: String,
}

/// A search from one op.
pub struct Search<'a> {
    ir: &'a Ir,
    root: Op,
    /// The state so far.
    pub found: Found,
    /// The deepest failure.
    miss: Option<Miss>,
    /// True once ops were as far as [`Term::Alike`] what the term says.
    alike: bool,
    /// The terms and ops looked at.
    pub looked: u64,
}

impl<'a> Search<'a> {
    /// A search from the result of `root`, which has one, a tensor.
    pub fn of(ir: &'a Ir, root: Op) -> Option<(Self, Reading)> {
        let [result] = ir.results(root) else {
            return None;
        };
        let tensor = ir.value_kind(*result).as_tensor()?;
        let reading = Reading {
            value: *result,
            axes: (0..tensor.dims.len()).map(Some).collect(),
        };
        let found = Found {
            slots: [const { None }; SLOTS],
            extents: tensor.dims.iter().map(|dim| Dim::new(dim.extent)).collect(),
            axes: [None; AXES],
            inner: Vec::new(),
            beside: Vec::new(),
        };
        let search = Self {
            ir,
            root,
            found,
            miss: None,
            alike: false,
            looked: 0,
        };
        Some((search, reading))
    }
    /// The reason of a near miss, `%d is no fusion.exp`.
    pub fn near_miss(&self) -> Option<String> {
        let miss = self.miss.as_ref().filter(|_| self.alike)?;
        let value = fuser_analysis::axes::value_text(self.ir, miss.value);
        Some(format!("{value} is {}", miss.wanted))
    }
    /// True if `at` is what `term` says. What was found stays only then.
    pub fn matches(&mut self, term: &Term, at: &Reading) -> bool {
        let before = self.found.clone();
        let found = self.tried(term, at);
        if !found {
            self.found = before;
        }
        found
    }
    fn tried(&mut self, term: &Term, at: &Reading) -> bool {
        self.looked += 1;
        match term {
            Term::Operand(slot) => self.named(*slot, at),
            Term::Named(slot, term) => {
                let at = self.peeled(at);
                match self.found.get(*slot) {
                    Some(_) => self.named(*slot, &at),
                    None => self.matches(term, &at) && self.named(*slot, &at),
                }
            }
            Term::Alike(term) => {
                self.alike = true;
                self.matches(term, at)
            }
            Term::Either(terms) => terms.iter().any(|term| self.matches(term, at)),
            Term::Of(def, terms) => {
                let Some((op, at)) = self.op(at, def.name, |ir, op| ir.is(op, def)) else {
                    return false;
                };
                let operands = self.operands(op, &at);
                self.found.inner.push(op);
                self.all(terms, &operands, def.traits.contains(Traits::COMMUTATIVE))
            }
            Term::Compared(predicate, terms) => {
                let is_it = |ir: &Ir, op: Op| {
                    ir.is(op, &fusion::COMPARE) && ir.str_of(op, "predicate") == Some(predicate)
                };
                let mut via = Vec::new();
                let at = peel(self.ir, self.root, at, &mut via);
                self.looked += via.len() as u64;
                let made = self.ir.def_op(at.value).filter(|&op| is_it(self.ir, op));
                let Some(op) = made else {
                    return self
                        .missed(at.value, format!("no {} {predicate}", fusion::COMPARE.name));
                };
                let before = self.found.inner.len();
                let operands = self.operands(op, &at);
                let found = self.all(terms, &operands, false);
                // A comparison of indices is no part of the ops: others may share it.
                if self.found.inner.len() > before {
                    self.found.inner.extend(via);
                    self.found.inner.push(op);
                }
                found
            }
            Term::Along(def, axis, term) => match self.reduced(def, *axis, at) {
                Some(at) => self.matches(term, &at),
                None => false,
            },
            Term::Product(axis, terms) => {
                let factors = self.contracted(*axis, at).or_else(|| {
                    let at = self.reduced(&fusion::SUM, *axis, at)?;
                    let (op, at) =
                        self.op(&at, fusion::MUL.name, |ir, op| ir.is(op, &fusion::MUL))?;
                    let operands = self.operands(op, &at);
                    self.found.inner.push(op);
                    Some(operands)
                });
                factors.is_some_and(|factors| self.all(terms, &factors, true))
            }
            Term::Exactly(wanted) => {
                let at = self.peeled_unnoted(at);
                number(self.ir, at.value) == Some(*wanted)
                    || self.missed(at.value, format!("not {wanted}"))
            }
            Term::Number(slot) => {
                let at = self.peeled_unnoted(at);
                match number(self.ir, at.value) {
                    Some(_) => self.named(*slot, &at),
                    None => self.missed(at.value, "no constant".into()),
                }
            }
            Term::Length(axis) => {
                let at = self.peeled_unnoted(at);
                let length = length(self.ir, at.value);
                let iter = self.found.axis(*axis);
                let wanted = iter.map(|iter| self.found.extents[iter].extent);
                (length.is_some() && length == wanted)
                    || self.missed(at.value, "not the number of terms".into())
            }
            Term::Beside(term) => {
                let before = self.found.inner.len();
                let found = self.matches(term, at);
                let shared = self.found.inner.drain(before..);
                self.found.beside.extend(shared);
                found
            }
            Term::Index(slot) => {
                let at = self.peeled_unnoted(at);
                // Of a narrow type, an index may be another number.
                let dtype = self.ir.value_kind(at.value).dtype();
                let made = self.ir.made_as(at.value, Computes::Index);
                let made = made.filter(|_| matches!(dtype, Some(DType::I32 | DType::I64)));
                let dim = made.and_then(|op| usize::try_from(self.ir.int_of(op, "dim")?).ok());
                match dim.and_then(|dim| *at.axes.get(dim)?) {
                    Some(iter) => self.named(
                        *slot,
                        &Reading {
                            value: at.value,
                            axes: SmallVec::from_slice(&[Some(iter)]),
                        },
                    ),
                    None => self.missed(at.value, "no index along an axis".into()),
                }
            }
        }
    }
    /// True if these operands are what these terms say.
    fn all(&mut self, terms: &[&Term], operands: &[Reading], commutes: bool) -> bool {
        if terms.len() != operands.len() {
            return false;
        }
        let before = self.found.clone();
        let mut pairs = terms.iter().zip(operands);
        if pairs.all(|(term, at)| self.matches(term, at)) {
            return true;
        }
        self.found = before;
        let mut turned = terms.iter().zip(operands.iter().rev());
        commutes && turned.all(|(term, at)| self.matches(term, at))
    }
    fn missed(&mut self, value: Value, wanted: String) -> bool {
        let depth = self.found.inner.len();
        if self.miss.as_ref().is_none_or(|miss| miss.depth <= depth) {
            self.miss = Some(Miss {
                depth,
                value,
                wanted,
            });
        }
        false
    }
    /// Notes what stands in a slot; false where another value stands in it.
    fn named(&mut self, slot: Slot, at: &Reading) -> bool {
        match self.found.get(slot) {
            Some(known) if known != at => {
                let wanted = fuser_analysis::axes::value_text(self.ir, known.value);
                self.missed(at.value, format!("not {wanted} at the same index"))
            }
            _ => {
                self.found.slots[slot as usize] = Some(at.clone());
                true
            }
        }
    }
    /// The op that computes `at`, behind shape ops and casts, if it is the wanted one.
    fn op(
        &mut self,
        at: &Reading,
        wanted: &str,
        is_it: impl Fn(&Ir, Op) -> bool,
    ) -> Option<(Op, Reading)> {
        let mut via = Vec::new();
        let at = peel(self.ir, self.root, at, &mut via);
        self.looked += via.len() as u64;
        let made = self.ir.def_op(at.value);
        match made.filter(|&op| is_near(self.ir, op, self.root) && is_it(self.ir, op)) {
            Some(op) => {
                self.found.inner.extend(via);
                Some((op, at))
            }
            None => {
                self.missed(at.value, format!("no {wanted}"));
                None
            }
        }
    }
    /// The value behind shape ops and casts, which are added to the match.
    fn peeled(&mut self, at: &Reading) -> Reading {
        let before = self.found.inner.len();
        let at = peel(self.ir, self.root, at, &mut self.found.inner);
        self.looked += (self.found.inner.len() - before) as u64;
        at
    }
    /// The same of a value that others may share: it costs nothing.
    fn peeled_unnoted(&mut self, at: &Reading) -> Reading {
        let mut via = Vec::new();
        let at = peel(self.ir, self.root, at, &mut via);
        self.looked += via.len() as u64;
        at
    }
    /// The operands of an elementwise op whose result is read so.
    fn operands(&self, op: Op, at: &Reading) -> SmallVec<[Reading; 3]> {
        let operand = |value: Value| Reading {
            value,
            axes: match self.ir.rank(value) {
                0 => SmallVec::new(),
                _ => at.axes.clone(),
            },
        };
        self.ir.operands(op).map(operand).collect()
    }
    /// The iterator of an axis of this length: the one that it has, or a new one.
    fn iterator(&mut self, axis: Axis, extent: Extent) -> usize {
        if let Some(iter) = self.found.axis(axis) {
            return iter;
        }
        let iter = self.found.extents.len();
        self.found.extents.push(Dim::new(extent));
        self.found.axes[axis as usize] = Some(iter);
        iter
    }
    /// The operand of a reduction along one axis.
    fn reduced(&mut self, def: &'static OpDef, axis: Axis, at: &Reading) -> Option<Reading> {
        let (op, at) = self.op(at, def.name, |ir, op| ir.is(op, def))?;
        let (maps, value) = (self.ir.maps(op)?, self.ir.operand(op, 0));
        let dims = &self.ir.value_kind(value).as_tensor()?.dims;
        let mut axes: SmallVec<[Option<usize>; 4]> = SmallVec::from_elem(None, dims.len());
        let mut known: SmallVec<[bool; 4]> = SmallVec::from_elem(false, dims.len());
        for (index, &own) in maps.results.first()?.axes()?.iter().zip(&at.axes) {
            if let Index::Iter(iter) = index {
                axes[*iter] = own;
                known[*iter] = true;
            }
        }
        let mut summed = (0..dims.len()).filter(|&axis| !known[axis]);
        let (Some(place), None) = (summed.next(), summed.next()) else {
            self.missed(at.value, "reduced along several axes".into());
            return None;
        };
        let iter = self.iterator(axis, dims[place].extent);
        if axes.contains(&Some(iter)) || self.found.extents[iter].extent != dims[place].extent {
            self.missed(at.value, "reduced along another axis".into());
            return None;
        }
        axes[place] = Some(iter);
        self.found.inner.push(op);
        Some(Reading { value, axes })
    }
    /// The factors of a product that is one op.
    fn contracted(&mut self, axis: Axis, at: &Reading) -> Option<SmallVec<[Reading; 3]>> {
        let is_it = |ir: &Ir, op: Op| {
            let class = ir.def(op).map(|def| def.class);
            class == Some(OpClass::Contraction) && ir.operand_count(op) == 2
        };
        let (op, at) = self.op(at, "no product", is_it)?;
        let maps = self.ir.maps(op)?;
        let last = maps.iterators.len().checked_sub(1)?;
        let place = maps.operands.first()?.axis_of(last)?;
        let first = self.ir.value_kind(self.ir.operand(op, 0)).as_tensor()?;
        let extent = first.dims.get(place)?.extent;
        let summed = self.iterator(axis, extent);
        if at.has(summed) || self.found.extents[summed].extent != extent {
            self.missed(at.value, "summed along another axis".into());
            return None;
        }
        let factor = |(value, map): (Value, &Map)| {
            let own = map.axes()?.iter().map(|index| match index {
                Index::Iter(iter) if *iter == last => Some(Some(summed)),
                Index::Iter(iter) => at.axes.get(*iter).copied(),
                _ => None,
            });
            Some(Reading {
                value,
                axes: own.collect::<Option<_>>()?,
            })
        };
        let factors = self.ir.operands(op).zip(&maps.operands).map(factor);
        let factors = factors.collect::<Option<_>>()?;
        self.found.inner.push(op);
        Some(factors)
    }
}

/// True if the op is in the block of `root` and is neither hinted nor a barrier.
fn is_near(ir: &Ir, op: Op, root: Op) -> bool {
    let hinted = ir.get_attr(op, "fusion.hint").is_some();
    ir.parent_block(op) == ir.parent_block(root) && !hinted && !ir.has(op, Traits::BARRIER)
}

/// The reading behind `at`, past shape ops that keep the order of elements and casts among floats; these ops are added
/// to `via`.
fn peel(ir: &Ir, root: Op, at: &Reading, via: &mut Vec<Op>) -> Reading {
    let mut last = at.clone();
    for (op, next) in steps(ir, root, at) {
        via.push(op);
        last = next;
    }
    last
}

/// The readings behind `at`, one op further back each, up to [`MAX_BETWEEN`].
fn steps(ir: &Ir, root: Op, at: &Reading) -> impl Iterator<Item = (Op, Reading)> {
    let first = step(ir, root, at);
    let next = move |(_, at): &(Op, Reading)| step(ir, root, at);
    std::iter::successors(first, next).take(MAX_BETWEEN)
}

/// The value that is read furthest back, behind shape ops and casts.
pub fn source(ir: &Ir, root: Op, at: &Reading) -> Reading {
    peel(ir, root, at, &mut Vec::new())
}

/// The earliest value of this element type behind `at`, past shape ops and lossless casts.
pub fn leaf(ir: &Ir, root: Op, at: &Reading, dtype: DType) -> Option<Reading> {
    let dtype_of = |at: &Reading| ir.value_kind(at.value).dtype();
    let mut own = dtype_of(at)?;
    let mut best = (own == dtype).then(|| at.clone());
    for (_, next) in steps(ir, root, at) {
        let before = dtype_of(&next)?;
        if own != before && own.bits() <= before.bits() {
            break;
        }
        own = before;
        if own == dtype {
            best = Some(next);
        }
    }
    best
}

/// The op that computes `at` and its operand, if the op is a shape op that keeps the order of elements or a cast among
/// floats.
fn step(ir: &Ir, root: Op, at: &Reading) -> Option<(Op, Reading)> {
    let op = ir.def_op(at.value).filter(|&op| is_near(ir, op, root))?;
    let def = ir.def(op)?;
    if ir.operand_count(op) != 1 || ir.results(op).len() != 1 {
        return None;
    }
    let value = ir.operand(op, 0);
    let reading = |axes| Some((op, Reading { value, axes }));
    match ir.computes(op) {
        Some(Computes::Cast) => {
            let is_float = |value| {
                ir.value_kind(value)
                    .dtype()
                    .is_some_and(DType::is_computed_float)
            };
            return match is_float(value) && is_float(at.value) {
                true => reading(at.axes.clone()),
                false => None,
            };
        }
        Some(Computes::Full) => {}
        _ if def.class != OpClass::Shape || def.shifts() => return None,
        _ => {}
    }
    if def.has_maps(&maps::RESHAPE) {
        return reading(kept(ir, value, at)?);
    }
    let maps = ir.maps(op)?;
    let axes = maps
        .operands
        .first()?
        .axes()?
        .iter()
        .map(|index| match index {
            Index::Iter(iter) => at.axes.get(*iter).copied(),
            Index::Zero => Some(None),
            _ => None,
        });
    reading(axes.collect::<Option<_>>()?)
}

/// The axes of the source of a reshape to `at` that only adds or removes axes of extent 1.
fn kept(ir: &Ir, value: Value, at: &Reading) -> Option<SmallVec<[Option<usize>; 4]>> {
    let long = |value: Value| {
        let dims = &ir.value_kind(value).as_tensor()?.dims;
        let long = dims.iter().enumerate();
        let long = long.filter(|(_, dim)| dim.extent != Extent::Static(1));
        Some(long.map(|(axis, dim)| (axis, *dim)).collect::<Vec<_>>())
    };
    let (from, to) = (long(value)?, long(at.value)?);
    let same = from.len() == to.len()
        && from
            .iter()
            .zip(&to)
            .all(|(from, to)| from.1 == to.1 && from.1.extent != Extent::Unknown);
    let mut axes = SmallVec::from_elem(None, ir.rank(value));
    for ((from, _), (to, _)) in from.iter().zip(&to) {
        axes[*from] = *at.axes.get(*to)?;
    }
    same.then_some(axes)
}

/// The extent whose length a float is.
fn length(ir: &Ir, value: Value) -> Option<Extent> {
    let cast = ir.made_as(value, Computes::Cast)?;
    let size = ir.made_as(ir.operand(cast, 0), Computes::Size)?;
    match ir.attr_of(size, "shape")? {
        AttrKind::Extents(shape) if shape.len() == 1 => Some(shape[0].extent),
        _ => None,
    }
}

/// The number of all elements of a value, if it is a constant behind shape ops and casts.
pub fn constant(ir: &Ir, root: Op, value: Value) -> Option<f64> {
    let axes = (0..ir.rank(value)).map(Some).collect();
    number(ir, source(ir, root, &Reading { value, axes }).value)
}

/// The number that every element of a constant is; `true` is 1.
pub fn number(ir: &Ir, value: Value) -> Option<f64> {
    let op = ir.made_as(value, Computes::Constant)?;
    let dtype = ir.value_kind(value).dtype()?;
    let number = match ir.attr_of(op, "value")? {
        AttrKind::Float { bits, .. } => f64::from_bits(*bits),
        other => other.as_int()? as f64,
    };
    match dtype.is_computed_float() {
        true => Some(f64::from_bits(float::nearest(dtype, number))),
        false => dtype.is_int().then_some(number),
    }
}
