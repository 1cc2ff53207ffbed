//! Rewrites floats of 4 bits as their codes, one to a byte, so that no later pass and no kernel knows parts of bytes.
//!
//! ```text
//! task.program @f(%x: tensor<8xf4E2M1FN>)                   task.program @f(%x: tensor<4xui8> {packed = 0})
//!     -> tensor<8xf4E2M1FN> {                                   -> (tensor<4xui8, [0]> {packed = 0}) {
//!   %y = fusion.flip %x dims [0]                     =>       %0 = fusion.broadcast %x dims [0] shape [4, 2]
//!   task.return %y                                            %1 = fusion.iota dim 1 shape [4, 2] of ui8    // times 4
//! }                                                           %2 = fusion.lshr %0, %1                       // and 15
//!                                                             %3 = fusion.reshape %2 shape [8]
//!                                                             %y = fusion.flip %3 dims [0]
//!                                                             ...                                           // pairs of codes to bytes
//!                                                             task.return %4
//!                                                           }
//! ```
//!
//! Arguments and results stay what they are in memory: bytes of two elements, marked (`task::packed`), so that callers see the elements
//! still. Each is taken apart once, and what is returned is put together. In between a value has its shape, and an op that moves
//! or chooses elements does so with their codes. Casts become arithmetic on these (`unpack_floats/codes.rs`). A named extent of
//! which bytes have half, `[N]`, becomes `[2*N_half]`. Changes no bit of a result. Two walks.

mod codes;
mod halves;

pub use halves::halve_extents;

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::task::{self, labels, marks, packed};
use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::def::{ClauseKind, Computes, OpError};
use fuser_ir::types::{Dim, TypeKind};
use fuser_ir::{AttrId, Block, DType, Diagnostics, Ir, Op, TypeId, Value, float, layout};
use fuser_pass::{PassContext, PassDef, StatDef};
use rustc_hash::{FxHashMap, FxHashSet};

fuser_ir::codes! {
    /// A float of 4 bits that shares no byte with another.
    NO_BYTES = "FIR0803", "elements of 4 bits cannot be seen as bytes",
        "Kernels know whole bytes. `--unpack-floats` makes bytes, of two elements each, of arguments and results whose elements have 4 bits, \
         and needs half of an extent for that: one `?` has no half. Compiling a program gives it a name first.",
        "$ fuser-opt x.fir --unpack-floats\n\
         task.program @f(%x: tensor<4x?xf4E2M1FN>) {\n  \
         task.return\n\
         }";
}

/// `unpack-floats`
pub static UNPACK_FLOATS: PassDef = PassDef {
    name: "unpack-floats",
    summary: "makes codes in bytes of floats of 4 bits",
    doc: "Every value of `f4E2M1FN` becomes one of `ui8` that holds its codes, 0 to 15, and its casts become arithmetic on these. \
          Arguments and results become the bytes that they are in memory, two elements each along the innermost axis, and get the mark `packed`: \
          callers see elements still. A named extent `[N]` of which there are half as many bytes becomes `[2*N_half]`.",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "casts",
        doc: "casts replaced",
    }],
    run,
    ..PassDef::EMPTY
};

