//! Masked tail vectors: the remainder of a row in one vector of which only some lanes are active.

use fuser_ir::def::OpClass;
use fuser_ir::{DType, Op, Value};

use super::build::Idx;
use super::effects::{Effect, Nest};
use super::sweep::SweepLowering;

impl SweepLowering<'_> {
    /// True if the remainder of the innermost loop after vectors of `lanes` runs as one masked vector.
    pub(super) fn is_masked(&self, nest: &Nest, lanes: Option<u64>) -> bool {
        let Some(&last) = nest.loops.last() else {
            return false;
        };
        let whole = lanes.is_some() && lanes == self.lanes();
        if self.target.masks == 0 || !whole || !nest.scans.is_empty() {
            return false;
        }
        let near = |v: &Value| !self.varies(*v).contains(&last) || self.stride_is_one(*v, last);
        let plain = |op: &Op| {
            let def = self.ir().def(*op);
            let plain = def.is_some_and(|d| !d.shifts() && d.class != OpClass::Scan);
            plain && self.axes.window(*op).is_none()
        };
        let done = |effect: &Effect| match effect {
            Effect::Store(value) => near(value),
            Effect::Keep(_) => true,
            Effect::Reduce(r) => r.carried_from.is_some() || !r.inner.contains(&last),
        };
        nest.loads.iter().all(near) && nest.ops.iter().all(plain) && nest.effects.iter().all(done)
    }
    /// Loads an element, or a vector: of this walk the lanes that count.
    pub(super) fn load_lanes(&mut self, memory: Value, at: Idx, lanes: Option<u64>) -> Value {
        let Some(some) = self.some.filter(|_| lanes.is_some()) else {
            return self.k.load(memory, at, lanes);
        };
        let dtype = self.k.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
        let number = match dtype {
            DType::F8E8M0FNU => self.k.float_constant(1.0, dtype),
            _ => self.k.zero(dtype),
        };
        let fill = self.k.splat(number, lanes);
        self.k.load_within(memory, at, fill, [Idx::ZERO, some])
    }
    /// Stores an element, or a vector: of this walk the lanes that count.
    pub(super) fn store_lanes(&mut self, value: Value, memory: Value, at: Idx) {
        match self.some.filter(|_| self.k.is_vector(value)) {
            Some(some) => self.k.store_some(value, memory, at, some),
            None => self.k.store(value, memory, at),
        }
    }
    /// `new` in the lanes that count in this walk, `old` in the others.
    pub(super) fn where_some(&mut self, new: Value, old: Value) -> Value {
        let lanes = self.k.lanes_of(new);
        let Some((some, lanes)) = self.some.zip(lanes) else {
            return new;
        };
        let ty = self.k.ir.vector(lanes, DType::Index);
        let numbers = self.k.value(&fuser_dialects::kernel::IOTA, &[], &[], ty);
        let some = self.k.index(some);
        let inside = self.k.compare("lt", numbers, some);
        self.k.select(inside, new, old)
    }
}
