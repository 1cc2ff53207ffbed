//! Prefetching: a loop that only computes on a row prefetches the next row.
//!
//! A CPU's prefetchers follow a stream while it is read, and a row is read from memory in its first phase. Memory is
//! idle in a later phase without stores, such as the sum of exponentials in a softmax. In that phase, each step
//! prefetches the data of the next step. If every phase reads or writes memory, prefetching costs more than it gains.
//!
//! Rows must be small enough to stay in the second-level cache until they are read. Rows of named length that a step
//! processes as a whole satisfy this, because versions are compiled for such lengths.

use fuser_ir::Value;
use rustc_hash::FxHashMap;

use super::build::Idx;
use super::sweep::{SweepLowering, Unsupported};
use crate::spec::Along;

/// Bytes of a cache line.
pub(super) const LINE: u64 = 64;

impl SweepLowering<'_> {
    /// True if no op of a phase is a result of the sweep, except for single elements of a step, such as a mean.
    pub(super) fn stores_nothing(&self, phase: usize) -> bool {
        let outputs = self.output_set();
        let ops = self.phase_ops(phase).into_iter();
        let mut results = ops.flat_map(|op| self.ir().results(op));
        let inner = |l: usize| self.spec.loops[l].has_inner();
        let single = |v: Value| !self.varies(v).into_iter().any(inner);
        results.all(|&v| !outputs.contains(&v) || single(v))
    }
    /// Begins a phase that may prefetch: selects the inputs that its first vector loop over whole rows prefetches.
    pub(super) fn look_ahead(&mut self) {
        let order = self.outer_order();
        let Some(&next) = order.last() else {
            return;
        };
        let inputs = self.global.keys().copied();
        let mut inputs: Vec<Value> = inputs.filter(|v| !self.is_internal(*v)).collect();
        inputs.sort_unstable();
        inputs.retain(|&v| matches!(self.along(v, next), Some(Along::Stride(_))));
        let mut bytes = inputs.iter().map(|&v| self.bytes_of_row(v, next));
        let bytes = bytes.try_fold(0u64, |sum, row| sum.checked_add(row?));
        // A quarter: this row and the next, and as much again that streams past.
        if bytes.is_some_and(|bytes| bytes <= self.target.l2_bytes / 4) {
            self.ahead = inputs;
        }
    }
    /// The bytes of an input that a step along `next` reads, counting known lengths only; `None` on overflow.
    fn bytes_of_row(&self, input: Value, next: usize) -> Option<u64> {
        let mut bytes = self.ir().value_kind(input).dtype()?.bytes();
        for axis in self.varies(input).into_iter().filter(|&l| l != next) {
            let size = match self.inner_size(axis) {
                Idx::Const(size) if self.spec.loops[axis].has_inner() => {
                    u64::try_from(size).ok()?
                }
                Idx::Const(_) | Idx::Value(_) => 1,
            };
            bytes = bytes.checked_mul(size)?;
        }
        Some(bytes)
    }
    /// Prefetches the elements of `inputs` that the next step reads at this point, in a vector loop along `axis`.
    pub(super) fn ask_ahead(
        &mut self,
        inputs: &[Value],
        axis: usize,
        ivs: &FxHashMap<usize, Idx>,
        lanes: u64,
    ) -> Result<(), Unsupported> {
        let Some(&next) = self.outer_order().last() else {
            return Ok(());
        };
        let base = self.base[next];
        let step = self.inner_size(next);
        self.base[next] = self.k.add(base, step);
        for &input in inputs {
            if !self.stride_is_one(input, axis) {
                continue;
            }
            let (memory, at) = (self.global[&input], self.offset(input, ivs)?);
            let bytes = self.ir().value_kind(input).dtype().map_or(1, |d| d.bytes());
            for line in 0..(lanes * bytes).div_ceil(LINE) {
                let at = self.k.add(at, Idx::Const((line * LINE / bytes) as i64));
                self.k.prefetch(memory, at);
            }
        }
        self.base[next] = base;
        Ok(())
    }
}
