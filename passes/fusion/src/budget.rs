//! A budget is what a search may still look at. All bounds on the work of segmentation and rematerialization stand here.
//!
//! Steps that share a budget spend from it one after the other: what comes first is served first. Work is counted and never
//! timed, so the same program gets the same result on every machine.

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
    const fn of(base: u64, per_op: u64, ops: usize) -> Self {
        Self::new(base.saturating_add(per_op.saturating_mul(ops as u64)))
    }

    /// Questions to the cost model for merging `ops` ops or groups: `each` per op and doubling of their number.
    pub(crate) fn merging(each: u64, ops: usize) -> Self {
        let doublings = u64::from(ops.max(2).ilog2());
        Self::of(0, each.saturating_mul(doublings), ops)
    }
    /// Ops in the groups that refinement asks about.
    pub(crate) const fn refining(each: u64, ops: usize) -> Self {
        Self::of(0, each, ops)
    }
    /// Questions beyond those of merging, for a program of `ops` ops: for other orders of equal gains, and for optima over few
    /// parts. The former leave [`Budget::FOR_WINDOWS`] to the windows that come later.
    pub(crate) const fn beyond_merging(ops: usize) -> Self {
        Self::of(2 * Self::FOR_WINDOWS, 2, ops)
    }
    /// Questions that orders of equal gains leave.
    pub(crate) const FOR_WINDOWS: u64 = 8_192;
    /// Questions of one search for an optimum.
    pub(crate) const OPTIMUM: u64 = 4_096;
    /// Pairs of sets that such a search looks at.
    pub(crate) const PAIRS: u64 = 1 << 20;
    /// Values, ops and nodes of networks in one rematerialization of `ops` ops.
    pub(crate) const fn remat(per_op: u64, ops: usize) -> Self {
        Self::of(1 << 18, per_op, ops)
    }
    /// The same, and ops that are grouped anew, in all rounds of segmentation and rematerialization.
    pub(crate) const fn rounds() -> Self {
        Self::new(1 << 22)
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
