//! Elementwise arithmetic on rows of lanes, one implementation per kind of lane.
//!
//! `f32` and `f64` are IEEE 754 with every operation rounded once: functions of f32 are computed in f64 and rounded,
//! which for sums, products, quotients and roots is provably the correctly rounded f32. 16-bit floats are `f32` lanes
//! that round when stored.

use fuser_ir::DType;

use super::bounded::{self, Bounded};
use super::int::{self, Int};
use super::math::{self, Binary, Predicate, Test, Unary};
use super::round;
use super::rules::{CORRECT, Rules};

/// The environment of an arithmetic operation, beyond its operands.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Element type of the operands.
    pub dtype: DType,
    /// Error rules of that type.
    pub rules: Rules,
    /// True where products may be a part of sums.
    pub contracted: bool,
    /// Promised error of the function at hand, in units in the last place.
    pub ulps: f64,
}

/// Lanes that ops compute with.
pub trait Number: Copy + Default + Send + Sync {
    /// A constant of type `env.dtype`, given as the float or integer that the type holds.
    fn constant(float: f64, int: i128) -> Self;
    /// The same where another element may stand here, in reference mode.
    fn undecided(self) -> Self {
        self
    }
    /// The value with an error of up to `bound` added in reference mode.
    fn loosened(self, _bound: f64) -> Self {
        self
    }
    /// In a sampled execution the same, moved at random by something like `amount`.
    fn moved(self, _amount: f64, _rules: &Rules) -> Self {
        self
    }
    /// A term of a sum that a compiled program may leave out.
    fn open(self, _rules: &Rules) -> Self {
        self
    }
    /// `op` of each lane.
    fn unary(op: Unary, x: &mut [Self], env: &Env);
    /// `op` of each pair of lanes, left in `a`.
    fn binary(op: Binary, a: &mut [Self], b: &[Self], env: &Env);
    /// 1 if the relation holds, else 0.
    fn compare(predicate: Predicate, a: Self, b: Self) -> Int;
    /// 1 if the test holds, else 0.
    fn test(test: Test, x: Self) -> Int;
    /// `a` where the condition holds, else `b`.
    fn select(condition: Int, a: Self, b: Self) -> Self;
    /// The value as a float lane of `to`, rounded once for the store.
    fn to_f32(self, to: DType) -> f32;
    /// The value as f64.
    fn to_f64(self) -> f64;
    /// The value as an integer of `to`.
    fn to_int(self, to: DType) -> Int;
    /// The value with its bound as a float of type `rules.dtype`, from type `from`.
    fn to_bounded(self, from: DType, rules: &Rules) -> Bounded;
}

fn map<L: Copy>(x: &mut [L], f: impl Fn(L) -> L) {
    x.iter_mut().for_each(|x| *x = f(*x));
}

fn zip<L: Copy>(a: &mut [L], b: &[L], f: impl Fn(L, L) -> L) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = f(*a, *b));
}

/// `x != 0`, as an integer.
fn truth(x: f64) -> Int {
    Int::sure(i128::from(x != 0.0))
}

fn float_to_int(x: f64, to: DType) -> Int {
    if to == DType::I1 {
        truth(x)
    } else {
        Int::sure(round::saturate(x, to))
    }
}

fn test(test: Test, x: f64) -> Int {
    let holds = match test {
        Test::Nan => x.is_nan(),
        Test::Finite => x.is_finite(),
    };
    Int::sure(holds.into())
}

