//! `fuser-run`: compiles and runs a program. Everything is in `fuser::run`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fuser::tool::main("fuser-run", fuser::run::run)
}
