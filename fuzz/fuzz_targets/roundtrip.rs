//! A module of any dialect verifies, prints and reads back in every form.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuser_fuzzing::targets::roundtrip(bytes));
