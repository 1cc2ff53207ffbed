//! Tests of rows: the exponential against f64 on every instruction set, rows against plain loops, and what is no number.

use super::*;

/// Every set of instructions that this machine has.
fn all() -> Vec<Vectors> {
    let mut found = vec![Vectors::Plain];
    #[cfg(target_arch = "x86_64")]
    {
        let widest = Vectors::detect();
        if widest != Vectors::Plain {
            found.push(Vectors::Avx2);
        }
        if widest == Vectors::Avx512 {
            found.push(Vectors::Avx512);
        }
    }
    found
}

/// The weights of scores relative to 0, as one step after another.
fn exponentials(vectors: Vectors, arguments: &[f32]) -> Vec<f32> {
    let mut scores = arguments.to_vec();
    let zero = Row {
        greatest: 0.0,
        sum: 0.0,
    };
    for step in scores.chunks_mut(LANES) {
        vectors.weigh(step, zero);
    }
    scores
}

fn check_exponentials(arguments: &[f32]) {
    for vectors in all() {
        for (&x, y) in arguments.iter().zip(exponentials(vectors, arguments)) {
            let exact = f64::from(x).exp();
            if x < LEAST {
                assert_eq!(y, 0.0, "{vectors:?}: exp({x})");
                continue;
            }
            let near = exact as f32;
            let ulp = f64::from(near.next_up()) - f64::from(near);
            let error = (f64::from(y) - exact).abs() / ulp;
            assert!(
                error <= EXP_ULPS,
                "{vectors:?}: exp({x:e}) is off by {error} ulp"
            );
        }
    }
}

#[test]
fn exponentials_are_within_their_bound() {
    let spread = (0..1 << 20).map(|i: u32| f32::from_bits(0xb000_0000 + i * 283));
    let mut arguments: Vec<f32> = spread.filter(|x| *x >= -120.0).collect();
    let halves = (0..=250).map(|n| -(n as f32) * 0.5 * std::f32::consts::LN_2);
    arguments.extend(halves.flat_map(|x| [x.next_down(), x, x.next_up().min(0.0)]));
    arguments.extend([
        0.0,
        -0.0,
        -f32::MIN_POSITIVE,
        LEAST,
        LEAST.next_down(),
        LEAST.next_up(),
    ]);
    arguments.extend([-1e30, f32::MIN, f32::NEG_INFINITY]);
    arguments.resize(arguments.len().next_multiple_of(LANES), 0.0);
    check_exponentials(&arguments);
}

/// Every argument from the least to 0.
#[test]
#[ignore = "a minute"]
fn every_exponential_is_within_its_bound() {
    let mut arguments: Vec<f32> = (0x8000_0000..=LEAST.to_bits())
        .map(f32::from_bits)
        .collect();
    arguments.resize(arguments.len().next_multiple_of(LANES), 0.0);
    arguments.chunks(1 << 20).for_each(check_exponentials);
}

#[test]
fn a_row_keeps_its_greatest_score_and_sum() {
    for vectors in all() {
        for length in [LANES, 3 * LANES, 16 * LANES] {
            let scores: Vec<f32> = (0..length)
                .map(|i| (i * 37 % 101) as f32 * 0.25 - 9.0)
                .collect();
            let mut row = Row::EMPTY;
            let mut weights = Vec::new();
            for step in scores.chunks(LANES) {
                let mut own = step.to_vec();
                let (next, factor) = vectors.weigh(&mut own, row);
                weights.iter_mut().for_each(|w| *w *= factor);
                weights.extend(own);
                row = next;
            }
            let greatest = scores.iter().copied().fold(f32::MIN, f32::max);
            assert_eq!(row.greatest, greatest);
            let exact = |x: f32| f64::from(x - greatest).exp();
            let sum: f64 = scores.iter().map(|&x| exact(x)).sum();
            let off = (f64::from(row.sum) - sum).abs() / sum;
            assert!(off < 1e-6 * length as f64, "{vectors:?}: {off}");
            for (&x, &w) in scores.iter().zip(&weights) {
                assert!((f64::from(w) - exact(x)).abs() <= 1e-5 * exact(x));
            }
        }
    }
}

#[test]
fn what_is_no_number_is_kept() {
    for vectors in all() {
        let none = f32::NEG_INFINITY;
        let mut scores = [none; LANES];
        assert_eq!(vectors.weigh(&mut scores, Row::EMPTY).0, Row::EMPTY);
        assert_eq!(scores, [0.0; LANES]);
        for odd in [f32::NAN, f32::INFINITY] {
            for at in [0, 7, LANES - 1] {
                for others in [none, 1.0] {
                    let mut scores = [others; LANES];
                    scores[at] = odd;
                    let (row, _) = vectors.weigh(&mut scores, Row::EMPTY);
                    assert!(row.sum.is_nan(), "{vectors:?}: {odd} among {others}");
                    // Nothing that follows makes it a number again.
                    let (row, _) = vectors.weigh(&mut [3.0; LANES], row);
                    assert!(row.sum.is_nan());
                }
            }
        }
    }
}
