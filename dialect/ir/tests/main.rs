//! The text of the IR: what it reads, what it prints, and what it refuses.

mod common;
mod errors;
mod hostile;
mod roundtrip;
