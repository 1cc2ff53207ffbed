//! The names of a text, from its tokens alone: definitions, uses, scopes, statements. It exists for every text, however
//! malformed.
//!
//! A region sees the names around it unless it is isolated, as in the parser (`dialect/ir/src/parse/names.rs`). A name
//! used before its definition refers to the definition in the same region, or in an enclosing one.

use fuser_ir::def::{OpDef, Registry, Traits};
use fuser_ir::lex::{Tok, Token};
use fuser_ir::limits::Limits;
use fuser_ir::parse;
use fuser_ir::span::Span;
use rustc_hash::FxHashMap;

/// The kind of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// `%x`
    Value,
    /// `@f`
    Symbol,
    /// `^bb0`
    Block,
    /// `#map`
    Attribute,
    /// `!t`
    Type,
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Its kind.
    pub kind: Kind,
    /// The place of its name.
    pub span: Span,
    /// The number of its token.
    pub token: usize,
    /// The statement that it belongs to.
    pub statement: usize,
    /// The scope in which it is seen.
    pub scope: usize,
    /// The number of a result among those of its op.
    pub result: Option<usize>,
}

/// A name in the text: a definition or a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its kind.
    pub kind: Kind,
    /// Its span; for `%x#1` the span of `%x`.
    pub span: Span,
    /// The end of its token.
    pub end: u32,
    /// The definition that it means.
    pub definition: Option<usize>,
    /// True if it is the definition.
    pub defines: bool,
}

/// A statement: an op, a label or an alias.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statement {
    /// Its first token.
    pub first: usize,
    /// One past its last token; the tokens of its regions are in between.
    pub end: usize,
    /// The token that names the op.
    pub name: Option<usize>,
    /// The scope that contains it.
    pub scope: usize,
    /// The scopes of its regions.
    pub regions: Vec<usize>,
    /// Its results.
    pub results: Vec<usize>,
    /// Its parameters.
    pub parameters: Vec<usize>,
    /// The symbol that it defines.
    pub symbol: Option<usize>,
}

/// A region, or the text as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<usize>,
    /// The statement that it is a region of.
    pub statement: Option<usize>,
    /// The position after its `{`.
    pub open: u32,
    /// The offset of its `}`; the end of the text if it is missing.
    pub close: u32,
    /// True if its `}` exists.
    pub closed: bool,
    /// True if names around it are not seen in it.
    pub isolated: bool,
    /// Scopes around it.
    pub depth: usize,
}

/// All names of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Index {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// Statements in the order in which they begin.
    pub statements: Vec<Statement>,
    /// Scopes in the order in which they begin; the first is the text.
    pub scopes: Vec<Scope>,
    /// Definitions in the order of the text.
    pub definitions: Vec<Definition>,
    /// Names in the order of the text.
    pub names: Vec<Name>,
    /// True if every bracket of a region has its partner.
    pub balanced: bool,
}

