//! Products: a product accepted by an executor stays a call, any other is broadcast, multiplied and summed.
//!
//! ```text
//! %y = fusion.matmul %a, %b       // [M, K] by [K, N]
//!   =>
//! %p = fusion.broadcast %a dims [0, 1] shape [M, K, N]
//! %q = fusion.broadcast %b dims [1, 2] shape [M, K, N]
//! %m = fusion.mul %p, %q
//! %y = fusion.sum %m dims [1]
//! ```
//!
//! No element of the product's space is stored: one kernel multiplies and sums. A call accesses memory in any order of
//! axes, so an operand that is a permutation becomes a view. A bias is added by a later kernel, which other ops share,
//! unless the executor adds it. A sum of a product and a tensor in memory becomes one call. 16-bit operands are widened first, and the sum is rounded once, even if a bias follows.

use fuser_analysis::cost::{copies, is_call, keeps_memory, moved};
use fuser_analysis::executors::Adds;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_dialects::fusion::maps;
use fuser_dialects::{fusion, task};
use fuser_ir::build::Builder;
use fuser_ir::clone::Mapping;
use fuser_ir::def::{Computes, OpClass, OpDef, OpError};
use fuser_ir::layout::{self, Order};
use fuser_ir::maps::{Index, IndexingMaps};
use fuser_ir::{DType, Dim, Ir, Op, Value};

use super::Parts;
use super::call::Goal;

/// A product that stays a call. Operands are read in their stored layout. A third one is added after the product unless
/// the executor `adds` it.
pub fn called(ir: &mut Ir, op: Op, adds: Adds) -> Parts {
    let taken = adds.takes(ir, op);
    for index in 0..ir.operand_count(op) {
        read_as_it_lies(ir, op, index);
    }
    if !taken {
        return biased(ir, op);
    }
    if ir.operand_count(op) == 2 || adds == Adds::Bias {
        store_as_it_is_read(ir, op, 2);
    }
    Ok(Vec::new())
}

/// The product with a third operand that computes the sum `op` of a product and a tensor in memory. Nobody else reads
/// the product, and the executor that takes it adds tensors: the product is read and written once less.
pub fn with_sum(ir: &mut Ir, op: Op, goal: &Goal) -> Option<Value> {
    let adds = ir.computes(op) == Some(Computes::Add) && ir.def(op)?.class == OpClass::Elementwise;
    if !adds || !ir.parent_op(op).is_some_and(|p| ir.is(p, &task::PROGRAM)) {
        return None;
    }
    let (sum, block) = (ir.result(op, 0), ir.parent_block(op));
    let (at, product) = (0..2).find_map(|at| {
        let value = ir.operand(op, at);
        let product = ir.def_op(value)?;
        let class = ir.def(product)?.class;
        let alone = ir.uses(value).count() == 1 && ir.parent_block(product) == block;
        let plain = class == OpClass::Contraction && ir.operand_count(product) == 2;
        (alone && plain && !layout::is_stated(ir, value)).then_some((at, product))
    })?;
    let c = ir.operand(op, 1 - at);
    let exact = |value: Value| {
        ir.value_kind(value)
            .dtype()
            .is_some_and(|d| d.accumulate() == d)
    };
    let whole = |value: Value| dims(ir, value).iter().all(|dim| !dim.broadcast);
    let same = dims(ir, c) == dims(ir, sum) && dims(ir, sum) == dims(ir, ir.result(product, 0));
    if !exact(c) || !same || !whole(c) || !lies_in_memory(ir, c) || layout::is_stated(ir, sum) {
        return None;
    }
    if !goal.adds_tensors(ir, product) {
        return None;
    }
    let def = ir.def(product)?;
    let operands = [ir.operand(product, 0), ir.operand(product, 1), c];
    let to = ir.value_kind(sum).dtype()?;
    let mut b = Builder::before(ir, op);
    let to = b.dtype("to", to);
    let made = b.value(def, &operands, &[to]).ok()?;
    ir.set_value_name(made, ir.value_name_sym(sum));
    ir.replace_all_uses(sum, made);
    ir.erase(op);
    ir.erase(product);
    Some(made)
}

