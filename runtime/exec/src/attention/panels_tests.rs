//! Tests of weights in panels: powers of two against f64, and the parts of a weight.

use super::*;

/// Powers of two of 16 numbers.
#[target_feature(enable = "avx512f,avx512dq")]
fn powers(x: &[f32; SIDE]) -> [f32; SIDE] {
    let mut found = [0.0; SIDE];
    // SAFETY: both arrays have 16 numbers.
    unsafe {
        let p = power::<false>(_mm512_loadu_ps(x.as_ptr()));
        _mm512_storeu_ps(found.as_mut_ptr(), p);
    }
    found
}

#[test]
fn powers_are_within_their_bound() {
    if gemm::Avx512::detect().is_none() {
        eprintln!("skipped: no AVX-512");
        return;
    }
    let spread = (0..1 << 20).map(|i: u32| f32::from_bits(0xb000_0000 + i * 294));
    let mut arguments: Vec<f32> = spread.filter(|x| *x >= LEAST).collect();
    let halves = (0..=250).map(|n| -(n as f32) * 0.5);
    arguments.extend(halves.flat_map(|x| [x.next_down(), x, x.next_up().min(0.0)]));
    arguments.extend([0.0, -0.0, -f32::MIN_POSITIVE, LEAST, LEAST.next_up()]);
    for chunk in arguments.chunks(SIDE) {
        let mut x = [0.0; SIDE];
        x[..chunk.len()].copy_from_slice(chunk);
        // SAFETY: the processor has the instructions.
        for (x, y) in x.into_iter().zip(unsafe { powers(&x) }) {
            let exact = f64::from(x).exp2();
            let near = exact as f32;
            let ulp = f64::from(near.next_up()) - f64::from(near);
            let error = (f64::from(y) - exact).abs() / ulp;
            let wanted = if x < LEAST { y == 0.0 } else { error <= 1.5 };
            assert!(wanted, "2^{x:e} is off by {error} ulp");
        }
    }
    let odd = [
        f32::NEG_INFINITY,
        f32::MIN,
        -1e30,
        LEAST.next_down(),
        f32::NAN,
    ];
    let mut x = [0.0; SIDE];
    x[..odd.len()].copy_from_slice(&odd);
    // SAFETY: the processor has the instructions.
    let found = unsafe { powers(&x) };
    assert_eq!(found[..4], [0.0; 4]);
    assert!(found[4].is_nan());
}

/// Both parts of a weight together are within 2^-17 of it, as docs/products.md has it.
#[test]
fn two_parts_are_a_weight() {
    if gemm::Avx512::detect().is_none() {
        eprintln!("skipped: no AVX-512");
        return;
    }
    let scores: Vec<f32> = (0..PAIRS * WIDE)
        .map(|at| -((at * 7919 % 10007) as f32) * 0.012)
        .collect();
    let (mut whole, mut split) = (scores.clone(), scores);
    let mut parts = vec![0u16; 2 * PAIRS * WIDE];
    // SAFETY: the processor has the instructions; scores are rows of a panel, and there is room for both parts.
    unsafe {
        let empty = Rows {
            greatest: [_mm512_setzero_ps(); 2],
            reference: [_mm512_setzero_ps(); 2],
            sums: [_mm512_setzero_ps(); 2],
        };
        let to = parts.as_mut_ptr().cast();
        let scale = Scale {
            power: 1.0,
            rest: 1.0,
        };
        weigh::<false>(whole.as_mut_ptr(), PAIRS, scale, &mut { empty }, to, 0);
        let apart = PAIRS * WIDE / 2;
        weigh::<true>(split.as_mut_ptr(), PAIRS, scale, &mut { empty }, to, apart);
    }
    for key in 0..PAIRS {
        for query in 0..WIDE {
            let weight = f64::from(whole[key * WIDE + query]) * 2f64.powi(LIFT as i32);
            let square = query / SIDE * SIDE * PAIRS;
            let at = square + key / 2 * PAIRS + query % SIDE * 2 + key % 2;
            let part = |at: usize| f64::from(f32::from_bits(u32::from(parts[at]) << 16));
            let sum = part(at) + part(at + PAIRS * WIDE);
            assert!(
                (sum - weight).abs() <= 2f64.powi(-17) * weight,
                "{key}, {query}: {sum}"
            );
        }
    }
}

/// Sums of weights in two steps, whole and in parts, whatever the size of the scores: a step of a few units in the
/// last place from one to the next, and greater scores in the second one.
#[test]
fn weights_of_scores_of_any_size() {
    if gemm::Avx512::detect().is_none() {
        eprintln!("skipped: no AVX-512");
        return;
    }
    for exponent in 0..127 {
        for sign in [1.0, -1.0] {
            let size = sign * 1.3 * 2f32.powi(exponent);
            let ulp = (size.abs().next_up() - size.abs()) * sign;
            let score = |step: usize, key: usize, query: usize| {
                let steps = (key * 5 + query * 3 + step * 7) % 11;
                size + ulp * steps as f32
            };
            let sums = weighed::<false>(&score)
                .into_iter()
                .zip(weighed::<true>(&score));
            for (query, (whole, parts)) in sums.enumerate() {
                let all = (0..2).flat_map(|step| (0..PAIRS).map(move |key| (step, key)));
                let all = all.map(|(step, key)| f64::from(score(step, key, query)));
                let all: Vec<f64> = all.collect();
                let greatest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let exact: f64 = all.iter().map(|x| (x - greatest).exp()).sum();
                let whole = f64::from(whole);
                let parts = f64::from(parts) * 2f64.powi(-(LIFT as i32));
                // A reference that is not far away is rounded itself.
                let within = |x: f64| x / exact > 0.95 && x / exact < 1.05;
                assert!(
                    within(whole) && within(parts),
                    "2^{exponent}, {query}: {whole}, {parts}, {exact}"
                );
            }
        }
    }
}

/// The sums of two steps of scores.
fn weighed<const SPLIT: bool>(score: &dyn Fn(usize, usize, usize) -> f32) -> [f32; WIDE] {
    let mut parts = vec![0u32; PAIRS * WIDE];
    let mut sums = [0.0; WIDE];
    // SAFETY: the caller has seen that the processor has the instructions; scores are rows of a panel, and there is
    // room for both parts.
    unsafe {
        let mut rows = Rows {
            greatest: [_mm512_set1_ps(f32::NEG_INFINITY); 2],
            reference: [_mm512_set1_ps(f32::NEG_INFINITY); 2],
            sums: [_mm512_setzero_ps(); 2],
        };
        for step in 0..2 {
            let all = (0..PAIRS).flat_map(|key| (0..WIDE).map(move |query| (key, query)));
            let mut scores: Vec<f32> = all.map(|(key, query)| score(step, key, query)).collect();
            let to = parts.as_mut_ptr();
            let apart = PAIRS * WIDE / 2;
            weigh::<SPLIT>(
                scores.as_mut_ptr(),
                PAIRS,
                Scale::PLAIN,
                &mut rows,
                to,
                apart,
            );
        }
        _mm512_storeu_ps(sums.as_mut_ptr(), rows.sums[0]);
        _mm512_storeu_ps(sums.as_mut_ptr().wrapping_add(SIDE), rows.sums[1]);
    }
    sums
}
