//! The table of StableHLO's ops, and of those of CHLO that JAX leaves as they are: what each is in the fusion dialect.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::def::OpDef;
use fuser_ir::span::Span;
use fuser_ir::types::{DType, TypeId, TypeKind};
use fuser_ir::{AttrKind, Value, float, parse};

use super::ast::{Attr, Item};
use super::op::Reading;
use super::{Importer, bits, convolution, dot, index, reduce, scatter, shape, sort, window};
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

/// Reads an op: its results.
pub type Read = for<'s> fn(&mut Importer<'s>, &Reading<'s>) -> Made<Vec<Value>>;

/// The meaning of an op.
pub enum Meaning {
    /// An elementwise op with the same operands.
    Same(&'static OpDef),
    /// Likewise; on truth values another.
    Logical(&'static OpDef, &'static OpDef),
    /// Several ops, or operands that stand elsewhere.
    Read(Read),
    /// None: the advice.
    Refused(&'static str),
}

use Meaning::{Logical, Read as By, Refused, Same};

const OUTSIDE: &str = "compute it outside of the program, and give it as an input";
const COMPOSE: &str = "write it with the ops that docs/importing.md lists";

/// The ops, by name without dialect.
pub static OPS: &[(&str, Meaning)] = &[
    ("abs", Same(&fusion::ABS)),
    ("acos", Same(&fusion::ACOS)),
    ("acosh", Same(&fusion::ACOSH)),
    ("add", Logical(&fusion::ADD, &fusion::OR)),
    ("after_all", Refused(OUTSIDE)),
    ("all_gather", Refused("a program runs on one device")),
    ("all_reduce", Refused("a program runs on one device")),
    ("all_to_all", Refused("a program runs on one device")),
    ("and", Same(&fusion::AND)),
    ("asin", Same(&fusion::ASIN)),
    ("asinh", Same(&fusion::ASINH)),
    ("atan", Same(&fusion::ATAN)),
    ("atan2", Same(&fusion::ATAN2)),
    ("atanh", Same(&fusion::ATANH)),
    ("bessel_i1e", Refused(OUTSIDE)),
    ("bitcast_convert", By(bitcast)),
    ("broadcast_in_dim", By(shape::broadcast_in_dim)),
    ("cbrt", By(bits::cube_root)),
    ("ceil", Same(&fusion::CEIL)),
    ("cholesky", Refused(OUTSIDE)),
    ("clamp", By(clamp)),
    (
        "collective_permute",
        Refused("a program runs on one device"),
    ),
    ("compare", By(compare)),
    ("complex", Same(&fusion::COMPLEX)),
    ("concatenate", By(shape::concatenate)),
    ("conj", Same(&fusion::CONJ)),
    ("constant", By(constant)),
    ("convert", By(convert)),
    ("convolution", By(convolution::convolution)),
    ("cosh", Same(&fusion::COSH)),
    ("cosine", Same(&fusion::COS)),
    ("count_leading_zeros", By(bits::leading_zeros)),
    ("custom_call", By(sort::custom_call)),
    ("digamma", Refused(OUTSIDE)),
    ("divide", Same(&fusion::DIV)),
    ("dot", By(dot::dot)),
    ("dot_general", By(dot::dot_general)),
    (
        "dynamic_broadcast_in_dim",
        Refused("lower the program for fixed shapes"),
    ),
    (
        "dynamic_iota",
        Refused("lower the program for fixed shapes"),
    ),
    (
        "dynamic_reshape",
        Refused("lower the program for fixed shapes"),
    ),
    ("dynamic_slice", By(index::dynamic_slice)),
    ("dynamic_update_slice", By(index::dynamic_update_slice)),
    ("erf", Same(&fusion::ERF)),
    ("erf_inv", Same(&fusion::ERFINV)),
    ("erfc", Same(&fusion::ERFC)),
    ("exponential", Same(&fusion::EXP)),
    ("exponential_minus_one", Same(&fusion::EXPM1)),
    ("fft", Refused(OUTSIDE)),
    ("floor", Same(&fusion::FLOOR)),
    ("gather", By(index::gather)),
    (
        "get_dimension_size",
        Refused("lower the program for fixed shapes"),
    ),
    (
        "get_tuple_element",
        Refused("lower the program without tuples"),
    ),
    ("imag", Same(&fusion::IMAG)),
    ("infeed", Refused(OUTSIDE)),
    ("iota", By(shape::iota)),
    ("is_finite", Same(&fusion::ISFINITE)),
    ("is_inf", By(is_inf)),
    ("lgamma", Same(&fusion::LGAMMA)),
    ("log", Same(&fusion::LOG)),
    ("log_plus_one", Same(&fusion::LOG1P)),
    ("logistic", Same(&fusion::SIGMOID)),
    ("map", Refused("apply its body to whole tensors")),
    ("maximum", Logical(&fusion::MAXIMUM, &fusion::OR)),
    ("minimum", Logical(&fusion::MINIMUM, &fusion::AND)),
    ("multiply", Logical(&fusion::MUL, &fusion::AND)),
    ("negate", Same(&fusion::NEG)),
    ("next_after", Same(&fusion::NEXTAFTER)),
    ("not", Same(&fusion::NOT)),
    ("optimization_barrier", By(identity)),
    ("or", Same(&fusion::OR)),
    ("outfeed", Refused(OUTSIDE)),
    ("pad", By(shape::pad)),
    ("partition_id", Refused("a program runs on one device")),
    ("polygamma", Refused(OUTSIDE)),
    ("popcnt", By(bits::population)),
    ("power", Same(&fusion::POW)),
    ("real", Same(&fusion::REAL)),
    ("reduce", By(reduce::reduce)),
    (
        "reduce_precision",
        Refused("`convert` to a narrower type and back"),
    ),
    ("reduce_scatter", Refused("a program runs on one device")),
    ("reduce_window", By(window::reduce_window)),
    ("remainder", Same(&fusion::REM)),
    ("replica_id", Refused("a program runs on one device")),
    ("reshape", By(shape::reshape)),
    ("reverse", By(shape::reverse)),
    (
        "rng",
        Refused(
            "give random numbers as an input; in `.fir` they are `fusion.uniform` and `fusion.normal`",
        ),
    ),
    (
        "rng_bit_generator",
        Refused(
            "give random numbers as an input; in `.fir` they are `fusion.uniform` and `fusion.normal`",
        ),
    ),
    ("round_nearest_afz", By(round_away)),
    ("round_nearest_even", Same(&fusion::ROUND)),
    ("rsqrt", Same(&fusion::RSQRT)),
    ("scatter", By(scatter::scatter)),
    ("select", By(select)),
    ("select_and_scatter", By(window::select_and_scatter)),
    ("send", Refused(OUTSIDE)),
    ("shift_left", Same(&fusion::SHL)),
    ("shift_right_arithmetic", Same(&fusion::SHR)),
    ("shift_right_logical", Same(&fusion::LSHR)),
    ("sign", Same(&fusion::SIGN)),
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
    ("transpose", By(shape::transpose)),
    ("triangular_solve", Refused(OUTSIDE)),
    ("tuple", Refused("lower the program without tuples")),
    ("xor", Same(&fusion::XOR)),
    ("zeta", Refused(OUTSIDE)),
];

/// The meaning of the op called `name`, with its dialect.
pub fn meaning(name: &str) -> Made<&'static Meaning> {
    let unknown = |text: &str| Fault::new(&UNSUPPORTED, text);
    let known = name.split_once('.');
    let known = known.filter(|(dialect, _)| matches!(*dialect, "stablehlo" | "chlo" | "mhlo"));
    let Some((_, short)) = known else {
        let fault = unknown("is no operation of StableHLO");
        return Err(fault.help("programs are functions of `stablehlo` and `chlo` operations"));
    };
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

/// The results of an op of this meaning.
pub fn make<'s>(im: &mut Importer<'s>, meaning: &Meaning, r: &Reading<'s>) -> Made<Vec<Value>> {
    let logical = |im: &Importer<'_>| {
        let first = r.operands.first();
        first.is_some_and(|value| im.draft.dtype(*value) == DType::I1)
    };
    match meaning {
        Logical(_, def) if logical(im) => one(im.draft.make(def, &r.operands)),
        Same(def) | Logical(def, _) => one(im.draft.make(def, &r.operands)),
        By(read) => read(im, r),
        Refused(help) => Err(Fault::new(&UNSUPPORTED, "has no counterpart in Fuser").help(*help)),
    }
}

