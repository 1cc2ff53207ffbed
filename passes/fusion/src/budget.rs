//! A budget is what a search may still look at. All bounds on the work of segmentation and rematerialization stand here.
//!
//! A program has one pot of questions to the cost model, which its planner keeps. Whoever asks spends from it, so what comes first is
//! served first; restarts and rounds end when their share is spent, so that something is left for what comes behind them. Work is
//! counted and never timed, so the same program gets the same result on every machine.

/// The work that may still be done, and the work that was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    left: u64,
    spent: u64,
}

impl Budget {
    /// So much work.
    pub const fn new(left: u64) -> Self {
        Self { left, spent: 0 }
    }
    /// A budget without end.
    pub(crate) const UNBOUNDED: Self = Self::new(u64::MAX);

    /// The pot: questions about a program of `ops` ops, `each` per op and doubling of their number, and some more.
    pub(crate) fn questions(each: u64, ops: usize) -> Self {
        let doublings = u64::from(ops.max(2).ilog2());
        let all = each.saturating_mul(doublings).saturating_mul(ops as u64);
        Self::new(all.saturating_add(2 * Self::ROUNDS))
    }
    /// The share of other orders of equal gains in a program of `ops` ops, and that of windows each time that they slide over it.
    pub(crate) const fn restarts(ops: usize) -> u64 {
        (1 << 13) + ops as u64
    }
    /// Ops in the groups that refinement asks about.
    pub(crate) const fn refining(each: u64, ops: usize) -> Self {
        Self::new(each.saturating_mul(ops as u64))
    }
    /// The share of one search for an optimum.
    pub(crate) const OPTIMUM: u64 = 1 << 12;
    /// Pairs of sets that such a search looks at.
    pub(crate) const PAIRS: u64 = 1 << 20;
    /// The share of all rounds with rematerialization.
    pub(crate) const ROUNDS: u64 = 1 << 16;
    /// Values, ops and nodes of networks that take as long as a question.
    pub(crate) const PER_QUESTION: u64 = 64;
    /// Values, ops and nodes of networks in one rematerialization of `ops` ops.
    pub(crate) const fn remat(per_op: u64, ops: usize) -> Self {
        Self::new((per_op.saturating_mul(ops as u64)).saturating_add(1 << 18))
    }

    /// Takes `work` from what is left.
    pub const fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
        self.spent = self.spent.saturating_add(work);
    }
    /// True if nothing may be looked at any more.
    pub const fn is_spent(&self) -> bool {
        self.left == 0
    }
    /// The work left.
    pub const fn left(&self) -> u64 {
        self.left
    }
    /// The work done.
    pub const fn spent(&self) -> u64 {
        self.spent
    }
    /// As much left as `other` has.
    pub(crate) const fn refill(&mut self, other: &Self) {
        self.left = other.left;
    }
}
