//! Cache of solved problems. The rounds of segmentation look ahead at the problem that the pass gets later, and two
//! look-aheads may be equal. Of equal layers the rounds solve only a few; their solution is extended to all layers, and
//! the pass does not search again.
//!
//! A problem is plain data, so two programs with equal problems have equal solutions. A cached solution is the one that
//! the search would find, and costs the same budget.

use std::collections::VecDeque;

use fuser_analysis::cost::Model;
use fuser_ir::{Ir, Op};

use super::problem::{Problem, Solution};
use super::search::{Search, solve};

/// The most values and ops in cached problems: a bound on memory.
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

/// The ops that each segment computes, in any order; `None` for a removed segment.
pub(crate) type Contents = Vec<Option<Vec<Op>>>;

/// The rematerialization of a program, known in advance.
#[derive(Clone, Debug)]
pub(crate) enum Foreseen {
    /// No change lowers the cost.
    Nothing,
    /// The segments compute these ops.
    Computes(Contents),
}

/// Solved problems, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Solutions {
    known: VecDeque<Known>,
    size: usize,
    /// The rematerialization of a program under the default prices, valid for this edit count and model.
    foreseen: Option<(u64, Model, Foreseen)>,
}

impl Solutions {
    /// Stores the rematerialization of the current state of `ir`.
    pub fn foresee(&mut self, ir: &Ir, model: &Model, foreseen: Foreseen) {
        self.foreseen = Some((ir.edits(), model.clone(), foreseen));
    }
    /// The stored rematerialization, if `ir` was not edited since.
    pub fn foreseen(&mut self, ir: &Ir, model: &Model) -> Option<Foreseen> {
        let known = self.foreseen.take();
        let known = known.filter(|(edits, of, _)| *edits == ir.edits() && of == model);
        known.map(|(_, _, foreseen)| foreseen)
    }
    /// Like [`solve`], with a cache.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        now: &[bool],
        search: &mut Search,
    ) -> Option<Solution> {
        // A cached solution is used only if the budget would not have ended its search.
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
