//! Tests of scatters against plain loops: sizes around parts and pieces, every way to combine, orders of axes, many workers.

use super::*;
use crate::team::Effort;
use crate::workers::Workers;
use fuser_artifact::{DimSpec, TensorSpec};

/// A tensor of a scatter: for each axis its loop and its length.
fn factor(dtype: DType, axes: &[(u32, usize)], order: &[u32]) -> (Factor, Vec<Axis>) {
    let dims = axes.iter().map(|&(_, n)| DimSpec::stored(n as i64));
    let tensor = TensorSpec {
        name: "t".to_string(),
        dtype,
        dims: dims.collect(),
        order: order.to_vec(),
        buffer: 0,
    };
    let loops = axes.iter().map(|axis| axis.0).collect();
    let lengths = axes.iter().map(|&(_, n)| Axis::stored(n));
    (Factor { tensor, loops }, lengths.collect())
}

fn count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.extent).product()
}

/// `dest` of `[a, v, b]` and `n` updates along the middle axis, at indices from -2 on that meet and go beyond the axis.
fn check([a, v, b, n]: [usize; 4], whole: bool, turned: bool, combine: Combine, workers: usize) {
    let order: &[u32] = if turned { &[2, 1, 0] } else { &[] };
    let own = [(0, a), (3, n), (2, b)];
    let indices = match whole {
        true => factor(DType::I64, &own[1..2], &[]),
        false => factor(DType::I64, &own, &[]),
    };
    let tensors = [
        factor(DType::I32, &[(0, a), (1, v), (2, b)], &[]),
        indices,
        factor(DType::I32, &own, order),
        factor(DType::I32, &[(0, a), (1, v), (2, b)], order),
    ];
    let (mut factors, axes): (Vec<Factor>, Vec<Vec<Axis>>) = tensors.into_iter().unzip();
    for (buffer, factor) in factors.iter_mut().enumerate() {
        factor.tensor.buffer = buffer as u32;
    }
    let apart = Scatter::new(combine, &factors, &axes).unwrap();
    let mut dest: Vec<i32> = (0..count(&axes[0])).map(|i| (i % 11) as i32 - 5).collect();
    let held = |i: usize| (i * 7 % (v + 5)) as i64 - 2;
    let mut indices: Vec<i64> = (0..count(&axes[1])).map(held).collect();
    let mut updates: Vec<i32> = (0..count(&axes[2]))
        .map(|i| (i * 5 % 13) as i32 - 4)
        .collect();
    let mut result = vec![77i32; count(&axes[3])];

    let at = |which: usize, index: [usize; 4]| -> usize {
        let order: Vec<usize> = factors[which]
            .tensor
            .order
            .iter()
            .map(|&i| i as usize)
            .collect();
        let steps = strides(&axes[which], &order).into_iter();
        steps
            .zip(&factors[which].loops)
            .map(|(s, &l)| s * index[l as usize])
            .sum()
    };
    let mut wanted = result.clone();
    for i in 0..a {
        for k in 0..b {
            for j in 0..v {
                wanted[at(3, [i, j, k, 0])] = dest[at(0, [i, j, k, 0])];
            }
            for j in 0..n {
                let index = indices[at(1, [i, 0, k, j])];
                if (0..v as i64).contains(&index) {
                    let to = &mut wanted[at(3, [i, index as usize, k, 0])];
                    let update = updates[at(2, [i, 0, k, j])];
                    *to = match combine {
                        Combine::Set => update,
                        Combine::Add => *to + update,
                        Combine::Mul => to.wrapping_mul(update),
                        Combine::Max => Ord::max(*to, update),
                        Combine::Min => Ord::min(*to, update),
                    };
                }
            }
        }
    }
    let workers = Workers::new(workers).unwrap();
    let mut run = |scatter: &Scatter, dest: *mut i32, result: *mut i32| {
        let places = [
            Address::of(dest.cast()),
            Address::of(indices.as_mut_ptr().cast()),
            Address::of(updates.as_mut_ptr().cast()),
            Address::of(result.cast()),
        ];
        let calls = scatter.calls().unwrap();
        workers.for_each_chunk(calls, Effort::Unknown, &|_, begin, end| {
            for call in begin..end {
                // SAFETY: the vectors have these sizes.
                unsafe { scatter.call(call, places) };
            }
        });
    };
    let what = format!("{a} {v} {b}, {n} updates, {whole} {turned} {combine:?}");
    run(&apart, dest.as_mut_ptr(), result.as_mut_ptr());
    assert!(result == wanted, "{what}");
    factors[0].tensor.buffer = 3;
    match Scatter::new(combine, &factors, &axes) {
        Some(in_place) => {
            let memory = dest.as_mut_ptr();
            run(&in_place, memory, memory);
            assert!(dest == wanted, "in place, {what}");
        }
        None => assert!(turned, "{what}"),
    }
}

/// A zero that is summed is `+0`, in place too; an element that no update meets keeps its sign.
#[test]
fn zeros_that_are_summed_are_positive_in_place() {
    let (mut factors, axes): (Vec<Factor>, Vec<Vec<Axis>>) = [
        factor(DType::F32, &[(0, 3)], &[]),
        factor(DType::I64, &[(1, 1)], &[]),
        factor(DType::F32, &[(1, 1)], &[]),
        factor(DType::F32, &[(0, 3)], &[]),
    ]
    .into_iter()
    .unzip();
    for (factor, buffer) in factors.iter_mut().zip([3, 1, 2, 3]) {
        factor.tensor.buffer = buffer;
    }
    let scatter = Scatter::new(Combine::Add, &factors, &axes).unwrap();
    let (mut dest, mut index, mut update) = ([-0.0f32, -0.0, 2.0], [1i64], [-0.0f32]);
    let memory = Address::of(dest.as_mut_ptr().cast());
    let places = [
        memory,
        Address::of(index.as_mut_ptr().cast()),
        Address::of(update.as_mut_ptr().cast()),
        memory,
    ];
    for call in 0..scatter.calls().unwrap() {
        // SAFETY: the arrays have these sizes.
        unsafe { scatter.call(call, places) };
    }
    assert_eq!(
        dest.map(f32::to_bits),
        [-0.0f32, 0.0, 2.0].map(f32::to_bits)
    );
}

