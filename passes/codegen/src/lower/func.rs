//! One `kernel.func` to one LLVM function.
//!
//! Regions are walked with an explicit stack of frames, so that nesting costs no machine stack. A loop becomes the
//! counted form `for k in 0..n` with `n` computed ahead, so that no index can overflow and a step below one runs nothing.
//!
//! On a CPU the function runs grid iterations `begin..end`; thread loops are plain loops, barriers nothing. On a GPU the
//! grid loop is the block's number, a thread loop strides by the block's threads, what stands outside of thread loops runs in
//! every thread alike, and stores there are made by the first thread. Expects a kernel that [`super::legal`] has passed.

use fuser_dialects::kernel;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{Block, DType, Ir, Op, Value};
use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, FunctionValue, PhiValue, PointerValue};
use rustc_hash::FxHashMap;

use super::arith::{self, Combiner};
use super::legal::{self, Map};
use super::reduce;
use super::types::{Shape, shape, stored};
use crate::convert::{Format, convert};
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::memory;

/// Every allocation in scratch memory begins at a multiple of this many bytes.
pub const SCRATCH_ALIGN: i64 = 64;
/// A `local` allocation of at most this many bytes lies on a CPU's stack, where the optimizer can turn it into registers;
/// greater ones lie in scratch memory.
const STACK_BYTES: u64 = 4096;
/// The most threads of a block.
pub const MAX_THREADS: i64 = 1024;

/// The threads of a block that the kernel asks for.
pub fn threads_of(ir: &Ir, func: Op) -> u32 {
    u32::try_from(
        ir.int_of(func, "threads")
            .unwrap_or(1)
            .clamp(1, MAX_THREADS),
    )
    .unwrap_or(1)
}

/// A region that is being lowered.
struct Frame<'ctx> {
    /// The next op of it.
    next: Option<Op>,
    kind: FrameKind<'ctx>,
}

enum FrameKind<'ctx> {
    Function,
    Loop(OpenLoop<'ctx>),
    Then(OpenIf<'ctx>),
    Else(OpenIf<'ctx>),
}

struct OpenLoop<'ctx> {
    op: Op,
    header: Option<(BasicBlock<'ctx>, PhiValue<'ctx>)>,
    carried: Vec<PhiValue<'ctx>>,
    exit: BasicBlock<'ctx>,
    /// What the counter goes up by.
    stride: i64,
    /// How the threads' values are put together; empty where the loop is not spread over threads.
    combiners: Vec<Combiner>,
    map: Map,
}

struct OpenIf<'ctx> {
    op: Op,
    other: BasicBlock<'ctx>,
    merge: BasicBlock<'ctx>,
    /// What the first region yielded, and the block where it ended.
    yielded: Vec<BasicValueEnum<'ctx>>,
    from: Option<BasicBlock<'ctx>>,
}

/// Where a grid loop gets its iterations from, and where scratch memory begins.
struct Launch<'ctx> {
    begin: Option<BasicValueEnum<'ctx>>,
    end: Option<BasicValueEnum<'ctx>>,
    scratch: Option<PointerValue<'ctx>>,
    scratch_used: Option<BasicValueEnum<'ctx>>,
}

/// The state of one function's lowering.
pub struct Lowering<'a, 'ctx> {
    ir: &'a Ir,
    emit: &'a Emit<'ctx>,
    func: Op,
    function: FunctionValue<'ctx>,
    threads: u32,
    launch: Launch<'ctx>,
    values: FxHashMap<Value, BasicValueEnum<'ctx>>,
    frames: Vec<Frame<'ctx>>,
    /// How many thread loops are open.
    in_threads: u32,
}

