//! Reading and writing streams and files, and telling mistakes.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use fuser_ir::render::{RenderOptions, render};
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics, Place};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// The program or an input is wrong, or a check failed.
    Diagnostics = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A bug of ours.
    Internal = 3,
}

/// Bytes of program text that are read at most: no program comes near.
const MAX_TEXT: u64 = 256 << 20;

fn complain(text: &str) {
    // A closed stderr is nobody's mistake.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells mistakes of the command line.
pub fn usage(errors: &[String]) -> Exit {
    for error in errors {
        complain(&format!("fuser-run: error: {error}\n"));
    }
    complain("fuser-run: 'fuser-run --help' lists all flags\n");
    Exit::Usage
}

/// Tells that a file cannot be used.
pub fn file_error(message: &str) -> Exit {
    let error = Diagnostic::error(&crate::session::error::FILE, Place::Unknown, message);
    diagnostics(&SourceMap::default(), vec![error])
}

/// Tells of a bug.
pub fn internal() -> Exit {
    complain("error: [FIR0699] internal error: this is a bug in Fuser; nothing was written\n");
    Exit::Internal
}

/// Reads a program.
pub fn read(path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = match path {
        "-" => io::stdin()
            .lock()
            .take(MAX_TEXT + 1)
            .read_to_end(&mut bytes),
        path => {
            std::fs::File::open(path).and_then(|f| f.take(MAX_TEXT + 1).read_to_end(&mut bytes))
        }
    };
    read.map_err(|e| format!("cannot read '{path}': {e}"))?;
    if bytes.len() as u64 > MAX_TEXT {
        return Err(format!("'{path}' has more than {MAX_TEXT} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| format!("'{path}' is not UTF-8 text"))
}

/// Writes to stdout.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write: {e}")),
        _ => Ok(()),
    }
}

/// Writes a file whole, or stdout for `-`.
pub fn write(path: &str, text: &str) -> Result<(), String> {
    if path == "-" {
        return print(text);
    }
    let failed = |e: io::Error| format!("cannot write '{path}': {e}");
    let target = Path::new(path);
    if std::fs::metadata(target).is_ok_and(|m| !m.is_file()) {
        return std::fs::write(target, text).map_err(failed);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.persist(target)
        .map(|_| ())
        .map_err(|e| failed(e.error))
}

/// Tells diagnostics; the exit code that they mean.
pub fn diagnostics(sources: &SourceMap, list: Vec<Diagnostic>) -> Exit {
    let list = Diagnostics { items: list };
    let options = RenderOptions {
        color: io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        ..RenderOptions::default()
    };
    // What has no place in the program needs no word for that.
    complain(&render(&list, sources, options).replace("<unknown>: ", ""));
    match list.has_errors() {
        true => Exit::Diagnostics,
        false => Exit::Ok,
    }
}
