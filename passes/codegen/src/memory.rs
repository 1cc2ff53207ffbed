//! Addresses, loads and stores.
//!
//! Address arithmetic is the one thing that inkwell calls unsafe, since a wrong element type crashes LLVM; it is confined
//! to [`address`], whose type is a scalar's.

use inkwell::AddressSpace;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Linkage;
use inkwell::types::BasicType;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue};

use crate::cpu::x86::PART;
use crate::expr::{Elem, Emit, Val};

/// The address of element `index` (signed, in elements of `elem`) from `base`.
pub fn element<'ctx>(
    emit: &Emit<'ctx>,
    base: PointerValue<'ctx>,
    elem: Elem,
    index: Val<'_, 'ctx>,
) -> PointerValue<'ctx> {
    let BasicValueEnum::IntValue(offset) = index.raw() else {
        return base;
    };
    let result = address(&emit.builder, emit.scalar_type(elem), base, offset);
    result.unwrap_or_else(|error| {
        emit.fail(error);
        base
    })
}

/// The address that lies `offset` elements of a scalar type behind `base`.
#[allow(unsafe_code)]
pub fn address<'ctx>(
    builder: &Builder<'ctx>,
    scalar: impl BasicType<'ctx>,
    base: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>, BuilderError> {
    // SAFETY: a sized scalar type of the builder's context, a pointer and one integer are all that LLVM asks of the call. The result is only an
    // address; what may be read there is the caller's to know.
    unsafe { builder.build_gep(scalar, base, &[offset], "") }
}

/// Loads one element, or `lanes` consecutive ones, from an address that `align` divides.
pub fn load<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    address: PointerValue<'ctx>,
    elem: Elem,
    lanes: Option<u32>,
    align: u32,
) -> Val<'e, 'ctx> {
    let ty = emit.shaped_type(elem, lanes);
    match emit.builder.build_load(ty, address, "") {
        Ok(value) => {
            align_to(emit, value.as_instruction_value(), align);
            emit.val(value)
        }
        Err(error) => {
            emit.fail(error);
            emit.val(ty.const_zero())
        }
    }
}

/// Says of a load that the memory never changes while the kernel runs.
pub fn invariant(emit: &Emit<'_>, loaded: Val<'_, '_>) {
    let Some(instruction) = loaded.raw().as_instruction_value() else {
        return;
    };
    let node = emit.context.metadata_node(&[]);
    let kind = emit.context.get_kind_id("invariant.load");
    if let Err(error) = instruction.set_metadata(node, kind) {
        emit.fail(crate::error::CodegenError::internal(error));
    }
}

/// As [`load`] of `2 * PART` elements, but in two loads, so that operations on one part can use its load directly.
pub fn load_in_parts<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    address: PointerValue<'ctx>,
    elem: Elem,
    align: u32,
) -> Val<'e, 'ctx> {
    let bytes = element_bytes(elem);
    let from = emit.constant_int(64, None, i64::from(PART));
    let low = load(emit, address, elem, Some(PART), align);
    let next = element(emit, address, elem, from);
    let high = load(emit, next, elem, Some(PART), align.min(PART * bytes));
    low.concat(high)
}

/// Prefetches the cache line at an address, which may be invalid.
pub fn prefetch<'ctx>(emit: &Emit<'ctx>, address: PointerValue<'ctx>) {
    const READ: i64 = 0;
    const ALL_CACHES: i64 = 3;
    const DATA: i64 = 1;
    let flags = [READ, ALL_CACHES, DATA].map(|flag| emit.constant_int(32, None, flag));
    let [read, caches, data] = flags;
    let args = [emit.val(address), read, caches, data];
    emit.intrinsic("llvm.prefetch", &[address.get_type().into()], &args);
}

/// Stores a scalar or a vector to an address that `align` divides.
pub fn store<'ctx>(
    emit: &Emit<'ctx>,
    value: Val<'_, 'ctx>,
    address: PointerValue<'ctx>,
    align: u32,
) {
    store_instruction(emit, value, address, align);
}

