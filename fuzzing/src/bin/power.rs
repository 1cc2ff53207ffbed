//! Measures the power of the check: `cargo run --release -p fuser-fuzzing --bin power -- --classes examples,models`.
//!
//! Prints the misses and a table. The exit status is 1 where the power is less than `--least`, or where a program is
//! found wrong as it is.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use fuser_fuzzing::power;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match power::Options::read(&arguments) {
        Ok(options) => power::run(&options),
        Err(message) => {
            eprintln!("{message}\n\n{}", power::USAGE);
            ExitCode::from(2)
        }
    }
}
