//! One process under measurement: its exit, its processor time, its largest resident memory.
//!
//! Read from `/proc` while it runs and, of its time, once it has ended and before it is reaped; so only Linux measures, elsewhere both
//! figures are zero. The memory of the last two milliseconds is not seen: what a process can touch in them is a few megabytes.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A second of processor time, in the ticks of `/proc/PID/stat`.
const TICKS: u64 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// Times the processor time that may pass by the clock: others may use the machine.
const PATIENCE: u32 = 30;

/// The resources that a process used.
pub struct Used {
    /// `None`: it was stopped.
    pub status: Option<ExitStatus>,
    /// Processor time, in steps of ten milliseconds.
    pub time: Duration,
    /// Bytes.
    pub memory: u64,
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
    let (mut memory, mut time) = (0, Duration::ZERO);
    let status = loop {
        memory = memory.max(peak(&process).unwrap_or(0));
        let ended = match stat(&process) {
            Some((state, used)) => {
                time = used;
                state == "Z"
            }
            None => true,
        };
        if ended && let Some(status) = child.try_wait().expect("a child") {
            break Some(status);
        }
        if time > longest || start.elapsed() > PATIENCE * longest {
            child.kill().expect("a child");
            child.wait().expect("a child");
            break None;
        }
        std::thread::sleep(PAUSE);
    };
    Used {
        status,
        time,
        memory,
    }
}

fn peak(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// State and processor time, that of children it waited for included.
fn stat(process: &str) -> Option<(String, Duration)> {
    let stat = std::fs::read_to_string(format!("{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields
        .get(11..15)?
        .iter()
        .map_while(|f| f.parse::<u64>().ok())
        .sum();
    Some((
        fields.first()?.to_string(),
        Duration::from_millis(ticks * 1000 / TICKS),
    ))
}
