//! The ops that a loop over tiles contains, the axis, and the length of a tile.

use fuser_analysis::axes::value_text;
use fuser_analysis::cost::{Bindings, Call, is_call};
use fuser_dialects::task::{self, labels};
use fuser_ir::def::{DTypes, OpClass};
use fuser_ir::types::Extent;
use fuser_ir::{DType, Ir, Op, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

use crate::rule::{Combine, Kind, Rule};
use crate::table;

/// The least length of a tile: shorter products take longer to pack their factors than to multiply.
const LEAST: u64 = 32;

/// The large values of a turn fill one part of so many of the last cache: other parts hold factors, sums, and the values
/// of other threads. 1,024 x 1,024 scores of one head take 40.7 ms, those of four 45.4, of all twelve 45.1 (Zen 4).
const CACHE_SHARE: u64 = 4;

/// The arithmetic of a turn takes at least as many times as long as moving factors and sums again.
const COVERED: u64 = 32;

/// A region along one axis.
pub struct Region {
    /// Its ops, in order.
    pub ops: Vec<Op>,
    /// The axis along which values inside are cut.
    pub cut: FxHashMap<Value, usize>,
    /// The values inside of which each turn has a summand.
    pub sums: FxHashSet<Value>,
    /// For each op and operand from outside, the axis along which a turn takes its part.
    pub takes: FxHashMap<(Op, usize), usize>,
    /// Values that others read, in order.
    pub outputs: Vec<Value>,
    /// Ops between those of the region that read its outputs.
    pub behind: Vec<Op>,
    /// The length of the axis, and of a tile.
    pub length: u64,
    pub tile: u64,
    /// Bytes of the values that no longer exist as a whole.
    pub saved: u64,
    /// Bytes that all turns move besides: factors and sums.
    pub moved: u64,
}

/// A program, in which regions are looked for.
pub struct Around<'a> {
    pub ir: &'a Ir,
    ops: Vec<Op>,
    position: FxHashMap<Op, usize>,
    /// Ops that stay out of regions.
    kept: FxHashSet<Op>,
    /// Bytes of the program's arguments and results.
    footprint: u64,
    bindings: Bindings,
}

impl<'a> Around<'a> {
    pub fn new(ir: &'a Ir, program: Op) -> Option<Self> {
        let body = ir.body(program, 0)?;
        let ops: Vec<Op> = ir.block_ops(body).collect();
        // An executor takes attention that the frontend names as a whole.
        let sets = labels::sets(ir, program).into_iter();
        let named = sets.filter(|set| table::is_attention(&set.name));
        let bindings = Bindings::default();
        let returned = ops.last().into_iter().flat_map(|&end| ir.operands(end));
        let stays = ir.args(body).iter().copied().chain(returned);
        let stays = stays.map(|value| bindings.bytes(ir, value));
        Some(Self {
            ir,
            position: ops.iter().copied().zip(0..).collect(),
            kept: named.flat_map(|set| set.ops).collect(),
            footprint: stays.fold(0, u64::saturating_add),
            bindings,
            ops,
        })
    }
    /// The products whose result is larger than `bytes`, with the factors along which it may be cut and their axes.
    pub fn starts(&self, bytes: u64) -> Vec<(Op, Vec<(usize, usize)>)> {
        let is_large = |&op: &Op| {
            let mut results = self.ir.results(op).iter();
            let class = self.ir.def(op).map(|def| def.class);
            class == Some(OpClass::Contraction)
                && results.any(|&result| self.bindings.bytes(self.ir, result) > bytes)
        };
        let large = self.ops.iter().copied().filter(is_large);
        let start = |op: Op| {
            let rule = Rule::of(self.ir, op);
            let axes = rule.results.first().cloned().unwrap_or_default();
            let own = axes
                .iter()
                .zip(0..)
                .filter_map(|(own, axis)| Some(((*own)?, axis)));
            let own = own.filter(|&(own, _)| rule.factors[own].kind == Kind::Parallel);
            (op, own.collect())
        };
        large.map(start).collect()
    }
    /// The place of an op, or of the op of the program that it stands in.
    fn place(&self, mut op: Op) -> Option<usize> {
        loop {
            match self.position.get(&op) {
                Some(&at) => return Some(at),
                None => op = self.ir.parent_op(op)?,
            }
        }
    }
}

