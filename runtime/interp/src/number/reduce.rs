//! Reductions: the combination of the elements along an axis.
//!
//! f32 and f64 are combined in the order in which elements come, each step rounded; integers wrap. [`Bounded`] reductions bound every
//! order at once, so a compiled program may sum as it likes: k terms in any order are off by at most
//! (k - 1) u sum|x| (Lange and Rump, 2017), and by nothing where all partial sums are held exactly. Tensor cores move a group of terms and the sum before
//! to the greatest exponent among them and cut off what lies behind 24 bits: each term of k, however they are grouped, costs 2 u sum|x| (docs/products.md).
//! A scan gives at an index the reduction of the elements up to there, so the same bounds hold for the groups in which threads share it.

use super::bounded::{self, Bounded};
use super::int::Int;
use super::lanes::{fmax, maximum};
use super::math;
use super::rules::{Rules, SumSize};
use crate::ops::code::Reduce;

/// Lanes that can be reduced.
pub trait Reducible: super::Number {
    /// The state kept between elements.
    type State: Copy + Send + Sync;
    /// Before the first element.
    fn start(op: Reduce, lowest: Self, highest: Self) -> Self::State;
    /// Behind the first element of a scan, which keeps every bit of it.
    fn first(op: Reduce, x: Self) -> Self::State;
    /// One more element.
    fn push(op: Reduce, state: &mut Self::State, x: Self, rules: &Rules);
    /// The result, in the accumulating type.
    fn end(op: Reduce, state: Self::State, rules: &Rules) -> Self;
    /// `a - b`, `a * b`, `a / b` in the accumulating type, for variances.
    fn sub(a: Self, b: Self, rules: &Rules) -> Self;
    #[allow(missing_docs)]
    fn mul(a: Self, b: Self, rules: &Rules) -> Self;
    #[allow(missing_docs)]
    fn div(a: Self, b: Self, rules: &Rules) -> Self;
    /// `a * b` as a term of a sum in the accumulating type, rounded or not.
    fn term(a: Self, b: Self, rules: &Rules) -> Self;
    /// A whole number, rounded to the accumulating type.
    fn whole(n: i64, rules: &Rules) -> Self;
    /// A result in the accumulating type, as it is stored.
    fn stored(self, rules: &Rules) -> Self;
}

macro_rules! plain_reduce {
    ($lane:ty) => {
        impl Reducible for $lane {
            type State = $lane;
            fn start(op: Reduce, lowest: Self, highest: Self) -> Self {
                match op {
                    Reduce::Sum => 0.0,
                    Reduce::Prod => 1.0,
                    Reduce::Max | Reduce::MaxNum => lowest,
                    Reduce::Min | Reduce::MinNum => highest,
                }
            }
            fn first(_: Reduce, x: Self) -> Self {
                x
            }
            fn push(op: Reduce, state: &mut Self, x: Self, _: &Rules) {
                *state = match op {
                    Reduce::Sum => *state + x,
                    Reduce::Prod => *state * x,
                    Reduce::Max => math::maximum((*state).into(), x.into()) as $lane,
                    Reduce::Min => math::minimum((*state).into(), x.into()) as $lane,
                    Reduce::MaxNum => math::fmax((*state).into(), x.into()) as $lane,
                    Reduce::MinNum => math::fmin((*state).into(), x.into()) as $lane,
                };
            }
            fn end(_: Reduce, state: Self, _: &Rules) -> Self {
                state
            }
            fn sub(a: Self, b: Self, _: &Rules) -> Self {
                a - b
            }
            fn mul(a: Self, b: Self, _: &Rules) -> Self {
                a * b
            }
            fn div(a: Self, b: Self, _: &Rules) -> Self {
                a / b
            }
            fn term(a: Self, b: Self, _: &Rules) -> Self {
                a * b
            }
            fn whole(n: i64, _: &Rules) -> Self {
                n as $lane
            }
            fn stored(self, _: &Rules) -> Self {
                self
            }
        }
    };
}
plain_reduce!(f32);
plain_reduce!(f64);

