//! Barriers that the sequential meaning of a kernel needs on a GPU.
//!
//! A kernel means what its loops do one after the other; on a GPU the threads of a block run them at the same time. So
//! where one thread may read or overwrite what another has written, or overwrite what it has yet to read, a barrier must
//! stand between. This finds every such place that has none: the op before which one goes.
//!
//! ```text
//! kernel.for ... map "thread" { kernel.store %v, %tile, %i }
//!                                                              <= a barrier
//! kernel.for ... map "thread" { %w = kernel.load %tile, %j ... }
//! ```
//!
//! The unit is a buffer, not an index: two loops over the same elements get a barrier as well. Accesses inside one
//! thread loop need none, because its iterations do not depend on each other, nor does the tail of a vector loop (see
//! `disjoint`). `kernel.barrier`, and the barriers of reductions
//! over more than one warp, count. It is a forward analysis over the flattened function, repeated until the states that
//! flow back along loops no longer grow.

mod disjoint;

use std::collections::BTreeSet;

use fuser_dialects::kernel;
use fuser_ir::types::{MemSpace, TypeKind};
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashSet;

use super::legal::{Map, map_of};
use super::reduce::WARP;

/// Passes over the function before we give up and put a barrier before every access. Two or three do.
const MAX_PASSES: usize = 64;

/// A buffer; all global ones are one where they may overlap.
type Buffer = Option<Value>;

/// Buffers touched since the last barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touched {
    read: BTreeSet<Buffer>,
    written: BTreeSet<Buffer>,
    /// Written by the first thread, as stores outside of thread loops are: it need not wait for itself.
    written_by_first: BTreeSet<Buffer>,
}

impl Touched {
    fn join(&mut self, other: &Touched) {
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.written_by_first.extend(&other.written_by_first);
    }

    /// The buffers that `next` may not touch before all threads are here.
    fn conflicts_with(&self, next: &Touched) -> BTreeSet<Buffer> {
        let touched = self
            .read
            .iter()
            .chain(&self.written)
            .chain(&self.written_by_first);
        let alone = |b: &&Buffer| self.conflicts(&next.only(b));
        touched.filter(alone).copied().collect()
    }

    fn only(&self, buffer: &Buffer) -> Touched {
        let keep = |set: &BTreeSet<Buffer>| set.get(buffer).copied().into_iter().collect();
        Touched {
            read: keep(&self.read),
            written: keep(&self.written),
            written_by_first: keep(&self.written_by_first),
        }
    }

    /// True if `next` must wait for these.
    fn conflicts(&self, next: &Touched) -> bool {
        let written = |b: &Buffer| self.written.contains(b) || self.written_by_first.contains(b);
        let touched = |b: &Buffer| written(b) || self.read.contains(b);
        let by_others = |b: &Buffer| self.written.contains(b) || self.read.contains(b);
        next.read.iter().any(written)
            || next.written.iter().any(touched)
            || next.written_by_first.iter().any(by_others)
    }
}

/// The function as a list, in program order.
enum Event {
    Access(Op, Touched),
    Barrier,
    LoopBegin,
    LoopEnd,
    IfBegin,
    Else,
    IfEnd,
}

/// The ops of `func` before which all threads must wait.
pub fn barriers(ir: &Ir, func: Op, threads: u32, noalias: bool) -> FxHashSet<Op> {
    let events = flatten(ir, func, threads, noalias);
    let mut analysis = Analysis::default();
    for _ in 0..MAX_PASSES {
        if !analysis.pass(&events) {
            return analysis.waits;
        }
    }
    let accesses = events.iter().filter_map(|event| match event {
        Event::Access(op, _) => Some(*op),
        _ => None,
    });
    accesses.collect()
}

#[derive(Default)]
struct Analysis {
    waits: FxHashSet<Op>,
    /// For each loop, in order, what its body leaves behind for its next iteration.
    carried: Vec<Touched>,
}

impl Analysis {
    /// One walk; whether anything grew.
    fn pass(&mut self, events: &[Event]) -> bool {
        let (mut state, mut grew) = (Touched::default(), false);
        let (mut loops, mut branches) = (Vec::new(), Vec::new());
        let mut next_loop = 0;
        for event in events {
            match event {
                Event::Barrier => state = Touched::default(),
                Event::Access(op, touched) => {
                    if state.conflicts(touched) {
                        grew |= self.waits.insert(*op);
                    }
                    if self.waits.contains(op) {
                        state = Touched::default();
                    }
                    state.join(touched);
                }
                Event::LoopBegin => {
                    loops.push((next_loop, state.clone()));
                    self.carried
                        .resize(self.carried.len().max(next_loop + 1), Touched::default());
                    state.join(&self.carried[next_loop]);
                    next_loop += 1;
                }
                Event::LoopEnd => {
                    if let Some((number, before)) = loops.pop() {
                        grew |= self.carry(number, &state);
                        state.join(&before);
                    }
                }
                Event::IfBegin => branches.push((state.clone(), Touched::default())),
                Event::Else => {
                    if let Some((before, then)) = branches.last_mut() {
                        *then = std::mem::replace(&mut state, before.clone());
                    }
                }
                Event::IfEnd => {
                    if let Some((_, then)) = branches.pop() {
                        state.join(&then);
                    }
                }
            }
        }
        grew
    }

