//! Control flow of a kernel: loops and branches, opened at their op and closed at their terminator.

use fuser_dialects::kernel::rounds::{Rounds, in_threads, literal};
use fuser_dialects::kernel::scan;
use fuser_ir::def::Computes;
use fuser_ir::{AttrKind, Block, Op, Value};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, PhiValue};
use rustc_hash::FxHashSet;

use super::counted::OpenLoop;
use super::{Lowering, malformed};
use crate::cpu::x86;
use crate::error::CodegenError;
use crate::expr::Val;
use crate::lower::arith::{Combiner, Extreme};
use crate::lower::legal::{self, Map};
use crate::lower::reduce;

/// A region that is being lowered.
pub(super) struct Frame<'ctx> {
    /// The next op of it.
    pub(super) next: Option<Op>,
    pub(super) kind: FrameKind<'ctx>,
}

pub(super) enum FrameKind<'ctx> {
    Function,
    /// The single iteration of a loop that a block or a group runs, and the block after it.
    Once(BasicBlock<'ctx>),
    Loop(OpenLoop<'ctx>),
    Rounds(OpenRounds<'ctx>),
    Then(OpenIf<'ctx>),
    Else(OpenIf<'ctx>),
}

/// A thread loop that is written out, round by round.
pub(super) struct OpenRounds<'ctx> {
    pub(super) op: Op,
    pub(super) rounds: Rounds,
    round: i64,
    carried: Vec<BasicValueEnum<'ctx>>,
    combiners: Vec<Option<Combiner>>,
}

/// A group of threads that runs an iteration of a group loop.
#[derive(Clone, Copy)]
pub(super) struct Group<'ctx> {
    /// Its threads, a power of two.
    pub(super) threads: u32,
    /// The predicate of the groups with an iteration. The other groups repeat the first iteration without any effect.
    pub(super) runs: BasicValueEnum<'ctx>,
}

/// A round that is being written.
#[derive(Clone, Copy)]
pub(super) struct Round<'ctx> {
    pub(super) rounds: Rounds,
    pub(super) number: i64,
    /// The loop, its counter in the first round, and the offset of this round, if all threads run the round.
    pub(super) ahead_of: Option<(Op, BasicValueEnum<'ctx>, i64)>,
}

/// The iterations of a thread loop that all threads run simultaneously, one each.
#[derive(Clone, Copy)]
pub(super) struct Turn<'ctx> {
    /// The slot for the totals of warps. Consecutive turns use different slots.
    pub(super) place: BasicValueEnum<'ctx>,
    /// The predicate of the threads with an iteration; `None` if all have one. The other threads repeat another
    /// iteration without any effect.
    pub(super) runs: Option<BasicValueEnum<'ctx>>,
}

/// A value that a loop carries, or the parts of a running extreme.
pub(super) struct Carried<'ctx> {
    pub(super) extreme: Option<Extreme>,
    pub(super) phis: Vec<PhiValue<'ctx>>,
    pub(super) parts: Vec<BasicValueEnum<'ctx>>,
}

impl<'ctx> Carried<'ctx> {
    /// A value that no branch carries.
    fn alone(raw: BasicValueEnum<'ctx>) -> Self {
        Carried {
            extreme: None,
            phis: Vec::new(),
            parts: vec![raw],
        }
    }
}

pub(super) struct OpenIf<'ctx> {
    op: Op,
    other: BasicBlock<'ctx>,
    merge: BasicBlock<'ctx>,
    /// The values that the first region yielded; `from` is the block in which it ended.
    yielded: Vec<BasicValueEnum<'ctx>>,
    from: Option<BasicBlock<'ctx>>,
}