/// The codes of elements, by value, as far as they are known.
#[derive(Default)]
struct Known {
    codes: FxHashSet<Value>,
    /// The codes in the bytes of an argument, each with that and the axis of the bytes.
    taken: FxHashMap<Value, (Value, usize)>,
}

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let program = ctx.op;
    let Some(body) = ctx.ir.body(program, 0) else {
        return Ok(());
    };
    let ops = ctx.ir.walk(program);
    let small = values(ctx.ir, &ops);
    if small.is_empty() {
        return Ok(());
    }
    let error = |ctx: &PassContext<'_>, op: Op, error: OpError| {
        let text = format!("`{}` {}", ctx.ir.name(op), error.message);
        let diagnostic = ctx.error_at(op, &NO_BYTES, text);
        let help = "name the extent, `[N]`, or let it be an even number";
        let help = error.help.unwrap_or_else(|| help.into());
        Diagnostics {
            items: vec![diagnostic.help(help)],
        }
    };
    halve_extents(ctx.ir, program).map_err(|e| error(ctx, program, e))?;
    let mut known = Known::default();
    let args = ctx.ir.args(body).to_vec();
    for value in small.into_iter().filter(|value| !args.contains(value)) {
        let ty = ctx.ir.value_type(value);
        let ty = ctx.ir.with_dtype(ty, DType::U8);
        ctx.ir.set_value_type(value, ty);
        known.codes.insert(value);
    }
    let is_bytes: Vec<usize> = (0..args.len())
        .filter(|&index| is_small(ctx.ir, args[index]))
        .collect();
    let mut packed_args = Vec::new();
    for index in is_bytes {
        let axis = argument(ctx.ir, args[index], body, &mut known);
        let axis = axis.map_err(|e| error(ctx, program, e))?;
        packed_args.push((index, ctx.ir.int_attr(axis as i64)));
    }
    let count = args.len();
    marks::put(
        ctx.ir,
        program,
        marks::LISTS[0],
        count,
        &packed_args,
        packed::MARK,
    );
    let mut replaced = Vec::new();
    for op in ops {
        if ctx.ir.computes(op) == Some(Computes::Cast) {
            let before = ctx.ir.prev_op(op);
            if cast(ctx.ir, op, &mut known).map_err(|e| error(ctx, op, e))? {
                labels::inherit(ctx.ir, before, op);
                replaced.push(op);
            }
        } else if ctx.ir.is(op, &fusion::ONE_HOT) {
            one_hot(ctx.ir, op, &mut known).map_err(|e| error(ctx, op, e))?;
        } else if ctx.ir.is(op, &task::RETURN) {
            let is_bytes = returned(ctx.ir, op, &known).map_err(|e| error(ctx, op, e))?;
            let count = ctx.ir.operand_count(op);
            marks::put(
                ctx.ir,
                program,
                marks::LISTS[1],
                count,
                &is_bytes,
                packed::MARK,
            );
        } else {
            numbers(ctx.ir, op, &known);
        }
    }
    halves::write_signature(ctx.ir, program, body);
    ctx.count("casts", replaced.len() as u64);
    replaced.into_iter().rev().for_each(|op| ctx.ir.erase(op));
    Ok(())
}

/// The results and the arguments of blocks that are elements of 4 bits.
fn values(ir: &Ir, ops: &[Op]) -> Vec<Value> {
    let mut values = Vec::new();
    for &op in ops {
        let args = ir.body(op, 0).map_or(&[][..], |body| ir.args(body));
        let own = args.iter().chain(ir.results(op)).copied();
        values.extend(own.filter(|&value| is_small(ir, value)));
    }
    values
}

fn is_small(ir: &Ir, value: Value) -> bool {
    ir.value_kind(value).dtype() == Some(packed::DTYPE)
}

/// The dims of a tensor of elements, those of their bytes, and the axis of the bytes.
fn bytes_of(ir: &mut Ir, ty: TypeId) -> Result<(Vec<Dim>, Vec<Dim>, usize), OpError> {
    let none = || OpError::new("has an argument or a result without half of an extent");
    let TypeKind::Tensor(tensor) = ir.ty(ty).clone() else {
        return Err(none());
    };
    let axis = packed::axis(ir, &tensor).ok_or_else(none)?;
    let mut bytes = tensor.dims.clone();
    bytes[axis].extent = packed::half(ir, bytes[axis].extent).ok_or_else(none)?;
    Ok((tensor.dims, bytes, axis))
}

/// The dims of bytes with one more axis, behind `axis`, of the two elements of each.
fn in_pairs(bytes: &[Dim], axis: usize) -> Vec<Dim> {
    let mut pairs = bytes.to_vec();
    pairs.insert(axis + 1, Dim::fixed(2));
    pairs
}

/// Changes the type of an argument to its packed bytes and unpacks them for its users; returns the axis of the bytes.
fn argument(ir: &mut Ir, arg: Value, body: Block, known: &mut Known) -> Result<usize, OpError> {
    let ty = ir.value_type(arg);
    let (dims, bytes, axis) = bytes_of(ir, ty)?;
    let order = stated(ir, arg);
    let ty = ir.tensor(bytes.clone(), DType::U8);
    let ty = order.map_or(ty, |order| layout::with(ir, ty, &order));
    ir.set_value_type(arg, ty);
    let users: Vec<_> = ir.uses(arg).collect();
    let Some(first) = ir.first_op(body).filter(|_| !users.is_empty()) else {
        return Ok(axis);
    };
    let mut b = Builder::before(ir, first);
    let codes = unpack(&mut b, arg, &bytes, axis, &dims)?;
    users.into_iter().for_each(|slot| ir.set_use(slot, codes));
    known.codes.insert(codes);
    known.taken.insert(codes, (arg, axis));
    Ok(axis)
}

