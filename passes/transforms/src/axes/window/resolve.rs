//! From a slice, pad or cat down to memory.
//!
//! A work list of values, each with the index that the walk reads it at and the guards on the way; what it ends at is a piece.
//! Index arithmetic passes windows, changes of shape, and reshapes of what lies row-major in memory; anything else would have
//! to be computed. Never recurses; never looks at an op for which `inside` does not hold.

use fuser_dialects::fusion::maps;
use fuser_ir::def::OpClass;
use fuser_ir::layout::{self, Order};
use fuser_ir::maps::{Index, Map, Reads};
use fuser_ir::types::{ExtentExpr, TensorType};
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

impl Window {
    /// The elements of the reshape `op`, whose operand is in memory, by their numbers; `None` where an extent is `?`.
    pub fn of_reshape(ir: &Ir, op: Op) -> Option<Window> {
        let (from, to) = (ir.operand(op, 0), *ir.results(op).first()?);
        let tensor = |value: Value| ir.value_kind(value).as_tensor();
        let source = Source::Reshaped {
            value: from,
            extents: extents(ir, tensor(from)?)?,
            strides: strides(ir, tensor(from)?, &layout::order(ir, tensor(from)?))?,
        };
        let piece = Piece {
            guards: Vec::new(),
            source,
        };
        Some(Window {
            extents: extents(ir, tensor(to)?)?,
            pieces: vec![piece],
        })
    }
}

/// Whether the walk down may pass through `op`: each of its elements is one of an operand, or one scalar everywhere.
pub fn is_link(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir.def(op) else { return false };
    match def.class {
        // A copy wants memory of its own, and a border ends the walk.
        OpClass::Shape => !def.has_maps(&maps::POINTWISE),
        OpClass::Creation => ir.operand_count(op) == 1 || is_splat(ir, op),
        _ => false,
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

/// From the result of `op` to its operands, by its maps: every result axis is an iterator.
fn follow(
    ir: &Ir,
    op: Op,
    visit: Visit,
    extents: &[ExtentExpr],
    inside: &impl Fn(Op) -> bool,
) -> Option<Step> {
    let maps = ir.maps(op)?;
    if ir.def(op)?.class == OpClass::Creation {
        let fill = ir.operands(op).next().unwrap_or(visit.value);
        return Step::piece(visit.guards, Source::Fill(fill));
    }
    if maps.operands.contains(&Map::RowMajor) {
        return reshape(ir, op, visit, extents.len(), inside);
    }
    let mut items = Vec::new();
    for (operand, map) in ir.operands(op).zip(&maps.operands) {
        // More than there may be: the others change nothing.
        if items.len() > MAX_PIECES {
            break;
        }
        let chosen = maps.reads == Reads::First;
        if chosen && map.axes().is_some_and(<[Index]>::is_empty) {
            let (guards, source) = (visit.guards.clone(), Source::Fill(operand));
            items.push(Item::Piece(Piece { guards, source }));
            continue;
        }
        let mut guards = visit.guards.clone();
        let tensor = ir.value_kind(operand).as_tensor();
        let mut index = Vec::new();
        let mut empty = false;
        for (axis, own) in map.axes()?.iter().enumerate() {
            let affine = composed(own, &visit.index)?;
            if chosen && matches!(own, Index::Affine { .. }) {
                let extent = ir.extent_as_expr(tensor?.dims.get(axis)?.extent)?;
                empty |= extent.as_constant() == Some(0);
                guards.extend(guard(&affine, extent, extents)?);
            }
            index.push(affine);
        }
        if !empty {
            items.push(Item::Visit(Visit {
                value: operand,
                index,
                guards,
                depth: visit.depth + 1,
            }));
        }
    }
    // All operands are empty: any of them stands for the others, and no index reaches it.
    if items.is_empty() {
        return Step::to(below(ir.operand(op, 0), visit));
    }
    Some(Step::Items(items))
}

/// The index of an operand's axis, where the op's result is read at `at`.
fn composed(index: &Index, at: &[Affine]) -> Option<Affine> {
    Some(match index {
        Index::Zero => Affine {
            dim: 0,
            scale: 0,
            offset: ExtentExpr::constant(0),
        },
        Index::Iter(iter) => at.get(*iter)?.clone(),
        Index::Affine { iter, start, step } => {
            let inner = at.get(*iter)?;
            let scaled = inner.offset.mul(&ExtentExpr::constant(*step))?;
            Affine {
                dim: inner.dim,
                scale: inner.scale.checked_mul(*step)?,
                offset: scaled.add(start)?,
            }
        }
    })
}

fn below(value: Value, visit: Visit) -> Visit {
    Visit {
        value,
        depth: visit.depth + 1,
        ..visit
    }
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
        if !ir.def(before)?.has_maps(&maps::RESHAPE) || !dense(base) || steps > MAX_DEPTH {
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
