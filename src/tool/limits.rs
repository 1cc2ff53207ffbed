//! Limits that the system sets for this process.

#[cfg(unix)]
use std::sync::Arc;

/// Turns a write beyond the maximum file size (`ulimit -f`) into an error like that of a full disk. By default the
/// system ends the process and leaves a partial file.
pub fn large_files_are_errors() {
    // The flag is not looked at: that the signal is caught is enough. Where it cannot be, all is as before.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// The stack size of the main thread in bytes, if the system reports it (Linux); `u64::MAX` if there is no limit.
pub fn stack() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    soft(&text, "Max stack size")
}

/// The limit that holds now, in the first column.
fn soft(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name));
    match line?.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max cpu time              unlimited            unlimited            seconds   \n\
                    Max stack size            65536                unlimited            bytes     \n";
        assert_eq!(soft(text, "Max stack size"), Some(65536));
        assert_eq!(soft(text, "Max cpu time"), Some(u64::MAX));
        assert_eq!(soft(text, "Max pending signals"), None);
    }
}
