//! The accuracy of the compiled program's arithmetic in numbers: the input of the error analysis.
//!
//! The reference computes in f64 what a compiled program computes in the op's own type. For one float type, [`Rules`]
//! gives the maximum error of an operation. It is half a unit in the last place for a correctly rounded operation, and
//! a stated number of units for library functions. The store to a 16-bit format adds half a unit.

use std::collections::BTreeMap;

use fuser_ir::DType;

use super::bounded::Bounded;
use super::round;
use super::sampling::Noise;

/// The errors that the compiled library promises for its functions, in units in the last place.
#[derive(Clone, PartialEq, Debug)]
pub struct MathUlps {
    /// By op name without dialect (`exp`): for f32 and for f64.
    pub functions: BTreeMap<String, (f64, f64)>,
    /// For functions that are not listed.
    pub default: (f64, f64),
}

impl Default for MathUlps {
    /// No library that is used for tensor programs promises less than four units.
    fn default() -> Self {
        Self {
            functions: BTreeMap::new(),
            default: (4.0, 4.0),
        }
    }
}

impl MathUlps {
    /// The error of `function` on operands that compute as `dtype`.
    pub fn of(&self, function: &str, dtype: DType) -> f64 {
        let (single, double) = self.functions.get(function).unwrap_or(&self.default);
        if dtype == DType::F64 {
            *double
        } else {
            *single
        }
    }
}

/// A binary floating-point format.
#[derive(Clone, Copy, Debug)]
struct Format {
    /// Relative error of one rounding to nearest.
    unit: f64,
    /// Half the least subnormal: the absolute error of one rounding near zero.
    tiny: f64,
    /// The least magnitude that rounds to infinity.
    overflow: f64,
    /// The meaning of values out of the range of its numbers.
    beyond: Beyond,
}

/// The elements of a format that represent values outside the range of its numbers.
#[derive(Clone, Copy, Debug)]
enum Beyond {
    Infinity,
    /// The number of this magnitude.
    Greatest(f64),
    /// NaN, for zero and for negative numbers too.
    Nan,
}

impl Format {
    /// Half a unit in the last place at `v`, or more.
    fn half_ulp(&self, v: f64) -> f64 {
        v.abs() * self.unit + self.tiny
    }
    /// A unit in the last place of a number of this magnitude.
    fn ulp(&self, v: f64) -> f64 {
        let relative = match self.beyond {
            // Neighbours are powers of two.
            Beyond::Nan => 1.0,
            Beyond::Infinity | Beyond::Greatest(_) => 2.0 * self.unit,
        };
        (binade(v) * relative).max(2.0 * self.tiny)
    }
}

/// The power of two at or below the magnitude of a number; 0 for subnormals of f64.
fn binade(v: f64) -> f64 {
    f64::from_bits(v.to_bits() & (0x7ff << 52))
}

/// The size that a sum may have in any order, in a sample.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SumSize {
    /// A power of two of the order of the first term's inverse, which keeps squares from overflowing or vanishing.
    scale: f64,
    /// The sum of the squares of terms times the scale.
    squares: f64,
    /// The last place of the sum so far.
    grid: f64,
}

impl SumSize {
    /// Takes one more finite term, which is not zero.
    pub fn add(&mut self, term: f64) {
        if self.squares == 0.0 {
            let exponent = (term.to_bits() >> 52 & 0x7ff) as i32 - 1023;
            self.scale = power((-exponent).clamp(-1000, 1000));
        }
        let scaled = term * self.scale;
        self.squares += scaled * scaled;
    }
    /// The power of two at or below it, where the sum is `total`.
    fn binade(&self, total: f64) -> f64 {
        let scaled = total * self.scale;
        let square = scaled * scaled + self.squares;
        match square.is_finite() {
            true => binade_of_root(square) / self.scale,
            // It is far greater than the first term.
            false => binade(total),
        }
    }
}

/// The power of two at or below the root of a nonnegative number; close to 0 for subnormals of f64.
fn binade_of_root(v: f64) -> f64 {
    let exponent = (v.to_bits() >> 52) as i32 - 1023;
    power(exponent >> 1)
}

