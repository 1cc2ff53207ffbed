//! What moves with a window, how, and whether that is better than storing it.
//!
//! A plan is the list of values that a window needs at other indices, in an order in which they can be made: found from the
//! window's operands down, each value and way to move it once. Decides alone; makes nothing.

use fuser_dialects::fusion::{self, maps};
use fuser_ir::def::OpClass;
use fuser_ir::maps::Index;
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{DType, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::is_free;
use super::{MAX_COPIES, MAX_PARTS, is_reached};

/// What happens to the indices of a value: parts of each axis are taken, or borders are added whose elements do not matter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    pub pads: bool,
    /// Starts of a slice, or widths of the lower borders.
    pub low: Vec<i64>,
    /// Steps of a slice, or widths of the upper borders.
    pub high: Vec<i64>,
    /// Extents afterwards.
    pub shape: Vec<Extent>,
}

impl Move {
    /// Whether axis `k` stays as it is, `extent` being its length before.
    fn keeps(&self, k: usize, extent: Extent) -> bool {
        (self.low[k], self.high[k]) == (0, i64::from(!self.pads)) && self.shape[k] == extent
    }
    fn is_identity(&self, dims: &[Dim]) -> bool {
        dims.iter()
            .enumerate()
            .all(|(k, d)| self.keeps(k, d.extent))
    }
    /// The same along other axes: `from[k]` is the axis that was, or the length of one that is whole.
    fn along(&self, from: &[Result<usize, Extent>]) -> Move {
        let still = i64::from(!self.pads);
        let entry = |list: &[i64], still: i64| -> Vec<i64> {
            let list = from.iter().map(|f| f.map_or(still, |k| list[k]));
            list.collect()
        };
        Move {
            pads: self.pads,
            low: entry(&self.low, 0),
            high: entry(&self.high, still),
            shape: from
                .iter()
                .map(|f| f.map_or_else(|e| e, |k| self.shape[k]))
                .collect(),
        }
    }
}

/// A value and what happens to its indices.
pub type Point = (Value, Move);

/// How a moved value comes about.
#[derive(Clone, Debug)]
pub enum Way {
    /// It does not move.
    Same,
    /// By a window of what lies in memory, or is followed there by index arithmetic.
    Leaf,
    /// By the op that made it, on moved operands; `None` for those that stay.
    Copy(Vec<Option<Move>>),
    /// As another value moved in another way: a slice of a slice.
    Other(Value, Move),
}

/// What moves, and how, in an order in which it can be made.
#[derive(Default)]
pub struct Plan {
    pub ways: FxHashMap<Point, Way>,
    pub order: Vec<Point>,
    /// The ops that are computed again.
    again: FxHashSet<Op>,
    /// How many copies that makes.
    copied: usize,
    /// Whether a reduction is among them.
    reduces: bool,
}

impl Plan {
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
                    if let Some(maker) = ir.def_op(point.0) {
                        self.copied += 1;
                        self.again.insert(maker);
                        let class = ir.def(maker).map_or(OpClass::Structure, |d| d.class);
                        self.reduces |= class == OpClass::Reduction;
                        let operands = ir.operands(maker).zip(moves);
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
    /// How many ops are computed again.
    pub fn copies(&self) -> usize {
        self.copied
    }
    /// Whether it is better to compute again than to store.
    pub fn pays(&self, ir: &Ir, window: Op, parts: &[Point]) -> bool {
        let inner = |user: Op| user == window || self.again.contains(&user);
        let mine = |op: &Op| {
            let results = ir.results(*op).iter();
            results.copied().all(|v| ir.users(v).all(inner))
        };
        if self.reduces && !self.again.iter().all(mine) {
            return false;
        }
        let ends = |v: Value| ir.users(v).any(|u| ir.has(u, Traits::TERMINATOR));
        let returned = parts
            .iter()
            .any(|(v, _)| ends(*v) && ir.def_op(*v).is_some_and(|d| self.again.contains(&d)));
        if !returned {
            return true;
        }
        let bytes = |v: Value| ir.value_kind(v).dtype().map_or(0, DType::bytes);
        let rank = |v: Value| dims(ir, v).iter().filter(|d| !d.broadcast).count();
        let most = parts.iter().map(|(v, _)| rank(*v)).max().unwrap_or(0);
        let leaves = self.ways.iter().filter(|(_, w)| matches!(w, Way::Leaf));
        let read: u64 = leaves
            .filter(|((v, _), _)| rank(*v) == most)
            .map(|((v, _), _)| bytes(*v))
            .sum();
        read <= parts.iter().map(|(v, _)| bytes(*v)).sum()
    }
}

pub fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |t| t.dims.clone())
}

