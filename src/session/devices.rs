//! The devices of a program that runs on several: threads of this process, or other processes.

use std::time::Duration;

use fuser_artifact::Artifact;
use fuser_runtime::devices::{DEFAULT_LIMIT, gather, part_of};
use fuser_runtime::{
    CpuProgram, Engine, Explicit, HostTensor, Inputs, MeshError, RunOptions, RunResult, Runtime,
    RuntimeError,
};

/// The place where the devices of a program are.
pub enum Devices<'a> {
    /// All are threads of this process.
    Here {
        /// Their number, where it was said: that of the program's mesh.
        ranks: Option<usize>,
        /// The time that one waits for another.
        limit: Duration,
    },
    /// This process is one, which the engine connects with the others.
    Engine(&'a mut dyn Engine),
}

impl Default for Devices<'_> {
    fn default() -> Self {
        Self::Here {
            ranks: None,
            limit: DEFAULT_LIMIT,
        }
    }
}

/// The number of devices that an artifact is for.
fn devices(artifact: &Artifact) -> usize {
    artifact.mesh.as_ref().map_or(1, |mesh| mesh.devices())
}

/// Refuses another number of ranks than the program has devices.
fn check(artifact: &Artifact, ranks: usize) -> Result<(), MeshError> {
    let devices = devices(artifact);
    let same = devices == ranks;
    same.then_some(())
        .ok_or(MeshError::Ranks { devices, ranks })
}

impl Devices<'_> {
    /// Runs a program on the inputs of all devices and returns the outputs of all devices. An engine's rank other than
    /// 0 returns none.
    pub(super) fn run(
        &mut self,
        program: &CpuProgram,
        runtime: &Runtime,
        inputs: &Inputs,
        extents: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        let (artifact, inputs) = (program.artifact(), &inputs.tensors[..]);
        match self {
            Self::Here { ranks, limit } => {
                ranks.map_or(Ok(()), |ranks| check(artifact, ranks))?;
                if artifact.mesh.is_none() {
                    return program.run(runtime, inputs, extents, options);
                }
                let run = program.run_on_mesh(runtime, inputs, extents, options, *limit)?;
                let peak = run.reports.iter().map(|report| report.peak_bytes).sum();
                let count = run.reports.len();
                let mut reports = run.reports.into_iter();
                let mut report = reports.next().ok_or(MeshError::NoMesh)?;
                (report.peak_bytes, report.ranks) = (peak, count);
                Ok(RunResult {
                    outputs: run.outputs,
                    report,
                })
            }
            Self::Engine(engine) => {
                let done = run_rank(*engine, program, runtime, inputs, extents, options);
                if let Err(error) = &done {
                    engine.fail(&error.to_string());
                }
                done
            }
        }
    }
}

/// Runs the part of one device, and brings the outputs to rank 0.
fn run_rank(
    engine: &mut dyn Engine,
    program: &CpuProgram,
    runtime: &Runtime,
    inputs: &[HostTensor],
    extents: &Explicit,
    options: &RunOptions,
) -> Result<RunResult, RuntimeError> {
    let (heap, artifact) = (runtime.heap(), program.artifact());
    let (rank, ranks) = (engine.rank(), engine.ranks());
    check(artifact, ranks)?;
    if artifact.mesh.is_none() {
        return program.run(runtime, inputs, extents, options);
    }
    let (parts, extents) = part_of(heap, artifact, inputs, extents, rank)?;
    let RunResult {
        outputs,
        mut report,
    } = program.run_on(engine, runtime, &parts, &extents, options)?;
    drop(parts);
    report.ranks = ranks;
    let outputs = gather(heap, engine, artifact, &extents, outputs)?;
    Ok(RunResult {
        outputs: outputs.unwrap_or_default(),
        report,
    })
}
