//! The table of `fd.ops`: the meaning of each op in the fusion dialect, and its type promotion.

mod attention;
mod blocks;
mod compute;
mod fold;
mod index;
pub(super) mod narrow;
mod product;
mod random;
mod shapes;

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;
use fuser_ir::{Value, suggest};

use super::Reader;
use super::args::Args;
use super::value::{Config, Number, Val};
use crate::codes::UNSUPPORTED;
use crate::power::integer_power;
use crate::program::{Fault, Made};

/// Reads an op: its values.
pub type Read = for<'s> fn(&mut Reader<'s>, &Args<'s>) -> Made<Vec<Val<'s>>>;

/// The meaning of an op.
pub enum Meaning {
    /// An elementwise op of the arguments, in the type that the rule finds.
    Ew(&'static OpDef, Config),
    /// Likewise, of truth values.
    Truth(&'static OpDef),
    /// A comparison.
    Test(&'static str),
    /// A reduction; integers are summed and multiplied as `Int`.
    Fold(&'static OpDef, bool),
    /// A scan along one axis.
    Scan(&'static OpDef),
    /// Several ops, or arguments of another kind.
    By(Read),
}

use Config::{Default, Float, Keep};
use Meaning::{By, Ew, Fold, Scan, Test, Truth};

/// The ops, by name.
pub static OPS: &[(&str, Meaning)] = &[
    ("abs", Ew(&fusion::ABS, Default)),
    ("acos", Ew(&fusion::ACOS, Float)),
    ("acosh", Ew(&fusion::ACOSH, Float)),
    ("add", Ew(&fusion::ADD, Default)),
    ("addcmul", By(compute::addcmul)),
    ("argsort", By(index::argsort)),
    ("asin", Ew(&fusion::ASIN, Float)),
    ("asinh", Ew(&fusion::ASINH, Float)),
    ("atan", Ew(&fusion::ATAN, Float)),
    ("atan2", Ew(&fusion::ATAN2, Float)),
    ("atanh", Ew(&fusion::ATANH, Float)),
    ("bitwise_and", Ew(&fusion::AND, Default)),
    ("bitwise_left_shift", Ew(&fusion::SHL, Default)),
    ("bitwise_not", Ew(&fusion::NOT, Default)),
    ("bitwise_or", Ew(&fusion::OR, Default)),
    ("bitwise_right_shift", Ew(&fusion::SHR, Default)),
    ("bitwise_xor", Ew(&fusion::XOR, Default)),
    ("broadcast", By(shapes::broadcast)),
    ("broadcast_in_dim", By(shapes::broadcast_in_dim)),
    ("cast", By(compute::cast)),
    ("cat", By(shapes::cat)),
    ("ceil", Ew(&fusion::CEIL, Keep)),
    ("clamp", Ew(&fusion::CLAMP, Default)),
    ("complex", Ew(&fusion::COMPLEX, Default)),
    ("cos", Ew(&fusion::COS, Float)),
    ("cosh", Ew(&fusion::COSH, Float)),
    ("cummax", Scan(&fusion::CUMMAX)),
    ("cummin", Scan(&fusion::CUMMIN)),
    ("cumprod", Scan(&fusion::CUMPROD)),
    ("cumsum", Scan(&fusion::CUMSUM)),
    ("cutlass_nvfp4_grouped_mm", By(blocks::nvfp4_grouped_mm)),
    ("div", Ew(&fusion::DIV, Default)),
    ("embedding_fwd", By(index::embedding)),
    ("eq", Test("eq")),
    ("erf", Ew(&fusion::ERF, Float)),
    ("erfc", Ew(&fusion::ERFC, Float)),
    ("erfcinv", Ew(&fusion::ERFCINV, Float)),
    ("erfinv", Ew(&fusion::ERFINV, Float)),
    ("exp", Ew(&fusion::EXP, Float)),
    ("exp2", Ew(&fusion::EXP2, Float)),
    ("expand", By(shapes::expand)),
    ("expm1", Ew(&fusion::EXPM1, Float)),
    ("floor", Ew(&fusion::FLOOR, Keep)),
    ("fmod", Ew(&fusion::REM, Default)),
    ("frac", By(compute::frac)),
    ("full", By(shapes::full)),
    ("gather", By(index::gather)),
    ("gcd", Ew(&fusion::GCD, Default)),
    ("ge", Test("ge")),
    ("grouped_mm", By(product::grouped_mm)),
    ("gt", Test("gt")),
    ("imag", Ew(&fusion::IMAG, Keep)),
    ("index_put_accumulate", By(index::index_put_accumulate)),
    ("index_select", By(index::index_select)),
    ("iota", By(shapes::iota)),
    ("isfinite", By(compute::is_finite)),
    ("isinf", By(compute::is_inf)),
    ("isnan", By(compute::is_nan)),
    ("isneginf", By(compute::is_neg_inf)),
    ("isposinf", By(compute::is_pos_inf)),
    ("isreal", By(compute::is_real)),
    ("le", Test("le")),
    ("lerp", By(compute::lerp)),
    ("lgamma", Ew(&fusion::LGAMMA, Float)),
    ("linear", By(index::linear)),
    ("log", Ew(&fusion::LOG, Float)),
    ("log10", Ew(&fusion::LOG10, Float)),
    ("log1p", Ew(&fusion::LOG1P, Float)),
    ("log2", Ew(&fusion::LOG2, Float)),
    ("logical_and", Truth(&fusion::AND)),
    ("logical_not", Truth(&fusion::NOT)),
    ("logical_or", Truth(&fusion::OR)),
    ("logical_right_shift", Ew(&fusion::LSHR, Default)),
    ("lt", Test("lt")),
    ("matmul", By(index::matmul)),
    ("max", Fold(&fusion::MAX, false)),
    ("maximum", Ew(&fusion::MAXIMUM, Default)),
    ("min", Fold(&fusion::MIN, false)),
    ("minimum", Ew(&fusion::MINIMUM, Default)),
    ("mod", Ew(&fusion::REM, Default)),
    ("mul", Ew(&fusion::MUL, Default)),
    ("ne", Test("ne")),
    ("neg", Ew(&fusion::NEG, Default)),
    ("nextafter", Ew(&fusion::NEXTAFTER, Default)),
    ("normal", By(random::normal)),
    ("nv_block_quantize", By(narrow::block_quantize)),
    (
        "nv_block_quantize_to_nvfp4",
        By(narrow::block_quantize_to_nvfp4),
    ),
    (
        "nv_grouped_block_quantize",
        By(blocks::grouped_block_quantize),
    ),
    ("pad", By(shapes::pad)),
    ("permute", By(shapes::permute)),
    ("pow", Ew(&fusion::POW, Default)),
    (
        "preprocess_grouped_matmul_input_sf",
        By(blocks::grouped_scales),
    ),
    ("prod", Fold(&fusion::PROD, true)),
    ("rand_like", By(random::uniform_like)),
    ("randn_like", By(random::normal_like)),
    ("real", By(compute::real)),
    ("reciprocal", Ew(&fusion::RECIPROCAL, Float)),
    ("relu", Ew(&fusion::RELU, Keep)),
    ("remainder", Ew(&fusion::REMAINDER, Default)),
    ("reshape", By(shapes::reshape)),
    ("round", Ew(&fusion::ROUND, Keep)),
    ("rsqrt", Ew(&fusion::RSQRT, Float)),
    ("scaled_mm", By(product::scaled_mm)),
    ("scatter", By(index::scatter)),
    ("sdpfa_bwd", By(attention::backward)),
    ("sdpfa_fwd", By(attention::forward)),
    ("segment_set", By(compute::segment_set)),
    ("select", By(index::select)),
    ("set", By(compute::set)),
    ("shape", By(shapes::shape)),
    ("sigmoid", Ew(&fusion::SIGMOID, Float)),
    ("sign", Ew(&fusion::SIGN, Keep)),
    ("signbit", By(compute::sign_bit)),
    ("silu", Ew(&fusion::SILU, Keep)),
    ("sin", Ew(&fusion::SIN, Float)),
    ("sinh", Ew(&fusion::SINH, Float)),
    ("size", By(shapes::size)),
    ("slice", By(shapes::slice)),
    ("sqrt", Ew(&fusion::SQRT, Float)),
    ("squeeze", By(shapes::squeeze)),
    ("stride_order", By(shapes::stride_order)),
    ("sub", Ew(&fusion::SUB, Default)),
    ("sum", Fold(&fusion::SUM, true)),
    ("take_along_axis", By(index::take_along_axis)),
    ("tan", Ew(&fusion::TAN, Float)),
    ("tanh", Ew(&fusion::TANH, Float)),
    ("threshold", By(compute::threshold)),
    ("topk", By(index::topk)),
    ("triu", By(shapes::triu)),
    ("truediv", Ew(&fusion::DIV, Float)),
    ("trunc", Ew(&fusion::TRUNC, Keep)),
    ("uniform", By(random::uniform)),
    ("var", By(compute::var)),
    ("var_mean", By(compute::var_mean)),
    ("welford", By(compute::welford)),
    ("where", By(compute::choose)),
];

/// The names of all ops of `fd.ops` that are known; ascending.
pub fn op_names() -> impl Iterator<Item = &'static str> {
    OPS.iter().map(|(name, _)| *name)
}

/// The values of `fd.ops.NAME`.
pub fn read<'s>(r: &mut Reader<'s>, name: &str, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let Some((_, meaning)) = OPS.iter().find(|(known, _)| *known == name) else {
        let fault = Fault::new(&UNSUPPORTED, "is not known");
        let near = suggest::nearest(name, OPS.iter().map(|(known, _)| *known));
        return Err(match near {
            Some(near) => fault.help(format!("did you mean `fd.ops.{near}`?")),
            None => fault.help("docs/importing.md lists the ops that are read"),
        });
    };
    if let Some(number) = fold::known(name, args) {
        return Ok(vec![number]);
    }
    match meaning {
        Ew(def, config) => elementwise(r, def, *config, args),
        Truth(def) => truths(r, def, args),
        Test(predicate) => {
            let (a, b) = (args.value(0, &["a", "x"])?, args.value(1, &["b", "y"])?);
            let values = r.operands(&[a, b], Default)?;
            one(Ok(r
                .draft
                .builder()
                .compare(predicate, values[0], values[1])?))
        }
        Fold(def, widens) => reduction(r, def, *widens, args),
        Scan(def) => {
            let x = args.tensor(0, &["arg"])?;
            let dim = args.axis(1, &["dim"], r.draft.dims(x).len())?;
            if !matches!(args.get(2, &["init"]), None | Some(Val::Nothing)) {
                let fault = Fault::form("begins with a value of its own (`init`)");
                return Err(fault.help("combine it with the result"));
            }
            let mut b = r.draft.builder();
            let clause = [b.int("dim", dim)];
            one(Ok(b.value(def, &[x], &clause)?))
        }
        By(read) => read(r, args),
    }
}

fn one<'s>(made: Made) -> Made<Vec<Val<'s>>> {
    made.map(|value| vec![Val::Tensor(value)])
}

fn elementwise<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    config: Config,
    args: &Args<'s>,
) -> Made<Vec<Val<'s>>> {
    let given: Vec<&Val<'s>> = args.all().take(def.operands.len()).collect();
    if given.len() != def.operands.len() {
        return Err(Fault::form(format!(
            "has {} operands, not {}",
            given.len(),
            def.operands.len()
        )));
    }
    let values = r.operands(&given, config)?;
    let dtype = values.first().map(|value| r.draft.dtype(*value));
    let dtype = dtype.unwrap_or(DType::F32);
    let def = on(def, dtype);
    match *values {
        [base, exponent]
            if std::ptr::eq(def, &fusion::POW) && dtype.is_int() && dtype != DType::I1 =>
        {
            let known = match given[1] {
                Val::Number(number, _) => number.of_kind(dtype),
                _ => None,
            };
            let known = match known {
                Some(Number::Int(n)) => Some(n),
                _ => None,
            };
            one(integer_power(&mut r.draft, base, exponent, known))
        }
        // Tensors only are copied.
        [x] if std::ptr::eq(def, &fusion::COPY) && is_scalar(r, x) => one(Ok(x)),
        _ => one(r.draft.make(def, &values)),
    }
}

fn is_scalar(r: &Reader<'_>, x: Value) -> bool {
    r.draft.ir.value_kind(x).as_tensor().is_none()
}

/// The ops that are others on truth values, as C++ computes with `bool`.
static OF_TRUTHS: &[(&OpDef, &OpDef)] = &[
    (&fusion::ABS, &fusion::COPY),
    (&fusion::ADD, &fusion::OR),
    (&fusion::MUL, &fusion::AND),
];

/// Rounding ops: they do not change integers and truth values.
static OF_FRACTIONS: &[&OpDef] = &[
    &fusion::CEIL,
    &fusion::FLOOR,
    &fusion::ROUND,
    &fusion::TRUNC,
];

/// The op that `def` is on elements of a type.
fn on(def: &'static OpDef, dtype: DType) -> &'static OpDef {
    let whole = dtype.is_int() && OF_FRACTIONS.iter().any(|op| std::ptr::eq(*op, def));
    let other = OF_TRUTHS.iter().find(|(op, _)| std::ptr::eq(*op, def));
    match other {
        _ if whole => &fusion::COPY,
        Some((_, other)) if dtype == DType::I1 => other,
        _ => def,
    }
}

fn truths<'s>(r: &mut Reader<'s>, def: &'static OpDef, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let given: Vec<&Val<'s>> = args.all().take(def.operands.len()).collect();
    let values = given.iter().map(|value| r.typed(value, DType::I1));
    let values = values.collect::<Made<Vec<Value>>>()?;
    let values = r.joined(values)?;
    one(r.draft.make(def, &values))
}

fn reduction<'s>(
    r: &mut Reader<'s>,
    def: &'static OpDef,
    widens: bool,
    args: &Args<'s>,
) -> Made<Vec<Val<'s>>> {
    let mut x = args.tensor(0, &["arg"])?;
    let rank = r.draft.dims(x).len();
    let dims = match args.get(1, &["dims", "dim", "axes"]) {
        None | Some(Val::Nothing | Val::Type(_)) => (0..rank as i64).collect(),
        Some(_) => args.axes(1, &["dims", "dim", "axes"], rank)?,
    };
    let whole = r.draft.dtype(x).is_int() && widens;
    let to = args.dtype(3, &["dtype"])?.or(whole.then_some(DType::I64));
    if let Some(to) = to {
        x = r.draft.cast(x, to)?;
    }
    let keep = args.flag(2, &["keepdim", "keep_dim"]);
    let mut b = r.draft.builder();
    let mut clauses = vec![b.ints("dims", &dims)];
    if keep {
        clauses.push(b.flag("keepdim"));
    }
    one(Ok(b.value(def, &[x], &clauses)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend() {
        assert!(OPS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
