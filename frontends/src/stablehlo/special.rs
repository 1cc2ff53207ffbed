//! Functions without an op in the fusion dialect: digamma, polygamma, the Hurwitz zeta function, and a Bessel function.
//!
//! Each is computed in `f64` by a series of fixed length, and rounded once to the type of its operand. Results at poles
//! and outside of a domain are those of XLA.

use std::f64::consts::PI;

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;

use super::Importer;
use super::op::Reading;
use super::ops::one;
use crate::program::{Draft, Fault, Made};

/// Steps of a recurrence before an asymptotic series.
const STEPS: i64 = 10;
/// `B(2j) / 2j` of the asymptotic series of digamma, from j = 1 on.
const DIGAMMA: &[f64] = &[
    0.08333333333333333,
    -0.008333333333333333,
    0.003968253968253968,
    -0.004166666666666667,
    0.007575757575757576,
    -0.021092796092796094,
    0.08333333333333333,
    -0.4432598039215686,
];
/// `B(2j) / (2j)!` of the formula of Euler and Maclaurin, from j = 1 on.
const EULER: &[f64] = &[
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
];
/// Chebyshev series of `exp(-x) I1(x) / x` over `x / 4 - 1`, x from 0 to 8.
const BESSEL_NEAR: &[f64] = &[
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
];
/// Chebyshev series of `exp(-x) I1(x) sqrt(x)` over `16 / x - 1`, x from 8 on.
const BESSEL_FAR: &[f64] = &[
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
];

/// Ops on `f64`.
struct Series<'d> {
    draft: &'d mut Draft,
}

