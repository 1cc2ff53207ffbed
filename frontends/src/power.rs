//! Integer powers by repeated squaring. Both formats have this op; the `fusion` dialect has it for floats only.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_ir::Value;

use crate::program::{Draft, Made};

/// `base` to the power of `exponent`, both of one integer type; `known` is the exponent if it is constant. Products
/// wrap. A negative exponent gives 0, except for the bases 1 and -1, which give 1 or -1.
pub fn integer_power(draft: &mut Draft, base: Value, exponent: Value, known: Option<i128>) -> Made {
    let dtype = draft.dtype(base);
    if let Some(n @ 1..) = known {
        return product(draft, base, n);
    }
    let scalar = draft.ir.scalar(dtype);
    let [none, single] = [0.0, 1.0].map(|n| draft.number(n, scalar));
    let (none, single) = (none?, single?);
    let mut factor = base;
    let mut rest = exponent;
    let mut result = single;
    // One factor for each bit of the exponent, without the sign.
    for bit in (0..dtype.bits() - u32::from(dtype.is_signed())).rev() {
        let odd = is_odd(draft, rest, [none, single])?;
        let with = draft.make(&fusion::MUL, &[result, factor])?;
        result = draft.make(&fusion::WHERE, &[odd, with, result])?;
        if bit > 0 {
            rest = draft.make(&fusion::LSHR, &[rest, single])?;
            factor = draft.make(&fusion::MUL, &[factor, factor])?;
        }
    }
    if dtype.is_signed() {
        let minus = draft.number(-1.0, scalar)?;
        let odd = is_odd(draft, exponent, [none, single])?;
        let of_minus = draft.make(&fusion::WHERE, &[odd, minus, single])?;
        let is_minus = draft.builder().compare("eq", base, minus)?;
        let is_one = draft.builder().compare("eq", base, single)?;
        let inverse = draft.make(&fusion::WHERE, &[is_minus, of_minus, none])?;
        let inverse = draft.make(&fusion::WHERE, &[is_one, single, inverse])?;
        let below = draft.builder().compare("lt", exponent, none)?;
        result = draft.make(&fusion::WHERE, &[below, inverse, result])?;
    }
    Ok(result)
}

/// True where the last bit is set.
fn is_odd(draft: &mut Draft, x: Value, [none, single]: [Value; 2]) -> Made {
    let last = draft.make(&fusion::AND, &[x, single])?;
    Ok(draft.builder().compare("ne", last, none)?)
}

/// `n` factors, by squares.
fn product(draft: &mut Draft, base: Value, mut n: i128) -> Made {
    let (mut factor, mut result) = (base, None);
    loop {
        if n & 1 != 0 {
            result = Some(match result {
                Some(result) => draft.make(&fusion::MUL, &[result, factor])?,
                None => factor,
            });
        }
        n >>= 1;
        match (n, result) {
            (0, Some(result)) => return Ok(result),
            _ => factor = draft.make(&fusion::MUL, &[factor, factor])?,
        }
    }
}
