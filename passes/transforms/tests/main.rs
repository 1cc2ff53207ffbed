//! Passes together: figures, growth of work, random programs.

mod common;
mod figures;
mod layers;
mod progress;
mod random_programs;
mod repeats;
mod scaling;
mod sink_windows;
