//! The f32 functions of one operand over all 2^32 arguments, those of two over all pairs of hard operands and long sweeps.
//!
//! Each function is one ignored test of some minutes, which prints the largest error and where it occurs: the figures of
//! `docs/math.md`. The references are the C library's in f64, which err by less than 2^-26 of an f32's last place.
//!
//! ```console
//! $ cargo test --release --locked -p fuser-codegen --test main -- --ignored --nocapture math_exhaustive
//! ```

use crate::support::reference::{points, reference};
use crate::support::*;
use fuser_codegen::Target;
use fuser_codegen::expr::Elem;
use fuser_codegen::math::{Emitter, FUNCTIONS, find};

/// The largest error so far, and its operands.
#[derive(Default)]
struct Worst {
    error: f64,
    operands: [f32; 2],
    got: f32,
    truth: f64,
}

impl Worst {
    fn see(&mut self, a: &[f32], b: &[f32], got: &[f32], truth_of: fn(f64, f64) -> f64) {
        for ((&x, &y), &got) in a.iter().zip(b).zip(got) {
            let truth = truth_of(f64::from(x), f64::from(y));
            // Nothing is nearer than the f32 nearest to the truth, which is within half a unit.
            if (truth as f32).to_bits() == got.to_bits() && self.error >= 0.5 {
                continue;
            }
            let error = ulp_error_f32(got, truth);
            if error > self.error {
                *self = Worst {
                    error,
                    operands: [x, y],
                    got,
                    truth,
                };
            }
        }
    }

    fn report(&self, name: &str, count: u64, started: std::time::Instant) {
        let ([x, y], seconds) = (self.operands, started.elapsed().as_secs());
        let arguments = match find(name).unwrap().emit {
            Emitter::Unary(_) => format!("{x:e}"),
            Emitter::Binary(_) => format!("{x:e}, {y:e}"),
        };
        println!(
            "{name:10} {:.4} ulp at {arguments}: {:e}, true {:e}; {count} arguments, {seconds} s",
            self.error, self.got, self.truth
        );
        let bound = find(name).unwrap().max_ulp.0;
        assert!(self.error <= bound, "{name}: the bound is {bound} ulp");
    }
}

/// Arguments that one call evaluates: few enough to stay in the cache.
const BATCH: u32 = 1 << 14;

/// The factor that reflection in zero gives the function: -1 if odd, 1 if even.
fn symmetry(name: &str) -> Option<f32> {
    match name {
        "sin" | "tan" | "tanh" | "sinh" | "asin" | "atan" | "asinh" | "atanh" | "erf"
        | "erfinv" | "reciprocal" => Some(-1.0),
        "cos" | "cosh" => Some(1.0),
        _ => None,
    }
}

fn all_arguments(name: &str) {
    let (started, mut worst) = (std::time::Instant::now(), Worst::default());
    let function = math_function(&Target::host(None).unwrap(), 16, Elem::F32, name);
    let mut see = |x: &[f32], got: &[f32]| worst.see(x, x, got, reference(name));
    let symmetry = symmetry(name);
    let end = symmetry.map_or(u32::MAX, |_| i32::MAX as u32);
    for batch in 0..=end / BATCH {
        let first = batch * BATCH;
        let mut x: Vec<f32> = (first..=first + (BATCH - 1)).map(f32::from_bits).collect();
        let mut got = function.run::<f32, f32>(&x, &x);
        see(&x, &got);
        if let Some(sign) = symmetry {
            // Only what differs from the other sign's result can be farther from the truth.
            x.iter_mut().for_each(|x| *x = -*x);
            let positive = std::mem::replace(&mut got, function.run(&x, &x));
            let differs = |i: &usize| {
                let (a, b) = (sign * positive[*i], got[*i]);
                a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan())
            };
            let rest: Vec<usize> = (0..x.len()).filter(differs).collect();
            let (x, got): (Vec<f32>, Vec<f32>) = rest.iter().map(|&i| (x[i], got[i])).unzip();
            see(&x, &got);
        }
    }
    worst.report(name, 1 << 32, started);
}

/// Between two of the sweep's operands lie so many floats.
const STRIDE: usize = 61;

fn pairs(name: &str) {
    let (started, mut worst, mut count) = (std::time::Instant::now(), Worst::default(), 0);
    let function = math_function(&Target::host(None).unwrap(), 16, Elem::F32, name);
    let mut see = |a: &[f32], b: &[f32]| {
        count += a.len() as u64;
        worst.see(a, b, &function.run::<f32, f32>(a, b), reference(name));
    };
    let hard = hard_operands(name);
    for &x in &hard {
        see(&vec![x; hard.len()], &hard);
    }
    // Each of some operands with one in `STRIDE` of all floats, on either side.
    let fixed: Vec<f32> = hard.iter().step_by(hard.len() / 24).copied().collect();
    for first in (0..=u32::MAX).step_by(STRIDE * BATCH as usize) {
        let part: Vec<f32> = (first..=u32::MAX)
            .step_by(STRIDE)
            .take(BATCH as usize)
            .map(f32::from_bits)
            .collect();
        for &fixed in &fixed {
            let fixed = vec![fixed; part.len()];
            see(&part, &fixed);
            see(&fixed, &part);
        }
    }
    worst.report(name, count, started);
}

/// The operands of the hard points, and both ends of each exponent.
fn hard_operands(name: &str) -> Vec<f32> {
    let table = points(&[include_str!("data/hard_f32.txt")]);
    let of_points = table[name]
        .iter()
        .flat_map(|point| point.operands)
        .map(|bits| f32::from_bits(bits as u32));
    let mut found: Vec<f32> = samples_f32(0).into_iter().chain(of_points).collect();
    found.sort_by(f32::total_cmp);
    found.dedup_by_key(|x| x.to_bits());
    found
}

macro_rules! exhaustive {
    ($($try:ident: $($name:ident)*;)*) => {
        $($(
            #[test]
            #[ignore = "takes minutes"]
            fn $name() {
                $try(stringify!($name));
            }
        )*)*

        const TRIED: &[&str] = &[$($(stringify!($name)),*),*];
    };
}

exhaustive! {
    all_arguments: exp exp2 expm1 sigmoid tanh sinh cosh log log2 log10 log1p sin cos tan asin acos atan asinh acosh atanh
        erf erfc erfinv erfcinv sqrt rsqrt reciprocal;
    pairs: pow atan2;
}

#[test]
fn every_function_has_its_exhaustive_test() {
    for function in FUNCTIONS {
        assert!(TRIED.contains(&function.name), "{}", function.name);
    }
}