impl Number for f64 {
    fn constant(float: f64, _: i128) -> Self {
        float
    }
    fn unary(op: Unary, x: &mut [Self], _: &Env) {
        map(x, |x| op.of(x));
    }
    fn binary(op: Binary, a: &mut [Self], b: &[Self], _: &Env) {
        match op {
            Binary::Add => zip(a, b, |a, b| a + b),
            Binary::Sub => zip(a, b, |a, b| a - b),
            Binary::Mul => zip(a, b, |a, b| a * b),
            Binary::Div => zip(a, b, |a, b| a / b),
            Binary::Rem => zip(a, b, |a, b| a % b),
            Binary::Remainder => zip(a, b, math::remainder),
            Binary::Pow => zip(a, b, libm::pow),
            Binary::Atan2 => zip(a, b, libm::atan2),
            Binary::Nextafter => zip(a, b, math::nextafter),
            Binary::Maximum => zip(a, b, math::maximum),
            Binary::Minimum => zip(a, b, math::minimum),
            Binary::Fmax => zip(a, b, math::fmax),
            Binary::Fmin => zip(a, b, math::fmin),
            // The verifier admits no floats here.
            Binary::Gcd
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::Lshr => {
                map(a, |_| f64::NAN);
            }
        }
    }
    fn compare(predicate: Predicate, a: Self, b: Self) -> Int {
        Int::sure(predicate.holds(a, b).into())
    }
    fn test(which: Test, x: Self) -> Int {
        test(which, x)
    }
    fn select(condition: Int, a: Self, b: Self) -> Self {
        if condition.v != 0 { a } else { b }
    }
    fn to_f32(self, to: DType) -> f32 {
        if to == DType::F32 {
            self as f32
        } else {
            round::f32_to_odd(self)
        }
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn to_int(self, to: DType) -> Int {
        float_to_int(self, to)
    }
    fn to_bounded(self, _: DType, rules: &Rules) -> Bounded {
        rules.known_conversion(self)
    }
}

impl Number for f32 {
    fn constant(float: f64, _: i128) -> Self {
        float as f32
    }
    fn unary(op: Unary, x: &mut [Self], _: &Env) {
        // By way of bits: `neg` and `abs` keep those of a NaN, which instructions would make quiet.
        map(x, |x| {
            let wide = round::widened(DType::F32, x.to_bits().into());
            round::f32_from(op.of(wide))
        });
    }
    fn binary(op: Binary, a: &mut [Self], b: &[Self], env: &Env) {
        match op {
            Binary::Add => zip(a, b, |a, b| a + b),
            Binary::Sub => zip(a, b, |a, b| a - b),
            Binary::Mul => zip(a, b, |a, b| a * b),
            Binary::Div => zip(a, b, |a, b| a / b),
            Binary::Rem => zip(a, b, |a, b| a % b),
            Binary::Nextafter => zip(a, b, math::nextafter_f32),
            Binary::Remainder
            | Binary::Pow
            | Binary::Atan2
            | Binary::Maximum
            | Binary::Minimum
            | Binary::Fmax
            | Binary::Fmin
            | Binary::Gcd
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::Lshr => zip(a, b, |a, b| {
                let mut x = [f64::from(a)];
                f64::binary(op, &mut x, &[b.into()], env);
                x[0] as f32
            }),
        }
    }
    fn compare(predicate: Predicate, a: Self, b: Self) -> Int {
        Int::sure(predicate.holds(a, b).into())
    }
    fn test(which: Test, x: Self) -> Int {
        test(which, x.into())
    }
    fn select(condition: Int, a: Self, b: Self) -> Self {
        if condition.v != 0 { a } else { b }
    }
    fn to_f32(self, _: DType) -> f32 {
        self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn to_int(self, to: DType) -> Int {
        float_to_int(self.into(), to)
    }
    fn to_bounded(self, _: DType, rules: &Rules) -> Bounded {
        rules.known_conversion(self.into())
    }
}

impl Number for Int {
    fn constant(_: f64, int: i128) -> Self {
        Int::sure(int)
    }
    fn undecided(self) -> Self {
        let unsure = true;
        Self { unsure, ..self }
    }
    fn loosened(self, bound: f64) -> Self {
        if bound > 0.0 { self.undecided() } else { self }
    }
    fn unary(op: Unary, x: &mut [Self], env: &Env) {
        match op {
            Unary::Neg => map(x, |x| x.join(x, x.v.wrapping_neg())),
            Unary::Abs => map(x, |x| x.join(x, x.v.wrapping_abs())),
            Unary::Sign => map(x, |x| x.join(x, x.v.signum())),
            Unary::Relu => map(x, |x| x.join(x, x.v.max(0))),
            Unary::Not => map(x, |x| x.join(x, !x.v)),
            // The verifier admits no integers here.
            Unary::Ceil
            | Unary::Floor
            | Unary::Round
            | Unary::Trunc
            | Unary::Sqrt
            | Unary::Reciprocal
            | Unary::Exp
            | Unary::Exp2
            | Unary::Expm1
            | Unary::Log
            | Unary::Log2
            | Unary::Log10
            | Unary::Log1p
            | Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Asin
            | Unary::Acos
            | Unary::Atan
            | Unary::Sinh
            | Unary::Cosh
            | Unary::Tanh
            | Unary::Asinh
            | Unary::Acosh
            | Unary::Atanh
            | Unary::Erf
            | Unary::Erfc
            | Unary::Erfinv
            | Unary::Erfcinv
            | Unary::Lgamma
            | Unary::Sigmoid => {}
        }
        wrap_all(x, env);
    }
    fn binary(op: Binary, a: &mut [Self], b: &[Self], env: &Env) {
        let f: fn(i128, i128) -> i128 = match op {
            Binary::Add => i128::wrapping_add,
            Binary::Sub => i128::wrapping_sub,
            Binary::Mul => i128::wrapping_mul,
            Binary::Div => int::div,
            Binary::Rem => int::rem,
            Binary::Remainder => int::remainder,
            Binary::Maximum | Binary::Fmax => i128::max,
            Binary::Minimum | Binary::Fmin => i128::min,
            Binary::Gcd => int::gcd,
            Binary::And => |a, b| a & b,
            Binary::Or => |a, b| a | b,
            Binary::Xor => |a, b| a ^ b,
            Binary::Shr => int::shr,
            Binary::Shl => return zip(a, b, |a, b| a.join(b, shift_left(a.v, b.v, env))),
            Binary::Lshr => {
                zip(a, b, |a, b| a.join(b, int::lshr(a.v, b.v, env.dtype)));
                return wrap_all(a, env);
            }
            // The verifier admits no integers here.
            Binary::Pow | Binary::Atan2 | Binary::Nextafter => |a, _| a,
        };
        zip(a, b, |a, b| a.join(b, f(a.v, b.v)));
        wrap_all(a, env);
    }
    fn compare(predicate: Predicate, a: Self, b: Self) -> Int {
        a.join(b, predicate.holds(a.v, b.v).into())
    }
    fn test(which: Test, x: Self) -> Int {
        x.join(x, i128::from(which == Test::Finite))
    }
    fn select(condition: Int, a: Self, b: Self) -> Self {
        let mut chosen = if condition.v != 0 { a } else { b };
        chosen.unsure |= condition.unsure && a.v != b.v;
        chosen
    }
    fn to_f32(self, to: DType) -> f32 {
        match to {
            DType::F32 => self.v as f32,
            _ => round::f32_to_odd(round::f64_to_odd(self.v)),
        }
    }
    fn to_f64(self) -> f64 {
        self.v as f64
    }
    fn to_int(self, to: DType) -> Int {
        let v = if to == DType::I1 {
            i128::from(self.v != 0)
        } else {
            round::wrap(self.v, to)
        };
        self.join(self, v)
    }
    fn to_bounded(self, _: DType, rules: &Rules) -> Bounded {
        if self.unsure {
            return Bounded::undecided(self.v as f64);
        }
        Bounded::exact(round::int_to_dtype(self.v, rules.dtype))
    }
}

fn shift_left(a: i128, count: i128, env: &Env) -> i128 {
    round::wrap(int::shl(a, count, env.dtype), env.dtype)
}

fn wrap_all(x: &mut [Int], env: &Env) {
    map(x, |x| x.join(x, round::wrap(x.v, env.dtype)));
}

impl Number for Bounded {
    fn constant(float: f64, _: i128) -> Self {
        Bounded::exact(float)
    }
    fn undecided(self) -> Self {
        Bounded::undecided(self.v)
    }
    fn loosened(self, bound: f64) -> Self {
        match self.v.is_finite() || bound.is_infinite() {
            true => Bounded::new(self.v, self.e.max(bound)),
            false => self,
        }
    }
    fn moved(self, amount: f64, rules: &Rules) -> Self {
        Bounded::new(rules.moved(self.v, amount), self.e)
    }
    fn open(self, rules: &Rules) -> Self {
        rules.optional(self.v)
    }
    fn unary(op: Unary, x: &mut [Self], env: &Env) {
        map(x, |x| unary(op, x, env));
    }
    fn binary(op: Binary, a: &mut [Self], b: &[Self], env: &Env) {
        let rules = &env.rules;
        match op {
            Binary::Add => zip(a, b, |a, b| bounded::add(a, b, rules)),
            Binary::Sub => zip(a, b, |a, b| bounded::sub(a, b, rules)),
            Binary::Mul if env.contracted => zip(a, b, |a, b| bounded::term(a, b, rules)),
            Binary::Mul => zip(a, b, |a, b| bounded::mul(a, b, rules)),
            Binary::Div => zip(a, b, |a, b| bounded::div(a, b, rules)),
            Binary::Rem => zip(a, b, |a, b| bounded::rem(a, b, rules)),
            Binary::Remainder => zip(a, b, |a, b| bounded::remainder(a, b, rules)),
            Binary::Pow => zip(a, b, |a, b| bounded::pow(a, b, rules, env.ulps)),
            Binary::Atan2 => zip(a, b, |a, b| bounded::atan2(a, b, rules, env.ulps)),
            Binary::Nextafter => zip(a, b, |a, b| next(a, b, env.dtype)),
            Binary::Maximum => zip(a, b, |a, b| maximum(a, b, 1.0)),
            Binary::Minimum => zip(a, b, |a, b| maximum(a, b, -1.0)),
            Binary::Fmax => zip(a, b, |a, b| fmax(a, b, 1.0)),
            Binary::Fmin => zip(a, b, |a, b| fmax(a, b, -1.0)),
            // The verifier admits no floats here.
            Binary::Gcd
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::Lshr => {
                map(a, |_| Bounded::undecided(f64::NAN));
            }
        }
    }
    fn compare(predicate: Predicate, a: Self, b: Self) -> Int {
        match bounded::decide(a, b, |a, b| predicate.holds(a, b)) {
            Some(holds) => Int::sure(holds.into()),
            None => Int {
                v: predicate.holds(a.v, b.v).into(),
                unsure: true,
            },
        }
    }
    fn test(which: Test, x: Self) -> Int {
        Int {
            unsure: x.is_undecided(),
            ..test(which, x.v)
        }
    }
    fn select(condition: Int, a: Self, b: Self) -> Self {
        bounded::select(condition, a, b)
    }
    fn to_f32(self, _: DType) -> f32 {
        self.v as f32
    }
    fn to_f64(self) -> f64 {
        self.v
    }
    fn to_int(self, to: DType) -> Int {
        let (low, high) = self.ends();
        let (at_low, at_high) = (float_to_int(low, to), float_to_int(high, to));
        let crosses = to == DType::I1 && low <= 0.0 && high >= 0.0;
        Int {
            unsure: self.e > 0.0 && (at_low != at_high || crosses || self.is_undecided()),
            ..float_to_int(self.v, to)
        }
    }
    fn to_bounded(self, from: DType, rules: &Rules) -> Bounded {
        rules.converted(self, from)
    }
}

/// The next float of `dtype` from `a` toward `b`: within a step of `a`, whatever `b` is.
fn next(a: Bounded, b: Bounded, dtype: DType) -> Bounded {
    let after = |x: f64, y: f64| match dtype {
        DType::F32 => math::nextafter_f32(x as f32, y as f32).into(),
        _ => math::nextafter(x, y),
    };
    let v = after(a.v, b.v);
    if a.e == 0.0 && b.e == 0.0 {
        return Bounded::exact(v);
    }
    let most = a.v.abs() + a.e;
    let step = after(most, f64::INFINITY) - most;
    let open = a.is_undecided() || b.is_undecided() || !step.is_finite();
    match open {
        true => Bounded::undecided(v),
        false => Bounded::new(v, a.e + 4.0 * step),
    }
}

/// The greater (`sign` 1) or smaller (`sign` -1), NaN if either is certainly NaN.
pub(crate) fn maximum(a: Bounded, b: Bounded, sign: f64) -> Bounded {
    let undecided = a.is_undecided() || b.is_undecided();
    match (a.v.is_nan() || b.v.is_nan(), undecided) {
        (true, false) => Bounded::exact(f64::NAN),
        (true, true) => Bounded::undecided(f64::NAN),
        _ => bounded::extremum(a, b, sign),
    }
}

/// The greater (`sign` 1) or smaller (`sign` -1), the other where one is certainly NaN.
pub(crate) fn fmax(a: Bounded, b: Bounded, sign: f64) -> Bounded {
    match (a.v.is_nan(), b.v.is_nan()) {
        (true, _) if a.is_undecided() || b.is_undecided() => Bounded::undecided(b.v),
        (_, true) if a.is_undecided() || b.is_undecided() => Bounded::undecided(a.v),
        (true, _) => b,
        (_, true) => a,
        _ => bounded::extremum(a, b, sign),
    }
}

fn unary(op: Unary, x: Bounded, env: &Env) -> Bounded {
    let (rules, ulps) = (&env.rules, env.ulps);
    match op {
        Unary::Neg => Bounded::new(-x.v, x.e),
        Unary::Abs => Bounded::new(x.v.abs(), x.e),
        Unary::Relu => maximum(x, Bounded::exact(0.0), 1.0),
        Unary::Sign | Unary::Ceil | Unary::Floor | Unary::Round | Unary::Trunc => {
            bounded::step(x, rules, |x| op.of(x))
        }
        Unary::Sqrt => bounded::sqrt(x, rules),
        Unary::Reciprocal => bounded::div(Bounded::exact(1.0), x, rules),
        Unary::Sin | Unary::Cos => bounded::lipschitz(x, rules, ulps, |x| op.of(x), (1.0, 2.0)),
        Unary::Tan => bounded::tan(x, rules, ulps),
        Unary::Lgamma => bounded::lgamma(x, rules),
        Unary::Cosh => bounded::monotone(x, rules, ulps, libm::cosh, Some(0.0)),
        // Integers alone; the verifier admits no floats here.
        Unary::Not => Bounded::undecided(f64::NAN),
        Unary::Exp
        | Unary::Exp2
        | Unary::Expm1
        | Unary::Log
        | Unary::Log2
        | Unary::Log10
        | Unary::Log1p
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Tanh
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Erf
        | Unary::Erfc
        | Unary::Erfinv
        | Unary::Erfcinv
        | Unary::Sigmoid => bounded::monotone(x, rules, ulps.max(CORRECT), |x| op.of(x), None),
    }
}