struct Growing<'a> {
    around: &'a Around<'a>,
    ir: &'a Ir,
    most: u64,
    /// The places of ops inside, and of those that depend on the region, up to the last reader of a part.
    inside: BTreeSet<usize>,
    behind: BTreeSet<usize>,
    factors: FxHashMap<Op, (Rule, usize)>,
    cut: FxHashMap<Value, usize>,
    sums: FxHashSet<Value>,
    /// Ops inside that stay for others where they are.
    copied: FxHashSet<Op>,
}

impl Region {
    /// The region from the product `start` on, cut along one of its factors. The values that it cuts are noted in `seen`.
    pub fn grow(
        around: &Around<'_>,
        (start, factor): (Op, usize),
        target: &Target,
        seen: &mut FxHashSet<(Value, usize)>,
    ) -> Option<Self> {
        let mut growing = Growing {
            around,
            ir: around.ir,
            most: target.last_cache_bytes,
            inside: BTreeSet::new(),
            behind: BTreeSet::new(),
            factors: FxHashMap::default(),
            cut: FxHashMap::default(),
            sums: FxHashSet::default(),
            copied: FxHashSet::default(),
        };
        growing.forward(start, factor)?;
        growing.drop_others();
        growing.backward();
        seen.extend(growing.cut.iter().map(|(&value, &axis)| (value, axis)));
        growing.finish(target)
    }
    /// `9 ops from %s on, 64 tiles of 64 along an axis of 4096: 1048576 bytes less in memory`
    pub fn render(&self, ir: &Ir) -> String {
        let made = self.ops.iter().flat_map(|&op| ir.results(op));
        let first = made.copied().find(|value| self.cut.contains_key(value));
        let name = first.map_or(String::new(), |value| value_text(ir, value));
        format!(
            "{} ops from {name} on, {} tiles of {} along an axis of {}: {} bytes less in memory",
            self.ops.len(),
            self.length.div_ceil(self.tile),
            self.tile,
            self.length,
            self.saved
        )
    }
    /// The number of whole tiles.
    pub fn turns(&self) -> u64 {
        self.length / self.tile.max(1)
    }
}

