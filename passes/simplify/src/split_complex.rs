//! Rewrites complex values as pairs of real ones, so that no later pass and no kernel knows complex numbers.
//!
//! ```text
//! task.program @f(%x: tensor<8xcomplex<f32>>)               task.program @f(%x: tensor<8x2xf32> {pairs})
//!     -> tensor<8xcomplex<f32>> {                                   -> (tensor<8x2xf32> {pairs}) {
//!   %y = fusion.conj %x                               =>      %0 = fusion.slice %x starts [0, 0] shape [8, 1]
//!   task.return %y                                            %re = fusion.squeeze %0 dims [1]
//! }                                                           %1 = fusion.slice %x starts [0, 1] shape [8, 1]
//!                                                             %im = fusion.squeeze %1 dims [1]
//!                                                             %im_1 = fusion.neg %im
//!                                                             %2 = fusion.broadcast %re dims [0] shape [8, 1]
//!                                                             %3 = fusion.broadcast %im_1 dims [0] shape [8, 1]
//!                                                             %y = fusion.cat %2, %3 dim 1
//!                                                             task.return %y
//!                                                           }
//! ```
//!
//! Arguments and results stay what they are in memory: pairs of reals along one more axis, innermost, and marked (`task::pairs`), so that
//! callers see complex tensors still. An op that only moves, chooses or adds elements becomes two, one for each part; any other is the
//! formula of its definition (`split_complex/formulas.rs`). An op with neither is an error, and so is a complex value that crosses the
//! boundary of a segment; patterns become labels first, as by `label-patterns`. Changes no bit of a result, as the definitions are these
//! formulas. One walk.

mod formulas;
mod tape;

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::task::{self, labels, pairs};
use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::clone::Mapping;
use fuser_ir::def::{OpClass, OpError};
use fuser_ir::layout;
use fuser_ir::types::{Dim, TypeKind};
use fuser_ir::{Block, Diagnostics, Ir, Op, OpDef, TypeId, Value};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::FxHashMap;

fuser_ir::codes! {
    /// A complex value that is no pair of reals.
    NO_PARTS = "FIR0802", "an op on complex numbers has no real form",
        "Kernels compute with real numbers. `--split-complex` makes two reals of a complex one and real ops of each op on them, by the \
         formula in the op's definition. A complex value cannot cross the boundary of a task that was drawn by hand, and has no lanes.",
        "$ fuser-opt x.fir --split-complex\n\
         task.program @f(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {\n  \
         %y = task.segment @s {\n    \
         %y = fusion.conj %x\n    \
         task.yield %y\n  \
         }\n  \
         task.return %y\n\
         }";
}

/// `split-complex`
pub static SPLIT_COMPLEX: PassDef = PassDef {
    name: "split-complex",
    summary: "makes pairs of reals of complex numbers",
    doc: "Every complex value becomes a real and an imaginary part, and every op on complex numbers the real ops that define it. \
          Arguments and results get a last axis of 2, the two parts, and the mark `pairs`: they are the same memory, and callers see complex tensors. \
          Patterns of such a program become labels, as by `label-patterns`.",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "split",
        doc: "ops on complex numbers replaced",
    }],
    run,
    ..PassDef::EMPTY
};

/// The real and the imaginary part of a value.
type Pair = (Value, Value);

/// The parts of the complex values so far.
type Known = FxHashMap<Value, Pair>;

/// Ops outside of the class `Shape` that apply to each part separately as to a real number.
static BY_PARTS: &[&OpDef] = &[
    &fusion::NEG,
    &fusion::ADD,
    &fusion::SUB,
    &fusion::WHERE,
    &fusion::FULL,
    &fusion::SUM,
    &fusion::MEAN,
    &fusion::CUMSUM,
    &fusion::ROLL,
    &fusion::TAKE,
    &fusion::TAKE_ALONG,
    &fusion::DYNAMIC_SLICE,
    &fusion::DYNAMIC_UPDATE_SLICE,
    &fusion::SCATTER,
    &fusion::INDEX_PUT,
];

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    let Some(body) = ctx.ir.body(program, 0) else {
        return Ok(());
    };
    let mut known = Known::default();
    if !concerns(ctx.ir, program, &known) {
        return Ok(());
    }
    labels::note(ctx.ir, program);
    let error = |ctx: &PassContext<'_>, op: Op, error: OpError| {
        let diagnostic = ctx.error_at(
            op,
            &NO_PARTS,
            format!("`{}` {}", ctx.ir.name(op), error.message),
        );
        let help = error.help.unwrap_or_else(|| {
            "compute with the parts, `fusion.real %x` and `fusion.imag %x`".into()
        });
        Diagnostics {
            items: vec![diagnostic.help(help)],
        }
    };
    let ops: Vec<Op> = ctx.ir.block_ops(body).collect();
    arguments(ctx.ir, program, body, &mut known).map_err(|e| error(ctx, program, e))?;
    let mut replaced = Vec::new();
    for op in ops {
        if ctx.ir.is(op, &task::RETURN) {
            returned(ctx.ir, program, op, &known).map_err(|e| error(ctx, op, e))?;
        } else if concerns(ctx.ir, op, &known) {
            let before = ctx.ir.prev_op(op);
            split(ctx.ir, op, &mut known).map_err(|e| error(ctx, op, e))?;
            labels::inherit(ctx.ir, before, op);
            replaced.push(op);
        }
    }
    ctx.count("split", replaced.len() as u64);
    replaced.into_iter().rev().for_each(|op| ctx.ir.erase(op));
    Ok(())
}

