//! The reasons that ops do not share a kernel, or not this way: every reason is a variant with its numbers, printed by
//! one function.

use fuser_ir::{Ir, Op, Value};

use crate::axes::{AxisRefusal, value_text};

/// A reason against one kernel, or against one way to run it.
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
    /// More axes than the model keeps in one set.
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
        /// Bytes there are.
        limit: u64,
        /// Lengths of the axes that would be resident.
        axes: Vec<u64>,
    },
    /// A sweep would compute a scan again for each index of an axis that the scan has not.
    ScanAgain {
        /// The scan.
        op: Op,
    },
    /// A scan would leave fewer indices to share among workers than it has beside the axis that it walks in order.
    ScanSerial {
        /// The scan.
        op: Op,
        /// Indices that workers would share.
        grid: u64,
        /// Those that they share where the scan is alone, as far as there are workers.
        least: u64,
    },
    /// A value would be held whole along axes on which it is read at another index, and leave fewer indices to share among workers
    /// than it has.
    HeldSerial {
        /// The op that makes it.
        op: Op,
        /// Indices that workers would share.
        grid: u64,
        /// Those of the value, as far as there are workers.
        least: u64,
    },
    /// Rows of a sum of columns would be walked by a thread for each column, one behind the other, and the threads of a GPU are more.
    RowsSerial {
        /// The sum.
        op: Op,
        /// Threads that would have columns at a time.
        grid: u64,
        /// Those that hide that the others wait.
        least: u64,
    },
    /// A sweep would write a value inside of loops along which it does not vary and which may have no index: it would never be computed.
    MayBeEmpty {
        /// The op that makes it.
        op: Op,
    },
    /// Blocks would have partial results of a sum for each tile along a named extent: no polynomial is their number.
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
    /// An op that is a call shares it with nothing.
    CallAlone {
        /// The op.
        op: Op,
    },
    /// The quotient graph would have a cycle.
    Cycle {
        /// The last values of the segments along the path that leaves and comes back.
        path: Vec<Value>,
    },
    /// A hint keeps the two apart.
    HintApart {
        /// A value of the op with the hint.
        value: Value,
    },
    /// Together costs no less than apart.
    NoGain {
        /// Cost apart, in the unit of the objective.
        before: u64,
        /// Cost together.
        after: u64,
    },
    /// The two share no value.
    Unrelated,
    /// The two stand too far apart in the order of groups for the search.
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

    /// The op at fault, if it is one.
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

    /// The same reason about other values and ops; `None` where one has no counterpart.
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
