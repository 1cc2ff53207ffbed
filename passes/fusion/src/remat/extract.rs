//! Builds the plain problem from segments. Equal pure ops of different segments are one op with several homes, so
//! "recomputing" an op that a kernel already has costs nothing.

use fuser_analysis::axes::window;
use fuser_analysis::cost::{Model, is_pinned};
use fuser_dialects::task;
use fuser_ir::attr::AttrId;
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, Traits, TypeId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::problem::{OpInfo, Problem, Solution, ValueInfo};
use super::solutions::Contents;

/// A problem, and the IR ops and values for its numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Extract {
    pub problem: Problem,
    pub segments: Vec<Op>,
    /// One IR value of each class; for inputs the value itself.
    pub sample: Vec<Value>,
    /// The class of each value.
    pub class: FxHashMap<Value, u32>,
    /// The ops of each op class, with their segments, in program order.
    pub instances: Vec<SmallVec<[(u32, Op); 1]>>,
    /// The classes that each op reads, operand by operand.
    pub operands: FxHashMap<Op, SmallVec<[u32; 3]>>,
    /// The values that are currently written.
    pub written: Vec<bool>,
    /// The current price of the program.
    pub cost: u64,
}

/// The key by which two ops are equal.
type Key = (u32, Vec<(Sym, AttrId)>, Vec<u32>, Vec<TypeId>);

/// Prices, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prices {
    /// Price of a launch.
    pub launch: u64,
    /// Price of arithmetic, in per cent of the target's figures.
    pub arithmetic: u64,
}

impl Extract {
    /// Reads the segments of `program`; `None` if one contains more than plain ops, for example sweeps.
    pub fn build(ir: &Ir, program: Op, model: &Model, prices: Prices) -> Option<Self> {
        let mut extract = Self::default();
        let children = ir.children(program).into_iter();
        extract.segments = children.filter(|&op| ir.is(op, &task::SEGMENT)).collect();
        extract.problem.kernels = extract.segments.len() as u32;
        extract.problem.launch = prices.launch;
        extract.problem.closed = vec![false; extract.segments.len()];
        extract.problem.views = vec![false; extract.segments.len()];
        let mut known = FxHashMap::default();
        for (segment, number) in extract.segments.clone().into_iter().zip(0..) {
            extract.add_segment(ir, segment, number, model, prices, &mut known)?;
        }
        extract.find_written(ir);
        extract.problem.link();
        extract.cost = extract.cost_now(ir);
        Some(extract)
    }

    /// Sets which segments are views, which move nothing and stay unchanged, and the number of launches of each
    /// segment.
    pub fn set_kinds(&mut self, ir: &Ir, views: Vec<bool>, launches: Vec<u64>) {
        for (closed, view) in self.problem.closed.iter_mut().zip(&views) {
            *closed |= *view;
        }
        self.problem.views = views;
        self.problem.launches = launches;
        self.cost = self.cost_now(ir);
    }

    fn add_segment(
        &mut self,
        ir: &Ir,
        segment: Op,
        number: u32,
        model: &Model,
        prices: Prices,
        known: &mut FxHashMap<Key, u32>,
    ) -> Option<()> {
        for op in ir.children(segment) {
            if ir.is(op, &task::YIELD) {
                let yielded = ir.operands(op).zip(ir.results(segment).iter().copied());
                for (inner, outer) in yielded.collect::<Vec<_>>() {
                    let class = self.value(ir, inner, model);
                    self.class.insert(outer, class);
                }
                continue;
            }
            if !ir.op_regions(op).is_empty() {
                return None;
            }
            self.add_op(ir, op, number, model, prices, known);
        }
        Some(())
    }