    fn carry(&mut self, number: usize, state: &Touched) -> bool {
        let Some(carried) = self.carried.get_mut(number) else {
            return false;
        };
        let before = carried.clone();
        carried.join(state);
        *carried != before
    }
}

/// A step of the flattening that is yet to be done.
enum Pending {
    Ops(Option<Op>),
    Event(Event),
}

fn flatten(ir: &Ir, func: Op, threads: u32, noalias: bool) -> Vec<Event> {
    let first = |op: Op, region: usize| {
        Pending::Ops(ir.body(op, region).and_then(|block| ir.first_op(block)))
    };
    let (mut events, mut pending) = (Vec::new(), vec![first(func, 0)]);
    while let Some(item) = pending.pop() {
        let op = match item {
            Pending::Event(event) => {
                events.push(event);
                continue;
            }
            Pending::Ops(None) => continue,
            Pending::Ops(Some(op)) => op,
        };
        pending.push(Pending::Ops(ir.next_op(op)));
        if ir.is(op, &kernel::BARRIER) {
            events.push(Event::Barrier);
        } else if ir.is(op, &kernel::IF) {
            events.push(Event::IfBegin);
            pending.extend([
                Pending::Event(Event::IfEnd),
                first(op, 1),
                Pending::Event(Event::Else),
                first(op, 0),
            ]);
        } else if ir.is(op, &kernel::FOR) && map_of(ir, op) == Some(Map::Grid) {
            // A block runs one iteration.
            pending.push(first(op, 0));
        } else if ir.is(op, &kernel::FOR) && map_of(ir, op) != Some(Map::Thread) {
            events.push(Event::LoopBegin);
            pending.extend([Pending::Event(Event::LoopEnd), first(op, 0)]);
        } else {
            events.push(Event::Access(op, touched(ir, op, noalias)));
            if !ir.results(op).is_empty() && ir.is(op, &kernel::FOR) && threads > WARP {
                events.push(Event::Barrier);
            }
        }
    }
    // An access to nothing waits for nothing.
    events.retain(
        |event| !matches!(event, Event::Access(_, touched) if *touched == Touched::default()),
    );
    join_tails(ir, events)
}

/// Takes a thread loop and the tail that continues it for one access.
fn join_tails(ir: &Ir, events: Vec<Event>) -> Vec<Event> {
    let mut joined: Vec<Event> = Vec::new();
    // The last loop that went into the last event.
    let mut last = None;
    for event in events {
        if let (Event::Access(second, next), Some(Event::Access(_, before)), Some(first)) =
            (&event, joined.last_mut(), last)
        {
            let both = before.conflicts_with(next);
            let loops = ir.is(first, &kernel::FOR) && ir.is(*second, &kernel::FOR);
            let global = both.contains(&None);
            if loops
                && !global
                && disjoint::continues(ir, first, *second, |m| both.contains(&Some(m)))
            {
                before.join(next);
                // No chains: a third loop might reach back to the first where the second is empty.
                last = None;
                continue;
            }
        }
        last = match &event {
            Event::Access(op, _) => Some(*op),
            _ => None,
        };
        joined.push(event);
    }
    joined
}

/// The shared buffers that `op` and what it holds read and write.
fn touched(ir: &Ir, op: Op, noalias: bool) -> Touched {
    let mut touched = Touched::default();
    for inner in ir.walk(op) {
        let (memory, set) = if ir.is(inner, &kernel::LOAD) || ir.is(inner, &kernel::LOAD_WITHIN) {
            (ir.operands(inner).next(), &mut touched.read)
        } else if inner == op && ir.is(op, &kernel::STORE) {
            (ir.operands(inner).nth(1), &mut touched.written_by_first)
        } else if ir.is(inner, &kernel::STORE) {
            (ir.operands(inner).nth(1), &mut touched.written)
        } else {
            continue;
        };
        set.extend(memory.and_then(|memory| shared(ir, memory, noalias)));
    }
    touched
}

/// The buffer that an access names, if threads share it.
fn shared(ir: &Ir, memory: Value, noalias: bool) -> Option<Buffer> {
    match ir.value_kind(memory) {
        TypeKind::MemRef {
            space: MemSpace::Local,
            ..
        } => None,
        TypeKind::MemRef {
            space: MemSpace::Global,
            ..
        } if !noalias => Some(None),
        _ => Some(Some(memory)),
    }
}
