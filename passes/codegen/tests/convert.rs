//! Conversions, exhaustively where that is possible, against the `half` crate and Rust's own `as`.

mod small;

use crate::support::*;
use fuser_codegen::Target;
use fuser_codegen::convert::{Format, convert};
use fuser_codegen::expr::Elem;
use half::{bf16, f16};

const F16: Format = Format::float(Elem::F16);
const BF16: Format = Format::float(Elem::Bf16);
const F32: Format = Format::float(Elem::F32);
const F64: Format = Format::float(Elem::F64);

/// The memory representation of a format: narrow floats as their bits, `i1` as a byte.
fn stored(format: Format) -> Elem {
    match format.elem {
        Elem::F8E4M3FN | Elem::F8E5M2 | Elem::F8E8M0FNU => Elem::Int(8),
        Elem::F16 | Elem::Bf16 => Elem::Int(16),
        Elem::Int(1) => Elem::Int(8),
        other => other,
    }
}

fn run<A: Copy + Default, R: Copy + Default>(
    target: &Target,
    from: Format,
    to: Format,
    values: &[A],
) -> Vec<R> {
    let function = ArrayFunction::compile(target, 16, (stored(from), stored(to)), |x, _| {
        let x = if from.elem == Elem::Int(1) {
            x.ne(0)
        } else {
            x
        };
        let y = convert(x, from, to);
        if to.elem == Elem::Int(1) {
            y.zext_or_trunc(8)
        } else {
            y
        }
    });
    function.run(values, values)
}

fn targets() -> Vec<Target> {
    processors()
}

#[test]
fn every_16_bit_float_widens_exactly() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for target in targets() {
        let from_f16: Vec<f32> = run(&target, F16, F32, &all);
        let from_bf16: Vec<f32> = run(&target, BF16, F32, &all);
        let to_f64: Vec<f64> = run(&target, F16, F64, &all);
        for &bits in &all {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let at = usize::from(bits);
            assert!(same(from_f16[at], h.to_f32()), "f16 {bits:04x}");
            assert!(same(from_bf16[at], b.to_f32()), "bf16 {bits:04x}");
            assert!(
                to_f64[at] == h.to_f64() || (to_f64[at].is_nan() && h.is_nan()),
                "f16 to f64 {bits:04x}"
            );
        }
    }
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// All values of a 16-bit format, all midpoints between neighbours, the numbers beside those, and samples of the range.
fn narrowing_samples() -> Vec<f32> {
    let mut values = samples_f32(100);
    for bits in 0..=u16::MAX {
        let wide = [
            bf16::from_bits(bits).to_f32(),
            f16::from_bits(bits).to_f32(),
        ];
        let next = [
            bf16::from_bits(bits.wrapping_add(1)).to_f32(),
            f16::from_bits(bits.wrapping_add(1)).to_f32(),
        ];
        for (a, b) in wide.into_iter().zip(next) {
            let middle = ((f64::from(a) + f64::from(b)) / 2.0) as f32;
            let beside =
                [-1i32, 1].map(|step| f32::from_bits(middle.to_bits().wrapping_add_signed(step)));
            values.extend([a, middle, beside[0], beside[1]]);
        }
    }
    values
}

#[test]
fn narrowing_rounds_to_nearest_even_and_keeps_nan_quiet() {
    let values = narrowing_samples();
    for target in targets() {
        let to_f16: Vec<u16> = run(&target, F32, F16, &values);
        let to_bf16: Vec<u16> = run(&target, F32, BF16, &values);
        for ((&x, &h), &b) in values.iter().zip(&to_f16).zip(&to_bf16) {
            if x.is_nan() {
                assert!(
                    h & 0x7e00 == 0x7e00 && b & 0x7fc0 == 0x7fc0,
                    "NaN {:08x}: {h:04x} {b:04x}",
                    x.to_bits()
                );
            } else {
                assert_eq!(h, f16::from_f32(x).to_bits(), "f16 of {x:e}");
                assert_eq!(b, bf16::from_f32(x).to_bits(), "bf16 of {x:e}");
            }
        }
    }
}

