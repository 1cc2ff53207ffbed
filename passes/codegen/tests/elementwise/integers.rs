//! Every elementwise op on integers of every type against plain Rust, over the edges of each, on scalars and vectors.

use super::{decode, encode, pairs, predicates};
use crate::support::kernels::*;
use fuser_dialects::fusion;
use fuser_ir::{DType, OpDef};

const INTEGERS: [i128; 16] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    -8,
    31,
    64,
    100,
    -100,
    i64::MAX as i128,
    i64::MIN as i128,
    1 << 31,
    (1 << 31) - 1,
];

/// The integer types that have arithmetic.
fn integer_types() -> impl Iterator<Item = DType> {
    let whole = |dtype: &DType| dtype.is_int() && *dtype != DType::I1;
    DType::ALL.into_iter().filter(whole)
}

fn wrap(dtype: DType, value: i128) -> i128 {
    decode_integers(dtype, &value.to_le_bytes()[..dtype.bytes() as usize])[0]
}

fn encode_integers(dtype: DType, values: &[i128]) -> Vec<u8> {
    let bytes = values.iter().map(|value| value.to_le_bytes());
    bytes
        .flat_map(|word| word[..dtype.bytes() as usize].to_vec())
        .collect()
}

fn decode_integers(dtype: DType, bytes: &[u8]) -> Vec<i128> {
    let element = |bytes: &[u8]| {
        let fill = dtype.is_signed() && bytes[bytes.len() - 1] >= 128;
        let mut word = [if fill { 255 } else { 0 }; 16];
        word[..bytes.len()].copy_from_slice(bytes);
        i128::from_le_bytes(word)
    };
    bytes
        .chunks_exact(dtype.bytes() as usize)
        .map(element)
        .collect()
}

