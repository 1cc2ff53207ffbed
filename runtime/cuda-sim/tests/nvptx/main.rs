//! The simulator knows the instructions that LLVM's back end for NVIDIA GPUs emits for the types and operations of our kernels.
//!
//! | | |
//! |---|---|
//! | `names.rs`, `names.txt` | each name in the tables of that back end is known, or it is said why no kernel of ours has it |
//! | `programs.rs` | random functions, compiled as kernels are: each is decoded, and gives what LLVM's code for the CPU gives |
//!
//! Both need an installation of LLVM 22 with its tools, as `scripts/setup.sh` makes it, and say so where there is none.

mod names;
mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of LLVM's tools; none where LLVM 22 is not installed.
fn tools() -> Option<PathBuf> {
    let asked = Command::new("llvm-config-22").arg("--bindir").output().ok();
    let told = asked.and_then(|output| String::from_utf8(output.stdout).ok());
    let told = told.map(|text| PathBuf::from(text.trim()));
    let found = told
        .into_iter()
        .chain([PathBuf::from("/usr/lib/llvm-22/bin")]);
    let found = found.into_iter().find(|folder| {
        let has = |tool: &str| Path::new(folder).join(tool).exists();
        ["opt", "llc", "lli"].iter().all(|tool| has(tool))
    });
    if found.is_none() {
        eprintln!("skipped: no opt, llc and lli of LLVM 22; what they emit is not decoded");
    }
    found
}
