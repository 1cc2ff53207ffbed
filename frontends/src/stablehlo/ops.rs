//! The table of StableHLO ops, and of the CHLO ops that JAX leaves in its output, with their meaning in the fusion
//! dialect.

use std::borrow::Cow;
use std::collections::HashMap;

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::def::OpDef;
use fuser_ir::span::Span;
use fuser_ir::types::{DType, Extent, TypeId, TypeKind};
use fuser_ir::{AttrKind, Value, float, parse};

use super::ast::{Attr, Block, Item, Op};
use super::op::Reading;
use super::{
    Importer, bits, convolution, devices, dot, index, norm, random, reduce, routine, scatter,
    shape, sort, special, window,
};
use crate::codes::UNSUPPORTED;
use crate::power::integer_power;
use crate::program::{Draft, Fault, Made};

/// Reads an op: its results.
pub type Read = for<'s> fn(&mut Importer<'s>, &Reading<'s>) -> Made<Vec<Value>>;

/// The meaning of an op.
pub enum Meaning {
    /// An elementwise op with the same operands.
    Same(&'static OpDef),
    /// Like [`Self::Same`]; another op for booleans.
    Logical(&'static OpDef, &'static OpDef),
    /// An op whose operands are read as signed integers, whatever their type says.
    Signed(&'static OpDef),
    /// Several ops, or operands in other places.
    Read(Read),
    /// No op; the advice.
    Refused(&'static str),
}

use Meaning::{Logical, Read as By, Refused, Same, Signed};

const FIXED: &str = "lower the program for fixed shapes";
const RANDOM: &str =
    "give random numbers as an input; in `.fir` they are `fusion.uniform` and `fusion.normal`";
const QUANTIZED: &str =
    "types of quantized elements are not read: multiply by scales, and `convert`";
const OUTSIDE: &str = "compute it outside of the program, and give it as an input";
const COMPOSE: &str = "write it with the ops that docs/importing.md lists";

/// The ops, by name without dialect.
pub static OPS: &[(&str, Meaning)] = &[
    ("abs", Same(&fusion::ABS)),
    ("acos", Same(&fusion::ACOS)),
    ("acosh", Same(&fusion::ACOSH)),
    ("add", Logical(&fusion::ADD, &fusion::OR)),
    ("after_all", Refused(OUTSIDE)),
    ("all_gather", By(devices::collective)),
    ("all_reduce", By(devices::collective)),
    ("all_to_all", By(devices::collective)),
    ("and", Same(&fusion::AND)),
    ("asin", Same(&fusion::ASIN)),
    ("asinh", Same(&fusion::ASINH)),
    ("atan", Same(&fusion::ATAN)),
    ("atan2", Same(&fusion::ATAN2)),
    ("atanh", Same(&fusion::ATANH)),
    ("batch_norm_grad", By(norm::gradients)),
    ("batch_norm_inference", By(norm::inference)),
    ("batch_norm_training", By(norm::training)),
    ("bessel_i1e", By(special::bessel_i1e)),
    ("bitcast_convert", By(bitcast)),
    ("broadcast", By(shape::broadcast)),
    ("broadcast_in_dim", By(shape::broadcast_in_dim)),
    ("cbrt", By(bits::cube_root)),
    ("ceil", Same(&fusion::CEIL)),
    ("cholesky", By(routine::cholesky)),
    ("clamp", By(clamp)),
    ("collective_broadcast", By(devices::collective)),
    ("collective_permute", By(devices::collective)),
    ("compare", By(compare)),
    ("complex", Same(&fusion::COMPLEX)),
    ("concatenate", By(shape::concatenate)),
    ("conj", Same(&fusion::CONJ)),
    ("constant", By(constant)),
    ("constant_like", By(constant_like)),
    ("convert", By(convert)),
    ("convolution", By(convolution::convolution)),
    ("cosh", Same(&fusion::COSH)),
    ("cosine", Same(&fusion::COS)),
    ("count_leading_zeros", By(bits::leading_zeros)),
    ("create_token", Refused(OUTSIDE)),
    ("custom_call", By(sort::custom_call)),
    ("digamma", By(special::digamma)),
    ("divide", Same(&fusion::DIV)),
    ("dot", By(dot::dot)),
    ("dot_general", By(dot::dot_general)),
    (
        "dynamic_broadcast_in_dim",
        By(shape::dynamic_broadcast_in_dim),
    ),
    ("dynamic_conv", Refused(FIXED)),
    ("dynamic_gather", Refused(FIXED)),
    ("dynamic_iota", By(shape::iota)),
    ("dynamic_pad", Refused(FIXED)),
    ("dynamic_reshape", By(shape::reshape)),
    ("dynamic_slice", By(index::dynamic_slice)),
    ("dynamic_update_slice", By(index::dynamic_update_slice)),
    ("einsum", Refused("write it as `dot_general`")),
    ("erf", Same(&fusion::ERF)),
    ("erf_inv", Same(&fusion::ERFINV)),
    ("erfc", Same(&fusion::ERFC)),
    ("exponential", Same(&fusion::EXP)),
    ("exponential_minus_one", Same(&fusion::EXPM1)),
    ("fft", By(routine::fft)),
    ("floor", Same(&fusion::FLOOR)),
    ("gather", By(index::gather)),
    ("get_dimension_size", By(shape::dimension_size)),
    (
        "get_tuple_element",
        Refused("lower the program without tuples"),
    ),
    ("imag", Same(&fusion::IMAG)),
    ("infeed", Refused(OUTSIDE)),
    ("iota", By(shape::iota)),
    ("is_finite", Same(&fusion::ISFINITE)),
    ("is_inf", By(is_inf)),
    ("is_neg_inf", By(is_neg_inf)),
    ("is_pos_inf", By(is_pos_inf)),
    ("lgamma", Same(&fusion::LGAMMA)),
    ("log", Same(&fusion::LOG)),
    ("log_plus_one", Same(&fusion::LOG1P)),
    ("logistic", Same(&fusion::SIGMOID)),
    ("map", By(map)),
    ("maximum", Logical(&fusion::MAXIMUM, &fusion::OR)),
    ("minimum", Logical(&fusion::MINIMUM, &fusion::AND)),
    ("mulhi", Refused(COMPOSE)),
    ("multiply", Logical(&fusion::MUL, &fusion::AND)),
    ("negate", Same(&fusion::NEG)),
    ("next_after", By(bits::next_after)),
    ("not", Same(&fusion::NOT)),
    ("optimization_barrier", By(identity)),
    ("or", Same(&fusion::OR)),
    ("outfeed", Refused(OUTSIDE)),
    ("pad", By(shape::pad)),
    ("partition_id", By(devices::number)),
    ("polygamma", By(special::polygamma)),
    ("popcnt", By(bits::population)),
    ("power", By(power)),
    (
        "ragged_dot",
        Refused("multiply each group by itself, with `dot_general`"),
    ),
    ("real", Same(&fusion::REAL)),
    ("real_dynamic_slice", Refused(FIXED)),
    ("recv", Refused(OUTSIDE)),
    ("reduce", By(reduce::reduce)),
    ("reduce_precision", By(bits::reduce_precision)),
    ("reduce_scatter", By(devices::collective)),
    ("reduce_window", By(window::reduce_window)),
    ("remainder", Same(&fusion::REM)),
    ("replica_id", By(devices::number)),
    ("reshape", By(shape::reshape)),
    ("reverse", By(shape::reverse)),
    ("rng", Refused(RANDOM)),
    ("rng_bit_generator", By(random::rng_bit_generator)),
    ("round_nearest_afz", By(round_away)),
    ("round_nearest_even", Same(&fusion::ROUND)),
    ("rsqrt", Same(&fusion::RSQRT)),
    (
        "scan",
        Refused("write it as a loop, or with `reduce_window`"),
    ),
    ("scatter", By(scatter::scatter)),
    ("select", By(select)),
    ("select_and_scatter", By(window::select_and_scatter)),
    ("send", Refused(OUTSIDE)),
    ("set_dimension_size", Refused(FIXED)),
    ("shift_left", Same(&fusion::SHL)),
    ("shift_right_arithmetic", Signed(&fusion::SHR)),
    ("shift_right_logical", Same(&fusion::LSHR)),
    ("sign", By(sign)),
    ("sine", Same(&fusion::SIN)),
    ("sinh", Same(&fusion::SINH)),
    ("slice", By(shape::slice)),
    ("sort", By(sort::sort)),
    ("sqrt", Same(&fusion::SQRT)),
    ("square", By(square)),
    ("subtract", Same(&fusion::SUB)),
    ("tan", Same(&fusion::TAN)),
    ("tanh", Same(&fusion::TANH)),
    ("top_k", By(sort::top_k)),
    ("torch_index_select", By(index::select)),
    ("transpose", By(shape::transpose)),
    ("triangular_solve", By(routine::triangular_solve)),
    ("tuple", Refused("lower the program without tuples")),
    (
        "unary_einsum",
        Refused("write it with `transpose` and `reduce`"),
    ),
    ("uniform_dequantize", Refused(QUANTIZED)),
    ("uniform_quantize", Refused(QUANTIZED)),
    ("xor", Same(&fusion::XOR)),
    ("zeta", By(special::zeta)),
];

/// Ops of Shardy that state shardings: each returns its operand.
const SHARDINGS: &[&str] = &[
    "all_gather",
    "all_reduce",
    "all_slice",
    "all_to_all",
    "collective_permute",
    "propagation_barrier",
    "reduce_scatter",
    "replicated_to_unreduced",
    "sharded_to_unreduced",
    "sharding_group",
];
static AS_IT_IS: Meaning = By(identity);

/// Ops of other dialects that torch-mlir and Shardy mix with StableHLO.
static OTHERS: &[(&str, Meaning)] = &[
    ("arith.constant", By(constant)),
    ("sdy.constant", By(constant)),
    ("sdy.reshard", By(devices::constrained)),
    ("sdy.sharding_constraint", By(devices::constrained)),
    ("tensor.cast", By(identity)),
    ("tensor.from_elements", By(shape::from_elements)),
];

/// The meaning of the op called `name`, with its dialect.
pub fn meaning(name: &str) -> Made<&'static Meaning> {
    let unknown = |text: &str| Fault::new(&UNSUPPORTED, text);
    let known = name.split_once('.');
    if let Some(("sdy", short)) = known
        && SHARDINGS.contains(&short)
    {
        return Ok(&AS_IT_IS);
    }
    if let Some((_, meaning)) = OTHERS.iter().find(|(other, _)| *other == name) {
        return Ok(meaning);
    }
    let known = known.filter(|(dialect, _)| matches!(*dialect, "stablehlo" | "chlo" | "mhlo"));
    let Some((_, short)) = known else {
        let fault = unknown("is no operation of StableHLO");
        return Err(fault.help("programs are functions of `stablehlo` and `chlo` operations"));
    };
    // Ops of CHLO that broadcast their operands are ops of StableHLO on broadcast operands.
    let spread = short
        .strip_prefix("broadcast_")
        .filter(|rest| *rest != "in_dim");
    let short = spread.unwrap_or(short);
    let Some((_, meaning)) = OPS.iter().find(|(known, _)| *known == short) else {
        let names = OPS.iter().map(|(known, _)| *known);
        let fault = unknown("is not known");
        return Err(match fuser_ir::suggest::nearest(short, names) {
            Some(near) => fault.help(format!("did you mean `stablehlo.{near}`?")),
            None => fault.help(COMPOSE),
        });
    };
    match meaning {
        Refused(help) => Err(unknown("has no counterpart in Fuser").help(*help)),
        meaning => Ok(meaning),
    }
}

/// The operands of an op of CHLO such as `broadcast_add`, broadcast to the shape of its result. The axes of the shorter
/// operand are the last ones, or those of `broadcast_dimensions`.
fn stretched(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let shape = shape::output_shape(im, r)?;
    let stated = match r.attr(&["broadcast_dimensions"]) {
        Some(_) => Some(r.ints(&["broadcast_dimensions"])?),
        None => None,
    };
    let mut operands = Vec::new();
    for x in &r.operands {
        let rank = im.draft.dims(*x).len();
        let last = (shape.len() - rank.min(shape.len())) as i64..shape.len() as i64;
        let stated = stated
            .as_ref()
            .filter(|dims| dims.len() == rank && rank < shape.len());
        let dims = stated.map_or_else(|| last.collect(), Vec::clone);
        operands.push(im.draft.broadcast(*x, &dims, &shape)?);
    }
    Ok(operands)
}

/// The results of an op of this meaning.
pub fn make<'s>(im: &mut Importer<'s>, meaning: &Meaning, r: &Reading<'s>) -> Made<Vec<Value>> {
    let name = r.text(r.op.name).trim_matches('"');
    let stretches = name.starts_with("chlo.broadcast_");
    let operands = if stretches {
        stretched(im, r)?
    } else {
        Vec::new()
    };
    let of_stretched = Reading {
        op: r.op,
        operands,
        outputs: r.outputs.clone(),
        captured: HashMap::new(),
        source: r.source,
    };
    let r = if stretches { &of_stretched } else { r };
    let logical = |im: &Importer<'_>| {
        let first = r.operands.first();
        first.is_some_and(|value| im.draft.dtype(*value) == DType::I1)
    };
    match meaning {
        Logical(_, def) if logical(im) => one(im.draft.make(def, &r.operands)),
        Same(def) | Logical(def, _) => one(im.draft.make(def, &r.operands)),
        Signed(def) => one(as_signed(&mut im.draft, def, &r.operands)),
        By(read) => read(im, r),
        Refused(help) => Err(Fault::new(&UNSUPPORTED, "has no counterpart in Fuser").help(*help)),
    }
}

