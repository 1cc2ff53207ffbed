//! One `kernel.func` to one LLVM function.
//!
//! Regions are traversed with an explicit stack of frames, so nesting uses no machine stack. A loop becomes the counted
//! form `for k in 0..n` with `n` computed in advance. No index can therefore overflow, and a loop with a step below one
//! runs no iteration.
//!
//! On a CPU the function runs grid iterations `begin..end`; thread loops are plain loops, and barriers vanish. On a GPU
//! the grid index is the block's number, and a thread loop strides by the block's threads. Code outside of thread loops
//! runs in every thread, but only the first thread executes its stores. Expects a kernel that [`super::legal`] has
//! accepted.

mod access;
mod address;
mod ahead;
mod asked;
mod control;
mod counted;
mod dealt;
mod last;
mod running;
mod whole_lines;

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::{Rounds, literal};
use fuser_dialects::kernel::{bounds, counting};
use fuser_ir::def::Computes;
use fuser_ir::{Block, DType, Ir, Op, TypeKind, Value};
use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, FunctionValue, PointerValue};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Options;
use super::arith::{self, Combiner};
use super::reduce;
use super::shared_lines::SharedLine;
use super::types::{Shape, shape};
use asked::Asked;
use control::{Frame, FrameKind, Group, Round, Turn};
use dealt::Dealt;
use running::Running;

use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::memory;

/// The alignment of allocations in scratch memory, in bytes.
const SCRATCH_ALIGN: i64 = kernel::SCRATCH_ALIGN as i64;
/// The most threads of a block.
pub const MAX_THREADS: i64 = 1024;

/// The threads that the kernel lets share an iteration of its grid loop.
pub fn threads_of(ir: &Ir, func: Op) -> u32 {
    let most = MAX_THREADS * i64::from(cluster_of(ir, func));
    let threads = ir.int_of(func, "threads").unwrap_or(1).clamp(1, most);
    u32::try_from(threads).unwrap_or(1)
}

/// The blocks that have them.
pub fn cluster_of(ir: &Ir, func: Op) -> u32 {
    u32::try_from(ir.int_of(func, "cluster").unwrap_or(1).max(1)).unwrap_or(1)
}

/// The launch parameters of a kernel: the range of the grid loop, and scratch memory.
struct Launch<'ctx> {
    begin: Option<BasicValueEnum<'ctx>>,
    end: Option<BasicValueEnum<'ctx>>,
    scratch: Option<PointerValue<'ctx>>,
    /// The counts of a GPU's blocks.
    counts: Option<PointerValue<'ctx>>,
    scratch_used: Option<BasicValueEnum<'ctx>>,
}

