//! In-place updates: results written directly into the argument that they overwrite.
//!
//! A result with `{alias = i}` overwrites argument `i`, and every read of the argument sees the old contents. If all
//! users of the argument have read it before the result is written, the result can use the argument's memory: the pass
//! marks it `in_place`. Otherwise the result has memory of its own, is copied at the very end, and a remark gives the
//! reason.
//!
//! ```text
//! task.program @f(%x: tensor<8xf32>) -> (tensor<8xf32> {alias = 0 : i64})    =>    {alias = 0 : i64, in_place}
//! ```
//!
//! The order of reads is known only once sweeps exist, so the pass runs after `schedule`. A segment that writes too
//! early moves behind the last user unless it feeds that user. Segments that depend on it move along.
//!
//! Reading order: `users.rs` (the users of each argument), `aliasing.rs` (the test that one kernel may read and write
//! the same memory), this file (the decision and the order of segments).
//!
//! Never rewrites an op and never trusts a mark that was there before. Takes time in the size of the program, and for each
//! segment that moves in the range that it moves over.

mod aliasing;
mod users;

use std::collections::BTreeSet;

use fuser_dialects::task;
use fuser_dialects::task::updates::{argument, mark};
use fuser_ir::{Diagnostics, Ir, Value};
use fuser_pass::{PassContext, PassDef, Remark, RemarkKind, StatDef};
use rustc_hash::FxHashMap;

use aliasing::Aliasing;
use users::{Program, Root};

/// `protect-updates`
pub static PROTECT_UPDATES: PassDef = PassDef {
    name: "protect-updates",
    summary: "decides which results are written straight into the argument that they overwrite",
    doc: "A result `{alias = i}` whose kernel may write into the memory of argument `i`, because everyone has read it by then, is \
          marked `in_place`; segments move behind users where that makes it so. The others are copied at the end of the \
          program. Runs after `schedule`; each decision is a remark with its reason.",
    works_on: "task.segment",
    anchor: &["task.program"],
    statistics: &[
        StatDef {
            name: "in-place",
            doc: "results written in place",
        },
        StatDef {
            name: "copied",
            doc: "results made elsewhere and copied over their argument",
        },
        StatDef {
            name: "moved",
            doc: "segments moved behind users",
        },
    ],
    run,
    ..PassDef::EMPTY
};

/// The reason that a result is not written in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// Neither a sweep nor a call that updates an operand computes the result: it is another argument, or the program is not scheduled.
    NotMade,
    /// It overwrites another argument already.
    Taken,
    /// The program also returns the old contents.
    Returned,
    /// A segment that needs the new value reads the old one.
    ReadLater {
        /// The segment.
        segment: String,
    },
    /// A later sweep of its own segment reads the old contents.
    LaterSweep {
        /// The segment.
        segment: String,
    },
    /// Its kernel reads the argument elsewhere, or later, than where it writes.
    OtherElements {
        /// The segment.
        segment: String,
    },
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Conflict::NotMade => write!(f, "no kernel of this program makes it"),
            Conflict::Taken => write!(f, "it is written over another argument already"),
            Conflict::Returned => write!(f, "the program also returns the old contents"),
            Conflict::ReadLater { segment } => {
                write!(f, "@{segment} needs the result and reads the old contents")
            }
            Conflict::LaterSweep { segment } => {
                write!(f, "a later sweep of @{segment} reads the old contents")
            }
            Conflict::OtherElements { segment } => write!(
                f,
                "@{segment} still reads elements of the argument after it has written them"
            ),
        }
    }
}

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let Some(program) = Program::read(ctx.ir, ctx.op) else {
        return Ok(());
    };
    let updates: Vec<(usize, usize)> = (0..program.returned.len())
        .filter_map(|result| Some((result, argument(ctx.ir, ctx.op, result)?)))
        .collect();
    if updates.is_empty() {
        return Ok(());
    }
    let mut decider = Decider {
        order: (0..program.tops.len()).collect(),
        position: (0..program.tops.len()).collect(),
        aliasing: Aliasing::default(),
        written: FxHashMap::default(),
        follows: FxHashMap::default(),
        moved: 0,
        program,
    };
    let mut marks = Vec::with_capacity(updates.len());
    for &(result, argument) in &updates {
        let decision = decider.decide(ctx.ir, result, argument);
        tell(ctx, result, argument, decision.as_ref().err());
        marks.push((result, decision.is_ok()));
    }
    ctx.count("moved", decider.moved);
    if decider.moved > 0 {
        decider.reorder(ctx.ir);
    }
    for (result, in_place) in marks {
        mark(ctx.ir, ctx.op, result, in_place);
    }
    Ok(())
}

