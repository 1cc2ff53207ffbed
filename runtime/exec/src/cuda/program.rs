//! A program on a GPU: its kernels, and runs of it on tensors of the host.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaEvent, result, sys};
use fuser_artifact::{Artifact, Target, TensorSpec};

use super::executable::CudaExecutable;
use super::memory::DeviceMemory;
use super::module::Function;
use super::steps::Launch;
use super::{CudaDevice, failed, simulator};
use crate::bind::Explicit;
use crate::cpu::RunResult;
use crate::error::RuntimeError;
use crate::inputs::{as_declared, bind_tensors};
use crate::report::{GpuReport, LaunchReport, RunReport, Times, median, summarise};
use crate::runtime::{RunOptions, Runtime};
use crate::tensor::{Axis, HostTensor};

/// A program whose kernels are on the device.
pub struct CudaProgram {
    artifact: Artifact,
    device: CudaDevice,
    entries: Vec<Entry>,
    /// The versions after this one.
    others: Vec<CudaProgram>,
}

/// A kernel on the device: code for aligned tensors, and code for unaligned ones if it exists.
pub(super) struct Entry {
    pub aligned: Function,
    pub any: Option<Function>,
}

impl CudaProgram {
    /// Checks an artifact and compiles its PTX for all versions; code cached by the device is reused.
    ///
    /// # Errors
    /// An invalid artifact, or one for a CPU or a newer GPU; PTX that the driver refuses, with its log.
    pub fn load(artifact: Artifact, device: &CudaDevice) -> Result<CudaProgram, RuntimeError> {
        artifact.validate()?;
        let others: Vec<Artifact> = artifact.versions().skip(1).cloned().collect();
        let mut program = CudaProgram::load_alone(artifact, device)?;
        let others = others.into_iter();
        program.others = others
            .map(|version| CudaProgram::load_alone(version, device))
            .collect::<Result<_, _>>()?;
        Ok(program)
    }

    fn load_alone(artifact: Artifact, device: &CudaDevice) -> Result<CudaProgram, RuntimeError> {
        check_target(&artifact.target, device)?;
        let kernels = artifact.kernels.iter();
        let entries = kernels.map(|kernel| {
            let any = kernel.any_address.as_ref();
            Ok::<_, RuntimeError>(Entry {
                aligned: device.function(kernel, &kernel.code)?,
                any: any.map(|code| device.function(kernel, code)).transpose()?,
            })
        });
        Ok(CudaProgram {
            entries: entries.collect::<Result<_, _>>()?,
            device: device.clone(),
            artifact,
            others: Vec::new(),
        })
    }

    /// The version of that number, counted from 0.
    pub(super) fn version_number(&self, number: usize) -> &CudaProgram {
        let other = number.checked_sub(1).and_then(|n| self.others.get(n));
        other.unwrap_or(self)
    }

    /// The artifact, of all versions.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &CudaDevice {
        &self.device
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// True if its kernels take tensors at any multiple of their elements' size.
    pub(super) fn takes_any_address(&self) -> bool {
        self.entries.iter().all(|entry| entry.any.is_some())
    }

    /// The name of a kernel, for messages.
    pub(super) fn kernel_name(&self, kernel: usize) -> String {
        let kernel = self.artifact.kernels.get(kernel);
        kernel.map(|kernel| kernel.name.clone()).unwrap_or_default()
    }

    /// Runs the program on host tensors. `inputs` are in the artifact's order; `runtime` allocates host memory for the
    /// outputs. Untimed runs wait after each step, so that an error names its kernel. A program whose kernels accept
    /// any address is given tensors one element past a multiple of 256.
    pub fn run(
        self: &Arc<Self>,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        let artifact = &self.artifact;
        let extents = bind_tensors(&artifact.extents, &artifact.inputs, inputs, explicit)?;
        let (specs, names) = (&artifact.inputs, &artifact.extents);
        let converted = as_declared(runtime.heap(), specs, names, &extents, inputs)?;
        let named: Vec<(String, i64)> = artifact.extents.iter().cloned().zip(extents).collect();
        let executable = CudaExecutable::new(Arc::clone(self), &named.iter().cloned().collect())?;
        let inputs = inputs.iter().zip(&converted);
        let inputs = inputs.map(|(given, other)| other.as_ref().unwrap_or(given));
        let mut run = Run::new(executable, inputs)?;
        for _ in 0..options.warmup {
            run.check()?;
        }
        let samples = (0..options.repeats.max(1)).map(|_| run.time());
        let samples: Vec<Vec<f64>> = samples.collect::<Result<_, _>>()?;
        Ok(RunResult {
            outputs: run.outputs(runtime)?,
            report: self.report(&run, &samples, named)?,
        })
    }

