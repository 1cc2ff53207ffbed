//! Tests of products against three plain loops, on everything that this processor can compute them with: every element type, every order of axes,
//! sizes around tiles and blocks of terms; numbers at the ends of the range, and what is no number.

use super::*;
use crate::testing::{call_all, decode, encode, factor, units};

/// The tensors of a product: both factors and the result.
type Tensors = [(Factor, Vec<Axis>); 3];

/// Whole numbers small enough that every sum of them is exact in every type.
fn element(at: usize) -> f64 {
    (at * 7 % 5) as f64 - 2.0
}

/// The product of factors in memory as `units` compute it with so many workers, as it lies in memory.
fn run(tensors: &Tensors, factors: [&[f64]; 2], units: Units, workers: usize) -> Vec<f64> {
    run_windows(tensors, &[], factors, units, workers)
}

/// The product of a left factor that is read through windows, likewise.
fn run_windows(
    tensors: &Tensors,
    windows: &[Window],
    factors: [&[f64]; 2],
    units: Units,
    workers: usize,
) -> Vec<f64> {
    let sides = tensors
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    let product = Product {
        units,
        ..Product::new(sides, None, windows, workers).unwrap()
    };
    let [from, to] = product.dtypes;
    let [mut left, mut right] = factors.map(|values| encode(from, values.iter().copied()));
    let (calls, room) = (product.calls().unwrap(), product.scratch_bytes());
    let nowhere = Address::of(std::ptr::null_mut());
    let multiply = |product: &Product, left: &mut [u8], right: &mut [u8], kept: Address| {
        let mut result = encode(to, (0..stored(&tensors[2].1)).map(|_| 77.0));
        let all = [left, right, &mut result];
        let [a, b, c] = all.map(|bytes| Address::of(bytes.as_mut_ptr()));
        let places = [a, b, c, nowhere];
        call_all(workers, calls, room, &|call, scratch| {
            // SAFETY: the vectors have these sizes.
            unsafe { product.call(call, places, [scratch, kept]) };
        });
        result
    };
    let result = multiply(&product, &mut left, &mut right, nowhere);
    // Factors that stay packed give the same bits, in the run that packs them and in the next, where the other one has
    // changed.
    for fixed in [[true, false], [false, true]] {
        let mut keeping = product.clone();
        let bytes = keeping.keep(fixed, 0);
        if bytes == 0 {
            continue;
        }
        let mut memory = vec![[1u64; 8]; bytes / 64 + 1];
        let kept = Address::of(memory.as_mut_ptr().cast());
        let kept = Address::of(kept.at(kept.at(0).align_offset(64)));
        // SAFETY: the memory has so many bytes from its first line on.
        unsafe { keeping.forget(kept) };
        let found = multiply(&keeping, &mut left, &mut right, kept);
        assert!(found == result, "{fixed:?}, {units:?}");
        let [mut left, mut right] = [left.clone(), right.clone()];
        let size = from.bytes();
        let other = if fixed[0] { &mut right } else { &mut left };
        let turned: Vec<u8> = other.chunks(size).rev().flatten().copied().collect();
        other.copy_from_slice(&turned);
        let wanted = multiply(&product, &mut left, &mut right, nowhere);
        let found = multiply(&keeping, &mut left, &mut right, kept);
        assert!(found == wanted, "{fixed:?}, {units:?}, again");
    }
    decode(to, &result)
}