/// The state of one function's lowering.
pub struct Lowering<'a, 'ctx> {
    ir: &'a Ir,
    emit: &'a Emit<'ctx>,
    func: Op,
    function: FunctionValue<'ctx>,
    threads: u32,
    /// The blocks that have these threads.
    cluster: u32,
    launch: Launch<'ctx>,
    values: FxHashMap<Value, BasicValueEnum<'ctx>>,
    /// The parameters that stores of whole lines stream to.
    streamed: FxHashSet<Value>,
    /// Those of them whose rows share lines.
    shared_lines: Vec<(Value, SharedLine<'ctx>)>,
    /// The loops that ask ahead, and for which buffers.
    asked: Asked,
    /// Powers of two that divide indices.
    divisors: FxHashMap<Value, u64>,
    /// The number of loops that values change in.
    depths: FxHashMap<Value, u32>,
    /// Vectors whose lanes are not in order.
    dealt: Dealt,
    /// Values that are held in parts.
    running: FxHashMap<Value, Running<'ctx>>,
    frames: Vec<Frame<'ctx>>,
    /// The number of open thread loops.
    in_threads: u32,
    /// The loops that touch each buffer in the registers of a block.
    registers: FxHashMap<Value, Vec<Rounds>>,
    /// The group of threads that the open group loop gives its iteration.
    group: Option<Group<'ctx>>,
    /// The round of the thread loop that is being written out.
    round: Option<Round<'ctx>>,
    /// The turn of the thread loop being emitted, if all threads run it together.
    turn: Option<Turn<'ctx>>,
    /// For iteration arguments from which scans continue, the combined value of the iterations up to the end of that
    /// turn.
    scanned: FxHashMap<(Op, usize), BasicValueEnum<'ctx>>,
    /// The scan results of each round, for scans that are computed before the first round.
    at_once: FxHashMap<(Op, i64), BasicValueEnum<'ctx>>,
    /// The shared memory in which threads hand on the totals of each scan.
    totals: FxHashMap<Op, reduce::Totals<'ctx>>,
    /// The values loaded for rounds of that loop before its first round.
    ahead: FxHashMap<(Op, i64), BasicValueEnum<'ctx>>,
    /// The parameters that nothing stores to and no other buffer overlaps.
    constant: FxHashSet<Value>,
    /// The parameters that begin at multiples of their elements' size, and no more.
    anywhere: FxHashSet<Value>,
}

fn malformed(what: &str) -> CodegenError {
    CodegenError::Internal(format!("malformed kernel: {what}"))
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// Prepares the lowering of `func` into `function`, whose signature [`super::signature`] made.
    pub fn new(
        ir: &'a Ir,
        emit: &'a Emit<'ctx>,
        func: Op,
        function: FunctionValue<'ctx>,
        options: Options,
        far: FxHashSet<Value>,
    ) -> Self {
        let launch = Launch {
            begin: None,
            end: None,
            scratch: None,
            counts: None,
            scratch_used: None,
        };
        let (values, frames) = (FxHashMap::default(), Vec::new());
        let threads = threads_of(ir, func);
        let stored = |arg: &Value| ir.users(*arg).any(|user| ir.is(user, &kernel::STORE));
        let args = ir.body(func, 0).map_or(&[][..], |body| ir.args(body));
        let constant = args
            .iter()
            .copied()
            .filter(|arg| options.noalias && !stored(arg));
        Lowering {
            ir,
            emit,
            func,
            function,
            threads,
            cluster: if emit.has_threads() {
                cluster_of(ir, func)
            } else {
                1
            },
            launch,
            values,
            streamed: far.iter().copied().filter(stored).collect(),
            shared_lines: Vec::new(),
            asked: Asked::new(ir, func, &far, options.ask_ahead),
            divisors: FxHashMap::default(),
            depths: FxHashMap::default(),
            dealt: Dealt::default(),
            running: FxHashMap::default(),
            frames,
            in_threads: 0,
            registers: FxHashMap::default(),
            group: None,
            round: None,
            turn: None,
            scanned: FxHashMap::default(),
            at_once: FxHashMap::default(),
            totals: FxHashMap::default(),
            ahead: FxHashMap::default(),
            constant: constant.collect(),
            anywhere: args
                .iter()
                .copied()
                .filter(|arg| options.any_address || !emit.has_threads() && !far.contains(arg))
                .collect(),
        }
    }

    /// Emits the whole function; returns the bytes of scratch memory that it uses, if they are known.
    pub fn run(mut self) -> Result<Option<u64>, CodegenError> {
        let body = self
            .ir
            .body(self.func, 0)
            .ok_or_else(|| malformed("no body"))?;
        let entry = self.emit.context.append_basic_block(self.function, "entry");
        self.emit.builder.position_at_end(entry);
        if self.emit.has_threads() {
            self.gpu_parameters(body)?
        } else {
            self.note_depths();
            self.cpu_parameters(body)?
        };
        self.note_divisors();
        self.deal();
        self.enter(body, FrameKind::Function);
        while let Some(frame) = self.frames.last_mut() {
            match frame.next {
                Some(op) => {
                    frame.next = self.ir.next_op(op);
                    self.op(op)?;
                }
                None => self.leave(&[])?,
            }
        }
        self.emit.finish()?;
        let used = self.launch.scratch_used.map(|used| used.into_int_value());
        Ok(used.map_or(Some(0), |used| used.get_zero_extended_constant()))
    }

    fn enter(&mut self, block: Block, kind: FrameKind<'ctx>) {
        let next = self.ir.first_op(block);
        self.frames.push(Frame { next, kind });
    }

    fn parameter(&self, index: usize) -> Result<BasicValueEnum<'ctx>, CodegenError> {
        let index = u32::try_from(index).map_err(|_| malformed("too many parameters"))?;
        self.function
            .get_nth_param(index)
            .ok_or_else(|| malformed("a parameter is missing"))
    }

