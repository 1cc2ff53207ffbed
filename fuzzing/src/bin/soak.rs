//! Runs generators and oracles for a while:
//! `cargo run --release -p fuser-fuzzing --bin soak -- --seconds 3600 --jobs 2`.
//!
//! Prints statistics now and then and at the end; writes each failure as a `.fir` with its seed in a comment. The exit
//! status is 1 if anything was found.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use fuser_fuzzing::soak;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match soak::Options::read(&arguments) {
        Ok(options) => soak::run(&options),
        Err(message) => {
            eprintln!("{message}\n\n{}", soak::USAGE);
            ExitCode::from(2)
        }
    }
}