    fn report(
        &self,
        run: &Run,
        samples: &[Vec<f64>],
        extents: Vec<(String, i64)>,
    ) -> Result<RunReport, RuntimeError> {
        let plan = run.executable.plan();
        let times = samples.iter().map(|steps| {
            let mut times = Times::new(plan.segments.len());
            for (step, ms) in steps.iter().enumerate() {
                times.add(run.executable.segment(step), *ms);
                times.total += ms;
            }
            times
        });
        let times: Vec<Times> = times.collect();
        let (segments, total_ms) = summarise(&plan.segments, &times);
        Ok(RunReport {
            segments,
            total_ms,
            samples_ms: times.iter().map(|times| times.total).collect(),
            peak_bytes: run.bytes,
            arena_bytes: plan.arena_bytes as u64,
            threads: 0,
            ranks: 1,
            version: Some(self.artifact.version_of(&plan.extents)),
            gpu: Some(GpuReport {
                name: self.device.name()?,
                simulator: simulator::report(),
                launches: run.launches(samples)?,
            }),
            extents,
            timeline: Vec::new(),
        })
    }
}

fn check_target(target: &Target, device: &CudaDevice) -> Result<(), RuntimeError> {
    match target {
        Target::Cuda { sm } if *sm <= device.sm => Ok(()),
        Target::Cuda { sm } => Err(RuntimeError::Capability {
            needed: *sm,
            found: device.sm,
        }),
        Target::Cpu { .. } | Target::Hip { .. } => Err(RuntimeError::Target {
            expected: "an NVIDIA GPU",
            found: target.family(),
        }),
    }
}

/// Runs of an executable on memory of its own.
struct Run {
    executable: CudaExecutable,
    inputs: Vec<DeviceMemory>,
    outputs: Vec<DeviceMemory>,
    /// Bytes before the first element of each.
    before: [Vec<usize>; 2],
    /// One before the first step, and one behind each.
    events: Vec<CudaEvent>,
    /// Bytes of device memory in all.
    bytes: u64,
}

