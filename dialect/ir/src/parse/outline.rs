//! The outline of a file: where each operation, label and alias begins, and which braces are regions.
//!
//! One pass over the tokens, before the grammar sees them. It marks the first token of each statement, tells `{` of a region
//! from `{` of a dictionary, `%x` before `=` from `%x` as an operand, the name of an operation from other words, and takes
//! `[...]` of a clause as one token. With that the grammar is flat: regions are no part of it, so nothing nests with them,
//! and a mistake in one statement leaves the others whole.
//!
//! Brackets are matched on a stack on the heap. A definition (`%x =`) and the `}` of a region end whatever a statement left
//! open, so an unclosed bracket costs one statement, not the rest of the file. Linear in the number of tokens.
//!
//! Tokens are lexed and marked as the grammar asks for them and forgotten behind it: what is kept is a batch, and the
//! statements it does not hold whole. A mark never reaches behind the border (a statement's first token, a brace of a region)
//! that was passed last, so what stands before it is done.

use std::ops::Range;

use crate::def::Registry;
use crate::lex::{Lexer, Tok, Token};
use crate::limits::Limits;
use crate::span::Span;

/// What the outline found wrong.
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

/// How many tokens are lexed at once.
const BATCH: usize = 1024;
/// How many tokens a mark looks ahead.
const AHEAD: usize = 2;
/// How many tokens a mark looks back over a border.
const BACK: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Region,
    Paren,
    Square,
    Dict,
}

/// What kind of statement is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statement {
    /// None yet: the next token begins one.
    None,
    Custom,
    Generic,
    Alias,
    Other,
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Open {
    bracket: Bracket,
    /// The token that opened it.
    by: Tok,
    /// Its number, and where it stands.
    at: usize,
    span: Span,
    /// Of a region: the brackets of the statement around it.
    outer: usize,
}

/// The marked tokens of a text. Tokens are numbered from 0; those before `ready` are marked for good.
pub struct Outline<'a> {
    lexer: Lexer<'a>,
    source: &'a str,
    registry: &'a Registry,
    limits: &'a Limits,
    /// The tokens that are kept.
    tokens: Vec<Token>,
    /// Number of the first of them.
    base: usize,
    /// Number of the next token to be marked.
    next: usize,
    ready: usize,
    /// Number of the next token to be given away.
    fed: usize,
    /// What was ready when tokens were forgotten last.
    forgotten: usize,
    ended: bool,
    open: Vec<Open>,
    /// Brackets opened since the innermost region.
    depth: usize,
    regions: usize,
    statement: Statement,
    /// Brackets of this statement nest too deep, which was noted.
    too_deep: bool,
    /// The op's name.
    name: Span,
    alias: Option<usize>,
    /// Ranges of alias definitions that ended since tokens were forgotten last.
    aliases: Vec<Range<usize>>,
    /// Mistakes that were not reported yet, in order.
    pub faults: Vec<Fault>,
    /// Regions nest too deep: what follows is not read.
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
    /// Puts the tokens that come next into `batch`, marked for good, and forgets what stands more than two borders before
    /// them. `false` at the end of the text.
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
    /// Forgets all but the last statements before token `at`: a mistake is reported when the token behind it is known.
    fn forget(&mut self, at: usize) {
        if std::mem::replace(&mut self.forgotten, self.ready) == self.ready {
            return;
        }
        self.aliases.clear();
        let mut borders = 0;
        let mut from = at.min(self.base + self.tokens.len());
        while from > self.base && borders < 3 {
            from -= 1;
            let token = self.tokens[from - self.base];
            let brace = matches!(token.kind, Tok::RegionOpen | Tok::RegionClose);
            borders += usize::from(token.first || brace);
        }
        let from = from.saturating_sub(BACK).max(self.base);
        self.tokens.drain(..from - self.base);
        self.base = from;
    }
}

