//! Executes the steps of a plan on the CPU.
//!
//! This module calls machine code and copies raw memory. Its soundness rests on the plan, which has compared every size
//! with its buffer. It also rests on the owner of the memory, who keeps it as long as its addresses are used.

use fuser_artifact::abi::CpuEntry;

use crate::devices::{Body, Collective, Fault, Link};
use crate::run_plan::{PlannedStep, RunPlan};
use crate::sort::{Sort, Stage};
use crate::team::Effort;
use crate::timeline::Timeline;
use crate::workers::{Workers, bound};

/// The size of the pieces in which memory is copied and filled, large enough to make scheduling cheap.
const COPY_CHUNK: usize = 64 * 1024;

/// An address that workers share.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Address(*mut u8);

// SAFETY: an address by itself does nothing; each use of it says why it may be used.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    pub fn of(pointer: *mut u8) -> Address {
        Address(pointer)
    }

    /// The address `offset` bytes behind it.
    pub fn part(self, offset: usize) -> Address {
        Address(self.at(offset))
    }

    pub fn at(self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// The memory of a run: an address for each buffer of its plan, and scratch for each worker.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub addresses: &'a [Address],
    /// Worker 0's scratch.
    pub scratch: Address,
    /// The distance in bytes to the next worker's.
    pub scratch_stride: usize,
    /// Memory for communications.
    pub exchange: Address,
    /// Memory of factors that stay packed.
    pub kept: Address,
}

/// The size below which one core finishes before another could start, and the size from which on waking a core pays. A
/// core moves a few bytes each nanosecond. Notifying a polling core takes some 100 ns, waking one some microseconds.
const TINY: usize = 16 * 1024;
const HEAVY: usize = 256 * 1024;

/// The effort of work on so many bytes.
fn effort(bytes: usize) -> Effort {
    match bytes {
        0..=TINY => Effort::Tiny,
        HEAVY.. => Effort::Heavy,
        _ => Effort::Unknown,
    }
}

/// Calls a body with a worker and a range, for ranges that cover all numbers below a total once.
type Spread<'a> = dyn Fn(i64, Effort, &(dyn Fn(usize, i64, i64) + Sync)) + 'a;

/// The kernels, threads and memory of a run. `places` are those of the plan, `entries` those of its artifact.
pub(crate) struct Machine<'a> {
    pub workers: &'a Workers,
    pub entries: &'a [CpuEntry],
    pub places: Places<'a>,
    pub order: Order,
    /// A recording of the run.
    pub timeline: Option<&'a Timeline>,
}

/// The order in which the ranges of a launch's grid run. The result must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Ranges that the workers take one after the other.
    Parallel,
    /// Small ranges on one worker, the last one first.
    Backward,
}

/// The maximum number of ranges in a backward run: enough for small ranges, few enough for speed.
const MAX_BACKWARD: i64 = 1 << 16;

/// The state between steps. It is allocated for a plan in advance, so that no step allocates.
pub(crate) struct Cursor {
    /// The addresses of a launch.
    pointers: Vec<Address>,
    /// The turns that are left of each loop that counts them.
    left: Vec<i64>,
}

impl Cursor {
    pub fn new(plan: &RunPlan) -> Cursor {
        Cursor {
            pointers: Vec::with_capacity(plan.most_buffers()),
            left: vec![0; plan.counts()],
        }
    }

    /// Forgets a run that did not come to its end.
    pub fn restart(&mut self) {
        self.left.fill(0);
    }
}