impl Index {
    /// The index of `source`.
    pub fn new(source: &str, registry: &Registry) -> Self {
        let mut tokens = parse::outline(source, registry, &Limits::default());
        for list in tokens.iter_mut().filter(|t| t.kind == Tok::List) {
            // Its tokens follow: the grammar takes it as one.
            (list.kind, list.end) = (Tok::LSquare, list.start + 1);
        }
        Builder::new(source, registry, tokens).build()
    }
    /// The name at a place, or the one that ends there.
    pub fn name_at(&self, byte: u32) -> Option<&Name> {
        let behind = self.names.partition_point(|n| n.span.start <= byte);
        let name = self.names.get(behind.checked_sub(1)?)?;
        (byte <= name.end).then_some(name)
    }
    /// The token at a place, or the one that ends there.
    pub fn token_at(&self, byte: u32) -> Option<usize> {
        let behind = self.tokens.partition_point(|t| t.start <= byte);
        let at = behind.checked_sub(1)?;
        (byte <= self.tokens[at].end).then_some(at)
    }
    /// All names that mean a definition, itself included.
    pub fn uses(&self, definition: usize) -> impl Iterator<Item = &Name> {
        let names = self.names.iter();
        names.filter(move |n| n.definition == Some(definition))
    }
    /// The innermost statement around a token.
    pub fn statement_of(&self, token: usize) -> Option<usize> {
        let behind = self.statements.partition_point(|s| s.first <= token);
        let mut at = behind.checked_sub(1)?;
        while token >= self.statements[at].end {
            at = self.scopes[self.statements[at].scope].statement?;
        }
        Some(at)
    }
    /// The innermost scope around a place.
    pub fn scope_at(&self, byte: u32) -> usize {
        let behind = self.scopes.partition_point(|s| s.open <= byte);
        let mut at = behind.saturating_sub(1);
        while byte > self.scopes[at].close {
            at = self.scopes[at].parent.unwrap_or(0);
        }
        at
    }
    /// The text of an op's name.
    pub fn op_name<'t>(&self, source: &'t str, statement: &Statement) -> &'t str {
        let name = statement.name.map(|at| self.tokens[at].text(source));
        name.unwrap_or("").trim_matches('"')
    }
    /// The table of the op of a statement.
    pub fn def(
        &self,
        source: &str,
        registry: &Registry,
        statement: &Statement,
    ) -> Option<&'static OpDef> {
        op_def(registry, self.op_name(source, statement))
    }
    /// The places from the first to the last token of a statement.
    pub fn span(&self, statement: &Statement) -> Span {
        let token = |at: usize| self.tokens.get(at).copied().map(Token::span);
        let first = token(statement.first).unwrap_or_default();
        first.to(token(statement.end.saturating_sub(1)).unwrap_or_default())
    }
    /// The values that are seen at a place, innermost first.
    pub fn visible(&self, byte: u32) -> Vec<usize> {
        let mut chain = vec![self.scope_at(byte)];
        while let Some(scope) = chain.last().map(|at| &self.scopes[*at])
            && let Some(parent) = scope.parent.filter(|_| !scope.isolated)
        {
            chain.push(parent);
        }
        chain.sort_unstable();
        let seen = |d: &Definition| {
            let ends = d
                .result
                .map(|_| self.span(&self.statements[d.statement]).end);
            let before = ends.unwrap_or(d.span.end) < byte;
            d.kind == Kind::Value && before && chain.binary_search(&d.scope).is_ok()
        };
        let all = 0..self.definitions.len();
        all.rev()
            .filter(|at| seen(&self.definitions[*at]))
            .collect()
    }
}

/// The table of an op by its name, of `module` too.
pub fn op_def(registry: &Registry, name: &str) -> Option<&'static OpDef> {
    match name {
        "module" => registry.op("builtin.module"),
        name => registry.op(name),
    }
}

/// A scope that is open.
#[derive(Default)]
struct Frame<'s> {
    scope: usize,
    statement: Option<usize>,
    epoch: usize,
    bound: Vec<&'s str>,
    /// Uses of values that nothing defines yet.
    pending: Vec<usize>,
    blocks: FxHashMap<&'s str, usize>,
    block_uses: Vec<usize>,
}

struct Builder<'s> {
    source: &'s str,
    registry: &'s Registry,
    index: Index,
    frames: Vec<Frame<'s>>,
    epochs: usize,
    /// For each value the definitions that are open, with their epochs.
    bound: FxHashMap<&'s str, Vec<(usize, usize)>>,
    symbols: FxHashMap<(usize, &'s str), usize>,
    /// Uses of symbols: the name, its scope, and the name before `::`.
    symbol_uses: Vec<(usize, usize, Option<usize>)>,
    aliases: FxHashMap<&'s str, usize>,
    alias_uses: Vec<usize>,
    /// Brackets that are open in the parameters of this statement.
    signature: usize,
}