    fn add_op(
        &mut self,
        ir: &Ir,
        op: Op,
        kernel: u32,
        model: &Model,
        prices: Prices,
        known: &mut FxHashMap<Key, u32>,
    ) {
        let operands: Vec<Value> = ir.operands(op).collect();
        let reads: Vec<u32> = operands.iter().map(|&v| self.value(ir, v, model)).collect();
        self.operands.insert(op, reads.iter().copied().collect());
        let pinned = is_pinned(ir, op);
        let results = ir.results(op).iter().copied();
        let key: Key = (
            ir.name_id(op).index() as u32,
            ir.inherent_attrs(op).collect(),
            reads.clone(),
            results.clone().map(|v| ir.value_type(v)).collect(),
        );
        let shareable = ir.has(op, Traits::PURE) && !ir.has(op, Traits::BARRIER);
        if let Some(&class) = known.get(&key).filter(|_| shareable) {
            self.instances[class as usize].push((kernel, op));
            let info = &mut self.problem.ops[class as usize];
            if info.homes.last() != Some(&kernel) {
                info.homes.push(kernel);
            }
            let writes: SmallVec<[u32; 1]> = info.writes.clone();
            self.class.extend(results.zip(writes));
            return;
        }
        let class = self.problem.ops.len() as u32;
        known.insert(key, class);
        if let Some((operand, bytes)) = part_read(ir, op, model) {
            let number = self.class[&operand] as usize;
            self.problem.values[number].parts.push((class, bytes));
        }
        let mut unique: SmallVec<[u32; 3]> = SmallVec::new();
        for read in reads {
            if !unique.contains(&read) {
                unique.push(read);
            }
        }
        let mut writes = SmallVec::new();
        for value in results {
            let number = self.new_value(ir, value, Some(class), kernel, model);
            writes.push(number);
        }
        self.instances.push(SmallVec::from_slice(&[(kernel, op)]));
        self.problem.ops.push(OpInfo {
            homes: SmallVec::from_slice(&[kernel]),
            reads: unique,
            writes,
            price: price(ir, op, model, prices),
            pinned,
        });
    }

    /// The solution in which the segments compute `contents`, if it is valid.
    pub fn solution(&self, ir: &Ir, contents: &Contents) -> Option<Solution> {
        let class = |&op: &Op| {
            let value = self.class.get(ir.results(op).first()?)?;
            self.problem.values[*value as usize].producer
        };
        let classes = |ops: &Option<Vec<Op>>| match ops {
            Some(ops) => {
                let mut classes: Vec<u32> = ops.iter().map(class).collect::<Option<_>>()?;
                classes.sort_unstable();
                classes.dedup();
                Some(Some(classes))
            }
            None => Some(None),
        };
        let computes = contents.iter().map(classes).collect::<Option<_>>()?;
        self.problem.solution(computes)
    }

    /// Maps each value to the sample of its class.
    pub fn stand_ins(&self) -> FxHashMap<Value, Value> {
        let all = self.class.iter();
        all.map(|(&value, &class)| (value, self.sample[class as usize]))
            .collect()
    }
    /// The op of a class that is in `kernel`, if there is one.
    pub fn own(&self, class: u32, kernel: u32) -> Option<Op> {
        let all = &self.instances[class as usize];
        let at = all.partition_point(|(home, _)| *home < kernel);
        let found = all.get(at).filter(|(home, _)| *home == kernel);
        found.map(|(_, op)| *op)
    }
    /// The op of a class to use for `kernel`: its own op, or any other of the class.
    pub fn instance(&self, class: u32, kernel: u32) -> Op {
        let any = self.instances[class as usize][0].1;
        self.own(class, kernel).unwrap_or(any)
    }
    /// The class of operand `index` of an op of a segment.
    pub fn class_of_operand(&self, op: Op, index: usize) -> u32 {
        self.operands[&op][index]
    }
    fn value(&mut self, ir: &Ir, value: Value, model: &Model) -> u32 {
        match self.class.get(&value) {
            Some(&class) => class,
            None => self.new_value(ir, value, None, 0, model),
        }
    }
    fn new_value(
        &mut self,
        ir: &Ir,
        value: Value,
        producer: Option<u32>,
        writer: u32,
        model: &Model,
    ) -> u32 {
        let number = self.problem.values.len() as u32;
        self.problem.values.push(ValueInfo {
            bytes: model.bindings.bytes(ir, value),
            producer,
            writer,
            ..ValueInfo::default()
        });
        self.sample.push(value);
        self.class.insert(value, number);
        number
    }

