//! Reasons as sentences, for people. `refusal.rs` has them as data.

use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::task::{self, calls};
use fuser_ir::def::OpClass;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op};

use super::Refusal;
use crate::axes::{AxisRefusal, WindowRefusal, expr_text, value_text};

impl Refusal {
    /// The reason as a sentence without the final period.
    pub fn words(&self, ir: &Ir) -> String {
        let value = |v| value_text(ir, v);
        match self {
            Self::Axes(axes) => axis_words(ir, axes),
            Self::TooManyOps { ops, limit } => {
                format!("it would have {ops} ops, and a kernel has at most {limit}")
            }
            Self::TooManyAxes { axes, limit } => {
                format!("it would have {axes} axes, and a kernel has at most {limit}")
            }
            Self::TooManySweeps { sweeps, limit } => {
                format!("it would need {sweeps} sweeps, and {limit} are allowed")
            }
            Self::TileTooLarge { bytes, limit, axes } => format!(
                "a tile of {bytes} bytes, whole along axes of the lengths {axes:?}, does not fit the {limit} bytes of fast memory"
            ),
            Self::ScanAgain { op } => format!(
                "the scan {} would be computed again for each index of an axis that it does not have",
                made(ir, *op)
            ),
            Self::ScanSerial { op, grid, least }
            | Self::HeldSerial { op, grid, least }
            | Self::RowsSerial { op, grid, least } => format!(
                "{} would leave {grid} indices to share among workers, and {least} are wanted",
                made(ir, *op)
            ),
            Self::MayBeEmpty { op } => format!(
                "{} would be written inside a loop that may have no index",
                made(ir, *op)
            ),
            Self::PartsUncounted { op } => format!(
                "the number of partial results of {} does not follow from the extents",
                made(ir, *op)
            ),
            Self::Barrier { value: v } => match ir.def_op(*v) {
                Some(op) => format!("{} makes {}, which ends a kernel", ir.name(op), value(*v)),
                None => format!("{} ends a kernel", value(*v)),
            },
            Self::MustBeInMemory { value: v, op } => {
                format!("{} demands {} in memory", ir.name(*op), value(*v))
            }
            Self::CallAlone { op } if is_placed(ir, *op) => format!(
                "{} is a cat of parts that are written where they lie in it, and is not fused",
                made(ir, *op)
            ),
            Self::CallAlone { op } if calls::runs_programs(ir, *op) => format!(
                "{} is {}, whose programs have kernels of their own",
                made(ir, *op),
                noun(ir, *op)
            ),
            Self::CallAlone { op } => format!(
                "{} is {}, run by a library call, which is not fused",
                made(ir, *op),
                noun(ir, *op)
            ),
            Self::Cycle { path } => {
                let path: Vec<String> = path.iter().map(|&v| value(v)).collect();
                format!("it would need its own results: {}", path.join(" -> "))
            }
            Self::HintApart { value: v } => format!("a hint keeps {} apart", value(*v)),
            Self::NoGain { before, after } => {
                format!("together they would cost {after}, apart they cost {before}")
            }
            Self::Unrelated => "they share no value".into(),
            Self::TooFar => "they stand too far apart for the search".into(),
        }
    }
}

fn axis_words(ir: &Ir, refusal: &AxisRefusal) -> String {
    match refusal {
        AxisRefusal::IncompatibleFactoring { at, known, wanted } => format!(
            "{} cuts an axis into {}, which others cut into {}",
            made(ir, *at),
            factors(ir, wanted),
            factors(ir, known)
        ),
        AxisRefusal::ExtentMismatch { at, left, right } => format!(
            "{} joins axes of the lengths {} and {}",
            made(ir, *at),
            expr_text(ir, left),
            expr_text(ir, right)
        ),
        AxisRefusal::SelfMapped { value } => format!(
            "one loop would walk two axes of {}, as something is read in two orders of its axes at once",
            value_text(ir, *value)
        ),
        AxisRefusal::SplitScan { at } => {
            format!("the axis that {} scans is cut into several", made(ir, *at))
        }
        AxisRefusal::Unsupported { op } => format!("{} shares no loops with others", ir.name(*op)),
        AxisRefusal::Window(WindowRefusal::Computed { op, value }) => format!(
            "{} reads {} at another index than the one at which it is computed",
            made(ir, *op),
            value_text(ir, *value)
        ),
        AxisRefusal::Window(WindowRefusal::TooManyPieces { op, limit }) => {
            format!(
                "{} would be told apart in more than {limit} pieces",
                made(ir, *op)
            )
        }
        AxisRefusal::Window(WindowRefusal::TooManyNodes { op, limit }) => format!(
            "one element of {} would take more than {limit} computed ones",
            made(ir, *op)
        ),
        AxisRefusal::Window(WindowRefusal::Unknown { op }) => {
            format!("an extent that {} needs is not known", made(ir, *op))
        }
    }
}

/// The kind of an op that runs as a call, with its article.
fn noun(ir: &Ir, op: Op) -> &'static str {
    match ir.def(op).map(|d| d.class) {
        Some(OpClass::Contraction) => "a matrix product",
        Some(OpClass::Convolution) => "a convolution",
        Some(OpClass::Attention) => "attention",
        Some(OpClass::Scatter) => "a scatter",
        Some(OpClass::Sort) => "a sort",
        Some(OpClass::Routine) => "a routine",
        Some(OpClass::Collective) => "a collective",
        Some(OpClass::Control) if ir.is(op, &task::IF) => "a branch",
        Some(OpClass::Control) => "a loop",
        _ => "a call",
    }
}

/// The first result of an op; the op's name if it has no result.
fn made(ir: &Ir, op: Op) -> String {
    let first = ir.results(op).first();
    first.map_or_else(|| ir.name(op).into(), |&v| value_text(ir, v))
}

fn factors(ir: &Ir, factors: &[Option<ExtentExpr>]) -> String {
    let text = |f: &Option<ExtentExpr>| f.as_ref().map_or("?".into(), |e| expr_text(ir, e));
    let texts: Vec<String> = factors.iter().map(text).collect();
    format!("[{}]", texts.join(", "))
}
