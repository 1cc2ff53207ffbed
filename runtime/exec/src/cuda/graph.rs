//! A recorded run: a driver graph with the steps of a program and the addresses of its tensors, started by one call.
//!
//! It pays for programs of several short kernels that run repeatedly on the same tensors.

use cudarc::driver::{result, sys};

use super::executable::CudaExecutable;
use super::failed;
use crate::error::RuntimeError;

/// A run of a program on given tensors.
pub struct CudaGraph {
    executable: CudaExecutable,
    handle: sys::CUgraphExec,
}

// SAFETY: a handle that any thread may use for which the context is current, one at a time: launches take the graph mutably.
unsafe impl Send for CudaGraph {}

impl CudaExecutable {
    /// Records a run on these tensors without executing it; the addresses are those for [`run`](Self::run).
    ///
    /// # Errors
    /// Those of `run`, and those of the driver when it makes the graph.
    ///
    /// # Safety
    /// As for `run`, whenever the graph is launched.
    pub unsafe fn record(
        mut self,
        inputs: &[u64],
        outputs: &[u64],
    ) -> Result<CudaGraph, RuntimeError> {
        if self.has_conditions() {
            return Err(RuntimeError::Recorded);
        }
        let device = self.device().clone();
        device.bind()?;
        let stream: sys::CUstream = std::ptr::without_provenance_mut(device.stream() as usize);
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is the device's own.
        let begun = unsafe { result::stream::begin_capture(stream, mode) };
        begun.map_err(failed("cuStreamBeginCapture"))?;
        // SAFETY: nothing runs; the caller's word for later.
        let run = unsafe { self.run(inputs, outputs, device.stream()) };
        // SAFETY: the record of this stream was begun above.
        let graph = unsafe { result::stream::end_capture(stream) };
        let graph = graph.map_err(failed("cuStreamEndCapture"));
        let (run, graph) = match (run, graph) {
            (run, Ok(graph)) => (run, graph),
            (run, Err(error)) => return Err(run.err().unwrap_or(error)),
        };
        // SAFETY: the graph was made above and is ended once.
        let handle = unsafe {
            let handle = result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(graph);
            handle.map_err(failed("cuGraphInstantiate"))
        };
        let graph = CudaGraph {
            executable: self,
            handle: handle?,
        };
        run.map(|()| graph)
    }
}

impl CudaGraph {
    /// Starts the run on a stream, a `CUstream` as a number, by one call of the driver.
    ///
    /// # Errors
    /// Errors of the driver, which may come from earlier kernels.
    ///
    /// # Safety
    /// As for [`CudaExecutable::run`], with the tensors of the record.
    pub unsafe fn launch(&mut self, stream: u64) -> Result<(), RuntimeError> {
        self.executable.device().bind()?;
        let stream = std::ptr::without_provenance_mut(stream as usize);
        // SAFETY: the graph is alive; the caller's word on stream and tensors.
        let launched = unsafe { result::graph::launch(self.handle, stream) };
        launched.map_err(failed("cuGraphLaunch"))
    }

    /// The program that was recorded.
    pub fn executable(&self) -> &CudaExecutable {
        &self.executable
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        if self.executable.device().bind().is_ok() {
            // SAFETY: made by `record`, ended once. An error here has nobody to go to.
            let _ = unsafe { result::graph::exec_destroy(self.handle) };
        }
    }
}