/// As [`store`], past the caches.
pub fn stream<'ctx>(
    emit: &Emit<'ctx>,
    value: Val<'_, 'ctx>,
    address: PointerValue<'ctx>,
    align: u32,
) {
    let Some(instruction) = store_instruction(emit, value, address, align) else {
        return;
    };
    let one = emit.context.i32_type().const_int(1, false);
    let node = emit.context.metadata_node(&[one.into()]);
    let kind = emit.context.get_kind_id("nontemporal");
    if let Err(error) = instruction.set_metadata(node, kind) {
        emit.fail(crate::error::CodegenError::internal(error));
    }
}

fn store_instruction<'ctx>(
    emit: &Emit<'ctx>,
    value: Val<'_, 'ctx>,
    address: PointerValue<'ctx>,
    align: u32,
) -> Option<InstructionValue<'ctx>> {
    match emit.builder.build_store(address, value.raw()) {
        Ok(instruction) => {
            align_to(emit, Some(instruction), align);
            Some(instruction)
        }
        Err(error) => {
            emit.fail(error);
            None
        }
    }
}

/// Gives an instruction that touches memory an address that `align` divides.
pub fn align_to<'ctx>(emit: &Emit<'ctx>, instruction: Option<InstructionValue<'ctx>>, align: u32) {
    let Some(instruction) = instruction else {
        return;
    };
    if let Err(error) = instruction.set_alignment(align) {
        emit.fail(crate::error::CodegenError::internal(error));
    }
}

/// True if one instruction loads or stores the active lanes of a vector without accessing the memory of the others.
pub fn has_masks(emit: &Emit<'_>, elem: Elem) -> bool {
    emit.x86.is_some_and(|x86| x86.avx512) && elem.bits() >= 8
}

/// True if one instruction loads the active lanes of a vector: AVX2 has one for elements of four and of eight bytes.
/// (Its masked stores take tens of cycles on some processors.)
pub fn has_masked_loads(emit: &Emit<'_>, elem: Elem) -> bool {
    has_masks(emit, elem) || emit.has_avx2() && matches!(elem.bits(), 32 | 64)
}

/// True in the first `count` of some lanes, all where it is greater.
pub fn first_lanes<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    lanes: u32,
    count: Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let count = count.smin(i64::from(lanes)).smax(0).zext_or_trunc(32);
    emit.lane_numbers(32, lanes).lt(count.splat(Some(lanes)))
}

/// Loads the lanes of a vector for which `inside` is true; the other lanes come from `fill`.
pub fn load_some<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    address: PointerValue<'ctx>,
    fill: Val<'e, 'ctx>,
    inside: Val<'e, 'ctx>,
) -> Val<'e, 'ctx> {
    let types = [fill.raw().get_type(), address.get_type().into()];
    let loaded = emit.intrinsic(
        "llvm.masked.load",
        &types,
        &[emit.val(address), inside, fill],
    );
    loaded.map_or(fill, |raw| emit.val(raw))
}

/// Stores the first `count` lanes of a vector.
pub fn store_some<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    value: Val<'e, 'ctx>,
    address: PointerValue<'ctx>,
    count: Val<'e, 'ctx>,
) {
    let inside = first_lanes(emit, value.lanes().unwrap_or(1), count);
    let types = [value.raw().get_type(), address.get_type().into()];
    emit.intrinsic(
        "llvm.masked.store",
        &types,
        &[value, emit.val(address), inside],
    );
}

/// Read-only bytes of the module, aligned to 64 bytes.
pub fn read_only<'ctx>(
    emit: &Emit<'ctx>,
    bytes: &[u8],
    space: Option<AddressSpace>,
) -> PointerValue<'ctx> {
    let data = emit.context.const_string(bytes, false);
    let number = emit.module.get_globals().count();
    let name = emit.own_name(&format!("table.{number}"));
    let global = emit.module.add_global(data.get_type(), space, &name);
    global.set_initializer(&data);
    global.set_constant(true);
    global.set_linkage(Linkage::Internal);
    global.set_alignment(64);
    global.as_pointer_value()
}

/// The bytes of one element in memory: an `i1` takes a whole byte.
pub fn element_bytes(elem: Elem) -> u32 {
    elem.bits().div_ceil(8)
}

/// LLVM's type of a flat array of `count` elements.
pub fn array_type<'ctx>(
    emit: &Emit<'ctx>,
    elem: Elem,
    count: u32,
) -> inkwell::types::ArrayType<'ctx> {
    emit.scalar_type(elem).array_type(count)
}
