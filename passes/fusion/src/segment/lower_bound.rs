//! A lower bound on the cost of any grouping: bytes that move in every grouping, and sets of ops that no better
//! grouping separates.
//!
//! A group that is no view loads each value that it reads and does not compute, and writes each value used outside. So
//! the bytes at the boundary of a set of ops are a lower bound for any grouping of them, and a cut through a value
//! costs its bytes once more for each side. With a known grouping, this shows before any query which groups cannot be
//! part of a better one, and which ops are together in all better ones.
//!
//! ```text
//! %a = exp %x ; %s = sum %a ; %y = sub %a, %s     least: %x and %y. Known: 64 bytes more than that.
//!                                                 %a is longer than 64 bytes: exp, sum and sub are one part
//! ```
//!
//! Guarantees: never above the cost model's result for any grouping. A load that may be free counts 0: the load of an
//! op that can be a view, or of a value that windows touch in part only. A window that reads every element of its
//! operand, like a cat or a pad, touches all of it in every loop nest that has the result.

use fuser_analysis::axes::window::{at_least, minus};
use fuser_analysis::axes::{Copies, unwalked, window};
use fuser_analysis::cost::{Cost, is_call, keeps_memory};
use fuser_ir::maps::{Index as At, Map, Reads};
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Value};
use petgraph::graph::DiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::graph::{Graph, Index};

/// A set of parts.
pub(super) type Set = usize;

/// A value with all names that views give it; only one of the names is stored.
#[derive(Clone, Debug)]
struct Class {
    /// Bytes of the name that needs the fewest.
    bytes: u64,
    /// The op that computes it; `None` for a value from outside.
    producer: Option<Index>,
    /// The ops that load the whole value in any group, ascending.
    loads: SmallVec<[Index; 4]>,
    /// The ops among `loads` that share no group with the producer, because a boundary lies between.
    behind: SmallVec<[Index; 2]>,
    /// The ops that read it.
    users: SmallVec<[Index; 4]>,
    /// True if the program returns it.
    escapes: bool,
}

/// The traffic of a class between parts.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    bytes: u64,
    /// The part that computes it, as a set; empty for a value from outside.
    producer: Set,
    /// The parts that load the whole value in any group.
    loads: Set,
    /// The parts among `loads` that share no group with the producer.
    behind: Set,
    /// The parts that read it.
    users: Set,
    /// True if an op outside of all parts reads it.
    leaves: bool,
}

/// Lower bounds for sets of parts.
#[derive(Debug)]
pub(super) struct LowerBound {
    traffic: Vec<Traffic>,
    /// The parts that cannot be views.
    kernels: Set,
    /// The kernels that are calls, which share no launch.
    calls: Set,
    known: Vec<Option<Cost>>,
}

/// The class of each value, and true if a boundary lies between its producer and this name of it.
type Homes = FxHashMap<u32, (usize, bool)>;

/// The ops that move the values that they touch in any grouping.
struct Firm<'a> {
    ir: &'a Ir,
    graph: &'a Graph,
    /// Values that only windows may read, for any choice of boundaries.
    unwalked: FxHashSet<Value>,
    /// Windows among the ops, paired with values of which they read every element.
    covered: FxHashSet<(Index, Value)>,
}

