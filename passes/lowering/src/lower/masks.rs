//! Vectors of which some lanes count: what whole ones leave over of a row.
//!
//! ```text
//! for j in 0..76 step 4  { store(f(load(x, j)), y, j) }        for j in 0..64 step 16 { store(f(load(x, j)), y, j) }
//! for j in 76..79 step 1 { ... }                          =>   load_within(x, 64, 0, lanes 0..15)
//!                                                              store(f(...), y, 64) some 15
//! ```
//!
//! The other lanes are loaded as zeros (ones of a type that has no zero), compute along, and leave no trace: they are not stored, and sums keep what they had. For processors
//! that load and store some lanes of a vector like all. Only where a nest does no more than load, compute element by element, store and
//! reduce; never along axes that one by one are wanted for.

use fuser_ir::def::OpClass;
use fuser_ir::{DType, Op, Value};

use super::build::Idx;
use super::effects::{Effect, Nest};
use super::sweep::SweepLowering;

impl SweepLowering<'_> {
    /// True if what vectors of `lanes` leave over of the innermost loop is one of which some lanes count.
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
