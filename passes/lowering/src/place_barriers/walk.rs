//! Walks over a flattened function, which find where threads must wait.

use std::cmp::Reverse;

use fuser_dialects::kernel::rounds;
use fuser_ir::{Ir, Op};
use rustc_hash::FxHashSet;

use super::place::Places;
use super::{Access, By, Event, State};

/// Walks before we give up and put a barrier before every access. Two or three do.
const MAX_WALKS: usize = 64;

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
    waits.filter_map(Event::op).collect()
}

struct Analysis<'a> {
    places: Places<'a>,
    waits: FxHashSet<Op>,
    /// For each loop, in order, what its body leaves behind for its next iteration.
    carried: Vec<State>,
}

/// A loop that a walk is in.
struct Open {
    op: Op,
    number: usize,
    /// The accesses before it.
    before: Levels,
}

/// The accesses since the last barrier: those in no loop, in the outermost loop that is open, and so on.
type Levels = Vec<State>;

fn extend(levels: &mut Levels, more: &[State]) {
    for (level, more) in levels.iter_mut().zip(more) {
        level.extend(more);
    }
}

impl Analysis<'_> {
    /// One walk: true if it found more than the one before. Where an op must wait and does not, a barrier is added; without `adds`, there is
    /// no answer.
    fn walk(&mut self, events: &[Event], adds: bool) -> Option<bool> {
        let (mut grew, mut number) = (false, 0);
        let mut levels = vec![State::new()];
        let (mut loops, mut branches) = (Vec::<Open>::new(), Vec::new());
        for event in events {
            let waits = event.op().is_some_and(|op| self.waits.contains(&op));
            if waits || matches!(event, Event::Barrier) {
                levels.iter_mut().for_each(State::clear);
            }
            match event {
                Event::Barrier => {}
                Event::Behind(accesses) => levels.last_mut()?.extend(accesses),
                Event::Access(op, accesses) => {
                    if let Some(level) = self.conflict(&levels, accesses) {
                        grew = adds.then_some(true)?;
                        // What was before a loop is waited for before that loop.
                        let at = loops.get(level).map_or(*op, |open| open.op);
                        self.waits.insert(at);
                        levels[..=level].iter_mut().for_each(State::clear);
                    }
                    levels.last_mut()?.extend(accesses);
                }
                Event::LoopBegin(op) => {
                    let before = levels.clone();
                    loops.push(Open {
                        op: *op,
                        number,
                        before,
                    });
                    let known = self.carried.len().max(number + 1);
                    self.carried.resize(known, State::new());
                    levels.push(self.carried[number].clone());
                    number += 1;
                }
                Event::LoopEnd => {
                    let (open, left) = (loops.pop()?, levels.pop()?);
                    // A loop of one iteration leaves nothing to another one.
                    if !self.places.is_single(open.op) {
                        grew |= self.carry(&open, &left);
                    }
                    if !runs(self.places.ir, open.op) {
                        extend(&mut levels, &open.before);
                    }
                    levels.last_mut()?.extend(&left);
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
                let mut alike = alike.filter(|b| a.writes || b.writes);
                alike.any(|b| match (a.place, b.place) {
                    _ if (a.by, b.by) == (By::First, By::First) => false,
                    (Some(one), Some(two)) => !self.places.apart(one, a.over, two),
                    _ => true,
                })
            })
        })
    }
    /// Notes the accesses that one iteration of a loop leaves to the next; true if there are new ones.
    fn carry(&mut self, open: &Open, left: &State) -> bool {
        let left = left.iter().map(|access| match access.place {
            Some(id) if self.places.changes(id, open.op) => Access {
                over: Some(open.op),
                ..*access
            },
            _ => *access,
        });
        let carried = &mut self.carried[open.number];
        let before = carried.len();
        carried.extend(left);
        carried.len() != before
    }
    /// Drops each barrier that the others leave without work, those of the innermost loops first.
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

/// True if a loop has an iteration for sure.
fn runs(ir: &Ir, op: Op) -> bool {
    let bound = |n| rounds::literal(ir, ir.operand(op, n));
    bound(0)
        .zip(bound(1))
        .is_some_and(|(lower, upper)| lower < upper)
}
