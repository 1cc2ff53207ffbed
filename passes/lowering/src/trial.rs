//! A trial of a schedule: whether its sweeps can be lowered, before it is committed to.
//!
//! The one thing that scheduling asks of lowering. Leaves the program as it is. Of segments of one form one is tried.

use fuser_dialects::task::{labels, positions};
use fuser_dialects::{builtin, task};
use fuser_ir::clone::Mapping;
use fuser_ir::{Ir, NewOp, Op, Place};
use fuser_pass::place_of;
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{Form, form};
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

/// Trials for one target, with the forms of the segments that were lowered.
#[derive(Default)]
pub struct Trials(FxHashSet<Form>);

impl Trials {
    /// Says whether the sweeps of `segment` can be lowered.
    pub fn check(&mut self, ir: &mut Ir, segment: Op, target: &Target) -> Result<(), Fault> {
        let names = ["sym_name", positions::POSITION, labels::LABEL];
        let form = form(ir, segment, &names);
        if !self.0.contains(&form) {
            lower(ir, segment, target)?;
            self.0.insert(form);
        }
        Ok(())
    }
}

/// Lowers the sweeps of a copy of `segment` and throws the kernels away.
fn lower(ir: &mut Ir, segment: Op, target: &Target) -> Result<(), Fault> {
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
