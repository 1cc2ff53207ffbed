//! lgamma, the logarithm of the absolute value of the gamma function, as a composition in f64.
//!
//! Of `a = abs(x)`, moved up by eight where it is below eight (Abramowitz and Stegun, 6.1.15), Stirling's series (6.1.40), eight terms of which
//! leave out less than 10^-16; below zero the reflection (6.1.17). What rounding adds up to is below 2^-46 of the result, or of 1 where the
//! result is smaller: near the roots the error is absolute. At the roots 1 and 2 the result is 0.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;
use fuser_ir::def::OpDef;
use fuser_ir::types::DType;

use crate::program::{Draft, Made};

/// From here on the series is used as it is; so much is added below.
const FAR: i32 = 8;
/// `B(2k) / (2k (2k - 1))`
const SERIES: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];
/// Beside zero the two sides differ by `2 gamma x`, which is nothing to their results from here on.
const BESIDE_ZERO: f64 = -1.0 / (1_u64 << 60) as f64;
/// `log(2 pi) / 2`
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;
/// `log(pi)`
const LOG_PI: f64 = 1.144_729_885_849_400_2;

/// Makes ops of f64.
struct Wide<'d>(&'d mut Draft);

impl Wide<'_> {
    fn number(&mut self, value: f64) -> Made {
        let ty = self.0.ir.scalar(DType::F64);
        self.0.number(value, ty)
    }
    fn one(&mut self, def: &'static OpDef, x: Value) -> Made {
        self.0.make(def, &[x])
    }
    fn two(&mut self, def: &'static OpDef, x: Value, y: Value) -> Made {
        self.0.make(def, &[x, y])
    }
    fn with(&mut self, def: &'static OpDef, x: Value, y: f64) -> Made {
        let y = self.number(y)?;
        self.two(def, x, y)
    }
    fn holds(&mut self, x: Value, predicate: &str, y: f64) -> Made {
        let y = self.number(y)?;
        Ok(self.0.builder().compare(predicate, x, y)?)
    }
    fn choose(&mut self, condition: Value, x: Value, y: Value) -> Made {
        self.0.make(&fusion::WHERE, &[condition, x, y])
    }
}

/// lgamma of a float: infinite at 0, at negative integers and at both infinities.
pub(crate) fn lgamma(draft: &mut Draft, x: Value) -> Made {
    let dtype = draft.dtype(x);
    let x = draft.cast(x, DType::F64)?;
    let mut w = Wide(draft);
    let a = w.one(&fusion::ABS, x)?;
    let above = above_zero(&mut w, a)?;
    let below = reflected(&mut w, a, above)?;
    let negative = w.holds(x, "lt", BESIDE_ZERO)?;
    let mut y = w.choose(negative, below, above)?;
    for (root, value) in [(1.0, 0.0), (2.0, 0.0), (f64::NEG_INFINITY, f64::INFINITY)] {
        let here = w.holds(x, "eq", root)?;
        let value = w.number(value)?;
        y = w.choose(here, value, y)?;
    }
    draft.cast(y, dtype)
}

/// lgamma of what is not negative.
fn above_zero(w: &mut Wide<'_>, a: Value) -> Made {
    let near = w.holds(a, "lt", f64::from(FAR))?;
    let mut product = a;
    for step in 1..FAR {
        let factor = w.with(&fusion::ADD, a, f64::from(step))?;
        product = w.two(&fusion::MUL, product, factor)?;
    }
    let unit = w.number(1.0)?;
    let product = w.choose(near, product, unit)?;
    let moved = w.with(&fusion::ADD, a, f64::from(FAR))?;
    let z = w.choose(near, moved, a)?;
    // (z - 1/2) (log z - 1) - 1/2 + log(2 pi) / 2, and the series in 1/z.
    let log = w.one(&fusion::LOG, z)?;
    let log = w.with(&fusion::SUB, log, 1.0)?;
    let factor = w.with(&fusion::SUB, z, 0.5)?;
    let main = w.two(&fusion::MUL, factor, log)?;
    let inverse = w.one(&fusion::RECIPROCAL, z)?;
    let square = w.two(&fusion::MUL, inverse, inverse)?;
    let mut series = w.number(SERIES[SERIES.len() - 1])?;
    for term in SERIES.iter().rev().skip(1) {
        let higher = w.two(&fusion::MUL, square, series)?;
        series = w.with(&fusion::ADD, higher, *term)?;
    }
    let series = w.two(&fusion::MUL, inverse, series)?;
    let rest = w.with(&fusion::ADD, series, HALF_LOG_TAU - 0.5)?;
    let moved = w.two(&fusion::ADD, main, rest)?;
    let log = w.one(&fusion::LOG, product)?;
    w.two(&fusion::SUB, moved, log)
}

/// lgamma of `-a`: `log(pi / (a abs(sin(pi a)))) - lgamma(a)`.
fn reflected(w: &mut Wide<'_>, a: Value, above: Value) -> Made {
    let whole = w.one(&fusion::ROUND, a)?;
    let rest = w.two(&fusion::SUB, a, whole)?;
    let angle = w.with(&fusion::MUL, rest, std::f64::consts::PI)?;
    let sine = w.one(&fusion::SIN, angle)?;
    let sine = w.one(&fusion::ABS, sine)?;
    let sine = w.one(&fusion::LOG, sine)?;
    let log = w.one(&fusion::LOG, a)?;
    let both = w.two(&fusion::ADD, sine, log)?;
    let both = w.two(&fusion::ADD, both, above)?;
    let log_pi = w.number(LOG_PI)?;
    w.two(&fusion::SUB, log_pi, both)
}