impl Growing<'_> {
    fn is_large(&self, value: Value) -> bool {
        self.around.bindings.bytes(self.ir, value) > self.most
    }
    /// Admits the ops behind `start` that can be cut like it. Looks at what depends on the region up to the last reader
    /// of a part.
    fn forward(&mut self, start: Op, factor: usize) -> Option<()> {
        let around = self.around;
        let (mut waiting, mut readers) = (BTreeSet::new(), BTreeSet::new());
        let mut late: FxHashSet<Value> = FxHashSet::default();
        let mut next = Some((around.place(start)?, Some(factor)));
        while let Some((at, given)) = next {
            let op = around.ops[at];
            // Ops with regions read what the ops inside of them read.
            let all = self.ir.walk(op).into_iter();
            let operands: Vec<Value> = all.flat_map(|op| self.ir.operands(op)).collect();
            let rule = Rule::of(self.ir, op);
            let waits = operands.iter().any(|value| late.contains(value));
            let own = || self.factor(&rule, &operands);
            let factor = given.or_else(|| (!waits).then(own).flatten());
            let joins = factor.is_some_and(|factor| self.admit(at, rule, factor).is_some());
            if !joins && given.is_some() {
                return None;
            }
            if !joins {
                self.behind.insert(at);
            }
            for &result in self.ir.results(op) {
                let users = self.ir.users(result).filter_map(|user| around.place(user));
                match self.cut.contains_key(&result) {
                    true => readers.extend(users),
                    false => {
                        late.insert(result);
                        waiting.extend(users);
                    }
                }
            }
            let reader = readers.first().copied();
            let first = waiting.first().copied().into_iter().chain(reader).min();
            // What only waits behind the last reader is not looked at.
            next = reader.and(first).map(|at| (at, None));
            first.map(|at| (waiting.remove(&at), readers.remove(&at)));
        }
        Some(())
    }
    /// The factor of an op that all its operands inside are cut along.
    fn factor(&self, rule: &Rule, operands: &[Value]) -> Option<usize> {
        let mut found = None;
        for (value, axes) in operands.iter().zip(&rule.operands) {
            if let Some(&axis) = self.cut.get(value) {
                let own = (*axes.get(axis)?)?;
                if found.is_some_and(|found| found != own) {
                    return None;
                }
                found = Some(own);
            }
        }
        found
    }
    /// Lets an op join along a factor; `None` if a turn cannot compute its part.
    fn admit(&mut self, at: usize, rule: Rule, factor: usize) -> Option<()> {
        let (ir, op) = (self.ir, self.around.ops[at]);
        let class = ir.def(op)?.class;
        let whole = matches!(
            class,
            OpClass::Control | OpClass::Structure | OpClass::Collective
        );
        let whole = whole || ir.is(op, &task::RETURN) || !ir.op_regions(op).is_empty();
        if whole || self.around.kept.contains(&op) {
            return None;
        }
        // A turn takes one part of each operand.
        let along = |axes: &Vec<Option<usize>>| {
            let mut own = (0..axes.len()).filter(|&axis| axes[axis] == Some(factor));
            let found = own.next();
            own.next().is_none().then_some(found)
        };
        for axes in &rule.operands {
            along(axes)?;
        }
        let results: Vec<Option<usize>> = rule.results.iter().map(along).collect::<Option<_>>()?;
        match rule.factors.get(factor)?.kind {
            Kind::Parallel => {
                if results.iter().any(Option::is_none) {
                    return None;
                }
                let results = ir
                    .results(op)
                    .iter()
                    .copied()
                    .zip(results.into_iter().flatten());
                self.cut.extend(results);
            }
            Kind::Partial(Combine::Sum) => {
                let &result = ir.results(op).first()?;
                let dtype = ir.value_kind(result).dtype()?;
                let adds = class == OpClass::Contraction || is_wide(dtype);
                if rule.mean.is_some() || !adds || !is_carried(ir, result) {
                    return None;
                }
                self.sums.insert(result);
            }
            _ => return None,
        }
        self.factors.insert(op, (rule, factor));
        self.inside.insert(at);
        Some(())
    }
    /// True if an op inside reads or makes a large part.
    fn is_core(&self, op: Op) -> bool {
        let mut values = self
            .ir
            .operands(op)
            .chain(self.ir.results(op).iter().copied());
        values.any(|value| self.cut.contains_key(&value) && self.is_large(value))
    }
    /// Leaves out the ops inside from which no reader or writer of a large value follows.
    fn drop_others(&mut self) {
        let mut wanted: FxHashSet<Value> = FxHashSet::default();
        for at in self.inside.clone().into_iter().rev() {
            let op = self.around.ops[at];
            let results = self.ir.results(op);
            if self.is_core(op) || results.iter().any(|result| wanted.contains(result)) {
                wanted.extend(self.ir.operands(op));
                continue;
            }
            self.inside.remove(&at);
            self.behind.insert(at);
            self.factors.remove(&op);
            for result in results {
                self.cut.remove(result);
                self.sums.remove(result);
            }
        }
    }
    /// The axis along which op `op` inside takes a part of its operand `index`.
    fn taken(&self, op: Op, index: usize) -> Option<usize> {
        let (rule, factor) = self.factors.get(&op)?;
        let axes = rule.operands.get(index)?;
        axes.iter().position(|own| *own == Some(*factor))
    }
    /// Admits ops before the region: those that make a large value for it alone, elementwise ones with a large result,
    /// and those that only repeat or place elements. A turn computes its part again where others read the result too.
    fn backward(&mut self) {
        let around = self.around;
        let makers = |op: Op| {
            let operands = self
                .ir
                .operands(op)
                .filter_map(|value| self.ir.def_op(value));
            operands.filter_map(|maker| around.position.get(&maker).copied())
        };
        let inside = |growing: &Self, op: Op| {
            let at = around.position.get(&op);
            at.is_some_and(|at| growing.inside.contains(at))
        };
        let own = self.inside.iter().map(|&at| around.ops[at]);
        let mut waiting: BTreeSet<usize> = own.flat_map(makers).collect();
        while let Some(at) = waiting.pop_last() {
            let op = around.ops[at];
            let met = self.inside.contains(&at) || self.behind.contains(&at);
            let [result] = self.ir.results(op) else {
                continue;
            };
            if met {
                continue;
            }
            let users: Vec<Op> = self.ir.users(*result).collect();
            let (own, others): (Vec<Op>, Vec<Op>) =
                users.into_iter().partition(|&user| inside(self, user));
            let reads = own.iter().flat_map(|&user| {
                let operands = self.ir.operands(user).enumerate();
                let same = operands.filter(|(_, value)| value == result);
                same.map(move |(index, _)| (user, index))
            });
            let mut axes = reads.map(|(user, index)| self.taken(user, index));
            let Some(Some(axis)) = axes.next() else {
                continue;
            };
            if axes.any(|own| own != Some(axis)) {
                continue;
            }
            let class = self.ir.def(op).map(|def| def.class);
            let large = self.is_large(*result);
            // Where a reader inside is a copy, its original reads the result too.
            let alone = others.is_empty() && own.iter().all(|user| !self.copied.contains(user));
            let single = matches!(
                Call::of(self.ir, op, &self.around.bindings),
                Some(Call::Scatter { single: true, .. })
            );
            let cheap = class == Some(OpClass::Elementwise) || single;
            let again = cheap && (large || !is_carried(self.ir, *result));
            if !(is_repeated(self.ir, op) || again || alone && large) {
                continue;
            }
            let rule = Rule::of(self.ir, op);
            if table::counts_along(self.ir, op, axis) {
                self.cut.insert(*result, axis);
                self.inside.insert(at);
                self.copied.insert(op);
                continue;
            }
            let factor = rule.results.first().and_then(|axes| *axes.get(axis)?);
            let factor = factor.filter(|&own| rule.factors[own].kind == Kind::Parallel);
            let admitted = factor.is_some_and(|factor| self.admit(at, rule, factor).is_some());
            if admitted && !alone {
                self.copied.insert(op);
            }
            if admitted {
                waiting.extend(makers(op));
            }
        }
    }
    /// Bytes of all elements of a value, stored once or not.
    fn elements_bytes(&self, value: Value) -> u64 {
        let kind = self.ir.value_kind(value);
        let dims = kind.as_tensor().map_or(&[][..], |tensor| &tensor.dims);
        let lengths = dims
            .iter()
            .map(|dim| self.around.bindings.extent(self.ir, dim.extent));
        let size = kind.dtype().map_or(1, DType::bytes);
        lengths.fold(size, u64::saturating_mul)
    }
    /// True if a tile has rows or columns of a product, not whole matrices alone.
    fn has_rows(&self) -> bool {
        self.factors.iter().any(|(&op, (rule, factor))| {
            let class = self.ir.def(op).map(|def| def.class);
            let has = |index: usize| rule.operands[index].contains(&Some(*factor));
            class == Some(OpClass::Contraction) && has(0) != has(1)
        })
    }
    fn finish(self, target: &Target) -> Option<Region> {
        let ir = self.ir;
        let op = |&at: &usize| self.around.ops[at];
        let ops: Vec<Op> = self.inside.iter().map(op).collect();
        let members: FxHashSet<Op> = ops.iter().copied().collect();
        let (&first, &last) = (self.inside.first()?, self.inside.last()?);
        let behind = self.behind.range(first..last).map(op).collect();
        let mut region = Region {
            ops,
            behind,
            takes: FxHashMap::default(),
            outputs: Vec::new(),
            length: 0,
            tile: 0,
            saved: 0,
            moved: 0,
            cut: FxHashMap::default(),
            sums: FxHashSet::default(),
        };
        let mut whole: Vec<Value> = Vec::new();
        // Large values that otherwise are never stored.
        let mut taken: FxHashSet<Value> = FxHashSet::default();
        let (mut products, mut flops) = (0, 0u64);
        for &op in &region.ops {
            for (index, value) in ir.operands(op).enumerate() {
                if self.cut.contains_key(&value) {
                    continue;
                }
                let carried: &[Value] = match self.taken(op, index) {
                    Some(axis) => {
                        region.takes.insert((op, index), axis);
                        if self.is_large(value) && !is_stored(ir, value) {
                            taken.insert(value);
                        }
                        &[value]
                    }
                    None => {
                        let leaves = leaves(ir, value);
                        whole.extend(&leaves);
                        &leaves.clone()
                    }
                };
                // What is stored once is stored as a whole then.
                let fits =
                    |&value: &Value| is_known(ir, value) && self.elements_bytes(value) <= self.most;
                let fits = |value: &Value| is_carried(ir, *value) || fits(value);
                if !carried.iter().all(fits) {
                    return None;
                }
            }
            if let Some(call) = Call::of(ir, op, &self.around.bindings) {
                flops = flops.saturating_add(call.flops());
            }
            products += u64::from(is_call(ir, op));
            for &result in ir.results(op) {
                let outside = ir.users(result).any(|user| !members.contains(&user));
                if outside && !self.copied.contains(&op) {
                    region.outputs.push(result);
                    if !is_carried(ir, result) {
                        return None;
                    }
                }
            }
        }
        let extent = |value: Value, axis: usize| match ir
            .value_kind(value)
            .as_tensor()?
            .dims
            .get(axis)?
            .extent
        {
            Extent::Static(extent) => Some(extent),
            _ => None,
        };
        let cut = |value: &&Value| self.cut.contains_key(*value);
        let made: Vec<Value> = region
            .ops
            .iter()
            .flat_map(|&op| ir.results(op))
            .filter(cut)
            .copied()
            .collect();
        let &start = made.first()?;
        region.length = extent(start, self.cut[&start])?;
        // Only what products read and make is in memory; kernels compute the rest where they read it.
        let large = |value: &Value| self.is_large(*value) && in_memory(ir, *value);
        let kept: Vec<Value> = made.iter().copied().filter(large).collect();
        let gone = kept.iter().filter(|value| !region.outputs.contains(value));
        let bytes = |value: Value| self.around.bindings.bytes(ir, value);
        let sum = |total: u64, &value: &Value| total.saturating_add(bytes(value));
        region.saved = gone.fold(0, sum);
        region.saved = region.saved.saturating_sub(taken.iter().fold(0, sum));
        let row: u64 = kept.iter().map(|&value| bytes(value)).sum::<u64>() / region.length.max(1);
        // All turns read the factors that stay whole, and read and write their sums.
        let sums = region
            .outputs
            .iter()
            .filter(|value| self.sums.contains(value));
        let sums: u64 = sums.map(|&value| bytes(value).saturating_mul(2)).sum();
        let again: u64 = whole
            .iter()
            .map(|&value| bytes(value))
            .sum::<u64>()
            .saturating_add(sums);
        let us = (again / target.bytes_per_us.max(1)).saturating_mul(COVERED);
        let covered =
            us.saturating_mul(target.flops_per_us) / (flops / region.length.max(1)).max(1);
        let fits = target.last_cache_bytes / CACHE_SHARE / row.max(1);
        let least = if self.has_rows() { LEAST } else { 1 };
        region.tile = length(region.length, covered.max(least), fits);
        region.moved = region
            .length
            .div_ceil(region.tile.max(1))
            .saturating_mul(again);
        region.cut = self.cut;
        region.sums = self.sums;
        // Saved values are written once and read once at least.
        let pays =
            region.moved <= region.saved.saturating_mul(2) || region.saved > self.around.footprint;
        let worth = products > 0 && region.saved > 0 && region.turns() > 1 && pays;
        worth.then_some(region)
    }
}

