//! Walks over a flattened function, which find where threads must wait.

use std::cmp::Reverse;

use fuser_dialects::kernel::rounds;
use fuser_ir::{Ir, Op};
use rustc_hash::FxHashSet;

use super::place::Places;
use super::{Access, By, Event, State, Turn};

/// The maximum number of walks; beyond it every access gets a barrier. Two or three walks suffice in practice.
const MAX_WALKS: usize = 64;

/// The maximum nesting depth of loops whose first iterations are walked separately. Each such loop doubles the walk of
/// its contents.
const MAX_TURNS: usize = 4;

/// The ops before which all threads must wait, in program order.
pub fn waits(places: Places<'_>, events: &[Event]) -> Vec<Op> {
    let mut analysis = Analysis {
        places,
        waits: FxHashSet::default(),
        carried: Vec::new(),
    };
    let settled = (0..MAX_WALKS).any(|_| analysis.walk(events, true) == Some(false));
    if settled {
        analysis.drop_idle(events);
    }
    let waits = events.iter().filter(|event| match event {
        Event::Access(op, _) => !settled || analysis.waits.contains(op),
        Event::LoopBegin(op) => settled && analysis.waits.contains(op),
        _ => false,
    });
    let mut ops: Vec<Op> = waits.filter_map(Event::op).collect();
    // A loop that scans and reduces has several events.
    ops.dedup();
    ops
}

struct Analysis<'a> {
    places: Places<'a>,
    waits: FxHashSet<Op>,
    /// For each loop, in order, the accesses of one iteration that are pending at the start of the next.
    carried: Vec<State>,
}

/// A loop that a walk is in.
struct Open {
    op: Op,
    /// Its place among the events.
    begin: usize,
    number: usize,
    /// The iterations that the walk is in, where it treats the first iteration and later ones separately.
    turn: Option<Turn>,
    /// The accesses before it.
    before: Levels,
    /// The accesses behind its first iteration, and those of that iteration last.
    once: Levels,
}

/// The accesses since the last barrier, by loop level: outside of all loops, in the outermost open loop, and so on.
type Levels = Vec<State>;

fn extend(levels: &mut Levels, more: &[State]) {
    for (level, more) in levels.iter_mut().zip(more) {
        level.extend(more);
    }
}

