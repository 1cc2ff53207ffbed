//! Any text gives located diagnostics, or a program that prints and reads back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuser_fuzzing::targets::parse(bytes));
