//! Marks of an [`Outline`]: the role of each token in its statement.
//!
//! Marks the first token of each statement; distinguishes `{` of a region from `{` of a dictionary, `%x` before `=`
//! from `%x` as an operand, and the name of an operation from other words; and takes `[...]` of a clause as one token.
//! Looks at most two tokens ahead, and never changes a mark before the last boundary passed.
//!
//! Brackets are matched on a stack on the heap. A definition (`%x =`) and the `}` of a region close all brackets that a
//! statement left open. An unclosed bracket affects one statement, not the rest of the file.

use super::outline::{Bracket, Fault, Open, Outline, Statement};
use crate::elements;
use crate::lex::{Tok, Token};
use crate::span::Span;

impl Outline<'_> {
    fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_sub(self.base)?)
    }
    /// Token `at`, which is still stored: it is after the last boundary.
    fn get_mut(&mut self, at: usize) -> &mut Token {
        &mut self.tokens[at - self.base]
    }
    fn span(&self, at: usize) -> Span {
        self.get(at).map_or(Span::default(), |t| t.span())
    }
    /// Declares the tokens before `at` final: none of them is marked any more.
    fn boundary(&mut self, at: usize) {
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
    fn text_at(&self, span: Span) -> &str {
        let range = span.start as usize..span.end as usize;
        self.source.get(range).unwrap_or("")
    }
    fn set(&mut self, at: usize, kind: Tok) {
        self.get_mut(at).kind = kind;
    }
    /// A statement begins at token `at`.
    fn begin(&mut self, at: usize, statement: Statement) {
        self.end_alias(at);
        self.get_mut(at).first = true;
        self.boundary(at);
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
    pub(super) fn mark(&mut self, at: usize) {
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
            Tok::Dotted if self.is_element_type(at) => {}
            Tok::Dotted => self.op_name(at, named, Statement::Custom),
            Tok::Word if named || fresh || self.is_module(at) || self.is_bare_op(at) => {
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
    /// `torch.float32` after the word of a clause: no operation begins there.
    fn is_element_type(&self, at: usize) -> bool {
        let name = self.text(at).rsplit_once('.');
        let module =
            |name: &str| matches!(name, "torch" | "jnp" | "np" | "numpy" | "jax.numpy" | "tf");
        let python = name.is_some_and(|(of, name)| module(of) && elements::ours(name).is_some());
        python && self.before(at, 1) == Some(Tok::Word)
    }
    /// `module {` or `module @m` after another statement.
    fn is_module(&self, at: usize) -> bool {
        let next = self.kind(at + 1);
        self.text(at) == "module" && matches!(next, Some(Tok::LBrace | Tok::SymbolId))
    }
    /// `return` on a line of its own: an op without its dialect. The name of a clause is never one.
    fn is_bare_op(&self, at: usize) -> bool {
        let goes_on = matches!(
            self.before(at, 1),
            None | Some(Tok::Comma | Tok::Colon | Tok::Equal | Tok::Arrow)
        );
        if goes_on || !self.breaks_line(at - 1) {
            return false;
        }
        let word = self.text(at);
        let short = |name: &str| name.split_once('.').is_some_and(|(_, short)| short == word);
        let named = self.registry.op(self.text_at(self.name));
        let clause = named.is_some_and(|def| def.clause(word).is_some());
        !clause && self.registry.ops().any(|def| short(def.name))
    }

    /// `=`: the tokens before it are a definition, or the name of an alias.
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
    /// Marks `%a, %b:2` before `=`, and closes the brackets that the statement before left open.
    fn definition(&mut self, equal: usize) {
        let mut first = None;
        // The first name after a comma that ends its line: up to there the list may be one of operands.
        let mut in_line = None;
        let mut at = equal;
        while let Some(name) = self.defined_before(at) {
            first = Some(name);
            match self.before(name, 1) {
                Some(Tok::Comma) => at = name - 1,
                _ => break,
            }
            if in_line.is_none() && self.breaks_line(at) {
                in_line = Some(name);
            }
        }
        let operands = first.and_then(|first| self.before(first, 1)) == Some(Tok::OpName);
        if let Some(first) = in_line.filter(|_| operands).or(first) {
            for name in first..equal {
                if self.kind(name) == Some(Tok::ValueId) {
                    self.set(name, Tok::DefId);
                }
            }
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
    /// The number of brackets from the innermost `bracket` of this statement to the top of the stack, including
    /// brackets left open inside it. Looks no deeper than brackets may nest, so that wrong closing brackets cost no
    /// more than right ones.
    fn innermost(&self, bracket: Bracket) -> Option<usize> {
        let inner = self.open.iter().rev().take(self.depth);
        let mut inner = inner.take(self.limits.nesting.saturating_add(1));
        inner
            .position(|open| open.bracket == bracket)
            .map(|n| n + 1)
    }
    /// Closes the innermost `bracket` of this statement and all brackets left open inside it; does nothing if there is
    /// none.
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
        // The statement's name is between a boundary and the list, so all of it is still stored.
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
        if self.statement == Statement::Custom {
            // In custom form no region is inside brackets: open ones were forgotten by the user.
            self.open.truncate(self.open.len() - self.depth);
            self.depth = 0;
        }
        self.regions += 1;
        if self.regions > self.limits.region_depth {
            self.faults.push(Fault::Regions(self.span(at)));
            self.cut = true;
            return;
        }
        self.open_bracket(Bracket::Region, at, self.depth);
        self.set(at, Tok::RegionOpen);
        self.boundary(at + 1);
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
            self.boundary(at + 1);
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
            return in_parens
                && (previous == Some(Tok::LParen) || listed || self.ends_signature(at));
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
    /// `{` of a body after a signature whose `)` is missing: the next line begins with an operation, or a result.
    fn ends_signature(&self, at: usize) -> bool {
        let op = self.registry.op(self.text_at(self.name));
        let signature = op.is_some_and(|def| def.syntax.signature && !def.regions.is_empty());
        let begins = matches!(
            self.kind(at + 1),
            Some(Tok::ValueId | Tok::Dotted | Tok::Word)
        );
        let attribute = matches!(self.kind(at + 2), Some(Tok::Equal))
            && self.kind(at + 1) != Some(Tok::ValueId);
        self.statement == Statement::Custom
            && signature
            && begins
            && !attribute
            && self.breaks_line(at)
    }
    /// `{` after the header of an op in custom form, recognized by the following tokens.
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
    /// True if the next token is on another line: people break lines in regions, not in short dictionaries.
    fn breaks_line(&self, at: usize) -> bool {
        let end = |at: usize| self.span(at).end as usize;
        let between = self.source.get(end(at)..end(at + 1)).unwrap_or("");
        between.contains('\n')
    }
    fn op_has_regions(&self) -> bool {
        let name = match self.text_at(self.name) {
            "module" => return true,
            name => name,
        };
        self.registry
            .op(name)
            .is_some_and(|d| !d.regions.is_empty())
    }

    /// At the end of the file, reports open brackets once and closes them.
    pub(super) fn finish(&mut self) {
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
