//! Hoists the conditional loads of all rounds of a loop before the first use of any of them.
//!
//! A thread that uses a conditionally loaded value in the same branch waits for the loads of one round before it starts
//! those of the next. The loads therefore move into separate branches, those of all rounds first. Each round then uses
//! its loaded values:
//!
//! ```text
//! if a { x = load ...; use x }            if a { x0 = load ... }    if b { x1 = load ... }
//! if b { x = load ...; use x }      =>    if a { use x0 }           if b { use x1 }
//! ```
//!
//! Threads that scan together wait for each other in each round. There the unconditional loads of all rounds are
//! hoisted too.
//!
//! Applies to parameters that are never stored to, at indices that depend on no load, and to at most [`MOST_BYTES`] for
//! each thread.

use fuser_dialects::kernel::{self, scan};
use fuser_ir::def::Computes;
use fuser_ir::{Block, Op};
use rustc_hash::FxHashSet;

use super::Lowering;
use super::control::OpenRounds;
use crate::error::CodegenError;
use crate::lower::arith;
use crate::lower::types::shape;

/// Bytes of a thread's registers that hold what was loaded ahead: 32 registers.
const MOST_BYTES: u64 = 128;

/// A condition in the body of a loop, and loads under it; or what that body itself loads.
struct Branch {
    condition: Option<Op>,
    /// The ops of the loop's body that the condition and the loads need, and those under the condition, loads among them, in order.
    before: Vec<Op>,
    under: Vec<Op>,
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits the loads that go ahead of all rounds of a loop.
    pub(super) fn load_ahead(&mut self, open: &OpenRounds<'ctx>) -> Result<(), CodegenError> {
        let (op, rounds) = (open.op, open.rounds);
        let Some(body) = self.ir.body(op, 0) else {
            return Ok(());
        };
        let mut branches = self.branches(body);
        if scan::scans(self.ir, op) {
            branches.extend(self.branch(body, None));
        }
        let loads = branches.iter().flat_map(|branch| &branch.under);
        let loads: Vec<Op> = loads.copied().filter(|&op| self.is_load(op)).collect();
        let bytes: u64 = loads.iter().map(|&load| self.loaded_bytes(load)).sum();
        let count = u64::try_from(rounds.count).unwrap_or(0);
        if loads.len() as u64 * count < 2 || bytes.saturating_mul(count) > MOST_BYTES {
            return Ok(());
        }
        for number in 0..rounds.count {
            self.begin_round(open, number)?;
            for branch in &branches {
                self.branch_ahead(branch, number)?;
            }
        }
        Ok(())
    }

    fn branch_ahead(&mut self, branch: &Branch, number: i64) -> Result<(), CodegenError> {
        for &op in &branch.before {
            let value = self.pure(op)?;
            self.define(op, value)?;
        }
        let Some(condition) = branch.condition else {
            for &op in &branch.under {
                let value = self.pure(op)?;
                self.define(op, value)?;
                if self.is_load(op) {
                    self.ahead.insert((op, number), value.raw());
                }
            }
            return Ok(());
        };
        let condition = self.operand_value(condition, 0)?.raw();
        let (then, merge, from) = (self.block("ahead")?, self.block("merge")?, self.here()?);
        self.emit
            .builder
            .build_conditional_branch(condition.into_int_value(), then, merge)?;
        self.emit.begin(then);
        let mut loaded = Vec::new();
        for &op in &branch.under {
            let value = self.pure(op)?;
            self.define(op, value)?;
            loaded.extend(self.is_load(op).then_some((op, value)));
        }
        let end = self.here()?;
        self.emit.builder.build_unconditional_branch(merge)?;
        self.emit.begin(merge);
        for (op, value) in loaded {
            let phi = self.emit.phi(value.raw().get_type())?;
            // Nobody reads it where the condition does not hold.
            let nothing = self.emit.undefined(value.elem(), value.lanes());
            phi.add_incoming(&[(&value.raw(), end), (&nothing.raw(), from)]);
            self.ahead.insert((op, number), phi.as_basic_value());
        }
        Ok(())
    }

    /// The conditions in a loop body that guard hoistable loads.
    fn branches(&self, body: Block) -> Vec<Branch> {
        let conditions = self.ir.block_ops(body);
        let conditions = conditions.filter(|&op| self.ir.is(op, &kernel::IF));
        let branches = conditions.filter_map(|op| self.branch(body, Some(op)));
        branches.filter(|branch| !branch.under.is_empty()).collect()
    }

    fn branch(&self, body: Block, condition: Option<Op>) -> Option<Branch> {
        let then = condition.map_or(Some(body), |condition| self.ir.body(condition, 0))?;
        let loads = self.ir.block_ops(then).filter(|&op| self.is_load(op));
        let mut needed = FxHashSet::default();
        let mut before = Vec::new();
        if condition.is_some_and(|op| !self.needs(op, [body, then], &mut before)) {
            return None;
        }
        needed.extend(before);
        for load in loads {
            let mut own = vec![load];
            if self.needs(load, [body, then], &mut own) {
                needed.extend(own);
            }
        }
        let of = |block: Block| {
            let ops = self.ir.block_ops(block);
            ops.filter(|op| needed.contains(op)).collect::<Vec<_>>()
        };
        let before = condition.map_or_else(Vec::new, |_| of(body));
        let under = of(then);
        Some(Branch {
            condition,
            before,
            under,
        })
    }

    /// Adds the ops of two blocks that the operands of `op` come from; false where not all of them are arithmetic.
    fn needs(&self, op: Op, blocks: [Block; 2], needed: &mut Vec<Op>) -> bool {
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            let made = self.ir.operands(op).filter_map(|v| self.ir.def_op(v));
            for by in made {
                let inside = self
                    .ir
                    .parent_block(by)
                    .is_some_and(|b| blocks.contains(&b));
                if !inside || !seen.insert(by) {
                    continue;
                }
                let constant = self.ir.computes(by) == Some(Computes::Constant);
                if !constant && arith::rule(self.ir, by).is_none() {
                    return false;
                }
                needed.push(by);
                pending.push(by);
            }
        }
        true
    }

    /// True for a load of what nothing stores to.
    fn is_load(&self, op: Op) -> bool {
        let memory = || self.ir.operands(op).next();
        self.ir.is(op, &kernel::LOAD) && memory().is_some_and(|m| self.constant.contains(&m))
    }

    fn loaded_bytes(&self, load: Op) -> u64 {
        let shape = shape(self.ir, self.ir.result(load, 0));
        shape.map_or(u64::MAX, |s| {
            s.dtype.bytes() * u64::from(s.lanes.unwrap_or(1))
        })
    }
}