/// The product plus whole numbers, in the memory of the result or apart from it, and in the result's order of axes or
/// another one.
fn check_added(tensors: &Tensors, factors: [&[f64]; 2], wanted: &[f64], units: Units) {
    let sides = tensors
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    let (result, axes) = &tensors[2];
    let [from, to] = [&tensors[0].0, result].map(|own| own.tensor.dtype);
    let mut turned = result.clone();
    turned.tensor.order = (0..axes.len() as u32).rev().collect();
    for (added, in_place) in [(result, true), (result, false), (&turned, false)] {
        let product = Product {
            units,
            ..Product::new(sides, Some((added, axes)), &[], 3).unwrap()
        };
        let (calls, room) = (product.calls().unwrap(), product.scratch_bytes());
        let [mut left, mut right] = factors.map(|values| encode(from, values.iter().copied()));
        let count = stored(axes);
        let numbers: Vec<f64> = (0..count).map(|at| element(at + 1)).collect();
        let mut c = encode(to, numbers.iter().copied());
        let mut made = encode(to, (0..count).map(|_| 77.0));
        let mut places = [&mut left, &mut right, &mut made, &mut c].map(|bytes| bytes.as_mut_ptr());
        if in_place {
            places[2] = places[3];
        }
        let places = places.map(Address::of);
        let nowhere = Address::of(std::ptr::null_mut());
        call_all(3, calls, room, &|call, scratch| {
            // SAFETY: the vectors have these sizes.
            unsafe { product.call(call, places, [scratch, nowhere]) };
        });
        let found = decode(to, if in_place { &c } else { &made });
        let steps = [result, added].map(|own| strides(axes, &order_of(own)));
        let mut sums = wanted.to_vec();
        for number in 0..count {
            let (mut rest, mut at) = (number, [0; 2]);
            for (axis, own) in axes.iter().enumerate().rev() {
                let index = rest % own.stored_extent();
                rest /= own.stored_extent();
                (0..2).for_each(|which| at[which] += index * steps[which][axis]);
            }
            sums[at[0]] += numbers[at[1]];
        }
        assert_eq!(found, sums, "{units:?}, in place: {in_place}");
    }
}

/// Elements of a tensor in memory.
fn stored(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.stored_extent()).product()
}

fn plain(tensors: &Tensors, length: usize) -> Vec<f64> {
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

fn check(tensors: Tensors) {
    let axes = tensors.each_ref().map(|(_, axes)| axes);
    let to = tensors[2].0.tensor.dtype;
    let [left, right] = [0, 3].map(|first| {
        let count = stored(axes[usize::from(first > 0)]);
        (first..first + count).map(element).collect::<Vec<f64>>()
    });
    // Sums are exact, and rounded once.
    let wanted = encode(to, plain(&tensors, stored(axes[2])).into_iter());
    let wanted = decode(to, &wanted);
    for units in units() {
        for workers in [1, 3] {
            let found = run(&tensors, [&left, &right], units, workers);
            assert!(found == wanted, "{axes:?}, {units:?}, {workers} workers");
        }
        if matches!(to, DType::F32 | DType::F64) {
            check_added(&tensors, [&left, &right], &wanted, units);
        }
    }
}

/// `m` rows by `n` columns of `k` terms, with an order of axes for each tensor.
fn tensors(from: DType, to: DType, [m, n, k]: [usize; 3], orders: [&[u32]; 3]) -> Tensors {
    let axes = [[(0, m), (2, k)], [(2, k), (1, n)], [(0, m), (1, n)]];
    [0, 1, 2].map(|which| {
        let axes = axes[which].map(|(l, extent)| (l, extent, false));
        factor([from, from, to][which], &axes, orders[which])
    })
}

fn matrices(from: DType, to: DType, sizes: [usize; 3], orders: [&[u32]; 3]) {
    check(tensors(from, to, sizes, orders));
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
        [33, 530, 1025],
        [plain, turned, turned],
    );
    // More columns than one call takes.
    for from in [DType::F32, DType::F16, DType::Bf16] {
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
    assert_eq!(Product::new(tensors, None, &[], 1), None);
}

/// The product of two matrices of bf16, row by row, in f32.
fn product(units: Units, sizes: [usize; 3], factors: [&[f64]; 2]) -> Vec<f64> {
    run(
        &tensors(DType::Bf16, DType::F32, sizes, [&[]; 3]),
        factors,
        units,
        1,
    )
}

/// Numbers of both signs whose exponents are from that on which `least` gives for each place, 12 of them.
fn draw(count: usize, seed: u64, least: impl Fn(usize) -> i32) -> Vec<f64> {
    let numbers = (0..count).map(|at| {
        let bits = fuser_random::SplitMix(at as u64 ^ seed << 32).word();
        let size = (128 + bits % 128) as f64 / 128.0;
        let exponent = least(at) + (bits >> 8) as i32 % 12;
        let sign = if bits >> 63 == 0 { 1.0 } else { -1.0 };
        bf16::from_f64(sign * size * 2f64.powi(exponent)).to_f64()
    });
    numbers.collect()
}

/// Compares a product of bf16 in f32 with the exact one, within the bound.
fn within(found: &[f64], [_, n, k]: [usize; 3], [a, b]: [&[f64]; 2], what: &str) {
    for (at, &found) in found.iter().enumerate() {
        let terms = (0..k).map(|t| a[at / n * k + t] * b[t * n + at % n]);
        let (sum, size) = terms.fold((0.0, 0.0), |(s, m), x: f64| (s + x, m + x.abs()));
        // Sums of f32 that are no normal numbers are exact.
        let bound = k as f64 * 2f64.powi(-24) * size;
        let error = (found - sum).abs();
        assert!(error <= bound, "{what} at {at}: {found:e}, not {sum:e}");
    }
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
        let (a, b) = (draw(m * k, 1, |_| least_a), draw(k * n, 2, |_| least_b));
        for units in units() {
            let found = product(units, sizes, [&a, &b]);
            within(
                &found,
                sizes,
                [&a, &b],
                &format!("{units:?}, {least_a}, {least_b}"),
            );
        }
    }
}

