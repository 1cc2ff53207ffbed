//! Elementwise combination of several tensors, in order from the first one on.
//!
//! Floats of 16 and 8 bits are combined in f32 and rounded once, at the end. A NaN in any operand of a maximum or a minimum gives NaN, and -0
//! is less than +0. Integers wrap. Of truth values a sum is "or", a product "and".

use fuser_artifact::{Combine, DType};
use half::{bf16, f16};

use crate::execute::Address;
use crate::small;

/// Elements that are combined before the next ones are.
const CHUNK: usize = 256;

/// Combines elements `begin..end` of all operands.
///
/// # Safety
/// There is at least one operand. The operands have these elements, and so has the result, which nobody else uses.
pub unsafe fn reduce(
    dtype: DType,
    combine: Combine,
    operands: &[Address],
    result: Address,
    begin: usize,
    end: usize,
) {
    // SAFETY: the caller's word; the type is that of the elements.
    unsafe {
        match dtype {
            DType::F64 => of::<f64>(combine, operands, result, begin, end),
            DType::F32 => of::<f32>(combine, operands, result, begin, end),
            DType::F16 => of::<f16>(combine, operands, result, begin, end),
            DType::Bf16 => of::<bf16>(combine, operands, result, begin, end),
            DType::F8E4M3FN => of::<E4M3>(combine, operands, result, begin, end),
            DType::F8E5M2 => of::<E5M2>(combine, operands, result, begin, end),
            DType::F8E8M0FNU => of::<E8M0>(combine, operands, result, begin, end),
            DType::I64 | DType::Index => of::<i64>(combine, operands, result, begin, end),
            DType::I32 => of::<i32>(combine, operands, result, begin, end),
            DType::I16 => of::<i16>(combine, operands, result, begin, end),
            DType::I8 => of::<i8>(combine, operands, result, begin, end),
            DType::U64 => of::<u64>(combine, operands, result, begin, end),
            DType::U32 => of::<u32>(combine, operands, result, begin, end),
            DType::U16 => of::<u16>(combine, operands, result, begin, end),
            DType::U8 => of::<u8>(combine, operands, result, begin, end),
            DType::I1 => of::<Truth>(combine, operands, result, begin, end),
            // An artifact with a reduction of these is not valid.
            DType::F4E2M1FN | DType::C64 | DType::C128 => {}
        }
    }
}

/// # Safety
/// As for [`reduce`]; elements are of this type.
unsafe fn of<T: Element>(
    combine: Combine,
    operands: &[Address],
    result: Address,
    begin: usize,
    end: usize,
) {
    // SAFETY: the caller's word.
    unsafe {
        match combine {
            Combine::Add => fold::<T>(T::Wide::add, operands, result, begin, end),
            Combine::Mul => fold::<T>(T::Wide::mul, operands, result, begin, end),
            Combine::Max => fold::<T>(T::Wide::max, operands, result, begin, end),
            Combine::Min => fold::<T>(T::Wide::min, operands, result, begin, end),
            // As above.
            Combine::Set => {}
        }
    }
}

/// # Safety
/// As for [`of`].
unsafe fn fold<T: Element>(
    two: impl Fn(T::Wide, T::Wide) -> T::Wide,
    operands: &[Address],
    result: Address,
    begin: usize,
    end: usize,
) {
    let Some((first, others)) = operands.split_first() else {
        return;
    };
    let mut wide = [T::Wide::default(); CHUNK];
    for start in (begin..end).step_by(CHUNK) {
        let count = CHUNK.min(end - start);
        let wide = &mut wide[..count];
        // SAFETY: the caller's word: the operand has these elements, and nobody writes to it now.
        let part = |operand: &Address| unsafe {
            std::slice::from_raw_parts(operand.at(0).cast::<T>().wrapping_add(start), count)
        };
        let all = wide.iter_mut().zip(part(first));
        all.for_each(|(wide, element)| *wide = element.widen());
        for operand in others {
            let all = wide.iter_mut().zip(part(operand));
            all.for_each(|(wide, element)| *wide = two(*wide, element.widen()));
        }
        let to = result.at(0).cast::<T>().wrapping_add(start);
        for (index, wide) in wide.iter().enumerate() {
            // SAFETY: the caller's word.
            unsafe { to.wrapping_add(index).write(T::narrow(*wide)) }
        }
    }
}

/// An element as it lies in memory.
trait Element: Copy {
    /// The number as which it is combined.
    type Wide: Number;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

trait Number: Copy + Default {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
}

macro_rules! floats {
    ($($float:ty)*) => {$(
        impl Number for $float {
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn max(self, other: Self) -> Self {
                let first = self > other || self == other && self.is_sign_positive();
                if self.is_nan() || first && !other.is_nan() { self } else { other }
            }
            fn min(self, other: Self) -> Self {
                let first = self < other || self == other && self.is_sign_negative();
                if self.is_nan() || first && !other.is_nan() { self } else { other }
            }
        }
        plain!($float);
    )*};
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
        }
        plain!($integer);
    )*};
}

/// Numbers that are combined as they are.
macro_rules! plain {
    ($number:ty) => {
        impl Element for $number {
            type Wide = $number;
            fn widen(self) -> $number {
                self
            }
            fn narrow(wide: $number) -> $number {
                wide
            }
        }
    };
}

floats!(f64 f32);
integers!(i64 i32 i16 i8 u64 u32 u16 u8);

macro_rules! halves {
    ($($half:ty)*) => {$(
        impl Element for $half {
            type Wide = f32;
            fn widen(self) -> f32 {
                self.to_f32()
            }
            fn narrow(wide: f32) -> $half {
                <$half>::from_f32(wide)
            }
        }
    )*};
}

halves!(f16 bf16);

/// Floats of 8 bits.
macro_rules! small {
    ($($name:ident $dtype:ident)*) => {$(
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        struct $name(u8);

        impl Element for $name {
            type Wide = f32;
            fn widen(self) -> f32 {
                small::to_f64(DType::$dtype, self.0) as f32
            }
            fn narrow(wide: f32) -> $name {
                $name(small::from_f64(DType::$dtype, wide.into()))
            }
        }
    )*};
}

small!(E4M3 F8E4M3FN E5M2 F8E5M2 E8M0 F8E8M0FNU);

/// A truth value: a byte that is 0 or not.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Truth(u8);

impl Element for Truth {
    type Wide = bool;
    fn widen(self) -> bool {
        self.0 != 0
    }
    fn narrow(wide: bool) -> Truth {
        Truth(u8::from(wide))
    }
}

impl Number for bool {
    fn add(self, other: bool) -> bool {
        self | other
    }
    fn mul(self, other: bool) -> bool {
        self & other
    }
    fn max(self, other: bool) -> bool {
        self | other
    }
    fn min(self, other: bool) -> bool {
        self & other
    }
}
