//! The body of a Python definition to statements. A mistake is reported at its location, and reading continues with the
//! next statement.

use fuser_ir::span::Span;
use lalrpop_util::ParseError;

use super::lex::{Tok, Token};
use crate::codes::SYNTAX;
use crate::program::{Fault, MAX_FAULTS};

#[allow(clippy::all, clippy::pedantic, missing_docs, unused_imports)]
mod grammar {
    lalrpop_util::lalrpop_mod!(grammar, "/nvfuser/grammar.rs");
    pub use grammar::*;
}

/// `T1, T2 = value`, or a value alone.
#[derive(Debug)]
pub struct Statement {
    /// The names.
    pub targets: Vec<Span>,
    /// The value.
    pub value: Expr,
}

/// An expression. They nest as brackets do.
#[derive(Debug)]
pub enum Expr {
    /// `T0`, `DataType.Float`, `None`
    Path(Vec<Span>),
    /// `fd.ops.add(T0, T1)`
    Call(Vec<Span>, Vec<(Option<Span>, Expr)>),
    /// A number or a string.
    Literal(Span),
    /// `[1, 2]`, `(1, 2)`
    List(Span, Vec<Expr>),
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

/// The statements of a body, and the mistakes.
pub fn parse(source: &str, body: &[Token]) -> (Vec<Statement>, Vec<Fault>) {
    let fed = body
        .iter()
        .map(|token| Ok((token.span.start, *token, token.span.end)));
    let mut errors = Errors::default();
    let parsed = grammar::StartParser::new().parse(&mut errors, fed);
    let statements = parsed.unwrap_or_else(|error| {
        errors.push(error);
        Vec::new()
    });
    let faults = errors.0.into_iter().map(|error| fault(source, error));
    (statements, faults.collect())
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
        Tok::End => "the statement is not complete".to_owned(),
        _ => format!("`{}` is not expected here", shown.escape_debug()),
    };
    let help = "a definition has statements such as `T2 = fd.ops.add(T0, T1)` and `fd.add_output(T2)`; no Python is run";
    Fault::new(&SYNTAX, message).at(span).help(help)
}
