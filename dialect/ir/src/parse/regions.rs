//! Regions and blocks: the actions at `{`, at `}`, at a label, and after a statement that does not parse.
//!
//! Open regions are a stack on the heap. An operation with regions is built after its last region is closed, so that
//! its types can be inferred from the contents of the regions.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::actions::{Parser, Statement};
use super::ops::Header;
use crate::attr::AttrKind;
use crate::codes;
use crate::def::{OpDef, Traits};
use crate::diag::Diagnostic;
use crate::ir::{Block, NewOp, Op, Region};
use crate::loc::LocId;
use crate::span::Span;
use crate::suggest;
use crate::types::TypeId;

/// Regions around that are looked at for one to which an operation belongs: people forget a few `}`.
const MOST_AROUND: usize = 64;

/// An operation whose regions are being read.
#[derive(Clone, Debug, Default)]
pub struct OpenOp {
    /// The statement, as far as it has been read.
    pub(super) statement: Box<Statement>,
    header: Header,
    regions: SmallVec<[Region; 1]>,
}

impl OpenOp {
    /// The table of the operation, if its name is known.
    pub(super) fn def(&self) -> Option<&'static OpDef> {
        self.header.name.and_then(|(_, def)| def)
    }
}

/// A region that is being read.
#[derive(Debug)]
pub struct Frame<'i> {
    /// The operation; none for the file.
    pub op: Option<Box<OpenOp>>,
    region: Region,
    block: Option<Block>,
    labels: FxHashMap<&'i str, (Block, Span)>,
    /// Successors whose labels are looked up at the region's end.
    pub targets: Vec<(Op, usize, Span)>,
    /// True if the last statement could not be made.
    pub last_failed: bool,
    /// Its `{`.
    brace: Span,
    /// True if the block that is read has its terminator.
    ended: bool,
}

impl<'i> Parser<'i> {
    fn push_frame(&mut self, op: Option<Box<OpenOp>>, brace: Span) {
        let region = self.ir.new_region();
        self.frames.push(Frame {
            op,
            region,
            block: None,
            labels: FxHashMap::default(),
            targets: Vec::new(),
            last_failed: false,
            brace,
            ended: false,
        });
    }
    /// The file itself is a region.
    pub fn enter_file(&mut self) {
        self.names.enter(true);
        self.push_frame(None, Span::default());
    }
    /// The block that the next operation goes to.
    pub fn block(&mut self) -> Block {
        let frame = self.frames.last_mut();
        match frame {
            Some(frame) => match frame.block {
                Some(block) => block,
                None => {
                    let block = self.ir.append_block(frame.region);
                    frame.block = Some(block);
                    block
                }
            },
            // The file's frame is there from start to end; a block of its own harms nothing.
            None => {
                let region = self.ir.new_region();
                self.ir.append_block(region)
            }
        }
    }

    // --- opening

    /// `{` after the header of an operation.
    pub fn open_region(&mut self, brace: Span) {
        let statement = std::mem::take(&mut self.statement);
        let header = self.header(&statement);
        self.suspect(header.name.and_then(|(_, def)| def));
        let open = OpenOp {
            statement,
            header,
            regions: SmallVec::new(),
        };
        self.start_region(Box::new(open), brace);
    }
    /// Checks if an op of this table shows that a `}` before it is missing. It may come after the terminator of its
    /// block, or be in a region where it is not allowed while an enclosing open region allows it. If a region is never
    /// closed, the first suspect is reported.
    pub(super) fn suspect(&mut self, def: Option<&'static OpDef>) {
        if self.unclosed.is_some() {
            return;
        }
        let Some((frame, around)) = self.frames.split_last_mut() else {
            return;
        };
        let belongs =
            |frame: &Frame<'_>| def.is_some_and(|def| def.parents.contains(&name_of(frame)));
        let misplaced = def.is_some_and(|def| !def.parents.is_empty()) && !belongs(frame);
        let outside = || around.iter().rev().take(MOST_AROUND).any(belongs);
        if frame.op.is_some() && (frame.ended || (misplaced && outside())) {
            self.unclosed = Some(frame.brace);
        }
        frame.ended |= def.is_some_and(|def| def.traits.contains(Traits::TERMINATOR));
    }
    pub(super) fn start_region(&mut self, open: Box<OpenOp>, brace: Span) {
        let isolated = self.is_isolated(&open);
        self.names.enter(isolated);
        let first = open.regions.is_empty();
        self.push_frame(Some(open), brace);
        if first {
            self.bind_parameters();
        }
        // The text that follows is a statement of its own.
        self.statement.failed = false;
    }
    fn is_isolated(&self, open: &OpenOp) -> bool {
        match open.header.name {
            Some((_, Some(def))) => def.traits.contains(Traits::ISOLATED),
            Some((name, None)) => {
                let module = self.op_names.get("module");
                module.is_some_and(|known| known.name == name)
            }
            None => false,
        }
    }
    fn bind_parameters(&mut self) {
        let frame = self.frames.last_mut();
        let Some(open) = frame.and_then(|f| f.op.as_mut()) else {
            return;
        };
        if open.statement.signature.is_none() {
            return;
        }
        let parameters = open.statement.parameters.clone();
        let failed = open.statement.failed;
        for parameter in parameters {
            self.argument(parameter.name, parameter.ty, failed);
        }
        self.block();
    }
    /// In a failed statement, an argument without a type had its type reported: its users are not reported.
    fn argument(&mut self, name: Span, ty: TypeId, failed: bool) {
        let block = self.block();
        let hint = self.name_hint(name);
        let value = self.ir.append_arg(block, ty, hint);
        match failed && self.is_untyped(ty) {
            true => self.poison(name),
            false => self.define(name, &[value]),
        }
    }

