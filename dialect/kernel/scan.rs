//! Scans that threads share: a `kernel.scan` in a thread loop continues from an iteration argument of the loop.
//!
//! ```text
//! %last = kernel.for 0, 4096, 4, %first map "thread" combine ["scan"] {
//! ^bb0(%i: index, %before: f32):
//!   ...
//!   %s = kernel.scan %v, %before combine add : vector<4xf32>
//!   %n = kernel.extract %s lane 3
//!   kernel.yield %n
//! }
//! ```
//!
//! The verifier, the pass that places barriers and code generation share the predicates of this file.

use fuser_ir::def::Traits;
use fuser_ir::{Ir, Op};

use super::ops::{EXTRACT, FOR, LOAD, LOAD_WITHIN, SCAN, lanes};
use super::rounds::{self, Rounds};
use crate::task::verify::strings;

/// Slots through which the warps of a block exchange their totals: one for each turn of all threads in a scan.
pub const PLACES: u32 = rounds::MOST_ROUNDS as u32;

/// Bytes of a thread's registers that may hold the lanes of all turns; a quarter for elements of two words, which take
/// more registers to combine.
const MOST_BYTES: u64 = 128;
/// Bytes of a word.
const WORD: u64 = 4;

/// The slot of turn `number` of `count`. It differs from that of the turn before and of the turn after; after the last
/// turn comes the first, since the loop may run again.
pub fn place(number: i64, count: i64) -> i64 {
    match number + 1 == count && number > 0 {
        true => 2 - number % 2,
        false => number % 2,
    }
}

/// The scan of a loop of these rounds, and its iteration argument, if threads take all turns at once: they have the
/// lanes of all turns before they exchange any totals. It is the only scan, and its operand is computed from loads.
pub fn at_once(ir: &Ir, looped: Op, rounds: &Rounds) -> Option<(Op, usize)> {
    let is_scan = |op: &Op| ir.is(*op, &SCAN);
    let mut scans = ir.block_ops(ir.body(looped, 0)?).filter(is_scan);
    let scan = scans.next().filter(|_| scans.next().is_none())?;
    let (_, argument) = scanning_loop(ir, scan)?;
    let loads = |op: Op| ir.is(op, &LOAD) || ir.is(op, &LOAD_WITHIN);
    let follows = |op: Op| ir.op_regions(op).is_empty() && (loads(op) || ir.has(op, Traits::PURE));
    let steps = ir.value_type(ir.result(scan, 0));
    let element = ir.ty(steps).dtype()?.bytes();
    let most = if element > WORD {
        MOST_BYTES / 4
    } else {
        MOST_BYTES
    };
    let bytes = element * lanes(ir, steps).max(1);
    let held = bytes.checked_mul(u64::try_from(rounds.count).ok()?)?;
    let all = before(ir, looped, scan).all(follows);
    (rounds.count > 1 && held <= most && all).then_some((scan, argument))
}

/// The ops of a loop's body before one of them.
pub fn before(ir: &Ir, looped: Op, op: Op) -> impl Iterator<Item = Op> + '_ {
    let body = ir.body(looped, 0).into_iter();
    let ops = body.flat_map(|body| ir.block_ops(body));
    ops.take_while(move |&before| before != op)
}

/// True if a loop of these rounds uses different slots for its last turn and its first one: it may run again while some
/// threads still read.
pub fn hands_on_apart(ir: &Ir, looped: Op, rounds: &Rounds) -> bool {
    rounds.count > 1 && at_once(ir, looped, rounds).is_none()
}

/// The word in `combine` for an iteration argument that a scan continues from.
pub const SCANNED: &str = "scan";

/// The scan that continues from iteration argument `number` of a loop and whose last lane the loop yields for it; it is
/// in the body itself and the argument's only user.
pub fn scan_of(ir: &Ir, looped: Op, number: usize) -> Option<Op> {
    let body = ir.body(looped, 0)?;
    let &carried = ir.args(body).get(number + 1)?;
    let mut readers = ir.users(carried);
    let scan = readers.next().filter(|&op| ir.is(op, &SCAN))?;
    let alone = readers.next().is_none() && ir.operand(scan, 0) != carried;
    let steps = ir.result(scan, 0);
    let next = ir.operands(ir.terminator(body)?).nth(number)?;
    let last = match lanes(ir, ir.value_type(steps)) {
        0 => next == steps,
        lanes => ir.def_op(next).is_some_and(|by| {
            let lane = ir
                .int_of(by, "lane")
                .and_then(|lane| u64::try_from(lane).ok());
            ir.is(by, &EXTRACT) && ir.operand(by, 0) == steps && lane == Some(lanes - 1)
        }),
    };
    (alone && last && ir.parent_block(scan) == Some(body)).then_some(scan)
}

/// The loop and the number of the iteration argument that the scan `op` continues from, if threads share the loop.
pub fn scanning_loop(ir: &Ir, op: Op) -> Option<(Op, usize)> {
    let looped = ir.parent_op(op).filter(|&by| ir.is(by, &FOR))?;
    let words = strings(ir, looped, "combine");
    let mut scans = words
        .iter()
        .enumerate()
        .filter(|(_, word)| **word == SCANNED);
    let (number, _) = scans.find(|&(number, _)| scan_of(ir, looped, number) == Some(op))?;
    Some((looped, number))
}

/// True if the threads that share the loop `op` scan something together.
pub fn scans(ir: &Ir, op: Op) -> bool {
    ir.is(op, &FOR) && strings(ir, op, "combine").contains(&SCANNED)
}

/// True if the threads that share the loop `op` combine their reduced values at its end.
pub fn reduces(ir: &Ir, op: Op) -> bool {
    let words = strings(ir, op, "combine");
    words.iter().any(|word| *word != SCANNED) && !goes_on(ir, op)
}

/// True if every reduction result of thread loop `op` is only the initial value of the same reduction in another thread
/// loop. Each thread then continues with its own partial results, and they are combined at the end of that loop only.
pub fn goes_on(ir: &Ir, op: Op) -> bool {
    let spread = |op: Op| ir.is(op, &FOR) && ir.str_of(op, "map") == Some("thread");
    let first = ir.results(op).first();
    let Some(next) = first.and_then(|&result| ir.users(result).next()) else {
        return false;
    };
    if !spread(op) || !spread(next) || ir.parent_block(next) != ir.parent_block(op) {
        return false;
    }
    let [words, others] = [op, next].map(|op| strings(ir, op, "combine"));
    ir.results(op).iter().enumerate().all(|(number, &result)| {
        let mut uses = ir.uses(result).map(|slot| ir.use_owner(slot));
        let (Some((user, at)), None) = (uses.next(), uses.next()) else {
            return false;
        };
        let word = words.get(number).filter(|word| **word != SCANNED);
        let other = at.checked_sub(3).and_then(|at| others.get(at));
        user == next && word.is_some() && word == other
    })
}
