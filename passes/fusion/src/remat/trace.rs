//! Kernels that were solved before: one that looks the same, as far as was looked, is solved the same.
//!
//! Layers of a program are equal but for the numbers of their values and ops. A trace is a walk from what the core of a kernel reads, over
//! the ops that solving followed; of each value and op it has all that solving asks of it, and values and ops go by their places in the walk.
//! The choice is kept with the trace, in such places too. Another kernel is walked along a trace, and where each fact is the
//! same, the choice is read off.
//!
//! Guarantees: what is found is what solving would find, to the last number. Of traces that begin the same few are kept, and of
//! all of them no more than memory allows.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::cut::{Choice, Core, Given, NOWHERE};

/// Traces with one beginning that are kept: those of the first and the last layers differ from the others.
const MAX_ALIKE: usize = 4;
/// Facts of all traces that are kept: eight MiB.
const MAX_FACTS: usize = 1 << 20;

/// A kernel that was solved.
#[derive(Debug)]
struct Trace {
    facts: Vec<u64>,
    /// For each op of the walk whether the walk goes on from it.
    follows: Vec<bool>,
    /// The choice, in places of the walk; `None` where the kernel cannot have what it needs.
    choice: Option<Choice>,
    work: u64,
}

/// The kernels that were solved.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// By their beginnings.
    known: FxHashMap<u64, Vec<Trace>>,
    facts: usize,
    walk: Walk,
}

/// A choice, `None` where there is none, and the work of finding it.
pub(super) type Outcome = (Option<Choice>, u64);

impl Traces {
    /// The outcome for the kernel, where one that looks the same was solved.
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
    /// Keeps the outcome for a kernel. `entered` tells the ops that solving followed.
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

/// The beginning of a trace as one number.
fn beginning(given: Given<'_>, core: &Core) -> u64 {
    let mut hasher = FxHasher::default();
    core.reads.len().hash(&mut hasher);
    for &value in &core.reads {
        (given.may_load(value), given.load_price(value)).hash(&mut hasher);
    }
    hasher.finish()
}

/// A walk from what a core reads. Its lists are kept from one to the next.
#[derive(Debug, Default)]
struct Walk {
    values: Vec<u32>,
    ops: Vec<u32>,
    /// The place of every value of the problem in the walk, or [`NOWHERE`].
    value_places: Vec<u32>,
    op_places: Vec<u32>,
}

impl Walk {
    /// Walks while `fact` says so: from each value to the op that may make it, and from each op for whose place and number
    /// `follows` says so to what it reads and makes. Says whether it came to the end.
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
    /// The facts of an op.
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
    /// A choice in numbers of the problem as one in places of the walk.
    fn places(&self, choice: &Choice) -> Choice {
        let value = |value: &u32| self.value_places[*value as usize];
        let op = |op: &u32| self.op_places[*op as usize];
        choice.map(value, op)
    }
    /// A choice in places of the walk as one in numbers of the problem.
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

/// The place of `number` in `list`, at whose end it is put where it has none.
fn place(number: u32, list: &mut Vec<u32>, places: &mut [u32]) -> u32 {
    let place = &mut places[number as usize];
    if *place == NOWHERE {
        *place = list.len() as u32;
        list.push(number);
    }
    *place
}
