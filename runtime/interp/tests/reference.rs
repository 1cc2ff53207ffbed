//! Reference mode: bounds that hold, that are tight enough to mean something, and that are zero if there is only one
//! result.

use crate::common::*;
use fuser_dialects::fusion;
use fuser_interp::compare::{compare, compare_exact};
use fuser_interp::{Data, Options, Tensor};
use fuser_ir::DType;
use fuser_testing::Random;

/// Numbers from `low` to `high`.
fn drawn(random: &mut Random, dtype: DType, count: usize, low: f64, high: f64) -> Tensor {
    let values = (0..count).map(|_| low + (high - low) * random.unit());
    tensor(dtype, &[count], &values.collect::<Vec<f64>>())
}

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// The exact result, which is one that a compiled program may have, is within the bound itself, without any slack.
fn within(exact: &Tensor, reference: &Tensor, what: &str) {
    for i in 0..exact.stored_len() {
        let (a, r) = (exact.data().float(i), reference.bounded(i));
        let error = (a - r.v).abs();
        let holds = r.is_undecided() || a == r.v || (a.is_nan() && r.v.is_nan()) || error <= r.e;
        assert!(
            holds,
            "{what}[{i}]: {a:e} is {error:e} from {:e}, bound {:e}",
            r.v, r.e
        );
    }
    assert!(!compare(exact, reference).failed());
}

#[test]
fn every_function_is_within_its_bound() {
    let domains = [
        ("exp", -80.0, 80.0),
        ("exp2", -100.0, 100.0),
        ("expm1", -5.0, 20.0),
        ("log", 1e-4, 50.0),
        ("log2", 0.9, 1.1),
        ("log10", 0.9, 1.1),
        ("log1p", -0.9, 9.0),
        ("sqrt", 0.0, 9.0),
        ("rsqrt", 0.1, 9.0),
        ("reciprocal", 0.1, 9.0),
        ("sin", -9.0, 9.0),
        ("cos", -9.0, 9.0),
        ("tan", -9.0, 9.0),
        ("asin", -1.0, 1.0),
        ("acos", -1.0, 1.0),
        ("atan", -9.0, 9.0),
        ("sinh", -9.0, 9.0),
        ("cosh", -9.0, 9.0),
        ("tanh", -3.0, 3.0),
        ("asinh", -9.0, 9.0),
        ("acosh", 1.0, 9.0),
        ("atanh", -1.0, 1.0),
        ("erf", -3.0, 3.0),
        ("erfc", -3.0, 9.0),
        ("sigmoid", -9.0, 9.0),
        ("relu", -1.0, 1.0),
        ("abs", -1.0, 1.0),
        ("neg", -1.0, 1.0),
        ("sign", -1.0, 1.0),
        ("floor", -9.0, 9.0),
    ];
    let mut random = Random(1);
    for dtype in FLOATS {
        for (op, low, high) in domains {
            let x = [drawn(&mut random, dtype, 301, low, high)];
            within(&apply(op, &[], &x)[0], &refer(op, &[], &x)[0], op);
        }
        for op in [
            "add",
            "sub",
            "mul",
            "div",
            "rem",
            "remainder",
            "pow",
            "atan2",
            "maximum",
            "minimum",
            "fmax",
            "fmin",
        ] {
            let x = [
                drawn(&mut random, dtype, 301, 0.1, 9.0),
                drawn(&mut random, dtype, 301, 0.3, 2.0),
            ];
            within(&apply(op, &[], &x)[0], &refer(op, &[], &x)[0], op);
        }
    }
}

/// A chain with cancellation, division and functions, so that bounds of bounds are tried.
fn chain(dtype: DType, x: &Tensor, y: &Tensor, options: &Options) -> Vec<Tensor> {
    let p = program(
        |ir| vec![type_of(ir, x), type_of(ir, y)],
        |b, args| {
            let (x, y) = (args[0], args[1]);
            let sum = b.value(&fusion::ADD, &[x, y], &[]).unwrap();
            let product = b.value(&fusion::MUL, &[sum, y], &[]).unwrap();
            let difference = b.value(&fusion::SUB, &[product, x], &[]).unwrap();
            let tanh = b.value(&fusion::TANH, &[difference], &[]).unwrap();
            let square = b.value(&fusion::MUL, &[tanh, tanh], &[]).unwrap();
            let root = b.value(&fusion::SQRT, &[square], &[]).unwrap();
            let power = b.value(&fusion::POW, &[y, root], &[]).unwrap();
            let sine = b.value(&fusion::SIN, &[power], &[]).unwrap();
            let cast = b.dtype("to", DType::BF16);
            let narrow = b.value(&fusion::CAST, &[sine], &[cast]).unwrap();
            let cast = b.dtype("to", dtype);
            let wide = b.value(&fusion::CAST, &[narrow], &[cast]).unwrap();
            let ratio = b.value(&fusion::DIV, &[wide, y], &[]).unwrap();
            let dims = b.ints("dims", &[0]);
            let total = b.value(&fusion::SUM, &[ratio], &[dims]).unwrap();
            let dims = b.ints("dims", &[0]);
            let correction = b.int("correction", 1);
            let moments = b
                .op(&fusion::VAR_MEAN, &[power], &[dims, correction])
                .unwrap();
            let moments = b.ir.results(moments).to_vec();
            vec![difference, power, ratio, total, moments[0], moments[1]]
        },
    );
    p.run(&[x.clone(), y.clone()], options).unwrap().values
}

