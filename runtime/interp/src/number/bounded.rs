//! A real number, computed in f64, with a bound on how far a compiled program's result may be from it.
//!
//! Running error analysis: every operation derives the bound of its result from the operands' bounds and from the
//! rounding of the type in which the compiled program computes ([`Rules`]). `e == 0` says that the compiled program has
//! exactly `v`, infinities, NaN and the sign of a zero included; `e == inf` that nothing is known ("undecided"): an operand lay within its
//! bound of a discontinuity. Bounds are first computed in f64 and may be low by some 2^-50 of themselves, which the
//! factor in the comparison covers many times over.

use super::rules::{CORRECT, Rules};

/// A value and its bound.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bounded {
    /// The value.
    pub v: f64,
    /// The bound on the compiled program's error.
    pub e: f64,
}

impl Bounded {
    /// A value and its bound.
    pub const fn new(v: f64, e: f64) -> Self {
        Self { v, e }
    }
    /// A value that the compiled program has too.
    pub const fn exact(v: f64) -> Self {
        Self { v, e: 0.0 }
    }
    /// A value of which nothing is known.
    pub const fn undecided(v: f64) -> Self {
        Self {
            v,
            e: f64::INFINITY,
        }
    }
    /// A value that is certain, the sign of a zero aside unless `signed`.
    pub fn of_sign(v: f64, signed: bool) -> Self {
        let e = if v == 0.0 && !signed {
            f64::from_bits(1)
        } else {
            0.0
        };
        Self { v, e }
    }
    /// True if nothing is known of the value.
    pub fn is_undecided(self) -> bool {
        self.e == f64::INFINITY
    }
    /// The ends of the interval, rounded outwards.
    pub fn ends(self) -> (f64, f64) {
        if self.e == 0.0 {
            return (self.v, self.v);
        }
        ((self.v - self.e).next_down(), (self.v + self.e).next_up())
    }
    /// True if zero is inside the interval, and not because the value is exactly zero.
    fn may_cross_zero(self) -> bool {
        self.e > 0.0 && self.v.abs() <= self.e
    }
}

/// Results that need no analysis: an operand is undecided, or is no finite number and so exact. In a sample an undecided result is off like others.
fn special(
    a: Bounded,
    b: Bounded,
    v: f64,
    open: bool,
    rules: &Rules,
    ulps: f64,
) -> Option<Bounded> {
    if a.is_undecided() || b.is_undecided() || open {
        return Some(rules.undecided(v, ulps));
    }
    (!a.v.is_finite() || !b.v.is_finite()).then(|| Bounded::exact(v))
}

/// True if the compiled program has exactly these operands, which then are values of its type.
fn both_exact(a: Bounded, b: Bounded) -> bool {
    a.e == 0.0 && b.e == 0.0
}

/// `a + b`
pub fn add(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let v = a.v + b.v;
    if let Some(result) = special(a, b, v, false, rules, CORRECT) {
        return result;
    }
    if both_exact(a, b) {
        return rules.known(v);
    }
    rules.correct(v, a.e + b.e, || adds_exactly(a.v, b.v))
}

/// True if the sum of two floats is the float that their addition gives (Knuth's error of a sum).
fn adds_exactly(a: f64, b: f64) -> bool {
    let sum = a + b;
    let other = sum - a;
    (a - (sum - other)) + (b - other) == 0.0
}

/// `a - b`
pub fn sub(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    add(a, Bounded::new(-b.v, b.e), rules)
}

/// `a * b`
pub fn mul(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let v = a.v * b.v;
    let open =
        (a.v.is_infinite() && b.may_cross_zero()) || (b.v.is_infinite() && a.may_cross_zero());
    if let Some(result) = special(a, b, v, open, rules, CORRECT) {
        return result;
    }
    if both_exact(a, b) {
        return rules.known(v);
    }
    let spread = a.v.abs() * b.e + b.v.abs() * a.e + a.e * b.e;
    rules.correct(v, spread, || a.v.mul_add(b.v, -v) == 0.0)
}

