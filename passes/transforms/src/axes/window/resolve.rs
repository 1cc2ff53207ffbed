//! From a slice, pad or cat down to memory.
//!
//! A work list of values, each with the index that the walk reads it at and the guards on the way; what it ends at is a piece.
//! Index arithmetic passes windows, changes of shape, and reshapes of what lies row-major in memory; anything else would have
//! to be computed. Never recurses; never looks at an op for which `inside` does not hold.

use fuser_dialects::fusion;
use fuser_ir::def::AxisRule;
use fuser_ir::layout::{self, Order};
use fuser_ir::types::{Extent, ExtentExpr, TensorType};
use fuser_ir::{AttrKind, Ir, Op, Value};

use super::{Guard, MAX_DEPTH, MAX_PIECES, Piece, Source, Window, WindowRefusal};

/// The index along one axis of an intermediate value: `scale * i + offset`, `i` along an axis of the window's result.
#[derive(Clone, Debug)]
struct Affine {
    dim: usize,
    scale: i64,
    offset: ExtentExpr,
}

/// What is still to be followed, or a piece that stands at its place in the order.
enum Item {
    Visit(Visit),
    Piece(Piece),
}

/// A value on the way down.
struct Visit {
    value: Value,
    index: Vec<Affine>,
    guards: Vec<Guard>,
    depth: usize,
}

impl Window {
    /// The elements of `op`'s result, where the ops for which `inside` holds are not in memory.
    pub fn resolve(ir: &Ir, op: Op, inside: impl Fn(Op) -> bool) -> Result<Window, WindowRefusal> {
        let unknown = WindowRefusal::Unknown { op };
        let result = *ir.results(op).first().ok_or(unknown.clone())?;
        let tensor = ir.value_kind(result).as_tensor().ok_or(unknown.clone())?;
        let extents = extents(ir, tensor).ok_or(unknown.clone())?;
        let start = (0..extents.len()).map(|dim| Affine {
            dim,
            scale: 1,
            offset: ExtentExpr::constant(0),
        });
        let mut stack = vec![Item::Visit(Visit {
            value: result,
            index: start.collect(),
            guards: Vec::new(),
            depth: 0,
        })];
        let mut pieces = Vec::new();
        while let Some(item) = stack.pop() {
            let visit = match item {
                Item::Piece(piece) => {
                    pieces.push(piece);
                    continue;
                }
                Item::Visit(visit) => visit,
            };
            if visit.depth > MAX_DEPTH {
                let limit = MAX_DEPTH;
                return Err(WindowRefusal::TooDeep { op, limit });
            }
            let maker = ir.def_op(visit.value).filter(|&d| inside(d) || d == op);
            let step = match maker {
                None => leaf(ir, visit, &extents),
                Some(maker) if !is_link(ir, maker) => Some(Step::Computed(visit.value)),
                Some(maker) => follow(ir, maker, visit, &extents, &inside),
            };
            match step {
                // The first one stands on top.
                Some(Step::Items(items)) => stack.extend(items.into_iter().rev()),
                Some(Step::Computed(value)) => return Err(WindowRefusal::Computed { op, value }),
                None => return Err(unknown),
            }
            if pieces.len() + stack.len() > MAX_PIECES {
                let limit = MAX_PIECES;
                return Err(WindowRefusal::TooManyPieces { op, limit });
            }
        }
        Ok(Window { extents, pieces })
    }
}

/// Whether the walk down may pass through `op`.
pub fn is_link(ir: &Ir, op: Op) -> bool {
    let rule = ir.def(op).map_or(AxisRule::None, |d| d.axes);
    match rule {
        AxisRule::Window
        | AxisRule::Permute
        | AxisRule::Broadcast
        | AxisRule::Squeeze
        | AxisRule::Expand
        | AxisRule::Reshape => true,
        AxisRule::Create => {
            ir.is(op, &fusion::FULL) || (ir.is(op, &fusion::CONSTANT) && is_splat(ir, op))
        }
        AxisRule::None | AxisRule::Pointwise | AxisRule::Reduce => false,
    }
}

fn is_splat(ir: &Ir, op: Op) -> bool {
    ir.attr_of(op, "value")
        .is_some_and(|kind| matches!(kind, AttrKind::Float { .. }) || kind.as_int().is_some())
}

/// Where a visit leads.
enum Step {
    /// What stands below, in order.
    Items(Vec<Item>),
    /// To a value that would have to be computed.
    Computed(Value),
}

impl Step {
    fn to(visit: Visit) -> Option<Step> {
        Some(Step::Items(vec![Item::Visit(visit)]))
    }
    fn piece(guards: Vec<Guard>, source: Source) -> Option<Step> {
        Some(Step::Items(vec![Item::Piece(Piece { guards, source })]))
    }
}

