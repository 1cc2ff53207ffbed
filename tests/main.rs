//! The library and the tools as a whole: sessions, passes on random programs, command lines, examples of codes.

mod book;
mod codes;
mod command_lines;
mod completion;
mod determinism;
#[path = "fuser_run/main.rs"]
mod fuser_run;
mod gallery;
mod gpu_assembled;
mod gpu_limits;
#[path = "gpu_simulator/main.rs"]
mod gpu_simulator;
#[path = "importing/main.rs"]
mod importing;
mod program;
#[path = "remat/main.rs"]
mod remat;
mod reports;
mod session;
mod updates;
mod workflows;
