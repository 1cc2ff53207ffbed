//! The outline of a file: the beginning of each operation, label and alias, and the braces that are regions.
//!
//! One pass over the tokens, before the grammar sees them, marks them (`marks.rs`). With the marks the grammar is flat:
//! regions are no part of it, so nothing nests with them, and a mistake in one statement leaves the others whole.
//! Linear in the number of tokens.
//!
//! Tokens are lexed and marked as the grammar asks for them, and dropped after it: only a batch is stored, and the
//! statements only partly in it. A mark never changes before the last boundary passed (a statement's first token, a
//! brace of a region), so the tokens before it are final.

use std::ops::Range;

use crate::def::Registry;
use crate::lex::{Lexer, Tok, Token};
use crate::limits::Limits;
use crate::span::Span;

/// A structural mistake that the outline found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A region that is never closed.
    Unclosed(Span),
    /// A `}` that closes nothing.
    Stray(Span),
    /// Brackets inside each other beyond the limit.
    Nesting(Span),
    /// Regions inside each other beyond the limit; the rest of the file is not read.
    Regions(Span),
}

/// Tokens lexed at once.
const BATCH: usize = 1024;
/// Tokens that a mark looks ahead.
const AHEAD: usize = 2;
/// Tokens that a mark looks back over a boundary.
const BACK: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Region,
    Paren,
    Square,
    Dict,
}

/// The kind of the statement being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    /// None yet: the next token begins one.
    None,
    Custom,
    Generic,
    Alias,
    Other,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) bracket: Bracket,
    /// The token that opened it.
    pub(super) by: Tok,
    /// Its number, and its source range.
    pub(super) at: usize,
    pub(super) span: Span,
    /// For a region: the brackets of the enclosing statement.
    pub(super) outer: usize,
}

/// The marked tokens of a text. Tokens are numbered from 0; marks before `ready` are final.
pub struct Outline<'a> {
    lexer: Lexer<'a>,
    pub(super) source: &'a str,
    pub(super) registry: &'a Registry,
    pub(super) limits: &'a Limits,
    /// The tokens that are kept.
    pub(super) tokens: Vec<Token>,
    /// Number of the first of them.
    pub(super) base: usize,
    /// Number of the next token to be marked.
    pub(super) next: usize,
    pub(super) ready: usize,
    /// Number of the next token to be given away.
    fed: usize,
    /// The value of `ready` when tokens were forgotten last.
    forgotten: usize,
    pub(super) ended: bool,
    pub(super) open: Vec<Open>,
    /// Brackets opened since the innermost region.
    pub(super) depth: usize,
    pub(super) regions: usize,
    pub(super) statement: Statement,
    /// Brackets of this statement nest too deep, which was noted.
    pub(super) too_deep: bool,
    /// The op's name.
    pub(super) name: Span,
    pub(super) alias: Option<usize>,
    /// Ranges of alias definitions that ended since tokens were forgotten last.
    pub(super) aliases: Vec<Range<usize>>,
    /// Mistakes that were not reported yet, in order.
    pub faults: Vec<Fault>,
    /// True if regions nest too deeply: the rest is not read.
    pub cut: bool,
}

impl<'a> Outline<'a> {
    /// The tokens of `source`; none is read yet.
    pub fn new(source: &'a str, registry: &'a Registry, limits: &'a Limits) -> Self {
        Self {
            lexer: Lexer::new(source),
            source,
            registry,
            limits,
            tokens: Vec::new(),
            base: 0,
            next: 0,
            ready: 0,
            fed: 0,
            forgotten: 0,
            ended: false,
            open: Vec::new(),
            depth: 0,
            regions: 0,
            statement: Statement::None,
            too_deep: false,
            name: Span::default(),
            alias: None,
            aliases: Vec::new(),
            faults: Vec::new(),
            cut: false,
        }
    }
    /// Puts the next tokens with final marks into `batch`, and drops tokens more than two boundaries before them.
    /// `false` at the end of the text.
    pub fn next_batch(&mut self, batch: &mut Vec<Token>) -> bool {
        while self.fed >= self.ready && !self.ended {
            self.forget(self.fed);
            self.read();
        }
        batch.clear();
        batch.extend_from_slice(&self.tokens[self.fed - self.base..self.ready - self.base]);
        self.fed = self.ready;
        !batch.is_empty()
    }
    /// The tokens of all alias definitions, and the range of each among them.
    pub fn alias_tokens(mut self) -> (Vec<Token>, Vec<Range<usize>>) {
        let (mut tokens, mut ranges) = (Vec::new(), Vec::new());
        while !self.ended {
            self.read();
            for range in &self.aliases {
                let start = tokens.len();
                let range = range.start - self.base..range.end - self.base;
                tokens.extend_from_slice(&self.tokens[range]);
                ranges.push(start..tokens.len());
            }
            self.forget(self.ready);
        }
        (tokens, ranges)
    }
    /// Reads the whole text, and forgets nothing.
    pub fn read_all(&mut self) {
        while !self.ended {
            self.read();
        }
    }
    /// The tokens that are kept.
    pub fn kept(&self) -> &[Token] {
        &self.tokens
    }

