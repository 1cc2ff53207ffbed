//! Solutions of problems that were solved before. The rounds of segmentation look ahead at the problem that the pass is given later, and
//! two looks ahead may be one. Of equal layers the rounds see a few; what becomes of these becomes of all, and the pass does not ask again.
//!
//! A problem is plain data, so two programs with equal problems have equal solutions. What is found is what the search would find,
//! and is paid for from the budget like that.

use std::collections::VecDeque;

use fuser_analysis::cost::Model;
use fuser_ir::{Ir, Op};

use super::problem::{Problem, Solution};
use super::search::{Search, solve};

/// Values and ops in the problems that are remembered: a bound on memory.
const MAX_SIZE: usize = 1 << 16;

#[derive(Debug)]
struct Known {
    problem: Problem,
    now: Vec<bool>,
    solution: Option<Solution>,
    work: u64,
    steps: u64,
}

impl Known {
    fn size(&self) -> usize {
        self.problem.values.len() + self.problem.ops.len()
    }
}

/// The ops that each segment computes, in any order; `None` for one that vanishes.
pub(crate) type Contents = Vec<Option<Vec<Op>>>;

/// The rematerialization of a program, known before.
#[derive(Clone, Debug)]
pub(crate) enum Foreseen {
    /// Nothing is to be gained.
    Nothing,
    /// The segments compute this.
    Computes(Contents),
}

/// Problems with their solutions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Solutions {
    known: VecDeque<Known>,
    size: usize,
    /// The rematerialization of a program under the usual prices; it is known by the edits it has had, and the model.
    foreseen: Option<(u64, Model, Foreseen)>,
}

impl Solutions {
    /// Remembers the rematerialization of `ir` as it is now.
    pub fn foresee(&mut self, ir: &Ir, model: &Model, foreseen: Foreseen) {
        self.foreseen = Some((ir.edits(), model.clone(), foreseen));
    }
    /// The rematerialization of `ir`, if it is known and nobody edited that since.
    pub fn foreseen(&mut self, ir: &Ir, model: &Model) -> Option<Foreseen> {
        let known = self.foreseen.take();
        let known = known.filter(|(edits, of, _)| *edits == ir.edits() && of == model);
        known.map(|(_, _, foreseen)| foreseen)
    }
    /// The same as [`solve`].
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        now: &[bool],
        search: &mut Search,
    ) -> Option<Solution> {
        // Where the budget would end the search it ends it.
        let left = search.budget.left();
        let same = |k: &&Known| k.work < left && k.now == now && k.problem == *problem;
        if let Some(known) = self.known.iter().find(same) {
            search.budget.spend(known.work);
            search.steps += known.steps;
            return known.solution.clone();
        }
        let (spent, steps) = (search.budget.spent(), search.steps);
        let solution = solve(problem, now, search);
        if !search.budget.is_spent() {
            self.keep(Known {
                problem: problem.clone(),
                now: now.to_vec(),
                solution: solution.clone(),
                work: search.budget.spent() - spent,
                steps: search.steps - steps,
            });
        }
        solution
    }
    fn keep(&mut self, known: Known) {
        self.size += known.size();
        self.known.push_back(known);
        while self.size > MAX_SIZE {
            let oldest = self.known.pop_front();
            self.size -= oldest.map_or(self.size, |known| known.size());
        }
    }
}
