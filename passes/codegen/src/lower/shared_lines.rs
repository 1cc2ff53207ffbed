//! Shared lines: cache lines in which one row ends and the next begins. Their parts are gathered, and the full line is
//! stored past the caches.
//!
//! A row of odd length is stored in full lines except for its ends. An ordinary store of an end waits for the line from
//! memory, and all later non-temporal stores wait with it. One such line for each row costs as much as 1 to 4 KiB of
//! other stores.
//!
//! A function therefore has [`PLACE`] bytes for each buffer with such rows: a line, and the range of addresses filled
//! so far. A part that continues the previous one joins it. Any other part, and the end of the function, first flushes
//! the line: past the caches if it is complete, byte by byte otherwise. Incomplete lines occur where rows of other
//! calls are adjacent to those of this call.
//!
//! Stores the same bytes to the same addresses as stores of the parts would. Nobody may read them before the function
//! ends.

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, FunctionValue, PointerValue};

use crate::error::CodegenError;
use crate::expr::{Elem, Emit, Val};
use crate::memory;

/// Bytes of a cache line of x86.
pub const LINE: u32 = 64;
/// Bytes of a line and the two addresses.
const PLACE: u32 = LINE + 16;
/// The word with the address of the first byte that the line holds.
const FIRST: i64 = 8;
/// The word with that of the byte behind the last.
const NEXT: i64 = 9;

/// The place where parts of a buffer's lines are put together.
#[derive(Clone, Copy)]
pub struct SharedLine<'ctx>(PointerValue<'ctx>);

/// A word of a place.
fn word<'ctx>(emit: &Emit<'ctx>, place: PointerValue<'ctx>, number: i64) -> PointerValue<'ctx> {
    let number = emit.constant_int(64, None, number);
    memory::element(emit, place, Elem::Int(64), number)
}

/// The byte `at` behind a pointer.
fn byte<'ctx>(
    emit: &Emit<'ctx>,
    base: PointerValue<'ctx>,
    at: Val<'_, 'ctx>,
) -> PointerValue<'ctx> {
    memory::element(emit, base, Elem::Int(8), at)
}

/// An address as a number.
fn number<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    address: PointerValue<'ctx>,
) -> Result<Val<'e, 'ctx>, CodegenError> {
    let i64 = emit.context.i64_type();
    Ok(emit.val(emit.builder.build_ptr_to_int(address, i64, "")?))
}

impl<'ctx> SharedLine<'ctx> {
    /// A place on the stack, with nothing in it, for the function whose entry the builder is in.
    pub fn new(emit: &Emit<'ctx>) -> Result<Self, CodegenError> {
        let ty = memory::array_type(emit, Elem::Int(8), PLACE);
        let place = emit.builder.build_alloca(ty, "")?;
        let instruction = place.as_instruction();
        memory::align_to(emit, instruction, LINE);
        let none = emit.constant_int(64, None, 0);
        for number in [FIRST, NEXT] {
            memory::store(emit, none, word(emit, place, number), 8);
        }
        Ok(SharedLine(place))
    }

    /// The place to store a part of `bytes` bytes that belongs to `address`.
    pub fn part(
        &self,
        emit: &Emit<'ctx>,
        address: PointerValue<'ctx>,
        bytes: Val<'_, 'ctx>,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let join = function(emit, "join", 3, join)?;
        let at = emit.call(join, &[emit.val(self.0), emit.val(address), bytes]);
        Ok(at.map_or(address, BasicValueEnum::into_pointer_value))
    }

    /// Stores what is left.
    pub fn finish(&self, emit: &Emit<'ctx>) -> Result<(), CodegenError> {
        let flush = function(emit, "flush", 1, flush)?;
        emit.call(flush, &[emit.val(self.0)]);
        Ok(())
    }
}

/// The code of a function of its parameters.
type Body<'ctx> = fn(&Emit<'ctx>, &[BasicValueEnum<'ctx>]) -> Result<(), CodegenError>;

/// A function of the module that takes a place, an address and a number of bytes, or the first few of these, and gives an address; emitted at
/// its first use.
fn function<'ctx>(
    emit: &Emit<'ctx>,
    name: &str,
    parameters: usize,
    body: Body<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let name = emit.own_name(name);
    if let Some(function) = emit.module.get_function(&name) {
        return Ok(function);
    }
    let pointer: BasicTypeEnum<'ctx> = emit.context.ptr_type(AddressSpace::default()).into();
    let all = [pointer, pointer, emit.scalar_type(Elem::Int(64))].map(Into::into);
    let ty = pointer.fn_type(&all[..parameters], false);
    let linkage = Some(Linkage::Internal);
    let function = emit.module.add_function(&name, ty, linkage);
    let caller = emit.builder.get_insert_block();
    let entry = emit.context.append_basic_block(function, "entry");
    emit.builder.position_at_end(entry);
    body(emit, &function.get_params())?;
    if let Some(caller) = caller {
        emit.builder.position_at_end(caller);
    }
    Ok(function)
}