    /// Buffers and extents are read from the two arrays that the caller passes.
    fn cpu_parameters(&mut self, body: Block) -> Result<(), CodegenError> {
        let emit = self.emit;
        let (buffers, extents) = (
            self.parameter(0)?.into_pointer_value(),
            self.parameter(1)?.into_pointer_value(),
        );
        self.launch.begin = Some(self.parameter(2)?);
        self.launch.end = Some(self.parameter(3)?);
        self.launch.scratch = Some(self.parameter(4)?.into_pointer_value());
        let (mut buffer, mut extent) = (0i64, 0i64);
        for &arg in self.ir.args(body) {
            let is_buffer = shape(self.ir, arg).is_none();
            let (array, index) = if is_buffer {
                (buffers, &mut buffer)
            } else {
                (extents, &mut extent)
            };
            let slot = memory::element(
                emit,
                array,
                Elem::Int(64),
                emit.constant_int(64, None, *index),
            );
            *index += 1;
            let value = match is_buffer {
                true => emit.builder.build_load(
                    emit.context.ptr_type(AddressSpace::default()),
                    slot,
                    "",
                )?,
                false => memory::load(emit, slot, Elem::Int(64), None, 8).raw(),
            };
            self.values.insert(arg, value);
        }
        self.share_lines()?;
        self.unless_grid_is_elsewhere()
    }

    /// Restricts a function without a grid loop, whose only iteration is 0, to the call whose range contains it.
    fn unless_grid_is_elsewhere(&mut self) -> Result<(), CodegenError> {
        if kernel::grid_loop(self.ir, self.func).is_some() {
            return Ok(());
        }
        let (begin, end) = self.range()?;
        let mine = begin.le(0).and(end.gt(0));
        let (run, skip) = (self.block("run")?, self.block("skip")?);
        self.emit
            .builder
            .build_conditional_branch(mine.raw().into_int_value(), run, skip)?;
        self.emit.builder.position_at_end(skip);
        self.emit.builder.build_return(None)?;
        self.emit.builder.position_at_end(run);
        Ok(())
    }

    fn range(&self) -> Result<(Val<'a, 'ctx>, Val<'a, 'ctx>), CodegenError> {
        match (self.launch.begin, self.launch.end) {
            (Some(begin), Some(end)) => Ok((self.emit.val(begin), self.emit.val(end))),
            _ => Err(malformed("no range")),
        }
    }

    /// The buffers, then the counts where the kernel has some, then the extents.
    fn gpu_parameters(&mut self, body: Block) -> Result<(), CodegenError> {
        let args = self.ir.args(body).to_vec();
        let buffers = args.iter().filter(|&&arg| shape(self.ir, arg).is_none());
        let buffers = buffers.count();
        let counts = usize::from(!counting(self.ir, self.func).is_empty());
        for (index, arg) in args.into_iter().enumerate() {
            let before = if index < buffers { 0 } else { counts };
            let value = self.parameter(index + before)?;
            self.values.insert(arg, value);
        }
        if counts > 0 {
            self.launch.counts = Some(self.parameter(buffers)?.into_pointer_value());
        }
        Ok(())
    }

