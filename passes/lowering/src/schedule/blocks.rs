//! The distribution of a walk's loops over a GPU's blocks and threads. The cost model decides it (`cost/blocks.rs`);
//! this file describes the walk to it and records the result.

use fuser_analysis::axes::AxisId;
use fuser_analysis::cost::blocks::{Blocks, Loop, Member, Walk};
use fuser_analysis::cost::flops;
use fuser_ir::{Op, Value};
use fuser_target::Target;
use rustc_hash::FxHashSet;

use super::loops::{Draft, count, static_value};
use crate::spec::LoopAxis;

impl Draft<'_> {
    /// Changes roles and tiles for the blocks of a GPU; `loops` ends with the lanes' loop.
    pub(super) fn spread(&self, loops: &mut [LoopAxis], vector: u64, target: &Target) -> Blocks {
        let read = self.ops.iter().flat_map(|&op| self.ir.operands(op));
        let read: FxHashSet<Value> = read.collect();
        let members = self.ops.iter().map(|&op| self.member(op, loops, &read));
        let memory = self.memory.iter().map(|&v| self.axes.stored(v));
        let memory = memory.map(|axes| along(loops, &axes.collect::<Vec<_>>()));
        let walk = Walk {
            memory: memory.collect(),
            loops: loops.iter().map(|l| self.known(l)).collect(),
            members: members.collect(),
            vector,
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
    fn member(&self, op: Op, loops: &[LoopAxis], read: &FxHashSet<Value>) -> Member {
        let results = self.ir.results(op);
        let stored: Vec<_> = results.iter().flat_map(|&v| self.axes.stored(v)).collect();
        let written = results.iter().filter(|v| self.memory.contains(v));
        let written: Vec<_> = written.flat_map(|&v| self.axes.stored(v)).collect();
        let scanned = self.axes.scanned(op).as_slice().to_vec();
        Member {
            reduced: along(loops, self.axes.reduced(op)),
            stored: along(loops, &stored),
            written: along(loops, &written),
            scanned: along(loops, &scanned),
            windows: self.axes.window(op).is_some(),
            flops: flops(self.ir, self.axes, op),
            read: !self.axes.reduced(op).is_empty() && results.iter().any(|v| read.contains(v)),
        }
    }
}

/// The numbers of the loops that walk some of `set`.
fn along(loops: &[LoopAxis], set: &[AxisId]) -> Vec<usize> {
    let walks = |n: &usize| loops[*n].axes.iter().any(|a| set.contains(a));
    (0..loops.len()).filter(walks).collect()
}
