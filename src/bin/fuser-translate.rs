//! `fuser-translate`: a program as kernels, LLVM IR, assembly or PTX. The code is in `fuser::translate`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fuser::tool::main("fuser-translate", fuser::translate::run)
}
