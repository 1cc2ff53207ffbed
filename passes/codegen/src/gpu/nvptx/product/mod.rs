//! Products of matrices in PTX: one kernel for each product, specialized to the lengths, layouts and tiles of
//! [`Product`].
//!
//! ```text
//! parts of both factors for step 0: global memory to registers
//! for each step:
//!     registers to shared memory, in the one or the other of two places
//!     barrier
//!     parts for the next step: global memory to registers, which wait for nothing
//!     the tile += a product of what lies in shared memory
//! the tile: registers to global memory
//! ```
//!
//! One barrier for each step is enough. A thread that writes to a buffer has passed the barrier of the previous step,
//! by which time all threads have read the buffer's contents of the step before.
//!
//! Reading order: `grid` (the tile of a block), `stage` (global to shared memory), `tensor` and `fused` (the
//! arithmetic, on tensor cores and as fused multiply-adds), `result` (the stores), `control` (loops).
//!
//! Guarantees: terms are added in a fixed order, so the bits of a result depend only on the factors and the tile. Lines
//! after the end of a factor repeat its last line and are never stored; terms after the end are 0 in both factors. No
//! load leaves its buffer.

mod control;
mod fused;
mod grid;
mod result;
mod stage;
mod tensor;

use fuser_dialects::kernel::product::{LARGE, Product, Size, WIDEST};
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{FunctionValue, PointerValue};

use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::gpu::{GLOBAL_SPACE, Gpu, SHARED_SPACE};
use crate::lower::{Options, flag, sized};
use crate::memory;
use stage::Stage;

/// Places in shared memory that steps use in turn.
const PLACES: i64 = 2;

/// Bytes of shared memory that a block has.
pub fn shared_bytes(product: &Product) -> u32 {
    PLACES as u32 * place_bytes(product)
}

/// Bytes of what a step has in shared memory.
fn place_bytes(product: &Product) -> u32 {
    (0..2).map(|which| stage::bytes(product, which)).sum()
}

/// A kernel that is being made.
struct Kernel<'a, 'ctx> {
    emit: &'a Emit<'ctx>,
    product: &'a Product,
    function: FunctionValue<'ctx>,
    /// The thread's number in its block.
    thread: Val<'a, 'ctx>,
    /// The first byte of shared memory.
    shared: PointerValue<'ctx>,
    /// True if tensors begin at multiples of their elements' size, and no more.
    any_address: bool,
}

/// The tile of a block.
#[derive(Clone, Copy)]
struct Block<'a, 'ctx> {
    /// The first row and column.
    first: [Val<'a, 'ctx>; 2],
    /// The elements before the matrix in each tensor.
    before: [Val<'a, 'ctx>; 3],
}

/// Builds the kernel of a product under the name `symbol`.
pub fn build(
    emit: &Emit<'_>,
    product: &Product,
    symbol: &str,
    options: Options,
) -> Result<(), CodegenError> {
    let on_a_cpu = || CodegenError::Internal("a product on a CPU is a call".into());
    let function = signature(
        emit,
        emit.gpu.ok_or_else(on_a_cpu)?,
        product,
        symbol,
        options,
    );
    let entry = emit.context.append_basic_block(function, "entry");
    emit.builder.position_at_end(entry);
    let ty = memory::array_type(emit, Elem::Int(8), shared_bytes(product));
    let shared = emit
        .module
        .add_global(ty, Some(AddressSpace::from(SHARED_SPACE)), "fuser.tiles");
    shared.set_linkage(Linkage::Internal);
    shared.set_initializer(&ty.get_poison());
    shared.set_alignment(WIDEST);
    let kernel = Kernel {
        emit,
        product,
        function,
        thread: emit.thread_number(),
        shared: shared.as_pointer_value(),
        any_address: options.any_address,
    };
    kernel.blocks(|block| kernel.tile(block))?;
    emit.builder.build_return(None)?;
    emit.finish()
}

fn signature<'ctx>(
    emit: &Emit<'ctx>,
    gpu: &dyn Gpu,
    product: &Product,
    symbol: &str,
    options: Options,
) -> FunctionValue<'ctx> {
    let context = emit.context;
    let pointer: BasicMetadataTypeEnum<'ctx> =
        context.ptr_type(AddressSpace::from(GLOBAL_SPACE)).into();
    let result = product.buffers[2];
    let mut params = vec![pointer; result + 1];
    let number: BasicMetadataTypeEnum<'ctx> = emit.scalar_type(Elem::Int(64)).into();
    params.extend(std::iter::repeat_n(number, product.parameters));
    let ty = context.void_type().fn_type(&params, false);
    let function = emit.module.add_function(symbol, ty, None);
    function.set_call_conventions(gpu.convention());
    function.add_attribute(AttributeLoc::Function, flag(emit, "nounwind"));
    for index in 0..=result {
        let place = AttributeLoc::Param(index as u32);
        if !options.any_address {
            let align = fuser_artifact::limits::BUFFER_ALIGN as u64;
            function.add_attribute(place, sized(emit, "align", align));
        }
        if options.noalias {
            function.add_attribute(place, flag(emit, "noalias"));
        }
        if index != result {
            function.add_attribute(place, flag(emit, "readonly"));
        }
    }
    gpu.launch_bounds(emit, function, product.tile.threads(), 1);
    // Left to itself the assembler makes room for one more block, and spills.
    if product.tile.threads() == LARGE {
        gpu.resident_blocks(emit, function, if product.is_whole() { 2 } else { 1 });
    }
    function
}