impl<'ctx> OpenIf<'ctx> {
    pub(super) fn new(op: Op, other: BasicBlock<'ctx>, merge: BasicBlock<'ctx>) -> Self {
        OpenIf {
            op,
            other,
            merge,
            yielded: Vec::new(),
            from: None,
        }
    }
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    pub(super) fn open_loop(&mut self, op: Op) -> Result<(), CodegenError> {
        let map = legal::map_of(self.ir, op).ok_or_else(|| malformed("unknown mapping"))?;
        let spread = map == Map::Thread && self.emit.has_threads() && self.threads > 1;
        let combiners = if spread {
            legal::combiners(self.ir, op)
        } else {
            Vec::new()
        };
        let initial = self.initial_values(op, &combiners)?;
        let rounds = Rounds::of(self.ir, op, i64::from(self.threads));
        if let Some(rounds) = rounds.filter(|_| spread) {
            return self.open_rounds(OpenRounds {
                op,
                rounds,
                round: 0,
                carried: initial,
                combiners,
            });
        }
        match map {
            Map::Grid if self.emit.has_threads() => self.open_block_loop(op),
            Map::Group if self.emit.has_threads() && self.threads > 1 => self.open_group_loop(op),
            Map::Grid => {
                let (begin, end) = self.range()?;
                let range = (begin.smax(0), end.smin(self.trip_count(op)?), 1);
                self.open_numbered(op, map, range, initial, combiners)
            }
            Map::Thread if spread && scan::scans(self.ir, op) => {
                let count = self.trip_count(op)?;
                self.open_turns(op, count, initial, combiners)
            }
            Map::Thread if spread => {
                let stride = i64::from(self.sharers());
                let range = (self.member(), self.trip_count(op)?, stride);
                self.open_numbered(op, map, range, initial, combiners)
            }
            _ => self.open_sequence(op, map, initial),
        }
    }

    pub(super) fn loop_body(&self, op: Op) -> Result<Block, CodegenError> {
        let body = self.ir.body(op, 0);
        body.ok_or_else(|| malformed("a loop has no body"))
    }

