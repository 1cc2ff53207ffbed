//! Placed cats: operands that their producers write where they lie in the result.

use fuser_artifact::{BufferKind, Step};
use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::kernel;
use fuser_dialects::task::{self, calls};
use fuser_ir::{Extent, Ir, Op, Value};
use fuser_passes::cost::is_call;
use rustc_hash::FxHashSet;

use super::{PlanError, Planner};

impl Planner<'_> {
    /// Assigns the operands of placed cats that launches and calls make to their places.
    pub(super) fn place_parts(&mut self, program: Op) {
        let within = |op: Op| match self.ir.is(op, &task::SEGMENT) {
            true => self.ir.children(op),
            false => vec![op],
        };
        let ops: Vec<Op> = self
            .ir
            .children(program)
            .into_iter()
            .flat_map(within)
            .collect();
        let end = ops.iter().find(|&&op| self.ir.is(op, &task::RETURN));
        let returned = end.into_iter().flat_map(|&end| self.ir.operands(end));
        let returned: FxHashSet<Value> = returned.map(|value| self.source(value)).collect();
        for op in ops.into_iter().filter(|&op| is_placed(self.ir, op)) {
            for (part, at) in parts(self.ir, op) {
                let made = self.source(part);
                let is_made = self.ir.def_op(made).is_some_and(|maker| {
                    let called = is_call(self.ir, maker) && !calls::runs_programs(self.ir, maker);
                    self.ir.is(maker, &kernel::LAUNCH) || called && !is_placed(self.ir, maker)
                });
                if is_made && !returned.contains(&made) && !self.placed.contains_key(&made) {
                    self.parts.entry(made).or_insert((op, at));
                }
            }
        }
    }
    /// The buffer of the result of a placed cat.
    pub(super) fn whole(&mut self, cat: Op) -> Result<u32, PlanError> {
        if let Some(&buffer) = self.wholes.get(&cat) {
            return Ok(buffer);
        }
        let result = self.ir.result(cat, 0);
        let buffer = self.result_buffer(cat, result, "cat")?;
        self.wholes.insert(cat, buffer);
        Ok(buffer)
    }
    /// Plans a placed cat: copies the operands that are not in their places.
    pub(super) fn placed_cat(&mut self, op: Op) -> Result<(), PlanError> {
        let of = self.whole(op)?;
        for (part, at) in parts(self.ir, op) {
            let from = self.buffer(op, part)?;
            let kind = BufferKind::Part { of, at };
            if self.artifact.buffers[from as usize].kind == kind {
                continue;
            }
            let name = self.name_of(part, "part");
            let to = self.new_buffer(op, part, &name, kind)?;
            self.buffer_of.insert(part, from);
            let elements = self.artifact.buffers[to as usize].elements.clone();
            let segment = self.segment;
            self.artifact.steps.push(Step::Copy {
                segment,
                from,
                to,
                elements,
            });
        }
        // Loops plan a program several times.
        self.wholes.remove(&op);
        Ok(())
    }
}

/// The operands of a placed cat, each with the first element of its place.
fn parts(ir: &Ir, cat: Op) -> Vec<(Value, u64)> {
    let length = |value| {
        let dims = ir.value_kind(value).as_tensor().map(|tensor| &tensor.dims);
        let dims = dims.into_iter().flatten();
        dims.fold(1u64, |all, dim| match dim.extent {
            Extent::Static(length) => all.saturating_mul(length),
            _ => all,
        })
    };
    let mut end = 0u64;
    let part = |value| {
        let at = end;
        end = end.saturating_add(length(value));
        (value, at)
    };
    ir.operands(cat).map(part).collect()
}
