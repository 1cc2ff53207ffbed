//! One result, written completely or not at all: to a file (written to a temporary and renamed), to a device, or to
//! stdout.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::temporary::{self, Temporary};
use super::{closed, until_closed};
use fuser_runtime::streams::{Standard, was_closed};

/// Writes `text` to `path`, or stdout for `-`. A file is complete or not there: it is written beside and renamed.
pub fn write(path: &str, text: &str) -> Result<(), String> {
    Writer::default().write(path, text)
}

/// Writes many files; each folder is looked through for what killed runs left only once.
#[derive(Default)]
pub struct Writer {
    swept: BTreeSet<PathBuf>,
}

impl Writer {
    /// As [`write`].
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), String> {
        match standard(path) {
            Some(Standard::Error) => return super::report(text),
            Some(_) => to_stdout(text),
            None => self.file(Path::new(path), text),
        }
        .map_err(|e| not_written(path, &e))
    }
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        if is_special(path) {
            return until_closed(std::fs::write(path, text));
        }
        let mut file = self.beside(path)?;
        file.write_all(text.as_bytes())?;
        put(file, path)
    }
    /// A file in the folder of `path`, to be renamed to it.
    fn beside(&mut self, path: &Path) -> io::Result<Temporary> {
        let path = target(path);
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if self.swept.insert(folder.to_owned()) {
            temporary::sweep(folder);
        }
        temporary::file(folder, mode(&path))
    }
}

/// The standard stream that a path names. `/dev/stdout` is treated as `-`: reopening it would truncate a file behind it
/// and lose other output.
pub(super) fn standard(path: &str) -> Option<Standard> {
    match path {
        "-" | "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Standard::Output),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Standard::Error),
        _ => None,
    }
}

/// The error message, without the temporary file name that `tempfile` adds, which the user never gave.
fn not_written(path: &str, error: &io::Error) -> String {
    let path = if path == "-" { "<stdout>" } else { path };
    let text = error.to_string();
    let said = text.split_once(" at path ");
    let cause = said.map_or(text.as_str(), |(cause, _)| cause);
    format!("cannot write '{path}': {cause}")
}

fn to_stdout(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    if was_closed(Standard::Output) {
        return Err(closed());
    }
    let mut out = io::stdout().lock();
    until_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Gives a complete file its name. The target of a link is replaced, not the link.
fn put(file: Temporary, path: &Path) -> io::Result<()> {
    file.persist(&target(path))
}

/// The file that `path` names, behind all links.
fn target(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Devices and pipes cannot be renamed onto: `-o /dev/null`.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file())
}

/// A result that is written incrementally, so that it is never in memory as a whole.
///
/// A file is written to a temporary and replaces its target in [`Stream::finish`]; dropped earlier, it leaves nothing
/// behind. A device can receive only one program, because output to it cannot be undone.
pub struct Stream {
    path: String,
    open: Option<Target>,
    failed: Option<io::Error>,
}

enum Target {
    File(Temporary),
    Device(std::fs::File),
}

impl Stream {
    /// A stream to `path`, where it can be one: not to stdout, nor of several programs to a device.
    pub fn to(path: &str, alone: bool) -> Option<Self> {
        let fits = standard(path).is_none() && (alone || !is_special(Path::new(path)));
        fits.then(|| Self {
            path: path.to_owned(),
            open: None,
            failed: None,
        })
    }
    /// Begins a program, behind a line `marker` if it is not the first.
    pub fn begin(&mut self, marker: &str) -> fmt::Result {
        if self.open.is_some() {
            return writeln!(self, "{marker}");
        }
        let path = Path::new(&self.path);
        let opened = match is_special(path) {
            true => std::fs::File::options()
                .write(true)
                .open(path)
                .map(Target::Device),
            false => Writer::default().beside(path).map(Target::File),
        };
        match opened {
            Ok(target) => self.open = Some(target),
            Err(error) => self.failed = Some(error),
        }
        self.failed.as_ref().map_or(Ok(()), |_| Err(fmt::Error))
    }
    /// All is written: the file takes its place.
    pub fn finish(self) -> Result<(), String> {
        let path = Path::new(&self.path);
        let done = match (self.failed, self.open) {
            (Some(error), _) => until_closed(Err(error)),
            (None, None) => Writer::default().file(path, ""),
            (None, Some(Target::Device(_))) => Ok(()),
            (None, Some(Target::File(file))) => put(file, path),
        };
        done.map_err(|e| not_written(&self.path, &e))
    }
}

impl fmt::Write for Stream {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let written = match &mut self.open {
            Some(Target::File(file)) => file.write_all(text.as_bytes()),
            Some(Target::Device(file)) => file.write_all(text.as_bytes()),
            None => Ok(()),
        };
        written.map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

/// The mode of the file that is replaced, else of a new file; the user's mask takes its part of both.
fn mode(path: &Path) -> u32 {
    #[cfg(unix)]
    if let Ok(old) = std::fs::metadata(path) {
        return std::os::unix::fs::MetadataExt::mode(&old);
    }
    let _ = path;
    0o666
}
