//! Ops on complex numbers: against NumPy in extended precision (`data/make_complex.py`), at the edges
//! (`data/make_edges.py`), and by parts.

use crate::common::*;
use fuser_interp::{Data, Tensor};
use fuser_ir::DType;

/// Complex numbers of `dtype` from numbers that it holds.
fn complex(dtype: DType, shape: &[usize], values: &[(f64, f64)]) -> Tensor {
    let part = |pick: fn(&(f64, f64)) -> f64| {
        let v: Vec<f64> = values.iter().map(pick).collect();
        tensor(dtype.part(), shape, &v)
    };
    Tensor::of_parts(part(|z| z.0), part(|z| z.1)).unwrap()
}

fn numbers(t: &Tensor) -> Vec<(f64, f64)> {
    let (a, b) = t.parts().unwrap();
    values(&a).into_iter().zip(values(&b)).collect()
}

fn one(op: &str, z: (f64, f64)) -> (f64, f64) {
    numbers(&apply(op, &[], &[complex(DType::C128, &[1], &[z])])[0])[0]
}

fn two(op: &str, z: (f64, f64), w: (f64, f64)) -> (f64, f64) {
    let operands = [z, w].map(|z| complex(DType::C128, &[1], &[z]));
    numbers(&apply(op, &[], &operands)[0])[0]
}

#[test]
fn agrees_with_numpy_within_the_stated_roundings() {
    let mut worst = std::collections::BTreeMap::<&str, f64>::new();
    let lines = include_str!("data/complex.txt").lines();
    let mut count = 0;
    for line in lines.filter(|l| !l.starts_with('#')) {
        let (head, rest) = line.split_once(" : ").unwrap();
        let (op, dtype) = head.split_once(' ').unwrap();
        let dtype = DType::from_name(dtype).unwrap();
        let (operands, expected) = rest.split_once(" => ").unwrap();
        let read = |text: &str| -> Vec<f64> {
            let words = text.split_whitespace();
            words.map(|w| w.parse().unwrap()).collect()
        };
        let operands: Vec<Tensor> = read(operands)
            .chunks(2)
            .map(|z| complex(dtype, &[1], &[(z[0], z[1])]))
            .collect();
        let (a, b) = numbers(&apply(op, &[], &operands)[0])[0];
        let [re, im, within] = read(expected)[..] else {
            panic!("{line}")
        };
        let off = (a - re).hypot(b - im);
        assert!(off <= within, "{line}\n  gives {a} + {b}i, {off:e} off");
        let share = if within > 0.0 { off / within } else { 0.0 };
        let so_far = worst.entry(op).or_default();
        *so_far = so_far.max(share);
        count += 1;
    }
    assert!(count > 900, "{count}");
    // The bounds are not far from what happens: else they would test little.
    let loose = worst.iter().filter(|(_, share)| **share < 0.02);
    let loose: Vec<_> = loose
        .filter(|(op, _)| !["conj", "neg"].contains(op))
        .collect();
    assert!(loose.is_empty(), "{loose:?}");
}

const INF: f64 = f64::INFINITY;

