//! Rounds of rematerialization and segmentation, until the cost stops falling.
//!
//! Merging counts every value that crosses. Rematerialization then finds values that need not cross, and kernels
//! separated by them may share a loop nest. A round works on a copy: it rematerializes the drawn segments, dissolves
//! them, continues to merge and refine from these groups, and rematerializes again. A round is kept only if the cost
//! strictly falls; the first round that fails ends the loop. Without a kept round the program stays as drawn, and the
//! `remat` pass runs later.
//!
//! Never violates hints or user boundaries: merging follows the same rules. Bounded by the number of rounds and by a
//! budget of counted work, not of time. If the budget ends the rounds, a record says so.

use fuser_analysis::cost::{Cost, Refusal};
use fuser_dialects::task;
use fuser_dialects::task::outline::dissolve;
use fuser_ir::{Ir, Op};

use super::apply::{Draw, draw};
use super::graph::{Graph, Index};
use super::record::{Action, Record};
use super::search::{Group, Options, Search};
use crate::budget::Budget;
use crate::planner::Planner;
use crate::remat::{Config, drawn, improve};

pub(super) use crate::remat::{Contents, Foreseen};

/// The number of cost queries that take as long as rematerializing `ops` ops. A program for which this exceeds the
/// share of all rounds gets no round.
fn worth(ops: u64) -> u64 {
    ops.saturating_mul(Config::DEFAULT.work) / Budget::PER_QUESTION
}

/// True if the model has a plan for a drawn segment.
pub(super) fn has_plan(ir: &Ir, segment: Op, planner: &mut Planner) -> bool {
    drawn(ir, segment, planner).is_some()
}

/// Runs at most `most` rounds on the drawn segments of `program`; returns a record of each.
pub(super) fn rounds(
    ir: &mut Ir,
    program: Op,
    planner: &mut Planner,
    options: &Options,
    most: u64,
) -> Vec<Record> {
    let mut records = Vec::new();
    if most == 0 || segments(ir, program).len() < 2 {
        return records;
    }
    let ops = ir.walk(program).len() as u64;
    if worth(ops) > Budget::ROUNDS {
        records.push(ended(ops));
        return records;
    }
    let share = Budget::rounds(usize::try_from(ops).unwrap_or(usize::MAX)).left();
    let end = planner.budget.left().saturating_sub(share);
    let objective = planner.model.objective;
    // Rounds are compared after rematerialization. `ir` is replaced only by a state with a lower price.
    let mut state = ir.clone();
    if !rematerialize(&mut state, program, planner) {
        return records;
    }
    let mut cost = total(&state, program, planner);
    for _ in 0..most {
        if planner.budget.left() <= end {
            records.push(ended(ops));
            break;
        }
        let mut trial = state.clone();
        if !regroup(&mut trial, program, planner, options).unwrap_or(false) {
            break;
        }
        rematerialize(&mut trial, program, planner);
        let after = total(&trial, program, planner);
        let falls = after.key(objective) < cost.key(objective);
        let refusal = (!falls).then(|| Refusal::NoGain {
            before: cost.key(objective).0,
            after: after.key(objective).0,
        });
        records.push(Record {
            action: Action::Round,
            parts: Vec::new(),
            ops: segments(&trial, program).len(),
            refusal,
            before: Some(cost),
            after: Some(after),
        });
        if !falls {
            break;
        }
        (state, cost) = (trial, after);
        *ir = state.clone();
    }
    records
}

/// Rematerializes, and deducts the work from the budget; returns true if something changed.
pub(super) fn rematerialize(ir: &mut Ir, program: Op, planner: &mut Planner) -> bool {
    let outcome = improve(ir, program, planner, &Config::DEFAULT, None);
    planner.budget.spend(outcome.work / Budget::PER_QUESTION);
    outcome.changed
}

/// The record that rounds were not run, because the program has too many ops.
fn ended(ops: u64) -> Record {
    let limit = Budget::ROUNDS * Budget::PER_QUESTION / Config::DEFAULT.work;
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (ops, limit) = (count(ops), count(limit));
    Record {
        action: Action::Round,
        parts: Vec::new(),
        ops,
        refusal: Some(Refusal::TooManyOps { ops, limit }),
        before: None,
        after: None,
    }
}

/// The costs of the drawn segments of `program`: as drawn, and after rematerialization unless that is too much work.
pub(super) fn prices(ir: &Ir, program: Op, planner: &mut Planner) -> [Cost; 2] {
    let drawn = total(ir, program, planner);
    if worth(ir.walk(program).len() as u64) > Budget::ROUNDS {
        return [drawn; 2];
    }
    let mut copy = ir.clone();
    rematerialize(&mut copy, program, planner);
    [drawn, total(&copy, program, planner)]
}

fn segments(ir: &Ir, program: Op) -> Vec<Op> {
    let children = ir.children(program).into_iter();
    children.filter(|&op| ir.is(op, &task::SEGMENT)).collect()
}

fn total(ir: &Ir, program: Op, planner: &mut Planner) -> Cost {
    let cost = |&segment: &Op| match drawn(ir, segment, planner) {
        Some(cost_result) => cost_result.cost,
        // A segment that no kernel can hold is split when it is scheduled.
        None => {
            let ops = ir.children(segment).into_iter();
            let ops = ops.filter(|&op| !ir.is(op, &task::YIELD));
            ops.fold(Cost::default(), |sum, op| sum.plus(&alone(ir, op, planner)))
        }
    };
    let costs = segments(ir, program).iter().map(cost).collect::<Vec<_>>();
    costs.iter().fold(Cost::default(), |sum, c| sum.plus(c))
}

/// The cost of an op by itself: each operand is read once and each result written once.
fn alone(ir: &Ir, op: Op, planner: &Planner) -> Cost {
    let values = ir.operands(op).chain(ir.results(op).iter().copied());
    let bytes = values.map(|v| planner.model.bindings.bytes(ir, v));
    Cost {
        read_bytes: bytes.fold(0, u64::saturating_add),
        kernels: 1,
        launches: 1,
        ..Cost::default()
    }
}

/// Merges and refines from the drawn groups; returns true if a group changed.
fn regroup(ir: &mut Ir, program: Op, planner: &mut Planner, options: &Options) -> Option<bool> {
    let block = ir.body(program, 0)?;
    let drawn = segments(ir, program);
    let contents: Vec<Vec<Op>> = drawn
        .iter()
        .map(|&s| {
            let ops = ir.children(s).into_iter();
            ops.filter(|&op| !ir.is(op, &task::YIELD)).collect()
        })
        .collect();
    if !drawn.into_iter().all(|segment| dissolve(ir, segment)) {
        return None;
    }
    let graph = Graph::build(ir, block, &planner.model.bindings);
    let mut groups = Vec::with_capacity(contents.len());
    for ops in contents {
        let positions = ops.into_iter().filter_map(|op| graph.position(op));
        let members: Vec<Index> = positions.filter(|&p| !graph.free[p as usize]).collect();
        if !members.is_empty() {
            groups.push(Group {
                cost_result: planner.evaluate(ir, &graph, &members).ok(),
                members,
                ..Group::default()
            });
        }
    }
    let mut search = Search::new(ir, &graph, planner, options);
    let groups = search.merge(groups);
    let groups = search.settle(groups);
    if search.records.iter().all(|r| r.refusal.is_some()) {
        return Some(false);
    }
    draw(ir, block, &Draw::all(&graph, &groups), &graph.free_ops());
    Some(true)
}