/// An f64 a hair beyond a tie is the tie itself in f32: two roundings would go wrong there.
#[test]
fn f64_narrows_in_one_rounding() {
    let mut values = vec![];
    for bits in (0..0x7f00u16).step_by(7) {
        for format in [
            bf16::from_bits(bits).to_f64(),
            f16::from_bits(bits).to_f64(),
        ] {
            let next = if format == bf16::from_bits(bits).to_f64() {
                bf16::from_bits(bits + 1).to_f64()
            } else {
                f16::from_bits(bits + 1).to_f64()
            };
            let middle = (format + next) / 2.0;
            if middle.is_finite() {
                values.extend([
                    middle,
                    middle * (1.0 + f64::EPSILON),
                    middle * (1.0 - f64::EPSILON),
                    -middle * (1.0 + f64::EPSILON),
                ]);
            }
        }
    }
    values.extend([
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e300,
        1e-300,
        f64::MAX,
    ]);
    let to_f16: Vec<u16> = run(&targets()[0], F64, F16, &values);
    let to_bf16: Vec<u16> = run(&targets()[0], F64, BF16, &values);
    for ((&x, &h), &b) in values.iter().zip(&to_f16).zip(&to_bf16) {
        if !x.is_nan() {
            assert_eq!(h, nearest(x, 10, -14, 0x7c00), "f16 of {x:e}");
            assert_eq!(b, nearest(x, 7, -126, 0x7f80), "bf16 of {x:e}");
        }
    }
}

/// Rounds to a format of `mantissa` bits by exact scaling: an independent definition.
fn nearest(x: f64, mantissa: i32, least: i32, infinity: u16) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let a = x.abs();
    if a.is_infinite() {
        return sign | infinity;
    }
    let exponent = if a == 0.0 {
        least
    } else {
        ((a.to_bits() >> 52) as i32 - 1023).max(least)
    };
    let units = (a
        * 2f64.powi(-(exponent - mantissa) / 2)
        * 2f64.powi(-(exponent - mantissa) - -(exponent - mantissa) / 2))
    .round_ties_even();
    let bits = ((exponent - least) as u64) * (1u64 << mantissa) + units as u64;
    sign | (bits.min(u64::from(infinity)) as u16)
}

macro_rules! check_float_to_int {
    ($($to:ty: $format:expr),*) => {$({
        let mut values = samples_f32(20);
        values.extend(sweep_f32(-300.0, 300.0, 10_000));
        let got: Vec<$to> = run(&targets()[0], F32, $format, &values);
        for (&x, &y) in values.iter().zip(&got) {
            assert_eq!(y, x as $to, "{x:e} to {}", stringify!($to));
        }
        let wide: Vec<f64> = values.iter().map(|&x| f64::from(x) * 1.000000001).collect();
        let got: Vec<$to> = run(&targets()[1], F64, $format, &wide);
        for (&x, &y) in wide.iter().zip(&got) {
            assert_eq!(y, x as $to, "{x:e} to {}", stringify!($to));
        }
    })*};
}

#[test]
fn float_to_integer_saturates_and_takes_nan_to_zero() {
    check_float_to_int!(
        i8: Format::signed(8), u8: Format::unsigned(8), i16: Format::signed(16),
        i32: Format::signed(32), i64: Format::signed(64), u32: Format::unsigned(32)
    );
}

