//! Checks of what kernels do with memory, at the price of running a program three times.
//!
//! 1. Two guarded runs: every buffer has memory of its own between red zones, and outputs, temporaries and scratch begin
//!    as two different patterns. One run walks its grids in parallel, the other backward in small steps. After each step the red zones must be whole; at the end the inputs must be as they were.
//! 2. Outputs that differ between the two runs hold what was never written, or come from it, or depend on how a grid is cut up.
//! 3. Outputs that differ from those of the lean run depend on where buffers lie: something was read outside its buffer,
//!    or two temporaries share memory while both are in use.
//!
//! What this cannot see: a write inside another buffer that misses all red zones, and reads that change nothing.

use std::fmt;

/// Bytes that are watched on each side of a buffer.
pub(crate) const REDZONE: usize = 256;

/// What buffers begin as in the two guarded runs. All bits set is a NaN in every floating-point type.
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
    /// An element of an output that depends on memory that nobody wrote, on the order of grid iterations, or on chance.
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

/// The position of the first element that differs.
pub(crate) fn first_difference(a: &[u8], b: &[u8], size: usize) -> Option<usize> {
    let byte = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(byte / size.max(1))
}

/// Compares an output of the two guarded runs.
pub(crate) fn compare_patterns(
    output: &str,
    runs: [&[u8]; 2],
    size: usize,
) -> Result<(), CheckError> {
    let [a, b] = runs;
    let Some(element) = first_difference(a, b, size) else {
        return Ok(());
    };
    let output = output.to_string();
    let untouched = |(bytes, pattern): (&[u8], u8)| {
        let element = bytes.chunks_exact(size.max(1)).nth(element);
        element.is_some_and(|bytes| bytes.iter().all(|byte| *byte == pattern))
    };
    if runs.into_iter().zip(PATTERNS).all(untouched) {
        return Err(CheckError::Unwritten { output, element });
    }
    Err(CheckError::Undetermined { output, element })
}