/// However many workers there are, and whichever rows and columns have numbers with which tiles are not used.
#[test]
fn workers_do_not_change_a_bit() {
    let sizes @ [m, n, k] = [203, 330, 301];
    // Of one row and one column of each 64. Some rows and columns do not fit each other, some rows fit no column.
    for (rows, columns) in [
        ([-10, -65, 0, -3], [-70, 0, -66, -66, 5, -60]),
        ([-10, -133, 0, -133], [0, -2, 5, 9, 20, 60]),
    ] {
        let one = |at: usize, least: &[i32]| if at % 64 == 5 { least[at / 64] } else { -1 };
        let a = draw(m * k, 1, |at| one(at / k, &rows));
        let b = draw(k * n, 2, |at| one(at % n, &columns));
        for (from, to) in [
            (DType::Bf16, DType::F32),
            (DType::F16, DType::F16),
            (DType::F32, DType::F32),
            (DType::F64, DType::F64),
        ] {
            let tensors = tensors(from, to, sizes, [&[], &[], &[1, 0]]);
            for units in units() {
                let bits = |workers: usize| {
                    let found = run(&tensors, [&a, &b], units, workers);
                    found.into_iter().map(f64::to_bits).collect::<Vec<_>>()
                };
                let one = bits(1);
                for workers in [2, 3, 30] {
                    let same = bits(workers) == one;
                    assert!(same, "{from}, {units:?}, {workers} workers");
                }
            }
        }
        for units in units() {
            let found = product(units, sizes, [&a, &b]);
            within(&found, sizes, [&a, &b], &format!("{units:?}"));
        }
    }
}