impl Outline<'_> {
    fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_sub(self.base)?)
    }
    /// Token `at`, which is kept: it stands behind the last border.
    fn get_mut(&mut self, at: usize) -> &mut Token {
        &mut self.tokens[at - self.base]
    }
    fn span(&self, at: usize) -> Span {
        self.get(at).map_or(Span::default(), |t| t.span())
    }
    /// What stands before token `at` will not be marked any more.
    fn border(&mut self, at: usize) {
        self.ready = self.ready.max(at);
    }
    fn kind(&self, at: usize) -> Option<Tok> {
        self.get(at).map(|t| t.kind)
    }
    fn before(&self, at: usize, distance: usize) -> Option<Tok> {
        self.kind(at.checked_sub(distance)?)
    }
    fn text(&self, at: usize) -> &str {
        self.get(at).map_or("", |t| t.text(self.source))
    }
    fn set(&mut self, at: usize, kind: Tok) {
        self.get_mut(at).kind = kind;
    }
    /// A statement begins at token `at`.
    fn begin(&mut self, at: usize, statement: Statement) {
        self.end_alias(at);
        self.get_mut(at).first = true;
        self.border(at);
        (self.statement, self.too_deep) = (statement, false);
    }
    fn end_alias(&mut self, at: usize) {
        if let Some(start) = self.alias.take() {
            self.aliases.push(start..at);
            for token in &mut self.tokens[start - self.base..at - self.base] {
                token.inside = true;
            }
        }
    }

    /// Marks one token.
    fn mark(&mut self, at: usize) {
        let Some(kind) = self.kind(at) else { return };
        match kind {
            Tok::Equal => self.equal(at),
            Tok::LBrace => self.open_brace(at),
            Tok::RBrace => self.close_brace(at),
            _ if self.depth == 0 => self.flat(at, kind),
            Tok::LParen | Tok::TupleOpen | Tok::LocOpen => self.push(Bracket::Paren, at),
            Tok::LSquare => self.push(Bracket::Square, at),
            Tok::RParen => self.pop(Bracket::Paren),
            Tok::RSquare => self.pop(Bracket::Square),
            Tok::Greater if self.opened_by(Tok::TupleOpen) => self.pop(Bracket::Paren),
            _ => {}
        }
    }
    fn opened_by(&self, kind: Tok) -> bool {
        self.open.last().is_some_and(|open| open.by == kind)
    }
    /// A token outside all brackets of its statement.
    fn flat(&mut self, at: usize, kind: Tok) {
        let named = self.before(at, 1) == Some(Tok::Equal) && self.statement == Statement::Other;
        let fresh = self.statement == Statement::None;
        match kind {
            Tok::Dotted => self.op_name(at, named, Statement::Custom),
            Tok::Word if named || fresh || self.is_module(at) => {
                self.op_name(at, named, Statement::Custom);
            }
            Tok::Str if named || fresh || self.kind(at + 1) == Some(Tok::LParen) => {
                self.op_name(at, named, Statement::Generic);
            }
            Tok::BlockId => {
                self.begin(at, Statement::Other);
                self.set(at, Tok::Label);
            }
            Tok::Resources => self.begin(at, Statement::Other),
            _ if fresh => self.begin(at, Statement::Other),
            _ => {}
        }
        match kind {
            Tok::LParen | Tok::TupleOpen | Tok::LocOpen => self.push(Bracket::Paren, at),
            Tok::LSquare => self.push(Bracket::Square, at),
            _ => {}
        }
    }
    fn op_name(&mut self, at: usize, named: bool, statement: Statement) {
        if named {
            self.statement = statement;
        } else {
            self.begin(at, statement);
        }
        self.name = self.span(at);
        let generic = statement == Statement::Generic;
        self.set(at, if generic { Tok::OpString } else { Tok::OpName });
    }
    /// `module {` or `module @m` after another statement.
    fn is_module(&self, at: usize) -> bool {
        let next = self.kind(at + 1);
        self.text(at) == "module" && matches!(next, Some(Tok::LBrace | Tok::SymbolId))
    }

    /// `=`: what stands before it is a definition, or the name of an alias.
    fn equal(&mut self, at: usize) {
        match self.before(at, 1) {
            Some(Tok::HashId | Tok::BangId) if self.depth == 0 => {
                self.begin(at - 1, Statement::Alias);
                self.alias = self.open.is_empty().then_some(at - 1);
            }
            Some(Tok::ValueId | Tok::Int) => self.definition(at),
            _ => {}
        }
    }
    /// Marks `%a, %b:2` before `=`, and ends whatever the statement before left open.
    fn definition(&mut self, equal: usize) {
        let mut first = None;
        let mut at = equal;
        while let Some(name) = self.defined_before(at) {
            self.set(name, Tok::DefId);
            first = Some(name);
            match self.before(name, 1) {
                Some(Tok::Comma) => at = name - 1,
                _ => break,
            }
        }
        if let Some(first) = first {
            while self.depth > 0 {
                self.open.pop();
                self.depth -= 1;
            }
            self.begin(first, Statement::Other);
        }
    }
    /// The value that ends just before token `at`: `%a` or `%a:2`.
    fn defined_before(&self, at: usize) -> Option<usize> {
        let packed =
            [3, 2, 1].map(|d| self.before(at, d)) == [Tok::ValueId, Tok::Colon, Tok::Int].map(Some);
        let name = at.checked_sub(if packed { 3 } else { 1 })?;
        (self.kind(name) == Some(Tok::ValueId)).then_some(name)
    }

    fn push(&mut self, bracket: Bracket, at: usize) {
        self.open_bracket(bracket, at, 0);
        self.depth += 1;
        if self.depth > self.limits.nesting && !std::mem::replace(&mut self.too_deep, true) {
            // The statement is lost, and said to be.
            self.faults.push(Fault::Nesting(self.span(at)));
            self.set(at, Tok::Error);
        }
    }
    fn open_bracket(&mut self, bracket: Bracket, at: usize, outer: usize) {
        let by = self.kind(at).unwrap_or(Tok::Error);
        let span = self.span(at);
        self.open.push(Open {
            bracket,
            by,
            at,
            span,
            outer,
        });
    }
    /// How many brackets the innermost `bracket` of this statement and what was left open inside it are. Looks no further
    /// than brackets may nest, so that wrong closers cost no more than right ones.
    fn innermost(&self, bracket: Bracket) -> Option<usize> {
        let inner = self.open.iter().rev().take(self.depth);
        let mut inner = inner.take(self.limits.nesting.saturating_add(1));
        inner
            .position(|open| open.bracket == bracket)
            .map(|n| n + 1)
    }
    /// Closes the innermost `bracket` of this statement and what was left open inside it; nothing if there is none.
    fn pop(&mut self, bracket: Bracket) {
        let Some(closed) = self.innermost(bracket) else {
            return;
        };
        let start = self.open.len() - closed;
        let at = self.open[start].at;
        self.open.truncate(start);
        self.depth -= closed;
        if bracket == Bracket::Square && closed == 1 && self.depth == 0 {
            self.list(at);
        }
    }
    /// `[...]` of a clause becomes one token.
    fn list(&mut self, start: usize) {
        let successors = matches!(self.kind(start + 1), Some(Tok::BlockId));
        // `tensor<4x8xf32, [1, 0]>`
        let layout = self.before(start, 2) == Some(Tok::TensorPrefix);
        if self.statement != Statement::Custom || successors || layout {
            return;
        }
        // The statement's name stands between a border and the list, so all of it is kept.
        let Some(list) = self.tokens.get_mut(start.saturating_sub(self.base)..) else {
            return;
        };
        let mut depth = 0;
        let mut end = 0;
        for token in list.iter_mut() {
            match token.kind {
                Tok::LSquare => depth += 1,
                Tok::RSquare => depth -= 1,
                _ => {}
            }
            token.inside = end > 0;
            end = token.end;
            if depth == 0 {
                break;
            }
        }
        (list[0].kind, list[0].end) = (Tok::List, end);
    }

    fn open_brace(&mut self, at: usize) {
        if !self.is_region(at) {
            if self.statement == Statement::None {
                self.begin(at, Statement::Other);
            }
            return self.push(Bracket::Dict, at);
        }
        if self.statement == Statement::None {
            self.begin(at, Statement::Other);
        }
        self.end_alias(at);
        self.regions += 1;
        if self.regions > self.limits.region_depth {
            self.faults.push(Fault::Regions(self.span(at)));
            self.cut = true;
            return;
        }
        self.open_bracket(Bracket::Region, at, self.depth);
        self.set(at, Tok::RegionOpen);
        self.border(at + 1);
        self.depth = 0;
        self.statement = Statement::None;
    }
    fn close_brace(&mut self, at: usize) {
        if self.innermost(Bracket::Dict).is_some() {
            return self.pop(Bracket::Dict);
        }
        self.open.truncate(self.open.len() - self.depth);
        self.end_alias(at);
        let closed = self.open.pop();
        self.depth = closed.map_or(0, |region| region.outer);
        if closed.is_some() {
            self.set(at, Tok::RegionClose);
            self.border(at + 1);
            self.regions -= 1;
            self.statement = Statement::Other;
        } else {
            self.faults.push(Fault::Stray(self.span(at)));
            self.get_mut(at).inside = true;
        }
    }

    fn is_region(&self, at: usize) -> bool {
        let previous = self.before(at, 1);
        if self.depth > 0 {
            let listed =
                previous == Some(Tok::Comma) && self.before(at, 2) == Some(Tok::RegionClose);
            let in_parens = self
                .open
                .last()
                .is_some_and(|o| o.bracket == Bracket::Paren);
            return in_parens && (previous == Some(Tok::LParen) || listed);
        }
        match previous {
            Some(Tok::Less) => false,
            Some(Tok::RegionClose) => true,
            Some(Tok::Word) if self.before(at, 2) == Some(Tok::RegionClose) => true,
            Some(Tok::Word) if self.text(at - 1) == "attributes" => false,
            _ => match self.statement {
                Statement::Generic | Statement::Alias => false,
                Statement::Other if previous == Some(Tok::RParen) => false,
                _ => self.looks_like_region(at),
            },
        }
    }
    /// `{` after the header of an op in custom form, told by what follows it.
    fn looks_like_region(&self, at: usize) -> bool {
        match (self.kind(at + 1), self.kind(at + 2)) {
            (Some(Tok::RBrace), _) => self.op_has_regions(),
            (Some(Tok::Word | Tok::Dotted | Tok::Str), Some(Tok::Equal | Tok::Comma)) => false,
            (Some(Tok::Word | Tok::Str), Some(Tok::RBrace)) => false,
            (Some(Tok::Dotted), Some(Tok::RBrace)) => {
                self.op_has_regions()
                    || self.registry.op(self.text(at + 1)).is_some()
                    || self.breaks_line(at)
            }
            _ => true,
        }
    }
    /// Whether the next token stands on another line: people break lines in regions, not in short dictionaries.
    fn breaks_line(&self, at: usize) -> bool {
        let end = |at: usize| self.span(at).end as usize;
        let between = self.source.get(end(at)..end(at + 1)).unwrap_or("");
        between.contains('\n')
    }
    fn op_has_regions(&self) -> bool {
        let name = self.name.start as usize..self.name.end as usize;
        let name = match self.source.get(name).unwrap_or("") {
            "module" => return true,
            name => name,
        };
        self.registry
            .op(name)
            .is_some_and(|d| !d.regions.is_empty())
    }

    /// At the end of the file: what is open is reported once and closed.
    fn finish(&mut self) {
        self.ended = true;
        if self.cut {
            self.tokens.truncate(self.next.saturating_sub(self.base));
        }
        let count = self.base + self.tokens.len();
        self.end_alias(count);
        let regions = || {
            let open = self.open.iter();
            open.filter(|o| o.bracket == Bracket::Region)
        };
        let (innermost, missing) = (regions().next_back().copied(), regions().count());
        if let Some(open) = innermost.filter(|_| !self.cut) {
            self.faults.push(Fault::Unclosed(open.span));
        }
        let end = self.source.len() as u32;
        let close = Token {
            kind: Tok::RegionClose,
            first: false,
            inside: false,
            start: end,
            end,
        };
        self.tokens.resize(self.tokens.len() + missing, close);
        self.ready = self.base + self.tokens.len();
    }
}

/// Makes brackets beyond the limit error tokens, in the tokens of a list that the outline took as one.
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

/// Whether `source` may define an alias: something like `#name =` or `!name =` stands in it. Never misses one.
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
