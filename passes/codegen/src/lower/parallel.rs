//! Independent jobs on as many threads as the machine runs at a time.
//!
//! The results are in the order of the jobs, whatever the number of threads. The calling thread works too; if no other
//! thread can be started, it runs all jobs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// The stack of a thread, in bytes: LLVM recurses on the depth of expressions. A process mostly has as much.
const STACK_BYTES: usize = 8 << 20;

/// `job(0), job(1), ..., job(count - 1)`. A panic of a job is the caller's.
pub fn map<T: Send>(count: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let result = job(index);
            if let Ok(mut done) = done.lock() {
                done.push((index, result));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let builder = Builder::new().stack_size(STACK_BYTES);
            if builder.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for count in [0, 1, 2, 3, 257] {
            let squares = map(count, |n| n * n);
            let wanted: Vec<usize> = (0..count).map(|n| n * n).collect();
            assert_eq!(squares, wanted);
        }
    }
}
