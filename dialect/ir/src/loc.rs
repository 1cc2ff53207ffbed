//! Source locations: the origin of an operation, kept through every rewrite.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::entity::{Entity, PrimaryMap};
use crate::intern::{Finder, Item, Sym};

crate::entities! {
    /// An interned location.
    LocId,
}

/// The content of a location. Nested locations are ids of interned ones, so nothing here is deep.
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
        /// The location of the named thing.
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
    Fused(Box<Fused>),
}

/// The merged locations. They are behind a pointer: most locations are places in files, and take two words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Fused {
    /// The locations.
    pub parts: Vec<LocId>,
}

impl Item for LocKind {}

/// All locations of a program.
///
/// Locations in files mostly come in the order of the text. Ascending locations of a file form a run, in which binary
/// search finds a location without a table. Other locations, and places out of order, are found by hash.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    items: PrimaryMap<LocId, LocKind>,
    finder: Finder,
    files: Vec<Ascending>,
    by_file: FxHashMap<Sym, usize>,
    /// The file that was asked for last.
    last: Option<(Sym, usize)>,
}

/// The ascending places of one file.
#[derive(Clone, Debug, Default)]
struct Ascending {
    /// Ranges of locations that follow each other, all ascending.
    runs: Vec<Range<usize>>,
    /// Line and column of the last place.
    last: (u32, u32),
}

impl Locations {
    /// The id of a location, new or old.
    pub fn intern(&mut self, kind: LocKind) -> LocId {
        if let LocKind::File { file, line, column } = kind
            && let Some(id) = self.in_order(file, (line, column))
        {
            return id;
        }
        let hash = kind.table_hash();
        let is = |index| self.items[LocId::from_index(index)] == kind;
        if let Some(index) = self.finder.find(hash, is) {
            return LocId::from_index(index);
        }
        let id = self.items.push(kind);
        self.finder.insert(hash, id.index());
        id
    }
    /// Interns a place after all earlier ones of its file, or finds one of these.
    fn in_order(&mut self, file: Sym, place: (u32, u32)) -> Option<LocId> {
        let index = self.file(file);
        let known = &mut self.files[index];
        if !known.runs.is_empty() && place <= known.last {
            return self.files[index].find(&self.items, place);
        }
        let (line, column) = place;
        let id = self.items.push(LocKind::File { file, line, column });
        let at = id.index();
        known.last = place;
        match known.runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => known.runs.push(at..at + 1),
        }
        Some(id)
    }
    fn file(&mut self, file: Sym) -> usize {
        if let Some((_, index)) = self.last.filter(|last| last.0 == file) {
            return index;
        }
        let index = *self.by_file.entry(file).or_insert(self.files.len());
        if index == self.files.len() {
            self.files.push(Ascending::default());
        }
        self.last = Some((file, index));
        index
    }
    /// The location with number `id`.
    pub fn get(&self, id: LocId) -> &LocKind {
        &self.items[id]
    }
}

impl Ascending {
    fn find(&self, items: &PrimaryMap<LocId, LocKind>, place: (u32, u32)) -> Option<LocId> {
        let at = |index: usize| match items[LocId::from_index(index)] {
            LocKind::File { line, column, .. } => (line, column),
            _ => (0, 0),
        };
        let behind = self.runs.partition_point(|run| at(run.start) <= place);
        let run = self.runs[behind.checked_sub(1)?].clone();
        let (mut low, mut high) = (run.start, run.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match at(middle) <= place {
                true => low = middle,
                false => high = middle,
            }
        }
        (at(low) == place).then(|| LocId::from_index(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intern::Strings;

    #[test]
    fn each_place_has_one_id_in_whatever_order_it_comes() {
        let mut strings = Strings::default();
        let files = ["f.fir", "g.fir", "h.fir"].map(|name| strings.intern(name));
        let mut known = std::collections::BTreeMap::new();
        let mut places = Locations::default();
        let mut next = 7_u64;
        for round in 0..30_000_u64 {
            next = next * 48_271 % 2_147_483_647;
            // Forwards with steps back, in one file or in turns.
            let file = files[(round % 5 % 3) as usize];
            let back = if next.is_multiple_of(3) { next % 40 } else { 0 };
            let (line, column) = (((round / 3).saturating_sub(back)) as u32, (next % 4) as u32);
            let id = places.intern(LocKind::File { file, line, column });
            assert_eq!(*known.entry((file, line, column)).or_insert(id), id);
            assert_eq!(*places.get(id), LocKind::File { file, line, column });
        }
        let ids: std::collections::BTreeSet<LocId> = known.values().copied().collect();
        assert_eq!(ids.len(), known.len());
        for (&(file, line, column), &id) in &known {
            assert_eq!(places.intern(LocKind::File { file, line, column }), id);
        }
        let parts: Vec<LocId> = known.values().take(3).copied().collect();
        let fused = LocKind::Fused(Box::new(Fused { parts }));
        assert_eq!(places.intern(fused.clone()), places.intern(fused));
        assert_eq!(
            places.intern(LocKind::Unknown),
            places.intern(LocKind::Unknown)
        );
    }
    #[test]
    fn a_place_takes_two_words() {
        assert_eq!(size_of::<LocKind>(), 16);
    }
}
