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

use fuser_artifact::Artifact;
#[cfg(feature = "cuda")]
use fuser_runtime::cuda::{CudaDevice, CudaExecutable, CudaProgram};
use fuser_runtime::{CpuProgram, Executable, Explicit, Inputs, RuntimeError};

use super::{Execution, Loaded, Result, Session};
use crate::compile::{CompileOptions, Loader, Versions};

/// A program for the CPU, or as `Program<CudaProgram>` for a GPU, of which the versions are compiled that extents asked for.
pub struct Program<P = CpuProgram> {
    versions: Versions,
    /// The names of its extents, as inputs give them.
    extents: Vec<String>,
    load: Load<P>,
    /// The code of versions, by number.
    loaded: Mutex<BTreeMap<usize, Arc<P>>>,
}

/// Takes code to where it runs.
type Load<P> = Box<dyn Fn(Artifact) -> std::result::Result<P, RuntimeError> + Send + Sync>;

impl<P> Program<P> {
    fn loaded_by(load: Load<P>, loaded: &Loaded, options: &CompileOptions) -> Self {
        Self {
            versions: Versions::new(loaded.alone(), loaded.module, options),
            extents: loaded.signature.extents.clone(),
            load,
            loaded: Mutex::default(),
        }
    }

    /// The version that runs under these extents, by number, with its code.
    fn version(&self, extents: &Explicit) -> Result<(usize, Arc<P>)> {
        let version = self.versions.version(extents)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match loaded.get(&version.number) {
            Some(program) => Arc::clone(program),
            None => {
                let program = Arc::new((self.load)(version.compiled.artifact.clone())?);
                loaded.insert(version.number, Arc::clone(&program));
                program
            }
        };
        Ok((version.number, program))
    }

    /// The extents of inputs by name.
    fn named(&self, inputs: &Inputs) -> Explicit {
        let names = self.extents.iter().cloned();
        names.zip(inputs.extents.iter().copied()).collect()
    }

    /// Runs a version, as `run` does.
    fn run_by(
        &self,
        inputs: &Inputs,
        run: impl FnOnce(
            &Arc<P>,
            &Explicit,
        ) -> std::result::Result<fuser_runtime::RunResult, RuntimeError>,
    ) -> Result<Execution> {
        let start = Instant::now();
        let extents = self.named(inputs);
        let (number, program) = self.version(&extents)?;
        let compile_ms = start.elapsed().as_secs_f64() * 1e3;
        let mut done = run(&program, &extents)?;
        done.report.version = Some((number, self.versions.known()));
        Ok(super::execution(done, compile_ms))
    }
}

impl Program {
    pub(super) fn new(loaded: &Loaded, options: &CompileOptions) -> Self {
        let load = Box::new(|artifact| CpuProgram::load(artifact, &Loader));
        Self::loaded_by(load, loaded, options)
    }

    /// Runs the program `repeats` times, after one run that is not timed.
    pub fn run(&self, session: &Session, inputs: &Inputs, repeats: u32) -> Result<Execution> {
        let options = super::run_options(repeats);
        self.run_by(inputs, |program, extents| {
            program.run(&session.runtime, &inputs.tensors, extents, &options)
        })
    }

    /// The program bound to the extents, all of which are given: what comes back runs on the caller's memory, as often as wanted,
    /// without a look at shapes or at the heap.
    pub fn bind(&self, session: &Session, extents: &Explicit) -> Result<Executable> {
        let (_, program) = self.version(extents)?;
        Ok(Executable::new(&session.runtime, program, extents)?)
    }
}

#[cfg(feature = "cuda")]
impl Program<CudaProgram> {
    /// The program for a device; `options` name a GPU that it can stand for.
    pub(super) fn on(device: &CudaDevice, loaded: &Loaded, options: &CompileOptions) -> Self {
        let device = device.clone();
        let load = Box::new(move |artifact| CudaProgram::load(artifact, &device));
        Self::loaded_by(load, loaded, options)
    }

    /// Runs the program on tensors of the host `repeats` times, after one run that is not timed.
    pub fn run(&self, session: &Session, inputs: &Inputs, repeats: u32) -> Result<Execution> {
        let options = super::run_options(repeats);
        self.run_by(inputs, |program, extents| {
            program.run(&session.runtime, &inputs.tensors, extents, &options)
        })
    }

    /// The program bound to the extents, all of which are given: what comes back runs on device pointers and on a stream of the caller's.
    pub fn bind(&self, extents: &Explicit) -> Result<CudaExecutable> {
        let (_, program) = self.version(extents)?;
        Ok(CudaExecutable::new(program, extents)?)
    }
}
