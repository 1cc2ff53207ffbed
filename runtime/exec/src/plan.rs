//! Places temporaries that are never live at the same time into the same memory.
//!
//! Each temporary has a size and the first and last step of its life. The steps are processed in order. A temporary
//! that begins takes the smallest free block that holds it (the lowest of equal ones). A temporary that ends frees its
//! block, which merges with free neighbors. If no block fits, the arena grows, from its free end if it has one. This
//! takes O(n log n) and depends on the input alone. Offsets are multiples of 64 bytes.

use std::collections::{BTreeMap, BTreeSet};

use fuser_artifact::limits::BUFFER_ALIGN;

/// A temporary: its size, and the range of steps in which it is live, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    pub bytes: usize,
    pub first: u32,
    pub last: u32,
}

/// The offset of each temporary in the arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// In the order of the lifetimes.
    pub offsets: Vec<usize>,
    /// The arena's size: the peak of what temporaries take.
    pub bytes: usize,
}

/// Assigns an offset to each lifetime; `None` if the sum of the sizes exceeds the address space.
pub fn place(lifetimes: &[Lifetime]) -> Option<Arena> {
    let sizes: Vec<usize> = lifetimes
        .iter()
        .map(|life| padded(life.bytes))
        .collect::<Option<_>>()?;
    let total = sizes
        .iter()
        .try_fold(0usize, |sum, size| sum.checked_add(*size))?;
    isize::try_from(total).ok()?;
    let mut offsets = vec![0; lifetimes.len()];
    let mut space = Space::default();
    for event in events(lifetimes) {
        let (Some(size), Some(offset)) = (sizes.get(event.index), offsets.get_mut(event.index))
        else {
            continue;
        };
        match event.kind {
            _ if *size == 0 => {}
            EventKind::Begin => *offset = space.take(*size),
            EventKind::End => space.give(*offset, *size),
        }
    }
    let bytes = space.end;
    Some(Arena { offsets, bytes })
}

/// The size rounded up to the alignment.
pub fn padded(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(BUFFER_ALIGN)
}

/// The order of events within a step: beginnings precede ends, since both buffers are live in that step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Begin,
    End,
}

struct Event {
    kind: EventKind,
    index: usize,
}

/// The beginnings and ends of lifetimes, by time. Among simultaneous beginnings, the largest comes first.
fn events(lifetimes: &[Lifetime]) -> Vec<Event> {
    let mut events = Vec::with_capacity(lifetimes.len() * 2);
    for (index, life) in lifetimes.iter().enumerate() {
        let size = std::cmp::Reverse(life.bytes);
        events.push((life.first, EventKind::Begin, size, index));
        events.push((life.last.max(life.first), EventKind::End, size, index));
    }
    events.sort_unstable();
    let event = |(_, kind, _, index)| Event { kind, index };
    events.into_iter().map(event).collect()
}

/// The arena's free blocks, by offset and by size.
#[derive(Default)]
struct Space {
    by_offset: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
}

impl Space {
    fn take(&mut self, size: usize) -> usize {
        let best = self.by_size.range((size, 0)..).next().copied();
        let (block, offset) = best.unwrap_or_else(|| self.grow(size));
        self.remove(offset, block);
        if block > size {
            self.insert(offset + size, block - size);
        }
        offset
    }

    /// Grows the free block at the arena's end, which may be empty, to `size` bytes.
    fn grow(&mut self, size: usize) -> (usize, usize) {
        let last = self
            .by_offset
            .last_key_value()
            .map(|(offset, size)| (*offset, *size));
        let tail = last.filter(|(offset, size)| offset + size == self.end);
        let offset = tail.map_or(self.end, |(offset, _)| offset);
        if let Some((offset, size)) = tail {
            self.remove(offset, size);
        }
        self.end = offset + size;
        self.insert(offset, size);
        (size, offset)
    }

    fn give(&mut self, offset: usize, size: usize) {
        let (mut start, mut end) = (offset, offset + size);
        let before = self.by_offset.range(..offset).next_back();
        if let Some((at, size)) = before.map(|(at, size)| (*at, *size))
            && at + size == start
        {
            self.remove(at, size);
            start = at;
        }
        if let Some(size) = self.by_offset.get(&end).copied() {
            self.remove(end, size);
            end += size;
        }
        self.insert(start, end - start);
    }

    fn insert(&mut self, offset: usize, size: usize) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: usize, size: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_random::SplitMix;

    fn life(bytes: usize, first: u32, last: u32) -> Lifetime {
        Lifetime { bytes, first, last }
    }