impl Run {
    /// Memory for all tensors, and the elements of the inputs in theirs.
    fn new<'a>(
        executable: CudaExecutable,
        inputs: impl Iterator<Item = &'a HostTensor>,
    ) -> Result<Run, RuntimeError> {
        let device = executable.device().clone();
        let before = executable.elements().clone();
        let before = before.map(|sizes| match executable.takes_any_address() {
            true => sizes,
            false => vec![0; sizes.len()],
        });
        let sizes = [executable.input_bytes(), executable.output_bytes()];
        let sizes: [Vec<usize>; 2] = std::array::from_fn(|list| {
            let sizes = sizes[list].iter().zip(&before[list]);
            sizes
                .map(|(bytes, before)| bytes.saturating_add(*before))
                .collect()
        });
        let tensors = sizes.iter().flatten();
        let tensors = tensors.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes as u64));
        let bytes = tensors.saturating_add(executable.scratch_bytes() as u64);
        device.check_memory(tensors, bytes)?;
        let allocate = |sizes: &[usize]| -> Result<Vec<DeviceMemory>, RuntimeError> {
            let sizes = sizes.iter();
            sizes
                .map(|size| device.allocate_part(*size, bytes))
                .collect()
        };
        let mut run = Run {
            inputs: allocate(&sizes[0])?,
            outputs: allocate(&sizes[1])?,
            before,
            events: Vec::new(),
            bytes,
            executable,
        };
        let memory = run.inputs.iter_mut().zip(&run.before[0]);
        for ((memory, before), tensor) in memory.zip(inputs) {
            let length = (memory.bytes() - before).min(tensor.bytes().len());
            memory.upload_at(*before, &tensor.bytes()[..length])?;
        }
        Ok(run)
    }

    /// The addresses of inputs and outputs.
    fn addresses(&self) -> [Vec<u64>; 2] {
        let lists = [&self.inputs, &self.outputs];
        std::array::from_fn(|list| {
            let memory = lists[list].iter().zip(&self.before[list]);
            let address =
                |(memory, before): (&DeviceMemory, &usize)| memory.address() + *before as u64;
            memory.map(address).collect()
        })
    }

    /// Runs once and waits after each step.
    fn check(&mut self) -> Result<(), RuntimeError> {
        let [inputs, outputs] = self.addresses();
        let stream = self.executable.device().stream();
        // SAFETY: the memory is the run's own, and it waits for all of its work.
        unsafe { self.executable.run_blocking(&inputs, &outputs, stream) }
    }

    /// Runs once; milliseconds of each step.
    fn time(&mut self) -> Result<Vec<f64>, RuntimeError> {
        if self.executable.has_loops() {
            return self.time_by_step();
        }
        let [inputs, outputs] = self.addresses();
        let device = self.executable.device().clone();
        while self.events.len() <= self.executable.steps() {
            let timing = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            let event = device.context.new_event(timing);
            self.events.push(event.map_err(failed("cuEventCreate"))?);
        }
        let (events, stream) = (&self.events, device.stream());
        let record = &mut |step: usize, stream| {
            // SAFETY: the event is alive, and so is the device's stream.
            let recorded = unsafe { result::event::record(events[step].cu_event(), stream) };
            recorded.map_err(failed("cuEventRecord"))
        };
        let run = &mut self.executable;
        // SAFETY: the memory is the run's own, and it waits for all of its work.
        let started = unsafe { run.run_with(&inputs, &outputs, stream, record) };
        let done = device.synchronize();
        started.and(done)?;
        let spans = self.events.windows(2).map(|ends| {
            // SAFETY: both are alive and have been recorded.
            let ms = unsafe { result::event::elapsed(ends[0].cu_event(), ends[1].cu_event()) };
            ms.map(f64::from).map_err(failed("cuEventElapsedTime"))
        });
        spans.collect()
    }

    /// The milliseconds of each step of a program with loops, summed over all turns, with a wait after each step.
    fn time_by_step(&mut self) -> Result<Vec<f64>, RuntimeError> {
        let [inputs, outputs] = self.addresses();
        let device = self.executable.device().clone();
        let mut times = vec![0.0; self.executable.steps()];
        let mut last = Instant::now();
        let then = &mut |step: usize, _| {
            device.synchronize()?;
            if let Some(time) = step.checked_sub(1).and_then(|step| times.get_mut(step)) {
                *time += last.elapsed().as_secs_f64() * 1e3;
            }
            last = Instant::now();
            Ok(())
        };
        // SAFETY: the memory is the run's own, and it waits for all of its work.
        let started = unsafe {
            let stream = device.stream();
            self.executable.run_with(&inputs, &outputs, stream, then)
        };
        let done = device.synchronize();
        started.and(done)?;
        Ok(times)
    }

    /// The launches with their occupancy, and the medians of these times of steps.
    fn launches(&self, samples: &[Vec<f64>]) -> Result<Vec<LaunchReport>, RuntimeError> {
        let (device, segments) = (self.executable.device(), &self.executable.plan().segments);
        let aligned = !self.executable.takes_any_address();
        let launch = |(segment, step, launch): (usize, usize, &Launch)| {
            let way = launch.way(aligned);
            let called = way.call().is_some();
            let (registers, blocks) = match called {
                true => (0, 0),
                false => launch.occupancy(aligned)?,
            };
            let warps = |block: u32| u64::from(block.div_ceil(32));
            let resident = u64::from(blocks) * warps(launch.block);
            let most = warps(device.threads_per_multiprocessor).max(1);
            let times = samples.iter().filter_map(|times| times.get(step).copied());
            Ok(LaunchReport {
                kernel: self.executable.kernel_name(launch),
                segment: segments
                    .get(segment)
                    .map(|s| s.name.clone())
                    .unwrap_or_default(),
                blocks: if called { 0 } else { launch.blocks },
                block: if called { 0 } else { launch.block },
                shared_bytes: match called {
                    true => 0,
                    false => u64::from(launch.shared_bytes) + launch.own_shared_bytes,
                },
                cublaslt: way.library.as_ref().map(|found| match found {
                    Ok(_) => "called",
                    Err(unused) => unused.name(),
                }),
                tensor_cores: self.executable.artifact().kernels[launch.kernel].uses_tensor_cores(),
                registers: (registers > 0).then_some(registers),
                blocks_per_multiprocessor: blocks,
                occupancy: resident as f64 / most as f64,
                time_ms: median(times.collect()),
            })
        };
        self.executable.launched().map(launch).collect()
    }

    fn outputs(&self, runtime: &Runtime) -> Result<Vec<HostTensor>, RuntimeError> {
        let specs = &self.executable.artifact().outputs;
        let axes = &self.executable.plan().outputs;
        type Output<'a> = (
            (&'a DeviceMemory, &'a usize),
            (&'a TensorSpec, &'a Vec<Axis>),
        );
        let output = |((memory, before), (spec, axes)): Output<'_>| {
            let tensor = HostTensor::zeros(runtime.heap(), spec.dtype, axes);
            let mut tensor = tensor.map_err(|error| RuntimeError::Plan(error.into()))?;
            memory.download_at(*before, tensor.bytes_mut())?;
            Ok(tensor.laid_out(&spec.order))
        };
        let memory = self.outputs.iter().zip(&self.before[1]);
        let outputs = memory.zip(specs.iter().zip(axes));
        outputs.map(output).collect()
    }
}