fn tell(ctx: &mut PassContext<'_>, result: usize, argument: usize, conflict: Option<&Conflict>) {
    let place = ctx.place(ctx.op);
    let remark = match conflict {
        None => {
            ctx.count("in-place", 1);
            let text = format!("result {result} is written in place of argument {argument}");
            Remark::new(RemarkKind::Passed, "InPlace", place, text)
        }
        Some(conflict) => {
            ctx.count("copied", 1);
            let text = format!("result {result} is copied over argument {argument} at the end");
            Remark::new(RemarkKind::Missed, "InPlace", place, text).reason(conflict.to_string())
        }
    };
    ctx.remark(remark);
}

/// The decisions so far.
struct Decider {
    program: Program,
    aliasing: Aliasing,
    /// The ops of the program, by number, in the order in which they will run.
    order: Vec<usize>,
    /// The position of each number in `order`.
    position: Vec<usize>,
    /// The values that have a place already.
    written: FxHashMap<Value, usize>,
    /// For each op that writes in place, the ops that must run before it.
    follows: FxHashMap<usize, BTreeSet<usize>>,
    moved: u64,
}

impl Decider {
    /// Returns `Ok` and records the decision if `result` may be written over `argument`; otherwise returns the
    /// conflict.
    fn decide(&mut self, ir: &Ir, result: usize, argument: usize) -> Result<(), Conflict> {
        let root = self.program.root(self.program.returned[result]);
        let made = match root {
            // It is there already.
            Some(Root::Argument(a)) if a == argument => return Ok(()),
            Some(Root::Made(value)) => value,
            _ => return Err(Conflict::NotMade),
        };
        if self.written.contains_key(&made) {
            return Err(Conflict::Taken);
        }
        if self.program.is_returned(argument) {
            return Err(Conflict::Returned);
        }
        let writer = self.program.number_of(ir, made).ok_or(Conflict::NotMade)?;
        self.check_kernel(ir, writer, made, argument)?;
        let users = self.program.users(argument);
        let users: BTreeSet<usize> = users.filter(|&r| r != writer).collect();
        self.run_after(ir, writer, &users)?;
        self.follows.entry(writer).or_default().extend(users);
        self.written.insert(made, argument);
        Ok(())
    }

    /// Returns `Ok` if the segment that computes the value permits an in-place write, else the conflict.
    fn check_kernel(
        &mut self,
        ir: &Ir,
        writer: usize,
        made: Value,
        argument: usize,
    ) -> Result<(), Conflict> {
        let segment = self.program.tops[writer];
        let name = || ir.symbol_name(segment).unwrap_or_default().to_owned();
        let (sweep, index) = users::producer(ir, segment, made).ok_or(Conflict::NotMade)?;
        let old = |v: Value| self.program.root(v) == Some(Root::Argument(argument));
        let other = || Conflict::OtherElements { segment: name() };
        if let Some(updated) = users::updated(ir, sweep) {
            let over = users::writes_over(ir, sweep, updated, old);
            return over.then_some(()).ok_or_else(other);
        }
        if !ir.is(sweep, &task::SWEEP) {
            return Err(Conflict::NotMade);
        }
        let mut later = ir
            .children(segment)
            .into_iter()
            .skip_while(|&op| op != sweep);
        if later.any(|op| op != sweep && ir.is(op, &task::SWEEP) && users::reads(ir, op, old)) {
            return Err(Conflict::LaterSweep { segment: name() });
        }
        let alone = !users::reads(ir, sweep, old);
        match alone || self.aliasing.same(ir, sweep, index, old) {
            true => Ok(()),
            false => Err(other()),
        }
    }

    /// Orders `writer` behind all of `users`.
    fn run_after(
        &mut self,
        ir: &Ir,
        writer: usize,
        users: &BTreeSet<usize>,
    ) -> Result<(), Conflict> {
        let start = self.position[writer];
        let last = users.iter().map(|&r| self.position[r]).max();
        let Some(last) = last.filter(|&last| last > start) else {
            return Ok(());
        };
        let (mut stay, mut later) = (Vec::new(), vec![writer]);
        let mut tainted = BTreeSet::from([writer]);
        for &number in &self.order[start + 1..=last] {
            let before = self.follows.get(&number);
            let bound = before.is_some_and(|b| !b.is_disjoint(&tainted));
            if !bound && self.program.needs[number].is_disjoint(&tainted) {
                stay.push(number);
                continue;
            }
            if users.contains(&number) {
                let name = ir.symbol_name(self.program.tops[number]);
                let segment = name.unwrap_or_default().to_owned();
                return Err(Conflict::ReadLater { segment });
            }
            tainted.insert(number);
            later.push(number);
        }
        self.moved += later.len() as u64;
        stay.append(&mut later);
        for (at, number) in (start..).zip(stay) {
            self.order[at] = number;
            self.position[number] = at;
        }
        Ok(())
    }

    fn reorder(&self, ir: &mut Ir) {
        let Some(end) = self.program.end else { return };
        for &number in &self.order {
            ir.move_before(self.program.tops[number], end);
        }
    }
}
