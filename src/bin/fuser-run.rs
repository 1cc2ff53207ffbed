//! Compiles and runs a program.

#![forbid(unsafe_code)]

fn main() {}
