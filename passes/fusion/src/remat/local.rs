//! The solution of one kernel, kept up to date while the contents of memory change.
//!
//! It follows the kernel's outputs back: a value that is not in memory is computed, whatever that costs, and needs the
//! operands of its op; a value that no op may make here is loaded. A value that could be either is a *choice*; choices
//! that share something make a cluster, settled by itself (`cut.rs`). Each value has a count of those who need it, so a
//! change in memory costs what it reaches: values whose state changes, and the clusters that contain one of them.
//!
//! Values are numbered behind what they are made of, so going through changes from the last value to the first meets each
//! once. Undoing a change of memory undoes the state: it is a function of what is written alone, where nothing is missing.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use super::cut::{Cluster, Scratch};
use super::problem::{Kernel, Problem};

/// Foreign ops that a kernel may have to compute: more than a few never pay.
pub(super) const MAX_FOREIGN: u32 = 96;

/// The state of a value in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    /// Nothing: it does not need it.
    #[default]
    Idle,
    /// Loads it: no op may make it here.
    Load,
    /// Has it: its op is computed for another result.
    Had,
    /// Loads or computes it.
    Choice,
    /// Computes it: it is not in memory.
    Compute,
    /// Cannot have it.
    Missing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Need {
    /// Ops that have to be computed and read it, and one more where it is to be written.
    count: u32,
    state: State,
}

/// A kernel and the contents of memory.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub problem: &'a Problem,
    pub written: &'a [bool],
    pub kernel: u32,
}

impl Given<'_> {
    pub fn may_load(&self, value: u32) -> bool {
        self.problem.may_load(value, self.kernel, self.written)
    }
    pub fn load_price(&self, value: u32) -> u64 {
        self.problem.load_bytes(value, self.kernel)
    }
    /// The op that may make `value` here.
    pub fn producer(&self, value: u32) -> Option<u32> {
        let producer = self.problem.values[value as usize].producer;
        producer.filter(|&op| self.problem.may_compute(op, self.kernel))
    }
    pub fn is_native(&self, op: u32) -> bool {
        self.problem.is_native(op, self.kernel)
    }
    /// The price of computing `op` here.
    pub fn price(&self, op: u32) -> u64 {
        match self.is_native(op) {
            true => 0,
            false => self.problem.ops[op as usize].price,
        }
    }
}

/// A change under way.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Values to look at, the last first.
    heap: BinaryHeap<u32>,
    /// Values whose state changed, or that are had or not had by way of another.
    pub changed: Vec<u32>,
    /// Values that the kernel knows now.
    pub entered: Vec<u32>,
    /// Values and ops looked at.
    pub work: u64,
    scratch: Scratch,
}

impl Dirty {
    pub fn push(&mut self, value: u32) {
        self.heap.push(value);
    }
    /// Empties the lists; the work stays.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.changed.clear();
        self.entered.clear();
    }
}

/// The clusters that a change replaced.
#[derive(Debug, Default)]
pub(super) struct Change {
    old: Vec<Cluster>,
    new: Vec<u32>,
}

/// The state of a kernel.
#[derive(Debug, Default)]
pub(super) struct Local {
    needs: FxHashMap<u32, Need>,
    /// Ops that are computed in any case: how many of their results say so.
    forced: FxHashMap<u32, u32>,
    /// Foreign ones of these.
    foreign: u32,
    /// Values that it cannot have.
    missing: u32,
    /// Values that it writes.
    wanted: u32,
    /// Price of what is computed and loaded in any case.
    fixed: u128,
    clusters: FxHashMap<u32, Cluster>,
    /// The cluster of each value that one knows.
    cluster_of: FxHashMap<u32, u32>,
    /// The values that the kernel has in any case, each with a cluster that counts on it.
    relied: BTreeSet<(u32, u32)>,
    next_cluster: u32,
    /// Price of the clusters.
    chosen: u128,
}

