//! Prints what a program becomes: PTX, LLVM IR, assembly.

#![forbid(unsafe_code)]

fn main() {}
