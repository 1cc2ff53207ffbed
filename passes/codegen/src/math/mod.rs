//! The math library: elementary functions as LLVM IR, for scalars and vectors of f32 and f64, on CPUs and on GPUs.
//!
//! The code uses only operations that every target selects natively (x86 from x86-64-v3 on): add, multiply, fused
//! multiply-add, divide (`quotient` on NVPTX), square root, rounding, integer and bit operations, selects. Nothing is
//! therefore a library call, all lanes take the same instructions, and equal inputs give equal bits on every CPU and
//! GPU. NaN in gives NaN out. Overflow gives infinity, results round into the subnormals, and odd functions preserve
//! the sign of zero. [`FUNCTIONS`] states the error bound of each function in units in the last place of the result;
//! the tests verify it.
//!
//! Reading order: `exp`, `log`, `trig`, then the functions built on them (`erf`, `erfinv`, `pow`, `inverse`, and
//! `gamma`, which has an absolute bound).

pub mod coefficients;
mod erf;
mod erfinv;
pub mod exp;
pub(crate) mod gamma;
mod inverse;
mod log;
mod pow;
pub mod quotient;
mod trig;

use crate::expr::Val;

/// One function of the library.
#[derive(Clone, Copy, Debug)]
pub struct MathFunction {
    pub name: &'static str,
    /// Greatest error in units in the last place, for f32 and for f64.
    pub max_ulp: (f64, f64),
    /// The origin of the method.
    pub source: &'static str,
    pub emit: Emitter,
}

/// A function of one operand.
pub type Unary = for<'e, 'ctx> fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>;

/// The function that emits the code, by its number of operands.
#[derive(Clone, Copy, Debug)]
pub enum Emitter {
    Unary(Unary),
    Binary(for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>),
}

/// The function called `name`, if the library has it.
pub fn find(name: &str) -> Option<&'static MathFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

fn sqrt<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.sqrt()
}

fn rsqrt<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.float(1.0).over(x.sqrt())
}

fn reciprocal<'e, 'ctx>(x: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
    x.float(1.0).over(x)
}

const fn unary(
    name: &'static str,
    max_ulp: (f64, f64),
    source: &'static str,
    emit: for<'e, 'ctx> fn(Val<'e, 'ctx>) -> Val<'e, 'ctx>,
) -> MathFunction {
    MathFunction {
        name,
        max_ulp,
        source,
        emit: Emitter::Unary(emit),
    }
}

const fn binary(
    name: &'static str,
    max_ulp: (f64, f64),
    source: &'static str,
    emit: for<'e, 'ctx> fn(Val<'e, 'ctx>, Val<'e, 'ctx>) -> Val<'e, 'ctx>,
) -> MathFunction {
    MathFunction {
        name,
        max_ulp,
        source,
        emit: Emitter::Binary(emit),
    }
}

/// Every function, with its error bounds. The bounds of unary f32 functions hold for every argument, as
/// `math_exhaustive` verifies. The other bounds exceed the errors found by a search of some 10^8 arguments. Where that
/// search came close, they also cover the sum of the method's roundings.
pub static FUNCTIONS: &[MathFunction] = &[
    unary(
        "exp",
        (1.0, 1.0),
        "Cody-Waite reduction, Chebyshev fit, scale in two steps",
        exp::exp,
    ),
    unary(
        "exp2",
        (1.0, 1.0),
        "exact reduction, Chebyshev fit, scale in two steps",
        exp::exp2,
    ),
    unary(
        "expm1",
        (1.5, 1.75),
        "as exp, the scale halved against early overflow",
        exp::expm1,
    ),
    unary(
        "sigmoid",
        (2.5, 3.5),
        "1 / (1 + e^-abs(x)) and its mirror",
        exp::sigmoid,
    ),
    unary(
        "tanh",
        (2.5, 2.75),
        "t / (t + 2), t = e^(2 abs(x)) - 1",
        exp::tanh,
    ),
    unary(
        "sinh",
        (2.5, 2.75),
        "from expm1, beyond 20 from exp",
        exp::sinh,
    ),
    unary("cosh", (2.0, 2.0), "from exp / 2", exp::cosh),
    unary(
        "log",
        (1.0, 1.0),
        "fdlibm's reduction, Chebyshev fit",
        log::log,
    ),
    unary(
        "log2",
        (1.0, 1.0),
        "as log, the product with log2(e) in two parts",
        log::log2,
    ),
    unary(
        "log10",
        (1.0, 1.0),
        "as log, the product with log10(e) in two parts",
        log::log10,
    ),
    unary(
        "log1p",
        (1.75, 1.75),
        "as log, the significand from x itself",
        log::log1p,
    ),
    unary(
        "sin",
        (1.0, 1.0),
        "Cody-Waite to 1e5 (f64: 1e9), Payne-Hanek beyond, Chebyshev fit",
        trig::sin,
    ),
    unary("cos", (1.0, 1.0), "as sin", trig::cos),
    unary("tan", (2.5, 2.75), "sin / cos", trig::tan),
    unary(
        "asin",
        (2.0, 2.0),
        "fit in x^2 below 1/2, half-angle beyond",
        inverse::asin,
    ),
    unary("acos", (1.5, 1.5), "as asin", inverse::acos),
    unary(
        "atan",
        (2.0, 2.25),
        "turned to below pi/8, fit in the ratio",
        inverse::atan,
    ),
    binary("atan2", (3.0, 3.0), "as atan, of the ratio", inverse::atan2),
    unary("asinh", (2.5, 2.5), "from log1p", inverse::asinh),
    unary("acosh", (2.5, 2.5), "from log1p", inverse::acosh),
    unary("atanh", (2.5, 2.5), "from log1p", inverse::atanh),
    unary(
        "erf",
        (1.5, 1.5),
        "fit in x^2 below 1, erfcx beyond",
        erf::erf,
    ),
    unary(
        "erfc",
        (4.0, 4.0),
        "erfcx in (x-4)/(x+4), the square in two parts",
        erf::erfc,
    ),
    unary(
        "erfinv",
        (2.5, 2.5),
        "fits in log(1 - x^2), one step of Halley's method by erf and erfcx",
        erfinv::erfinv,
    ),
    unary("erfcinv", (3.0, 2.5), "as erfinv", erfinv::erfcinv),
    binary(
        "pow",
        (1.0, 1.0),
        "f32 through f64; f64 by a logarithm in two parts",
        pow::pow,
    ),
    unary(
        "sqrt",
        (0.5, 0.5),
        "the target's instruction, correctly rounded",
        sqrt,
    ),
    unary("rsqrt", (1.5, 1.5), "1 / sqrt", rsqrt),
    unary(
        "reciprocal",
        (0.5, 0.5),
        "the target's division, correctly rounded",
        reciprocal,
    ),
];
