//! The f32 functions against f64 references over every exponent, all edges, and dense sweeps where they bend.
//!
//! Each function is held to the bound that the table states; the references err by less than 2^-28 of an f32's last place.

mod support;

use fuser_codegen::Target;
use fuser_codegen::expr::Elem;
use support::*;

// SAFETY: the declarations are those of the C standard.
unsafe extern "C" {
    fn erf(x: f64) -> f64;
    fn erfc(x: f64) -> f64;
}

fn reference(name: &str) -> fn(f64, f64) -> f64 {
    match name {
        "exp" => |x, _| x.exp(),
        "exp2" => |x, _| x.exp2(),
        "expm1" => |x, _| x.exp_m1(),
        "sigmoid" => |x, _| {
            if x < 0.0 {
                x.exp() / (1.0 + x.exp())
            } else {
                1.0 / (1.0 + (-x).exp())
            }
        },
        "tanh" => |x, _| x.tanh(),
        "sinh" => |x, _| x.sinh(),
        "cosh" => |x, _| x.cosh(),
        "log" => |x, _| x.ln(),
        "log2" => |x, _| x.log2(),
        "log10" => |x, _| x.log10(),
        "log1p" => |x, _| x.ln_1p(),
        "sin" => |x, _| x.sin(),
        "cos" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "asin" => |x, _| x.asin(),
        "acos" => |x, _| x.acos(),
        "atan" => |x, _| x.atan(),
        "atan2" => |y, x| y.atan2(x),
        "asinh" => |x, _| asinh(x),
        "acosh" => |x, _| {
            if x < 1.0 {
                f64::NAN
            } else {
                (x - 1.0 + ((x - 1.0) * (x + 1.0)).sqrt()).ln_1p()
            }
        },
        "atanh" => |x, _| atanh(x),
        // SAFETY: the C library's functions, pure and total.
        "erf" => |x, _| unsafe { erf(x) },
        "erfc" => |x, _| unsafe { erfc(x) },
        "pow" => |x, y| x.powf(y),
        "sqrt" => |x, _| x.sqrt(),
        "rsqrt" => |x, _| 1.0 / x.sqrt(),
        "reciprocal" => |x, _| 1.0 / x,
        other => panic!("no reference for {other}"),
    }
}

fn asinh(x: f64) -> f64 {
    let a = x.abs();
    if a > 1e150 {
        x
    } else {
        (a + a * a / (1.0 + (a * a + 1.0).sqrt()))
            .ln_1p()
            .copysign(x)
    }
}

fn atanh(x: f64) -> f64 {
    let a = x.abs();
    if a < 1e-7 {
        x
    } else {
        (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
    }
}

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
    let mut noise = Noise(7);
    let near: Vec<f32> = a
        .iter()
        .map(|_| ((noise.next() % 4001) as f32 - 2000.0) / 64.0)
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
    check_all(&Target::host().unwrap(), 16);
}

#[test]
fn functions_of_two_operands_hold_over_all_exponents() {
    let values = samples_f32(12);
    let mut noise = Noise(3);
    let (mut a, mut b) = (vec![], vec![]);
    for &x in &values {
        for _ in 0..40 {
            a.push(x);
            b.push(values[noise.next() as usize % values.len()]);
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
        let (error, place) = worst(name, 8, &Target::host().unwrap(), &a, &b);
        assert!(error <= bound, "{place}: {error} ulp");
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
        let host = Target::host().unwrap();
        let scalar = bits(&host, 1);
        assert_eq!(scalar, bits(&host, 16), "{}", function.name);
        assert_eq!(scalar, bits(&Target::x86_64_v3(), 8), "{}", function.name);
    }
}