impl<'a, 'ctx> Kernel<'a, 'ctx> {
    /// The known alignment in bytes of `elements` elements of `bytes` bytes each, at an index that is a multiple of
    /// `elements`.
    fn align(&self, bytes: u32, elements: u32) -> u32 {
        match self.any_address {
            true => bytes,
            false => bytes * elements,
        }
    }
    /// A size as a value.
    fn size(&self, size: Size) -> Val<'a, 'ctx> {
        match size {
            Size::Constant(value) => self.number(value),
            Size::Parameter { number, .. } => {
                let at = self.product.buffers[2] + 1 + number;
                let param = self.function.get_nth_param(at as u32);
                param.map_or(self.number(0), |raw| self.emit.val(raw))
            }
        }
    }
    fn number(&self, value: i64) -> Val<'a, 'ctx> {
        self.emit.constant_int(64, None, value)
    }
    /// The buffer of a tensor.
    fn buffer(&self, which: usize) -> Result<PointerValue<'ctx>, CodegenError> {
        self.parameter(self.product.buffers[which])
    }
    /// The buffer of a number.
    fn parameter(&self, buffer: usize) -> Result<PointerValue<'ctx>, CodegenError> {
        let param = self.function.get_nth_param(buffer as u32);
        let missing = || CodegenError::Internal("a product lacks a buffer".into());
        Ok(param.ok_or_else(missing)?.into_pointer_value())
    }
    /// An address of shared memory.
    fn in_shared(&self, bytes: Val<'a, 'ctx>) -> PointerValue<'ctx> {
        memory::element(self.emit, self.shared, Elem::Int(8), bytes)
    }

    /// Computes a tile and stores it.
    fn tile(&self, block: Block<'a, 'ctx>) -> Result<(), CodegenError> {
        let stages = [self.stage(0, &block)?, self.stage(1, &block)?];
        let terms = self.size(self.product.terms.extent);
        let of = i64::from(self.product.tile.terms);
        let steps = (terms + (of - 1)).udiv(of);
        let first = self.fetch(&stages, self.number(0), steps)?;
        let sums = match self.product.tile.tensor_cores {
            true => self.tensor_sums(),
            false => self.fused_sums(),
        };
        let known = first.len();
        let carried = [first, sums].concat();
        let done = control::repeat(self.emit, steps, carried, |step, carried| {
            let (fetched, sums) = carried.split_at(known);
            let place = step.and(PLACES - 1) * i64::from(place_bytes(self.product));
            let mut rest = fetched;
            for stage in &stages {
                let (own, others) = rest.split_at(stage.units.len());
                self.keep(stage, own, place);
                rest = others;
            }
            crate::lower::reduce::barrier(self.emit);
            let next = self.fetch(&stages, step + 1, steps)?;
            let sums = match self.product.tile.tensor_cores {
                true => self.tensor_step(&stages, place, sums)?,
                false => self.fused_step(&stages, place, sums),
            };
            Ok([next, sums].concat())
        })?;
        let sums = &done[known..];
        match self.product.tile.tensor_cores {
            true => self.store_tensor(&block, sums),
            false => self.store_fused(&block, sums),
        }
    }

    /// Loads the parts of both factors for a step, if the step exists. In a last, incomplete step, the terms after the
    /// end are 0.
    fn fetch(
        &self,
        stages: &[Stage<'a, 'ctx>; 2],
        step: Val<'a, 'ctx>,
        steps: Val<'a, 'ctx>,
    ) -> Result<Vec<Val<'a, 'ctx>>, CodegenError> {
        let all = |whole: bool| {
            let loads = stages.iter().flat_map(|s| self.load(s, step, whole));
            Ok(loads.collect::<Vec<_>>())
        };
        let none = || {
            let units = stages
                .iter()
                .flat_map(|s| vec![self.nothing(s); s.units.len()]);
            Ok(units.collect::<Vec<_>>())
        };
        let of = i64::from(self.product.tile.terms);
        let extent = self.product.terms.extent;
        if extent.is_multiple_of(of) {
            return control::choose(self.emit, step.lt(steps), || all(true), none);
        }
        let last = || control::choose(self.emit, step.lt(steps), || all(false), none);
        let whole = self.size(extent).udiv(of);
        control::choose(self.emit, step.lt(whole), || all(true), last)
    }
}