impl Machine<'_> {
    /// Begins a run: nothing is packed yet.
    pub fn begin(&self, plan: &RunPlan) {
        for (_, step) in plan.steps.iter().filter(|_| plan.kept_bytes > 0) {
            if let PlannedStep::Product { product, .. } = step {
                // SAFETY: the memory is the plan's, and no step runs.
                unsafe { product.forget(self.places.kept) }
            }
        }
    }

    /// Runs step number `at` and returns the number of the next step. Only a communication can fail. Without a link it
    /// moves no data, so callers of a communicating program must pass one.
    pub fn step(
        &self,
        at: usize,
        step: &PlannedStep,
        cursor: &mut Cursor,
        link: Option<&mut Link<'_>>,
    ) -> Result<usize, Box<Fault>> {
        let next = match step {
            PlannedStep::Collective(collective) => {
                if let Some(link) = link {
                    self.communicate(at, collective, link)?;
                }
                at + 1
            }
            PlannedStep::Turn { goes_on, end } => {
                // SAFETY: the plan has checked that the buffer has a byte, and nobody writes to it now.
                let byte = |buffer| unsafe { self.address(buffer).at(0).read() };
                match goes_on.answer(&mut cursor.left, byte) {
                    true => at + 1,
                    false => *end,
                }
            }
            PlannedStep::Jump { to } => *to,
            step => {
                self.work(step, &mut cursor.pointers);
                at + 1
            }
        };
        Ok(next)
    }

    fn communicate(
        &self,
        at: usize,
        collective: &Collective,
        link: &mut Link<'_>,
    ) -> Result<(), Box<Fault>> {
        let none = self.places.exchange;
        let places = (collective.buffers).map(|buffer| buffer.map_or(none, |b| self.address(b)));
        let spread = |elements: usize, bytes: usize, body: Body<'_>| {
            let each = |_: usize, begin: i64, end: i64| body(begin as usize, end as usize);
            self.spread(elements as i64, effort(bytes), &each);
        };
        // SAFETY: the plan has compared shapes and sizes with the buffers, which differ, and with the memory for communications.
        let done = unsafe { collective.run(at, link, places, none, &spread) };
        done.map_err(Box::new)
    }

    /// Does a step that moves or computes elements.
    fn work(&self, step: &PlannedStep, pointers: &mut Vec<Address>) {
        match step {
            PlannedStep::Collective(_) | PlannedStep::Turn { .. } | PlannedStep::Jump { .. } => {}
            PlannedStep::Launch {
                kernel,
                buffers,
                extents,
                grid,
                bytes,
                ..
            } => {
                if let Some(entry) = self.entries.get(*kernel) {
                    pointers.clear();
                    pointers.extend(buffers.iter().map(|index| self.address(*index)));
                    self.launch(*entry, pointers, extents, *grid, effort(*bytes));
                }
            }
            PlannedStep::Copy { from, to, bytes } => {
                let (from, to) = (self.address(*from), self.address(*to));
                // SAFETY: the plan has checked that both buffers have that many bytes; they are two buffers, and both
                // are live in this step, so that they do not overlap.
                unsafe {
                    copy_by(
                        &|total, effort, body| self.spread(total, effort, body),
                        from,
                        to,
                        *bytes,
                    )
                }
            }
            PlannedStep::Fill {
                buffer,
                count,
                size,
                bits,
            } => {
                let bytes = bits.to_le_bytes();
                let element = bytes.get(..*size).unwrap_or(&bytes);
                // SAFETY: the plan has checked that the buffer has that many elements.
                unsafe {
                    fill(
                        &|total, effort, body| self.spread(total, effort, body),
                        self.address(*buffer),
                        *count,
                        element,
                    )
                }
            }
            PlannedStep::Product { product, calls } => {
                let [a, b, c] = product.buffers;
                let added = product.added.unwrap_or(c);
                let addresses = [a, b, c, added].map(|buffer| self.address(buffer));
                let (scratch, stride) = (self.places.scratch, self.places.scratch_stride);
                let kept = self.places.kept;
                self.spread(
                    *calls,
                    product.effort(),
                    &move |worker: usize, begin, end| {
                        let scratch = Address::of(scratch.at(worker * stride));
                        for call in begin..end {
                            // SAFETY: the plan has compared the loops with the buffers; calls write to disjoint parts of the result, and each
                            // worker has scratch of its own, each call kept memory of its own.
                            unsafe { product.call(call, addresses, [scratch, kept]) }
                        }
                    },
                );
            }
            PlannedStep::Attention { attention, calls } => {
                let addresses = attention.buffers.map(|buffer| self.address(buffer));
                let (scratch, stride) = (self.places.scratch, self.places.scratch_stride);
                self.spread(
                    *calls,
                    Effort::Unknown,
                    &move |worker: usize, begin, end| {
                        let scratch = Address::of(scratch.at(worker * stride));
                        for call in begin..end {
                            // SAFETY: the plan has compared the loops with the buffers; calls write to disjoint parts of the result, and each
                            // worker has scratch of its own.
                            unsafe { attention.call(call, addresses, scratch) }
                        }
                    },
                );
            }
            PlannedStep::Sort {
                sort,
                calls,
                stages,
            } => {
                let addresses = sort.buffers.map(|buffer| self.address(buffer));
                let (scratch, stride) = (self.places.scratch, self.places.scratch_stride);
                if !stages.is_empty() {
                    return self.sort_together(sort, stages, addresses);
                }
                self.spread(
                    *calls,
                    Effort::Unknown,
                    &move |worker: usize, begin, end| {
                        let scratch = Address::of(scratch.at(worker * stride));
                        for call in begin..end {
                            // SAFETY: the plan has compared the loops with the buffers; calls write to disjoint parts of the result, and each
                            // worker has scratch of its own.
                            unsafe { sort.call(call, addresses, scratch) }
                        }
                    },
                );
            }
            PlannedStep::Routine { routine, calls } => {
                self.spread(*calls, Effort::Unknown, &move |_: usize, begin, end| {
                    let address = |buffer| self.address(buffer);
                    // SAFETY: the plan has compared the shapes with the buffers; calls write to disjoint parts of the results.
                    unsafe { routine.call(begin, end, &address) }
                });
            }
            PlannedStep::Scatter { scatter, calls } => {
                let addresses = scatter.buffers.map(|buffer| self.address(buffer));
                let effort = match scatter.is_small() && *calls == 1 {
                    true => Effort::Tiny,
                    false => Effort::Unknown,
                };
                self.spread(*calls, effort, &move |_: usize, begin, end| {
                    for call in begin..end {
                        // SAFETY: the plan has compared the loops with the buffers; calls write to disjoint parts of the result.
                        unsafe { scatter.call(call, addresses) }
                    }
                });
            }
        }
    }

    /// Sorts several lines one after the other, each by all workers. The scratch memory has room for a line for each
    /// worker.
    fn sort_together(&self, sort: &Sort, stages: &[Stage], addresses: [Address; 2]) {
        let (scratch, stride) = (self.places.scratch, self.places.scratch_stride);
        for line in 0..sort.line_count() {
            let mut words = [0, 1].map(|place| Address::of(scratch.at(place * stride)));
            for &stage in stages {
                self.spread(
                    sort.pieces(stage),
                    Effort::Heavy,
                    &move |_: usize, begin, end| {
                        for piece in begin..end {
                            // SAFETY: the plan has compared the loops with the buffers; pieces write to disjoint parts of the result and of the words,
                            // and a stage is over when `spread` is.
                            unsafe { sort.piece((stage, piece), line, addresses, words) }
                        }
                    },
                );
                if matches!(stage, Stage::Merge(_)) {
                    words.reverse();
                }
            }
        }
    }

    fn launch(
        &self,
        entry: CpuEntry,
        pointers: &[Address],
        extents: &[i64],
        grid: i64,
        effort: Effort,
    ) {
        let (scratch, stride) = (self.places.scratch, self.places.scratch_stride);
        let call = move |worker: usize, begin, end| {
            // An address is a pointer that threads may share.
            let pointers: *const *mut u8 = pointers.as_ptr().cast();
            let scratch = scratch.at(worker * stride);
            // SAFETY: the loader's word is that `entry` is code for this ABI; buffers and extents are those of the
            // launch, the ranges of concurrent calls are disjoint, and each worker has scratch of its own.
            unsafe { entry(pointers, extents.as_ptr(), begin, end, scratch) }
        };
        self.spread(grid, effort, &call);
    }

    /// Calls `body(worker, begin, end)` for ranges that cover `0..total` once.
    fn spread(&self, total: i64, effort: Effort, body: &(dyn Fn(usize, i64, i64) + Sync)) {
        if let Some(timeline) = self.timeline {
            let body = |worker: usize, begin, end| {
                timeline.piece(worker, || body(worker, begin, end));
            };
            return self.in_order(total, effort, &body);
        }
        self.in_order(total, effort, body);
    }

    fn in_order(&self, total: i64, effort: Effort, body: &(dyn Fn(usize, i64, i64) + Sync)) {
        match self.order {
            Order::Parallel => self.workers.for_each_chunk(total, effort, body),
            Order::Backward => {
                let chunks = total.min(MAX_BACKWARD);
                let range = |chunk| (bound(total, chunk, chunks), bound(total, chunk + 1, chunks));
                let ranges = (0..chunks).rev().map(range);
                ranges.for_each(|(begin, end)| body(0, begin, end));
            }
        }
    }

    fn address(&self, buffer: usize) -> Address {
        let nowhere = self.places.scratch;
        self.places
            .addresses
            .get(buffer)
            .copied()
            .unwrap_or(nowhere)
    }
}

