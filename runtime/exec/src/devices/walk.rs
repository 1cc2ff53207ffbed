//! Equal blocks of a tensor, one for each device, and an order of their elements that is independent of the tensor's
//! storage order.
//!
//! The caller chooses the order in which the elements of a block are visited. A block whose storage order equals that
//! order is dense: it is sent and received in place.

use fuser_artifact::limits::MAX_RANK;

/// Blocks of a tensor, with numbers for sizes, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The extent and the stride of each loop, the innermost last. Loops that can be collapsed are one loop.
    loops: Vec<[usize; 2]>,
    /// The distance from a device's block to that of the next device; 0 if all devices have the same block.
    pub step: usize,
    /// The elements of a block.
    pub elements: usize,
}

impl Blocks {
    /// Blocks with these loops, outermost first; `None` if the number of elements overflows.
    pub fn new(axes: impl DoubleEndedIterator<Item = [usize; 2]>, step: usize) -> Option<Blocks> {
        let (mut loops, mut elements): (Vec<[usize; 2]>, usize) = (Vec::new(), 1);
        let mut empty = false;
        for [extent, stride] in axes.rev() {
            empty |= extent == 0;
            elements = match empty {
                true => 0,
                false => elements.checked_mul(extent)?,
            };
            match loops.last_mut() {
                _ if extent == 1 => {}
                Some([inner, distance]) if inner.checked_mul(*distance) == Some(stride) => {
                    *inner = inner.checked_mul(extent)?;
                }
                _ => loops.push([extent, stride]),
            }
        }
        loops.reverse();
        (loops.len() <= MAX_RANK).then_some(Blocks {
            loops,
            step,
            elements,
        })
    }

    /// True if a block lies in memory as it is walked.
    pub fn is_dense(&self) -> bool {
        self.elements < 2 || matches!(self.loops[..], [[_, 1]])
    }

    /// Calls `run(offset, count, stride)` for each run of a block's innermost loop, in order.
    fn runs(&self, run: &mut dyn FnMut(usize, usize, usize)) {
        if self.elements == 0 {
            return;
        }
        let (inner, outer) = match self.loops.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => ([1, 1], &[][..]),
        };
        let mut counters = [0usize; MAX_RANK];
        let mut at = 0;
        loop {
            run(at, inner[0], inner[1]);
            let mut loops = outer.iter().zip(&mut counters).rev();
            let more = loops.any(|([extent, stride], counter)| {
                *counter += 1;
                at += stride;
                if *counter == *extent {
                    at -= stride * extent;
                    *counter = 0;
                }
                *counter > 0
            });
            if !more {
                return;
            }
        }
    }

    /// Copies a block to contiguous memory.
    ///
    /// # Safety
    /// The block at `from` has all its elements, of `size` bytes each; `to` has room for them; the two do not overlap.
    pub unsafe fn pack(&self, size: usize, from: *const u8, to: *mut u8) {
        let mut done = 0;
        self.runs(&mut |at, count, stride| {
            let (from, to) = (from.wrapping_add(at * size), to.wrapping_add(done * size));
            // SAFETY: the caller's word; a run is inside of the block.
            unsafe { copy(size, count, (from, stride), (to, 1)) }
            done += count;
        });
    }

    /// Copies contiguous elements to their places in a block.
    ///
    /// # Safety
    /// As for [`pack`](Self::pack), with source and destination exchanged.
    pub unsafe fn unpack(&self, size: usize, from: *const u8, to: *mut u8) {
        let mut done = 0;
        self.runs(&mut |at, count, stride| {
            let (from, to) = (from.wrapping_add(done * size), to.wrapping_add(at * size));
            // SAFETY: the caller's word; a run is inside of the block.
            unsafe { copy(size, count, (from, 1), (to, stride)) }
            done += count;
        });
    }
}

/// Copies `count` elements of `size` bytes between two sides, each with its own stride.
///
/// # Safety
/// All these elements are there, and the two sides do not overlap.
unsafe fn copy(size: usize, count: usize, from: (*const u8, usize), to: (*mut u8, usize)) {
    if from.1 == 1 && to.1 == 1 {
        // SAFETY: the caller's word.
        return unsafe { from.0.copy_to_nonoverlapping(to.0, count * size) };
    }
    for index in 0..count {
        let (from, to) = (
            from.0.wrapping_add(index * from.1 * size),
            to.0.wrapping_add(index * to.1 * size),
        );
        // SAFETY: the caller's word. Of each usual size it is one load and one store.
        unsafe {
            match size {
                1 => to.write(from.read()),
                2 => to.cast::<[u8; 2]>().write(from.cast::<[u8; 2]>().read()),
                4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
                _ => from.copy_to_nonoverlapping(to, size),
            }
        }
    }
}

impl Blocks {
    /// Copies the block at element `first` of `from` to the start of `to`, if both are large enough.
    pub fn pack_from(&self, size: usize, from: &[u8], first: usize, to: &mut [u8]) {
        if self.fits(size, from.len(), first) && to.len() >= self.elements * size {
            let from = from.as_ptr().wrapping_add(first * size);
            // SAFETY: both have the elements, as just compared, and overlap nothing.
            unsafe { self.pack(size, from, to.as_mut_ptr()) }
        }
    }

    /// Copies the start of `from` to the block at element `first` of `to`, if both are large enough.
    pub fn unpack_to(&self, size: usize, from: &[u8], to: &mut [u8], first: usize) {
        if self.fits(size, to.len(), first) && from.len() >= self.elements * size {
            let to = to.as_mut_ptr().wrapping_add(first * size);
            // SAFETY: both have the elements, as just compared, and overlap nothing.
            unsafe { self.unpack(size, from.as_ptr(), to) }
        }
    }

    /// True if memory of `bytes` bytes contains all elements of the block that starts at element `first`.
    fn fits(&self, size: usize, bytes: usize, first: usize) -> bool {
        let mut loops = self.loops.iter();
        let last = loops.try_fold(first, |last, [extent, stride]| {
            last.checked_add(extent.checked_sub(1)?.checked_mul(*stride)?)
        });
        let end = last.and_then(|last| last.checked_add(1)?.checked_mul(size));
        self.elements == 0 || end.is_some_and(|end| end <= bytes)
    }
}
