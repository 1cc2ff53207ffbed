//! The speed of a memory copy on this machine, the reference for the time of a memory-bound program.

use std::time::Instant;

use crate::error::RuntimeError;
use crate::execute::parallel_copy;
use crate::report::median;
use crate::runtime::Runtime;

pub(crate) const WARMUPS: usize = 2;
pub(crate) const REPEATS: usize = 7;

/// The time of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyTime {
    /// Bytes read and bytes written, together.
    pub bytes: u64,
    /// The median of several copies, in milliseconds.
    pub time_ms: f64,
}

impl CopyTime {
    /// Bytes per second; 0 for no bytes.
    pub fn bandwidth(&self) -> f64 {
        if self.time_ms > 0.0 {
            self.bytes as f64 / (self.time_ms * 1e-3)
        } else {
            0.0
        }
    }
}

/// Times a copy that reads half of `bytes` and writes the other half, with the runtime's threads.
pub fn copy_bandwidth(runtime: &Runtime, bytes: u64) -> Result<CopyTime, RuntimeError> {
    let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
    runtime.heap().check(bytes)?;
    let mut from = runtime.heap().allocate(half)?;
    // Pages that nobody wrote to are all the same zero page, which would stay in the cache.
    from.fill(1);
    let mut to = runtime.heap().allocate(half)?;
    let mut once = || {
        let start = Instant::now();
        parallel_copy(runtime.workers(), &from, &mut to);
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..WARMUPS).for_each(|_| {
        once();
    });
    let time_ms = median((0..REPEATS).map(|_| once()).collect());
    let bytes = 2 * half as u64;
    Ok(CopyTime { bytes, time_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Heap;

    #[test]
    fn copies_are_timed_and_refused() {
        let runtime = Runtime::with_heap(Some(2), Heap::with_limit(1 << 20)).unwrap();
        let time = copy_bandwidth(&runtime, 1 << 20).unwrap();
        assert_eq!(time.bytes, 1 << 20);
        assert!(time.time_ms > 0.0 && time.bandwidth() > 0.0);
        assert_eq!(runtime.heap().in_use(), 0);
        let error = copy_bandwidth(&runtime, (1 << 20) + 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "too little memory: needs 1048578 bytes, limit 1048576"
        );
        assert_eq!(copy_bandwidth(&runtime, 1).unwrap().bytes, 0);
        assert!(copy_bandwidth(&runtime, u64::MAX).is_err());
    }
}