impl Analysis<'_> {
    /// Walks the events once; true if the carried states grew. Adds missing barriers if `adds` is set; otherwise
    /// returns `None` at the first missing one.
    fn walk(&mut self, events: &[Event], adds: bool) -> Option<bool> {
        let (mut grew, mut number) = (false, 0);
        let mut levels = vec![State::new()];
        let (mut loops, mut branches) = (Vec::<Open>::new(), Vec::new());
        let mut at = 0;
        while let Some(event) = events.get(at) {
            at += 1;
            let waits = event.op().is_some_and(|op| self.waits.contains(&op));
            if waits || matches!(event, Event::Barrier) {
                levels.iter_mut().for_each(State::clear);
            }
            match event {
                Event::Barrier => {}
                Event::Behind(accesses) => levels.last_mut()?.extend(accesses),
                Event::Access(op, accesses) => {
                    let turn = loops.last().and_then(|open| open.turn);
                    let accesses: State = accesses.iter().map(|&a| Access { turn, ..a }).collect();
                    if let Some(level) = self.conflict(&levels, &accesses) {
                        grew = adds.then_some(true)?;
                        // What was before a loop is waited for before that loop.
                        let at = loops.get(level).map_or(*op, |open| open.op);
                        self.waits.insert(at);
                        levels[..=level].iter_mut().for_each(State::clear);
                    }
                    levels.last_mut()?.extend(accesses);
                }
                Event::LoopBegin(op) => {
                    let walked = loops.iter().filter(|open| open.turn.is_some()).count();
                    let alone = walked < MAX_TURNS && self.places.tells(*op);
                    let once = runs_once(&self.places, *op);
                    let known = self.carried.len().max(number + 1);
                    self.carried.resize(known, State::new());
                    let turn = (alone && !once).then_some(Turn::First);
                    loops.push(Open {
                        op: *op,
                        begin: at,
                        number,
                        turn,
                        before: levels.clone(),
                        once: Levels::new(),
                    });
                    levels.push(match turn {
                        Some(_) => State::new(),
                        None => self.carried[number].clone(),
                    });
                    number += 1;
                }
                Event::LoopEnd => {
                    let open = loops.last_mut()?;
                    // A loop of one iteration leaves nothing to another one.
                    if !runs_once(&self.places, open.op) {
                        grew |= carry(
                            &self.places,
                            &mut self.carried[open.number],
                            open.op,
                            levels.last()?,
                        );
                    }
                    if open.turn == Some(Turn::First) {
                        open.turn = Some(Turn::Later);
                        open.once = levels.clone();
                        *levels.last_mut()? = self.carried[open.number].clone();
                        at = open.begin;
                        continue;
                    }
                    let (open, left) = (loops.pop()?, levels.pop()?);
                    let iterations = iterations(self.places.ir, open.op);
                    if iterations < 1 {
                        extend(&mut levels, &open.before);
                    }
                    levels.last_mut()?.extend(&left);
                    if iterations < 2 {
                        extend(&mut levels, &open.once);
                        levels
                            .last_mut()?
                            .extend(open.once.last().into_iter().flatten());
                    }
                }
                Event::IfBegin => branches.push((levels.clone(), Levels::new())),
                Event::Else => {
                    let (before, then) = branches.last_mut()?;
                    *then = std::mem::replace(&mut levels, before.clone());
                }
                Event::IfEnd => extend(&mut levels, &branches.pop()?.1),
            }
        }
        Some(grew)
    }
    /// The innermost level with an access that one of `next` must wait for.
    fn conflict(&mut self, levels: &Levels, next: &State) -> Option<usize> {
        levels.iter().rposition(|before| {
            before.iter().any(|a| {
                let alike = next.iter().filter(|b| a.memory == b.memory);
                let mut alike = alike.filter(|b| (a.writes || b.writes) && !(a.once && b.once));
                alike.any(|b| match (a.place, b.place) {
                    _ if (a.by, b.by) == (By::First, By::First) => false,
                    (Some(one), Some(two)) => {
                        let turns = a.turn.zip(b.turn).is_some_and(|(a, b)| a != b);
                        !self.places.apart(one, a.over, two, turns)
                    }
                    _ => true,
                })
            })
        })
    }
    /// Drops each barrier that the other barriers make redundant, starting in the innermost loops.
    fn drop_idle(&mut self, events: &[Event]) {
        let (mut depth, mut placed) = (0, Vec::new());
        for event in events {
            let op = event.op().filter(|op| self.waits.contains(op));
            placed.extend(op.map(|op| (Reverse(depth), op)));
            match event {
                Event::LoopBegin(_) => depth += 1,
                Event::LoopEnd => depth -= 1,
                _ => {}
            }
        }
        placed.sort_by_key(|(depth, _)| *depth);
        for (_, op) in placed {
            self.waits.remove(&op);
            if !self.holds(events) {
                self.waits.insert(op);
            }
        }
    }
    /// True if no op must wait that does not.
    fn holds(&mut self, events: &[Event]) -> bool {
        self.carried.clear();
        let mut walks = (0..MAX_WALKS).map(|_| self.walk(events, false));
        walks.find(|grew| *grew != Some(true)) == Some(Some(false))
    }
}

/// Adds the accesses `left` by one iteration of the loop `op` to those pending for the next; true if any was new. A
/// grid loop keeps only accesses to memory of the block.
fn carry(places: &Places<'_>, carried: &mut State, op: Op, left: &State) -> bool {
    let (ir, of_grid) = (places.ir, is_of_grid(places.ir, op));
    let left = left
        .iter()
        .filter(|access| !of_grid || access.memory.is_of_block(ir));
    let left = left.map(|access| match access.place {
        Some(id) if places.changes(id, op) => Access {
            over: Some(op),
            ..*access
        },
        _ => *access,
    });
    let before = carried.len();
    carried.extend(left);
    carried.len() != before
}

fn is_of_grid(ir: &Ir, op: Op) -> bool {
    ir.str_of(op, "map") == Some("grid")
}

/// True if a thread runs at most one iteration of a loop; of a group loop, it runs the iteration of its group.
fn runs_once(places: &Places<'_>, op: Op) -> bool {
    places.ir.str_of(op, "map") == Some("group") || places.is_single(op)
}

/// A lower bound on the iterations of a loop in a block or thread: 0, 1, or 2 for two and more.
fn iterations(ir: &Ir, op: Op) -> u8 {
    if matches!(ir.str_of(op, "map"), Some("grid" | "group")) {
        return 0;
    }
    let [lower, upper, step] = [0, 1, 2].map(|n| rounds::literal(ir, ir.operand(op, n)));
    match (lower, upper, step) {
        (Some(lower), Some(upper), Some(step)) if upper.saturating_sub(lower) > step => 2,
        (Some(lower), Some(upper), _) if lower < upper => 1,
        _ => 0,
    }
}