/// A block of the function that is being written.
fn block<'ctx>(
    emit: &Emit<'ctx>,
    name: &str,
) -> Result<inkwell::basic_block::BasicBlock<'ctx>, CodegenError> {
    let missing = || CodegenError::Internal("no function to write".into());
    emit.block(name).ok_or_else(missing)
}

fn join<'ctx>(emit: &Emit<'ctx>, parameters: &[BasicValueEnum<'ctx>]) -> Result<(), CodegenError> {
    let &[place, part, bytes] = parameters else {
        return Ok(());
    };
    let (place, part, bytes) = (
        place.into_pointer_value(),
        part.into_pointer_value(),
        emit.val(bytes),
    );
    let [first, next] = [FIRST, NEXT].map(|number| word(emit, place, number));
    let from = number(emit, part)?;
    let within = from.and(i64::from(LINE) - 1);
    let [begins, apart, joins] = ["begins", "apart", "joins"].map(|name| block(emit, name));
    let (begins, apart, joins) = (begins?, apart?, joins?);
    let goes_on = memory::load(emit, next, Elem::Int(64), None, 8).eq(from);
    let fits = (within + bytes).le(i64::from(LINE));
    let goes_on = goes_on.and(within.ne(0)).and(fits);
    let goes_on = goes_on.raw().into_int_value();
    let fits = fits.raw().into_int_value();
    let builder = &emit.builder;
    builder.build_conditional_branch(goes_on, joins, begins)?;
    emit.begin(begins);
    SharedLine(place).finish(emit)?;
    memory::store(emit, emit.val(part), first, 8);
    builder.build_conditional_branch(fits, joins, apart)?;
    emit.begin(apart);
    memory::store(emit, emit.val(part), next, 8);
    builder.build_return(Some(&part))?;
    emit.begin(joins);
    memory::store(emit, from + bytes, next, 8);
    builder.build_return(Some(&byte(emit, place, within)))?;
    Ok(())
}

fn flush<'ctx>(emit: &Emit<'ctx>, parameters: &[BasicValueEnum<'ctx>]) -> Result<(), CodegenError> {
    let &[place] = parameters else { return Ok(()) };
    let place = place.into_pointer_value();
    let builder = &emit.builder;
    let pointer = emit.context.ptr_type(AddressSpace::default());
    let first = builder.build_load(pointer, word(emit, place, FIRST), "")?;
    let first = first.into_pointer_value();
    let from = number(emit, first)?;
    let next = memory::load(emit, word(emit, place, NEXT), Elem::Int(64), None, 8);
    let count = next - from;
    let [whole, head, step, done] = ["whole", "head", "step", "done"].map(|name| block(emit, name));
    let (whole, head, step, done) = (whole?, head?, step?, done?);
    let entry = builder.get_insert_block();
    let is_whole = count.eq(i64::from(LINE)).raw().into_int_value();
    builder.build_conditional_branch(is_whole, whole, head)?;

    emit.begin(whole);
    const QUARTER: u32 = LINE / 4;
    for quarter in 0..4 {
        let at = emit.constant_int(64, None, i64::from(quarter * QUARTER));
        let [from, to] = [place, first].map(|base| byte(emit, base, at));
        let value = memory::load(emit, from, Elem::Int(64), Some(2), QUARTER);
        memory::stream(emit, value, to, QUARTER);
    }
    builder.build_unconditional_branch(done)?;

    emit.begin(head);
    let at = emit.phi(emit.scalar_type(Elem::Int(64)))?;
    let now = emit.val(at.as_basic_value());
    let more = now.lt(count).raw().into_int_value();
    builder.build_conditional_branch(more, step, done)?;
    emit.begin(step);
    let here = byte(emit, place, (from + now).and(i64::from(LINE) - 1));
    let value = memory::load(emit, here, Elem::Int(8), None, 1);
    memory::store(emit, value, byte(emit, first, now), 1);
    let then = now + 1;
    builder.build_unconditional_branch(head)?;
    let zero = emit.constant_int(64, None, 0);
    if let Some(entry) = entry {
        at.add_incoming(&[(&zero.raw(), entry), (&then.raw(), step)]);
    }
    emit.begin(done);
    builder.build_return(Some(&first))?;
    Ok(())
}
