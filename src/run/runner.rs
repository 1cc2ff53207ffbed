//! Compiled programs of a run. Each is compiled once, even if it runs again or its report is requested.

#[cfg(feature = "codegen")]
use std::collections::BTreeMap;

use fuser_passes::report::Report;
use fuser_runtime::Inputs;

use super::args::{Config, Device};
use super::ranks::Ranks;
use super::unsupported;
use crate::session::{Execution, Loaded, Session, SessionError, Source};
use std::sync::Arc;

#[cfg(all(feature = "codegen", feature = "cuda"))]
use crate::session::Program;
#[cfg(feature = "codegen")]
use crate::session::{self, Origin};

/// A program as it was given.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    /// The text of a file.
    Source(&'a Arc<Source>),
    /// A part of a program.
    Part(&'a Loaded),
}

impl<'a> Given<'a> {
    fn loaded(self) -> Result<&'a Loaded, SessionError> {
        match self {
            Self::Source(source) => source.loaded(),
            Self::Part(loaded) => Ok(loaded),
        }
    }
    #[cfg(feature = "codegen")]
    fn origin(self) -> (Origin<'a>, &'a session::Signature, usize) {
        match self {
            Self::Source(source) => {
                let address = std::ptr::from_ref::<Source>(source).addr();
                (source.into(), source.signature(), address)
            }
            Self::Part(loaded) => {
                let address = std::ptr::from_ref(loaded).addr();
                (loaded.into(), &loaded.signature, address)
            }
        }
    }
}

/// Runs programs as the command line says.
pub struct Runner<'a> {
    session: &'a Session,
    config: &'a Config,
    #[cfg_attr(not(feature = "codegen"), allow(dead_code))]
    ranks: &'a mut Ranks,
    /// By address and extents.
    #[cfg(feature = "codegen")]
    programs: BTreeMap<(usize, Vec<i64>), Compiled>,
}

/// A program on its device.
#[cfg(feature = "codegen")]
enum Compiled {
    Cpu(session::Program),
    #[cfg(feature = "cuda")]
    Cuda(Program<fuser_runtime::cuda::CudaProgram>),
}

impl<'a> Runner<'a> {
    /// A runner that has no programs yet.
    pub fn new(session: &'a Session, config: &'a Config, ranks: &'a mut Ranks) -> Self {
        Self {
            session,
            config,
            ranks,
            #[cfg(feature = "codegen")]
            programs: BTreeMap::new(),
        }
    }

    /// True for the process that tells and writes.
    pub fn is_first(&self) -> bool {
        self.ranks.is_first()
    }

    /// Runs a program `repeats` times.
    pub fn run(
        &mut self,
        given: Given<'_>,
        inputs: &Inputs,
        repeats: u32,
    ) -> Result<Execution, SessionError> {
        if self.config.device == Device::Interp {
            let _stage = self.config.compile_options().stage("Run");
            return self.session.interpret(given.loaded()?, inputs);
        }
        self.run_compiled(given, inputs, repeats)
    }

    /// The report of a program.
    pub fn report(&mut self, given: Given<'_>, inputs: &Inputs) -> Result<Report, SessionError> {
        if self.config.device == Device::Interp {
            return Ok(self.session.report(given.loaded()?, inputs, None)?);
        }
        self.report_compiled(given, inputs)
    }

    #[cfg(not(feature = "codegen"))]
    fn run_compiled(&self, _: Given<'_>, _: &Inputs, _: u32) -> Result<Execution, SessionError> {
        Err(unsupported(self.config.device))
    }
    #[cfg(not(feature = "codegen"))]
    fn report_compiled(&self, _: Given<'_>, _: &Inputs) -> Result<Report, SessionError> {
        Err(unsupported(self.config.device))
    }

    #[cfg(feature = "codegen")]
    fn run_compiled(
        &mut self,
        given: Given<'_>,
        inputs: &Inputs,
        repeats: u32,
    ) -> Result<Execution, SessionError> {
        let start = std::time::Instant::now();
        let session = self.session;
        self.program(given, inputs)?;
        let made_ms = start.elapsed().as_secs_f64() * 1e3;
        let (programs, ranks) = (&self.programs, &mut *self.ranks);
        let (_, _, address) = given.origin();
        let Some(program) = programs.get(&(address, inputs.extents.clone())) else {
            return Err(unsupported(self.config.device));
        };
        let mut done = match program {
            Compiled::Cpu(program) => {
                program.run_on(session, inputs, repeats, &mut ranks.devices())?
            }
            #[cfg(feature = "cuda")]
            Compiled::Cuda(program) => program.run(session, inputs, repeats)?,
        };
        done.compile_ms += made_ms;
        Ok(done)
    }

    #[cfg(feature = "codegen")]
    fn report_compiled(
        &mut self,
        given: Given<'_>,
        inputs: &Inputs,
    ) -> Result<Report, SessionError> {
        match self.program(given, inputs)? {
            Compiled::Cpu(program) => program.report(inputs),
            #[cfg(feature = "cuda")]
            Compiled::Cuda(program) => program.report(inputs),
        }
    }

    #[cfg(feature = "codegen")]
    fn program(&mut self, given: Given<'_>, inputs: &Inputs) -> Result<&Compiled, SessionError> {
        use std::collections::btree_map::Entry;
        let (origin, signature, address) = given.origin();
        match self.programs.entry((address, inputs.extents.clone())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let options = self.config.compile_options();
                let options = session::decided(signature, inputs, &options);
                let (session, config) = (self.session, self.config);
                Ok(place.insert(compiled(session, config, origin, &options)?))
            }
        }
    }
}

#[cfg(feature = "codegen")]
fn compiled(
    session: &Session,
    config: &Config,
    origin: Origin<'_>,
    options: &crate::compile::CompileOptions,
) -> Result<Compiled, SessionError> {
    match config.device {
        Device::Cpu => Ok(Compiled::Cpu(session.program(origin, options))),
        #[cfg(feature = "cuda")]
        Device::Cuda => match &config.gpu {
            Some(device) => Ok(Compiled::Cuda(session.program_on(device, origin, options)?)),
            None => Err(unsupported(config.device)),
        },
        #[allow(unreachable_patterns)]
        device => Err(unsupported(device)),
    }
}
