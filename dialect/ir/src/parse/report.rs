//! Diagnostics of the parser: its own checks, and syntax errors of the grammar in words.

use lalrpop_util::ParseError;

use super::ParseResult;
use super::actions::Parser;
use super::characters;
use super::feed::{FeedToken, Stop};
use super::outline::Fault;
use crate::codes;
use crate::diag::{CodeDef, Diagnostic, Diagnostics, Place};
use crate::lex::Tok;
use crate::span::Span;

/// A syntax error as the grammar gives it.
pub type SyntaxError = ParseError<u32, FeedToken, Stop>;

/// Tokens before an unexpected one that are looked at for the name of its operation.
const MOST_BEFORE: usize = 16;
/// Longest list of expected tokens that is printed; a longer one says nothing.
const MOST_EXPECTED: usize = 6;

impl Parser<'_> {
    /// The place of a span.
    pub fn place(&self, span: Span) -> Place {
        Place::Span {
            file: self.file,
            span,
        }
    }
    /// Adds a diagnostic; the statement is lost if it is an error.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.statement.failed = true;
            self.errors += 1;
        }
        if self.errors > self.options.limits.errors {
            self.give_up(&diagnostic);
        } else {
            self.found.push(diagnostic);
        }
    }
    fn give_up(&mut self, last: &Diagnostic) {
        if !self.stop.replace(true) {
            let message = format!("more than {} errors", self.options.limits.errors);
            let code = &codes::LIMIT_ERRORS;
            self.found
                .push(Diagnostic::error(code, last.place.clone(), message));
        }
    }
    /// An error at `span`.
    pub fn error(&mut self, code: &'static CodeDef, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, self.place(span), message));
    }
    /// Reports an error with advice.
    pub fn error_with_help(
        &mut self,
        code: &'static CodeDef,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Diagnostic::error(code, self.place(span), message).help(help));
    }
    /// A warning at `span`.
    pub fn warning(&mut self, code: &'static CodeDef, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(code, self.place(span), message));
    }

    /// Reports more than the limit of anything that an operation has.
    pub fn check_count(&mut self, count: usize, what: &str, span: Span) {
        let limit = self.options.limits.operands;
        // Once, when the limit is passed, not for each further one.
        if count == limit + 1 || (count > limit && what == "results") {
            let message = format!("more than {limit} {what}");
            self.error(&codes::LIMIT_OPERANDS, span, message);
        }
    }
    /// Reports a name that is too long.
    pub fn check_identifier(&mut self, span: Span) {
        let limit = self.options.limits.identifier_bytes;
        if (span.end - span.start) as usize > limit {
            let message = format!("a name has at most {limit} bytes");
            self.error(&codes::LIMIT_TEXT, span, message);
        }
    }
    /// Reports a string that is too long.
    pub fn check_string(&mut self, span: Span) {
        let limit = self.options.limits.string_bytes;
        if (span.end - span.start) as usize > limit {
            let message = format!("a string has at most {limit} bytes");
            self.error(&codes::LIMIT_TEXT, span, message);
        }
    }

    /// Reports new mistakes found by the outline; the statement is not lost by them.
    fn faults(&mut self) {
        let failed = self.statement.failed;
        let faults = std::mem::take(&mut self.tokens.borrow_mut().faults);
        for fault in faults {
            let limits = self.options.limits;
            match fault {
                Fault::Unclosed(span) => {
                    let message = "this region is never closed";
                    let (span, help) = match self.unclosed {
                        Some(span) => (
                            span,
                            "a `}` is missing: what follows its end belongs outside of it",
                        ),
                        None => (span, "a `}` is missing before the end of the file"),
                    };
                    self.error_with_help(&codes::OPEN_REGION, span, message, help);
                }
                Fault::Stray(span) => {
                    self.error(&codes::STRAY_BRACE, span, "this `}` closes nothing");
                }
                Fault::Nesting(span) => {
                    let message = format!("brackets nest deeper than {}", limits.nesting);
                    self.error(&codes::LIMIT_NESTING, span, message);
                }
                Fault::Regions(span) => {
                    let message = format!("regions nest deeper than {}", limits.region_depth);
                    self.error(&codes::LIMIT_REGIONS, span, message);
                    self.stop.set(true);
                }
            }
        }
        self.statement.failed = failed;
    }

    // --- syntax errors

    /// Reports a syntax error.
    pub fn syntax_error(&mut self, error: SyntaxError) {
        self.faults();
        match error {
            ParseError::UnrecognizedToken { token, expected } => {
                self.unexpected(token.1, &expected)
            }
            ParseError::UnrecognizedEof { location, expected } => {
                let span = Span::new(location, location);
                let end = FeedToken {
                    kind: Tok::End,
                    span,
                };
                self.unexpected(end, &expected);
            }
            ParseError::ExtraToken { token } => self.unexpected(token.1, &[]),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => {}
        }
    }
    /// Handles the end of a failed run of the grammar; earlier reports are kept.
    pub fn failed_run(&mut self, error: SyntaxError) {
        self.faults();
        if self.errors == 0 || !matches!(error, ParseError::User { .. }) {
            self.syntax_error(error);
        }
    }
    fn unexpected(&mut self, token: FeedToken, expected: &[String]) {
        self.statement.failed = true;
        if token.kind == Tok::Error {
            return self.lexical(token.span);
        }
        let at_end = token.span.start as usize >= self.source.trim_end().len();
        if at_end && self.errors > 0 {
            // A bracket that lacks its end was reported at its beginning.
            return;
        }
        if let Some(wrong) = self.wrong_behind(token) {
            return self.lexical(wrong);
        }
        if let Some(name) = self.unknown_before(token) {
            // How an operation is written that there is not matters little.
            let text = self.text(name).to_owned();
            return self.unknown_op(name, &text);
        }
        let span = self.shown(token);
        let found = self.describe(token);
        let message = match self.expected(expected) {
            Some(expected) => format!("expected {expected}, found {found}"),
            None => format!("unexpected {found}"),
        };
        let diagnostic = Diagnostic::error(&codes::UNEXPECTED, self.place(span), message);
        let diagnostic = match self.hint(token) {
            Some(hint) => diagnostic.help(hint),
            None => diagnostic,
        };
        self.report(diagnostic);
    }
    /// The name of the operation right before `token`, operands and words included, if no dialect has it.
    fn unknown_before(&self, token: FeedToken) -> Option<Span> {
        let outline = self.tokens.borrow();
        let tokens = outline.kept();
        let at = tokens.partition_point(|t| t.start < token.span.start);
        let part = |kind: Tok| {
            let literal = matches!(kind, Tok::Int | Tok::Float | Tok::Hex | Tok::Minus);
            literal || matches!(kind, Tok::Word | Tok::ValueId | Tok::SymbolId | Tok::Comma)
        };
        let mut before = tokens[..at].iter().rev().take(MOST_BEFORE);
        let name = before.find(|t| !part(t.kind))?;
        let span = Span::new(name.start, name.end);
        let unknown = name.kind == Tok::OpName && self.ir.registry.op(self.text(span)).is_none();
        unknown.then_some(span)
    }
    /// The source range to show for a token; the end of a statement is shown at the end of its last token.
    fn shown(&self, token: FeedToken) -> Span {
        match token.kind {
            Tok::End => Span::new(token.span.start.saturating_sub(1), token.span.start),
            _ => token.span,
        }
    }
    fn describe(&self, token: FeedToken) -> String {
        match token.kind {
            Tok::End => "the end of the operation".into(),
            Tok::RegionOpen => "`{` of a region".into(),
            Tok::RegionClose => "`}`".into(),
            _ => {
                let text: String = self.text(token.span).chars().take(40).collect();
                let text = text.lines().next().unwrap_or("").to_owned();
                format!("`{text}`")
            }
        }
    }
    fn expected(&self, tokens: &[String]) -> Option<String> {
        let mut words: Vec<&str> = tokens.iter().filter_map(|t| terminal(t)).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > MOST_EXPECTED {
            return None;
        }
        let (last, rest) = words.split_last()?;
        match rest {
            [] => Some((*last).into()),
            _ => Some(format!("{} or {last}", rest.join(", "))),
        }
    }
    /// An invalid character right after `token` on its line, which is the mistake.
    fn wrong_behind(&self, token: FeedToken) -> Option<Span> {
        let outline = self.tokens.borrow();
        let tokens = outline.kept();
        let at = tokens.partition_point(|t| t.start < token.span.end);
        let next = tokens.get(at).filter(|t| t.kind == Tok::Error)?;
        let between = Span::new(token.span.end, next.start);
        (!self.text(between).contains('\n')).then(|| next.span())
    }
    fn lexical(&mut self, span: Span) {
        if self.nesting_fault(span) {
            return;
        }
        let text = self.text(span);
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some('"'), _) | (Some('@'), Some(_)) => self.error(
                &codes::OPEN_STRING,
                span,
                "this string does not end on its line",
            ),
            (Some('{'), _) => self.error(&codes::OPEN_BRACKET, span, "`{-#` without `#-}`"),
            (Some('#'), second)
                if !second.is_some_and(|c| c.is_ascii_alphanumeric() || "_$".contains(c)) =>
            {
                let span = Span::new(span.start, span.start + 1);
                self.error_with_help(
                    &codes::BAD_CHARACTER,
                    span,
                    "`#` begins nothing",
                    "comments begin with `//`",
                );
            }
            (Some('#' | '!'), Some(_)) => self.open_bracket(span),
            (Some(c), _) if c.is_ascii_alphabetic() => self.open_bracket(span),
            (Some(c), _) => self.wrong_character(span, c),
            (None, _) => {}
        }
    }
    fn wrong_character(&mut self, span: Span, c: char) {
        let rest = self.source.get(span.start as usize..).unwrap_or("");
        let (message, help) = characters::wrong(c, rest);
        let found = Diagnostic::error(&codes::BAD_CHARACTER, self.place(span), message);
        self.report(match help {
            Some(help) => found.help(help),
            None => found,
        });
    }
    fn open_bracket(&mut self, span: Span) {
        let message = format!("the `<` after `{}` is never closed", self.text(span));
        self.error(&codes::OPEN_BRACKET, span, message);
    }
    /// Brackets beyond the limit became error tokens, and were reported.
    fn nesting_fault(&self, span: Span) -> bool {
        let place = self.place(span);
        let limit = codes::LIMIT_NESTING.code;
        self.found
            .iter()
            .any(|d| d.code == limit && d.place == place)
    }

    // --- the end

    /// The diagnostics in the order of the text, and the module if there is no error.
    pub fn finish(mut self) -> ParseResult {
        self.faults();
        let module = self.leave_file();
        let place = |d: &Diagnostic| match d.place {
            Place::Span { span, .. } => span.start,
            _ => 0,
        };
        self.found.sort_by_key(place);
        let diagnostics = Diagnostics { items: self.found };
        ParseResult {
            module: module.filter(|_| !diagnostics.has_errors()),
            diagnostics,
        }
    }
}

