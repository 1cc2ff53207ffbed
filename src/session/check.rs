//! Outputs against the reference interpreter's, each element within its derived bound.

use fuser_interp::Tensor;
use fuser_interp::compare::{self, Report};
use fuser_runtime::{Heap, HostTensor};

use super::Result;
use super::tensors::Held;

/// The result of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// All outputs agree.
    pub ok: bool,
    /// In the order of the program's results.
    pub outputs: Vec<OutputCheck>,
}

/// One output.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputCheck {
    /// Its name.
    pub name: String,
    /// Type and shape.
    pub shape: String,
    /// The result of the comparison.
    pub report: Report,
}

/// Compares outputs with the reference's.
pub fn outputs(
    heap: &Heap,
    names: &[String],
    actual: &[HostTensor],
    reference: &[Tensor],
) -> Result<Check> {
    let mut outputs = Vec::with_capacity(reference.len());
    for (index, expected) in reference.iter().enumerate() {
        let report = match actual.get(index) {
            Some(actual) => match Held::copies(heap, [actual])?.tensors.as_slice() {
                [copy] => compare::compare(copy, expected),
                _ => Report::default(),
            },
            None => Report {
                mismatch: Some("is missing".into()),
                ..Report::default()
            },
        };
        outputs.push(OutputCheck {
            name: names
                .get(index)
                .cloned()
                .unwrap_or_else(|| index.to_string()),
            shape: expected.describe(),
            report,
        });
    }
    Ok(Check {
        ok: actual.len() == reference.len() && outputs.iter().all(|o| o.report.ok),
        outputs,
    })
}
