//! A random fusion means the same after every pass of a pipeline.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuser_fuzzing::targets::passes(bytes));