/// One result.
pub fn one(made: Made) -> Made<Vec<Value>> {
    made.map(|value| vec![value])
}

/// `chlo.constant_like`: a number in the shape of the operand.
fn constant_like(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let number = r.attr(&["value"]).and_then(super::op::atom);
    let number = number.and_then(|span| r.text(span).parse().ok());
    let number = number.ok_or_else(|| Fault::form("has no number as its value"))?;
    let like = r.operand(0)?;
    let dtype = im.draft.dtype(like);
    let scalar = im.draft.ir.scalar(dtype);
    let number = im.draft.number(number, scalar)?;
    one(spread(im, number, like))
}

fn identity(_: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    Ok(r.operands.clone())
}

fn constant(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let ty = r.output()?;
    let dense = r.op.items.iter().find_map(|item| match item {
        Item::Attr(Attr::Atom(span)) | Item::Word(span) => Some(*span),
        _ => None,
    });
    let generic = || r.attr(&["value"]).and_then(super::op::atom);
    let dense = dense.or_else(generic);
    let dense = dense.ok_or_else(|| Fault::form("has no value"))?;
    let stated = r.op.types.as_ref().and_then(|types| {
        let outputs = types.outputs.as_ref().unwrap_or(&types.inputs);
        outputs.first().copied()
    });
    // `arith` counts in `index`, which are `i64` here.
    let stated = match stated.map_or("", |span| r.text(span)) {
        "index" => "i64",
        stated => stated,
    };
    let dense_text = &*elements(im, r.text(dense), ty)?;
    let Some(dtype) = im.draft.ir.ty(ty).dtype().filter(|d| d.is_complex()) else {
        return one(real_constant(
            im,
            ty,
            &format!("{dense_text} : {stated}"),
            dense,
        ));
    };
    // `(1.0, 2.0)` everywhere: a constant of the first numbers, and a constant of the second numbers.
    let part = im.draft.ir.with_dtype(ty, dtype.part());
    let stated = stated.replace(dtype.name(), dtype.part().name());
    let mut halves = Vec::new();
    for second in [false, true] {
        let half = match dense_text.strip_prefix("dense<\"0x") {
            Some(digits) => hex_half(digits, second, dtype.part()),
            None => half(dense_text, second),
        };
        let text = format!("{half} : {stated}");
        halves.push(real_constant(im, part, &text, dense)?);
    }
    one(im.draft.make(&fusion::COMPLEX, &halves))
}

