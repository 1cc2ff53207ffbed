//! The work of each thread in one run, with times.

use std::sync::Mutex;
use std::time::Instant;

/// The maximum number of spans of a run; loops make any number of steps, and later ones are not recorded.
const MOST: usize = 100_000;

/// The work of one worker on one loop of a step, from its first piece to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkSpan {
    /// The worker; 0 is the caller.
    pub worker: usize,
    /// The number of the segment, in the order of the report.
    pub segment: usize,
    /// Milliseconds since the run began.
    pub start_ms: f64,
    /// Milliseconds since the run began.
    pub end_ms: f64,
}

/// A recording of a run.
pub(crate) struct Timeline {
    start: Instant,
    /// For each worker its first and last moment in the loop that runs now.
    now: Vec<Mutex<Option<(Instant, Instant)>>>,
    done: Mutex<Vec<WorkSpan>>,
}

impl Timeline {
    /// A recording that begins now.
    pub fn new(workers: usize) -> Timeline {
        Timeline {
            start: Instant::now(),
            now: (0..workers).map(|_| Mutex::new(None)).collect(),
            done: Mutex::new(Vec::new()),
        }
    }

    /// Runs a piece of the current loop on `worker`.
    pub fn piece(&self, worker: usize, work: impl FnOnce()) {
        let begin = Instant::now();
        work();
        let end = Instant::now();
        let slot = self.now.get(worker).and_then(|slot| slot.lock().ok());
        if let Some(mut slot) = slot {
            let first = slot.map_or(begin, |(first, _)| first);
            *slot = Some((first, end));
        }
    }

    /// Ends the current loop, which belongs to `segment`.
    pub fn end_loop(&self, segment: usize) {
        let Ok(mut done) = self.done.lock() else {
            return;
        };
        for (worker, slot) in self.now.iter().enumerate() {
            let span = slot.lock().ok().and_then(|mut slot| slot.take());
            let Some((begin, end)) = span.filter(|_| done.len() < MOST) else {
                continue;
            };
            let ms = |at: Instant| at.duration_since(self.start).as_secs_f64() * 1e3;
            done.push(WorkSpan {
                worker,
                segment,
                start_ms: ms(begin),
                end_ms: ms(end),
            });
        }
    }

    /// All spans, in the order of their loops.
    pub fn finish(self) -> Vec<WorkSpan> {
        self.done.into_inner().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_loop_are_one_span_for_each_worker() {
        let timeline = Timeline::new(3);
        timeline.piece(2, || ());
        timeline.piece(0, || ());
        timeline.piece(2, || {
            std::thread::sleep(std::time::Duration::from_millis(1))
        });
        timeline.end_loop(5);
        timeline.piece(2, || ());
        timeline.end_loop(6);
        timeline.end_loop(7);
        let spans = timeline.finish();
        let told: Vec<_> = spans
            .iter()
            .map(|span| (span.worker, span.segment))
            .collect();
        assert_eq!(told, [(0, 5), (2, 5), (2, 6)]);
        assert!(spans[1].end_ms - spans[1].start_ms >= 1.0);
        assert!(spans[2].start_ms >= spans[1].end_ms);
    }
}