#[test]
fn bounds_of_chains_hold_and_mean_something() {
    let mut random = Random(2);
    for dtype in FLOATS {
        let (x, y) = (
            drawn(&mut random, dtype, 257, 1.0, 2.0),
            drawn(&mut random, dtype, 257, 1.0, 1.5),
        );
        let exact = chain(dtype, &x, &y, &Options::default());
        let bounds = chain(dtype, &x, &y, &reference());
        for (i, (exact, bounds)) in exact.iter().zip(&bounds).enumerate() {
            within(exact, bounds, &format!("{} {i}", dtype.name()));
            assert_eq!(compare(exact, bounds).undecided, 0);
        }
        // The bound of the plain part is some units in the last place, not some per cent.
        let unit = match dtype {
            DType::F64 => 2f64.powi(-53),
            DType::F32 => 2f64.powi(-24),
            DType::F16 => 2f64.powi(-11),
            _ => 2f64.powi(-8),
        };
        let worst = (0..257)
            .map(|i| bounds[0].bounded(i))
            .map(|r| r.e / unit)
            .fold(0.0, f64::max);
        assert!(worst < 64.0, "{}: {worst} units", dtype.name());
    }
}

#[test]
fn sums_in_any_order_are_within_the_bound() {
    let mut random = Random(3);
    for count in [1usize, 2, 33, 1025, 40_000] {
        let x = drawn(&mut random, DType::F32, count, -1.0, 1.0);
        let r = refer("sum", &[C::Ints("dims", &[0])], std::slice::from_ref(&x)).remove(0);
        let Data::F32(list) = x.data() else { panic!() };
        let forward: f32 = list.iter().sum();
        let backward: f32 = list.iter().rev().sum();
        let mut tree = list.clone();
        while tree.len() > 1 {
            tree = tree.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let lanes: f32 = (0..8)
            .map(|l| list.iter().skip(l).step_by(8).sum::<f32>())
            .sum();
        for (order, sum) in [
            ("forward", forward),
            ("backward", backward),
            ("tree", tree[0]),
            ("lanes", lanes),
        ] {
            within(&f32s(&[], &[sum]), &r, order);
        }
        let magnitudes: f64 = list.iter().map(|x| f64::from(x.abs())).sum();
        assert!(r.bounded(0).e <= count as f64 * 2f64.powi(-24) * magnitudes * 1.001);
        // A missing element shows, wherever it is, as long as it is above the bound.
        let missing = forward - list[count / 2];
        let lost = f64::from(list[count / 2].abs());
        if lost > 10.0 * r.bounded(0).e {
            assert!(compare(&f32s(&[], &[missing]), &r).failed());
        }
    }
}

#[test]
fn whole_numbers_have_no_bound_at_all() {
    let x = tensor(
        DType::F32,
        &[1000],
        &(0..1000).map(|i| f64::from(i % 17 - 8)).collect::<Vec<_>>(),
    );
    for op in ["add", "sub", "mul", "maximum"] {
        let y = refer(op, &[], &[x.clone(), x.clone()]).remove(0);
        assert!(y.bounds().is_none(), "{op}");
    }
    let dims = [C::Ints("dims", &[0])];
    assert!(
        refer("sum", &dims, std::slice::from_ref(&x))[0]
            .bounds()
            .is_none()
    );
    let y = refer(
        "sum",
        &dims,
        &[tensor(DType::F32, &[3], &[16_777_216.0, 1.0, 1.0])],
    );
    assert!(y[0].bounds().is_some());
    let y = refer(
        "sum",
        &dims,
        &[tensor(DType::F32, &[3], &[0.5, 0.25, 1024.0])],
    );
    assert!(y[0].bounds().is_none());
    let y = refer(
        "prod",
        &dims,
        &[tensor(DType::F32, &[3], &[3.0, -5.0, 7.0])],
    );
    assert!(y[0].bounds().is_none());
    // No slack then: one unit off is wrong.
    let exact = refer("sum", &dims, std::slice::from_ref(&x)).remove(0);
    let off = f32s(&[], &[values(&exact)[0] as f32 + 1.0]);
    assert!(compare(&off, &exact).failed());
}

#[test]
fn what_lies_at_a_discontinuity_is_undecided_and_counted() {
    // Functions are inexact: nobody can say whether the sigmoid of 0, about a half, is less than itself computed again.
    let p = program(
        |ir| vec![ir.tensor(vec![fuser_ir::types::Dim::fixed(2)], DType::F32)],
        |b, args| {
            let half = b.value(&fusion::SIGMOID, &[args[0]], &[]).unwrap();
            let one = b.value(&fusion::ADD, &[half, half], &[]).unwrap();
            let clause = b.word("predicate", "lt");
            let less = b.value(&fusion::COMPARE, &[half, one], &[clause]).unwrap();
            let clause = b.word("predicate", "lt");
            let same = b.value(&fusion::COMPARE, &[half, half], &[clause]).unwrap();
            let floor = b.value(&fusion::FLOOR, &[one], &[]).unwrap();
            let to = b.dtype("to", DType::I32);
            let whole = b.value(&fusion::CAST, &[one], &[to]).unwrap();
            let chosen = b.value(&fusion::WHERE, &[same, one, half], &[]).unwrap();
            vec![less, same, floor, whole, chosen]
        },
    );
    let y = p
        .run(&[f32s(&[2], &[0.0, 2.0])], &reference())
        .unwrap()
        .values;
    let undecided = |t: &Tensor| {
        let open = |i: &usize| t.bounded(*i).is_undecided();
        (0..2).filter(open).collect::<Vec<_>>()
    };
    assert_eq!(undecided(&y[0]), [] as [usize; 0]);
    assert_eq!(undecided(&y[1]), [0, 1]);
    assert_eq!(undecided(&y[2]), [0]);
    assert_eq!(undecided(&y[3]), [0]);
    // The choice between two known values is bounded by their distance.
    assert!(y[4].bounded(0).e > 0.4 && y[4].bounded(0).e < 0.6);
    let report = compare(&f32s(&[2], &[0.0, 1.0]), &y[2]);
    assert_eq!(
        (report.ok(), report.undecided, report.compared),
        (true, 1, 1)
    );
    assert!(compare(&f32s(&[2], &[0.0, 2.0]), &y[2]).failed());
}

#[test]
fn what_has_one_result_only_has_no_bound() {
    // Sums, products, quotients, roots and conversions of exact operands: each rounded once, as the language says.
    let mut random = Random(4);
    for dtype in FLOATS {
        let x = [
            drawn(&mut random, dtype, 99, 0.1, 9.0),
            drawn(&mut random, dtype, 99, 0.3, 2.0),
        ];
        for op in ["add", "sub", "mul", "div", "rem", "maximum", "fmin"] {
            let (exact, r) = (apply(op, &[], &x), refer(op, &[], &x));
            assert!(r[0].bounds().is_none(), "{op} {}", dtype.name());
            assert!(
                compare(&exact[0], &r[0]).worst.is_none(),
                "{op} {}",
                dtype.name()
            );
        }
        for op in ["sqrt", "rsqrt", "reciprocal", "floor", "neg"] {
            let (exact, r) = (apply(op, &[], &x[..1]), refer(op, &[], &x[..1]));
            assert!(r[0].bounds().is_none(), "{op} {}", dtype.name());
            assert!(
                compare(&exact[0], &r[0]).worst.is_none(),
                "{op} {}",
                dtype.name()
            );
        }
        for to in FLOATS {
            let to = [C::DType("to", to)];
            let (exact, r) = (apply("cast", &to, &x[..1]), refer("cast", &to, &x[..1]));
            assert!(r[0].bounds().is_none() && compare(&exact[0], &r[0]).worst.is_none());
        }
    }
}

#[test]
fn infinities_and_nan_are_certain_or_undecided() {
    let infinity = f32::INFINITY;
    let one = |op: &str, x: &[f32]| {
        let inputs: Vec<Tensor> = x.iter().map(|x| f32s(&[], &[*x])).collect();
        refer(op, &[], &inputs)[0].bounded(0)
    };
    let certain = |op: &str, x: &[f32], v: f64| {
        let r = one(op, x);
        assert!(
            r.e == 0.0 && (r.v == v || (r.v.is_nan() && v.is_nan())),
            "{op} {x:?}: {r:?}"
        );
    };
    certain("add", &[infinity, 1.0], f64::INFINITY);
    certain("sub", &[infinity, infinity], f64::NAN);
    certain("div", &[1.0, 0.0], f64::INFINITY);
    certain("div", &[-1.0, 0.0], f64::NEG_INFINITY);
    certain("div", &[0.0, 0.0], f64::NAN);
    certain("mul", &[0.0, infinity], f64::NAN);
    certain("mul", &[3e38, 3e38], f64::INFINITY);
    certain("log", &[0.0], f64::NEG_INFINITY);
    certain("log", &[-1.0], f64::NAN);
    certain("sqrt", &[-1.0], f64::NAN);
    certain("exp", &[infinity], f64::INFINITY);
    certain("rsqrt", &[0.0], f64::INFINITY);
    certain("maximum", &[f32::NAN, 1.0], f64::NAN);
    certain("fmax", &[f32::NAN, 1.0], 1.0);
    certain("exp", &[200.0], f64::INFINITY);
    let y = refer(
        "cast",
        &[C::DType("to", DType::F16)],
        &[f32s(&[2], &[65519.0, 65521.0])],
    )
    .remove(0);
    assert_eq!((y.bounded(0).v, y.bounded(1).v), (65504.0, f64::INFINITY));
    assert!(compare(&tensor(DType::F16, &[2], &[65504.0, f64::INFINITY]), &y).ok());
    assert!(
        !compare(
            &tensor(DType::F16, &[2], &[f64::INFINITY, f64::INFINITY]),
            &y
        )
        .ok()
    );
}

#[test]
fn comparisons_tell_what_differs() {
    let a = f32s(&[2, 2], &[1.0, 2.0, f32::NAN, -0.0]);
    let report = compare_exact(&a, &f32s(&[2, 2], &[1.0, 2.0, -f32::NAN, -0.0]));
    assert!(report.ok() && report.worst.is_none() && report.compared == 4);
    let report = compare_exact(&a, &f32s(&[2, 2], &[1.0, 2.5, f32::NAN, 0.0]));
    let worst = report.worst.clone().unwrap();
    assert_eq!((report.ok(), report.failures), (false, 2));
    assert_eq!(
        (worst.index, worst.error, worst.allowed),
        (vec![0, 1], 0.5, 0.0)
    );
    let report = compare_exact(&a, &f32s(&[4], &[0.0; 4]));
    assert_eq!(
        report.mismatch.as_deref(),
        Some("is 2x2xf32, should be 4xf32")
    );
    let report = compare_exact(&i32s(&[2], &[1, 2]), &i32s(&[2], &[1, -2]));
    assert_eq!(
        (report.ok(), report.worst.as_ref().map(|w| w.error)),
        (false, Some(4.0))
    );
    // Stored once or element by element: the same tensor.
    let once = Tensor::new(DType::I32, axes(&[(3, true)]), Data::I32(vec![7])).unwrap();
    assert!(compare_exact(&i32s(&[3], &[7, 7, 7]), &once).ok());
    assert!(compare_exact(&i32s(&[3], &[7, 8, 7]), &once).failed());
}

#[test]
fn products_in_sums_may_be_rounded_once() {
    let mut random = Random(9);
    for dtype in [DType::F64, DType::F32] {
        let mut x = [(); 3].map(|()| drawn(&mut random, dtype, 301, -2.0, 2.0));
        let made = program(
            |ir| x.iter().map(|t| type_of(ir, t)).collect(),
            |b, args| {
                let product = b.op(&fusion::MUL, &args[..2], &[]).unwrap();
                let product = b.ir.result(product, 0);
                let sum = b.op(&fusion::SUB, &[product, args[2]], &[]).unwrap();
                vec![b.ir.result(sum, 0)]
            },
        );
        let contracted = Options {
            contracted: true,
            ..reference()
        };
        // A sum of three numbers, and a product less what it is rounded to: all that is left is the rounding.
        for cancels in [false, true] {
            if cancels {
                x[2] = apply("mul", &[], &x[..2]).remove(0);
            }
            let [a, b, c] = [0, 1, 2].map(|n| values(&x[n]));
            let once = (0..a.len()).map(|i| match dtype {
                DType::F32 => f64::from((a[i] as f32).mul_add(b[i] as f32, -c[i] as f32)),
                _ => a[i].mul_add(b[i], -c[i]),
            });
            let once = tensor(dtype, &[a.len()], &once.collect::<Vec<f64>>());
            let twice = made.run(&x, &Options::default()).unwrap().values;
            let bounds = made.run(&x, &contracted).unwrap().values;
            within(&once, &bounds[0], "once");
            within(&twice[0], &bounds[0], "twice");
            let defined = made.run(&x, &reference()).unwrap().values;
            assert!(compare(&twice[0], &defined[0]).ok());
            assert!(compare(&once, &defined[0]).failed());
        }
    }
}
