//! Segmentation and rematerialization in turns, until nothing falls.
//!
//! Merging pays for every value that crosses; rematerialization then finds that some of them need not, and kernels that
//! were kept apart by them may share a walk. So, on a copy: rematerialize what is drawn, dissolve the borders, go on merging
//! and refining from these groups, rematerialize again. A round is kept only if the cost fell strictly; the first that does
//! not ends it. Without a round that is kept the program stays as it was drawn, and the `remat` pass has its turn later.
//!
//! Never undoes what a hint or a border of the user demands: merging goes on under the same rules. Bounded by the number of
//! rounds and of ops.

use fuser_dialects::task;
use fuser_dialects::task::outline::dissolve;
use fuser_ir::{Ir, Op};

use super::apply::{Draw, draw};
use super::bottom_up::BottomUp;
use super::graph::{Graph, Index};
use super::record::{Action, Record};
use super::refine::refine;
use super::search::{Group, Options, budget};
use super::verdict::Planner;
use crate::cost::{Cost, Refusal, boundary};
use crate::remat::{Config, improve, plan_of};

/// The most ops: beyond, the search over what is written costs more than a segmentation should.
const MAX_OPS: usize = 1024;
/// Steps of that search in a turn, times segments: each step may solve all of them. It only looks ahead; the `remat` pass
/// searches further.
const STEPS: u64 = 1024;

/// Takes turns on the drawn segments of `program`, at most `most` times; gives a record of each turn.
pub(super) fn rounds(
    ir: &mut Ir,
    program: Op,
    planner: &mut Planner,
    options: &Options,
    most: u64,
) -> Vec<Record> {
    let mut records = Vec::new();
    let count = segments(ir, program).len() as u64;
    if most == 0 || count < 2 || ir.walk(program).len() > MAX_OPS {
        return records;
    }
    let objective = planner.model.objective;
    let config = Config {
        steps: (STEPS / count).max(8),
        ..Config::default()
    };
    let mut state = ir.clone();
    if !improve(&mut state, program, &planner.model, &config).changed {
        return records;
    }
    let mut cost = total(&state, program, planner);
    for _ in 0..most {
        let mut trial = state.clone();
        if !regroup(&mut trial, program, planner, options).unwrap_or(false) {
            break;
        }
        improve(&mut trial, program, &planner.model, &config);
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

fn segments(ir: &Ir, program: Op) -> Vec<Op> {
    let children = ir.children(program).into_iter();
    children.filter(|&op| ir.is(op, &task::SEGMENT)).collect()
}

fn total(ir: &Ir, program: Op, planner: &Planner) -> Cost {
    let model = &planner.model;
    let cost = |&segment: &Op| match plan_of(ir, segment, model) {
        Some(plan) => plan.cost,
        None => {
            let (inputs, outputs) = boundary(ir, &ir.children(segment));
            let values = inputs.iter().chain(&outputs);
            let bytes = values.map(|&v| model.bindings.bytes(ir, v));
            Cost {
                read_bytes: bytes.fold(0, u64::saturating_add),
                launches: 1,
                ..Cost::default()
            }
        }
    };
    let costs = segments(ir, program).iter().map(cost).collect::<Vec<_>>();
    costs.iter().fold(Cost::default(), |sum, c| sum.plus(c))
}

/// Merges and refines from the groups that are drawn; says whether a group changed.
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
        let places = ops.into_iter().filter_map(|op| graph.place(op));
        let members: Vec<Index> = places.filter(|&p| !graph.free[p as usize]).collect();
        if !members.is_empty() {
            groups.push(Group {
                verdict: planner.ask(ir, &graph, &members).ok(),
                members,
                ..Group::default()
            });
        }
    }
    let mut records = Vec::new();
    let questions = budget(options, groups.len());
    let search = BottomUp::new(ir, &graph, planner, &mut records, groups);
    let mut groups = search.run(questions);
    if options.refine {
        let ops = options.evaluations.saturating_mul(graph.len() as u64);
        groups = refine(ir, &graph, planner, &mut records, groups, ops);
    }
    if records.iter().all(|r| r.refusal.is_some()) {
        return Some(false);
    }
    draw(ir, block, &Draw::all(&graph, &groups), &graph.free_ops());
    Some(true)
}
