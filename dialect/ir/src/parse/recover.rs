//! Recovery from a statement that does not parse: the error is reported, and the names that it would have defined are
//! poisoned.

use super::actions::Parser;
use super::regions::OpenOp;
use super::report::SyntaxError;
use crate::lex::{Tok, Token};
use crate::span::Span;

impl Parser<'_> {
    /// A statement that is no operation, label or alias.
    pub fn failed_statement(&mut self, error: SyntaxError) {
        let at = error_place(&error);
        let signature = self.statement.signature.is_some();
        self.syntax_error(error);
        self.lose(at);
        if signature {
            // The body that it lost follows, and names its parameters.
            self.names.blind();
        }
        self.statement.clear();
        if let Some(frame) = self.frames.last_mut() {
            frame.last_failed = true;
        }
    }
    /// A header that could not be read, before `{`.
    pub fn failed_header(&mut self, error: SyntaxError, brace: Span) {
        let at = error_place(&error);
        self.syntax_error(error);
        let mut open = OpenOp::default();
        open.statement.failed = true;
        open.statement.results = self.definitions(at).into_iter().map(|s| (s, 1)).collect();
        self.statement.clear();
        self.start_region(Box::new(open), brace);
        self.names.blind();
    }
    /// The rest of an operation after its last `}` could not be read.
    pub fn failed_tail(&mut self, close: Span, error: SyntaxError) {
        self.syntax_error(error);
        if let Some(open) = self.end_region(close) {
            self.note(&open.statement, None);
        }
        self.statement.clear();
    }
    /// Handles text between `}` and `{` that does not parse: the operation fails, its next region is read blind.
    pub fn failed_between(&mut self, close: Span, error: SyntaxError, brace: Span) {
        self.syntax_error(error);
        if let Some(mut open) = self.end_region(close) {
            open.statement.failed = true;
            self.statement.clear();
            self.start_region(open, brace);
            self.names.blind();
        }
    }
    /// The names that a lost statement would have defined are poison.
    fn lose(&mut self, at: u32) {
        for name in self.definitions(at) {
            self.poison(name);
        }
        let label = {
            let outline = self.tokens.borrow();
            let tokens = outline.kept();
            let first = tokens.get(statement_start(tokens, at));
            first.is_some_and(|t| t.kind == Tok::Label)
        };
        if label {
            self.names.blind();
        }
    }
    fn definitions(&self, at: u32) -> Vec<Span> {
        let outline = self.tokens.borrow();
        let tokens = outline.kept();
        let start = statement_start(tokens, at);
        let tokens = tokens[start.min(tokens.len())..].iter();
        let header = tokens
            .clone()
            .enumerate()
            .take_while(|(index, t)| *index == 0 || !t.first)
            .map(|(_, t)| t)
            .take_while(|t| matches!(t.kind, Tok::DefId | Tok::Comma | Tok::Colon | Tok::Int));
        let mut names: Vec<Span> = header
            .filter(|t| t.kind == Tok::DefId)
            .map(|t| t.span())
            .collect();
        // An invalid character is between the name and its `=`.
        let mut first = tokens.map(|t| (t.kind, t.span()));
        if let (Some((Tok::ValueId, name)), Some((Tok::Error, _))) = (first.next(), first.next()) {
            names.push(name);
        }
        names
    }
}

/// The first token of the statement around byte `at`.
fn statement_start(tokens: &[Token], at: u32) -> usize {
    let mut index = tokens.partition_point(|t| t.start <= at).saturating_sub(1);
    while index > 0 && !tokens[index].first {
        let before = tokens[index - 1].kind;
        if matches!(before, Tok::RegionOpen | Tok::RegionClose) {
            break;
        }
        index -= 1;
    }
    index
}

fn error_place(error: &SyntaxError) -> u32 {
    match error {
        SyntaxError::UnrecognizedToken { token, .. } | SyntaxError::ExtraToken { token } => {
            match token.1.kind {
                // The end is after the last token.
                Tok::End => token.0.saturating_sub(1),
                _ => token.0,
            }
        }
        SyntaxError::UnrecognizedEof { location, .. } | SyntaxError::InvalidToken { location } => {
            *location
        }
        SyntaxError::User { .. } => 0,
    }
}
