//! The table of the ops that can be written, and how each is.

use fuser_dialects::{fusion, task};
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;
use fuser_ir::{Ir, Op};

use super::{
    Form, Tensor, Writer, elementwise, index, loops, order, product, reduce, refuse, shape,
};
use crate::codes::EXPORT;
use crate::program::{Fault, Made};

/// Makes the result of an op, of this form.
type ToOne = fn(&mut Writer<'_>, Op, &Form) -> Made<Tensor>;
/// Makes several results.
type ToMany = fn(&mut Writer<'_>, Op, &[Form]) -> Made<Vec<Tensor>>;

/// The way in which an op is written.
enum Way {
    /// An elementwise op of this name.
    Same(&'static str),
    /// One operation of this name in the computing type: XLA rounds each step of its formula to a 16-bit type.
    Wide(&'static str),
    /// Several ops.
    By(ToOne),
    /// An op with several results.
    Many(ToMany),
}

use Way::{By, Many, Same, Wide};

static OPS: &[(&OpDef, Way)] = &[
    (&task::LOOP, Many(loops::repeated)),
    (&task::IF, Many(loops::branched)),
    (&fusion::NEG, Same("negate")),
    (&fusion::ABS, By(elementwise::abs)),
    (&fusion::SIGN, By(elementwise::sign)),
    (&fusion::CEIL, Same("ceil")),
    (&fusion::FLOOR, Same("floor")),
    (&fusion::ROUND, Same("round_nearest_even")),
    (&fusion::TRUNC, By(elementwise::trunc)),
    (&fusion::EXP, Same("exponential")),
    (&fusion::EXP2, By(elementwise::exp2)),
    (&fusion::EXPM1, Wide("exponential_minus_one")),
    (&fusion::LOG, Same("log")),
    (&fusion::LOG2, By(elementwise::log2)),
    (&fusion::LOG10, By(elementwise::log10)),
    (&fusion::LOG1P, Same("log_plus_one")),
    (&fusion::SQRT, Same("sqrt")),
    (&fusion::RSQRT, By(elementwise::rsqrt)),
    (&fusion::RECIPROCAL, By(elementwise::reciprocal)),
    (&fusion::SIN, Same("sine")),
    (&fusion::COS, Same("cosine")),
    (&fusion::TAN, Same("tan")),
    (&fusion::ASIN, Wide("chlo.asin")),
    (&fusion::ACOS, Wide("chlo.acos")),
    (&fusion::ATAN, Same("chlo.atan")),
    (&fusion::SINH, Same("chlo.sinh")),
    (&fusion::COSH, Same("chlo.cosh")),
    (&fusion::TANH, Same("tanh")),
    (&fusion::ASINH, Wide("chlo.asinh")),
    (&fusion::ACOSH, Wide("chlo.acosh")),
    (&fusion::ATANH, Wide("chlo.atanh")),
    (&fusion::ERF, Same("chlo.erf")),
    (&fusion::ERFC, Same("chlo.erfc")),
    (
        &fusion::ERFINV,
        By(|w, op, _| elementwise::in_f64(w, op, "chlo.erf_inv")),
    ),
    (
        &fusion::LGAMMA,
        By(|w, op, _| elementwise::in_f64(w, op, "chlo.lgamma")),
    ),
    (&fusion::SIGMOID, Wide("logistic")),
    (&fusion::SILU, By(elementwise::silu)),
    (&fusion::RELU, By(elementwise::relu)),
    (&fusion::NOT, Same("not")),
    (&fusion::ISNAN, By(elementwise::isnan)),
    (&fusion::ISFINITE, By(elementwise::isfinite)),
    (&fusion::ADD, Same("add")),
    (&fusion::SUB, Same("subtract")),
    (&fusion::MUL, Same("multiply")),
    (&fusion::DIV, By(elementwise::div)),
    (&fusion::REM, By(elementwise::rem)),
    (&fusion::REMAINDER, By(elementwise::remainder)),
    (&fusion::POW, Same("power")),
    (&fusion::ATAN2, Same("atan2")),
    (&fusion::NEXTAFTER, Same("chlo.next_after")),
    (&fusion::MAXIMUM, Same("maximum")),
    (&fusion::MINIMUM, Same("minimum")),
    (
        &fusion::FMAX,
        By(|w, op, to| elementwise::without_nan(w, op, to, "maximum")),
    ),
    (
        &fusion::FMIN,
        By(|w, op, to| elementwise::without_nan(w, op, to, "minimum")),
    ),
    (&fusion::AND, Same("and")),
    (&fusion::OR, Same("or")),
    (&fusion::XOR, Same("xor")),
    (&fusion::SHL, Same("shift_left")),
    (&fusion::SHR, By(elementwise::shr)),
    (&fusion::LSHR, Same("shift_right_logical")),
    (&fusion::COMPARE, By(elementwise::compare)),
    (&fusion::WHERE, By(elementwise::choice)),
    (&fusion::CLAMP, By(elementwise::clamp)),
    (&fusion::CAST, By(elementwise::cast)),
    (&fusion::BITCAST, Same("bitcast_convert")),
    (&fusion::COMPLEX, Same("complex")),
    (&fusion::REAL, Same("real")),
    (&fusion::IMAG, Same("imag")),
    (&fusion::CONJ, Same("chlo.conj")),
    (&fusion::PHILOX, By(elementwise::philox)),
    (&fusion::CONSTANT, By(shape::constant)),
    (&fusion::FULL, By(shape::full)),
    (&fusion::IOTA, By(shape::iota)),
    (&fusion::SIZE, By(shape::size)),
    (&fusion::BROADCAST, By(shape::broadcast)),
    (&fusion::EXPAND, By(shape::expand)),
    (&fusion::SQUEEZE, By(shape::reshape)),
    (&fusion::RESHAPE, By(shape::reshape)),
    (&fusion::COPY, By(|w, op, _| w.operand(op, 0))),
    (&fusion::SEGMENT_SET, By(shape::segment_set)),
    (&fusion::PERMUTE, By(shape::permute)),
    (&fusion::FLIP, By(shape::flip)),
    (&fusion::SLICE, By(shape::slice)),
    (&fusion::PAD, By(shape::pad)),
    (&fusion::CAT, By(shape::cat)),
    (&fusion::ROLL, By(shape::roll)),
    (&fusion::ONE_HOT, By(shape::one_hot)),
    (&fusion::TAKE, By(index::take)),
    (&fusion::TAKE_ALONG, By(index::take_along)),
    (
        &fusion::DYNAMIC_SLICE,
        By(|w, op, to| index::part(w, op, to, 1)),
    ),
    (
        &fusion::DYNAMIC_UPDATE_SLICE,
        By(|w, op, to| index::part(w, op, to, 2)),
    ),
    (&fusion::INDEX_PUT, By(index::index_put)),
    (&fusion::SCATTER, By(index::scatter)),
    (&fusion::SUM, By(|w, op, to| reduce::by(w, op, to, "add"))),
    (
        &fusion::PROD,
        By(|w, op, to| reduce::by(w, op, to, "multiply")),
    ),
    (
        &fusion::MAX,
        By(|w, op, to| reduce::by(w, op, to, "maximum")),
    ),
    (
        &fusion::MIN,
        By(|w, op, to| reduce::by(w, op, to, "minimum")),
    ),
    (
        &fusion::MAX_NUM,
        By(|w, op, to| reduce::of_numbers(w, op, to, "maximum")),
    ),
    (
        &fusion::MIN_NUM,
        By(|w, op, to| reduce::of_numbers(w, op, to, "minimum")),
    ),
    (&fusion::MEAN, By(reduce::mean)),
    (&fusion::VAR_MEAN, Many(reduce::var_mean)),
    (
        &fusion::CUMSUM,
        By(|w, op, to| reduce::scan(w, op, to, "add")),
    ),
    (
        &fusion::CUMPROD,
        By(|w, op, to| reduce::scan(w, op, to, "multiply")),
    ),
    (
        &fusion::CUMMAX,
        By(|w, op, to| reduce::scan(w, op, to, "maximum")),
    ),
    (
        &fusion::CUMMIN,
        By(|w, op, to| reduce::scan(w, op, to, "minimum")),
    ),
    (&fusion::ARGMAX, By(|w, op, to| order::arg(w, op, to, "GT"))),
    (&fusion::ARGMIN, By(|w, op, to| order::arg(w, op, to, "LT"))),
    (&fusion::SORT, By(order::sort)),
    (&fusion::ARGSORT, By(order::argsort)),
    (&fusion::TOPK, Many(order::topk)),
    (&fusion::MATMUL, By(product::matmul)),
    (&fusion::LINEAR, By(product::linear)),
    (&fusion::CONVOLUTION, By(product::convolution)),
];

/// Ops with the same definition on complex numbers in StableHLO: data movement, selection, comparison, addition and
/// multiplication.
static COMPLEX: &[&OpDef] = &[
    &fusion::NEG,
    &fusion::ADD,
    &fusion::SUB,
    &fusion::MUL,
    &fusion::COMPLEX,
    &fusion::REAL,
    &fusion::IMAG,
    &fusion::CONJ,
    &fusion::ISNAN,
    &fusion::ISFINITE,
    &fusion::COMPARE,
    &fusion::WHERE,
    &fusion::CAST,
    &fusion::FULL,
    &fusion::BROADCAST,
    &fusion::EXPAND,
    &fusion::SQUEEZE,
    &fusion::RESHAPE,
    &fusion::COPY,
    &fusion::SEGMENT_SET,
    &fusion::PERMUTE,
    &fusion::FLIP,
    &fusion::SLICE,
    &fusion::PAD,
    &fusion::CAT,
    &fusion::ROLL,
    &fusion::TAKE,
    &fusion::TAKE_ALONG,
    &fusion::DYNAMIC_SLICE,
    &fusion::DYNAMIC_UPDATE_SLICE,
    &fusion::SUM,
];

/// True if StableHLO defines an op on complex numbers differently, so that the program must be exported with split
/// parts (`--split-complex`).
pub fn needs_parts(ir: &Ir, module: Op) -> bool {
    ir.walk(module).into_iter().any(|op| is_foreign(ir, op))
}

fn is_foreign(ir: &Ir, op: Op) -> bool {
    let complex = |value| {
        let dtype = ir.value_kind(value).dtype();
        dtype.is_some_and(DType::is_complex)
    };
    let fusion = ir.name(op).starts_with("fusion.");
    let own = ir.results(op).iter().copied().chain(ir.operands(op));
    fusion && !COMPLEX.iter().any(|def| ir.is(op, def)) && own.into_iter().any(complex)
}

/// Writes an op; returns the tensors of its results.
pub fn write(w: &mut Writer<'_>, op: Op, results: &[Form]) -> Made<Vec<Tensor>> {
    if w.ir.def(op).is_none() {
        return refuse("is not known");
    }
    let Some((_, way)) = OPS.iter().find(|(def, _)| w.ir.is(op, def)) else {
        let fault = Fault::new(&EXPORT, "has no counterpart in StableHLO");
        return Err(fault.help("`--decompose` of fuser-opt takes some ops apart"));
    };
    if is_foreign(w.ir, op) {
        let fault = Fault::new(
            &EXPORT,
            "means something else in StableHLO on complex numbers",
        );
        return Err(fault.help("`--split-complex` of fuser-opt writes it with their parts"));
    }
    let [to, ..] = results else {
        return refuse("has no result");
    };
    match way {
        Same(name) => {
            let operands = w.spread_operands(op, &to.shape)?;
            let operands: Vec<&Tensor> = operands.iter().collect();
            Ok(vec![w.call(name, &operands, to.dtype)])
        }
        Wide(name) => Ok(vec![elementwise::wide(w, op, to, name)?]),
        By(write) => Ok(vec![write(w, op, to)?]),
        Many(write) => write(w, op, results),
    }
}
