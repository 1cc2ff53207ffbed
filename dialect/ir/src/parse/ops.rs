//! Operations: from the parts of a statement to an op in the IR, and the names of its results.

use smallvec::SmallVec;

use super::actions::{Parser, Statement};
use super::custom::Context;
use crate::codes;
use crate::def::{OpDef, OpParts};
use crate::ir::{Block, NewOp, Op, OpName, Region, Value};
use crate::loc::{LocId, LocKind};
use crate::span::{OpSpans, Span};
use crate::suggest;

/// An operation's name and table.
pub type Name = (OpName, Option<&'static OpDef>);
/// Operands, successor arguments not included.
pub type Operands = SmallVec<[Value; 4]>;

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
}
