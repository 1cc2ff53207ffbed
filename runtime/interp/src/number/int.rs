//! Integer lanes: all integer types compute as `i128`, which holds every value of each, and wrap to their width.

use fuser_ir::DType;

/// An integer element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Int {
    /// The value, read as its type reads it.
    pub v: i128,
    /// Reference mode: the value depends on a comparison or a rounding to integer that the error bounds leave
    /// undecided.
    pub unsure: bool,
}

impl Int {
    /// A sure value.
    pub const fn sure(v: i128) -> Self {
        Self { v, unsure: false }
    }
    /// A value that two others decide.
    pub fn join(self, other: Self, v: i128) -> Self {
        Self {
            v,
            unsure: self.unsure | other.unsure,
        }
    }
}

/// The quotient truncated toward zero; 0 for a divisor of 0; the lowest value divided by -1 wraps to itself.
pub fn div(a: i128, b: i128) -> i128 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

/// Remainder with the sign of the dividend; the dividend where the divisor is 0.
pub fn rem(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

/// Remainder with the sign of the divisor; the dividend where the divisor is 0.
pub fn remainder(a: i128, b: i128) -> i128 {
    let rest = rem(a, b);
    if rest != 0 && b != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    }
}

/// The greatest common divisor of the magnitudes.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

/// `a` shifted left; 0 where `count` is negative or reaches the width.
pub fn shl(a: i128, count: i128, dtype: DType) -> i128 {
    if (0..i128::from(dtype.bits())).contains(&count) {
        a.wrapping_shl(count as u32)
    } else {
        0
    }
}

/// `a` shifted right and filled with its sign; all sign bits if `count` is negative or reaches the width. Values of
/// unsigned types are never negative here, so they are filled with zeros.
pub fn shr(a: i128, count: i128) -> i128 {
    let count = if count < 0 { 127 } else { count.min(127) };
    a.wrapping_shr(count as u32)
}

/// The bits of `a` shifted right and filled with zeros; 0 if `count` is negative or reaches the width.
pub fn lshr(a: i128, count: i128, dtype: DType) -> i128 {
    let width = dtype.bits();
    if (0..i128::from(width)).contains(&count) {
        ((a as u64 & (u64::MAX >> (64 - width))) >> count).into()
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_total() {
        assert_eq!(div(7, -2), -3);
        assert_eq!(div(-7, 2), -3);
        assert_eq!(div(5, 0), 0);
        assert_eq!(div(i64::MIN.into(), -1), 1 << 63);
        assert_eq!(div(u64::MAX.into(), 3), 0x5555_5555_5555_5555);
        assert_eq!(rem(-7, 2), -1);
        assert_eq!(rem(7, -2), 1);
        assert_eq!(rem(5, 0), 5);
        assert_eq!(rem(i64::MIN.into(), -1), 0);
        assert_eq!(remainder(-7, 2), 1);
        assert_eq!(remainder(7, -2), -1);
        assert_eq!(remainder(-6, 2), 0);
        assert_eq!(remainder(-5, 0), -5);
        assert_eq!(remainder(i64::MAX.into(), i64::MIN.into()), -1);
    }

    #[test]
    fn shifts_are_total() {
        assert_eq!(shl(1, 7, DType::I8), 128);
        assert_eq!(shl(1, 8, DType::I8), 0);
        assert_eq!(shl(3, -5, DType::I8), 0);
        assert_eq!(shl(3, i64::MIN.into(), DType::I64), 0);
        assert_eq!(shl(1, 63, DType::U64), 1 << 63);
        assert_eq!(shl(1, 64, DType::I64), 0);
        assert_eq!(shr(-8, 1), -4);
        assert_eq!(shr(-8, 1000), -1);
        assert_eq!(shr(200, 64), 0);
        assert_eq!(shr(-8, i64::MIN.into()), -1);
        assert_eq!(shr(8, -1), 0);
        assert_eq!(lshr(-8, 1, DType::I8), 124);
        assert_eq!(lshr(-8, 0, DType::I64), (-8i64 as u64).into());
        assert_eq!(shr(u64::MAX.into(), 63), 1);
        assert_eq!(shr(u64::MAX.into(), 64), 0);
        assert_eq!(lshr(-1, 63, DType::I64), 1);
        assert_eq!(lshr(-1, 8, DType::I8), 0);
        assert_eq!(lshr(-1, -1, DType::I32), 0);
    }
}
