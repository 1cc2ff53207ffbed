//! Memory of the simulated device: allocations at addresses of their own, and for each byte who used it last.
//!
//! A race is two uses of a byte by different threads, one of them a write, with nothing that orders them: within a block the barriers do,
//! between the blocks of a launch a counter that both count at ([`Released`]), and nothing else. Each byte remembers its last write and its last reads, by thread and by *stamp*: a
//! counter that moves on with each block and with each barrier. Blocks run one after the other, so that a stamp says which block it was.
//!
//! Memory that nobody wrote is all ones, which is NaN in every type of floats. So are the bytes behind an allocation up to the next multiple of
//! [`WIDEST`]: LLVM widens aligned loads over them, which no hardware minds, and uses nothing of what it reads there.

use std::collections::BTreeMap;

use crate::finding::Other;

/// The stamps of the present.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epoch {
    /// The first of the launch; of the cluster for memory that is the block's own.
    pub launch: u64,
    /// The first of the block.
    pub block: u64,
    /// Since the last barrier.
    pub now: u64,
}

/// The stamps of uses that counting at an address has ordered before whatever counts there next: of each block those before its last
/// barrier.
#[derive(Clone, Debug, Default)]
pub struct Released {
    /// Ranges that do not meet, each its first stamp with its last.
    ranges: BTreeMap<u64, u64>,
}

impl Released {
    /// Adds what a block did before its last barrier.
    pub fn release(&mut self, epoch: &Epoch) {
        if epoch.now > epoch.block {
            self.ranges.insert(epoch.block, epoch.now - 1);
        }
    }
    /// Adds what was released elsewhere, where a block may have been later or earlier.
    pub fn extend(&mut self, other: &Released) {
        for (&first, &last) in &other.ranges {
            let known = self.ranges.entry(first).or_insert(last);
            *known = last.max(*known);
        }
    }
    /// True if uses with that stamp were released.
    pub fn holds(&self, stamp: u64) -> bool {
        let range = self.ranges.range(..=stamp).next_back();
        range.is_some_and(|(_, last)| stamp <= *last)
    }
}

/// The sets of stamps at which blocks of a launch read a byte, each a number, 0 the empty one: most bytes have one of few.
#[derive(Debug, Default)]
pub struct Readers {
    /// Of each set the stamp that it has besides those of another one.
    sets: Vec<(u32, u64)>,
    known: BTreeMap<(u32, u64), u32>,
}

impl Readers {
    /// The set that has one more stamp.
    fn with(&mut self, set: u32, stamp: u64) -> u32 {
        let last = self.sets.last() == Some(&(set, stamp));
        let next = self.sets.len() as u32 + 1;
        if last {
            return next - 1;
        }
        let number = *self.known.entry((set, stamp)).or_insert(next);
        if number == next {
            self.sets.push((set, stamp));
        }
        number
    }
    /// True if all stamps of a set are ordered before the present.
    fn all(&self, mut set: u32, ordered: &dyn Fn(u64) -> bool) -> bool {
        while let Some(&(rest, stamp)) = set.checked_sub(1).and_then(|n| self.sets.get(n as usize))
        {
            if !ordered(stamp) {
                return false;
            }
            set = rest;
        }
        true
    }
}

/// The bits below the stamp of a [`Use`].
const STAMP: u32 = 16;
/// Threads of a [`Use`]; the greatest stands for several.
const THREAD: u64 = 0x7FF;

/// The last uses of a byte, each a stamp above a thread; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Use {
    write: u64,
    read: u64,
    /// The last reads of blocks of the launch before the one that read last, as one of [`Readers`].
    readers: u32,
}

/// A reason against a use of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clash {
    /// A race with another thread.
    Race(Other),
    /// A read of a byte that no thread of the block wrote.
    Unwritten,
}

/// The other thread of an access that is not ordered before the current one.
fn other(
    stamped: u64,
    thread: u32,
    epoch: &Epoch,
    wrote: bool,
    ordered: &dyn Fn(u64) -> bool,
) -> Option<Other> {
    let stamp = stamped >> STAMP;
    let is_other_block = (epoch.launch..epoch.block).contains(&stamp) && !ordered(stamp);
    let who = stamped & THREAD;
    let races = is_other_block || (stamp == epoch.now && who != u64::from(thread));
    races.then_some(Other {
        thread: (!is_other_block && who != THREAD).then_some(who as u32),
        block: is_other_block,
        wrote,
    })
}

