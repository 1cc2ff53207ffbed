//! Sorts: their loops as numbers, and the sort of a line.
//!
//! An element becomes a key whose order as a number is that of the op, and with its index below it a number of its own: so lines are sorted as
//! numbers, in place, in a worker's scratch memory, and equal elements keep their order. Where only the first are wanted, those that cannot be among
//! them are passed over.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use fuser_artifact::{DType, Factor};
use half::{bf16, f16};

use crate::execute::Address;
use crate::tensor::{Axis, strides};

/// Elements of the lines that one call sorts, as far as there are lines.
const ELEMENTS: usize = 4096;

/// One loop: its length, and how far each step moves in the operand and in the result, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loop {
    extent: usize,
    strides: [usize; 2],
}

/// A sort with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The buffers of the operand and of the result.
    pub buffers: [usize; 2],
    descending: bool,
    /// True where the result has the elements, not their indices.
    values: bool,
    /// The element types of the operand and of the result.
    dtypes: [DType; 2],
    /// The lines.
    batch: Vec<Loop>,
    /// Elements of a line, and from one to the next.
    line: [usize; 2],
    /// Elements of a line that are kept, and from one to the next.
    kept: [usize; 2],
}

impl Sort {
    /// The loops of a sort of tensors with these axes; `None` where they disagree about a loop.
    pub fn new(
        descending: bool,
        values: bool,
        tensors: &[Factor; 2],
        axes: &[Vec<Axis>],
    ) -> Option<Sort> {
        let [from, to] = [&axes.first()?[..], &axes.get(1)?[..]];
        let own = |which: usize| {
            let factor: &Factor = &tensors[which];
            let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            strides(&axes[which], &order)
        };
        let (reads, writes) = (own(0), own(1));
        let dim = (0..to.len()).find(|&l| tensors[0].loops.get(l) != Some(&(l as u32)))?;
        let mut batch = Vec::new();
        for axis in (0..to.len()).filter(|&axis| axis != dim) {
            if from.get(axis)?.extent != to[axis].extent {
                return None;
            }
            // Along a broadcast axis of the result there is one element.
            let extent = match to[axis].broadcast {
                true => to[axis].extent.min(1),
                false => to[axis].extent,
            };
            batch.push(Loop {
                extent,
                strides: [reads[axis], writes[axis]],
            });
        }
        let (line, kept) = (from.get(dim)?.extent, to[dim].extent);
        (kept <= line).then(|| Sort {
            buffers: tensors
                .each_ref()
                .map(|factor| factor.tensor.buffer as usize),
            descending,
            values,
            dtypes: tensors.each_ref().map(|factor| factor.tensor.dtype),
            batch,
            line: [line, reads[dim]],
            kept: [kept, writes[dim]],
        })
    }

    /// Scratch memory of a worker.
    pub fn scratch_bytes(&self) -> usize {
        let word = if self.is_short() {
            size_of::<u64>()
        } else {
            size_of::<u128>()
        };
        room(self.line[0], self.kept[0]).saturating_mul(word)
    }

    /// True where a key and an index are 64 bits.
    fn is_short(&self) -> bool {
        self.dtypes[0].bytes() <= 4 && u32::try_from(self.line[0]).is_ok()
    }

    /// The number of calls; `None` where it does not fit.
    pub fn calls(&self) -> Option<i64> {
        i64::try_from(self.lines()?.div_ceil(self.share())).ok()
    }

    fn lines(&self) -> Option<usize> {
        let mut extents = self.batch.iter().map(|own| own.extent);
        extents.try_fold(1usize, usize::checked_mul)
    }

    /// Lines of one call.
    fn share(&self) -> usize {
        (ELEMENTS / self.line[0].max(1)).max(1)
    }

