//! Runs a command of the user's on a program, with a time limit.
//!
//! Each run has a folder of its own, which also holds its temporary files, and a process group of its own. A run that
//! takes too long or is no longer needed is killed with all its child processes. Nothing is left behind: the next
//! `fuser-reduce` removes the files of one that was killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::tool::files::temporary;

/// Removes the folders that a killed `fuser-reduce` left.
pub fn sweep() {
    temporary::sweep(&std::env::temp_dir());
}

/// Bytes of a command's stderr that are read; a message's head is at its start.
const MAX_STDERR_BYTES: u64 = 64 << 10;
/// The intervals at which a running command is polled. The short interval lets quick commands finish without delay.
const POLL: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(10)];
/// The program as the command sees it.
const FILE: &str = "input.fir";

/// A command line for the shell.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    line: String,
    timeout: Duration,
    path: Option<OsString>,
}

/// The end of a run.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Done {
        /// Its status.
        status: ExitStatus,
        /// The beginning of what it wrote to stderr.
        stderr: String,
    },
    /// It took too long.
    TimedOut,
    /// It was not wanted any more.
    Cancelled,
}

impl ShellCommand {
    /// `command` with the file in the place of each `%s`, else as its last argument.
    pub fn new(command: &str, timeout: Duration) -> Self {
        let line = match command.contains("%s") {
            true => command.replace("%s", "\"$1\""),
            false => format!("{command} \"$1\""),
        };
        Self {
            line,
            timeout,
            path: None,
        }
    }
    /// Looks for programs in the folder of this one first.
    pub fn beside_this_program(mut self) -> Self {
        let own = std::env::current_exe().ok();
        let folder = own.as_deref().and_then(Path::parent).map(Path::to_owned);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = folder.into_iter().chain(std::env::split_paths(&path));
        self.path = std::env::join_paths(folders).ok();
        self
    }
    /// Runs it on the program `text`.
    pub fn run(&self, text: &str, cancelled: &(dyn Fn() -> bool + Sync)) -> io::Result<Ended> {
        let (folder, _lock) = temporary::folder(&std::env::temp_dir())?;
        let (file, errors) = (folder.path().join(FILE), folder.path().join("stderr"));
        std::fs::write(&file, text)?;
        let mut command = Command::new("sh");
        command.args(["-c", &self.line, "sh"]).arg(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&errors)?);
        command.env("TMPDIR", folder.path());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        own_group(&mut command);
        let mut child = command.spawn()?;
        Ok(match self.wait(&mut child, cancelled)? {
            Ok(status) => Ended::Done {
                status,
                stderr: head(&errors)?,
            },
            Err(ended) => {
                kill_group(&mut child);
                ended
            }
        })
    }
    fn wait(
        &self,
        child: &mut Child,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Result<ExitStatus, Ended>> {
        let start = Instant::now();
        let mut pause = POLL[0];
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Ok(status));
            }
            if cancelled() {
                return Ok(Err(Ended::Cancelled));
            }
            if start.elapsed() >= self.timeout {
                return Ok(Err(Ended::TimedOut));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL[1]);
        }
    }
}

fn head(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_STDERR_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ctrl-C goes to the group of the terminal: a test in a group of its own ends when we end it, not halfway.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}
#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// Kills the command and what it started. The standard library signals single processes only, so the shell does it.
fn kill_group(child: &mut Child) {
    if cfg!(unix) {
        let line = format!("kill -s KILL -- -{}", child.id());
        let mut kill = Command::new("sh");
        kill.args(["-c", &line]).stdin(Stdio::null());
        let _ = kill.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, text: &str) -> Ended {
        let command = ShellCommand::new(command, Duration::from_secs(60));
        command.run(text, &|| false).unwrap()
    }
    fn code(ended: Ended) -> Option<i32> {
        match ended {
            Ended::Done { status, .. } => status.code(),
            _ => None,
        }
    }

    #[test]
    fn the_file_is_the_last_argument_or_takes_the_place_of_percent_s() {
        assert_eq!(code(run("grep -q needle", "hay needle hay")), Some(0));
        assert_eq!(code(run("grep -q needle", "hay")), Some(1));
        assert_eq!(
            code(run("cat %s %s | grep -c hay | grep -qx 2", "hay\n")),
            Some(0)
        );
    }
    #[test]
    fn stderr_is_kept_up_to_a_limit() {
        let Ended::Done { stderr, .. } = run("cat %s %s >&2", &"x".repeat(40 << 10)) else {
            panic!("did not end");
        };
        assert_eq!(stderr.len() as u64, MAX_STDERR_BYTES);
    }
    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let line = format!("(sleep 2; touch {}) & sleep 60; true", mark.display());
        let start = Instant::now();
        let command = ShellCommand::new(&line, Duration::from_millis(200));
        assert!(matches!(
            command.run("", &|| false).unwrap(),
            Ended::TimedOut
        ));
        assert!(start.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_secs(3));
        assert!(!mark.exists());
    }
    #[test]
    fn what_is_not_wanted_is_not_waited_for() {
        let command = ShellCommand::new("sleep 60; true", Duration::from_secs(60));
        assert!(matches!(
            command.run("", &|| true).unwrap(),
            Ended::Cancelled
        ));
    }
}