/// The text of a constant's elements. A resource's text comes from the end of the module, and booleans are one byte
/// each.
fn elements<'s>(im: &Importer<'s>, text: &'s str, ty: TypeId) -> Made<Cow<'s, str>> {
    let tensor = im.draft.ir.ty(ty).as_tensor();
    let count = tensor.map_or(1, |tensor| {
        let known = tensor.dims.iter().map(|dim| match dim.extent {
            Extent::Static(n) => n,
            _ => 0,
        });
        known.fold(1, u64::saturating_mul)
    });
    let truths = tensor.is_some_and(|tensor| tensor.dtype == DType::I1);
    let digits = match text.strip_prefix("dense_resource<") {
        Some(key) => {
            let key = key.trim_end_matches('>').trim_matches('"');
            let elided = "the text was printed without the elements of large constants: print it with all of them";
            let missing = || {
                Fault::form(format!(
                    "has the elements of `{key}`, which the text does not hold"
                ))
            };
            let digits = im
                .resources
                .get(key)
                .ok_or_else(|| missing().help(elided))?;
            // The first four bytes are an alignment.
            digits
                .get(8..)
                .ok_or_else(|| Fault::form(format!("`{key}` holds no elements")))?
        }
        None => match text
            .strip_prefix("dense<\"0x")
            .and_then(|t| t.strip_suffix("\">"))
        {
            Some(digits) if truths => digits,
            _ => return Ok(Cow::Borrowed(text)),
        },
    };
    // Eight truth values in a byte, as they were printed before LLVM 22.
    let packed = truths && count > 1 && digits.len() as u64 == count.div_ceil(8) * 2;
    let digits = if packed {
        unpacked(digits, count)
    } else {
        Cow::Borrowed(digits)
    };
    Ok(Cow::Owned(format!("dense<\"0x{digits}\">")))
}

