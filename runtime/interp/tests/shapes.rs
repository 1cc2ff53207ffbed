//! Shape ops, reductions along axes, creation: hand-made cases, with empty, unit and broadcast axes.

use crate::common::*;
use fuser_dialects::fusion;
use fuser_interp::{Data, Options, Tensor};
use fuser_ir::types::{Dim, Extent};
use fuser_ir::{AttrKind, DType};

fn counting(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<i32> = (0..count as i32).collect();
    i32s(shape, &values)
}

/// A tensor of which axis 0 is stored once.
fn repeated(extent: usize, row: &[i32]) -> Tensor {
    let axes = axes(&[(extent, true), (row.len(), false)]);
    Tensor::new(DType::I32, axes, Data::I32(row.to_vec())).unwrap()
}

fn check(result: &Tensor, shape: &[(usize, bool)], expected: &[f64]) {
    assert_eq!(result.axes(), axes(shape));
    assert_eq!(values(result), expected);
}

#[test]
fn broadcast_adds_axes_that_are_stored_once() {
    let x = counting(&[3]);
    let y = apply(
        "broadcast",
        &[C::Ints("dims", &[1]), C::Shape("shape", &[2, 3, 0])],
        &[x],
    );
    check(&y[0], &[(2, true), (3, false), (0, true)], &[0.0, 1.0, 2.0]);
    let scalar = i32s(&[], &[7]);
    let y = apply(
        "broadcast",
        &[C::Ints("dims", &[]), C::Shape("shape", &[4, 5])],
        &[scalar],
    );
    check(&y[0], &[(4, true), (5, true)], &[7.0]);
}

#[test]
fn expand_squeeze_reshape_share_elements() {
    let x = counting(&[2, 1]);
    let y = apply(
        "expand",
        &[C::Shape("shape", &[2, 4])],
        std::slice::from_ref(&x),
    );
    check(&y[0], &[(2, false), (4, true)], &[0.0, 1.0]);
    let y = apply("squeeze", &[C::Ints("dims", &[1])], &[x]);
    check(&y[0], &[(2, false)], &[0.0, 1.0]);
    let y = apply(
        "reshape",
        &[C::Shape("shape", &[4, 6])],
        &[counting(&[2, 3, 4])],
    );
    check(
        &y[0],
        &[(4, false), (6, false)],
        &(0..24).map(f64::from).collect::<Vec<_>>(),
    );
    let whole = [
        Dim::broadcast(Extent::Static(5)),
        Dim::fixed(2),
        Dim::fixed(2),
    ];
    let y = apply(
        "reshape",
        &[C::Dims("shape", &whole)],
        &[repeated(5, &[1, 2, 3, 4])],
    );
    check(
        &y[0],
        &[(5, true), (2, false), (2, false)],
        &[1.0, 2.0, 3.0, 4.0],
    );
    let y = apply(
        "reshape",
        &[C::Shape("shape", &[7, 0])],
        &[counting(&[0, 3])],
    );
    check(&y[0], &[(7, false), (0, false)], &[]);
}

#[test]
fn permute_moves_axes() {
    let y = apply(
        "permute",
        &[C::Ints("dims", &[2, 0, 1])],
        &[counting(&[2, 3, 2])],
    );
    let expected = [0., 2., 4., 6., 8., 10., 1., 3., 5., 7., 9., 11.];
    check(&y[0], &[(2, false), (2, false), (3, false)], &expected);
    let y = apply(
        "permute",
        &[C::Ints("dims", &[1, 0])],
        &[repeated(9, &[4, 5])],
    );
    check(&y[0], &[(2, false), (9, true)], &[4.0, 5.0]);
}

#[test]
fn copy_dense_stores_every_element() {
    let y = apply("copy", &[C::Flag("dense")], &[repeated(3, &[4, 5])]);
    check(&y[0], &[(3, false), (2, false)], &[4., 5., 4., 5., 4., 5.]);
    let y = apply("copy", &[], &[repeated(3, &[4, 5])]);
    check(&y[0], &[(3, true), (2, false)], &[4., 5.]);
    let y = apply("segment_set", &[], &[repeated(3, &[4, 5])]);
    check(&y[0], &[(3, true), (2, false)], &[4., 5.]);
}

