//! Runs a program on all devices of a mesh: splits the inputs, runs each device's program, joins the outputs.
//!
//! Ranks are threads of this process and share its workers: each rank has as many workers as a single one would. If
//! several devices hold copies of an output, the first copy is returned.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use fuser_artifact::{Artifact, Mesh, Sharding, TensorSpec};

use super::local::{Local, local_ranks};
use super::walk::Blocks;
use super::{Block, Engine, MeshError, Tag};
use crate::bind::{self, Explicit};
use crate::cpu::{CpuProgram, RunResult};
use crate::error::RuntimeError;
use crate::inputs::{as_declared, bind_tensors};
use crate::memory::Heap;
use crate::report::RunReport;
use crate::runtime::{RunOptions, Runtime};
use crate::tensor::{Axis, HostTensor, TensorError, strides};
use crate::workers::WorkersError;

/// The outputs of all devices, joined to those of one program, and the report of each rank.
#[derive(Debug)]
pub struct MeshRun {
    pub outputs: Vec<HostTensor>,
    pub reports: Vec<RunReport>,
}

impl CpuProgram {
    /// Runs the program on all devices of its mesh, as threads of this process. No thread waits longer than `limit` for
    /// another. Inputs and outputs are those of the whole mesh; `explicit` gives extents of one device's tensors.
    pub fn run_on_mesh(
        &self,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
        limit: Duration,
    ) -> Result<MeshRun, RuntimeError> {
        let artifact = self.artifact();
        let mesh = artifact.mesh.as_ref().ok_or(MeshError::NoMesh)?;
        let wholes = Wholes::new(runtime.heap(), artifact, mesh, inputs, explicit)?;
        let ranks = local_ranks(mesh.devices(), limit)?;
        let threads = (runtime.workers().count() / ranks.len()).max(1);
        let heap = runtime.heap();
        let start = |rank: &mut Local| {
            let own = Runtime::with_heap(Some(threads), heap.clone())?;
            let parts = wholes.parts(heap, rank.rank())?;
            self.run_on(rank, &own, &parts, &wholes.explicit, options)
        };
        let results = run_all(ranks, &start)?;
        let (outputs, reports) = results
            .into_iter()
            .map(|run| (run.outputs, run.report))
            .unzip();
        let outputs: Vec<Vec<HostTensor>> = outputs;
        let ranks = outputs
            .iter()
            .enumerate()
            .map(|(rank, own)| (rank, &own[..]));
        let outputs = join(heap, artifact, mesh, &wholes.extents, ranks)?;
        Ok(MeshRun { outputs, reports })
    }
}

/// The inputs of all devices, stored as declared.
struct Wholes<'a> {
    artifact: &'a Artifact,
    mesh: &'a Mesh,
    given: &'a [HostTensor],
    converted: Vec<Option<HostTensor>>,
    /// The extents of one device's tensors, and those by name.
    extents: Vec<i64>,
    explicit: Explicit,
}

impl<'a> Wholes<'a> {
    fn new(
        heap: &Heap,
        artifact: &'a Artifact,
        mesh: &'a Mesh,
        given: &'a [HostTensor],
        explicit: &Explicit,
    ) -> Result<Wholes<'a>, RuntimeError> {
        let specs = mesh.whole_inputs(&artifact.inputs);
        let extents = bind_tensors(&artifact.extents, &specs, given, explicit)?;
        let converted = as_declared(heap, &specs, &artifact.extents, &extents, given)?;
        let names = artifact.extents.iter().cloned();
        Ok(Wholes {
            explicit: names.zip(extents.iter().copied()).collect(),
            artifact,
            mesh,
            given,
            converted,
            extents,
        })
    }

    /// The inputs of a device.
    fn parts(&self, heap: &Heap, rank: usize) -> Result<Vec<HostTensor>, RuntimeError> {
        let given = self.given.iter().zip(&self.converted);
        let wholes = given.map(|(given, converted)| converted.as_ref().unwrap_or(given));
        let specs = self.artifact.inputs.iter().zip(&self.mesh.inputs);
        let part = |(whole, (spec, own)): (&HostTensor, (&TensorSpec, &Sharding))| {
            let axes = bind::axes(spec, &self.artifact.extents, &self.extents)?;
            let part = cut(heap, whole, &axes, &spec.order, self.mesh, own, rank);
            part.map_err(|error| RuntimeError::Input {
                input: spec.name.clone(),
                error,
            })
        };
        wholes.zip(specs).map(part).collect()
    }
}

/// The parts of the inputs of all devices that one of them has.
pub fn part_of(
    heap: &Heap,
    artifact: &Artifact,
    inputs: &[HostTensor],
    explicit: &Explicit,
    rank: usize,
) -> Result<(Vec<HostTensor>, Explicit), RuntimeError> {
    let mesh = artifact.mesh.as_ref().ok_or(MeshError::NoMesh)?;
    let wholes = Wholes::new(heap, artifact, mesh, inputs, explicit)?;
    let parts = wholes.parts(heap, rank)?;
    Ok((parts, wholes.explicit))
}

