//! Bytes of small programs.
