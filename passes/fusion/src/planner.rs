//! The planner: the cost model behind a cache, so that groups of one structure are planned once.
//!
//! Two groups have one structure if op by op the name, the clauses, the result types, the origin of the operands and
//! what is used outside are the same: a model of a hundred equal layers pays for one. A refusal names values and ops;
//! it is remembered by their positions in the structure, and told of the ops in those positions of the group asked about.

use std::rc::Rc;

use fuser_analysis::axes::is_permute;
use fuser_analysis::cost::{Copies, Cost, Kind, Model, Plan, Refusal, plan_ops};
use fuser_ir::attr::AttrId;
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, TypeId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::Budget;
use crate::remat::Solutions;

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
    /// True if no input is read and no output written more than once, by sweeps that do not wait for each other.
    pub tight: bool,
    /// Tiles that would have been better and do not fit.
    pub rejected: Rc<[Refusal]>,
}

/// The answer of the cost model about a group.
pub type Answer = Result<CostResult, Refusal>;

/// The identity of an op but for its operands: name, attributes, number of operands, result types, and whether it permutes an argument, which a walk
/// may read through a window wherever boundaries are drawn.
type Sort = (u32, Vec<(Sym, AttrId)>, usize, Vec<TypeId>, bool);

/// The cost model and the cost result of each structure that it evaluated. It belongs to one program and its copies.
#[derive(Debug)]
pub struct Planner {
    /// The model.
    pub model: Model,
    /// Work that may still be done.
    pub budget: Budget,
    /// The part of it for other orders of equal gains and for optima of few ops.
    pub restarts: Budget,
    /// The part of it for moves and copies.
    pub refining: Budget,
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
    /// Rematerializations that were solved.
    pub(crate) solutions: Solutions,
    /// The answer for each structure; values and ops of refusals are positions in it.
    known: FxHashMap<Vec<u32>, Answer>,
    sorts: FxHashMap<Sort, u32>,
}

impl Planner {
    /// A planner that has seen nothing, and may be asked without end.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            budget: Budget::UNBOUNDED,
            restarts: Budget::UNBOUNDED,
            refining: Budget::UNBOUNDED,
            questions: 0,
            asked_ops: 0,
            plans: 0,
            planned_ops: 0,
            axis_questions: 0,
            axis_steps: 0,
            refinements: 0,
            refined_ops: 0,
            solutions: Solutions::default(),
            known: FxHashMap::default(),
            sorts: FxHashMap::default(),
        }
    }

    /// The work done: an op in each plan, and each question.
    pub fn work(&self) -> u64 {
        self.planned_ops + self.questions
    }

    /// The answer about `ops`, given in program order, as one group.
    pub(crate) fn answer(&mut self, ir: &Ir, ops: &[Op], copies: &Copies) -> Answer {
        let structure = self.structure(ir, ops, copies);
        if let Some(known) = self.known(&structure, ops) {
            return known;
        }
        self.plans += 1;
        self.planned_ops += ops.len() as u64;
        self.budget.spend(ops.len() as u64);
        let plan = plan_ops(ir, ops, &self.model, copies);
        let answer = plan.map(|plan| cost_result(ir, &plan, &self.model));
        let told = match &answer {
            Ok(cost_result) => Some(Ok(cost_result.clone())),
            Err(refusal) => structure.anywhere(refusal, ops).map(Err),
        };
        if let Some(told) = told {
            self.known.insert(structure.key, told);
        }
        answer
    }
    /// The answer about `structure`, if it is known; a refusal names `ops`, which have it.
    fn known(&self, structure: &Structure, ops: &[Op]) -> Option<Answer> {
        match self.known.get(&structure.key)? {
            Ok(cost_result) => Some(Ok(cost_result.clone())),
            Err(refusal) => structure.here(refusal, ops).map(Err),
        }
    }
    /// The answer about `structure`, if it is known; of a refusal without the reason.
    pub(crate) fn accepted(&self, structure: &Structure) -> Option<Option<&CostResult>> {
        self.known
            .get(&structure.key)
            .map(|known| known.as_ref().ok())
    }

    /// The structure of a group as numbers.
    pub(crate) fn key(&mut self, ir: &Ir, ops: &[Op], copies: &Copies) -> Vec<u32> {
        self.structure(ir, ops, copies).key
    }
    fn structure(&mut self, ir: &Ir, ops: &[Op], copies: &Copies) -> Structure {
        let inside: FxHashSet<Op> = ops.iter().copied().collect();
        let mut structure = Structure::default();
        for &op in ops {
            let sort = self.sort(ir, op);
            let id = |value: Value| value.index() as u32;
            let reads = ir.operands(op).map(|v| (id(v), ir.value_type(v)));
            let makes = ir.results(op).iter();
            let makes = makes.map(|&v| (id(v), copies.leaves(ir, op, v, &inside)));
            structure.add(sort, reads, makes);
        }
        structure
    }
    /// The number of what an op is, whatever it reads.
    pub(crate) fn sort(&mut self, ir: &Ir, op: Op) -> u32 {
        let results = ir.results(op).iter().map(|&v| ir.value_type(v));
        let sort: Sort = (
            ir.name_id(op).index() as u32,
            ir.inherent_attrs(op).collect(),
            ir.operand_count(op),
            results.collect(),
            is_permute(ir, op),
        );
        let next = self.sorts.len() as u32;
        *self.sorts.entry(sort).or_insert(next)
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
        tight: moved <= least && plan.sweeps.iter().all(|sweep| sweep.level == 0),
        rejected: plan.rejected.clone().into(),
    }
}

/// The structure of a group as numbers: its ops, with values numbered by first appearance.
#[derive(Default)]
pub(crate) struct Structure {
    key: Vec<u32>,
    /// The position of each value.
    positions: FxHashMap<u32, u32>,
}

impl Structure {
    /// Adds an op of this sort; `reads` are its operands with their types, `makes` its results, and whether each leaves the group.
    pub fn add(
        &mut self,
        sort: u32,
        reads: impl Iterator<Item = (u32, TypeId)>,
        makes: impl Iterator<Item = (u32, bool)>,
    ) {
        self.key.push(sort);
        for (value, ty) in reads {
            let next = self.positions.len() as u32;
            let position = *self.positions.entry(value).or_insert(next);
            self.key.push(position);
            if position == next {
                self.key.push(ty.index() as u32);
            }
        }
        for (value, leaves) in makes {
            let next = self.positions.len() as u32;
            self.positions.insert(value, next);
            self.key.push(u32::from(leaves));
        }
    }
    /// A refusal about this group as one about its structure.
    fn anywhere(&self, refusal: &Refusal, ops: &[Op]) -> Option<Refusal> {
        let value = |v: Value| {
            Some(Value::from_index(
                *self.positions.get(&(v.index() as u32))? as usize
            ))
        };
        let op = |o: Op| ops.iter().position(|&own| own == o).map(Op::from_index);
        refusal.map(&value, &op)
    }
    /// A refusal about the structure as one about this group.
    fn here(&self, refusal: &Refusal, ops: &[Op]) -> Option<Refusal> {
        let value = |v: Value| {
            let mut all = self.positions.iter();
            let found = all.find(|(_, position)| **position == v.index() as u32);
            found.map(|(&value, _)| Value::from_index(value as usize))
        };
        let op = |o: Op| ops.get(o.index()).copied();
        refusal.map(&value, &op)
    }
}
