//! Solutions of problems that were solved before. The rounds of segmentation look ahead at the problem that the pass is given later, and
//! two looks ahead may be one. Of equal layers the rounds see a few; if nothing is to be gained there, the pass does not ask about all.
//!
//! A problem is plain data, so two programs with equal problems have equal solutions. What is found is what the search would find,
//! and is paid for from the budget like that.

use std::collections::VecDeque;

use fuser_analysis::cost::Model;
use fuser_ir::Ir;

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

/// Problems with their solutions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Solutions {
    known: VecDeque<Known>,
    size: usize,
    /// The program in which nothing is to be gained under the usual prices, by the edits it has had, and the model.
    settled: Option<(u64, Model)>,
}

impl Solutions {
    /// Remembers that nothing is to be gained in `ir` as it is now.
    pub fn settle(&mut self, ir: &Ir, model: &Model) {
        self.settled = Some((ir.edits(), model.clone()));
    }
    /// True if nothing is to be gained in `ir`, and nobody edited it since.
    pub fn is_settled(&self, ir: &Ir, model: &Model) -> bool {
        let settled = self.settled.as_ref();
        settled.is_some_and(|(edits, of)| *edits == ir.edits() && of == model)
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
