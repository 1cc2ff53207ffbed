//! Counted loops: the iterations that one thread runs in sequence.
//!
//! A loop tests its condition after its body. A loop that may be empty has another test before it. On a CPU the counter
//! is the induction variable, so that it can be part of an instruction's address. A single-iteration loop, and a short
//! loop inside other loops, is unrolled; memory that it rewrites between iterations can then live in registers.

use fuser_dialects::kernel;
use fuser_dialects::kernel::bounds::{at_most, is_range};
use fuser_dialects::kernel::rounds::{around, literal};
use fuser_ir::{Op, Value};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, PhiValue};

use super::control::{Carried, FrameKind, Turn};
use super::{Lowering, malformed};
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::lower::arith::{Combiner, Extreme};
use crate::lower::legal::Map;

/// The maximum number of iterations of an unrolled loop, and of one that keeps nothing in memory.
const MOST_ITERATIONS: [i64; 2] = [16, 4];

/// The most ops that it becomes.
const MOST_OPS: usize = 400;

/// A counted loop, from its first iteration on.
pub(super) struct OpenLoop<'ctx> {
    op: Op,
    count: Count<'ctx>,
    turns: Turns<'ctx>,
    carried: Vec<Carried<'ctx>>,
    /// The combiners of the threads' values; empty for a loop that is not distributed over threads.
    combiners: Vec<Option<Combiner>>,
}

/// The counter of a loop.
#[derive(Clone, Copy)]
struct Count<'ctx> {
    /// The induction variable, or the number of the iteration.
    induction: bool,
    /// The number of turns, for a counter over turns in which each thread has one iteration.
    turns: Option<BasicValueEnum<'ctx>>,
    stride: i64,
    map: Map,
    /// It is known to run no more than once.
    once: bool,
}

/// The way from one iteration to the next.
enum Turns<'ctx> {
    /// By a branch to `body`, until the counter reaches or passes the limit.
    Branch {
        body: BasicBlock<'ctx>,
        counter: PhiValue<'ctx>,
        limit: BasicValueEnum<'ctx>,
        skipped: Option<Skipped<'ctx>>,
    },
    /// By unrolling: the ops are emitted again with the next counter, until the counter reaches the limit.
    Written { counter: i64, limit: i64 },
}

