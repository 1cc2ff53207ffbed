//! Reads `.fir`, runs passes, prints `.fir`.

#![forbid(unsafe_code)]

fn main() {}
