//! Reductions: across the lanes of a vector, and across the threads of a block; scans of the lanes of a vector.
//!
//! The order of all is fixed. Lanes are combined as a balanced tree, as `kernel.reduce` defines, or one after the other, as `kernel.scan`
//! does. Threads combine within a warp by butterfly exchange, where every lane ends with the same bits, then over the warps in order, read
//! from shared memory.

use fuser_artifact::limits::BUFFER_ALIGN;
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::targets::TargetMachine;
use inkwell::values::PointerValue;

use super::arith::Combiner;
use super::types::register;
use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::memory;
use fuser_ir::DType;

/// Threads that run in lockstep.
pub const WARP: u32 = 32;
/// Alignment of partial results.
const ALIGN: u64 = 16;

/// NVPTX's shared memory.
pub const SHARED_SPACE: u16 = 3;

/// Halves are combined lane by lane until one is left; of an odd count the middle lane joins the lower half unchanged.
pub fn lanes<'e, 'ctx>(vector: Val<'e, 'ctx>, combiner: Combiner, dtype: DType) -> Val<'e, 'ctx> {
    let mut left = vector;
    while let Some(count @ 2..) = left.lanes() {
        let kept = count.div_ceil(2);
        let (low, high) = (left.slice(0, count - kept), left.slice(kept, count - kept));
        let reduced = combiner.apply(low, high, dtype);
        left = if count % 2 == 0 {
            reduced
        } else {
            reduced.append(left.lane(kept - 1))
        };
    }
    left.lane(0)
}

/// Lanes are combined one after the other, from `before` on; each keeps what it gave.
pub fn steps<'e, 'ctx>(
    vector: Val<'e, 'ctx>,
    before: Val<'e, 'ctx>,
    combiner: Combiner,
    dtype: DType,
) -> Val<'e, 'ctx> {
    let (mut steps, mut last) = (vector, before);
    for lane in 0..vector.lanes().unwrap_or(1) {
        last = combiner.apply(last, vector.lane(lane), dtype);
        steps = steps.with_lane(lane, last);
    }
    steps
}

/// Combines one value per thread over the block; every thread gets the result. All threads of all warps must arrive.
pub fn threads<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    value: Val<'e, 'ctx>,
    combiner: Combiner,
    dtype: DType,
    block: &Block<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let mut result = value;
    for lane in 0..value.lanes().unwrap_or(1) {
        let mut partial = value.lane(lane);
        for distance in [16, 8, 4, 2, 1] {
            let other = exchange(emit, partial, distance);
            partial = combiner.apply(partial, other, dtype);
        }
        result = result.with_lane(lane, partial);
    }
    if block.threads <= WARP {
        return Ok(result);
    }
    across_warps(emit, result, combiner, dtype, block)
}

/// The block as a reduction over warps sees it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'e, 'ctx> {
    /// Threads of a block, a multiple of [`WARP`].
    pub threads: u32,
    /// This thread's number, `i64`.
    pub thread: Val<'e, 'ctx>,
}

/// The value of the thread whose number differs in one bit.
fn exchange<'e, 'ctx>(emit: &'e Emit<'ctx>, value: Val<'e, 'ctx>, distance: i64) -> Val<'e, 'ctx> {
    let shuffle = |word: Val<'e, 'ctx>| {
        let constant = |v: i64| emit.constant_int(32, None, v);
        let args = [constant(-1), word, constant(distance), constant(31)];
        emit.intrinsic("llvm.nvvm.shfl.sync.bfly.i32", &[], &args)
            .map_or(word, |raw| emit.val(raw))
    };
    let (elem, bits) = (value.elem(), value.to_bits());
    if elem.bits() <= 32 {
        return shuffle(bits.zext_or_trunc(32))
            .zext_or_trunc(elem.bits())
            .bits_as(elem);
    }
    let (low, high) = (bits.zext_or_trunc(32), bits.lshr(32).zext_or_trunc(32));
    let (low, high) = (
        shuffle(low).zext_or_trunc(64),
        shuffle(high).zext_or_trunc(64),
    );
    high.shift_left(32).or(low).bits_as(elem)
}

