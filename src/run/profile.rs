//! The spread of times over many runs, for `--profile`.

use std::time::Duration;

/// Runs where the command line gives no number.
pub const RUNS: u32 = 100;
/// The maximum total time of repeated runs: slow programs run less often, but at least once.
pub const MOST_TIME: Duration = Duration::from_secs(10);

/// Percentiles of times, in milliseconds; each is a time that was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Runs.
    pub runs: usize,
    /// The shortest time.
    pub min: f64,
    /// The 50th percentile.
    pub median: f64,
    /// The 90th.
    pub p90: f64,
    /// The 99th.
    pub p99: f64,
}

impl Spread {
    /// The spread of samples; none of none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        // The smallest sample that so many of a hundred do not exceed.
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).copied()
        };
        Some(Self {
            runs: samples.len(),
            min: at(0)?,
            median: at(50)?,
            p90: at(90)?,
            p99: at(99)?,
        })
    }
}

/// Runs that fit the time, where one takes so long.
pub fn affordable(wanted: u32, one_ms: f64) -> u32 {
    let most = MOST_TIME.as_secs_f64() * 1e3 / one_ms.max(1e-6);
    // Saturates.
    wanted.min(most as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let spread = Spread::of(&samples).unwrap();
        let Spread {
            min,
            median,
            p90,
            p99,
            ..
        } = spread;
        assert_eq!(
            (spread.runs, min, median, p90, p99),
            (200, 1.0, 100.0, 180.0, 198.0)
        );
        let one = Spread::of(&[3.0]).unwrap();
        assert_eq!((one.min, one.median, one.p99), (3.0, 3.0, 3.0));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn slow_programs_run_less_often() {
        assert_eq!(affordable(100, 0.0), 100);
        assert_eq!(affordable(100, 1e3), 10);
        assert_eq!(affordable(100, 1e9), 1);
    }
}
