//! Places in source text.
//!
//! [`SpanTable`] stores the source ranges of the parts of each parsed op, as differences in one list of bytes: about 20
//! for an op of two operands. No op has an allocation of its own.

use crate::entity::{Entity, SecondaryMap};
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

/// Source ranges of the parts of one operation.
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

/// Source ranges of the parts of one operation, read from a [`SpanTable`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KnownSpans {
    /// Index of the source file in the source map.
    pub file: u32,
    /// The op's name.
    pub name: Span,
    /// Each operand.
    pub operands: Vec<Span>,
    /// Each result name.
    pub results: Vec<Span>,
    /// Each clause or attribute: name and place of its value.
    pub clauses: Vec<(Sym, Span)>,
    /// The written types.
    pub types: Option<Span>,
}

impl KnownSpans {
    /// The same, borrowed.
    pub fn view(&self) -> OpSpans<'_> {
        OpSpans {
            file: self.file,
            name: self.name,
            operands: &self.operands,
            results: &self.results,
            clauses: &self.clauses,
            types: self.types,
        }
    }
}

/// Source ranges of parsed ops; ops made by passes have no entry.
///
/// Only diagnostics read the ranges of an op, so they are stored compactly, as differences from its name in
/// variable-length numbers: the file, the offset of the name, its length, the numbers of operands, results and clauses,
/// then the spans in this order, the types last.
#[derive(Clone, Debug, Default)]
pub struct SpanTable {
    /// Offset in `bytes` of each op's ranges.
    starts: SecondaryMap<Op, Option<Start>>,
    bytes: Vec<u8>,
}

crate::entities! {
    /// A byte of the table.
    Start,
}

/// If the numbers of operands, results and clauses are all below this, they share one byte.
const FEW: u32 = 5;
/// Replaces that byte if the numbers follow one by one.
const MANY: u32 = FEW * FEW * FEW;

/// Bit of the first number, set if types are written.
const TYPED: u32 = 1;

impl SpanTable {
    /// The source ranges of `op`.
    pub fn get(&self, op: Op) -> Option<KnownSpans> {
        let mut reader = Reader {
            bytes: &self.bytes,
            at: self.starts[op]?.index(),
            last: 0,
        };
        let head = reader.number();
        let start = reader.number();
        let name = Span::new(start, start.wrapping_add(reader.number()));
        reader.last = name.end;
        let counts = reader.number();
        let [operands, results, clauses] = match counts {
            MANY => [(); 3].map(|()| reader.number()),
            _ => [counts % FEW, counts / FEW % FEW, counts / FEW / FEW],
        };
        Some(KnownSpans {
            file: head >> 1,
            name,
            operands: (0..operands).map(|_| reader.span()).collect(),
            results: (0..results).map(|_| reader.span()).collect(),
            clauses: (0..clauses).map(|_| reader.clause()).collect(),
            types: (head & TYPED != 0).then(|| reader.span()),
        })
    }
    /// Stores the source ranges of `op`.
    pub fn insert(&mut self, op: Op, spans: OpSpans<'_>) {
        let start = self.bytes.len();
        if start >= u32::MAX as usize {
            // Texts have an eighth of this at most.
            return;
        }
        self.starts[op] = Some(Start::from_index(start));
        // An op of a few parts fits into this.
        self.bytes.reserve(64);
        let mut writer = Writer {
            bytes: &mut self.bytes,
            last: spans.name.end,
        };
        let typed = u32::from(spans.types.is_some());
        writer.number(spans.file << 1 | typed);
        writer.number(spans.name.start);
        writer.number(spans.name.end.wrapping_sub(spans.name.start));
        let counts = [
            spans.operands.len(),
            spans.results.len(),
            spans.clauses.len(),
        ];
        let [operands, results, clauses] = counts.map(|count| count as u32);
        if operands.max(results).max(clauses) < FEW {
            writer.number(operands + (results + clauses * FEW) * FEW);
        } else {
            writer.number(MANY);
            counts.iter().for_each(|count| writer.number(*count as u32));
        }
        spans.operands.iter().for_each(|s| writer.span(*s));
        spans.results.iter().for_each(|s| writer.span(*s));
        for (name, span) in spans.clauses {
            writer.number(name.index() as u32);
            writer.span(*span);
        }
        spans.types.iter().for_each(|s| writer.span(*s));
    }
    /// Gives `copy` the source ranges of `op`.
    pub fn share(&mut self, op: Op, copy: Op) {
        if let Some(start) = self.starts[op] {
            self.starts[copy] = Some(start);
        }
    }
    /// Drops the source ranges of `op`.
    pub fn forget(&mut self, op: Op) {
        self.starts.reset(op);
    }
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Bits of a number in one byte; the next bit is set if more bytes follow.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

/// Writes numbers, and spans as differences.
struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    /// The end of the span written last.
    last: u32,
}

