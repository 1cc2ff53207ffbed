//! Evaluates a list in parallel until its first hit is known.
//!
//! The result equals that of one thread evaluating the list in order: all entries up to the first hit, and no later
//! one. Results of other threads further down are discarded, so the number of threads has no effect.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The entries `0..count` in order, up to and including the first for which `hit` holds. Fewer if `stop` is set meanwhile.
///
/// `evaluate` gets the index and a function that says whether its answer is still wanted.
pub fn until_hit<T: Send>(
    count: usize,
    jobs: usize,
    stop: &AtomicBool,
    evaluate: impl Fn(usize, &(dyn Fn() -> bool + Sync)) -> T + Sync,
    hit: impl Fn(&T) -> bool + Sync,
) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let (next, first) = (AtomicUsize::new(0), AtomicUsize::new(count));
    let stopped = || stop.load(Ordering::Relaxed);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= first.load(Ordering::SeqCst) || index >= count || stopped() {
                return;
            }
            let unwanted = || first.load(Ordering::SeqCst) < index || stopped();
            let answer = evaluate(index, &unwanted);
            if hit(&answer) {
                first.fetch_min(index, Ordering::SeqCst);
            }
            if let (false, Ok(mut slot)) = (unwanted(), slots[index].lock()) {
                *slot = Some(answer);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            scope.spawn(work);
        }
    });
    let wanted = slots.into_iter().take(first.into_inner().saturating_add(1));
    let answers = wanted.map(|slot| slot.into_inner().ok().flatten());
    // Without `stop` there is no gap: an index is taken only while nothing before it was a hit.
    answers.map_while(|answer| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(count: usize, jobs: usize, hits: &[usize]) -> Vec<usize> {
        let stop = AtomicBool::new(false);
        let hit = |i: &usize| hits.contains(i);
        // Later entries are faster, so that hits are found in the wrong order.
        let evaluate = |i: usize, _: &(dyn Fn() -> bool + Sync)| {
            std::thread::sleep(std::time::Duration::from_micros(50 * (count - i) as u64));
            i
        };
        until_hit(count, jobs, &stop, evaluate, hit)
    }

    #[test]
    fn the_number_of_threads_does_not_show() {
        for jobs in [1, 2, 3, 8, 100] {
            assert_eq!(run(17, jobs, &[]), (0..17).collect::<Vec<_>>());
            assert_eq!(run(17, jobs, &[5, 6, 16]), (0..=5).collect::<Vec<_>>());
            assert_eq!(run(17, jobs, &[0, 1]), [0]);
            assert_eq!(run(0, jobs, &[]), [0; 0]);
        }
    }
    #[test]
    fn a_stop_leaves_no_gap() {
        let stop = AtomicBool::new(false);
        let evaluate = |i: usize, _: &(dyn Fn() -> bool + Sync)| {
            stop.fetch_or(i == 3, Ordering::Relaxed);
            i
        };
        let found = until_hit(1000, 4, &stop, evaluate, |_| false);
        assert!(found.len() < 1000);
        assert_eq!(found, (0..found.len()).collect::<Vec<_>>());
    }
    #[test]
    fn what_is_not_wanted_is_told_so() {
        let stop = AtomicBool::new(false);
        // Every entry but the first waits until it is not wanted: without cancelling this would never end.
        let evaluate = |i: usize, unwanted: &(dyn Fn() -> bool + Sync)| {
            while i > 0 && !unwanted() {
                std::thread::yield_now();
            }
            i
        };
        assert_eq!(until_hit(4, 4, &stop, evaluate, |i| *i == 0), [0]);
    }
}
