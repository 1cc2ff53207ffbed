//! Quotients without `div.rn` on a GPU have the bits of a division, whatever its reciprocal gives within 1 ulp: for each use, all operands.

/// The steps of `math::approximate::known_quotient` from an approximate reciprocal on.
fn known_quotient(a: f32, b: f32, reciprocal: f32) -> f32 {
    let y = (-b)
        .mul_add(reciprocal, 1.0)
        .mul_add(reciprocal, reciprocal);
    let q = a * y;
    (-b).mul_add(q, a).mul_add(y, q)
}

/// The operands with bits from 0 to those of `greatest`, each `step`-th, for which `t / b(t)` has other bits than a division.
fn differing(greatest: f32, step: usize, b: impl Fn(f32) -> f32) -> Vec<f32> {
    let all = (0..=greatest.to_bits()).step_by(step).map(f32::from_bits);
    let differs = |t: &f32| {
        let (b, near) = (b(*t), (1.0 / f64::from(b(*t))) as f32);
        let bits = near.to_bits();
        let reciprocals = [bits - 1, bits, bits + 1].map(f32::from_bits);
        let mut found = reciprocals.into_iter().map(|r| known_quotient(*t, b, r));
        found.any(|q| q.to_bits() != (t / b).to_bits())
    };
    all.filter(differs).collect()
}

/// `tanh` ends in `t / (t + 2)`, where `t` is `e^(2 x) - 1` for an `x` from 0 to 9.1.
const MOST: f32 = 8.1e7;

#[test]
fn some_quotients_of_tanh_are_exact() {
    assert_eq!(differing(MOST, 1013, |t| t + 2.0), Vec::<f32>::new());
}

#[test]
#[ignore = "a minute"]
fn all_quotients_of_tanh_are_exact() {
    assert_eq!(differing(MOST, 1, |t| t + 2.0), Vec::<f32>::new());
}
