//! Tests of products against three plain loops, on everything that this processor can compute them with: every element type, every order of axes,
//! sizes around tiles and blocks of terms; numbers at the ends of the range, and what is no number.

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

/// All that this processor can compute products with.
fn units() -> Vec<Units> {
    let mut all = vec![Units::Library];
    #[cfg(target_arch = "x86_64")]
    {
        let best = Units::detect();
        match best {
            Units::Library => eprintln!("skipped: no AVX-512, no kernel of ours is tested"),
            Units::Fma => {
                eprintln!("skipped: no AMX, its kernel is not tested");
                all.push(best);
            }
            Units::Amx => all.extend([Units::Fma, best]),
        }
    }
    all
}

/// The product as `units` compute it with so many workers, as it lies in memory.
fn run(tensors: &[(Factor, Vec<Axis>); 3], units: Units, workers: usize) -> Vec<f64> {
    let sides = tensors
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    let product = Product {
        units,
        ..Product::new(sides).unwrap()
    };
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
    decode(to, &result)
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
    let axes = tensors.each_ref().map(|(_, axes)| axes);
    let stored = axes[2].iter().map(|axis| axis.stored_extent());
    let to = tensors[2].0.tensor.dtype;
    // Sums are exact, and rounded once.
    let wanted = bytes(to, plain(&tensors, stored.product()).into_iter());
    let wanted = decode(to, &wanted);
    for units in units() {
        for workers in [1, 3] {
            let found = run(&tensors, units, workers);
            assert!(found == wanted, "{axes:?}, {units:?}, {workers} workers");
        }
    }
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
    // A result whose rows and columns are both apart, between those of the batch.
    for dtype in [DType::F32, DType::Bf16, DType::F16] {
        check([
            factor(dtype, &[(0, 3, false), (1, 9, false), (3, 7, false)], &[]),
            factor(
                dtype,
                &[(0, 3, false), (3, 7, false), (2, 37, false)],
                &[2, 1, 0],
            ),
            factor(
                dtype,
                &[(0, 3, false), (1, 9, false), (2, 37, false)],
                &[2, 1, 0],
            ),
        ]);
    }
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

/// The product of two matrices of bf16, row by row, in f32.
fn product(units: Units, [m, n, k]: [usize; 3], a: &[bf16], b: &[bf16]) -> Vec<f32> {
    let axes = [[(0, m), (2, k)], [(2, k), (1, n)], [(0, m), (1, n)]];
    let types = [DType::Bf16, DType::Bf16, DType::F32];
    let tensors = [0, 1, 2].map(|which| {
        let axes = axes[which].map(|(l, extent)| (l, extent, false));
        factor(types[which], &axes, &[])
    });
    let sides = tensors
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    let product = Product {
        units,
        ..Product::new(sides).unwrap()
    };
    let mut result = vec![77f32; m * n];
    let mut scratch = vec![u64::MAX; product.scratch_bytes().div_ceil(8)];
    let places = [
        Address::of(a.as_ptr().cast_mut().cast()),
        Address::of(b.as_ptr().cast_mut().cast()),
        Address::of(result.as_mut_ptr().cast()),
    ];
    for call in 0..product.calls().unwrap() {
        // SAFETY: the vectors have these sizes; what is read is not written to.
        unsafe { product.call(call, places, Address::of(scratch.as_mut_ptr().cast())) };
    }
    result
}

/// Numbers of both signs whose exponents are from `least` on, `octaves` of them.
fn draw(count: usize, least: i32, octaves: u64, seed: u64) -> Vec<bf16> {
    let numbers = (0..count as u64).map(|at| {
        let bits = fuser_random::SplitMix(at ^ seed << 32).word();
        let size = (128 + bits % 128) as f64 / 128.0;
        let exponent = least + (bits >> 8) as i32 % octaves as i32;
        let sign = if bits >> 63 == 0 { 1.0 } else { -1.0 };
        bf16::from_f64(sign * size * 2f64.powi(exponent))
    });
    numbers.collect()
}

#[test]
fn sums_are_within_their_bound_in_any_range() {
    let sizes @ [m, n, k] = [37, 67, 1061];
    // The last three have products or sums that are no normal numbers, the last subnormal factors.
    for [least_a, least_b] in [
        [-10, -8],
        [-60, -52],
        [50, 40],
        [-64, -63],
        [-100, -30],
        [-133, 100],
    ] {
        let (a, b) = (draw(m * k, least_a, 12, 1), draw(k * n, least_b, 12, 2));
        for units in units() {
            let found = product(units, sizes, &a, &b);
            for (at, &found) in found.iter().enumerate() {
                let terms = (0..k).map(|t| a[at / n * k + t].to_f64() * b[t * n + at % n].to_f64());
                let (sum, size) = terms.fold((0.0, 0.0), |(s, m), x: f64| (s + x, m + x.abs()));
                // Sums of f32 that are no normal numbers are exact.
                let bound = k as f64 * 2f64.powi(-24) * size;
                let error = (f64::from(found) - sum).abs();
                assert!(
                    error <= bound,
                    "{units:?}, {least_a}, {least_b}: {found:e}, not {sum:e}"
                );
            }
        }
    }
}

/// The least sum that is not 0, of numbers with which tiles are used just so and of those with which they are not.
#[test]
fn no_sum_is_flushed() {
    let odd = |exponent: i32| bf16::from_f64((1.0 + 2f64.powi(-7)) * 2f64.powi(exponent));
    let even = |exponent: i32, size: f64| bf16::from_f64(size * 2f64.powi(exponent));
    for e in [-56, -57, -80] {
        // (1 + u) (1 + u) - (1 + 2 u) = u u.
        let (a, b) = (
            [odd(e), even(e, -1.0)],
            [odd(e), even(e, 1.0 + 2f64.powi(-6))],
        );
        let least = 2f64.powi(2 * e - 14);
        for units in units() {
            let found = product(units, [1, 1, 2], &a, &b)[0];
            assert_eq!(f64::from(found), f64::from(least as f32), "{units:?}, {e}");
        }
    }
}

#[test]
fn what_is_no_number_and_what_overflows() {
    let (inf, nan, big, one) = (bf16::INFINITY, bf16::NAN, bf16::MAX, bf16::ONE);
    let zero = bf16::ZERO;
    let cases = [
        ([one, inf], [one, one], f32::INFINITY),
        ([one, -inf], [one, one], f32::NEG_INFINITY),
        ([inf, inf], [one, -one], f32::NAN),
        ([inf, one], [zero, one], f32::NAN),
        ([nan, one], [zero, one], f32::NAN),
        ([big, one], [big, one], f32::INFINITY),
        ([big, big], [one, one], f32::INFINITY),
        ([big, one], [one, -one], f32::from(big)),
    ];
    for (a, b, wanted) in cases {
        for units in units() {
            // The same in a matrix of other numbers, at a place of its own.
            let [m, n, k] = [35, 33, 65];
            let (mut left, mut right) = (vec![zero; m * k], vec![zero; k * n]);
            (left[34 * k], left[34 * k + 64]) = (a[0], a[1]);
            (right[32], right[64 * n + 32]) = (b[0], b[1]);
            let found = product(units, [m, n, k], &left, &right)[34 * n + 32];
            let same = found == wanted || found.is_nan() && wanted.is_nan();
            assert!(same, "{units:?}: {a:?} by {b:?} is {found}");
        }
    }
}
