//! The parser's state, and the actions that record the parts of a statement as the grammar finds them.
//!
//! A statement's parts go to one scratch [`Statement`]; nothing is made of them before its end (`ops.rs`) or the `{` of
//! its first region (`regions.rs`). Types and attributes are interned at once (`types.rs`, `attrs.rs`).

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use super::ParseOptions;
use super::aliases::Aliases;
use super::feed::Feed;
use super::grammar::StartParser;
use super::lines::Lines;
use super::names::Names;
use super::outline::Outline;
use super::regions::Frame;
use crate::attr::AttrId;
use crate::def::OpDef;
use crate::diag::Diagnostic;
use crate::intern::Sym;
use crate::ir::{Ir, OpName};
use crate::loc::LocId;
use crate::span::Span;
use crate::types::TypeId;

/// An attribute with its name and place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// Name.
    pub key: Sym,
    /// Value.
    pub value: AttrId,
    /// Source range of the name.
    pub span: Span,
}

/// The value after a word of a clause; its meaning depends on the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemValue {
    /// A number, to be read with the type that the clause gives it.
    Number,
    /// `[...]`, to be read as the clause says.
    List,
    /// `dense<...>`, of the result type.
    Dense,
    /// A string.
    Str(Sym),
    /// A type with brackets, or an alias.
    Type(TypeId),
    /// Any other attribute.
    Attr(AttrId),
}

/// A word among the clauses, and what follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The word.
    pub word: Span,
    /// The value and its place.
    pub value: Option<(ItemValue, Span)>,
}

/// The name of an operation that was looked up before.
#[derive(Clone, Copy, Debug)]
pub struct KnownName {
    /// Its id.
    pub name: OpName,
    /// Its table.
    pub def: Option<&'static OpDef>,
    /// True if the op has a table, or is the module.
    pub known: bool,
}

/// A parameter of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name.
    pub name: Span,
    /// Type.
    pub ty: TypeId,
    /// Attributes.
    pub attrs: Option<AttrId>,
}

/// A successor as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The block's name.
    pub block: Span,
    /// Values handed over.
    pub values: Vec<Span>,
    /// Their types, where written.
    pub types: Vec<TypeId>,
}

/// The parts of one statement.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// Result names with their counts.
    pub results: Vec<(Span, u32)>,
    /// The operation's name.
    pub name: Span,
    /// True if the statement is in generic form.
    pub generic: bool,
    /// `@name`
    pub symbol: Option<Span>,
    /// Source range of the signature.
    pub signature: Option<Span>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its results with their attributes.
    pub outputs: Vec<(TypeId, Option<AttrId>)>,
    /// Operands.
    pub operands: Vec<Span>,
    /// Successors.
    pub targets: Vec<Target>,
    /// Clauses.
    pub items: Vec<Item>,
    /// The attribute dictionary.
    pub dict: Vec<Named>,
    /// Operand types of the generic form.
    pub inputs: Vec<TypeId>,
    /// Result types, if written.
    pub types: Vec<TypeId>,
    /// Source range of the types.
    pub types_span: Option<Span>,
    /// Location, if written.
    pub loc: Option<LocId>,
    /// Something in it is wrong and was reported.
    pub failed: bool,
}

impl Statement {
    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.results.clear();
        (self.generic, self.symbol, self.signature) = (false, None, None);
        self.parameters.clear();
        self.outputs.clear();
        self.operands.clear();
        self.targets.clear();
        self.items.clear();
        self.dict.clear();
        self.inputs.clear();
        self.types.clear();
        (self.types_span, self.loc, self.failed) = (None, None, false);
    }
    /// Number of results that are named.
    pub fn named_results(&self) -> usize {
        self.results.iter().map(|r| r.1 as usize).sum()
    }
    /// Offset at which the statement begins: its first result or its name.
    pub fn start(&self) -> u32 {
        self.results.first().map_or(self.name.start, |r| r.0.start)
    }
}

/// The result of parsing a text that is an attribute or a type rather than a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// An attribute.
    Attr(AttrId),
    /// A type.
    Type(TypeId),
}

/// The state of a run.
pub struct Parser<'i> {
    /// The program under construction.
    pub ir: &'i mut Ir,
    pub(super) source: &'i str,
    pub(super) file: u32,
    pub(super) file_name: Sym,
    pub(super) options: &'i ParseOptions,
    pub(super) tokens: &'i RefCell<Outline<'i>>,
    pub(super) stop: &'i Cell<bool>,
    pub(super) statement: Box<Statement>,
    /// A statement that is not in use: its lists keep their memory.
    pub(super) spare: Option<Box<Statement>>,
    pub(super) names: Names<'i>,
    pub(super) frames: Vec<Frame<'i>>,
    pub(super) aliases: Aliases<'i>,
    pub(super) shapes: FxHashMap<&'i str, TypeId>,
    pub(super) op_names: FxHashMap<&'i str, KnownName>,
    pub(super) lines: Lines<'i>,
    pub(super) found: Vec<Diagnostic>,
    pub(super) errors: usize,
    pub(super) ops: usize,
    pub(super) placeholder: OpName,
    pub(super) resources: Option<Sym>,
    pub(super) answer: Option<Answer>,
    /// The `{` of a region that was probably meant to end earlier, as the following text shows.
    pub(super) unclosed: Option<Span>,
}

