//! Walks over nested operations, without recursion.

use crate::ir::{Ir, Op};

impl Ir {
    /// All ops under `root` in program order; `root` is first, and each op comes before the ops in its regions.
    pub fn walk(&self, root: Op) -> Vec<Op> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(op) = stack.pop() {
            order.push(op);
            if self.op_regions(op).is_empty() {
                continue;
            }
            let children = self.children(op);
            stack.extend(children.into_iter().rev());
        }
        order
    }
    /// All ops under `root`; each op comes after the ops in its regions, and `root` is last.
    pub fn walk_post(&self, root: Op) -> Vec<Op> {
        let mut order = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((op, expanded)) = stack.pop() {
            if expanded || self.op_regions(op).is_empty() {
                order.push(op);
                continue;
            }
            stack.push((op, true));
            stack.extend(self.children(op).into_iter().rev().map(|c| (c, false)));
        }
        order
    }
    /// The ops directly inside `op`'s regions, in order.
    pub fn children(&self, op: Op) -> Vec<Op> {
        let regions = self.op_regions(op).iter();
        regions
            .flat_map(|&r| self.region_blocks(r))
            .flat_map(|b| self.block_ops(b))
            .collect()
    }
    /// True if `op` lies inside `ancestor` (or is it).
    pub fn is_inside(&self, op: Op, ancestor: Op) -> bool {
        std::iter::successors(Some(op), |&o| self.parent_op(o)).any(|o| o == ancestor)
    }
    /// The ancestor of `op` (or `op` itself) that is directly in the block of `sibling`.
    pub fn ancestor_beside(&self, op: Op, sibling: Op) -> Option<Op> {
        let block = self.parent_block(sibling);
        std::iter::successors(Some(op), |&o| self.parent_op(o))
            .find(|&o| self.parent_block(o) == block)
    }
}
