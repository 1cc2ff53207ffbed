//! Restricts results that overwrite arguments to writing only the changed elements.
//!
//! ```text
//! // the result overwrites %x: tensor<2000x8xf32>, %i: i32                   %0 = fusion.cast %i to i64 ... clamped, of rank 1
//! %y = fusion.dynamic_update_slice %x, %u, %i dims [0]               =>      %y = fusion.index_put %x, %0, %u dim 0 combine set
//! ```
//!
//! The body of a `task.loop` writes its results over its arguments, which the loop holds in separate memory: the pass
//! marks these results `{alias = i : i64}`.
//!
//! A `dynamic_update_slice` of an argument, returned in the argument's place, becomes an `index_put` under two
//! conditions: the part lies inside the tensor along adjacent axes of constant length, and covers less than half of
//! these. `index_put` accesses only the written elements, while the op as a kernel reads and writes the whole tensor.
//!
//! A loop result that the body returns unchanged is replaced by the loop's operand.
//!
//! Changes no bit of a result.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_dialects::fusion::maps;
use fuser_dialects::task::{calls, updates};
use fuser_ir::build::Builder;
use fuser_ir::{DType, Diagnostics, Dim, Extent, Ir, Op, Value};
use fuser_pass::{PassContext, PassDef, StatDef};

/// `update-in-place`
pub static UPDATE_IN_PLACE: PassDef = PassDef {
    name: "update-in-place",
    summary: "lets results that overwrite arguments write what changes alone",
    doc: "Results of a loop's body overwrite its arguments, and an invariant of a loop is its operand. A `dynamic_update_slice` of an argument whose result overwrites it becomes an \
          `index_put`, which writes its part and nothing else.",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "updates",
            doc: "updates that write their part alone",
        },
        StatDef {
            name: "invariants",
            doc: "results of loops that are what the loop was given",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    let module = ctx.ir.parent_op(program);
    if module.is_some_and(|module| calls::is_run_as(ctx.ir, module, program, &["body"])) {
        updates::overwrite_all(ctx.ir, program);
    }
    for op in calls::loops(ctx.ir, program) {
        pass_invariants(ctx, op);
    }
    let Some(body) = ctx.ir.body(program, 0) else {
        return Ok(());
    };
    let Some(end) = ctx.ir.terminator(body) else {
        return Ok(());
    };
    for (result, value) in ctx
        .ir
        .operands(end)
        .collect::<Vec<_>>()
        .into_iter()
        .enumerate()
    {
        let argument = updates::argument(ctx.ir, program, result);
        let argument = argument.and_then(|at| ctx.ir.args(body).get(at).copied());
        let updated = argument.and_then(|argument| Update::of(ctx.ir, argument, value));
        // What cannot be written as an index_put stays as it is.
        let Some(update) = updated else { continue };
        if let Ok(put) = update.put(ctx.ir) {
            let name = ctx.ir.value_name_sym(value);
            ctx.ir.replace_all_uses(value, put);
            ctx.ir.erase(update.op);
            ctx.ir.set_value_name(put, name);
            ctx.count("updates", 1);
        }
    }
    Ok(())
}

/// Lets what reads an invariant of a loop read the operand.
fn pass_invariants(ctx: &mut PassContext<'_>, op: Op) {
    let Some(body) = calls::callee(ctx.ir, op, "body") else {
        return;
    };
    for index in 0..ctx.ir.results(op).len() {
        let (operand, result) = (ctx.ir.operand(op, index), ctx.ir.result(op, index));
        let same = ctx.ir.value_type(operand) == ctx.ir.value_type(result);
        if same && !ctx.ir.is_unused(result) && calls::is_invariant(ctx.ir, body, index) {
            ctx.ir.replace_all_uses(result, operand);
            ctx.count("invariants", 1);
        }
    }
}

/// An update of an argument along neighbouring axes.
struct Update {
    op: Op,
    /// The axes of the argument and of the part.
    whole: Vec<Dim>,
    part: Vec<Dim>,
    /// The axes along which the part is smaller than the argument, with all axes between them, and their extents and
    /// starts.
    axes: Vec<Axis>,
    first: usize,
}

struct Axis {
    whole: i64,
    part: i64,
    /// The index at which the part starts; `None` if the part is the whole axis.
    start: Option<Value>,
}

