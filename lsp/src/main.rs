//! `fuser-lsp`: a language server on standard input and output. Everything is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The arguments that editors add and that say nothing new.
const IGNORED: [&str; 1] = ["--stdio"];

const USAGE: &str = "usage: fuser-lsp [--stdio]\n\n\
    A language server for .fir on standard input and output; editors start it (docs/editors.md).\n\
    --help prints this, --version the version.\n";

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let arguments: Vec<String> = arguments
        .filter(|a| !IGNORED.contains(&a.as_str()))
        .collect();
    match arguments.first().map(String::as_str) {
        None if fuser_lsp::serve() => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
        Some("--help" | "-h") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Some("--version" | "-V") => {
            println!("fuser-lsp {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprint!("fuser-lsp: unknown argument '{other}'\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