impl Reducible for Int {
    type State = Int;
    fn start(op: Reduce, lowest: Self, highest: Self) -> Self {
        match op {
            Reduce::Sum => Int::sure(0),
            Reduce::Prod => Int::sure(1),
            Reduce::Max | Reduce::MaxNum => lowest,
            Reduce::Min | Reduce::MinNum => highest,
        }
    }
    fn first(_: Reduce, x: Self) -> Self {
        x
    }
    fn push(op: Reduce, state: &mut Self, x: Self, _: &Rules) {
        let v = match op {
            Reduce::Sum => state.v.wrapping_add(x.v),
            Reduce::Prod => state.v.wrapping_mul(x.v),
            Reduce::Max | Reduce::MaxNum => state.v.max(x.v),
            Reduce::Min | Reduce::MinNum => state.v.min(x.v),
        };
        *state = state.join(x, v);
    }
    fn end(_: Reduce, state: Self, _: &Rules) -> Self {
        state
    }
    fn sub(a: Self, b: Self, _: &Rules) -> Self {
        a.join(b, a.v.wrapping_sub(b.v))
    }
    fn mul(a: Self, b: Self, _: &Rules) -> Self {
        a.join(b, a.v.wrapping_mul(b.v))
    }
    fn div(a: Self, b: Self, _: &Rules) -> Self {
        a.join(b, super::int::div(a.v, b.v))
    }
    fn term(a: Self, b: Self, rules: &Rules) -> Self {
        Self::mul(a, b, rules)
    }
    fn whole(n: i64, _: &Rules) -> Self {
        Int::sure(n.into())
    }
    fn stored(self, _: &Rules) -> Self {
        self
    }
}

/// The accumulated knowledge of the elements so far.
#[derive(Clone, Copy, Debug)]
pub struct BoundedState {
    /// The reduction of the values.
    result: Bounded,
    /// Sum: of the finite magnitudes. Product: of the magnitudes and their errors.
    size: f64,
    /// Product: of the magnitudes above 1, the largest partial product of any order.
    large: f64,
    /// Product: of the magnitudes below 1 but zero.
    small: f64,
    /// Sum: all terms are multiples of two to this power.
    grain: i32,
    count: f64,
    undecided: bool,
    /// An element is infinite or NaN.
    special: bool,
    /// An element's interval holds zero and more.
    near_zero: bool,
    /// Sum: the size of its terms, in a sample.
    terms: SumSize,
    /// In a sample, the accumulated error: absolute for a sum, relative for a product.
    error: f64,
}

/// The power of two of the lowest set bit; low for subnormals, which is on the safe side.
fn grain(x: f64) -> i32 {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let zeros = (bits | 1 << 52).trailing_zeros() as i32;
    if x == 0.0 {
        i32::MAX
    } else {
        exponent - 1075 + zeros
    }
}

impl Reducible for Bounded {
    type State = BoundedState;
    fn start(op: Reduce, lowest: Self, highest: Self) -> BoundedState {
        let result = match op {
            Reduce::Sum => Bounded::exact(0.0),
            Reduce::Prod => Bounded::exact(1.0),
            Reduce::Max | Reduce::MaxNum => lowest,
            Reduce::Min | Reduce::MinNum => highest,
        };
        BoundedState {
            result,
            size: if op == Reduce::Prod { 1.0 } else { 0.0 },
            large: 1.0,
            small: 1.0,
            grain: i32::MAX,
            count: 0.0,
            undecided: false,
            special: false,
            near_zero: false,
            terms: SumSize::default(),
            error: 0.0,
        }
    }
    fn first(op: Reduce, x: Self) -> BoundedState {
        let mut state = Self::start(op, x, x);
        let none = Rules::of(fuser_ir::DType::F64);
        Self::push(op, &mut state, x, &none);
        if x.v.is_finite() && x.v != 0.0 {
            state.terms.add(x.v);
        }
        // `+0 + -0` is `+0`.
        state.result.v = x.v;
        state
    }
    fn push(op: Reduce, state: &mut BoundedState, x: Self, rules: &Rules) {
        match op {
            Reduce::Sum => push_term(state, x, rules),
            Reduce::Prod => push_factor(state, x, rules),
            Reduce::Max => state.result = maximum(state.result, x, 1.0),
            Reduce::Min => state.result = maximum(state.result, x, -1.0),
            Reduce::MaxNum => state.result = fmax(state.result, x, 1.0),
            Reduce::MinNum => state.result = fmax(state.result, x, -1.0),
        }
    }
    fn end(op: Reduce, state: BoundedState, rules: &Rules) -> Self {
        match op {
            Reduce::Sum => sum(state, rules),
            Reduce::Prod => product(state, rules),
            Reduce::Max | Reduce::Min | Reduce::MaxNum | Reduce::MinNum => state.result,
        }
    }
    fn sub(a: Self, b: Self, rules: &Rules) -> Self {
        bounded::sub(a, b, rules)
    }
    fn mul(a: Self, b: Self, rules: &Rules) -> Self {
        bounded::mul(a, b, rules)
    }
    fn div(a: Self, b: Self, rules: &Rules) -> Self {
        bounded::div(a, b, rules)
    }
    fn term(a: Self, b: Self, rules: &Rules) -> Self {
        bounded::term(a, b, rules)
    }
    fn whole(n: i64, rules: &Rules) -> Self {
        super::Number::to_bounded(Int::sure(n.into()), fuser_ir::DType::I64, rules)
    }
    fn stored(self, rules: &Rules) -> Self {
        rules.converted(self, rules.dtype.accumulate())
    }
}

