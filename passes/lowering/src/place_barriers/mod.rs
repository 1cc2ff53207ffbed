//! Barriers that the sequential meaning of a kernel needs on a GPU.
//!
//! A kernel means what its loops do one after the other; on a GPU the threads of a block run them at the same time. So
//! where one thread may read or overwrite what another has written, or overwrite what another has yet to read, a barrier must
//! stand between. This pass puts one at every such place that has none, and nothing else does: lowering emits none, and code
//! generation adds none.
//!
//! ```text
//! kernel.for ... map "thread" { kernel.store %v, %tile, %i }
//! kernel.for ... map "thread" { %w = kernel.load %tile, %i ... }     the same thread: nothing
//!                                                                    <= a barrier
//! kernel.for ... map "thread" { %w = kernel.load %tile, %j ... }     another one
//! ```
//!
//! A thread need not wait for itself. Accesses at one index of equally distributed loops belong to one thread, and
//! those of a vector loop and its remainder loop are disjoint (`place`). The single iteration of a one-iteration loop
//! belongs to the first thread, as do stores outside of thread loops.
//!
//! Outside of thread loops, an element indexed by a sequential loop changes with each iteration. An element of a loop's
//! first iteration is disjoint from those of later iterations of any loop with the same start. Iterations of a thread
//! loop are independent, so accesses inside one need no barrier.
//!
//! A loop that combines or scans over more than one warp exchanges partial results in memory of its own. It contains
//! the barrier between writing and reading them; this pass adds one before the loop runs again. `kernel.last` is
//! treated likewise for its count. Stores with `kernel.once` never overlap.
//!
//! Each barrier stands in the outermost loop that needs it, and in no group loop, since a group runs only one of its
//! iterations. A dependence on earlier code alone puts the barrier before the loop. The pass is a forward analysis over
//! the flattened function, repeated until the states that flow back along loops stop growing. Redundant barriers are
//! then dropped, those of the innermost loops first.
//!
//! Grid iterations that one block runs form a loop. They share only memory of the block.

mod place;
mod walk;

use std::collections::BTreeSet;

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::{self, Rounds};
use fuser_dialects::kernel::scan;
use fuser_dialects::task::updates;
use fuser_ir::types::{MemSpace, TypeKind};
use fuser_ir::{Ir, NewOp, Op, Value};
use fuser_pass::{PassContext, PassDef, StatDef};

use place::Places;

/// `place-barriers`
pub static PLACE_BARRIERS: PassDef = PassDef {
    name: "place-barriers",
    summary: "puts barriers where threads of a block must wait for each other",
    doc: "In each `kernel.func` of more than one thread: a `kernel.barrier` before every op that touches memory which another \
          thread touched since the last one, where one of the two writes, or before the loop that the op is in, if that does. Barriers that stand there stay, and count.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    statistics: &[StatDef {
        name: "barriers",
        doc: "barriers put in",
    }],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let ops = ctx.ir.children(ctx.op);
    let overlap = updates::any_in_place(ctx.ir, ctx.op);
    let kernels = ops.iter().filter(|&&op| ctx.ir.is(op, &kernel::FUNC));
    for &func in kernels.collect::<Vec<_>>() {
        let waits = waits(ctx.ir, func, overlap);
        ctx.count("barriers", waits.len() as u64);
        for op in waits {
            let new = NewOp {
                loc: Some(ctx.ir.op_loc(op)),
                ..NewOp::default()
            };
            let barrier = ctx.ir.create_op(&kernel::BARRIER, new);
            ctx.ir.insert_before(op, barrier);
        }
    }
}

/// Something that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shared {
    /// Global buffers that may overlap.
    Global,
    /// A buffer.
    Buffer(Value),
    /// The partial results of a loop that combines over warps.
    Partials(Op),
    /// The totals of warps that scan together.
    Totals(Op),
    /// The number that a count of the grid's iterations gave.
    Counted(Op),
}

impl Shared {
    fn is_of_block(self, ir: &Ir) -> bool {
        match self {
            Shared::Global => false,
            Shared::Buffer(memory) => matches!(
                ir.value_kind(memory),
                TypeKind::MemRef {
                    space: MemSpace::Tile,
                    ..
                }
            ),
            Shared::Partials(_) | Shared::Totals(_) | Shared::Counted(_) => true,
        }
    }
}

/// The threads that make an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// The first one: a store outside of thread loops.
    First,
    /// All, or one that is not known.
    Any,
    /// The one that runs an iteration.
    Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    memory: Shared,
    writes: bool,
    /// True for a store that writes what no other such store does.
    once: bool,
    by: By,
    /// The place, where it follows from an iteration of a loop.
    place: Option<place::Id>,
    /// The loop that may have gone on since, and changes the place.
    over: Option<Op>,
    /// The iterations of the enclosing loop that make the access, where the analysis distinguishes them.
    turn: Option<Turn>,
}

impl Access {
    /// An access by any thread, in any place.
    fn of_any(memory: Shared, writes: bool) -> Access {
        Access {
            memory,
            writes,
            once: false,
            by: By::Any,
            place: None,
            over: None,
            turn: None,
        }
    }
}

/// Iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// The first one.
    First,
    /// Any other one.
    Later,
}

/// The accesses since the last barrier.
type State = BTreeSet<Access>;

/// The function as a list, in program order.
enum Event {
    Access(Op, State),
    /// Accesses behind a barrier that an op holds.
    Behind(State),
    Barrier,
    LoopBegin(Op),
    LoopEnd,
    IfBegin,
    Else,
    IfEnd,
}

impl Event {
    /// The op that a barrier may be put before.
    fn op(&self) -> Option<Op> {
        match self {
            Event::Access(op, _) | Event::LoopBegin(op) => Some(*op),
            _ => None,
        }
    }
}