/// Each warp's first thread writes its partial result; after a barrier every thread combines them in order.
fn across_warps<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    value: Val<'e, 'ctx>,
    combiner: Combiner,
    dtype: DType,
    block: &Block<'e, 'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let elem = register(dtype);
    let (warps, lanes) = (block.threads / WARP, value.lanes().unwrap_or(1));
    let room = partials(emit, elem, warps * lanes);
    let bytes = memory::element_bytes(elem);
    let (warp, in_warp) = (block.thread.lshr(5), block.thread.and(31));
    when(emit, in_warp.eq(0), || {
        for lane in 0..lanes {
            let slot = memory::element(emit, room, elem, warp * i64::from(lanes) + i64::from(lane));
            memory::store(emit, value.lane(lane), slot, bytes);
        }
    })?;
    barrier(emit);
    let mut result = value;
    for lane in 0..lanes {
        let read = |warp: u32| {
            let at = emit.constant_int(64, None, i64::from(warp * lanes + lane));
            memory::load(
                emit,
                memory::element(emit, room, elem, at),
                elem,
                None,
                bytes,
            )
        };
        let reduced = (1..warps).fold(read(0), |sum, warp| combiner.apply(sum, read(warp), dtype));
        result = result.with_lane(lane, reduced);
    }
    // Nobody writes the next reduction's partial results before all have read these.
    barrier(emit);
    Ok(result)
}

/// Shared memory for one reduction's partial results; one array per element type and size serves all reductions.
fn partials<'ctx>(emit: &Emit<'ctx>, elem: Elem, count: u32) -> PointerValue<'ctx> {
    let name = format!("fuser.partials.{elem:?}.{count}")
        .to_lowercase()
        .replace(['(', ')'], "");
    if let Some(global) = emit.module.get_global(&name) {
        return global.as_pointer_value();
    }
    let ty = memory::array_type(emit, elem, count);
    let global = emit
        .module
        .add_global(ty, Some(AddressSpace::from(SHARED_SPACE)), &name);
    global.set_linkage(Linkage::Internal);
    global.set_initializer(&ty.get_poison());
    global.set_alignment(ALIGN as u32);
    global.as_pointer_value()
}

/// Shared memory of a block that the module itself has, up to where what a launch gives begins: partial results, each array at a multiple of its alignment.
pub fn shared_bytes(emit: &Emit<'_>, machine: &TargetMachine) -> u64 {
    let data = machine.get_target_data();
    let globals = std::iter::successors(emit.module.get_first_global(), |g| g.get_next_global());
    // The shared memory of the launch has no initializer.
    let own = globals.filter(|g| {
        let space = g.as_pointer_value().get_type().get_address_space();
        space == AddressSpace::from(SHARED_SPACE) && g.get_initializer().is_some()
    });
    let bytes = own.map(|g| {
        data.get_abi_size(&g.get_value_type())
            .next_multiple_of(ALIGN)
    });
    // The shared memory of the launch begins behind it, at a multiple of this.
    bytes.sum::<u64>().next_multiple_of(BUFFER_ALIGN as u64)
}

/// Waits for all threads of the block.
pub fn barrier(emit: &Emit<'_>) {
    emit.intrinsic(
        "llvm.nvvm.barrier.cta.sync.aligned.all",
        &[],
        &[emit.constant_int(32, None, 0)],
    );
}

/// Runs `body` where an `i1` holds.
pub fn when<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    condition: Val<'e, 'ctx>,
    body: impl FnOnce(),
) -> Result<(), CodegenError> {
    let missing = || CodegenError::Internal("no function to branch in".into());
    let (yes, after) = (
        emit.block("when").ok_or_else(missing)?,
        emit.block("after").ok_or_else(missing)?,
    );
    emit.builder
        .build_conditional_branch(condition.raw().into_int_value(), yes, after)?;
    emit.builder.position_at_end(yes);
    body();
    emit.builder.build_unconditional_branch(after)?;
    emit.builder.position_at_end(after);
    Ok(())
}