    /// Finds the values that segments write for other segments or for the program.
    fn find_written(&mut self, ir: &Ir) {
        self.written = vec![false; self.problem.values.len()];
        for (&segment, number) in self.segments.iter().zip(0..) {
            for &result in ir.results(segment) {
                let class = self.class[&result] as usize;
                let info = &mut self.problem.values[class];
                if info.producer.is_none() || ir.is_unused(result) {
                    continue;
                }
                if !std::mem::replace(&mut self.written[class], true) {
                    info.writer = number;
                }
                let mut users = ir.users(result);
                info.is_output |= users.any(|u| ir.parent_block(u) == ir.parent_block(segment));
            }
        }
    }

    /// The current price of the segments: the bytes that they load and write, and their launches.
    fn cost_now(&self, ir: &Ir) -> u64 {
        let mut cost = 0u64;
        for (&segment, kernel) in self.segments.iter().zip(0..) {
            let ops = ir.children(segment);
            let inside: rustc_hash::FxHashSet<Op> = ops.iter().copied().collect();
            let mut loads = std::collections::BTreeSet::new();
            for value in ops.iter().flat_map(|&op| ir.operands(op)) {
                if ir.def_op(value).is_none_or(|d| !inside.contains(&d)) {
                    loads.insert(self.class[&value]);
                }
            }
            let loads = loads.into_iter();
            let loads = loads.map(|v| self.problem.load_bytes(v, kernel));
            let results = ir.results(segment).iter().filter(|&&r| !ir.is_unused(r));
            let writes = results.map(|r| self.class[r]);
            let writes = writes.map(|v| match self.problem.is_view(kernel) {
                true => 0,
                false => self.problem.values[v as usize].bytes,
            });
            cost = loads.chain(writes).fold(cost, u64::saturating_add);
            cost = cost.saturating_add(self.problem.launch_of(kernel));
        }
        cost
    }
}

/// The tensor that a slice, a pad or a gather reads, and the most bytes of it that the op touches, which are at most
/// the bytes of its result.
fn part_read(ir: &Ir, op: Op, model: &Model) -> Option<(Value, u64)> {
    if !window::is_window(ir, op) {
        return None;
    }
    let maps = ir.maps(op)?;
    let indices = maps.index_operands();
    let mut tensors = (maps.operands.iter().enumerate())
        .filter(|(k, map)| !indices.contains(k) && map.axes().is_none_or(|axes| !axes.is_empty()));
    let (Some((operand, _)), None) = (tensors.next(), tensors.next()) else {
        return None;
    };
    let (operand, result) = (ir.operand(op, operand), *ir.results(op).first()?);
    let bytes = |v: Value| model.bindings.bytes(ir, v);
    // A pad value or indices are read whole.
    let again = ir.operands(op).filter(|&v| v == operand).count() > 1;
    (!again).then(|| (operand, bytes(operand).min(bytes(result))))
}

fn price(ir: &Ir, op: Op, model: &Model, prices: Prices) -> u64 {
    let flops = ir.def(op).map_or(0, |d| u64::from(d.flops));
    let elements = ir.results(op).iter().map(|&v| {
        let dtype = ir.value_kind(v).dtype();
        model.bindings.bytes(ir, v) / dtype.map_or(1, |d| d.bytes().max(1))
    });
    let elements = elements.max().unwrap_or(0);
    let bytes = model.target.flops_as_bytes(flops.saturating_mul(elements));
    bytes.saturating_mul(prices.arithmetic) / 100
}
