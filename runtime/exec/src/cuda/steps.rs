//! The steps of a plan as driver calls: launches, copies and fills, with all numbers that depend on the extents.

use std::ffi::c_void;

use cudarc::driver::{DriverError, result, sys};
use fuser_artifact::limits::BUFFER_ALIGN;

use super::library::{Call, Unused, words};
use super::module::Function;
use super::program::CudaProgram;
use super::{describe, failed};
use crate::error::{RuntimeError, StepName};
use crate::run_plan::{GoesOn, PlannedStep, RunPlan};

/// The maximum number of blocks along the first grid axis, the only one that kernels use.
const MAX_GRID: i64 = i32::MAX as i64;

/// A step that there is something to do for.
pub(super) struct Step {
    /// Its place in the plan.
    pub index: usize,
    pub work: Work,
}

/// The work of a step in plain numbers; buffers are indices into the table of addresses.
pub(super) enum Work {
    Launch(Launch),
    Copy {
        from: usize,
        to: usize,
        bytes: usize,
    },
    Fill {
        buffer: usize,
        count: usize,
        pattern: Pattern,
    },
    /// Begins a turn of a loop or the first side of a branch, or goes on with the step `end`.
    Turn {
        goes_on: GoesOn,
        end: usize,
    },
    /// Goes on with the step `to`.
    Jump {
        to: usize,
    },
}

/// A launch of a kernel.
pub(super) struct Launch {
    /// The kernel's place in the artifact.
    pub kernel: usize,
    /// The work for aligned tensors; `any` is the work for unaligned ones, if such code exists.
    aligned: Way,
    any: Option<Way>,
    /// Its parameters: buffers, by their places in the table of addresses, and extents.
    pub buffers: Vec<usize>,
    pub extents: Vec<i64>,
    /// Blocks in all.
    pub blocks: i64,
    grid: u32,
    pub block: u32,
    /// The dynamic shared memory of a block, and the static shared memory of the code.
    pub shared_bytes: u32,
    pub own_shared_bytes: u64,
}

/// The work of a launch for tensors at addresses of some kind.
pub(super) struct Way {
    function: Function,
    /// The library calls that replace the launch, or the reason why none do; `None` unless the kernel is a single
    /// product.
    pub library: Option<Result<Box<Call>, Unused>>,
}

/// The bits of an element that memory is filled with, by its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern {
    One(u8),
    Two(u16),
    Four(u32),
    /// The low and the high half.
    Eight([u32; 2]),
}

impl Pattern {
    fn new(size: usize, bits: u64) -> Pattern {
        match size {
            0 | 1 => Pattern::One(bits as u8),
            2 => Pattern::Two(bits as u16),
            4 => Pattern::Four(bits as u32),
            _ => Pattern::Eight([bits as u32, (bits >> 32) as u32]),
        }
    }
}

impl Way {
    /// The calls of a library in place of the launch.
    pub fn call(&self) -> Option<&Call> {
        self.library
            .as_ref()
            .and_then(|found| found.as_deref().ok())
    }
}

impl Launch {
    /// The work for tensors that are aligned, or not.
    pub fn way(&self, aligned: bool) -> &Way {
        let any = self.any.as_ref().filter(|_| !aligned);
        any.unwrap_or(&self.aligned)
    }

    /// Bytes of the workspace of its calls.
    pub fn workspace(&self) -> usize {
        let ways = [Some(&self.aligned), self.any.as_ref()];
        let calls = ways.into_iter().flatten().filter_map(Way::call);
        calls.map(Call::workspace).max().unwrap_or(0)
    }

