//! Functions that are compositions here, beside values of mpmath 1.3 (40 digits): digamma, polygamma, the zeta function of Hurwitz, a Bessel
//! function. `zeta(30, 100)` is the sum of its terms: the value of `mpmath.zeta` is off in the twelfth digit.

use fuser_frontends::Format;
use fuser_runtime::{HostTensor, Inputs};

use super::{load, session};

/// The op, its operands, its results.
type Row = (&'static str, &'static [&'static [f64]], &'static [f64]);

#[rustfmt::skip]
const VALUES: &[Row] = &[
    ("chlo.digamma", &[&[-3.7, -0.5, 0.001, 0.3, 1.0, 1.75, 2.5, 10.0, 100000.0]], &[-0.8450768588704194, 0.03648997397857652, -1000.5755719318103, -3.502524222200133, -0.5772156649015329, 0.24747245354686118, 0.7031566406452432, 2.251752589066721, 11.512920464961896]),
    ("chlo.polygamma", &[&[0.0, 0.0, 0.0, 0.0, 0.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[-20.497844991299868, -1.9635100260214235, 0.03648997397857652, 1.8727843350984672, 4.600161852738087]),
    ("chlo.polygamma", &[&[1.0, 1.0, 1.0, 1.0, 1.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[401.53235734211506, 4.934802200544679, 0.9348022005446793, 0.15354517795933756, 0.010050166663333571]),
    ("chlo.polygamma", &[&[2.0, 2.0, 2.0, 2.0, 2.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[-16002.108158021943, -16.82879664423432, -0.82879664423432, -0.023530472985855238, -0.00010100499983335]),
    ("chlo.polygamma", &[&[5.0, 5.0, 5.0, 5.0, 5.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[7680000091.350529, 7691.113548602436, 11.113548602435497, 0.0020094931750490293, 2.460599944011996e-09]),
    ("chlo.zeta", &[&[1.5, 1.5, 1.5, 1.5, 1.5], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[91.95949102897659, 4.776537947554833, 1.9481108228086432, 0.7838877675183705, 0.2005012499817719]),
    ("chlo.zeta", &[&[3.0, 3.0, 3.0, 3.0, 3.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[8001.054079010972, 8.41439832211716, 0.41439832211716, 0.011765236492927619, 5.0502499916675e-05]),
    ("chlo.zeta", &[&[30.0, 30.0, 30.0, 30.0, 30.0], &[0.05, 0.5, 1.5, 7.0, 100.0]], &[1.0737418239999982e+39, 1073741824.0000052, 5.215096203815732e-06, 4.5199316204575715e-26, 3.97323463880809e-60]),
    ("chlo.bessel_i1e", &[&[-20.0, -3.0, -0.1, 0.0, 0.001, 7.9, 8.0, 8.1, 100.0, 10000.0]], &[-0.08750622218328867, -0.19682671329730086, -0.045298446808809324, 0.0, 0.0004995003123542213, 0.13489649943989376, 0.13414249329269817, 0.13340068832583662, 0.03974415302513025, 0.003989273195983662]),
    ("chlo.digamma", &[&[0.0, -0.0, -1.0, -7.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]], &[f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::INFINITY, f64::NAN, f64::NAN]),
    ("chlo.zeta", &[&[1.0, 0.5, 3.0, 2.5, f64::NAN], &[2.0, 2.0, -4.0, -0.5, 1.0]], &[f64::INFINITY, f64::NAN, f64::INFINITY, f64::NAN, f64::NAN]),
    ("chlo.polygamma", &[&[-1.0, 0.5, 0.0, f64::NAN], &[2.0, 2.0, -1.0, 1.0]], &[f64::NAN, f64::NAN, f64::NAN, f64::NAN]),
    ("chlo.bessel_i1e", &[&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN]], &[0.0, 0.0, f64::NAN]),
];

/// The greatest relative error in `f64`: of sums of some ten terms with a power each.
const BOUND: f64 = 1e-13;

#[test]
fn special_functions_have_the_values_of_their_definitions() {
    let session = session();
    for (op, operands, wanted) in VALUES {
        let ty = format!("tensor<{}xf64>", wanted.len());
        let names = ["%a", "%b"].into_iter().take(operands.len());
        let parameters: Vec<String> = names.clone().map(|name| format!("{name}: {ty}")).collect();
        let names: Vec<&str> = names.collect();
        let types = vec![ty.as_str(); operands.len()].join(", ");
        let text = format!(
            "func.func @main({}) -> {ty} {{\n  %0 = {op} {} : {types} -> {ty}\n  return %0 : {ty}\n}}\n",
            parameters.join(", "),
            names.join(", ")
        );
        let loaded = load(&session, Format::StableHlo, "f.mlir", &text);
        let loaded = loaded.unwrap_or_else(|told| panic!("{told}"));
        let made_up = session.resolve(&loaded, &Default::default(), &Default::default());
        let made_up = made_up.unwrap();
        let heap = session.runtime().heap();
        let tensor = |(like, values): (&HostTensor, &&[f64])| {
            HostTensor::from_f64(heap, like.dtype(), like.axes(), values).unwrap()
        };
        let tensors = made_up.tensors.iter().zip(*operands).map(tensor).collect();
        let inputs = Inputs {
            tensors,
            extents: made_up.extents,
        };
        let outputs = session.interpret(&loaded, &inputs).unwrap().outputs;
        let made = outputs[0].bytes().chunks(8);
        let made = made.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        for (at, (made, wanted)) in made.zip(*wanted).enumerate() {
            let near = (made - wanted).abs() <= BOUND * wanted.abs();
            let same = made == *wanted || made.is_nan() && wanted.is_nan();
            assert!(same || near, "{op} {at}: {made} instead of {wanted}");
        }
    }
}