#[test]
fn elementwise_joins_shapes() {
    let plain = counting(&[3, 2]);
    let y = apply("add", &[], &[repeated(3, &[10, 20]), plain]);
    check(
        &y[0],
        &[(3, false), (2, false)],
        &[10., 21., 12., 23., 14., 25.],
    );
    let y = apply("add", &[], &[repeated(3, &[10, 20]), repeated(3, &[1, 2])]);
    check(&y[0], &[(3, true), (2, false)], &[11., 22.]);
    let y = apply("sub", &[], &[i32s(&[], &[1]), repeated(3, &[1, 2])]);
    check(&y[0], &[(3, true), (2, false)], &[0., -1.]);
    let y = apply("add", &[], &[counting(&[0, 5]), counting(&[0, 5])]);
    check(&y[0], &[(0, false), (5, false)], &[]);
}

#[test]
fn where_and_clamp_and_bitcast() {
    let condition = tensor(DType::I1, &[3], &[1.0, 0.0, 1.0]);
    let y = apply(
        "where",
        &[],
        &[
            condition,
            f32s(&[3], &[1.0, 2.0, f32::NAN]),
            f32s(&[], &[-0.0]),
        ],
    );
    assert_eq!(values(&y[0])[..2], [1.0, 0.0]);
    assert!(values(&y[0])[1].is_sign_negative() && values(&y[0])[2].is_nan());
    let low_over_high = [
        f32s(&[3], &[-9.0, 0.5, f32::NAN]),
        f32s(&[], &[2.0]),
        f32s(&[], &[1.0]),
    ];
    let y = apply("clamp", &[], &low_over_high);
    assert_eq!(values(&y[0])[..2], [1.0, 1.0]);
    assert!(values(&y[0])[2].is_nan());
    let y = apply(
        "bitcast",
        &[C::DType("to", DType::I32)],
        &[f32s(&[2], &[-0.0, 1.0])],
    );
    assert_eq!(values(&y[0]), [f64::from(i32::MIN), f64::from(0x3f80_0000)]);
    let y = apply(
        "bitcast",
        &[C::DType("to", DType::BF16)],
        &[tensor(DType::F16, &[1], &[1.0])],
    );
    assert_eq!(values(&y[0]), [half::bf16::from_bits(0x3c00).to_f64()]);
    let y = apply(
        "bitcast",
        &[C::DType("to", DType::U8)],
        &[tensor(DType::I8, &[1], &[-1.0])],
    );
    assert_eq!(values(&y[0]), [255.0]);
    // A signalling NaN is not made quiet.
    let signalling = tensor(DType::I32, &[1], &[f64::from(0x7f80_0001)]);
    let y = apply("bitcast", &[C::DType("to", DType::F32)], &[signalling]);
    let y = apply("bitcast", &[C::DType("to", DType::I32)], &y);
    assert_eq!(values(&y[0]), [f64::from(0x7f80_0001)]);
}

#[test]
fn a_part_that_begins_at_data_keeps_an_extent_that_nobody_named() {
    let rows = Dim::new(Extent::Unknown);
    let p = program(
        |ir| {
            let table = ir.tensor(vec![rows, Dim::fixed(4)], DType::I32);
            vec![table, ir.tensor(Vec::new(), DType::I32)]
        },
        |b, args| {
            let clauses = [
                b.ints("dims", &[1]),
                b.shape("shape", &[rows, Dim::fixed(2)]),
            ];
            vec![b.value(&fusion::DYNAMIC_SLICE, args, &clauses).unwrap()]
        },
    );
    let inputs = [counting(&[2, 4]), i32s(&[], &[1])];
    let y = p.run(&inputs, &Options::default()).unwrap().values;
    assert_eq!(y[0].shape(), [2, 2]);
    assert_eq!(values(&y[0]), [1.0, 2.0, 5.0, 6.0]);
}

#[test]
fn reduces_along_any_axes() {
    let x = counting(&[2, 3, 4]);
    let y = apply("sum", &[C::Ints("dims", &[1])], std::slice::from_ref(&x));
    check(
        &y[0],
        &[(2, false), (4, false)],
        &[12., 15., 18., 21., 48., 51., 54., 57.],
    );
    let y = apply("sum", &[C::Ints("dims", &[0, 2])], std::slice::from_ref(&x));
    check(&y[0], &[(3, false)], &[60., 92., 124.]);
    let y = apply(
        "max",
        &[C::Ints("dims", &[2]), C::Flag("keepdim")],
        std::slice::from_ref(&x),
    );
    check(
        &y[0],
        &[(2, false), (3, false), (1, false)],
        &[3., 7., 11., 15., 19., 23.],
    );
    let y = apply(
        "min",
        &[C::Ints("dims", &[0, 1, 2])],
        std::slice::from_ref(&x),
    );
    check(&y[0], &[], &[0.0]);
    let y = apply("sum", &[C::Ints("dims", &[])], &[x]);
    assert_eq!(y[0].shape(), [2, 3, 4]);
    let zero = apply("sum", &[C::Ints("dims", &[])], &[f32s(&[1], &[-0.0])]);
    assert!(values(&zero[0])[0].is_sign_negative());
}