impl Use {
    fn read(
        &mut self,
        thread: u32,
        epoch: &Epoch,
        readers: &mut Readers,
        ordered: &dyn Fn(u64) -> bool,
    ) -> Option<Other> {
        let (stamp, who) = (self.read >> STAMP, self.read & THREAD);
        if stamp < epoch.launch {
            self.readers = 0;
        } else if stamp < epoch.block {
            self.readers = readers.with(self.readers, stamp);
        }
        let who = match stamp == epoch.now && who != u64::from(thread) {
            true => THREAD,
            false => u64::from(thread),
        };
        self.read = epoch.now << STAMP | who;
        other(self.write, thread, epoch, true, ordered)
    }
    fn write(
        &mut self,
        thread: u32,
        epoch: &Epoch,
        readers: &Readers,
        ordered: &dyn Fn(u64) -> bool,
    ) -> Option<Other> {
        let found = other(self.write, thread, epoch, true, ordered);
        let found = found.or_else(|| other(self.read, thread, epoch, false, ordered));
        let of_launch = self.read >> STAMP >= epoch.launch;
        let earlier = of_launch && !readers.all(self.readers, ordered);
        self.write = epoch.now << STAMP | u64::from(thread);
        found.or(earlier.then_some(Other {
            thread: None,
            block: true,
            wrote: false,
        }))
    }
}

/// Bytes whose uses are kept together, once one of them is used.
const PAGE: usize = 1 << 10;

/// The accesses to the bytes of a page. Adjacent bytes that were always accessed together form one *piece*, so that a
/// vector access is a single entry.
struct Page {
    /// The logarithm of the bytes of a piece; all bytes of a piece have the same accesses.
    piece: u32,
    uses: Vec<Use>,
}

impl Page {
    /// A page that nobody used.
    fn new(piece: u32) -> Page {
        Page {
            piece,
            uses: vec![Use::default(); PAGE >> piece],
        }
    }
    /// Makes pieces no larger than that.
    fn cut(&mut self, piece: u32) {
        if piece < self.piece {
            let parts = 1 << (self.piece - piece);
            let uses = self.uses.iter();
            self.uses = uses
                .flat_map(|used| std::iter::repeat_n(*used, parts))
                .collect();
            self.piece = piece;
        }
    }
}

/// The uses of all bytes of an allocation.
#[derive(Default)]
pub struct Uses {
    pages: Vec<Option<Page>>,
}

impl Uses {
    /// Notes an access of `size` bytes at `start`; the first byte that clashes, with the reason. `own` memory is the block's: there a byte
    /// must be written before it is read. `ordered` tells of a stamp of another block whether its uses come before.
    #[allow(clippy::too_many_arguments)]
    pub fn note(
        &mut self,
        start: usize,
        size: usize,
        writes: bool,
        own: bool,
        thread: u32,
        epoch: &Epoch,
        readers: &mut Readers,
        ordered: &dyn Fn(u64) -> bool,
    ) -> Option<(usize, Clash)> {
        let (mut found, end) = (None, start + size);
        let mut at = start;
        while at < end {
            let (page, first) = (at / PAGE, at % PAGE);
            let last = PAGE.min(first + end - at);
            if self.pages.len() <= page {
                self.pages.resize_with(page + 1, || None);
            }
            let whole = (first | last).trailing_zeros().min(WIDEST.ilog2());
            let page = self.pages[page].get_or_insert_with(|| Page::new(whole));
            page.cut(whole);
            for used in &mut page.uses[first >> page.piece..last >> page.piece] {
                let clash = match writes {
                    true => used.write(thread, epoch, readers, ordered).map(Clash::Race),
                    false if own && used.write >> STAMP < epoch.launch => Some(Clash::Unwritten),
                    false => used.read(thread, epoch, readers, ordered).map(Clash::Race),
                };
                found = found.or(clash.map(|clash| (at, clash)));
                at += 1 << page.piece;
            }
        }
        found
    }
}

/// An allocation.
pub struct Allocation {
    /// The address of its first byte.
    pub start: u64,
    /// The number of its bytes.
    pub size: usize,
    /// Its bytes, and those behind it that loads may read.
    pub bytes: Vec<u8>,
    /// Their uses.
    pub uses: Uses,
}

/// The device's memory: allocations in the order of their addresses, which are never reused.
pub struct Global {
    allocations: Vec<Allocation>,
    /// The allocation that was found last, by its index.
    last: usize,
    next: u64,
    /// Bytes that are allocated.
    pub used: u64,
}

