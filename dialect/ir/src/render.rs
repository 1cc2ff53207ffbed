//! Diagnostics as text for people and for editors.
//!
//! ```text
//! a.fir:7:22: error: [FIR0302] `fusion.add`: element types disagree
//! 7 |   %2 = fusion.add %0, %1
//!   |                       ^^
//! a.fir:3:8: note: the operand is defined here, of type `tensor<4xf16>`
//! 3 |   %1 = fusion.cast %0 to f16
//!   |   --
//! help: insert a `fusion.cast`
//! ```
//!
//! The first line of each part has the form that editors and CI know: `file:line:column: severity: message`.

use std::ops::Range;
use std::sync::Arc;

use codespan_reporting::diagnostic as shown;
use codespan_reporting::term::{self, Chars, Config, termcolor};

use crate::diag::{Diagnostic, Diagnostics, Place, Severity};
use crate::source::SourceMap;

/// Options of the renderer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenderOptions {
    /// ANSI colours.
    pub color: bool,
    /// The most diagnostics to show; a summary counts the others.
    pub max: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            color: false,
            max: crate::limits::MAX_ERRORS,
        }
    }
}

/// The text of all diagnostics.
pub fn render(diagnostics: &Diagnostics, sources: &SourceMap, options: RenderOptions) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.items.iter().take(options.max) {
        text.push_str(&render_one(diagnostic, sources, options));
    }
    let hidden = diagnostics.items.len().saturating_sub(options.max);
    if hidden > 0 {
        text.push_str(&format!("{hidden} more not shown\n"));
    }
    text
}

/// The text of one diagnostic.
pub fn render_one(diagnostic: &Diagnostic, sources: &SourceMap, options: RenderOptions) -> String {
    let message = match diagnostic.code {
        "" => diagnostic.message.clone(),
        code => format!("[{code}] {}", diagnostic.message),
    };
    let severity = Some(diagnostic.severity);
    let mut text = part(
        severity,
        &diagnostic.place,
        &message,
        &diagnostic.label,
        sources,
        options,
    );
    for note in &diagnostic.notes {
        text.push_str(&part(
            None,
            &note.place,
            &note.message,
            "",
            sources,
            options,
        ));
    }
    for help in &diagnostic.helps {
        text.push_str(&format!("{}: {help}\n", paint("help", "1;36", options)));
    }
    text
}

/// A line with place and message, and the source below it.
fn part(
    severity: Option<Severity>,
    place: &Place,
    message: &str,
    label: &str,
    sources: &SourceMap,
    options: RenderOptions,
) -> String {
    let (word, color) = match severity {
        Some(Severity::Error) => ("error", "1;31"),
        Some(Severity::Warning) => ("warning", "1;33"),
        Some(Severity::Remark) => ("remark", "1;34"),
        None => ("note", "1;32"),
    };
    let word = paint(word, color, options);
    let head = match position(place, sources) {
        Some(at) => paint(&at, "1", options),
        None => "<unknown>".into(),
    };
    let snippet = snippet(severity, place, label, sources, options);
    format!("{head}: {word}: {message}\n{snippet}")
}

fn paint(text: &str, color: &str, options: RenderOptions) -> String {
    match options.color {
        true => format!("\x1b[{color}m{text}\x1b[0m"),
        false => text.into(),
    }
}

/// `file:line:column`
pub fn position(place: &Place, sources: &SourceMap) -> Option<String> {
    match place {
        Place::Unknown => None,
        Place::Line { file, line, column } => Some(format!("{file}:{line}:{column}")),
        Place::Span { file, span } => {
            let file = sources.get(*file)?;
            let (line, column) = file.position(span.start as usize);
            Some(format!("{}:{line}:{column}", file.name()))
        }
    }
}

/// The file and bytes of a place, if its text is at hand.
fn bytes(place: &Place, sources: &SourceMap) -> Option<(u32, std::ops::Range<usize>)> {
    match place {
        Place::Unknown => None,
        Place::Span { file, span } => {
            let text = sources.get(*file)?.text();
            let end = (span.end as usize).min(text.len());
            Some((*file, (span.start as usize).min(end)..end))
        }
        Place::Line { file, line, column } => {
            let id = sources.find(file, *line)?;
            let at = sources.get(id)?.offset(*line, *column)?;
            Some((id, at..at))
        }
    }
}

