//! Places in source text.
//!
//! [`SpanTable`] keeps where the parts of each parsed op stand: a fixed record for each op and, behind each other in one list,
//! the spans of its operands and results. Nothing is allocated for an op alone.

use crate::entity::SecondaryMap;
use crate::intern::Sym;
use crate::ir::Op;

/// A half-open range of bytes of one source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start, other.end.max(self.end))
    }
}

/// Where the parts of one operation stand in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpSpans<'a> {
    /// Index of the source file in the source map.
    pub file: u32,
    /// The op's name.
    pub name: Span,
    /// Each operand.
    pub operands: &'a [Span],
    /// Each result name.
    pub results: &'a [Span],
    /// Each clause or attribute: name and place of its value.
    pub clauses: &'a [(Sym, Span)],
    /// The written types.
    pub types: Option<Span>,
}

/// The record of one op.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Whether there is one.
    known: bool,
    typed: bool,
    file: u32,
    name: Span,
    types: Span,
    /// Operands, then results.
    parts: u32,
    operands: u32,
    results: u32,
    first_clause: u32,
    clauses: u32,
}

/// Where parsed ops stand; ops made by passes have no entry.
#[derive(Clone, Debug, Default)]
pub struct SpanTable {
    records: SecondaryMap<Op, Record>,
    parts: Vec<Span>,
    clauses: Vec<(Sym, Span)>,
}

impl SpanTable {
    /// Where `op` stands.
    pub fn get(&self, op: Op) -> Option<OpSpans<'_>> {
        let record = self.records[op];
        let (parts, clauses) = (record.parts as usize, record.first_clause as usize);
        let results = parts + record.operands as usize;
        record.known.then(|| OpSpans {
            file: record.file,
            name: record.name,
            operands: &self.parts[parts..results],
            results: &self.parts[results..results + record.results as usize],
            clauses: &self.clauses[clauses..clauses + record.clauses as usize],
            types: record.typed.then_some(record.types),
        })
    }
    /// Notes where `op` stands.
    pub fn insert(&mut self, op: Op, spans: OpSpans<'_>) {
        self.records[op] = Record {
            known: true,
            typed: spans.types.is_some(),
            file: spans.file,
            name: spans.name,
            types: spans.types.unwrap_or_default(),
            parts: self.parts.len() as u32,
            operands: spans.operands.len() as u32,
            results: spans.results.len() as u32,
            first_clause: self.clauses.len() as u32,
            clauses: spans.clauses.len() as u32,
        };
        self.parts.extend_from_slice(spans.operands);
        self.parts.extend_from_slice(spans.results);
        self.clauses.extend_from_slice(spans.clauses);
    }
    /// Notes that `copy` came from where `op` stands.
    pub fn share(&mut self, op: Op, copy: Op) {
        if self.records[op].known {
            self.records[copy] = self.records[op];
        }
    }
    /// Forgets where `op` stands.
    pub fn forget(&mut self, op: Op) {
        self.records.reset(op);
    }
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
