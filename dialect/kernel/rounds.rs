//! A round of a thread loop is one iteration of each thread of a block, all at once.
//!
//! ```text
//! kernel.for 0, 1000, 8 map "thread" { ... }        125 iterations by 64 threads: 2 rounds, the last one by 61
//! ```
//!
//! Loops of few rounds are unrolled, so that values that a thread keeps from one loop to the next can be in registers.
//! The end need not be constant if ops bound it by two constants, close enough that most threads run every round; most
//! run the one round that contains another loop. Code generation and the pass that chooses registers share these
//! queries.

use fuser_ir::def::Computes;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{Block, Ir, Op, Value};

use super::WARP;
use super::bounds::{are_alike, least_rest};
use super::ops::{ALLOC, FOR, LOAD, STORE, some_lanes};

/// The most rounds of an unrolled loop.
pub const MOST_ROUNDS: i64 = 8;

/// Bytes of a thread's registers that may hold tiles: 64 of 255 registers; the others hold temporaries.
const MOST_BYTES: u64 = 256;

/// The least number of registers of a thread for temporaries.
const COMPUTING: u64 = 32;

/// The least share of busy threads, in eighths, for a loop of several warps that has a variable number of iterations or
/// holds loops. With a smaller share, idle threads execute masked iterations that cost more than unrolling saves.
const LEAST_EIGHTHS: i64 = 5;

/// The bounds of an unrolled thread loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rounds {
    /// The first value of the induction variable.
    pub lower: i64,
    /// One past its last value, at most.
    pub upper: i64,
    /// One past its last value, at least: greater than `lower`, unless both are constants.
    pub least: i64,
    /// One past its last value, where that is no constant.
    pub end: Option<Value>,
    /// The increment, at least 1.
    pub step: i64,
    /// The number of rounds.
    pub count: i64,
}

impl Rounds {
    /// The rounds of the thread loop `op` in a block of `threads`. `None` if they are unknown or too many, or if there
    /// are several rounds and the loop holds another loop.
    pub fn of(ir: &Ir, op: Op, threads: i64) -> Option<Rounds> {
        let spread = ir.is(op, &FOR) && ir.str_of(op, "map") == Some("thread");
        let constant = |n: usize| literal(ir, ir.operand(op, n));
        let threads = sharers(ir, op, threads);
        if !spread || threads < 1 {
            return None;
        }
        let (lower, step) = (constant(0)?, constant(2)?);
        let end = ir.operand(op, 1);
        let (least, upper) = range(ir, end);
        if step < 1 || upper < lower {
            return None;
        }
        let iterations = upper.checked_sub(lower)?.checked_add(step - 1)? / step;
        let count = iterations / threads + i64::from(iterations % threads != 0);
        let rounds = Rounds {
            lower,
            upper,
            least,
            end: (least != upper).then_some(end),
            step,
            count,
        };
        let flat = || !ir.walk(op).into_iter().skip(1).any(|op| ir.is(op, &FOR));
        let one_warp = threads <= WARP && count <= 1;
        let busy = || {
            let room = count.saturating_mul(threads).saturating_mul(LEAST_EIGHTHS);
            least > lower && (one_warp || rounds.sure().saturating_mul(8) >= room)
        };
        let few = count <= 1 || count <= MOST_ROUNDS && flat();
        (few && (rounds.end.is_none() && flat() || busy())).then_some(rounds)
    }
    /// The number of iterations, at most.
    pub fn iterations(&self) -> i64 {
        (self.upper - self.lower + self.step - 1) / self.step
    }
    /// The number of iterations, at least.
    pub fn sure(&self) -> i64 {
        (self.least - self.lower + self.step - 1) / self.step
    }
    /// True if iterations of two loops at the same index are the same round of the same thread.
    pub fn spread_alike(&self, other: &Rounds) -> bool {
        (self.lower, self.step) == (other.lower, other.step)
    }
    /// Elements of register memory that each thread has for them.
    pub fn elements(&self) -> i64 {
        self.count * self.step
    }
}

/// The least and the greatest value that an index may have: of a constant, of the remainder of a tile, or of at most
/// three ops that clamp it between constants or clear its low bits.
pub fn range(ir: &Ir, value: Value) -> (i64, i64) {
    let mut value = value;
    let mut around = Vec::new();
    while around.len() < 3 {
        let Some((by, bound, of)) = bounded(ir, value) else {
            break;
        };
        around.push((by, bound));
        value = of;
    }
    let range = match literal(ir, value) {
        Some(known) => (known, known),
        None => (least_rest(ir, value).unwrap_or(i64::MIN), i64::MAX),
    };
    let narrow = |(least, most): (i64, i64), (by, bound): (Op, i64)| match ir.computes(by) {
        Some(Computes::Min) => (least.min(bound), most.min(bound)),
        Some(Computes::Max) => (least.max(bound), most.max(bound)),
        _ => (least & bound, most & bound),
    };
    around.into_iter().rev().fold(range, narrow)
}

