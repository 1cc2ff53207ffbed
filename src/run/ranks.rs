//! The ranks of a run: threads of this process, or the processes started by `mpirun`, one of which is this process.
//!
//! Rank 0 prints and writes everything. The other ranks run their parts and report only errors.

use std::time::Duration;

#[cfg(feature = "codegen")]
use fuser_runtime::Engine;

use super::args::{Config, Device};
#[cfg(feature = "codegen")]
use crate::session::Devices;
use crate::tool::Exit;

/// The variables in which Open MPI and MPICH pass the number of processes.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The ranks of a run.
pub struct Ranks {
    /// The number that the command line states.
    #[cfg_attr(not(feature = "codegen"), allow(dead_code))]
    wanted: Option<usize>,
    #[cfg_attr(not(feature = "codegen"), allow(dead_code))]
    limit: Duration,
    /// The connection with other processes.
    #[cfg(feature = "codegen")]
    engine: Option<Box<dyn Engine>>,
}

/// The processes of the job that this one belongs to.
fn processes() -> usize {
    let sizes = SIZES.iter().filter_map(|name| std::env::var(name).ok());
    let sizes = sizes.filter_map(|size| size.parse().ok());
    sizes.max().unwrap_or(1)
}

impl Ranks {
    /// Joins the job of MPI that this process belongs to, if any.
    pub fn join(config: &Config) -> Result<Self, String> {
        let (processes, limit) = (processes(), config.rank_limit);
        let ranks = Self {
            wanted: config.ranks,
            limit,
            #[cfg(feature = "codegen")]
            engine: None,
        };
        if processes <= 1 {
            return Ok(ranks);
        }
        if config.device != Device::Cpu {
            return Err(format!(
                "'--device={}' runs all devices in one process: start it without mpirun, which started {processes}",
                config.device.name()
            ));
        }
        if config.ranks.is_some_and(|ranks| ranks != processes) {
            return Err(format!(
                "'--ranks' is the number of processes here, of which mpirun started {processes}"
            ));
        }
        ranks.connected(processes)
    }

    #[cfg(all(feature = "codegen", feature = "mpi"))]
    fn connected(mut self, processes: usize) -> Result<Self, String> {
        let engine = fuser_runtime::devices::Mpi::start(self.limit);
        let engine = engine.map_err(|fault| fault.to_string())?;
        if engine.ranks() != processes {
            return Err(format!(
                "mpirun started {processes} processes, MPI knows of {}: this program was built for the MPI of another mpirun",
                engine.ranks()
            ));
        }
        self.engine = Some(Box::new(engine));
        Ok(self)
    }

    #[cfg(not(all(feature = "codegen", feature = "mpi")))]
    fn connected(self, processes: usize) -> Result<Self, String> {
        Err(format!(
            "mpirun started {processes} processes, and this build has no MPI: build it with '--features mpi', or run the program once, with all devices in it"
        ))
    }

    /// True for the process that tells and writes.
    pub fn is_first(&self) -> bool {
        #[cfg(feature = "codegen")]
        if let Some(engine) = &self.engine {
            return engine.rank() == 0;
        }
        true
    }

    /// The devices of a program.
    #[cfg(feature = "codegen")]
    pub fn devices(&mut self) -> Devices<'_> {
        match &mut self.engine {
            Some(engine) => Devices::Engine(&mut **engine),
            None => Devices::Here {
                ranks: self.wanted,
                limit: self.limit,
            },
        }
    }

    /// Leaves the job. Where this rank ends with an error, all do.
    pub fn leave(self, exit: Exit) -> Exit {
        #[cfg(feature = "codegen")]
        if let Some(mut engine) = self.engine
            && !matches!(exit, Exit::Ok | Exit::NotChecked)
        {
            engine.fail("it ended with an error, which it told");
        }
        exit
    }
}
