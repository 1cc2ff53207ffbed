//! Errors between kernel IR and machine code, as data.
//!
//! A user's mistake is a [`CodegenError::Unsupported`], which names an alternative; everything else is a limit of the
//! host or a bug of ours. Nothing in this crate aborts the process on purpose.

use std::fmt;

use fuser_ir::diag::CodeDef;

use crate::lower::codes::NO_LLVM;

/// The help for a machine on which LLVM cannot be loaded.
const INSTALL: &str = "install LLVM 22: `libllvm22` in Debian and Ubuntu, `llvm22-libs` in Fedora; a library that is elsewhere is found by \
                       `LD_LIBRARY_PATH`";

/// The reason that no code was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodegenError {
    /// A target name that we do not generate code for.
    UnknownTarget { name: String, known: Vec<String> },
    /// IR that the target cannot execute; `instead` says what to write.
    Unsupported { what: String, instead: String },
    /// LLVM's library is missing, or has another release; `tried` lists the result for each path.
    NoLlvm { tried: Vec<String> },
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

    /// The code and the help of an error that has its own.
    pub fn code(&self) -> Option<(&'static CodeDef, &'static str)> {
        matches!(self, CodegenError::NoLlvm { .. }).then_some((&NO_LLVM, INSTALL))
    }
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::UnknownTarget { name, known } => {
                write!(f, "unknown target `{name}`; known: {}", known.join(", "))
            }
            CodegenError::Unsupported { what, instead } => write!(f, "{what}: {instead}"),
            CodegenError::NoLlvm { tried } => {
                write!(f, "LLVM cannot be loaded: {}", tried.join("; "))
            }
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