/// The clamp or mask that computes an index, its constant bound, and its other operand, if [`range`] knows the op.
fn bounded(ir: &Ir, value: Value) -> Option<(Op, i64, Value)> {
    let by = ir.def_op(value).filter(|&op| ir.operand_count(op) == 2)?;
    let operands = [0, 1].map(|n| ir.operand(by, n));
    let constant = |n: usize| Some((by, literal(ir, operands[n])?, operands[1 - n]));
    match ir.computes(by)? {
        Computes::Min | Computes::Max => constant(1).or_else(|| constant(0)),
        Computes::And => {
            let clears = |mask: i64| mask < 0 && mask.unsigned_abs().is_power_of_two();
            constant(1).filter(|&(_, mask, _)| clears(mask))
        }
        _ => None,
    }
}

/// The value of a constant index.
pub fn literal(ir: &Ir, value: Value) -> Option<i64> {
    let by = ir.made_as(value, Computes::Constant)?;
    ir.int_of(by, "value")
}

/// The loops that access `memory`, by first index, if only one thread accesses each element. Every access is at the
/// induction variable of an unrolled loop, and no wider than its step. Two loops are distributed over threads alike, or
/// their ranges are disjoint. Loops that are distributed alike have one end, except that a longer one may exist that
/// only stores, such as the initialization of a sum: then only the longer one is returned.
pub fn owners(ir: &Ir, memory: Value, threads: i64) -> Option<Vec<Rounds>> {
    let TypeKind::MemRef { space, .. } = ir.value_kind(memory) else {
        return None;
    };
    if !matches!(space, MemSpace::Tile | MemSpace::Register) || threads < 2 {
        return None;
    }
    // Each with whether it loads.
    let mut loops: Vec<(Rounds, bool)> = Vec::new();
    let mut groups = ir.users(memory).map(|user| group(ir, user));
    if let Some(first) = groups.next()
        && !groups.all(|other| grouped_alike(ir, first, other))
    {
        return None;
    }
    for user in ir.users(memory) {
        let around = around(ir, user)?;
        let mut rounds = Rounds::of(ir, around, threads)?;
        // One name for ends that are made alike.
        let mut ends = loops.iter().filter_map(|known| known.0.end.zip(rounds.end));
        if let Some((known, _)) = ends.find(|&(known, end)| are_alike(ir, known, end)) {
            rounds.end = Some(known);
        }
        let loads = ir.is(user, &LOAD);
        let (value, index) = if loads {
            (ir.result(user, 0), ir.operand(user, 1))
        } else if ir.is(user, &STORE) && ir.operand(user, 0) != memory {
            (ir.operand(user, 0), ir.operand(user, 2))
        } else {
            return None;
        };
        let induction = ir.args(ir.body(around, 0)?).first().copied();
        let lanes = match ir.value_kind(value) {
            TypeKind::Vector { shape, .. } => shape.first().copied().unwrap_or(1),
            _ => 1,
        };
        let strided = ir.int_of(user, "stride").is_some();
        let some = some_lanes(ir, user).is_some();
        if strided || some || induction != Some(index) || i64::try_from(lanes).ok()? > rounds.step {
            return None;
        }
        match loops.iter_mut().find(|known| known.0 == rounds) {
            Some(known) => known.1 |= loads,
            None => loops.push((rounds, loads)),
        }
    }
    loops.retain(|(rounds, _)| rounds.count > 0);
    // Threads without an iteration of a loop do as if they had one.
    let begins = |(long, loads): &(Rounds, bool), other: &Rounds| {
        !loads && long.end.is_none() && long.upper >= other.upper && long.spread_alike(other)
    };
    let covered = |known: &(Rounds, bool)| {
        let mut others = loops.iter().filter(|other| *other != known);
        others.any(|other| begins(other, &known.0))
    };
    let (shorter, longest): (Vec<_>, Vec<_>) = loops.iter().copied().partition(covered);
    let alike = |(n, a): (usize, &(Rounds, bool))| {
        let mut before = shorter[..n].iter();
        before.any(|b| a.0.spread_alike(&b.0))
    };
    if shorter.iter().enumerate().any(alike) {
        return None;
    }
    let mut loops: Vec<Rounds> = longest.into_iter().map(|known| known.0).collect();
    loops.sort_unstable();
    // The last iteration may reach beyond the end of its loop.
    let end = |rounds: &Rounds| rounds.lower + rounds.iterations() * rounds.step;
    let meet = loops.windows(2).any(|pair| end(&pair[0]) > pair[1].lower);
    (!meet).then_some(loops)
}

