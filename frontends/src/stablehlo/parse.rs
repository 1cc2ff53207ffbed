//! StableHLO text to its syntax tree. A mistake is reported at its location, and reading continues with the next
//! operation.

use fuser_ir::span::Span;
use lalrpop_util::ParseError;

use super::ast::File;
use super::lex::{self, MAX_NESTING, Tok, Token};
use crate::codes::{LIMIT, SYNTAX};
use crate::program::{Fault, MAX_FAULTS};

#[allow(clippy::all, clippy::pedantic, missing_docs, unused_imports)]
mod grammar {
    lalrpop_util::lalrpop_mod!(grammar, "/stablehlo/grammar.rs");
    pub use grammar::*;
}

/// The mistakes that the grammar found.
#[derive(Default)]
pub struct Errors(Vec<ParseError<u32, Token, ()>>);

impl Errors {
    /// Adds one.
    pub fn push(&mut self, error: ParseError<u32, Token, ()>) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(error);
        }
    }
}

/// The syntax tree, and the mistakes.
pub fn parse(source: &str) -> (File, Vec<Fault>) {
    let tokens = match lex::tokens(source) {
        Ok(tokens) => tokens,
        Err(span) => {
            let text = format!("more than {MAX_NESTING} brackets lie inside each other");
            return (File::default(), vec![Fault::new(&LIMIT, text).at(span)]);
        }
    };
    let fed = tokens
        .iter()
        .map(|token| Ok((token.span.start, *token, token.span.end)));
    let mut errors = Errors::default();
    let parsed = grammar::StartParser::new().parse(&mut errors, fed);
    let file = parsed.unwrap_or_else(|error| {
        errors.push(error);
        File::default()
    });
    let faults = errors.0.into_iter().map(|error| fault(source, error));
    (file, faults.collect())
}

fn fault(source: &str, error: ParseError<u32, Token, ()>) -> Fault {
    let (span, kind) = match error {
        ParseError::UnrecognizedToken { token, .. } | ParseError::ExtraToken { token } => {
            (token.1.span, token.1.kind)
        }
        ParseError::UnrecognizedEof { location, .. } | ParseError::InvalidToken { location } => {
            (Span::new(location, location), Tok::End)
        }
        ParseError::User { .. } => (Span::default(), Tok::End),
    };
    let text = &source[span.start as usize..span.end as usize];
    let shown: String = text.chars().take(40).collect();
    let message = match kind {
        Tok::End => "the operation is not complete".to_owned(),
        Tok::Error => format!("`{}` begins nothing", shown.escape_debug()),
        _ => format!("`{}` is not expected here", shown.escape_debug()),
    };
    let help =
        "an operation stands on a line of its own: `%0 = stablehlo.add %a, %b : tensor<4xf32>`";
    Fault::new(&SYNTAX, message).at(span).help(help)
}