fn malformed(what: &str) -> CodegenError {
    CodegenError::Internal(format!("malformed kernel: {what}"))
}

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// Prepares the lowering of `func` into `function`, whose signature [`super::signature`] made.
    pub fn new(ir: &'a Ir, emit: &'a Emit<'ctx>, func: Op, function: FunctionValue<'ctx>) -> Self {
        let launch = Launch {
            begin: None,
            end: None,
            scratch: None,
            scratch_used: None,
        };
        let (values, frames) = (FxHashMap::default(), Vec::new());
        let threads = threads_of(ir, func);
        Lowering {
            ir,
            emit,
            func,
            function,
            threads,
            launch,
            values,
            frames,
            in_threads: 0,
        }
    }

    /// Emits the whole function.
    pub fn run(mut self) -> Result<(), CodegenError> {
        let body = self
            .ir
            .body(self.func, 0)
            .ok_or_else(|| malformed("no body"))?;
        let entry = self.emit.context.append_basic_block(self.function, "entry");
        self.emit.builder.position_at_end(entry);
        if self.emit.gpu {
            self.gpu_parameters(body)?
        } else {
            self.cpu_parameters(body)?
        };
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
        self.emit.finish()
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
        self.unless_grid_is_elsewhere()
    }

    /// A function without a grid loop is the one iteration 0: it runs only in the call whose range holds it.
    fn unless_grid_is_elsewhere(&mut self) -> Result<(), CodegenError> {
        if legal::grid_loop(self.ir, self.func).is_some() {
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

    fn gpu_parameters(&mut self, body: Block) -> Result<(), CodegenError> {
        for (index, &arg) in self.ir.args(body).iter().enumerate() {
            let value = self.parameter(index)?;
            self.values.insert(arg, value);
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

    fn result_shape(&self, op: Op) -> Result<Shape, CodegenError> {
        self.shape(
            *self
                .ir
                .results(op)
                .first()
                .ok_or_else(|| malformed("a result is missing"))?,
        )
    }

    fn op(&mut self, op: Op) -> Result<(), CodegenError> {
        let ir = self.ir;
        if ir.is(op, &kernel::FOR) {
            self.open_loop(op)
        } else if ir.is(op, &kernel::IF) {
            self.open_if(op)
        } else if ir.is(op, &kernel::YIELD) || ir.is(op, &kernel::RETURN) {
            let values: Vec<Value> = ir.operands(op).collect();
            self.leave(&values)
        } else if ir.is(op, &kernel::STORE) {
            self.store(op)
        } else if ir.is(op, &kernel::BARRIER) {
            if self.emit.gpu && self.threads > 1 {
                reduce::barrier(self.emit);
            }
            Ok(())
        } else if ir.is(op, &kernel::ALLOC) {
            self.allocate(op)
        } else {
            let value = self.pure(op)?;
            self.define(op, value)
        }
    }

    /// Ops with one result in a register.
    fn pure(&self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let (ir, emit) = (self.ir, self.emit);
        let result = self.result_shape(op)?;
        if ir.is(op, &kernel::LOAD) {
            self.load(op, result)
        } else if ir.is(op, &kernel::SPLAT) {
            Ok(self.operand_value(op, 0)?.splat(result.lanes))
        } else if ir.is(op, &kernel::IOTA) {
            let lanes = result.lanes.unwrap_or(1);
            let zero = emit.constant_int(64, result.lanes, 0);
            Ok((0..lanes).fold(zero, |v, lane| {
                v.with_lane(lane, emit.constant_int(64, None, i64::from(lane)))
            }))
        } else if ir.is(op, &kernel::EXTRACT) {
            let lane = u32::try_from(ir.int_of(op, "lane").unwrap_or(-1))
                .map_err(|_| malformed("no lane"))?;
            Ok(self.operand_value(op, 0)?.lane(lane))
        } else if ir.is(op, &kernel::REDUCE) {
            let combiner = ir.str_of(op, "combine").and_then(Combiner::from_name);
            let combiner = combiner.ok_or_else(|| malformed("no combiner"))?;
            Ok(reduce::lanes(
                self.operand_value(op, 0)?,
                combiner,
                result.dtype,
            ))
        } else {
            self.arithmetic(op, result)
        }
    }

    fn arithmetic(&self, op: Op, result: Shape) -> Result<Val<'a, 'ctx>, CodegenError> {
        let mut operands = Vec::new();
        for value in self.ir.operands(op) {
            operands.push((self.value(value)?, self.shape(value)?.dtype));
        }
        arith::emit(self.emit, self.ir, op, &operands, result)
    }

    fn address(
        &self,
        op: Op,
        memory: usize,
    ) -> Result<(PointerValue<'ctx>, Elem, u32), CodegenError> {
        let buffer = self.operand(op, memory)?;
        let dtype = self
            .ir
            .value_kind(buffer)
            .dtype()
            .ok_or_else(|| malformed("a buffer has no element type"))?;
        let elem = stored(dtype);
        let index = self.operand_value(op, memory + 1)?;
        let align = self
            .ir
            .int_of(op, "align")
            .and_then(|align| u32::try_from(align).ok());
        let align = align
            .filter(|align| align.is_power_of_two())
            .unwrap_or(memory::element_bytes(elem));
        Ok((
            memory::element(self.emit, self.pointer(buffer)?, elem, index),
            elem,
            align,
        ))
    }

    fn load(&self, op: Op, result: Shape) -> Result<Val<'a, 'ctx>, CodegenError> {
        let (address, elem, align) = self.address(op, 0)?;
        let loaded = memory::load(self.emit, address, elem, result.lanes, align);
        // Any byte but zero is true.
        Ok(if result.dtype == DType::I1 {
            loaded.ne(0)
        } else {
            loaded
        })
    }

    fn store(&mut self, op: Op) -> Result<(), CodegenError> {
        let value = self.operand_value(op, 0)?;
        let dtype = self.shape(self.operand(op, 0)?)?.dtype;
        let (address, _, align) = self.address(op, 1)?;
        let emit = self.emit;
        let value = if dtype == DType::I1 {
            convert(value, Format::unsigned(1), Format::unsigned(8))
        } else {
            value
        };
        if !self.first_thread_only(self.operand(op, 1)?) {
            memory::store(emit, value, address, align);
            return Ok(());
        }
        let first = self.thread().eq(0);
        reduce::when(emit, first, || memory::store(emit, value, address, align))
    }

    /// Outside of thread loops all threads run alike; what they share is written by the first.
    fn first_thread_only(&self, memory: Value) -> bool {
        let local = matches!(
            self.ir.value_kind(memory),
            TypeKind::MemRef {
                space: MemSpace::Local,
                ..
            }
        );
        self.emit.gpu && self.threads > 1 && self.in_threads == 0 && !local
    }

    fn special_register(&self, name: &str) -> Val<'a, 'ctx> {
        let full = format!("llvm.nvvm.read.ptx.sreg.{name}");
        let read = self
            .emit
            .intrinsic(&full, &[], &[])
            .map(|raw| self.emit.val(raw));
        read.unwrap_or_else(|| self.emit.constant_int(32, None, 0))
            .zext_or_trunc(64)
    }

    fn thread(&self) -> Val<'a, 'ctx> {
        self.special_register("tid.x")
    }

    /// Scratch memory is handed out in program order, each allocation at the next multiple of [`SCRATCH_ALIGN`].
    fn allocate(&mut self, op: Op) -> Result<(), CodegenError> {
        let result = *self
            .ir
            .results(op)
            .first()
            .ok_or_else(|| malformed("a result is missing"))?;
        let TypeKind::MemRef { dims, dtype, space } = self.ir.value_kind(result) else {
            return Err(malformed("an allocation is no memref"));
        };
        let fixed = match dims.first() {
            Some(Extent::Static(count)) => Some(*count),
            _ => None,
        };
        let elem = stored(*dtype);
        let bytes = fixed.and_then(|count| count.checked_mul(dtype.bytes()));
        let on_stack =
            *space == MemSpace::Local && (self.emit.gpu || bytes.is_some_and(|b| b <= STACK_BYTES));
        let pointer = match (on_stack, fixed) {
            (true, Some(count)) => self.stack(elem, count)?,
            _ => {
                let count = match fixed {
                    Some(count) => {
                        self.emit
                            .constant_int(64, None, i64::try_from(count).unwrap_or(i64::MAX))
                    }
                    None => self.operand_value(op, 0)?.smax(0),
                };
                self.scratch(count * dtype.bytes() as i64)?
            }
        };
        self.values.insert(result, pointer.into());
        Ok(())
    }

    fn stack(&self, elem: Elem, count: u64) -> Result<PointerValue<'ctx>, CodegenError> {
        let count = u32::try_from(count)
            .map_err(|_| malformed("a local allocation beyond 4 Gi elements"))?;
        let slot = self
            .emit
            .builder
            .build_alloca(memory::array_type(self.emit, elem, count), "")?;
        if let Some(instruction) = slot.as_instruction() {
            instruction
                .set_alignment(SCRATCH_ALIGN as u32)
                .map_err(CodegenError::internal)?;
        }
        Ok(slot)
    }

    fn scratch(&mut self, bytes: Val<'a, 'ctx>) -> Result<PointerValue<'ctx>, CodegenError> {
        let base = match self.launch.scratch {
            Some(base) => base,
            None => self.dynamic_shared_memory(),
        };
        let used = self
            .launch
            .scratch_used
            .map_or(self.emit.constant_int(64, None, 0), |raw| {
                self.emit.val(raw)
            });
        let rounded = (bytes + (SCRATCH_ALIGN - 1)).and(-SCRATCH_ALIGN);
        self.launch.scratch_used = Some((used + rounded).raw());
        Ok(memory::element(self.emit, base, Elem::Int(8), used))
    }

    /// The block's dynamic shared memory, whose size the launch gives.
    fn dynamic_shared_memory(&self) -> PointerValue<'ctx> {
        const NAME: &str = "fuser_scratch";
        let global = self.emit.module.get_global(NAME).unwrap_or_else(|| {
            let ty = memory::array_type(self.emit, Elem::Int(8), 0);
            let global = self.emit.module.add_global(
                ty,
                Some(AddressSpace::from(reduce::SHARED_SPACE)),
                NAME,
            );
            global.set_alignment(SCRATCH_ALIGN as u32);
            global
        });
        global.as_pointer_value()
    }

    /// `ceil((upper - lower) / step)`, zero where nothing runs; unsigned, since the range may span all of i64.
    fn trip_count(&self, op: Op) -> Result<Val<'a, 'ctx>, CodegenError> {
        let [lower, upper, step] = [0, 1, 2].map(|i| self.operand_value(op, i));
        let (lower, upper, step) = (lower?, upper?, step?);
        let runs = lower.lt(upper).and(step.gt(0));
        let safe_step = step.except(step.le(0), 1);
        let count = (upper - lower - 1).udiv(safe_step) + 1;
        Ok(count.except(runs.flip(), 0))
    }

    fn open_loop(&mut self, op: Op) -> Result<(), CodegenError> {
        let map = legal::map_of(self.ir, op).ok_or_else(|| malformed("unknown mapping"))?;
        let count = self.trip_count(op)?;
        let spread = map == Map::Thread && self.emit.gpu && self.threads > 1;
        let combiners = if spread {
            legal::combiners(self.ir, op)
        } else {
            Vec::new()
        };
        let initial = self.initial_values(op, &combiners)?;
        let (start, limit, stride) = match map {
            Map::Grid if self.emit.gpu => return self.open_block_loop(op, count),
            Map::Grid => {
                let (begin, end) = self.range()?;
                (begin.smax(0), end.smin(count), 1)
            }
            Map::Thread if spread => (self.thread(), count, i64::from(self.threads)),
            _ => (self.emit.constant_int(64, None, 0), count, 1),
        };
        self.in_threads += u32::from(map == Map::Thread);
        self.counted_loop(
            op,
            start,
            limit,
            OpenParts {
                stride,
                combiners,
                map,
            },
            initial,
        )
    }

    /// Initial values; over threads, only the first thread starts from them and the others from the neutral element.
    fn initial_values(
        &self,
        op: Op,
        combiners: &[Combiner],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        let mut initial = Vec::new();
        for (index, value) in self.ir.operands(op).skip(3).enumerate() {
            let given = self.value(value)?;
            let own = match combiners.get(index) {
                Some(combiner) => {
                    let neutral = combiner.identity(self.emit, self.shape(value)?);
                    given.except(self.thread().ne(0), neutral)
                }
                None => given,
            };
            initial.push(own.raw());
        }
        Ok(initial)
    }

    fn counted_loop(
        &mut self,
        op: Op,
        start: Val<'a, 'ctx>,
        limit: Val<'a, 'ctx>,
        parts: OpenParts,
        initial: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        let emit = self.emit;
        let before = self.here()?;
        let (header, body, exit) = (
            self.block("loop")?,
            self.block("body")?,
            self.block("exit")?,
        );
        emit.builder.build_unconditional_branch(header)?;
        emit.builder.position_at_end(header);
        let counter = emit.phi(emit.scalar_type(Elem::Int(64)))?;
        counter.add_incoming(&[(&start.raw(), before)]);
        let mut carried = Vec::new();
        for value in &initial {
            let phi = emit.phi(value.get_type())?;
            phi.add_incoming(&[(value, before)]);
            carried.push(phi);
        }
        let k = emit.val(counter.as_basic_value());
        // Unsigned for a count that spans all of i64; a CPU's range is signed but not negative.
        let more = if parts.map == Map::Grid {
            k.lt(limit)
        } else {
            k.ult(limit)
        };
        emit.builder
            .build_conditional_branch(more.raw().into_int_value(), body, exit)?;
        emit.builder.position_at_end(body);
        self.bind(
            op,
            k,
            carried.iter().map(|phi| phi.as_basic_value()).collect(),
        )?;
        let OpenParts {
            stride,
            combiners,
            map,
        } = parts;
        let open = OpenLoop {
            op,
            header: Some((header, counter)),
            carried,
            exit,
            stride,
            combiners,
            map,
        };
        let block = self
            .ir
            .body(op, 0)
            .ok_or_else(|| malformed("a loop has no body"))?;
        self.enter(block, FrameKind::Loop(open));
        Ok(())
    }

    /// The grid loop of a GPU: the block's number is the iteration.
    fn open_block_loop(&mut self, op: Op, count: Val<'a, 'ctx>) -> Result<(), CodegenError> {
        let k = self.special_register("ctaid.x");
        let (body, exit) = (self.block("body")?, self.block("exit")?);
        self.emit.builder.build_conditional_branch(
            k.ult(count).raw().into_int_value(),
            body,
            exit,
        )?;
        self.emit.builder.position_at_end(body);
        self.bind(op, k, Vec::new())?;
        let (carried, combiners) = (Vec::new(), Vec::new());
        let open = OpenLoop {
            op,
            header: None,
            carried,
            exit,
            stride: 0,
            combiners,
            map: Map::Grid,
        };
        let block = self
            .ir
            .body(op, 0)
            .ok_or_else(|| malformed("a loop has no body"))?;
        self.enter(block, FrameKind::Loop(open));
        Ok(())
    }

    /// Gives the body's arguments their values: `lower + k step`, and the carried ones.
    fn bind(
        &mut self,
        op: Op,
        k: Val<'a, 'ctx>,
        carried: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        let index = self.operand_value(op, 0)? + k * self.operand_value(op, 2)?;
        let block = self
            .ir
            .body(op, 0)
            .ok_or_else(|| malformed("a loop has no body"))?;
        let values = std::iter::once(index.raw()).chain(carried);
        self.values
            .extend(self.ir.args(block).iter().copied().zip(values));
        Ok(())
    }

    fn open_if(&mut self, op: Op) -> Result<(), CodegenError> {
        let condition = self.operand_value(op, 0)?.raw().into_int_value();
        let (then, other, merge) = (
            self.block("then")?,
            self.block("else")?,
            self.block("merge")?,
        );
        self.emit
            .builder
            .build_conditional_branch(condition, then, other)?;
        self.emit.builder.position_at_end(then);
        let block = self
            .ir
            .body(op, 0)
            .ok_or_else(|| malformed("a branch has no body"))?;
        self.enter(
            block,
            FrameKind::Then(OpenIf {
                op,
                other,
                merge,
                yielded: Vec::new(),
                from: None,
            }),
        );
        Ok(())
    }

    /// Ends the innermost region, which yields `values`.
    fn leave(&mut self, values: &[Value]) -> Result<(), CodegenError> {
        let raw: Result<Vec<BasicValueEnum<'ctx>>, CodegenError> = values
            .iter()
            .map(|&value| Ok(self.value(value)?.raw()))
            .collect();
        let raw = raw?;
        match self.frames.pop().map(|frame| frame.kind) {
            Some(FrameKind::Loop(open)) => self.close_loop(open, raw),
            Some(FrameKind::Then(open)) => self.close_then(open, raw),
            Some(FrameKind::Else(open)) => self.close_if(open, raw),
            Some(FrameKind::Function) => Ok(self.emit.builder.build_return(None).map(|_| ())?),
            None => Err(malformed("a terminator outside of everything")),
        }
    }

    fn close_loop(
        &mut self,
        open: OpenLoop<'ctx>,
        next: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        let emit = self.emit;
        let Some((header, counter)) = open.header else {
            emit.builder.build_unconditional_branch(open.exit)?;
            emit.builder.position_at_end(open.exit);
            return Ok(());
        };
        if next.len() != open.carried.len() {
            return Err(malformed("a loop yields another number of values"));
        }
        let advanced = emit.val(counter.as_basic_value()) + open.stride;
        let latch = self.here()?;
        emit.builder.build_unconditional_branch(header)?;
        counter.add_incoming(&[(&advanced.raw(), latch)]);
        for (phi, value) in open.carried.iter().zip(&next) {
            phi.add_incoming(&[(value, latch)]);
        }
        emit.builder.position_at_end(open.exit);
        self.in_threads -= u32::from(open.map == Map::Thread);
        self.loop_results(&open)
    }

    fn loop_results(&mut self, open: &OpenLoop<'ctx>) -> Result<(), CodegenError> {
        let results = self.ir.results(open.op).to_vec();
        for (index, (result, phi)) in results.into_iter().zip(&open.carried).enumerate() {
            let own = self.emit.val(phi.as_basic_value());
            let value = match open.combiners.get(index) {
                Some(&combiner) => {
                    let block = reduce::Block {
                        threads: self.threads,
                        thread: self.thread(),
                    };
                    reduce::threads(self.emit, own, combiner, self.shape(result)?.dtype, &block)?
                }
                None => own,
            };
            self.values.insert(result, value.raw());
        }
        Ok(())
    }

    fn close_then(
        &mut self,
        mut open: OpenIf<'ctx>,
        yielded: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        open.from = Some(self.here()?);
        open.yielded = yielded;
        self.emit.builder.build_unconditional_branch(open.merge)?;
        self.emit.builder.position_at_end(open.other);
        match self.ir.body(open.op, 1) {
            Some(block) => {
                self.enter(block, FrameKind::Else(open));
                Ok(())
            }
            None => self.close_if(open, Vec::new()),
        }
    }

    fn close_if(
        &mut self,
        open: OpenIf<'ctx>,
        yielded: Vec<BasicValueEnum<'ctx>>,
    ) -> Result<(), CodegenError> {
        let (emit, from) = (self.emit, self.here()?);
        emit.builder.build_unconditional_branch(open.merge)?;
        emit.builder.position_at_end(open.merge);
        let results = self.ir.results(open.op).to_vec();
        let first_from = open.from.ok_or_else(|| malformed("a branch did not end"))?;
        if results.len() != open.yielded.len() || results.len() != yielded.len() {
            return Err(malformed("a branch yields another number of values"));
        }
        for (result, (a, b)) in results.into_iter().zip(open.yielded.iter().zip(&yielded)) {
            let phi = emit.phi(a.get_type())?;
            phi.add_incoming(&[(a, first_from), (b, from)]);
            self.values.insert(result, phi.as_basic_value());
        }
        Ok(())
    }
}

/// What a counted loop remembers until its end.
struct OpenParts {
    stride: i64,
    combiners: Vec<Combiner>,
    map: Map,
}
