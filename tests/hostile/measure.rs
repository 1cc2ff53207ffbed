//! One process under measurement: its exit, its processor time, its largest resident memory.
//!
//! The system tells both figures when the process is reaped (`wait4`), so the last instant counts. The memory is at least that of the
//! test process, which Linux passes on to a child (`setmax_mm_hiwater_rss` in `exec_mmap`). Time while it runs comes from `/proc`:
//! elsewhere than on Linux nothing is stopped before its time by the clock.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// A second of processor time, in the ticks of `/proc/PID/stat`.
const TICKS: u64 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// Times the processor time that may pass by the clock: others may use the machine.
const PATIENCE: u32 = 30;

/// The resources that a process used.
pub struct Used {
    /// `None`: it was stopped.
    pub status: Option<ExitStatus>,
    /// Processor time.
    pub time: Duration,
    /// Bytes.
    pub memory: u64,
}

impl Used {
    fn of(status: Option<ExitStatus>, used: wait4::ResourceUsage) -> Self {
        Self {
            status,
            time: used.utime + used.stime,
            memory: used.maxrss,
        }
    }
}

/// Runs `tool` and stops it after `longest` of processor time. Its output is discarded.
pub fn measure(tool: &str, args: &[String], folder: &Path, longest: Duration) -> Used {
    let mut child = Command::new(tool)
        .args(args)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a tool");
    let start = Instant::now();
    let process = format!("/proc/{}", child.id());
    while let Some(used) = running(&process) {
        if used > longest || start.elapsed() > PATIENCE * longest {
            child.kill().expect("a child");
            return Used::of(None, child.wait4().expect("a child").rusage);
        }
        std::thread::sleep(PAUSE);
    }
    let ended = child.wait4().expect("a child");
    Used::of(Some(ended.status), ended.rusage)
}

/// The processor time so far, that of children it waited for included; `None` once the process has ended.
fn running(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    let ticks = fields
        .get(11..15)?
        .iter()
        .map_while(|f| f.parse::<u64>().ok());
    Some(Duration::from_millis(ticks.sum::<u64>() * 1000 / TICKS))
}
