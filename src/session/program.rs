//! A program that is compiled as it is needed: each of its versions when extents first ask for it.
//!
//! ```
//! use fuser::compile::CompileOptions;
//! use fuser::session::Session;
//!
//! let text = "task.program @f(%x: tensor<[N]x64xf32>) -> tensor<[N]x64xf32> { %y = fusion.neg %x\n task.return %y }";
//! let session = Session::new(Default::default()).unwrap();
//! let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
//! let loaded = session.load(ir, module, None).unwrap();
//! let program = session.program(&loaded, &CompileOptions::default());
//! for rows in [3, 5] {
//!     let inputs = session.resolve(&loaded, &Default::default(), &[("N".to_string(), rows)].into()).unwrap();
//!     let run = program.run(&session, &inputs, 1).unwrap();
//!     assert_eq!(run.outputs[0].axes()[0].extent, rows as usize);
//! }
//! ```
//!
//! Several threads may use it; an error comes back from each call that asks for the version that it is about.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fuser_runtime::{CpuProgram, Executable, Explicit, Inputs};

use super::{Execution, Loaded, Result, Session};
use crate::compile::{CompileOptions, Loader, Versions};

/// A program for the CPU, of which the versions are compiled that extents asked for.
pub struct Program {
    versions: Versions,
    /// The names of its extents, as inputs give them.
    extents: Vec<String>,
    /// The code of versions, by number.
    loaded: Mutex<BTreeMap<usize, Arc<CpuProgram>>>,
}

impl Program {
    pub(super) fn new(loaded: &Loaded, options: &CompileOptions) -> Self {
        Self {
            versions: Versions::new(loaded.alone(), loaded.module, options),
            extents: loaded.signature.extents.clone(),
            loaded: Mutex::default(),
        }
    }

    /// The version that runs under these extents, by number, with its code.
    fn version(&self, extents: &Explicit) -> Result<(usize, Arc<CpuProgram>)> {
        let version = self.versions.version(extents)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match loaded.get(&version.number) {
            Some(program) => Arc::clone(program),
            None => {
                let artifact = version.compiled.artifact.clone();
                let program = Arc::new(CpuProgram::load(artifact, &Loader)?);
                loaded.insert(version.number, Arc::clone(&program));
                program
            }
        };
        Ok((version.number, program))
    }

    /// Runs the program `repeats` times, after one run that is not timed.
    pub fn run(&self, session: &Session, inputs: &Inputs, repeats: u32) -> Result<Execution> {
        let start = Instant::now();
        let names = self.extents.iter().cloned();
        let extents: Explicit = names.zip(inputs.extents.iter().copied()).collect();
        let (number, program) = self.version(&extents)?;
        let compile_ms = start.elapsed().as_secs_f64() * 1e3;
        let options = super::run_options(repeats);
        let mut done = program.run(&session.runtime, &inputs.tensors, &extents, &options)?;
        done.report.version = Some((number, self.versions.known()));
        Ok(super::execution(done, compile_ms))
    }

    /// The program bound to the extents, all of which are given: what comes back runs on the caller's memory, as often as wanted,
    /// without a look at shapes or at the heap.
    pub fn bind(&self, session: &Session, extents: &Explicit) -> Result<Executable> {
        let (_, program) = self.version(extents)?;
        Ok(Executable::new(&session.runtime, program, extents)?)
    }
}