/// Runs each rank in a thread of its own; on errors, returns that of the rank that failed first.
pub(super) fn run_all(
    ranks: Vec<Local>,
    run: &(dyn Fn(&mut Local) -> Result<RunResult, RuntimeError> + Sync),
) -> Result<Vec<RunResult>, RuntimeError> {
    let count = ranks.len();
    let watched = move |mut rank: Local| {
        let caught = catch_unwind(AssertUnwindSafe(|| run(&mut rank)));
        let result = caught.unwrap_or_else(|payload| {
            let message = panic_message(&*payload);
            Err(MeshError::Panicked { message }.into())
        });
        if let Err(error) = &result {
            rank.fail(&error.to_string());
        }
        (result, rank.failed())
    };
    let ended: Vec<(Result<RunResult, RuntimeError>, Option<usize>)> =
        std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for rank in ranks {
                let number = rank.rank();
                let thread = std::thread::Builder::new().name(format!("fuser-rank-{number}"));
                match thread.spawn_scoped(scope, move || watched(rank)) {
                    Ok(thread) => threads.push(Ok(thread)),
                    // The rank is dropped, so that nobody waits for it.
                    Err(error) => threads.push(Err(WorkersError::Start {
                        count,
                        message: error.to_string(),
                    })),
                }
            }
            let join = |thread: Result<std::thread::ScopedJoinHandle<'_, _>, WorkersError>| {
                let lost = || MeshError::Panicked {
                    message: "its thread is gone".to_string(),
                };
                match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|_| (Err(lost().into()), None)),
                    Err(error) => (Err(error.into()), None),
                }
            };
            threads.into_iter().map(join).collect()
        });
    let first = ended.iter().find_map(|(_, failed)| *failed);
    let wrong = |(rank, (result, _)): (usize, &(Result<_, _>, _))| result.is_err().then_some(rank);
    let all = || ended.iter().enumerate().filter_map(wrong);
    let culprit = first
        .filter(|rank| all().any(|own| own == *rank))
        .or(all().next());
    let mut runs = Vec::with_capacity(count);
    for (rank, (result, _)) in ended.into_iter().enumerate() {
        match result {
            Err(error) if culprit == Some(rank) => {
                return Err(RuntimeError::Rank {
                    rank,
                    error: Box::new(error),
                });
            }
            Err(_) => {}
            Ok(run) => runs.push(run),
        }
    }
    Ok(runs)
}

/// The text of a panic.
pub(super) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "for an unknown reason".to_string())
}

/// A device's part of a tensor, in terms of elements of the whole: its first element, and the loops over it in storage
/// order.
fn part(
    whole: (&[Axis], &[usize]),
    axes: &[Axis],
    order: &[usize],
    (mesh, sharding, rank): (&Mesh, &Sharding, usize),
) -> Option<(usize, Blocks)> {
    let steps = strides(whole.0, whole.1);
    let place = |at: usize| order.get(at).copied().unwrap_or(at);
    let mut loops = Vec::with_capacity(axes.len());
    let mut first = 0usize;
    for axis in (0..axes.len()).map(place) {
        let (extent, step) = (axes.get(axis)?.stored_extent(), *steps.get(axis)?);
        loops.push([extent, step]);
        let number = mesh.part(sharding, axis, rank);
        first += number * extent * step;
    }
    Some((first, Blocks::new(loops.into_iter(), 0)?))
}

/// The codes of a type whose elements share bytes, each in a separate byte; `None` for other types.
fn unpacked(heap: &Heap, tensor: &HostTensor) -> Result<Option<HostTensor>, TensorError> {
    let shared = tensor.dtype().per_byte() > 1;
    shared.then(|| tensor.unpacked(heap)).transpose()
}

/// A device's part of a tensor as a tensor of its own, with its axes in this storage order.
fn cut(
    heap: &Heap,
    whole: &HostTensor,
    axes: &[Axis],
    order: &[u32],
    mesh: &Mesh,
    sharding: &Sharding,
    rank: usize,
) -> Result<HostTensor, TensorError> {
    let codes = unpacked(heap, whole)?;
    let source = codes.as_ref().unwrap_or(whole);
    let mut own = HostTensor::zeros(heap, source.dtype(), axes)?.laid_out(order);
    let place = (mesh, sharding, rank);
    let from = part((source.axes(), source.order()), axes, own.order(), place);
    if let Some((first, blocks)) = from {
        blocks.pack_from(
            source.dtype().bytes(),
            source.bytes(),
            first,
            own.bytes_mut(),
        );
    }
    match codes {
        Some(_) => own.packed(heap, whole.dtype()),
        None => Ok(own),
    }
}

