//! Reasons why ops do not share a kernel, or not in one way of running it. Every reason is a variant with its numbers,
//! printed by one function.

use fuser_ir::{Ir, Op, Value};

use crate::axes::{AxisRefusal, value_text};

/// A reason against one kernel for a set of ops, or against one way to run that kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no common iteration space.
    Axes(AxisRefusal),
    /// More ops than one kernel may have: code size and compile time would grow without bound.
    TooManyOps {
        /// Ops of the group.
        ops: usize,
        /// The limit.
        limit: usize,
    },
    /// More axes than a set of axes can hold.
    TooManyAxes {
        /// Axes of the group.
        axes: usize,
        /// The limit.
        limit: usize,
    },
    /// More sweeps than the caller allows.
    TooManySweeps {
        /// Sweeps needed.
        sweeps: usize,
        /// The limit.
        limit: usize,
    },
    /// The tile that would hold these axes does not fit fast memory.
    TileTooLarge {
        /// Bytes of the tile.
        bytes: u64,
        /// Bytes available.
        limit: u64,
        /// Lengths of the axes that would be resident.
        axes: Vec<u64>,
    },
    /// A sweep would recompute a scan for each index of an axis that the scan does not have.
    ScanAgain {
        /// The scan.
        op: Op,
    },
    /// A sweep with a scan would leave fewer indices to share among workers than the scan alone.
    ScanSerial {
        /// The scan.
        op: Op,
        /// Indices that workers would share.
        grid: u64,
        /// Indices that workers would share if the scan ran in its own kernel, capped at the number of workers.
        least: u64,
    },
    /// A value would be held whole along axes on which it is read at another index, which leaves fewer indices to share
    /// among workers than the value has.
    HeldSerial {
        /// The op that computes it.
        op: Op,
        /// Indices that workers would share.
        grid: u64,
        /// Indices of the value, capped at the number of workers.
        least: u64,
    },
    /// A thread for each column would iterate all rows of a column reduction serially, with too few threads to hide
    /// latency on a GPU.
    RowsSerial {
        /// The sum.
        op: Op,
        /// Threads that would have columns at the same time.
        grid: u64,
        /// Threads needed to hide latency.
        least: u64,
    },
    /// A sweep would write a value inside loops along which it does not vary. These loops may be empty, and then the
    /// value would never be computed.
    MayBeEmpty {
        /// The op that computes it.
        op: Op,
    },
    /// Blocks would have partial results for each tile along a named extent: their number is no polynomial of the
    /// extents.
    PartsUncounted {
        /// The sum.
        op: Op,
    },
    /// A user's boundary: the result of `fusion.segment_set` would be used inside.
    Barrier {
        /// The result.
        value: Value,
    },
    /// The op's table demands the value in memory, and the group would keep it inside.
    MustBeInMemory {
        /// The value.
        value: Value,
        /// The op that demands it.
        op: Op,
    },
    /// The op runs as a call, which shares a segment with no other op.
    CallAlone {
        /// The op.
        op: Op,
    },
    /// The quotient graph would have a cycle.
    Cycle {
        /// The last values of the segments along the path that leaves the group and returns.
        path: Vec<Value>,
    },
    /// A hint keeps the two in different kernels.
    HintApart {
        /// A value of the op with the hint.
        value: Value,
    },
    /// One kernel costs no less than two.
    NoGain {
        /// Cost of two kernels, in the unit of the objective.
        before: u64,
        /// Cost of one kernel.
        after: u64,
    },
    /// The two share no value.
    Unrelated,
    /// The two are too far apart in the order of groups for the search.
    TooFar,
}

