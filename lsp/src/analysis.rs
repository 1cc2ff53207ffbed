//! All information about one version of a document.
//!
//! A document is split at lines `// -----`, as by `--split-input-file`; each part is parsed and verified separately.
//! Diagnostics are computed at once, other information on demand. A version is analyzed as a whole, because parsing
//! costs less than finding the part to parse (docs/editors.md has the times).

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use fuser::driver::split;
use fuser::tool::load::Reader;
use fuser_ir::def::Registry;
use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Ir, Op, Place, Value};

use crate::index::{Index, Statement};
use crate::text::Text;

/// The line between parts of a document.
pub const SEPARATOR: &str = "// -----";

/// One version of a document.
pub struct Analysis {
    /// The text.
    pub text: Arc<Text>,
    /// The name in locations.
    pub name: String,
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a document.
pub struct Part {
    /// Its bytes in the document.
    pub range: Range<usize>,
    /// The ops that could be parsed.
    pub ir: Ir,
    /// The module, if the part is without mistakes.
    pub module: Option<Op>,
    /// The mistakes, with places in the part.
    pub found: Vec<Diagnostic>,
    registry: Arc<Registry>,
    text: Arc<Text>,
    index: OnceCell<Index>,
    ops: OnceCell<Vec<(u32, Op)>>,
}

impl Analysis {
    /// Parses and verifies `text`.
    pub fn new(registry: &Arc<Registry>, text: Arc<Text>, name: &str) -> Self {
        let reader = Reader::new(registry.clone());
        let chunks = split::split(text.as_str(), Some(SEPARATOR));
        let part = |(number, chunk): (usize, &split::Chunk<'_>)| {
            let line = chunk.lines_before as u32 + 1;
            let (mut ir, module, mut found) = reader.parse(number as u32, name, line, chunk.text);
            let module = module.filter(|_| !found.iter().any(Diagnostic::is_error));
            if let Some(module) = module {
                found.extend(fuser_ir::verify(&mut ir, module).items);
            }
            Part {
                range: chunk.bytes_before..chunk.bytes_before + chunk.text.len(),
                ir,
                module: module.filter(|_| !found.iter().any(Diagnostic::is_error)),
                found,
                registry: registry.clone(),
                text: text.clone(),
                index: OnceCell::new(),
                ops: OnceCell::new(),
            }
        };
        Self {
            name: name.to_owned(),
            parts: chunks.iter().enumerate().map(part).collect(),
            text,
        }
    }
    /// The part that contains a byte; for a separator, the part before it.
    pub fn part_at(&self, byte: usize) -> &Part {
        let behind = self.parts.partition_point(|p| p.range.start <= byte);
        &self.parts[behind.saturating_sub(1)]
    }
    /// The bytes of a place; `None` where it is not in this document.
    pub fn bytes(&self, place: &Place) -> Option<Range<usize>> {
        match place {
            Place::Span { file, span } => {
                let part = self.parts.get(*file as usize)?;
                Some(part.bytes(*span))
            }
            Place::Line { file, line, column } if *file == self.name => {
                let line = self.text.line((*line as usize).checked_sub(1)?);
                let text = self.text.part(line.clone());
                let before = text.chars().take((*column as usize).saturating_sub(1));
                let start = line.start + before.map(char::len_utf8).sum::<usize>();
                Some(start..line.end)
            }
            _ => None,
        }
    }
}

impl Part {
    /// The text.
    pub fn source(&self) -> &str {
        self.text.part(self.range.clone())
    }
    /// The tables of ops.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
    /// The range of bytes in the document for a span in the part.
    pub fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.range.start;
        start + span.start as usize..start + span.end as usize
    }
    /// The position in the part for a byte of the document.
    pub fn local(&self, byte: usize) -> u32 {
        byte.clamp(self.range.start, self.range.end)
            .saturating_sub(self.range.start) as u32
    }
    /// The names.
    pub fn index(&self) -> &Index {
        self.index
            .get_or_init(|| Index::new(self.source(), &self.registry))
    }
    /// The ops of the text, by the positions of their names.
    fn ops(&self) -> &[(u32, Op)] {
        self.ops.get_or_init(|| {
            let all = (0..self.ir.op_slots()).map(fuser_ir::entity::Entity::from_index);
            let place = |op: Op| Some((self.ir.spans.get(op)?.name.start, op));
            let mut ops: Vec<(u32, Op)> = all
                .filter(|op| !self.ir.is_erased(*op))
                .filter_map(place)
                .collect();
            ops.sort_unstable_by_key(|(start, _)| *start);
            ops.dedup_by_key(|(start, _)| *start);
            ops
        })
    }
    /// The op of a statement, if it could be made.
    pub fn op(&self, statement: &Statement) -> Option<Op> {
        let token = self.index().tokens.get(statement.name?)?;
        let ops = self.ops();
        let at = ops.binary_search_by_key(&token.start, |(start, _)| *start);
        at.ok().map(|at| ops[at].1)
    }
    /// The value of a definition, if its op could be made.
    pub fn value(&self, definition: usize) -> Option<Value> {
        let index = self.index();
        let definition_ = &index.definitions[definition];
        let statement = &index.statements[definition_.statement];
        let op = self.op(statement)?;
        if let Some(result) = definition_.result {
            return self.ir.results(op).get(result).copied();
        }
        let number = statement.parameters.iter().position(|p| *p == definition)?;
        let entry = self.ir.entry_block(*self.ir.op_regions(op).first()?)?;
        self.ir.args(entry).get(number).copied()
    }
}
