//! Tests of products against three plain loops: every element type, every order of axes, sizes around tiles and pieces of terms.

use super::*;
use crate::team::Effort;
use crate::workers::Workers;
use fuser_artifact::{DimSpec, TensorSpec};

/// Whole numbers small enough that every sum of them is exact in every type.
fn element(at: usize) -> f64 {
    (at * 7 % 5) as f64 - 2.0
}

fn bytes(dtype: DType, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let encode = |x: f64| match dtype {
        DType::F64 => x.to_le_bytes().to_vec(),
        DType::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        _ => (x as f32).to_le_bytes().to_vec(),
    };
    values.flat_map(encode).collect()
}

fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let words = bytes.chunks_exact(dtype.bytes());
    let value = |word: &[u8]| match dtype {
        DType::F64 => f64::from_le_bytes(word.try_into().unwrap()),
        DType::F16 => f16::from_le_bytes(word.try_into().unwrap()).to_f64(),
        DType::Bf16 => bf16::from_le_bytes(word.try_into().unwrap()).to_f64(),
        _ => f32::from_le_bytes(word.try_into().unwrap()).into(),
    };
    words.map(value).collect()
}

/// A tensor of a product: for each axis its loop, its length, and whether it is stored once.
fn factor(dtype: DType, axes: &[(u32, usize, bool)], order: &[u32]) -> (Factor, Vec<Axis>) {
    let tensor = TensorSpec {
        name: "t".to_string(),
        dtype,
        dims: axes
            .iter()
            .map(|&(_, n, once)| DimSpec {
                extent: (n as i64).into(),
                broadcast: once,
            })
            .collect(),
        order: order.to_vec(),
        buffer: 0,
    };
    let loops = axes.iter().map(|axis| axis.0).collect();
    let lengths = axes
        .iter()
        .map(|&(_, extent, broadcast)| Axis { extent, broadcast });
    (Factor { tensor, loops }, lengths.collect())
}

/// The product with so many workers, and the plain loops' result, both as they lie in memory.
fn both(tensors: &[(Factor, Vec<Axis>); 3], workers: usize) -> (Vec<f64>, Vec<f64>) {
    let sides = tensors
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    let product = Product::new(sides).unwrap();
    let stored = |axes: &[Axis]| {
        axes.iter()
            .map(|axis| axis.stored_extent())
            .product::<usize>()
    };
    let sizes = tensors.each_ref().map(|(_, axes)| stored(axes));
    let [from, to] = product.dtypes;
    let mut left = bytes(from, (0..sizes[0]).map(element));
    let mut right = bytes(from, (0..sizes[1]).map(|at| element(at + 3)));
    let mut result = bytes(to, (0..sizes[2]).map(|_| 77.0));
    let mut scratch = vec![0u64; workers * product.scratch_bytes().div_ceil(8)];
    let places = [&mut left, &mut right, &mut result].map(|bytes| Address::of(bytes.as_mut_ptr()));
    let (room, base) = (
        product.scratch_bytes().div_ceil(8) * 8,
        Address::of(scratch.as_mut_ptr().cast()),
    );
    Workers::new(workers).unwrap().for_each_chunk(
        product.calls().unwrap(),
        Effort::Unknown,
        &|worker, begin, end| {
            for call in begin..end {
                // SAFETY: the vectors have these sizes, and each worker has its part of the scratch.
                unsafe { product.call(call, places, Address::of(base.at(worker * room))) };
            }
        },
    );
    // Sums are exact, and rounded once.
    let wanted = bytes(to, plain(tensors, sizes[2]).into_iter());
    (decode(to, &result), decode(to, &wanted))
}

fn plain(tensors: &[(Factor, Vec<Axis>); 3], length: usize) -> Vec<f64> {
    let rank = tensors[2].0.loops.len();
    let mut extents = vec![0; rank + 1];
    for (factor, axes) in tensors {
        factor
            .loops
            .iter()
            .zip(axes)
            .for_each(|(&l, axis)| extents[l as usize] = axis.extent);
    }
    let at = |which: usize, index: &[usize]| {
        let (factor, axes) = &tensors[which];
        let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
        let steps = strides(axes, &order).into_iter().zip(&factor.loops);
        steps
            .map(|(step, &l)| step * index[l as usize])
            .sum::<usize>()
    };
    let mut sums = vec![0.0; length];
    let total: usize = extents[..rank].iter().product();
    for number in 0..total {
        let mut rest = number;
        let mut index = vec![0; rank + 1];
        for l in (0..rank).rev() {
            index[l] = rest % extents[l];
            rest /= extents[l];
        }
        let terms = (0..extents[rank]).map(|k| {
            index[rank] = k;
            element(at(0, &index)) * element(at(1, &index) + 3)
        });
        let sum = terms.sum();
        sums[at(2, &index)] = sum;
    }
    sums
}

