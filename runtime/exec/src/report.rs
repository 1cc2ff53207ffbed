//! The report of a run: times, memory and extents.

use fuser_artifact::{Direction, SegmentKind};

use crate::timeline::WorkSpan;

/// Times and sizes of a run, without compilation and loading.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    pub segments: Vec<SegmentReport>,
    /// All steps, from the first to the last; the median over the repetitions.
    pub total_ms: f64,
    /// Milliseconds of each repetition.
    pub samples_ms: Vec<f64>,
    /// Memory at its peak: inputs, outputs, temporaries and scratch, as planned.
    pub peak_bytes: u64,
    /// The part of it that temporaries share.
    pub arena_bytes: u64,
    /// Workers of a CPU, 0 for a GPU.
    pub threads: usize,
    /// The number of devices that ran the program, each a rank. Times and bytes of segments are those of the first
    /// rank, memory that of all.
    pub ranks: usize,
    /// The named extents with their values.
    pub extents: Vec<(String, i64)>,
    /// The number of the executed version, counted from 1, and the number of versions: those of an artifact, or those
    /// planned so far for a program compiled on demand. `None` if several programs ran.
    pub version: Option<(usize, usize)>,
    /// The GPU that it ran on.
    pub gpu: Option<GpuReport>,
    /// The work of each worker in one run; empty unless the runtime records.
    pub timeline: Vec<WorkSpan>,
}

/// A GPU on which a program ran.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuReport {
    /// The device's name.
    pub name: String,
    /// The counts of a simulator since the process began, as JSON.
    pub simulator: Option<String>,
    /// The launches of a run, in order.
    pub launches: Vec<LaunchReport>,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// The kernel's name.
    pub kernel: String,
    /// The segment that it is part of.
    pub segment: String,
    /// Blocks of the grid, and threads of each.
    pub blocks: i64,
    pub block: u32,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// True if the kernel multiplies on tensor cores.
    pub tensor_cores: bool,
    /// Registers of a thread; `None` where the driver does not say.
    pub registers: Option<u32>,
    /// The number of resident blocks of a multiprocessor, and the fraction of its warps that they occupy.
    pub blocks_per_multiprocessor: u32,
    pub occupancy: f64,
    /// The choice between cuBLASLt and the kernel for a product: `called` (without blocks), or the reason why the
    /// kernel was launched.
    pub cublaslt: Option<&'static str>,
    /// The time between the events around it; the median over the repetitions.
    pub time_ms: f64,
}

/// The part of a report about one segment. Its bytes are those of the plan's cost model, for these extents.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentReport {
    pub name: String,
    /// The ops that describe the segment best, and the number of its name; empty if the artifact has no label.
    pub label: String,
    pub kind: SegmentKind,
    pub ops: u32,
    pub sweeps: u32,
    pub read_bytes: i64,
    pub write_bytes: i64,
    pub values: Vec<ValueReport>,
    /// All steps of the segment together; the median over the repetitions.
    pub time_ms: f64,
    /// Milliseconds of each repetition.
    pub samples_ms: Vec<f64>,
}

/// A value that crosses a segment's boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueReport {
    pub name: String,
    pub direction: Direction,
    pub bytes: i64,
}

/// Times of one execution in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    pub segments: Vec<f64>,
    pub total: f64,
}

impl Times {
    pub fn new(segments: usize) -> Times {
        Times {
            segments: vec![0.0; segments],
            total: 0.0,
        }
    }

    pub fn add(&mut self, segment: usize, ms: f64) {
        if let Some(sum) = self.segments.get_mut(segment) {
            *sum += ms;
        }
    }
}

/// The segments with the medians of these times, and the median of the total times.
pub(crate) fn summarise(
    segments: &[SegmentReport],
    samples: &[Times],
) -> (Vec<SegmentReport>, f64) {
    let timed = segments.iter().enumerate().map(|(index, segment)| {
        let times = samples
            .iter()
            .filter_map(|times| times.segments.get(index).copied());
        let samples_ms: Vec<f64> = times.collect();
        SegmentReport {
            time_ms: median(samples_ms.clone()),
            samples_ms,
            ..segment.clone()
        }
    });
    let total = median(samples.iter().map(|times| times.total).collect());
    (timed.collect(), total)
}

/// The middle value (the lower of two); 0 of none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![3.0]), 3.0);
        assert_eq!(median(vec![9.0, 1.0]), 1.0);
        assert_eq!(median(vec![5.0, 100.0, 1.0]), 5.0);
    }

    #[test]
    fn times_of_a_segment_add_up_within_a_run_and_take_the_median_over_runs() {
        let segment = SegmentReport {
            name: "s".to_string(),
            label: String::new(),
            kind: SegmentKind::Kernel,
            ops: 1,
            sweeps: 1,
            read_bytes: 0,
            write_bytes: 0,
            values: Vec::new(),
            time_ms: 0.0,
            samples_ms: Vec::new(),
        };
        let samples: Vec<Times> = [1.0, 2.0, 9.0]
            .iter()
            .map(|ms| {
                let mut times = Times::new(1);
                times.add(0, *ms);
                times.add(0, 1.0);
                times.add(7, 1.0);
                times.total = *ms;
                times
            })
            .collect();
        let (segments, total) = summarise(&[segment], &samples);
        assert_eq!((segments[0].time_ms, total), (3.0, 2.0));
        assert_eq!(segments[0].samples_ms, [2.0, 3.0, 10.0]);
    }
}
