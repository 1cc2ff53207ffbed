//! Merges of one group with several neighbours at once: one query of the cost model instead of one for each.
//!
//! A large group absorbs hundreds of single ops, each with the same gain, and the cost of a plan grows with the group.
//! So after a merge that gains, the next two neighbours with equal optimistic gain are evaluated together, then four,
//! then eight. They merge if together they gain as much as that many single merges; otherwise the first is evaluated
//! alone, and the number restarts at one. A failed query is thus followed by a merge or a refusal, and no more than
//! half of all queries fail.
//!
//! ```text
//! {900 ops} + %a: 24 bytes    {900 ops} + %b: hopes for 24    {900 ops} + %c: hopes for 24
//! {900 ops} + %a, %b, %c: 72 bytes                            =>  {903 ops}
//! ```
//!
//! Never looks past the front of the queue: candidates of other groups with more gain come first. For small groups
//! every pair is evaluated: there the order of merges matters, and queries are cheap.

use super::bottom_up::BottomUp;
use super::candidates::{Candidate, Gain, MIN_VAIN, gain};
use super::order::GroupId;
use super::record::{Action, Record};

/// The components of a gain without the last one.
type Main = [i128; 3];

/// The number of neighbours that a group absorbs at once, and the gain of the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    count: usize,
    /// The gain expected of it, and its actual gain.
    last: Option<(Main, Main)>,
}

impl Default for Pace {
    fn default() -> Self {
        let last = None;
        Self { count: 1, last }
    }
}

fn main([first, second, third, _]: Gain) -> Main {
    [first, second, third]
}

impl BottomUp<'_> {
    /// Records that a candidate with the optimistic gain `hope` has a gain.
    pub fn note_gain(&mut self, candidate: &Candidate, hope: Gain) {
        let (a, b) = candidate.pair;
        if self.size(a) + self.size(b) < MIN_VAIN {
            return;
        }
        for group in [a, b] {
            let pace = &mut self.states[group as usize].pace;
            pace.count = pace.count.max(2);
            pace.last = Some((main(hope), main(candidate.gain)));
        }
    }

    /// Merges the larger group of `candidate` with all neighbours of equal optimistic gain; returns true if it did.
    pub fn take_in_alike(&mut self, candidate: &Candidate) -> bool {
        let (a, b) = candidate.pair;
        let large = if self.size(a) >= self.size(b) { a } else { b };
        let most = self.states[large as usize].pace.count;
        if most < 2 || candidate.action != Action::Merge {
            return false;
        }
        let other = |c: &Candidate| {
            if c.pair.0 == large {
                c.pair.1
            } else {
                c.pair.0
            }
        };
        let alike = self.pop_alike(candidate, large, most - 1);
        if alike.is_empty() {
            return false;
        }
        let others: Vec<GroupId> = [candidate].into_iter().chain(&alike).map(other).collect();
        let hope = main(candidate.gain);
        let last = self.states[large as usize].pace.last;
        let each = last
            .filter(|last| last.0 == hope)
            .map_or(hope, |last| last.1);
        let all = each.map(|each| each.saturating_mul(others.len() as i128));
        let done = self.join_all(large, &others, all);
        if !done {
            self.queue.extend(alike);
            self.states[large as usize].pace.count = 1;
        }
        done
    }
    /// Takes merges of `large` with the gain of `candidate` from the front of the queue, at most `most`.
    fn pop_alike(&mut self, candidate: &Candidate, large: GroupId, most: usize) -> Vec<Candidate> {
        let (mut alike, mut aside) = (Vec::new(), Vec::new());
        while alike.len() < most && aside.len() <= most {
            let hopes = |next: &&Candidate| {
                next.cost_result.is_none() && main(next.gain) == main(candidate.gain)
            };
            if self.queue.peek().filter(hopes).is_none() {
                break;
            }
            let Some(next) = self.queue.pop().filter(|next| !self.is_stale(next)) else {
                continue;
            };
            let own = next.pair.0 == large || next.pair.1 == large;
            match own && next.action == Action::Merge {
                true => alike.push(next),
                false => aside.push(next),
            }
        }
        self.queue.extend(aside);
        alike
    }

    /// Merges `group` and `others` if one kernel can hold all of them and that gains `least` or more; returns true if
    /// it did.
    pub fn join_all(&mut self, group: GroupId, others: &[GroupId], least: Main) -> bool {
        let all = [&[group], others].concat();
        let apart = &self.states[group as usize].apart;
        let refused = others.iter().any(|other| apart.contains_key(other));
        let members = self.union(&all);
        if refused || members.len() > self.planner.model.limits.ops {
            return false;
        }
        let after = self.order.dependents(&all, &mut |g| self.successors(g));
        let Some(after) = after else {
            return false;
        };
        let costs = others.iter().map(|&other| self.cost(other));
        let before = costs.fold(self.cost(group), |sum, cost| sum.plus(&cost));
        let Ok(answer) = self.planner.evaluate(self.ir, self.graph, &members) else {
            return false;
        };
        let gain = gain(&before, &answer.cost, self.planner.model.objective);
        if main(gain) < least || gain < [0; 4] {
            return false;
        }
        self.records.push(Record {
            action: Action::Merge,
            parts: self.names(&all),
            ops: members.len(),
            refusal: None,
            before: Some(before),
            after: Some(answer.cost),
        });
        let merged = self.join(&all, &after);
        let state = &mut self.states[merged as usize];
        state.group.cost_result = Some(answer);
        state.pace.count = state.pace.count.saturating_mul(2);
        let gone: Vec<GroupId> = all.into_iter().filter(|&g| g != merged).collect();
        self.push_neighbours(merged, &gone);
        true
    }
}
