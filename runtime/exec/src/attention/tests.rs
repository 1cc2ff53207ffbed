//! Tests of attention against f64 within the bound of docs/products.md: element types, orders of axes, biases, sizes around blocks and none.

use super::*;
use crate::testing::{call_all, decode, encode, factor, units};
use fuser_random::SplitMix;

/// Sizes: batch, queries, keys, terms, columns.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    batch: usize,
    queries: usize,
    keys: usize,
    terms: usize,
    columns: usize,
}

const fn sizes([batch, queries, keys, terms, columns]: [usize; 5]) -> Sizes {
    Sizes {
        batch,
        queries,
        keys,
        terms,
        columns,
    }
}

/// A case: what varies beside the sizes.
#[derive(Clone, Debug)]
struct Case {
    sizes: Sizes,
    dtype: DType,
    bias: Option<DType>,
    scale: Option<f32>,
    causal: bool,
    /// True where operands and result have their axes in another order.
    turned: bool,
    /// True where all of a batch has one bias, one set of keys and one of values.
    shared: bool,
}

impl Case {
    fn new(dtype: DType, all: [usize; 5]) -> Case {
        Case {
            sizes: sizes(all),
            dtype,
            bias: None,
            scale: None,
            causal: false,
            turned: false,
            shared: false,
        }
    }
}

/// A number of about the size of what is drawn from a normal distribution.
fn draw(at: usize, salt: usize) -> f64 {
    4.0 * SplitMix(at as u64 ^ (salt as u64) << 32).unit() - 2.0
}

/// A tensor in memory.
struct Memory {
    factor: Factor,
    axes: Vec<Axis>,
    bytes: Vec<u8>,
}

impl Memory {
    fn new(dtype: DType, axes: &[(u32, usize, bool)], turned: bool, salt: usize) -> Memory {
        let order: Vec<u32> = (0..axes.len() as u32).rev().collect();
        let (factor, axes) = factor(dtype, axes, if turned { &order } else { &[] });
        let count: usize = axes.iter().map(|axis| axis.stored_extent()).product();
        Memory {
            factor,
            axes,
            bytes: encode(dtype, (0..count).map(|at| draw(at, salt))),
        }
    }

    /// The element at an index for each axis.
    fn at(&self, values: &[f64], index: &[usize]) -> f64 {
        let order: Vec<usize> = self
            .factor
            .tensor
            .order
            .iter()
            .map(|&a| a as usize)
            .collect();
        let steps = strides(&self.axes, &order);
        values[steps
            .iter()
            .zip(index)
            .map(|(step, i)| step * i)
            .sum::<usize>()]
    }
}

fn tensors(case: &Case) -> Vec<Memory> {
    let Sizes {
        batch,
        queries,
        keys,
        terms,
        columns,
    } = case.sizes;
    let (b, s, t) = ((0, batch, false), (1, queries, false), (3, keys, false));
    let own = (0, batch, case.shared);
    let mut all = vec![
        Memory::new(case.dtype, &[b, s, (4, terms, false)], case.turned, 1),
        Memory::new(case.dtype, &[own, t, (4, terms, false)], case.turned, 2),
        Memory::new(case.dtype, &[own, t, (2, columns, false)], case.turned, 3),
    ];
    if let Some(dtype) = case.bias {
        let axes = if case.shared {
            vec![s, t]
        } else {
            vec![b, s, t]
        };
        all.push(Memory::new(dtype, &axes, case.turned, 4));
    }
    all.push(Memory::new(
        case.dtype,
        &[b, s, (2, columns, false)],
        case.turned,
        5,
    ));
    // The logarithms of the sums.
    all.push(Memory::new(DType::F32, &[b, s], case.turned, 6));
    all
}

