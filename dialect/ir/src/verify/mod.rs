//! The verifier: the rules that a program must keep to have a meaning. It collects every mistake and never stops at the
//! first.
//!
//! It checks, in this order:
//!
//! 1. **Structure** (`structure.rs`, FIR0220): lists of ops and blocks are linked both ways and end; parents are what
//!    they say; results and arguments know their place; use lists hold exactly the operands that use the value; nothing
//!    erased is in the tree or used by it. A mistake here is a bug of ours; later checks are left out, as they rely on
//!    it.
//! 2. **Names of ops** (FIR0232): an op of a known dialect is in its table. Ops of unknown dialects pass, as do their
//!    regions, attributes and types: nothing is known of them.
//! 3. **Tables** (`check.rs`, FIR0210 to FIR0219): operand count and types; clauses present, of the right kind, none
//!    unknown; number of regions; number and types of results, which are those that inference gives.
//! 4. **Regions** (`regions.rs`): a region has a block, and not several where the table says so (FIR0221); a block ends
//!    in a terminator, the one that the table names (FIR0222, FIR0224), and has none before its end (FIR0223);
//!    successors are blocks of the same region, not the entry, and get what their arguments say (FIR0225); an op with a
//!    signature has block arguments of its types, and as many entries in `arg_attrs` and `res_attrs` (FIR0233).
//! 5. **Nesting** (FIR0231): an op stands where its table allows.
//! 6. **Dominance** (`scope.rs`): an operand is defined before its use, through nested regions (FIR0226), and not
//!    outside of an isolated region (FIR0227). In graph regions order does not count.
//! 7. **Symbols** (FIR0229, FIR0230, FIR0234): an op that declares a symbol has one; within a symbol table each stands
//!    once; a clause that takes a symbol names one of an enclosing table.
//! 8. **Rules of the op** (FIR0215 or the dialect's own codes): the `verify` function of the table, if all checks of
//!    this op passed.
//!
//! It does not check: symbols in other attributes than clauses; discardable attributes; locations; that a program
//! terminates or stays in memory.
//!
//! Never recurses; takes time near linear in the number of ops and operands; changes nothing but the numbering of ops
//! in blocks and interned types.

pub mod codes;
mod regions;
mod scope;
mod structure;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::attr::{AttrId, AttrKind};
use crate::check;
use crate::def::{At, ClauseKind, OpDef, OpError, OpParts, Traits};
use crate::describe;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::entity::Entity;
use crate::intern::Sym;
use crate::ir::{Block, Def, Ir, Op, Region, Value};
use crate::suggest;
use crate::types::TypeId;

use codes::*;
use scope::Scope;

/// Mistakes beyond this number are not counted: a user mends the first ones and verifies again.
pub const MAX_DIAGNOSTICS: usize = 1000;

/// Verifies `root` and everything in it.
pub fn verify(ir: &mut Ir, root: Op) -> Diagnostics {
    let mut diagnostics = structure::check(ir, root);
    if !diagnostics.has_errors() {
        diagnostics = Verifier::new(ir, root).run(root);
    }
    diagnostics
}

/// A pending step of the walk; the innermost is last.
enum Step {
    Op(Op),
    Enter(Region),
    Block(Block),
    Leave(Region),
}

struct Verifier<'a> {
    ir: &'a mut Ir,
    scope: Scope,
    /// The symbols of the enclosing tables, innermost last.
    tables: Vec<(Option<Region>, FxHashMap<Sym, Op>)>,
    diagnostics: Diagnostics,
    /// Ops already found to fit their table, as keys: names, types of operands and results, inherent attributes.
    sound: FxHashSet<Box<[u32]>>,
    /// The key of the current op.
    key: Vec<u32>,
}

impl<'a> Verifier<'a> {
    fn new(ir: &'a mut Ir, root: Op) -> Self {
        let scope = Scope::around(ir, root);
        Self {
            tables: tables_around(ir, root),
            ir,
            scope,
            diagnostics: Diagnostics::default(),
            sound: FxHashSet::default(),
            key: Vec::new(),
        }
    }

