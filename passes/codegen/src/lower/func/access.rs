//! Memory of a kernel: loads, stores, and the placement of allocations.

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::{self, Rounds, literal};
use fuser_ir::AttrKind;
use fuser_ir::types::{Extent, MemSpace, TypeKind};
use fuser_ir::{DType, Def, Op, Value};
use inkwell::AddressSpace;
use inkwell::values::PointerValue;

use super::whole_lines::LINE;
use super::{Lowering, SCRATCH_ALIGN, malformed};
use crate::convert::{Format, convert};
use crate::cpu::x86::PART;
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::gpu::{GLOBAL_SPACE, SHARED_SPACE};
use crate::lower::reduce;
use crate::lower::types::{Shape, stored};
use crate::{memory, strided};

/// The maximum size of a `local` allocation on a CPU's stack, where the optimizer can turn it into registers; larger
/// ones lie in scratch memory.
const STACK_BYTES: u64 = 4096;

impl<'a, 'ctx> Lowering<'a, 'ctx> {
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
        let base = self.pointer(buffer)?;
        let address = match self.slot(buffer) {
            Some(slot) => {
                let slot = self.emit.constant_int(64, None, slot?);
                memory::element(self.emit, base, elem, slot)
            }
            None => self.moved(base, elem, self.operand(op, memory + 1)?)?,
        };
        let align = self
            .ir
            .int_of(op, "align")
            .filter(|_| !self.anywhere.contains(&buffer))
            .and_then(|align| u32::try_from(align).ok());
        let align = align
            .filter(|align| align.is_power_of_two())
            .unwrap_or(memory::element_bytes(elem));
        Ok((address, elem, align))
    }

    /// The position of the thread's element for this round, in a buffer that lies in the registers of a block; `None`
    /// for other memory.
    fn slot(&self, buffer: Value) -> Option<Result<i64, CodegenError>> {
        let loops = self.registers.get(&buffer)?;
        let slot = self.round.and_then(|round| {
            let own = loops
                .iter()
                .position(|own| own.spread_alike(&round.rounds))?;
            let before: i64 = loops[..own].iter().map(Rounds::elements).sum();
            Some(before + round.number * round.rounds.step)
        });
        Some(slot.ok_or_else(|| malformed("registers are touched outside of their loops")))
    }

    /// Emits a load only for threads that run the current iteration. Memory that nobody writes is loaded by all
    /// threads.
    fn guarded_load(
        &self,
        buffer: Value,
        zero: impl FnOnce() -> Val<'a, 'ctx>,
        load: impl FnOnce() -> Val<'a, 'ctx>,
    ) -> Val<'a, 'ctx> {
        let free = self.constant.contains(&buffer) || self.is_own(buffer);
        match self.runs_here().filter(|_| !free) {
            Some(runs) => self.emit.either(runs, load, zero),
            None => load(),
        }
    }

    /// True for memory that no other thread sees.
    fn is_own(&self, memory: Value) -> bool {
        let TypeKind::MemRef { space, .. } = self.ir.value_kind(memory) else {
            return false;
        };
        matches!(space, MemSpace::Local | MemSpace::Register)
    }

    pub(in crate::lower) fn load(
        &self,
        op: Op,
        result: Shape,
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        let ahead = self
            .round
            .and_then(|round| self.ahead.get(&(op, round.number)));
        if let Some(&loaded) = ahead {
            return Ok(self.emit.val(loaded));
        }
        let (address, elem, align) = self.address(op, 0)?;
        let buffer = self.operand(op, 0)?;
        let zero = || {
            self.emit
                .val(self.emit.shaped_type(elem, result.lanes).const_zero())
        };
        let loaded = self.guarded_load(buffer, zero, || {
            if self.is_widened(op, result) {
                return memory::load_in_parts(self.emit, address, elem, align);
            }
            if let Some((count, stride)) = result.lanes.zip(self.stride(op)) {
                let lanes = strided::Lanes { count, stride };
                return strided::load(self.emit, address, elem, lanes, align);
            }
            let loaded = memory::load(self.emit, address, elem, result.lanes, align);
            self.ask_ahead(op, address, loaded);
            if self.emit.has_threads() && self.constant.contains(&buffer) {
                memory::invariant(self.emit, loaded);
            }
            loaded
        });
        // Any byte but zero is true.
        Ok(if result.dtype == DType::I1 {
            loaded.ne(0)
        } else {
            loaded
        })
    }

    /// The distance between the lanes of an access in elements; `None` for contiguous lanes.
    fn stride(&self, op: Op) -> Option<u32> {
        let stride = self.ir.int_of(op, "stride");
        let stride = stride.and_then(|stride| u32::try_from(stride).ok());
        stride.filter(|&stride| stride > 1)
    }

    /// A hint to CPUs; a GPU's loads overlap anyway.
    pub(super) fn prefetch(&self, op: Op) -> Result<(), CodegenError> {
        if !self.emit.has_threads() {
            let (address, _, _) = self.address(op, 0)?;
            memory::prefetch(self.emit, address);
        }
        Ok(())
    }

    /// True if a bf16 load is better split into parts, because its result is used in f32.
    fn is_widened(&self, op: Op, result: Shape) -> bool {
        let next = self.stride(op).is_none();
        let whole = next && result.dtype == DType::BF16 && result.lanes == Some(2 * PART);
        let stored = |user: Op| self.ir.is(user, &kernel::STORE);
        let value = self.ir.results(op).first();
        self.emit.has_avx2()
            && whole
            && value.is_some_and(|&v| self.ir.users(v).any(|u| !stored(u)))
    }

    /// The number of lanes up to the end of scratch memory, for a tail vector that may be loaded and stored unmasked.
    /// An allocation occupies whole lines, and nobody reads the bytes after its end. Loops keep such a vector in a
    /// register and need not wait for the mask of an earlier store. `None` for other memory, or if the end is unknown.
    fn lanes_to_the_end(&self, op: Op, memory: usize, lanes: u32, some: Value) -> Option<u32> {
        let ir = self.ir;
        let buffer = ir.operand(op, memory);
        let allocated = ir
            .def_op(buffer)
            .filter(|&by| ir.is(by, &kernel::ALLOC) && !self.emit.has_threads())?;
        let TypeKind::MemRef { dims, dtype, space } = ir.value_kind(ir.result(allocated, 0)) else {
            return None;
        };
        let &[Extent::Static(size)] = dims.as_slice() else {
            return None;
        };
        let size = i64::try_from(size).ok()?;
        let at = self.only_value(ir.operand(op, memory + 1))?;
        let whole = *space == MemSpace::Tile && at % i64::from(lanes) == 0;
        if !whole || at + literal(ir, some)? != size {
            return None;
        }
        let line = SCRATCH_ALIGN / i64::try_from(dtype.bytes()).ok()?.max(1);
        let end = (size + line - 1) / line * line;
        u32::try_from(end - at).ok().map(|there| there.min(lanes))
    }

    /// A number, or the index of a loop that runs once.
    fn only_value(&self, value: Value) -> Option<i64> {
        let ir = self.ir;
        let Def::Arg(block, 0) = ir.value_def(value) else {
            return literal(ir, value);
        };
        let around = ir
            .block_parent_op(block)
            .filter(|&op| ir.is(op, &kernel::FOR))?;
        let [from, to, step] = [0, 1, 2].map(|bound| literal(ir, ir.operand(around, bound)));
        from.filter(|from| Some(true) == to.zip(step).map(|(to, step)| to - from <= step))
    }

    /// The fill if no lane is active. With masked loads, one load; otherwise the whole vector if all lanes are active,
    /// and single lanes at the ends of the range.
    pub(in crate::lower) fn load_within(
        &self,
        op: Op,
        result: Shape,
    ) -> Result<Val<'a, 'ctx>, CodegenError> {
        let emit = self.emit;
        let fill = self.operand_value(op, 2)?;
        let (first, end) = (self.operand_value(op, 3)?, self.operand_value(op, 4)?);
        let (address, elem, align) = self.address(op, 0)?;
        let runs = self.runs_here();
        let mine = |inside: Val<'a, 'ctx>| match runs {
            Some(runs) => inside.and(runs),
            None => inside,
        };
        let read = |address, lanes| {
            let loaded = memory::load(emit, address, elem, lanes, align);
            if result.dtype == DType::I1 {
                loaded.ne(0)
            } else {
                loaded
            }
        };
        let Some(lanes) = result.lanes else {
            let inside = mine(first.le(0).and(end.gt(0)));
            return Ok(emit.unless_rare(inside, fill, || read(address, None)));
        };
        let count = i64::from(lanes);
        let some = mine(first.lt(end).and(first.lt(count)).and(end.gt(0)));
        let end_here = (literal(self.ir, self.ir.operand(op, 3)) == Some(0))
            .then(|| self.lanes_to_the_end(op, 0, lanes, self.ir.operand(op, 4)))
            .flatten();
        if let Some(there) = end_here.filter(|_| result.dtype != DType::I1) {
            let loaded = memory::load(emit, address, elem, Some(there), align);
            return Ok(match there == lanes {
                true => loaded,
                false => loaded.shuffle((0..lanes).map(|lane| lane.min(there - 1)).collect()),
            });
        }
        if memory::has_masked_loads(emit, elem) {
            let [from, to] = [3, 4].map(|n| literal(self.ir, self.ir.operand(op, n)));
            let masked = || {
                let inside = memory::first_lanes(emit, lanes, end);
                let inside = match from {
                    Some(0) => inside,
                    _ => inside.and(memory::first_lanes(emit, lanes, first).flip()),
                };
                if result.dtype != DType::I1 {
                    return memory::load_some(emit, address, fill, inside);
                }
                let fill = convert(fill, Format::unsigned(1), Format::unsigned(8));
                memory::load_some(emit, address, fill, inside).ne(0)
            };
            // A load of no lane, far outside of the buffer, takes a processor long.
            return Ok(match (from, to) {
                (Some(0), Some(1..)) => masked(),
                _ => emit.unless_rare(some, fill, masked),
            });
        }
        Ok(emit.unless_rare(some, fill, || {
            let all = first.le(0).and(end.ge(count));
            let one_by_one = || {
                (0..lanes).fold(fill, |vector, lane| {
                    let number = i64::from(lane);
                    let inside = first.le(number).and(end.gt(number));
                    emit.unless_rare(inside, vector, || {
                        let offset = emit.constant_int(64, None, number);
                        let element = memory::element(emit, address, elem, offset);
                        vector.with_lane(lane, read(element, None))
                    })
                })
            };
            emit.either(all, || read(address, result.lanes), one_by_one)
        }))
    }

    pub(in crate::lower) fn store(&mut self, op: Op) -> Result<(), CodegenError> {
        let dealt = self.holds_dealt(self.operand(op, 1)?);
        let value = self.value_as(self.operand(op, 0)?, dealt)?;
        let dtype = self.shape(self.operand(op, 0)?)?.dtype;
        let (address, _, align) = self.address(op, 1)?;
        let (emit, memory) = (self.emit, self.operand(op, 1)?);
        let value = if dtype == DType::I1 {
            convert(value, Format::unsigned(1), Format::unsigned(8))
        } else {
            value
        };
        if let Some(some) = kernel::some_lanes(self.ir, op) {
            let lanes = value.lanes().unwrap_or(1);
            let there = self.lanes_to_the_end(op, 1, lanes, some);
            if let Some(there) = there.filter(|_| dtype != DType::I1 && !dealt) {
                let whole = if there == lanes {
                    value
                } else {
                    value.slice(0, there)
                };
                memory::store(emit, whole, address, align);
                return Ok(());
            }
            return self.store_some(value, address, self.value(some)?, (memory, align));
        }
        if self.streams(op, value) {
            memory::stream(emit, value, address, LINE);
            return Ok(());
        }
        let bytes = value.lanes().unwrap_or(1) * memory::element_bytes(value.elem());
        let bytes = emit.constant_int(64, None, i64::from(bytes));
        let address = self.in_its_line(memory, bytes, address)?;
        let stride = self
            .stride(op)
            .filter(|_| value.lanes().is_some_and(|n| n > 1));
        let write = || match stride {
            Some(stride) => strided::store(emit, value, address, stride, align),
            None => memory::store(emit, value, address, align),
        };
        match self.writer().filter(|_| !self.is_own(memory)) {
            Some(writes) => reduce::when(emit, writes, write),
            None => {
                write();
                Ok(())
            }
        }
    }

    /// Stores the first `count` lanes of a vector: by one masked store if available, else lane by lane.
    fn store_some(
        &self,
        value: Val<'a, 'ctx>,
        address: PointerValue<'ctx>,
        some: Val<'a, 'ctx>,
        (memory, align): (Value, u32),
    ) -> Result<(), CodegenError> {
        let (emit, lanes) = (self.emit, value.lanes().unwrap_or(1));
        let writer = self.writer().filter(|_| !self.is_own(memory));
        let mine = |writes: Val<'a, 'ctx>| writer.map_or(writes, |writer| writes.and(writer));
        let elem = value.elem();
        if !memory::has_masks(emit, elem) {
            for lane in 0..lanes {
                let number = i64::from(lane);
                reduce::when(emit, mine(some.gt(number)), || {
                    let offset = emit.constant_int(64, None, number);
                    let to = memory::element(emit, address, elem, offset);
                    memory::store(emit, value.lane(lane), to, align);
                })?;
            }
            return Ok(());
        }
        if !self.shares_lines(memory) && writer.is_none() {
            memory::store_some(emit, value, address, some);
            return Ok(());
        }
        let bytes = some.smin(i64::from(lanes)) * i64::from(memory::element_bytes(elem));
        let mut done = Ok(());
        reduce::when(emit, mine(some.gt(0)), || {
            let to = self.in_its_line(memory, bytes, address);
            done = to.map(|to| memory::store_some(emit, value, to, some));
        })?;
        done
    }

    /// The predicate of the threads that store shared values: the first thread outside of thread loops, where all
    /// threads compute alike, and the threads that run the current iteration; `None` if all threads store.
    fn writer(&self) -> Option<Val<'a, 'ctx>> {
        let alike = self.emit.has_threads() && self.threads > 1 && self.in_threads == 0;
        let first = alike.then(|| self.member().eq(0));
        match (first, self.runs_here()) {
            (Some(first), Some(runs)) => Some(first.and(runs)),
            (first, runs) => first.or(runs),
        }
    }

    /// This thread's number among those that share an iteration of the grid loop.
    pub(in crate::lower) fn thread(&self) -> Val<'a, 'ctx> {
        let own = self.emit.thread_number();
        match self.cluster {
            1 => own,
            cluster => self.rank() * i64::from(self.threads / cluster) + own,
        }
    }

    /// The number of this block in its cluster; the blocks of a cluster are adjacent along the first grid axis.
    fn rank(&self) -> Val<'a, 'ctx> {
        let block = self.emit.block_number();
        block.and(i64::from(self.cluster - 1))
    }

    /// The threads that combine their values, from the point of view of one of them.
    pub(in crate::lower) fn combining(&self) -> reduce::Block<'a, 'ctx> {
        match self.cluster {
            1 => reduce::Block {
                threads: self.sharers(),
                thread: self.member(),
                cluster: 1,
                rank: self.emit.constant_int(64, None, 0),
            },
            cluster => reduce::Block {
                threads: self.threads / cluster,
                thread: self.emit.thread_number(),
                cluster,
                rank: self.rank(),
            },
        }
    }

    /// Allocates scratch memory in program order, each allocation aligned to [`SCRATCH_ALIGN`].
    pub(in crate::lower) fn allocate(&mut self, op: Op) -> Result<(), CodegenError> {
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
        let mut fixed = fixed;
        if *space == MemSpace::Register {
            let loops = rounds::owners(self.ir, result, i64::from(self.threads));
            let loops = loops.ok_or_else(|| malformed("registers without owners"))?;
            let elements: i64 = loops.iter().map(Rounds::elements).sum();
            fixed = u64::try_from(elements).ok();
            self.registers.insert(result, loops);
        }
        let bytes = fixed.and_then(|count| count.checked_mul(dtype.bytes()));
        let on_stack = matches!(space, MemSpace::Local | MemSpace::Register)
            && (self.emit.has_threads() || bytes.is_some_and(|b| b <= STACK_BYTES));
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

    /// A constant's bytes as read-only data of the module.
    pub(in crate::lower) fn table(&mut self, op: Op) -> Result<(), CodegenError> {
        let result = *self
            .ir
            .results(op)
            .first()
            .ok_or_else(|| malformed("a result is missing"))?;
        let source = self.ir.def_op(self.operand(op, 0)?);
        let value = source.and_then(|source| self.ir.attr_of(source, "value"));
        let Some(AttrKind::Dense { splat, bytes, .. }) = value else {
            return Err(malformed("a table holds no elements"));
        };
        let TypeKind::MemRef { dims, .. } = self.ir.value_kind(result) else {
            return Err(malformed("a table is no memref"));
        };
        let count = match (splat, dims.first()) {
            (true, Some(Extent::Static(count))) => usize::try_from(*count).unwrap_or(0),
            _ => 1,
        };
        let space = self
            .emit
            .has_threads()
            .then(|| AddressSpace::from(GLOBAL_SPACE));
        let pointer = memory::read_only(self.emit, &bytes.repeat(count), space);
        self.values.insert(result, pointer.into());
        Ok(())
    }

    /// Reserves stack space at the start of the entry block, the only place where the optimizer turns it into
    /// registers.
    fn stack(&self, elem: Elem, count: u64) -> Result<PointerValue<'ctx>, CodegenError> {
        let count = u32::try_from(count)
            .map_err(|_| malformed("a local allocation beyond 4 Gi elements"))?;
        let (builder, here) = (&self.emit.builder, self.here()?);
        let entry = self.function.get_first_basic_block().unwrap_or(here);
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        let slot = builder.build_alloca(memory::array_type(self.emit, elem, count), "")?;
        if let Some(instruction) = slot.as_instruction() {
            let align = SCRATCH_ALIGN as u32;
            instruction
                .set_alignment(align)
                .map_err(CodegenError::internal)?;
        }
        builder.position_at_end(here);
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
            let global =
                self.emit
                    .module
                    .add_global(ty, Some(AddressSpace::from(SHARED_SPACE)), NAME);
            global.set_alignment(SCRATCH_ALIGN as u32);
            global
        });
        global.as_pointer_value()
    }
}