/// A byte for each of `count` bits, the lowest first; invalid digits are kept for the later error.
fn unpacked(digits: &str, count: u64) -> Cow<'_, str> {
    let bytes = digits.as_bytes().chunks(2);
    let bytes = bytes.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap_or(""), 16).ok());
    let Some(bytes) = bytes.collect::<Option<Vec<u8>>>() else {
        return Cow::Borrowed(digits);
    };
    let bit = |at: u64| {
        bytes
            .get(at as usize / 8)
            .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    };
    let truths = (0..count).map(|at| if bit(at) { "01" } else { "00" });
    Cow::Owned(truths.collect())
}

/// The digits of one part of complex elements, as dense data.
fn hex_half(digits: &str, second: bool, part: DType) -> String {
    let digits = digits.trim_end_matches("\">");
    let width = part.bytes() as usize * 2;
    let halves = digits
        .as_bytes()
        .chunks(width)
        .skip(usize::from(second))
        .step_by(2);
    let text: String = halves.flat_map(|half| str::from_utf8(half)).collect();
    format!("dense<\"0x{text}\">")
}

/// The text with each `(a, b)` replaced by one of its two components.
fn half(text: &str, second: bool) -> String {
    let mut out = String::new();
    for (at, piece) in text.split('(').enumerate() {
        let Some((pair, rest)) = piece.split_once(')').filter(|_| at > 0) else {
            out += piece;
            continue;
        };
        let (a, b) = pair.split_once(',').unwrap_or((pair, ""));
        out += if second { b.trim() } else { a.trim() };
        out += rest;
    }
    out
}

