//! Hands marked tokens to the grammar, with an [`Tok::End`] after each statement.

use std::cell::Cell;

use crate::lex::{Tok, Token};
use crate::span::Span;

/// The parser gave up: too many errors, or a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stop;

/// A token as the grammar sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedToken {
    /// Its kind.
    pub kind: Tok,
    /// Where it stands.
    pub span: Span,
}

/// The tokens of one run of the grammar.
pub struct Feed<'a> {
    tokens: &'a [Token],
    at: usize,
    start: Option<Tok>,
    /// Whether tokens inside a list or an alias are passed over.
    skip: bool,
    open: bool,
    end: u32,
    stop: &'a Cell<bool>,
}

impl<'a> Feed<'a> {
    /// Feeds `tokens` after the marker `start`. Of a file, what stands inside lists and aliases is passed over.
    pub fn new(start: Tok, tokens: &'a [Token], stop: &'a Cell<bool>) -> Self {
        Self {
            tokens,
            at: 0,
            start: Some(start),
            skip: start == Tok::StartFile,
            open: false,
            end: tokens.first().map_or(0, |t| t.start),
            stop,
        }
    }
    fn virtual_token(&self, kind: Tok) -> Option<<Self as Iterator>::Item> {
        let span = Span::new(self.end, self.end);
        Some(Ok((self.end, FeedToken { kind, span }, self.end)))
    }
}

impl Iterator for Feed<'_> {
    type Item = Result<(u32, FeedToken, u32), Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(start) = self.start.take() {
            return self.virtual_token(start);
        }
        if self.stop.get() {
            return Some(Err(Stop));
        }
        while self.skip && self.tokens.get(self.at).is_some_and(|t| t.inside) {
            self.at += 1;
        }
        let token = self.tokens.get(self.at);
        let ends = token.is_none_or(|t| t.kind == Tok::RegionClose || t.first);
        if self.skip && self.open && ends {
            self.open = false;
            return self.virtual_token(Tok::End);
        }
        let token = token?;
        self.at += 1;
        self.open = token.kind != Tok::RegionOpen;
        self.end = token.end;
        let fed = FeedToken {
            kind: token.kind,
            span: token.span(),
        };
        Some(Ok((token.start, fed, token.end)))
    }
}
