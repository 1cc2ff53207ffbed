//! Interning: equal things get equal ids, so types, attributes and strings compare by one integer.
//!
//! Ids are handed out in order of first use, so they are a function of the input alone.

use rustc_hash::FxHashMap;
use std::hash::Hash;

use crate::entity::{Entity, PrimaryMap};

/// A table in which each distinct `T` stands once.
#[derive(Clone, Debug)]
pub struct Interner<K: Entity, T: Clone + Eq + Hash> {
    items: PrimaryMap<K, T>,
    ids: FxHashMap<T, K>,
}

impl<K: Entity, T: Clone + Eq + Hash> Default for Interner<K, T> {
    fn default() -> Self {
        Self {
            items: PrimaryMap::default(),
            ids: FxHashMap::default(),
        }
    }
}

impl<K: Entity, T: Clone + Eq + Hash> Interner<K, T> {
    /// The id of `item`, new or old.
    pub fn intern(&mut self, item: T) -> K {
        if let Some(&id) = self.ids.get(&item) {
            return id;
        }
        let id = self.items.push(item.clone());
        self.ids.insert(item, id);
        id
    }
    /// The id of `item` if it was interned before.
    pub fn lookup(&self, item: &T) -> Option<K> {
        self.ids.get(item).copied()
    }
    /// What `id` stands for.
    pub fn get(&self, id: K) -> &T {
        &self.items[id]
    }
    /// How many distinct items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// Whether nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

crate::entities! {
    /// An interned string: a name of a value, symbol, attribute or extent.
    Sym,
}

/// Interned strings.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    items: PrimaryMap<Sym, Box<str>>,
    ids: FxHashMap<Box<str>, Sym>,
}

impl Strings {
    /// The symbol of `text`, new or old.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.ids.get(text) {
            return sym;
        }
        let sym = self.items.push(text.into());
        self.ids.insert(text.into(), sym);
        sym
    }
    /// The symbol of `text` if it was interned before.
    pub fn lookup(&self, text: &str) -> Option<Sym> {
        self.ids.get(text).copied()
    }
    /// The text of `sym`.
    pub fn get(&self, sym: Sym) -> &str {
        &self.items[sym]
    }
}