/// The results as `units` compute them with so many workers, as they lie in memory.
fn run(case: &Case, memory: &mut [Memory], units: Units, workers: usize) -> [Vec<f64>; 2] {
    let mut factors: Vec<Factor> = memory.iter().map(|own| own.factor.clone()).collect();
    let sums = factors.pop();
    let axes: Vec<Vec<Axis>> = memory.iter().map(|own| own.axes.clone()).collect();
    let scale = case.scale.map(f32::to_bits);
    let attention = Attention {
        units,
        ..Attention::new(scale, case.causal, &factors, sums.as_ref(), &axes).unwrap()
    };
    let places: Vec<Address> = memory
        .iter_mut()
        .map(|own| Address::of(own.bytes.as_mut_ptr()))
        .collect();
    let [last, sums] = [places.len() - 2, places.len() - 1];
    let bias = places[if last > BIAS { BIAS } else { Q }];
    let places = [
        places[Q],
        places[K],
        places[V],
        bias,
        places[last],
        places[sums],
    ];
    let (calls, room) = (attention.calls().unwrap(), attention.scratch_bytes());
    call_all(workers, calls, room, &|call, scratch| {
        // SAFETY: the vectors have these sizes.
        unsafe { attention.call(call, places, scratch) };
    });
    [
        decode(case.dtype, &memory[last].bytes),
        decode(DType::F32, &memory[sums].bytes),
    ]
}

/// Half a unit in the last place of 1.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-11),
        DType::Bf16 => 2f64.powi(-8),
        _ => 2f64.powi(-24),
    }
}

fn check(case: Case) {
    let mut memory = tensors(&case);
    check_memory(&case, &mut memory);
}

/// Half of the least number above 0.
fn least(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-25),
        DType::Bf16 => 2f64.powi(-134),
        _ => 2f64.powi(-150),
    }
}

/// Compares what all units compute of operands in memory with plain loops.
fn check_memory(case: &Case, memory: &mut [Memory]) {
    let values: Vec<Vec<f64>> = memory
        .iter()
        .map(|own| decode(own.factor.tensor.dtype, &own.bytes))
        .collect();
    for units in units() {
        let found = run(case, memory, units, 1);
        let again = run(case, memory, units, 3);
        assert!(found == again, "{case:?}, {units:?} on three workers");
        compare(case, memory, &values, units, &found);
    }
}

/// Compares a result with plain loops in f64, within the bound.
fn compare(
    case: &Case,
    memory: &[Memory],
    values: &[Vec<f64>],
    units: Units,
    [found, found_sums]: &[Vec<f64>; 2],
) {
    let [.., result, sums] = memory else {
        panic!("two results");
    };
    let get = |which: usize, index: &[usize]| memory[which].at(&values[which], index);
    let s = case.sizes;
    let scale = case
        .scale
        .map_or(1.0 / (s.terms.max(1) as f64).sqrt(), f64::from);
    let u = unit(DType::F32);
    for b in 0..s.batch {
        for query in 0..s.queries {
            let mut scores = Vec::new();
            for key in 0..s.keys {
                let terms = (0..s.terms).map(|d| get(Q, &[b, query, d]) * get(K, &[b, key, d]));
                let (sum, size) =
                    terms.fold((0.0, 0.0), |(a, m): (f64, f64), x| (a + x, m + x.abs()));
                let index = [b, query, key];
                let index = if case.shared { &index[1..] } else { &index[..] };
                let score = match case.bias {
                    None => scale * sum,
                    Some(DType::I1) if get(BIAS, index) == 0.0 => f64::NEG_INFINITY,
                    Some(DType::I1) => scale * sum,
                    Some(_) => scale * sum + get(BIAS, index),
                };
                let left_out = case.causal && key > query;
                let error = u * ((s.terms as f64 + 4.0) * scale.abs() * size + 2.0 * score.abs());
                scores.push(if left_out {
                    (f64::NEG_INFINITY, 0.0)
                } else {
                    (score, error)
                });
            }
            let greatest = scores.iter().map(|x| x.0).fold(f64::NEG_INFINITY, f64::max);
            let keys = s.keys as f64;
            let weigh = |&(score, error): &(f64, f64)| match score == f64::NEG_INFINITY {
                true => (0.0, 0.0),
                false => {
                    let distance = (score - greatest).abs();
                    let off = error + u * (4.0 + keys / 16.0 + 2.0 * distance + 3.0 + keys);
                    ((score - greatest).exp(), off)
                }
            };
            let weights: Vec<(f64, f64)> = scores.iter().map(weigh).collect();
            let total: f64 = weights.iter().map(|x| x.0).sum();
            let off: f64 = weights.iter().map(|(w, off)| w * off).sum::<f64>() / total;
            let got = sums.at(found_sums, &[b, query]);
            let log = greatest + total.ln();
            if log == f64::NEG_INFINITY {
                assert_eq!(got, log, "{case:?}: no key");
            } else {
                let bound = off + u * (keys + 4.0 * greatest.abs() + 2.0 * log.abs() + 4.0);
                let error = (got - log).abs();
                assert!(
                    error <= bound,
                    "{case:?}, {units:?}, sum of {b}, {query}: {got}, not {log}: {error} > {bound}"
                );
            }
            for column in 0..s.columns {
                let (mut sum, mut size, mut error, mut lost) = (0.0, 0.0, 0.0, 0.0);
                for (key, (w, own)) in weights.iter().enumerate() {
                    let (p, v) = (w / total, get(V, &[b, key, column]));
                    sum += p * v;
                    size += p * v.abs();
                    error += p * v.abs() * own;
                    lost += v.abs() * 2f64.powi(-126);
                }
                let got = result.at(found, &[b, query, column]);
                if total == 0.0 {
                    assert_eq!(got, 0.0, "{case:?}: no key");
                    continue;
                }
                let bound = 1.01 * (error + (off + u * (keys + 2.0)) * size) + 2.0 * lost;
                let bound = bound + (sum.abs() + bound) * unit(case.dtype) + least(case.dtype);
                let error = (got - sum).abs();
                assert!(
                    error <= bound,
                    "{case:?}, {units:?} at {b}, {query}, {column}: {got}, not {sum}: {error} > {bound}"
                );
            }
        }
    }
}