#[test]
fn integers_become_the_nearest_float() {
    let mut random = Random(11);
    let mut values: Vec<i64> = (0..60_000)
        .map(|_| random.word() as i64 >> (random.word() % 64))
        .collect();
    values.extend([
        0,
        1,
        -1,
        i64::MIN,
        i64::MAX,
        i64::MAX - 1,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
    ]);
    // Ties of the 16-bit formats, and one beyond and below: two roundings would lose the one.
    values.extend((0..50).flat_map(|k| {
        [
            0x101i64 << k,
            (0x101 << k) + 1,
            (0x101 << k) - 1,
            -(0x101 << k) - 1,
        ]
    }));
    let as_f32: Vec<f32> = run(&targets()[0], Format::signed(64), F32, &values);
    let as_f64: Vec<f64> = run(&targets()[0], Format::signed(64), F64, &values);
    let as_bf16: Vec<u16> = run(&targets()[0], Format::signed(64), BF16, &values);
    for (i, &x) in values.iter().enumerate() {
        assert_eq!(as_f32[i], x as f32, "{x}");
        assert_eq!(as_f64[i], x as f64, "{x}");
        assert_eq!(as_bf16[i], bf16_of_integer(x), "{x}");
    }
    let narrow: Vec<i32> = values.iter().map(|&x| x as i32).collect();
    let as_f16: Vec<u16> = run(&targets()[0], Format::signed(32), F16, &narrow);
    for (&x, &h) in narrow.iter().zip(&as_f16) {
        assert_eq!(h, nearest(f64::from(x), 10, -14, 0x7c00), "{x}");
    }
}

/// By integer arithmetic alone.
fn bf16_of_integer(x: i64) -> u16 {
    let sign = if x < 0 { 0x8000 } else { 0 };
    let a = u128::from(x.unsigned_abs());
    if a == 0 {
        return sign;
    }
    let exponent = 127 - a.leading_zeros() as i32;
    let drop = exponent - 7;
    let units = if drop <= 0 {
        a << -drop
    } else {
        let (kept, lost, half) = (a >> drop, a & ((1 << drop) - 1), 1u128 << (drop - 1));
        kept + u128::from(lost > half || (lost == half && kept & 1 == 1))
    };
    sign | (((exponent + 126) as u128) * 128 + units) as u16
}

#[test]
fn booleans_are_zero_and_one_and_ask_for_nonzero() {
    let bytes: Vec<u8> = vec![0, 1, 0, 1, 1];
    let as_f32: Vec<f32> = run(&targets()[0], Format::unsigned(1), F32, &bytes);
    assert_eq!(as_f32, [0.0, 1.0, 0.0, 1.0, 1.0]);
    let as_i64: Vec<i64> = run(
        &targets()[0],
        Format::unsigned(1),
        Format::signed(64),
        &bytes,
    );
    assert_eq!(as_i64, [0, 1, 0, 1, 1]);
    let floats = [0.0f32, -0.0, 1e-45, f32::NAN, -3.0];
    let as_bool: Vec<u8> = run(&targets()[0], F32, Format::unsigned(1), &floats);
    assert_eq!(as_bool, [0, 0, 1, 1, 1]);
    let integers = [0i64, 1 << 40, -1, 256];
    let as_bool: Vec<u8> = run(
        &targets()[0],
        Format::signed(64),
        Format::unsigned(1),
        &integers,
    );
    assert_eq!(as_bool, [0, 1, 1, 1]);
}

#[test]
fn integers_wrap_and_extend_by_their_sign() {
    let values = [0i64, 127, 128, 255, 256, -1, -129, i64::MIN, i64::MAX];
    let narrow: Vec<i8> = run(
        &targets()[0],
        Format::signed(64),
        Format::signed(8),
        &values,
    );
    assert_eq!(narrow, values.map(|v| v as i8));
    let bytes = [0u8, 1, 127, 128, 255];
    let signed: Vec<i32> = run(&targets()[0], Format::signed(8), Format::signed(32), &bytes);
    assert_eq!(signed, bytes.map(|b| i32::from(b as i8)));
    let unsigned: Vec<i32> = run(
        &targets()[0],
        Format::unsigned(8),
        Format::signed(32),
        &bytes,
    );
    assert_eq!(unsigned, bytes.map(i32::from));
}