/// The operands of a window and what it does to each; `None` where that is not a number.
pub fn parts(ir: &Ir, window: Op) -> Option<Vec<Point>> {
    let result = dims(ir, ir.result(window, 0));
    let shape: Vec<Extent> = result.iter().map(|d| d.extent).collect();
    if shape.contains(&Extent::Unknown) {
        return None;
    }
    let input = ir.operand(window, 0);
    let ints = |name: &str| ir.i64s_of(window, name).map(<[i64]>::to_vec);
    if ir.is(window, &fusion::SLICE) {
        let high = ints("strides").unwrap_or_else(|| vec![1; shape.len()]);
        let own = Move {
            pads: false,
            low: ints("starts")?,
            high,
            shape,
        };
        return Some(vec![(input, own)]);
    }
    if ir.is(window, &fusion::PAD) {
        let own = Move {
            pads: true,
            low: ints("low")?,
            high: ints("high")?,
            shape,
        };
        return Some(vec![(input, own)]);
    }
    let dim = usize::try_from(ir.int_of(window, "dim")?).ok()?;
    let lengths: Vec<(Value, i64)> = ir
        .operands(window)
        .map(|v| match dims(ir, v).get(dim)?.extent {
            Extent::Static(n) => Some((v, i64::try_from(n).ok()?)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let total: i64 = lengths.iter().map(|(_, n)| n).sum();
    let mut start = 0;
    let mut parts = Vec::new();
    for (value, length) in lengths.into_iter().filter(|(_, n)| *n > 0) {
        let mut own = Move {
            pads: true,
            low: vec![0; shape.len()],
            high: vec![0; shape.len()],
            shape: shape.clone(),
        };
        own.low[dim] = start;
        own.high[dim] = total - start - length;
        start += length;
        parts.push((value, own));
    }
    (parts.len() <= MAX_PARTS && !parts.is_empty()).then_some(parts)
}

/// How a moved value comes about; `None` where it cannot.
fn way(ir: &Ir, window: Op, (value, own): &Point) -> Option<Way> {
    let from = dims(ir, *value);
    if own.is_identity(&from) {
        return Some(Way::Same);
    }
    let near = |op: &Op| ir.parent_block(*op) == ir.parent_block(window);
    let Some(maker) = ir.def_op(*value).filter(near) else {
        return Some(Way::Leaf);
    };
    if ir.has(maker, Traits::BARRIER) {
        return Some(Way::Leaf);
    }
    let def = ir.def(maker)?;
    if !is_free(ir, maker) || !def.traits.contains(Traits::PURE) || ir.results(maker).len() != 1 {
        return None;
    }
    if def.shifts() {
        if ir.is(maker, &fusion::SLICE) && !own.pads {
            return slice_of_slice(ir, maker, own);
        }
        return is_reached(ir, maker).then_some(Way::Leaf);
    }
    match def.class {
        OpClass::Creation if ir.operand_count(maker) == 0 => {
            ir.is(maker, &fusion::CONSTANT).then_some(Way::Leaf)
        }
        // What wants memory of its own is not computed again.
        OpClass::Shape if def.has_maps(&maps::POINTWISE) => None,
        OpClass::Shape if def.has_maps(&maps::RESHAPE) => {
            is_in_memory(ir, maker).then_some(Way::Leaf)
        }
        OpClass::Reduction if own.pads => None,
        _ => copied(ir, maker, own).map(Way::Copy),
    }
}

/// What happens to the operands of `op` where `own` happens to its result; `None` where an index would have to move along an
/// axis that the result has not.
fn copied(ir: &Ir, op: Op, own: &Move) -> Option<Vec<Option<Move>>> {
    let maps = ir.maps(op)?;
    let result = dims(ir, ir.result(op, 0));
    let indices = maps.results.first()?.axes()?;
    let still = |axis: usize| indices[axis] != Index::Zero || own.keeps(axis, result[axis].extent);
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

/// Whether reshapes alone lead from memory to the result of `op`.
fn is_in_memory(ir: &Ir, op: Op) -> bool {
    let mut at = op;
    loop {
        let source = ir.operand(at, 0);
        match ir
            .def_op(source)
            .filter(|&d| ir.parent_block(d) == ir.parent_block(op))
        {
            None => return true,
            Some(maker) if ir.has(maker, Traits::BARRIER) => return true,
            Some(maker) if ir.def(maker).is_some_and(|d| d.has_maps(&maps::RESHAPE)) => at = maker,
            Some(_) => return false,
        }
    }
}

fn slice_of_slice(ir: &Ir, inner: Op, own: &Move) -> Option<Way> {
    let starts = ir.i64s_of(inner, "starts")?;
    let steps = ir.i64s_of(inner, "strides");
    let step = |k: usize| steps.map_or(Some(1), |s| s.get(k).copied());
    let mut both = own.clone();
    for k in 0..own.low.len() {
        let step = step(k)?;
        both.low[k] = own.low[k].checked_mul(step)?.checked_add(*starts.get(k)?)?;
        both.high[k] = own.high[k].checked_mul(step)?;
    }
    Some(Way::Other(ir.operand(inner, 0), both))
}
