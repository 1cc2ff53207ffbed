//! A random program, compiled, agrees with the interpreter.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuser_fuzzing::targets::compiled(bytes));
