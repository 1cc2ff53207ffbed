//! Conversions of floats of 8 bits, against lists of their values: every element, every f16 and bf16, and every f32 at which a result
//! may change.

use super::*;

/// A format and what it must give.
struct Small {
    format: Format,
    /// The numbers of bits 0, 1, 2, ... that are not negative.
    numbers: Vec<f64>,
    /// The first value that is beyond them, and the bits that it has.
    beyond: (f64, u8),
    nan: u8,
    signed: bool,
}

/// Numbers of `steps` to a power of two, from the least subnormal on: those of the first `steps` are multiples of `unit`.
fn numbers(steps: u32, unit: f64, count: usize) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..2 * steps).map(|n| f64::from(n) * unit).collect();
    while numbers.len() < count {
        let lower = numbers[numbers.len() - steps as usize..].to_vec();
        numbers.extend(lower.into_iter().map(|x| 2.0 * x));
    }
    numbers.truncate(count);
    numbers
}

fn formats() -> [Small; 3] {
    [
        Small {
            format: Format::float(Elem::F8E4M3FN),
            numbers: numbers(8, 1.0 / 512.0, 127),
            beyond: (448.0, 0x7e),
            nan: 0x7f,
            signed: true,
        },
        Small {
            format: Format::float(Elem::F8E5M2),
            numbers: numbers(4, 1.0 / 65536.0, 124),
            beyond: (61440.0, 0x7c),
            nan: 0x7f,
            signed: true,
        },
        Small {
            format: Format::float(Elem::F8E8M0FNU),
            numbers: (-127..128).map(|e| 2f64.powi(e)).collect(),
            beyond: (1.5 * 2f64.powi(127), 0xff),
            nan: 0xff,
            signed: false,
        },
    ]
}

impl Small {
    fn value(&self, bits: u8) -> f64 {
        let sign = if self.signed { bits & 0x80 } else { 0 };
        let magnitude = match self.numbers.get(usize::from(bits - sign)) {
            Some(number) => *number,
            None if self.format.elem == Elem::F8E5M2 && bits & 0x7f == 0x7c => f64::INFINITY,
            None => f64::NAN,
        };
        if sign == 0 { magnitude } else { -magnitude }
    }
    /// The bits of the nearest number: of two the even one, of two powers the greater. A NaN may have any sign.
    fn nearest(&self, x: f64) -> u8 {
        if x.is_nan() || (!self.signed && x <= 0.0) {
            return self.nan;
        }
        let sign = u8::from(x.is_sign_negative()) << 7;
        let x = x.abs();
        if x >= self.beyond.0 {
            return sign | self.beyond.1;
        }
        let above = self.numbers.partition_point(|n| *n <= x);
        let below = above.saturating_sub(1);
        let middle = match self.numbers.get(above) {
            // Between the two least powers of two there is no half-way.
            _ if !self.signed && above == 1 => return u8::from(x > self.numbers[0]),
            Some(high) => (self.numbers[below] + high) / 2.0,
            None => return sign | below as u8,
        };
        let tie_up = !self.signed || below % 2 == 1;
        let up = x > middle || (x == middle && tie_up);
        sign | if up { above as u8 } else { below as u8 }
    }
    fn agrees(&self, got: u8, x: f64) -> bool {
        let wanted = self.nearest(x);
        got == wanted || (self.value(got).is_nan() && self.value(wanted).is_nan())
    }
}

#[test]
fn every_element_widens_exactly() {
    let all: Vec<u8> = (0..=255).collect();
    for small in formats() {
        for target in targets() {
            let wide: Vec<f32> = run(&target, small.format, F32, &all);
            let double: Vec<f64> = run(&target, small.format, F64, &all);
            let half: Vec<u16> = run(&target, small.format, F16, &all);
            let brain: Vec<u16> = run(&target, small.format, BF16, &all);
            let whole: Vec<i32> = run(&target, small.format, Format::signed(32), &all);
            let flags: Vec<u8> = run(&target, small.format, Format::unsigned(1), &all);
            for (i, &bits) in all.iter().enumerate() {
                let wanted = small.value(bits);
                let place = format!("{:?} {bits:#x}", small.format.elem);
                assert!(same(wide[i], wanted as f32), "{place}");
                assert!(same(double[i] as f32, wanted as f32), "{place}");
                let got = [
                    f16::from_bits(half[i]).to_f32(),
                    bf16::from_bits(brain[i]).to_f32(),
                ];
                let narrow = [f16::from_f64(wanted).to_f32(), wanted as f32];
                assert!(
                    same(got[0], narrow[0]) && same(got[1], narrow[1]),
                    "{place}"
                );
                assert_eq!(whole[i], wanted as i32, "{place}");
                assert_eq!(flags[i], u8::from(wanted != 0.0), "{place}");
            }
        }
    }
}

