//! The threads that share a kernel, and what they touched since they last waited for each other.
//!
//! The interpreter runs loops in order. Beside that it notes who would run what on a GPU: iteration `n` of a loop that `T` threads share is
//! that of thread `n % T`; outside of such loops all of them load, and the first one stores; a group loop gives each iteration to a group of
//! them. Every barrier begins another *epoch*: `kernel.barrier`, the one that a loop over more than a warp holds when it reduces or
//! scans, and that of `kernel.last`.
//!
//! | two accesses to an element, one of which writes | have an order |
//! |---|---|
//! | of one iteration of the grid | by one thread, or in two epochs |
//! | to a global buffer, of two iterations | in the body of a `kernel.last` that counted the other one, in a later epoch than that of the access |
//! | to a tile, of two iterations | as of one where a block runs several; else they are of two tiles |
//!
//! Those without an order are an error, at the second one. Found is what a run does, whatever it stores; of what loops hand from warp to warp in memory
//! of their own, not that of a scan in several turns.

use std::collections::BTreeMap;

use fuser_dialects::kernel::scan;
use fuser_ir::{AttrId, AttrKind, Ir, Op};

use crate::budget::{Budget, Charge};
use crate::error::{ErrorKind, InterpError, Race, Result};
use crate::tensor::filled;

/// Threads that hand values to each other without memory.
const WARP: u32 = 32;
/// More than one thread, or more than one iteration of the grid.
const SEVERAL: u32 = u32::MAX;

/// Threads that run the same ops: so many from the first one on.
#[derive(Clone, Copy)]
struct Crew {
    first: u32,
    count: u32,
}

/// A loop as its threads see it.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    op: Op,
    map: Map,
    /// The threads that come to it.
    crew: Crew,
    /// The epoch in which they do.
    epoch: u32,
    iterations: u64,
    /// The iteration that runs.
    number: u64,
    reduces: bool,
    scans: bool,
}

