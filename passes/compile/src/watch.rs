//! The clock of a compilation: an instrument for its passes that also observes the stages around them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuser_pass::Instrument;

/// An instrument that is told of stages.
pub trait Watch: Instrument + Send {
    /// A stage begins, inside of the one that is open.
    fn begin_stage(&mut self, name: &str);
    /// The stage that is open ends.
    fn end_stage(&mut self);
}

/// A watch that a compilation shares with who reads it.
#[derive(Clone)]
pub struct SharedWatch(Arc<Mutex<dyn Watch>>);

impl SharedWatch {
    /// Shares a watch.
    pub fn new(watch: Arc<Mutex<dyn Watch>>) -> Self {
        Self(watch)
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, dyn Watch + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWatch")
    }
}

/// A stage that ends when this is dropped.
#[must_use]
pub struct Stage(Option<SharedWatch>);

impl Stage {
    /// Begins a stage, where there is a watch.
    pub fn begin(watch: Option<SharedWatch>, name: &str) -> Self {
        if let Some(watch) = &watch {
            watch.lock().begin_stage(name);
        }
        Self(watch)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(watch) = &self.0 {
            watch.lock().end_stage();
        }
    }
}
