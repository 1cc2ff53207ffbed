//! Tests of the server that are no scripts: random edits, texts of all kinds, the grammars of editors, the times of a
//! session.

mod client;
mod edits;
mod formatted;
mod generated;
mod latency;
mod texts;
