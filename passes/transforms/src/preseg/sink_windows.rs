//! Moves slices, pads and cats before the elementwise ops that make their operands.
//!
//! A kernel reads memory at any index, but what it computes it has only at the point of its walk. So a window of a computed
//! value would need the value in memory, and a kernel more. Computed again for the elements of the window, it does not:
//!
//! ```text
//! %s = fusion.sin %x                                      %a = fusion.slice %x starts [50] shape [50]
//! %y = fusion.slice %s starts [50] shape [50]       =>    %y = fusion.sin %a
//!
//! %s = fusion.sin %x                                      %a = fusion.pad %x, %zero low [2] high [0]
//! %y = fusion.pad %s, %v low [2] high [0]           =>    %b = fusion.sin %a
//!                                                         %m = fusion.pad %true, %false low [2] high [0]
//!                                                         %y = fusion.where %m, %b, %v
//! ```
//!
//! A cat is its first operand where that has elements, and else the next one: the same masks. Windows pass elementwise ops,
//! broadcasts, permutes, expands and squeezes, slices compose, and along axes that a reduction keeps a slice passes it too.
//! The recomputation is ops of the program from here on, so every price and every report has it.
//!
//! A window stays where it is, which makes a border of segments, if
//! - it would pass what cannot be computed again at another place: an op with a hint, a border, a reshape of something
//!   computed, or a reduction that others use as well;
//! - the value is a result of the program, in memory anyway, and reading it there touches fewer bytes than its operands would;
//! - more than [`MAX_COPIES`] ops would be computed again, or a cat has more than [`MAX_PARTS`] operands;
//! - a border's width is not a number, as it is for a cat along an axis of named extents.
//!
//! Never changes a bit: each element is computed by the same ops from the same elements. What is computed for the elements of
//! a border is thrown away; no op has effects or fails.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_ir::build::{Builder, Clause};
use fuser_ir::def::{AxisRule, OpClass, OpError};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrId, DType, Diagnostics, Ir, Op, OpDef, Sym, Traits, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

use super::is_free;
use crate::axes::window::{Window, is_window};

/// The most ops that are computed again for one window: beyond, the copies cost more time than the border they save.
pub const MAX_COPIES: usize = 128;
/// The most operands of a cat that are computed beside each other: every element computes all of them.
pub const MAX_PARTS: usize = 8;
/// Copies in one program, per op of it: windows of windows of windows would double the program at each level.
const COPIES_PER_OP: usize = 8;

/// `sink-windows`
pub static SINK_WINDOWS: PassDef = PassDef {
    name: "sink-windows",
    summary: "moves slices, pads and cats before the ops that make their operands",
    doc: "A slice, pad or cat of a value that elementwise ops compute from memory becomes the same ops on slices and pads of \
          what lies in memory, so that one kernel serves. The program computes the elements of the window again; where that \
          would touch more bytes than storing the value, or needs what cannot be computed twice, the window stays.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "sunk",
            doc: "slices, pads and cats moved",
        },
        StatDef {
            name: "copies",
            doc: "ops computed again",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let ops = ctx.ir.children(ctx.op);
    let windows: Vec<Op> = ops
        .iter()
        .copied()
        .filter(|&op| is_window(ctx.ir, op))
        .collect();
    let mut sinker = Sinker {
        made: FxHashMap::default(),
        budget: ops.len().saturating_mul(COPIES_PER_OP),
        copies: 0,
    };
    for window in windows {
        if !is_free(ctx.ir, window) || is_reached(ctx.ir, window) {
            continue;
        }
        // Inference refuses what does not fit; what was made until then is dead.
        if let Ok(Some(value)) = sinker.sink(ctx.ir, window) {
            replace(ctx.ir, window, value);
            ctx.count("sunk", 1);
        }
    }
    ctx.count("copies", sinker.copies as u64);
    Ok(())
}

