//! The f64 functions against true values from mpmath (`tools/reference_f64.py`), and against the C library densely.
//!
//! The tables give the error exactly at some hundred points a function, at random and where it is hard
//! (`tools/hard_points.py`); the C library, itself within a few units in the last place, guards the space between them
//! with that much more room.

use crate::support::reference::{points, reference, reference_ulps};
use crate::support::*;
use fuser_codegen::Target;
use fuser_codegen::expr::Elem;

#[test]
fn bounds_hold_at_the_tabulated_points() {
    let mut failures = vec![];
    let tables = [
        include_str!("data/math_f64.txt"),
        include_str!("data/hard_f64.txt"),
    ];
    for (name, points) in points(&tables) {
        let function = math_function(&Target::host(None).unwrap(), 8, Elem::F64, name);
        let [a, b] = [0, 1].map(|i| -> Vec<f64> {
            points
                .iter()
                .map(|p| f64::from_bits(p.operands[i]))
                .collect()
        });
        let got: Vec<f64> = function.run(&a, &b);
        let (mut worst, mut place) = (0.0, String::new());
        for (((x, y), &result), p) in a.iter().zip(&b).zip(&got).zip(&points) {
            let error = ulp_error_f64(result, p.truth, p.rest);
            if error > worst {
                let truth = p.truth;
                (worst, place) = (
                    error,
                    format!("{name}({x:e}, {y:e}) = {result:e}, true {truth:e}"),
                );
            }
        }
        println!("{name:12} {worst:.4} ulp  {place}");
        if worst > fuser_codegen::math::find(name).unwrap().max_ulp.1 {
            failures.push(format!("{place}: {worst} ulp"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A function of two operands and its reference.
type Binary = (&'static str, fn(f64, f64) -> f64);

#[test]
fn agrees_with_the_c_library_over_all_exponents() {
    let values = samples_f64(60);
    for function in fuser_codegen::math::FUNCTIONS {
        let (name, truth_of) = (function.name, reference(function.name));
        let bound = function.max_ulp.1 + reference_ulps(name);
        let got: Vec<f64> =
            math_function(&Target::host(None).unwrap(), 8, Elem::F64, name).run(&values, &values);
        for (&x, &result) in values.iter().zip(&got) {
            let truth = truth_of(x, x);
            let error = ulp_error_f64(result, truth, 0.0);
            assert!(
                error <= bound,
                "{name}({x:e}) = {result:e}, the C library {truth:e}: {error} ulp"
            );
        }
    }
}

#[test]
fn pow_and_atan2_agree_at_the_edges() {
    let edges = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        1e-310,
        1e300,
        9007199254740993.0,
        4503599627370497.0,
        f64::INFINITY,
        f64::NAN,
        1.5,
    ];
    let signed: Vec<f64> = edges.iter().flat_map(|&v| [v, -v]).collect();
    let (mut a, mut b) = (vec![], vec![]);
    for &x in &signed {
        for &y in &signed {
            a.push(x);
            b.push(y);
        }
    }
    let cases: [Binary; 2] = [("pow", f64::powf), ("atan2", f64::atan2)];
    for (name, reference) in cases {
        let got: Vec<f64> =
            math_function(&Target::host(None).unwrap(), 4, Elem::F64, name).run(&a, &b);
        for ((&x, &y), &result) in a.iter().zip(&b).zip(&got) {
            let error = ulp_error_f64(result, reference(x, y), 0.0);
            assert!(
                error <= 3.0,
                "{name}({x:e}, {y:e}) = {result:e}, not {:e}",
                reference(x, y)
            );
        }
    }
}

fn samples_f64(per_exponent: u64) -> Vec<f64> {
    let mut random = Random(5);
    let mut values = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for exponent in 0..2047u64 {
        for k in 0..per_exponent {
            let mantissa = match k {
                0 => 0,
                1 => (1 << 52) - 1,
                _ => random.word() >> 12,
            };
            let magnitude = f64::from_bits(exponent << 52 | mantissa);
            values.extend([magnitude, -magnitude]);
        }
    }
    values.extend((0..200_000).map(|i| (f64::from(i) - 100_000.0) / 9973.0));
    values
}
