//! The playground's module: `fuser-opt`, `fuser-run` with the interpreter, `fuser-translate` and the language server, for WASI.
//!
//! Arguments, files and streams come from the host's functions of WASI, so that each tool is the program that it is elsewhere. A host
//! calls [`tool`] once for each instance, and [`messages`] and [`costs`] of one instance as often as it likes. A panic ends an instance.
#![cfg(target_os = "wasi")]

use std::cell::RefCell;
use std::io;

use fuser::tool::{self, Exit};
use fuser_lsp::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Runs the tool that the first argument names with the others. The exit status.
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

/// Answers the messages of the language server's protocol on standard input, up to its end. An exit status.
#[unsafe(no_mangle)]
pub extern "C" fn messages() -> i32 {
    let done = SESSION.with_borrow_mut(|session| {
        session.answer(&mut io::stdin().lock(), &mut io::stdout().lock())
    });
    status(done)
}

/// Finds the bytes of segments that documents wait for, and sends what follows from them. An exit status.
#[unsafe(no_mangle)]
pub extern "C" fn costs() -> i32 {
    status(SESSION.with_borrow_mut(|session| session.find_costs(&mut io::stdout().lock())))
}

fn status(done: io::Result<()>) -> i32 {
    match done {
        Ok(()) => Exit::Ok as i32,
        Err(_) => Exit::Diagnostics as i32,
    }
}