#[test]
fn a_broadcast_axis_counts_as_often_as_it_is_long() {
    let y = apply("sum", &[C::Ints("dims", &[0])], &[repeated(5, &[1, 2])]);
    check(&y[0], &[(2, false)], &[5., 10.]);
    let y = apply("prod", &[C::Ints("dims", &[0])], &[repeated(3, &[2, -3])]);
    check(&y[0], &[(2, false)], &[8., -27.]);
    let y = apply("sum", &[C::Ints("dims", &[1])], &[repeated(5, &[1, 2])]);
    check(&y[0], &[(5, true)], &[3.0]);
    let y = apply("sum", &[C::Ints("dims", &[0])], &[repeated(0, &[1, 2])]);
    check(&y[0], &[(2, false)], &[0., 0.]);
}

#[test]
fn scans_keep_every_step_in_order() {
    let scan = |dim, x: Tensor| apply("cumsum", &[C::Int("dim", dim)], &[x]).remove(0);
    let x = || f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    check(
        &scan(1, x()),
        &[(2, false), (3, false)],
        &[1., 3., 6., 4., 9., 15.],
    );
    check(
        &scan(0, x()),
        &[(2, false), (3, false)],
        &[1., 2., 3., 5., 7., 9.],
    );
    // 1 is lost beside 1e8 where it comes after it, one by one.
    let order = scan(0, f32s(&[4], &[1., 1e8, 1., -1e8]));
    assert_eq!(values(&order), [1., 1e8, 1e8, 0.]);
    let first = scan(0, f32s(&[2], &[-0.0, -0.0]));
    assert!(values(&first).iter().all(|x| x.is_sign_negative()));
    // Each partial result of 16-bit floats is rounded, and not what follows from it.
    let wide = tensor(DType::BF16, &[3], &[256., 1., 1.]);
    assert_eq!(values(&scan(0, wide)), [256., 256., 258.]);
    let wraps = tensor(DType::I8, &[3], &[100., 100., 100.]);
    assert_eq!(values(&scan(0, wraps)), [100., -56., 44.]);
    check(
        &scan(0, repeated(3, &[1, 2])),
        &[(3, false), (2, false)],
        &[1., 2., 2., 4., 3., 6.],
    );
    check(
        &scan(1, repeated(3, &[1, 2])),
        &[(3, true), (2, false)],
        &[1., 3.],
    );
    for (shape, dim) in [([0, 3], 0), ([0, 3], 1), ([3, 0], 1)] {
        assert!(values(&scan(dim, tensor(DType::F32, &shape, &[]))).is_empty());
    }
    let extreme = |op, x: &[f32]| {
        let y = apply(op, &[C::Int("dim", 0)], &[f32s(&[x.len()], x)]);
        values(&y[0])
    };
    let most = extreme("cummax", &[-0.0, 0.0, -1.0, 2.0, f32::NAN, 3.0]);
    assert_eq!(most[..4], [0.0, 0.0, 0.0, 2.0]);
    assert!(most[0].is_sign_negative() && !most[1].is_sign_negative());
    assert!(most[4].is_nan() && most[5].is_nan());
    assert_eq!(extreme("cummin", &[3.0, 4.0, -2.0]), [3.0, 3.0, -2.0]);
    assert_eq!(extreme("cumprod", &[3.0, 4.0, -2.0]), [3.0, 12.0, -24.0]);
    // Several threads share a tensor; each goes from the beginning of its row.
    let long = scan(0, f32s(&[70_001], &[1.0; 70_001]));
    assert!(
        values(&long)
            .iter()
            .zip(1..)
            .all(|(x, n)| *x == f64::from(n))
    );
}