/// A constant of type `ty` from the text of an attribute.
fn real_constant(im: &mut Importer<'_>, ty: TypeId, text: &str, dense: Span) -> Made {
    let ir = &mut im.draft.ir;
    let attr = parse::parse_attr(ir, text).map_err(|found| {
        let told = found.items.into_iter().next();
        let told = told.map_or_else(|| "is no constant".to_owned(), |told| told.message);
        Fault::form(told).at(dense)
    })?;
    let attr = match ir.attr_kind(attr) {
        AttrKind::Dense {
            splat: true,
            dtype,
            bytes,
            ..
        } => {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(bytes) {
                *to = *from;
            }
            let (bits, dtype) = (u64::from_le_bytes(word), *dtype);
            let shift = 64 - dtype.bits().max(8);
            let int: i128 = match dtype.is_signed() {
                true => ((bits << shift) as i64 >> shift).into(),
                false => bits.into(),
            };
            let scalar = ir.scalar(dtype);
            let kind = match dtype {
                DType::I1 => AttrKind::Bool(bits & 1 != 0),
                dtype if dtype.is_int() => AttrKind::Int {
                    value: int,
                    ty: scalar,
                },
                dtype => AttrKind::Float {
                    bits: float::widen(dtype, bits),
                    ty: scalar,
                },
            };
            ir.attr(kind)
        }
        _ => attr,
    };
    let value = [("value", attr)];
    Ok(im
        .draft
        .builder()
        .typed(&fusion::CONSTANT, &[], &value, ty)?)
}

/// The element type of the stated result.
pub fn output_dtype(im: &Importer<'_>, r: &Reading<'_>) -> Made<DType> {
    let ty = r.output()?;
    let dtype = im.draft.ir.ty(ty).dtype();
    dtype.ok_or_else(|| Fault::form("states no element type"))
}

