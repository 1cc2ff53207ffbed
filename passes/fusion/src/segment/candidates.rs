//! Candidates of bottom-up merging: pairs of groups with a value between them or a common input. A candidate has first
//! an optimistic gain, an upper bound, and later its true gain.

use std::collections::BTreeMap;

use fuser_analysis::axes::window;
use fuser_analysis::cost::{Cost, Objective};
use rustc_hash::FxHashSet;

use super::bottom_up::BottomUp;
use super::graph::{Edge, Index};
use super::order::GroupId;
use super::record::Action;
use crate::planner::CostResult;

/// The most users of one value considered when neighbours are listed: a value with more users says little.
const MAX_USERS: usize = 32;

/// The most users of a value considered for a window. Windows share the elements that both touch, and neighbours share
/// most. A group that absorbed one is a neighbour of the next.
const MAX_WINDOWS: usize = 8;

/// The least number of ops of a pair for which a failed evaluation is remembered; a smaller pair is evaluated whenever
/// one of its groups grows.
pub(super) const MIN_VAIN: usize = 64;

/// A fall in cost, by the components of [`Cost::key`]; compared lexicographically.
pub(super) type Gain = [i128; 4];

/// A pair in the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// A merge of related groups, or of unrelated kernels.
    pub action: Action,
    pub gain: Gain,
    /// The order among equal gains, by [`Ties`].
    pub rank: [i64; 3],
    pub pair: (GroupId, GroupId),
    pub versions: (u32, u32),
    /// Bytes of the values that the two share.
    pub saved: u64,
    /// The cost model's answer, once it was queried.
    pub cost_result: Option<Box<CostResult>>,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |c: &Self| (c.gain, c.rank);
        key(self).cmp(&key(other))
    }
}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A pair that had no gain when it was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Vain {
    /// Number of its ops then.
    pub ops: usize,
    /// Bytes of the values that the two shared then.
    pub saved: u64,
}

/// The order of merges of equal gain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Ties {
    /// The smaller pair first, then the earlier: groups grow evenly, and the work stays near n log n.
    #[default]
    SmallEarly,
    /// The smaller pair first, then the later.
    SmallLate,
    /// The larger pair first, then the earlier: one group grows as long as it can.
    LargeEarly,
    /// The larger pair first, then the later.
    LargeLate,
}

impl Ties {
    /// All but the default.
    pub const OTHERS: [Self; 3] = [Self::SmallLate, Self::LargeEarly, Self::LargeLate];

    /// The rank of a pair; the greatest comes first.
    fn rank(self, ops: usize, a: GroupId, b: GroupId) -> [i64; 3] {
        let (ops, a, b) = (ops as i64, i64::from(a), i64::from(b));
        match self {
            Self::SmallEarly => [-ops, -a, -b],
            Self::SmallLate => [-ops, a, b],
            Self::LargeEarly => [ops, -a, -b],
            Self::LargeLate => [ops, a, b],
        }
    }
}

/// The fall in cost from `before` to `after`.
pub(super) fn gain(before: &Cost, after: &Cost, objective: Objective) -> Gain {
    let (b, a) = (before.key(objective), after.key(objective));
    let fall = |b: u64, a: u64| i128::from(b) - i128::from(a);
    [
        fall(b.0, a.0),
        fall(b.1, a.1),
        fall(b.2, a.2),
        fall(b.3, a.3),
    ]
}

/// The expected gain of two parts with gains `one` and `two`, at most `most`. Bytes add up. Both save the same launch,
/// and its time counts once if no byte is saved.
fn together(one: Gain, two: Gain, most: Gain, objective: Objective) -> Gain {
    let (time, bytes) = match objective {
        Objective::Time => (0, 1),
        Objective::Bytes => (3, 0),
        Objective::Kernels => (3, 1),
    };
    let mut gain: Gain = std::array::from_fn(|i| one[i].max(two[i]));
    let sum = |i: usize| one[i].saturating_add(two[i]).min(most[i]);
    if sum(bytes) > gain[bytes] {
        (gain[bytes], gain[time]) = (sum(bytes), sum(time).max(gain[time]));
    }
    gain
}