/// The order of axes that the type of a value states.
fn stated(ir: &Ir, value: Value) -> Option<Vec<usize>> {
    let tensor = ir.value_kind(value).as_tensor()?;
    layout::stated(ir, tensor).map(|order| order.to_vec())
}

/// The codes in bytes: those of even elements lie in the low bits.
fn unpack(
    b: &mut Builder<'_>,
    arg: Value,
    bytes: &[Dim],
    axis: usize,
    dims: &[Dim],
) -> Result<Value, OpError> {
    let pairs = in_pairs(bytes, axis);
    let own: Vec<i64> = (0..pairs.len())
        .filter(|&a| a != axis + 1)
        .map(|a| a as i64)
        .collect();
    let both = b.broadcast(arg, &own, &pairs)?;
    let clauses = [
        b.int("dim", 0),
        b.shape("shape", &[Dim::fixed(2)]),
        b.dtype("of", DType::U8),
    ];
    let index = b.value(&fusion::IOTA, &[], &clauses)?;
    let u8 = b.ir.scalar(DType::U8);
    let (bits, mask) = (b.constant_int(4, u8)?, b.constant_int(15, u8)?);
    let shift = b.mul(index, bits)?;
    let shift = b.broadcast(shift, &[axis as i64 + 1], &pairs)?;
    let codes = b.binary(&fusion::LSHR, both, shift)?;
    let codes = b.binary(&fusion::AND, codes, mask)?;
    reshape(b, codes, dims)
}

/// The bytes of codes.
fn pack(b: &mut Builder<'_>, codes: Value, bytes: &[Dim], axis: usize) -> Result<Value, OpError> {
    let pairs = in_pairs(bytes, axis);
    let codes = reshape(b, codes, &pairs)?;
    let mut part = |which: i64| {
        let mut starts = vec![0; pairs.len()];
        starts[axis + 1] = which;
        let mut shape = pairs.clone();
        shape[axis + 1] = Dim::fixed(1);
        let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
        let part = b.value(&fusion::SLICE, &[codes], &clauses)?;
        let last = b.ints("dims", &[axis as i64 + 1]);
        b.value(&fusion::SQUEEZE, &[part], &[last])
    };
    let (low, high) = (part(0)?, part(1)?);
    let u8 = b.ir.scalar(DType::U8);
    let bits = b.constant_int(4, u8)?;
    let high = b.binary(&fusion::SHL, high, bits)?;
    b.binary(&fusion::OR, low, high)
}

fn reshape(b: &mut Builder<'_>, value: Value, dims: &[Dim]) -> Result<Value, OpError> {
    let shape = b.shape("shape", dims);
    b.value(&fusion::RESHAPE, &[value], &[shape])
}

/// Makes the result of a cast from or to codes, and says whether the cast was one.
fn cast(ir: &mut Ir, op: Op, known: &mut Known) -> Result<bool, OpError> {
    let (from, result) = (ir.operand(op, 0), ir.result(op, 0));
    let (is_from, is_to) = (known.codes.contains(&from), known.codes.contains(&result));
    let to = ir.value_kind(result).dtype().unwrap_or(DType::U8);
    let mut b = Builder::before(ir, op);
    let made = match (is_from, is_to) {
        (false, false) => return Ok(false),
        (true, true) => from,
        (true, false) => {
            let value = codes::value(&mut b, from)?;
            b.cast(value, to)?
        }
        (false, true) => codes::code(&mut b, from)?,
    };
    if made != from {
        let name = ir.value_name_sym(result);
        ir.set_value_name(result, None);
        ir.set_value_name(made, name);
        if layout::is_stated(ir, result) {
            let ty = ir.value_type(result);
            ir.set_value_type(made, ty);
        }
    }
    if is_to {
        known.codes.insert(made);
    }
    ir.replace_all_uses(result, made);
    Ok(true)
}