/// One result.
pub fn one(made: Made) -> Made<Vec<Value>> {
    made.map(|value| vec![value])
}

fn identity(_: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    Ok(r.operands.clone())
}

fn constant(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let ty = r.output()?;
    let dense = r.op.items.iter().find_map(|item| match item {
        Item::Attr(Attr::Atom(span)) => Some(*span),
        _ => None,
    });
    let generic = || r.attr(&["value"]).and_then(super::op::atom);
    let dense = dense.or_else(generic);
    let dense = dense.ok_or_else(|| Fault::form("has no value"))?;
    let stated = r.op.types.as_ref().and_then(|types| {
        let outputs = types.outputs.as_ref().unwrap_or(&types.inputs);
        outputs.first().copied()
    });
    let (dense_text, stated) = (r.text(dense), stated.map_or("", |span| r.text(span)));
    let Some(dtype) = im.draft.ir.ty(ty).dtype().filter(|d| d.is_complex()) else {
        return one(real_constant(
            im,
            ty,
            &format!("{dense_text} : {stated}"),
            dense,
        ));
    };
    // `(1.0, 2.0)` everywhere: one constant of the first numbers, one of the second.
    let part = im.draft.ir.with_dtype(ty, dtype.part());
    let stated = stated.replace(dtype.name(), dtype.part().name());
    let mut halves = Vec::new();
    for second in [false, true] {
        let text = format!("{} : {stated}", half(dense_text, second));
        halves.push(real_constant(im, part, &text, dense)?);
    }
    one(im.draft.make(&fusion::COMPLEX, &halves))
}

