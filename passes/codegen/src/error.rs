//! Errors between kernel IR and machine code, as data.
//!
//! A user's mistake is a [`CodegenError::Unsupported`], which names an alternative; everything else is a limit of the
//! host or a bug of ours. Nothing in this crate aborts the process on purpose.

use std::fmt;

/// The reason that no code was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodegenError {
    /// A target name that we do not generate code for.
    UnknownTarget { name: String, known: Vec<String> },
    /// IR that the target cannot execute; `instead` says what to write.
    Unsupported { what: String, instead: String },
    /// Loading object code failed: an unresolved symbol, a malformed object.
    Load(String),
    /// LLVM refused what we built: a bug of ours.
    Internal(String),
}

impl CodegenError {
    /// Wraps a message of LLVM's that only a bug of ours can cause.
    pub fn internal(what: impl fmt::Display) -> Self {
        CodegenError::Internal(what.to_string())
    }
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::UnknownTarget { name, known } => {
                write!(f, "unknown target `{name}`; known: {}", known.join(", "))
            }
            CodegenError::Unsupported { what, instead } => write!(f, "{what}: {instead}"),
            CodegenError::Load(message) => write!(f, "object code did not load: {message}"),
            CodegenError::Internal(message) => write!(f, "code generation failed: {message}"),
        }
    }
}

impl std::error::Error for CodegenError {}

impl From<inkwell::builder::BuilderError> for CodegenError {
    fn from(error: inkwell::builder::BuilderError) -> Self {
        CodegenError::internal(error)
    }
}
