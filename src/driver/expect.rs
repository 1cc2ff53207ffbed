//! `--verify-diagnostics`: comments in the source state the diagnostics that must come.
//!
//! ```text
//! // expected-error {{text}}             on this line
//! // expected-warning@+1 {{text}}        on the next; also @-2, @above, @below
//! // expected-error@unknown {{text}}     without a place
//! // expected-error[FIR0203] {{text}}    with this code
//! // expected-note-re {{a {{[0-9]+}}}}   inner {{...}} are regular expressions
//! ```
//!
//! A diagnostic meets an expectation of its kind and line whose text its message contains; each is met once. Notes may be
//! expected and need not be; helps are no notes.

use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Place};
use regex::Regex;

use super::codes;
use super::config::Expect;
use super::source::Sources;

/// The diagnostic that a comment expects.
struct Expectation {
    kind: String,
    /// One-based line of the file; `None`: no place.
    line: Option<usize>,
    code: Option<String>,
    matcher: Regex,
    text: String,
    place: Place,
    met: bool,
}

/// A diagnostic, or a note of one.
struct Found<'a> {
    kind: &'static str,
    line: Option<usize>,
    code: &'a str,
    message: &'a str,
    diagnostic: &'a Diagnostic,
}

/// Compares the diagnostics of the chunk with source number `file` with its comments; returns the mismatches.
pub fn verify(
    sources: &Sources,
    file: u32,
    diagnostics: &[Diagnostic],
    mode: Expect,
) -> Vec<Diagnostic> {
    let (mut expected, mut problems) = expectations(sources, file);
    for found in found(sources, diagnostics) {
        let meets = expected.iter_mut().find(|e| !e.met && e.fits(&found));
        match meets {
            Some(expectation) => expectation.met = true,
            None if found.kind == "note" || mode == Expect::OnlyExpected => {}
            None => problems.push(unexpected(&found)),
        }
    }
    problems.extend(expected.iter().filter(|e| !e.met).map(missing));
    problems
}

impl Expectation {
    fn fits(&self, found: &Found<'_>) -> bool {
        self.kind == found.kind
            && self.line == found.line
            && self.code.as_deref().is_none_or(|c| c == found.code)
            && self.matcher.is_match(found.message)
    }
}

fn found<'a>(sources: &Sources, diagnostics: &'a [Diagnostic]) -> Vec<Found<'a>> {
    let line = |place: &Place| sources.spot(place).map(|s| s.line as usize);
    let mut all = Vec::new();
    for diagnostic in diagnostics {
        all.push(Found {
            kind: diagnostic.severity.name(),
            line: line(&diagnostic.place),
            code: diagnostic.code,
            message: &diagnostic.message,
            diagnostic,
        });
        all.extend(diagnostic.notes.iter().map(|note| Found {
            kind: "note",
            line: line(&note.place),
            code: diagnostic.code,
            message: &note.message,
            diagnostic,
        }));
    }
    all
}

fn unexpected(found: &Found<'_>) -> Diagnostic {
    let code = match found.code {
        "" => String::new(),
        code => format!("[{code}] "),
    };
    let text = format!("unexpected {}: {code}{}", found.kind, found.message);
    let mut diagnostic =
        Diagnostic::error(&codes::UNEXPECTED, found.diagnostic.place.clone(), text);
    diagnostic.helps.clone_from(&found.diagnostic.helps);
    diagnostic
}

fn missing(expectation: &Expectation) -> Diagnostic {
    let line = match expectation.line {
        Some(line) => format!("on line {line}"),
        None => "without a place".into(),
    };
    let text = format!(
        "expected {} \"{}\" {line} was not reported",
        expectation.kind, expectation.text
    );
    Diagnostic::error(&codes::EXPECTED_MISSING, expectation.place.clone(), text)
}

/// The form of an expectation; the text is all up to the last `}}` of the line.
const FORM: &str = r"expected-(?<kind>error|warning|remark|note)(?<re>-re)?(?:\[(?<code>FIR\d+)\])?\s*(?:@(?<at>unknown|above|below|[+-]\d+))?\s*\{\{(?<text>.*)\}\}\s*$";

fn expectations(sources: &Sources, file: u32) -> (Vec<Expectation>, Vec<Diagnostic>) {
    let (mut list, mut problems) = (Vec::new(), Vec::new());
    let (Some(source), Ok(form)) = (sources.map.get(file), Regex::new(FORM)) else {
        return (list, problems);
    };
    let mut at = 0;
    for (line, content) in source.text().split_inclusive('\n').enumerate() {
        if let Some(start) = content
            .find("expected-")
            .filter(|&s| content[..s].contains("//"))
        {
            let line = source.first_line() as usize + line;
            let span = Span::new((at + start) as u32, (at + content.trim_end().len()) as u32);
            let place = Place::Span { file, span };
            match expectation(&form, &content[start..], line, &place) {
                Ok(Some(expectation)) => list.push(expectation),
                Ok(None) => {}
                Err(message) => {
                    problems.push(Diagnostic::error(&codes::EXPECT_SYNTAX, place, message));
                }
            }
        }
        at += content.len();
    }
    (list, problems)
}

