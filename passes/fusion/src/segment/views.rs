//! Views in bottom-up merging: a user of a view absorbs it before the merge gains anything.
//!
//! A view is no kernel, so a merge with it gains nearly nothing and would come last, when its user has grown to its
//! final size. Two cases are handled earlier. A view that broadcasts an argument for one user is merged into that user
//! at the start. And if two groups would gain from merging, but paths between them lead through views alone, these
//! views are merged into the later group, with one query for all.
//!
//! ```text
//! %r = fusion.reshape %a          // {... %a} and {... %r} share %x, and %r stands between
//! {... %a} | %r | {... %r}    =>  {... %a} | {%r ...}    =>  {... %a, %r ...}
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use super::bottom_up::BottomUp;
use super::candidates::{MIN_VAIN, Vain};
use super::order::{Conflict, GroupId};

impl BottomUp<'_> {
    /// Merges each view that broadcasts an argument for one user into that user. Otherwise each such merge would come
    /// last, when its kernel has grown to its final size.
    pub fn take_in_repeats(&mut self) {
        for view in 0..self.states.len() as GroupId {
            if let Some(reader) = self.reader_of_repeat(view) {
                self.take_in(&[view], reader);
            }
        }
    }

    /// The only group that uses a broadcast of an argument.
    fn reader_of_repeat(&self, view: GroupId) -> Option<GroupId> {
        let state = &self.states[view as usize];
        let &[op] = state.group.members.as_slice() else {
            return None;
        };
        let node = self.graph.ops[op as usize];
        let repeats = self.ir.operand_count(node) == 1
            && self.ir.def_op(self.ir.operand(node, 0)).is_none()
            && self.ir.rank(self.ir.operand(node, 0)) < self.ir.rank(self.ir.result(node, 0));
        let &[edge] = self.graph.writes[op as usize].as_slice() else {
            return None;
        };
        let edge = &self.graph.edges[edge as usize];
        let &[user] = edge.users.as_slice() else {
            return None;
        };
        let is_one = state.alive && repeats && !edge.escapes && self.is_view(view);
        self.of_op[user as usize].filter(|_| is_one)
    }

    /// Merges the views between two groups into the later group, if all groups between are views. Returns true if it
    /// did, which also queues the pair again. Alone, each such merge gains little and would come last, when both groups
    /// have grown separately.
    pub fn take_in_between(&mut self, conflict: &Conflict) -> bool {
        let Conflict::Cycle(path) = conflict else {
            return false;
        };
        let &[_, ref views @ .., reader] = path.as_slice() else {
            return false;
        };
        if !self.views || !views.iter().all(|&g| self.is_view(g)) {
            return false;
        }
        let views = self.views_between(path[0], reader);
        views.is_some_and(|views| self.take_in(&views, reader))
    }
    /// The views on paths from one group to another that consist of views alone; `None` if other paths lead from one to
    /// the other as well.
    fn views_between(&self, first: GroupId, last: GroupId) -> Option<Vec<GroupId>> {
        // The views that each group reads.
        let mut reads = FxHashMap::<GroupId, Vec<GroupId>>::default();
        let mut met = FxHashSet::default();
        let mut stack = vec![first];
        while let Some(group) = stack.pop() {
            for user in self.successors(group) {
                if group != first {
                    reads.entry(user).or_default().push(group);
                }
                if user != last && self.is_view(user) && met.insert(user) {
                    stack.push(user);
                }
            }
        }
        let mut found = FxHashSet::default();
        let mut views = Vec::new();
        let mut stack = vec![last];
        while let Some(user) = stack.pop() {
            let read = reads.get(&user).into_iter().flatten().copied();
            let new: Vec<GroupId> = read.filter(|&view| found.insert(view)).collect();
            stack.extend(&new);
            views.extend(new);
        }
        let all = [&[first, last], views.as_slice()].concat();
        let dependents = self.order.dependents(&all, &mut |g| self.successors(g));
        dependents.map(|_| views)
    }

    /// Merges views into a group that uses them, if that is allowed and costs nothing.
    fn take_in(&mut self, views: &[GroupId], reader: GroupId) -> bool {
        let alone = |g: GroupId| self.states[g as usize].alone;
        let set: FxHashSet<GroupId> = views.iter().copied().chain([reader]).collect();
        let is_cut = |&view: &GroupId| {
            let near = self.neighbours(view);
            let mut users = self.successors(view).into_iter();
            users.any(|user| set.contains(&user) && !near.contains_key(&user))
        };
        let Some(&last) = views.first() else {
            return false;
        };
        if set.iter().any(|&group| alone(group)) || views.iter().any(is_cut) {
            return false;
        }
        let pair = (last.min(reader), last.max(reader));
        let ops = set.iter().map(|&g| self.size(g)).sum();
        let vain = self.vain.get(&pair);
        if ops >= MIN_VAIN && vain.is_some_and(|own| ops < 2 * own.ops) {
            return false;
        }
        let done = self.join_all(reader, views, [0; 3]);
        if !done {
            self.vain.insert(pair, Vain { ops, saved: 0 });
        }
        done
    }
}