/// True for an argument, the result of a call, and views of these: no kernel that could compute `value` again is saved.
fn lies_in_memory(ir: &Ir, mut value: Value) -> bool {
    while let Some(op) = ir.def_op(value) {
        match keeps_memory(ir, op) {
            true => value = ir.operand(op, 0),
            false => return is_call(ir, op),
        }
    }
    true
}

/// Gives the result of a call, if only permutations read it, the layout in which the first of them is row-major. One of
/// the last `inner` axes has to be the innermost one in memory.
pub fn store_as_it_is_read(ir: &mut Ir, op: Op, inner: usize) {
    let result = ir.result(op, 0);
    let orders: Option<Vec<Order>> = ir.users(result).map(|user| read(ir, user)).collect();
    let first = orders.and_then(|orders| orders.into_iter().next());
    let Some(order) = first.filter(|order| !order.is_sorted() && !layout::is_stated(ir, result))
    else {
        return;
    };
    if order
        .last()
        .is_some_and(|&axis| axis + inner >= order.len())
    {
        let ty = layout::with(ir, ir.value_type(result), &order);
        ir.set_value_type(result, ty);
    }
}

/// The storage order of the operand under which the result of a shape op is row-major, and the same memory. A result
/// that only one shape op reads is followed to the last one.
fn read(ir: &Ir, mut user: Op) -> Option<Order> {
    let places = |user: Op| {
        ir.def(user).filter(|def| permutes(def))?;
        ir.maps(user)?.operand_axes(0)
    };
    let mut axes = places(user)?;
    loop {
        let made = *ir.results(user).first()?;
        let mut users = ir.users(made);
        let (Some(next), None) = (users.next(), users.next()) else {
            break;
        };
        let Some(further) = places(next).filter(|_| !layout::is_stated(ir, made)) else {
            break;
        };
        for axis in &mut axes {
            *axis = axis.and_then(|axis| *further.get(axis)?);
        }
        user = next;
    }
    let mut order: Order = (0..axes.len()).collect();
    order.sort_by_key(|&axis| axes[axis]);
    Some(order)
}

/// True for a shape op whose result has the elements of its operand, some perhaps repeated, at other places.
fn permutes(def: &OpDef) -> bool {
    def.class == OpClass::Shape && !def.shifts() && !copies(def) && !def.has_maps(&maps::RESHAPE)
}

/// Replaces an operand that is a permutation by one whose layout type describes the unpermuted memory.
pub fn read_as_it_lies(ir: &mut Ir, op: Op, index: usize) {
    let Some(made) = ir.def_op(ir.operand(op, index)) else {
        return;
    };
    let Some(order) = order(ir, made) else { return };
    let mut own = ir.result(made, 0);
    if ir.uses(own).count() > 1 {
        let view = ir.clone_op(made, &mut Mapping::default());
        ir.insert_before(op, view);
        own = ir.result(view, 0);
        ir.set_operand(op, index, own);
    }
    let ty = layout::with(ir, ir.value_type(own), &order);
    ir.set_value_type(own, ty);
}

/// The storage order under which the result of a shape op is the memory of its operand; `None` if that is the default
/// order.
fn order(ir: &Ir, made: Op) -> Option<Order> {
    ir.def(made).filter(|def| permutes(def))?;
    let result = *ir.results(made).first()?;
    if layout::is_stated(ir, result) {
        return None;
    }
    let source = ir.value_kind(ir.operands(made).next()?).as_tensor()?;
    let stored = moved(ir, made, &layout::stored(ir, source))?;
    let others = (0..ir.rank(result)).filter(|axis| !stored.contains(axis));
    let order: Order = others.chain(stored.iter().copied()).collect();
    (!order.is_sorted()).then_some(order)
}

/// The element type of the result.
fn element(ir: &Ir, op: Op) -> Result<DType, OpError> {
    let dtype = ir.value_kind(ir.result(op, 0)).dtype();
    dtype.ok_or_else(|| OpError::new("its result is no tensor"))
}