const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

const F64: Format = Format {
    unit: power(-53),
    tiny: 5e-324,
    overflow: f64::INFINITY,
    beyond: Beyond::Infinity,
};
const F32: Format = Format {
    unit: power(-24),
    tiny: power(-150),
    overflow: 340_282_356_779_733_661_637_539_395_458_142_568_448.0,
    beyond: Beyond::Infinity,
};
const F16: Format = Format {
    unit: power(-11),
    tiny: power(-25),
    overflow: 65520.0,
    beyond: Beyond::Infinity,
};
const BF16: Format = Format {
    unit: power(-8),
    tiny: power(-134),
    overflow: 339_617_752_923_046_005_526_922_703_901_628_039_168.0,
    beyond: Beyond::Infinity,
};
const F8E4M3FN: Format = Format {
    unit: power(-4),
    tiny: power(-10),
    overflow: f64::INFINITY,
    beyond: Beyond::Greatest(448.0),
};
const F8E5M2: Format = Format {
    unit: power(-3),
    tiny: power(-17),
    overflow: 61440.0,
    beyond: Beyond::Infinity,
};
/// A number is at most a third of itself away from the nearest power of two.
const F8E8M0FNU: Format = Format {
    unit: 1.0 / 3.0,
    tiny: power(-127),
    overflow: 1.5 * power(127),
    beyond: Beyond::Nan,
};
const F4E2M1FN: Format = Format {
    unit: power(-2),
    tiny: power(-2),
    overflow: f64::INFINITY,
    beyond: Beyond::Greatest(6.0),
};

/// Half a unit in the last place: the maximum error of a correctly rounded operation.
pub const CORRECT: f64 = 0.5;

/// The factor on the derived bound of an element, which covers effects outside of the analysis.
pub const SLACK: f64 = 4.0;

/// The same of a sample, whose errors are enlarged.
const STRAYED: f64 = 16.0;

/// Uses of the random numbers of one op.
const COMPUTING: u64 = 1;
const STORED: u64 = 2;

/// The error rules of one float type.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The type that is stored.
    pub dtype: DType,
    compute: Format,
    store: Option<Format>,
    /// True if each step of a sum may truncate it at the last place of its greatest term.
    cuts: bool,
    /// True if a sum is combined from the means of its parts, which need not be integers for integral terms.
    parts: bool,
    /// The errors of a sampled execution.
    noise: Option<Noise>,
    /// True in a sampled execution whose sums hold products by fused steps.
    fused: bool,
}

