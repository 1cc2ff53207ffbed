//! A program bound to extents on any device: the part of its interface that does not depend on the device.

use fuser_artifact::Artifact;

#[cfg(feature = "cuda")]
use crate::cuda::CudaGraph;
use crate::error::RuntimeError;

/// A program bound to extents, with the memory of its temporaries on the device that runs it.
pub trait BoundProgram: Send {
    /// The artifact of the version that runs.
    fn artifact(&self) -> &Artifact;

    /// The bytes of each input.
    fn input_bytes(&self) -> &[usize];

    /// The bytes of each output.
    fn output_bytes(&self) -> &[usize];

    /// For each output, the input that it overwrites, if any: the two may be the same memory.
    fn overwrites(&self) -> &[Option<usize>];

    /// The alignment of an output's memory, in bytes.
    fn output_align(&self, output: usize) -> usize;

    /// Runs the program on memory of the host, and waits for the results. A GPU works on copies.
    ///
    /// # Errors
    /// Memory with a wrong length or alignment; an error of the device.
    fn run_on_host(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RuntimeError>;

    /// Runs the program on addresses of the device's memory. A CPU is done when this returns. A GPU does the work later,
    /// in the order of `stream`, a `CUstream` as a number.
    ///
    /// # Errors
    /// A wrong number of addresses, or unaligned ones; null for a tensor that has elements; an error of the device.
    ///
    /// # Safety
    /// Each address is good for [`input_bytes`](Self::input_bytes) or [`output_bytes`](Self::output_bytes) bytes. Until
    /// the work is done, nobody writes to the inputs, nobody else uses the outputs, and the program is neither dropped
    /// nor run on another stream. An output overlaps nothing except the input that it overwrites, and that input
    /// exactly. The stream belongs to the device's primary context.
    unsafe fn start(
        &mut self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        stream: u64,
    ) -> Result<(), RuntimeError>;

    /// Records a run on these addresses without executing it, to be started again and again by one call of the driver.
    ///
    /// # Errors
    /// Errors of [`start`](Self::start); a device that is no GPU; a program whose steps depend on data.
    ///
    /// # Safety
    /// As for [`start`](Self::start), whenever the graph is launched.
    #[cfg(feature = "cuda")]
    unsafe fn record(
        self: Box<Self>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> Result<CudaGraph, RuntimeError>;
}
