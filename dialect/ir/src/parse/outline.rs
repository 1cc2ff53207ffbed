//! The outline of a file: where each operation, label and alias begins, and which braces are regions.
//!
//! One pass over the tokens, before the grammar sees them. It marks the first token of each statement, tells `{` of a region
//! from `{` of a dictionary, `%x` before `=` from `%x` as an operand, the name of an operation from other words, and takes
//! `[...]` of a clause as one token. With that the grammar is flat: regions are no part of it, so nothing nests with them,
//! and a mistake in one statement leaves the others whole.
//!
//! Brackets are matched on a stack on the heap. A definition (`%x =`) and the `}` of a region end whatever a statement left
//! open, so an unclosed bracket costs one statement, not the rest of the file. Linear in the number of tokens.

use std::ops::Range;

use crate::def::Registry;
use crate::lex::{Tok, Token};
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

/// The result: tokens are marked in place.
#[derive(Debug, Default)]
pub struct Outline {
    /// Token ranges of alias definitions.
    pub aliases: Vec<Range<usize>>,
    /// Mistakes, in order.
    pub faults: Vec<Fault>,
}

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
    at: usize,
    /// Of a region: the brackets of the statement around it.
    outer: usize,
}

struct Scan<'a> {
    tokens: &'a mut Vec<Token>,
    source: &'a str,
    registry: &'a Registry,
    limits: &'a Limits,
    open: Vec<Open>,
    /// Brackets opened since the innermost region.
    depth: usize,
    regions: usize,
    statement: Statement,
    /// Brackets of this statement nest too deep, which was noted.
    too_deep: bool,
    /// Where the op's name stands.
    name: usize,
    alias: Option<usize>,
    out: Outline,
}

/// Marks `tokens` of `source`, and closes what is open at its end.
pub fn outline(
    tokens: &mut Vec<Token>,
    source: &str,
    registry: &Registry,
    limits: &Limits,
) -> Outline {
    let mut scan = Scan {
        tokens,
        source,
        registry,
        limits,
        open: Vec::new(),
        depth: 0,
        regions: 0,
        statement: Statement::None,
        too_deep: false,
        name: 0,
        alias: None,
        out: Outline::default(),
    };
    let mut at = 0;
    while at < scan.tokens.len() {
        if !scan.token(at) {
            scan.tokens.truncate(at);
            break;
        }
        at += 1;
    }
    scan.finish();
    scan.out
}

impl Scan<'_> {
    fn kind(&self, at: usize) -> Option<Tok> {
        self.tokens.get(at).map(|t| t.kind)
    }
    fn before(&self, at: usize, distance: usize) -> Option<Tok> {
        self.kind(at.checked_sub(distance)?)
    }
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.text(self.source))
    }
    fn set(&mut self, at: usize, kind: Tok) {
        self.tokens[at].kind = kind;
    }
    /// A statement begins at token `at`.
    fn begin(&mut self, at: usize, statement: Statement) {
        self.end_alias(at);
        self.tokens[at].first = true;
        (self.statement, self.too_deep) = (statement, false);
    }
    fn end_alias(&mut self, at: usize) {
        if let Some(start) = self.alias.take() {
            self.out.aliases.push(start..at);
            for token in &mut self.tokens[start..at] {
                token.inside = true;
            }
        }
    }

    /// Reads one token; `false` stops.
    fn token(&mut self, at: usize) -> bool {
        let kind = self.tokens[at].kind;
        match kind {
            Tok::Equal => self.equal(at),
            Tok::LBrace => return self.open_brace(at),
            Tok::RBrace => self.close_brace(at),
            _ if self.depth == 0 => self.flat(at, kind),
            Tok::LParen | Tok::TupleOpen | Tok::LocOpen => self.push(Bracket::Paren, at),
            Tok::LSquare => self.push(Bracket::Square, at),
            Tok::RParen => self.pop(Bracket::Paren),
            Tok::RSquare => self.pop(Bracket::Square),
            Tok::Greater if self.opened_by(Tok::TupleOpen) => self.pop(Bracket::Paren),
            _ => {}
        }
        true
    }
    fn opened_by(&self, kind: Tok) -> bool {
        let last = self.open.last();
        last.is_some_and(|open| self.kind(open.at) == Some(kind))
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
        self.name = at;
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
        let outer = 0;
        self.open.push(Open { bracket, at, outer });
        self.depth += 1;
        if self.depth > self.limits.nesting && !std::mem::replace(&mut self.too_deep, true) {
            // The statement is lost, and said to be.
            self.out.faults.push(Fault::Nesting(self.tokens[at].span()));
            self.set(at, Tok::Error);
        }
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
        let mut at = start + 1;
        let mut depth = 1;
        while depth > 0 && at < self.tokens.len() {
            match self.tokens[at].kind {
                Tok::LSquare => depth += 1,
                Tok::RSquare => depth -= 1,
                _ => {}
            }
            self.tokens[at].inside = true;
            at += 1;
        }
        self.tokens[start].end = self.tokens[at - 1].end;
        self.set(start, Tok::List);
    }

    fn open_brace(&mut self, at: usize) -> bool {
        if !self.is_region(at) {
            if self.statement == Statement::None {
                self.begin(at, Statement::Other);
            }
            self.push(Bracket::Dict, at);
            return true;
        }
        if self.statement == Statement::None {
            self.begin(at, Statement::Other);
        }
        self.end_alias(at);
        self.regions += 1;
        if self.regions > self.limits.region_depth {
            self.out.faults.push(Fault::Regions(self.tokens[at].span()));
            return false;
        }
        self.set(at, Tok::RegionOpen);
        self.open.push(Open {
            bracket: Bracket::Region,
            at,
            outer: self.depth,
        });
        self.depth = 0;
        self.statement = Statement::None;
        true
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
            self.regions -= 1;
            self.statement = Statement::Other;
        } else {
            self.out.faults.push(Fault::Stray(self.tokens[at].span()));
            self.tokens[at].inside = true;
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
        let end = |at: usize| self.tokens.get(at).map_or(0, |t| t.end as usize);
        let between = self.source.get(end(at)..end(at + 1)).unwrap_or("");
        between.contains('\n')
    }
    fn op_has_regions(&self) -> bool {
        let name = match self.text(self.name) {
            "module" => return true,
            name => name,
        };
        self.registry
            .op(name)
            .is_some_and(|d| !d.regions.is_empty())
    }

    /// At the end of the file: what is open is reported once and closed.
    fn finish(&mut self) {
        self.end_alias(self.tokens.len());
        let end = self.source.len() as u32;
        let regions = || {
            let open = self.open.iter();
            open.filter(|o| o.bracket == Bracket::Region)
        };
        let (innermost, missing) = (regions().next_back().map(|o| o.at), regions().count());
        let cut = matches!(self.out.faults.last(), Some(Fault::Regions(_)));
        if let Some(at) = innermost.filter(|_| !cut) {
            self.out
                .faults
                .push(Fault::Unclosed(self.tokens[at].span()));
        }
        let close = Token {
            kind: Tok::RegionClose,
            first: false,
            inside: false,
            start: end,
            end,
        };
        self.tokens.resize(self.tokens.len() + missing, close);
    }
}