#[test]
fn empty_axes_reduce_to_the_neutral_element() {
    let infinity = f64::INFINITY;
    let cases = [
        (DType::F32, [0.0, 1.0, -infinity, infinity]),
        (DType::BF16, [0.0, 1.0, -infinity, infinity]),
        (
            DType::I32,
            [0.0, 1.0, f64::from(i32::MIN), f64::from(i32::MAX)],
        ),
        (DType::U8, [0.0, 1.0, 0.0, 255.0]),
        (DType::I64, [0.0, 1.0, i64::MIN as f64, i64::MAX as f64]),
    ];
    for (dtype, expected) in cases {
        let float = dtype.is_float();
        let [_, _, low, high] = expected;
        let plain = ["sum", "prod", "max", "min"].into_iter().zip(expected);
        let numbers = [("max_num", low), ("min_num", high)];
        for (op, expected) in plain.chain(numbers.into_iter().filter(|_| float)) {
            let y = apply(op, &[C::Ints("dims", &[1])], &[tensor(dtype, &[2, 0], &[])]);
            assert_eq!(values(&y[0]), [expected; 2], "{op} {}", dtype.name());
            let y = refer(op, &[C::Ints("dims", &[1])], &[tensor(dtype, &[2, 0], &[])]);
            assert_eq!(values(&y[0]), [expected; 2], "{op} {}", dtype.name());
        }
    }
}

#[test]
fn maxima_and_minima_propagate_nan_and_order_zeros() {
    let reduce = |op: &str, list: &[f32]| {
        values(&apply(op, &[C::Ints("dims", &[0])], &[f32s(&[list.len()], list)])[0])[0]
    };
    assert!(reduce("max", &[1.0, f32::NAN, 2.0]).is_nan() && reduce("min", &[f32::NAN]).is_nan());
    assert!(
        reduce("max", &[-0.0, 0.0]).is_sign_positive()
            && reduce("max", &[0.0, -0.0]).is_sign_positive()
    );
    assert!(
        reduce("min", &[-0.0, 0.0]).is_sign_negative()
            && reduce("min", &[0.0, -0.0]).is_sign_negative()
    );
}

#[test]
fn reduces_that_ignore_nan_are_those_of_the_rest() {
    let nan = f32::NAN;
    let lists: [&[f32]; 7] = [
        &[nan],
        &[nan, nan, nan],
        &[1.0, nan, 2.0],
        &[nan, -0.0, 0.0, nan],
        &[0.0, -0.0],
        &[f32::NEG_INFINITY, nan],
        &[nan, 3.0, f32::INFINITY],
    ];
    for list in lists {
        let rest: Vec<f32> = list.iter().copied().filter(|x| !x.is_nan()).collect();
        for (op, plain) in [("max_num", "max"), ("min_num", "min")] {
            for run in [apply, refer] {
                let dims = [C::Ints("dims", &[0])];
                let bits = |op: &str, list: &[f32]| {
                    let y = run(op, &dims, &[f32s(&[list.len()], list)]);
                    values(&y[0])[0].to_bits()
                };
                assert_eq!(bits(op, list), bits(plain, &rest), "{op} {list:?}");
            }
        }
    }
}

#[test]
fn integer_reduces_wrap_once_at_the_end() {
    let x = tensor(DType::I8, &[4], &[100.0, 100.0, 100.0, -128.0]);
    let y = apply("sum", &[C::Ints("dims", &[0])], &[x]);
    assert_eq!(values(&y[0]), [-84.0]);
    let x = Tensor::dense(DType::I64, &[2], Data::I64(vec![i64::MAX, 1])).unwrap();
    let y = apply("sum", &[C::Ints("dims", &[0])], &[x]);
    assert_eq!(y[0].data().int(0), Some(i64::MIN.into()));
}

#[test]
fn float_sums_accumulate_in_f32_in_index_order_and_round_once() {
    // In bf16 steps 256 + 1 would stay 256; f32 keeps both.
    let x = tensor(DType::BF16, &[3], &[256.0, 1.0, 1.0]);
    let y = apply("sum", &[C::Ints("dims", &[0])], &[x]);
    assert_eq!(values(&y[0]), [258.0]);
    // 2^24 + 1 rounds to even in f32, twice; the other way round the ones add up first.
    let x = f32s(&[3], &[16_777_216.0, 1.0, 1.0]);
    let y = apply("sum", &[C::Ints("dims", &[0])], &[x]);
    assert_eq!(values(&y[0]), [16_777_216.0]);
    let x = f32s(&[3], &[1.0, 1.0, 16_777_216.0]);
    let y = apply("sum", &[C::Ints("dims", &[0])], &[x]);
    assert_eq!(values(&y[0]), [16_777_218.0]);
}