/// Whether index arithmetic leads from the window to memory as it is.
fn is_reached(ir: &Ir, window: Op) -> bool {
    let beside = |op: Op| ir.parent_block(op) == ir.parent_block(window);
    Window::resolve(ir, window, |op| beside(op) && !ir.has(op, Traits::BARRIER)).is_ok()
}

/// Puts `value` in the place of a window's result, and erases what nothing needs any more.
fn replace(ir: &mut Ir, window: Op, value: Value) {
    let result = ir.result(window, 0);
    let name = ir.value_name_sym(result);
    ir.set_value_name(result, None);
    ir.set_value_name(value, name);
    ir.replace_all_uses(result, value);
    let mut dead = vec![window];
    while let Some(op) = dead.pop() {
        let unused = ir.results(op).iter().all(|&v| ir.is_unused(v));
        let pure = ir.has(op, Traits::PURE) && ir.op_regions(op).is_empty();
        if !unused || !pure || ir.parent_block(op).is_none() {
            continue;
        }
        let mut makers: Vec<Op> = ir.operands(op).filter_map(|v| ir.def_op(v)).collect();
        makers.sort();
        makers.dedup();
        ir.erase(op);
        dead.extend(makers);
    }
}

/// What happens to the indices of a value: parts of each axis are taken, or borders are added whose elements do not matter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Move {
    pads: bool,
    /// Starts of a slice, or widths of the lower borders.
    low: Vec<i64>,
    /// Steps of a slice, or widths of the upper borders.
    high: Vec<i64>,
    /// Extents afterwards.
    shape: Vec<Extent>,
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
type Point = (Value, Move);

/// How a moved value comes about.
#[derive(Clone, Debug)]
enum Way {
    /// It does not move.
    Same,
    /// By a window of what lies in memory, or is followed there by index arithmetic.
    Leaf,
    /// By the op that made it, on moved operands; `None` for those that stay.
    Copy(Vec<Option<Move>>),
    /// As another value moved in another way: a slice of a slice.
    Other(Value, Move),
}

struct Sinker {
    /// What the window at hand has made.
    made: FxHashMap<Point, Value>,
    budget: usize,
    copies: usize,
}

impl Sinker {
    /// A value equal to the result of `window` that needs no window of anything computed; `None` where it stays.
    fn sink(&mut self, ir: &mut Ir, window: Op) -> Result<Option<Value>, OpError> {
        let result = ir.result(window, 0);
        let Some(parts) = parts(ir, window) else {
            return Ok(None);
        };
        let mut plan = Plan::default();
        for (value, own) in &parts {
            if !plan.add(ir, window, (*value, own.clone())) {
                return Ok(None);
            }
        }
        let copies = plan.copies();
        if self.copies + copies > self.budget || !plan.pays(ir, window, &parts) {
            return Ok(None);
        }
        self.made.clear();
        let mut moved = Vec::with_capacity(parts.len());
        for point in &plan.order {
            let value = self.make(ir, window, point, &plan.ways[point])?;
            self.made.insert(point.clone(), value);
        }
        for part in &parts {
            moved.push(self.made[part]);
        }
        self.copies += copies;
        let value = join(ir, window, &parts, &moved)?;
        Ok(Some(value).filter(|&v| ir.value_type(v) == ir.value_type(result)))
    }

    fn make(&self, ir: &mut Ir, window: Op, point: &Point, way: &Way) -> Result<Value, OpError> {
        let (value, own) = point;
        match way {
            Way::Same => Ok(*value),
            Way::Leaf => leaf(ir, window, *value, own),
            Way::Other(other, way) => Ok(self.made[&(*other, way.clone())]),
            Way::Copy(moves) => {
                let Some(maker) = ir.def_op(*value) else {
                    return Ok(*value);
                };
                let operands: Vec<Value> = ir
                    .operands(maker)
                    .zip(moves)
                    .map(|(v, m)| match m {
                        Some(m) => self.made[&(v, m.clone())],
                        None => v,
                    })
                    .collect();
                copy(ir, window, maker, &operands, own)
            }
        }
    }
}