impl<'s> Builder<'s> {
    fn new(source: &'s str, registry: &'s Registry, tokens: Vec<Token>) -> Self {
        let scope = Scope {
            close: source.len() as u32,
            closed: true,
            isolated: true,
            ..Scope::default()
        };
        Self {
            source,
            registry,
            index: Index {
                tokens,
                scopes: vec![scope],
                balanced: true,
                ..Index::default()
            },
            frames: vec![Frame::default()],
            epochs: 0,
            bound: FxHashMap::default(),
            symbols: FxHashMap::default(),
            symbol_uses: Vec::new(),
            aliases: FxHashMap::default(),
            alias_uses: Vec::new(),
            signature: 0,
        }
    }
    fn build(mut self) -> Index {
        for at in 0..self.index.tokens.len() {
            self.token(at);
        }
        let end = self.index.tokens.len();
        while self.frames.len() > 1 {
            self.index.balanced = false;
            self.leave(end, false);
        }
        self.finish(end);
        self.resolve_scope();
        self.resolve_symbols();
        for at in std::mem::take(&mut self.alias_uses) {
            let text = self.text(self.index.names[at].span);
            self.index.names[at].definition = self.aliases.get(text).copied();
        }
        self.index
    }
    fn text(&self, span: Span) -> &'s str {
        let range = span.start as usize..span.end as usize;
        self.source.get(range).unwrap_or("")
    }
    fn kind(&self, at: usize) -> Option<Tok> {
        self.index.tokens.get(at).map(|t| t.kind)
    }
    fn before(&self, at: usize) -> Option<Tok> {
        self.kind(at.checked_sub(1)?)
    }
    fn frame(&mut self) -> &mut Frame<'s> {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn token(&mut self, at: usize) {
        let token = self.index.tokens[at];
        if token.first {
            self.begin(at);
        }
        match token.kind {
            Tok::RegionOpen => self.enter(at),
            Tok::RegionClose => self.close(at),
            Tok::OpName | Tok::OpString => {
                if let Some(statement) = self.statement() {
                    statement.name = Some(at);
                }
            }
            Tok::LParen if self.signature > 0 || self.begins_signature(at) => self.signature += 1,
            Tok::RParen => self.signature = self.signature.saturating_sub(1),
            Tok::DefId => self.result(at),
            Tok::ValueId => self.value(at),
            Tok::SymbolId => self.symbol(at),
            Tok::Label => self.label(at),
            Tok::BlockId => {
                let name = self.name(Kind::Block, token.span(), None);
                self.frame().block_uses.push(name);
            }
            Tok::HashId => self.alias(at, Kind::Attribute),
            Tok::BangId => self.alias(at, Kind::Type),
            _ => {}
        }
    }
    fn statement(&mut self) -> Option<&mut Statement> {
        let at = self.frame().statement?;
        self.index.statements.get_mut(at)
    }
    fn begin(&mut self, at: usize) {
        self.finish(at);
        let scope = self.frame().scope;
        let statement = self.index.statements.len();
        self.index.statements.push(Statement {
            first: at,
            end: self.index.tokens.len(),
            scope,
            ..Statement::default()
        });
        self.frame().statement = Some(statement);
        self.signature = 0;
    }
    /// Ends the open statement before token `at`: its results are visible from here on.
    fn finish(&mut self, at: usize) {
        let Some(statement) = self.frame().statement.take() else {
            return;
        };
        self.index.statements[statement].end = at;
        for result in self.index.statements[statement].results.clone() {
            self.bind(result);
        }
    }
    fn bind(&mut self, definition: usize) {
        let text = self.text(self.index.definitions[definition].span);
        let frame = self.frame();
        frame.bound.push(text);
        let (epoch, scope) = (frame.epoch, frame.scope);
        self.index.definitions[definition].scope = scope;
        self.bound
            .entry(text)
            .or_default()
            .push((epoch, definition));
    }
    fn enter(&mut self, at: usize) {
        let statement = self.frame().statement;
        let (epoch, parent) = (self.frame().epoch, self.frame().scope);
        let isolated = statement.is_some_and(|at| {
            let statement = &self.index.statements[at];
            let def = self.index.def(self.source, self.registry, statement);
            def.is_some_and(|def| def.traits.contains(Traits::ISOLATED))
        });
        self.epochs += usize::from(isolated);
        let scope = self.index.scopes.len();
        self.index.scopes.push(Scope {
            parent: Some(parent),
            statement,
            open: self.index.tokens[at].end,
            close: self.source.len() as u32,
            closed: false,
            isolated,
            depth: self.index.scopes[parent].depth + 1,
        });
        self.frames.push(Frame {
            scope,
            epoch: if isolated { self.epochs } else { epoch },
            ..Frame::default()
        });
        let Some(statement) = statement else {
            return;
        };
        let statement = &mut self.index.statements[statement];
        statement.regions.push(scope);
        let first = statement.regions.len() == 1;
        let parameters = statement.parameters.clone();
        for parameter in parameters.into_iter().filter(|_| first) {
            self.bind(parameter);
        }
    }
    fn close(&mut self, at: usize) {
        if self.frames.len() < 2 {
            self.index.balanced = false;
            return;
        }
        self.leave(at, true);
    }
    fn leave(&mut self, at: usize, closed: bool) {
        self.finish(at);
        self.resolve_scope();
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if closed {
            let scope = &mut self.index.scopes[frame.scope];
            (scope.close, scope.closed) = (self.index.tokens[at].start, true);
        }
        for text in frame.bound {
            self.bound.get_mut(text).and_then(Vec::pop);
        }
        let outer = self.frame();
        if outer.epoch == frame.epoch {
            outer.pending.extend(frame.pending);
        }
    }
    /// Resolves uses that came before their definitions in the innermost scope.
    fn resolve_scope(&mut self) {
        let epoch = self.frame().epoch;
        let pending = std::mem::take(&mut self.frame().pending);
        for name in pending {
            let found = self.lookup(self.text(self.index.names[name].span), epoch);
            match found {
                Some(_) => self.index.names[name].definition = found,
                None => self.frame().pending.push(name),
            }
        }
        let frame = self.frame();
        let blocks = std::mem::take(&mut frame.blocks);
        for name in std::mem::take(&mut self.frame().block_uses) {
            let text = self.text(self.index.names[name].span);
            self.index.names[name].definition = blocks.get(text).copied();
        }
    }
    fn lookup(&self, text: &str, epoch: usize) -> Option<usize> {
        let (of, definition) = *self.bound.get(text)?.last()?;
        (of == epoch).then_some(definition)
    }

    fn name(&mut self, kind: Kind, span: Span, definition: Option<usize>) -> usize {
        self.index.names.push(Name {
            kind,
            span,
            end: span.end,
            definition,
            defines: false,
        });
        self.index.names.len() - 1
    }
    fn define(&mut self, kind: Kind, at: usize, result: Option<usize>) -> usize {
        let span = self.index.tokens[at].span();
        let definition = self.index.definitions.len();
        let frame = self.frame();
        let (scope, statement) = (frame.scope, frame.statement.unwrap_or(0));
        self.index.definitions.push(Definition {
            kind,
            span,
            token: at,
            statement,
            scope,
            result,
        });
        let name = self.name(kind, span, Some(definition));
        self.index.names[name].defines = true;
        definition
    }
    /// True if the parenthesis at `at` begins the parameters of a program.
    fn begins_signature(&self, at: usize) -> bool {
        let before = |back: usize| self.kind(at.wrapping_sub(back));
        match before(1) {
            Some(Tok::OpName) => true,
            Some(Tok::SymbolId) => before(2) == Some(Tok::OpName),
            _ => false,
        }
    }
    fn result(&mut self, at: usize) {
        // For `%a, %b:2 = ...`: the number of results that the names before this one stand for.
        let number = self.statement().map_or(0, |s| s.results.len());
        let before = match number.checked_sub(1) {
            None => 0,
            Some(last) => {
                let last = self.statement().and_then(|s| s.results.get(last).copied());
                let last = last.map(|at| self.index.definitions[at].clone());
                last.map_or(number, |d| d.result.unwrap_or(0) + self.count(d.token))
            }
        };
        let definition = self.define(Kind::Value, at, Some(before));
        if let Some(statement) = self.statement() {
            statement.results.push(definition);
        }
    }
    /// The number of results named by the token at `at`.
    fn count(&self, at: usize) -> usize {
        let number = match (self.kind(at + 1), self.index.tokens.get(at + 2)) {
            (Some(Tok::Colon), Some(number)) if number.kind == Tok::Int => number,
            _ => return 1,
        };
        self.text(number.span()).parse::<u16>().unwrap_or(1).into()
    }
    fn value(&mut self, at: usize) {
        let typed = self.kind(at + 1) == Some(Tok::Colon);
        let labelled = self.statement().map(|s| s.first);
        let labelled = labelled.and_then(|first| self.kind(first)) == Some(Tok::Label);
        if typed && (labelled || self.signature == 1) {
            let definition = self.define(Kind::Value, at, None);
            if labelled {
                self.bind(definition);
            } else if let Some(statement) = self.statement() {
                statement.parameters.push(definition);
            }
            return;
        }
        let whole = self.index.tokens[at].span();
        let text = self.text(whole);
        let name = text.split('#').next().unwrap_or(text);
        let span = Span::new(whole.start, whole.start + name.len() as u32);
        let epoch = self.frame().epoch;
        let definition = self.lookup(name, epoch);
        let name = self.name(Kind::Value, span, definition);
        self.index.names[name].end = whole.end;
        if definition.is_none() {
            self.frame().pending.push(name);
        }
    }
    fn symbol(&mut self, at: usize) {
        let span = self.index.tokens[at].span();
        if self.before(at) == Some(Tok::OpName) {
            let definition = self.define(Kind::Symbol, at, None);
            let scope = self.frame().scope;
            let text = self.text(span);
            self.symbols.entry((scope, text)).or_insert(definition);
            if let Some(statement) = self.statement() {
                statement.symbol = Some(definition);
            }
            return;
        }
        let nested = self.before(at) == Some(Tok::ColonColon);
        let outer = self.index.names.len().checked_sub(1).filter(|_| nested);
        let scope = self.frame().scope;
        let name = self.name(Kind::Symbol, span, None);
        self.symbol_uses.push((name, scope, outer));
    }
    fn resolve_symbols(&mut self) {
        for (name, scope, outer) in std::mem::take(&mut self.symbol_uses) {
            let text = self.text(self.index.names[name].span);
            let within = outer.map(|outer| {
                let table = self.index.names[outer].definition?;
                let statement = self.index.definitions[table].statement;
                let regions = self.index.statements[statement].regions.iter();
                regions
                    .filter_map(|at| self.symbols.get(&(*at, text)).copied())
                    .next()
            });
            self.index.names[name].definition = within.unwrap_or_else(|| {
                let mut at = Some(scope);
                while let Some(scope) = at {
                    if let Some(&found) = self.symbols.get(&(scope, text)) {
                        return Some(found);
                    }
                    at = self.index.scopes[scope].parent;
                }
                None
            });
        }
    }
    fn label(&mut self, at: usize) {
        let definition = self.define(Kind::Block, at, None);
        let text = self.text(self.index.tokens[at].span());
        self.frame().blocks.entry(text).or_insert(definition);
    }
    fn alias(&mut self, at: usize, kind: Kind) {
        let token = self.index.tokens[at];
        if token.first && self.kind(at + 1) == Some(Tok::Equal) {
            let definition = self.define(kind, at, None);
            let text = self.text(token.span());
            self.aliases.entry(text).or_insert(definition);
        } else {
            let name = self.name(kind, token.span(), None);
            self.alias_uses.push(name);
        }
    }
}
