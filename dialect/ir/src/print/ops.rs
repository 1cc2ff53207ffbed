//! Operations, regions and blocks as text.

use std::cell::RefCell;
use std::fmt;

use smallvec::SmallVec;

use super::PrintOptions;
use super::names::{self, Names};
use super::shared::Shared;
use super::text::Writer;
use super::types::is_function;
use crate::attr::{AttrId, AttrKind};
use crate::intern::Sym;
use crate::ir::{Block, Ir, Op, Value};
use crate::types::TypeId;

/// Bytes buffered before they are flushed.
const CHUNK: usize = 1 << 16;

/// The most nested regions that are indented. Deeper regions are not indented further, so that the text of deep
/// programs stays in proportion to them.
const MOST_INDENTED: usize = 64;

/// A region that is being printed.
struct Frame {
    op: Op,
    index: usize,
    block: Option<Block>,
    next: Option<Op>,
    generic: bool,
}

/// Prints one program.
pub struct Printer<'a> {
    pub(super) writer: Writer<'a>,
    sink: &'a mut dyn fmt::Write,
    pub(super) ir: &'a Ir,
    pub(super) options: PrintOptions,
    pub(super) names: Names<'a>,
    frames: Vec<Frame>,
    /// A copy for repeated type inference; absent if all types are printed.
    pub(super) scratch: Option<RefCell<Ir>>,
}

impl<'a> Printer<'a> {
    /// A printer to `sink`.
    pub fn new(ir: &'a Ir, options: PrintOptions, sink: &'a mut dyn fmt::Write) -> Self {
        Self {
            writer: Writer::new(ir, options.elide),
            sink,
            ir,
            options,
            names: Names::new(ir, options.anonymous),
            frames: Vec::new(),
            scratch: None,
        }
    }
    /// Prints `root`, then the aliases and resources that belong to it.
    pub fn program(mut self, root: Op) -> fmt::Result {
        self.writer.shared = Shared::of(self.ir, root, &self.options);
        self.names.outside(root);
        if !self.options.types && !self.options.generic {
            self.scratch = Some(RefCell::new(self.ir.clone()));
        }
        self.op(root);
        while self.step() {
            self.flush_chunk()?;
        }
        self.aliases()?;
        if let Some(AttrKind::Opaque { text }) = self.ir.attr_of(root, crate::RESOURCES) {
            self.text("\n");
            self.text(self.ir.str(*text));
            self.text("\n");
        }
        self.flush()
    }
    /// Flushes the buffer if it is large.
    pub(super) fn flush_chunk(&mut self) -> fmt::Result {
        if self.writer.out.len() > CHUNK {
            self.flush()?;
        }
        Ok(())
    }
    fn flush(&mut self) -> fmt::Result {
        self.sink.write_str(&self.writer.out)?;
        self.writer.out.clear();
        Ok(())
    }
    pub(super) fn text(&mut self, text: &str) {
        self.writer.text(text);
    }

    // --- structure