    /// Lexes and marks a batch.
    fn read(&mut self) {
        let lexed = self.tokens.len();
        self.tokens.reserve(BATCH);
        self.tokens.extend(self.lexer.by_ref().take(BATCH));
        let last = self.tokens.len() < lexed + BATCH;
        let end = self.base + self.tokens.len();
        let end = if last { end } else { end - AHEAD };
        while self.next < end {
            self.mark(self.next);
            if self.cut {
                break;
            }
            self.next += 1;
        }
        if last || self.cut {
            self.finish();
        }
    }
    /// Drops all but the last statements before token `at`: a mistake is reported only when the next token is known.
    fn forget(&mut self, at: usize) {
        if std::mem::replace(&mut self.forgotten, self.ready) == self.ready {
            return;
        }
        self.aliases.clear();
        let mut boundaries = 0;
        let mut from = at.min(self.base + self.tokens.len());
        while from > self.base && boundaries < 3 {
            from -= 1;
            let token = self.tokens[from - self.base];
            let brace = matches!(token.kind, Tok::RegionOpen | Tok::RegionClose);
            boundaries += usize::from(token.first || brace);
        }
        let from = from.saturating_sub(BACK).max(self.base);
        self.tokens.drain(..from - self.base);
        self.base = from;
    }
}

/// Turns brackets beyond the limit into error tokens, in the tokens of a list that the outline took as one.
pub fn limit_nesting(tokens: &mut [Token], limits: &Limits) {
    let mut depth: usize = 0;
    for token in tokens {
        match token.kind {
            Tok::LSquare | Tok::LParen | Tok::LBrace | Tok::TupleOpen | Tok::LocOpen => depth += 1,
            Tok::RSquare | Tok::RParen | Tok::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limits.nesting {
            token.kind = Tok::Error;
            return;
        }
    }
}

/// True if `source` may define an alias: it contains something like `#name =` or `!name =`. Never misses one.
pub fn may_have_aliases(source: &str) -> bool {
    let bytes = source.as_bytes();
    let sign = |b: u8| b == b'#' || b == b'!';
    let mut from = 0;
    // Most texts have neither sign: whole blocks are passed over at once.
    for block in bytes.chunks(64) {
        let end = from + block.len();
        if block.iter().fold(false, |any, b| any | sign(*b)) {
            let mut signs = (from..end).filter(|at| sign(bytes[*at]));
            if signs.any(|at| begins_alias(&bytes[at + 1..])) {
                return true;
            }
        }
        from = end;
    }
    false
}

/// `name =` at the start of a text, or `name` before what may be a comment.
fn begins_alias(text: &[u8]) -> bool {
    let name = |b: &&u8| b.is_ascii_alphanumeric() || b"_$.".contains(b);
    let length = text.iter().take_while(name).count();
    let mut rest = text[length..].iter().filter(|b| !b" \t\r\n".contains(b));
    length > 0 && matches!(rest.next(), Some(b'=' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds and marks of all tokens, read in small steps or at once.
    fn marks(source: &str, whole: bool) -> Vec<Token> {
        let (registry, limits) = (Registry::default(), Limits::default());
        let mut outline = Outline::new(source, &registry, &limits);
        if whole {
            outline.read_all();
            return outline.kept().to_vec();
        }
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while outline.next_batch(&mut batch) {
            all.extend_from_slice(&batch);
        }
        all
    }
    #[test]
    fn tokens_are_the_same_read_at_once_or_as_they_are_needed() {
        let line =
            "%a, %b:2 = x.y %c dims [1, [2]] {k = \"v\"} : T\n \"g\"() ({ z.w {} }) : () -> ()\n";
        let odd = "x.y ( [ %q = a.b\n } stray #a = 1 : i8\n x.y dims [1, 2 %r = c.d\n";
        let text = format!("module {{ {} }} {} {{", line.repeat(300), odd.repeat(150));
        let whole = marks(&text, true);
        assert!(whole.len() > 5 * BATCH);
        assert_eq!(marks(&text, false), whole);
    }
    #[test]
    fn what_is_kept_does_not_grow_with_the_text() {
        let (registry, limits) = (Registry::default(), Limits::default());
        let text = format!(
            "module {{ {} }}",
            "%a = x.y %b dims [1] : T\n".repeat(5_000)
        );
        let mut outline = Outline::new(&text, &registry, &limits);
        let (mut batch, mut all) = (Vec::new(), 0);
        while outline.next_batch(&mut batch) {
            all += batch.len();
            assert!(outline.kept().len() < 2 * BATCH);
        }
        assert!(all > 20 * BATCH);
    }
    #[test]
    fn texts_that_may_have_aliases() {
        let long = " ".repeat(100) + "#map \n = affine_map<() -> ()>";
        for text in [
            "#a = 1",
            "!t=i8",
            "x.y } #0\n=\n1",
            "#a // why\n = 1",
            &long,
        ] {
            assert!(may_have_aliases(text), "{text}");
        }
        for text in [
            "",
            "%0#1, %a = x.y",
            "x.y {a = #f.g<1>} loc(#l)",
            "# = !",
            "#a",
        ] {
            assert!(!may_have_aliases(text), "{text}");
        }
    }
}
