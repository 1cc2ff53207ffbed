//! A probe for foreign ops that have no iteration space in common with a kernel, for all kernels at once.
//!
//! Once the cost model refused a kernel as it would become, it will most likely refuse others for the same cause. For each
//! kernel the foreign ops nearest to its own are added to the axes of its own ops, each behind the ops that lead from it to
//! them; one that fits by none of the ways that were tried is barred. A way costs what is on it, and is undone.
//!
//! Says nothing of what is further away, and nothing of ops that only together do not fit: these are found when they are tried.

use std::rc::Rc;

use fuser_analysis::axes::{AxisUnion, Mark};
use fuser_ir::{Ir, Value};
use rustc_hash::FxHashMap;

use super::extract::Extract;

/// Foreign ops tried for a kernel, besides two for each that its own ops read from.
const MOST: usize = 24;
/// Ways by which one op is tried.
const MAX_WAYS: u32 = 2;

/// A foreign op on a way back from a kernel.
struct Node {
    op: u32,
    behind: Vec<usize>,
}

/// Pairs of a foreign op and a kernel. Adds what was looked at to `work`.
pub(super) fn conflicts(
    ir: &Ir,
    extract: &Extract,
    names: &Rc<FxHashMap<Value, Value>>,
    work: &mut u64,
) -> Vec<(u32, u32)> {
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); extract.segments.len()];
    for (instances, class) in extract.instances.iter().zip(0u32..) {
        for (kernel, _) in instances {
            let own = &mut own[*kernel as usize];
            if own.last() != Some(&class) {
                own.push(class);
            }
        }
    }
    let mut found = Vec::new();
    for (own, kernel) in own.iter().zip(0u32..) {
        let (first, nodes) = around(extract, own, kernel);
        if first.is_empty() {
            continue;
        }
        *work += (own.len() + nodes.len()) as u64;
        let mut classes = AxisUnion::tracked().with_names(Rc::clone(names));
        let mut ops = own.iter().map(|&op| extract.instance(op, kernel));
        if !ops.all(|op| classes.add(ir, op).is_ok()) {
            continue;
        }
        let barred = unfit(ir, extract, &mut classes, kernel, first, &nodes);
        found.extend(barred.into_iter().map(|op| (op, kernel)));
    }
    found
}

/// The foreign ops nearest to a kernel's own, and which of them its own ops read from.
fn around(extract: &Extract, own: &[u32], kernel: u32) -> (Vec<usize>, Vec<Node>) {
    let problem = &extract.problem;
    let foreign = |value: u32| {
        let producer = problem.values[value as usize].producer?;
        let foreign = !problem.is_native(producer, kernel) && problem.may_compute(producer, kernel);
        foreign.then_some(producer)
    };
    let mut ways = FxHashMap::<u32, u32>::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut enter = |op: u32, nodes: &mut Vec<Node>| {
        let ways = ways.entry(op).or_default();
        *ways += 1;
        (*ways <= MAX_WAYS).then(|| {
            let behind = Vec::new();
            nodes.push(Node { op, behind });
            nodes.len() - 1
        })
    };
    let mut first = Vec::new();
    for &op in own {
        let reads = problem.ops[op as usize].reads.iter();
        for producer in reads.filter_map(|&r| foreign(r)) {
            first.extend(enter(producer, &mut nodes));
        }
    }
    let most = MOST + 3 * first.len();
    let mut at = 0;
    while at < nodes.len() && nodes.len() < most {
        let reads = problem.ops[nodes[at].op as usize].reads.iter();
        for producer in reads.filter_map(|&r| foreign(r)) {
            let behind = enter(producer, &mut nodes);
            nodes[at].behind.extend(behind);
        }
        at += 1;
    }
    (first, nodes)
}

/// A step on a way: an op to add, or back to where it was added.
enum Step {
    Add(usize),
    Undo(Mark),
}

/// The ops that fit by no way, ascending.
fn unfit(
    ir: &Ir,
    extract: &Extract,
    classes: &mut AxisUnion,
    kernel: u32,
    first: Vec<usize>,
    nodes: &[Node],
) -> Vec<u32> {
    let mut fits = FxHashMap::<u32, bool>::default();
    let mut stack: Vec<Step> = first.into_iter().rev().map(Step::Add).collect();
    while let Some(step) = stack.pop() {
        let at = match step {
            Step::Undo(mark) => {
                classes.rollback(mark);
                continue;
            }
            Step::Add(at) => at,
        };
        let node = &nodes[at];
        let mark = classes.mark();
        let fit = classes.add(ir, extract.instance(node.op, kernel)).is_ok();
        *fits.entry(node.op).or_default() |= fit;
        if fit {
            stack.push(Step::Undo(mark));
            stack.extend(node.behind.iter().rev().map(|&n| Step::Add(n)));
        }
    }
    let unfit = fits.into_iter().filter(|(_, fit)| !fit);
    let mut unfit: Vec<u32> = unfit.map(|(op, _)| op).collect();
    unfit.sort_unstable();
    unfit
}