/// `a * b` as a term of a sum, in the type that accumulates: rounded, or held exactly by a fused step. Undecided where only the
/// rounded one is infinite.
pub fn term(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let product = mul(a, b, rules);
    if product.is_undecided() || !a.v.is_finite() || !b.v.is_finite() {
        return product;
    }
    let v = a.v * b.v;
    if !product.v.is_finite() {
        return rules.fused(product.v, v);
    }
    let vanished = v == 0.0 && a.v != 0.0 && b.v != 0.0;
    let held = v == product.v && a.v.mul_add(b.v, -v) == 0.0 && !vanished;
    match held || !both_exact(a, b) {
        true => product,
        false => rules.rounded(v, 0.0, CORRECT),
    }
}

/// `a / b`
pub fn div(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let v = a.v / b.v;
    let open = b.may_cross_zero() || (b.v == 0.0 && a.may_cross_zero());
    if let Some(result) = special(a, b, v, open, rules, CORRECT) {
        // A number divided by an infinity is a zero of its sign.
        return match result.e == 0.0 && a.may_cross_zero() {
            true => Bounded::of_sign(v, false),
            false => result,
        };
    }
    if b.v == 0.0 {
        return Bounded::exact(v);
    }
    if both_exact(a, b) {
        return rules.known(v);
    }
    let spread = (a.e + v.abs() * b.e) / (b.v.abs() - b.e);
    rules.correct(v, spread, || v.mul_add(b.v, -a.v) == 0.0)
}

/// The remainder with the sign of the dividend; undecided where the operands' errors leave the quotient open.
pub fn rem(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let v = a.v % b.v;
    let open = b.may_cross_zero() || a.may_cross_zero();
    if let Some(result) = special(a, b, v, open, rules, CORRECT) {
        // Of an infinite divisor it is the dividend, which is as far off as it was.
        return match result.is_undecided() || !a.v.is_finite() || b.v.is_nan() {
            true => result,
            false => a,
        };
    }
    if both_exact(a, b) {
        return rules.known(v);
    }
    let least = ((a.v.abs() - a.e) / (b.v.abs() + b.e)).trunc();
    let most = ((a.v.abs() + a.e) / (b.v.abs() - b.e)).trunc();
    if least != most {
        return Bounded::undecided(v);
    }
    rules.correct(v, a.e + most * b.e, || true)
}

/// The remainder with the sign of the divisor; undecided where the other remainder may be zero or not.
pub fn remainder(a: Bounded, b: Bounded, rules: &Rules) -> Bounded {
    let rest = rem(a, b, rules);
    if rest.may_cross_zero() {
        return Bounded::undecided(super::math::remainder(a.v, b.v));
    }
    if rest.v == 0.0 || rest.v.is_nan() || (rest.v < 0.0) == (b.v < 0.0) {
        return rest;
    }
    add(rest, b, rules)
}

/// A function of one operand that is monotone between any two ends that `f` maps to finite values, or whose `extreme`
/// is listed.
pub fn monotone(
    x: Bounded,
    rules: &Rules,
    ulps: f64,
    f: impl Fn(f64) -> f64,
    extreme: Option<f64>,
) -> Bounded {
    let v = f(x.v);
    if x.is_undecided() {
        return rules.undecided(v, ulps);
    }
    if x.e == 0.0 {
        return exact_operand(v, rules, ulps);
    }
    let (low, high) = x.ends();
    let (at_low, at_high) = (f(low), f(high));
    if v.is_nan() && at_low.is_nan() && at_high.is_nan() {
        return Bounded::exact(v);
    }
    if at_low.is_nan() || at_high.is_nan() {
        return rules.undecided(v, ulps);
    }
    let mut spread = (at_low - v).abs().max((at_high - v).abs());
    if let Some(point) = extreme.filter(|p| low < *p && *p < high) {
        spread = spread.max((f(point) - v).abs());
    }
    if !spread.is_finite() {
        return rules.undecided(v, ulps);
    }
    rules.rounded(v, spread, ulps)
}

/// A function value where the operand is exact: poles, NaN and overflow are then certain.
fn exact_operand(v: f64, rules: &Rules, ulps: f64) -> Bounded {
    if !v.is_finite() {
        return Bounded::exact(v);
    }
    rules.rounded(v, 0.0, ulps)
}

/// A function whose slope never exceeds `slope` and whose values never differ by more than `range`.
pub fn lipschitz(
    x: Bounded,
    rules: &Rules,
    ulps: f64,
    f: impl Fn(f64) -> f64,
    (slope, range): (f64, f64),
) -> Bounded {
    let v = f(x.v);
    if x.is_undecided() {
        return rules.undecided(v, ulps);
    }
    if x.e == 0.0 {
        return exact_operand(v, rules, ulps);
    }
    rules.rounded(v, (slope * x.e).min(range), ulps)
}