/// The source line with the place marked.
fn snippet(
    severity: Option<Severity>,
    place: &Place,
    label: &str,
    sources: &SourceMap,
    options: RenderOptions,
) -> String {
    let Some((file, mut range)) = bytes(place, sources) else {
        return String::new();
    };
    // Only the first line of a place is shown.
    let text = sources.get(file).map_or("", |f| f.text());
    let first_line = text.get(range.clone()).and_then(|t| t.lines().next());
    range.end = range.start + first_line.map_or(0, str::len);
    let (part, range) = around(sources, file, range);
    let (file, sources) = match &part {
        Some(part) => (0, part),
        None => (file, sources),
    };
    let mark = match severity {
        Some(_) => shown::Label::primary(file, range),
        None => shown::Label::secondary(file, range),
    };
    let severity = match severity {
        Some(Severity::Error) => shown::Severity::Error,
        Some(Severity::Warning) => shown::Severity::Warning,
        Some(Severity::Remark) => shown::Severity::Help,
        None => shown::Severity::Note,
    };
    let diagnostic = shown::Diagnostic::new(severity).with_label(mark.with_message(label));
    let text = emit(&diagnostic, sources, options);
    // The header and the place are in our own first line.
    let lines: Vec<&str> = text.lines().skip(2).filter(|l| !is_filler(l)).collect();
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// Characters of a line that are shown.
const SHOWN: usize = 200;

/// An excerpt of a line longer than [`SHOWN`] around a position, with dots for omitted text, and the position in the
/// excerpt.
fn around(
    sources: &SourceMap,
    file: u32,
    range: Range<usize>,
) -> (Option<SourceMap>, Range<usize>) {
    let Some(source) = sources.get(file) else {
        return (None, range);
    };
    let text = source.text();
    let (Some(head), Some(rest)) = (text.get(..range.start), text.get(range.start..)) else {
        return (None, range);
    };
    let start = head.rfind('\n').map_or(0, |at| at + 1);
    let end = rest.find('\n').map_or(text.len(), |at| range.start + at);
    let line = &text[start..end];
    if line.chars().count() <= SHOWN {
        return (None, range);
    }
    let place = range.start - start..(range.end - start).min(line.len());
    let mut before = line[..place.start].char_indices().rev();
    let from = before.nth(SHOWN / 4).map_or(0, |(at, _)| at);
    let mut behind = line[from..].char_indices();
    let to = behind.nth(SHOWN).map_or(line.len(), |(at, _)| from + at);
    let dots = |cut: bool| if cut { "..." } else { "" };
    let (left, right) = (dots(from > 0), dots(to < line.len()));
    let shown = format!("{left}{}{right}", &line[from..to]);
    let moved = |at: usize| at.min(to) - from + left.len();
    let place = moved(place.start)..moved(place.end);
    let (length, (number, _)) = (shown.len(), source.position(start));
    let mut part = SourceMap::default();
    part.add_part(source.name(), Arc::new(shown), 0..length, number);
    (Some(part), place)
}

/// A line that has the border and nothing else.
fn is_filler(line: &str) -> bool {
    let mut plain = String::new();
    let mut escape = false;
    for c in line.chars() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            c => plain.push(c),
        }
    }
    plain.trim().is_empty() || plain.trim() == "|"
}

fn emit(
    diagnostic: &shown::Diagnostic<u32>,
    sources: &SourceMap,
    options: RenderOptions,
) -> String {
    let config = Config {
        chars: Chars::ascii(),
        ..Config::default()
    };
    if !options.color {
        return term::emit_into_string(&config, sources, diagnostic).unwrap_or_default();
    }
    let mut out = termcolor::Ansi::new(Vec::new());
    match term::emit_to_write_style(&mut out, &config, sources, diagnostic) {
        Ok(()) => String::from_utf8(out.into_inner()).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
