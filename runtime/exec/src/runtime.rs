//! The threads and the memory that runs share.

use std::sync::Arc;

use crate::error::RuntimeError;
use crate::memory::Heap;
use crate::workers::Workers;

/// The share of the machine that a runtime takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuntimeConfig {
    /// Threads; as many as the machine runs at a time, if not given.
    pub threads: Option<usize>,
    /// The maximum bytes of host memory in use at once; by default, the memory that is free at the start.
    pub memory_limit: Option<u64>,
}

/// Threads and memory. Runtimes share nothing with each other.
pub struct Runtime {
    workers: Arc<Workers>,
    heap: Heap,
    records: bool,
}

impl Runtime {
    pub fn new(config: RuntimeConfig) -> Result<Runtime, RuntimeError> {
        let heap = config
            .memory_limit
            .map_or_else(Heap::system, Heap::with_limit);
        Runtime::with_heap(config.threads, heap)
    }

    /// A runtime whose memory comes from elsewhere.
    pub fn with_heap(threads: Option<usize>, heap: Heap) -> Result<Runtime, RuntimeError> {
        let count = threads.unwrap_or_else(Workers::default_count);
        let workers = Arc::new(Workers::new(count)?);
        Ok(Runtime {
            workers,
            heap,
            records: false,
        })
    }

    /// A runtime that records, in one more run after the timed ones, which worker did what and when (CPU only).
    pub fn recording(mut self) -> Runtime {
        self.records = true;
        self
    }

    pub(crate) fn records(&self) -> bool {
        self.records
    }

    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// The threads, for what outlives a borrow of the runtime.
    pub(crate) fn shared_workers(&self) -> Arc<Workers> {
        Arc::clone(&self.workers)
    }

    pub fn heap(&self) -> &Heap {
        &self.heap
    }
}

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The number of untimed runs before the timed ones. The first run also pays for the memory's pages.
    pub warmup: u32,
    /// Runs that are timed; times are medians. At least one takes place.
    pub repeats: u32,
    /// Runs the checks of [`checks`](crate::checks) (CPU only).
    pub checks: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            warmup: 0,
            repeats: 1,
            checks: false,
        }
    }
}
