//! The lexer: source text to tokens, one after the other. [`token`] has the kinds, [`scan`] the tokens with an inside
//! of their own.
//!
//! Never fails: text that matches no rule is a [`Tok::Error`] token, reported by the parser. A token spans no more than
//! necessary: after an unclosed string or bracket the next token begins after the opening.

pub mod scan;
pub mod token;

use logos::{Logos, SpannedIter};

use crate::span::Span;
pub use token::Tok;

/// One token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Tok,
    /// Set by the outline pass: an operation, label or alias begins here.
    pub first: bool,
    /// Set by the outline pass: inside a [`Tok::List`].
    pub inside: bool,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token {
    /// The range of bytes.
    pub fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
    /// Its text.
    pub fn text(self, source: &str) -> &str {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

/// The tokens of a text, made as they are asked for.
pub struct Lexer<'s>(SpannedIter<'s, Tok>);

impl<'s> Lexer<'s> {
    /// Reads `source`, which is shorter than 4 GiB.
    pub fn new(source: &'s str) -> Self {
        Self(Tok::lexer(source).spanned())
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let (kind, range) = self.0.next()?;
        Some(Token {
            kind: kind.unwrap_or(Tok::Error),
            first: false,
            inside: false,
            start: range.start as u32,
            end: range.end as u32,
        })
    }
}

/// All tokens of `source`, which is shorter than 4 GiB.
pub fn lex(source: &str) -> Vec<Token> {
    Lexer::new(source).collect()
}