/// A step function such as `floor`: undecided unless it is constant over the whole interval.
pub fn step(x: Bounded, rules: &Rules, f: impl Fn(f64) -> f64) -> Bounded {
    let v = f(x.v);
    if x.e == 0.0 {
        return rules.known(v);
    }
    let (low, high) = x.ends();
    if x.is_undecided() || f(low) != f(high) {
        return Bounded::undecided(v);
    }
    let known = rules.known(v);
    Bounded::of_sign(
        known.v,
        f(low).is_sign_negative() == f(high).is_sign_negative(),
    )
}

/// The tangent: monotone between its poles.
pub fn tan(x: Bounded, rules: &Rules, ulps: f64) -> Bounded {
    let half_turns = |x: f64| (x / std::f64::consts::PI + 0.5).floor();
    let (low, high) = x.ends();
    if x.e > 0.0 && half_turns(low) != half_turns(high) {
        return rules.undecided(libm::tan(x.v), ulps);
    }
    monotone(x, rules, ulps, libm::tan, None)
}

/// A square root, correctly rounded.
pub fn sqrt(x: Bounded, rules: &Rules) -> Bounded {
    let v = x.v.sqrt();
    if x.e == 0.0 {
        return rules.known(v);
    }
    monotone(x, rules, CORRECT, f64::sqrt, None)
}

/// `a` to the power `b`.
pub fn pow(a: Bounded, b: Bounded, rules: &Rules, ulps: f64) -> Bounded {
    let v = libm::pow(a.v, b.v);
    if a.is_undecided() || b.is_undecided() {
        return rules.undecided(v, ulps);
    }
    if a.e == 0.0 && b.e == 0.0 {
        return exact_operand(v, rules, ulps);
    }
    let (a_low, a_high) = a.ends();
    if a_low <= 0.0 {
        return pow_of_any_sign(a, b, rules, ulps);
    }
    let (b_low, b_high) = b.ends();
    let corners = [
        (a_low, b_low),
        (a_low, b_high),
        (a_high, b_low),
        (a_high, b_high),
    ];
    let spread = corners
        .map(|(x, y)| (libm::pow(x, y) - v).abs())
        .into_iter()
        .fold(0.0, f64::max);
    settle(v, spread, rules, ulps)
}

/// Bases that may be zero or negative: only a whole exponent has values there, monotone on each side of zero.
fn pow_of_any_sign(a: Bounded, b: Bounded, rules: &Rules, ulps: f64) -> Bounded {
    if b.e > 0.0 || b.v.trunc() != b.v {
        return rules.undecided(libm::pow(a.v, b.v), ulps);
    }
    if b.v < 0.0 && a.may_cross_zero() {
        return rules.undecided(libm::pow(a.v, b.v), ulps);
    }
    monotone(a, rules, ulps, |x| libm::pow(x, b.v), Some(0.0))
}

/// The error of `lgamma` and of its reference, in parts of the result, or of 1 where that is smaller.
const LGAMMA_ERROR: f64 = 1.0 / (1u64 << 45) as f64;

/// lgamma: undecided if the interval may contain a pole. Between poles the function is convex. Its deviation to either
/// side is therefore at most that at an end, apart from the rounding of the ends.
pub fn lgamma(x: Bounded, rules: &Rules) -> Bounded {
    let v = libm::lgamma(x.v);
    if x.is_undecided() {
        return rules.undecided(v, CORRECT);
    }
    let own = LGAMMA_ERROR * v.abs().max(1.0);
    let v = if x.v == 1.0 || x.v == 2.0 {
        v
    } else {
        rules.moved(v, own)
    };
    if x.e == 0.0 {
        let root = x.v == 1.0 || x.v == 2.0;
        return match v.is_finite() && !root {
            true => rules.rounded(v, own, CORRECT),
            false => Bounded::exact(v),
        };
    }
    let (low, high) = x.ends();
    // A program may well hit the pole itself, which samples in f64 hardly do.
    if low <= 0.0 && low.ceil() <= high {
        return rules.open(v);
    }
    let spread = (libm::lgamma(low) - v)
        .abs()
        .max((libm::lgamma(high) - v).abs());
    settle(v, 1.5 * spread + own, rules, CORRECT)
}