    /// Makes call number `call`.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked; the scratch memory is as large as
    /// [`Sort::scratch_bytes`] says, and nobody else uses it.
    pub(crate) unsafe fn call(&self, call: i64, addresses: [Address; 2], scratch: Address) {
        let first = usize::try_from(call).unwrap_or(0) * self.share();
        let end = self.lines().unwrap_or(0).min(first + self.share());
        for number in first..end {
            let (mut rest, mut at) = (number, [0; 2]);
            for own in self.batch.iter().rev() {
                let index = rest % own.extent.max(1);
                rest /= own.extent.max(1);
                let steps = at.iter_mut().zip(own.strides);
                steps.for_each(|(at, stride)| *at += index * stride);
            }
            let place = |which: usize| addresses[which].at(at[which] * self.dtypes[which].bytes());
            // SAFETY: the caller's word.
            unsafe { self.line(place(0), place(1), scratch) }
        }
    }

    /// # Safety
    /// As for `call`; a line begins at each address.
    unsafe fn line(&self, from: *const u8, to: *mut u8, scratch: Address) {
        // SAFETY: the caller's word; the element types are those of the buffers.
        unsafe {
            match self.dtypes[0] {
                DType::F64 => self.of::<f64>(from, to, scratch),
                DType::F32 => self.of::<f32>(from, to, scratch),
                DType::F16 => self.of::<f16>(from, to, scratch),
                DType::Bf16 => self.of::<bf16>(from, to, scratch),
                DType::I64 | DType::Index => self.of::<i64>(from, to, scratch),
                DType::I32 => self.of::<i32>(from, to, scratch),
                DType::I16 => self.of::<i16>(from, to, scratch),
                DType::I8 => self.of::<i8>(from, to, scratch),
                DType::U64 => self.of::<u64>(from, to, scratch),
                DType::U32 => self.of::<u32>(from, to, scratch),
                DType::U16 => self.of::<u16>(from, to, scratch),
                DType::U8 | DType::I1 => self.of::<u8>(from, to, scratch),
                // They have no order: `new` takes none.
                DType::F8E4M3FN | DType::F8E5M2 | DType::F8E8M0FNU | DType::F4E2M1FN => {}
                DType::C64 | DType::C128 => {}
            }
        }
    }

    /// # Safety
    /// As for `line`.
    unsafe fn of<T: Key>(&self, from: *const u8, to: *mut u8, scratch: Address) {
        let ([length, step], [kept, stride]) = (self.line, self.kept);
        let from: *const T = from.cast();
        let key = |index: usize| {
            // SAFETY: the plan has checked that the line has the element.
            let key = unsafe { from.wrapping_add(index * step).read() }.key();
            if self.descending { !key } else { key }
        };
        let put = |place: usize, index: usize| {
            let at = place * stride;
            // SAFETY: the plan has checked that the elements are there, and this call alone writes these.
            unsafe {
                match (self.values, self.dtypes[1]) {
                    (true, _) => {
                        let element = from.wrapping_add(index * step).read();
                        to.cast::<T>().wrapping_add(at).write(element);
                    }
                    (false, DType::I32) => to.cast::<i32>().wrapping_add(at).write(index as i32),
                    (false, _) => to.cast::<i64>().wrapping_add(at).write(index as i64),
                }
            }
        };
        if self.is_short() {
            // SAFETY: the caller's word: there is room for a word for each element, aligned as all scratch memory is.
            let room = unsafe { words::<u64>(scratch, room(length, kept)) };
            let word = |index: usize| (key(index) >> 32 << 32) | index as u64;
            let found = first(room, kept, (0..length).map(word)).iter();
            found
                .enumerate()
                .for_each(|(place, word)| put(place, *word as u32 as usize));
        } else {
            // SAFETY: as above.
            let room = unsafe { words::<u128>(scratch, room(length, kept)) };
            let word = |index: usize| (u128::from(key(index)) << 64) | index as u128;
            let found = first(room, kept, (0..length).map(word)).iter();
            found
                .enumerate()
                .for_each(|(place, word)| put(place, *word as u64 as usize));
        }
    }
}

/// Words at a time of a line of which some are kept: all, or a few times as many as are kept.
fn room(length: usize, kept: usize) -> usize {
    length.min(kept.saturating_mul(2).max(256))
}