/// A terminal of the grammar, in words. `None`: not worth naming.
fn terminal(name: &str) -> Option<&'static str> {
    Some(match name {
        "\"(\"" => "`(`",
        "\")\"" => "`)`",
        "\"[\"" | "LIST" => "`[`",
        "\"]\"" => "`]`",
        "\"{\"" => "`{`",
        "\"}\"" | "CLOSE" => "`}`",
        "\"<\"" => "`<`",
        "\">\"" => "`>`",
        "\",\"" => "`,`",
        "\":\"" => "`:`",
        "\"::\"" => "`::`",
        "\"=\"" => "`=`",
        "\"->\"" => "`->`",
        "\"loc(\"" => "`loc(`",
        "VALUE" => "a value",
        "SYMBOL" => "a symbol",
        "BLOCK" => "a block",
        "HASH" | "OPAQUE_ATTR" | "DENSE" | "ARRAY" | "EXTENTS" => "an attribute",
        "BANG" | "OPAQUE_TYPE" | "SHAPED" | "TENSOR_PREFIX" | "\"tuple<\"" => "a type",
        "INT" | "HEX" | "FLOAT" | "\"-\"" => "a number",
        "STRING" => "a string",
        "WORD" => "a word",
        "DOTTED" => "a name",
        "OPEN" => "`{` of a region",
        "OP_NAME" | "OP_STRING" => "an operation",
        "DEF" => "a result",
        "LABEL" => "a block label",
        "END" => "the end of the operation",
        _ => return None,
    })
}