fn expectation(
    form: &Regex,
    text: &str,
    line: usize,
    place: &Place,
) -> Result<Option<Expectation>, String> {
    let Some(parts) = form.captures(text) else {
        let kinds = ["error", "warning", "remark", "note"];
        let rest = text.strip_prefix("expected-").unwrap_or_default();
        let meant = kinds.iter().any(|k| rest.starts_with(k)) && rest.contains("{{");
        return match meant {
            true => Err(
                "an expectation is 'expected-KIND[CODE]@OFFSET {{text}}' at the end of a line"
                    .into(),
            ),
            false => Ok(None),
        };
    };
    let part = |name: &str| parts.name(name).map(|m| m.as_str());
    let text = part("text").unwrap_or_default();
    let pattern = match part("re") {
        Some(_) => mixed_pattern(text),
        None => regex::escape(text),
    };
    let matcher = Regex::new(&pattern).map_err(|e| format!("no regular expression: {e}"))?;
    Ok(Some(Expectation {
        kind: part("kind").unwrap_or_default().to_owned(),
        line: moved(line, part("at")),
        code: part("code").map(str::to_owned),
        matcher,
        text: text.to_owned(),
        place: place.clone(),
        met: false,
    }))
}

fn moved(line: usize, at: Option<&str>) -> Option<usize> {
    match at {
        None => Some(line),
        Some("unknown") => None,
        Some("above") => line.checked_sub(1),
        Some("below") => Some(line + 1),
        Some(offset) => offset.parse().ok().and_then(|o| line.checked_add_signed(o)),
    }
}

/// Literal text in which `{{...}}` are regular expressions.
fn mixed_pattern(text: &str) -> String {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inner, next)) = after.split_once("}}") else {
            break;
        };
        pattern.push_str(&regex::escape(before));
        pattern.push_str(&format!("(?:{inner})"));
        rest = next;
    }
    pattern + &regex::escape(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_ir::diag::Diagnostic;

    fn problems(text: &str, mode: Expect) -> Vec<String> {
        let mut sources = Sources::default();
        sources.add("f", text);
        let at = text.find('!').unwrap_or(0) as u32;
        let span = Span::new(at, at + 1);
        let error = Diagnostic::error(
            &codes::NO_MODULE,
            Place::Span { file: 0, span },
            "count is 12, not (x)",
        );
        let error = error.note(Place::Span { file: 0, span }, "here");
        let found = verify(&sources, 0, &[error], mode);
        found.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn what_fits() {
        for text in [
            "! // expected-error {{12, not (x)}}",
            "! // expected-error[FIR0657] {{count}}\n",
            "// expected-error@+1 {{count}}\n!",
            "// expected-error@below {{count}}\n!",
            "!\n\n// expected-error @-2 {{count}}",
            "!\n// expected-error@above {{count}}",
            "! // expected-error-re {{is {{[0-9]+}}, not (x)}}",
            "! // expected-error {{count}}\n// expected-note@-1 {{here}}",
            "! // say expected-things",
        ] {
            let mode = match text.contains("{{") {
                true => Expect::All,
                false => Expect::OnlyExpected,
            };
            assert_eq!(problems(text, mode), [""; 0], "{text}");
        }
    }
    #[test]
    fn what_does_not() {
        for (text, first) in [
            ("!", "unexpected error: [FIR0657] count is 12, not (x)"),
            (
                "!\n// expected-error {{count}}",
                "unexpected error: [FIR0657] count is 12, not (x)",
            ),
            (
                "! // expected-error[FIR0001] {{count}}",
                "unexpected error: [FIR0657] count is 12, not (x)",
            ),
            (
                "! // expected-warning {{count}}",
                "unexpected error: [FIR0657] count is 12, not (x)",
            ),
            (
                "! // expected-error@unknown {{count}}",
                "unexpected error: [FIR0657] count is 12, not (x)",
            ),
            (
                "! // expected-error {{count} }",
                "an expectation is 'expected-KIND[CODE]@OFFSET {{text}}' at the end of a line",
            ),
        ] {
            assert_eq!(problems(text, Expect::All)[0], first, "{text}");
        }
        let twice = "! // expected-error {{count}}\n// expected-error@-1 {{count}}";
        assert_eq!(
            problems(twice, Expect::All),
            ["expected error \"count\" on line 1 was not reported"]
        );
    }
}