#[test]
fn every_update_is_put_where_its_index_says() {
    for sizes in [
        [1, 1, 1, 1],
        [2, 7, 3, 5],
        [1, 601, 1, 1009],
        [1, 33, 131, 17],
        [17, 5, 65, 3],
        [3, 0, 4, 2],
        [3, 4, 0, 2],
        [2, 5, 3, 0],
    ] {
        for (whole, turned) in [(true, false), (true, true), (false, false), (false, true)] {
            check(sizes, whole, turned, Combine::Add, 3);
            check(sizes, whole, turned, Combine::Set, 1);
        }
        for combine in [Combine::Mul, Combine::Max, Combine::Min] {
            check(sizes, true, false, combine, 2);
        }
    }
}

/// Updates outside of the axis put nothing anywhere, whatever they hold, for both types of indices and all operations.
#[test]
fn updates_outside_leave_no_trace() {
    fn check<I: Copy>(dtype: DType, held: [I; 7]) {
        let (mut factors, axes): (Vec<Factor>, Vec<Vec<Axis>>) = [
            factor(DType::F32, &[(0, 3)], &[]),
            factor(dtype, &[(1, 7)], &[]),
            factor(DType::F32, &[(1, 7)], &[]),
            factor(DType::F32, &[(0, 3)], &[]),
        ]
        .into_iter()
        .unzip();
        for (buffer, factor) in factors.iter_mut().enumerate() {
            factor.tensor.buffer = buffer as u32;
        }
        let (mut dest, mut held) = ([2.0f32, 3.0, 5.0], held);
        let mut updates = [f32::NAN, 4.0, f32::INFINITY, f32::NAN, 1.0, f32::NAN, 7.0];
        for (combine, wanted) in [
            (Combine::Set, [1.0, 3.0, 7.0]),
            (Combine::Add, [7.0, 3.0, 12.0]),
            (Combine::Mul, [8.0, 3.0, 35.0]),
            (Combine::Max, [4.0, 3.0, 7.0]),
            (Combine::Min, [1.0, 3.0, 5.0]),
        ] {
            let scatter = Scatter::new(combine, &factors, &axes).unwrap();
            let mut result = [77.0f32; 3];
            let places = [
                Address::of(dest.as_mut_ptr().cast()),
                Address::of(held.as_mut_ptr().cast()),
                Address::of(updates.as_mut_ptr().cast()),
                Address::of(result.as_mut_ptr().cast()),
            ];
            for call in 0..scatter.calls().unwrap() {
                // SAFETY: the arrays have these sizes.
                unsafe { scatter.call(call, places) };
            }
            assert_eq!(result, wanted, "{combine:?} {dtype:?}");
        }
    }
    check(DType::I64, [-1, 0, 3, i64::MIN, 0, i64::MAX, 2]);
    check(DType::I32, [-1, 0, 3, i32::MIN, 0, i32::MAX, 2]);
}

#[test]
fn extremes_are_those_of_the_op() {
    assert!(Element::max(f32::NAN, 1.0).is_nan() && Element::max(1.0, f32::NAN).is_nan());
    assert!(Element::min(f32::NAN, 1.0).is_nan() && Element::min(1.0, f32::NAN).is_nan());
    assert_eq!(Element::max(-0.0f64, 0.0).to_bits(), 0);
    assert_eq!(Element::min(0.0f64, -0.0).to_bits(), (-0.0f64).to_bits());
    assert_eq!(Element::max(f16::NEG_INFINITY, f16::ONE), f16::ONE);
}

#[test]
fn a_large_scatter_is_many_calls() {
    let axes = |n: usize| [Axis::stored(n), Axis::stored(768)].to_vec();
    let (dest, _) = factor(DType::F32, &[(0, 5000), (1, 768)], &[]);
    let (indices, own) = factor(DType::I64, &[(2, 100)], &[]);
    let (updates, _) = factor(DType::F32, &[(2, 100), (1, 768)], &[]);
    let factors = [dest.clone(), indices, updates, dest];
    let axes = [axes(5000), own, axes(100), axes(5000)];
    let scatter = Scatter::new(Combine::Add, &factors, &axes).unwrap();
    assert_eq!(scatter.calls(), Some(8));
    let single = |v: usize, n: usize, buffer: u32| {
        let line = factor(DType::F32, &[(0, v)], &[]);
        let mut result = line.clone();
        result.0.tensor.buffer = buffer;
        let own = [
            factor(DType::I64, &[(1, n)], &[]),
            factor(DType::F32, &[(1, n)], &[]),
        ];
        let tensors = [line, own[0].clone(), own[1].clone(), result];
        let (factors, axes): (Vec<Factor>, Vec<Vec<Axis>>) = tensors.into_iter().unzip();
        Scatter::new(Combine::Add, &factors, &axes).unwrap().calls()
    };
    assert_eq!([single(100, 9, 1), single(4096, 9, 1)], [Some(1), Some(8)]);
    // In place nothing is copied.
    assert_eq!(single(4096, 9, 0), Some(1));
    // Each call reads all indices: of a histogram one does.
    assert_eq!(single(4096, 1_000_000, 1), Some(1));
}
