//! `fuser-opt`: reads a `.fir` program, runs passes, prints the result. The code is in `fuser::driver`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fuser::tool::main("fuser-opt", fuser::driver::run)
}