impl<'i> Parser<'i> {
    /// A parser of `source`.
    pub fn new(
        ir: &'i mut Ir,
        file: u32,
        source: &'i str,
        tokens: &'i RefCell<Outline<'i>>,
        options: &'i ParseOptions,
        stop: &'i Cell<bool>,
    ) -> Self {
        let file_name = ir.sym(&options.file_name);
        let placeholder = ir.op_name("builtin.used_before_definition");
        let mut parser = Self {
            ir,
            source,
            file,
            file_name,
            options,
            tokens,
            stop,
            statement: Box::default(),
            spare: None,
            names: Names::default(),
            frames: Vec::new(),
            aliases: Aliases::default(),
            shapes: FxHashMap::default(),
            op_names: FxHashMap::default(),
            lines: Lines::new(source, options.first_line),
            found: Vec::new(),
            errors: 0,
            ops: 0,
            placeholder,
            resources: None,
            answer: None,
            unclosed: None,
        };
        parser.enter_file();
        parser
    }
    /// Runs the grammar; the results are in the parser.
    pub fn run(&mut self, feed: Feed<'_, '_>) {
        if let Err(error) = StartParser::new().parse(self, feed) {
            self.failed_run(error);
        }
    }
    /// The text at `span`.
    pub fn text(&self, span: Span) -> &'i str {
        let source = self.source;
        let range = span.start as usize..span.end as usize;
        source.get(range).unwrap_or("")
    }

    // --- parts of a statement

    /// `%x` or `%x:2` before `=`.
    pub fn result(&mut self, name: Span, count: Option<Span>) {
        self.check_identifier(name);
        let count = match count {
            None => 1,
            Some(span) => self.result_count(span),
        };
        self.statement.results.push((name, count));
        self.check_count(self.statement.named_results(), "results", name);
    }
    fn result_count(&mut self, span: Span) -> u32 {
        let count: usize = self.text(span).parse().unwrap_or(usize::MAX);
        if count == 0 {
            self.error(
                &crate::codes::RESULT_NAMES,
                span,
                "a name stands for one result or more",
            );
        }
        self.check_count(count, "results", span);
        count.clamp(1, self.options.limits.operands) as u32
    }
    /// The operation's name.
    pub fn op_name(&mut self, name: Span, generic: bool) {
        (self.statement.name, self.statement.generic) = (name, generic);
    }
    /// `@name` after the operation's name.
    pub fn symbol(&mut self, span: Span) {
        if !self.text(span).starts_with("@\"") {
            self.check_ascii(span);
        }
        self.statement.symbol = Some(span);
    }
    /// An operand.
    pub fn operand(&mut self, span: Span) {
        self.statement.operands.push(span);
        self.check_count(self.statement.operands.len(), "operands", span);
    }
    /// The parentheses of a signature are closed.
    pub fn signature(&mut self, span: Span) {
        self.statement.signature = Some(span);
    }
    /// `%x: T {...}` in a signature.
    pub fn parameter(
        &mut self,
        name: Span,
        ty: TypeId,
        attrs: Option<Vec<Named>>,
        _loc: Option<LocId>,
    ) {
        let attrs = attrs.map(|a| self.dict_attr(a));
        self.statement
            .parameters
            .push(Parameter { name, ty, attrs });
        self.check_count(self.statement.parameters.len(), "parameters", name);
    }
    /// `T {...}` among the results of a signature.
    pub fn signature_result(&mut self, ty: TypeId, attrs: Option<Vec<Named>>) {
        let attrs = attrs.map(|a| self.dict_attr(a));
        self.statement.outputs.push((ty, attrs));
    }
    /// `^bb1(%a : T)`
    pub fn successor(&mut self, block: Span, values: Vec<Span>, types: Vec<TypeId>) {
        let target = Target {
            block,
            values,
            types,
        };
        self.statement.targets.push(target);
        self.check_count(self.statement.targets.len(), "successors", block);
    }
    /// A word among the clauses, with a value or not.
    pub fn item(&mut self, word: Span, value: Option<(ItemValue, Span)>) {
        self.statement.items.push(Item { word, value });
        self.check_count(self.statement.items.len(), "clauses", word);
    }
    /// The attribute dictionary or the properties.
    pub fn dict(&mut self, entries: Vec<Named>) {
        let entries = entries.into_iter();
        self.statement.dict.extend(entries);
        if let Some(last) = self.statement.dict.last() {
            self.check_count(self.statement.dict.len(), "attributes", last.span);
        }
    }
    /// The type of an operand.
    pub fn input_type(&mut self, ty: TypeId) {
        self.statement.inputs.push(ty);
    }
    /// The type of a result.
    pub fn output_type(&mut self, ty: TypeId) {
        self.statement.types.push(ty);
    }
    /// `: T, T`
    pub fn result_types(&mut self, span: Span) {
        self.statement.types_span = Some(span);
    }
    /// `: (T) -> T`
    pub fn function_types(&mut self, span: Span) {
        self.statement.generic = true;
        self.result_types(span);
    }
    /// `loc(...)` after an operation.
    pub fn location(&mut self, loc: LocId) {
        self.statement.loc = Some(loc);
    }
    /// `{-# ... #-}`
    pub fn resources(&mut self, span: Span) {
        let text = self.text(span);
        self.resources = Some(self.ir.sym(text));
    }

    // --- answers

    /// The attribute that was asked for.
    pub fn answer_attr(&mut self, attr: AttrId) {
        self.answer = Some(Answer::Attr(attr));
    }
    /// The type that was asked for.
    pub fn answer_type(&mut self, ty: TypeId) {
        self.answer = Some(Answer::Type(ty));
    }
}