fn convert(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let to = output_dtype(im, r)?;
    one(converted(&mut im.draft, r.operand(0)?, to))
}

/// Elements of another type, as `stablehlo.convert` gives them.
pub fn converted(draft: &mut Draft, x: Value, to: DType) -> Made {
    let x = match to {
        DType::F8E4M3FN => without_overflow(draft, x)?,
        _ => x,
    };
    draft.cast(x, to)
}

/// The numbers in the finite range of `f8E4M3FN`, and NaN instead of all others, as in XLA. A cast would saturate.
fn without_overflow(draft: &mut Draft, x: Value) -> Made {
    /// Half-way between the greatest number and the next one, if it existed.
    const LAST: f64 = 464.0;
    if draft.dtype(x) == DType::F8E4M3FN || draft.dtype(x) == DType::I1 {
        return Ok(x);
    }
    let x = match draft.dtype(x).is_computed_float() {
        true => x,
        false => draft.cast(x, DType::F32)?,
    };
    let scalar = draft.ir.scalar(draft.dtype(x));
    let (last, nan) = (draft.number(LAST, scalar)?, draft.number(f64::NAN, scalar)?);
    let magnitude = draft.make(&fusion::ABS, &[x])?;
    let near = draft.builder().compare("le", magnitude, last)?;
    draft.make(&fusion::WHERE, &[near, x, nan])
}

fn bitcast(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (x, to) = (r.operand(0)?, output_dtype(im, r)?);
    one(bits::bitcast(&mut im.draft, x, to))
}

/// The same bits as elements of another type of the same width.
pub fn bitcast_to(draft: &mut Draft, x: Value, to: DType) -> Made {
    if draft.dtype(x) == to {
        return Ok(x);
    }
    let mut b = draft.builder();
    let clause = [b.dtype("to", to)];
    Ok(b.value(&fusion::BITCAST, &[x], &clause)?)
}

/// The results of an op in the body of another op, applied to whole tensors, or to the elements of a lambda. Its stated
/// operand types are ignored.
pub fn elementwise<'s>(
    im: &mut Importer<'s>,
    around: &Reading<'s>,
    op: &'s Op,
    operands: Vec<Value>,
    outputs: Vec<TypeId>,
) -> Made {
    let meaning = meaning(around.text(op.name).trim_matches('"'))?;
    let reading = Reading {
        op,
        operands,
        outputs,
        captured: HashMap::new(),
        source: around.source,
    };
    let made = make(im, meaning, &reading)?;
    let made = made.first().copied();
    made.ok_or_else(|| Fault::form("has a body with an op without a result"))
}

/// Functions that call each other in the body of an op.
const MAX_CALLS: usize = 8;

/// The results of a body whose arguments are in `names`: applied to whole tensors, or with `scalars` to the elements of
/// a lambda.
pub fn applied<'s>(
    im: &mut Importer<'s>,
    r: &Reading<'s>,
    block: &'s Block,
    mut names: HashMap<&'s str, Value>,
    (scalars, depth): (bool, usize),
) -> Made<Vec<Value>> {
    const HELP: &str = "bodies are elementwise ops of their arguments and of constants";
    for op in &block.ops {
        let operands = super::op::operands(op).into_iter();
        let operands = operands.map(|span| names.get(r.text(span)).copied());
        let operands: Option<Vec<Value>> = operands.collect();
        let operands =
            operands.ok_or_else(|| Fault::form("has a body that uses other values").help(HELP))?;
        let name = r.text(op.name).trim_matches('"');
        if super::op::is_return(name) {
            return Ok(operands);
        }
        let made = match im.called(op, name) {
            Some(called) => {
                let function = im.functions.get(super::bare(r.text(called))).copied();
                let function = function.filter(|_| depth < MAX_CALLS);
                let found = function.and_then(|f| Some((f, super::op::blocks(f).next()?)));
                let (function, block) =
                    found.ok_or_else(|| Fault::form("has a body that calls too deep"))?;
                let parameters = super::parameters(function).map(|(name, ..)| r.text(name));
                let names = parameters.zip(operands).collect();
                applied(im, r, block, names, (scalars, depth + 1))?
            }
            None => {
                let operands = match scalars {
                    true => operands,
                    false => of_one_shape(im, operands)?,
                };
                let mut outputs = im.outputs(op)?;
                for ty in outputs.iter_mut().filter(|_| scalars) {
                    let dtype = im.draft.ir.ty(*ty).dtype().unwrap_or(DType::F32);
                    *ty = im.draft.ir.scalar(dtype);
                }
                let made = elementwise(im, r, op, operands, outputs);
                vec![made.map_err(|fault| Fault {
                    message: format!("has a body with `{name}`: {}", fault.message),
                    help: fault.help.or_else(|| Some(HELP.to_owned())),
                    ..fault
                })?]
            }
        };
        let mut made = made.into_iter();
        for (name, _) in &op.results {
            names.extend(made.next().map(|value| (r.text(*name), value)));
        }
    }
    Err(Fault::form("has a body without an end"))
}