impl BottomUp<'_> {
    /// Queues the pairs of `group`: at the start those with a later group, and all pairs after it has absorbed
    /// `others`.
    pub fn push_neighbours(&mut self, group: GroupId, others: &[GroupId]) {
        let objective = self.planner.model.objective;
        for (neighbour, saved) in self.neighbours(group) {
            let (this, that) = (
                &self.states[group as usize],
                &self.states[neighbour as usize],
            );
            if (others.is_empty() && neighbour < group) || this.alone || that.alone {
                continue;
            }
            let pair = (group.min(neighbour), group.max(neighbour));
            let parts = || [group].into_iter().chain(others.iter().copied());
            if self.is_vain(pair, parts(), neighbour, saved) {
                continue;
            }
            let most = self.optimistic(pair, saved, objective);
            let seen = parts().filter_map(|part| {
                let pair = (part.min(neighbour), part.max(neighbour));
                self.expected.get(&pair).copied()
            });
            // A pair that was not evaluated leaves the gain open.
            let seen: Option<Vec<Gain>> = seen.collect();
            let seen = seen.filter(|_| !others.is_empty()).unwrap_or_default();
            let expected = seen
                .into_iter()
                .reduce(|one, two| together(one, two, most, objective));
            self.expected.insert(pair, expected);
            self.push(Action::Merge, pair, expected.unwrap_or(most), saved);
        }
    }
    /// True if a large pair's `parts` had no gain with `neighbour`, and the pair is less than twice as large as then
    /// and shares no more.
    fn is_vain(
        &mut self,
        pair: (GroupId, GroupId),
        parts: impl Iterator<Item = GroupId>,
        neighbour: GroupId,
        saved: u64,
    ) -> bool {
        let pairs = parts.map(|part| (part.min(neighbour), part.max(neighbour)));
        let met = pairs.filter(|pair| self.expected.contains_key(pair));
        let vain = met.map(|pair| self.vain.get(&pair).copied());
        let Some(vain) = vain.collect::<Option<Vec<Vain>>>() else {
            return false;
        };
        let most = vain.iter().map(|own| own.ops).max().unwrap_or(0);
        let shared = vain.iter().map(|own| own.saved);
        let shared = shared.fold(0, u64::saturating_add);
        let few = most < MIN_VAIN;
        let ops = self.size(pair.0) + self.size(pair.1);
        let is_vain = !few && ops < 2 * most && saved <= shared;
        if is_vain {
            let own = Vain {
                ops: most,
                saved: shared,
            };
            self.vain.insert(pair, own);
            self.expected.insert(pair, None);
        }
        is_vain
    }
    /// Queues a pair under its optimistic gain.
    pub fn push(&mut self, action: Action, (a, b): (GroupId, GroupId), gain: Gain, saved: u64) {
        let version = |group: GroupId| self.states[group as usize].version;
        self.queue.push(Candidate {
            action,
            gain,
            rank: self.ties.rank(self.size(a) + self.size(b), a, b),
            pair: (a, b),
            versions: (version(a), version(b)),
            saved,
            cost_result: None,
        });
    }

    /// The groups that share a value with `group`, each with the most bytes that a merge could save.
    pub(super) fn neighbours(&self, group: GroupId) -> BTreeMap<GroupId, u64> {
        let mut saved = BTreeMap::<GroupId, u64>::new();
        let mut blocked = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for &op in &self.states[group as usize].group.members {
            let (reads, writes) = (
                &self.graph.reads[op as usize],
                &self.graph.writes[op as usize],
            );
            for &number in reads.iter().chain(writes) {
                let edge = &self.graph.edges[number as usize];
                for other in self.others(edge, op, group) {
                    let settled = |g: GroupId| self.states[g as usize].group.settled;
                    let kept = settled(group) && settled(other);
                    if self.is_cut(edge, group, other) {
                        blocked.insert(other);
                    } else if kept && !self.graph.is_loaded(number) {
                        // Groups that were accepted whole share no bytes by this value: it is no reason to merge them.
                    } else if seen.insert((number, other)) {
                        let bytes = saved.entry(other).or_default();
                        *bytes = bytes.saturating_add(self.saving(edge, group, other));
                    }
                }
            }
        }
        saved.retain(|other, _| !blocked.contains(other));
        saved
    }

    /// Groups other than `group` that compute or use a value which `op` computes or uses; limited to near users.
    fn others<'e>(
        &'e self,
        edge: &'e Edge,
        op: Index,
        group: GroupId,
    ) -> impl Iterator<Item = GroupId> + 'e {
        let at = edge.users.partition_point(|&r| r < op);
        let most = match window::is_window(self.ir, self.graph.ops[op as usize]) {
            true => MAX_WINDOWS,
            false => MAX_USERS,
        };
        let low = at.saturating_sub(most / 2);
        let high = (at + most / 2).min(edge.users.len());
        let near = edge.users[low..high].iter().copied();
        let ops = edge.producer.into_iter().chain(near);
        let groups = ops.filter_map(|o| self.of_op[o as usize]);
        groups.filter(move |&g| g != group)
    }

    /// True if a boundary lies on the edge between the two groups.
    fn is_cut(&self, edge: &Edge, a: GroupId, b: GroupId) -> bool {
        let Some(producer) = edge.producer else {
            return false;
        };
        let of = |op: Index| self.of_op[op as usize];
        let user_side = match of(producer) {
            Some(g) if g == a => b,
            Some(g) if g == b => a,
            _ => return false,
        };
        let mut users = edge.users.iter().filter(|&&r| of(r) == Some(user_side));
        users.any(|&r| self.graph.separated(producer, r))
    }

    /// Bytes saved if both sides of an edge are merged: a read, and also the write if there are no other users.
    fn saving(&self, edge: &Edge, a: GroupId, b: GroupId) -> u64 {
        let of = |op: Index| self.of_op[op as usize];
        let joined = |op: Index| of(op) == Some(a) || of(op) == Some(b);
        let inner = edge.producer.is_some_and(joined)
            && !edge.escapes
            && edge.users.iter().take(MAX_USERS).all(|&r| joined(r));
        edge.bytes.saturating_mul(1 + u64::from(inner))
    }

    /// An upper bound on the gain of a merge, which keeps one launch.
    fn optimistic(&self, (a, b): (GroupId, GroupId), saved: u64, objective: Objective) -> Gain {
        let target = &self.planner.model.target;
        let bytes = i128::from(saved);
        let time = target.time_ns(saved, 0).saturating_add(target.launch_ns);
        // Gaps in the grid may close as well, so no tight bound on time is safe: time is multiplied by the number of
        // workers.
        let time = i128::from(time.saturating_mul(target.workers));
        let launches = self.cost(a).launches.saturating_add(self.cost(b).launches);
        let launches = i128::from(launches) - 1;
        match objective {
            Objective::Bytes => [bytes, launches, 1, time],
            Objective::Time => [time, bytes, launches, 1],
            Objective::Kernels => [1, bytes, launches, time],
        }
    }
}