/// What moves, and how, in an order in which it can be made.
#[derive(Default)]
struct Plan {
    ways: FxHashMap<Point, Way>,
    order: Vec<Point>,
    /// The ops that are computed again.
    again: FxHashSet<Op>,
    /// How many copies that makes.
    copied: usize,
    /// Whether a reduction is among them.
    reduces: bool,
}

impl Plan {
    /// Adds what `root` needs; false if that cannot be.
    fn add(&mut self, ir: &Ir, window: Op, root: Point) -> bool {
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
            if self.copies() >= MAX_COPIES || self.ways.len() > 4 * MAX_COPIES {
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
    fn copies(&self) -> usize {
        self.copied
    }
    /// Whether it is better to compute again than to store.
    fn pays(&self, ir: &Ir, window: Op, parts: &[Point]) -> bool {
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

fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |t| t.dims.clone())
}

/// The operands of a window and what it does to each; `None` where that is not a number.
fn parts(ir: &Ir, window: Op) -> Option<Vec<Point>> {
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
    let input = ir
        .operands(maker)
        .next()
        .map(|v| dims(ir, v))
        .unwrap_or_default();
    let places = || {
        ir.i64s_of(maker, "dims")
            .unwrap_or(&[])
            .iter()
            .map(|&d| d as usize)
            .collect::<Vec<_>>()
    };
    let one = |from: Vec<Result<usize, Extent>>| Some(Way::Copy(vec![Some(own.along(&from))]));
    let whole = |k: usize| Err(input[k].extent);
    match def.axes {
        AxisRule::Pointwise if def.class == OpClass::Elementwise => {
            let moved = |v: Value| (!dims(ir, v).is_empty()).then(|| own.clone());
            Some(Way::Copy(ir.operands(maker).map(moved).collect()))
        }
        AxisRule::Broadcast => one(places().into_iter().map(Ok).collect()),
        AxisRule::Permute => {
            let order = places();
            let at = |k| order.iter().position(|&p| p == k).ok_or(Extent::Unknown);
            one((0..input.len()).map(at).collect())
        }
        AxisRule::Squeeze => {
            let gone = places();
            let mut kept = 0..;
            one((0..input.len())
                .map(|k| {
                    if gone.contains(&k) {
                        whole(k)
                    } else {
                        Ok(kept.next().unwrap_or(0))
                    }
                })
                .collect())
        }
        AxisRule::Expand => one((0..input.len())
            .map(|k| {
                if input[k].extent != from[k].extent {
                    whole(k)
                } else {
                    Ok(k)
                }
            })
            .collect()),
        AxisRule::Reduce if def.class == OpClass::Reduction && !own.pads => {
            let gone = places();
            let keeps = ir.get_attr(maker, "keepdim").is_some();
            let mut kept = 0..;
            let whole_result = |k: usize| from.get(k).is_some_and(|d| own.keeps(k, d.extent));
            if keeps && !gone.iter().all(|&k| whole_result(k)) {
                return None;
            }
            let along = (0..input.len()).map(|k| {
                let at = (keeps || !gone.contains(&k)).then(|| kept.next().unwrap_or(0));
                if gone.contains(&k) {
                    whole(k)
                } else {
                    at.ok_or(Extent::Unknown)
                }
            });
            one(along.collect())
        }
        AxisRule::Create if ir.is(maker, &fusion::FULL) => Some(Way::Copy(vec![None])),
        AxisRule::Window if ir.is(maker, &fusion::SLICE) && !own.pads => {
            slice_of_slice(ir, maker, own)
        }
        AxisRule::Reshape => is_in_memory(ir, maker).then_some(Way::Leaf),
        AxisRule::Window => is_reached(ir, maker).then_some(Way::Leaf),
        AxisRule::Create => ir.is(maker, &fusion::CONSTANT).then_some(Way::Leaf),
        _ => None,
    }
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
            Some(maker) if ir.is(maker, &fusion::RESHAPE) => at = maker,
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

/// The window itself, on what lies in memory.
fn leaf(ir: &mut Ir, window: Op, value: Value, own: &Move) -> Result<Value, OpError> {
    let dtype = ir.value_kind(value).dtype().unwrap_or(DType::F32);
    let mut b = Builder::before(ir, window);
    if own.pads {
        let zero = zero(&mut b, dtype)?;
        return pad(&mut b, value, zero, own);
    }
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let mut clauses = vec![b.ints("starts", &own.low), b.shape("shape", &shape)];
    if own.high.iter().any(|&s| s != 1) {
        clauses.push(b.ints("strides", &own.high));
    }
    b.value(&fusion::SLICE, &[value], &clauses)
}

fn pad(b: &mut Builder<'_>, value: Value, fill: Value, own: &Move) -> Result<Value, OpError> {
    let clauses = [b.ints("low", &own.low), b.ints("high", &own.high)];
    b.value(&fusion::PAD, &[value, fill], &clauses)
}

fn zero(b: &mut Builder<'_>, dtype: DType) -> Result<Value, OpError> {
    let ty = b.ir.scalar(dtype);
    match dtype.is_float() {
        true => b.constant_float(0.0, ty),
        false => b.constant_int(0, ty),
    }
}

/// The op once more, on other operands and for another shape.
fn copy(
    ir: &mut Ir,
    window: Op,
    maker: Op,
    operands: &[Value],
    own: &Move,
) -> Result<Value, OpError> {
    let unknown = || OpError::new("no table has it");
    let def: &'static OpDef = ir.def(maker).ok_or_else(unknown)?;
    let attrs: Vec<(Sym, AttrId)> = ir.attrs(maker).to_vec();
    let attrs: Vec<(String, AttrId)> = attrs
        .iter()
        .map(|(n, a)| (ir.str(*n).to_string(), *a))
        .collect();
    let loc = ir.op_loc(maker);
    let name = ir.value_name_sym(ir.result(maker, 0));
    let mut b = Builder::before(ir, window);
    b.loc = loc;
    let shape: Vec<Dim> = own.shape.iter().map(|&e| Dim::new(e)).collect();
    let shape = b.shape("shape", &shape);
    let clauses: Vec<Clause<'_>> = attrs
        .iter()
        .map(|(n, a)| {
            if n == "shape" {
                shape
            } else {
                (n.as_str(), *a)
            }
        })
        .collect();
    let value = b.value(def, operands, &clauses)?;
    ir.set_value_name(value, name);
    Ok(value)
}

/// The moved operands of a window, put together.
fn join(ir: &mut Ir, window: Op, parts: &[Point], moved: &[Value]) -> Result<Value, OpError> {
    let missing = || OpError::new("a window has no operands");
    let (&last, others) = moved.split_last().ok_or_else(missing)?;
    if ir.is(window, &fusion::SLICE) {
        return Ok(last);
    }
    let mut value = last;
    if ir.is(window, &fusion::PAD) {
        let fill = ir.operand(window, 1);
        let mask = mask(ir, window, &parts[0])?;
        let mut b = Builder::before(ir, window);
        return b.choose(mask, value, fill);
    }
    for (part, &other) in parts.iter().zip(others).rev() {
        let mask = mask(ir, window, part)?;
        let mut b = Builder::before(ir, window);
        value = b.choose(mask, other, value)?;
    }
    Ok(value)
}

/// True where the operand has elements.
fn mask(ir: &mut Ir, window: Op, (value, own): &Point) -> Result<Value, OpError> {
    let shape: Vec<Dim> = dims(ir, *value)
        .iter()
        .map(|d| Dim::new(d.extent))
        .collect();
    let mut b = Builder::before(ir, window);
    let ty = b.ir.scalar(DType::I1);
    let (yes, no) = (b.constant_int(1, ty)?, b.constant_int(0, ty)?);
    let shape = b.shape("shape", &shape);
    let all = b.value(&fusion::FULL, &[yes], &[shape])?;
    pad(&mut b, all, no, own)
}