#[test]
fn every_worker_has_a_tile() {
    for (workers, wanted) in [
        (1, [1024, 1024]),
        (2, [512, 1024]),
        (4, [512, 512]),
        (8, [256, 512]),
        (16, [256, 256]),
        (64, [128, 128]),
    ] {
        assert_eq!(tile([1024, 1024], 1, workers), wanted);
    }
    // Who has most has at most twice its share, or a block.
    for [m, n] in [
        [4096, 4096],
        [1009, 1013],
        [64, 10007],
        [3001, 200],
        [7, 70],
        [1, 1],
    ] {
        for (batch, workers) in [1, 2, 4, 8, 16, 64].map(|w| [(1, w), (3, w)]).concat() {
            let found = tile([m, n], batch, workers);
            for (size, most) in found.into_iter().zip(MOST) {
                assert!(size % GRAIN == 0 && (GRAIN..=most).contains(&size));
            }
            let [rows, columns] = found;
            let calls = batch * m.div_ceil(rows) * n.div_ceil(columns);
            let most = calls.div_ceil(workers) * rows.min(m) * columns.min(n);
            let share = batch * m * n / workers;
            let (what, block) = ([m, n, batch, workers], GRAIN * GRAIN);
            assert!(most <= block.max(2 * share), "{what:?}: {found:?}");
        }
    }
    // Nothing, and more than can be counted.
    assert_eq!(tile([0, 5], 1, 3), [64, 64]);
    assert_eq!(tile([usize::MAX, 1], usize::MAX, 3), [64, 64]);
}

/// The least sum that is not 0, of numbers with which tiles are used just so and of those with which they are not.
#[test]
fn no_sum_is_flushed() {
    let odd = |exponent: i32| (1.0 + 2f64.powi(-7)) * 2f64.powi(exponent);
    let even = |exponent: i32, size: f64| size * 2f64.powi(exponent);
    for e in [-56, -57, -80] {
        // (1 + u) (1 + u) - (1 + 2 u) = u u.
        let (a, b) = (
            [odd(e), even(e, -1.0)],
            [odd(e), even(e, 1.0 + 2f64.powi(-6))],
        );
        let least = 2f64.powi(2 * e - 14);
        for units in units() {
            let found = product(units, [1, 1, 2], [&a, &b])[0];
            assert_eq!(found, f64::from(least as f32), "{units:?}, {e}");
        }
    }
}

#[test]
fn what_is_no_number_and_what_overflows() {
    let (inf, nan, big) = (f64::INFINITY, f64::NAN, bf16::MAX.to_f64());
    let (one, zero) = (1.0, 0.0);
    let cases = [
        ([one, inf], [one, one], inf),
        ([one, -inf], [one, one], -inf),
        ([inf, inf], [one, -one], nan),
        ([inf, one], [zero, one], nan),
        ([nan, one], [zero, one], nan),
        ([big, one], [big, one], inf),
        ([big, big], [one, one], inf),
        ([big, one], [one, -one], big),
    ];
    for (a, b, wanted) in cases {
        for units in units() {
            // The same in a matrix of other numbers, at a place of its own.
            let [m, n, k] = [35, 33, 65];
            let (mut left, mut right) = (vec![zero; m * k], vec![zero; k * n]);
            (left[34 * k], left[34 * k + 64]) = (a[0], a[1]);
            (right[32], right[64 * n + 32]) = (b[0], b[1]);
            let found = product(units, [m, n, k], [&left, &right])[34 * n + 32];
            let same = found == wanted || found.is_nan() && wanted.is_nan();
            assert!(same, "{units:?}: {a:?} by {b:?} is {found}");
        }
    }
}

/// A convolution of two dimensions against plain loops: `[n, c, h, w]` by `[o, c, kh, kw]`, each tensor in an order of its axes.
fn convolution(dtype: DType, sizes: [usize; 8], numbers: [[i64; 4]; 2], orders: [&[u32]; 3]) {
    convolution_by(dtype, sizes, numbers, orders, |_, weight| weight);
}

