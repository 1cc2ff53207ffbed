//! The progress of long work, as a step and its parts: how many are done, of how many.

use std::fmt;
use std::sync::Arc;

type Show = dyn Fn(&'static str, usize, usize) + Send + Sync;

/// The receiver of progress: the name of a step, its parts that are done, and all of its parts. A step begins with 0
/// parts done. Calls may come from any thread. The default receiver drops everything.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<Show>>);

impl ProgressSink {
    /// A sink that hands everything to `show`.
    pub fn new(show: impl Fn(&'static str, usize, usize) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(show)))
    }
    /// Reports that `done` of `all` parts of `step` are done.
    pub fn tell(&self, step: &'static str, done: usize, all: usize) {
        if let Some(show) = &self.0 {
            show(step, done, all);
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}

impl PartialEq for ProgressSink {
    /// Two sinks do the same: what is compiled does not depend on them.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