/// The first address, the alignment of allocations, and the unallocated gap between two of them in bytes.
const FIRST: u64 = 1 << 40;
const ALIGNMENT: u64 = 256;
const GAP: u64 = 1 << 16;
/// Bytes of the widest access.
pub const WIDEST: usize = 16;

impl Default for Global {
    fn default() -> Self {
        Self {
            allocations: Vec::new(),
            last: 0,
            next: FIRST,
            used: 0,
        }
    }
}

impl Global {
    /// The memory of the device of that number; no two devices have an address in common.
    pub fn of_device(ordinal: u32) -> Global {
        Global {
            next: FIRST * (1 + u64::from(ordinal)),
            ..Global::default()
        }
    }
    /// Allocates; none where the host has no memory for it.
    pub fn allocate(&mut self, size: usize) -> Option<u64> {
        let mut bytes = Vec::new();
        let readable = size.checked_next_multiple_of(WIDEST)?;
        bytes.try_reserve_exact(readable).ok()?;
        bytes.resize(readable, 0xFF);
        let start = self.next;
        self.next = (start + size as u64 + GAP).next_multiple_of(ALIGNMENT);
        self.used += size as u64;
        self.allocations.push(Allocation {
            start,
            size,
            bytes,
            uses: Uses::default(),
        });
        Some(start)
    }
    /// Frees the allocation that begins there, if there is one.
    pub fn free(&mut self, start: u64) -> Option<()> {
        let mut all = self.allocations.iter();
        let at = all.position(|allocation| allocation.start == start)?;
        let freed = self.allocations.remove(at);
        self.used -= freed.size as u64;
        self.last = 0;
        Some(())
    }
    /// The allocation that holds all these bytes, and the first one's place in it; `loads` may go on to the next multiple of [`WIDEST`].
    pub fn find(
        &mut self,
        address: u64,
        size: usize,
        loads: bool,
    ) -> Option<(&mut Allocation, usize)> {
        let holds = |allocation: &Allocation| {
            let offset = address.checked_sub(allocation.start)?;
            let offset = usize::try_from(offset).ok()?;
            let end = offset.checked_add(size)?;
            let limit = match loads {
                true => allocation.bytes.len(),
                false => allocation.size,
            };
            (end <= limit).then_some(offset)
        };
        let last = self.allocations.get(self.last).and_then(holds);
        let offset = match last {
            Some(offset) => offset,
            None => {
                let after = self.allocations.partition_point(|a| a.start <= address);
                self.last = after.checked_sub(1)?;
                self.allocations.get(self.last).and_then(holds)?
            }
        };
        let allocation = self.allocations.get_mut(self.last)?;
        Some((allocation, offset))
    }
    /// The bytes of a range that one allocation holds.
    pub fn slice(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let (allocation, offset) = self.find(address, size, false)?;
        allocation.bytes.get_mut(offset..offset + size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses of one byte: stamp, first stamp of the block, thread, true for a write; the last one clashes or not.
    fn clashes(accesses: &[(u64, u64, u32, bool)]) -> bool {
        clashes_but(accesses, |_| false)
    }

    /// The same where stamps are ordered before all that comes later.
    fn clashes_but(accesses: &[(u64, u64, u32, bool)], ordered: impl Fn(u64) -> bool) -> bool {
        let (mut uses, mut readers) = (Uses::default(), Readers::default());
        let mut last = None;
        for (now, block, thread, writes) in accesses {
            let epoch = Epoch {
                launch: 10,
                block: *block,
                now: *now,
            };
            last = uses.note(
                5,
                1,
                *writes,
                false,
                *thread,
                &epoch,
                &mut readers,
                &ordered,
            );
        }
        last.is_some()
    }

    /// A block that counts at two addresses has released more at the later one, whichever is looked at first.
    #[test]
    fn what_was_released_stays_released() {
        let at = |now| {
            let (launch, block) = (10, 12);
            let mut released = Released::default();
            released.release(&Epoch { launch, block, now });
            released
        };
        let [earlier, later] = [14, 17].map(at);
        for (mut one, other) in [(earlier.clone(), &later), (later.clone(), &earlier)] {
            one.extend(other);
            assert!(one.holds(16) && !one.holds(17) && !one.holds(11));
        }
    }

    /// A thread that reads an element of another thread's vector without a barrier races at the element's first byte.
    /// Elements that nobody else accesses still belong to the writer.
    #[test]
    fn vectors_are_used_by_their_bytes() {
        let (mut uses, mut readers) = (Uses::default(), Readers::default());
        let epoch = Epoch {
            launch: 10,
            block: 10,
            now: 10,
        };
        let mut note = |start, size, writes, thread| {
            let noted = uses.note(
                start,
                size,
                writes,
                false,
                thread,
                &epoch,
                &mut readers,
                &|_| false,
            );
            noted.map(|(at, _)| at)
        };
        assert_eq!(note(1008, 32, true, 0), None);
        assert_eq!(note(1030, 2, false, 1), Some(1030));
        assert_eq!(note(1016, 8, true, 0), None);
        assert_eq!(note(1024, 16, true, 0), Some(1030));
        assert_eq!(note(1000, 16, false, 1), Some(1008));
        assert_eq!(note(1007, 1, true, 0), Some(1007));
        assert_eq!(note(1006, 1, true, 0), Some(1006));
        assert_eq!(note(999, 1, true, 0), None);
    }

    #[test]
    fn races_are_uses_that_nothing_orders() {
        let (read, write) = (false, true);
        assert!(clashes(&[(10, 10, 0, write), (10, 10, 1, read)]));
        assert!(clashes(&[(10, 10, 0, read), (10, 10, 1, write)]));
        assert!(clashes(&[(10, 10, 0, write), (10, 10, 1, write)]));
        // Several readers, the last of them the writer.
        assert!(clashes(&[
            (10, 10, 0, read),
            (10, 10, 1, read),
            (10, 10, 1, write)
        ]));
        // The same thread, two readers, a barrier, another launch.
        assert!(!clashes(&[
            (10, 10, 0, write),
            (10, 10, 0, read),
            (10, 10, 0, write)
        ]));
        assert!(!clashes(&[(10, 10, 0, read), (10, 10, 1, read)]));
        assert!(!clashes(&[(10, 10, 0, write), (11, 10, 1, read)]));
        assert!(!clashes(&[(10, 10, 0, read), (11, 10, 1, write)]));
        assert!(!clashes(&[(9, 9, 0, write), (10, 10, 1, read)]));
        // Another block is not ordered by any barrier, even where a thread of this one read in between.
        assert!(clashes(&[(10, 10, 0, write), (12, 11, 0, read)]));
        assert!(clashes(&[(10, 10, 0, read), (12, 11, 0, write)]));
        assert!(clashes(&[
            (10, 10, 0, read),
            (11, 11, 0, read),
            (12, 11, 0, write)
        ]));
        assert!(!clashes(&[(10, 10, 0, read), (12, 11, 0, read)]));
    }

    #[test]
    fn a_write_follows_the_reads_of_all_blocks() {
        // Blocks that begin at 10, 12 and 14 read the byte; the last one writes to it behind a count.
        let reads = [(10, 10, 0, false), (12, 12, 1, false), (14, 14, 2, false)];
        let all = [&reads[..], &[(15, 14, 0, true)]].concat();
        assert!(!clashes_but(&all, |stamp| [10, 12].contains(&stamp)));
        assert!(clashes_but(&all, |stamp| stamp == 10));
        assert!(clashes_but(&all, |stamp| stamp == 12));
        // Not what blocks of an earlier launch read.
        let earlier = [(8, 8, 0, false), (9, 9, 0, false), (10, 10, 0, true)];
        assert!(!clashes(&earlier));
    }

    #[test]
    fn allocations_are_apart_and_bounded() {
        let mut memory = Global::default();
        let (a, b) = (memory.allocate(10).unwrap(), memory.allocate(0).unwrap());
        assert!(a % ALIGNMENT == 0 && b >= a + 10 + GAP);
        assert!(
            memory
                .slice(a + 2, 8)
                .is_some_and(|bytes| bytes == [0xFF; 8])
        );
        assert!(memory.slice(a + 3, 8).is_none() && memory.slice(a - 1, 1).is_none());
        assert!(memory.slice(b, 1).is_none() && memory.slice(u64::MAX, 8).is_none());
        assert_eq!(
            (memory.free(a), memory.free(a), memory.used),
            (Some(()), None, 0)
        );
        assert!(memory.slice(a, 1).is_none());
        let c = memory.allocate(10).unwrap();
        assert!(memory.find(c + 8, 8, true).is_some() && memory.find(c + 8, 8, false).is_none());
        assert!(memory.find(c + 9, 8, true).is_none());
        assert!(memory.allocate(usize::MAX).is_none());
    }
}
