//! Files and streams: read whole within a limit, written whole or not at all, at once or as a program is printed.

use std::fmt::{self, Write as _};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use fuser_ir::limits::MAX_SOURCE_BYTES;
use tempfile::NamedTempFile;

/// How much is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: usize,
    /// The flag that raises it, where there is one.
    pub raised_by: Option<&'static str>,
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            bytes: MAX_SOURCE_BYTES,
            raised_by: None,
        }
    }
}

/// Reads `path`, or stdin for `-`. The message says what is wrong.
pub fn read(path: &str, limit: Limit) -> Result<String, String> {
    let most = limit.bytes as u64;
    let mut bytes = Vec::new();
    // One byte more than the limit tells "too large" from "just fits".
    let read = match path {
        "-" => io::stdin()
            .lock()
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes),
        path => std::fs::File::open(path)
            .and_then(|f| f.take(most.saturating_add(1)).read_to_end(&mut bytes)),
    };
    let path = if path == "-" { "<stdin>" } else { path };
    read.map_err(|e| format!("cannot read '{path}': {e}"))?;
    if bytes.len() as u64 > most {
        let raise = limit.raised_by.map(|flag| format!("; raise {flag}"));
        let raise = raise.unwrap_or_default();
        return Err(format!("'{path}' has more than {most} bytes{raise}"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        format!("'{path}' is not UTF-8 text: byte {at} is no character")
    })
}

/// Writes `text` to `path`, or stdout for `-`. A file is complete or not there: it is written beside and renamed.
pub fn write(path: &str, text: &str) -> Result<(), String> {
    match path {
        "-" => to_stdout(text),
        path => write_file(Path::new(path), text),
    }
    .map_err(|e| not_written(path, &e))
}

/// The message. The name that a file has before it is renamed, which `tempfile` adds, is left out: nobody gave it.
fn not_written(path: &str, error: &io::Error) -> String {
    let path = if path == "-" { "<stdout>" } else { path };
    let text = error.to_string();
    let said = text.split_once(" at path ");
    let cause = said.map_or(text.as_str(), |(cause, _)| cause);
    format!("cannot write '{path}': {cause}")
}

fn to_stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match done {
        // `fuser-opt ... | head` is no mistake.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if is_special(path) {
        return std::fs::write(path, text);
    }
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    put(file, path)
}

/// Gives a complete file its name. What a link names is replaced, not the link.
fn put(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let replaced = file.persist(target(path));
    replaced.map(|_| ()).map_err(|e| e.error)
}

/// The file that `path` names, behind all links.
fn target(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Devices and pipes cannot be renamed onto: `-o /dev/null`.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file())
}

/// A file in the folder of `path`, to be renamed to it.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let path = target(path);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::Builder::new()
        .prefix(".fuser-")
        .permissions(permissions(&path))
        .tempfile_in(folder)
}

/// A result that is written as it is made, so that it is never in memory as a whole.
///
/// A file is written beside its target and replaces it in [`Stream::finish`]; dropped before, it leaves nothing behind. A
/// device can take one program alone: what is written to it cannot be taken back.
pub struct Stream {
    path: String,
    open: Option<Target>,
    failed: Option<io::Error>,
}

enum Target {
    File(NamedTempFile),
    Device(std::fs::File),
}

impl Stream {
    /// A stream to `path`, where it can be one: not to stdout, nor of several programs to a device.
    pub fn to(path: &str, alone: bool) -> Option<Self> {
        let fits = path != "-" && (alone || !is_special(Path::new(path)));
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
            false => beside(path).map(Target::File),
        };
        match opened {
            Ok(target) => self.open = Some(target),
            Err(error) => self.failed = Some(error),
        }
        self.failed.as_ref().map_or(Ok(()), |_| Err(fmt::Error))
    }
    /// All is written: the file takes its place.
    pub fn finish(self) -> Result<(), String> {
        let done = match (self.failed, self.open) {
            (Some(error), _) => Err(error),
            (None, None) => write_file(Path::new(&self.path), ""),
            (None, Some(Target::Device(_))) => Ok(()),
            (None, Some(Target::File(file))) => put(file, Path::new(&self.path)),
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

/// Those of the file that is replaced, else what a new file has; the user's mask takes its part of both.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    let old = std::fs::metadata(path).map(|m| m.permissions());
    old.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o666))
}

/// Says something on stderr. A closed stderr is nobody's mistake.
pub fn say(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes());
}
