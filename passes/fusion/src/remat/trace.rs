//! Cache of solved kernels: a kernel that equals a solved one in everything the solver examined has the same solution.
//!
//! Layers of a program are equal except for the numbers of their values and ops. A trace is a traversal from the
//! operands of a kernel's core, over the ops that the solver followed. It records every fact that the solver uses, with
//! values and ops numbered by their position in the traversal. The choice is stored in these positions too. To look a
//! kernel up, it is traversed along a trace; if every fact is equal, the choice is translated back.
//!
//! Guarantees: a cached choice is exactly the one that the solver would find. Few traces with one beginning are kept,
//! and the facts of all traces are bounded.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::cut::{Choice, Core, Given, NOWHERE};

/// The most traces kept for one beginning: the first and last layers of a program differ from the others.
const MAX_ALIKE: usize = 4;
/// The most facts kept in all traces: eight MiB.
const MAX_FACTS: usize = 1 << 20;

/// The trace of a solved kernel.
#[derive(Debug)]
struct Trace {
    facts: Vec<u64>,
    /// For each op of the traversal, true if the traversal continues from it.
    follows: Vec<bool>,
    /// The choice, in positions of the traversal; `None` if a value that the kernel needs is unavailable.
    choice: Option<Choice>,
    work: u64,
}

/// The traces of solved kernels.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// Traces by a hash of their beginning.
    known: FxHashMap<u64, Vec<Trace>>,
    facts: usize,
    walk: Walk,
}

/// A choice, or `None` if there is none, and the work of finding it.
pub(super) type Outcome = (Option<Choice>, u64);

impl Traces {
    /// The outcome for the kernel, if an equal one was solved.
    pub fn find(&mut self, given: Given<'_>, core: &Core) -> Option<Outcome> {
        let alike = self.known.get(&beginning(given, core))?;
        let walk = &mut self.walk;
        alike.iter().rev().find_map(|trace| {
            let mut facts = trace.facts.iter();
            let follows = |place: usize, _| trace.follows.get(place).copied().unwrap_or(false);
            let same = walk.run(given, core, follows, |fact| facts.next() == Some(&fact));
            let outcome = (same && facts.next().is_none()).then(|| {
                let choice = trace.choice.as_ref();
                (choice.map(|choice| walk.numbers(choice)), trace.work)
            });
            walk.clear();
            outcome
        })
    }
    /// Stores the outcome for a kernel. `entered` is true for the ops that the solver followed.
    pub fn keep(
        &mut self,
        given: Given<'_>,
        core: &Core,
        entered: impl Fn(u32) -> bool,
        (choice, work): &Outcome,
    ) {
        let mut facts = Vec::new();
        let all = |fact| {
            facts.push(fact);
            true
        };
        self.walk.run(given, core, |_, op| entered(op), all);
        let trace = Trace {
            facts,
            follows: self.walk.ops.iter().map(|&op| entered(op)).collect(),
            choice: choice.as_ref().map(|choice| self.walk.places(choice)),
            work: *work,
        };
        self.walk.clear();
        if self.facts > MAX_FACTS {
            self.known.clear();
            self.facts = 0;
        }
        self.facts += trace.facts.len();
        let alike = self.known.entry(beginning(given, core)).or_default();
        if alike.len() == MAX_ALIKE {
            alike.remove(0);
        }
        alike.push(trace);
    }
}

/// A hash of the beginning of a trace.
fn beginning(given: Given<'_>, core: &Core) -> u64 {
    let mut hasher = FxHasher::default();
    core.reads.len().hash(&mut hasher);
    for &value in &core.reads {
        (given.may_load(value), given.load_price(value)).hash(&mut hasher);
    }
    hasher.finish()
}

/// A traversal from the operands of a core. Its buffers are reused.
#[derive(Debug, Default)]
struct Walk {
    values: Vec<u32>,
    ops: Vec<u32>,
    /// The position of every value of the problem in the traversal, or [`NOWHERE`].
    value_places: Vec<u32>,
    op_places: Vec<u32>,
}

impl Walk {
    /// Traverses while `fact` returns true: from each value to the op that may compute it, and from each op, if
    /// `follows` returns true for its position and number, to its operands and results. Returns true if it reached the
    /// end.
    fn run(
        &mut self,
        given: Given<'_>,
        core: &Core,
        follows: impl Fn(usize, u32) -> bool,
        mut fact: impl FnMut(u64) -> bool,
    ) -> bool {
        self.value_places
            .resize(given.problem.values.len(), NOWHERE);
        self.op_places.resize(given.problem.ops.len(), NOWHERE);
        for &value in &core.reads {
            place(value, &mut self.values, &mut self.value_places);
        }
        let mut at = 0;
        let mut same = fact(core.reads.len() as u64);
        while same && at < self.values.len() {
            let value = self.values[at];
            at += 1;
            let is_had = u64::from(core.values.binary_search(&value).is_ok());
            let may_load = given.may_load(value);
            let price = if may_load { given.load_price(value) } else { 0 };
            same = fact(price) && fact(2 * u64::from(may_load) + is_had);
            let Some(op) = given.producer(value) else {
                same = same && fact(u64::MAX);
                continue;
            };
            let known = self.ops.len();
            let number = place(op, &mut self.ops, &mut self.op_places);
            same = same && fact(u64::from(number));
            if same && self.ops.len() > known {
                same = self.op(given, core, op, follows(known, op), &mut fact);
            }
        }
        same
    }
    /// Visits the facts of an op.
    fn op(
        &mut self,
        given: Given<'_>,
        core: &Core,
        op: u32,
        follows: bool,
        fact: &mut impl FnMut(u64) -> bool,
    ) -> bool {
        let is_native = u64::from(given.is_native(op));
        let is_core = u64::from(core.ops.binary_search(&op).is_ok());
        let flags = 4 * u64::from(follows) + 2 * is_core + is_native;
        if !fact(given.price(op)) || !fact(flags) {
            return false;
        }
        let info = &given.problem.ops[op as usize];
        let lists = [info.reads.as_slice(), info.writes.as_slice()];
        lists.into_iter().filter(|_| follows).all(|list| {
            let mut values = list.iter();
            fact(list.len() as u64)
                && values.all(|&value| {
                    let number = place(value, &mut self.values, &mut self.value_places);
                    fact(u64::from(number))
                })
        })
    }
    /// Translates a choice from numbers of the problem to positions of the traversal.
    fn places(&self, choice: &Choice) -> Choice {
        let value = |value: &u32| self.value_places[*value as usize];
        let op = |op: &u32| self.op_places[*op as usize];
        choice.map(value, op)
    }
    /// Translates a choice from positions of the traversal to numbers of the problem.
    fn numbers(&self, choice: &Choice) -> Choice {
        let value = |place: &u32| self.values[*place as usize];
        let op = |place: &u32| self.ops[*place as usize];
        let mut choice = choice.map(value, op);
        choice.loads.sort_unstable();
        choice.computes.sort_unstable();
        choice
    }
    fn clear(&mut self) {
        for value in self.values.drain(..) {
            self.value_places[value as usize] = NOWHERE;
        }
        for op in self.ops.drain(..) {
            self.op_places[op as usize] = NOWHERE;
        }
    }
}

/// The position of `number` in `list`, to which it is appended if it is not there.
fn place(number: u32, list: &mut Vec<u32>, places: &mut [u32]) -> u32 {
    let place = &mut places[number as usize];
    if *place == NOWHERE {
        *place = list.len() as u32;
        list.push(number);
    }
    *place
}