impl<'a> Firm<'a> {
    /// The facts for the ops `all`; `None` if one of them is dead, since dead ops are not computed.
    fn new(ir: &'a Ir, graph: &'a Graph, all: &[Index]) -> Option<Self> {
        let is_dead = |&op: &Index| {
            let mut writes = graph.writes[op as usize].iter();
            writes.all(|&e| {
                let edge = &graph.edges[e as usize];
                !edge.escapes && edge.users.is_empty()
            })
        };
        if all.iter().any(is_dead) {
            return None;
        }
        let ops: Vec<_> = all.iter().map(|&op| graph.ops[op as usize]).collect();
        let windows = all.iter().zip(&ops);
        let windows = windows.filter(|&(_, &node)| window::is_window(ir, node));
        let covered =
            windows.flat_map(|(&op, &node)| covered(ir, node).into_iter().map(move |v| (op, v)));
        Some(Self {
            ir,
            graph,
            unwalked: unwalked(ir, &ops, &Copies::default()),
            covered: covered.collect(),
        })
    }
    /// True if the op cannot be a view.
    fn writes(&self, op: Index) -> bool {
        !keeps_memory(self.ir, self.graph.ops[op as usize])
    }
    /// True if the op reads every element of `value` in any group: it is no view, its result is not read through
    /// windows alone, and if it is a window, it skips no element.
    fn loads(&self, op: Index, value: Value) -> bool {
        let node = self.graph.ops[op as usize];
        let mut results = self.ir.results(node).iter();
        let aside = results.any(|v| self.unwalked.contains(v));
        let all = !window::is_window(self.ir, node) || self.covered.contains(&(op, value));
        self.writes(op) && !aside && all
    }
    /// The classes of the values that the ops `all`, ascending, read or compute, with the names that views among them
    /// give. Values created from nothing are recomputed and do not count.
    fn classes(&self, all: &[Index]) -> Vec<Class> {
        let graph = self.graph;
        let (mut classes, mut of_edge) = (Vec::new(), Homes::default());
        let boundary = |producer: Option<Index>, user: Index| {
            producer.is_some_and(|m| graph.separated(m, user))
        };
        let add = |classes: &mut Vec<Class>, of_edge: &mut Homes, number: u32| {
            let edge = &graph.edges[number as usize];
            if edge.bytes == 0 || edge.producer.is_some_and(|m| graph.free[m as usize]) {
                return;
            }
            let view = edge
                .producer
                .filter(|&m| all.binary_search(&m).is_ok() && !self.writes(m));
            let source = view.and_then(|m| {
                let from = *graph.reads[m as usize].first()?;
                let (class, behind) = *of_edge.get(&from)?;
                Some((
                    class,
                    behind || boundary(graph.edges[from as usize].producer, m),
                ))
            });
            let (class, behind) = source.unwrap_or_else(|| {
                classes.push(Class {
                    // A view of a value created from nothing is no view, and may be recomputed.
                    bytes: if view.is_some() { 0 } else { edge.bytes },
                    producer: edge.producer,
                    loads: SmallVec::new(),
                    behind: SmallVec::new(),
                    users: SmallVec::new(),
                    escapes: false,
                });
                (classes.len() - 1, false)
            });
            of_edge.insert(number, (class, behind));
            let class = &mut classes[class];
            class.bytes = class.bytes.min(edge.bytes);
            class.escapes |= edge.escapes;
            for &user in &edge.users {
                class.users.push(user);
                if self.loads(user, edge.value) {
                    class.loads.push(user);
                    if behind || boundary(edge.producer, user) {
                        class.behind.push(user);
                    }
                }
            }
        };
        let mut seen = FxHashSet::default();
        for &op in all {
            let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
            for &number in reads.iter().chain(writes) {
                if seen.insert(number) {
                    add(&mut classes, &mut of_edge, number);
                }
            }
        }
        classes
    }
}

/// The operands of which a window reads every element for its result: the operands of a cat, and the padded operand of
/// a pad.
fn covered(ir: &Ir, op: Op) -> Vec<Value> {
    // Operands that give no index supply disjoint elements of the result, so none hides another.
    let maps = ir.maps(op);
    let maps = maps.filter(|m| m.index_operands().is_empty() && m.reads != Reads::Last);
    let (Some(maps), Some(&result)) = (maps, ir.results(op).first()) else {
        return Vec::new();
    };
    let length = |value: Value, axis: usize| {
        let tensor = ir.value_kind(value).as_tensor()?;
        ir.extent_as_expr(tensor.dims.get(axis)?.extent)
    };
    let along = |value: Value, axis: usize, index: &At| match index {
        At::Zero | At::Iter(_) => Some(true),
        At::Affine { iter, start, step } => {
            let last = minus(&length(value, axis)?, &ExtentExpr::constant(1))?;
            let across = minus(&length(result, *iter)?, &ExtentExpr::constant(1))?;
            let end = start.add(&across.mul(&ExtentExpr::constant(*step))?)?;
            let (low, high) = if *step < 0 {
                (&end, &**start)
            } else {
                (&**start, &end)
            };
            let zero = ExtentExpr::default();
            Some(step.unsigned_abs() == 1 && at_least(&zero, low) && at_least(high, &last))
        }
        At::Element(_) | At::From { .. } => Some(false),
    };
    let operands = ir.operands(op).zip(&maps.operands);
    let all = |(value, map): &(Value, &Map)| {
        let axes = map.axes().filter(|axes| !axes.is_empty());
        axes.is_some_and(|axes| {
            let mut axes = axes.iter().enumerate();
            axes.all(|(axis, index)| along(*value, axis, index) == Some(true))
        })
    };
    operands.filter(all).map(|(value, _)| value).collect()
}