fn push_term(state: &mut BoundedState, x: Bounded, rules: &Rules) {
    if rules.noise().is_some() && x.v.is_finite() && x.v != 0.0 {
        let total = state.result.v + state.error;
        state.terms.add(x.v);
        // The first term is there as it is.
        if state.count > 0.0 {
            state.error += rules.error_of_a_step(x.v, total, &mut state.terms);
        }
    }
    state.result.v += x.v;
    state.undecided |= x.is_undecided();
    state.count += 1.0;
    if x.v.is_finite() {
        state.result.e += x.e;
        state.size += x.v.abs();
        state.grain = state.grain.min(grain(x.v));
    } else {
        state.special = true;
    }
}

fn sum(state: BoundedState, rules: &Rules) -> Bounded {
    let Bounded { v, e } = state.result;
    let most = state.size + if rules.noise().is_some() { 0.0 } else { e };
    if most >= rules.overflow() && (state.special || state.size != v.abs()) {
        return rules.open(v);
    }
    if state.undecided {
        return Bounded::undecided(v + state.error);
    }
    if state.special {
        return Bounded::exact(v);
    }
    if e == 0.0 && sums_exactly(&state, rules) {
        return rules.known_in_compute(v);
    }
    let v = v + state.error;
    let steps = rules.steps_of_a_sum(state.count);
    let own = steps * f64::EPSILON * most;
    let spread = e + steps * rules.unit() * most + rules.lost_in_a_sum(state.count) + own;
    rules.unrounded(v, spread)
}

/// True if every partial sum in every order is an integer of the accumulating type, times the common grain.
fn sums_exactly(state: &BoundedState, rules: &Rules) -> bool {
    if state.size == 0.0 {
        return true;
    }
    let scaled = state.size / 2f64.powi(state.grain.clamp(-1000, 1000));
    rules.keeps_whole_numbers() && state.grain > -900 && scaled <= rules.exact_integers()
}

fn push_factor(state: &mut BoundedState, x: Bounded, rules: &Rules) {
    state.result.v *= x.v;
    if rules.noise().is_some() && state.count > 0.0 {
        state.error += rules.error_of_a_factor(state.result.v);
    }
    state.undecided |= x.is_undecided();
    state.special |= !x.v.is_finite();
    // A sample is one execution, whose factors are what they are.
    let e = if rules.noise().is_some() { 0.0 } else { x.e };
    state.near_zero |= e > 0.0 && x.v.abs() <= e;
    state.count += 1.0;
    if x.v.is_finite() {
        let most = x.v.abs() + e;
        state.size *= most;
        state.large *= most.max(1.0);
        state.grain = state.grain.min(grain(x.v));
        if x.v != 0.0 {
            state.small *= (x.v.abs() - e).clamp(0.0, 1.0);
        }
        state.result.e = state.result.e.max(x.e);
    }
}

fn product(state: BoundedState, rules: &Rules) -> Bounded {
    let v = state.result.v;
    let overflows = state.large >= rules.overflow();
    let vanishes = state.near_zero || state.small < rules.least_normal();
    if overflows || (state.special && vanishes) {
        return rules.open(v);
    }
    if state.undecided {
        return Bounded::undecided(v + v * state.error);
    }
    if state.special || (v == 0.0 && state.size == 0.0) {
        return Bounded::of_sign(v, !state.near_zero);
    }
    let whole = state.grain >= 0 && state.large <= rules.exact_integers();
    if state.result.e == 0.0 && (whole || state.count <= 1.0) {
        return rules.known_in_compute(v);
    }
    let v = v + v * state.error;
    let steps = (state.count - 1.0).max(0.0);
    let growth = (steps * (rules.unit() + f64::EPSILON).ln_1p()).exp_m1();
    let lost = state.count * rules.tiny() * state.large;
    let spread = (state.size - v.abs()).max(0.0) + state.size * growth + lost;
    rules.unrounded(v, spread)
}