/// Ones become codes of 1.
fn one_hot(ir: &mut Ir, op: Op, known: &mut Known) -> Result<(), OpError> {
    numbers(ir, op, known);
    let result = ir.result(op, 0);
    if !known.codes.contains(&result) {
        return Ok(());
    }
    let users: Vec<_> = ir.uses(result).collect();
    let ty = ir.scalar(DType::U8);
    let mut b = Builder::after(ir, op);
    let one = b.constant_int(code_of(1.0), ty)?;
    let codes = b.mul(result, one)?;
    users.into_iter().for_each(|slot| ir.set_use(slot, codes));
    known.codes.insert(codes);
    Ok(())
}

/// Numbers among the clauses of an op that stand for elements of 4 bits become codes, and element types that of codes.
fn numbers(ir: &mut Ir, op: Op, known: &Known) {
    let Some(def) = ir.def(op) else { return };
    let results = ir.results(op).iter();
    let results: Vec<bool> = results.map(|value| known.codes.contains(value)).collect();
    for clause in def.clauses {
        let Some(attr) = ir.get_attr(op, clause.name) else {
            continue;
        };
        let codes = match (clause.kind, ir.attr_kind(attr)) {
            (ClauseKind::Number, _) if results.first() == Some(&true) => code_attr(ir, attr),
            (ClauseKind::Any, AttrKind::Array(items)) if results.contains(&true) => {
                let items = items.clone().into_iter().enumerate();
                let items = items.map(|(index, item)| match results.get(index) {
                    Some(true) => code_attr(ir, item),
                    _ => item,
                });
                let items = items.collect();
                ir.attr(AttrKind::Array(items))
            }
            (ClauseKind::DType, &AttrKind::Type(ty))
                if ir.ty(ty).dtype() == Some(packed::DTYPE) =>
            {
                let ty = ir.scalar(DType::U8);
                ir.attr(AttrKind::Type(ty))
            }
            _ => continue,
        };
        ir.set_attr(op, clause.name, codes);
    }
}

/// The codes of a number, or of many.
fn code_attr(ir: &mut Ir, attr: AttrId) -> AttrId {
    let ty = ir.scalar(DType::U8);
    match ir.attr_kind(attr).clone() {
        AttrKind::Int { value, .. } => {
            let value = code_of(value as f64);
            ir.attr(AttrKind::Int { value, ty })
        }
        AttrKind::Float { bits, .. } => {
            let value = code_of(f64::from_bits(bits));
            ir.attr(AttrKind::Int { value, ty })
        }
        AttrKind::Dense {
            ty, splat, bytes, ..
        } => {
            let ty = ir.with_dtype(ty, DType::U8);
            let dtype = DType::U8;
            ir.attr(AttrKind::Dense {
                ty,
                dtype,
                splat,
                bytes,
            })
        }
        _ => attr,
    }
}

/// The code of the element nearest to a number.
fn code_of(value: f64) -> i128 {
    float::narrow(packed::DTYPE, value.to_bits()).into()
}

/// Returns bytes instead of codes; the results that are bytes now, each with the axis of these.
fn returned(ir: &mut Ir, end: Op, known: &Known) -> Result<Vec<(usize, AttrId)>, OpError> {
    let mut is_bytes = Vec::new();
    for (index, value) in ir.operands(end).collect::<Vec<_>>().into_iter().enumerate() {
        if !known.codes.contains(&value) {
            continue;
        }
        if let Some(&(arg, axis)) = known.taken.get(&value) {
            is_bytes.push((index, ir.int_attr(axis as i64)));
            ir.set_operand(end, index, arg);
            continue;
        }
        let ty = ir.value_type(value);
        let (_, bytes, axis) = bytes_of(ir, ty)?;
        is_bytes.push((index, ir.int_attr(axis as i64)));
        let order = stated(ir, value).unwrap_or_else(|| (0..bytes.len()).collect());
        let name = ir.value_name_sym(value);
        let mut b = Builder::before(ir, end);
        let all = pack(&mut b, value, &bytes, axis)?;
        // Stated, or `infer-layouts` may part what shares a byte.
        let ty = ir.value_type(all);
        let ty = layout::with(ir, ty, &order);
        ir.set_value_type(all, ty);
        ir.set_value_name(value, None);
        ir.set_value_name(all, name);
        ir.set_operand(end, index, all);
    }
    Ok(is_bytes)
}
