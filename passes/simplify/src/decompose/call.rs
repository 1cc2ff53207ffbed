//! Ops that an executor may run as a whole: an accepted op stays a call, any other op is decomposed.

use fuser_analysis::cost::Bindings;
use fuser_analysis::executors::{self, Adds, Decision};
use fuser_analysis::targets;
use fuser_ir::def::{OpClass, OpError};
use fuser_ir::{Diagnostics, Ir, Op};
use fuser_pass::{PassContext, Remark, RemarkKind};
use fuser_target::Target;

use super::{Parts, attention, convolution, product, scatter, sort};
use crate::canonicalize::parts;
use crate::recognize_patterns::DROP_ROUNDINGS;

/// The target, the extents and the executors that are decided for.
pub struct Goal {
    target: Target,
    bindings: Bindings,
    executors: String,
    drops_roundings: bool,
}

impl Goal {
    /// The goal that the options of the pass state.
    pub fn of(ctx: &PassContext<'_>) -> Result<Self, Diagnostics> {
        Ok(Self {
            target: targets::of(ctx),
            bindings: targets::bindings(ctx)?,
            executors: ctx.options.text(executors::OPTION.name).to_owned(),
            drops_roundings: ctx.options.bool(DROP_ROUNDINGS.name),
        })
    }
    /// The target.
    pub const fn target(&self) -> &Target {
        &self.target
    }
    /// True if patterns may lose roundings.
    pub const fn drops_roundings(&self) -> bool {
        self.drops_roundings
    }
    /// True if an executor takes placed cats.
    pub fn places(&self) -> bool {
        executors::takes_placed(&self.target, &self.executors)
    }
    /// True if an executor takes the product `op` and adds a tensor of the result's shape.
    pub fn adds_tensors(&self, ir: &Ir, op: Op) -> bool {
        let by = self.decision(ir, op).and_then(|decision| decision.by);
        by.is_some_and(|executor| executor.adds == Adds::Tensor)
    }
    /// The choice of an executor for `op`; `None` if no executor handles such ops.
    pub fn decision(&self, ir: &Ir, op: Op) -> Option<Decision> {
        Decision::of(ir, op, &self.target, &self.bindings, &self.executors)
    }
}

/// The values that replace the results of `op`; empty if the op stays. Appends the decision to `told`.
pub fn apart(ctx: &mut PassContext<'_>, op: Op, goal: &Goal, told: &mut String) -> Parts {
    let class = ctx.ir.def(op).map(|d| d.class);
    if class == Some(OpClass::Convolution) && convolution::is_product(ctx.ir, op) {
        return convolution::multiplied(ctx.ir, op);
    }
    let decision = goal
        .decision(ctx.ir, op)
        .ok_or_else(|| OpError::new("it has no maps"))?;
    let line = decision.render(ctx.ir, op);
    *told += &format!("{line}\n");
    let kind = match decision.by {
        Some(_) => RemarkKind::Passed,
        None => RemarkKind::Missed,
    };
    let remark = Remark::new(kind, "Executor", ctx.place(op), line);
    ctx.remark(remark);
    let called = decision.by.is_some();
    ctx.count("calls", called.into());
    match (class, called) {
        // No kernel computes a routine: where no executor takes it, the plan says so.
        (Some(OpClass::Sort), true) | (Some(OpClass::Routine), _) => Ok(Vec::new()),
        (Some(OpClass::Sort), false) => sort::counted(ctx.ir, op),
        (Some(OpClass::Shape), true) => Ok(Vec::new()),
        (Some(OpClass::Shape), false) => parts::in_kernels(ctx.ir, op),
        (Some(OpClass::Scatter), true) => scatter::called(ctx.ir, op),
        (Some(OpClass::Scatter), false) => scatter::compared(ctx.ir, op),
        (Some(OpClass::Convolution), true) => convolution::called(ctx.ir, op),
        (Some(OpClass::Convolution), false) => convolution::multiplied(ctx.ir, op),
        (Some(OpClass::Attention), true) => attention::called(ctx.ir, op),
        (Some(OpClass::Attention), false) => attention::composed(ctx.ir, op),
        (_, true) => {
            let adds = decision.by.map_or(Adds::Nothing, |executor| executor.adds);
            product::called(ctx.ir, op, adds)
        }
        (_, false) => product::summed(ctx.ir, op),
    }
}