/// The operands of an op of a body that is applied to whole tensors, constants of the body stretched.
fn of_one_shape(im: &mut Importer<'_>, operands: Vec<Value>) -> Made<Vec<Value>> {
    let whole = operands.iter().copied();
    let Some(like) = whole.max_by_key(|x| im.draft.dims(*x).len()) else {
        return Ok(operands);
    };
    let spread = operands.into_iter().map(|x| spread(im, x, like));
    spread.collect()
}

/// `stablehlo.map`: its body on whole tensors.
fn map<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let block = r.region().ok_or_else(|| Fault::form("has no body"))?;
    let mut names = r.captured.clone();
    for ((name, ..), value) in block.args.iter().zip(&r.operands) {
        names.insert(r.text(*name), *value);
    }
    let like = r.operand(0)?;
    let made = applied(im, r, block, names, (false, 0))?;
    let spread = made.into_iter().map(|value| spread(im, value, like));
    spread.collect()
}

/// An op on the operands' bits as signed integers; for unsigned types, the result is reinterpreted.
fn as_signed(draft: &mut Draft, def: &'static OpDef, operands: &[Value]) -> Made {
    let dtype = operands.first().map_or(DType::F32, |x| draft.dtype(*x));
    let same = |signed: &DType| signed.is_signed() && signed.bits() == dtype.bits();
    let mut types = [DType::I8, DType::I16, DType::I32, DType::I64].into_iter();
    let signed = types
        .find(same)
        .filter(|_| dtype.is_int() && !dtype.is_signed());
    let Some(signed) = signed else {
        return draft.make(def, operands);
    };
    let bits = operands.iter().map(|x| bitcast_to(draft, *x, signed));
    let bits: Vec<Value> = bits.collect::<Made<_>>()?;
    let made = draft.make(def, &bits)?;
    bitcast_to(draft, made, dtype)
}

/// The words of a `compare` that state its direction and order, in custom and generic form: `LT`, `TOTALORDER`.
pub fn comparison_words<'s>(r: &Reading<'s>, op: &'s Op) -> Vec<&'s str> {
    let custom = op.items.iter().filter_map(|item| match item {
        Item::Word(word) => Some(r.text(*word)),
        _ => None,
    });
    let generic = ["comparison_direction", "compare_type"].into_iter();
    let generic =
        generic.filter_map(|name| super::op::attr(r.source, op, name).and_then(super::op::atom));
    // `#stablehlo<comparison_direction LT>`
    let generic =
        generic.filter_map(|span| r.text(span).trim_end_matches('>').split(' ').next_back());
    custom.chain(generic).collect()
}

/// The operand, broadcast to the shape of `like` if it has rank 0 and `like` has not.
pub fn spread(im: &mut Importer<'_>, value: Value, like: Value) -> Made {
    let shape = im.draft.dims(like);
    match im.draft.dims(value).is_empty() {
        true if !shape.is_empty() => {
            let shape: Vec<_> = shape.iter().map(|dim| dim.extent).collect();
            im.draft.broadcast(value, &[], &shape)
        }
        _ => Ok(value),
    }
}

fn clamp(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (low, x, high) = (r.operand(0)?, r.operand(1)?, r.operand(2)?);
    one(im.draft.make(&fusion::CLAMP, &[x, low, high]))
}

fn select(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let condition = spread(im, r.operand(0)?, r.operand(1)?)?;
    one(im
        .draft
        .make(&fusion::WHERE, &[condition, r.operand(1)?, r.operand(2)?]))
}

