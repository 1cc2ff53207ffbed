//! The elementwise functions by name, and their values on f64.
//!
//! Values come from the `libm` crate, so they are the same bits on every host, and within a unit in the last place of
//! f64 for all functions here but the quotients and the inverses of erf and erfc, which are within two.

/// Functions of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sign,
    Relu,
    Not,
    Ceil,
    Floor,
    Round,
    Trunc,
    Sqrt,
    Reciprocal,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    Erfinv,
    Erfcinv,
    Lgamma,
    Sigmoid,
}

/// Functions of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Remainder,
    Pow,
    Atan2,
    Nextafter,
    Maximum,
    Minimum,
    Fmax,
    Fmin,
    Gcd,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Lshr,
}

/// Relations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Predicate {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Tests of one float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Test {
    Nan,
    Finite,
}

impl Predicate {
    /// The relation of a clause's word.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" => Self::Lt,
            "le" => Self::Le,
            "gt" => Self::Gt,
            "ge" => Self::Ge,
            _ => return None,
        })
    }
    /// True if the relation holds; of NaN only `ne` does.
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
        }
    }
}

impl Unary {
    /// The function's value, computed in f64.
    pub fn of(self, x: f64) -> f64 {
        match self {
            Self::Neg => -x,
            Self::Abs => x.abs(),
            Self::Sign => sign(x),
            Self::Relu => maximum(x, 0.0),
            Self::Not => f64::NAN,
            Self::Ceil => x.ceil(),
            Self::Floor => x.floor(),
            Self::Round => x.round_ties_even(),
            Self::Trunc => x.trunc(),
            Self::Sqrt => x.sqrt(),
            Self::Reciprocal => 1.0 / x,
            Self::Exp => libm::exp(x),
            Self::Exp2 => libm::exp2(x),
            Self::Expm1 => libm::expm1(x),
            Self::Log => libm::log(x),
            Self::Log2 => libm::log2(x),
            Self::Log10 => libm::log10(x),
            Self::Log1p => libm::log1p(x),
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Sinh => libm::sinh(x),
            Self::Cosh => libm::cosh(x),
            Self::Tanh => libm::tanh(x),
            Self::Asinh => libm::asinh(x),
            Self::Acosh => acosh(x),
            Self::Atanh => libm::atanh(x),
            Self::Erf => libm::erf(x),
            Self::Erfc => libm::erfc(x),
            Self::Erfinv => inverse_erf(x.abs(), 1.0 - x.abs()).copysign(x),
            Self::Erfcinv if x > 1.0 => -inverse_erf(x - 1.0, 2.0 - x),
            Self::Erfcinv => inverse_erf(1.0 - x, x),
            Self::Lgamma => libm::lgamma(x),
            Self::Sigmoid => sigmoid(x),
        }
    }
}

/// -1, 1, or the zero or NaN that `x` is.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// The inverse hyperbolic cosine; NaN below 1, where `libm` has infinities far off.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Below this the inverse of erfc is found by the logarithm of erfc, which no underflow reaches.
const TAIL: f64 = 0.03;

/// The number with erf `a` and erfc `v`, where `a + v = 1`, by Newton's method from the side without overshoot.
fn inverse_erf(a: f64, v: f64) -> f64 {
    if v.is_nan() || v < 0.0 {
        return f64::NAN;
    }
    if v == 0.0 {
        return f64::INFINITY;
    }
    let half_root = std::f64::consts::PI.sqrt() / 2.0;
    let step = |z: f64| {
        if v < TAIL {
            let tail = erfcx(z);
            return (libm::log(v) - libm::log(tail) + z * z) * tail * half_root;
        }
        let off = if a < 0.5 {
            libm::erf(z) - a
        } else {
            v - libm::erfc(z)
        };
        off * half_root * libm::exp(z * z)
    };
    let mut z = if v < TAIL {
        (-libm::log(v)).sqrt()
    } else {
        a * half_root
    };
    // Convergence is quadratic: few steps do.
    for _ in 0..40 {
        let off = step(z);
        z -= off;
        if off.abs() <= f64::EPSILON / 4.0 * z {
            break;
        }
    }
    z
}

/// `e^(z^2) erfc(z)` for `z > 1.5`, by its continued fraction (Abramowitz and Stegun, 7.1.14).
fn erfcx(z: f64) -> f64 {
    let fraction = (1..200)
        .rev()
        .fold(z, |rest, k| z + f64::from(k) / 2.0 / rest);
    1.0 / (std::f64::consts::PI.sqrt() * fraction)
}

/// `1 / (1 + e^-x)` by the side on which nothing overflows.
pub fn sigmoid(x: f64) -> f64 {
    let small = libm::exp(-x.abs());
    if x < 0.0 {
        small / (1.0 + small)
    } else {
        1.0 / (1.0 + small)
    }
}

/// The remainder with the sign of `b`.
pub fn remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// The next float of a type toward another.
macro_rules! nextafter {
    ($name:ident, $float:ty) => {
        #[allow(missing_docs)]
        pub fn $name(a: $float, b: $float) -> $float {
            if a.is_nan() || b.is_nan() {
                <$float>::NAN
            } else if a == b {
                b
            } else if a < b {
                a.next_up()
            } else {
                a.next_down()
            }
        }
    };
}
nextafter!(nextafter, f64);
nextafter!(nextafter_f32, f32);

/// The greater; NaN if either is; -0 < +0.
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let first = a > b || (a == b && a.is_sign_positive());
    if first { a } else { b }
}

/// The smaller; NaN if either is; -0 < +0.
pub fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}

/// The greater, the other where one is NaN.
pub fn fmax(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => maximum(a, b),
    }
}

/// The smaller, the other where one is NaN.
pub fn fmin(a: f64, b: f64) -> f64 {
    -fmax(-a, -b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acosh_is_nan_below_one() {
        for x in [0.9, -1.0, -32768.0, -1e9, f64::NEG_INFINITY, f64::NAN] {
            assert!(Unary::Acosh.of(x).is_nan(), "{x}");
        }
        assert_eq!(Unary::Acosh.of(1.0), 0.0);
    }
}