#[test]
fn attention_of_odd_sizes_is_within_its_bound() {
    for dtype in [DType::F32, DType::Bf16, DType::F16] {
        for all in [
            [1, 1, 1, 1, 1],
            [2, 7, 5, 3, 11],
            [3, 17, 31, 13, 8],
            [1, QUERIES + 1, KEYS + 1, 9, 5],
            [2, 2, 2 * KEYS + 17, 64, 33],
        ] {
            check(Case::new(dtype, all));
            let causal = true;
            check(Case {
                causal,
                ..Case::new(dtype, all)
            });
        }
    }
}

#[test]
fn biases_and_masks() {
    for dtype in [DType::F32, DType::Bf16] {
        for bias in [dtype, DType::I1] {
            for (causal, shared) in [(false, false), (true, false), (false, true), (true, true)] {
                let case = Case {
                    bias: Some(bias),
                    scale: Some(-0.75),
                    causal,
                    shared,
                    ..Case::new(dtype, [2, 19, KEYS + 3, 5, 7])
                };
                check(case.clone());
                check(Case {
                    turned: true,
                    ..case
                });
            }
        }
    }
}

#[test]
fn no_key_gives_zero_and_no_element_is_no_call() {
    for all in [
        [2, 3, 0, 4, 5],
        [2, 3, 7, 0, 5],
        [2, 3, 7, 4, 0],
        [0, 3, 7, 4, 5],
        [2, 0, 7, 4, 5],
    ] {
        check(Case::new(DType::F32, all));
        check(Case::new(DType::F16, all));
    }
    // A single key, which the mask leaves out for one query of three or so.
    check(Case {
        bias: Some(DType::I1),
        ..Case::new(DType::F32, [1, 40, 1, 3, 2])
    });
}

