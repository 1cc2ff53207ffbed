//! The plan of moving a slice or a pad: the values that move with it, how each is computed, and the test whether moving
//! pays.
//!
//! A plan is the list of values of which the op needs parts, in an order in which they can be created. The search
//! starts at the op's operand and visits each value and part once. It only decides, and creates nothing.
//!
//! A part that a pad needs may go beyond its value. No element there is used, so each may be anything.

use fuser_analysis::axes::window::is_link;
use fuser_dialects::fusion::maps;
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::maps::{Index, IteratorKind};
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::is_free;
use super::MAX_COPIES;

/// A pad moves if it makes this many times the elements at most, as a numerator and a denominator: those of the border
/// are reduced too.
const GROWTH: [i64; 2] = [5, 4];
/// The length that a named extent counts as, as for other decisions.
const NAMED: i64 = 1024;

/// A part of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// The first index along each axis; below 0 it is beyond the value.
    pub starts: Vec<ExtentExpr>,
    /// From one index to the next.
    pub steps: Vec<i64>,
    /// The number of indices taken along each axis.
    pub shape: Vec<Extent>,
}

impl Move {
    /// True if axis `k` stays as it is, `extent` being its length before.
    fn keeps(&self, k: usize, extent: Extent) -> bool {
        let start = self.starts[k].as_constant();
        (start, self.steps[k]) == (Some(0), 1) && self.shape[k] == extent
    }
    fn is_identity(&self, dims: &[Dim]) -> bool {
        dims.iter()
            .enumerate()
            .all(|(k, d)| self.keeps(k, d.extent))
    }
    /// The numbers of elements that the part needs before and behind a value with these axes; `None` if unknown.
    pub fn borders(&self, ir: &Ir, dims: &[Dim]) -> Option<Vec<[i64; 2]>> {
        let axes = self.starts.iter().zip(&self.steps).zip(&self.shape);
        let border = |(((start, &step), &shape), dim): (((&ExtentExpr, _), _), &Dim)| {
            let steps = ir.extent_as_expr(shape)?.add(&ExtentExpr::constant(-1))?;
            let last = start.add(&steps.mul(&ExtentExpr::constant(step))?)?;
            let end = last.add(&ExtentExpr::constant(1))?;
            let extent = ir.extent_as_expr(dim.extent)?;
            let behind = end.add(&extent.mul(&ExtentExpr::constant(-1))?)?;
            let before = start.as_constant()?.checked_neg()?;
            Some([before.max(0), behind.as_constant()?.max(0)])
        };
        axes.zip(dims).map(border).collect()
    }
    /// This part in terms of other axes: `from[k]` is the former axis, or the length of a new axis that is taken
    /// whole.
    fn along(&self, from: &[Result<usize, Extent>]) -> Move {
        let from = from.iter();
        let start = |k: usize| self.starts[k].clone();
        let starts = from
            .clone()
            .map(|f| f.map_or_else(|_| ExtentExpr::constant(0), start));
        let steps = from.clone().map(|f| f.map_or(1, |k| self.steps[k]));
        let shape = from.map(|f| f.map_or_else(|e| e, |k| self.shape[k]));
        Move {
            starts: starts.collect(),
            steps: steps.collect(),
            shape: shape.collect(),
        }
    }
}

/// A value and the part of it that is wanted.
pub type Point = (Value, Move);

/// The way in which a part of a value is made.
#[derive(Clone, Debug)]
pub enum Way {
    /// It is the whole.
    Same,
    /// By a slice of the value, where it goes beyond the value of a pad of it.
    Leaf,
    /// By its own op, applied to parts of its operands; `None` for operands that stay whole.
    Copy(Vec<Option<Move>>),
    /// As a part of another value: a slice of a slice.
    Other(Value, Move),
}

/// The moved values and how each is computed, in an order in which they can be created.
#[derive(Default)]
pub struct Moves {
    pub ways: FxHashMap<Point, Way>,
    pub order: Vec<Point>,
    /// The ops that are computed again.
    again: FxHashSet<Op>,
    /// The number of copies of ops that it makes.
    copied: usize,
    /// True if a reduction or a scan is among them.
    reduces: bool,
}