    // --- blocks

    /// `^bb0` at the start of a block.
    pub fn label(&mut self, span: Span) {
        self.check_identifier(span);
        let text = self.text(span);
        let hint = label_hint(text).map(|name| self.ir.sym(name));
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let block = self.ir.append_block(frame.region);
        frame.block = Some(block);
        frame.ended = false;
        self.ir.set_block_name(block, hint);
        if let Some((_, earlier)) = frame.labels.insert(text, (block, span)) {
            let message = format!("block `{text}` is defined twice");
            let found = Diagnostic::error(&codes::BLOCK_REDEFINITION, self.place(span), message);
            let earlier = self.place(earlier);
            self.report(found.note(earlier, "defined here before"));
        }
        self.statement.failed = false;
    }
    /// `%x: T` in a label.
    pub fn block_arg(&mut self, name: Span, ty: TypeId, _loc: Option<LocId>) {
        let failed = self.statement.failed;
        self.argument(name, ty, failed);
        let block = self.block();
        self.check_count(self.ir.args(block).len(), "block arguments", name);
    }

    // --- closing

    /// `}` and `{` of the next region, with the word between them.
    pub fn next_region(&mut self, close: Span, word: Option<Span>, brace: Span) {
        let Some(mut open) = self.end_region(close) else {
            return;
        };
        self.check_region_word(&open, close, word);
        open.statement.failed |= std::mem::take(&mut self.statement.failed);
        self.statement.clear();
        self.start_region(open, brace);
    }
    fn check_region_word(&mut self, open: &OpenOp, close: Span, word: Option<Span>) {
        let Some(def) = open.def().filter(|_| !open.statement.generic) else {
            return;
        };
        let region = def.regions.get(open.regions.len());
        let name = region.map_or("", |r| r.name);
        let optional = region.is_some_and(|r| r.optional);
        match word {
            Some(span) if self.text(span) != name => {
                let message = match region {
                    Some(_) => format!("expected `{name}`, found `{}`", self.text(span)),
                    None => format!("`{}` has no further region", def.name),
                };
                self.error(&codes::REGION_ORDER, span, message);
            }
            None if optional => {
                let message = format!("expected `{name}` before this region");
                self.error(&codes::REGION_ORDER, close, message);
            }
            _ => {}
        }
    }
    /// The rest of an operation after its last `}`.
    pub fn close_op(&mut self, close: Span) {
        let Some(mut open) = self.end_region(close) else {
            return;
        };
        let tail = std::mem::take(&mut self.statement);
        let whole = &mut open.statement;
        if whole.generic != tail.generic && !whole.failed && !tail.failed {
            let message = match whole.generic {
                true => "expected `)` and `: (types) -> types` after the regions",
                false => "the custom form states result types only: `: type, type`",
            };
            self.error(&codes::UNEXPECTED, close, message);
        }
        whole.failed |= tail.failed || self.statement.failed;
        whole.dict.extend(tail.dict);
        (whole.inputs, whole.types) = (tail.inputs, tail.types);
        (whole.types_span, whole.loc) = (tail.types_span, tail.loc);
        self.statement.clear();
        let made = self.make(&open.statement, open.header, open.regions);
        self.note(&open.statement, made);
        self.statement.clear();
    }
    /// Leaves the innermost region and adds it to its operation.
    pub(super) fn end_region(&mut self, close: Span) -> Option<Box<OpenOp>> {
        // Mistakes in the region do not make the statement after it fail.
        let failed = std::mem::take(&mut self.statement.failed);
        if self.frames.len() > 1 {
            self.implicit_terminator(close);
        }
        self.undefined_names();
        self.names.leave();
        let mut frame = self.frames.pop()?;
        self.resolve_targets(&frame);
        let Some(mut open) = frame.op.take() else {
            self.frames.push(frame);
            return None;
        };
        // A terminator that could not be made leaves the operation's types unknown.
        open.statement.failed |= frame.last_failed;
        open.regions.push(frame.region);
        self.statement.failed = failed;
        Some(open)
    }
    fn undefined_names(&mut self) {
        for (id, forward) in self.names.undefined() {
            self.undefined(id, &forward);
        }
    }
    /// Adds an omitted terminator, and the block that `{}` implies.
    fn implicit_terminator(&mut self, close: Span) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let Some(open) = frame.op.as_ref().filter(|o| !o.statement.generic) else {
            return;
        };
        let (def, failed) = (open.def(), frame.last_failed || open.statement.failed);
        let block = self.block();
        let Some(name) = def.and_then(|d| d.syntax.terminator).filter(|_| !failed) else {
            return;
        };
        if self.ir.terminator(block).is_none() {
            let loc = Some(self.file_place(close.start));
            let name = self.ir.op_name(name);
            let op = self.ir.create(
                name,
                NewOp {
                    loc,
                    ..NewOp::default()
                },
            );
            self.ir.append_op(block, op);
        }
    }
    fn resolve_targets(&mut self, frame: &Frame<'i>) {
        for &(op, index, span) in &frame.targets {
            let name = self.text(span);
            match frame.labels.get(name) {
                Some((block, _)) => self.ir.set_successor(op, index, *block),
                None => self.undefined_block(span, frame),
            }
        }
    }
    fn undefined_block(&mut self, span: Span, frame: &Frame<'i>) {
        let name = self.text(span);
        let message = format!("block `{name}` is not defined in this region");
        match suggest::nearest_name(name, frame.labels.keys().copied()) {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                self.error_with_help(&codes::UNDEFINED_BLOCK, span, message, help);
            }
            None => self.error(&codes::UNDEFINED_BLOCK, span, message),
        }
    }

    /// The end of the file: returns its only module, or a new module around everything.
    pub fn leave_file(&mut self) -> Option<Op> {
        self.statement.clear();
        while self.frames.len() > 1 {
            self.end_region(Span::default())?;
        }
        let block = self.block();
        self.undefined_names();
        let frame = self.frames.pop()?;
        self.resolve_targets(&frame);
        let first = self.ir.first_op(block);
        let alone = first.filter(|op| self.ir.last_op(block) == Some(*op));
        let single = self.ir.region_blocks(frame.region).count() == 1;
        let module = alone.filter(|op| single && self.ir.name(*op) == "builtin.module");
        let module = match module {
            Some(op) => {
                self.ir.detach(op);
                op
            }
            None => self.implicit_module(frame.region),
        };
        if let Some(text) = self.resources {
            let attr = self.ir.attr(AttrKind::Opaque { text });
            self.ir.set_attr(module, crate::RESOURCES, attr);
        }
        Some(module)
    }
    fn implicit_module(&mut self, region: Region) -> Op {
        let name = self.ir.op_name("builtin.module");
        let loc = Some(self.file_place(0));
        let regions = SmallVec::from_slice(&[region]);
        self.ir.create(
            name,
            NewOp {
                regions,
                loc,
                ..NewOp::default()
            },
        )
    }
}

/// The name of the operation whose region a frame is, if it has a table; the file is a module.
fn name_of(frame: &Frame<'_>) -> &'static str {
    let open = frame.op.as_ref();
    open.map_or("builtin.module", |open| {
        open.def().map_or("", |def| def.name)
    })
}

/// The hint of a block's name: `^bb0` and numbers are not kept, since printing assigns them.
fn label_hint(text: &str) -> Option<&str> {
    let name = text.strip_prefix('^')?;
    let number = name.strip_prefix("bb").unwrap_or(name);
    let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (!numbered).then_some(name)
}
