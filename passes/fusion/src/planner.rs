//! The planner: the cost model with a cache, so that groups of one structure are planned once.
//!
//! Two groups have one structure if they agree op by op in name, clauses, result types, sources of the operands and
//! which results are used outside: a model of a hundred equal layers plans one. A refusal names values and ops; the
//! cache stores it with positions in the structure, and translates it to the ops of the group queried.

use std::rc::Rc;

use fuser_analysis::axes::is_permute;
use fuser_analysis::cost::{Copies, Cost, Kind, Model, Plan, Refusal, plan_ops};
use fuser_ir::attr::AttrId;
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, TypeId, Value};
use fuser_pass::ProgressSink;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::Budget;
use crate::remat::Solutions;

/// The cost result of an accepted group: how it runs, and its cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostResult {
    /// Kernel, view or call.
    pub kind: Kind,
    /// The cost.
    pub cost: Cost,
    /// Loop nests over slow memory.
    pub sweeps: usize,
    /// Bytes of each input once and of each output once.
    pub least_bytes: u64,
    /// True if each input is read once and each output written once, by independent sweeps.
    pub tight: bool,
    /// Refusals of tiles that would have been better but do not fit.
    pub rejected: Rc<[Refusal]>,
}

/// The cost model's answer about a group.
pub type Answer = Result<CostResult, Refusal>;

/// The identity of an op except its operands: name, attributes, number of operands and result types. The flag tells if
/// it permutes an argument, which a kernel may read through a window for any choice of boundaries.
type Sort = (u32, Vec<(Sym, AttrId)>, usize, Vec<TypeId>, bool);

/// The cost model, and a cache of its answers by structure. It belongs to one program and its copies.
#[derive(Debug)]
pub struct Planner {
    /// The model.
    pub model: Model,
    /// Takes the progress of the search.
    pub progress: ProgressSink,
    /// The work left.
    pub budget: Budget,
    /// The share for merging in other orders of equal gain, and for optima of few ops.
    pub restarts: Budget,
    /// The share for moves and copies.
    pub refining: Budget,
    /// Queries, including those answered from the cache.
    pub questions: u64,
    /// Ops in the groups queried: each is read to look the group up in the cache.
    pub asked_ops: u64,
    /// Plans made.
    pub plans: u64,
    /// Ops in those plans: the measure of the work done.
    pub planned_ops: u64,
    /// Tests whether two groups have one iteration space.
    pub axis_questions: u64,
    /// Work for these tests and for merging: ops added to axis classes, and nodes followed.
    pub axis_steps: u64,
    /// Changes at cuts that were tried.
    pub refinements: u64,
    /// Ops in the groups queried for these changes.
    pub refined_ops: u64,
    /// Rematerialization problems already solved.
    pub(crate) solutions: Solutions,
    /// The answer for each structure; values and ops in refusals are positions in the structure.
    known: FxHashMap<Vec<u32>, Answer>,
    sorts: FxHashMap<Sort, u32>,
}

impl Planner {
    /// A planner with an empty cache and unbounded budgets.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            progress: ProgressSink::default(),
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

    /// The work done: one for each op in a plan, and one for each query.
    pub fn work(&self) -> u64 {
        self.planned_ops + self.questions
    }

    /// The cost model's answer about `ops`, given in program order, as one group.
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
    /// The cached answer about `structure`; a refusal names `ops`, a group of that structure.
    fn known(&self, structure: &Structure, ops: &[Op]) -> Option<Answer> {
        match self.known.get(&structure.key)? {
            Ok(cost_result) => Some(Ok(cost_result.clone())),
            Err(refusal) => structure.here(refusal, ops).map(Err),
        }
    }
    /// The cached answer about `structure`; `Some(None)` for a refusal.
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
    /// The number of an op's identity, which does not depend on its operands.
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
    /// Adds an op of this sort. `reads` has its operands with their types, `makes` its results, each with true if ops
    /// outside the group use it.
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
    /// Translates a refusal of this group into one of its structure.
    fn anywhere(&self, refusal: &Refusal, ops: &[Op]) -> Option<Refusal> {
        let value = |v: Value| {
            Some(Value::from_index(
                *self.positions.get(&(v.index() as u32))? as usize
            ))
        };
        let op = |o: Op| ops.iter().position(|&own| own == o).map(Op::from_index);
        refusal.map(&value, &op)
    }
    /// Translates a refusal of the structure into one of this group.
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
