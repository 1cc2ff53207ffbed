//! The playground's module: `fuser-opt`, `fuser-run` with the interpreter, `fuser-translate` and the language server, for WASI.
//!
//! Arguments, files and streams come from the host's functions of WASI, so that each tool is the program that it is elsewhere. A host
//! calls [`tool`] once for each instance; or it calls [`session`], then [`messages`] and [`costs`] as often as it likes. A panic ends an instance.
#![cfg(target_os = "wasi")]

use std::io;

use fuser::tool::{self, Exit};
use fuser_lsp::Session;

/// Runs the tool that the first argument names with the others. The exit status.
// SAFETY: no other function of the module has the name; likewise below.
#[unsafe(no_mangle)]
pub extern "C" fn tool() -> i32 {
    let mut args = std::env::args();
    let name = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    let exit = match name.as_str() {
        "fuser-opt" => tool::run("fuser-opt", &args, fuser::driver::run),
        "fuser-run" => tool::run("fuser-run", &args, fuser::run::run),
        "fuser-translate" => tool::run("fuser-translate", &args, fuser::translate::run),
        _ => tool::usage("fuser", &[format!("there is no tool '{name}'")]),
    };
    exit as i32
}

/// Begins a session of the language server, which lasts as long as the instance.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn session() -> *mut Session {
    Box::into_raw(Box::default())
}

/// Answers the messages of the language server's protocol on standard input, up to its end. An exit status.
///
/// # Safety
///
/// The session is one that [`session`] gave.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn messages(session: *mut Session) -> i32 {
    // SAFETY: the caller says so; a module has one thread, and nothing keeps the reference.
    let session = unsafe { &mut *session };
    status(session.answer(&mut io::stdin().lock(), &mut io::stdout().lock()))
}

/// Finds the bytes of segments that documents wait for, and sends what follows from them. An exit status.
///
/// # Safety
///
/// The session is one that [`session`] gave.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn costs(session: *mut Session) -> i32 {
    // SAFETY: as in `messages`.
    let session = unsafe { &mut *session };
    status(session.find_costs(&mut io::stdout().lock()))
}

fn status(done: io::Result<()>) -> i32 {
    match done {
        Ok(()) => Exit::Ok as i32,
        Err(_) => Exit::Diagnostics as i32,
    }
}