impl LowerBound {
    /// Bounds for sets of `parts`.
    pub fn new(ir: &Ir, graph: &Graph, parts: &[Vec<Index>]) -> Self {
        let all: Vec<Index> = parts.iter().flatten().copied().collect();
        let mut lower_bound = Self {
            traffic: Vec::new(),
            kernels: 0,
            calls: 0,
            known: vec![None; 1 << parts.len()],
        };
        let Some(firm) = Firm::new(ir, graph, &all) else {
            return lower_bound;
        };
        for (part, number) in parts.iter().zip(0..) {
            let kernel = part.iter().any(|&op| firm.writes(op));
            lower_bound.kernels |= Set::from(kernel) << number;
            let call = matches!(part[..], [op] if is_call(ir, graph.ops[op as usize]));
            lower_bound.calls |= Set::from(call) << number;
        }
        let homes = parts.iter().zip(0..);
        let homes = homes.flat_map(|(part, n)| part.iter().map(move |&op| (op, 1 << n)));
        let homes: FxHashMap<Index, Set> = homes.collect();
        let home = |op: Index| homes.get(&op).copied().unwrap_or(0);
        let mut sorted = all;
        sorted.sort_unstable();
        for class in firm.classes(&sorted) {
            let set = |ops: &[Index]| ops.iter().fold(0, |set, &op| set | home(op));
            let outside = class.users.iter().any(|&r| home(r) == 0);
            let traffic = Traffic {
                bytes: class.bytes,
                producer: class.producer.map_or(0, home),
                loads: set(&class.loads),
                behind: set(&class.behind),
                users: set(&class.users),
                leaves: class.escapes || outside,
            };
            // A value used only inside its part never moves.
            let stays = !traffic.leaves && traffic.users & !traffic.producer == 0;
            if !stays || traffic.behind != 0 {
                lower_bound.traffic.push(traffic);
            }
        }
        lower_bound
    }

    /// A lower bound on the cost of any grouping of a set of parts.
    pub fn least(&mut self, set: Set) -> Cost {
        if let Some(known) = self.known[set] {
            return known;
        }
        let times = |t: &Traffic| match t.producer & set != 0 {
            true => {
                let behind = t.behind & set != 0;
                let leaves = t.leaves || t.users & !set != 0 || behind;
                u64::from(leaves) + u64::from(behind)
            }
            false => u64::from(t.loads & set != 0),
        };
        let moved = self
            .traffic
            .iter()
            .map(|t| t.bytes.saturating_mul(times(t)));
        let least = Cost {
            read_bytes: moved.fold(0, u64::saturating_add),
            kernels: u64::from(set & self.kernels != 0),
            launches: u64::from((set & self.calls).count_ones())
                + u64::from(set & self.kernels & !self.calls != 0),
            ..Cost::default()
        };
        self.known[set] = Some(least);
        least
    }
}

