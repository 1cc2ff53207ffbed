//! Every function of the math library gives the same bits on every processor that this machine can be.
//!
//! Below x86-64-v3 the library's fused steps are calls, below x86-64-v2 its rounding too; the results must not show it.

use crate::support::*;
use fuser_codegen::Target;
use fuser_codegen::expr::Elem;
use fuser_codegen::math::FUNCTIONS;

fn canonical_f32(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

fn canonical_f64(x: f64) -> u64 {
    if x.is_nan() {
        f64::NAN.to_bits()
    } else {
        x.to_bits()
    }
}

/// Calls `bits` for each processor, and holds the results to be the same.
fn same<T: PartialEq>(name: &str, bits: impl Fn(&Target) -> Vec<T>) {
    let processors = processors();
    let first = bits(&processors[0]);
    for target in &processors[1..] {
        let other = bits(target);
        let at = first.iter().zip(&other).position(|(a, b)| a != b);
        assert_eq!(
            at, None,
            "{name} on {target:?}: another result at this place"
        );
    }
}

#[test]
fn f32_functions_give_the_same_bits() {
    let mut values = samples_f32(4);
    values.extend(sweep_f32(-110.0, 110.0, 3001));
    let others: Vec<f32> = values.iter().rev().copied().collect();
    for function in FUNCTIONS {
        same(function.name, |target| {
            let compiled = math_function(target, 8, Elem::F32, function.name);
            let got: Vec<f32> = compiled.run(&values, &others);
            got.into_iter().map(canonical_f32).collect()
        });
    }
}

#[test]
fn f64_functions_give_the_same_bits() {
    let mut random = Random(5);
    let mut values: Vec<f64> = samples_f32(1).into_iter().map(f64::from).collect();
    // Every exponent, and arguments near 1 and 100.
    values.extend((0..6000).map(|_| f64::from_bits(random.word())));
    values.extend((0..3000).map(|_| (random.word() as i64 as f64) / 2f64.powi(63)));
    values.extend((0..3000).map(|_| (random.word() as i64 as f64) / 2f64.powi(56)));
    let others: Vec<f64> = values.iter().rev().copied().collect();
    for function in FUNCTIONS {
        same(function.name, |target| {
            let compiled = math_function(target, 4, Elem::F64, function.name);
            let got: Vec<f64> = compiled.run(&values, &others);
            got.into_iter().map(canonical_f64).collect()
        });
    }
}
