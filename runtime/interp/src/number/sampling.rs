//! Sampled execution: the local errors of a correct program, drawn at random (Monte Carlo arithmetic: Parker 1997).
//!
//! A sample is one execution in which every inexact operation is off by a random part of what its op promises. Errors are functions
//! of the op, of the number of the sample and of the operation's own value: equal values have equal errors, as in compiled code, and
//! neither the number of threads nor the order of elements changes any. docs/checking.md has the derivation.

use fuser_random::SplitMix;

/// From this magnitude on a number of f64 is whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// A sampled execution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Its number.
    pub number: u32,
    /// The factor by which local errors are enlarged, so that a few samples cover the range that the comparison allows.
    pub factor: f64,
}

/// The random numbers of one op in one sample.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    seed: u64,
    factor: f64,
    /// True in every other sample: free choices of a compiled program are made the other way.
    pub other: bool,
    /// True in two of four samples: products that overflow alone are held by fused steps of their sums.
    pub fused: bool,
}

impl Noise {
    /// Those of the op whose number is `op`.
    pub fn new(sample: Sample, op: u64) -> Self {
        let mut words = SplitMix::at(u64::from(sample.number), op);
        Self {
            seed: words.word(),
            factor: sample.factor,
            other: sample.number % 2 == 1,
            fused: sample.number % 4 >= 2,
        }
    }
    /// The same for another use within the op.
    pub fn at(self, place: u64) -> Self {
        let seed = SplitMix::at(self.seed, place).word();
        Self { seed, ..self }
    }
    /// A number in `[0, 1)` that depends only on the seed and the key.
    fn unit(&self, key: u64) -> f64 {
        SplitMix(self.seed ^ key).unit()
    }
    /// The error of rounding `part` up or down to a multiple of `ulp`, at random by its distance from both; none for a multiple.
    /// Never smaller than that of rounding to nearest.
    pub fn rounding(&self, part: f64, ulp: f64) -> f64 {
        let scaled = part / ulp;
        // Whole numbers of this size are all that f64 holds.
        if scaled.abs() >= WHOLE {
            return 0.0;
        }
        // `floor` is a call where a processor may have no instruction for it.
        let whole = scaled as i64 as f64;
        let cell = if whole > scaled { whole - 1.0 } else { whole };
        let rest = scaled - cell;
        if rest > 0.0 {
            let up = self.unit(cell.to_bits()) < rest;
            let error = if up { 1.0 - rest } else { -rest };
            return error * ulp * self.factor;
        }
        0.0
    }
    /// The error of cutting `part` off toward zero at a multiple of `ulp`.
    pub fn cut(&self, part: f64, ulp: f64) -> f64 {
        let scaled = part / ulp;
        (scaled.trunc() - scaled) * ulp * self.factor
    }
    /// An error of up to half of `ulp`, of a result `v` whose own rounding f64 cannot show.
    pub fn blind(&self, v: f64, ulp: f64) -> f64 {
        (self.unit(v.to_bits()) - 0.5) * ulp * self.factor
    }
    /// The error of a function that promises `most`: one part that all values share, and one of each value.
    pub fn function(&self, v: f64, most: f64) -> f64 {
        let shared = 2.0 * self.unit(0) - 1.0;
        let own = 2.0 * self.unit(v.to_bits()) - 1.0;
        (shared + own) * most * self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Sample = Sample {
        number: 3,
        factor: 1.0,
    };

    /// A rounding at random is unbiased, reaches both neighbours and is never closer than the nearest.
    #[test]
    fn roundings_are_unbiased_and_no_smaller_than_to_nearest() {
        let noise = Noise::new(SAMPLE, 5);
        let mut sum = 0.0;
        for i in 0..10_000 {
            let v = f64::from(i) + 0.3;
            let error = noise.rounding(v, 1.0);
            assert!((error + 0.3).abs() < 1e-9 || (error - 0.7).abs() < 1e-9);
            sum += error;
        }
        assert!(sum.abs() < 200.0, "{sum}");
        assert_eq!(noise.rounding(7.0, 0.5), 0.0);
        assert_eq!(noise.rounding(0.0, 0.5), 0.0);
    }

    /// Equal values have equal errors, other ops and other samples have others.
    #[test]
    fn errors_follow_from_op_sample_and_value() {
        let error = |number, op, v| {
            let noise = Noise::new(
                Sample {
                    number,
                    factor: 8.0,
                },
                op,
            );
            noise.function(v, 1.0)
        };
        assert_eq!(error(1, 2, 0.3), error(1, 2, 0.3));
        let all = [
            error(1, 2, 0.3),
            error(2, 2, 0.3),
            error(1, 3, 0.3),
            error(1, 2, 0.4),
        ];
        assert!((1..4).all(|i| all[i] != all[0]));
        assert!(all.iter().all(|e| e.abs() <= 16.0));
    }

    #[test]
    fn cuts_go_toward_zero() {
        let noise = Noise::new(SAMPLE, 1);
        assert_eq!(
            [2.75, -2.75, 3.0].map(|v| noise.cut(v, 1.0)),
            [-0.75, 0.75, 0.0]
        );
    }
}