impl Refusal {
    /// The reason's name, as in records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Axes(axes) => axes.name(),
            Self::TooManyOps { .. } => "too-many-ops",
            Self::TooManyAxes { .. } => "too-many-axes",
            Self::TooManySweeps { .. } => "too-many-sweeps",
            Self::TileTooLarge { .. } => "tile-too-large",
            Self::ScanAgain { .. } => "scan-again",
            Self::ScanSerial { .. } => "scan-serial",
            Self::HeldSerial { .. } => "held-serial",
            Self::RowsSerial { .. } => "rows-serial",
            Self::MayBeEmpty { .. } => "may-be-empty",
            Self::PartsUncounted { .. } => "parts-uncounted",
            Self::Barrier { .. } => "barrier",
            Self::MustBeInMemory { .. } => "must-be-in-memory",
            Self::CallAlone { .. } => "call-alone",
            Self::Cycle { .. } => "cycle",
            Self::HintApart { .. } => "hint-apart",
            Self::NoGain { .. } => "no-gain",
            Self::Unrelated => "unrelated",
            Self::TooFar => "too-far",
        }
    }

    /// The op at fault, if the reason concerns one op.
    pub fn op(&self, ir: &Ir) -> Option<Op> {
        match self {
            Self::Axes(axes) => axes.op(ir),
            Self::MustBeInMemory { op, .. }
            | Self::CallAlone { op }
            | Self::ScanAgain { op }
            | Self::MayBeEmpty { op }
            | Self::PartsUncounted { op }
            | Self::ScanSerial { op, .. }
            | Self::HeldSerial { op, .. }
            | Self::RowsSerial { op, .. } => Some(*op),
            Self::Barrier { value } | Self::HintApart { value } => ir.def_op(*value),
            _ => None,
        }
    }

    /// Maps the reason to other values and ops; `None` if one of them has no counterpart.
    pub fn map(
        &self,
        value: &dyn Fn(Value) -> Option<Value>,
        op: &dyn Fn(Op) -> Option<Op>,
    ) -> Option<Self> {
        Some(match self {
            Self::Axes(axes) => Self::Axes(axes.map(value, op)?),
            Self::ScanAgain { op: o } => Self::ScanAgain { op: op(*o)? },
            Self::CallAlone { op: o } => Self::CallAlone { op: op(*o)? },
            Self::MayBeEmpty { op: o } => Self::MayBeEmpty { op: op(*o)? },
            Self::PartsUncounted { op: o } => Self::PartsUncounted { op: op(*o)? },
            Self::ScanSerial { op: o, grid, least } => Self::ScanSerial {
                op: op(*o)?,
                grid: *grid,
                least: *least,
            },
            Self::HeldSerial { op: o, grid, least } => Self::HeldSerial {
                op: op(*o)?,
                grid: *grid,
                least: *least,
            },
            Self::RowsSerial { op: o, grid, least } => Self::RowsSerial {
                op: op(*o)?,
                grid: *grid,
                least: *least,
            },
            Self::Barrier { value: v } => Self::Barrier { value: value(*v)? },
            Self::HintApart { value: v } => Self::HintApart { value: value(*v)? },
            Self::MustBeInMemory { value: v, op: o } => Self::MustBeInMemory {
                value: value(*v)?,
                op: op(*o)?,
            },
            other @ (Self::TooManyOps { .. }
            | Self::TooManyAxes { .. }
            | Self::TooManySweeps { .. }
            | Self::TileTooLarge { .. }
            | Self::Cycle { .. }
            | Self::NoGain { .. }
            | Self::Unrelated
            | Self::TooFar) => other.clone(),
        })
    }

    /// The reason in one line: `tile-too-large { bytes: 33554432, limit: 1048576, axes: [8388608] }`.
    pub fn render(&self, ir: &Ir) -> String {
        let name = self.name();
        match self {
            Self::Axes(axes) => axes.render(ir),
            Self::TooManyOps { ops, limit } => format!("{name} {{ ops: {ops}, limit: {limit} }}"),
            Self::TooManyAxes { axes, limit } => {
                format!("{name} {{ axes: {axes}, limit: {limit} }}")
            }
            Self::TooManySweeps { sweeps, limit } => {
                format!("{name} {{ sweeps: {sweeps}, limit: {limit} }}")
            }
            Self::TileTooLarge { bytes, limit, axes } => {
                format!("{name} {{ bytes: {bytes}, limit: {limit}, axes: {axes:?} }}")
            }
            Self::ScanAgain { op }
            | Self::CallAlone { op }
            | Self::MayBeEmpty { op }
            | Self::PartsUncounted { op } => {
                format!("{name} {{ at: {} }}", first_text(ir, *op))
            }
            Self::ScanSerial { op, grid, least }
            | Self::HeldSerial { op, grid, least }
            | Self::RowsSerial { op, grid, least } => format!(
                "{name} {{ at: {}, grid: {grid}, least: {least} }}",
                first_text(ir, *op)
            ),
            Self::Barrier { value } | Self::HintApart { value } => {
                format!("{name} {{ value: {} }}", value_text(ir, *value))
            }
            Self::MustBeInMemory { value, op } => format!(
                "{name} {{ value: {}, op: {} }}",
                value_text(ir, *value),
                ir.name(*op)
            ),
            Self::Cycle { path } => {
                let path: Vec<String> = path.iter().map(|&v| value_text(ir, v)).collect();
                format!("{name} {{ path: {} }}", path.join(" -> "))
            }
            Self::NoGain { before, after } => {
                format!("{name} {{ before: {before}, after: {after} }}")
            }
            Self::Unrelated | Self::TooFar => name.to_string(),
        }
    }
}

/// The first result of an op.
fn first_text(ir: &Ir, op: Op) -> String {
    value_text(ir, ir.result(op, 0))
}
