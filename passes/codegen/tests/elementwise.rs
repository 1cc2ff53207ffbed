//! Every elementwise op against plain Rust, over the edges of each element type, on scalars and vectors.

mod integers;

use crate::support::kernels::*;
use crate::support::reference::reference;
use fuser_dialects::fusion;
use fuser_ir::{DType, OpDef};
use half::{bf16, f16};

const FLOATS: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -1.5,
    2.5,
    3.0,
    -7.25,
    1e-3,
    1e30,
    -1e30,
    3.4e38,
    -3.4e38,
    1e-40,
    -1e-45,
    65504.0,
    1e5,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    8388609.0,
    0.1,
    -0.3,
];
/// The bytes of values of an element type.
fn encode(dtype: DType, values: &[f64]) -> Vec<u8> {
    match dtype {
        DType::F64 => bytes_of(values),
        DType::F32 => bytes_of(&values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        DType::F16 => bytes_of(
            &values
                .iter()
                .map(|&v| f16::from_f32(v as f32).to_bits())
                .collect::<Vec<_>>(),
        ),
        _ => bytes_of(
            &values
                .iter()
                .map(|&v| bf16::from_f32(v as f32).to_bits())
                .collect::<Vec<_>>(),
        ),
    }
}

fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        DType::F64 => values_of(bytes),
        DType::F32 => values_of::<f32>(bytes).into_iter().map(f64::from).collect(),
        DType::F16 => values_of::<u16>(bytes)
            .into_iter()
            .map(|b| f16::from_bits(b).to_f64())
            .collect(),
        _ => values_of::<u16>(bytes)
            .into_iter()
            .map(|b| bf16::from_bits(b).to_f64())
            .collect(),
    }
}

fn assert_same(name: &str, dtype: DType, x: f64, y: f64, got: f64, wanted: f64) {
    let same = got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan());
    assert!(
        same,
        "{name} on {}: ({x:e}, {y:e}) gave {got:e}, not {wanted:e}",
        dtype.name()
    );
}

/// All pairs of two lists, cut to a multiple of 8.
fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    let all: Vec<(T, T)> = values
        .iter()
        .flat_map(|&a| values.iter().map(move |&b| (a, b)))
        .collect();
    all[..all.len() / 8 * 8].iter().copied().unzip()
}

type FloatCase = (&'static OpDef, fn(f64, f64) -> f64, fn(f32, f32) -> f32);

macro_rules! float_case {
    ($def:ident, |$a:ident, $b:ident| $body:expr) => {
        (&fusion::$def, |$a, $b| $body, |$a, $b| $body)
    };
}

macro_rules! maximum {
    ($a:ident, $b:ident, $less:tt, $zero:expr) => {
        if $a.is_nan() || $b.is_nan() { $a + $b } else if $a == $b { if $a.is_sign_negative() == $zero { $a } else { $b } } else if $a $less $b { $b } else { $a }
    };
}

#[test]
fn float_ops_of_two_operands() {
    let cases: [FloatCase; 10] = [
        float_case!(ADD, |a, b| a + b),
        float_case!(SUB, |a, b| a - b),
        float_case!(MUL, |a, b| a * b),
        float_case!(DIV, |a, b| a / b),
        float_case!(REM, |a, b| a % b),
        float_case!(REMAINDER, |a, b| {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            }
        }),
        float_case!(MAXIMUM, |a, b| maximum!(a, b, <, false)),
        float_case!(MINIMUM, |a, b| maximum!(a, b, >, true)),
        float_case!(FMAX, |a, b| if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else {
            maximum!(a, b, <, false)
        }),
        float_case!(FMIN, |a, b| if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else {
            maximum!(a, b, >, true)
        }),
    ];
    let (a, b) = pairs(&FLOATS.map(f64::from));
    for (def, wide, narrow) in cases {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            let inputs = [(dtype, encode(dtype, &a)), (dtype, encode(dtype, &b))];
            let (a, b) = (decode(dtype, &inputs[0].1), decode(dtype, &inputs[1].1));
            for lanes in [1, 8] {
                let got = decode(dtype, &elementwise(def, &|_| vec![], &inputs, dtype, lanes));
                for ((&x, &y), &result) in a.iter().zip(&b).zip(&got) {
                    let wanted = if dtype == DType::F64 {
                        wide(x, y)
                    } else {
                        f64::from(narrow(x as f32, y as f32))
                    };
                    let wanted = decode(dtype, &encode(dtype, &[wanted]))[0];
                    assert_same(def.name, dtype, x, y, result, wanted);
                }
            }
        }
    }
}

