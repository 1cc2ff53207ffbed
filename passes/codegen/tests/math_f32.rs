//! The f32 functions against f64 references over every exponent, all edges, and dense sweeps where they bend; and against
//! true values from mpmath where they are hard (`tools/hard_points.py`). `math_exhaustive` tries every argument.
//!
//! Each function is held to the bound that the table states; the references err by less than 2^-28 of an f32's last place.

use crate::support::reference::{points, reference};
use crate::support::*;
use fuser_codegen::Target;
use fuser_codegen::expr::Elem;
use fuser_codegen::math;

fn inputs() -> Vec<f32> {
    let mut values = samples_f32(400);
    values.extend(sweep_f32(-110.0, 110.0, 200_000));
    values.extend(sweep_f32(-4.0, 4.0, 200_000));
    values.extend(sweep_f32(-1.5, 1.5, 200_000));
    values
}

fn worst(name: &str, lanes: u32, target: &Target, a: &[f32], b: &[f32]) -> (f64, String) {
    let function = math_function(target, lanes, Elem::F32, name);
    let got: Vec<f32> = function.run(a, b);
    let (reference, mut worst) = (reference(name), (0.0, String::new()));
    for ((&x, &y), &result) in a.iter().zip(b).zip(&got) {
        let truth = reference(f64::from(x), f64::from(y));
        let error = ulp_error_f32(result, truth);
        if error > worst.0 {
            worst = (
                error,
                format!("{name}({x:e}, {y:e}) = {result:e}, true {truth:e}"),
            );
        }
    }
    worst
}