    /// Registers of a thread, and blocks that a multiprocessor has at a time.
    pub fn occupancy(&self, aligned: bool) -> Result<(u32, u32), RuntimeError> {
        let count = |call, found: Result<i32, DriverError>| {
            let found = found.map_err(failed(call))?;
            Ok::<_, RuntimeError>(u32::try_from(found).unwrap_or(0))
        };
        let (function, shared) = (&self.way(aligned).function, self.shared_bytes);
        let blocks = function.blocks_per_multiprocessor(self.block, shared);
        Ok((
            count("cuFuncGetAttribute", function.registers())?,
            count("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks)?,
        ))
    }

    /// Starts the kernel.
    ///
    /// # Safety
    /// The parameters are addresses of what the kernel takes.
    pub unsafe fn start(
        &self,
        aligned: bool,
        stream: sys::CUstream,
        parameters: &mut [*mut c_void],
    ) -> Result<(), DriverError> {
        let (grid, block) = ((self.grid, 1, 1), (self.block, 1, 1));
        // SAFETY: the caller's word.
        unsafe {
            result::launch_kernel(
                self.way(aligned).function.handle,
                grid,
                block,
                self.shared_bytes,
                stream,
                parameters,
            )
        }
    }
}

/// Copies `bytes` on the device, after earlier work of the stream. A copy of a place to itself is a no-op.
///
/// # Safety
/// Both addresses are good for `bytes` bytes.
pub(super) unsafe fn copy(
    from: u64,
    to: u64,
    bytes: usize,
    stream: sys::CUstream,
) -> Result<(), RuntimeError> {
    if bytes == 0 || from == to {
        return Ok(());
    }
    // SAFETY: the caller's word.
    let copied = unsafe { result::memcpy_dtod_async(to, from, bytes, stream) };
    copied.map_err(failed("cuMemcpyDtoDAsync"))
}

/// The byte at an address, after all earlier work of the stream.
///
/// # Safety
/// The address is good for a byte.
pub(super) unsafe fn byte(from: u64, stream: sys::CUstream) -> Result<u8, RuntimeError> {
    let mut byte = [0];
    // SAFETY: the caller's word; the byte outlives the copy, which is waited for.
    let copied = unsafe { result::memcpy_dtoh_async(&mut byte, from, stream) };
    copied.map_err(failed("cuMemcpyDtoHAsync"))?;
    // SAFETY: the caller's word that it is a stream.
    let done = unsafe { result::stream::synchronize(stream) };
    done.map_err(failed("cuStreamSynchronize"))?;
    Ok(byte[0])
}

/// Fills device memory. The driver fills elements of at most four bytes, so eight-byte elements are filled as two
/// columns with a pitch of eight bytes.
///
/// # Safety
/// There are `count` elements.
pub(super) unsafe fn fill(
    to: u64,
    count: usize,
    pattern: Pattern,
    stream: sys::CUstream,
) -> Result<(), RuntimeError> {
    // SAFETY: the caller's word.
    let filled = unsafe {
        match pattern {
            Pattern::One(bits) => sys::cuMemsetD8Async(to, bits, count, stream).result(),
            Pattern::Two(bits) => sys::cuMemsetD16Async(to, bits, count, stream).result(),
            Pattern::Four(bits) => sys::cuMemsetD32Async(to, bits, count, stream).result(),
            Pattern::Eight([low, high]) if low == high => {
                sys::cuMemsetD32Async(to, low, count * 2, stream).result()
            }
            Pattern::Eight([low, high]) => {
                let column = |to, bits| sys::cuMemsetD2D32Async(to, 8, bits, 1, count, stream);
                column(to, low)
                    .result()
                    .and_then(|()| column(to + 4, high).result())
            }
        }
    };
    filled.map_err(failed("cuMemsetAsync"))
}

/// The steps of a plan that have work to do, checked against the limits of the device.
///
/// # Errors
/// Exceeded limits, and errors of the library for a product, which they name.
pub(super) fn steps(program: &CudaProgram, plan: &RunPlan) -> Result<Vec<Step>, RuntimeError> {
    let mut steps = Vec::with_capacity(plan.steps.len());
    for (index, (_, step)) in plan.steps.iter().enumerate() {
        let work = match step {
            PlannedStep::Launch {
                kernel,
                buffers,
                extents,
                grid,
                scratch_bytes,
                block,
                bytes: _,
                product,
            } => match launch(program, *kernel, *grid, *scratch_bytes, *block)? {
                Some(mut launch) => {
                    let call = |alignment| {
                        let named = |error| RuntimeError::Step {
                            step: StepName {
                                kernel: Some(program.kernel_name(*kernel)),
                                product: product.as_ref().map(words),
                                number: index + 1,
                                steps: plan.steps.len(),
                                grid: 0,
                                block: 0,
                                shared_bytes: 0,
                            },
                            error: Box::new(error),
                        };
                        let product = product.as_ref();
                        let call = product.map(|p| Call::new(program.device(), p, alignment));
                        let call = call.transpose().map_err(named)?;
                        Ok::<_, RuntimeError>(call.map(|found| found.map(Box::new)))
                    };
                    launch.buffers.clone_from(buffers);
                    launch.extents.clone_from(extents);
                    launch.aligned.library = call(BUFFER_ALIGN)?;
                    if let Some(any) = &mut launch.any {
                        any.library = call(1)?;
                    }
                    Some(Work::Launch(launch))
                }
                None => None,
            },
            PlannedStep::Copy { from, to, bytes } => (*bytes > 0).then_some(Work::Copy {
                from: *from,
                to: *to,
                bytes: *bytes,
            }),
            PlannedStep::Fill {
                buffer,
                count,
                size,
                bits,
            } => (*count > 0).then_some(Work::Fill {
                buffer: *buffer,
                count: *count,
                pattern: Pattern::new(*size, *bits),
            }),
            PlannedStep::Turn { goes_on, end } => Some(Work::Turn {
                goes_on: *goes_on,
                end: *end,
            }),
            PlannedStep::Jump { to } => Some(Work::Jump { to: *to }),
            // An artifact for a GPU that has one is not valid.
            PlannedStep::Product { .. }
            | PlannedStep::Attention { .. }
            | PlannedStep::Scatter { .. }
            | PlannedStep::Sort { .. }
            | PlannedStep::Routine { .. }
            | PlannedStep::Collective(_) => None,
        };
        steps.extend(work.map(|work| Step { index, work }));
    }
    // Loops and branches go on at places in the plan, of which some have nothing to do.
    let places: Vec<usize> = steps.iter().map(|step| step.index).collect();
    for step in &mut steps {
        if let Work::Turn { end: target, .. } | Work::Jump { to: target } = &mut step.work {
            *target = places.partition_point(|place| place < target);
        }
    }
    Ok(steps)
}

/// A launch, without its parameters; none of an empty grid.
fn launch(
    program: &CudaProgram,
    kernel: usize,
    blocks: i64,
    shared: usize,
    block: u32,
) -> Result<Option<Launch>, RuntimeError> {
    let (entry, code) = match (
        program.entries().get(kernel),
        program.artifact().kernels.get(kernel),
    ) {
        (Some(entry), Some(code)) if blocks > 0 => (entry, code),
        _ => return Ok(None),
    };
    let name = || code.name.clone();
    let grid = grid_of(blocks).ok_or_else(|| RuntimeError::Grid {
        kernel: name(),
        grid: blocks,
        limit: MAX_GRID,
    })?;
    let device = program.device();
    let bytes = (shared as u64).saturating_add(code.shared_bytes);
    let too_much = |message: Option<String>| RuntimeError::SharedMemory {
        kernel: name(),
        bytes,
        limit: device.shared_optin,
        message,
    };
    if bytes > device.shared_optin {
        return Err(too_much(None));
    }
    if bytes > device.shared {
        for function in [Some(&entry.aligned), entry.any.as_ref()]
            .into_iter()
            .flatten()
        {
            let allowed = device.allow_shared(function, code.shared_bytes);
            allowed.map_err(|error| too_much(Some(describe(error))))?;
        }
    }
    let way = |function: &Function| Way {
        function: function.clone(),
        library: None,
    };
    Ok(Some(Launch {
        kernel,
        aligned: way(&entry.aligned),
        any: entry.any.as_ref().map(way),
        buffers: Vec::new(),
        extents: Vec::new(),
        blocks,
        grid,
        block,
        // It fits: the limit of a block is far below this.
        shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX),
        own_shared_bytes: code.shared_bytes,
    }))
}

/// A grid of so many blocks, if one may have them.
fn grid_of(blocks: i64) -> Option<u32> {
    u32::try_from(blocks).ok().filter(|_| blocks <= MAX_GRID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_no_more_blocks_than_one_axis() {
        for (blocks, grid) in [
            (1, Some(1)),
            (MAX_GRID, Some(MAX_GRID as u32)),
            (MAX_GRID + 1, None),
            (i64::MAX, None),
        ] {
            assert_eq!(grid_of(blocks), grid, "{blocks}");
        }
    }

    #[test]
    fn patterns_are_the_low_bytes() {
        let bits = 0x1122_3344_5566_7788;
        let patterns = [1, 2, 4, 8].map(|size| Pattern::new(size, bits));
        let expected = [
            Pattern::One(0x88),
            Pattern::Two(0x7788),
            Pattern::Four(0x5566_7788),
            Pattern::Eight([0x5566_7788, 0x1122_3344]),
        ];
        assert_eq!(patterns, expected);
    }
}