impl Moves {
    /// Adds what `root` needs; false if that cannot be.
    pub fn add(&mut self, ir: &Ir, window: Op, root: Point) -> bool {
        let mut stack = vec![(root, false)];
        while let Some((point, entered)) = stack.pop() {
            if entered {
                self.order.push(point);
                continue;
            }
            if self.ways.contains_key(&point) {
                continue;
            }
            let Some(way) = way(ir, window, &point) else {
                return false;
            };
            let full = matches!(way, Way::Copy(_)) && self.copies() >= MAX_COPIES;
            if full || self.ways.len() > 4 * MAX_COPIES {
                return false;
            }
            let mut next = Vec::new();
            match &way {
                Way::Copy(moves) => {
                    if let Some(producer) = ir.def_op(point.0) {
                        self.copied += 1;
                        self.again.insert(producer);
                        self.reduces |= reduces(ir, producer);
                        let operands = ir.operands(producer).zip(moves);
                        next.extend(operands.filter_map(|(v, m)| Some((v, m.clone()?))));
                    }
                }
                Way::Other(value, own) => next.push((*value, own.clone())),
                Way::Same | Way::Leaf => {}
            }
            self.ways.insert(point.clone(), way);
            stack.push((point, true));
            stack.extend(next.into_iter().map(|p| (p, false)));
        }
        true
    }
    /// The number of ops that are computed again.
    pub fn copies(&self) -> usize {
        self.copied
    }
    /// True if moving pays: the op passes a reduction or a scan, and the recomputed ops have no other users. A pad must
    /// also add few elements, and read all that is reduced: otherwise the reduced values in memory are less.
    pub fn pays(&self, ir: &Ir, window: Op) -> bool {
        if is_pad(ir, window) && !self.pays_for_pad(ir, window) {
            return false;
        }
        let inner = |user: Op| user == window || self.again.contains(&user);
        let mine = |op: &Op| {
            let results = ir.results(*op).iter();
            results.copied().all(|v| ir.users(v).all(inner))
        };
        self.reduces && self.again.iter().all(mine)
    }
    fn pays_for_pad(&self, ir: &Ir, pad: Op) -> bool {
        let extents = |value: Value| {
            let dims = dims(ir, value).into_iter();
            dims.map(|d| ir.extent_as_expr(d.extent))
                .collect::<Option<Vec<_>>>()
        };
        let elements = |value: Value| {
            let mut extents = extents(value)?.into_iter();
            extents.try_fold(ExtentExpr::constant(1), |all, e| all.mul(&e))
        };
        let operand = ir.operand(pad, 0);
        let whole = elements(operand);
        let reread = |op: &Op| reduces(ir, *op) && elements(ir.operand(*op, 0)) == whole;
        let grows_little = || {
            let lengths = extents(operand)?;
            let borders = [amounts(ir, pad, "low")?, amounts(ir, pad, "high")?];
            let mut sides = [1i64; 2];
            for (axis, length) in lengths.iter().enumerate() {
                let length = length.as_constant().unwrap_or(NAMED);
                let border = borders[0][axis].checked_add(borders[1][axis])?;
                if border > 0 {
                    sides[0] = sides[0].checked_mul(length.checked_add(border)?)?;
                    sides[1] = sides[1].checked_mul(length)?;
                }
            }
            let [made, taken] = [
                sides[0].checked_mul(GROWTH[1])?,
                sides[1].checked_mul(GROWTH[0])?,
            ];
            Some(made <= taken)
        };
        whole.is_some() && self.again.iter().any(reread) && grows_little() == Some(true)
    }
}

/// True if `op` is a pad.
pub fn is_pad(ir: &Ir, op: Op) -> bool {
    ir.def(op).is_some_and(|def| def.has_maps(&maps::PAD))
}

fn reduces(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map_or(OpClass::Structure, |def| def.class);
    matches!(class, OpClass::Reduction | OpClass::Scan)
}

/// A clause of amounts without names.
pub fn amounts(ir: &Ir, op: Op, clause: &str) -> Option<Vec<i64>> {
    let amounts = ir.amounts_of(op, clause)?;
    amounts.iter().map(ExtentExpr::as_constant).collect()
}

/// The axes of a value; none for a scalar.
pub fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |t| t.dims.clone())
}