#[test]
fn integer_ops_of_two_operands() {
    type Case = (&'static OpDef, fn(i128, i128, u32) -> i128);
    let cases: [Case; 15] = [
        (&fusion::ADD, |a, b, _| a + b),
        (&fusion::SUB, |a, b, _| a - b),
        (&fusion::MUL, |a, b, _| a.wrapping_mul(b)),
        (&fusion::DIV, |a, b, _| if b == 0 { 0 } else { a / b }),
        (&fusion::REM, |a, b, _| if b == 0 { a } else { a % b }),
        (&fusion::REMAINDER, |a, b, _| match b {
            0 => a,
            1.. => a.rem_euclid(b),
            _ => -(-a).rem_euclid(-b),
        }),
        (&fusion::GCD, |a, b, _| {
            let (mut a, mut b) = (a.abs(), b.abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        }),
        (&fusion::MAXIMUM, |a, b, _| a.max(b)),
        (&fusion::MINIMUM, |a, b, _| a.min(b)),
        (&fusion::AND, |a, b, _| a & b),
        (&fusion::OR, |a, b, _| a | b),
        (&fusion::XOR, |a, b, _| a ^ b),
        (&fusion::SHL, |a, b, bits| {
            if (0..i128::from(bits)).contains(&b) {
                a << b
            } else {
                0
            }
        }),
        (&fusion::SHR, |a, b, _| {
            a >> if b < 0 { 100 } else { b.min(100) }
        }),
        (&fusion::LSHR, |a, b, bits| {
            (a & ((1 << bits) - 1)) >> if b < 0 { 100 } else { b.min(100) }
        }),
    ];
    let (a, b) = pairs(&INTEGERS);
    for (def, reference) in cases {
        for dtype in integer_types() {
            let inputs = [
                (dtype, encode_integers(dtype, &a)),
                (dtype, encode_integers(dtype, &b)),
            ];
            let (a, b) = (
                decode_integers(dtype, &inputs[0].1),
                decode_integers(dtype, &inputs[1].1),
            );
            for lanes in [1, 8] {
                let got =
                    decode_integers(dtype, &elementwise(def, &|_| vec![], &inputs, dtype, lanes));
                for ((&x, &y), &result) in a.iter().zip(&b).zip(&got) {
                    let wanted = wrap(dtype, reference(x, y, dtype.bits()));
                    assert_eq!(
                        result,
                        wanted,
                        "{} on {}: ({x}, {y})",
                        def.name,
                        dtype.name()
                    );
                }
            }
        }
    }
}

#[test]
fn integer_ops_of_one_operand() {
    type Case = (&'static OpDef, fn(i128) -> i128);
    let cases: [Case; 5] = [
        (&fusion::NEG, |a| -a),
        (&fusion::ABS, i128::abs),
        (&fusion::SIGN, i128::signum),
        (&fusion::RELU, |a| a.max(0)),
        (&fusion::NOT, |a| !a),
    ];
    for (def, reference) in cases {
        for dtype in integer_types() {
            let input = encode_integers(dtype, &INTEGERS);
            let got = decode_integers(
                dtype,
                &elementwise(def, &|_| vec![], &[(dtype, input.clone())], dtype, 8),
            );
            for (&x, &result) in decode_integers(dtype, &input).iter().zip(&got) {
                assert_eq!(
                    result,
                    wrap(dtype, reference(x)),
                    "{} on {}: {x}",
                    def.name,
                    dtype.name()
                );
            }
        }
    }
}

#[test]
fn comparisons_know_signs() {
    let (a, b) = pairs(&INTEGERS);
    for (predicate, reference) in predicates::<i128>() {
        for dtype in integer_types() {
            let inputs = [
                (dtype, encode_integers(dtype, &a)),
                (dtype, encode_integers(dtype, &b)),
            ];
            let (a, b) = (
                decode_integers(dtype, &inputs[0].1),
                decode_integers(dtype, &inputs[1].1),
            );
            let got = elementwise(
                &fusion::COMPARE,
                &|b| vec![b.word("predicate", predicate)],
                &inputs,
                DType::I1,
                8,
            );
            for ((x, y), &result) in a.iter().zip(&b).zip(&got) {
                assert_eq!(
                    result,
                    u8::from(reference(x, y)),
                    "{x} {predicate} {y} on {}",
                    dtype.name()
                );
            }
        }
    }
}

#[test]
fn casts_between_floats_and_integers() {
    let edges = [
        0.0,
        -0.0,
        0.99,
        -0.99,
        1.5,
        -1.5,
        127.5,
        128.0,
        -128.9,
        -129.0,
        255.9,
        256.0,
        32767.9,
        32768.0,
        -32769.0,
        65535.5,
        65536.0,
        2147483647.5,
        2147483648.0,
        -2147483649.0,
        4294967295.5,
        4294967296.0,
        9223372036854775808.0,
        -9223372036854777856.0,
        18446744073709549568.0,
        18446744073709551616.0,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    for dtype in integer_types() {
        let clause = |b: &mut fuser_ir::build::Builder<'_>| vec![b.dtype("to", dtype)];
        let (low, high) = (wrap_range(dtype).0, wrap_range(dtype).1);
        for from in [DType::F64, DType::F32, DType::F16, DType::BF16] {
            let input = encode(from, &edges);
            let got = elementwise(&fusion::CAST, &clause, &[(from, input.clone())], dtype, 8);
            for (x, result) in decode(from, &input)
                .iter()
                .zip(decode_integers(dtype, &got))
            {
                assert_eq!(
                    result,
                    (*x as i128).clamp(low, high),
                    "{x:e} to {}",
                    dtype.name()
                );
            }
        }
        let values: Vec<i128> = [low, high, low + 1, high - 1, high / 2 + 1, 0, 1, 3].to_vec();
        let input = encode_integers(dtype, &values);
        let to = |to: DType| move |b: &mut fuser_ir::build::Builder<'_>| vec![b.dtype("to", to)];
        let cast = |to_dtype| {
            elementwise(
                &fusion::CAST,
                &to(to_dtype),
                &[(dtype, input.clone())],
                to_dtype,
                8,
            )
        };
        let (wide, narrow): (Vec<f64>, Vec<f32>) =
            (values_of(&cast(DType::F64)), values_of(&cast(DType::F32)));
        for (k, x) in values.iter().enumerate() {
            assert_eq!(
                (wide[k], narrow[k]),
                (*x as f64, *x as f32),
                "{x} of {}",
                dtype.name()
            );
        }
        for other in integer_types() {
            let wanted: Vec<i128> = values.iter().map(|x| wrap(other, *x)).collect();
            assert_eq!(
                decode_integers(other, &cast(other)),
                wanted,
                "{} to {}",
                dtype.name(),
                other.name()
            );
        }
    }
}

/// The least and the greatest value: what the bits of each sign are.
fn wrap_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.bytes() as u32;
    match decode_integers(dtype, &[255; 8][..dtype.bytes() as usize])[0] {
        -1 => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}
