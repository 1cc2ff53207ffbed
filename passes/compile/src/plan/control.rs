//! Loops and branches: the steps of the programs that they run, between the steps that decide what runs next.

use fuser_artifact::{BufferKind, SizeExpr, Step};
use fuser_dialects::kernel;
use fuser_dialects::task::{self, calls};
use fuser_ir::{Op, Value};
use fuser_passes::cost::is_call;

use super::{PlanError, Planner};

impl Planner<'_> {
    /// Plans a loop: memory for its carried values, and the steps of its programs between the steps that begin and end
    /// a turn.
    pub(super) fn turns(&mut self, op: Op) -> Result<(), PlanError> {
        let callee = |clause| calls::callee(self.ir, op, clause);
        let (condition, body) = (callee("condition"), callee("body"));
        let Some(body) = body else {
            return self.error(op, "a loop has no program", "declare it in the same module");
        };
        let turns = self.ir.int_of(op, "turns");
        let mut carried = Vec::new();
        for (index, value) in self.ir.operands(op).enumerate() {
            let from = self.buffer(op, value)?;
            let result = self.ir.result(op, index);
            // Where somebody reads it as a result it is no name of the operand's memory, which may be written meanwhile.
            if calls::is_invariant(self.ir, body, index) && self.ir.is_unused(result) {
                self.buffer_of.insert(result, from);
                carried.push(from);
                continue;
            }
            let to = match self.is_handed_on(op, value, from) && !self.placed.contains_key(&result)
            {
                true => from,
                false => self.result_buffer(op, result, "carried")?,
            };
            self.buffer_of.insert(result, to);
            let elements = self.artifact.buffers[to as usize].elements.clone();
            let segment = self.segment;
            if from != to {
                self.artifact.steps.push(Step::Copy {
                    segment,
                    from,
                    to,
                    elements,
                });
            }
            carried.push(to);
        }
        let (segment, base, times) = (self.segment, self.base, self.times);
        self.times = times.saturating_mul(turns.unwrap_or(1));
        let outer = std::mem::take(&mut self.arguments);
        let first = self.artifact.steps.len() as u32;
        let asked = match condition {
            Some(condition) => {
                let end = self.callee(condition, &carried, Vec::new())?;
                let said = self.ir.operands(end).next();
                said.map(|said| self.buffer(end, said)).transpose()?
            }
            None => None,
        };
        let turn = self.artifact.steps.len();
        self.artifact.steps.push(Step::Turn {
            segment,
            turns: turns.map(SizeExpr::constant),
            condition: asked,
            end: 0,
        });
        self.arguments.clone_from(&carried);
        let homes = self.in_place(body);
        let end = self.callee(body, &carried, homes)?;
        let results: Vec<Value> = self.ir.operands(end).collect();
        let targets: Vec<Option<u32>> = carried.iter().map(|&buffer| Some(buffer)).collect();
        let late = self.late(end, &results, &targets)?;
        self.overwrite(end, &results, &targets, &late)?;
        self.artifact.steps.push(Step::Jump { segment, to: first });
        let behind = self.artifact.steps.len() as u32;
        if let Some(Step::Turn { end, .. }) = self.artifact.steps.get_mut(turn) {
            *end = behind;
        }
        self.loops.push((first, behind));
        (self.arguments, self.base, self.segment) = (outer, base, segment);
        self.times = times;
        Ok(())
    }
    /// True if nobody reads the memory of `value`, an operand of the loop `op`, but this loop: its turns may write there.
    fn is_handed_on(&self, op: Op, value: Value, buffer: u32) -> bool {
        let kind = self.artifact.buffers[buffer as usize].kind;
        let made = self.ir.def_op(self.source(value)).is_some();
        if !made || !matches!(kind, BufferKind::Temp { .. }) {
            return false;
        }
        let shared = self.has_parts(buffer);
        let all = self.buffer_of.iter().filter(|(_, own)| **own == buffer);
        let users = all.flat_map(|(&value, _)| self.ir.users(value));
        let mut others = users.filter(|&user| !self.ir.is(user, &task::YIELD));
        !shared && others.next() == Some(op) && others.next().is_none()
    }
    /// True if another buffer is a part of this one.
    fn has_parts(&self, whole: u32) -> bool {
        let mut parts = self.artifact.buffers.iter().filter_map(|b| b.part());
        parts.any(|(of, _)| of == whole)
    }
    /// Plans a branch: the steps of both programs, of which a run takes one. Each writes its results to the buffers of the
    /// branch.
    pub(super) fn branch(&mut self, op: Op) -> Result<(), PlanError> {
        let mut operands = Vec::new();
        for value in self.ir.operands(op) {
            operands.push(self.buffer(op, value)?);
        }
        let Some((&condition, values)) = operands.split_first() else {
            return self.error(
                op,
                "a branch has no condition",
                "let an `i1` be its first operand",
            );
        };
        let mut results = Vec::new();
        for &result in self.ir.results(op) {
            results.push(self.result_buffer(op, result, "chosen")?);
        }
        let segment = self.segment;
        let turn = self.artifact.steps.len();
        self.artifact.steps.push(Step::Turn {
            segment,
            turns: None,
            condition: Some(condition),
            end: 0,
        });
        self.side(op, "then", values, &results)?;
        let jump = self.artifact.steps.len();
        self.artifact.steps.push(Step::Jump { segment, to: 0 });
        self.side(op, "else", values, &results)?;
        let behind = self.artifact.steps.len() as u32;
        if let Some(Step::Turn { end, .. }) = self.artifact.steps.get_mut(turn) {
            *end = jump as u32 + 1;
        }
        if let Some(Step::Jump { to, .. }) = self.artifact.steps.get_mut(jump) {
            *to = behind;
        }
        Ok(())
    }
    /// Adds the steps of one side of a branch. Kernels and calls write results where they belong; others are copied.
    fn side(
        &mut self,
        op: Op,
        clause: &str,
        values: &[u32],
        results: &[u32],
    ) -> Result<(), PlanError> {
        let Some(program) = calls::callee(self.ir, op, clause) else {
            return self.error(
                op,
                "a branch has no program",
                "declare it in the same module",
            );
        };
        let block = self.ir.body(program, 0);
        let end = block.and_then(|block| self.ir.terminator(block));
        let returned: Vec<Value> = end.map_or_else(Vec::new, |end| self.ir.operands(end).collect());
        let home = |(&value, &to): (&Value, &u32)| {
            let made = self.source(value);
            let maker = self.ir.def_op(made)?;
            let writes = self.ir.is(maker, &kernel::LAUNCH) || is_call(self.ir, maker);
            writes.then_some((made, to))
        };
        let homes = returned.iter().zip(results).filter_map(home).collect();
        let (segment, base) = (self.segment, self.base);
        let outer = std::mem::take(&mut self.arguments);
        let end = self.callee(program, values, homes)?;
        for (&value, &to) in returned.iter().zip(results) {
            let from = self.buffer(end, value)?;
            if from != to {
                let name = self.name_of(value, "chosen");
                self.copy(&name, from, to);
            }
        }
        (self.arguments, self.base, self.segment) = (outer, base, segment);
        Ok(())
    }
    /// Adds the steps of a program that a loop or a branch runs on these buffers; returns its terminator.
    fn callee(
        &mut self,
        program: Op,
        buffers: &[u32],
        homes: Vec<(Value, u32)>,
    ) -> Result<Op, PlanError> {
        self.place(program, homes);
        let args = self
            .ir
            .body(program, 0)
            .map(|b| self.ir.args(b))
            .unwrap_or_default();
        self.buffer_of
            .extend(args.iter().copied().zip(buffers.iter().copied()));
        let name = self.ir.symbol_name(program).unwrap_or_default();
        self.rows(program, &format!("{name}."));
        self.body(program)
    }
}
