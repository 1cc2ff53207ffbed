//! Errors of loading a module: the line of the PTX, and the fault.

use std::fmt;

/// A fault with its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxError {
    /// The line, counted from 1.
    pub line: u32,
    /// The fault.
    pub fault: PtxFault,
}

/// The reasons for which PTX is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PtxFault {
    /// The text ends within a statement.
    End,
    /// One thing was expected, another found.
    Expected(&'static str, String),
    /// A directive, a state space or a type that the simulator does not know.
    Directive(String),
    /// An instruction that the simulator does not know, with its modifiers.
    Instruction(String),
    /// An operand that its instruction does not take.
    Operand(String),
    /// A register, label, variable or function that is not declared.
    Undeclared(String),
    /// Functions that call each other without end, or too deeply.
    Recursion(String),
    /// A kernel that is longer than any that is loaded.
    Length(String),
    /// A word that is no target.
    Target(String),
    /// A target that the device does not run.
    Newer {
        /// That of the module.
        target: u32,
        /// That of the device.
        device: u32,
    },
}

impl PtxFault {
    /// The error of this fault on that line.
    pub fn at(self, line: u32) -> PtxError {
        PtxError { line, fault: self }
    }
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            PtxFault::End => write!(f, "the text ends too early"),
            PtxFault::Expected(what, found) => write!(f, "'{what}' was expected, not '{found}'"),
            PtxFault::Directive(name) => write!(f, "the directive '{name}' is unknown"),
            PtxFault::Instruction(name) => write!(f, "the instruction '{name}' is unknown"),
            PtxFault::Operand(name) => write!(f, "the operand '{name}' does not fit"),
            PtxFault::Undeclared(name) => write!(f, "'{name}' is not declared"),
            PtxFault::Recursion(name) => write!(f, "calls of '{name}' are nested too deeply"),
            PtxFault::Length(name) => write!(f, "'{name}' is too long"),
            PtxFault::Target(name) => write!(f, "'{name}' is no target"),
            PtxFault::Newer { target, device } => {
                write!(f, "the code is for sm_{target}, the device is sm_{device}")
            }
        }
    }
}

impl std::error::Error for PtxError {}