#[test]
fn float_ops_of_one_operand() {
    let cases: [FloatCase; 9] = [
        float_case!(NEG, |a, _b| -a),
        float_case!(ABS, |a, _b| a.abs()),
        float_case!(SIGN, |a, _b| if a == 0.0 || a.is_nan() {
            a
        } else {
            a.signum()
        }),
        float_case!(CEIL, |a, _b| a.ceil()),
        float_case!(FLOOR, |a, _b| a.floor()),
        float_case!(ROUND, |a, _b| a.round_ties_even()),
        float_case!(TRUNC, |a, _b| a.trunc()),
        float_case!(SQRT, |a, _b| a.sqrt()),
        float_case!(RELU, |a, _b| if a <= 0.0 { 0.0 } else { a }),
    ];
    for (def, wide, narrow) in cases {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            let input = encode(dtype, &FLOATS.map(f64::from));
            let got = decode(
                dtype,
                &elementwise(def, &|_| vec![], &[(dtype, input.clone())], dtype, 8),
            );
            for (&x, &result) in decode(dtype, &input).iter().zip(&got) {
                let wanted = if dtype == DType::F64 {
                    wide(x, 0.0)
                } else {
                    f64::from(narrow(x as f32, 0.0))
                };
                let wanted = decode(dtype, &encode(dtype, &[wanted]))[0];
                assert_same(def.name, dtype, x, 0.0, result, wanted);
            }
        }
    }
}

