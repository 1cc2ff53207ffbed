//! Places in source text.

use smallvec::SmallVec;

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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpSpans {
    /// Index of the source file in the source map.
    pub file: u32,
    /// From the first result to the last token (header only for ops with regions).
    pub whole: Span,
    /// The op's name.
    pub name: Span,
    /// Each operand.
    pub operands: SmallVec<[Span; 2]>,
    /// Each result name.
    pub results: SmallVec<[Span; 1]>,
    /// Each clause or attribute: name and place of its value.
    pub clauses: SmallVec<[(crate::intern::Sym, Span); 1]>,
    /// The written types.
    pub types: Option<Span>,
}