impl Series<'_> {
    fn op(&mut self, def: &'static OpDef, operands: &[Value]) -> Made {
        self.draft.make(def, operands)
    }
    fn number(&mut self, number: f64) -> Made {
        let ty = self.draft.ir.scalar(DType::F64);
        self.draft.number(number, ty)
    }
    fn with(&mut self, def: &'static OpDef, x: Value, number: f64) -> Made {
        let number = self.number(number)?;
        self.op(def, &[x, number])
    }
    /// `number / x`
    fn over(&mut self, number: f64, x: Value) -> Made {
        let number = self.number(number)?;
        self.op(&fusion::DIV, &[number, x])
    }
    fn test(&mut self, predicate: &str, x: Value, number: f64) -> Made {
        let number = self.number(number)?;
        Ok(self.draft.builder().compare(predicate, x, number)?)
    }
    /// `number` where `condition` holds, else `x`.
    fn where_so(&mut self, condition: Value, number: f64, x: Value) -> Made {
        let number = self.number(number)?;
        self.op(&fusion::WHERE, &[condition, number, x])
    }
    fn is_whole(&mut self, x: Value) -> Made {
        let floor = self.op(&fusion::FLOOR, &[x])?;
        Ok(self.draft.builder().compare("eq", x, floor)?)
    }

    /// `digamma(x) = digamma(x + n) - 1/x - ... - 1/(x + n - 1)`, where the first term is a series; below 1/2 by the
    /// reflection formula, `digamma(1 - x) - pi / tan(pi x)`.
    fn digamma(&mut self, x: Value) -> Made {
        let low = self.test("lt", x, 0.5)?;
        let one = self.number(1.0)?;
        let other = self.op(&fusion::SUB, &[one, x])?;
        let y = self.op(&fusion::WHERE, &[low, other, x])?;
        let mut sum = self.over(-1.0, y)?;
        for step in 1..STEPS {
            let at = self.with(&fusion::ADD, y, step as f64)?;
            let term = self.over(1.0, at)?;
            sum = self.op(&fusion::SUB, &[sum, term])?;
        }
        let z = self.with(&fusion::ADD, y, STEPS as f64)?;
        let inverse = self.over(1.0, z)?;
        let square = self.op(&fusion::MUL, &[inverse, inverse])?;
        let mut series = self.number(0.0)?;
        for coefficient in DIGAMMA.iter().rev() {
            series = self.with(&fusion::ADD, series, *coefficient)?;
            series = self.op(&fusion::MUL, &[series, square])?;
        }
        let half = self.with(&fusion::MUL, inverse, 0.5)?;
        let log = self.op(&fusion::LOG, &[z])?;
        let tail = self.op(&fusion::ADD, &[half, series])?;
        let tail = self.op(&fusion::SUB, &[log, tail])?;
        let right = self.op(&fusion::ADD, &[tail, sum])?;
        // The tangent of the remainder after whole periods.
        let whole = self.op(&fusion::ROUND, &[x])?;
        let rest = self.op(&fusion::SUB, &[x, whole])?;
        let angle = self.with(&fusion::MUL, rest, PI)?;
        let tangent = self.op(&fusion::TAN, &[angle])?;
        let turned = self.over(PI, tangent)?;
        let left = self.op(&fusion::SUB, &[right, turned])?;
        let made = self.op(&fusion::WHERE, &[low, left, right])?;
        let below = self.test("le", x, 0.0)?;
        let pole = self.is_whole(x)?;
        let pole = self.op(&fusion::AND, &[below, pole])?;
        self.where_so(pole, f64::NAN, made)
    }

    /// The sum of `(q + k)^-s`: a few terms, and the rest by the Euler-Maclaurin formula.
    fn zeta(&mut self, s: Value, q: Value) -> Made {
        let minus = self.op(&fusion::NEG, &[s])?;
        let mut sum = self.op(&fusion::POW, &[q, minus])?;
        for step in 1..STEPS {
            let at = self.with(&fusion::ADD, q, step as f64)?;
            let term = self.op(&fusion::POW, &[at, minus])?;
            sum = self.op(&fusion::ADD, &[sum, term])?;
        }
        let a = self.with(&fusion::ADD, q, STEPS as f64)?;
        let power = self.op(&fusion::POW, &[a, minus])?;
        let less = self.with(&fusion::SUB, s, 1.0)?;
        // a^(1 - s) / (s - 1) + a^-s / 2
        let next = self.op(&fusion::NEG, &[less])?;
        let integral = self.op(&fusion::POW, &[a, next])?;
        let integral = self.op(&fusion::DIV, &[integral, less])?;
        let half = self.with(&fusion::MUL, power, 0.5)?;
        sum = self.op(&fusion::ADD, &[sum, integral])?;
        sum = self.op(&fusion::ADD, &[sum, half])?;
        // B(2j)/(2j)! s (s + 1) ... (s + 2j - 2) a^(1 - s - 2j)
        let inverse = self.over(1.0, a)?;
        let mut factor = self.op(&fusion::MUL, &[power, inverse])?;
        factor = self.op(&fusion::MUL, &[factor, s])?;
        for (j, coefficient) in EULER.iter().enumerate() {
            if j > 0 {
                for step in [2 * j - 1, 2 * j] {
                    let more = self.with(&fusion::ADD, s, step as f64)?;
                    let more = self.op(&fusion::MUL, &[more, inverse])?;
                    factor = self.op(&fusion::MUL, &[factor, more])?;
                }
            }
            let term = self.with(&fusion::MUL, factor, *coefficient)?;
            sum = self.op(&fusion::ADD, &[sum, term])?;
        }
        // Poles at whole q up to 0; between them only a whole power is real.
        let below = self.test("le", q, 0.0)?;
        let whole = self.is_whole(q)?;
        let real = self.is_whole(s)?;
        let not_real = self.op(&fusion::NOT, &[real])?;
        let unreal = self.op(&fusion::AND, &[below, not_real])?;
        let pole = self.op(&fusion::AND, &[below, whole])?;
        sum = self.where_so(unreal, f64::NAN, sum)?;
        sum = self.where_so(pole, f64::INFINITY, sum)?;
        let (at_one, under) = (self.test("eq", s, 1.0)?, self.test("lt", s, 1.0)?);
        sum = self.where_so(under, f64::NAN, sum)?;
        self.where_so(at_one, f64::INFINITY, sum)
    }

    /// `(-1)^(n + 1) n! zeta(n + 1, x)`; for n = 0, digamma.
    fn polygamma(&mut self, n: Value, x: Value) -> Made {
        let order = self.with(&fusion::ADD, n, 1.0)?;
        let zeta = self.zeta(order, x)?;
        let gamma = self.op(&fusion::LGAMMA, &[order])?;
        let gamma = self.op(&fusion::EXP, &[gamma])?;
        let size = self.op(&fusion::MUL, &[gamma, zeta])?;
        let half = self.with(&fusion::MUL, n, 0.5)?;
        let even = self.is_whole(half)?;
        let negative = self.op(&fusion::NEG, &[size])?;
        let made = self.op(&fusion::WHERE, &[even, negative, size])?;
        let first = self.digamma(x)?;
        let zero = self.test("eq", n, 0.0)?;
        let made = self.op(&fusion::WHERE, &[zero, first, made])?;
        let whole = self.is_whole(n)?;
        let below = self.test("lt", n, 0.0)?;
        let broken = self.op(&fusion::NOT, &[whole])?;
        let outside = self.op(&fusion::OR, &[broken, below])?;
        self.where_so(outside, f64::NAN, made)
    }

    /// A Chebyshev series, by the recurrence of Clenshaw.
    fn chebyshev(&mut self, coefficients: &[f64], t: Value) -> Made {
        let double = self.with(&fusion::MUL, t, 2.0)?;
        let (mut before, mut last) = (self.number(0.0)?, self.number(0.0)?);
        for (at, coefficient) in coefficients.iter().enumerate().rev() {
            let factor = if at > 0 { double } else { t };
            let next = self.op(&fusion::MUL, &[factor, last])?;
            let next = self.op(&fusion::SUB, &[next, before])?;
            (before, last) = (last, self.with(&fusion::ADD, next, *coefficient)?);
        }
        Ok(last)
    }

    fn bessel_i1e(&mut self, x: Value) -> Made {
        let size = self.op(&fusion::ABS, &[x])?;
        let near = self.with(&fusion::MINIMUM, size, 8.0)?;
        let t = self.with(&fusion::MUL, near, 0.25)?;
        let t = self.with(&fusion::SUB, t, 1.0)?;
        let inner = self.chebyshev(BESSEL_NEAR, t)?;
        let inner = self.op(&fusion::MUL, &[inner, near])?;
        let far = self.with(&fusion::MAXIMUM, size, 8.0)?;
        let t = self.over(16.0, far)?;
        let t = self.with(&fusion::SUB, t, 1.0)?;
        let outer = self.chebyshev(BESSEL_FAR, t)?;
        let root = self.op(&fusion::SQRT, &[far])?;
        let outer = self.op(&fusion::DIV, &[outer, root])?;
        let is_near = self.test("le", size, 8.0)?;
        let made = self.op(&fusion::WHERE, &[is_near, inner, outer])?;
        let sign = self.op(&fusion::SIGN, &[x])?;
        self.op(&fusion::MUL, &[made, sign])
    }
}