#[test]
fn what_is_no_number_stays_in_its_row() {
    let case = Case::new(DType::F32, [1, 5, KEYS + 40, 3, 2]);
    for odd in [f32::NAN, f32::INFINITY] {
        let mut memory = tensors(&case);
        // Positive keys, so that an infinite query has infinite scores.
        memory[K]
            .bytes
            .chunks_exact_mut(4)
            .for_each(|x| x.copy_from_slice(&1f32.to_le_bytes()));
        memory[Q].bytes[24..28].copy_from_slice(&odd.to_le_bytes());
        for units in units() {
            let [found, _] = run(&case, &mut memory, units, 1);
            let rows: Vec<bool> = found
                .chunks(2)
                .map(|row| row.iter().all(|x| x.is_nan()))
                .collect();
            assert_eq!(rows, [false, false, true, false, false], "{units:?}");
        }
    }
}

#[test]
fn loops_must_agree() {
    let mut memory = tensors(&Case::new(DType::F32, [2, 3, 4, 5, 6]));
    memory[V].axes[1].extent = 5;
    let mut factors: Vec<Factor> = memory.iter().map(|own| own.factor.clone()).collect();
    let sums = factors.pop();
    let axes: Vec<Vec<Axis>> = memory.iter().map(|own| own.axes.clone()).collect();
    assert_eq!(
        Attention::new(None, false, &factors, sums.as_ref(), &axes),
        None
    );
}

#[test]
fn memory_does_not_grow_with_the_sequence() {
    let bytes = |keys: usize| {
        let memory = tensors(&Case::new(DType::Bf16, [1, 4 * QUERIES, keys, 8, 8]));
        let mut factors: Vec<Factor> = memory.iter().map(|own| own.factor.clone()).collect();
        let sums = factors.pop();
        let axes: Vec<Vec<Axis>> = memory.iter().map(|own| own.axes.clone()).collect();
        Attention::new(None, false, &factors, sums.as_ref(), &axes)
            .unwrap()
            .scratch_bytes()
    };
    assert_eq!(bytes(2 * KEYS), bytes(64 * KEYS));
}

/// Operands of bf16 with which tiles lose nothing, and such with which they would: products of queries and keys, or of values and parts of weights,
/// that are no normal numbers, and values whose sums overflow while weights are larger than they are.
#[test]
fn operands_of_any_size() {
    let cases = [
        (Q, -40),
        (Q, -120),
        (K, -128),
        (V, -45),
        (V, -130),
        (V, 20),
        (V, 90),
    ];
    for (which, exponent) in cases {
        // Scores of the size that they have otherwise.
        let scale = if which == V { 0 } else { -exponent };
        let case = Case {
            scale: Some((0.25 * 2f64.powi(scale)) as f32),
            ..Case::new(DType::Bf16, [1, 35, SPLIT + 9, 20, 18])
        };
        let mut memory = tensors(&case);
        for x in memory[which].bytes.chunks_exact_mut(2) {
            let own = bf16::from_le_bytes([x[0], x[1]]).to_f64();
            let scaled = bf16::from_f64(own * 2f64.powi(exponent));
            x.copy_from_slice(&scaled.to_le_bytes());
        }
        check_memory(&case, &mut memory);
    }
}

/// Keys from which on weights may be in parts.
const SPLIT: usize = 160;

/// A value that is no number reaches all queries, and only its column.
#[test]
fn values_that_are_no_numbers() {
    let case = Case::new(DType::Bf16, [1, 3, SPLIT + 1, 4, 5]);
    for odd in [bf16::NAN, bf16::INFINITY, bf16::NEG_INFINITY] {
        let mut memory = tensors(&case);
        memory[V].bytes[24..26].copy_from_slice(&odd.to_le_bytes());
        for units in units() {
            let [found, _] = run(&case, &mut memory, units, 1);
            for (at, &x) in found.iter().enumerate() {
                let wanted = if at % 5 == 2 { odd.to_f64() } else { x };
                assert!(
                    x == wanted || x.is_nan() && wanted.is_nan(),
                    "{units:?}, {at}: {x}"
                );
                assert!(at % 5 == 2 || x.is_finite(), "{units:?}, {at}: {x}");
            }
        }
    }
}