fn is_complex(ir: &Ir, value: Value) -> bool {
    ir.value_kind(value).dtype().is_some_and(|d| d.is_complex())
}

/// True if an op or one inside it has a complex operand, result or argument, or one that was.
fn concerns(ir: &Ir, op: Op, known: &Known) -> bool {
    ir.walk(op).into_iter().any(|op| {
        let args = ir.body(op, 0).map_or(&[][..], |body| ir.args(body));
        let own = ir.results(op).iter().chain(args).copied();
        own.chain(ir.operands(op))
            .any(|value| is_complex(ir, value) || known.contains_key(&value))
    })
}

/// The axes of a complex tensor; a scalar has none.
fn axes(ir: &Ir, value: Value) -> Result<Vec<Dim>, OpError> {
    match ir.value_kind(value) {
        TypeKind::Tensor(tensor) => Ok(tensor.dims.clone()),
        TypeKind::Scalar(_) => Ok(Vec::new()),
        _ => Err(OpError::new("has complex lanes").help("use a tensor")),
    }
}

/// The type of a complex tensor's memory: one more axis, innermost, of the two parts.
fn pairs_type(ir: &mut Ir, value: Value) -> Result<TypeId, OpError> {
    let mut dims = axes(ir, value)?;
    let order = ir
        .value_kind(value)
        .as_tensor()
        .and_then(|t| layout::stated(ir, t));
    let dtype = ir
        .value_kind(value)
        .dtype()
        .map_or(fuser_ir::DType::F32, |d| d.part());
    let last = dims.len();
    dims.push(Dim::fixed(2));
    let ty = ir.tensor(dims, dtype);
    Ok(match order {
        Some(order) => {
            let order: Vec<usize> = order.iter().copied().chain([last]).collect();
            layout::with(ir, ty, &order)
        }
        None => ty,
    })
}

/// Gives complex arguments the type of their memory, and knows their parts as slices of it.
fn arguments(ir: &mut Ir, program: Op, body: Block, known: &mut Known) -> Result<(), OpError> {
    let args = ir.args(body).to_vec();
    let complex: Vec<usize> = (0..args.len())
        .filter(|&i| is_complex(ir, args[i]))
        .collect();
    for &index in &complex {
        let arg = args[index];
        if matches!(ir.value_kind(arg), TypeKind::Scalar(_)) {
            let help = "a tensor of rank 0, `tensor<complex<f32>>`, stands beside tensors as a scalar does";
            return Err(OpError::new("takes a complex scalar").help(help));
        }
        let dims = axes(ir, arg)?;
        let ty = pairs_type(ir, arg)?;
        ir.set_value_type(arg, ty);
        let Some(first) = ir.first_op(body) else {
            continue;
        };
        let mut b = Builder::before(ir, first);
        let parts = (part(&mut b, arg, &dims, 0)?, part(&mut b, arg, &dims, 1)?);
        known.insert(arg, parts);
    }
    write_signature(ir, program, body, pairs::LISTS[0], &complex);
    Ok(())
}

/// Part 0 or 1 of a tensor of pairs.
fn part(b: &mut Builder<'_>, pairs: Value, dims: &[Dim], which: i64) -> Result<Value, OpError> {
    let mut starts = vec![0; dims.len()];
    starts.push(which);
    let mut shape = dims.to_vec();
    shape.push(Dim::fixed(1));
    let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
    let slice = b.value(&fusion::SLICE, &[pairs], &clauses)?;
    let last = b.ints("dims", &[dims.len() as i64]);
    b.value(&fusion::SQUEEZE, &[slice], &[last])
}

