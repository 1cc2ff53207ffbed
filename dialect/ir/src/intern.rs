//! Interning: equal things get equal ids, so types, attributes and strings compare by one integer.
//!
//! Each item is stored once, in an arena in order of first use. The look-up table holds a hash and an id for each item,
//! eight bytes. A program of a million ops with as many locations stays small, and growing moves little data. Ids are a
//! function of the input alone.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::entity::{Entity, PrimaryMap};

/// Slots of the first table.
const LEAST_SLOTS: usize = 16;

/// One slot of a [`Finder`]: the low half of the hash, and the index plus one (0: free).
type Slot = (u32, u32);

/// Finds indices by hash: open addressing, linear probing, at most three quarters full. Nothing is ever removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    slots: Vec<Slot>,
    used: usize,
}

impl Finder {
    /// The index with this hash for which `is` holds.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                (_, 0) => return None,
                (known, next) if known == hash && is(next as usize - 1) => {
                    return Some(next as usize - 1);
                }
                _ => at = (at + 1) & mask,
            }
        }
    }
    /// Adds an index that is not there.
    pub(crate) fn insert(&mut self, hash: u32, index: usize) {
        if self.used * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        self.used += 1;
        self.put((hash, index as u32 + 1));
    }
    fn put(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.0 as usize & mask;
        while self.slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(LEAST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        old.into_iter()
            .filter(|s| s.1 != 0)
            .for_each(|s| self.put(s));
    }
}

/// A hash without a seed: runs repeat.
pub fn hash_of<T: Hash + ?Sized>(item: &T) -> u32 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish() as u32
}

/// An item that an [`Interner`] can keep.
pub trait Item: Clone + Eq + Hash {
    /// The hash of the item; its low bits select the first slot of a lookup. Equal items have equal hashes.
    fn table_hash(&self) -> u32 {
        hash_of(self)
    }
}

/// A table that stores each distinct `T` once.
#[derive(Clone, Debug)]
pub struct Interner<K: Entity, T: Item> {
    items: PrimaryMap<K, T>,
    finder: Finder,
}

impl<K: Entity, T: Item> Default for Interner<K, T> {
    fn default() -> Self {
        Self {
            items: PrimaryMap::default(),
            finder: Finder::default(),
        }
    }
}

impl<K: Entity, T: Item> Interner<K, T> {
    /// The id of `item`, new or old.
    pub fn intern(&mut self, item: T) -> K {
        let hash = item.table_hash();
        if let Some(id) = self.find(hash, &item) {
            return id;
        }
        let id = self.items.push(item);
        self.finder.insert(hash, id.index());
        id
    }
    /// The id of `item` if it was interned before.
    pub fn lookup(&self, item: &T) -> Option<K> {
        self.find(item.table_hash(), item)
    }
    fn find(&self, hash: u32, item: &T) -> Option<K> {
        let is = |index| self.items[K::from_index(index)] == *item;
        self.finder.find(hash, is).map(K::from_index)
    }
    /// The item with number `id`.
    pub fn get(&self, id: K) -> &T {
        &self.items[id]
    }
    /// The number of distinct items.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// True if nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

crate::entities! {
    /// An interned string: a name of a value, symbol, attribute or extent.
    Sym,
}

/// Interned strings, concatenated in one text.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    text: String,
    places: PrimaryMap<Sym, Range<usize>>,
    finder: Finder,
}

impl Strings {
    /// The symbol of `text`, new or old.
    pub fn intern(&mut self, text: &str) -> Sym {
        let hash = hash_of(text);
        if let Some(sym) = self.find(hash, text) {
            return sym;
        }
        let start = self.text.len();
        self.text.push_str(text);
        let sym = self.places.push(start..self.text.len());
        self.finder.insert(hash, sym.index());
        sym
    }
    /// The symbol of `text` if it was interned before.
    pub fn lookup(&self, text: &str) -> Option<Sym> {
        self.find(hash_of(text), text)
    }
    fn find(&self, hash: u32, text: &str) -> Option<Sym> {
        let is = |index| self.get(Sym::from_index(index)) == text;
        self.finder.find(hash, is).map(Sym::from_index)
    }
    /// The text of `sym`.
    pub fn get(&self, sym: Sym) -> &str {
        &self.text[self.places[sym].clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_get_equal_ids_however_many_there_are() {
        let mut strings = Strings::default();
        let all: Vec<String> = (0..10_000).map(|n| format!("name{n}")).collect();
        let ids: Vec<Sym> = all.iter().map(|t| strings.intern(t)).collect();
        for (text, &id) in all.iter().zip(&ids) {
            assert_eq!(strings.intern(text), id);
            assert_eq!(strings.lookup(text), Some(id));
            assert_eq!(strings.get(id), text);
        }
        assert_eq!(strings.lookup("other"), None);
        assert_eq!(ids.last().map(|id| id.index()), Some(9_999));
    }
    #[test]
    fn things_of_one_hash_are_told_apart() {
        let mut finder = Finder::default();
        for index in 0..100 {
            assert_eq!(finder.find(7, |i| i == index), None);
            finder.insert(7, index);
        }
        for index in 0..100 {
            assert_eq!(finder.find(7, |i| i == index), Some(index));
        }
    }
}
