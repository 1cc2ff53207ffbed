//! `fuser-reduce`: makes a program smaller while a test says that it is still interesting. Everything is in `fuser::reduce`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
    ExitCode::from(fuser::reduce::run(&args))
}