    fn live_together(a: &Lifetime, b: &Lifetime) -> bool {
        a.first <= b.last && b.first <= a.last
    }

    /// Asserts that simultaneous lifetimes do not overlap, stay inside the arena and are aligned.
    fn check(lifetimes: &[Lifetime], arena: &Arena) {
        let blocks: Vec<(&Lifetime, usize)> = lifetimes
            .iter()
            .zip(arena.offsets.iter().copied())
            .collect();
        for (i, (a, at)) in blocks.iter().enumerate() {
            assert_eq!(at % BUFFER_ALIGN, 0);
            assert!(at + a.bytes <= arena.bytes);
            for (b, other) in &blocks[i + 1..] {
                let apart = at + a.bytes <= *other || other + b.bytes <= *at;
                assert!(
                    apart || !live_together(a, b),
                    "{a:?} at {at}, {b:?} at {other}"
                );
            }
        }
    }

    /// The maximum number of live bytes in a step, a lower bound for every plan.
    fn lower_bound(lifetimes: &[Lifetime]) -> usize {
        let live = |step: u32| {
            let live = lifetimes
                .iter()
                .filter(|l| l.first <= step && step <= l.last);
            live.map(|l| padded(l.bytes).unwrap()).sum()
        };
        lifetimes.iter().map(|l| live(l.first)).max().unwrap_or(0)
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        let chain: Vec<Lifetime> = (0..10).map(|step| life(1000, step, step + 1)).collect();
        let arena = place(&chain).unwrap();
        check(&chain, &arena);
        assert_eq!(arena.bytes, 2048);
    }

    #[test]
    fn neighbours_that_are_free_grow_together() {
        let lifetimes = [life(64, 0, 0), life(64, 0, 0), life(128, 1, 1)];
        assert_eq!(place(&lifetimes).unwrap().bytes, 128);
        // The free end of the arena grows rather than a new block being put behind it.
        let lifetimes = [life(64, 0, 2), life(64, 0, 0), life(256, 1, 2)];
        let arena = place(&lifetimes).unwrap();
        check(&lifetimes, &arena);
        assert_eq!(arena.bytes, 320);
    }

    #[test]
    fn the_smallest_block_that_fits_is_taken() {
        // Blocks of 256 and 64 are free at step 1: the 64 go to the small one, so that 256 still fit.
        let lifetimes = [
            life(256, 0, 0),
            life(64, 0, 2),
            life(64, 0, 0),
            life(64, 1, 2),
            life(256, 1, 2),
        ];
        let arena = place(&lifetimes).unwrap();
        check(&lifetimes, &arena);
        assert_eq!(arena.bytes, lower_bound(&lifetimes));
    }

    #[test]
    fn empty_and_absurd_sizes() {
        assert_eq!(place(&[]), Some(Arena::default()));
        assert_eq!(place(&[life(0, 0, 5), life(0, 1, 1)]).unwrap().bytes, 0);
        assert_eq!(place(&[life(1, 0, 0)]).unwrap().bytes, 64);
        assert_eq!(place(&[life(usize::MAX, 0, 0)]), None);
        assert_eq!(
            place(&[
                life(isize::MAX as usize - 64, 0, 0),
                life(isize::MAX as usize, 1, 1)
            ]),
            None
        );
    }

    #[test]
    fn random_plans_never_overlap_and_reuse_memory() {
        let mut random = SplitMix(1);
        let mut draw = |bound: u64| random.below(bound as usize) as u64;
        let (mut planned, mut bound) = (0usize, 0usize);
        for case in 0..500 {
            let steps = 1 + draw(40) as u32;
            let lifetimes: Vec<Lifetime> = (0..draw(40))
                .map(|_| {
                    let first = draw(steps.into()) as u32;
                    let last = first + draw(u64::from(steps - first).min(8)) as u32;
                    life(draw(5000) as usize * usize::from(draw(8) > 0), first, last)
                })
                .collect();
            let arena = place(&lifetimes).unwrap();
            check(&lifetimes, &arena);
            assert_eq!(place(&lifetimes), Some(arena.clone()), "case {case}");
            let (least, sum) = (
                lower_bound(&lifetimes),
                lifetimes.iter().map(|l| padded(l.bytes).unwrap()).sum(),
            );
            assert!((least..=sum).contains(&arena.bytes), "case {case}");
            planned += arena.bytes;
            bound += least;
        }
        // 6.9 % above the bound for these seeds; much worse reuse would be noticed.
        assert!(
            planned * 100 <= bound * 110,
            "{planned} of at least {bound}"
        );
    }
}