/// The result of `compute` on the operands in `f64`, as the first is.
fn in_f64(
    im: &mut Importer<'_>,
    r: &Reading<'_>,
    count: usize,
    compute: fn(&mut Series<'_>, &[Value]) -> Made,
) -> Made<Vec<Value>> {
    let dtype = im.draft.dtype(r.operand(0)?);
    if !dtype.is_computed_float() {
        return Err(Fault::form("takes floats of 16, 32 or 64 bits"));
    }
    let mut wide = Vec::new();
    for at in 0..count {
        wide.push(im.draft.cast(r.operand(at)?, DType::F64)?);
    }
    let draft = &mut im.draft;
    let made = compute(&mut Series { draft }, &wide)?;
    one(draft.cast(made, dtype))
}

/// `chlo.digamma`
pub fn digamma(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    in_f64(im, r, 1, |series, x| series.digamma(x[0]))
}

/// `chlo.polygamma`
pub fn polygamma(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    in_f64(im, r, 2, |series, x| series.polygamma(x[0], x[1]))
}

/// `chlo.zeta`
pub fn zeta(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    in_f64(im, r, 2, |series, x| series.zeta(x[0], x[1]))
}

/// `chlo.bessel_i1e`: the modified Bessel function of the first kind and order, times `exp(-abs(x))`.
pub fn bessel_i1e(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    in_f64(im, r, 1, |series, x| series.bessel_i1e(x[0]))
}
