//! The threads of one runtime.
//!
//! The caller is worker 0; the others are a team of the runtime's own. There is no global state. With a single worker
//! there is no team, and everything runs on the caller.

use std::fmt;

use crate::team::{Effort, Team};

/// The number of pieces for each worker: enough that a late worker costs little, few enough that scheduling is cheap.
const CHUNKS_PER_WORKER: usize = 8;

/// The maximum number of workers: beyond any machine, and few enough that creating them cannot exhaust memory.
pub const MAX_WORKERS: usize = 1024;

/// Threads that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkersError {
    Count { found: usize },
    Start { count: usize, message: String },
}

impl fmt::Display for WorkersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkersError::Count { found } => {
                write!(f, "{found} threads, possible are 1 to {MAX_WORKERS}")
            }
            WorkersError::Start { count, message } => {
                write!(f, "cannot start {count} threads: {message}")
            }
        }
    }
}

impl std::error::Error for WorkersError {}

pub struct Workers {
    count: usize,
    /// All but the caller.
    team: Option<Team>,
}

impl Workers {
    pub fn new(count: usize) -> Result<Workers, WorkersError> {
        if !(1..=MAX_WORKERS).contains(&count) {
            return Err(WorkersError::Count { found: count });
        }
        let watches = count <= Workers::default_count();
        let team = (count > 1).then(|| Team::start(count - 1, watches));
        let team = team.transpose().map_err(|error| WorkersError::Start {
            count,
            message: error.to_string(),
        })?;
        Ok(Workers { count, team })
    }

    /// As many as the machine runs at a time.
    pub fn default_count() -> usize {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        count.min(MAX_WORKERS)
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `body(worker, begin, end)` for contiguous ranges that cover `0..total` once, never concurrently for one
    /// worker. The assignment of ranges to workers is unspecified.
    pub fn for_each_chunk(
        &self,
        total: i64,
        effort: Effort,
        body: &(dyn Fn(usize, i64, i64) + Sync),
    ) {
        let Some(team) = (self.team.as_ref()).filter(|_| total > 1 && effort != Effort::Tiny)
        else {
            if total > 0 {
                body(0, 0, total);
            }
            return;
        };
        let chunks = total.min((self.count * CHUNKS_PER_WORKER) as i64);
        team.run(chunks, effort, &|worker, chunk| {
            let (begin, end) = (bound(total, chunk, chunks), bound(total, chunk + 1, chunks));
            body(worker, begin, end);
        });
    }
}

/// The beginning of chunk `chunk` of `chunks`.
pub(crate) fn bound(total: i64, chunk: i64, chunks: i64) -> i64 {
    (i128::from(total) * i128::from(chunk) / i128::from(chunks)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn ranges(workers: usize, total: i64) -> Vec<(i64, i64)> {
        let seen = Mutex::new(Vec::new());
        let workers = Workers::new(workers).unwrap();
        workers.for_each_chunk(total, Effort::Unknown, &|worker, begin, end| {
            assert!(worker < workers.count());
            seen.lock().unwrap().push((begin, end));
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn chunks_cover_the_range_once() {
        for workers in [1, 2, 3, 7] {
            for total in [0, 1, 2, 13, 127, 4097, i64::MAX] {
                let ranges = ranges(workers, total);
                let mut at = 0;
                for (begin, end) in ranges {
                    assert_eq!(begin, at);
                    assert!(end > begin);
                    at = end;
                }
                assert_eq!(at, total, "{workers} workers");
            }
        }
    }

    #[test]
    fn a_worker_does_one_thing_at_a_time() {
        let workers = Workers::new(4).unwrap();
        let busy: Vec<Mutex<()>> = (0..4).map(|_| Mutex::new(())).collect();
        workers.for_each_chunk(1000, Effort::Heavy, &|worker, _, _| {
            let _alone = busy[worker]
                .try_lock()
                .expect("two chunks on one worker at a time");
            std::thread::yield_now();
        });
    }

    #[test]
    fn counts_that_cannot_be_are_errors() {
        let message = |count| Workers::new(count).err().unwrap().to_string();
        assert_eq!(message(0), "0 threads, possible are 1 to 1024");
        assert_eq!(message(1025), "1025 threads, possible are 1 to 1024");
        assert!(Workers::new(Workers::default_count()).is_ok());
    }
}