    fn run(mut self, root: Op) -> Diagnostics {
        self.op(root);
        let mut stack = Vec::new();
        self.push_regions(root, &mut stack);
        while let Some(step) = stack.pop() {
            if self.diagnostics.items.len() >= MAX_DIAGNOSTICS {
                break;
            }
            match step {
                Step::Enter(region) => self.scope.enter(self.ir, region),
                Step::Leave(region) => self.leave(region),
                Step::Block(block) => {
                    self.ir.renumber(block);
                    stack.extend(self.ir.first_op(block).map(Step::Op));
                }
                Step::Op(op) => {
                    self.scope.advance(self.ir, op);
                    self.op(op);
                    stack.extend(self.ir.next_op(op).map(Step::Op));
                    self.push_regions(op, &mut stack);
                }
            }
        }
        self.diagnostics
    }

    fn push_regions(&self, op: Op, stack: &mut Vec<Step>) {
        for &region in self.ir.op_regions(op).iter().rev() {
            stack.push(Step::Leave(region));
            let blocks: Vec<Block> = self.ir.region_blocks(region).collect();
            stack.extend(blocks.into_iter().rev().map(Step::Block));
            stack.push(Step::Enter(region));
        }
    }

    fn op(&mut self, op: Op) {
        let before = self.diagnostics.items.len();
        let operands: SmallVec<[Value; 4]> = self.ir.operands(op).collect();
        self.operands_in_scope(op, &operands);
        match self.ir.def(op) {
            Some(def) => self.known_op(op, def, &operands),
            None => self.unknown_op(op),
        }
        self.symbols(op);
        let passed = self.diagnostics.items.len() == before;
        if let Some(verify) = self.ir.def(op).and_then(|d| d.verify)
            && passed
        {
            let mut errors = Vec::new();
            verify(self.ir, op, &mut errors);
            self.report_all(op, errors);
        }
    }

    fn known_op(&mut self, op: Op, def: &'static OpDef, operands: &[Value]) {
        self.nesting(op, def);
        let errors = regions::check(self.ir, op, def);
        let sound = errors.is_empty();
        self.report_all(op, errors);
        let errors = self.table(op, def, operands, sound);
        self.report_all(op, errors);
        self.symbol_clauses(op, def);
    }

    /// The table's checks, and inference if the regions that it may read are sound. For an op without regions, the
    /// result holds for every op that is equal except for its operands.
    fn table(
        &mut self,
        op: Op,
        def: &'static OpDef,
        operands: &[Value],
        sound: bool,
    ) -> Vec<OpError> {
        let attrs: SmallVec<[(Sym, AttrId); 4]> = SmallVec::from_slice(self.ir.attrs(op));
        let regions: SmallVec<[Region; 2]> = SmallVec::from_slice(self.ir.op_regions(op));
        let results = self.ir.results(op).iter();
        let types: SmallVec<[TypeId; 2]> = results.map(|v| self.ir.value_type(*v)).collect();
        let parts = OpParts {
            operands,
            attrs: &attrs,
            regions: &regions,
            stated: Some(&types),
        };
        let may_be_known = regions.is_empty();
        if may_be_known && self.is_known(op, parts) {
            return Vec::new();
        }
        let errors = check::against_table(self.ir, def, parts);
        if !errors.is_empty() || !sound {
            return errors;
        }
        let inferred = check::inferred(self.ir, def, parts);
        if may_be_known && inferred.is_ok() {
            self.sound.insert(self.key.as_slice().into());
        }
        inferred.err().unwrap_or_default()
    }
    /// True if a sound op was checked that the table's checks cannot distinguish from this one, which has no regions.
    /// Leaves its key in `self.key`.
    fn is_known(&mut self, op: Op, parts: OpParts<'_>) -> bool {
        let (ir, key) = (&*self.ir, &mut self.key);
        key.clear();
        let mut push = |number: usize| key.push(number as u32);
        push(ir.name_id(op).index());
        push(parts.operands.len());
        for &value in parts.operands {
            push(ir.value_type(value).index());
        }
        let results = parts.stated.unwrap_or_default();
        push(results.len());
        for ty in results {
            push(ty.index());
        }
        for (name, attr) in ir.inherent_attrs(op) {
            push(name.index());
            push(attr.index());
        }
        self.sound.contains(key.as_slice())
    }

