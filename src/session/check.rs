//! Comparison of outputs with the reference interpreter's, each element within its derived bound and within the spread
//! of samples.

use fuser_interp::compare::{self, Report, Status};
use fuser_interp::{Expected, Subject};
use fuser_runtime::{Heap, HostTensor};

use super::Result;
use super::tensors::Held;

/// The yardsticks of a check.
#[derive(Clone, Copy)]
pub enum Yardstick<'a> {
    /// Bounds, and samples where bounds are too wide; the callback receives the number of finished samples and the
    /// total.
    Sharp(&'a dyn Fn(u32, u32)),
    /// Bounds alone: one execution of the interpreter.
    Bounds,
}

/// The result of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// That of all outputs together.
    pub status: Status,
    /// In the order of the program's results.
    pub outputs: Vec<OutputCheck>,
    /// The samples that were drawn.
    pub samples: u32,
}

impl Check {
    /// True if enough of each output was compared, and all of that agrees.
    pub fn ok(&self) -> bool {
        self.status == Status::Ok
    }
    /// True if something disagrees.
    pub fn failed(&self) -> bool {
        self.status == Status::Failed
    }
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

/// Compares outputs with those that are expected.
pub fn outputs(
    heap: &Heap,
    names: &[String],
    actual: &[HostTensor],
    expected: &mut Expected,
    subject: Subject<'_>,
    yardstick: Yardstick<'_>,
) -> Result<Check> {
    let copies = Held::copies(heap, actual)?;
    let reports = match yardstick {
        Yardstick::Sharp(tell) => expected.judge_telling(subject, &copies.tensors, tell),
        Yardstick::Bounds => {
            let pairs = expected.values.iter().zip(&copies.tensors);
            pairs.map(|(e, a)| compare::compare(a, e)).collect()
        }
    };
    let missing = || Report {
        mismatch: Some("is missing".into()),
        ..Report::default()
    };
    let reports = reports.into_iter().chain(std::iter::repeat_with(missing));
    let outputs = expected.values.iter().zip(reports).enumerate();
    let outputs = outputs.map(|(index, (expected, report))| OutputCheck {
        name: names
            .get(index)
            .cloned()
            .unwrap_or_else(|| index.to_string()),
        shape: expected.describe(),
        report,
    });
    let outputs: Vec<OutputCheck> = outputs.collect();
    let own = match actual.len() == expected.values.len() {
        true => Status::Ok,
        false => Status::Failed,
    };
    let all = outputs.iter().map(|output| output.report.status);
    Ok(Check {
        status: all.fold(own, Status::and),
        outputs,
        samples: expected.samples,
    })
}
