//! Passes as data, pipelines as text, and the manager that runs them.
//!
//! A pass is a [`PassDef`]: name, documentation, the ops it may run on, options, statistics and one function. A pipeline is
//! parsed from text (`builtin.module(task.program(segment,remat))`) into a [`Pipeline`]; the [`Manager`] runs it, verifies
//! the IR after each pass, turns a panic into an internal error and tells its [`Instrument`]s what happens.
//!
//! Reading order: `def`, `options`, `pipeline`, `context` (what a pass sees), `manager`, `instrument`.
//! Knows nothing of files, the environment, clocks, or of any particular pass or dialect.
#![forbid(unsafe_code)]

pub mod codes;
pub mod context;
pub mod def;
pub mod instrument;
pub mod manager;
pub mod options;
pub mod pipeline;
pub mod place;
pub mod progress;
pub mod remark;

pub use context::{Kept, Limits, PassContext};
pub use def::{OptionDef, OptionKind, PassDef, PipelineDef, StatDef};
pub use instrument::{Instrument, PassRun};
pub use manager::{Failure, Manager, Report};
pub use options::PassOptions;
pub use pipeline::{Catalog, PassStep, Pipeline, Step};
pub use place::place_of;
pub use progress::ProgressSink;
pub use remark::{Remark, RemarkKind, RemarkValue};
