//! Facts that keep results independent of the order of sums: every summed float is a small integer.
//!
//! A fact about a value says that all its elements are integers of at most some magnitude. Facts follow the ops: `add`
//! adds the magnitudes, `sum` multiplies by the count. In the exact tier a sum or product of floats is generated only
//! if the accumulator holds the result exactly; then any order gives the same bits. All other ops of the exact tier are
//! correctly rounded by definition, for any values.
//!
//! A fact about a complex number holds for each part.
//!
//! `None` means that nothing is known; it may be NaN. A float that is no known integer is never summed, nor are its
//! bits read by `bitcast`, in the exact tier.

use fuser_ir::DType;
use fuser_ir::def::{OpDef, Traits};

/// Every element is a finite integer of at most this magnitude.
pub type Fact = Option<u64>;

/// The greatest integral argument for which `exp2` is drawn in the exact tier.
const MAX_EXPONENT: u64 = 12;

fn local(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

/// True if the op can occur in the exact tier at all.
pub fn may_be_exact(def: &OpDef) -> bool {
    !def.traits.contains(Traits::APPROXIMATE)
}

/// Up to here all integers are exact in the type in which reductions of `dtype` accumulate.
fn exact_up_to(dtype: DType) -> u64 {
    match dtype.part() {
        DType::F64 => 1 << 53,
        _ => 1 << 24,
    }
}

/// The fact of a value of type `dtype` computed to be an integer of at most `magnitude`.
pub fn rounded(dtype: DType, magnitude: u64) -> Fact {
    let limit = match dtype.part() {
        // Zero and negative numbers are NaN.
        DType::F8E8M0FNU => return None,
        DType::F8E4M3FN => return Some(coarse(magnitude).min(448)),
        // Among the integers up to 6 only 5 is not representable, and rounds down.
        DType::F4E2M1FN => return Some(magnitude.min(6)),
        DType::F8E5M2 => return Some(coarse(magnitude)).filter(|m| *m <= 57344),
        DType::F64 | DType::F32 | DType::BF16 => 1 << 62,
        DType::F16 => 65504,
        _ => return Some(magnitude.min(full_range(dtype))),
    };
    // Rounding to a storage type may go up by half a unit in the last place, at most a part in 256.
    let risen = if magnitude > 256 {
        magnitude.saturating_add(magnitude >> 8)
    } else {
        magnitude
    };
    (risen <= limit).then_some(risen)
}

/// The greatest magnitude to which a float of 8 bits may round an integer: up by an eighth.
fn coarse(magnitude: u64) -> u64 {
    match magnitude > 8 {
        true => magnitude.saturating_add(magnitude / 8 + 1),
        false => magnitude,
    }
}

/// The greatest magnitude of an integer type.
pub fn full_range(dtype: DType) -> u64 {
    let (low, high) = dtype.int_range();
    low.unsigned_abs().max(high.unsigned_abs()) as u64
}

/// The fact of the result of an elementwise op of type `to`, whose operands have type `from`.
pub fn elementwise(def: &OpDef, from: DType, to: DType, facts: &[Fact]) -> Fact {
    let any = if to.is_int() {
        Some(full_range(to))
    } else {
        None
    };
    let all: Option<Vec<u64>> = facts.iter().copied().collect();
    let Some(m) = all else {
        return match local(def.name) {
            "compare" | "isnan" | "isfinite" => Some(1),
            _ => any,
        };
    };
    let at = |i: usize| m.get(i).copied().unwrap_or(0);
    let greatest = m.iter().copied().max().unwrap_or(0);
    let magnitude = match local(def.name) {
        "compare" | "isnan" | "isfinite" | "sign" => 1,
        // A negative number becomes a large one in an unsigned type.
        "neg" | "sub" if is_unsigned(to) => return any,
        "cast" if is_unsigned(to) && from.is_int() && from.is_signed() => return any,
        "abs" if from.is_complex() => return None,
        "conj" | "real" | "imag" => at(0),
        "neg" | "abs" | "ceil" | "floor" | "round" | "trunc" | "relu" => at(0),
        "add" | "sub" => at(0).saturating_add(at(1)),
        "mul" if to.is_complex() => at(0).saturating_mul(at(1)).saturating_mul(2),
        "mul" => at(0).saturating_mul(at(1)),
        "div" | "rem" if to.is_int() => at(0),
        "shr" => at(0),
        "maximum" | "minimum" | "fmax" | "fmin" | "clamp" | "complex" => greatest,
        "where" => at(1).max(at(2)),
        "cast" => at(0),
        "bitcast" if from.is_int() && to.is_int() => return any,
        _ => return any,
    };
    match to.is_int() && magnitude > full_range(to) / 2 {
        true => any,
        false => rounded(to, magnitude),
    }
}

fn is_unsigned(dtype: DType) -> bool {
    !dtype.is_signed() && dtype != DType::I1
}

/// True if the exact tier admits an elementwise op on such operands.
pub fn admits(def: &OpDef, from: DType, facts: &[Fact]) -> bool {
    let known = facts.iter().all(Option::is_some);
    match local(def.name) {
        "bitcast" => from.is_int() || known,
        "exp2" => !from.is_complex() && facts.iter().all(|f| f.is_some_and(|m| m <= MAX_EXPONENT)),
        _ => may_be_exact(def),
    }
}

/// The result of a reduction may depend on its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderMatters;

/// The fact of a reduction over `count` elements, or an error if the exact tier must not have it.
pub fn reduction(def: &OpDef, dtype: DType, fact: Fact, count: u64) -> Result<Fact, OrderMatters> {
    let name = local(def.name);
    if matches!(name, "var_mean" | "mean") {
        return Err(OrderMatters);
    }
    if dtype.is_int() {
        return Ok(Some(full_range(dtype)));
    }
    let magnitude = match (name, fact) {
        ("max" | "min" | "max_num" | "min_num" | "cummax" | "cummin", fact) => {
            return Ok(if count == 0 { None } else { fact });
        }
        (_, None) => return Err(OrderMatters),
        ("sum" | "cumsum", Some(m)) => m.saturating_mul(count),
        (_, Some(m)) if dtype.is_complex() => power(2 * m.max(1), count),
        (_, Some(m)) => power(m.max(1), count),
    };
    match magnitude <= exact_up_to(dtype) {
        true => Ok(rounded(dtype, magnitude)),
        false => Err(OrderMatters),
    }
}

fn power(base: u64, exponent: u64) -> u64 {
    if base <= 1 {
        return 1;
    }
    base.checked_pow(exponent.min(64) as u32)
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_dialects::fusion;

    #[test]
    fn sums_stay_within_the_accumulator() {
        assert_eq!(
            reduction(&fusion::SUM, DType::BF16, Some(8), 1 << 21),
            Ok(Some((1 << 24) + (1 << 16)))
        );
        assert_eq!(
            reduction(&fusion::SUM, DType::BF16, Some(8), (1 << 21) + 1),
            Err(OrderMatters)
        );
        assert_eq!(
            reduction(&fusion::SUM, DType::F32, None, 2),
            Err(OrderMatters)
        );
        assert_eq!(
            reduction(&fusion::PROD, DType::F32, Some(2), 25),
            Err(OrderMatters)
        );
        // The products of a scan are bounded too, since threads combine them in groups.
        assert_eq!(
            reduction(&fusion::CUMPROD, DType::F32, None, 2),
            Err(OrderMatters)
        );
        assert_eq!(reduction(&fusion::MAX, DType::F16, None, 5), Ok(None));
        // 8 * 100,000 is no f16.
        assert_eq!(
            reduction(&fusion::SUM, DType::F16, Some(8), 100_000),
            Ok(None)
        );
    }

    #[test]
    fn facts_follow_ops() {
        let f = |def, facts: &[Fact]| elementwise(def, DType::F32, DType::F32, facts);
        assert_eq!(f(&fusion::MUL, &[Some(8), Some(9)]), Some(72));
        assert_eq!(f(&fusion::DIV, &[Some(8), Some(9)]), None);
        assert_eq!(f(&fusion::WHERE, &[Some(1), Some(3), Some(9)]), Some(9));
        assert_eq!(
            elementwise(&fusion::CAST, DType::F32, DType::I8, &[None]),
            Some(128)
        );
        assert_eq!(
            elementwise(&fusion::ADD, DType::I8, DType::I8, &[Some(100), Some(100)]),
            Some(128)
        );
        assert!(!admits(&fusion::BITCAST, DType::F32, &[None]));
        assert!(!may_be_exact(&fusion::EXP) && may_be_exact(&fusion::SQRT));
    }
}