/// The text with each `(a, b)` replaced by one of its two.
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

/// Numbers that `f8E4M3FN` has neighbours of, and NaN in place of all others, which a cast would bring to the greatest: as XLA has it.
fn without_overflow(draft: &mut Draft, x: Value) -> Made {
    /// Half-way between the greatest number and what would be the next.
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
    let to = output_dtype(im, r)?;
    let mut b = im.draft.builder();
    let clause = [b.dtype("to", to)];
    Ok(vec![b.value(
        &fusion::BITCAST,
        &[r.operand(0)?],
        &clause,
    )?])
}

/// The operand, repeated over `like` where it is of rank 0 and `like` is not.
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
    let known = |word: &str| DIRECTIONS.into_iter().find(|d| *d == word);
    let generic = || {
        let text = r.text(
            r.attr(&["comparison_direction"])
                .and_then(super::op::atom)?,
        );
        known(text.trim_end_matches('>').split(' ').next_back()?)
    };
    let direction = r.words().find_map(known).or_else(generic);
    let direction = direction.ok_or_else(|| Fault::form("has no direction"))?;
    let x = im.draft.computed(r.operand(0)?)?;
    let y = im.draft.computed(r.operand(1)?)?;
    let predicate = direction.to_ascii_lowercase();
    if r.words().any(|word| word == "TOTALORDER") && im.draft.dtype(x).is_float() {
        return one(in_total_order(&mut im.draft, &predicate, [x, y]));
    }
    Ok(vec![im.draft.builder().compare(&predicate, x, y)?])
}

/// `x predicate y` where all floats have an order: `-0 < +0`, and NaN is the greatest, whatever its sign.
fn in_total_order(draft: &mut Draft, predicate: &str, [x, y]: [Value; 2]) -> Made {
    let not = |draft: &mut Draft, value: Value| draft.make(&fusion::NOT, &[value]);
    match predicate {
        "lt" => less(draft, x, y),
        "gt" => less(draft, y, x),
        "le" => less(draft, y, x).and_then(|greater| not(draft, greater)),
        "ge" => less(draft, x, y).and_then(|less| not(draft, less)),
        _ => {
            let (less, greater) = (less(draft, x, y)?, less(draft, y, x)?);
            let differ = draft.make(&fusion::OR, &[less, greater])?;
            if predicate == "ne" {
                Ok(differ)
            } else {
                not(draft, differ)
            }
        }
    }
}

/// `x < y`, or both are zeros and `1 / x < 1 / y`, or `y` alone is NaN.
fn less(draft: &mut Draft, x: Value, y: Value) -> Made {
    let below = draft.builder().compare("lt", x, y)?;
    let same = draft.builder().compare("eq", x, y)?;
    let (a, b) = (
        draft.make(&fusion::RECIPROCAL, &[x])?,
        draft.make(&fusion::RECIPROCAL, &[y])?,
    );
    let turned = draft.builder().compare("lt", a, b)?;
    // Of other equal numbers the reciprocals are equal.
    let zeros = draft.make(&fusion::AND, &[same, turned])?;
    let number = draft.builder().compare("eq", x, x)?;
    let nan = draft.builder().compare("ne", y, y)?;
    let last = draft.make(&fusion::AND, &[number, nan])?;
    let either = draft.make(&fusion::OR, &[below, zeros])?;
    draft.make(&fusion::OR, &[either, last])
}

fn square(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let x = r.operand(0)?;
    one(im.draft.make(&fusion::MUL, &[x, x]))
}

fn is_inf(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let size = im.draft.make(&fusion::ABS, &[r.operand(0)?])?;
    let scalar = im.draft.dtype(size);
    let scalar = im.draft.ir.scalar(scalar);
    let infinity = im.draft.number(f64::INFINITY, scalar)?;
    Ok(vec![im.draft.builder().compare("eq", size, infinity)?])
}

/// Rounds halves away from zero: `t = trunc(x)`, and a step further where `abs(x - t) >= 0.5`; all of it is exact.
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
