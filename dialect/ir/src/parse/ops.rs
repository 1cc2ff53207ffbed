//! Operations: builds an op in the IR, and the names of its results, from the parts of a statement.

use smallvec::SmallVec;

use super::actions::{KnownName, Parser, Statement};
use super::custom::{ClauseSpans, Context};
use crate::codes;
use crate::def::{Elsewhere, OpDef, OpParts, Registry};
use crate::ir::{Block, NewOp, Op, OpName, Region, Value};
use crate::loc::{LocId, LocKind};
use crate::span::{OpSpans, Span};
use crate::suggest;

/// An operation's name and table.
pub type Name = (OpName, Option<&'static OpDef>);
/// Operands, successor arguments not included.
pub type Operands = SmallVec<[Value; 4]>;

/// The parts of an op that its header states.
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
        let fresh = self.spare.take().unwrap_or_default();
        let mut statement = std::mem::replace(&mut self.statement, fresh);
        let header = self.header(&statement);
        self.suspect(header.name.and_then(|(_, def)| def));
        let made = self.make(&statement, header, SmallVec::new());
        self.note(&statement, made);
        if made.is_none() && statement.signature.is_some() {
            // The body that it lacks follows, and names its parameters.
            self.names.blind();
        }
        statement.clear();
        // A failure while the op was made does not carry over to the next statement.
        let mut spare = std::mem::replace(&mut self.statement, statement);
        spare.failed = false;
        self.spare = Some(spare);
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

    /// Name and operands, looked up at the position of the header.
    pub fn header(&mut self, statement: &Statement) -> Header {
        if statement.failed {
            return Header::default();
        }
        let name = self.lookup_op(statement);
        // All are looked up, so that each unknown name is reported.
        let mut operands = Some(Operands::new());
        for &span in &statement.operands {
            operands = match (operands, self.use_value(span)) {
                (Some(mut list), Some(value)) => {
                    list.push(value);
                    Some(list)
                }
                _ => None,
            };
        }
        let targets = statement.targets.iter();
        let targets: Vec<Option<Vec<Value>>> = targets
            .map(|t| t.values.iter().map(|s| self.use_value(*s)).collect())
            .collect();
        Header {
            name,
            operands,
            targets: targets.into_iter().collect(),
        }
    }
    fn lookup_op(&mut self, statement: &Statement) -> Option<Name> {
        let text = self.text(statement.name);
        let found = match self.op_names.get(text) {
            Some(&found) => found,
            None => {
                let name = self.full_name(statement, text);
                let def = self.ir.name_def(name);
                let known = def.is_some() || self.ir.op_name("builtin.module") == name;
                let found = KnownName { name, def, known };
                self.op_names.insert(text, found);
                found
            }
        };
        if found.known {
            return Some((found.name, found.def));
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
        Some((found.name, None))
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
    /// Reports an operation that no dialect has, with similar names.
    pub fn unknown_op(&mut self, span: Span, text: &str) {
        let registry = self.ir.registry.clone();
        // In a kernel an op of kernels is meant, in a program one of programs.
        let dialect = self.dialect_around();
        let bare = text.rsplit('.').next().unwrap_or(text);
        let names = || registry.ops().map(|op| op.name);
        let here = names().find(|name| name.split_once('.') == Some((dialect, bare)));
        let foreign = here.map(Elsewhere::Op).or_else(|| registry.foreign(text));
        let near = || nearest_op(text, &registry).map(Elsewhere::Op);
        let help = match foreign.or_else(near) {
            Some(Elsewhere::Op(near)) => format!("did you mean `{near}`?"),
            Some(Elsewhere::Composed(others)) => {
                format!("it is written as several operations: {others}")
            }
            Some(Elsewhere::Absent(advice)) => advice.into(),
            None => match registry.dialects().iter().find(|d| d.name == text.split('.').next().unwrap_or("")) {
                Some(_) => "`fuser-opt --show-dialects` lists all operations".into(),
                None if text.contains('.') => format!(
                    "`fuser-opt --show-dialects` lists all operations; one of another dialect is written in generic form, \
                     \"{text}\"(...)"
                ),
                None => "a statement begins with `%name =` or an operation; `fuser-opt --show-dialects` lists all".into(),
            },
        };
        let message = format!("unknown operation `{text}`");
        self.error_with_help(&codes::UNKNOWN_OP, span, message, help);
    }

    /// The dialect of the enclosing operation.
    fn dialect_around(&self) -> &'static str {
        let around = self.frames.last().and_then(|frame| frame.op.as_ref());
        let name = around
            .and_then(|open| open.def())
            .map_or("", |def| def.name);
        name.split_once('.').map_or("", |(dialect, _)| dialect)
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
        let mut clauses = ClauseSpans::new();
        let errors = self.errors;
        let context = Context {
            operands: &operands,
            types: &statement.types,
        };
        let attrs = self.attributes(statement, def, &context, &mut clauses);
        if self.errors > errors {
            return None;
        }
        let named: SmallVec<[Span; 4]> = statement.results.iter().map(|r| r.0).collect();
        let spans = OpSpans {
            file: self.file,
            name: statement.name,
            operands: &statement.operands,
            results: &named,
            clauses: &clauses,
            types: statement.types_span,
        };
        let loc = self.op_loc(statement);
        let types = match def {
            Some(def) if !statement.generic => {
                let parts = OpParts {
                    operands: &operands,
                    attrs: &attrs,
                    regions: &regions,
                    stated: statement.types_span.map(|_| statement.types.as_slice()),
                };
                self.custom_types(statement, def, parts, spans, loc)?
            }
            _ => self.generic_types(statement, &operands)?,
        };
        let results = self.named_results(statement, &types)?;
        let new = NewOp {
            operands,
            results,
            attrs,
            regions,
            successors: self.successors(targets),
            loc: Some(loc),
        };
        let op = self.ir.create(name, new);
        self.ir.spans.insert(op, spans);
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

/// The op with a name like `text`, preferably of the same dialect: otherwise the dialect's name would make all names
/// similar.
fn nearest_op(text: &str, registry: &Registry) -> Option<&'static str> {
    let names = || registry.ops().map(|op| op.name);
    let split = |name: &'static str| name.split_once('.');
    match text.split_once('.') {
        Some((dialect, short)) if names().filter_map(split).any(|(d, _)| d == dialect) => {
            let own = || names().filter(|n| split(n).is_some_and(|(d, _)| d == dialect));
            let near = suggest::nearest(short, own().filter_map(split).map(|(_, short)| short))?;
            own().find(|n| split(n).is_some_and(|(_, short)| short == near))
        }
        _ => suggest::nearest(text, names()),
    }
}
