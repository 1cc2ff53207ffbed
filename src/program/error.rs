//! The error of the library's compact interface: a diagnostic as a standard error.

use std::fmt;

use fuser_ir::render::RenderOptions;
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Place};
use fuser_runtime::RuntimeError;

use crate::session::SessionError;

/// The reason that something was refused: one diagnostic or several, rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    code: &'static str,
    message: String,
    hints: Vec<String>,
    place: Option<(String, u32, u32)>,
    text: String,
}

impl Error {
    /// The error for a list of diagnostics, named after its first error.
    pub(super) fn of(items: Vec<Diagnostic>, sources: &SourceMap) -> Self {
        let first = items.iter().find(|one| one.is_error()).or(items.first());
        let (code, message, hints, place) = match first {
            Some(first) => (
                first.code,
                first.message.clone(),
                first.helps.clone(),
                spot(&first.place, sources),
            ),
            None => (crate::INTERNAL.code, String::new(), Vec::new(), None),
        };
        let list = Diagnostics { items };
        let text = crate::tool::shown(&list, sources, RenderOptions::default());
        Self {
            code,
            message,
            hints,
            place,
            text: text.trim_end().to_owned(),
        }
    }

    /// The code, such as `FIR0301`; `fuser-opt explain CODE` says more.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The first message, without code and place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Advice.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// File name, line and column in the text, one-based; `None` if the error does not concern a text.
    pub fn place(&self) -> Option<(&str, u32, u32)> {
        let (name, line, column) = self.place.as_ref()?;
        Some((name, *line, *column))
    }
}

/// The place of a diagnostic that has one in a text.
fn spot(place: &Place, sources: &SourceMap) -> Option<(String, u32, u32)> {
    let Place::Span { file, span } = place else {
        return None;
    };
    let file = sources.get(*file)?;
    let (line, column) = file.position(span.start as usize);
    Some((file.name().to_owned(), line, column))
}

impl fmt::Display for Error {
    /// All diagnostics with their lines of the text and carets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<RuntimeError> for Error {
    /// The error of a run, which is about no text.
    fn from(error: RuntimeError) -> Self {
        let items = SessionError::Runtime(error).diagnostics(&Ir::new(fuser_dialects::registry()));
        Self::of(items, &SourceMap::default())
    }
}
