//! The functions that a fuzzing engine calls take any bytes.

use fuser_fuzzing::{Source, targets};

#[test]
fn targets_take_any_bytes() {
    for length in [0u64, 1, 2, 7, 40, 200] {
        let mut source = Source::seed(length);
        let bytes: Vec<u8> = (0..length).map(|_| source.word() as u8).collect();
        targets::parse(&bytes);
        targets::roundtrip(&bytes);
        targets::passes(&bytes);
        targets::compiled(&bytes);
    }
}
