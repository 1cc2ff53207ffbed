//! A topological order of groups, kept up to date as groups merge.
//!
//! Merging `a` and `b` makes a cycle exactly if a path leads from one to the other through a third group. The search
//! for such a path visits only groups between the two in the order. Of these, the groups that depend on the earlier one
//! are then moved after the merged group. Work is bounded: a pair too far apart is refused.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Index};

/// A group, by number.
pub(super) type GroupId = u32;

/// The most groups that one search may visit. Pairs further apart hardly ever gain, and a search must not cost more
/// than a plan.
const MAX_SPAN: usize = 4096;

/// The reason why two groups do not merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Conflict {
    /// A path leads from one to the other through these groups.
    Cycle(Vec<GroupId>),
    /// The groups are too far apart in the order.
    TooFar,
}

/// A topological order of groups.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Groups in order; merged groups leave `None`.
    list: Vec<Option<GroupId>>,
    /// The position of each group.
    position: Vec<u32>,
}

impl Order {
    /// The order of groups `0..count`.
    pub fn new(count: usize) -> Self {
        Self {
            list: (0..count as GroupId).map(Some).collect(),
            position: (0..count as u32).collect(),
        }
    }
    /// The groups in order.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> + '_ {
        self.list.iter().flatten().copied()
    }
    /// True if `a` comes before `b`.
    pub fn is_before(&self, a: GroupId, b: GroupId) -> bool {
        self.position[a as usize] < self.position[b as usize]
    }

    /// The groups between `a` and `b` that depend on the earlier one; a conflict if one of them leads to the later one.
    /// `successors` gives the users of a group.
    pub fn between(
        &self,
        a: GroupId,
        b: GroupId,
        successors: &mut dyn FnMut(GroupId) -> Vec<GroupId>,
    ) -> Result<FxHashSet<GroupId>, Conflict> {
        let (first, last) = if self.is_before(a, b) { (a, b) } else { (b, a) };
        let (from, to) = (self.position[first as usize], self.position[last as usize]);
        if (to - from) as usize > MAX_SPAN {
            return Err(Conflict::TooFar);
        }
        let mut parents = rustc_hash::FxHashMap::<GroupId, GroupId>::default();
        let mut stack = vec![first];
        while let Some(group) = stack.pop() {
            for next in successors(group) {
                if next == last && group != first {
                    return Err(Conflict::Cycle(path(first, group, last, &parents)));
                }
                let inside = self.position[next as usize] < to && next != first;
                if inside && !parents.contains_key(&next) {
                    parents.insert(next, group);
                    stack.push(next);
                }
            }
        }
        Ok(parents.into_keys().collect())
    }

    /// The groups between the first and the last of `set` that depend on groups of `set`. `None` if one of them leads
    /// back to `set`, or if `set` spans too much.
    pub fn dependents(
        &self,
        set: &[GroupId],
        successors: &mut dyn FnMut(GroupId) -> Vec<GroupId>,
    ) -> Option<FxHashSet<GroupId>> {
        let (from, to) = self.span(set);
        let own: FxHashSet<GroupId> = set.iter().copied().collect();
        let mut found = FxHashSet::default();
        let mut stack = set.to_vec();
        while let Some(group) = stack.pop() {
            let outside = found.contains(&group);
            for next in successors(group) {
                if own.contains(&next) {
                    if outside {
                        return None;
                    }
                } else if (self.position[next as usize] as usize) < to && found.insert(next) {
                    stack.push(next);
                }
            }
        }
        (to - from <= MAX_SPAN).then_some(found)
    }
    /// The first and the last position of `set`.
    fn span(&self, set: &[GroupId]) -> (usize, usize) {
        let places = || set.iter().map(|&g| self.position[g as usize] as usize);
        (places().min().unwrap_or(0), places().max().unwrap_or(0))
    }

    /// Merges `set` into its member `into`; `after` is the result of [`Order::between`] or [`Order::dependents`].
    pub fn merge(&mut self, into: GroupId, set: &[GroupId], after: &FxHashSet<GroupId>) {
        let (from, to) = self.span(set);
        let region: Vec<GroupId> = self.list[from..=to].iter().flatten().copied().collect();
        let gone: FxHashSet<GroupId> = set.iter().copied().collect();
        let others = || region.iter().copied().filter(|g| !gone.contains(g));
        let before = others().filter(|g| !after.contains(g));
        let behind = others().filter(|g| after.contains(g));
        let new: Vec<GroupId> = before.chain([into]).chain(behind).collect();
        self.list[from..=to].fill(None);
        for (slot, group) in (from..).zip(new) {
            self.list[slot] = Some(group);
            self.position[group as usize] = slot as u32;
        }
    }
}