impl Rules {
    /// The rules of arithmetic on `dtype`.
    pub fn of(dtype: DType) -> Self {
        let (compute, store) = match dtype {
            DType::F16 => (F32, Some(F16)),
            DType::BF16 => (F32, Some(BF16)),
            DType::F8E4M3FN => (F32, Some(F8E4M3FN)),
            DType::F8E5M2 => (F32, Some(F8E5M2)),
            DType::F8E8M0FNU => (F32, Some(F8E8M0FNU)),
            DType::F4E2M1FN => (F32, Some(F4E2M1FN)),
            DType::F32 => (F32, None),
            _ => (F64, None),
        };
        Self {
            dtype,
            compute,
            store,
            cuts: false,
            parts: false,
            noise: None,
            fused: false,
        }
    }
    /// The same in a sampled execution.
    pub fn sampled(self, noise: Option<Noise>) -> Self {
        let fused = noise.is_some_and(|noise| noise.fused);
        Self {
            noise,
            fused,
            ..self
        }
    }
    /// The rules without the errors of a sampled execution; its choices stay.
    pub fn precise(self) -> Self {
        Self {
            noise: None,
            ..self
        }
    }
    /// The same with other random numbers for each `x`.
    pub fn varied(self, x: f64) -> Self {
        let noise = self.noise.map(|noise| noise.at(x.to_bits()));
        Self { noise, ..self }
    }
    /// The errors of a sampled execution, where this is one.
    pub fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }
    /// The rules before the store: arithmetic in the computing type of this type.
    pub fn computing(&self) -> Self {
        let noise = self.noise.map(|noise| noise.at(COMPUTING));
        Self::of(self.dtype.compute()).sampled(noise)
    }
    /// The same with sums that are cut off, not rounded.
    pub fn cutting(self) -> Self {
        Self { cuts: true, ..self }
    }
    /// The rules with sums that may be combined from the means of parts.
    pub fn of_parts(self) -> Self {
        Self {
            parts: true,
            ..self
        }
    }
    /// The number of rounding steps of a sum of `terms` terms, each with an error of half a unit of the sum of their
    /// magnitudes: one less than the number of terms, or two for each term if sums are truncated.
    pub fn steps_of_a_sum(&self, terms: f64) -> f64 {
        match self.cuts {
            true => 2.0 * terms,
            false => (terms - 1.0).max(0.0),
        }
    }
    /// The additional magnitude that a sum of `terms` terms can lose below the least representable number.
    pub fn lost_in_a_sum(&self, terms: f64) -> f64 {
        match self.cuts {
            true => 2.0 * terms * self.tiny(),
            false => 0.0,
        }
    }
    /// The relative error of one rounding of the computing type.
    pub fn unit(&self) -> f64 {
        self.compute.unit
    }
    /// From where on a value of the computing type is infinite.
    pub fn overflow(&self) -> f64 {
        self.compute.overflow
    }
    /// True if integral sums representable in the computing type are exact in any order of combination.
    pub fn keeps_whole_numbers(&self) -> bool {
        !self.parts
    }
    /// Bits of precision of the computing type, as the largest exactly held integer.
    pub fn exact_integers(&self) -> f64 {
        1.0 / self.compute.unit
    }
    /// Half the least subnormal of the computing type.
    pub fn tiny(&self) -> f64 {
        self.compute.tiny
    }
    /// The least normal number of the computing type.
    pub fn least_normal(&self) -> f64 {
        self.compute.tiny / self.compute.unit
    }
    /// A value that the computing type holds, or overflows to infinity: exact.
    pub fn known_in_compute(&self, v: f64) -> Bounded {
        Bounded::exact(round::to_dtype(v, self.dtype.compute()))
    }
    /// A value of the computing type with a total error of at most `e`, all roundings included.
    pub fn unrounded(&self, v: f64, e: f64) -> Bounded {
        self.overflow_of(v, e, self.compute)
    }
    /// A value that a compiled program is free to choose: its reference is undecided.
    pub fn open(&self, v: f64) -> Bounded {
        match self.noise {
            // Another kind of value than `v` is.
            Some(noise) if noise.other => {
                Bounded::undecided(if v.is_nan() { 0.0 } else { f64::NAN })
            }
            _ => Bounded::undecided(v),
        }
    }
    /// An undecided result of an operation with an error of up to `ulps` units.
    pub fn undecided(&self, v: f64, ulps: f64) -> Bounded {
        let strayed = self.strayed(v, ulps);
        let stored = match (&self.noise, self.store) {
            (Some(noise), Some(format)) if strayed.is_finite() && strayed != 0.0 => {
                self.rounding_error(&noise.at(STORED), strayed, format)
            }
            _ => 0.0,
        };
        Bounded::undecided(strayed + stored)
    }
    /// A product that overflows when `rounded` by itself, but not in a fused step of a sum.
    pub fn fused(&self, rounded: f64, held: f64) -> Bounded {
        match self.fused {
            true => Bounded::undecided(held.clamp(f64::MIN, f64::MAX)),
            false => Bounded::undecided(rounded),
        }
    }
    /// A term of a sum that a compiled program may leave out.
    pub fn optional(&self, v: f64) -> Bounded {
        match self.noise {
            Some(noise) if noise.other => Bounded::undecided(0.0),
            _ => Bounded::undecided(v),
        }
    }
    /// In a sample `v`, moved at random by something like `amount`.
    pub fn moved(&self, v: f64, amount: f64) -> f64 {
        match &self.noise {
            Some(noise) if v.is_finite() && amount > 0.0 => v + noise.function(v, amount),
            _ => v,
        }
    }
    /// In a sample, the error of adding `term` to the sum `total` of finite terms of this `size`.
    ///
    /// Rounding loses the digits of the term below the last place of the sum, so equal terms lose equal amounts. A sum
    /// that has grown also loses digits of its earlier value. In another order the sum may be as large as terms of
    /// random signs allow, so the last place is that of this size. Digits of f64 sums below the last place are not
    /// visible in f64.
    pub fn error_of_a_step(&self, term: f64, total: f64, size: &mut SumSize) -> f64 {
        let Some(noise) = &self.noise else { return 0.0 };
        let reach = if noise.other { 2.0 } else { 1.0 };
        let ulp = self.compute.ulp(reach * size.binade(total));
        if !ulp.is_finite() {
            return 0.0;
        }
        let grown = std::mem::replace(&mut size.grid, ulp) < ulp;
        if !self.cuts && self.compute.unit == F64.unit {
            return noise.rounding(term, ulp) + noise.blind(total + term, ulp);
        }
        // What cuts brings both to the place of the greatest term at each step, whether the sum has grown or not.
        if self.cuts {
            return noise.cut(term, ulp) + noise.cut(total, ulp);
        }
        let before = if grown {
            noise.rounding(total, ulp)
        } else {
            0.0
        };
        noise.rounding(term, ulp) + before
    }
    /// In a sample, the relative error of rounding the product `v` to the computing type.
    pub fn error_of_a_factor(&self, v: f64) -> f64 {
        match &self.noise {
            Some(noise) if v != 0.0 && v.is_finite() => {
                self.rounding_error(noise, v, self.compute) / v
            }
            _ => 0.0,
        }
    }
    /// The error of rounding `v` to a format, in a sample.
    fn rounding_error(&self, noise: &Noise, v: f64, format: Format) -> f64 {
        let ulp = format.ulp(v);
        match format.unit == F64.unit {
            true => noise.blind(v, ulp),
            false => noise.rounding(v, ulp),
        }
    }
    /// In a sample, the result `v` of an operation with an error of up to `ulps` units in the last place.
    fn strayed(&self, v: f64, ulps: f64) -> f64 {
        let Some(noise) = &self.noise else { return v };
        if !v.is_finite() || v == 0.0 {
            return v;
        }
        let v = match ulps > CORRECT {
            true => v + noise.function(v, ulps * self.compute.ulp(v)),
            false => v,
        };
        v + self.rounding_error(noise, v, self.compute)
    }
    /// A result `v` with an error of up to `spread` from its operands, computed within `ulps` units and then stored.
    pub fn rounded(&self, v: f64, spread: f64, ulps: f64) -> Bounded {
        self.computed(self.strayed(v, ulps), spread, ulps)
    }
    /// As [`Self::strayed`] for a correctly rounded operation; `exact` says whether its result in f64 is exact.
    pub fn correct(&self, v: f64, spread: f64, exact: impl FnOnce() -> bool) -> Bounded {
        match self.noise.is_some() && self.compute.unit == F64.unit && exact() {
            true => self.computed(v, spread, CORRECT),
            false => self.rounded(v, spread, CORRECT),
        }
    }
    fn computed(&self, v: f64, spread: f64, ulps: f64) -> Bounded {
        let Format { unit, tiny, .. } = self.compute;
        // The reference's own arithmetic errs too: as much as an f64 operation of the same quality.
        let relative = 2.0 * ulps * (unit + F64.unit);
        let e = spread + (v.abs() + spread) * relative + 2.0 * ulps * tiny;
        let computed = self.overflow_of(v, e, self.compute);
        match self.store {
            Some(format) => self.stored(computed, format),
            None => computed,
        }
    }
    /// The result `v` of a correctly rounded operation on exact operands, computed in f64: the only correct result.
    /// Rounding the f64 once more equals the operation itself, for sums, products, quotients and roots of narrower
    /// types (f64 has more than twice their digits, and two to spare).
    pub fn known(&self, v: f64) -> Bounded {
        let computed = round::to_dtype(v, self.dtype.compute());
        Bounded::exact(round::to_dtype(computed, self.dtype))
    }
    /// A value of type `from`, converted to this type.
    pub fn converted(&self, x: Bounded, from: DType) -> Bounded {
        if x.e == 0.0 {
            return self.known_conversion(x.v);
        }
        if widens(from, self.dtype) || x.is_undecided() {
            return x;
        }
        self.stored(x, self.store.unwrap_or(self.compute))
    }
    /// An exact value, converted: rounded once, whatever the types.
    pub fn known_conversion(&self, v: f64) -> Bounded {
        Bounded::exact(round::to_dtype(v, self.dtype))
    }
    /// A value of the computing type, stored.
    ///
    /// If all numbers within its bound, times the comparison's factor, round to the same stored number, a compiled
    /// program has exactly that number.
    fn stored(&self, mut x: Bounded, format: Format) -> Bounded {
        // A sample strays far; where it ends, what the reference leaves open is open, too.
        let reach = if self.noise.is_some() { STRAYED } else { SLACK } * x.e;
        let ends = [x.v - reach, x.v + reach].map(|end| round::to_dtype(end, self.dtype));
        if reach.is_finite() && ends[0].to_bits() == ends[1].to_bits() {
            return Bounded::exact(ends[0]);
        }
        if let Some(noise) = self.noise.filter(|_| x.v.is_finite() && x.v != 0.0) {
            x.v += self.rounding_error(&noise.at(STORED), x.v, format);
        }
        match format.beyond {
            Beyond::Infinity => {}
            // Neighbours do not part where both are brought to the same range.
            Beyond::Greatest(greatest) => x.v = x.v.clamp(-greatest, greatest),
            Beyond::Nan if x.e > 0.0 && (x.v - x.e <= 0.0 || x.v + x.e >= format.overflow) => {
                let inside = x.v > 0.0 && x.v < format.overflow;
                return Bounded::undecided(if inside { x.v } else { f64::NAN });
            }
            Beyond::Nan => {}
        }
        let e = x.e + format.half_ulp(x.v.abs() + x.e);
        if x.v.is_infinite() {
            return x;
        }
        self.overflow_of(x.v, e, format)
    }
    /// Infinity where the format certainly overflows, undecided where it may.
    fn overflow_of(&self, v: f64, e: f64, format: Format) -> Bounded {
        if v.abs() + e < format.overflow {
            return Bounded::new(v, e);
        }
        let infinity = f64::INFINITY.copysign(v);
        if v.abs() - e >= format.overflow {
            return Bounded::exact(infinity);
        }
        Bounded::undecided(if v.abs() >= format.overflow {
            infinity
        } else {
            v
        })
    }
    /// An upper bound on the unit in the last place of the stored type at `v`.
    pub fn ulp(&self, v: f64) -> f64 {
        2.0 * self.store.unwrap_or(self.compute).half_ulp(v)
    }
    /// An upper bound on the unit in the last place of the computing type at `v`.
    pub fn computing_ulp(&self, v: f64) -> f64 {
        2.0 * self.compute.half_ulp(v)
    }
    /// The allowed distance from `v` for a result with this bound. A slack factor covers effects outside of the
    /// analysis. It does not apply to the rounding of the store, which the analysis covers completely.
    pub fn allowed(&self, v: f64, e: f64) -> f64 {
        let store = self.of_the_store(v, e);
        SLACK * (e - store) + store + self.computing_ulp(v)
    }
    /// The part of a bound that is the rounding of the store.
    pub fn of_the_store(&self, v: f64, e: f64) -> f64 {
        self.store.map_or(0.0, |format| format.half_ulp(v).min(e))
    }
}

/// True if every value of `from` is one of `to`.
fn widens(from: DType, to: DType) -> bool {
    from == to || to == DType::F64 || (to == DType::F32 && from != DType::F64)
}