/// Returns tensors of pairs instead of complex ones.
fn returned(ir: &mut Ir, program: Op, end: Op, known: &Known) -> Result<(), OpError> {
    let mut complex = Vec::new();
    for (index, value) in ir.operands(end).collect::<Vec<_>>().into_iter().enumerate() {
        let Some(&parts) = known.get(&value) else {
            continue;
        };
        complex.push(index);
        // An argument has its type already.
        if !is_complex(ir, value) {
            continue;
        }
        let (ty, name) = (pairs_type(ir, value)?, ir.value_name_sym(value));
        let dims = axes(ir, value)?;
        let mut shape = dims.clone();
        shape.push(Dim::fixed(1));
        let own: Vec<i64> = (0..dims.len() as i64).collect();
        let mut b = Builder::before(ir, end);
        let columns = [
            b.broadcast(parts.0, &own, &shape)?,
            b.broadcast(parts.1, &own, &shape)?,
        ];
        let last = b.int("dim", dims.len() as i64);
        let all = b.value(&fusion::CAT, &columns, &[last])?;
        // Stated, or `infer-layouts` may part what belongs together.
        let ty = match layout::is_stated(ir, value) {
            true => ty,
            false => layout::with(ir, ty, &(0..=dims.len()).collect::<Vec<_>>()),
        };
        ir.set_value_type(all, ty);
        ir.set_value_name(value, None);
        ir.set_value_name(all, name);
        ir.set_operand(end, index, all);
    }
    if let Some(body) = ir.body(program, 0) {
        write_signature(ir, program, body, pairs::LISTS[1], &complex);
    }
    Ok(())
}

/// Marks entries of a list, and writes the types that arguments and results have now.
fn write_signature(ir: &mut Ir, program: Op, body: Block, list: &str, marked: &[usize]) {
    let inputs: Vec<TypeId> = ir.args(body).iter().map(|&a| ir.value_type(a)).collect();
    let results: Vec<TypeId> = match ir.terminator(body) {
        Some(end) => ir.operands(end).map(|v| ir.value_type(v)).collect(),
        None => Vec::new(),
    };
    let count = if list == pairs::LISTS[0] {
        inputs.len()
    } else {
        results.len()
    };
    if !marked.is_empty() {
        pairs::mark(ir, program, list, count, marked);
    }
    let function = ir.function_type(inputs, results);
    let function = ir.attr(AttrKind::Type(function));
    ir.set_attr(program, "function_type", function);
}

/// Makes the parts of an op's complex results, and replaces its real ones.
fn split(ir: &mut Ir, op: Op, known: &mut Known) -> Result<(), OpError> {
    if !ir.op_regions(op).is_empty() {
        let help = "let the compiler draw segments, or hand the parts over";
        return Err(OpError::new("has a complex value inside, or hands one over").help(help));
    }
    let shape = ir.def(op).is_some_and(|d| d.class == OpClass::Shape);
    if shape || BY_PARTS.iter().any(|def| ir.is(op, def)) {
        let real = copy(ir, op, known, false);
        let imaginary = copy(ir, op, known, true);
        for index in 0..ir.results(op).len() {
            let (a, b) = (ir.result(real, index), ir.result(imaginary, index));
            known.insert(ir.result(op, index), (a, b));
        }
        return Ok(());
    }
    if ir.is(op, &fusion::VAR_MEAN) {
        return moments(ir, op, known);
    }
    let result = ir.result(op, 0);
    let made = formulas::make(ir, op, known)?;
    match made {
        formulas::Made::Complex(a, b) => {
            known.insert(result, (a, b));
        }
        formulas::Made::Real(value) => replace(ir, result, value),
    }
    Ok(())
}

/// Lets a real value stand for a result.
fn replace(ir: &mut Ir, result: Value, value: Value) {
    let name = ir.value_name_sym(result);
    ir.set_value_name(result, None);
    ir.set_value_name(value, name);
    if layout::is_stated(ir, result) {
        let ty = ir.value_type(result);
        ir.set_value_type(value, ty);
    }
    ir.replace_all_uses(result, value);
}

/// Variance and mean: the variances of the parts are added.
fn moments(ir: &mut Ir, op: Op, known: &mut Known) -> Result<(), OpError> {
    let [real, imaginary] = [false, true].map(|second| copy(ir, op, known, second));
    let vars = [real, imaginary].map(|part| ir.result(part, 0));
    let means = [real, imaginary].map(|part| ir.result(part, 1));
    let var = Builder::before(ir, op).binary(&fusion::ADD, vars[0], vars[1])?;
    let results = [ir.result(op, 0), ir.result(op, 1)];
    known.insert(results[1], (means[0], means[1]));
    replace(ir, results[0], var);
    Ok(())
}

/// A copy of an op that takes one part of each complex operand.
fn copy(ir: &mut Ir, op: Op, known: &Known, second: bool) -> Op {
    let mut map = Mapping::default();
    for value in ir.operands(op).collect::<Vec<_>>() {
        if let Some((a, b)) = known.get(&value) {
            map.insert(value, if second { *b } else { *a });
        }
    }
    let copy = ir.clone_op(op, &mut map);
    ir.insert_before(op, copy);
    for index in 0..ir.results(copy).len() {
        let result = ir.result(copy, index);
        let ty = ir.value_type(result);
        let part = ir.ty(ty).dtype().map(|dtype| dtype.part());
        let ty = part.map_or(ty, |part| ir.with_dtype(ty, part));
        ir.set_value_type(result, ty);
    }
    copy
}