/// A way around a loop that may run nothing.
struct Skipped<'ctx> {
    from: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
    /// The values that are carried there.
    initial: Vec<Vec<BasicValueEnum<'ctx>>>,
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// The number of iterations, `ceil((upper - lower) / step)`, or zero for an empty range; unsigned, since the range
    /// may span all of i64.
    pub(super) fn trip_count(&self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let [lower, upper, step] = [0, 1, 2].map(|i| self.operand_value(op, i));
        let (lower, upper, step) = (lower?, upper?, step?);
        let by = literal(self.ir, self.ir.operand(op, 2))
            .filter(|&by| by > 0 && self.emit.has_threads());
        if let Some(by) = by.filter(|_| is_range(self.ir, op)) {
            return Ok((upper - lower + (by - 1)).udiv(by));
        }
        let runs = lower.lt(upper).and(step.gt(0));
        let safe_step = step.except(step.le(0), 1);
        let count = (upper - lower - 1).udiv(safe_step) + 1;
        Ok(count.except(runs.flip(), 0))
    }

    /// The first value past the range that a counter starting at `lower` reaches.
    fn limit(
        &self,
        op: Op,
        lower: Val<'a, 'ctx>,
        step: i64,
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        let upper = self.operand_value(op, 1)?;
        if upper.raw() == lower.raw() {
            return Ok(lower);
        }
        let end = upper.except(upper.lt(lower), lower);
        let divides = |n| {
            self.divisor(self.ir.operand(op, n))
                .is_multiple_of(step as u64)
        };
        if step == 1 || divides(0) && divides(1) {
            return Ok(end);
        }
        let reach = end - lower;
        let whole = reach.udiv(step) * step;
        Ok(lower + whole.except(whole.ne(reach), whole + step))
    }

    /// Opens the loop `op` of a CPU, or a loop that each GPU thread runs entirely.
    pub(super) fn open_sequence(
        &mut self,
        op: Op,
        map: Map,
        initial: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        // No loop of that many iterations ends, so none that ends has a counter that wraps around.
        let step = literal(self.ir, self.operand(op, 2)?);
        let step = step.filter(|&step| step > 0 && step <= i64::from(i32::MAX));
        let (start, limit, stride) = match step.filter(|_| !self.emit.has_threads()) {
            Some(step) => {
                let lower = self.operand_value(op, 0)?;
                (lower, self.limit(op, lower, step)?, step)
            }
            None => (self.emit.constant_int(64, None, 0), self.trip_count(op)?, 1),
        };
        let count = Count {
            induction: step.is_some() && !self.emit.has_threads(),
            turns: None,
            stride,
            map,
            once: false,
        };
        self.counted_loop(op, (start, limit), count, initial, Vec::new())
    }

    /// True for a loop with at most as many iterations as threads, so that no thread runs more than one.
    fn runs_once(&self, op: Op) -> bool {
        let [lower, step] = [0, 2].map(|n| literal(self.ir, self.ir.operand(op, n)));
        let most = at_most(self.ir, self.ir.operand(op, 1));
        let (Some(lower @ 0..), Some(step @ 1..), Some(most)) = (lower, step, most) else {
            return false;
        };
        (most - lower).max(0) <= step.saturating_mul(i64::from(self.sharers()))
    }

    /// Opens a loop over the numbers of its iterations from `start` to `limit`.
    pub(super) fn open_numbered(
        &mut self,
        op: Op,
        map: Map,
        (start, limit, stride): (Val<'a, 'ctx>, Val<'a, 'ctx>, i64),
        initial: Vec<BasicValueEnum<'ctx>>,
        combiners: Vec<Option<Combiner>>,
    ) -> Result<(), CodegenError> {
        let count = Count {
            induction: false,
            turns: None,
            stride,
            map,
            once: map == Map::Thread && self.runs_once(op),
        };
        self.counted_loop(op, (start, limit), count, initial, combiners)
    }

    /// Opens a loop over the turns of threads that scan together; every thread runs each of the turns.
    pub(super) fn open_turns(
        &mut self,
        op: Op,
        iterations: Val<'a, 'ctx>,
        initial: Vec<BasicValueEnum<'ctx>>,
        combiners: Vec<Option<Combiner>>,
    ) -> Result<(), CodegenError> {
        let threads = i64::from(self.sharers());
        let start = self.emit.constant_int(64, None, 0);
        let whole = iterations.udiv(threads);
        let rest = iterations.ne(whole * threads).zext_or_trunc(64);
        let count = Count {
            induction: false,
            turns: Some(iterations.raw()),
            stride: 1,
            map: Map::Thread,
            once: self.runs_once(op),
        };
        self.counted_loop(op, (start, whole + rest), count, initial, combiners)
    }

    /// Gives the body's arguments the counter and what is carried.
    fn turn(
        &mut self,
        op: Op,
        count: Count<'ctx>,
        counter: Val<'a, 'ctx>,
        carried: &[Carried<'ctx>],
    ) -> Result<(), CodegenError> {
        let mut iteration = counter;
        if let Some(iterations) = count.turns {
            let iterations = self.emit.val(iterations);
            iteration = counter * i64::from(self.sharers()) + self.member();
            let inside = iteration.ult(iterations);
            iteration = iteration.except(inside.flip(), iterations - 1);
            self.turn = Some(Turn {
                place: counter.and(1).raw(),
                runs: Some(inside.raw()),
            });
        }
        let index = match count.induction {
            true => counter,
            false => self.induction(op, iteration)?,
        };
        self.bind(op, index, carried)
    }

    fn counted_loop(
        &mut self,
        op: Op,
        (start, limit): (Val<'a, 'ctx>, Val<'a, 'ctx>),
        count: Count<'ctx>,
        initial: Vec<BasicValueEnum<'ctx>>,
        combiners: Vec<Option<Combiner>>,
    ) -> Result<(), CodegenError> {
        let emit = self.emit;
        let constant = |value: Val| value.raw().into_int_value().get_sign_extended_constant();
        let known = constant(start).zip(constant(limit));
        let same = start.raw() == limit.raw();
        let more = self.more(count, start, limit);
        if same || constant(more) == Some(0) {
            let values = initial.iter().map(|&raw| emit.val(raw)).collect();
            return self.loop_results(op, &combiners, values);
        }
        self.in_threads += u32::from(count.map == Map::Thread);
        let begun = initial.iter().enumerate().map(|(index, &raw)| {
            let value = emit.val(raw);
            let extreme = self.runs(op, index, value);
            (extreme, self.carried_parts(extreme, value))
        });
        let begun: Vec<_> = begun.collect();
        let written = known.filter(|&(start, limit)| {
            let length = limit.checked_sub(start).filter(|&length| length > 0);
            length.is_some_and(|length| self.is_written(op, count, length))
        });
        let (turns, carried) = match written {
            Some((counter, limit)) => {
                let carried = begun.into_iter().map(|(extreme, parts)| Carried {
                    extreme,
                    phis: Vec::new(),
                    parts,
                });
                (Turns::Written { counter, limit }, carried.collect())
            }
            None => self.begin_turns(constant(more).is_some(), (start, limit, more), begun)?,
        };
        let counter = match &turns {
            Turns::Branch { counter, .. } => emit.val(counter.as_basic_value()),
            Turns::Written { counter, .. } => emit.constant_int(64, None, *counter),
        };
        self.turn(op, count, counter, &carried)?;
        let open = OpenLoop {
            op,
            count,
            turns,
            carried,
            combiners,
        };
        self.enter(self.loop_body(op)?, FrameKind::Loop(open));
        Ok(())
    }

    /// Begins the body of a loop that branches, after a test if the loop may be empty.
    fn begin_turns(
        &self,
        runs: bool,
        (start, limit, more): (Val<'a, 'ctx>, Val<'a, 'ctx>, Val<'a, 'ctx>),
        begun: Vec<(Option<Extreme>, Vec<BasicValueEnum<'ctx>>)>,
    ) -> Result<(Turns<'ctx>, Vec<Carried<'ctx>>), CodegenError> {
        let emit = self.emit;
        let mut skipped = None;
        if !runs {
            let (from, enter, to) = (self.here()?, self.block("enter")?, self.block("exit")?);
            emit.builder
                .build_conditional_branch(more.raw().into_int_value(), enter, to)?;
            emit.begin(enter);
            let initial = begun.iter().map(|(_, parts)| parts.clone()).collect();
            skipped = Some(Skipped { from, to, initial });
        }
        let (before, body) = (self.here()?, self.block("body")?);
        emit.builder.build_unconditional_branch(body)?;
        emit.begin(body);
        let counter = emit.phi(emit.scalar_type(Elem::Int(64)))?;
        counter.add_incoming(&[(&start.raw(), before)]);
        let mut carried = Vec::new();
        for (extreme, parts) in begun {
            let mut phis = Vec::new();
            for part in parts {
                let phi = emit.phi(part.get_type())?;
                phi.add_incoming(&[(&part, before)]);
                phis.push(phi);
            }
            let parts = phis.iter().map(|phi| phi.as_basic_value()).collect();
            carried.push(Carried {
                extreme,
                phis,
                parts,
            });
        }
        let limit = limit.raw();
        let turns = Turns::Branch {
            body,
            counter,
            limit,
            skipped,
        };
        Ok((turns, carried))
    }

    /// True until the counter reaches its limit. A CPU tests for equality, which is correct even if the counter wraps;
    /// the signed range of the grid is the exception. A GPU tests for less, unsigned, since the count may span all of
    /// i64.
    fn more(
        &self,
        count: Count<'ctx>,
        counter: Val<'a, 'ctx>,
        limit: Val<'a, 'ctx>,
    ) -> Val<'a, 'ctx> {
        match count.map {
            Map::Grid => counter.lt(limit),
            _ if !self.emit.has_threads() => counter.ne(limit),
            _ => counter.ult(limit),
        }
    }

    /// True for a loop over a range of length `length` that is unrolled.
    fn is_written(&self, op: Op, count: Count<'ctx>, length: i64) -> bool {
        let ir = self.ir;
        let iterations = length / count.stride;
        let ops = ir.walk(op);
        if self.emit.has_threads() {
            return self.is_unrolled(count, iterations, &ops);
        }
        if iterations == 1 {
            return true;
        }
        let loops = ops[1..].iter().any(|&op| ir.is(op, &kernel::FOR));
        let touched = |what, operand| {
            let all = ops.iter().filter(move |&&op| ir.is(op, what));
            all.map(move |&op| ir.operand(op, operand))
        };
        let keeps =
            touched(&kernel::LOAD, 0).any(|from| touched(&kernel::STORE, 1).any(|to| to == from));
        let few = iterations <= MOST_ITERATIONS[usize::from(!keeps)];
        let small =
            usize::try_from(iterations).is_ok_and(|n| n.saturating_mul(ops.len()) <= MOST_OPS);
        few && small
            && !loops
            && around(ir, op).is_some_and(|outer| around(ir, outer).is_some() || !keeps)
    }

    /// True for a short loop on a GPU whose inner thread loops have one iteration for each thread. Unrolled, the loads
    /// of all its iterations are in flight at once.
    fn is_unrolled(&self, count: Count<'ctx>, iterations: i64, ops: &[Op]) -> bool {
        let loops = ops[1..].iter().filter(|&&op| self.ir.is(op, &kernel::FOR));
        let once = |&op: &Op| self.ir.str_of(op, "map") == Some("thread") && self.runs_once(op);
        let mut once = loops.map(once).peekable();
        let small = (ops.len() as i64).saturating_mul(iterations) <= MOST_OPS as i64;
        count.map == Map::Seq
            && (2..=MOST_ITERATIONS[0]).contains(&iterations)
            && small
            && once.peek().is_some()
            && once.all(|once| once)
    }

    /// Ends an iteration that yields `next`, and the loop where none follows.
    pub(super) fn close_loop(
        &mut self,
        mut open: OpenLoop<'ctx>,
        next: &[Value],
    ) -> Result<(), CodegenError> {
        let emit = self.emit;
        if next.len() != open.carried.len() {
            return Err(malformed("a loop yields another number of values"));
        }
        let numbered = next.iter().enumerate();
        let next = numbered.map(|(number, &v)| self.parts(v, self.carries_dealt(open.op, number)));
        let mut next = next.collect::<Result<Vec<_>, _>>()?;
        if open.count.turns.is_some() {
            for (number, parts) in next.iter_mut().enumerate() {
                for (part, &before) in parts.iter_mut().zip(&open.carried[number].parts) {
                    *part = self.turned((open.op, number), before, *part);
                }
            }
        }
        match &mut open.turns {
            Turns::Written { counter, limit } => {
                *counter += open.count.stride;
                let (counter, limit) = (*counter, *limit);
                for (carried, parts) in open.carried.iter_mut().zip(next) {
                    carried.parts = parts;
                }
                if counter != limit {
                    let counter = emit.constant_int(64, None, counter);
                    self.turn(open.op, open.count, counter, &open.carried)?;
                    self.enter(self.loop_body(open.op)?, FrameKind::Loop(open));
                    return Ok(());
                }
            }
            Turns::Branch {
                body,
                counter,
                limit,
                skipped,
            } => {
                let advanced = emit.val(counter.as_basic_value()) + open.count.stride;
                let more = match open.count.once {
                    true => emit.constant_int(1, None, 0),
                    false => self.more(open.count, advanced, emit.val(*limit)),
                };
                let (latch, done) = (self.here()?, self.block("done")?);
                emit.builder
                    .build_conditional_branch(more.raw().into_int_value(), *body, done)?;
                counter.add_incoming(&[(&advanced.raw(), latch)]);
                for (carried, parts) in open.carried.iter_mut().zip(next) {
                    for (phi, part) in carried.phis.iter().zip(&parts) {
                        phi.add_incoming(&[(part, latch)]);
                    }
                    carried.parts = parts;
                }
                emit.begin(done);
                if let Some(skipped) = skipped {
                    self.meet(skipped, done, &mut open.carried)?;
                }
            }
        }
        self.in_threads -= u32::from(open.count.map == Map::Thread);
        if open.count.turns.is_some() {
            self.turn = None;
        }
        let values = open.carried.iter();
        let values = values.map(|carried| self.settle(carried.extreme, &carried.parts));
        let values = values.collect::<Result<_, _>>()?;
        self.loop_results(open.op, &open.combiners, values)
    }

    /// Merges the control flow after a loop, at the end of the body in `done`, with the path that skipped the loop.
    fn meet(
        &self,
        skipped: &Skipped<'ctx>,
        done: BasicBlock<'ctx>,
        carried: &mut [Carried<'ctx>],
    ) -> Result<(), CodegenError> {
        let emit = self.emit;
        emit.builder.build_unconditional_branch(skipped.to)?;
        emit.begin(skipped.to);
        for (carried, initial) in carried.iter_mut().zip(&skipped.initial) {
            for (part, before) in carried.parts.iter_mut().zip(initial) {
                let phi = emit.phi(part.get_type())?;
                phi.add_incoming(&[(before, skipped.from), (part, done)]);
                *part = phi.as_basic_value();
            }
        }
        Ok(())
    }
}
