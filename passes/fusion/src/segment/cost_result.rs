//! Cost results of groups, evaluated once per structure.
//!
//! Two groups have one structure if op by op the name, the clauses, the result types, the origin of the operands and
//! what is used outside are the same: a model of a hundred equal layers pays for one. A refusal names values and ops;
//! it is remembered by their positions in the structure, and reported for the ops in those positions of the group evaluated.

use std::rc::Rc;

use fuser_analysis::cost::{Copies, Cost, Kind, Model, Plan, Refusal, plan_ops};
use fuser_dialects::task::labels::said;
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Index};

/// A cost result: what an accepted group is and what it costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostResult {
    /// Kernel, view.
    pub kind: Kind,
    /// The price.
    pub cost: Cost,
    /// Walks over slow memory.
    pub sweeps: usize,
    /// Bytes of each input once and of each output once.
    pub least_bytes: u64,
    /// True if no input is read and no output written more than once.
    pub tight: bool,
    /// Tiles that would have been better and do not fit.
    pub rejected: Rc<[Refusal]>,
}

/// The cost model and the cost result of each structure that it evaluated.
#[derive(Debug)]
pub struct Planner {
    /// The model.
    pub model: Model,
    /// Questions asked, remembered ones included.
    pub questions: u64,
    /// Ops in the groups asked about: each is looked at, to know whether an equal group was.
    pub asked_ops: u64,
    /// Plans made.
    pub plans: u64,
    /// Ops in those plans: the measure of the work done.
    pub planned_ops: u64,
    /// Questions whether two groups have one iteration space.
    pub axis_questions: u64,
    /// Work done for them and for merging: ops added to classes of axes, nodes followed.
    pub axis_steps: u64,
    /// Changes at cuts that were looked at.
    pub refinements: u64,
    /// Ops in the groups that were asked about for them.
    pub refined_ops: u64,
    /// The result for each structure; values and ops of refusals are positions in it.
    known: FxHashMap<Vec<u32>, Result<CostResult, Refusal>>,
}

impl Planner {
    /// A planner that has seen nothing.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            questions: 0,
            asked_ops: 0,
            plans: 0,
            planned_ops: 0,
            axis_questions: 0,
            axis_steps: 0,
            refinements: 0,
            refined_ops: 0,
            known: FxHashMap::default(),
        }
    }

    /// The cost result of the ops at `members` as one group, with the free ops that they use.
    pub fn evaluate(
        &mut self,
        ir: &Ir,
        graph: &Graph,
        members: &[Index],
    ) -> Result<CostResult, Refusal> {
        self.evaluate_with(ir, graph, members, &Copies::default())
    }

    /// The same where ops are copied.
    pub fn evaluate_with(
        &mut self,
        ir: &Ir,
        graph: &Graph,
        members: &[Index],
        copies: &Copies,
    ) -> Result<CostResult, Refusal> {
        self.questions += 1;
        let limit = self.model.limits.ops;
        let too_many = |ops: usize| match ops > limit {
            true => Err(Refusal::TooManyOps { ops, limit }),
            false => Ok(()),
        };
        too_many(members.len())?;
        let positions = graph.with_free(members);
        too_many(positions.len())?;
        self.asked_ops += positions.len() as u64;
        let ops = graph.ops_at(&positions);
        let free: Vec<bool> = positions.iter().map(|&p| graph.free[p as usize]).collect();
        let structure = Structure::of(ir, &ops, &free, copies);
        match self.known.get(&structure.key) {
            Some(Ok(known)) => return Ok(known.clone()),
            Some(Err(known)) => {
                if let Some(refusal) = structure.here(known, &ops) {
                    return Err(refusal);
                }
            }
            None => {}
        }
        let cost_result = self
            .plan(ir, &ops, copies)
            .map(|plan| cost_result(ir, &plan, &self.model));
        let told = match &cost_result {
            Ok(cost_result) => Some(Ok(cost_result.clone())),
            Err(refusal) => structure.anywhere(refusal, &ops).map(Err),
        };
        if let Some(told) = told {
            self.known.insert(structure.key, told);
        }
        cost_result
    }

    fn plan(&mut self, ir: &Ir, ops: &[Op], copies: &Copies) -> Result<Plan, Refusal> {
        self.plans += 1;
        self.planned_ops += ops.len() as u64;
        plan_ops(ir, ops, &self.model, copies)
    }
}

fn cost_result(ir: &Ir, plan: &Plan, model: &Model) -> CostResult {
    let bytes = |values: &[Value]| {
        let bytes = values.iter().map(|&v| model.bindings.bytes(ir, v));
        bytes.fold(0, u64::saturating_add)
    };
    let least = bytes(&plan.inputs).saturating_add(bytes(&plan.outputs));
    let moved = plan.cost.read_bytes.saturating_add(plan.cost.write_bytes);
    CostResult {
        kind: plan.kind,
        cost: plan.cost,
        sweeps: plan.sweeps.len(),
        least_bytes: least,
        tight: moved <= least && plan.cost.waits == 0,
        rejected: plan.rejected.clone().into(),
    }
}

/// The structure of a group as numbers.
struct Structure {
    key: Vec<u32>,
    /// The position of each value, by first appearance.
    positions: FxHashMap<Value, u32>,
}

impl Structure {
    /// Of `ops`, with for each whether it is made anew by whoever needs it.
    fn of(ir: &Ir, ops: &[Op], free: &[bool], copies: &Copies) -> Self {
        let inside: FxHashSet<Op> = ops.iter().copied().collect();
        // Where an op stood says nothing about its price.
        let position = ir.strings.lookup(fuser_dialects::task::positions::POSITION);
        let mut positions = FxHashMap::<Value, u32>::default();
        let mut key = Vec::with_capacity(ops.len() * 8);
        for (&op, &free) in ops.iter().zip(free) {
            key.push(ir.name_id(op).index() as u32);
            for (name, attr) in said(ir, op).filter(|a| Some(a.0) != position) {
                key.extend([name.index() as u32, attr.index() as u32]);
            }
            key.push(u32::MAX);
            for value in ir.operands(op) {
                let next = positions.len() as u32;
                let number = *positions.entry(value).or_insert(next);
                key.extend([number, ir.value_type(value).index() as u32]);
            }
            key.push(u32::MAX);
            for &value in ir.results(op) {
                let next = positions.len() as u32;
                positions.insert(value, next);
                // Windows ask who reads a value at all, the price who loads it.
                let read = ir.users(value).any(|user| !inside.contains(&user));
                // Nobody loads a free value, however many use it.
                let loaded = !free && copies.leaves(ir, op, value, &inside);
                let outside = u32::from(read) + 2 * u32::from(loaded);
                key.extend([ir.value_type(value).index() as u32, outside]);
            }
            key.push(u32::MAX);
        }
        Self { key, positions }
    }

    /// A refusal about this group as one about its structure.
    fn anywhere(&self, refusal: &Refusal, ops: &[Op]) -> Option<Refusal> {
        let value = |v: Value| Some(Value::from_index(*self.positions.get(&v)? as usize));
        let op = |o: Op| ops.iter().position(|&own| own == o).map(Op::from_index);
        refusal.map(&value, &op)
    }
    /// A refusal about the structure as one about this group.
    fn here(&self, refusal: &Refusal, ops: &[Op]) -> Option<Refusal> {
        let value = |v: Value| {
            let position = v.index() as u32;
            let mut all = self.positions.iter();
            all.find(|(_, p)| **p == position).map(|(v, _)| *v)
        };
        let op = |o: Op| ops.get(o.index()).copied();
        refusal.map(&value, &op)
    }
}
