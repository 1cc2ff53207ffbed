//! `fuser-reduce`: makes a program smaller as long as a test finds it interesting. The code is in `fuser::reduce`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fuser::tool::main("fuser-reduce", fuser::reduce::run)
}
