//! Operations: from the parts of a statement to an op in the IR, and the names of its results.

use smallvec::SmallVec;

use super::actions::{Parser, Statement};
use super::custom::Context;
use super::names::{Bound, EarlyUse, Forward, Rebound};
use crate::check;
use crate::codes;
use crate::def::{OpDef, OpParts};
use crate::describe;
use crate::diag::Diagnostic;
use crate::intern::Sym;
use crate::ir::{Block, Def, NewOp, Op, OpName, Region, Value};
use crate::loc::{LocId, LocKind};
use crate::span::{OpSpans, Span};
use crate::suggest;
use crate::types::{TypeId, TypeKind};

/// An operation's name and table.
pub type Name = (OpName, Option<&'static OpDef>);
/// Operands, successor arguments not included.
pub type Operands = SmallVec<[Value; 4]>;
/// Result types.
type Types = SmallVec<[TypeId; 2]>;

/// How many names are compared to find what an unknown one may have meant.
const MOST_COMPARED: usize = 10_000;

/// What is known of an op when its header was read.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Name, if it is known.
    pub name: Option<Name>,
    /// Operands, unless one is poison.
    pub operands: Option<Operands>,
    /// Values for the successors.
    pub targets: Option<Vec<Vec<Value>>>,
}

impl<'i> Parser<'i> {
    /// The end of an operation without regions.
    pub fn finish_op(&mut self) {
        let mut statement = std::mem::take(&mut self.statement);
        let header = self.header(&statement);
        let made = self.make(&statement, header, SmallVec::new());
        self.note(&statement, made);
        statement.clear();
        self.statement = statement;
    }
    /// Puts a made op into its block and names its results; poisons them if it was not made.
    pub fn note(&mut self, statement: &Statement, made: Option<Op>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.last_failed = made.is_none();
        }
        match made {
            Some(op) => {
                let block = self.block();
                self.ir.append_op(block, op);
                self.name_results(statement, op);
            }
            None => self.poison_results(statement),
        }
    }

    /// Name and operands, looked up where the header stands.
    pub fn header(&mut self, statement: &Statement) -> Header {
        if statement.failed {
            return Header::default();
        }
        let name = self.lookup_op(statement);
        let operands = statement.operands.iter();
        let operands: SmallVec<[Option<Value>; 4]> = operands.map(|s| self.use_value(*s)).collect();
        let targets = statement.targets.iter();
        let targets: Vec<Option<Vec<Value>>> = targets
            .map(|t| t.values.iter().map(|s| self.use_value(*s)).collect())
            .collect();
        Header {
            name,
            operands: operands.into_iter().collect(),
            targets: targets.into_iter().collect(),
        }
    }
    fn lookup_op(&mut self, statement: &Statement) -> Option<Name> {
        let text = self.text(statement.name);
        let name = match self.op_names.get(text) {
            Some(&name) => name,
            None => {
                let name = self.full_name(statement, text);
                self.op_names.insert(text, name);
                name
            }
        };
        let def = self.ir.name_def(name);
        let module = self.text(statement.name).trim_matches('"') == "builtin.module";
        if def.is_some() || module || text == "module" {
            return Some((name, def));
        }
        if !statement.generic {
            self.unknown_op(statement.name, text);
            return None;
        }
        if !self.options.allow_unregistered {
            let message = format!("operation {text} belongs to no known dialect");
            let help = "allow such operations with --allow-unregistered-dialect";
            self.error_with_help(&codes::UNREGISTERED, statement.name, message, help);
            return None;
        }
        Some((name, None))
    }
    fn full_name(&mut self, statement: &Statement, text: &'i str) -> OpName {
        if statement.generic {
            let name = self.string(statement.name);
            let name = self.ir.str(name).to_owned();
            return self.ir.op_name(&name);
        }
        match text {
            "module" => self.ir.op_name("builtin.module"),
            _ => self.ir.op_name(text),
        }
    }
    fn unknown_op(&mut self, span: Span, text: &str) {
        let registry = self.ir.registry.clone();
        let names = || registry.ops().map(|op| op.name);
        let short = |name: &'static str| name.split_once('.').map_or("", |(_, short)| short);
        // An op written without its dialect, or misspelt.
        let exact = names().find(|name| short(name) == text);
        let near = exact.or_else(|| suggest::nearest(text, names()));
        let message = format!("unknown operation `{text}`");
        match near {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                self.error_with_help(&codes::UNKNOWN_OP, span, message, help);
            }
            None => {
                let help = format!(
                    "an operation without a table is written in generic form: \"{text}\"(...)"
                );
                self.error_with_help(&codes::UNKNOWN_OP, span, message, help);
            }
        }
    }

    /// Makes the op, detached; `None` if something is wrong, which was reported here or before.
    pub fn make(
        &mut self,
        statement: &Statement,
        header: Header,
        regions: SmallVec<[Region; 1]>,
    ) -> Option<Op> {
        let failed = statement.failed;
        let (name, def) = header.name.filter(|_| !failed)?;
        let operands = header.operands?;
        let targets = header.targets?;
        self.count_op(statement.name);
        let mut spans = self.spans(statement);
        let errors = self.errors;
        let context = Context {
            operands: &operands,
            types: &statement.types,
        };
        let attrs = self.attributes(statement, def, &context, &mut spans);
        if self.errors > errors {
            return None;
        }
        let loc = self.op_loc(statement);
        let types = match def {
            Some(def) if !statement.generic => {
                let parts = OpParts {
                    operands: &operands,
                    attrs: &attrs,
                    regions: &regions,
                    stated: statement.types_span.map(|_| statement.types.as_slice()),
                };
                self.custom_types(statement, def, parts, &spans, loc)?
            }
            _ => self.generic_types(statement, &operands)?,
        };
        let names = self.result_names(statement, types.len())?;
        let new = NewOp {
            operands,
            results: types.into_iter().zip(names).collect(),
            attrs,
            regions,
            successors: self.successors(targets),
            loc: Some(loc),
        };
        let op = self.ir.create(name, new);
        self.ir.spans[op] = Some(Box::new(spans));
        self.note_targets(statement, op);
        Some(op)
    }
    fn count_op(&mut self, span: Span) {
        self.ops += 1;
        let limit = self.options.limits.ops;
        if self.ops > limit {
            let message = format!("more than {limit} operations");
            self.error(&codes::LIMIT_OPS, span, message);
            self.stop.set(true);
        }
    }
    fn spans(&self, statement: &Statement) -> OpSpans {
        let last = statement.operands.last().copied();
        let ends = [
            last,
            statement.types_span,
            statement.dict.last().map(|e| e.span),
        ];
        let ends = ends.into_iter().flatten().map(|s| s.end);
        let items = statement
            .items
            .last()
            .map(|i| i.value.map_or(i.word, |v| v.1).end);
        let end = ends.chain(items).max().unwrap_or(0).max(statement.name.end);
        OpSpans {
            file: self.file,
            whole: Span::new(statement.start(), end),
            name: statement.name,
            operands: SmallVec::from_slice(&statement.operands),
            results: statement.results.iter().map(|r| r.0).collect(),
            clauses: SmallVec::new(),
            types: statement.types_span,
        }
    }
    fn op_loc(&mut self, statement: &Statement) -> LocId {
        match statement.loc {
            Some(loc) => loc,
            None => self.file_place(statement.start()),
        }
    }
    /// The location of a byte of this file.
    pub fn file_place(&mut self, at: u32) -> LocId {
        let (line, column) = self.lines.position(at);
        let file = self.file_name;
        self.ir.loc(LocKind::File { file, line, column })
    }

    // --- types

    fn custom_types(
        &mut self,
        statement: &Statement,
        def: &'static OpDef,
        parts: OpParts<'_>,
        spans: &OpSpans,
        loc: LocId,
    ) -> Option<Types> {
        if self.names.pending > 0 && parts.operands.iter().any(|v| self.is_placeholder(*v)) {
            return self.types_without_inference(statement, def, parts);
        }
        match check::result_types(self.ir, def, parts) {
            Ok(types) => Some(types),
            Err(errors) => {
                for error in errors {
                    let at = error.at;
                    let mut found = check::diagnostic(self.ir, def.name, Some(spans), loc, error);
                    if let crate::def::At::Operand(index) = at {
                        found = self.with_definition(found, parts.operands.get(index).copied());
                    } else if let crate::def::At::Result(_) = at {
                        found = self.with_definition(found, parts.operands.first().copied());
                    }
                    self.report(found);
                }
                None
            }
        }
    }
    /// An operand is not defined yet, so nothing can be inferred or checked; the verifier does that later.
    fn types_without_inference(
        &mut self,
        statement: &Statement,
        def: &'static OpDef,
        parts: OpParts<'_>,
    ) -> Option<Types> {
        if let Some(types) = parts.stated {
            return Some(types.iter().copied().collect());
        }
        if def.results.is_empty() {
            return Some(Types::new());
        }
        for span in &statement.operands {
            let (text, _) = split_number(self.text(*span));
            let id = self.names.id(text);
            if let Some(Bound::Forward(forward)) = self.names.lookup_mut(id).map(|b| &mut b.bound) {
                forward.untyped.push(*span);
                break;
            }
        }
        None
    }
    fn generic_types(&mut self, statement: &Statement, operands: &[Value]) -> Option<Types> {
        if statement.inputs.len() != operands.len() {
            let span = statement.types_span.unwrap_or(statement.name);
            let message = format!(
                "{} operands, but {} operand types",
                operands.len(),
                statement.inputs.len()
            );
            self.error(&codes::OPERAND_TYPES, span, message);
            return None;
        }
        let errors = self.errors;
        for (index, (&value, &ty)) in operands.iter().zip(&statement.inputs).enumerate() {
            self.check_operand_type(value, ty, statement.operands[index]);
        }
        for target in &statement.targets {
            self.check_target_types(&target.values, &target.types);
        }
        (self.errors == errors).then(|| statement.types.iter().copied().collect())
    }
    fn check_target_types(&mut self, values: &[Span], types: &[TypeId]) {
        if values.len() != types.len() {
            if let Some(&span) = values.first() {
                let message = format!("{} values, but {} types", values.len(), types.len());
                self.error(&codes::OPERAND_TYPES, span, message);
            }
            return;
        }
        for (&span, &ty) in values.iter().zip(types) {
            if let Some(value) = self.use_value(span) {
                self.check_operand_type(value, ty, span);
            }
        }
    }
    fn check_operand_type(&mut self, value: Value, ty: TypeId, span: Span) {
        let is = self.ir.value_type(value);
        if is == ty {
            return;
        }
        if self.is_placeholder(value) && self.is_untyped(is) {
            self.ir.set_value_type(value, ty);
            return;
        }
        let (is, written) = (describe::ty(self.ir, is), describe::ty(self.ir, ty));
        let text = self.text(span);
        let message = format!("`{text}` has type `{is}`, but `{written}` is written");
        let found = Diagnostic::error(&codes::OPERAND_TYPES, self.place(span), message);
        let found = self.with_definition(found, Some(value));
        self.report(found);
    }
    /// Adds where `value` is defined and what it is.
    fn with_definition(&self, found: Diagnostic, value: Option<Value>) -> Diagnostic {
        let Some((value, span)) = value.and_then(|v| Some((v, self.definition(v)?))) else {
            return found;
        };
        let ty = describe::ty(self.ir, self.ir.value_type(value));
        found.note(
            self.place(span),
            format!("the operand is defined here, of type `{ty}`"),
        )
    }
    fn definition(&self, value: Value) -> Option<Span> {
        let Def::Result(op, index) = self.ir.value_def(value) else {
            return None;
        };
        let spans = self.ir.spans[op].as_ref()?;
        let results = spans.results.get(index as usize);
        Some(
            results
                .or(spans.results.last())
                .copied()
                .unwrap_or(spans.name),
        )
    }

    // --- successors

    /// Successors point at the current block until the region's end, when all labels are known.
    fn successors(&mut self, targets: Vec<Vec<Value>>) -> Vec<(Block, Vec<Value>)> {
        if targets.is_empty() {
            return Vec::new();
        }
        let block = self.block();
        targets.into_iter().map(|values| (block, values)).collect()
    }
    fn note_targets(&mut self, statement: &Statement, op: Op) {
        if let Some(frame) = self.frames.last_mut() {
            for (index, target) in statement.targets.iter().enumerate() {
                frame.targets.push((op, index, target.block));
            }
        }
    }

    // --- values

    /// The value that a use names; `None` for poison.
    pub fn use_value(&mut self, span: Span) -> Option<Value> {
        let (name, number) = split_number(self.text(span));
        let id = self.names.id(name);
        let blind = self.names.is_blind();
        match self.names.lookup(id).map(|b| &b.bound) {
            Some(&Bound::Values { first, count }) => {
                let index = number.unwrap_or(0);
                if index < count {
                    return Some(self.names.values(first, count)[index as usize]);
                }
                let message = format!("`{name}` has {count} results, counted from 0");
                self.error(&codes::RESULT_NUMBER, span, message);
                None
            }
            Some(Bound::Poison) => None,
            None if blind => None,
            Some(Bound::Forward(_)) | None => Some(self.early_use(id, number, span)),
        }
    }
    fn early_use(&mut self, id: u32, number: Option<u32>, span: Span) -> Value {
        self.check_identifier(span);
        let none = self.ir.type_id(TypeKind::None);
        let new = NewOp {
            results: SmallVec::from_slice(&[(none, None)]),
            ..NewOp::default()
        };
        let op = self.ir.create(self.placeholder, new);
        let placeholder = self.ir.result(op, 0);
        let early = EarlyUse {
            number,
            placeholder,
            span,
        };
        self.names.defer(id, early);
        placeholder
    }
    fn is_placeholder(&self, value: Value) -> bool {
        let op = self.ir.def_op(value);
        op.is_some_and(|op| self.ir.name_id(op) == self.placeholder)
    }
    /// One name hint for each result.
    fn result_names(
        &mut self,
        statement: &Statement,
        count: usize,
    ) -> Option<SmallVec<[Option<Sym>; 2]>> {
        let named: usize = statement.results.iter().map(|r| r.1 as usize).sum();
        if named != count && !statement.results.is_empty() {
            let span = statement.results.first().map_or(statement.name, |r| r.0);
            let op = self.text(statement.name);
            let message = format!("{named} result names, but `{op}` has {count} results");
            self.error(&codes::RESULT_NAMES, span, message);
            return None;
        }
        let mut names = SmallVec::new();
        for &(span, packed) in &statement.results {
            names.push(self.name_hint(span));
            names.extend((1..packed).map(|_| None));
        }
        names.resize(count, None);
        Some(names)
    }
    /// The name to keep; numbers are given anew when printing.
    pub fn name_hint(&mut self, span: Span) -> Option<Sym> {
        let name = self.text(span).strip_prefix('%')?;
        match name.as_bytes().first() {
            Some(b) if !b.is_ascii_digit() => Some(self.ir.sym(name)),
            _ => None,
        }
    }
    fn name_results(&mut self, statement: &Statement, op: Op) {
        let mut from = 0;
        for &(span, count) in &statement.results {
            let to = from + count as usize;
            let values: SmallVec<[Value; 2]> = SmallVec::from_slice(&self.ir.results(op)[from..to]);
            self.define(span, &values);
            from = to;
        }
    }
    /// Binds the name at `span`.
    pub fn define(&mut self, span: Span, values: &[Value]) {
        let id = self.names.id(self.text(span));
        match self.names.define(id, values, span) {
            Rebound::Fresh => {}
            Rebound::Resolved(forward) => self.resolve(*forward, values, span),
            Rebound::Clash(earlier) => {
                let message = format!("`{}` is defined twice", self.text(span));
                let found = Diagnostic::error(&codes::REDEFINITION, self.place(span), message);
                let earlier = self.place(earlier);
                self.report(found.note(earlier, "defined here before"));
            }
        }
    }
    /// Poisons the names of a failed definition.
    pub fn poison_results(&mut self, statement: &Statement) {
        for &(span, _) in &statement.results {
            self.poison(span);
        }
    }
    /// Poisons one name.
    pub fn poison(&mut self, span: Span) {
        let id = self.names.id(self.text(span));
        // What used the name before this place failed in silence, to be told by this definition. Two definitions that
        // wait for each other would both be passed over, and their text lost without an error.
        if let Rebound::Resolved(forward) = self.names.poison(id, span) {
            self.untyped_uses(&forward, span);
        }
    }
    /// Points early uses at their definition.
    fn resolve(&mut self, mut forward: Forward, values: &[Value], definition: Span) {
        for early in std::mem::take(&mut forward.uses) {
            let index = early.number.unwrap_or(0) as usize;
            let Some(&value) = values.get(index) else {
                let message = format!("there are {} results, counted from 0", values.len());
                self.error(&codes::RESULT_NUMBER, early.span, message);
                continue;
            };
            let written = self.ir.value_type(early.placeholder);
            if !self.is_untyped(written) {
                self.check_operand_type(value, written, early.span);
            }
            self.ir.replace_all_uses(early.placeholder, value);
            if let Some(op) = self.ir.def_op(early.placeholder) {
                self.ir.erase(op);
            }
        }
        self.untyped_uses(&forward, definition);
    }
    /// Reports uses before the definition whose type was needed.
    fn untyped_uses(&mut self, forward: &Forward, definition: Span) {
        for &span in &forward.untyped {
            let name = self.text(span);
            let message =
                format!("`{name}` is used before its definition, so its type is not known here");
            let found = Diagnostic::error(&codes::EARLY_USE, self.place(span), message)
                .help("write the result types of this operation: `: T`")
                .note(self.place(definition), "defined here");
            self.report(found);
        }
    }
    /// Reports names that nothing defines, each once.
    pub fn undefined(&mut self, id: u32, forward: &Forward) {
        let Some(first) = forward.uses.first() else {
            return;
        };
        let name = self.names.text(id);
        let message = format!("`{name}` is not defined here");
        let found = Diagnostic::error(&codes::UNDEFINED_VALUE, self.place(first.span), message);
        let near = suggest::nearest(name, self.names.visible(MOST_COMPARED));
        let found = match near {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found,
        };
        let further = forward.uses.len() - 1;
        let found = match forward.uses.get(1) {
            Some(second) => found.note(
                self.place(second.span),
                format!("used here too ({further} further uses)"),
            ),
            None => found,
        };
        self.report(found);
    }
}

/// `%r#1` as `%r` and 1.
fn split_number(text: &str) -> (&str, Option<u32>) {
    match text.split_once('#') {
        Some((name, number)) => (name, Some(number.parse().unwrap_or(u32::MAX))),
        None => (text, None),
    }
}
