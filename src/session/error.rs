//! Every way in which a session can fail.

use fuser_interp::InterpError;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Place};
use fuser_runtime::{NpyError, RuntimeError};

fuser_ir::codes! {
    /// An input that cannot be used.
    INPUT = "FIR1001", "an input does not fit the program",
        "The program says what element type and shape each input has. A file must hold them; a made-up input must be \
         one that the element type can hold. The message names the input, what was expected and what was given.",
        fuser_pass::example!("fuser-run x.fir --input x=@x.fir");
    /// Named extents without a value, or with two.
    EXTENT = "FIR1002", "an extent has no value, or two",
        "Named extents get their values from the shapes of inputs, or from `--shape NAME=VALUE`. All must agree, and \
         each extent needs one.",
        "$ fuser-run x.fir\n\
         task.program @f(%x: tensor<[B]x8xf32>) -> tensor<[B]x8xf32> {\n  \
         %y = fusion.exp %x\n  \
         task.return %y\n\
         }";
    /// Too little memory.
    MEMORY = "FIR1003", "too little memory",
        "What a run needs is known before it starts; it does not start where that is more than there is. The reference \
         of `--check` needs 16 bytes for each element of each value that is alive.",
        fuser_pass::example!("fuser-run x.fir --memory 10");
    /// A device that is not there.
    DEVICE = "FIR1004", "the device cannot be used",
        "`--device=cuda` needs an NVIDIA GPU and its driver. `--device=cpu` and `--device=interp` run everywhere, but what is \
         compiled for a processor (`--cpu=x86-64-v4`, or an artifact from another machine) runs only where all its \
         instructions are.",
        fuser_pass::example!("CUDA_VISIBLE_DEVICES= fuser-run x.fir --device=cuda");
    /// Files.
    FILE = "FIR1005", "a file cannot be read or written",
        "The message names the file and says what the system said. Outputs are written whole or not at all.",
        fuser_pass::example!("fuser-run missing.fir");
    /// The interpreter stopped.
    INTERPRETER = "FIR1006", "the interpreter cannot run the program",
        "The op has no meaning for the interpreter, breaks its own definition, or, in a kernel, reaches outside of a buffer or does what its threads do in no order.",
        "$ fuser-run x.fir --device=interp\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = task.segment @s kind \"kernel\" {\n    \
         %a = kernel.launch %x callee @k : tensor<8xf32>\n    \
         task.yield %a\n  \
         }\n  \
         task.return %y\n\
         }\n\
         kernel.func @k(%x: memref<?xf32>, %y: memref<?xf32>) {\n  \
         %i = fusion.constant value 8 : index\n  \
         %a = kernel.load %x, %i : f32\n  \
         kernel.store %a, %y, %i\n\
         }";
    /// A result that there is not.
    RESULT = "FIR1008", "no result has this name",
        "`--print` shows results of the program, by the names that it returns them under. A value inside of the program is in no memory \
         when the run is over: return it to print it.",
        "$ fuser-run x.fir --print=%z\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = fusion.exp %x\n  \
         task.return %y\n\
         }";
    /// The run failed in some other way.
    RUN = "FIR1007", "the program cannot be run",
        "The artifact, its code or its plan was refused, or what was asked of the machine: a number of threads, a grid.",
        fuser_pass::example!("fuser-run x.fir --threads=100000");
}

/// The reason that a session could not do something.
#[derive(Debug)]
pub enum SessionError {
    /// The program is wrong, or cannot be compiled.
    Diagnostics(Diagnostics),
    /// Inputs, memory, devices.
    Runtime(RuntimeError),
    /// The file of an input.
    File {
        /// The input's name.
        input: String,
        /// The reason that the file was refused.
        error: NpyError,
    },
    /// The interpreter.
    Interp(InterpError),
}

impl From<Diagnostics> for SessionError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Diagnostics(diagnostics)
    }
}
impl From<RuntimeError> for SessionError {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}
impl From<InterpError> for SessionError {
    fn from(error: InterpError) -> Self {
        Self::Interp(error)
    }
}

/// One diagnostic as an error.
pub fn one(diagnostic: Diagnostic) -> SessionError {
    SessionError::Diagnostics(Diagnostics {
        items: vec![diagnostic],
    })
}

impl SessionError {
    /// The error as diagnostics, with places in `ir` where it has some.
    pub fn diagnostics(self, ir: &Ir) -> Vec<Diagnostic> {
        match self {
            Self::Diagnostics(diagnostics) => diagnostics.items,
            Self::Runtime(error) => vec![runtime(&error)],
            Self::File { input, error } => {
                let message = format!("input `{input}`: {error}");
                vec![Diagnostic::error(&INPUT, Place::Unknown, message)]
            }
            Self::Interp(error) => vec![interp(ir, &error)],
        }
    }
}

fn runtime(error: &RuntimeError) -> Diagnostic {
    let code = match error {
        RuntimeError::Bind(
            fuser_runtime::BindError::DType { .. } | fuser_runtime::BindError::Rank { .. },
        ) => &INPUT,
        RuntimeError::Bind(_) => &EXTENT,
        RuntimeError::Npy(_) | RuntimeError::Spec { .. } | RuntimeError::UnknownInput { .. } => {
            &INPUT
        }
        RuntimeError::Memory(_) | RuntimeError::DeviceMemory { .. } => &MEMORY,
        RuntimeError::Input {
            error: fuser_runtime::TensorError::Memory(_),
            ..
        } => &MEMORY,
        RuntimeError::Input { .. } => &INPUT,
        RuntimeError::NoDevice { .. } | RuntimeError::Capability { .. } => &DEVICE,
        RuntimeError::Load(fuser_runtime::LoadError::OtherCpu { .. }) => &DEVICE,
        _ => &RUN,
    };
    Diagnostic::error(code, Place::Unknown, error.to_string())
}

fn interp(ir: &Ir, error: &InterpError) -> Diagnostic {
    use fuser_interp::{ErrorKind, Race};
    let place = error
        .op
        .map_or(Place::Unknown, |op| fuser_pass::place_of(ir, op));
    let code = match error.kind {
        ErrorKind::OutOfMemory { .. } | ErrorKind::NoMemory(_) => &MEMORY,
        ErrorKind::ExtentConflict { .. } | ErrorKind::UnboundExtent(_) => &EXTENT,
        ErrorKind::InputType { .. } | ErrorKind::InputCount { .. } | ErrorKind::HalfByte(..) => {
            &INPUT
        }
        _ => &INTERPRETER,
    };
    let diagnostic = Diagnostic::error(code, place, format!("the interpreter: {error}"));
    match error.kind {
        ErrorKind::Race(Race::Elements {
            first, in_block, ..
        }) => {
            let diagnostic = diagnostic.note(fuser_pass::place_of(ir, first), "the other access");
            diagnostic.help(match in_block {
                true => "`place-barriers` puts barriers where threads must wait for each other",
                false => "let each iteration touch elements of its own, or read what others store in a `kernel.last`",
            })
        }
        _ => diagnostic,
    }
}