    fn block(&self, name: &str) -> Result<BasicBlock<'ctx>, CodegenError> {
        self.emit
            .block(name)
            .ok_or_else(|| malformed("no function"))
    }

    fn here(&self) -> Result<BasicBlock<'ctx>, CodegenError> {
        self.emit
            .builder
            .get_insert_block()
            .ok_or_else(|| malformed("no block"))
    }

    fn value(&self, value: Value) -> Result<Val<'a, 'ctx>, CodegenError> {
        self.value_as(value, false)
    }

    /// A value as it is held.
    fn raw(&self, value: Value) -> Result<Val<'a, 'ctx>, CodegenError> {
        let raw = self
            .values
            .get(&value)
            .ok_or_else(|| malformed("a value is used before its definition"))?;
        Ok(self.emit.val(*raw))
    }

    fn operand(&self, op: Op, index: usize) -> Result<Value, CodegenError> {
        self.ir
            .operands(op)
            .nth(index)
            .ok_or_else(|| malformed("an operand is missing"))
    }

    fn operand_value(&self, op: Op, index: usize) -> Result<Val<'a, 'ctx>, CodegenError> {
        self.value(self.operand(op, index)?)
    }

    fn pointer(&self, value: Value) -> Result<PointerValue<'ctx>, CodegenError> {
        match self.value(value)?.raw() {
            BasicValueEnum::PointerValue(pointer) => Ok(pointer),
            _ => Err(malformed("a buffer is no pointer")),
        }
    }

    fn shape(&self, value: Value) -> Result<Shape, CodegenError> {
        shape(self.ir, value).ok_or_else(|| malformed("a value fits no register"))
    }

    fn define(&mut self, op: Op, value: Val<'a, 'ctx>) -> Result<(), CodegenError> {
        let result = *self
            .ir
            .results(op)
            .first()
            .ok_or_else(|| malformed("a result is missing"))?;
        self.values.insert(result, value.raw());
        Ok(())
    }

    fn transpose(&mut self, op: Op) -> Result<(), CodegenError> {
        let rows: Result<Vec<_>, _> = self.ir.operands(op).map(|v| self.value(v)).collect();
        let columns = crate::expr::transposed(rows?);
        let results = self.ir.results(op).iter().copied();
        self.values
            .extend(results.zip(columns.into_iter().map(Val::raw)));
        Ok(())
    }

    fn result_shape(&self, op: Op) -> Result<Shape, CodegenError> {
        self.shape(
            *self
                .ir
                .results(op)
                .first()
                .ok_or_else(|| malformed("a result is missing"))?,
        )
    }

    /// A constant that fits no register: only tables hold it.
    fn is_table_data(&self, op: Op) -> bool {
        let result = self.ir.results(op).first();
        self.ir.computes(op) == Some(Computes::Constant)
            && result.is_some_and(|&v| shape(self.ir, v).is_none())
    }

    fn op(&mut self, op: Op) -> Result<(), CodegenError> {
        let ir = self.ir;
        if ir.is(op, &kernel::FOR) {
            self.open_loop(op)
        } else if ir.is(op, &kernel::IF) {
            self.open_if(op)
        } else if ir.is(op, &kernel::LAST) {
            self.open_last(op)
        } else if ir.is(op, &kernel::YIELD) || ir.is(op, &kernel::RETURN) {
            let values: Vec<Value> = ir.operands(op).collect();
            self.leave(&values)
        } else if ir.is(op, &kernel::STORE) {
            self.store(op)
        } else if ir.is(op, &kernel::TRANSPOSE_LANES) {
            self.transpose(op)
        } else if ir.is(op, &kernel::PREFETCH) {
            self.prefetch(op)
        } else if ir.is(op, &kernel::BARRIER) {
            if self.emit.has_threads() && self.threads > 1 {
                match self.cluster {
                    1 => reduce::barrier(self.emit),
                    _ => reduce::cluster_barrier(self.emit),
                }
            }
            Ok(())
        } else if ir.is(op, &kernel::ALLOC) {
            self.allocate(op)
        } else if ir.is(op, &kernel::TABLE) {
            self.table(op)
        } else if self.is_table_data(op) || self.advance(op)? {
            Ok(())
        } else if ir.is(op, &kernel::SCAN) {
            let steps = self.scan(op)?;
            self.define(op, steps)
        } else {
            let value = self.pure(op)?;
            self.define(op, value)
        }
    }

    /// The way in which an op puts lanes together.
    fn combiner(&self, op: Op) -> Result<Combiner, CodegenError> {
        let combiner = self.ir.str_of(op, "combine").and_then(Combiner::from_name);
        combiner.ok_or_else(|| malformed("no combiner"))
    }

    /// Ops with one result in a register.
    fn pure(&self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let (ir, emit) = (self.ir, self.emit);
        let result = self.result_shape(op)?;
        if self.leaves_nothing(op) {
            Ok(emit.constant_int(64, None, 0))
        } else if ir.is(op, &kernel::LOAD) {
            self.load(op, result)
        } else if ir.is(op, &kernel::LOAD_WITHIN) {
            self.load_within(op, result)
        } else if ir.is(op, &kernel::SPLAT) {
            Ok(self.operand_value(op, 0)?.splat(result.lanes))
        } else if ir.is(op, &kernel::IOTA) {
            Ok(emit.lane_numbers(64, result.lanes.unwrap_or(1)))
        } else if ir.is(op, &kernel::EXTRACT) {
            let lane = u32::try_from(ir.int_of(op, "lane").unwrap_or(-1))
                .map_err(|_| malformed("no lane"))?;
            Ok(self.operand_value(op, 0)?.lane(lane))
        } else if ir.is(op, &kernel::REDUCE) {
            let vector = self.operand_value(op, 0)?;
            Ok(reduce::lanes(vector, self.combiner(op)?, result.dtype))
        } else {
            self.arithmetic(op, result)
        }
    }

    /// The quotient or remainder of a nonnegative index by a constant, on a GPU.
    fn quotient_of_nonnegative(&self, op: Op) -> Result<Option<Val<'a, 'ctx>>, CodegenError> {
        let ir = self.ir;
        let by_unsigned = match ir.computes(op) {
            Some(Computes::Div) => Val::udiv,
            Some(Computes::Rem) => Val::urem,
            _ => return Ok(None),
        };
        let index = ir.value_kind(ir.result(op, 0)) == &TypeKind::Scalar(DType::Index);
        let by = literal(ir, ir.operand(op, 1)).filter(|&by| by > 0);
        match by.filter(|_| self.emit.has_threads() && index) {
            Some(by) if bounds::is_nonnegative(ir, ir.operand(op, 0)) => {
                // Of a round's counter what all rounds share is computed once, and constants are added to it.
                let (index, ahead) = self.counter_apart(ir.operand(op, 0), by)?;
                let value = by_unsigned(index, by);
                let quotient = ir.computes(op) == Some(Computes::Div);
                Ok(Some(if quotient { value + ahead / by } else { value }))
            }
            _ => Ok(None),
        }
    }

    /// Splits an index into two parts, the second of which is a constant multiple of `by`: the counter of an unrolled
    /// loop in its first round, and its offset in this round.
    fn counter_apart(&self, index: Value, by: i64) -> Result<(Val<'a, 'ctx>, i64), CodegenError> {
        let counted = bounds::counted(self.ir, index);
        let ahead = self.round.and_then(|round| round.ahead_of);
        match ahead.filter(|&(of, _, ahead)| counted == Some(of) && ahead % by == 0) {
            Some((_, first, ahead)) => Ok((self.emit.val(first), ahead)),
            None => Ok((self.value(index)?, 0)),
        }
    }

    fn arithmetic(&self, op: Op, result: Shape) -> Result<Val<'a, 'ctx>, CodegenError> {
        let dealt = self.ir.results(op).iter().any(|&r| self.dealt.has(r));
        let dealt_operands = self.ir.operands(op).any(|v| self.dealt.has(v));
        if dealt && self.widens(op) {
            return Ok(self.operand_value(op, 0)?.bf16_to_dealt());
        }
        if let Some(value) = self.quotient_of_nonnegative(op)? {
            return Ok(value);
        }
        let mut operands = Vec::new();
        for value in self.ir.operands(op) {
            let operand = self.value_as(value, dealt || dealt_operands)?;
            operands.push((operand, self.shape(value)?.dtype));
        }
        let made = arith::emit(self.emit, self.ir, op, &operands, result)?;
        Ok(match dealt_operands && !dealt {
            true => made.in_order(),
            false => made,
        })
    }
}
