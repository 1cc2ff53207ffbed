//! Diagnostics: messages to the user, as data. Rendering is elsewhere.
//!
//! A [`Diagnostic`] has a severity, a stable code, a message, a primary place and further labels, notes and helps.
//! Codes are declared in tables ([`CodeDef`]) with a long text and an example each, and are never reused.

use crate::span::Span;

/// The severity of a diagnostic, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The input is wrong or the work cannot be done.
    Error,
    /// Probably not meant.
    Warning,
    /// A note on an optimization that was done or missed.
    Remark,
}

impl Severity {
    /// The word printed.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}

/// A diagnostic code, declared once in the table of its crate.
#[derive(PartialEq, Eq, Debug)]
pub struct CodeDef {
    /// `FIR0203`.
    pub code: &'static str,
    /// One line.
    pub title: &'static str,
    /// Meaning, reason and remedy, in Markdown.
    pub explanation: &'static str,
    /// A program that gives it.
    pub example: &'static str,
}

/// A place in the source that a diagnostic points at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// Nowhere in particular.
    #[default]
    Unknown,
    /// A range of a source file of the source map.
    Span {
        /// Index of the file in the source map.
        file: u32,
        /// The range.
        span: Span,
    },
    /// A line and column of a file that may not be at hand (from `loc(...)`).
    Line {
        /// File name.
        file: String,
        /// Line, one-based.
        line: u32,
        /// Column, one-based.
        column: u32,
    },
}

/// A further place with its message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place that the label marks.
    pub place: Place,
    /// The text at the mark.
    pub message: String,
}

/// A replacement that would mend the mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The text range to be replaced.
    pub place: Place,
    /// By what.
    pub replacement: String,
}

/// One message for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Stable code, empty for remarks.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// Main place.
    pub place: Place,
    /// The text at the caret.
    pub label: String,
    /// Further places, printed as notes.
    pub notes: Vec<Label>,
    /// Advice on the correction.
    pub helps: Vec<String>,
    /// Machine-applicable mends: together they mend the mistake.
    pub fixes: Vec<Fix>,
    /// The op concerned, `fusion.add`.
    pub op: Option<String>,
    /// The pass that found it.
    pub pass: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static CodeDef, place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code.code, place, message)
    }
    /// A warning.
    pub fn warning(code: &'static CodeDef, place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code.code, place, message)
    }
    /// A remark.
    pub fn remark(place: Place, message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, "", place, message)
    }
    fn new(
        severity: Severity,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        let (label, notes, helps, fixes) = Default::default();
        Self {
            severity,
            code,
            message,
            place,
            label,
            notes,
            helps,
            fixes,
            op: None,
            pass: None,
        }
    }
    /// Adds a note at another place.
    pub fn note(mut self, place: Place, message: impl Into<String>) -> Self {
        self.notes.push(Label {
            place,
            message: message.into(),
        });
        self
    }
    /// Adds advice. Advice of the form `` did you mean `X`? `` is also a fix that replaces the text by `X`.
    pub fn help(mut self, message: impl Into<String>) -> Self {
        let message = message.into();
        if let Some(meant) = meant(&message) {
            self.fixes.push(Fix {
                place: self.place.clone(),
                replacement: meant.to_owned(),
            });
        }
        self.helps.push(message);
        self
    }
    /// Sets the text at the caret.
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.label = message.into();
        self
    }
    /// Names the op.
    pub fn with_op(mut self, op: impl Into<String>) -> Self {
        self.op = Some(op.into());
        self
    }
    /// True if the severity is `Error`.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The text that advice says was meant.
fn meant(advice: &str) -> Option<&str> {
    advice.strip_prefix("did you mean `")?.strip_suffix("`?")
}

/// A list of diagnostics in the order found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    /// The items.
    pub items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }
    /// True if any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(Diagnostic::is_error)
    }
}