#[test]
fn variance_and_mean() {
    let x = f32s(&[2, 4], &[1., 2., 3., 6., 5., 5., 5., 5.]);
    let run = |correction: i64, x: &Tensor| {
        let clauses = [C::Ints("dims", &[1]), C::Int("correction", correction)];
        apply("var_mean", &clauses, std::slice::from_ref(x))
    };
    let y = run(0, &x);
    assert_eq!(
        (values(&y[0]), values(&y[1])),
        (vec![3.5, 0.0], vec![3.0, 5.0])
    );
    let y = run(2, &x);
    assert_eq!(values(&y[0]), [7.0, 0.0]);
    for correction in [4, 5, i64::MAX] {
        let y = run(correction, &x);
        assert!(values(&y[0]).iter().all(|v| v.is_nan()) && values(&y[1]) == [3.0, 5.0]);
    }
    let y = run(0, &f32s(&[1, 0], &[]));
    assert!(values(&y[0])[0].is_nan() && values(&y[1])[0].is_nan());
    // Two passes: no cancellation.
    let y = run(0, &f32s(&[1, 2], &[16_777_214.0, 16_777_216.0]));
    assert_eq!(values(&y[0]), [1.0]);
}

#[test]
fn slices_flips_pads_and_cats() {
    let x = counting(&[3, 4]);
    let clauses = [
        C::Ints("starts", &[1, 0]),
        C::Shape("shape", &[2, 2]),
        C::Ints("strides", &[1, 3]),
    ];
    let y = apply("slice", &clauses, std::slice::from_ref(&x));
    check(&y[0], &[(2, false), (2, false)], &[4., 7., 8., 11.]);
    let clauses = [C::Ints("starts", &[3, 4]), C::Shape("shape", &[0, 0])];
    let y = apply("slice", &clauses, std::slice::from_ref(&x));
    check(&y[0], &[(0, false), (0, false)], &[]);
    let clauses = [C::Ints("starts", &[2, 1]), C::Shape("shape", &[3, 1])];
    let y = apply("slice", &clauses, &[repeated(9, &[4, 5])]);
    check(&y[0], &[(3, true), (1, false)], &[5.0]);

    let y = apply(
        "flip",
        &[C::Ints("dims", &[1])],
        std::slice::from_ref(&counting(&[2, 3])),
    );
    check(&y[0], &[(2, false), (3, false)], &[2., 1., 0., 5., 4., 3.]);
    let y = apply("flip", &[C::Ints("dims", &[0, 1])], &[repeated(9, &[4, 5])]);
    check(&y[0], &[(9, true), (2, false)], &[5., 4.]);

    let clauses = [C::Ints("low", &[0, 1]), C::Ints("high", &[1, 0])];
    let y = apply("pad", &clauses, &[counting(&[1, 2]), i32s(&[], &[9])]);
    check(&y[0], &[(2, false), (3, false)], &[9., 0., 1., 9., 9., 9.]);
    let y = apply("pad", &clauses, &[repeated(2, &[4, 5]), i32s(&[], &[9])]);
    check(
        &y[0],
        &[(3, false), (3, false)],
        &[9., 4., 5., 9., 4., 5., 9., 9., 9.],
    );
    let clauses = [C::Ints("low", &[0, 1]), C::Ints("high", &[0, 0])];
    let y = apply("pad", &clauses, &[repeated(2, &[4, 5]), i32s(&[], &[9])]);
    check(&y[0], &[(2, true), (3, false)], &[9., 4., 5.]);

    let y = apply(
        "cat",
        &[C::Int("dim", 1)],
        &[counting(&[2, 1]), counting(&[2, 0]), counting(&[2, 2])],
    );
    check(&y[0], &[(2, false), (3, false)], &[0., 0., 1., 1., 2., 3.]);
    let y = apply(
        "cat",
        &[C::Int("dim", 0)],
        &[repeated(2, &[4, 5]), counting(&[1, 2])],
    );
    check(&y[0], &[(3, false), (2, false)], &[4., 5., 4., 5., 0., 1.]);
}

