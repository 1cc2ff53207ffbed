//! Typed index arenas: a `Value` can never be used where an `Op` is wanted.
//!
//! An entity is a `u32` index into the one arena of its type. Arenas only grow: an erased entity keeps its slot, so a
//! stale id is detected ("erased") and never denotes another entity. Dropping an arena is not recursive at any nesting
//! depth.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A `u32` index of one kind of thing.
pub trait Entity: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug {
    /// The entity of arena slot `index`.
    fn from_index(index: usize) -> Self;
    /// The arena slot.
    fn index(self) -> usize;
}

/// Declares entity types.
#[macro_export]
macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);
        impl $crate::entity::Entity for $name {
            fn from_index(index: usize) -> Self {
                // The slot's number from 1, so that an absent entity takes no room of its own. Ids are handed out by
                // `PrimaryMap::push`, and limits stop a program long before `u32::MAX`.
                Self(std::num::NonZeroU32::MIN.saturating_add(index as u32))
            }
            fn index(self) -> usize {
                (self.0.get() - 1) as usize
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let index = $crate::entity::Entity::index(*self);
                write!(f, concat!(stringify!($name), "({})"), index)
            }
        }
    )*};
}

/// The arena that owns the data of all entities `K`.
#[derive(Clone, Debug)]
pub struct PrimaryMap<K: Entity, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Entity, V> Default for PrimaryMap<K, V> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            key: PhantomData,
        }
    }
}

impl<K: Entity, V> PrimaryMap<K, V> {
    /// Adds `value` and returns its entity.
    pub fn push(&mut self, value: V) -> K {
        let id = K::from_index(self.items.len());
        self.items.push(value);
        id
    }
    /// Number of slots, erased ones included.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// True if nothing was ever added.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// The data of `key`, or `None` for an id of another arena.
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key.index())
    }
    /// All entities in order of creation.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + use<K, V> {
        (0..self.items.len()).map(K::from_index)
    }
    /// Makes room for `additional` more.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }
}

impl<K: Entity, V> Index<K> for PrimaryMap<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for PrimaryMap<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

/// Extra data on entities that another arena owns; absent entries read as the default.
#[derive(Clone, Debug)]
pub struct SecondaryMap<K: Entity, V: Clone> {
    items: Vec<V>,
    default: V,
    key: PhantomData<K>,
}

impl<K: Entity, V: Clone + Default> Default for SecondaryMap<K, V> {
    fn default() -> Self {
        Self::with_default(V::default())
    }
}

impl<K: Entity, V: Clone> SecondaryMap<K, V> {
    /// A map in which every entity has `default`.
    pub fn with_default(default: V) -> Self {
        Self {
            items: Vec::new(),
            default,
            key: PhantomData,
        }
    }
    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.items.clear();
    }
    /// Resets one entry; makes no room for it.
    pub fn reset(&mut self, key: K) {
        if let Some(item) = self.items.get_mut(key.index()) {
            *item = self.default.clone();
        }
    }
}

impl<K: Entity, V: Clone> Index<K> for SecondaryMap<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        self.items.get(key.index()).unwrap_or(&self.default)
    }
}

impl<K: Entity, V: Clone> IndexMut<K> for SecondaryMap<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        let index = key.index();
        if index >= self.items.len() {
            self.items.resize(index + 1, self.default.clone());
        }
        &mut self.items[index]
    }
}
