//! Hands marked tokens to the grammar, with an [`Tok::End`] after each statement.

use std::cell::{Cell, RefCell};

use super::outline::Outline;
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
    /// Source range of the token.
    pub span: Span,
}

/// The tokens of one run of the grammar.
pub struct Feed<'a, 's> {
    /// The outline of a file, read as needed; tokens inside lists and aliases are skipped.
    file: Option<&'a RefCell<Outline<'s>>>,
    batch: Vec<Token>,
    /// The next token of the batch.
    at: usize,
    start: Option<Tok>,
    open: bool,
    end: u32,
    stop: &'a Cell<bool>,
}

impl<'a, 's> Feed<'a, 's> {
    /// Feeds the tokens of a file.
    pub fn file(tokens: &'a RefCell<Outline<'s>>, stop: &'a Cell<bool>) -> Self {
        let mut feed = Self::part(Tok::StartFile, &[], stop);
        feed.file = Some(tokens);
        feed
    }
    /// Feeds the standalone text `tokens`, after the marker `start`.
    pub fn part(start: Tok, tokens: &[Token], stop: &'a Cell<bool>) -> Self {
        Self {
            file: None,
            batch: tokens.to_vec(),
            at: 0,
            start: Some(start),
            open: false,
            end: tokens.first().map_or(0, |t| t.start),
            stop,
        }
    }
    /// The next token that is not passed over, which is not taken yet.
    fn peek(&mut self) -> Option<Token> {
        loop {
            match self.batch.get(self.at).copied() {
                Some(token) if token.inside && self.file.is_some() => self.at += 1,
                Some(token) => return Some(token),
                None if self.refill() => {}
                None => return None,
            }
        }
    }
    #[cold]
    fn refill(&mut self) -> bool {
        let Some(file) = self.file else {
            return false;
        };
        let mut file = file.borrow_mut();
        self.at = 0;
        let more = file.next_batch(&mut self.batch);
        if file.cut {
            self.stop.set(true);
        }
        more
    }
    fn virtual_token(&self, kind: Tok) -> Option<<Self as Iterator>::Item> {
        let span = Span::new(self.end, self.end);
        Some(Ok((self.end, FeedToken { kind, span }, self.end)))
    }
}

impl Iterator for Feed<'_, '_> {
    type Item = Result<(u32, FeedToken, u32), Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(start) = self.start.take() {
            return self.virtual_token(start);
        }
        let token = self.peek();
        if self.stop.get() {
            return Some(Err(Stop));
        }
        let ends = token.is_none_or(|t| t.kind == Tok::RegionClose || t.first);
        if self.open && ends && self.file.is_some() {
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
