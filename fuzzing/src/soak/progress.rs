//! Progress, cost and end of a soak: it ends when its time is over, at Ctrl-C, or at SIGTERM.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ticks of a second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

/// Time, and whether to go on.
pub struct Progress {
    start: Instant,
    end: Instant,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// From now on, for `seconds`.
    pub fn start(seconds: u64) -> Self {
        let start = Instant::now();
        Self {
            start,
            end: start + Duration::from_secs(seconds),
            stop: Arc::default(),
        }
    }
    /// Signals end the soak as its time does; a second one ends the process.
    pub fn watch_signals(&self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        for signal in [SIGINT, SIGTERM] {
            // In this order: at the first signal the flag is not set yet, and nothing ends.
            let second = 128 + signal;
            signal_hook::flag::register_conditional_shutdown(signal, second, self.stop.clone())?;
            signal_hook::flag::register(signal, self.stop.clone())?;
        }
        Ok(())
    }
    /// True if no other case shall begin.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end || self.stop.load(Ordering::Relaxed)
    }
    /// Wall-clock seconds, and processor seconds of all threads if the system reports them.
    pub fn cost(&self) -> String {
        let wall = self.start.elapsed().as_secs();
        match cpu_seconds(Path::new("/proc/self/stat")) {
            Some(cpu) => format!("{wall} s, {cpu:.0} s of processor time"),
            None => format!("{wall} s, processor time unknown"),
        }
    }
}

/// User and system time of a process by its `stat`.
fn cpu_seconds(stat: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(stat).ok()?;
    ticks(&text).map(|ticks| ticks as f64 / TICKS)
}

/// Fields 14 and 15; the second, a name in parentheses, may hold blanks.
fn ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut times = after_name.split_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_a_strange_name() {
        let stat = "7 (a) b (c) R 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 1";
        assert_eq!(ticks(stat), Some(400));
        assert_eq!(ticks("7 (a"), None);
    }
}
