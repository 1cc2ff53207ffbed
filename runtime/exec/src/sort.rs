//! Sorts: their loops as numbers, and the sort of a line.
//!
//! An element becomes a key whose order as a number is that of the op, and with its index below it a number of its own: so lines are sorted as
//! numbers, in place, in a worker's scratch memory, and equal elements keep their order. Where only the first are wanted, those that cannot be among
//! them are passed over.
//!
//! A long line that is wanted whole, of which there are fewer than workers, is sorted by all of them, stage by stage ([`Stage`]): runs are sorted,
//! then merged two by two, and each piece of what a merge gives finds where it begins in both runs (Odeh, Green, Mwassi, Shmueli and Birk: Merge path,
//! IPDPS workshops 2012). Numbers differ from each other, so there is one order, whatever the pieces.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use std::ops::Range;

use fuser_artifact::{DType, Factor};
use half::{bf16, f16};

use crate::execute::Address;
use crate::tensor::{Axis, strides};

/// The number of elements that one call sorts, in whole lines, if there are enough lines.
const ELEMENTS: usize = 4096;

/// Elements of a piece of a line that all workers sort, and the fewest of such a line's runs.
const PIECE: usize = 1 << 15;

/// A stage of the sort of one line by all workers, piece by piece. Words lie in one of two places, each of which has room for the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Words of a run, sorted. Pieces are runs of so many elements.
    Runs(usize),
    /// Two runs of so many elements each as one, in the other place.
    Merge(usize),
    /// The results.
    Results,
}

