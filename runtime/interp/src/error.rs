//! Errors of the interpreter: wrong inputs, IR without a meaning here, and limits. All are values; nothing panics.

use fuser_ir::Op;

/// A failed interpretation.
#[derive(Clone, PartialEq, Debug)]
pub struct InterpError {
    /// The op that was being executed, where there was one.
    pub op: Option<Op>,
    /// The kind of error, with its numbers.
    pub kind: ErrorKind,
}

/// The ways to fail.
#[derive(Clone, PartialEq, Debug)]
pub enum ErrorKind {
    /// The op to execute is no program, kernel or region op.
    NotExecutable(String),
    /// The op has no meaning here.
    UnknownOp(String),
    /// The program takes another number of inputs.
    InputCount {
        /// Parameters of the program.
        expected: usize,
        /// Inputs given.
        given: usize,
    },
    /// An input's dtype, rank or extent is not the parameter's.
    InputType {
        /// The parameter's name, or its number.
        input: String,
        /// The type that the parameter asks for.
        expected: String,
        /// The type of the given value.
        given: String,
    },
    /// Two inputs give one named extent two values.
    ExtentConflict {
        /// The extent.
        extent: String,
        /// Value and input that gave it first.
        first: (i64, String),
        /// Value and input that contradict it.
        second: (i64, String),
    },
    /// A tensor of elements of 4 bits, by name, has so many along the axis along which callers see two in a byte.
    HalfByte(String, usize),
    /// No input gives the named extent a value.
    UnboundExtent(String),
    /// The op breaks its own definition: the verifier would have said so.
    Invalid(String),
    /// A result's shape is not what its type says.
    ResultType {
        /// The stated type.
        expected: String,
        /// The computed type.
        computed: String,
    },
    /// An access outside a kernel's buffer.
    OutOfBounds {
        /// First element accessed.
        index: i64,
        /// Elements accessed.
        count: usize,
        /// Elements of the buffer.
        length: usize,
    },
    /// Threads of a kernel do what has no order.
    Race(Race),
    /// The fuel ran out.
    OutOfFuel(u64),
    /// More memory than the limit would be needed.
    OutOfMemory {
        /// Bytes that the step needs on top of what is held.
        wanted: u64,
        /// Bytes held.
        held: u64,
        /// The limit.
        limit: u64,
    },
    /// The system lacks memory for an allocation of this many bytes, although the limit would allow it.
    NoMemory(u64),
}

/// A mistake of a kernel with threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Race {
    /// Two accesses to an element of a buffer, one of which writes.
    Elements {
        /// The accesses as text.
        what: String,
        /// The op of the first access.
        first: Op,
        /// True if a barrier between the two would order them.
        in_block: bool,
    },
    /// An op hands values from thread to thread again, and some may still read those of last time.
    Again,
    /// Not all threads come to a barrier.
    Divergent,
}

impl std::fmt::Display for Race {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Elements { what, .. } => write!(f, "a race: {what}"),
            Self::Again => f.write_str(
                "a race: threads hand values to each other while others may still read those of the last time",
            ),
            Self::Divergent => f.write_str("a barrier that not all threads of the block come to"),
        }
    }
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, InterpError>;

impl InterpError {
    /// An error at no particular op.
    pub fn new(kind: ErrorKind) -> Self {
        Self { op: None, kind }
    }
    /// An op that breaks its definition.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid(message.into()))
    }
    /// The same error at `op`, unless it has a place already.
    pub fn at(mut self, op: Op) -> Self {
        self.op.get_or_insert(op);
        self
    }
}

impl std::fmt::Display for InterpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind)
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotExecutable(op) => write!(f, "`{op}` is neither a program nor a kernel"),
            Self::UnknownOp(op) => write!(f, "the interpreter knows no op `{op}`"),
            Self::InputCount { expected, given } => {
                write!(f, "the program takes {expected} inputs, {given} were given")
            }
            Self::InputType {
                input,
                expected,
                given,
            } => write!(f, "input `{input}` must be {expected}, but is {given}"),
            Self::ExtentConflict {
                extent,
                first,
                second,
            } => write!(
                f,
                "extent `{extent}` is {} by input `{}` and {} by input `{}`",
                first.0, first.1, second.0, second.1
            ),
            Self::HalfByte(what, odd) => write!(
                f,
                "{what} has {odd} elements of 4 bits along its innermost axis in memory, where two share a byte"
            ),
            Self::UnboundExtent(extent) => write!(f, "no input gives extent `{extent}` a value"),
            Self::Invalid(message) => write!(f, "{message}"),
            Self::ResultType { expected, computed } => {
                write!(
                    f,
                    "the result type says {expected}, but {computed} was computed"
                )
            }
            Self::OutOfBounds {
                index,
                count,
                length,
            } => write!(
                f,
                "access to {count} elements at {index} of a buffer of {length} elements"
            ),
            Self::Race(race) => race.fmt(f),
            Self::OutOfFuel(fuel) => write!(f, "stopped after {fuel} element operations"),
            Self::NoMemory(bytes) => {
                write!(f, "{bytes} bytes more are needed, the system has none")
            }
            Self::OutOfMemory {
                wanted,
                held,
                limit,
            } => write!(
                f,
                "{wanted} bytes more are needed, {held} of {limit} are in use"
            ),
        }
    }
}

impl std::error::Error for InterpError {}
