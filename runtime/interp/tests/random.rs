//! Random numbers: their moments and their frequencies, for fixed seeds, within bounds that chance alone keeps.

use crate::common::*;
use fuser_interp::{Data, Tensor};
use fuser_ir::DType;

const COUNT: u64 = 1 << 16;
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

fn key(value: i64) -> Tensor {
    Tensor::dense(DType::I64, &[], Data::I64(vec![value])).unwrap()
}

fn draw(op: &str, of: DType, shape: &[u64], seed: i64, offset: i64) -> Vec<f64> {
    let clauses = [C::Shape("shape", shape), C::DType("of", of)];
    values(&apply(op, &clauses, &[key(seed), key(offset)])[0])
}

/// The mean of powers, less what is expected, in units of its standard deviation `deviation / sqrt(n)`.
fn moment(x: &[f64], power: i32, expected: f64, deviation: f64) -> f64 {
    let mean = x.iter().map(|v| v.powi(power)).sum::<f64>() / x.len() as f64;
    (mean - expected) / deviation * (x.len() as f64).sqrt()
}

/// The chi-square statistic of `cells` that are equally likely, less its mean, in units of its standard deviation.
fn unevenness(cells: &[u64]) -> f64 {
    let expected = cells.iter().sum::<u64>() as f64 / cells.len() as f64;
    let terms = cells.iter().map(|c| (*c as f64 - expected).powi(2));
    let freedom = cells.len() as f64 - 1.0;
    (terms.sum::<f64>() / expected - freedom) / (2.0 * freedom).sqrt()
}

/// Five standard deviations: chance exceeds them once in two million.
const FAR: f64 = 5.0;

#[test]
fn uniform_numbers_are_even() {
    for of in FLOATS {
        for seed in [0, 1, -7_000_000_000] {
            let x = draw("uniform", of, &[COUNT], seed, 3);
            // The numbers are multiples of a step, which takes half a step off the mean.
            let half = if of == DType::BF16 {
                2f64.powi(-9)
            } else {
                0.0
            };
            let half = if of == DType::F16 {
                2f64.powi(-12)
            } else {
                half
            };
            let centered: Vec<f64> = x.iter().map(|v| v + half - 0.5).collect();
            assert!(x.iter().all(|v| (0.0..1.0).contains(v)));
            assert!(moment(&centered, 1, 0.0, (1.0f64 / 12.0).sqrt()).abs() < FAR);
            // Of a square, 1/80 - 1/144 is the variance.
            assert!(moment(&centered, 2, 1.0 / 12.0, (1.0f64 / 180.0).sqrt()).abs() < FAR);
            assert!(moment(&centered, 3, 0.0, (1.0f64 / 448.0).sqrt()).abs() < FAR);
            let mut cells = [0; 256];
            x.iter().for_each(|v| cells[(v * 256.0) as usize] += 1);
            assert!(unevenness(&cells).abs() < FAR, "{} of {seed}", of.name());
            // Neighbours have nothing to do with each other.
            let mut pairs = [0; 256];
            for pair in x.chunks_exact(2) {
                pairs[(pair[0] * 16.0) as usize * 16 + (pair[1] * 16.0) as usize] += 1;
            }
            assert!(unevenness(&pairs).abs() < FAR, "pairs of {seed}");
        }
    }
}

#[test]
fn every_bit_of_a_uniform_number_is_random() {
    for (of, bits) in FLOATS.into_iter().zip([53, 24, 11, 8]) {
        let x = draw("uniform", of, &[4096], 5, 0);
        let whole = x.iter().map(|v| v * 2f64.powi(bits));
        let whole: Vec<u64> = whole.map(|v| v as u64).collect();
        assert!(
            x.iter()
                .zip(&whole)
                .all(|(v, w)| v * 2f64.powi(bits) == *w as f64)
        );
        for bit in 0..bits {
            let set = whole.iter().filter(|w| *w >> bit & 1 == 1).count() as f64;
            let far = (set - 2048.0) / 32.0;
            assert!(far.abs() < FAR, "bit {bit} of {}: {set}", of.name());
        }
    }
}

#[test]
fn normal_numbers_have_the_moments_of_the_normal_distribution() {
    for of in FLOATS {
        for seed in [0, 99] {
            let x = draw("normal", of, &[COUNT], seed, -1);
            // The moments are 0, 1, 0, 3, and that of order 2k is (2k - 1)!!.
            assert!(moment(&x, 1, 0.0, 1.0).abs() < FAR);
            assert!(moment(&x, 2, 1.0, 2f64.sqrt()).abs() < FAR);
            assert!(moment(&x, 3, 0.0, 15f64.sqrt()).abs() < FAR);
            assert!(moment(&x, 4, 3.0, 96f64.sqrt()).abs() < FAR);
            assert!(x.iter().all(|v| v.abs() < 8.6));
            let negative = x.iter().filter(|v| **v < 0.0).count() as f64;
            let half = COUNT as f64 / 2.0;
            assert!((negative - half).abs() < FAR * (half / 2.0).sqrt());
        }
    }
}

#[test]
fn truth_values_come_as_often_as_they_should() {
    let drawn = |p: f32| {
        let p = f32s(&[], &[p]);
        let clauses = [C::Shape("shape", &[COUNT])];
        let found = &apply("bernoulli", &clauses, &[p, key(4), key(2)])[0];
        values(found).iter().sum::<f64>()
    };
    for p in [0.1f32, 0.5, 0.9] {
        let (n, q) = (COUNT as f64, f64::from(p));
        assert!((drawn(p) - n * q).abs() < FAR * (n * q * (1.0 - q)).sqrt());
    }
    assert_eq!(drawn(0.0), 0.0);
    assert_eq!(drawn(1.0), COUNT as f64);
    assert_eq!(drawn(f32::NAN), 0.0);
}

/// The numbers depend on seed, offset and the position of an element, and on nothing else.
#[test]
fn numbers_follow_from_seed_offset_and_position() {
    let flat = draw("uniform", DType::F32, &[35], 1, 2);
    assert_eq!(draw("uniform", DType::F32, &[5, 7], 1, 2), flat);
    assert_eq!(draw("uniform", DType::F32, &[11], 1, 2), flat[..11]);
    assert_eq!(draw("uniform", DType::F32, &[], 1, 2), flat[..1]);
    assert_eq!(draw("uniform", DType::F32, &[3, 0], 1, 2), []);
    for (seed, offset) in [(2, 2), (1, 3), (1 + (1 << 32), 2), (1, 2 + (1 << 32))] {
        let other = draw("uniform", DType::F32, &[35], seed, offset);
        assert!(other.iter().zip(&flat).all(|(a, b)| a != b));
    }
}
