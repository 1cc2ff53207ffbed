//! Reasons why a set of ops has no common iteration space, each with its numbers, printed by one function.

use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};

use super::render::{expr_text, value_text};
use super::window::{self, WindowRefusal};

/// A reason why a set of ops has no common iteration space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AxisRefusal {
    /// One dimension is factored in two ways that have no common refinement.
    IncompatibleFactoring {
        /// The op that introduced the second factoring.
        at: Op,
        /// The factors known before, outermost first; `None` for `?`.
        known: Vec<Option<ExtentExpr>>,
        /// The factors that `at` needs.
        wanted: Vec<Option<ExtentExpr>>,
    },
    /// Two dimensions that `at` joins have different lengths.
    ExtentMismatch {
        /// The op that joins them.
        at: Op,
        /// One length.
        left: ExtentExpr,
        /// The other.
        right: ExtentExpr,
    },
    /// Two dimensions of one value would be one axis, as in `t + transpose(t)`.
    SelfMapped {
        /// The value.
        value: Value,
    },
    /// The dimension that a scan iterates in order is split into several axes.
    SplitScan {
        /// The scan.
        at: Op,
    },
    /// The op has no axis rule, or its clauses do not fit its operands.
    Unsupported {
        /// The op.
        op: Op,
    },
    /// The elements of a slice, pad or cat cannot be found by index arithmetic alone.
    Window(WindowRefusal),
}

impl AxisRefusal {
    /// The reason's name, as in records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::IncompatibleFactoring { .. } => "incompatible-factoring",
            Self::ExtentMismatch { .. } => "extent-mismatch",
            Self::SelfMapped { .. } => "self-mapped",
            Self::SplitScan { .. } => "split-scan",
            Self::Unsupported { .. } => "unsupported-op",
            Self::Window(WindowRefusal::Computed { .. }) => "window-of-computed",
            Self::Window(WindowRefusal::TooManyPieces { .. }) => "too-many-pieces",
            Self::Window(WindowRefusal::TooManyNodes { .. }) => "window-too-large",
            Self::Window(WindowRefusal::Unknown { .. }) => "window-of-unknown-extent",
        }
    }

    /// The op at fault.
    pub fn op(&self, ir: &Ir) -> Option<Op> {
        match self {
            Self::IncompatibleFactoring { at, .. }
            | Self::ExtentMismatch { at, .. }
            | Self::SplitScan { at } => Some(*at),
            Self::SelfMapped { value } => ir.def_op(*value),
            Self::Unsupported { op } => Some(*op),
            Self::Window(refusal) => Some(refusal.op()),
        }
    }
    /// True if this refusal of `op` alone holds for every set of ops that contains it. Then `op` has no rule, or more
    /// pieces than the limit, and windows cannot read past it, because it or one of its users is no link.
    pub fn lasts(&self, ir: &Ir, op: Op) -> bool {
        let pieces = Self::Window(WindowRefusal::TooManyPieces {
            op,
            limit: window::MAX_PIECES,
        });
        let results = ir.results(op).iter();
        let mut users = results.flat_map(|&v| ir.users(v));
        (matches!(self, Self::Unsupported { .. }) || *self == pieces)
            && (!window::is_link(ir, op) || users.any(|user| !window::is_link(ir, user)))
    }
    /// True if the refusal involves an unknown extent.
    pub(super) fn names_unknown(&self) -> bool {
        match self {
            Self::IncompatibleFactoring { known, wanted, .. } => {
                known.iter().chain(wanted).any(Option::is_none)
            }
            _ => false,
        }
    }
    /// Maps the refusal to other values and ops; `None` if one of them has no counterpart.
    pub fn map(
        &self,
        value: &dyn Fn(Value) -> Option<Value>,
        op: &dyn Fn(Op) -> Option<Op>,
    ) -> Option<Self> {
        Some(match self {
            Self::IncompatibleFactoring { at, known, wanted } => Self::IncompatibleFactoring {
                at: op(*at)?,
                known: known.clone(),
                wanted: wanted.clone(),
            },
            Self::ExtentMismatch { at, left, right } => Self::ExtentMismatch {
                at: op(*at)?,
                left: left.clone(),
                right: right.clone(),
            },
            Self::SelfMapped { value: v } => Self::SelfMapped { value: value(*v)? },
            Self::SplitScan { at } => Self::SplitScan { at: op(*at)? },
            Self::Unsupported { op: o } => Self::Unsupported { op: op(*o)? },
            Self::Window(refusal) => Self::Window(match refusal {
                WindowRefusal::Computed { op: o, value: v } => WindowRefusal::Computed {
                    op: op(*o)?,
                    value: value(*v)?,
                },
                WindowRefusal::TooManyPieces { op: o, limit } => WindowRefusal::TooManyPieces {
                    op: op(*o)?,
                    limit: *limit,
                },
                WindowRefusal::TooManyNodes { op: o, limit } => WindowRefusal::TooManyNodes {
                    op: op(*o)?,
                    limit: *limit,
                },
                WindowRefusal::Unknown { op: o } => WindowRefusal::Unknown { op: op(*o)? },
            }),
        })
    }

    /// The reason in one line: `incompatible-factoring { at: %a, known: [6, 4], wanted: [3, 8] }`.
    pub fn render(&self, ir: &Ir) -> String {
        let details = match self {
            Self::IncompatibleFactoring { at, known, wanted } => format!(
                "at: {}, known: {}, wanted: {}",
                result_text(ir, *at),
                factors_text(ir, known),
                factors_text(ir, wanted)
            ),
            Self::ExtentMismatch { at, left, right } => format!(
                "at: {}, left: {}, right: {}",
                result_text(ir, *at),
                expr_text(ir, left),
                expr_text(ir, right)
            ),
            Self::SelfMapped { value } => format!("value: {}", value_text(ir, *value)),
            Self::SplitScan { at } => format!("at: {}", result_text(ir, *at)),
            Self::Unsupported { op } => format!("op: {}", ir.name(*op)),
            Self::Window(refusal) => window_text(ir, refusal),
        };
        format!("{} {{ {details} }}", self.name())
    }
}

fn window_text(ir: &Ir, refusal: &WindowRefusal) -> String {
    match refusal {
        WindowRefusal::Computed { op, value } => {
            format!(
                "at: {}, value: {}",
                result_text(ir, *op),
                value_text(ir, *value)
            )
        }
        WindowRefusal::TooManyPieces { op, limit } | WindowRefusal::TooManyNodes { op, limit } => {
            format!("at: {}, limit: {limit}", result_text(ir, *op))
        }
        WindowRefusal::Unknown { op } => format!("at: {}", result_text(ir, *op)),
    }
}

fn factors_text(ir: &Ir, factors: &[Option<ExtentExpr>]) -> String {
    let texts: Vec<String> = factors
        .iter()
        .map(|f| f.as_ref().map_or("?".into(), |e| expr_text(ir, e)))
        .collect();
    format!("[{}]", texts.join(", "))
}

fn result_text(ir: &Ir, op: Op) -> String {
    match ir.results(op).first() {
        Some(&value) => value_text(ir, value),
        None => ir.name(op).to_string(),
    }
}