/// The ops of `all`, ascending, as parts that no grouping separates that moves at most `bytes`.
pub(super) fn inseparable(ir: &Ir, graph: &Graph, all: &[Index], bytes: u64) -> Vec<Vec<Index>> {
    let single = || all.iter().map(|&op| vec![op]).collect();
    let Some(firm) = Firm::new(ir, graph, all) else {
        return single();
    };
    let inside = |op: &Index| all.binary_search(op).ok();
    let (mut least, mut cuts) = (0u64, Vec::new());
    for class in firm.classes(all) {
        let producer = class.producer.and_then(|m| inside(&m));
        let made = producer.is_some();
        let behind = class.behind.iter().any(|r| inside(r).is_some()) && made;
        let outside = class.users.iter().any(|r| inside(r).is_none());
        let leaves = class.escapes || outside || behind;
        let near = |r: &&Index| !made || !class.behind.contains(r);
        let loads: SmallVec<[usize; 4]> =
            class.loads.iter().filter(near).filter_map(inside).collect();
        let times = match made {
            true => u64::from(leaves) + u64::from(behind),
            false => u64::from(!loads.is_empty()),
        };
        least = least.saturating_add(class.bytes.saturating_mul(times));
        let times = 1 + u64::from(made && !leaves);
        cuts.push((class.bytes.saturating_mul(times), producer, loads));
    }
    let Some(slack) = bytes.checked_sub(least) else {
        return single();
    };
    // Both directions: the ops around a value that is too costly to cut are one part.
    let mut together = DiGraph::<(), ()>::new();
    let nodes: Vec<_> = all.iter().map(|_| together.add_node(())).collect();
    for (price, producer, loads) in cuts {
        if price <= slack {
            continue;
        }
        let ends: SmallVec<[usize; 4]> = producer.into_iter().chain(loads).collect();
        for pair in ends.windows(2) {
            let (a, b) = (nodes[pair[0]], nodes[pair[1]]);
            together.add_edge(a, b, ());
            together.add_edge(b, a, ());
        }
    }
    // One direction: ops on paths between two ops of a part are in the part as well.
    for &op in all {
        for (producer, _) in graph.producers(op) {
            if let (Some(a), Some(b)) = (inside(&producer), inside(&op)) {
                together.add_edge(nodes[a], nodes[b], ());
            }
        }
    }
    let parts = petgraph::algo::kosaraju_scc(&together);
    let ops = |part: Vec<petgraph::graph::NodeIndex>| {
        let mut ops: Vec<Index> = part.into_iter().map(|n| all[n.index()]).collect();
        ops.sort_unstable();
        ops
    };
    let mut parts: Vec<Vec<Index>> = parts.into_iter().map(ops).collect();
    parts.sort_unstable();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::Planner;
    use crate::segment::exact::{self, Bounds, Found};
    use fuser_analysis::cost::{Model, Objective};
    use fuser_testing::Kind::{Part, Row, Square};
    use fuser_testing::Step::{One, Permute, Reduce, Spread, Two};
    use fuser_testing::{Random, Squares, Step, parsed};

    /// Ops of all classes: elementwise, reductions, views, windows, boundaries.
    const STEPS: [&[Step]; 9] = [
        &[Reduce("sum")],
        &[Spread],
        &[Permute],
        &[Step::Part],
        &[Step::Whole],
        &[Step::Turn],
        &[One(Square, &["segment_set"]), One(Row, &["segment_set"])],
        &[Two(Square, &["add"])],
        &[One(Square, EXP), One(Row, EXP), One(Part, EXP)],
    ];
    const EXP: &[&str] = &["exp"];

    /// For each set of ops of random programs the lower bound is at most the cost of the cheapest grouping, and often
    /// equal to it.
    #[test]
    fn no_grouping_costs_less_than_the_lower_bound() {
        let (mut sets, mut reached, mut alone) = (0u32, 0u32, 0u32);
        for seed in 0..300 {
            let squares = Squares {
                steps: &STEPS,
                ..Squares::plain(8)
            };
            let mut random = Random(seed);
            let ops = 2 + random.below(6);
            let text = squares.text(&mut random, ops);
            let (mut ir, module) = parsed(&text);
            let errors = fuser_ir::verify::verify(&mut ir, module);
            assert!(!errors.has_errors(), "seed {seed}: {errors:?}\n{text}");
            let program = ir.children(module)[0];
            let block = ir.body(program, 0).expect("a body");
            let mut planner = Planner::new(Model::default());
            let graph = Graph::build(&ir, block, &planner.model.bindings);
            let ops = (0..graph.len() as Index).filter(|&op| !graph.free[op as usize]);
            let parts: Vec<Vec<Index>> = ops.map(|op| vec![op]).collect();
            let mut lower_bound = LowerBound::new(&ir, &graph, &parts);
            for set in 1..1usize << parts.len() {
                let chosen = parts.iter().enumerate();
                let chosen = chosen.filter(|(position, _)| set >> position & 1 == 1);
                let chosen: Vec<Vec<Index>> = chosen.map(|(_, part)| part.clone()).collect();
                let least = lower_bound.least(set);
                // As one group, though it may not be convex.
                if let Ok(cost_result) = planner.evaluate(&ir, &graph, &chosen.concat()) {
                    alone += 1;
                    let cost = cost_result.cost;
                    let below = cost.bytes() < least.bytes() || cost.launches < least.launches;
                    assert!(
                        !below,
                        "seed {seed}, set {set:b}: {least:?}, {cost:?}\n{text}"
                    );
                }
                let best = exact::optimum(&ir, &graph, &mut planner, &chosen, &Bounds::NONE);
                if let Found::Best(groups) = best {
                    let costs = groups.iter().filter_map(|g| g.cost_result.as_ref());
                    let cost = costs.fold(Cost::default(), |sum, v| sum.plus(&v.cost));
                    let below = cost.bytes() < least.bytes() || cost.launches < least.launches;
                    assert!(
                        !below,
                        "seed {seed}, set {set:b}: {least:?}, {cost:?}\n{text}"
                    );
                    sets += 1;
                    reached += u32::from(cost.bytes() == least.bytes() && least.bytes() > 0);
                }
            }
            let all: Vec<Index> = parts.concat();
            let best = exact::optimum(&ir, &graph, &mut planner, &parts, &Bounds::NONE);
            let Found::Best(groups) = best else { continue };
            let bytes = |groups: &[crate::segment::Group]| -> u64 {
                let cost_results = groups.iter().filter_map(|g| g.cost_result.as_ref());
                cost_results.map(|v| v.cost.bytes()).sum()
            };
            // Whoever knows the optimum finds it again among the ops that nothing as good parts.
            let least = bytes(&groups);
            let together = inseparable(&ir, &graph, &all, least);
            let again = exact::optimum(&ir, &graph, &mut planner, &together, &Bounds::NONE);
            let Found::Best(again) = again else {
                panic!("seed {seed}: {together:?}\n{text}");
            };
            assert_eq!(bytes(&again), least, "seed {seed}: {together:?}\n{text}");
            assert_eq!(planner.model.objective, Objective::Bytes);
        }
        println!("{sets} sets, {reached} that cost the lower bound, {alone} of one group");
        // One byte more would be too much for so many.
        assert!(sets > 5000 && reached > 2500 && alone > 2500);
    }
}
