//! Horizontal merging: kernels that have nothing in common become one launch, if one loop nest serves both.
//!
//! ```text
//! s0: %a = fusion.exp %x         s0: %a = fusion.exp %x
//! s1: %b = fusion.sin %z   =>        %b = fusion.sin %z     // %x and %z have one shape
//! ```
//!
//! Kernels are compared by the shape of the largest value in their iteration space, without values read only by slices,
//! pads, cats and gathers. Among kernels of one shape, neighbours in run order are tried, then the merged ones: a
//! thousand kernels take about ten tries each. A pair is merged if no path leads from one to the other, if the cost
//! model needs no more sweeps for both than for one of them, and if neither bytes nor time increase. The gain is a
//! launch. A loop nest has at most as many memory streams as the hardware follows.

use std::collections::BTreeMap;

use fuser_ir::Value;
use fuser_ir::types::Extent;
use rustc_hash::FxHashSet;

use super::bottom_up::BottomUp;
use super::graph::{Edge, Graph, Index};
use super::order::GroupId;
use super::record::Action;
use crate::planner::{Answer, CostResult};
use fuser_analysis::axes::window::is_window;
use fuser_analysis::cost::{Kind, Refusal};

/// The most values that one loop nest reads and writes, if they gain nothing but a launch.
const MAX_STREAMS: usize = 64;

impl BottomUp<'_> {
    /// Queues unrelated neighbours in run order among the kernels of each shape.
    pub fn push_unrelated(&mut self) {
        // Ops computed in several kernels are left to rematerialization.
        let copies = self.states.iter().flat_map(|s| s.group.copies.iter());
        let copied: FxHashSet<Index> = copies.copied().collect();
        let mut shapes = BTreeMap::<Vec<Extent>, Vec<GroupId>>::new();
        for group in self.in_order() {
            if let Some(shape) = self.shape(group, &copied) {
                shapes.entry(shape).or_default().push(group);
            }
        }
        for pair in shapes.values().flat_map(|list| list.windows(2)) {
            let (a, b) = (pair[0], pair[1]);
            if self.is_unrelated(a, b) {
                self.push(Action::Horizontal, (a, b), [1; 4], 0);
            }
        }
    }

    /// The dimensions of the largest value in the iteration space of a kernel; `None` for a group that is no kernel or
    /// stays alone.
    fn shape(&self, group: GroupId, copied: &FxHashSet<Index>) -> Option<Vec<Extent>> {
        let state = &self.states[group as usize];
        let own = &state.group;
        let kernel = own.cost_result.as_ref()?.kind == Kind::Kernel && !state.alone;
        let mergeable =
            kernel && own.copies.is_empty() && !own.members.iter().any(|m| copied.contains(m));
        let edges = streams(self.graph, &own.members).into_iter();
        let inside: FxHashSet<Index> = own.members.iter().copied().collect();
        let walked = |edge: &&Edge| {
            let mut users = edge
                .users
                .iter()
                .filter(|user| inside.contains(user))
                .peekable();
            let read = users.peek().is_some();
            !read || !users.all(|&user| is_window(self.ir, self.graph.ops[user as usize]))
        };
        let edges = edges.filter(|edge| mergeable && walked(edge));
        let largest = edges.reduce(|a, b| if b.bytes > a.bytes { b } else { a })?;
        let tensor = self.ir.value_kind(largest.value).as_tensor()?;
        Some(tensor.dims.iter().map(|d| d.extent).collect())
    }

    /// True if two kernels have nothing in common, and together at most as many values as one loop nest may have.
    fn is_unrelated(&self, a: GroupId, b: GroupId) -> bool {
        let streams = |group: GroupId| {
            let members = &self.states[group as usize].group.members;
            streams(self.graph, members).into_iter().map(|e| e.value)
        };
        let own: FxHashSet<Value> = streams(a).collect();
        let other: Vec<Value> = streams(b).collect();
        let related = other.iter().any(|v| own.contains(v));
        !related && own.len() + other.len() <= MAX_STREAMS && self.between(a, b).is_ok()
    }
    /// The answer about both, if they need no more sweeps than one of them and no more time than both separately.
    pub fn in_one_walk(&self, a: GroupId, b: GroupId, answer: CostResult) -> Answer {
        let sweeps = |group: GroupId| {
            let own = self.states[group as usize].group.cost_result.as_ref();
            own.map_or(0, |v| v.sweeps)
        };
        let (sweeps, limit) = (answer.sweeps, sweeps(a).max(sweeps(b)));
        let (before, after) = (
            self.cost(a).plus(&self.cost(b)).time_ns,
            answer.cost.time_ns,
        );
        match sweeps <= limit {
            false => Err(Refusal::TooManySweeps { sweeps, limit }),
            true if after > before => Err(Refusal::NoGain { before, after }),
            true => Ok(answer),
        }
    }
}

/// The values that a group reads from outside or writes, each once.
fn streams<'g>(graph: &'g Graph, members: &[Index]) -> Vec<&'g Edge> {
    let inside: FxHashSet<Index> = members.iter().copied().collect();
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for &op in members {
        let (reads, writes) = (&graph.reads[op as usize], &graph.writes[op as usize]);
        for &number in reads.iter().chain(writes) {
            let edge = &graph.edges[number as usize];
            let made = edge.producer.is_some_and(|m| inside.contains(&m));
            let stays = made && !edge.escapes && edge.users.iter().all(|r| inside.contains(r));
            let free = edge.producer.is_some_and(|m| graph.free[m as usize]);
            if !stays && !free && seen.insert(number) {
                found.push(edge);
            }
        }
    }
    found
}