/// The ops of `func` before which all threads must wait, in program order.
fn waits(ir: &Ir, func: Op, overlap: bool) -> Vec<Op> {
    let threads = ir.int_of(func, "threads").unwrap_or(1);
    if threads <= 1 {
        return Vec::new();
    }
    let mut places = Places::new(ir, threads);
    let events = flatten(&mut places, func, threads, overlap);
    walk::waits(places, &events)
}

/// A step of the flattening that is yet to be done.
enum Pending {
    Ops(Option<Op>),
    Event(Event),
}

fn flatten(places: &mut Places<'_>, func: Op, threads: i64, overlap: bool) -> Vec<Event> {
    let ir = places.ir;
    let strided = |op: Op| ir.int_of(op, "blocks").is_some();
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
        let map = ir.str_of(op, "map").unwrap_or("seq");
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
        } else if ir.is(op, &kernel::LAST) {
            // What other blocks are to read is stored by all threads before the block counts; a barrier is before the body.
            let mut before = handed_on(ir, op, overlap);
            before.insert(Access::of_any(Shared::Counted(op), true));
            let behind = State::from([Access::of_any(Shared::Counted(op), false)]);
            events.extend([
                Event::Access(op, before),
                Event::Barrier,
                Event::Behind(behind),
                Event::IfBegin,
            ]);
            let skip = [Pending::Event(Event::IfEnd), Pending::Event(Event::Else)];
            pending.extend(skip.into_iter().chain([first(op, 0)]));
        } else if ir.is(op, &kernel::FOR) && map == "grid" && !strided(op) {
            // A block runs one iteration.
            pending.push(first(op, 0));
        } else if ir.is(op, &kernel::FOR) && matches!(map, "seq" | "grid" | "group") {
            events.push(Event::LoopBegin(op));
            pending.extend([Pending::Event(Event::LoopEnd), first(op, 0)]);
        } else {
            access(places, op, threads, overlap, &mut events);
        }
    }
    events
}

/// The accesses of an op outside of loops of threads, or of such a loop.
fn access(places: &mut Places<'_>, op: Op, threads: i64, overlap: bool, events: &mut Vec<Event>) {
    let ir = places.ir;
    let mut state = State::new();
    let alone = places.is_single(op) && rounds::sharers(ir, op, threads) == threads;
    for inner in ir.walk(op) {
        let (memory, writes) = if ir.is(inner, &kernel::LOAD) || ir.is(inner, &kernel::LOAD_WITHIN)
        {
            (ir.operand(inner, 0), false)
        } else if ir.is(inner, &kernel::STORE) {
            (ir.operand(inner, 1), true)
        } else {
            continue;
        };
        let Some(memory) = shared(ir, memory, overlap) else {
            continue;
        };
        let (by, place) = match inner == op {
            true if writes => (By::First, places.outside(op)),
            true => (By::Any, places.outside(op)),
            false if alone => (By::First, None),
            false => (By::Owner, Some(places.add(op, inner))),
        };
        state.insert(Access {
            memory,
            writes,
            once: ir.get_attr(inner, kernel::ONCE).is_some(),
            by,
            place,
            over: None,
            turn: None,
        });
    }
    let combines = ir.is(op, &kernel::FOR) && (scan::scans(ir, op) || scan::reduces(ir, op));
    if !combines || rounds::sharers(ir, op, threads) <= kernel::WARP {
        events.extend((!state.is_empty()).then_some(Event::Access(op, state)));
        return;
    }
    if scan::scans(ir, op) {
        // Each turn holds a barrier, in the midst of the loop.
        let (mut before, mut behind) = (state.clone(), std::mem::take(&mut state));
        let rounds = Rounds::of(ir, op, threads);
        if rounds.is_none_or(|rounds| !scan::hands_on_apart(ir, op, &rounds)) {
            before.insert(Access::of_any(Shared::Totals(op), true));
            behind.insert(Access::of_any(Shared::Totals(op), false));
        }
        let some = rounds.is_some_and(|rounds| rounds.count > 0);
        events.extend((!some).then_some(Event::IfBegin));
        events.extend([
            Event::Access(op, before),
            Event::Barrier,
            Event::Behind(behind),
        ]);
        if !some {
            events.extend([Event::Else, Event::IfEnd]);
        }
    }
    if scan::reduces(ir, op) {
        state.insert(Access::of_any(Shared::Partials(op), true));
        let behind = State::from([Access::of_any(Shared::Partials(op), false)]);
        events.extend([
            Event::Access(op, state),
            Event::Barrier,
            Event::Behind(behind),
        ]);
    }
}

/// The accesses of the last block to memory that other blocks stored, attributed to the counting op.
fn handed_on(ir: &Ir, last: Op, overlap: bool) -> State {
    let inner = ir
        .walk(last)
        .into_iter()
        .filter(|&op| ir.is(op, &kernel::LOAD));
    let read = inner.map(|op| ir.operand(op, 0));
    let global = read.filter(|&v| {
        matches!(
            ir.value_kind(v),
            TypeKind::MemRef {
                space: MemSpace::Global,
                ..
            }
        )
    });
    let memory = global.filter_map(|v| shared(ir, v, overlap));
    memory.map(|memory| Access::of_any(memory, false)).collect()
}

/// The memory that an access names, if threads share it.
fn shared(ir: &Ir, memory: Value, overlap: bool) -> Option<Shared> {
    let TypeKind::MemRef { space, .. } = ir.value_kind(memory) else {
        return None;
    };
    match space {
        MemSpace::Local | MemSpace::Register => None,
        MemSpace::Global if overlap => Some(Shared::Global),
        MemSpace::Global | MemSpace::Tile => Some(Shared::Buffer(memory)),
    }
}