/// The library's functions reach kernels; their accuracy is tested in `math_f32` and `math_f64`.
#[test]
fn math_functions_round_once_on_narrow_floats() {
    type Case = (&'static OpDef, fn(f64) -> f64);
    let cases: [Case; 28] = [
        (&fusion::LGAMMA, |x| reference("lgamma")(x, 0.0)),
        (&fusion::EXP, f64::exp),
        (&fusion::EXP2, f64::exp2),
        (&fusion::EXPM1, f64::exp_m1),
        (&fusion::LOG, f64::ln),
        (&fusion::LOG2, f64::log2),
        (&fusion::LOG10, f64::log10),
        (&fusion::LOG1P, f64::ln_1p),
        (&fusion::SIN, f64::sin),
        (&fusion::COS, f64::cos),
        (&fusion::TAN, f64::tan),
        (&fusion::ASIN, f64::asin),
        (&fusion::ACOS, f64::acos),
        (&fusion::ATAN, f64::atan),
        (&fusion::SINH, f64::sinh),
        (&fusion::COSH, f64::cosh),
        (&fusion::TANH, f64::tanh),
        (&fusion::ASINH, f64::asinh),
        (&fusion::ACOSH, f64::acosh),
        (&fusion::ATANH, f64::atanh),
        (&fusion::RSQRT, |x| 1.0 / x.sqrt()),
        (&fusion::RECIPROCAL, |x| 1.0 / x),
        (&fusion::SIGMOID, |x| 1.0 / (1.0 + (-x).exp())),
        (&fusion::SILU, |x| x / (1.0 + (-x).exp())),
        (&fusion::ERF, |x| reference("erf")(x, 0.0)),
        (&fusion::ERFC, |x| reference("erfc")(x, 0.0)),
        (&fusion::ERFINV, |x| reference("erfinv")(x, 0.0)),
        (&fusion::ERFCINV, |x| reference("erfcinv")(x, 0.0)),
    ];
    for (def, reference) in cases {
        for dtype in [DType::F16, DType::BF16] {
            let input = encode(dtype, &FLOATS.map(f64::from));
            let got = decode(
                dtype,
                &elementwise(def, &|_| vec![], &[(dtype, input.clone())], dtype, 8),
            );
            for (&x, &result) in decode(dtype, &input).iter().zip(&got) {
                let wanted = decode(dtype, &encode(dtype, &[reference(x)]))[0];
                // The f32 function errs by less than 3 of its units, so only a result that near a tie may round otherwise.
                let beside = [1.0 - 2f64.powi(-22), 1.0 + 2f64.powi(-22)]
                    .map(|f| decode(dtype, &encode(dtype, &[reference(x) * f]))[0]);
                let near = beside.contains(&result);
                assert!(
                    near || result == wanted || (result.is_nan() && wanted.is_nan()),
                    "{}({x:e}) = {result:e}",
                    def.name
                );
            }
        }
    }
}

#[test]
fn functions_of_two_operands_reach_kernels() {
    type Case = (&'static OpDef, fn(f64, f64) -> f64, f64);
    // The bounds of the table, one and three units, doubled for the reference's own rounding.
    let cases: [Case; 2] = [
        (&fusion::POW, f64::powf, 2.0),
        (&fusion::ATAN2, f64::atan2, 6.0),
    ];
    let (a, b) = pairs(&FLOATS.map(f64::from));
    let inputs = [a, b].map(|v| (DType::F32, encode(DType::F32, &v)));
    let [a, b] = [0, 1].map(|i: usize| decode(DType::F32, &inputs[i].1));
    for (def, reference, units) in cases {
        let got = elementwise(def, &|_| vec![], &inputs, DType::F32, 8);
        for ((&x, &y), &result) in a.iter().zip(&b).zip(&decode(DType::F32, &got)) {
            let wanted = f64::from(reference(x, y) as f32);
            let bound = units * wanted.abs() * f64::from(f32::EPSILON) + 3e-45;
            let near = (result - wanted).abs() <= bound || result == wanted;
            let same_sign = result.is_sign_negative() == wanted.is_sign_negative();
            assert!(
                (near && same_sign) || (result.is_nan() && wanted.is_nan()),
                "{}({x:e}, {y:e}) = {result:e}",
                def.name
            );
        }
    }
}

#[test]
fn comparisons_know_signs_and_nan() {
    let (a, b) = pairs(&FLOATS.map(f64::from));
    for (predicate, reference) in predicates::<f64>() {
        for dtype in [DType::F32, DType::BF16] {
            let inputs = [(dtype, encode(dtype, &a)), (dtype, encode(dtype, &b))];
            let (a, b) = (decode(dtype, &inputs[0].1), decode(dtype, &inputs[1].1));
            let got = elementwise(
                &fusion::COMPARE,
                &|b| vec![b.word("predicate", predicate)],
                &inputs,
                DType::I1,
                8,
            );
            for ((x, y), &result) in a.iter().zip(&b).zip(&got) {
                assert_eq!(result, u8::from(reference(x, y)), "{x:e} {predicate} {y:e}");
            }
        }
    }
}

type Predicate<T> = (&'static str, fn(&T, &T) -> bool);

fn predicates<T: PartialOrd>() -> [Predicate<T>; 6] {
    [
        ("eq", T::eq),
        ("ne", T::ne),
        ("lt", T::lt),
        ("le", T::le),
        ("gt", T::gt),
        ("ge", T::ge),
    ]
}

#[test]
fn tests_choices_and_limits() {
    let input = [(DType::F32, bytes_of(&FLOATS))];
    let nan = elementwise(&fusion::ISNAN, &|_| vec![], &input, DType::I1, 8);
    let finite = elementwise(&fusion::ISFINITE, &|_| vec![], &input, DType::I1, 8);
    for ((x, &nan), &finite) in FLOATS.iter().zip(&nan).zip(&finite) {
        assert_eq!(
            (nan, finite),
            (u8::from(x.is_nan()), u8::from(x.is_finite())),
            "{x:e}"
        );
    }
    // A choice keeps every bit, a signalling NaN's too; any nonzero byte is true.
    let odd = [0x7fa1u16, 0xff81, 0x0001, 0x8000, 0x7f81, 1, 2, 3];
    let other = [9u16; 8];
    let condition = vec![1u8, 0, 2, 255, 1, 0, 0, 128];
    let inputs = [
        (DType::I1, condition.clone()),
        (DType::BF16, bytes_of(&odd)),
        (DType::BF16, bytes_of(&other)),
    ];
    let got: Vec<u16> = values_of(&elementwise(
        &fusion::WHERE,
        &|_| vec![],
        &inputs,
        DType::BF16,
        8,
    ));
    let wanted: Vec<u16> = condition
        .iter()
        .zip(odd)
        .map(|(&c, v)| if c != 0 { v } else { 9 })
        .collect();
    assert_eq!(got, wanted);
    let flags = elementwise(
        &fusion::NOT,
        &|_| vec![],
        &[(DType::I1, condition)],
        DType::I1,
        8,
    );
    assert_eq!(flags, [0, 1, 0, 0, 0, 1, 1, 0]);
    let (x, low, high) = (
        [5.0f32, -5.0, 0.5, f32::NAN, 2.0, 1.0, 0.0, -0.0],
        [0.0f32; 8],
        [1.0f32, 1.0, 1.0, 1.0, f32::NAN, -1.0, 1.0, 1.0],
    );
    let inputs = [x, low, high].map(|v| (DType::F32, bytes_of(&v)));
    let got: Vec<f32> = values_of(&elementwise(
        &fusion::CLAMP,
        &|_| vec![],
        &inputs,
        DType::F32,
        8,
    ));
    assert_eq!(got[..3], [1.0, 0.0, 0.5]);
    assert!(got[3].is_nan() && got[4].is_nan());
    assert_eq!(got[5..], [-1.0, 0.0, 0.0]);
    assert!(got[7].is_sign_positive());
}

#[test]
fn casts_and_bit_casts() {
    let input = [(DType::F32, bytes_of(&FLOATS))];
    let to = |dtype: DType| move |b: &mut fuser_ir::build::Builder<'_>| vec![b.dtype("to", dtype)];
    let bytes: Vec<i8> = values_of(&elementwise(
        &fusion::CAST,
        &to(DType::I8),
        &input,
        DType::I8,
        8,
    ));
    let wide: Vec<i64> = values_of(&elementwise(
        &fusion::CAST,
        &to(DType::Index),
        &input,
        DType::Index,
        8,
    ));
    let half: Vec<u16> = values_of(&elementwise(
        &fusion::CAST,
        &to(DType::BF16),
        &input,
        DType::BF16,
        8,
    ));
    let bits: Vec<i32> = values_of(&elementwise(
        &fusion::BITCAST,
        &to(DType::I32),
        &input,
        DType::I32,
        8,
    ));
    for (i, &x) in FLOATS.iter().enumerate() {
        assert_eq!(
            (bytes[i], wide[i], bits[i]),
            (x as i8, x as i64, x.to_bits() as i32),
            "{x:e}"
        );
        assert!(
            half[i] == bf16::from_f32(x).to_bits() || x.is_nan(),
            "{x:e}"
        );
    }
    let flags: Vec<f32> = values_of(&elementwise(
        &fusion::CAST,
        &to(DType::F32),
        &[(DType::I1, vec![0, 1, 1, 0, 1, 0, 0, 1])],
        DType::F32,
        8,
    ));
    assert_eq!(flags, [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn the_next_float_is_next_in_either_direction() {
    let (a, b) = pairs(&FLOATS.map(f64::from));
    for dtype in [DType::F32, DType::F64] {
        let inputs = [(dtype, encode(dtype, &a)), (dtype, encode(dtype, &b))];
        for lanes in [1, 8] {
            let got = elementwise(&fusion::NEXTAFTER, &|_| vec![], &inputs, dtype, lanes);
            for ((&x, &y), &result) in a.iter().zip(&b).zip(&decode(dtype, &got)) {
                let up = match dtype {
                    DType::F32 => f64::from((x as f32).next_up()),
                    _ => x.next_up(),
                };
                let down = match dtype {
                    DType::F32 => f64::from((x as f32).next_down()),
                    _ => x.next_down(),
                };
                let wanted = match x.partial_cmp(&y) {
                    None => f64::NAN,
                    Some(std::cmp::Ordering::Equal) => y,
                    Some(std::cmp::Ordering::Less) => up,
                    Some(std::cmp::Ordering::Greater) => down,
                };
                assert_same("fusion.nextafter", dtype, x, y, result, wanted);
            }
        }
    }
}

/// The known answers of Random123 for philox4x32-10, on scalars and vectors.
#[test]
fn random_bits_are_those_of_random123() {
    let of = |low: u32, high: u32| (u64::from(high) << 32 | u64::from(low)) as i64;
    let index = [0, -1, of(0x243f_6a88, 0x85a3_08d3), 0, -1, 1, 2, 3];
    let seed = [0, -1, of(0xa409_3822, 0x299f_31d0), 0, -1, 0, 0, 0];
    let offset = [0, -1, of(0x1319_8a2e, 0x0370_7344), 0, -1, 0, 0, 0];
    let blocks = [
        [0x6627_e8d5u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ];
    let inputs = [index, seed, offset].map(|v| (DType::I64, bytes_of(&v)));
    for (place, word) in fusion::WORDS.iter().enumerate() {
        for lanes in [1, 8] {
            let clause = |b: &mut fuser_ir::build::Builder<'_>| vec![b.word("word", word)];
            let got = elementwise(&fusion::PHILOX, &clause, &inputs, DType::I32, lanes);
            let got: Vec<i32> = values_of(&got);
            let wanted = [0, 1, 2, 0, 1].map(|k: usize| blocks[k][place] as i32);
            assert_eq!(got[..5], wanted, "{word} in {lanes} lanes");
        }
    }
}

/// A rule without a test here is a rule that nobody has run.
#[test]
fn every_rule_is_tested() {
    let source = concat!(
        include_str!("elementwise.rs"),
        include_str!("elementwise/integers.rs")
    );
    let kernels = [
        include_str!("kernels/main.rs"),
        include_str!("kernels/run.rs"),
        include_str!("kernels/memory.rs"),
        include_str!("kernels/refused.rs"),
        include_str!("kernels/targets.rs"),
    ]
    .concat();
    for (def, _) in fuser_codegen::lower::arith::RULES {
        let name = def.name.strip_prefix("fusion.").unwrap().to_uppercase();
        let used = |text: &str| {
            text.contains(&format!("fusion::{name}"))
                || text.contains(&format!("float_case!({name}"))
        };
        let built = name == "CONSTANT" && kernels.contains("constant_");
        assert!(
            used(source) || used(&kernels) || built,
            "{} is not tested",
            def.name
        );
    }
}