/// The length of a tile of an axis: at least `least`, at most `most` where that is more. A length within twice either
/// that divides the axis leaves no rest.
fn length(axis: u64, least: u64, most: u64) -> u64 {
    let divides = |length: &u64| *length > 0 && axis.is_multiple_of(*length);
    match least <= most {
        true => (least.max(most / 2)..=most.min(axis)).rev().find(divides),
        false => (least..=least.saturating_mul(2).min(axis)).find(divides),
    }
    .unwrap_or(least.max(most))
    .clamp(1, axis.max(1))
}

/// True if a product makes the value, or reads it.
fn in_memory(ir: &Ir, value: Value) -> bool {
    let is_product = |op: Op| {
        let class = ir.def(op).map(|def| def.class);
        class == Some(OpClass::Contraction)
    };
    let shape = |op: Op| ir.def(op).is_some_and(|def| def.class == OpClass::Shape);
    let read = |op: Op| {
        is_product(op) || shape(op) && ir.results(op).iter().any(|&r| ir.users(r).any(is_product))
    };
    ir.def_op(value).is_some_and(is_product)
        || ir.def_op(value).is_some_and(|op| !shape(op)) && ir.users(value).any(read)
}

/// True for an argument, the result of a call, and what products read.
fn is_stored(ir: &Ir, value: Value) -> bool {
    let Some(op) = ir.def_op(value) else {
        return true;
    };
    let view = ir.def(op).is_some_and(|def| def.class == OpClass::Shape);
    is_call(ir, op)
        || in_memory(ir, value)
        || view && ir.operands(op).all(|operand| is_stored(ir, operand))
}

