//! Short lists of many owners, stored consecutively in one arena.
//!
//! A list is three numbers in its owner. Its items are in the [`Lists`] of their kind, after those of the owner created
//! before. So a list takes only the memory of its items, an empty one takes none, and no list is a separate allocation.
//! A list that outgrows its capacity moves to the end with twice the capacity, so pushing items one by one takes linear
//! time and memory. An unreferenced list keeps its memory, as an erased op does.

/// The range of a list in its [`Lists`], with its capacity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct List {
    start: u32,
    length: u32,
    room: u32,
}

impl List {
    /// The number of items.
    pub fn len(self) -> usize {
        self.length as usize
    }
    /// Forgets the items and keeps the room.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

/// All lists of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// The items of a list.
    pub fn get(&self, list: List) -> &[T] {
        let start = list.start as usize;
        &self.items[start..start + list.len()]
    }
    /// The items, to change them.
    pub fn get_mut(&mut self, list: List) -> &mut [T] {
        let start = list.start as usize;
        &mut self.items[start..start + list.len()]
    }
    /// A list of `items`.
    pub fn make(&mut self, items: &[T]) -> List {
        let length = items.len() as u32;
        let start = self.items.len() as u32;
        self.items.extend_from_slice(items);
        List {
            start,
            length,
            room: length,
        }
    }
    /// Adds an item at the end.
    pub fn push(&mut self, list: &mut List, item: T) {
        let end = list.start as usize + list.len();
        if list.length < list.room {
            self.items[end] = item;
        } else {
            if end != self.items.len() {
                self.move_to_end(list, item);
            } else {
                self.items.push(item);
                list.room += 1;
            }
        }
        list.length += 1;
    }
    /// Moves a list to the end, with capacity for one more item and as many again; fills new slots with `item`.
    fn move_to_end(&mut self, list: &mut List, item: T) {
        let from = list.start as usize..list.start as usize + list.len();
        let start = self.items.len();
        self.items.extend_from_within(from);
        list.start = start as u32;
        // A first item mostly stays the only one.
        list.room = (list.length * 2).max(1);
        self.items.resize(start + list.room as usize, item);
    }
    /// Adds an item at `at`.
    pub fn insert(&mut self, list: &mut List, at: usize, item: T) {
        self.push(list, item);
        self.get_mut(*list)[at..].rotate_right(1);
    }
    /// Removes item `at`; the later ones move up.
    pub fn remove(&mut self, list: &mut List, at: usize) {
        self.get_mut(*list)[at..].rotate_left(1);
        list.length -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_vectors_hold() {
        let mut lists = Lists::default();
        let mut own: Vec<(List, Vec<u32>)> = Vec::new();
        let mut next = 7_u32;
        for round in 0..20_000 {
            next = (u64::from(next) * 48_271 % 2_147_483_647) as u32;
            if own.len() < 50 {
                let items = vec![round; next as usize % 4];
                own.push((lists.make(&items), items));
            }
            let pick = next as usize / 11 % own.len();
            let (list, items) = &mut own[pick];
            let at = next as usize / 7 % (items.len() + 1);
            match next % 5 {
                0 | 1 => {
                    lists.push(list, round);
                    items.push(round);
                }
                2 => {
                    lists.insert(list, at, round);
                    items.insert(at, round);
                }
                3 if at < items.len() => {
                    lists.remove(list, at);
                    items.remove(at);
                }
                4 if round % 40 == 0 => {
                    list.clear();
                    items.clear();
                }
                _ => {}
            }
            assert!(own.iter().all(|(list, items)| lists.get(*list) == items));
        }
    }
    #[test]
    fn lists_that_grow_in_turns_take_linear_room() {
        let mut lists = Lists::default();
        let mut both = [List::default(); 2];
        for item in 0..10_000 {
            for list in &mut both {
                lists.push(list, item);
            }
        }
        assert!(both.iter().all(|list| lists.get(*list).len() == 10_000));
        assert!(lists.items.len() < 2 * 4 * 10_000, "{}", lists.items.len());
    }
}
