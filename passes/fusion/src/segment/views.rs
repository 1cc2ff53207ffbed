//! Views in bottom-up merging: what reads a view takes it in before the two gain anything.
//!
//! A view is no kernel, so a merge with it gains nearly nothing and would come last, when its reader is as large as it
//! will be. Two cases do not wait. A view that repeats an argument for one reader goes into that at the start. And
//! where two groups would gain, but only views lead from one to the other, those go into the later one, all with one
//! question.
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
    /// Merges each view that repeats an argument for one reader with that reader. Each such merge would come last, when
    /// its kernel is as large as it will be.
    pub fn take_in_repeats(&mut self) {
        for view in 0..self.states.len() as GroupId {
            if let Some(reader) = self.reader_of_repeat(view) {
                self.take_in(&[view], reader);
            }
        }
    }

    /// The only group that reads what an op repeats of an argument.
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

    /// Merges the views that stand between two groups with the later of these, if all between them are views: says
    /// whether it did, and so queued the two again. Each such merge alone gains little and would come last, when one
    /// group after the other has grown by what it kept apart.
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
    /// The views on paths of views alone from one group to another; `None` where other paths lead from one to the other
    /// as well.
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

    /// Merges views with a group that reads them, where that may be and costs nothing.
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