    /// The initial values of a loop. In a reduction over threads, the first thread starts from the given values and the
    /// others from the neutral element. A value continued from an earlier loop is kept by every thread.
    fn initial_values(
        &self,
        op: Op,
        combiners: &[Option<Combiner>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        let mut initial = Vec::new();
        for (index, value) in self.ir.operands(op).skip(3).enumerate() {
            let given = self.value_as(value, self.carries_dealt(op, index))?;
            let own = match combiners.get(index).copied().flatten() {
                Some(combiner) if !self.goes_on_from(value) => {
                    let neutral = combiner.identity(self.emit, self.shape(value)?);
                    given.except(self.member().ne(0), neutral)
                }
                _ => given,
            };
            initial.push(own.raw());
        }
        Ok(initial)
    }

    /// True if the value is a thread's partial result of a loop that another loop continues.
    fn goes_on_from(&self, value: Value) -> bool {
        let before = self.ir.def_op(value);
        before.is_some_and(|before| scan::goes_on(self.ir, before))
    }

    /// True if the loop `op` carries its value of this number dealt.
    pub(super) fn carries_dealt(&self, op: Op, number: usize) -> bool {
        let carried = self
            .ir
            .body(op, 0)
            .and_then(|b| self.ir.args(b).get(number + 1));
        carried.is_some_and(|&carried| self.dealt.has(carried))
    }

    fn open_rounds(&mut self, open: OpenRounds<'ctx>) -> Result<(), CodegenError> {
        self.in_threads += 1;
        self.load_ahead(&open)?;
        self.scan_at_once(&open)?;
        self.next_round(open)
    }

    /// Opens the next round of a loop, or ends the loop.
    fn next_round(&mut self, open: OpenRounds<'ctx>) -> Result<(), CodegenError> {
        if open.round == open.rounds.count {
            (self.round, self.turn) = (None, None);
            self.ahead.clear();
            self.in_threads -= 1;
            let values = open.carried.iter().map(|&raw| self.emit.val(raw));
            return self.loop_results(open.op, &open.combiners, values.collect());
        }
        self.begin_round(&open, open.round)?;
        self.enter(self.loop_body(open.op)?, FrameKind::Rounds(open));
        Ok(())
    }

    /// Makes a round the one that is being written.
    pub(super) fn begin_round(
        &mut self,
        open: &OpenRounds<'ctx>,
        number: i64,
    ) -> Result<(), CodegenError> {
        let rounds = open.rounds;
        let threads = i64::from(self.sharers());
        let mut k = self.member() + number * threads;
        let mut runs = None;
        if (number + 1) * threads > rounds.sure() {
            let inside = match rounds.end {
                Some(end) => (k * rounds.step + rounds.lower).lt(self.value(end)?),
                None => k.ult(rounds.iterations()),
            };
            // What they load, others of the same round load too, or lies beside that.
            k = k.except(inside.flip(), rounds.sure() - 1);
            runs = Some(inside.raw());
        }
        let index = self.induction(open.op, k)?;
        let first = self.induction(open.op, self.member())?;
        let ahead = number * threads * rounds.step;
        self.round = Some(Round {
            rounds,
            number,
            ahead_of: runs.is_none().then_some((open.op, first.raw(), ahead)),
        });
        let place = self
            .emit
            .constant_int(64, None, scan::place(number, rounds.count));
        self.turn = Some(Turn {
            place: place.raw(),
            runs,
        });
        let carried = open.carried.iter().map(|&raw| Carried::alone(raw));
        self.bind(open.op, index, &carried.collect::<Vec<_>>())
    }

    /// Ends a round: threads that did not run it keep what they had.
    fn close_round(
        &mut self,
        mut open: OpenRounds<'ctx>,
        values: &[Value],
    ) -> Result<(), CodegenError> {
        if values.len() != open.carried.len() {
            return Err(malformed("a loop yields another number of values"));
        }
        let next = self.raw_values(values)?.into_iter().enumerate();
        let next =
            next.map(|(number, next)| self.turned((open.op, number), open.carried[number], next));
        open.carried = next.collect();
        open.round += 1;
        self.next_round(open)
    }

    /// The next value of an iteration argument after a turn that yields `next`. A scan takes the total of all threads;
    /// a thread without an iteration keeps its previous value.
    pub(super) fn turned(
        &self,
        argument: (Op, usize),
        before: BasicValueEnum<'ctx>,
        next: BasicValueEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        match (self.scanned.get(&argument), self.runs_turn()) {
            (Some(&all), _) => all,
            (None, Some(runs)) => {
                let before = self.emit.val(before);
                self.emit.val(next).except(runs.flip(), before).raw()
            }
            (None, None) => next,
        }
    }

    /// Opens the grid loop of a GPU: the block's number is the iteration. A launch has one block for each iteration. If
    /// these exceed the limit, a block also runs every following iteration at a distance of the number of blocks.
    fn open_block_loop(&mut self, op: Op) -> Result<(), CodegenError> {
        let k = self.emit.block_number();
        let stride = self.ir.int_of(op, "blocks").filter(|_| self.cluster == 1);
        let count = literal(self.ir, self.operand(op, 1)?);
        let count = count.into_iter().chain(stride).min();
        if let Some(blocks) = count.and_then(|count| count.checked_mul(self.cluster.into())) {
            self.emit.intrinsic("llvm.assume", &[], &[k.ult(blocks)]);
        }
        if let Some(stride) = stride {
            let range = (k, self.trip_count(op)?, stride);
            return self.open_numbered(op, Map::Grid, range, Vec::new(), Vec::new());
        }
        let k = match self.cluster {
            1 => k,
            cluster => k.lshr(i64::from(cluster.ilog2())),
        };
        let exit = self.block("exit")?;
        let index = self.induction(op, k)?;
        self.bind(op, index, &[])?;
        self.enter(self.loop_body(op)?, FrameKind::Once(exit));
        Ok(())
    }

    /// Opens a group loop on a GPU: each group runs one iteration. Groups without one run the first iteration with
    /// stores disabled, so that the threads of a warp stay converged.
    fn open_group_loop(&mut self, op: Op) -> Result<(), CodegenError> {
        let count = self.trip_count(op)?;
        let groups = self.ir.int_of(op, "groups").unwrap_or(1).max(1);
        let threads = (i64::from(self.threads) / groups).max(1);
        let number = self.thread().lshr(i64::from(threads.ilog2()));
        let inside = number.ult(count);
        let index = self.induction(op, number.except(inside.flip(), 0))?;
        self.bind(op, index, &[])?;
        self.group = Some(Group {
            threads: threads as u32,
            runs: inside.raw(),
        });
        let exit = self.block("exit")?;
        self.enter(self.loop_body(op)?, FrameKind::Once(exit));
        Ok(())
    }

    /// The threads that share a thread loop that begins here.
    pub(super) fn sharers(&self) -> u32 {
        self.group.map_or(self.threads, |group| group.threads)
    }

    /// This thread's number among those.
    pub(super) fn member(&self) -> Val<'a, 'ctx> {
        match self.group {
            Some(group) => self.thread().and(i64::from(group.threads - 1)),
            None => self.thread(),
        }
    }

    /// The predicate that is true in the threads that run the code at this point; `None` if all of them do.
    pub(super) fn runs_here(&self) -> Option<Val<'a, 'ctx>> {
        let group = self.group.map(|group| self.emit.val(group.runs));
        match (group, self.runs_turn()) {
            (Some(group), Some(turn)) => Some(group.and(turn)),
            (group, turn) => group.or(turn),
        }
    }

    /// The predicate of the threads that run an iteration of the loop being emitted; `None` if all of them do.
    fn runs_turn(&self) -> Option<Val<'a, 'ctx>> {
        let runs = self.turn.and_then(|turn| turn.runs);
        runs.map(|raw| self.emit.val(raw))
    }

    /// Emits a scan. In a loop that threads share, the scan starts from the total of the iterations before this
    /// thread's.
    pub(super) fn scan(&mut self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let before = self.operand_value(op, 1)?;
        let shared = scan::scanning_loop(self.ir, op).zip(self.turn);
        let Some((argument, turn)) = shared else {
            let lanes = self.operand_value(op, 0)?;
            let dtype = self.result_shape(op)?.dtype;
            return Ok(reduce::steps(
                lanes,
                Some(before),
                self.combiner(op)?,
                dtype,
            ));
        };
        let round = self.round.map(|round| round.number);
        let known = round.and_then(|number| self.at_once.get(&(op, number)));
        if let Some(&steps) = known {
            return Ok(self.emit.val(steps));
        }
        let own = self.own_steps(op)?;
        let steps =
            self.behind_others(op, argument, &[own], (before, self.emit.val(turn.place)))?;
        steps
            .first()
            .copied()
            .ok_or_else(|| malformed("a scan has no turn"))
    }

    /// The steps of this thread's own lanes.
    fn own_steps(&self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let (lanes, combiner) = (self.operand_value(op, 0)?, self.combiner(op)?);
        let shape = self.result_shape(op)?;
        let lanes = match self.runs_turn() {
            Some(runs) => lanes.except(runs.flip(), combiner.identity(self.emit, shape)),
            None => lanes,
        };
        Ok(reduce::steps(lanes, None, combiner, shape.dtype))
    }

    /// This thread's scan results in some turns, after those of all earlier threads, starting from `before`. Threads
    /// exchange totals in the slots from `place` on. Records the value of the iteration argument after these turns.
    fn behind_others(
        &mut self,
        op: Op,
        argument: (Op, usize),
        own: &[Val<'a, 'ctx>],
        (before, place): (Val<'a, 'ctx>, Val<'a, 'ctx>),
    ) -> Result<Vec<Val<'a, 'ctx>>, CodegenError> {
        let (combiner, block) = (self.combiner(op)?, self.combining());
        let dtype = self.result_shape(op)?.dtype;
        let totals = self.totals.entry(op);
        let totals = *totals.or_insert_with(|| reduce::Totals::new(self.emit, dtype, &block));
        let shared = reduce::Scan {
            combiner,
            dtype,
            block,
            totals,
        };
        let last = |steps: &Val<'a, 'ctx>| steps.lane(steps.lanes().unwrap_or(1) - 1);
        let parts: Vec<_> = own.iter().map(last).collect();
        // The one lane of a thread is what all threads up to it have.
        let alone = own.iter().all(|own| own.lanes().unwrap_or(1) == 1);
        let (earlier, all) = shared.prefixes(&parts, place, alone)?;
        let all = combiner.apply(before, all, dtype);
        self.scanned.insert(argument, all.raw());
        let behind = own.iter().zip(earlier).map(|(&own, earlier)| {
            let before = combiner.apply(before, earlier, dtype).splat(own.lanes());
            match alone {
                true => before,
                false => combiner.apply(before, own, dtype),
            }
        });
        Ok(behind.collect())
    }

    /// Scans in all rounds of a loop at once, if its threads hold the lanes of all rounds: one exchange of totals
    /// serves all of them.
    fn scan_at_once(&mut self, open: &OpenRounds<'ctx>) -> Result<(), CodegenError> {
        let Some((op, argument)) = scan::at_once(self.ir, open.op, &open.rounds) else {
            return Ok(());
        };
        let before: Vec<Op> = scan::before(self.ir, open.op, op).collect();
        let mut own = Vec::new();
        for number in 0..open.rounds.count {
            self.begin_round(open, number)?;
            for &op in &before {
                let value = self.pure(op)?;
                self.define(op, value)?;
            }
            own.push(self.own_steps(op)?);
        }
        let carried = self.emit.val(open.carried[argument]);
        let first = self.emit.constant_int(64, None, 0);
        let steps = self.behind_others(op, (open.op, argument), &own, (carried, first))?;
        let steps = (0..)
            .zip(steps)
            .map(|(number, steps)| ((op, number), steps.raw()));
        self.at_once.extend(steps);
        Ok(())
    }

    /// The induction variable of the iteration `k` of a loop: `lower + k step`.
    pub(super) fn induction(
        &self,
        op: Op,
        k: Val<'a, 'ctx>,
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        Ok(self.operand_value(op, 0)? + k * self.operand_value(op, 2)?)
    }

    /// Gives the body's arguments their values: the induction variable, and the carried ones.
    pub(super) fn bind(
        &mut self,
        op: Op,
        index: Val<'a, 'ctx>,
        carried: &[Carried<'ctx>],
    ) -> Result<(), CodegenError> {
        let block = self.loop_body(op)?;
        let mut args = self.ir.args(block).iter().copied();
        if let Some(counter) = args.next() {
            self.values.insert(counter, index.raw());
        }
        for (arg, carried) in args.zip(carried) {
            self.hold(arg, carried.extreme, carried.parts.clone());
        }
        Ok(())
    }

    pub(super) fn open_if(&mut self, op: Op) -> Result<(), CodegenError> {
        let condition = self.operand_value(op, 0)?.raw().into_int_value();
        let (then, other, merge) = (
            self.block("then")?,
            self.block("else")?,
            self.block("merge")?,
        );
        self.emit
            .builder
            .build_conditional_branch(condition, then, other)?;
        self.emit.begin(then);
        let block = self
            .ir
            .body(op, 0)
            .ok_or_else(|| malformed("a branch has no body"))?;
        self.enter(block, FrameKind::Then(OpenIf::new(op, other, merge)));
        Ok(())
    }

    /// Ends the innermost region, which yields `values`.
    pub(super) fn leave(&mut self, values: &[Value]) -> Result<(), CodegenError> {
        match self.frames.pop().map(|frame| frame.kind) {
            Some(FrameKind::Once(exit)) => {
                self.group = None;
                self.emit.builder.build_unconditional_branch(exit)?;
                self.emit.begin(exit);
                Ok(())
            }
            Some(FrameKind::Loop(open)) => self.close_loop(open, values),
            Some(FrameKind::Rounds(open)) => self.close_round(open, values),
            Some(FrameKind::Then(open)) => {
                let yielded = self.raw_values(values)?;
                self.close_then(open, yielded)
            }
            Some(FrameKind::Else(open)) => {
                let yielded = self.raw_values(values)?;
                self.close_if(open, &yielded)
            }
            Some(FrameKind::Function) => {
                for (_, line) in &self.shared_lines {
                    line.finish(self.emit)?;
                }
                if !self.streamed.is_empty() {
                    // What was streamed is seen by all when the kernel ends.
                    x86::store_fence(self.emit);
                }
                if self.cluster > 1 {
                    // Others may still read what this block combined: its memory lasts until all are here.
                    reduce::cluster_barrier(self.emit);
                }
                self.emit.builder.build_return(None)?;
                Ok(())
            }
            None => Err(malformed("a terminator outside of everything")),
        }
    }

    fn raw_values(&self, values: &[Value]) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        let raw = values.iter().map(|&value| Ok(self.value(value)?.raw()));
        raw.collect()
    }

    /// Binds the results of a loop. Values with a combiner are combined across the threads.
    pub(super) fn loop_results(
        &mut self,
        op: Op,
        combiners: &[Option<Combiner>],
        values: Vec<Val<'a, 'ctx>>,
    ) -> Result<(), CodegenError> {
        let (mut reduced, mut parts) = (Vec::new(), Vec::new());
        let combiners = match scan::goes_on(self.ir, op) {
            true => &[],
            false => combiners,
        };
        for (number, (&result, value)) in self.ir.results(op).iter().zip(values).enumerate() {
            let dtype = self.shape(result)?.dtype;
            match combiners.get(number).copied().flatten() {
                Some(combiner) => {
                    reduced.push(result);
                    parts.push(reduce::Part {
                        value,
                        combiner,
                        dtype,
                        for_all: self.for_all_threads(result),
                        is_number: self.stays_number(op, number),
                    });
                }
                None => _ = self.values.insert(result, value.raw()),
            }
        }
        if !parts.is_empty() {
            let values = reduce::threads(self.emit, parts, &self.combining())?;
            let values = reduced.into_iter().zip(values);
            self.values
                .extend(values.map(|(result, value)| (result, value.raw())));
        }
        Ok(())
    }

    /// True if a thread loop's carried value `number` can never be NaN. It starts as a number, and each iteration takes
    /// an extreme that ignores NaN, in the loops that it continues as well.
    fn stays_number(&self, mut op: Op, mut number: usize) -> bool {
        let ir = self.ir;
        let extreme = |op: Op, number: usize| {
            let body = ir.body(op, 0)?;
            let carried = *ir.args(body).get(number + 1)?;
            let by = ir.def_op(ir.operand(ir.terminator(body)?, number))?;
            let takes = matches!(ir.computes(by), Some(Computes::MaxNum | Computes::MinNum));
            Some(takes && ir.operands(by).any(|operand| operand == carried))
        };
        while extreme(op, number) == Some(true) {
            let first = ir.operand(op, 3 + number);
            let Some(by) = ir.def_op(first) else {
                return false;
            };
            if !scan::goes_on(ir, by) {
                let begins = ir.made_as(first, Computes::Constant);
                let begins = begins.and_then(|by| ir.attr_of(by, "value"));
                return matches!(begins, Some(AttrKind::Float { bits, .. }) if !f64::from_bits(*bits).is_nan());
            }
            let results = ir.results(by).iter();
            number = results.take_while(|&&result| result != first).count();
            op = by;
        }
        false
    }

    /// True if all threads use a value: part of it is used in a thread loop, or controls such a use.
    fn for_all_threads(&self, value: Value) -> bool {
        let (mut seen, mut values) = (FxHashSet::default(), vec![value]);
        while let Some(value) = values.pop() {
            for user in self.ir.users(value) {
                if in_threads(self.ir, user) || self.ir.body(user, 0).is_some() {
                    return true;
                }
                let results = self.ir.results(user).iter();
                values.extend(results.filter(|&&result| seen.insert(result)));
            }
        }
        false
    }

    fn close_then(
        &mut self,
        mut open: OpenIf<'ctx>,
        yielded: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        open.from = Some(self.here()?);
        open.yielded = yielded;
        self.emit.builder.build_unconditional_branch(open.merge)?;
        self.emit.begin(open.other);
        match self.ir.body(open.op, 1) {
            Some(block) => {
                self.enter(block, FrameKind::Else(open));
                Ok(())
            }
            None => self.close_if(open, &[]),
        }
    }

    fn close_if(
        &mut self,
        open: OpenIf<'ctx>,
        yielded: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CodegenError> {
        let (emit, from) = (self.emit, self.here()?);
        emit.builder.build_unconditional_branch(open.merge)?;
        emit.begin(open.merge);
        let results = self.ir.results(open.op).to_vec();
        let first_from = open.from.ok_or_else(|| malformed("a branch did not end"))?;
        if results.len() != open.yielded.len() || results.len() != yielded.len() {
            return Err(malformed("a branch yields another number of values"));
        }
        for (result, (a, b)) in results.into_iter().zip(open.yielded.iter().zip(yielded)) {
            let phi = emit.phi(a.get_type())?;
            phi.add_incoming(&[(a, first_from), (b, from)]);
            self.values.insert(result, phi.as_basic_value());
        }
        Ok(())
    }
}