impl Shared {
    /// Goes on to the next iteration.
    pub fn next(&mut self) {
        self.number += 1;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Map {
    Seq,
    /// True if a block may run several iterations.
    Grid(bool),
    /// Over so many groups.
    Group(u32),
    Thread,
}

/// An access to an element.
#[derive(Clone, Copy)]
struct Touch {
    /// 0 where there was none.
    epoch: u32,
    /// The iteration of the grid.
    block: u32,
    thread: u32,
    op: Op,
}

/// The accesses to an element that others may have no order with.
#[derive(Clone, Copy)]
struct Touches {
    write: Touch,
    read: Touch,
}

/// A buffer that threads share.
struct Buffer {
    tile: bool,
    length: usize,
    /// Empty until something is touched.
    elements: Vec<Touches>,
    charge: Charge,
}

/// The threads of the kernel that runs.
pub(crate) struct Team {
    /// False if nothing is looked at.
    watches: bool,
    threads: u32,
    crew: Crew,
    epoch: u32,
    block: u32,
    /// The `kernel.last` whose body runs, and the number of its count.
    last: Option<(Op, i64)>,
    /// The iterations of the grid that were counted, and the epochs in which they were.
    counted: BTreeMap<(Op, i64), BTreeMap<u32, u32>>,
    /// For each op that exchanges values in memory of its own, the epoch in which threads last read them.
    handed: BTreeMap<Op, u32>,
    buffers: BTreeMap<usize, Buffer>,
}

impl Team {
    pub fn new(watches: bool) -> Self {
        Team {
            watches,
            threads: 1,
            crew: Crew { first: 0, count: 1 },
            epoch: 0,
            block: 0,
            last: None,
            counted: BTreeMap::new(),
            handed: BTreeMap::new(),
            buffers: BTreeMap::new(),
        }
    }
    /// Begins a kernel.
    pub fn begin(&mut self, ir: &Ir, func: Op) {
        let threads = ir.int_of(func, "threads").unwrap_or(1).max(1);
        self.threads = u32::try_from(threads).unwrap_or(SEVERAL - 1);
        self.crew = Crew {
            first: 0,
            count: self.threads,
        };
        self.counted.clear();
        self.next_block();
        self.next_epoch();
    }
    fn next_epoch(&mut self) {
        (self.epoch, self.watches) = match self.epoch.checked_add(1) {
            Some(next) => (next, self.watches),
            None => (self.epoch, false),
        };
    }
    fn next_block(&mut self) {
        (self.block, self.watches) = match self.block.checked_add(1) {
            Some(next) if next < SEVERAL => (next, self.watches),
            _ => (self.block, false),
        };
    }
    /// Notes a buffer that threads share.
    pub fn share(&mut self, number: usize, length: usize, tile: bool) {
        let buffer = Buffer {
            tile,
            length,
            elements: Vec::new(),
            charge: Charge::default(),
        };
        self.buffers.insert(number, buffer);
    }
    /// Forgets all buffers from number `first` on.
    pub fn free_from(&mut self, first: usize) {
        self.buffers.split_off(&first);
    }

    /// A loop that this crew comes to.
    pub fn meets(&self, ir: &Ir, op: Op, iterations: u64) -> Shared {
        let groups = ir.int_of(op, "groups").unwrap_or(1).max(1);
        let map = match ir.str_of(op, "map") {
            Some("grid") => Map::Grid(ir.get_attr(op, "blocks").is_some()),
            Some("group") => Map::Group(u32::try_from(groups).unwrap_or(SEVERAL)),
            Some("thread") => Map::Thread,
            _ => Map::Seq,
        };
        let ways = match ir.attr_of(op, "combine") {
            Some(AttrKind::Array(ways)) => ways.as_slice(),
            _ => &[],
        };
        let apart = map == Map::Thread && self.crew.count > WARP;
        let scanned = |way: &AttrId| {
            let word = ir.attr_kind(*way).as_string();
            word.is_some_and(|word| ir.str(word) == "scan")
        };
        Shared {
            op,
            map,
            crew: self.crew,
            epoch: self.epoch,
            iterations,
            number: 0,
            reduces: apart && !ways.iter().all(scanned) && !scan::goes_on(ir, op),
            scans: apart && ways.iter().any(scanned),
        }
    }
    /// Begins an iteration of a loop.
    pub fn iterate(&mut self, shared: &Shared) {
        let Crew { first, count } = shared.crew;
        let of = |n: u32| (shared.number % u64::from(n)) as u32;
        match shared.map {
            Map::Seq => {}
            Map::Grid(several) => {
                self.next_block();
                if !several {
                    self.next_epoch();
                }
            }
            Map::Group(groups) => {
                let size = (count / groups).max(1);
                self.crew = Crew {
                    first: first + of(groups).min(count / size - 1) * size,
                    count: size,
                };
            }
            Map::Thread => {
                self.crew = Crew {
                    first: first + of(count),
                    count: 1,
                };
                if shared.scans {
                    self.epoch = shared.epoch;
                }
            }
        }
    }
    /// Ends a loop.
    pub fn end(&mut self, shared: &Shared) -> Result<()> {
        self.crew = shared.crew;
        if shared.scans && shared.iterations > 0 {
            self.epoch = shared.epoch;
            self.next_epoch();
        }
        match shared.reduces {
            true => self.hand_on(shared.op),
            false => Ok(()),
        }
    }
    /// The scan `op` in the loop around it.
    pub fn scan(&mut self, op: Op, shared: &Shared) -> Result<()> {
        if !shared.scans {
            return Ok(());
        }
        self.epoch = shared.epoch;
        if shared.number == 0 && shared.iterations <= u64::from(shared.crew.count) {
            return self.hand_on(op);
        }
        self.next_epoch();
        Ok(())
    }
    /// All threads write and then read memory of `op`'s own, with a barrier between.
    fn hand_on(&mut self, op: Op) -> Result<()> {
        if self.watches && self.handed.get(&op) == Some(&self.epoch) {
            return Err(race(Race::Again));
        }
        self.next_epoch();
        self.handed.insert(op, self.epoch);
        Ok(())
    }
    /// All threads wait for each other.
    pub fn barrier(&mut self) -> Result<()> {
        if self.watches && self.crew.count < self.threads {
            return Err(race(Race::Divergent));
        }
        self.next_epoch();
        Ok(())
    }
    /// Counts this iteration of the grid.
    pub fn count(&mut self, op: Op, at: i64) -> Result<()> {
        let counted = self.counted.entry((op, at)).or_default();
        counted.insert(self.block, self.epoch);
        self.hand_on(op)
    }
    /// Begins the body of a `kernel.last`.
    pub fn begin_last(&mut self, op: Op, at: i64) {
        self.last = Some((op, at));
    }
    /// Ends the region of `op`, if that is such a body.
    pub fn end_last(&mut self, op: Op) {
        if let Some(last) = self.last.filter(|(own, _)| *own == op) {
            self.counted.remove(&last);
            self.last = None;
        }
    }

    /// Records that `op` accesses `width` existing elements of a buffer from `at` on.
    pub fn touch(
        &mut self,
        budget: &mut Budget,
        (number, op): (usize, Op),
        (at, width): (i64, usize),
        writes: bool,
    ) -> Result<()> {
        let Some(buffer) = self.buffers.get_mut(&number).filter(|_| self.watches) else {
            return Ok(());
        };
        let now = Touch {
            epoch: self.epoch,
            block: self.block,
            thread: match self.crew.count > 1 && !writes {
                true => SEVERAL,
                false => self.crew.first,
            },
            op,
        };
        if buffer.elements.is_empty() {
            let bytes = buffer.length.saturating_mul(size_of::<Touches>());
            buffer.charge = budget.take(bytes as u64)?;
            let never = Touch { epoch: 0, ..now };
            let touches = Touches {
                write: never,
                read: never,
            };
            let elements = filled(touches, buffer.length);
            buffer.elements = elements.ok_or_else(|| buffer.charge.refused())?;
        }
        let counted = self.last.and_then(|last| self.counted.get(&last));
        let first = usize::try_from(at).unwrap_or(usize::MAX);
        let touched = buffer.elements.iter_mut().skip(first).take(width);
        for (element, touches) in (at..).zip(touched) {
            let read = Some((touches.read, false)).filter(|_| writes);
            for (before, wrote) in std::iter::once((touches.write, true)).chain(read) {
                if before.races(now, buffer.tile, counted) {
                    let in_block = before.block == now.block || buffer.tile;
                    return Err(race(Race::Elements {
                        what: told(element, (before, wrote), (now, writes), in_block),
                        first: before.op,
                        in_block,
                    }));
                }
            }
            match writes {
                true => touches.write = now,
                false => touches.read = touches.read.and(now, buffer.tile),
            }
        }
        Ok(())
    }
}

impl Touch {
    /// True if the two have no order. `counted` are the iterations of the grid that come before `now`, with the epochs that do.
    fn races(self, now: Touch, tile: bool, counted: Option<&BTreeMap<u32, u32>>) -> bool {
        if self.epoch == 0 {
            return false;
        }
        if self.block == now.block || tile {
            let alone = self.thread == now.thread && now.thread != SEVERAL;
            return self.epoch == now.epoch && !alone;
        }
        !counted.is_some_and(|counted| {
            let at = counted.get(&self.block);
            self.block == SEVERAL || at.is_some_and(|&at| self.epoch < at)
        })
    }
    /// An earlier read and this one as one.
    fn and(self, next: Touch, tile: bool) -> Touch {
        let alone = self.epoch == 0;
        let of_one = tile || self.block == next.block;
        let others = self.epoch == next.epoch && self.thread != next.thread;
        match of_one {
            _ if alone => next,
            true if others => Touch {
                thread: SEVERAL,
                ..next
            },
            true => next,
            false => Touch {
                thread: SEVERAL,
                block: SEVERAL,
                ..next
            },
        }
    }
}

/// Two accesses to an element, of one block or of two iterations of the grid, each with whether it writes, as text.
fn told(element: i64, before: (Touch, bool), now: (Touch, bool), in_block: bool) -> String {
    let verb = |writes, verbs: [&'static str; 2]| verbs[usize::from(writes)];
    let (does, did) = (
        verb(now.1, ["reads", "writes"]),
        verb(before.1, ["read", "wrote"]),
    );
    let (now, before) = (now.0, before.0);
    if !in_block {
        return format!(
            "an iteration of the grid {does} element {element}, which another one {did}: they run in any order"
        );
    }
    let who = |thread: u32, several: &str| match thread {
        SEVERAL => several.to_owned(),
        thread => format!("thread {thread}"),
    };
    let (who, by) = (
        who(now.thread, "every thread"),
        who(before.thread, "other threads"),
    );
    format!("{who} {does} element {element}, which {by} {did} with no barrier between")
}

fn race(race: Race) -> InterpError {
    InterpError::new(ErrorKind::Race(race))
}