/// Copies with all workers.
pub(crate) fn parallel_copy(workers: &Workers, from: &[u8], to: &mut [u8]) {
    let bytes = from.len().min(to.len());
    let (from, to) = (Address(from.as_ptr().cast_mut()), Address(to.as_mut_ptr()));
    // SAFETY: both slices have that many bytes, and a unique reference overlaps nothing; `from` is only read.
    unsafe { copy(workers, from, to, bytes) }
}

/// # Safety
/// Both addresses are good for `bytes` bytes. The two ranges do not overlap, and nobody else uses the destination.
pub(crate) unsafe fn copy(workers: &Workers, from: Address, to: Address, bytes: usize) {
    let spread: &Spread<'_> = &|total, effort, body| workers.for_each_chunk(total, effort, body);
    // SAFETY: the caller's word.
    unsafe { copy_by(spread, from, to, bytes) }
}

/// # Safety
/// As for [`copy`].
unsafe fn copy_by(spread: &Spread<'_>, from: Address, to: Address, bytes: usize) {
    let chunks = bytes.div_ceil(COPY_CHUNK) as i64;
    spread(chunks, effort(bytes), &move |_, begin, end| {
        let start = begin as usize * COPY_CHUNK;
        let length = (end as usize * COPY_CHUNK).min(bytes) - start;
        // SAFETY: the caller's word; the ranges of the workers are disjoint.
        unsafe { std::ptr::copy_nonoverlapping(from.at(start), to.at(start), length) }
    });
}