impl Update {
    /// The update of `argument` that makes `value`, which nothing else reads.
    fn of(ir: &Ir, argument: Value, value: Value) -> Option<Self> {
        let op = ir.def_op(value)?;
        let alone = |op| ir.users(value).count() == 1 && ir.operand(op, 0) == argument;
        if !ir.def(op)?.has_maps(&maps::DYNAMIC_UPDATE_SLICE) || !alone(op) {
            return None;
        }
        let dims = |value: Value| Some(ir.value_kind(value).as_tensor()?.dims.clone());
        let (whole, part) = (dims(argument)?, dims(ir.operand(op, 1))?);
        if whole.iter().chain(&part).any(|dim| dim.broadcast) {
            return None;
        }
        let less = |axis: &usize| whole[*axis].extent != part[*axis].extent;
        let first = (0..whole.len()).find(less)?;
        let last = (0..whole.len()).rev().find(less)?;
        let starts = ir.i64s_of(op, "dims")?;
        let length = |dim: &Dim| match dim.extent {
            Extent::Static(n) => i64::try_from(n).ok(),
            _ => None,
        };
        let axis = |axis: usize| {
            let at = starts.iter().position(|&dim| dim == axis as i64);
            let start = at.and_then(|at| ir.operands(op).nth(2 + at));
            let (whole, part) = (length(&whole[axis])?, length(&part[axis])?);
            let start = start.filter(|_| part < whole);
            Some(Axis { whole, part, start })
        };
        let axes: Vec<Axis> = (first..=last).map(axis).collect::<Option<_>>()?;
        let product = |of: fn(&Axis) -> i64| {
            let lengths = axes.iter().map(of);
            lengths.clone().product::<i64>().max(0)
        };
        let (all, some) = (product(|axis| axis.whole), product(|axis| axis.part));
        (some > 0 && some.checked_mul(2)? <= all).then_some(Self {
            op,
            whole,
            part,
            axes,
            first,
        })
    }
    /// The `index_put` that does the same.
    fn put(&self, ir: &mut Ir) -> Built {
        let behind = self.first + self.axes.len();
        let (all, some) = self.lengths();
        let mut b = Builder::before(ir, self.op);
        let mut index = None;
        // The distance between neighbours along each axis, and how many elements of the part lie behind one of its own.
        let (mut stride, mut inner) = (all, some);
        for axis in &self.axes {
            stride /= axis.whole;
            inner /= axis.part;
            let term = along(&mut b, axis, [stride, inner], some)?;
            index = Some(match index {
                Some(sum) => b.add(sum, term)?,
                None => term,
            });
        }
        let [x, updates] = [0, 1].map(|at| b.ir.operand(self.op, at));
        let shape = |dims: &[Dim], length: i64| {
            let mut shape = dims[..self.first].to_vec();
            shape.push(Dim::fixed(length as u64));
            shape.extend(&dims[behind..]);
            shape
        };
        let flat = |b: &mut Builder<'_>, value, shape: &[Dim]| match self.axes.len() {
            1 => Ok(value),
            _ => {
                let clause = [b.shape("shape", shape)];
                b.value(&fusion::RESHAPE, &[value], &clause)
            }
        };
        let dest = flat(&mut b, x, &shape(&self.whole, all))?;
        let updates = flat(&mut b, updates, &shape(&self.part, some))?;
        let index = match index {
            Some(index) => index,
            None => return Ok(x),
        };
        let combine = b.ir.string_attr("set");
        let clauses = [b.int("dim", self.first as i64), ("combine", combine)];
        let put = b.value(&fusion::INDEX_PUT, &[dest, index, updates], &clauses)?;
        flat(&mut b, put, &self.whole)
    }
    fn lengths(&self) -> (i64, i64) {
        let all = self.axes.iter().map(|axis| axis.whole).product();
        let some = self.axes.iter().map(|axis| axis.part).product();
        (all, some)
    }
}

/// The contribution of one axis to the indices of the part's elements, of which there are `count` along all axes of the
/// update.
fn along(b: &mut Builder<'_>, axis: &Axis, [stride, inner]: [i64; 2], count: i64) -> Built {
    let ty = b.ir.scalar(DType::I64);
    let list = [Dim::fixed(count as u64)];
    let number = |b: &mut Builder<'_>, value: i64| b.constant_int(value, ty);
    let zero = number(b, 0)?;
    let shape = b.shape("shape", &list);
    let mut index = match axis.part {
        1 => b.value(&fusion::FULL, &[zero], &[shape])?,
        _ => {
            let of = b.dtype("of", DType::I64);
            let dim = b.int("dim", 0);
            let own = b.value(&fusion::IOTA, &[], &[dim, shape, of])?;
            let (inner, part) = (number(b, inner)?, number(b, axis.part)?);
            let own = b.div(own, inner)?;
            b.rem(own, part)?
        }
    };
    if let Some(start) = axis.start {
        let last = axis.whole - axis.part;
        let start = begun(b, start, last)?;
        index = b.add(index, start)?;
    }
    let stride = number(b, stride)?;
    b.mul(index, stride)
}

/// A start as an i64 from 0 to `last`.
fn begun(b: &mut Builder<'_>, start: Value, last: i64) -> Built {
    let ty = b.ir.scalar(DType::I64);
    let (zero, last) = (b.constant_int(0, ty)?, b.constant_int(last, ty)?);
    let start = b.cast(start, DType::I64)?;
    let start = b.maximum(start, zero)?;
    b.minimum(start, last)
}
