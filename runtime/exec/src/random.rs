//! Generated inputs: deterministic, and equal on every machine and for every number of threads.
//!
//! An element is a function of the seed, the input's name and its position among the stored elements (SplitMix64 as a
//! counter-based generator), so that two inputs with one seed differ and nothing depends on the order of filling.

use fuser_artifact::DType;
use fuser_random::SplitMix;

use crate::element::{Encoded, from_f64, from_int};
use crate::small;
use crate::spec::{DEFAULT_MAGNITUDE, Generator, Number, SpecError};
use crate::tensor::HostTensor;

impl Generator {
    /// Fills a tensor; `name` tells inputs with the same seed apart.
    pub fn fill(&self, name: &str, tensor: &mut HostTensor) -> Result<(), SpecError> {
        let dtype = tensor.dtype();
        self.check(dtype)?;
        let stream = self.stream(name);
        // The parts of complex numbers are random numbers each; what is given is the real part.
        let drawn = !matches!(self, Generator::Full(_) | Generator::Iota);
        let dtype = if drawn { dtype.part() } else { dtype };
        let shared = dtype.per_byte();
        if shared > 1 {
            let code = |index: usize| self.element(dtype, stream, index as u64).as_bytes()[0];
            for (at, byte) in tensor.bytes_mut().iter_mut().enumerate() {
                let codes: Vec<u8> = (at * shared..(at + 1) * shared).map(code).collect();
                *byte = small::together(dtype, &codes);
            }
            return Ok(());
        }
        let elements = tensor.bytes_mut().chunks_exact_mut(dtype.bytes());
        for (index, element) in elements.enumerate() {
            element.copy_from_slice(self.element(dtype, stream, index as u64).as_bytes());
        }
        Ok(())
    }

    fn stream(&self, name: &str) -> u64 {
        match *self {
            Generator::Random { seed }
            | Generator::Uniform { seed, .. }
            | Generator::Normal { seed }
            | Generator::Ints { seed, .. } => SplitMix(seed).word().wrapping_add(hash(name)),
            Generator::Full(_) | Generator::Iota => 0,
        }
    }

    fn element(&self, dtype: DType, stream: u64, index: u64) -> Encoded {
        match *self {
            Generator::Random { .. } if dtype == DType::F8E8M0FNU => {
                from_f64(dtype, uniform(stream, index, 0.0, 1.0))
            }
            Generator::Random { .. } if dtype.is_float() => {
                from_f64(dtype, uniform(stream, index, -1.0, 1.0))
            }
            Generator::Uniform { low, high, .. } => {
                from_f64(dtype, uniform(stream, index, low, high))
            }
            Generator::Normal { .. } => from_f64(dtype, normal(stream, index)),
            Generator::Random { .. } => ints(dtype, stream, index, None),
            Generator::Ints { range, .. } => ints(dtype, stream, index, range),
            Generator::Full(Number::Integer(value)) => from_int(dtype, value),
            Generator::Full(Number::Real(value)) => from_f64(dtype, value),
            Generator::Iota => iota(dtype, index),
        }
    }
}

fn uniform(stream: u64, index: u64, low: f64, high: f64) -> f64 {
    low + SplitMix::at(stream, index).unit() * (high - low)
}

/// A normal number as the sum of 12 uniform ones, which has variance 1. The sum is exact, since each term is a multiple
/// of 2^-32.
fn normal(stream: u64, index: u64) -> f64 {
    let mut numbers = SplitMix::at(stream, index.wrapping_mul(6));
    let halves = (0..6).map(|_| numbers.word());
    let sum: u64 = halves.map(|bits| (bits >> 32) + (bits & 0xffff_ffff)).sum();
    sum as f64 / (1u64 << 32) as f64 - 6.0
}