impl Local {
    /// The state of a kernel that writes those of its values that are `written`; some of what it needs may be missing.
    pub fn new(given: Given<'_>, dirty: &mut Dirty) -> Self {
        let mut local = Self::default();
        for value in given.problem.wanted(given.kernel, given.written) {
            local.want(value, true);
            dirty.push(value);
        }
        local.settle(given, dirty);
        if local.missing == 0 {
            local.divide(given, dirty);
        }
        local
    }
    /// True if the kernel can have all that it needs.
    pub fn is_possible(&self) -> bool {
        self.missing == 0
    }
    /// True if the kernel writes anything.
    pub fn is_alive(&self) -> bool {
        self.wanted > 0
    }
    /// The price of what the kernel loads and computes again, in bytes.
    pub fn cost(&self) -> u128 {
        self.fixed + self.chosen
    }
    /// True if a change of whether `value` is written could concern the kernel.
    pub fn knows(&self, value: u32) -> bool {
        self.needs.contains_key(&value) || self.cluster_of.contains_key(&value)
    }
    /// True if the kernel needs `value`, or loads it to compute what it needs.
    pub fn takes(&self, value: u32) -> bool {
        let cluster = || {
            self.cluster_with(value)
                .is_some_and(|(_, p)| p.loads.contains(&value))
        };
        self.state(value) != State::Idle || cluster()
    }
    /// True if the kernel computes `op`, which makes `value`.
    pub fn computes(&self, value: u32, op: u32) -> bool {
        let cluster = || self.clusters.get(self.cluster_of.get(&value)?);
        self.forced.contains_key(&op) || cluster().is_some_and(|p| p.computes.contains(&op))
    }
    /// The values that the kernel loads and the ops that it computes in the end, with their price.
    pub fn kernel(&self) -> Kernel {
        let loads = self.needs.iter().filter(|(_, n)| n.state == State::Load);
        let mut loads: Vec<u32> = loads.map(|(&v, _)| v).collect();
        let mut computes: Vec<u32> = self.forced.keys().copied().collect();
        for cluster in self.clusters.values() {
            loads.extend(&cluster.loads);
            computes.extend(&cluster.computes);
        }
        loads.sort_unstable();
        loads.dedup();
        computes.sort_unstable();
        computes.dedup();
        Kernel {
            loads,
            computes,
            cost: u64::try_from(self.cost()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn state(&self, value: u32) -> State {
        self.needs.get(&value).map_or(State::Idle, |n| n.state)
    }
    /// The cluster that knows `value`, with its number.
    pub(super) fn cluster_with(&self, value: u32) -> Option<(u32, &Cluster)> {
        let number = *self.cluster_of.get(&value)?;
        Some((number, self.clusters.get(&number)?))
    }
    /// True if the kernel has `value` in any case, so that another user costs nothing.
    pub(super) fn has(&self, given: Given<'_>, value: u32) -> bool {
        let made = || {
            let producer = given.problem.values[value as usize].producer;
            producer.is_some_and(|op| self.forced.contains_key(&op))
        };
        matches!(self.state(value), State::Load | State::Had | State::Compute) || made()
    }

    /// Brings the state up to date after `value` was written, or was written no more; `None` where something is missing now.
    pub fn update(&mut self, given: Given<'_>, value: u32, dirty: &mut Dirty) -> Option<Change> {
        self.flip(given, value, dirty);
        dirty.changed.push(value);
        (self.missing == 0).then(|| self.divide(given, dirty))
    }
    /// Takes an update back, after what is written was changed back.
    pub fn undo(
        &mut self,
        given: Given<'_>,
        value: u32,
        change: Option<Change>,
        dirty: &mut Dirty,
    ) {
        let change = change.unwrap_or_default();
        for number in change.new {
            self.dissolve(number);
        }
        self.flip(given, value, dirty);
        for cluster in change.old {
            self.enter_cluster(cluster, dirty);
        }
    }
    fn flip(&mut self, given: Given<'_>, value: u32, dirty: &mut Dirty) {
        if given.problem.values[value as usize].writer == given.kernel {
            self.want(value, given.written[value as usize]);
        }
        dirty.push(value);
        self.settle(given, dirty);
    }
    fn want(&mut self, value: u32, wanted: bool) {
        let need = self.needs.entry(value).or_default();
        match wanted {
            true => {
                need.count += 1;
                self.wanted += 1;
            }
            false => {
                need.count = need.count.saturating_sub(1);
                self.wanted = self.wanted.saturating_sub(1);
            }
        }
    }

    /// Gives each value on the list its state, and those that it concerns theirs.
    fn settle(&mut self, given: Given<'_>, dirty: &mut Dirty) {
        while let Some(value) = dirty.heap.pop() {
            dirty.work += 1;
            let Some(&Need { count, state: old }) = self.needs.get(&value) else {
                continue;
            };
            let new = self.due(given, value, count, old);
            if count == 0 {
                self.needs.remove(&value);
            } else if let Some(need) = self.needs.get_mut(&value) {
                need.state = new;
            }
            if new == old {
                continue;
            }
            dirty.changed.push(value);
            if old == State::Idle {
                dirty.entered.push(value);
            }
            match old {
                State::Load => self.fixed -= u128::from(given.load_price(value)),
                State::Missing => self.missing -= 1,
                State::Compute => self.compute(given, value, false, dirty),
                _ => {}
            }
            match new {
                State::Load => self.fixed += u128::from(given.load_price(value)),
                State::Missing => self.missing += 1,
                State::Compute => self.compute(given, value, true, dirty),
                _ => {}
            }
        }
    }
    /// The state that a value should have.
    fn due(&self, given: Given<'_>, value: u32, count: u32, old: State) -> State {
        if count == 0 {
            return State::Idle;
        }
        let forced = |op: u32| self.forced.get(&op).copied().unwrap_or(0);
        match (given.may_load(value), given.producer(value)) {
            (true, None) => State::Load,
            (false, None) => State::Missing,
            (true, Some(op)) => match forced(op) > u32::from(old == State::Compute) {
                true => State::Had,
                false => State::Choice,
            },
            (false, Some(op)) => {
                let further = forced(op) == 0 && !given.is_native(op);
                match further && self.foreign >= MAX_FOREIGN {
                    true => State::Missing,
                    false => State::Compute,
                }
            }
        }
    }
    /// The op of `value` is computed for it, or no more.
    fn compute(&mut self, given: Given<'_>, value: u32, starts: bool, dirty: &mut Dirty) {
        let Some(op) = given.problem.values[value as usize].producer else {
            return;
        };
        let count = self.forced.entry(op).or_default();
        match starts {
            true => *count += 1,
            false => *count = count.saturating_sub(1),
        }
        let toggles = *count == u32::from(starts);
        if *count == 0 {
            self.forced.remove(&op);
        }
        if !toggles {
            return;
        }
        let foreign = u32::from(!given.is_native(op));
        let price = u128::from(given.price(op));
        match starts {
            true => {
                self.foreign += foreign;
                self.fixed += price;
            }
            false => {
                self.foreign -= foreign;
                self.fixed -= price;
            }
        }
        let info = &given.problem.ops[op as usize];
        for &read in &info.reads {
            let need = self.needs.entry(read).or_default();
            match starts {
                true => need.count += 1,
                false => need.count = need.count.saturating_sub(1),
            }
            dirty.push(read);
        }
        for &other in info.writes.iter().filter(|&&w| w != value) {
            dirty.push(other);
            dirty.changed.push(other);
        }
        dirty.work += info.reads.len() as u64;
    }

    /// Settles the choices that changes concern. Each is settled by itself first; those whose clusters met are settled again,
    /// together, until none meet: a thousand choices that share one value cost two looks at each.
    fn divide(&mut self, given: Given<'_>, dirty: &mut Dirty) -> Change {
        let mut change = Change::default();
        let fresh = self.next_cluster;
        let open = self.open(dirty, &mut change);
        let mut starts: Vec<Vec<u32>> = open.into_iter().map(|value| vec![value]).collect();
        while !starts.is_empty() {
            let mut meetings = Vec::new();
            for start in std::mem::take(&mut starts) {
                if start.iter().all(|v| self.cluster_of.contains_key(v)) {
                    continue;
                }
                let number = self.next_cluster;
                let (scratch, work) = (&mut dirty.scratch, &mut dirty.work);
                let (cluster, met) = Cluster::around(given, self, &start, fresh, scratch, work);
                for other in met {
                    match other >= fresh {
                        true => meetings.push((number, other)),
                        false => change.old.extend(self.dissolve(other)),
                    }
                }
                self.enter_cluster(cluster, dirty);
            }
            starts = self.together(&meetings);
        }
        let made = fresh..self.next_cluster;
        change.new = made.filter(|n| self.clusters.contains_key(n)).collect();
        change
    }
    /// The choices that changes concern, ascending, out of their clusters.
    fn open(&mut self, dirty: &Dirty, change: &mut Change) -> Vec<u32> {
        let mut open = Vec::new();
        for &value in &dirty.changed {
            let relying = self.relied.range((value, 0)..=(value, u32::MAX));
            let mut concerned: Vec<u32> = relying.map(|(_, cluster)| *cluster).collect();
            concerned.extend(self.cluster_of.get(&value));
            for number in concerned {
                if let Some(cluster) = self.dissolve(number) {
                    open.extend(&cluster.terminals);
                    change.old.push(cluster);
                }
            }
            open.push(value);
        }
        open.sort_unstable();
        open.dedup();
        open.retain(|v| self.state(*v) == State::Choice);
        open
    }
    /// Dissolves the clusters that met; gives the choices of those that did, directly or by way of others.
    fn together(&mut self, meetings: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut clusters: Vec<u32> = meetings.iter().flat_map(|(a, b)| [*a, *b]).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let place = |cluster: &u32| clusters.partition_point(|p| p < cluster);
        let mut sets = UnionFind::<usize>::new(clusters.len());
        for (a, b) in meetings {
            sets.union(place(a), place(b));
        }
        let mut starts = BTreeMap::<usize, Vec<u32>>::new();
        for (at, &cluster) in clusters.iter().enumerate() {
            let choices = self.dissolve(cluster).map(|p| p.terminals);
            let start = starts.entry(sets.find(at)).or_default();
            start.extend(choices.unwrap_or_default());
        }
        let mut starts: Vec<Vec<u32>> = starts.into_values().collect();
        starts.iter_mut().for_each(|start| start.sort_unstable());
        starts.sort_unstable();
        starts
    }
    fn dissolve(&mut self, number: u32) -> Option<Cluster> {
        let cluster = self.clusters.remove(&number)?;
        for value in &cluster.region {
            self.cluster_of.remove(value);
        }
        for &value in &cluster.relies {
            self.relied.remove(&(value, number));
        }
        self.chosen -= cluster.cost;
        Some(cluster)
    }
    fn enter_cluster(&mut self, cluster: Cluster, dirty: &mut Dirty) {
        let number = self.next_cluster;
        self.next_cluster = self.next_cluster.wrapping_add(1);
        for &value in &cluster.region {
            self.cluster_of.insert(value, number);
        }
        self.relied
            .extend(cluster.relies.iter().map(|&v| (v, number)));
        dirty.entered.extend(&cluster.region);
        self.chosen += cluster.cost;
        self.clusters.insert(number, cluster);
    }
}