#[test]
fn every_16_bit_float_narrows() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for small in formats() {
        for target in targets() {
            let halves: Vec<u8> = run(&target, F16, small.format, &all);
            let brains: Vec<u8> = run(&target, BF16, small.format, &all);
            for (i, &bits) in all.iter().enumerate() {
                let (h, b) = (
                    f16::from_bits(bits).to_f64(),
                    bf16::from_bits(bits).to_f64(),
                );
                assert!(
                    small.agrees(halves[i], h),
                    "{:?} of {h:e}",
                    small.format.elem
                );
                assert!(
                    small.agrees(brains[i], b),
                    "{:?} of {b:e}",
                    small.format.elem
                );
            }
        }
    }
}

/// Results change in the middle between two numbers and nowhere else. The lower 12 bits of the f32 there are zero, so that each f32
/// between two that are tried has the result of both.
#[test]
fn every_f32_narrows() {
    let all: Vec<f32> = (0..1u32 << 20)
        .flat_map(|upper| [0, 1, 0xfff].map(|lower| f32::from_bits(upper << 12 | lower)))
        .collect();
    for small in formats() {
        for target in targets() {
            let got: Vec<u8> = run(&target, F32, small.format, &all);
            for (&x, &bits) in all.iter().zip(&got) {
                assert!(
                    small.agrees(bits, x.into()),
                    "{:?} of {x:e}: {bits:#x}",
                    small.format.elem
                );
            }
        }
    }
}

/// An f64 a hair beyond a middle is the middle itself in f32, and so is an integer in f64: two roundings would go wrong there.
#[test]
fn other_numbers_narrow_in_one_rounding() {
    for small in formats() {
        let middles = small
            .numbers
            .windows(2)
            .map(|pair| (pair[0] + pair[1]) / 2.0);
        let near = |x: f64| [x, x.next_up(), x.next_down(), -x.next_up(), -x.next_down()];
        let mut values: Vec<f64> = middles.flat_map(near).collect();
        values.extend([
            0.0,
            -0.0,
            5e-324,
            1e-300,
            -1e-300,
            1e300,
            f64::MAX,
            f64::NAN,
        ]);
        values.extend([
            f64::INFINITY,
            f64::NEG_INFINITY,
            464.0,
            464.1,
            480.0,
            61439.9,
        ]);
        let got: Vec<u8> = run(&targets()[0], F64, small.format, &values);
        for (&x, &bits) in values.iter().zip(&got) {
            assert!(
                small.agrees(bits, x),
                "{:?} of {x:e}: {bits:#x}",
                small.format.elem
            );
        }
        let powers = (0..62).flat_map(|k| [2i64 << k, (3 << k) - 1, 3 << k, (3 << k) + 1]);
        let whole: Vec<i64> = powers.flat_map(|n| [n, -n]).chain([0, i64::MIN]).collect();
        let got: Vec<u8> = run(&targets()[0], Format::signed(64), small.format, &whole);
        for (&n, &bits) in whole.iter().zip(&got) {
            // Of what f64 cannot tell from the middle, the integer says on which side it lies.
            let side = (n - n as f64 as i64).signum();
            let x = match side {
                1 => (n as f64).next_up(),
                -1 => (n as f64).next_down(),
                _ => n as f64,
            };
            assert!(
                small.agrees(bits, x),
                "{:?} of {n}: {bits:#x}",
                small.format.elem
            );
        }
        let bytes: Vec<i8> = (-128..=127).collect();
        let got: Vec<u8> = run(&targets()[0], Format::signed(8), small.format, &bytes);
        for (&n, &bits) in bytes.iter().zip(&got) {
            assert!(
                small.agrees(bits, n.into()),
                "{:?} of {n}",
                small.format.elem
            );
        }
    }
}
