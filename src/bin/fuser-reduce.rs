//! `fuser-reduce`: makes a program smaller while a test says that it is still interesting. Everything is in `fuser::reduce`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fuser::tool::main("fuser-reduce", fuser::reduce::run)
}