    fn unknown_op(&mut self, op: Op) {
        let name = self.ir.name(op).to_owned();
        let dialect = name.split('.').next().unwrap_or("");
        let registry = self.ir.registry.clone();
        if !registry.dialects().iter().any(|d| d.name == dialect) {
            return;
        }
        let error = OpError::new(format!("dialect `{dialect}` has no such op")).code(&UNKNOWN_OP);
        let near = suggest::nearest(&name, registry.ops().map(|o| o.name));
        self.report(
            op,
            match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            },
        );
    }

    fn nesting(&mut self, op: Op, def: &'static OpDef) {
        let Some(parent) = self.ir.parent_op(op) else {
            return;
        };
        let name = self.ir.name(parent);
        if def.parents.is_empty() || def.parents.contains(&name) || self.ir.def(parent).is_none() {
            return;
        }
        let own = self
            .ir
            .def(parent)
            .and_then(|parent| parent.syntax.terminator);
        let last = self
            .ir
            .parent_block(op)
            .and_then(|block| self.ir.last_op(block))
            == Some(op);
        if last && own.is_some() && def.traits.contains(Traits::TERMINATOR) {
            // It was reported that the block ends in another terminator.
            return;
        }
        let allowed = def.parents.join("`, `");
        let text = format!("stands directly in `{name}`, but belongs in `{allowed}`");
        let place = op_place(self.ir, parent);
        let diagnostic = self.diagnostic(op, OpError::new(text).code(&PARENT));
        self.push(diagnostic.note(place, "it is enclosed by this op"));
    }

    fn symbols(&mut self, op: Op) {
        if self.ir.has(op, Traits::SYMBOL) && self.ir.symbol_name(op).is_none() {
            self.report(
                op,
                OpError::new("needs a name, `@name`").code(&SYMBOL_MISSING),
            );
        }
        if !self.ir.has(op, Traits::SYMBOL_TABLE) {
            return;
        }
        let mut first = FxHashMap::default();
        for child in self.ir.children(op) {
            let Some(name) = declared(self.ir, child) else {
                continue;
            };
            if let Some(&other) = first.get(&name) {
                let text = format!("the symbol `@{}` is taken", self.ir.str(name));
                let place = op_place(self.ir, other);
                let diagnostic = self.diagnostic(child, OpError::new(text).code(&SYMBOL_TAKEN));
                self.push(diagnostic.note(place, "it was declared here first"));
            } else {
                first.insert(name, child);
            }
        }
        let region = self.ir.op_regions(op).first().copied();
        self.tables.push((region, first));
    }

    fn leave(&mut self, region: Region) {
        self.scope.leave(self.ir, region);
        if self.tables.last().is_some_and(|(r, _)| *r == Some(region)) {
            self.tables.pop();
        }
    }

    /// Every clause that takes a symbol names one of an enclosing table.
    fn symbol_clauses(&mut self, op: Op, def: &'static OpDef) {
        let clauses = def.clauses.iter().filter(|c| c.kind == ClauseKind::Symbol);
        for clause in clauses {
            let Some(AttrKind::SymbolRef(path)) = self.ir.attr_of(op, clause.name) else {
                continue;
            };
            let known = |name: &Sym| {
                self.tables
                    .iter()
                    .any(|(_, table)| table.contains_key(name))
            };
            let Some(missing) = path.first().filter(|name| !known(name)) else {
                continue;
            };
            let name = self.ir.str(*missing);
            let text = format!("there is no symbol `@{name}`");
            let error = OpError::at(At::Clause(clause.name), text).code(&SYMBOL_UNKNOWN);
            let names = self.tables.iter().rev().flat_map(|(_, table)| table.keys());
            let names = names.map(|s| self.ir.str(*s));
            let error = match suggest::nearest_name(name, names) {
                Some(near) => error.help(format!("did you mean `@{near}`?")),
                None => error,
            };
            self.report(op, error);
        }
    }

    fn operands_in_scope(&mut self, op: Op, operands: &[Value]) {
        for (index, &value) in operands.iter().enumerate() {
            if let Err(fault) = self.scope.sees(self.ir, value) {
                let error = fault.error(self.ir, index, value);
                self.report(op, error);
            }
        }
    }

    fn report_all(&mut self, op: Op, errors: Vec<OpError>) {
        for error in errors {
            self.report(op, error);
        }
    }
    fn report(&mut self, op: Op, error: OpError) {
        let diagnostic = self.diagnostic(op, error);
        self.push(diagnostic);
    }
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.items.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }
    /// The error at its place, with a note at the definition of the operand concerned.
    fn diagnostic(&self, op: Op, error: OpError) -> Diagnostic {
        let ir = &*self.ir;
        let op = match error.at {
            At::Inside(inner) => inner,
            _ => op,
        };
        let operand = match error.at {
            At::Operand(index) if index < ir.operand_count(op) => Some(ir.operand(op, index)),
            _ => None,
        };
        let spans = ir.spans.get(op);
        let diagnostic = check::diagnostic(
            ir,
            ir.name(op),
            spans.as_ref().map(|s| s.view()),
            ir.op_loc(op),
            error,
        );
        match operand {
            Some(value) => {
                let ty = describe::ty(ir, ir.value_type(value));
                let text = format!("{} is defined here, a `{ty}`", value_text(ir, value));
                diagnostic.note(value_place(ir, value), text)
            }
            None => diagnostic,
        }
    }
}