/// Checks a convolution with weights that `weight` gives for a place in memory and the usual value there. Elements
/// beyond an axis and between elements are 0, so that their product with an infinite weight is no number.
fn convolution_by(
    dtype: DType,
    sizes: [usize; 8],
    numbers: [[i64; 4]; 2],
    orders: [&[u32]; 3],
    weight: impl Fn(usize, f64) -> f64,
) {
    let [n, c, h, w, o, kh, kw, high] = sizes;
    let count = |length: usize, places: usize, [stride, low, dilation, base]: [i64; 4]| {
        let padded = (length as i64 - 1) * base + 1 + low + high as i64;
        ((padded - (places as i64 - 1) * dilation - 1) / stride + 1) as usize
    };
    let (rh, rw) = (count(h, kh, numbers[0]), count(w, kw, numbers[1]));
    let axes = [
        [(0, n), (4, c), (2, h), (3, w)],
        [(1, o), (4, c), (5, kh), (6, kw)],
        [(0, n), (1, o), (2, rh), (3, rw)],
    ];
    let tensors: Tensors = [0, 1, 2].map(|which| {
        let axes = axes[which].map(|(l, extent)| (l, extent, false));
        factor(dtype, &axes, orders[which])
    });
    let windows = [0, 1].map(|dim| {
        let [stride, low, dilation, base_dilation] = numbers[dim];
        Window {
            axis: 2 + dim as u32,
            place: 5 + dim as u32,
            stride,
            low,
            dilation,
            base_dilation,
        }
    });
    let steps = tensors
        .each_ref()
        .map(|(factor, axes)| strides(axes, &order_of(factor)));
    let at = |which: usize, index: [usize; 4]| -> usize {
        index
            .iter()
            .zip(&steps[which])
            .map(|(i, step)| i * step)
            .sum()
    };
    let [left, right] = [0, 3].map(|first| {
        let count = stored(&tensors[usize::from(first > 0)].1);
        (first..first + count).map(element).collect::<Vec<f64>>()
    });
    let right: Vec<f64> = (right.into_iter().enumerate())
        .map(|(at, value)| weight(at, value))
        .collect();
    let place = |r: usize, k: usize, length: usize, [stride, low, dilation, base]: [i64; 4]| {
        let place = r as i64 * stride + k as i64 * dilation - low;
        let index = (place % base == 0).then_some(place / base)?;
        (0..length as i64)
            .contains(&index)
            .then_some(index as usize)
    };
    let mut wanted = vec![0.0; stored(&tensors[2].1)];
    for number in 0..n * o * rh * rw {
        let (x, rest) = (number % rw, number / rw);
        let (y, rest) = (rest % rh, rest / rh);
        let (f, b) = (rest % o, rest / o);
        let mut sum = 0.0;
        for term in 0..c * kh * kw {
            let (kx, rest) = (term % kw, term / kw);
            let (ky, g) = (rest % kh, rest / kh);
            let found = place(y, ky, h, numbers[0]).zip(place(x, kx, w, numbers[1]));
            let x = found.map_or(0.0, |(i, j)| left[at(0, [b, g, i, j])]);
            sum += x * right[at(1, [f, g, ky, kx])];
        }
        wanted[at(2, [b, f, y, x])] = sum;
    }
    let wanted = decode(dtype, &encode(dtype, wanted.into_iter()));
    for units in units() {
        for workers in [1, 3] {
            let found = run_windows(&tensors, &windows, [&left, &right], units, workers);
            let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
            assert!(
                found.iter().zip(&wanted).all(same),
                "{sizes:?}, {numbers:?}, {orders:?}, {units:?}, {workers} workers"
            );
        }
    }
}