/// The operand of a slice or a pad and the part of it that the op takes; `None` if the part is unknown.
pub fn part(ir: &Ir, window: Op) -> Option<Point> {
    let result = dims(ir, ir.result(window, 0));
    let shape: Vec<Extent> = result.iter().map(|d| d.extent).collect();
    if shape.contains(&Extent::Unknown) {
        return None;
    }
    let starts = match is_pad(ir, window) {
        true => {
            let low = amounts(ir, window, "low")?.into_iter();
            amounts(ir, window, "high")?;
            low.map(|low| ExtentExpr::constant(-low)).collect()
        }
        false => ir.amounts_of(window, "starts")?,
    };
    let steps = ir.i64s_of(window, "strides").map(<[i64]>::to_vec);
    let own = Move {
        starts,
        steps: steps.unwrap_or_else(|| vec![1; shape.len()]),
        shape,
    };
    Some((ir.operand(window, 0), own))
}

/// The way to compute a part of a value; `None` if it cannot be computed.
fn way(ir: &Ir, window: Op, (value, own): &Point) -> Option<Way> {
    if own.is_identity(&dims(ir, *value)) {
        return Some(Way::Same);
    }
    let near = |op: &Op| ir.parent_block(*op) == ir.parent_block(window);
    let pad = is_pad(ir, window);
    let leaf = || (!pad || own.borders(ir, &dims(ir, *value)).is_some()).then_some(Way::Leaf);
    let producer = ir.def_op(*value).filter(near);
    let Some(producer) = producer.filter(|&m| !ir.has(m, Traits::BARRIER)) else {
        return leaf();
    };
    let def = ir.def(producer)?;
    if pad && !is_link(ir, producer) && !reduces(ir, producer) {
        // It is in memory, and nothing of a border is computed where it would take a kernel of its own.
        return leaf();
    }
    if !is_free(ir, producer)
        || !def.traits.contains(Traits::PURE)
        || ir.results(producer).len() != 1
    {
        return None;
    }
    if def.has_maps(&maps::SLICE) {
        return slice_of_slice(ir, producer, own);
    }
    let passed = match def.class {
        OpClass::Creation if ir.computes(producer) != Some(Computes::Full) => None,
        _ if def.shifts() => None,
        _ => copied(ir, producer, own),
    };
    match passed {
        Some(moves) => Some(Way::Copy(moves)),
        None if is_link(ir, producer) => leaf(),
        None => None,
    }
}

/// The part of each operand of `op` that determines part `own` of its result; `None` for a scalar. Returns `None` if an
/// index would have to move along an axis that the result lacks.
fn copied(ir: &Ir, op: Op, own: &Move) -> Option<Vec<Option<Move>>> {
    let maps = ir.maps(op)?;
    let result = dims(ir, ir.result(op, 0));
    let indices = maps.results.first()?.axes()?;
    let parallel = |axis: usize| match indices[axis] {
        Index::Iter(iter) => maps.iterators[iter] == IteratorKind::Parallel,
        Index::Zero | Index::Affine { .. } | Index::Element(_) | Index::From { .. } => false,
    };
    let still = |axis: usize| parallel(axis) || own.keeps(axis, result[axis].extent);
    if !(0..indices.len()).all(still) {
        return None;
    }
    let moved = |(operand, value): (usize, Value)| {
        let from = dims(ir, value);
        if from.is_empty() {
            return Some(None);
        }
        let places = maps.operand_axes(operand)?;
        let along: Vec<Result<usize, Extent>> = (0..from.len())
            .map(|axis| places[axis].ok_or(from[axis].extent))
            .collect();
        Some(Some(own.along(&along)))
    };
    ir.operands(op).enumerate().map(moved).collect()
}

fn slice_of_slice(ir: &Ir, inner: Op, own: &Move) -> Option<Way> {
    let starts = ir.amounts_of(inner, "starts")?;
    let steps = ir.i64s_of(inner, "strides");
    let step = |k: usize| steps.map_or(Some(1), |s| s.get(k).copied());
    let mut both = own.clone();
    for k in 0..own.starts.len() {
        let step = step(k)?;
        both.starts[k] = own.starts[k]
            .mul(&ExtentExpr::constant(step))?
            .add(starts.get(k)?)?;
        both.steps[k] = own.steps[k].checked_mul(step)?;
    }
    Some(Way::Other(ir.operand(inner, 0), both))
}