/// The outputs of all devices, of those that the ranks have.
fn join<'a>(
    heap: &Heap,
    artifact: &Artifact,
    mesh: &Mesh,
    extents: &[i64],
    ranks: impl Iterator<Item = (usize, &'a [HostTensor])>,
) -> Result<Vec<HostTensor>, RuntimeError> {
    let failed = |error: TensorError| RuntimeError::Plan(error.into());
    let pairs = || artifact.outputs.iter().zip(&mesh.outputs);
    let mut wholes = Vec::with_capacity(artifact.outputs.len());
    for (spec, own) in pairs() {
        let whole = mesh.whole(own, spec);
        let axes = bind::axes(&whole, &artifact.extents, extents)?;
        let dtype = match spec.dtype.per_byte() {
            1 => spec.dtype,
            _ => fuser_artifact::DType::U8,
        };
        let whole = HostTensor::zeros(heap, dtype, &axes).map_err(failed)?;
        wholes.push(whole.laid_out(&spec.order));
    }
    for (rank, outputs) in ranks {
        let outputs = outputs.iter().zip(pairs()).zip(&mut wholes);
        for ((output, (_, own)), whole) in
            outputs.filter(|((_, (_, own)), _)| mesh.is_first(own, rank))
        {
            let codes = unpacked(heap, output).map_err(failed)?;
            let output = codes.as_ref().unwrap_or(output);
            let place = (mesh, own, rank);
            let to = part(
                (whole.axes(), whole.order()),
                output.axes(),
                output.order(),
                place,
            );
            if let Some((first, blocks)) = to {
                let size = whole.dtype().bytes();
                blocks.unpack_to(size, output.bytes(), whole.bytes_mut(), first);
            }
        }
    }
    let packed = wholes.into_iter().zip(pairs());
    let packed = packed.map(|(whole, (spec, _))| match spec.dtype.per_byte() {
        1 => Ok(whole),
        _ => whole.packed(heap, spec.dtype),
    });
    packed.collect::<Result<_, _>>().map_err(failed)
}

/// Collects the outputs of all ranks on rank 0, which returns the joined outputs; the other ranks return `None`.
pub fn gather(
    heap: &Heap,
    engine: &mut dyn Engine,
    artifact: &Artifact,
    extents: &Explicit,
    outputs: Vec<HostTensor>,
) -> Result<Option<Vec<HostTensor>>, RuntimeError> {
    let mesh = artifact.mesh.as_ref().ok_or(MeshError::NoMesh)?;
    let own = artifact.extents.iter();
    let extents: Vec<i64> = own
        .map(|name| extents.get(name).copied().unwrap_or(0))
        .collect();
    let tag = |output: usize| Tag {
        step: u32::MAX - 1,
        number: output as u32,
    };
    let wanted = |output: usize, rank: usize| {
        let own = mesh.outputs.get(output);
        own.is_some_and(|own| mesh.is_first(own, rank))
    };
    let rank = engine.rank();
    if rank > 0 {
        for (number, output) in outputs.iter().enumerate() {
            if wanted(number, rank) {
                let block = Block {
                    peer: 0,
                    send: output.bytes(),
                    receive: &mut [],
                };
                let sent = engine.exchange(tag(number), &mut [block]);
                sent.map_err(MeshError::Outputs)?;
            }
        }
        return Ok(None);
    }
    let failed = |error: TensorError| RuntimeError::Plan(error.into());
    let mut all: Vec<Vec<HostTensor>> = vec![outputs];
    for _ in 1..engine.ranks() {
        let like = |output: &HostTensor| {
            let zeros = HostTensor::zeros(heap, output.dtype(), output.axes())?;
            let order: Vec<u32> = output.order().iter().map(|&axis| axis as u32).collect();
            Ok(zeros.laid_out(&order))
        };
        let outputs = all[0].iter().map(like).collect::<Result<_, _>>();
        all.push(outputs.map_err(failed)?);
    }
    for number in 0..artifact.outputs.len() {
        let others = all.iter_mut().enumerate().skip(1);
        let others = others.filter(|(rank, _)| wanted(number, *rank));
        let blocks = others.filter_map(|(peer, outputs)| {
            let receive = outputs.get_mut(number)?.bytes_mut();
            (!receive.is_empty()).then_some(Block {
                peer,
                send: &[],
                receive,
            })
        });
        let mut blocks: Vec<Block<'_>> = blocks.collect();
        let sent = engine.exchange(tag(number), &mut blocks);
        sent.map_err(MeshError::Outputs)?;
    }
    let ranks = all.iter().enumerate().map(|(rank, own)| (rank, &own[..]));
    join(heap, artifact, mesh, &extents, ranks).map(Some)
}