#[test]
fn constants_and_iota_and_size() {
    let p = program(
        |_| vec![],
        |b, _| {
            let value = b.ir.scalar(DType::F32);
            let tenth = b.ir.attr(AttrKind::Float {
                bits: 0.1f64.to_bits(),
                ty: value,
            });
            let ty = b.ir.tensor(vec![Dim::fixed(2)], DType::BF16);
            let splat = b.typed(
                &fuser_dialects::fusion::CONSTANT,
                &[],
                &[("value", tenth)],
                ty,
            );
            let ty = b.ir.tensor(vec![Dim::fixed(2)], DType::I32);
            let dense = b.ir.attr(AttrKind::Dense {
                ty,
                dtype: DType::I32,
                splat: false,
                bytes: vec![1, 0, 0, 0, 255, 255, 255, 255],
            });
            let dense = b.typed(
                &fuser_dialects::fusion::CONSTANT,
                &[],
                &[("value", dense)],
                ty,
            );
            let shape = b.shape("shape", &[Dim::fixed(2), Dim::fixed(3)]);
            let (dim, of) = (b.int("dim", 1), b.dtype("of", DType::F16));
            let iota = b.value(&fuser_dialects::fusion::IOTA, &[], &[dim, shape, of]);
            let shape = b.shape("shape", &[Dim::fixed(2), Dim::fixed(0)]);
            let size = b.value(&fuser_dialects::fusion::SIZE, &[], &[shape]);
            vec![splat.unwrap(), dense.unwrap(), iota.unwrap(), size.unwrap()]
        },
    );
    for options in [Options::default(), reference()] {
        let y = p.run(&[], &options).unwrap().values;
        assert_eq!(values(&y[0]), [half::bf16::from_f32(0.1).to_f64(); 2]);
        assert_eq!(values(&y[1]), [1.0, -1.0]);
        assert_eq!(values(&y[2]), [0., 1., 2., 0., 1., 2.]);
        assert_eq!(values(&y[3]), [0.0]);
    }
    let y = apply("full", &[C::Shape("shape", &[2, 2])], &[i32s(&[], &[3])]);
    check(&y[0], &[(2, false), (2, false)], &[3.0; 4]);
}

#[test]
fn threads_change_nothing() {
    let count = 40_009;
    let x: Vec<f32> = (0..count * 3)
        .map(|i| ((i * 7919) % 1013) as f32 / 7.0)
        .collect();
    let x = f32s(&[count, 3], &x);
    for (op, clauses) in [
        ("exp", vec![]),
        ("sum", vec![C::Ints("dims", &[1])]),
        ("permute", vec![C::Ints("dims", &[1, 0])]),
    ] {
        let p = single(op, &clauses, std::slice::from_ref(&x));
        let one = p
            .run(std::slice::from_ref(&x), &Options::default())
            .unwrap();
        let options = Options {
            threads: 3,
            ..Options::default()
        };
        let three = p.run(std::slice::from_ref(&x), &options).unwrap();
        assert_eq!(one.values[0].data(), three.values[0].data(), "{op}");
    }
}

#[test]
fn takes_read_the_nearest_element() {
    let x = counting(&[3, 4]);
    let indices = i32s(&[3], &[-1, 2, 9]);
    let y = apply("take", &[C::Int("dim", 1)], &[x.clone(), indices]);
    let wanted = [0., 2., 3., 4., 6., 7., 8., 10., 11.];
    check(&y[0], &[(3, false), (3, false)], &wanted);
    let one = i32s(&[], &[1]);
    let y = apply("take", &[C::Int("dim", 0)], &[x.clone(), one]);
    check(&y[0], &[(4, false)], &[4., 5., 6., 7.]);
    let empty = [counting(&[0, 2]), i32s(&[2], &[0, 7])];
    let y = apply("take", &[C::Int("dim", 0)], &empty);
    check(&y[0], &[(2, false), (2, false)], &[0.; 4]);

    let indices = i32s(&[2, 4], &[0, 1, 2, 3, i32::MIN, 0, i32::MAX, 1]);
    let y = apply("take_along", &[C::Int("dim", 0)], &[x, indices]);
    let wanted = [0., 5., 10., 11., 0., 1., 10., 7.];
    check(&y[0], &[(2, false), (4, false)], &wanted);
    // What is stored once on both sides stays so.
    let rows = [repeated(9, &[4, 5]), repeated(9, &[7, -7])];
    let y = apply("take_along", &[C::Int("dim", 1)], &rows);
    check(&y[0], &[(9, true), (2, false)], &[5., 4.]);
}
