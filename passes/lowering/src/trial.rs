//! The trial of a schedule: a check that its sweeps can be lowered, before it is committed.
//!
//! It is the only part of lowering that scheduling uses. Leaves the program unchanged.

use fuser_dialects::{builtin, task};
use fuser_ir::clone::Mapping;
use fuser_ir::{Ir, NewOp, Op, Place};
use fuser_pass::place_of;
use fuser_target::Target;
use rustc_hash::FxHashMap;

use crate::lower::launch::lower_sweep;

/// The reason that a sweep cannot be lowered, and the op at fault.
pub struct Fault {
    /// The place of the op.
    pub place: Place,
    /// Its name.
    pub op: String,
    /// The message.
    pub reason: String,
    /// Advice on the correction.
    pub help: String,
}

/// Checks that the sweeps of `segment` can be lowered: lowers a copy and discards its kernels.
pub fn check(ir: &mut Ir, segment: Op, target: &Target) -> Result<(), Fault> {
    let copy = ir.clone_op(segment, &mut Mapping::default());
    ir.insert_before(segment, copy);
    let region = ir.new_region();
    let block = ir.append_block(region);
    let kernels = NewOp {
        regions: [region].into_iter().collect(),
        ..NewOp::default()
    };
    let kernels = ir.create_op(&builtin::MODULE, kernels);
    let sweeps = ir.children(copy).into_iter();
    let sweeps: Vec<Op> = sweeps.filter(|&op| ir.is(op, &task::SWEEP)).collect();
    let lowered = sweeps.into_iter().try_for_each(|sweep| {
        let lowered = lower_sweep(ir, sweep, "trial", block, (target, &FxHashMap::default()));
        lowered.map(|_| ()).map_err(|refusal| Fault {
            place: place_of(ir, refusal.op),
            op: ir.name(refusal.op).to_owned(),
            reason: refusal.reason,
            help: refusal.help,
        })
    });
    ir.erase(copy);
    ir.erase(kernels);
    lowered
}
