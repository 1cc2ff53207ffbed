//! Costs of kernels, current and proposed. A proposed kernel is built in a copy of the program, planned, and removed,
//! unless a kernel of equal structure was planned before.

use fuser_analysis::cost::Copies;
use fuser_dialects::task;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::apply::{Own, fill_body};
use super::extract::Extract;
use super::problem::Kernel;
use crate::planner::{CostResult, Planner, Structure};

/// The cost result of a drawn segment; `None` if the model has no plan for it.
pub(crate) fn drawn(ir: &Ir, segment: Op, planner: &mut Planner) -> Option<CostResult> {
    let mut ops = ir.children(segment);
    ops.retain(|&op| !ir.is(op, &task::YIELD));
    planner.answer(ir, &ops, &Copies::default()).ok()
}

/// Queries the cost model about proposed kernels.
pub(super) struct CostCache<'a> {
    pub planner: &'a mut Planner,
    /// A copy of the program in which proposed kernels are built.
    scratch: Option<Ir>,
}

impl<'a> CostCache<'a> {
    /// A cache without a copy of the program; the copy is made when it is first needed.
    pub fn new(planner: &'a mut Planner) -> Self {
        let scratch = None;
        Self { planner, scratch }
    }

    /// The cost result of kernel `number` if its content becomes `kernel` and it writes `wanted`.
    pub fn changed(
        &mut self,
        ir: &Ir,
        extract: &Extract,
        number: u32,
        kernel: &Kernel,
        wanted: &[u32],
    ) -> Option<CostResult> {
        let mut structure = Structure::default();
        for &class in &kernel.computes {
            let op = extract.instance(class, number);
            let sort = self.planner.sort(ir, op);
            let reads = extract.operands[&op].iter();
            let reads = reads.map(|&r| (r, ir.value_type(extract.sample[r as usize])));
            let makes = extract.problem.ops[class as usize].writes.iter();
            let makes = makes.map(|&write| (write, wanted.binary_search(&write).is_ok()));
            structure.add(sort, reads, makes);
        }
        if let Some(known) = self.planner.accepted(&structure) {
            return known.cloned();
        }
        let mut scratch = self.scratch.take().unwrap_or_else(|| ir.clone());
        let region = scratch.new_region();
        let body = scratch.append_block(region);
        let memory = FxHashMap::<u32, Value>::default();
        fill_body(
            &mut scratch,
            extract,
            kernel,
            number,
            wanted,
            body,
            Own::Copied,
            &memory,
        );
        let ops = scratch.block_ops(body);
        let ops: Vec<Op> = ops.filter(|&op| !scratch.is(op, &task::YIELD)).collect();
        let answer = self.planner.answer(&scratch, &ops, &Copies::default());
        scratch.erase_block(body);
        self.scratch = Some(scratch);
        debug_assert!(answer.is_err() || self.planner.accepted(&structure).is_some());
        answer.ok()
    }
}