/// A value in memory: its address.
fn leaf(ir: &Ir, visit: Visit, extents: &[ExtentExpr]) -> Option<Step> {
    let Some(tensor) = ir.value_kind(visit.value).as_tensor() else {
        return Step::piece(visit.guards, Source::Fill(visit.value));
    };
    let order = layout::order(ir, tensor);
    let strides = strides(ir, tensor, &order)?;
    memory(visit.value, visit, &strides, extents.len())
}

/// Memory whose axes lie `own` elements apart, read by a walk over `rank` axes.
fn memory(value: Value, visit: Visit, own: &[ExtentExpr], rank: usize) -> Option<Step> {
    let mut strides = vec![ExtentExpr::constant(0); rank];
    let mut offset = ExtentExpr::constant(0);
    for (affine, stride) in visit.index.iter().zip(own) {
        offset = offset.add(&affine.offset.mul(stride)?)?;
        let scaled = stride.mul(&ExtentExpr::constant(affine.scale))?;
        let sum = strides.get_mut(affine.dim)?;
        *sum = sum.add(&scaled)?;
    }
    let source = Source::Memory {
        value,
        offset,
        strides,
    };
    Step::piece(visit.guards, source)
}

/// From the result of `op` to its operands.
fn follow(
    ir: &Ir,
    op: Op,
    visit: Visit,
    extents: &[ExtentExpr],
    inside: &impl Fn(Op) -> bool,
) -> Option<Step> {
    if ir.is(op, &fusion::SLICE) {
        return slice(ir, op, visit);
    }
    if ir.is(op, &fusion::PAD) {
        return pad(ir, op, visit, extents);
    }
    if ir.is(op, &fusion::CAT) {
        return cat(ir, op, visit, extents);
    }
    match ir.def(op)?.axes {
        AxisRule::Create => {
            let fill = match ir.is(op, &fusion::FULL) {
                true => ir.operand(op, 0),
                false => visit.value,
            };
            Step::piece(visit.guards, Source::Fill(fill))
        }
        AxisRule::Reshape => reshape(ir, op, visit, extents.len(), inside),
        rule => moved(ir, op, visit, rule),
    }
}

fn slice(ir: &Ir, op: Op, mut visit: Visit) -> Option<Step> {
    let starts = ir.i64s_of(op, "starts")?.to_vec();
    let steps = ir.i64s_of(op, "strides").map(<[i64]>::to_vec);
    for (k, affine) in visit.index.iter_mut().enumerate() {
        let step = steps.as_ref().map_or(Some(1), |s| s.get(k).copied())?;
        let scaled = affine.offset.mul(&ExtentExpr::constant(step))?;
        affine.offset = scaled.add(&ExtentExpr::constant(*starts.get(k)?))?;
        affine.scale = affine.scale.checked_mul(step)?;
    }
    Step::to(below(ir.operand(op, 0), visit))
}

fn below(value: Value, visit: Visit) -> Visit {
    Visit {
        value,
        depth: visit.depth + 1,
        ..visit
    }
}

fn pad(ir: &Ir, op: Op, mut visit: Visit, extents: &[ExtentExpr]) -> Option<Step> {
    let (input, fill) = (ir.operand(op, 0), ir.operand(op, 1));
    let (low, high) = (ir.i64s_of(op, "low")?, ir.i64s_of(op, "high")?);
    let tensor = ir.value_kind(input).as_tensor()?;
    let border = Piece {
        guards: visit.guards.clone(),
        source: Source::Fill(fill),
    };
    for (k, affine) in visit.index.iter_mut().enumerate() {
        if (*low.get(k)?, *high.get(k)?) == (0, 0) {
            continue;
        }
        affine.offset = affine.offset.add(&ExtentExpr::constant(-low[k]))?;
        let extent = ir.extent_as_expr(tensor.dims.get(k)?.extent)?;
        visit.guards.extend(guard(affine, extent, extents)?);
    }
    let inner = Item::Visit(below(input, visit));
    Some(Step::Items(vec![inner, Item::Piece(border)]))
}

/// The guard that keeps an index inside `0..extent`, if one is needed.
fn guard(affine: &Affine, extent: ExtentExpr, extents: &[ExtentExpr]) -> Option<Option<Guard>> {
    let steps = extents
        .get(affine.dim)?
        .add(&ExtentExpr::constant(-1))?
        .mul(&ExtentExpr::constant(-affine.scale))?;
    let minus = affine.offset.mul(&ExtentExpr::constant(-1))?;
    let room = extent
        .add(&minus)?
        .add(&steps)?
        .add(&ExtentExpr::constant(-1))?;
    let holds = |e: &ExtentExpr| e.as_constant().is_some_and(|c| c >= 0);
    if holds(&affine.offset) && holds(&room) {
        return Some(None);
    }
    Some(Some(Guard {
        dim: affine.dim,
        scale: affine.scale,
        offset: affine.offset.clone(),
        extent,
    }))
}