#[test]
fn edges_are_those_of_the_definitions() {
    let same = |a: (f64, f64), b: (f64, f64)| {
        let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        assert_eq!(
            (bits(a.0), bits(a.1)),
            (bits(b.0), bits(b.1)),
            "{a:?}, not {b:?}"
        );
    };
    same(one("sqrt", (0.0, -0.0)), (0.0, -0.0));
    same(one("sqrt", (-4.0, 0.0)), (0.0, 2.0));
    same(one("sqrt", (-4.0, -0.0)), (0.0, -2.0));
    same(one("sqrt", (-INF, 1.0)), (0.0, INF));
    same(one("sqrt", (INF, -1.0)), (INF, -0.0));
    same(one("sqrt", (f64::NAN, INF)), (INF, INF));
    same(one("sqrt", (1e300, 0.0)), (1e150, 0.0));
    same(one("log", (0.0, 0.0)), (-INF, 0.0));
    same(one("log", (-1.0, -0.0)), (0.0, -std::f64::consts::PI));
    same(one("log", (INF, 0.0)), (INF, 0.0));
    same(one("exp", (1000.0, 0.0)), (INF, 0.0));
    same(one("exp", (0.0, -0.0)), (1.0, -0.0));
    same(one("conj", (f64::NAN, 0.0)), (f64::NAN, -0.0));
    same(two("div", (1.0, -1.0), (0.0, -0.0)), (INF, -INF));
    same(two("div", (0.0, 1.0), (0.0, 0.0)), (f64::NAN, INF));
    // Neither overflows nor underflows on the way.
    same(two("div", (1e300, 0.0), (1e300, 0.0)), (1.0, 0.0));
    same(two("pow", (0.0, 0.0), (0.0, 0.0)), (1.0, 0.0));
    same(two("pow", (0.0, 0.0), (2.0, 1.0)), (0.0, 0.0));
    same(two("pow", (f64::NAN, 1.0), (0.0, -0.0)), (1.0, 0.0));
    // The inverse functions on their cuts, from either side, at the poles and beyond all magnitudes.
    let (half, quarter) = (std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_4);
    let on_cut = one("asin", (2.0, -0.0));
    assert!(on_cut.0 == half && (on_cut.1 + 1.3169578969248166).abs() < 1e-15);
    let on_cut = one("acosh", (-2.0, -0.0));
    assert!((on_cut.0 - 1.3169578969248166).abs() < 1e-15 && on_cut.1 == -2.0 * half);
    same(one("atanh", (1.0, 0.0)), (INF, 0.0));
    same(one("atanh", (-1.0, -0.0)), (-INF, -0.0));
    same(one("atanh", (-INF, 1.0)), (-0.0, half));
    same(one("atan", (0.0, 1.0)), (0.0, INF));
    same(one("asin", (INF, -INF)), (quarter, -INF));
    same(one("asinh", (-INF, 1.0)), (-INF, 0.0));
    same(one("acos", (1.0, 0.0)), (0.0, -0.0));
    same(one("acos", (-INF, INF)), (3.0 * quarter, -INF));
    same(one("acosh", (INF, 0.0)), (INF, 0.0));
    same(one("asin", (0.0, -0.0)), (0.0, -0.0));
    same(one("log1p", (-1.0, 0.0)), (-INF, 0.0));
    same(one("log1p", (1e-300, -0.0)), (1e-300, -0.0));
    same(one("expm1", (1000.0, 0.0)), (INF, 0.0));
    let tanh = one("tanh", (800.0, 1.0));
    same(tanh, (1.0, 0.0));
    let sizes = [
        (3.0, -4.0),
        (0.0, -0.0),
        (INF, f64::NAN),
        (1e300, 1e300),
        (5e-324, 0.0),
    ];
    let abs = apply("abs", &[], &[complex(DType::C128, &[5], &sizes)]).remove(0);
    assert_eq!(abs.dtype(), DType::F64);
    let abs = values(&abs);
    assert_eq!(abs[..3], [5.0, 0.0, INF]);
    assert!((abs[3] / (1e300 * 2f64.sqrt()) - 1.0).abs() < 1e-15);
    assert_eq!(abs[4], 5e-324);
}

/// Parts that are zero, huge, infinite or NaN (`data/make_edges.py`).
#[test]
fn functions_have_the_values_of_numpy_at_their_edges() {
    let same = |x: f64, y: f64, size: f64, unit: f64| match y.is_finite() && y != 0.0 {
        true => (x - y).abs() <= 64.0 * unit * size,
        false if y.is_nan() => x.is_nan(),
        false => x.to_bits() == y.to_bits(),
    };
    let mut faults = Vec::new();
    let mut count = 0;
    for line in include_str!("data/edges.txt").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [op, dtype, ":", a, b, "=>", re, im] = words[..] else {
            panic!("{line}")
        };
        let dtype = DType::from_name(dtype).unwrap();
        let [a, b, re, im] = [a, b, re, im].map(|x| x.parse::<f64>().unwrap());
        let found = numbers(&apply(op, &[], &[complex(dtype, &[1], &[(a, b)])])[0])[0];
        let unit = if dtype == DType::C64 {
            f32::EPSILON.into()
        } else {
            f64::EPSILON
        };
        let size = [re, im]
            .iter()
            .filter(|x| x.is_finite())
            .fold(0f64, |m, x| m.max(x.abs()));
        if !same(found.0, re, size, unit) || !same(found.1, im, size, unit) {
            faults.push(format!("{line}: {found:?}"));
        }
        count += 1;
    }
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(count, 15 * 2 * 81);
}

#[test]
fn a_sigmoid_is_0_and_1_at_its_ends() {
    let zero = |x: f64| x == 0.0;
    for b in [0.0, -0.0, 1.0, -2.5, 1e308, INF, -INF, f64::NAN] {
        let (left, right) = (one("sigmoid", (-INF, b)), one("sigmoid", (INF, b)));
        assert!(zero(left.0) && zero(left.1), "{b}: {left:?}");
        assert!(right.0 == 1.0 && zero(right.1), "{b}: {right:?}");
        if b.is_finite() {
            let (left, right) = (one("sigmoid", (-1e4, b)), one("sigmoid", (1e4, b)));
            assert!(zero(left.0) && zero(left.1), "{b}: {left:?}");
            assert!(right.0 == 1.0 && zero(right.1), "{b}: {right:?}");
        }
    }
    assert_eq!(one("sigmoid", (0.0, 0.0)), (0.5, 0.0));
    let odd = one("sigmoid", (f64::NAN, 0.0));
    assert!(odd.0.is_nan());
}