/// A product whose bias is added behind it.
fn biased(ir: &mut Ir, op: Op) -> Parts {
    let def = ir.def(op).ok_or_else(|| OpError::new("is not known"))?;
    let (factors, to) = ([ir.operand(op, 0), ir.operand(op, 1)], element(ir, op)?);
    let mut b = Builder::before(ir, op);
    let wide = b.dtype("to", to.accumulate());
    let product = b.value(def, &factors, &[wide])?;
    let sum = with_bias(&mut b, op, product)?;
    Ok(vec![b.cast(sum, to)?])
}

/// `sum`, in the accumulating type, plus the third operand of `op` at the last indices of the result, if it has one.
fn with_bias(b: &mut Builder<'_>, op: Op, sum: Value) -> Built {
    let Some(bias) = b.ir.operands(op).nth(2) else {
        return Ok(sum);
    };
    let shape = dims(b.ir, sum).into_iter();
    let shape: Vec<Dim> = shape.map(|d| Dim::new(d.extent)).collect();
    let compute = element(b.ir, op)?.accumulate();
    let bias = b.cast(bias, compute)?;
    let wide = match shape.len() {
        rank if rank == b.ir.rank(bias) => bias,
        rank => b.broadcast(bias, &[rank as i64 - 1], &shape)?,
    };
    b.add(sum, wide)
}

fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |t| t.dims.clone())
}

/// The product as a sum along an axis of a space to which both factors are broadcast.
pub fn summed(ir: &mut Ir, op: Op) -> Parts {
    let odd = || OpError::new("its axes stand in no common order");
    let maps = ir.maps(op).ok_or_else(odd)?;
    let space = Space::of(ir, op, &maps).ok_or_else(odd)?;
    let to = element(ir, op)?;
    let mut b = Builder::before(ir, op);
    let mut factors = [b.ir.operand(op, 0), b.ir.operand(op, 1)];
    for (factor, places) in factors.iter_mut().zip(&space.places) {
        let x = b.cast(*factor, to.accumulate())?;
        *factor = match places.len() == space.dims.len() {
            true => x,
            false => b.broadcast(x, places, &space.dims)?,
        };
    }
    let product = b.mul(factors[0], factors[1])?;
    let sum = b.reduce(&fusion::SUM, product, &[space.summed])?;
    let sum = with_bias(&mut b, op, sum)?;
    Ok(vec![b.cast(sum, to)?])
}

/// The iterators of a product, ordered so that the axes of both factors ascend, and the iterators of the result.
struct Space {
    dims: Vec<Dim>,
    summed: i64,
    /// The axes of each factor.
    places: [Vec<i64>; 2],
}

impl Space {
    fn of(ir: &Ir, op: Op, maps: &IndexingMaps) -> Option<Self> {
        let last = maps.iterators.len().checked_sub(1)?;
        (0..=last).find_map(|summed| {
            // The last iterator is the one that is summed; those of the result keep their order around it.
            let place = |iter: usize| match iter == last {
                true => summed,
                false => iter + usize::from(iter >= summed),
            };
            let axes = |k: usize| -> Option<Vec<usize>> {
                let axes = maps.operands.get(k)?.axes()?.iter();
                let own = axes.map(|index| match index {
                    Index::Iter(iter) => Some(place(*iter)),
                    Index::Zero | Index::Affine { .. } | Index::Element(_) | Index::From { .. } => {
                        None
                    }
                });
                own.collect::<Option<Vec<usize>>>()
                    .filter(|p| p.is_sorted())
            };
            let places = [axes(0)?, axes(1)?];
            let mut dims = vec![None; last + 1];
            for (k, places) in places.iter().enumerate() {
                let own = self::dims(ir, ir.operand(op, k));
                for (&at, dim) in places.iter().zip(own) {
                    dims[at] = Some(Dim::new(dim.extent));
                }
            }
            let wide = |list: &Vec<usize>| list.iter().map(|&p| p as i64).collect();
            Some(Self {
                dims: dims.into_iter().collect::<Option<_>>()?,
                summed: summed as i64,
                places: places.each_ref().map(wide),
            })
        })
    }
}
