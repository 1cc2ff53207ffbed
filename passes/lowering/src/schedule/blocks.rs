//! The loops of a walk as a GPU's blocks and threads share them, as the cost model decides it (`cost/blocks.rs`): here the walk is put to it,
//! and the answer written down.

use fuser_analysis::cost::blocks::{Blocks, Loop, Member, Walk};
use fuser_analysis::cost::flops;
use fuser_ir::Op;
use fuser_target::Target;

use super::loops::{Draft, count, static_value};
use crate::spec::LoopAxis;

impl Draft<'_> {
    /// Changes roles and tiles, the lanes' loop last among them, for the blocks of a GPU.
    pub(super) fn spread(&self, loops: &mut [LoopAxis], vector: u64, target: &Target) -> Blocks {
        let walk = Walk {
            loops: loops.iter().map(|l| self.known(l)).collect(),
            members: self.ops.iter().map(|&op| self.member(op, loops)).collect(),
            vector,
            sums_leave: self.sums_leave(),
        };
        let blocks = walk.spread(target);
        for (axis, chosen) in loops.iter_mut().zip(&blocks.loops) {
            (axis.role, axis.tile) = (chosen.role, count(chosen.tile));
        }
        blocks
    }
    fn known(&self, axis: &LoopAxis) -> Loop {
        Loop {
            constant: static_value(&axis.extent),
            most: self.bindings.most(&axis.extent),
            length: self.bindings.eval(&axis.extent),
            role: axis.role,
            tile: axis.tile.unsigned_abs(),
        }
    }
    fn member(&self, op: Op, loops: &[LoopAxis]) -> Member {
        let results = self.ir.results(op);
        let stored: Vec<_> = results.iter().flat_map(|&v| self.axes.stored(v)).collect();
        let written = results.iter().filter(|v| self.memory.contains(v));
        let written: Vec<_> = written.flat_map(|&v| self.axes.stored(v)).collect();
        let scanned = self.axes.scanned(op).as_slice().to_vec();
        let along = |set: &[_]| {
            let walks = |n: &usize| loops[*n].axes.iter().any(|a| set.contains(a));
            (0..loops.len()).filter(walks).collect()
        };
        Member {
            reduced: along(self.axes.reduced(op)),
            stored: along(&stored),
            written: along(&written),
            scanned: along(&scanned),
            windows: self.axes.window(op).is_some(),
            flops: flops(self.ir, self.axes, op),
        }
    }
    /// True if no op of the walk reads what another one reduces.
    fn sums_leave(&self) -> bool {
        let reduces = |op: &&Op| !self.axes.reduced(**op).is_empty();
        let results = |op: &Op| self.ir.results(*op).to_vec();
        let sums: Vec<fuser_ir::Value> =
            self.ops.iter().filter(reduces).flat_map(results).collect();
        let mut read = self.ops.iter().flat_map(|&op| self.ir.operands(op));
        !read.any(|value| sums.contains(&value))
    }
}