#[test]
fn windows_are_read_where_they_lie() {
    let still = [1, 0, 1, 1];
    let (first, last): (&[u32], &[u32]) = (&[], &[0, 2, 3, 1]);
    // Filters last, as in a kernel of JAX.
    let filters: &[u32] = &[2, 3, 1, 0];
    for dtype in [DType::F32, DType::F64, DType::Bf16, DType::F16] {
        for orders in [
            [first, first, first],
            [last, filters, last],
            [last, first, first],
        ] {
            // Features on either side of the order of terms, and of a block of them; more rows than a panel.
            for (c, o) in [(3, 5), (8, 33), (131, 9), (1, 1)] {
                convolution(
                    dtype,
                    [2, c, 7, 9, o, 3, 2, 1],
                    [[1, 1, 1, 1], still],
                    orders,
                );
            }
            convolution(
                dtype,
                [2, 9, 11, 8, 7, 3, 3, 2],
                [[2, 1, 2, 1], [3, 0, 1, 1]],
                orders,
            );
            convolution(
                dtype,
                [1, 9, 5, 4, 7, 3, 2, 2],
                [[1, 2, 1, 2], [2, 1, 2, 3]],
                orders,
            );
            convolution(
                dtype,
                [3, 8, 6, 6, 7, 2, 5, 0],
                [[1, -1, 1, 1], still],
                orders,
            );
            // Gradients of strided convolutions: rows in phases along both axes, along one, and of uneven extent.
            for (h, w, k, high, numbers) in [
                (5, 6, 3, 2, [[1, 1, 1, 2], [1, 1, 1, 2]]),
                (3, 4, 4, 3, [[1, 3, 1, 4], [1, 3, 1, 4]]),
                (6, 5, 3, 1, [[1, 2, 1, 3], [2, 1, 1, 1]]),
                (6, 4, 3, 2, [[2, 2, 1, 6], [1, 1, 2, 2]]),
                (5, 5, 3, 1, [[1, 1, 1, 2], [1, 1, 1, 2]]),
            ] {
                let sizes = [2, 17, h, w, 19, k, k, high];
                convolution(dtype, sizes, numbers, orders);
                convolution_by(dtype, sizes, numbers, orders, |at, weight| match at % 41 {
                    0 => f64::INFINITY,
                    _ => weight,
                });
            }
        }
    }
    // Rows 2 and 4 KiB apart, which share sets of the first cache: with borders, without any, two places apart.
    for (c, orders) in [(512, [last, filters, last]), (1024, [last, first, last])] {
        let few = [1, c, 3, 5, 5, 2, 3, 1];
        convolution(DType::F32, few, [[1, 1, 1, 1], still], orders);
        let one = [2, c, 4, 5, 17, 1, 1, 0];
        convolution(DType::F32, one, [[2, 0, 1, 1]; 2], orders);
        // Several runs of terms in a block.
        let wide = [1, 64, 3, 19, 5, 2, 3, 0];
        convolution(DType::F32, wide, [[1, 1, 1, 1], [8, 1, 1, 1]], orders);
    }
    // One term, and few features between whose places there are others: no run.
    let few = [1, 3, 5, 5, 4, 3, 3, 1];
    for dtype in [DType::F32, DType::F64, DType::Bf16] {
        convolution(dtype, few, [[1, 1, 1, 2]; 2], [first, first, first]);
        convolution(dtype, few, [[1, 1, 1, 2]; 2], [last, filters, last]);
        let one = [1, 1, 5, 5, 4, 1, 1, 0];
        convolution(dtype, one, [[2, 0, 1, 1]; 2], [first, first, first]);
    }
    // Many places in chunks, inside of few features of the kernel.
    let places: [i64; 4] = [1, 0, 1, 1];
    convolution(
        DType::F32,
        [1, 4, 1, 140, 128, 1, 128, 0],
        [places; 2],
        [first, filters, first],
    );
    // A term for each piece, where windows of few features end beyond the borders: more pieces than a block of f32 has.
    for dtype in [DType::F32, DType::Bf16] {
        let wide = [1, 7, 9, 8, 5, 9, 9, 4];
        convolution(dtype, wide, [[1, 4, 1, 1]; 2], [first, first, first]);
    }
    // Places of the kernel as many as in the gradient of one, and more rows than a call takes.
    convolution(
        DType::F32,
        [9, 4, 13, 12, 8, 11, 10, 0],
        [still; 2],
        [first, first, first],
    );
    convolution(
        DType::F32,
        [1, 8, 66, 40, 8, 3, 3, 0],
        [still; 2],
        [last, filters, last],
    );
    convolution(
        DType::F32,
        [0, 8, 6, 6, 7, 2, 5, 0],
        [still; 2],
        [first, first, first],
    );
    convolution(
        DType::F32,
        [2, 0, 6, 6, 7, 2, 5, 0],
        [still; 2],
        [first, first, first],
    );
}

