//! The C library's f64 functions, the reference for both formats.

// SAFETY: the declarations are those of the C standard; the functions are pure and total.
unsafe extern "C" {
    safe fn asinh(x: f64) -> f64;
    safe fn acosh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    safe fn lgamma(x: f64) -> f64;
}

/// The number whose erf is `a` and whose erfc is `v`: Winitzki's approximation, and four steps of Halley's method.
fn inverse_erf(a: f64, v: f64) -> f64 {
    if v.is_nan() || v <= 0.0 {
        return if v == 0.0 { f64::INFINITY } else { f64::NAN };
    }
    let (k, w) = (0.147, -(v * (2.0 - v)).ln());
    let b = 2.0 / (std::f64::consts::PI * k) - w / 2.0;
    let mut z = ((b * b + w / k).sqrt() - b).sqrt();
    if a < 1e-4 {
        z = a;
    }
    for _ in 0..4 {
        // Neither underflows, and so does not their product.
        let growth = (z * z / 2.0).exp();
        let off = match a < 0.5 {
            true => (erf(z) - a) * growth * growth,
            false if z < 5.0 => (v - erfc(z)) * growth * growth,
            false => v * growth * growth - far_erfcx(z),
        };
        let off = off * std::f64::consts::PI.sqrt() / 2.0;
        z -= off / (1.0 + z * off);
    }
    z
}

/// `e^(z^2) erfc(z)` from 5 on, by its continued fraction.
fn far_erfcx(z: f64) -> f64 {
    let fraction = (1..40)
        .rev()
        .fold(z, |rest, k| z + f64::from(k) / 2.0 / rest);
    1.0 / (std::f64::consts::PI.sqrt() * fraction)
}

/// The function of this name; one of a single operand ignores the second.
pub fn reference(name: &str) -> fn(f64, f64) -> f64 {
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
        "acosh" => |x, _| acosh(x),
        "atanh" => |x, _| atanh(x),
        "erf" => |x, _| erf(x),
        "erfc" => |x, _| erfc(x),
        "erfinv" => |x, _| inverse_erf(x.abs(), 1.0 - x.abs()).copysign(x),
        "erfcinv" => |x, _| match x > 1.0 {
            true => -inverse_erf(x - 1.0, 2.0 - x),
            false => inverse_erf(1.0 - x, x),
        },
        "lgamma" => |x, _| lgamma(x),
        "pow" => |x, y| x.powf(y),
        "sqrt" => |x, _| x.sqrt(),
        "rsqrt" => |x, _| 1.0 / x.sqrt(),
        "reciprocal" => |x, _| 1.0 / x,
        other => panic!("no reference for {other}"),
    }
}

/// The error of [`reference`] itself, in units in the last place of f64: the greatest errors of glibc and musl in
/// "Accuracy of Mathematical Functions in Single, Double, Extended Double and Quadruple Precision" (Gladman, Innocente,
/// Mather, Zimmermann) are 5.2 for erfc and below 2.5 for the others.
pub fn reference_ulps(name: &str) -> f64 {
    match name {
        "sqrt" | "reciprocal" => 0.0,
        "erfc" => 5.5,
        _ => 2.5,
    }
}

/// A line of the tables that `tools/hard_points.py` and `tools/reference_f64.py` write.
pub struct Point {
    pub name: &'static str,
    /// The operands' bits.
    pub operands: [u64; 2],
    /// The f64 nearest to the true value, and how much the latter is beyond it in units in the last place.
    pub truth: f64,
    pub rest: f64,
}

/// The points of a table by function.
pub fn points(tables: &[&'static str]) -> std::collections::BTreeMap<&'static str, Vec<Point>> {
    let mut found: std::collections::BTreeMap<&str, Vec<Point>> = Default::default();
    for line in tables.iter().flat_map(|text| text.lines()) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let [x, y, truth] =
            [0, 1, 2].map(|_| u64::from_str_radix(words.next().unwrap(), 16).unwrap());
        found.entry(name).or_default().push(Point {
            name,
            operands: [x, y],
            truth: f64::from_bits(truth),
            rest: words.next().map_or(0.0, |rest| rest.parse().unwrap()),
        });
    }
    found
}