fn check_all(target: &Target, lanes: u32) {
    let a = inputs();
    // A second operand without relation to the first, for the functions of two.
    let mut random = Random(7);
    let near: Vec<f32> = a
        .iter()
        .map(|_| (random.below(4001) as f32 - 2000.0) / 64.0)
        .collect();
    let mut failures = vec![];
    for function in fuser_codegen::math::FUNCTIONS {
        let (error, place) = worst(function.name, lanes, target, &a, &near);
        println!("{:12} {error:.4} ulp  {place}", function.name);
        if error.is_nan() || error > function.max_ulp.0 {
            failures.push(format!(
                "{place}: {error} ulp, bound {}",
                function.max_ulp.0
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bounds_hold_for_vectors_on_this_host() {
    check_all(&Target::host(None).unwrap(), 16);
}

#[test]
fn bounds_hold_where_functions_are_hard() {
    let mut failures = vec![];
    for (name, points) in points(&[include_str!("data/hard_f32.txt")]) {
        let [a, b] = [0, 1].map(|i| -> Vec<f32> {
            points
                .iter()
                .map(|p| f32::from_bits(p.operands[i] as u32))
                .collect()
        });
        let got: Vec<f32> =
            math_function(&Target::host(None).unwrap(), 16, Elem::F32, name).run(&a, &b);
        let bound = fuser_codegen::math::find(name).unwrap().max_ulp.0;
        let mut worst = (0.0, String::new());
        for (((x, y), &result), point) in a.iter().zip(&b).zip(&got).zip(&points) {
            let error = ulp_error_f32(result, point.truth);
            if error > worst.0 {
                let truth = point.truth;
                worst = (
                    error,
                    format!("{name}({x:e}, {y:e}) = {result:e}, true {truth:e}"),
                );
            }
        }
        println!("{name:12} {:.4} ulp  {}", worst.0, worst.1);
        if worst.0 > bound {
            failures.push(format!("{}: {} ulp, bound {bound}", worst.1, worst.0));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_of_two_operands_hold_over_all_exponents() {
    let values = samples_f32(12);
    let mut random = Random(3);
    let (mut a, mut b) = (vec![], vec![]);
    for &x in &values {
        for _ in 0..40 {
            a.push(x);
            b.push(random.one(&values));
        }
    }
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16777217.0,
        1e38,
        -1e38,
        1e-40,
    ];
    for x in edges {
        for y in edges {
            a.push(x);
            b.push(y);
        }
    }
    for name in ["pow", "atan2"] {
        let bound = fuser_codegen::math::find(name).unwrap().max_ulp.0;
        let (error, place) = worst(name, 8, &Target::host(None).unwrap(), &a, &b);
        assert!(error <= bound, "{place}: {error} ulp");
    }
}

/// A known sign saves instructions and changes no bit, on processors with an instruction that scales and on those without.
#[test]
fn exp_of_what_is_not_positive_has_the_bits_of_exp() {
    let mut arguments = inputs();
    arguments.extend(sweep_f32(-104.5, -86.5, 400_000));
    arguments.retain(|x| x.is_nan() || *x <= 0.0);
    let wide: Vec<f64> = arguments.iter().map(|&x| f64::from(x) * 7.2).collect();
    let known = math::exp::exp_of_nonpositive;
    for target in processors() {
        let of = |elem| ArrayFunction::compile(&target, 8, (elem, elem), |x, _| known(x));
        let any = |elem| math_function(&target, 8, elem, "exp");
        let pair = [of(Elem::F32), any(Elem::F32)];
        let [got, exact] = pair.map(|f| f.run::<f32, f32>(&arguments, &arguments));
        for ((x, got), exact) in arguments.iter().zip(got).zip(exact) {
            assert_eq!(got.to_bits(), exact.to_bits(), "{x:e}: {got:e}, {exact:e}");
        }
        let pair = [of(Elem::F64), any(Elem::F64)];
        let [got, exact] = pair.map(|f| f.run::<f64, f64>(&wide, &wide));
        for ((x, got), exact) in wide.iter().zip(got).zip(exact) {
            assert_eq!(got.to_bits(), exact.to_bits(), "{x:e}: {got:e}, {exact:e}");
        }
    }
}

/// Constant exponents that products do: no error but that of one rounding, and those in f64 that it may not see.
#[test]
fn small_constant_powers_are_products() {
    type Power = (f64, fn(f64) -> f64);
    let (a, target) = (inputs(), Target::host(None).unwrap());
    let Some(math::Emitter::Binary(pow)) = math::find("pow").map(|f| f.emit) else {
        panic!("pow has two operands");
    };
    let powers: [Power; 3] = [
        (2.0, |x| x * x),
        (3.0, |x| x * x * x),
        (4.0, |x| (x * x) * (x * x)),
    ];
    for (exponent, reference) in powers {
        for lanes in [1, 16] {
            let types = (Elem::F32, Elem::F32);
            let function =
                ArrayFunction::compile(&target, lanes, types, |x, _| pow(x, x.float(exponent)));
            let got: Vec<f32> = function.run(&a, &a);
            for (&x, &result) in a.iter().zip(&got) {
                let error = ulp_error_f32(result, reference(f64::from(x)));
                assert!(
                    error <= 0.5,
                    "pow({x:e}, {exponent}) = {result:e}: {error} ulp"
                );
            }
        }
    }
}

/// The same instructions everywhere: widths and processors agree to the bit.
#[test]
fn every_width_and_processor_gives_the_same_bits() {
    let values: Vec<f32> = samples_f32(3)
        .into_iter()
        .chain(sweep_f32(-20.0, 20.0, 3001))
        .collect();
    let exponents: Vec<f32> = values.iter().rev().copied().collect();
    for function in fuser_codegen::math::FUNCTIONS {
        let bits = |target: &Target, lanes| -> Vec<u32> {
            let f = math_function(target, lanes, Elem::F32, function.name);
            let got: Vec<f32> = f.run(&values, &exponents);
            got.iter()
                .map(|v| if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() })
                .collect()
        };
        let host = Target::host(None).unwrap();
        let scalar = bits(&host, 1);
        assert_eq!(scalar, bits(&host, 16), "{}", function.name);
        assert_eq!(scalar, bits(&Target::x86_64_v3(), 8), "{}", function.name);
    }
}