#[test]
fn parts_and_comparisons() {
    let z = complex(
        DType::C64,
        &[3],
        &[(1.0, 2.0), (1.0, -2.0), (f64::NAN, 0.0)],
    );
    let w = complex(DType::C64, &[3], &[(1.0, 2.0), (1.0, 2.0), (f64::NAN, 0.0)]);
    let truth = |t: &Tensor| values(t);
    let compare = |word| {
        apply(
            "compare",
            &[C::Word("predicate", word)],
            &[z.clone(), w.clone()],
        )
    };
    assert_eq!(truth(&compare("eq")[0]), [1.0, 0.0, 0.0]);
    assert_eq!(truth(&compare("ne")[0]), [0.0, 1.0, 1.0]);
    assert_eq!(
        truth(&apply("isnan", &[], std::slice::from_ref(&z))[0]),
        [0.0, 0.0, 1.0]
    );
    assert_eq!(
        truth(&apply("isfinite", &[], std::slice::from_ref(&z))[0]),
        [1.0, 1.0, 0.0]
    );
    assert_eq!(
        values(&apply("imag", &[], std::slice::from_ref(&z))[0]),
        [2.0, -2.0, 0.0]
    );
    let real = f32s(&[2], &[1.5, -0.0]);
    let cast = apply("cast", &[C::DType("to", DType::C128)], &[real]).remove(0);
    assert_eq!(cast.dtype(), DType::C128);
    assert_eq!(numbers(&cast), [(1.5, 0.0), (-0.0, 0.0)]);
    let whole = [
        (1.0, 2.0),
        (3.0, -1.0),
        (0.0, 1.0),
        (2.0, 2.0),
        (-1.0, 0.0),
        (1.0, 1.0),
    ];
    let x = complex(DType::C64, &[2, 3], &whole);
    let sum = apply("sum", &[C::Ints("dims", &[1])], std::slice::from_ref(&x)).remove(0);
    assert_eq!(numbers(&sum), [(4.0, 2.0), (2.0, 3.0)]);
    // (1+2i)(3-i) = 5+5i, times i = -5+5i; (2+2i)(-1)(1+i) = -4i.
    let rows = apply("prod", &[C::Ints("dims", &[1])], std::slice::from_ref(&x)).remove(0);
    assert_eq!(numbers(&rows), [(-5.0, 5.0), (0.0, -4.0)]);
    let steps = apply("cumprod", &[C::Int("dim", 1)], std::slice::from_ref(&x)).remove(0);
    assert_eq!(
        numbers(&steps),
        [
            (1.0, 2.0),
            (5.0, 5.0),
            (-5.0, 5.0),
            (2.0, 2.0),
            (-2.0, -2.0),
            (0.0, -4.0)
        ]
    );
    // Squares of distances to the means of columns, of both parts.
    let clauses = [C::Ints("dims", &[0]), C::Int("correction", 1)];
    let moments = apply("var_mean", &clauses, std::slice::from_ref(&x));
    assert_eq!(moments[0].dtype(), DType::F32);
    assert_eq!(values(&moments[0]), [0.5, 8.5, 0.5]);
    assert_eq!(numbers(&moments[1]), [(1.5, 2.0), (1.0, -0.5), (0.5, 1.0)]);
    let all = apply("prod", &[C::Ints("dims", &[0, 1])], &[x]).remove(0);
    assert_eq!(numbers(&all), [(20.0, 20.0)]);
    let empty = complex(DType::C64, &[2, 0], &[]);
    let none = apply("prod", &[C::Ints("dims", &[1])], &[empty]).remove(0);
    assert_eq!(numbers(&none), [(1.0, 0.0); 2]);
}

#[test]
fn bytes_are_pairs_in_order() {
    let bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let axes = axes(&[(2, false), (7, true)]);
    let z = Tensor::from_bytes(DType::C64, axes, &bytes).unwrap();
    assert_eq!(numbers(&z), [(1.0, 2.0), (3.0, 4.0)]);
    assert_eq!(z.to_bytes(), bytes);
    assert!(Tensor::from_bytes(DType::C64, Vec::new(), &bytes).is_none());
    assert!(Tensor::new(DType::C64, Vec::new(), Data::F32(vec![1.0])).is_none());
}