/// One loop: its length, and the distance of a step in the operand and in the result, in elements.
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
    /// The loops of a sort of tensors with these axes; `None` if they disagree about a loop.
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

    /// The stages in which `workers` workers sort each line together; empty if workers sort lines of their own.
    pub fn stages(&self, workers: usize) -> Vec<Stage> {
        let length = self.line[0];
        let lines = self.lines().unwrap_or(0);
        let runs = workers.next_power_of_two().min(length / PIECE);
        if lines >= workers || runs < 2 || room(length, self.kept[0]) < length {
            return Vec::new();
        }
        let run = length.div_ceil(runs);
        let merges = std::iter::successors(Some(run), |run| Some(2 * run));
        let merges = merges.take_while(|&run| run < length).map(Stage::Merge);
        let first = std::iter::once(Stage::Runs(run));
        first.chain(merges).chain([Stage::Results]).collect()
    }

    /// The number of pieces of a stage.
    pub fn pieces(&self, stage: Stage) -> i64 {
        let (length, piece) = match stage {
            Stage::Runs(run) => (self.line[0], run),
            Stage::Merge(_) => (self.line[0], PIECE),
            Stage::Results => (self.kept[0], PIECE),
        };
        length.div_ceil(piece) as i64
    }

    /// The number of lines, each of which has the stages.
    pub fn line_count(&self) -> usize {
        self.lines().unwrap_or(0)
    }

    /// Does a piece of a stage of a line; words lie in the first place, and a merge puts them into the second.
    ///
    /// # Safety
    /// As for `call`; both places are as large as [`Sort::scratch_bytes`] says. All pieces of a stage are done before those of the next one begin.
    pub(crate) unsafe fn piece(
        &self,
        (stage, piece): (Stage, i64),
        line: usize,
        addresses: [Address; 2],
        words: [Address; 2],
    ) {
        let [from, to] = self.places(line, addresses);
        let work = Work::Piece(stage, usize::try_from(piece).unwrap_or(0), words);
        // SAFETY: the caller's word.
        unsafe { self.line(from, to, work) }
    }

    /// Runs call number `call`.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked. The scratch memory
    /// has [`Sort::scratch_bytes`] bytes, and nobody else uses it.
    pub(crate) unsafe fn call(&self, call: i64, addresses: [Address; 2], scratch: Address) {
        let first = usize::try_from(call).unwrap_or(0) * self.share();
        let end = self.lines().unwrap_or(0).min(first + self.share());
        for number in first..end {
            let [from, to] = self.places(number, addresses);
            // SAFETY: the caller's word.
            unsafe { self.line(from, to, Work::Line(scratch)) }
        }
    }

    /// The beginnings of a line in the operand and in the result.
    fn places(&self, line: usize, addresses: [Address; 2]) -> [*mut u8; 2] {
        let (mut rest, mut at) = (line, [0; 2]);
        for own in self.batch.iter().rev() {
            let index = rest % own.extent.max(1);
            rest /= own.extent.max(1);
            let steps = at.iter_mut().zip(own.strides);
            steps.for_each(|(at, stride)| *at += index * stride);
        }
        [0, 1].map(|which| addresses[which].at(at[which] * self.dtypes[which].bytes()))
    }

    /// # Safety
    /// As for `call`; a line begins at each address.
    unsafe fn line(&self, from: *const u8, to: *mut u8, work: Work) {
        // SAFETY: the caller's word; the element types are those of the buffers.
        unsafe {
            match self.dtypes[0] {
                DType::F64 => self.of::<f64>(from, to, work),
                DType::F32 => self.of::<f32>(from, to, work),
                DType::F16 => self.of::<f16>(from, to, work),
                DType::Bf16 => self.of::<bf16>(from, to, work),
                DType::I64 | DType::Index => self.of::<i64>(from, to, work),
                DType::I32 => self.of::<i32>(from, to, work),
                DType::I16 => self.of::<i16>(from, to, work),
                DType::I8 => self.of::<i8>(from, to, work),
                DType::U64 => self.of::<u64>(from, to, work),
                DType::U32 => self.of::<u32>(from, to, work),
                DType::U16 => self.of::<u16>(from, to, work),
                DType::U8 | DType::I1 => self.of::<u8>(from, to, work),
                // They have no order: `new` takes none.
                DType::F8E4M3FN | DType::F8E5M2 | DType::F8E8M0FNU | DType::F4E2M1FN => {}
                DType::C64 | DType::C128 => {}
            }
        }
    }

    /// # Safety
    /// As for `line`.
    unsafe fn of<T: Key>(&self, from: *const u8, to: *mut u8, work: Work) {
        // SAFETY: the caller's word.
        unsafe {
            match self.is_short() {
                true => self.by::<T, u64>(from, to, work),
                false => self.by::<T, u128>(from, to, work),
            }
        }
    }

    /// # Safety
    /// As for `line`.
    unsafe fn by<T: Key, W: Word>(&self, from: *const u8, to: *mut u8, work: Work) {
        let ([length, step], [kept, stride]) = (self.line, self.kept);
        let from: *const T = from.cast();
        let word = |index: usize| {
            // SAFETY: the plan has checked that the line has the element.
            let key = unsafe { from.wrapping_add(index * step).read() }.key();
            W::of(if self.descending { !key } else { key }, index)
        };
        let put = |(place, word): (usize, &W)| {
            let (at, index) = (place * stride, word.index());
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
        match work {
            Work::Line(scratch) => {
                // SAFETY: the caller's word: there is room for a word for each element, aligned as all scratch memory is.
                let room = unsafe { words::<W>(scratch, 0..room(length, kept)) };
                let found = first(room, kept, (0..length).map(word)).iter();
                found.enumerate().for_each(put);
            }
            Work::Piece(Stage::Runs(run), piece, [own, _]) => {
                let part = piece * run..length.min((piece + 1) * run);
                // SAFETY: as above; pieces are disjoint.
                let run = unsafe { words::<W>(own, part.clone()) };
                run.iter_mut()
                    .zip(part.map(word))
                    .for_each(|(to, word)| *to = word);
                run.sort_unstable();
            }
            Work::Piece(Stage::Merge(run), piece, [own, other]) => {
                let part = piece * PIECE..length.min((piece + 1) * PIECE);
                // SAFETY: as above; the stage before wrote all words, and nobody writes them in this one.
                let from = unsafe { std::slice::from_raw_parts(own.at(0).cast::<W>(), length) };
                // SAFETY: as above.
                let to = unsafe { words::<W>(other, part.clone()) };
                merge(from, run, part.start, to);
            }
            Work::Piece(Stage::Results, piece, [own, _]) => {
                let part = piece * PIECE..kept.min((piece + 1) * PIECE);
                // SAFETY: as above: the stage before wrote all words.
                let words = unsafe { std::slice::from_raw_parts(own.at(0).cast::<W>(), length) };
                part.map(|place| (place, &words[place])).for_each(put);
            }
        }
    }
}

/// The work on a line.
#[derive(Clone, Copy)]
enum Work {
    /// All of it, in this memory.
    Line(Address),
    /// A piece of a stage, of words in the first place, which a merge puts into the second.
    Piece(Stage, usize, [Address; 2]),
}

/// A key with an index below it.
trait Word: Ord + Copy + Default {
    fn of(key: u64, index: usize) -> Self;
    fn index(self) -> usize;
}

