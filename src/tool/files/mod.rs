//! Files and streams: read whole within a limit, written whole or not at all, at once or as a program is printed.
//!
//! | file | what |
//! |---|---|
//! | this file | reading; what is said on stderr |
//! | `write.rs` | one result, to a file, a device or stdout |
//! | `staging.rs` | several files that appear together |
//! | `temporary.rs` | the folders that files are in before they are whole |
//! | `claims.rs` | files of a command line that are one |

pub mod claims;
mod staging;
pub mod temporary;
mod write;

use std::io::{self, Read, Write};
use std::path::Path;

use fuser_ir::limits::MAX_SOURCE_BYTES;
use fuser_runtime::streams::{Standard, was_closed};

use super::foreign;

pub use staging::Staging;
pub use write::{Stream, Writer, write};

/// The limit on the bytes read.
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

/// Reads `path`, or stdin for `-`. Pipes are read to their end. The error message describes the problem.
pub fn read(path: &str, limit: Limit) -> Result<String, String> {
    let most = limit.bytes as u64;
    let mut bytes = Vec::new();
    // One byte more than the limit tells "too large" from "just fits".
    let read = match path {
        "-" if was_closed(Standard::Input) => Err(closed()),
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
        let told = foreign::of_bytes(e.as_bytes(), path);
        let told = told.map_or(String::new(), |(what, advice)| {
            format!("; {what}: {advice}")
        });
        format!("'{path}' is not UTF-8 text: byte {at} is no character{told}")
    })
}

/// Reads the file `name` of a folder, where another file supplied the name. It must lie in that folder, also behind
/// links. Pipes and devices, which could block forever, are refused without opening.
pub fn read_in(folder: &Path, name: &str, limit: Limit) -> Result<String, String> {
    let path = folder.join(name);
    let shown = path.to_string_lossy();
    if !is_plain(name) {
        return Err(format!("'{name}' is no name of a file in this folder"));
    }
    let inside = || -> io::Result<bool> {
        let own = std::fs::canonicalize(folder)?;
        Ok(std::fs::canonicalize(&path)?.parent() == Some(&own))
    };
    let inside = match inside() {
        // A system without real paths, such as WASI: a file that is no link lies in its folder.
        Err(e) if e.kind() == io::ErrorKind::Unsupported => {
            std::fs::symlink_metadata(&path).map(|found| !found.is_symlink())
        }
        found => found,
    };
    match inside {
        Err(e) => return Err(format!("cannot read '{shown}': {e}")),
        Ok(false) => return Err(format!("cannot read '{shown}': it leads out of its folder")),
        Ok(true) if path.is_file() => {}
        Ok(true) => return Err(format!("cannot read '{shown}': not a regular file")),
    }
    read(&shown, limit)
}

/// True if a name contains no path, so that it names a file in any folder.
pub fn is_plain(name: &str) -> bool {
    let parts = name.contains(['/', '\\', '\0', ':']);
    !parts && !matches!(name, "" | "." | ".." | "-")
}

/// Writes an unrequested message to stderr. A closed stderr is no error.
pub fn say(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes());
}

/// Writes requested output to stderr; a reader that closes the stream early is no error.
pub fn report(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    let done = match was_closed(Standard::Error) {
        true => Err(closed()),
        false => io::stderr().lock().write_all(text.as_bytes()),
    };
    until_closed(done).map_err(|e| format!("cannot write '<stderr>': {e}"))
}

/// The error of a descriptor that is not open.
fn closed() -> io::Error {
    io::Error::other("it is closed")
}

/// `fuser-opt ... | head` is no mistake.
fn until_closed(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