/// Scratch memory as zeros.
///
/// # Safety
/// There is room for `length` of them, aligned, and nobody else uses it while the slice lives.
unsafe fn words<'a, T: Default>(scratch: Address, length: usize) -> &'a mut [T] {
    let start: *mut T = scratch.at(0).cast();
    for index in 0..length {
        // SAFETY: the caller's word.
        unsafe { start.wrapping_add(index).write(T::default()) }
    }
    // SAFETY: the caller's word; all elements have just been written.
    unsafe { std::slice::from_raw_parts_mut(start, length) }
}

/// The `kept` least of these words, ascending. The room is for all of them, or for more than are kept: then those beyond the least so far are
/// passed over.
fn first<T: Ord + Copy>(room: &mut [T], kept: usize, words: impl Iterator<Item = T>) -> &[T] {
    if kept == 0 {
        return &[];
    }
    let (mut filled, mut bound) = (0, None);
    for word in words {
        if bound.is_some_and(|bound| word > bound) {
            continue;
        }
        if filled == room.len() {
            room.select_nth_unstable(kept - 1);
            (filled, bound) = (kept, Some(room[kept - 1]));
            if word > room[kept - 1] {
                continue;
            }
        }
        room[filled] = word;
        filled += 1;
    }
    let found = &mut room[..filled];
    if kept < filled {
        found.select_nth_unstable(kept - 1);
    }
    let found = &mut room[..kept.min(filled)];
    found.sort_unstable();
    found
}

/// An element with a number that is in order as the elements are: its high bits, as many as the element has.
trait Key: Copy {
    fn key(self) -> u64;
}

macro_rules! integers {
    ($($ty:ty: $unsigned:ty;)*) => {$(
        impl Key for $ty {
            fn key(self) -> u64 {
                u64::from((self as $unsigned) ^ (<$ty>::MIN as $unsigned)) << (64 - <$ty>::BITS)
            }
        }
    )*};
}
integers! {
    i64: u64;
    i32: u32;
    i16: u16;
    i8: u8;
    u64: u64;
    u32: u32;
    u16: u16;
    u8: u8;
}

macro_rules! floats {
    ($($ty:ty: $bits:ty;)*) => {$(
        impl Key for $ty {
            fn key(self) -> u64 {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = self.to_bits();
                let number = match bits & SIGN {
                    // The least zero is that of both signs.
                    _ if bits << 1 == 0 => SIGN,
                    _ if self.is_nan() => <$bits>::MAX,
                    0 => bits | SIGN,
                    _ => !bits,
                };
                u64::from(number) << (64 - <$bits>::BITS)
            }
        }
    )*};
}
floats! {
    f64: u64;
    f32: u32;
    f16: u16;
    bf16: u16;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sorted<T: Key>(list: &[T]) -> bool {
        list.windows(2).all(|pair| pair[0].key() < pair[1].key())
    }

    #[test]
    fn keys_are_in_order() {
        let floats = [
            f64::NEG_INFINITY,
            -2.5,
            -5e-324,
            0.0,
            5e-324,
            1.0,
            f64::INFINITY,
            f64::NAN,
        ];
        assert!(is_sorted(&floats));
        let narrow = |x: f64| f16::from_f64(x);
        assert!(is_sorted(
            &[-2.0, -1.5, 0.0, 7.0, f64::INFINITY, f64::NAN].map(narrow)
        ));
        assert!(is_sorted(&[i64::MIN, -1, 0, 1, i64::MAX]));
        assert!(is_sorted(&[i8::MIN, -1, 0, 1, i8::MAX]));
        assert!(is_sorted(&[0u8, 1, 128, 255]));
        assert_eq!((-0.0f32).key(), 0.0f32.key());
        assert_eq!((-f32::NAN).key(), f32::NAN.key());
    }

    #[test]
    fn the_first_are_the_least_in_order() {
        for (length, step) in [(101, 37), (1009, 1), (1009, 1008), (10007, 3571)] {
            let list = (0..length).map(|i| i * step % length);
            for kept in [0, 1, 2, 50, 100, 101] {
                let mut words = vec![0u64; room(length as usize, kept)];
                let wanted: Vec<u64> = (0..kept as u64).collect();
                assert_eq!(
                    first(&mut words, kept, list.clone()),
                    wanted,
                    "{length} {kept}"
                );
            }
        }
    }
}