impl Word for u64 {
    fn of(key: u64, index: usize) -> Self {
        (key >> 32 << 32) | index as u64
    }
    fn index(self) -> usize {
        self as u32 as usize
    }
}

impl Word for u128 {
    fn of(key: u64, index: usize) -> Self {
        (u128::from(key) << 64) | index as u128
    }
    fn index(self) -> usize {
        self as u64 as usize
    }
}

/// The words from `start` on of what `from` is with each two neighbouring runs, of `run` words, in one order.
fn merge<W: Word>(from: &[W], run: usize, start: usize, to: &mut [W]) {
    let mut done = 0;
    while done < to.len() {
        let at = start + done;
        let pair = &from[at / (2 * run) * (2 * run)..];
        let pair = &pair[..pair.len().min(2 * run)];
        let (a, b) = pair.split_at(run.min(pair.len()));
        let before = at % (2 * run);
        // As many of the first words of `a` and of `b` come before as are less than what is behind them in the other.
        let (mut least, mut most) = (before.saturating_sub(b.len()), before.min(a.len()));
        while least < most {
            let middle = least.midpoint(most);
            match a[middle] < b[before - middle - 1] {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        let (mut a, mut b) = (&a[least..], &b[before - least..]);
        let count = (pair.len() - before).min(to.len() - done);
        for to in &mut to[done..done + count] {
            let next = match (a.first(), b.first()) {
                (Some(x), Some(y)) if x < y => &mut a,
                (Some(_), None) => &mut a,
                _ => &mut b,
            };
            if let Some((&word, rest)) = next.split_first() {
                (*to, *next) = (word, rest);
            }
        }
        done += count;
    }
}

/// The number of words in memory for a line of which `kept` words are kept: the whole line, or a small multiple of
/// `kept`.
fn room(length: usize, kept: usize) -> usize {
    length.min(kept.saturating_mul(2).max(256))
}

/// A part of scratch memory as zeros.
///
/// # Safety
/// There is room for them, aligned, and nobody else uses it while the slice lives.
unsafe fn words<'a, T: Default>(scratch: Address, part: Range<usize>) -> &'a mut [T] {
    let (start, length) = (
        scratch.at(part.start * size_of::<T>()).cast::<T>(),
        part.len(),
    );
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

    /// Runs of all lengths, the last one short or alone, from every start.
    #[test]
    fn merges_begin_anywhere() {
        for length in [1usize, 2, 5, 16, 17, 31, 64] {
            for run in [1, 2, 5, 8, 16, 40] {
                let mut words: Vec<u64> = (0..length as u64)
                    .map(|i| i * 7919 % 101 * 256 + i)
                    .collect();
                words.chunks_mut(run).for_each(<[u64]>::sort_unstable);
                let mut whole = words.clone();
                whole.chunks_mut(2 * run).for_each(<[u64]>::sort_unstable);
                for start in 0..length {
                    for end in start..=length {
                        let mut part = vec![0; end - start];
                        merge(&words, run, start, &mut part);
                        assert_eq!(part, whole[start..end], "{length} {run} {start}");
                    }
                }
            }
        }
    }

    #[test]
    fn few_long_lines_are_sorted_together() {
        let sort = |lines: usize, length: usize, kept: usize| Sort {
            buffers: [0, 1],
            descending: false,
            values: true,
            dtypes: [DType::F32; 2],
            batch: vec![Loop {
                extent: lines,
                strides: [length, kept],
            }],
            line: [length, 1],
            kept: [kept, 1],
        };
        let stages = |lines, length, kept, workers| sort(lines, length, kept).stages(workers);
        assert_eq!(
            stages(1, 3 * PIECE, 3 * PIECE, 2),
            [
                Stage::Runs(3 * PIECE / 2),
                Stage::Merge(3 * PIECE / 2),
                Stage::Results
            ]
        );
        assert_eq!(stages(2, 9 * PIECE, 9 * PIECE, 5).len(), 5);
        // Lines enough, one worker, a short line, few of many.
        assert!(stages(2, 3 * PIECE, 3 * PIECE, 2).is_empty());
        assert!(stages(1, 3 * PIECE, 3 * PIECE, 1).is_empty());
        assert!(stages(1, 2 * PIECE - 1, 2 * PIECE - 1, 2).is_empty());
        assert!(stages(1, 3 * PIECE, 5, 2).is_empty());
    }
}