fn settle(v: f64, spread: f64, rules: &Rules, ulps: f64) -> Bounded {
    if !spread.is_finite() || v.is_nan() {
        return rules.undecided(v, ulps);
    }
    rules.rounded(v, spread, ulps)
}

/// The angle of the point (`x`, `y`).
pub fn atan2(y: Bounded, x: Bounded, rules: &Rules, ulps: f64) -> Bounded {
    let v = libm::atan2(y.v, x.v);
    // Across the negative x axis the angle jumps.
    let jumps = y.may_cross_zero() && x.v - x.e <= 0.0;
    if let Some(result) = special(y, x, v, jumps, rules, ulps) {
        return match result.is_undecided() || v.is_nan() {
            true => result,
            false => rules.rounded(v, 0.0, ulps),
        };
    }
    let (near_x, near_y) = ((x.v.abs() - x.e).max(0.0), (y.v.abs() - y.e).max(0.0));
    let distance = near_x.hypot(near_y);
    let moved = x.e.hypot(y.e);
    let spread = if moved == 0.0 {
        0.0
    } else {
        (moved / distance).min(std::f64::consts::PI)
    };
    settle(v, spread, rules, ulps)
}

/// The result of a comparison, or `None` if the errors leave it open.
pub fn decide(a: Bounded, b: Bounded, holds: impl Fn(f64, f64) -> bool) -> Option<bool> {
    if a.is_undecided() || b.is_undecided() {
        return None;
    }
    let e = a.e + b.e;
    if e > 0.0 && (a.v - b.v).abs() <= e {
        return None;
    }
    Some(holds(a.v, b.v))
}

/// The larger one (`sign` 1) or the smaller one (`sign` -1), where neither is NaN: moves no more than its operands do,
/// and only as the one operand does where the other is out of reach.
pub fn extremum(a: Bounded, b: Bounded, sign: f64) -> Bounded {
    let ahead = sign * (a.v - b.v);
    let first = sign * a.v > sign * b.v || (a.v == b.v && (a.v.is_sign_negative() == (sign < 0.0)));
    let winner = if first { a } else { b };
    if a.is_undecided() || b.is_undecided() {
        return Bounded::undecided(winner.v);
    }
    if ahead.abs() > a.e + b.e || winner.v.is_infinite() {
        return winner;
    }
    Bounded::new(winner.v, a.e.max(b.e))
}

/// One of two values by a condition that may be undecided; in that case the bound covers both.
pub fn select(condition: super::Int, a: Bounded, b: Bounded) -> Bounded {
    let (chosen, other) = if condition.v != 0 { (a, b) } else { (b, a) };
    if !condition.unsure {
        return chosen;
    }
    if chosen.v == other.v {
        let signed = chosen.v.is_sign_negative() == other.v.is_sign_negative();
        let own = Bounded::of_sign(chosen.v, signed);
        return Bounded::new(chosen.v, a.e.max(b.e).max(own.e));
    }
    let e = (a.v - b.v).abs() + other.e;
    if e.is_finite() && chosen.e.is_finite() {
        return Bounded::new(chosen.v, e.max(chosen.e));
    }
    Bounded::undecided(chosen.v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::DType;

    /// A zero whose sign depends on an error is not certain, so no result may rely on its sign.
    #[test]
    fn the_sign_of_a_zero_is_certain_or_the_zero_is_not() {
        let rules = Rules::of(DType::F32);
        let near = Bounded::new(1e-9, 1e-8);
        let far = Bounded::new(0.25, 1e-8);
        let infinity = Bounded::exact(f64::INFINITY);
        let zeros = [0.0, -0.0].map(Bounded::exact);
        let unsure = super::super::Int { v: 1, unsure: true };
        for (zero, certain) in [
            (step(near, &rules, f64::trunc), false),
            (step(far, &rules, f64::trunc), true),
            (div(near, infinity, &rules), false),
            (div(far, infinity, &rules), true),
            (select(unsure, zeros[0], zeros[1]), false),
            (select(unsure, zeros[0], zeros[0]), true),
        ] {
            assert_eq!((zero.v, zero.e == 0.0), (0.0, certain), "{zero:?}");
        }
        assert!(div(Bounded::exact(1.0), step(near, &rules, f64::trunc), &rules).is_undecided());
    }
}