fn cat(ir: &Ir, op: Op, visit: Visit, extents: &[ExtentExpr]) -> Option<Step> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let mut start = ExtentExpr::constant(0);
    let mut visits = Vec::new();
    for operand in ir.operands(op) {
        let tensor = ir.value_kind(operand).as_tensor()?;
        let extent = ir.extent_as_expr(tensor.dims.get(dim)?.extent)?;
        let mut index = visit.index.clone();
        let mut guards = visit.guards.clone();
        let affine = index.get_mut(dim)?;
        let minus = start.mul(&ExtentExpr::constant(-1))?;
        affine.offset = affine.offset.add(&minus)?;
        guards.extend(guard(affine, extent.clone(), extents)?);
        start = start.add(&extent)?;
        if extent.as_constant() != Some(0) {
            // More than there may be: the others change nothing.
            if visits.len() > MAX_PIECES {
                break;
            }
            visits.push(Item::Visit(Visit {
                value: operand,
                index,
                guards,
                depth: visit.depth + 1,
            }));
        }
    }
    // All operands are empty: any of them stands for the others, and no index reaches it.
    if visits.is_empty() {
        let value = ir.operand(op, 0);
        return Step::to(below(value, visit));
    }
    Some(Step::Items(visits))
}

/// A reshape keeps the order of elements, so its operand in memory is addressed as the result would be.
fn reshape(
    ir: &Ir,
    op: Op,
    visit: Visit,
    rank: usize,
    inside: &impl Fn(Op) -> bool,
) -> Option<Step> {
    let dense = |value: Value| {
        let tensor = ir.value_kind(value).as_tensor();
        tensor.is_some_and(|t| t.dims.iter().all(|d| !d.broadcast))
    };
    let mut base = ir.operand(op, 0);
    let mut steps = visit.depth;
    while let Some(before) = ir.def_op(base).filter(|&d| inside(d)) {
        steps += 1;
        if !ir.is(before, &fusion::RESHAPE) || !dense(base) || steps > MAX_DEPTH {
            return Some(Step::Computed(visit.value));
        }
        base = ir.operand(before, 0);
    }
    // What lies between the base and the value is in no memory: only the base's layout counts.
    let in_order = |tensor| layout::is_row_major(ir, tensor);
    if !dense(base) || !dense(visit.value) || !ir.value_kind(base).as_tensor().is_some_and(in_order)
    {
        return Some(Step::Computed(visit.value));
    }
    let tensor = ir.value_kind(visit.value).as_tensor()?;
    let order: Order = (0..tensor.dims.len()).collect();
    let strides = strides(ir, tensor, &order)?;
    memory(base, visit, &strides, rank)
}

/// Ops that reorder, add or drop axes.
fn moved(ir: &Ir, op: Op, visit: Visit, rule: AxisRule) -> Option<Step> {
    let input = ir.operand(op, 0);
    let rank = ir.value_kind(input).as_tensor().map_or(0, |t| t.dims.len());
    let dims: Vec<usize> = ir
        .i64s_of(op, "dims")
        .unwrap_or(&[])
        .iter()
        .filter_map(|&d| usize::try_from(d).ok())
        .collect();
    let zero = Affine {
        dim: 0,
        scale: 0,
        offset: ExtentExpr::constant(0),
    };
    let mut index = vec![zero.clone(); rank];
    match rule {
        AxisRule::Broadcast => {
            for (k, &place) in dims.iter().enumerate() {
                *index.get_mut(k)? = visit.index.get(place)?.clone();
            }
        }
        AxisRule::Permute => {
            for (place, &k) in dims.iter().enumerate() {
                *index.get_mut(k)? = visit.index.get(place)?.clone();
            }
        }
        AxisRule::Squeeze => {
            let kept = (0..rank).filter(|k| !dims.contains(k));
            for (k, own) in kept.zip(&visit.index) {
                index[k] = own.clone();
            }
        }
        AxisRule::Expand => {
            let from = &ir.value_kind(input).as_tensor()?.dims;
            for (k, dim) in from.iter().enumerate() {
                if dim.extent != Extent::Static(1) {
                    index[k] = visit.index.get(k)?.clone();
                }
            }
        }
        _ => return Some(Step::Computed(visit.value)),
    }
    Step::to(Visit {
        value: input,
        index,
        guards: visit.guards,
        depth: visit.depth + 1,
    })
}

fn extents(ir: &Ir, tensor: &TensorType) -> Option<Vec<ExtentExpr>> {
    let dims = tensor.dims.iter();
    dims.map(|d| ir.extent_as_expr(d.extent)).collect()
}

/// Distances between neighbours in a dense buffer with its axes in this order; 0 along axes that are stored once.
fn strides(ir: &Ir, tensor: &TensorType, order: &[usize]) -> Option<Vec<ExtentExpr>> {
    let mut inner = ExtentExpr::constant(1);
    let mut strides = vec![ExtentExpr::constant(0); tensor.dims.len()];
    for &axis in order.iter().rev() {
        let dim = tensor.dims.get(axis).filter(|d| layout::matters(d));
        if let Some(dim) = dim {
            strides[axis] = inner.clone();
            inner = inner.mul(&ir.extent_as_expr(dim.extent)?)?;
        }
    }
    Some(strides)
}