/// A sum that underflows has one sign, whether zeros follow it or were left out with those of its neighbours: row 64 stands
/// beside others where one worker computes, and alone where two do.
#[test]
fn sums_that_underflow_have_one_sign() {
    let sides = [
        [(0, 1), (4, 2), (2, 1), (3, 65)],
        [(1, 16), (4, 2), (5, 1), (6, 3)],
        [(0, 1), (1, 16), (2, 1), (3, 65)],
    ];
    let orders: [&[u32]; 3] = [&[0, 2, 3, 1], &[2, 3, 1, 0], &[0, 2, 3, 1]];
    let tensors: Tensors = [0, 1, 2].map(|which| {
        let axes = sides[which].map(|(l, extent)| (l, extent, false));
        factor(DType::F32, &axes, orders[which])
    });
    let window = |axis, place, low| Window {
        axis,
        place,
        stride: 1,
        low,
        dilation: 1,
        base_dilation: 1,
    };
    let windows = [window(2, 5, 0), window(3, 6, 1)];
    let (mut left, mut right) = (vec![0.0; 65 * 2], vec![1.0; 3 * 2 * 16]);
    left[64 * 2 + 1] = 1e-30;
    right[(2 + 1) * 16..(2 + 2) * 16].fill(-1e-30);
    for units in units() {
        let runs = [1, 2].map(|workers| {
            let found = run_windows(&tensors, &windows, [&left, &right], units, workers);
            found.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        });
        assert_eq!(runs[0], runs[1], "{units:?}");
    }
}

/// Loops that cannot be merged are as many as a counter has, or refused: rows are stored in one order and read in the other.
#[test]
fn more_loops_than_a_counter_has_are_refused() {
    let is_some = |rows: u32| {
        let [column, feature, place] = [rows, rows + 1, rows + 2];
        let outer = (1..rows).map(|row| (row, 2, false));
        let left = [(0, 5, false)].into_iter().chain(outer.clone());
        let left: Vec<_> = left.chain([(feature, 3, false)]).collect();
        let right = [(column, 2, false), (feature, 3, false), (place, 4, false)];
        let result: Vec<_> = [(0, 2, false)]
            .into_iter()
            .chain(outer)
            .chain([(column, 2, false)])
            .collect();
        let order: Vec<u32> = (0..left.len() as u32).rev().collect();
        let sides = [
            factor(DType::F32, &left, &order),
            factor(DType::F32, &right, &[]),
            factor(DType::F32, &result, &[]),
        ];
        let tensors = sides
            .each_ref()
            .map(|(factor, axes)| (factor, axes.as_slice()));
        let window = Window {
            axis: 0,
            place,
            stride: 1,
            low: 0,
            dilation: 1,
            base_dilation: 1,
        };
        Product::new(tensors, None, &[window], 1).is_some()
    };
    assert_eq!([2, 9, 10, 20].map(is_some), [true, true, false, false]);
}

#[test]
fn windows_beyond_all_numbers_are_refused() {
    let axes = [
        [(0, 2), (3, 3), (2, 4)],
        [(1, 2), (3, 3), (4, 4)],
        [(0, 2), (1, 2), (2, 5)],
    ];
    let sides = axes.map(|axes| factor(DType::F32, &axes.map(|(l, n)| (l, n, false)), &[]));
    let tensors = sides
        .each_ref()
        .map(|(factor, axes)| (factor, axes.as_slice()));
    for numbers in [[i64::MAX, 0, 1, 1], [1, i64::MIN, 1, 1], [1, 0, 1, 0]] {
        let [stride, low, dilation, base_dilation] = numbers;
        let window = Window {
            axis: 2,
            place: 4,
            stride,
            low,
            dilation,
            base_dilation,
        };
        assert_eq!(
            Product::new(tensors, None, &[window], 1),
            None,
            "{numbers:?}"
        );
    }
}