/// Bytes of a thread's registers that may hold tiles, in a block of `threads` on a multiprocessor of `registers`. With
/// 65,536 registers and more than 512 threads, they are less than [`MOST_BYTES`].
pub fn room(registers: u64, threads: i64) -> u64 {
    let threads = u64::try_from(threads).unwrap_or(1).max(1);
    let left = (registers / threads).saturating_sub(COMPUTING);
    MOST_BYTES.min(4 * left)
}

/// The threads of a block of `threads` that share the loop `op`: inside a group loop, the threads of a group.
pub fn sharers(ir: &Ir, op: Op, threads: i64) -> i64 {
    let groups = group(ir, op).and_then(|group| ir.int_of(group, "groups"));
    threads / groups.unwrap_or(1).max(1)
}

/// The group loop around an op.
fn group(ir: &Ir, op: Op) -> Option<Op> {
    let mut outer = std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op));
    outer.find(|&op| ir.str_of(op, "map") == Some("group"))
}

/// True if equal iterations of two group loops belong to one group, or if neither op is in a group loop.
fn grouped_alike(ir: &Ir, a: Option<Op>, b: Option<Op>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a == b;
    };
    let alike = |n: usize| are_alike(ir, ir.operand(a, n), ir.operand(b, n));
    a == b || ir.int_of(a, "groups") == ir.int_of(b, "groups") && [0, 1, 2].into_iter().all(alike)
}

/// True if a thread loop is around an op.
pub fn in_threads(ir: &Ir, op: Op) -> bool {
    let mut outer = std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op));
    outer.any(|op| ir.is(op, &FOR) && ir.str_of(op, "map") == Some("thread"))
}

/// The innermost loop around an op.
pub fn around(ir: &Ir, op: Op) -> Option<Op> {
    let mut outer = std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op));
    outer.find(|&op| ir.is(op, &FOR))
}

/// True if all tiles that groups of threads read, in the kernel with this entry block, fit into registers of the
/// threads that alone access them, on a multiprocessor of `registers`. Tiles that groups only write are read after all
/// groups.
pub fn own_tiles(ir: &Ir, entry: Block, threads: i64, registers: u64) -> bool {
    let grouped = |op: Op| {
        let memory = ir.result(op, 0);
        let writes = |user| ir.is(user, &STORE) && ir.operand(user, 0) != memory;
        ir.users(memory)
            .any(|user| group(ir, user).is_some() && !writes(user))
    };
    let allocs = ir.block_ops(entry).filter(|&op| ir.is(op, &ALLOC));
    let mut allocs = allocs.filter(|&op| grouped(op));
    let left = allocs.try_fold(room(registers, threads), |left, alloc| {
        left.checked_sub(own_memory(ir, alloc, threads)?.1)
    });
    left.is_some()
}

/// The stores to global memory that groups of threads make in the kernel with this entry block.
pub fn stores_in_groups(ir: &Ir, entry: Block) -> impl Iterator<Item = Op> + '_ {
    let stores = |op: &Op| {
        let memory = ir.is(*op, &STORE).then(|| ir.operand(*op, 1));
        let kind = memory.map(|memory| ir.value_kind(memory));
        matches!(
            kind,
            Some(TypeKind::MemRef {
                space: MemSpace::Global,
                ..
            })
        )
    };
    let ops = ir.block_ops(entry).flat_map(|op| ir.walk(op));
    ops.filter(move |op| stores(op) && group(ir, *op).is_some())
}

/// The space that an allocation in tile memory can move to, and the bytes that each thread then has.
pub fn own_memory(ir: &Ir, alloc: Op, threads: i64) -> Option<(MemSpace, u64)> {
    if !ir.is(alloc, &ALLOC) || threads < 2 {
        return None;
    }
    let memory = ir.result(alloc, 0);
    let TypeKind::MemRef { dims, dtype, space } = ir.value_kind(memory) else {
        return None;
    };
    if *space != MemSpace::Tile {
        return None;
    }
    let alike = ir.users(memory).all(|user| !in_threads(ir, user));
    if alike && dims[..] == [Extent::Static(1)] {
        return Some((MemSpace::Local, dtype.bytes()));
    }
    let loops = owners(ir, memory, threads)?;
    let elements: i64 = loops.iter().map(Rounds::elements).sum();
    let bytes = u64::try_from(elements).ok()?.checked_mul(dtype.bytes())?;
    Some((MemSpace::Register, bytes))
}
