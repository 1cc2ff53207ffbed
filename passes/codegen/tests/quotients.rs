//! Quotients without `div.rn` on a GPU have the bits of a division, whatever its reciprocal gives within 1 ulp: of `tanh` for all operands, of rows by one divisor for all that could differ.

/// The steps of `math::quotient::tested` from an approximate reciprocal on.
fn tested(a: f32, b: f32, reciprocal: f32) -> f32 {
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
        let mut found = reciprocals.into_iter().map(|r| tested(*t, b, r));
        found.any(|q| q.to_bits() != (t / b).to_bits())
    };
    all.filter(differs).collect()
}

/// Two residuals make the reciprocal that is rounded once, of any mantissa but one of ones alone.
#[test]
fn reciprocals_are_rounded_once() {
    let ones = (1 << 23) - 1;
    let differs = |mantissa: &u32| {
        let divisor = f32::from_bits(1.0_f32.to_bits() | mantissa);
        let exact = (1.0 / f64::from(divisor)) as f32;
        let reciprocals = [-1, 0, 1].map(|off| exact.to_bits().wrapping_add_signed(off));
        reciprocals.into_iter().any(|bits| {
            let step = |y: f32| (-divisor).mul_add(y, 1.0).mul_add(y, y);
            step(step(f32::from_bits(bits))).to_bits() != exact.to_bits()
        })
    };
    let found: Vec<u32> = (0..=ones).filter(differs).collect();
    assert_eq!(found, [ones]);
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

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)))
    })
}

/// Mantissas of quotients that the steps of `math::quotient::by_one` round to another float than a division does, for each `step`-th divisor; and how many were tried.
///
/// In units of `A 2^s - B Q`, where `A` and `B` are the mantissas as integers and `Q` is that of the quotient: the quotient before the residual is within 1.5 ulp, so the residual is less than
/// 1.5 B, which is less than 2^25, and is rounded by one unit at most. The reciprocal, rounded once, is off by 2^-24 of itself, which is 1.5 units of the residual's product. So the sum is off by
/// 2.5 units before it is rounded, and can be rounded to another float only where `A 2^(s+1) - B (2 Q + 1)`, twice the distance from the middle of two floats, is at most 5 in magnitude. The steps are tried
/// for all such `A` up to 8.
fn misrounded(step: usize) -> (u64, Vec<(u64, u64)>) {
    let (mut tried, mut found) = (0, Vec::new());
    let ones = (1 << 24) - 1;
    for divisor in (1_u64 << 23..ones).step_by(step) {
        let twos = divisor.trailing_zeros();
        let (b, odd) = (divisor as f32, inverse(divisor >> twos));
        let reciprocal = (1.0 / f64::from(b)) as f32;
        for shift in 23..=24 {
            let period = 1_u64 << (shift + 1 - twos.min(shift));
            for distance in (-8_i64..=8).filter(|d| d % (1 << twos) == 0) {
                // B (2 Q + 1) = -distance modulo 2^(s+1), where both are divided by the power of two in B.
                let first = (-(distance >> twos.min(63)) as u64).wrapping_mul(odd) % period;
                let all = (first..1 << 25).step_by(period as usize);
                for middle in all.filter(|m| *m >= 1 << 24 && m % 2 == 1) {
                    let twice = i128::from(divisor) * i128::from(middle) + i128::from(distance);
                    let dividend = (twice >> (shift + 1)) as u64;
                    let whole = twice & ((1 << (shift + 1)) - 1) == 0;
                    if !whole || !(1 << 23..1 << 24).contains(&dividend) {
                        continue;
                    }
                    let a = dividend as f32;
                    let q = a * reciprocal;
                    let q = (-b.mul_add(q, -a)).mul_add(reciprocal, q);
                    tried += 1;
                    if q != a / b {
                        found.push((dividend, divisor));
                    }
                }
            }
        }
    }
    (tried, found)
}

#[test]
fn some_quotients_by_one_are_exact() {
    let (tried, found) = misrounded(131);
    assert!(tried > 300_000, "{tried}");
    assert_eq!(found, Vec::new());
}

#[test]
#[ignore = "seconds in release, minutes else"]
fn all_quotients_by_one_are_exact() {
    let (tried, found) = misrounded(1);
    assert!(tried > 46_000_000, "{tried}");
    assert_eq!(found, Vec::new());
}