fn compare(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    const DIRECTIONS: [&str; 6] = ["EQ", "NE", "LT", "LE", "GT", "GE"];
    let words = comparison_words(r, r.op);
    let direction = DIRECTIONS.into_iter().find(|d| words.contains(d));
    let direction = direction.ok_or_else(|| Fault::form("has no direction"))?;
    let mut x = im.draft.computed(r.operand(0)?)?;
    let mut y = im.draft.computed(r.operand(1)?)?;
    let predicate = direction.to_ascii_lowercase();
    if words.contains(&"TOTALORDER") && im.draft.dtype(x).is_float() {
        x = bits::in_total_order(&mut im.draft, x)?;
        y = bits::in_total_order(&mut im.draft, y)?;
    }
    Ok(vec![im.draft.builder().compare(&predicate, x, y)?])
}

/// The sign; of a complex number the number over its magnitude, and 0 of 0.
fn sign(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let draft = &mut im.draft;
    if !draft.dtype(x).is_complex() {
        return one(draft.make(&fusion::SIGN, &[x]));
    }
    let size = draft.make(&fusion::ABS, &[x])?;
    let scalar = draft.dtype(size);
    let scalar = draft.ir.scalar(scalar);
    let zero = draft.number(0.0, scalar)?;
    let none = draft.builder().compare("eq", size, zero)?;
    let mut parts = Vec::new();
    for def in [&fusion::REAL, &fusion::IMAG] {
        let part = draft.make(def, &[x])?;
        let part = draft.make(&fusion::DIV, &[part, size])?;
        parts.push(draft.make(&fusion::WHERE, &[none, zero, part])?);
    }
    one(draft.make(&fusion::COMPLEX, &parts))
}

fn square(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    one(im.draft.make(&fusion::MUL, &[x, x]))
}

/// A power; for booleans, `base` or not `exponent`, since 0 to the power of 0 is 1.
fn power(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let (base, exponent) = (r.operand(0)?, r.operand(1)?);
    let draft = &mut im.draft;
    match draft.dtype(base) {
        DType::I1 => {
            let not = draft.make(&fusion::NOT, &[exponent])?;
            one(draft.make(&fusion::OR, &[base, not]))
        }
        dtype if dtype.is_int() => one(integer_power(draft, base, exponent, None)),
        _ => one(draft.make(&fusion::POW, &[base, exponent])),
    }
}

/// `x == number`
fn is_number(im: &mut Importer<'_>, r: &Reading<'_>, number: f64) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let dtype = im.draft.dtype(x);
    let scalar = im.draft.ir.scalar(dtype);
    let number = im.draft.number(number, scalar)?;
    Ok(vec![im.draft.builder().compare("eq", x, number)?])
}

fn is_pos_inf(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    is_number(im, r, f64::INFINITY)
}

fn is_neg_inf(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    is_number(im, r, f64::NEG_INFINITY)
}

fn is_inf(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let size = im.draft.make(&fusion::ABS, &[r.operand(0)?])?;
    let scalar = im.draft.dtype(size);
    let scalar = im.draft.ir.scalar(scalar);
    let infinity = im.draft.number(f64::INFINITY, scalar)?;
    Ok(vec![im.draft.builder().compare("eq", size, infinity)?])
}

/// Rounds halves away from zero: `t = trunc(x)`, plus one step if `abs(x - t) >= 0.5`; all steps are exact.
fn round_away(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    let draft = &mut im.draft;
    let TypeKind::Tensor(tensor) = draft.ir.value_kind(x) else {
        return Err(Fault::form("its operand is no tensor"));
    };
    let scalar = tensor.dtype;
    let scalar = draft.ir.scalar(scalar);
    let whole = draft.make(&fusion::TRUNC, &[x])?;
    let rest = draft.make(&fusion::SUB, &[x, whole])?;
    let rest = draft.make(&fusion::ABS, &[rest])?;
    let half = draft.number(0.5, scalar)?;
    let up = draft.builder().compare("ge", rest, half)?;
    let sign = draft.make(&fusion::SIGN, &[x])?;
    let next = draft.make(&fusion::ADD, &[whole, sign])?;
    one(draft.make(&fusion::WHERE, &[up, next, whole]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend() {
        assert!(OPS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