impl Writer<'_> {
    fn number(&mut self, mut number: u32) {
        while number >= u32::from(MORE) {
            self.bytes.push(number as u8 | MORE);
            number >>= BITS;
        }
        self.bytes.push(number as u8);
    }
    /// Writes the signed distance from the last range's end to the beginning, with the sign in the lowest bit, and the
    /// length.
    fn span(&mut self, span: Span) {
        let far = span.start.wrapping_sub(self.last) as i32;
        self.number((far << 1 ^ far >> (i32::BITS - 1)) as u32);
        self.number(span.end.wrapping_sub(span.start));
        self.last = span.end;
    }
}

/// Reads the output of a [`Writer`].
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    last: u32,
}

impl Reader<'_> {
    fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes.get(self.at).copied().unwrap_or(0);
            self.at += 1;
            number |= u32::from(byte & (MORE - 1)).unbounded_shl(shift);
            shift += BITS;
            if byte < MORE {
                return number;
            }
        }
    }
    fn span(&mut self) -> Span {
        let far = self.number();
        let far = (far >> 1) ^ (far & 1).wrapping_neg();
        let start = self.last.wrapping_add(far);
        self.last = start.wrapping_add(self.number());
        Span::new(start, self.last)
    }
    fn clause(&mut self) -> (Sym, Span) {
        let name = Sym::from_index(self.number() as usize);
        (name, self.span())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_as_they_were_given() {
        let mut table = SpanTable::default();
        let span = |start: u32, length: u32| Span::new(start, start.wrapping_add(length));
        let far = [
            span(0, 0),
            span(7, 300),
            span(u32::MAX - 5, 5),
            span(3, 1),
            span(1 << 31, 1 << 20),
            span(128, 127),
        ];
        let clauses = [
            (Sym::from_index(0), far[2]),
            (Sym::from_index(70_000), far[4]),
        ];
        let mut given = Vec::new();
        for (index, &name) in far.iter().enumerate() {
            given.push(OpSpans {
                file: index as u32 * 1_000,
                name,
                operands: &far[index..],
                results: &far[..index],
                clauses: &clauses[..index % 3],
                types: far.get(index + 1).copied(),
            });
        }
        for (index, spans) in given.iter().enumerate() {
            table.insert(Op::from_index(index * 3), *spans);
        }
        table.share(Op::from_index(3), Op::from_index(100));
        for (index, spans) in given.iter().enumerate() {
            let found = table.get(Op::from_index(index * 3)).unwrap();
            assert_eq!(found.view(), *spans);
        }
        assert_eq!(table.get(Op::from_index(1)), None);
        assert_eq!(table.get(Op::from_index(100)).unwrap().view(), given[1]);
        table.forget(Op::from_index(3));
        assert_eq!(table.get(Op::from_index(3)), None);
        assert_eq!(table.get(Op::from_index(100)).unwrap().view(), given[1]);
    }
}
