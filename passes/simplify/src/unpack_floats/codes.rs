//! Casts of floats of 4 bits: the value of a code, and the code of a value, as arithmetic.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::{DType, Value};

/// The steps of the code: the midpoint of two neighbors, and whether it rounds up, which it does if the greater code is
/// even.
const STEPS: [(f64, bool); 7] = [
    (0.25, false),
    (0.75, true),
    (1.25, false),
    (1.75, true),
    (2.5, false),
    (3.5, true),
    (5.0, false),
];

/// The bit of a code that is its sign.
const SIGN: i128 = 8;

/// The values of codes, in f32: from two on, the bits of a code are the fields of an f32 with another exponent bias.
pub fn value(b: &mut Builder<'_>, codes: Value) -> Built {
    let wide = b.cast(codes, DType::I32)?;
    let ty = b.ir.scalar(DType::I32);
    let mut number = |value: i128| b.constant_int(value, ty);
    let [zero, one, eight] = [number(0)?, number(1)?, number(SIGN)?];
    let [magnitudes, left, to_top] = [number(SIGN - 1)?, number(22)?, number(28)?];
    let half = number(i128::from(0.5f32.to_bits()))?;
    let magnitude = b.binary(&fusion::AND, wide, magnitudes)?;
    let normal = b.compare("gt", magnitude, one)?;
    let fields = b.choose(normal, magnitude, zero)?;
    let fields = b.binary(&fusion::SHL, fields, left)?;
    let some = b.add(fields, half)?;
    let any = b.compare("gt", magnitude, zero)?;
    let magnitude = b.choose(any, some, zero)?;
    let sign = b.binary(&fusion::AND, wide, eight)?;
    let sign = b.binary(&fusion::SHL, sign, to_top)?;
    let bits = b.binary(&fusion::OR, magnitude, sign)?;
    let to = b.dtype("to", DType::F32);
    b.value(&fusion::BITCAST, &[bits], &[to])
}

/// The codes of values of any type except complex ones: those of the nearest elements; the greatest on overflow, and -0
/// for NaN.
pub fn code(b: &mut Builder<'_>, values: Value) -> Built {
    let from = match b.ir.value_kind(values).dtype() {
        Some(DType::F64) => DType::F64,
        _ => DType::F32,
    };
    let wide = match from {
        DType::F64 => DType::I64,
        _ => DType::I32,
    };
    // What f32 cannot hold is beyond the greatest element.
    let values = b.cast(values, from)?;
    let (float, int) = (b.ir.scalar(from), b.ir.scalar(wide));
    let magnitude = b.unary(&fusion::ABS, values)?;
    let to = b.dtype("to", wide);
    let bits = b.value(&fusion::BITCAST, &[values], &[to])?;
    let (right, mask) = (i128::from(wide.bits()) - 4, SIGN);
    let (right, mask) = (b.constant_int(right, int)?, b.constant_int(mask, int)?);
    let sign = b.binary(&fusion::LSHR, bits, right)?;
    let mut code = b.binary(&fusion::AND, sign, mask)?;
    for (midpoint, up) in STEPS {
        let midpoint = b.constant_float(midpoint, float)?;
        let above = b.compare(if up { "ge" } else { "gt" }, magnitude, midpoint)?;
        let above = b.cast(above, wide)?;
        code = b.add(code, above)?;
    }
    let nan = b.compare("ne", values, values)?;
    let code = b.choose(nan, mask, code)?;
    b.cast(code, DType::U8)
}
