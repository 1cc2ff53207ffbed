//! Source locations: where an operation came from, kept through every rewrite.

use crate::intern::Sym;

crate::entities! {
    /// An interned location.
    LocId,
}

/// What a location is; nested ones refer to interned parts, so nothing here is deep.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LocKind {
    /// `loc(unknown)`
    Unknown,
    /// `loc("f.py":3:4)`, one-based.
    File {
        /// File name.
        file: Sym,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// `loc("name")` or `loc("name"(child))`
    Name {
        /// The name.
        name: Sym,
        /// Where the named thing is.
        child: Option<LocId>,
    },
    /// `loc(callsite(callee at caller))`
    CallSite {
        /// Location of the callee.
        callee: LocId,
        /// Location of the caller.
        caller: LocId,
    },
    /// `loc(fused[a, b])`: a rewrite merged several operations.
    Fused(Vec<LocId>),
}
