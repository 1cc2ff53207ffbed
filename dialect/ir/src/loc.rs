//! Source locations: where an operation came from, kept through every rewrite.

use crate::intern::{Item, Sym, hash_of};

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

/// Lines and columns of one neighbourhood, as powers of two.
const NEAR_LINES: u32 = 4;
const NEAR_COLUMNS: u32 = 6;

impl Item for LocKind {
    /// Places of one neighbourhood stand together in the table: they are asked for one after the other, and a table of all
    /// places of a large file is in no cache.
    fn table_hash(&self) -> u32 {
        let LocKind::File { file, line, column } = self else {
            return hash_of(self);
        };
        let near = hash_of(&(file, line >> NEAR_LINES, column >> NEAR_COLUMNS));
        let line = line & ((1 << NEAR_LINES) - 1);
        let inside = line << 1 | column & 1;
        // The top bits only tell places apart.
        near << (NEAR_LINES + 1) ^ inside ^ column << (u32::BITS - NEAR_COLUMNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intern::{Interner, Strings};

    #[test]
    fn places_of_neighbouring_lines_stand_together_and_apart() {
        let mut strings = Strings::default();
        let file = strings.intern("f.fir");
        let place = |line, column| LocKind::File { file, line, column };
        let slot = |line| place(line, 5).table_hash() & 0xF_FFFF;
        assert!((16..31).all(|line| slot(line).abs_diff(slot(line + 1)) == 2));
        assert!(slot(31).abs_diff(slot(32)) > 32);
        let mut places: Interner<LocId, LocKind> = Interner::default();
        let all = |line: u32| (0..70).map(move |column| (line, column));
        let ids: Vec<LocId> = (0..50)
            .flat_map(all)
            .map(|(l, c)| places.intern(place(l, c)))
            .collect();
        assert_eq!(places.len(), 3_500);
        let again = (0..50)
            .flat_map(all)
            .map(|(l, c)| places.lookup(&place(l, c)));
        assert!(again.eq(ids.into_iter().map(Some)));
    }
}