/// True if an op only repeats or places elements: it is copied to each place that reads it.
pub fn is_repeated(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|def| def.class);
    matches!(class, Some(OpClass::Shape | OpClass::Creation)) && ir.op_regions(op).is_empty()
}

/// The values from which ops that only repeat or place elements make `value`.
pub fn leaves(ir: &Ir, value: Value) -> Vec<Value> {
    let (mut found, mut stack) = (Vec::new(), vec![value]);
    let mut seen = FxHashSet::default();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match ir.def_op(value).filter(|&op| is_repeated(ir, op)) {
            Some(op) => stack.extend(ir.operands(op)),
            None => found.push(value),
        }
    }
    found
}

/// True for a tensor or scalar of reals whose extents are known.
fn is_known(ir: &Ir, value: Value) -> bool {
    let kind = ir.value_kind(value);
    let known = |tensor: &fuser_ir::types::TensorType| {
        let mut dims = tensor.dims.iter();
        dims.all(|dim| dim.extent != Extent::Unknown)
    };
    kind.as_tensor().is_none_or(known)
        && kind
            .dtype()
            .is_some_and(|dtype| DTypes::KERNEL.contains(dtype))
}

fn is_wide(dtype: DType) -> bool {
    !dtype.is_float() || dtype.accumulate() == dtype
}

/// True if a loop can carry a value: a tensor of reals, no axis of which is stored once.
pub fn is_carried(ir: &Ir, value: Value) -> bool {
    let tensor = ir.value_kind(value).as_tensor();
    let plain = tensor.is_none_or(|tensor| tensor.dims.iter().all(|dim| !dim.broadcast));
    plain && is_known(ir, value)
}