fn check(tensors: [(Factor, Vec<Axis>); 3]) {
    let (found, wanted) = both(&tensors, 1);
    let axes = tensors.each_ref().map(|(_, axes)| axes);
    assert!(found == wanted, "{axes:?}");
    assert!(both(&tensors, 3).0 == found, "{axes:?} on three workers");
}

/// `m` rows by `n` columns of `k` terms, with an order of axes for each tensor.
fn matrices(from: DType, to: DType, [m, n, k]: [usize; 3], orders: [&[u32]; 3]) {
    check([
        factor(from, &[(0, m, false), (2, k, false)], orders[0]),
        factor(from, &[(2, k, false), (1, n, false)], orders[1]),
        factor(to, &[(0, m, false), (1, n, false)], orders[2]),
    ]);
}

#[test]
fn matrices_of_odd_sizes_are_exact() {
    let (plain, turned): (&[u32], &[u32]) = (&[], &[1, 0]);
    for from in [DType::F32, DType::F64, DType::Bf16, DType::F16] {
        for sizes in [
            [1, 1, 1],
            [7, 5, 3],
            [65, 129, 17],
            [16, 64, 513],
            [257, 65, 8],
        ] {
            matrices(from, from, sizes, [plain, plain, plain]);
            matrices(from, from, sizes, [turned, turned, plain]);
            matrices(from, from, sizes, [plain, turned, turned]);
        }
    }
    matrices(
        DType::Bf16,
        DType::F32,
        [33, 70, 1025],
        [plain, turned, turned],
    );
    // More columns than one call takes.
    for from in [DType::F32, DType::F16] {
        matrices(from, from, [9, 1030, 5], [plain, plain, turned]);
    }
}

#[test]
fn nothing_is_summed_to_zero_and_no_element_is_no_call() {
    for sizes in [[3, 4, 0], [0, 4, 3], [3, 0, 3]] {
        matrices(DType::F32, DType::F32, sizes, [&[], &[], &[]]);
        matrices(DType::F16, DType::F16, sizes, [&[], &[], &[]]);
    }
}

#[test]
fn loops_beside_the_matrix() {
    let dtype = DType::F32;
    // Rows that are one run, and rows that are not; batches of both and of one.
    check([
        factor(dtype, &[(0, 3, false), (1, 5, false), (3, 7, false)], &[]),
        factor(dtype, &[(3, 7, false), (2, 9, false)], &[]),
        factor(dtype, &[(0, 3, false), (1, 5, false), (2, 9, false)], &[]),
    ]);
    check([
        factor(
            dtype,
            &[(0, 3, false), (1, 5, false), (3, 7, false)],
            &[1, 0, 2],
        ),
        factor(
            dtype,
            &[(0, 3, false), (3, 7, false), (2, 9, false)],
            &[2, 0, 1],
        ),
        factor(dtype, &[(0, 3, false), (1, 5, false), (2, 9, false)], &[]),
    ]);
    check([
        factor(
            dtype,
            &[(0, 3, false), (1, 5, false), (3, 7, false)],
            &[1, 0, 2],
        ),
        factor(dtype, &[(2, 9, false), (3, 7, false)], &[]),
        factor(dtype, &[(0, 3, false), (1, 5, false), (2, 9, false)], &[]),
    ]);
    // A vector by a vector.
    check([
        factor(dtype, &[(0, 7, false)], &[]),
        factor(dtype, &[(0, 7, false)], &[]),
        factor(dtype, &[], &[]),
    ]);
}

#[test]
fn axes_that_are_stored_once() {
    let dtype = DType::F16;
    check([
        factor(dtype, &[(0, 5, true), (2, 70, false)], &[]),
        factor(dtype, &[(2, 70, true), (1, 9, false)], &[]),
        factor(dtype, &[(0, 5, true), (1, 9, false)], &[]),
    ]);
}

#[test]
fn loops_must_agree() {
    let side = |axes: &[(u32, usize, bool)]| factor(DType::F32, axes, &[]);
    let (a, b) = (
        side(&[(0, 2, false), (2, 3, false)]),
        side(&[(2, 4, false), (1, 5, false)]),
    );
    let c = side(&[(0, 2, false), (1, 5, false)]);
    let tensors = [
        (&a.0, a.1.as_slice()),
        (&b.0, b.1.as_slice()),
        (&c.0, c.1.as_slice()),
    ];
    assert_eq!(Product::new(tensors), None);
}