/// The symbol that `op` declares.
fn declared(ir: &Ir, op: Op) -> Option<Sym> {
    let name = ir.attr_of(op, "sym_name").and_then(|a| a.as_string());
    name.filter(|_| ir.has(op, Traits::SYMBOL))
}

/// The symbol tables around `root`, outermost first.
fn tables_around(ir: &Ir, root: Op) -> Vec<(Option<Region>, FxHashMap<Sym, Op>)> {
    let around = std::iter::successors(ir.parent_op(root), |o| ir.parent_op(*o));
    let tables = around.filter(|op| ir.has(*op, Traits::SYMBOL_TABLE));
    let mut tables: Vec<_> = tables
        .map(|op| {
            let children = ir.children(op).into_iter();
            (
                None,
                children
                    .filter_map(|c| Some((declared(ir, c)?, c)))
                    .collect(),
            )
        })
        .collect();
    tables.reverse();
    tables
}

/// The place of an op for diagnostics: the range of its name in the source, or its location.
pub fn op_place(ir: &Ir, op: Op) -> Place {
    match ir.spans.get(op) {
        Some(spans) => Place::Span {
            file: spans.file,
            span: spans.name,
        },
        None => check::loc_place(ir, ir.op_loc(op)),
    }
}

/// The place of a value's definition for diagnostics: its name in the source; for block arguments, the op around the
/// block.
pub fn value_place(ir: &Ir, value: Value) -> Place {
    let (op, index) = match ir.value_def(value) {
        Def::Result(op, index) => (Some(op), index as usize),
        Def::Arg(block, _) => (ir.block_parent_op(block), usize::MAX),
    };
    let Some(op) = op else {
        return Place::Unknown;
    };
    let span = ir
        .spans
        .get(op)
        .and_then(|s| s.results.get(index).map(|r| (s.file, *r)));
    match span {
        Some((file, span)) => Place::Span { file, span },
        None => op_place(ir, op),
    }
}

/// `%name`, or a description of a value without a name.
pub fn value_text(ir: &Ir, value: Value) -> String {
    match (ir.value_name(value), ir.value_def(value)) {
        (Some(name), _) => format!("`%{name}`"),
        (None, Def::Result(_, index)) => format!("result {index}"),
        (None, Def::Arg(_, index)) => format!("block argument {index}"),
    }
}