/// Scores near the end of f32: the greatest keeps its weight of 1, whatever it is multiplied by on the way.
#[test]
fn scores_near_the_greatest_number() {
    for sign in [1.0, -1.0] {
        let case = Case {
            scale: Some(1.0),
            ..Case::new(DType::F32, [1, 2, 3 * KEYS, 1, 1])
        };
        let mut memory = tensors(&case);
        let mut put = |which: usize, x: &dyn Fn(usize) -> f32| {
            for (at, bytes) in memory[which].bytes.chunks_exact_mut(4).enumerate() {
                bytes.copy_from_slice(&x(at).to_le_bytes());
            }
        };
        put(Q, &|_| 1.0);
        // Two greatest ones in different tiles; all others are far below.
        put(K, &|at| match at % (2 * KEYS) {
            7 if sign > 0.0 => 3e38,
            7 => -2.5e38,
            _ => -3.3e38,
        });
        put(V, &|at| (at % (2 * KEYS)) as f32);
        for units in units() {
            assert_eq!(
                run(&case, &mut memory, units, 1)[0],
                [7.0, 7.0],
                "{units:?}"
            );
        }
    }
}

/// A key alone with any score: no weight is above 1, so that values near the end of f32 stay what they are.
#[test]
fn values_near_the_greatest_number() {
    const QUERIES: usize = 257;
    let case = Case {
        scale: Some(1.0),
        ..Case::new(DType::F32, [1, QUERIES, 1, 1, 1])
    };
    let mut memory = tensors(&case);
    for (at, bytes) in memory[Q].bytes.chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&(at as f32 * 345.67).to_le_bytes());
    }
    memory[K].bytes.copy_from_slice(&1.0f32.to_le_bytes());
    let v = f32::MAX * (1.0 - 3.0 * f32::EPSILON);
    memory[V].bytes.copy_from_slice(&v.to_le_bytes());
    for units in units() {
        for &x in &run(&case, &mut memory, units, 1)[0] {
            let off = (x / f64::from(v) - 1.0).abs();
            assert!(off <= 2.0 * f64::from(f32::EPSILON), "{units:?}: {x:e}");
        }
    }
}

/// The bias of a row: keys that a large number leaves out in front, behind or altogether, a key alone, and scores
/// whose sizes or last places differ.
fn far_row(draw: &mut SplitMix, row: &mut [f64]) {
    let keys = row.len();
    let size = size(draw);
    let part = draw.one(&[0, 1, 17, KEYS - 1, KEYS, KEYS + 1, 2 * KEYS, keys]);
    let part = part.min(keys);
    match draw.below(7) {
        0 => row[..part].fill(-size),
        1 => row[keys - part..].fill(-size),
        2 => row.fill(-size),
        3 => row[draw.below(keys)] = size,
        4 => {
            let any = |draw: &mut SplitMix| sign(draw) * self::size(draw);
            row.iter_mut().for_each(|x| *x = any(draw));
        }
        5 => {
            let sign = sign(draw);
            let step = f64::from((size as f32).next_up()) - size;
            let near = |draw: &mut SplitMix| sign * (size + step * draw.below(4) as f64);
            row.iter_mut().for_each(|x| *x = near(draw));
        }
        _ => {
            row.fill(-size);
            row[..part].fill(f64::NEG_INFINITY);
        }
    }
}

fn sign(draw: &mut SplitMix) -> f64 {
    draw.one(&[1.0, -1.0])
}

/// A number from 1 to 3e38, each power of ten as likely, as an f32 holds it.
fn size(draw: &mut SplitMix) -> f64 {
    let lead = 1.0 + 2.0 * draw.unit();
    f64::from((lead * 10f64.powi(draw.below(39) as i32)) as f32)
}

