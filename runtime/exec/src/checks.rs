//! Checks of the memory accesses of kernels, at the price of running a program three times.
//!
//! 1. Two guarded runs: every buffer has memory of its own between red zones, and outputs, temporaries and scratch begin
//!    as two different patterns. One run walks its grids in parallel, the other backward in small steps. After each step the red zones must be whole; at the end the inputs must be as they were.
//! 2. Outputs whose values differ between the two runs hold memory that was never written, or come from it, or depend
//!    on how a grid is cut up.
//! 3. Outputs that differ from those of the lean run depend on where buffers lie: something was read outside its buffer,
//!    or two temporaries share memory while both are in use.
//!
//! All NaN are one value: which operand's payload a NaN carries is not specified, and vectors may take another one than
//! the scalar remainder beside them.
//!
//! Undetected: a write inside another buffer that misses all red zones, and reads that change nothing.

use std::fmt;

use fuser_artifact::DType;
use half::{bf16, f16};

use crate::small;

/// Bytes that are watched on each side of a buffer.
pub(crate) const REDZONE: usize = 256;

/// The initial bytes of buffers in the two guarded runs. All bits set is a NaN in every floating-point type.
pub(crate) const PATTERNS: [u8; 2] = [0xff, 0x5a];

/// A kernel, or the plan, does something with memory that it must not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// Somebody wrote outside a buffer.
    Overwritten {
        buffer: String,
        side: Side,
        step: usize,
        kernel: Option<String>,
    },
    /// Somebody wrote to an input that nothing updates.
    InputChanged { input: String, element: usize },
    /// An element of an output that nobody wrote.
    Unwritten { output: String, element: usize },
    /// An element of an output depends on memory that was never written, on the order of grid iterations, or on chance.
    Undetermined { output: String, element: usize },
    /// An element of an output that depends on where buffers lie in memory.
    Layout { output: String, element: usize },
}

/// On which side of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Overwritten {
                buffer,
                side,
                step,
                kernel,
            } => {
                let side = match side {
                    Side::Before => "before",
                    Side::After => "after",
                };
                write!(
                    f,
                    "check failed: memory {side} buffer `{buffer}` was written in step {step}"
                )?;
                match kernel {
                    Some(kernel) => write!(f, " (kernel `{kernel}`)"),
                    None => Ok(()),
                }
            }
            CheckError::InputChanged { input, element } => {
                write!(
                    f,
                    "check failed: element {element} of input `{input}` was changed"
                )
            }
            CheckError::Unwritten { output, element } => {
                write!(
                    f,
                    "check failed: element {element} of output `{output}` was never written"
                )
            }
            CheckError::Undetermined { output, element } => write!(
                f,
                "check failed: element {element} of output `{output}` depends on memory that was never written, on the order of grid iterations, or on chance"
            ),
            CheckError::Layout { output, element } => write!(
                f,
                "check failed: element {element} of output `{output}` depends on where buffers lie in memory"
            ),
        }
    }
}

impl std::error::Error for CheckError {}

/// The position of the first element that differs; for elements that share a byte, the first element of that byte.
pub(crate) fn first_difference(a: &[u8], b: &[u8], dtype: DType) -> Option<usize> {
    let byte = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(byte / dtype.bytes().max(1) * dtype.per_byte())
}

/// The position of the first element with another value; all NaN count as one value. The rest of the longer list is
/// ignored.
pub fn first_other_value(a: &[u8], b: &[u8], dtype: DType) -> Option<usize> {
    if dtype.per_byte() > 1 {
        return first_difference(a, b, dtype);
    }
    let size = dtype.bytes().max(1);
    let mut elements = a.chunks_exact(size).zip(b.chunks_exact(size));
    elements.position(|(a, b)| a != b && !(is_nan(dtype, a) && is_nan(dtype, b)))
}

fn is_nan(dtype: DType, element: &[u8]) -> bool {
    match (dtype, element) {
        (DType::C64 | DType::C128, parts) => parts
            .chunks(dtype.part().bytes())
            .any(|part| is_nan(dtype.part(), part)),
        (DType::F64, &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h]).is_nan()
        }
        (DType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (DType::F16, &[a, b]) => f16::from_le_bytes([a, b]).is_nan(),
        (DType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).is_nan(),
        (dtype, &[a]) if dtype.is_storage() => small::to_f64(dtype, a).is_nan(),
        _ => false,
    }
}

/// Compares an output of the two guarded runs.
pub(crate) fn compare_patterns(
    output: &str,
    runs: [&[u8]; 2],
    dtype: DType,
) -> Result<(), CheckError> {
    let [a, b] = runs;
    let Some(element) = first_other_value(a, b, dtype) else {
        return Ok(());
    };
    let size = dtype.bytes();
    let output = output.to_string();
    let untouched = |(bytes, pattern): (&[u8], u8)| {
        let element = bytes
            .chunks_exact(size.max(1))
            .nth(element / dtype.per_byte());
        element.is_some_and(|bytes| bytes.iter().all(|byte| *byte == pattern))
    };
    if runs.into_iter().zip(PATTERNS).all(untouched) {
        return Err(CheckError::Unwritten { output, element });
    }
    Err(CheckError::Undetermined { output, element })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn all_nan_are_one_value_and_zeros_are_two() {
        let a = bytes(&[0x7fc0_0000, 0xffff_ffff, 0x8000_0000, 0x3f80_0000]);
        let b = bytes(&[0xffc0_0001, 0x7f80_0001, 0x0000_0000, 0x3f80_0000]);
        assert_eq!(first_other_value(&a, &b, DType::F32), Some(2));
        assert_eq!(first_other_value(&a, &b, DType::I32), Some(0));
        assert_eq!(first_other_value(&a[..8], &b[..8], DType::F32), None);
        assert_eq!(first_other_value(&a[12..], &b[12..], DType::F32), None);
        // An infinity is no NaN.
        let (nan, infinity) = (bytes(&[0x7f80_0001]), bytes(&[0x7f80_0000]));
        assert_eq!(first_other_value(&nan, &infinity, DType::F32), Some(0));
    }

    #[test]
    fn what_nobody_wrote_is_found_though_one_pattern_is_nan() {
        let runs = PATTERNS.map(|pattern| vec![pattern; 8]);
        let found = compare_patterns("y", [&runs[0], &runs[1]], DType::F64);
        let output = "y".to_string();
        assert_eq!(found, Err(CheckError::Unwritten { output, element: 0 }));
    }
}