/// # Safety
/// The address is good for `count` elements, and nobody else uses them.
unsafe fn fill(spread: &Spread<'_>, to: Address, count: usize, element: &[u8]) {
    let size = element.len();
    let chunks = count.div_ceil(COPY_CHUNK) as i64;
    spread(chunks, effort(count * size), &move |_, begin, end| {
        let start = begin as usize * COPY_CHUNK;
        let length = (end as usize * COPY_CHUNK).min(count) - start;
        // SAFETY: the caller's word; the ranges of the workers are disjoint.
        let bytes = unsafe { std::slice::from_raw_parts_mut(to.at(start * size), length * size) };
        bytes
            .chunks_exact_mut(size)
            .for_each(|to| to.copy_from_slice(element));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole_at_every_size() {
        for count in [1, 3] {
            let workers = Workers::new(count).unwrap();
            for bytes in [
                0,
                1,
                63,
                COPY_CHUNK - 1,
                COPY_CHUNK,
                COPY_CHUNK + 1,
                9 * COPY_CHUNK + 7,
            ] {
                let from: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
                let mut to = vec![0; bytes];
                parallel_copy(&workers, &from, &mut to);
                assert!(from == to, "{bytes} bytes");
            }
        }
    }

    #[test]
    fn fills_are_whole_and_stay_inside() {
        let workers = Workers::new(3).unwrap();
        for count in [0, 1, COPY_CHUNK + 1, 5 * COPY_CHUNK - 1] {
            let mut bytes = vec![9u8; (count + 1) * 2];
            // SAFETY: the vector has that many elements and one more.
            unsafe {
                fill(
                    &|total, effort, body| workers.for_each_chunk(total, effort, body),
                    Address(bytes.as_mut_ptr()),
                    count,
                    &[1, 2],
                )
            };
            let (filled, rest) = bytes.split_at(count * 2);
            assert!(filled.chunks(2).all(|element| element == [1, 2]));
            assert_eq!(rest, [9, 9]);
        }
    }
}
