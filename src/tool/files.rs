//! Files and streams: read whole within a limit, written whole or not at all.

use std::io::{self, Read, Write};
use std::path::Path;

use fuser_ir::limits::MAX_SOURCE_BYTES;

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
    .map_err(|e| format!("cannot write '{path}': {e}"))
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
    // Devices and pipes cannot be renamed onto: `-o /dev/null`.
    let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
    if special {
        return std::fs::write(path, text);
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".fuser-")
        .permissions(permissions(path))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(|_| ()).map_err(|e| e.error)
}

/// Those of the file that is replaced, else what a new file has.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    let old = std::fs::metadata(path).map(|m| m.permissions());
    old.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o644))
}

/// Says something on stderr. A closed stderr is nobody's mistake.
pub fn say(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes());
}