fn ints(dtype: DType, stream: u64, index: u64, range: Option<(i128, i128)>) -> Encoded {
    let (least, greatest) = dtype.integer_range().unwrap_or(match dtype {
        DType::F8E8M0FNU => (1, i64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    });
    let suits = (
        least.max(-DEFAULT_MAGNITUDE),
        greatest.min(DEFAULT_MAGNITUDE),
    );
    let (low, high) = range.unwrap_or(suits);
    let span = (high - low + 1) as u128;
    let offset = (u128::from(SplitMix::at(stream, index).word()) * span) >> 64;
    from_int(dtype, low + offset as i128)
}

/// 0, 1, 2, ...; an integer type wraps to 0 after its greatest number.
fn iota(dtype: DType, index: u64) -> Encoded {
    let index = i128::from(index);
    match dtype.integer_range() {
        Some((_, greatest)) => from_int(dtype, index % (greatest + 1)),
        None => from_int(dtype, index),
    }
}

/// FNV-1a, then mixed.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    SplitMix(name.bytes().fold(0xcbf2_9ce4_8422_2325, step)).word()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Heap;
    use crate::tensor::Axis;

    fn values(spec: &str, dtype: DType, name: &str, len: usize) -> Vec<f64> {
        let generator: Generator = spec.parse().unwrap();
        let heap = Heap::with_limit(1 << 24);
        let mut tensor = HostTensor::zeros(&heap, dtype, &[Axis::stored(len)]).unwrap();
        generator.fill(name, &mut tensor).unwrap();
        tensor.values().collect()
    }

    #[test]
    fn the_same_seed_and_name_give_the_same_elements_on_every_machine() {
        let first = values("random:seed=1", DType::F64, "x", 3);
        assert_eq!(first, FIRST_X);
        assert_eq!(values("random:seed=1", DType::F64, "x", 9)[..3], first);
        assert_ne!(values("random:seed=1", DType::F64, "y", 3), first);
        assert_ne!(values("random:seed=2", DType::F64, "x", 3), first);
    }

    /// By a second implementation, in another language.
    const FIRST_X: [f64; 3] = [0.7589907281222059, 0.49097036438489194, 0.6252314092385225];

    #[test]
    fn ints_cover_their_range_and_nothing_else() {
        for (dtype, low, high) in [
            (DType::I32, -8, 8),
            (DType::Bf16, -8, 8),
            (DType::F8E5M2, -8, 8),
            (DType::U8, 0, 8),
            (DType::I1, 0, 1),
        ] {
            let mut seen = values("ints:seed=5", dtype, "x", 4099);
            seen.sort_by(f64::total_cmp);
            seen.dedup();
            let all: Vec<f64> = (low..=high).map(f64::from).collect();
            assert_eq!(seen, all, "{dtype}");
        }
        let extremes = format!("ints:{}..{}", i64::MIN, i64::MAX);
        let spread = values(&extremes, DType::I64, "x", 100);
        assert!(spread.iter().any(|v| *v < 0.0) && spread.iter().any(|v| *v > 0.0));
    }

    #[test]
    fn moments_are_what_they_should_be() {
        // Means of n draws lie within 6 standard errors; both the seed and so the outcome are fixed.
        let n = 65_537;
        for (spec, mean, variance) in [
            ("random", 0.0, 1.0 / 3.0),
            ("normal", 0.0, 1.0),
            ("uniform:2..4", 3.0, 1.0 / 3.0),
        ] {
            let draws = values(spec, DType::F64, "x", n);
            let average = draws.iter().sum::<f64>() / n as f64;
            assert!(
                (average - mean).abs() < 6.0 * (variance / n as f64).sqrt(),
                "{spec}: {average}"
            );
            let second = draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            // The variance of a squared deviation is below 2 for each of these.
            assert!(
                (second - variance).abs() < 6.0 * (2.0 / n as f64).sqrt(),
                "{spec}: {second}"
            );
        }
        assert!(
            values("random", DType::F64, "x", n)
                .iter()
                .all(|v| (-1.0..1.0).contains(v))
        );
    }

    #[test]
    fn constants_and_iota_suit_every_type() {
        for dtype in DType::ALL {
            if dtype != DType::F8E8M0FNU {
                assert_eq!(values("zeros", dtype, "x", 2), [0.0, 0.0]);
            }
            assert_eq!(values("ones", dtype, "x", 2), [1.0, 1.0]);
        }
        assert_eq!(values("full:2.5", DType::F16, "x", 1), [2.5]);
        assert_eq!(values("iota", DType::F32, "x", 3), [0.0, 1.0, 2.0]);
        assert_eq!(
            values("iota", DType::I8, "x", 130)[126..],
            [126.0, 127.0, 0.0, 1.0]
        );
        assert_eq!(values("iota", DType::I1, "x", 3), [0.0, 1.0, 0.0]);
    }
}
