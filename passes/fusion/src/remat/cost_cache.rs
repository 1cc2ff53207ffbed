//! Costs of kernels by the cost model, evaluated once per structure.
//!
//! Two kernels have one structure if op by op the name, the clauses, the types, the origin of the operands and what is
//! written are the same: a hundred equal layers pay for one. A kernel as it would become is put together in a copy of the
//! program, planned, and taken away again.

use fuser_analysis::cost::{Cost, Kind, Model, plan_ops};
use fuser_dialects::task;
use fuser_dialects::task::labels::said;
use fuser_ir::attr::AttrId;
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, TypeId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::apply::{Own, fill_body};
use super::extract::Extract;
use super::problem::Kernel;

/// The cost result of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Priced {
    pub kind: Kind,
    pub cost: Cost,
}

/// The identity of an op but for its operands.
type Sort = (u32, Vec<(Sym, AttrId)>, Vec<TypeId>);

/// The costs of kernels, each evaluated once.
pub(crate) struct CostCache<'a> {
    model: &'a Model,
    known: FxHashMap<Vec<u32>, Option<Priced>>,
    sorts: FxHashMap<Sort, u32>,
    /// The program again, to put kernels together in.
    scratch: Option<Ir>,
    /// Ops in the plans made: the measure of the work done.
    pub planned_ops: u64,
}

impl<'a> CostCache<'a> {
    /// Nothing asked so far.
    pub fn new(model: &'a Model) -> Self {
        Self {
            model,
            known: FxHashMap::default(),
            sorts: FxHashMap::default(),
            scratch: None,
            planned_ops: 0,
        }
    }

    /// The cost of a drawn segment; `None` where the model has no plan for it.
    pub fn current(&mut self, ir: &Ir, segment: Op) -> Option<Priced> {
        let (mut ops, mut yielded) = (Vec::new(), FxHashSet::default());
        for op in ir.children(segment) {
            match ir.is(op, &task::YIELD) {
                true => yielded.extend(ir.operands(op)),
                false => ops.push(op),
            }
        }
        let mut structure = Structure::default();
        for &op in &ops {
            structure.key.push(self.sort(ir, op));
            for value in ir.operands(op) {
                let ty = ir.value_type(value).index() as u32;
                structure.reads(value.index() as u32, ty);
            }
            for &value in ir.results(op) {
                structure.makes(value.index() as u32, yielded.contains(&value));
            }
        }
        if let Some(&known) = self.known.get(&structure.key) {
            return known;
        }
        let priced = self.plan(ir, &ops);
        self.known.insert(structure.key, priced);
        priced
    }

    /// The cost of kernel `number` when it is `kernel` and writes `wanted`.
    pub(super) fn changed(
        &mut self,
        ir: &Ir,
        extract: &Extract,
        number: u32,
        kernel: &Kernel,
        wanted: &[u32],
    ) -> Option<Priced> {
        let mut structure = Structure::default();
        for &class in &kernel.computes {
            let op = extract.instance(class, number);
            structure.key.push(self.sort(ir, op));
            for &read in &extract.operands[&op] {
                let ty = ir.value_type(extract.sample[read as usize]);
                structure.reads(read, ty.index() as u32);
            }
            for write in &extract.problem.ops[class as usize].writes {
                structure.makes(*write, wanted.binary_search(write).is_ok());
            }
        }
        if let Some(&known) = self.known.get(&structure.key) {
            return known;
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
        let ops = scratch
            .block_ops(body)
            .filter(|&op| !scratch.is(op, &task::YIELD));
        let ops: Vec<Op> = ops.collect();
        let priced = self.plan(&scratch, &ops);
        scratch.erase_block(body);
        self.scratch = Some(scratch);
        self.known.insert(structure.key, priced);
        priced
    }

    fn plan(&mut self, ir: &Ir, ops: &[Op]) -> Option<Priced> {
        self.planned_ops += ops.len() as u64;
        let plan = plan_ops(ir, ops, self.model, &Default::default()).ok()?;
        Some(Priced {
            kind: plan.kind,
            cost: plan.cost,
        })
    }
    fn sort(&mut self, ir: &Ir, op: Op) -> u32 {
        // Where an op stood says nothing about its price.
        let place = ir.strings.lookup(fuser_dialects::task::positions::POSITION);
        let attrs = said(ir, op);
        let results = ir.results(op).iter().map(|&v| ir.value_type(v));
        let sort: Sort = (
            ir.name_id(op).index() as u32,
            attrs.filter(|a| Some(a.0) != place).collect(),
            results.collect(),
        );
        let next = self.sorts.len() as u32;
        *self.sorts.entry(sort).or_insert(next)
    }
}

/// A kernel as numbers: its ops, with values numbered by first appearance.
#[derive(Default)]
struct Structure {
    key: Vec<u32>,
    places: FxHashMap<u32, u32>,
}

impl Structure {
    fn reads(&mut self, value: u32, ty: u32) {
        let next = self.places.len() as u32;
        let place = *self.places.entry(value).or_insert(next);
        self.key.push(place);
        if place == next {
            self.key.push(ty);
        }
    }
    fn makes(&mut self, value: u32, written: bool) {
        let next = self.places.len() as u32;
        self.places.insert(value, next);
        self.key.push(u32::MAX - u32::from(written));
    }
}