fn path(
    first: GroupId,
    end: GroupId,
    last: GroupId,
    parents: &rustc_hash::FxHashMap<GroupId, GroupId>,
) -> Vec<GroupId> {
    let mut path = vec![last];
    let mut group = end;
    while group != first {
        path.push(group);
        match parents.get(&group) {
            Some(&up) => group = up,
            None => break,
        }
    }
    path.push(first);
    path.reverse();
    path
}

/// For each list of ops, the lists whose results it reads, ascending. An op in several lists is read from the first.
pub(super) fn needs(graph: &Graph, lists: &[&[Index]]) -> Vec<Vec<usize>> {
    let mut home = FxHashMap::<Index, usize>::default();
    for (list, number) in lists.iter().zip(0..) {
        for &op in *list {
            home.entry(op).or_insert(number);
        }
    }
    let needs = |(list, number): (&&[Index], usize)| {
        let inside: FxHashSet<Index> = list.iter().copied().collect();
        let producers = list.iter().flat_map(|&op| graph.producers(op));
        let outside = producers.filter(|(producer, _)| !inside.contains(producer));
        let homes = outside.filter_map(|(producer, _)| home.get(&producer).copied());
        let homes: BTreeSet<usize> = homes.filter(|&home| home != number).collect();
        homes.into_iter().collect()
    };
    lists.iter().zip(0..).map(needs).collect()
}

/// A topological order; among ready items the least by `rank` comes first. Items on a cycle are omitted, and so are
/// items that depend on one.
pub(super) fn run_order<K: Ord>(needs: &[Vec<usize>], rank: impl Fn(usize) -> K) -> Vec<usize> {
    let mut users = vec![Vec::new(); needs.len()];
    for (own, number) in needs.iter().zip(0..) {
        own.iter().for_each(|&need| users[need].push(number));
    }
    let mut waits: Vec<usize> = needs.iter().map(Vec::len).collect();
    let ready = (0..needs.len()).filter(|&number| waits[number] == 0);
    let mut ready: BTreeSet<(K, usize)> = ready.map(|number| (rank(number), number)).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some((_, number)) = ready.pop_first() {
        order.push(number);
        for &user in &users[number] {
            waits[user] -= 1;
            if waits[user] == 0 {
                ready.insert((rank(user), user));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use fuser_testing::Random;

    use super::*;

    /// True if a path leads from one of `set` to another through a group outside of it.
    fn is_left(edges: &[Vec<GroupId>], set: &[GroupId]) -> bool {
        let mut reached = vec![false; edges.len()];
        let mut stack: Vec<GroupId> = set.to_vec();
        while let Some(group) = stack.pop() {
            let outside = !set.contains(&group);
            for &next in &edges[group as usize] {
                if outside && set.contains(&next) {
                    return true;
                }
                if !set.contains(&next) && !std::mem::replace(&mut reached[next as usize], true) {
                    stack.push(next);
                }
            }
        }
        false
    }

    #[test]
    fn sets_merge_where_no_path_leaves_them_and_the_order_holds() {
        let (mut merged, mut refused) = (0, 0);
        for seed in 0..200 {
            let mut random = Random(seed);
            let count: GroupId = 24;
            let mut edges: Vec<Vec<GroupId>> = vec![Vec::new(); count as usize];
            for user in 1..count {
                for _ in 0..random.below(3) {
                    edges[random.below(user as usize)].push(user);
                }
            }
            let mut order = Order::new(count as usize);
            for _ in 0..12 {
                let groups: Vec<GroupId> = order.groups().collect();
                let near = random.below(groups.len());
                let mut set: Vec<GroupId> = groups[near..].to_vec();
                set.retain(|_| random.below(3) == 0);
                set.truncate(4);
                let Some(&into) = set.last() else { continue };
                let after = order.dependents(&set, &mut |group| edges[group as usize].clone());
                assert_eq!(after.is_none(), is_left(&edges, &set), "{edges:?} {set:?}");
                let Some(after) = after else {
                    refused += 1;
                    continue;
                };
                merged += usize::from(set.len() > 1);
                order.merge(into, &set, &after);
                let outer = set.iter().flat_map(|&group| edges[group as usize].clone());
                let outer: Vec<GroupId> = outer.filter(|user| !set.contains(user)).collect();
                for &gone in &set {
                    edges[gone as usize].clear();
                }
                edges[into as usize] = outer;
                for user in edges.iter_mut().flatten().filter(|user| set.contains(user)) {
                    *user = into;
                }
                for (group, users) in (0..).zip(&edges) {
                    assert!(users.iter().all(|&user| order.is_before(group, user)));
                }
            }
        }
        assert!(merged > 300 && refused > 100, "{merged} {refused}");
    }
}