    /// One op, block or end of a region; `false` when all is done.
    fn step(&mut self) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        if let Some(op) = frame.next {
            frame.next = self.ir.next_op(op);
            let (owner, generic) = (frame.op, frame.generic);
            if generic || !self.is_implied(owner, op) {
                self.indent();
                self.op(op);
            }
        } else if let Some(block) = frame.block.and_then(|b| self.ir.next_block(b)) {
            (frame.block, frame.next) = (Some(block), self.ir.first_op(block));
            self.label(block);
        } else {
            self.end_region();
        }
        true
    }
    fn indent_by(&mut self, depth: usize) {
        for _ in 0..depth.min(MOST_INDENTED) {
            self.text("  ");
        }
    }
    fn indent(&mut self) {
        self.indent_by(self.frames.len());
    }
    fn op(&mut self, op: Op) {
        let nested = !self.ir.op_regions(op).is_empty();
        if nested && names::is_isolated(self.ir, op) {
            self.names.enter(op);
        }
        let generic = self.options.generic || !self.fits_custom_form(op);
        self.results(op);
        match generic {
            true => self.generic_head(op),
            false => self.custom_head(op),
        }
        if !nested {
            return self.tail(op, generic);
        }
        self.text(if generic { " ({\n" } else { " {\n" });
        self.begin_region(op, 0, generic);
    }
    fn begin_region(&mut self, op: Op, index: usize, generic: bool) {
        let region = self.ir.op_regions(op)[index];
        let block = self.ir.entry_block(region);
        self.frames.push(Frame {
            op,
            index,
            block,
            next: block.and_then(|b| self.ir.first_op(b)),
            generic,
        });
        if let Some(entry) = block.filter(|b| self.shows_entry_label(op, index, *b, generic)) {
            self.label(entry);
        }
    }
    fn end_region(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.indent();
        let (op, next) = (frame.op, frame.index + 1);
        if next == self.ir.op_regions(op).len() {
            self.text(if frame.generic { "})" } else { "}" });
            return self.tail(op, frame.generic);
        }
        let region = self.ir.def(op).and_then(|d| d.regions.get(next));
        match region.filter(|r| r.optional && !frame.generic) {
            Some(region) => {
                self.text("} ");
                self.text(region.name);
                self.text(" {\n");
            }
            None => self.text(if frame.generic { "}, {\n" } else { "} {\n" }),
        }
        self.begin_region(op, next, frame.generic);
    }
    /// True if `op` may be omitted from the text because the parser adds it.
    fn is_implied(&self, owner: Op, op: Op) -> bool {
        let terminator = self.ir.def(owner).and_then(|d| d.syntax.terminator);
        let block = self.ir.parent_block(op);
        !self.options.debuginfo
            && terminator == Some(self.ir.name(op))
            && self.ir.next_op(op).is_none()
            && block.is_some_and(|b| self.ir.next_block(b).is_none())
            && self.ir.operand_count(op) == 0
            && self.ir.results(op).is_empty()
            && self.ir.attrs(op).is_empty()
            && self.ir.op_regions(op).is_empty()
            && self.ir.successor_count(op) == 0
    }
    fn shows_entry_label(&self, op: Op, index: usize, entry: Block, generic: bool) -> bool {
        let syntax = self.ir.def(op).map(|d| d.syntax).unwrap_or_default();
        if !generic && index == 0 && syntax.signature {
            return false;
        }
        let empty = self.ir.first_op(entry).is_none();
        let alone = self.ir.next_block(entry).is_none();
        let named = self.ir.block_name(entry).is_some();
        // In generic form `{}` has no block, in custom form it has an empty one.
        named || !self.ir.args(entry).is_empty() || (empty && (generic || !alone))
    }
    fn label(&mut self, block: Block) {
        self.indent_by(self.frames.len().saturating_sub(1));
        self.text("^");
        let name = self.names.block(block).to_owned();
        self.text(&name);
        let args = self.ir.args(block).to_vec();
        if !args.is_empty() {
            self.text("(");
            self.typed_values(&args);
            self.text(")");
        }
        self.text(":\n");
    }
    pub(super) fn typed_values(&mut self, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.value(*value);
            self.text(": ");
            self.writer.ty(self.ir.value_type(*value));
        }
    }
    pub(super) fn value(&mut self, value: Value) {
        self.names.write(&mut self.writer.out, value);
    }
    pub(super) fn values(&mut self, values: impl Iterator<Item = Value>) {
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.value(value);
        }
    }
    fn results(&mut self, op: Op) {
        let results = self.ir.results(op);
        if results.is_empty() {
            return;
        }
        let mut first = 0;
        while first < results.len() {
            let count = names::pack_size(self.ir, op, first, self.options.anonymous);
            if first > 0 {
                self.text(", ");
            }
            self.value(results[first]);
            if count > 1 {
                self.text(":");
                super::text::number(&mut self.writer.out, count as u32);
            }
            first += count;
        }
        self.text(" = ");
    }
    pub(super) fn plain_operands(&self, op: Op) -> SmallVec<[Value; 4]> {
        let count = self.ir.plain_operand_count(op);
        self.ir.operands(op).take(count).collect()
    }
    pub(super) fn successors(&mut self, op: Op) {
        if self.ir.successor_count(op) == 0 {
            return;
        }
        for (index, (block, values)) in self.ir.successors(op).into_iter().enumerate() {
            self.text(if index == 0 { "[^" } else { ", ^" });
            let name = self.names.block(block).to_owned();
            self.text(&name);
            if !values.is_empty() {
                self.text("(");
                self.values(values.iter().copied());
                self.text(" : ");
                let types: Vec<TypeId> = values.iter().map(|v| self.ir.value_type(*v)).collect();
                self.writer.types(&types);
                self.text(")");
            }
        }
        self.text("]");
    }
    /// Everything after the regions.
    fn tail(&mut self, op: Op, generic: bool) {
        let results: SmallVec<[TypeId; 4]> = self
            .ir
            .results(op)
            .iter()
            .map(|v| self.ir.value_type(*v))
            .collect();
        if generic {
            self.dict(op, |_| true);
            self.text(" : (");
            let operands = self.plain_operands(op);
            let operands: SmallVec<[TypeId; 4]> =
                operands.iter().map(|v| self.ir.value_type(*v)).collect();
            self.writer.types(&operands);
            self.text(") -> ");
            self.function_results(&results);
        } else if self.writes_types(op) {
            self.text(" : ");
            self.writer.types(&results);
        }
        if self.options.debuginfo {
            self.text(" ");
            self.location(self.ir.op_loc(op));
        }
        self.text("\n");
    }
    fn function_results(&mut self, types: &[TypeId]) {
        match types {
            [ty] if !is_function(self.ir, *ty) => self.writer.ty(*ty),
            _ => {
                self.text("(");
                self.writer.types(types);
                self.text(")");
            }
        }
    }
    /// Writes ` {k = v}`, the attributes whose names satisfy `wanted`.
    pub(super) fn dict(&mut self, op: Op, wanted: impl Fn(&str) -> bool) {
        let ir = self.ir;
        let entries: SmallVec<[(Sym, AttrId); 4]> = ir
            .attrs(op)
            .iter()
            .filter(|(key, _)| ir.str(*key) != crate::RESOURCES && wanted(ir.str(*key)))
            .copied()
            .collect();
        if entries.is_empty() {
            return;
        }
        let alone = entries.len() == 1;
        for (index, (key, value)) in entries.into_iter().enumerate() {
            self.text(if index == 0 { " {" } else { ", " });
            self.writer.key(key);
            // `{a.b}` alone would look like a region with the operation `a.b`.
            let dotted = alone && ir.str(key).contains('.');
            if *ir.attr_kind(value) != AttrKind::Unit || dotted {
                self.text(" = ");
                self.writer.attr(value);
            }
        }
        self.text("}");
    }

    // --- generic form

    fn generic_head(&mut self, op: Op) {
        let ir = self.ir;
        super::quote(&mut self.writer.out, ir.name(op));
        self.text("(");
        let operands = self.plain_operands(op);
        self.values(operands.into_iter());
        self.text(")");
        self.successors(op);
    }
}