/// Compares a result with the softmax in f64 of scores that are exact in f32.
fn compare_scores(
    case: &Case,
    memory: &[Memory],
    units: Units,
    found: &[f64],
    score: &dyn Fn(usize, usize) -> f32,
) {
    let values = decode(case.dtype, &memory[V].bytes);
    let s = case.sizes;
    for query in 0..s.queries {
        let scores: Vec<f64> = (0..s.keys).map(|key| score(query, key).into()).collect();
        let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odd = scores.iter().any(|&x| x.is_nan() || x == f64::INFINITY);
        let weights: Vec<f64> = scores.iter().map(|x| (x - greatest).exp()).collect();
        let total: f64 = weights.iter().sum();
        for column in 0..s.columns {
            let got = found[query * s.columns + column];
            let each = weights.iter().enumerate();
            let sum: f64 = each
                .map(|(key, w)| w * values[key * s.columns + column])
                .sum();
            let wanted = match greatest == f64::NEG_INFINITY {
                true => 0.0,
                false => sum / total,
            };
            let bound = 2e-5 + 2.0 * unit(case.dtype) * wanted.abs();
            let is = if odd {
                got.is_nan()
            } else {
                (got - wanted).abs() <= bound
            };
            assert!(
                is,
                "{case:?}, {units:?} at {query}, {column}: {got}, not {wanted}, {scores:?}"
            );
        }
    }
}

#[test]
fn scores_of_any_finite_size() {
    let mut draw = SplitMix(0);
    let mut count = 0;
    for dtype in [DType::F32, DType::Bf16] {
        for keys in [
            1,
            2,
            3,
            31,
            160,
            KEYS - 1,
            KEYS,
            KEYS + 1,
            2 * KEYS,
            2 * KEYS + 1,
            3 * KEYS + 9,
        ] {
            let case = Case {
                bias: Some(dtype),
                scale: Some(1.0),
                ..Case::new(dtype, [1, 67, keys, 1, 3])
            };
            let mut memory = tensors(&case);
            for which in [Q, K] {
                let count = memory[which].bytes.len() / dtype.bytes();
                memory[which].bytes = encode(dtype, (0..count).map(|_| draw.below(7) as f64 - 3.0));
            }
            let mut bias = vec![0.0; 67 * keys];
            bias.chunks_mut(keys)
                .for_each(|row| far_row(&mut draw, row));
            memory[BIAS].bytes = encode(dtype, bias.into_iter());
            let [q, k, bias] = [Q, K, BIAS].map(|which| decode(dtype, &memory[which].bytes));
            for units in units() {
                let [found, _] = run(&case, &mut memory, units, 1);
                compare_scores(&case, &memory, units, &found, &|query, key| {
                    (q[query] * k[key]) as f32 + bias[query * keys + key] as f32
                });
                count += 67;
            }
        }
    }
    println!("count: {count} rows of scores of any size");
}

/// The factor of the scores is part of that of the powers of two where nothing is added.
#[test]
fn products_of_any_finite_size() {
    let mut draw = SplitMix(1 << 32);
    for keys in [1, 2, 33, KEYS - 1, KEYS, KEYS + 1, 2 * KEYS + 5] {
        for scale in [1.0, 0.125, 8.0, 2f32.powi(40), 2f32.powi(-40)] {
            for causal in [false, true] {
                let case = Case {
                    scale: Some(scale),
                    causal,
                    ..Case::new(DType::F32, [1, 67, keys, 1, 3])
                };
                let mut memory = tensors(&case);
                let turn = |draw: &mut SplitMix| draw.one(&[1.0, -1.0, 2.0, -2.0, 0.5, -0.5]);
                let q: Vec<f64> = (0..67).map(|_| turn(&mut draw)).collect();
                let mut k = vec![0.0; keys];
                far_row(&mut draw, &mut k);
                k.iter_mut().for_each(|x| *x = x.max(f32::MIN.into()));
                for (which, x) in [(Q, &q), (K, &k)] {
                    memory[which].bytes = encode(case.dtype, x.iter().copied());
                }
                for units in units() {
                    let [found, _] = run(&case, &mut memory, units, 1);
                    compare_scores(&case, &memory, units, &found, &|query, key| match causal
                        && key > query
                    {
                        true => f32::NEG_INFINITY,
                        false => (q[query] * k[key]) as f32 * scale,
                    });
                }
            }
        }
    }
}
