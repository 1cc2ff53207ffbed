//! Runs artifacts on the CPU.
//!
//! The grid of a launch is split into ranges, which the workers take one after the other. The ABI makes the result
//! independent of the split, and therefore of the number of threads.
//!
//! [`CpuProgram::run`] borrows its inputs and leaves them unchanged: an output that updates an input is computed in a
//! copy. An output that is a view of an input or of another output is returned as a separate tensor.
//! [`CpuProgram::update`] consumes its inputs: an output that updates an input, or is a view of one, is the input's own
//! memory, without a copy.

use std::collections::BTreeMap;
use std::time::Instant;

use fuser_artifact::abi::CpuEntry;
use fuser_artifact::{Artifact, DType, Target};

use crate::bind::Explicit;
use crate::checks::{CheckError, PATTERNS, compare_patterns, first_difference, first_other_value};
use crate::devices::{Engine, Link, MeshError, Seat, Solo};
use crate::error::RuntimeError;
use crate::execute::{Cursor, Machine, Order};
use crate::frame::{Frame, Mode};
use crate::inputs::{as_declared, bind_tensors};
use crate::load::{CodeLoader, LoadError, LoadedCode};
use crate::report::{RunReport, Times, summarise};
use crate::run_plan::{Home, PlannedStep, RunPlan};
use crate::runtime::{RunOptions, Runtime};
use crate::tensor::HostTensor;
use crate::timeline::{Timeline, WorkSpan};

/// A program whose code is in memory.
pub struct CpuProgram {
    artifact: Artifact,
    entries: Vec<CpuEntry>,
    /// Keeps the entries callable.
    _code: Box<dyn LoadedCode>,
    /// The versions after this one.
    others: Vec<CpuProgram>,
}

/// The outputs and the report of a run.
#[derive(Debug)]
pub struct RunResult {
    /// In the order of the artifact's outputs.
    pub outputs: Vec<HostTensor>,
    pub report: RunReport,
}

impl CpuProgram {
    /// Checks an artifact and loads its code, of all versions.
    pub fn load(artifact: Artifact, loader: &dyn CodeLoader) -> Result<CpuProgram, RuntimeError> {
        artifact.validate()?;
        let others = artifact.versions().skip(1).cloned();
        let others: Vec<Artifact> = others.collect();
        let mut program = CpuProgram::load_alone(artifact, loader)?;
        let others = others.into_iter();
        program.others = others
            .map(|version| CpuProgram::load_alone(version, loader))
            .collect::<Result<_, _>>()?;
        Ok(program)
    }

    fn load_alone(artifact: Artifact, loader: &dyn CodeLoader) -> Result<CpuProgram, RuntimeError> {
        if !matches!(artifact.target, Target::Cpu { .. }) {
            return Err(RuntimeError::Target {
                expected: "a CPU",
                found: artifact.target.family(),
            });
        }
        let code = loader.load(&artifact.target, &artifact.kernels)?;
        let entry = |kernel: &fuser_artifact::KernelCode| {
            code.entry(&kernel.symbol)
                .ok_or_else(|| LoadError::NoSymbol {
                    kernel: kernel.name.clone(),
                    symbol: kernel.symbol.clone(),
                })
        };
        let entries = artifact
            .kernels
            .iter()
            .map(entry)
            .collect::<Result<_, _>>()?;
        Ok(CpuProgram {
            artifact,
            entries,
            _code: code,
            others: Vec::new(),
        })
    }

    /// The version that runs under these extents.
    fn version(&self, extents: &[i64]) -> &CpuProgram {
        self.version_number(self.artifact.version(extents))
    }

    /// The version of that number, counted from 0.
    pub(crate) fn version_number(&self, number: usize) -> &CpuProgram {
        let other = number.checked_sub(1).and_then(|n| self.others.get(n));
        other.unwrap_or(self)
    }

    pub(crate) fn entries(&self) -> &[CpuEntry] {
        &self.entries
    }

    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Runs the program. `inputs` are in the artifact's order; `explicit` gives the extents that no input shape
    /// determines.
    pub fn run(
        &self,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        self.run_linked(None, runtime, inputs, explicit, options)
    }

    /// Runs one device's part of a program. `engine` connects it to the other parts and gives its rank. An error ends
    /// all parts.
    pub fn run_on(
        &self,
        engine: &mut dyn Engine,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        let done = self.run_linked(Some(engine), runtime, inputs, explicit, options);
        if let Err(error) = &done {
            engine.fail(&error.to_string());
        }
        done
    }

    fn run_linked(
        &self,
        engine: Option<&mut dyn Engine>,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        let extents = bind_tensors(
            &self.artifact.extents,
            &self.artifact.inputs,
            inputs,
            explicit,
        )?;
        let program = self.version(&extents);
        let plan = RunPlan::new(&program.artifact, &extents, runtime.workers().count())?;
        let heap = runtime.heap();
        let specs = &self.artifact.inputs;
        let converted = as_declared(heap, specs, &self.artifact.extents, &extents, inputs)?;
        let inputs = inputs.iter().zip(&converted);
        let inputs: Vec<&HostTensor> = inputs
            .map(|(given, other)| other.as_ref().unwrap_or(given))
            .collect();
        let allocated = plan.allocated_bytes()?;
        heap.check(allocated)?;
        let run = Run {
            program,
            version: self.artifact.version_of(&extents),
            runtime,
            plan: &plan,
            inputs: &inputs,
        };
        let mut solo = Solo;
        let engine: Option<&mut dyn Engine> = match engine {
            Some(engine) => Some(engine),
            None => solo_engine(&self.artifact, &plan, &mut solo)?,
        };
        let mut seat = None;
        let mut link = match engine {
            Some(engine) => {
                let met = Seat::of_program(engine, &self.artifact, &plan)?;
                Some(seat.insert(met).link(engine))
            }
            None => None,
        };
        // Guarded runs come first: a kernel that writes where it must not is found out before it can harm the inputs.
        let guarded = match options.checks {
            true => Some(run.guarded_runs(&mut link)?),
            false => None,
        };
        let (mut frame, samples) = run.timed(options, &mut link)?;
        let timeline = match runtime.records() {
            true => run.recorded(&mut frame, &mut link)?,
            false => Vec::new(),
        };
        if let Some(guarded) = guarded {
            run.compare(&guarded, &frame)?;
        }
        let outputs = run.outputs(&mut frame, Vec::new())?;
        let mut report = run.report(&extents, &samples, allocated);
        report.timeline = timeline;
        Ok(RunResult { outputs, report })
    }

    /// Runs the program once and consumes its inputs. An output that updates an input, or is a view of one, is that
    /// input's memory. If several outputs share memory, the last one keeps it and the others are copies.
    pub fn update(
        &self,
        runtime: &Runtime,
        inputs: Vec<HostTensor>,
        explicit: &Explicit,
    ) -> Result<RunResult, RuntimeError> {
        let (names, tensors) = (&self.artifact.extents, &self.artifact.inputs);
        let extents = bind_tensors(names, tensors, &inputs, explicit)?;
        let program = self.version(&extents);
        let plan = RunPlan::new(&program.artifact, &extents, runtime.workers().count())?;
        let converted = as_declared(runtime.heap(), tensors, names, &extents, &inputs)?;
        let owned = inputs.into_iter().zip(converted);
        let owned: Vec<HostTensor> = owned.map(|(given, other)| other.unwrap_or(given)).collect();
        let allocated = plan.allocated_bytes()?;
        runtime
            .heap()
            .check(allocated.saturating_sub(plan.updated_bytes()))?;
        let inputs: Vec<&HostTensor> = owned.iter().collect();
        let run = Run {
            program,
            version: self.artifact.version_of(&extents),
            runtime,
            plan: &plan,
            inputs: &inputs,
        };
        let mut frame = run.frame(Mode::Updating)?;
        let mut solo = Solo;
        let mut seat = None;
        let mut link = match solo_engine(&self.artifact, &plan, &mut solo)? {
            Some(engine) => {
                let met = Seat::of_program(engine, &self.artifact, &plan)?;
                Some(seat.insert(met).link(engine))
            }
            None => None,
        };
        let times = run.execute(&mut frame, Order::Parallel, &mut link)?;
        let run = Run {
            program,
            version: self.artifact.version_of(&extents),
            runtime,
            plan: &plan,
            inputs: &[],
        };
        let outputs = run.outputs(&mut frame, owned.into_iter().map(Some).collect())?;
        let report = run.report(&extents, &[times], allocated);
        Ok(RunResult { outputs, report })
    }
}

/// The engine of a program that runs on a single device; `None` if the program never communicates.
fn solo_engine<'a>(
    artifact: &Artifact,
    plan: &RunPlan,
    solo: &'a mut Solo,
) -> Result<Option<&'a mut dyn Engine>, MeshError> {
    match artifact.mesh.as_ref().map_or(1, |mesh| mesh.devices()) {
        1 => Ok(plan.communicates().then_some(solo)),
        devices => Err(MeshError::NoEngine { devices }),
    }
}

struct Run<'a> {
    program: &'a CpuProgram,
    version: (usize, usize),
    runtime: &'a Runtime,
    plan: &'a RunPlan,
    inputs: &'a [&'a HostTensor],
}

impl Run<'_> {
    fn timed(
        &self,
        options: &RunOptions,
        link: &mut Option<Link<'_>>,
    ) -> Result<(Frame, Vec<Times>), RuntimeError> {
        let mut frame = self.frame(Mode::Lean)?;
        for _ in 0..options.warmup {
            self.execute(&mut frame, Order::Parallel, link)?;
        }
        let repeats = 0..options.repeats.max(1);
        let samples = repeats
            .map(|_| self.execute(&mut frame, Order::Parallel, link))
            .collect::<Result<_, _>>()?;
        Ok((frame, samples))
    }

    /// Runs the program once more; the work of each worker in that run.
    fn recorded(
        &self,
        frame: &mut Frame,
        link: &mut Option<Link<'_>>,
    ) -> Result<Vec<WorkSpan>, RuntimeError> {
        let timeline = Timeline::new(self.runtime.workers().count());
        self.execute_in(frame, Order::Parallel, link, Some(&timeline))?;
        Ok(timeline.finish())
    }

    fn frame(&self, mode: Mode) -> Result<Frame, RuntimeError> {
        let workers = self.runtime.workers().count();
        Frame::new(self.runtime.heap(), self.plan, self.inputs, workers, mode)
    }

    fn execute(
        &self,
        frame: &mut Frame,
        order: Order,
        link: &mut Option<Link<'_>>,
    ) -> Result<Times, RuntimeError> {
        self.execute_in(frame, order, link, None)
    }

    /// Runs the steps, and records them if there is a timeline.
    fn execute_in(
        &self,
        frame: &mut Frame,
        order: Order,
        link: &mut Option<Link<'_>>,
        timeline: Option<&Timeline>,
    ) -> Result<Times, RuntimeError> {
        frame.reset(self.plan, self.inputs);
        let machine = Machine {
            workers: self.runtime.workers(),
            entries: &self.program.entries,
            places: frame.places(),
            order,
            timeline,
        };
        machine.begin(self.plan);
        let mut cursor = Cursor::new(self.plan);
        let mut times = Times::new(self.plan.segments.len());
        let start = Instant::now();
        let mut at = 0;
        while let Some((segment, step)) = self.plan.steps.get(at) {
            let begin = Instant::now();
            let done = machine.step(at, step, &mut cursor, link.as_mut());
            let next = done.map_err(|fault| {
                let number = link.as_ref().map_or(0, |link| link.communications);
                self.plan.broken(at, number, *fault)
            })?;
            times.add(*segment, begin.elapsed().as_secs_f64() * 1e3);
            if let Some(timeline) = timeline {
                timeline.end_loop(*segment);
            }
            frame.check_redzones(self.plan, at, self.kernel_name(step))?;
            at = next;
        }
        times.total = start.elapsed().as_secs_f64() * 1e3;
        Ok(times)
    }

    fn kernel_name(&self, step: &PlannedStep) -> Option<&str> {
        match step {
            PlannedStep::Launch { kernel, .. } => {
                let kernel = self.program.artifact.kernels.get(*kernel);
                kernel.map(|kernel| kernel.name.as_str())
            }
            PlannedStep::Copy { .. }
            | PlannedStep::Fill { .. }
            | PlannedStep::Product { .. }
            | PlannedStep::Attention { .. }
            | PlannedStep::Scatter { .. }
            | PlannedStep::Sort { .. }
            | PlannedStep::Routine { .. }
            | PlannedStep::Collective(_)
            | PlannedStep::Turn { .. }
            | PlannedStep::Jump { .. } => None,
        }
    }

    /// Runs the program in guarded memory, once for each pattern; the second run executes its grids backward.
    fn guarded_runs(&self, link: &mut Option<Link<'_>>) -> Result<[Frame; 2], RuntimeError> {
        let [first, second] = PATTERNS;
        let first = self.guarded(first, Order::Parallel, link)?;
        Ok([first, self.guarded(second, Order::Backward, link)?])
    }

    /// Compares the outputs of the two guarded runs with each other and with the outputs of the lean run.
    fn compare(&self, guarded: &[Frame; 2], lean: &Frame) -> Result<(), CheckError> {
        for ((output, bytes), axes) in self.output_sizes().zip(&self.plan.outputs) {
            // Beside a broadcast axis of extent 0 elements are stored that no index reads: nobody need write them.
            if axes.iter().any(|axis| axis.extent == 0) {
                continue;
            }
            let buffer = output.buffer as usize;
            let dtype = output.dtype;
            let runs = guarded
                .each_ref()
                .map(|frame| frame.contents(buffer, bytes));
            compare_patterns(&output.name, runs, dtype)?;
            let [first, _] = runs;
            let lean = self.contents(lean, &[], buffer, bytes);
            if let Some(element) = first_other_value(first, lean, dtype) {
                let output = output.name.clone();
                return Err(CheckError::Layout { output, element });
            }
        }
        Ok(())
    }

    fn guarded(
        &self,
        pattern: u8,
        order: Order,
        link: &mut Option<Link<'_>>,
    ) -> Result<Frame, RuntimeError> {
        let mut frame = self.frame(Mode::Guarded { pattern })?;
        self.execute(&mut frame, order, link)?;
        for (index, buffer) in self.plan.buffers.iter().enumerate() {
            let Home::Input(input) = buffer.home else {
                continue;
            };
            let before = self
                .inputs
                .get(input)
                .map_or(&[][..], |tensor| tensor.bytes());
            let after = frame.contents(index, buffer.bytes);
            let spec = self.program.artifact.inputs.get(input);
            let (name, dtype) = spec.map_or(("", DType::U8), |spec| (&spec.name, spec.dtype));
            if let Some(element) = first_difference(before, after, dtype) {
                let input = name.to_string();
                return Err(CheckError::InputChanged { input, element }.into());
            }
        }
        Ok(frame)
    }

    /// The outputs with their sizes in bytes.
    fn output_sizes(&self) -> impl Iterator<Item = (&fuser_artifact::TensorSpec, usize)> {
        let outputs = self.program.artifact.outputs.iter().zip(&self.plan.outputs);
        outputs.map(|(output, axes)| {
            // The plan has made these sizes once already.
            let bytes = crate::tensor::stored_bytes(output.dtype, axes).unwrap_or(0);
            (output, bytes)
        })
    }

    /// The input that a buffer is, or begins as.
    fn input_of(&self, buffer: usize) -> Option<usize> {
        match self.plan.buffers.get(buffer)?.home {
            Home::Input(input) => Some(input),
            Home::Own { update_of } => update_of,
            Home::Arena(_) | Home::Part { .. } => None,
        }
    }

    /// A buffer's bytes: those of the frame, or those of the corresponding input.
    fn contents<'b>(
        &'b self,
        frame: &'b Frame,
        given: &'b [Option<HostTensor>],
        buffer: usize,
        bytes: usize,
    ) -> &'b [u8] {
        let own = frame.contents(buffer, bytes);
        let Some(input) = self.input_of(buffer).filter(|_| own.is_empty()) else {
            return own;
        };
        let borrowed = self.inputs.get(input).copied();
        let tensor = given.get(input).and_then(Option::as_ref).or(borrowed);
        let stored = tensor.and_then(|tensor| tensor.bytes().get(..bytes));
        stored.unwrap_or_default()
    }

    /// The outputs as tensors without a copy if an output fills the run's own buffer or a consumed input; otherwise as
    /// copies.
    fn outputs(
        &self,
        frame: &mut Frame,
        mut given: Vec<Option<HostTensor>>,
    ) -> Result<Vec<HostTensor>, RuntimeError> {
        let sizes: Vec<_> = self.output_sizes().collect();
        let numbered = sizes.iter().enumerate();
        let last: BTreeMap<u32, usize> = numbered.map(|(i, (o, _))| (o.buffer, i)).collect();
        let mut outputs = Vec::with_capacity(sizes.len());
        for (index, (output, bytes)) in sizes.iter().enumerate() {
            let buffer = output.buffer as usize;
            let axes = self.plan.outputs.get(index).cloned().unwrap_or_default();
            let whole = |tensor: &mut HostTensor| tensor.bytes().len() == *bytes;
            let take = || match self.input_of(buffer).and_then(|i| given.get_mut(i)) {
                Some(slot) => slot.take_if(whole).map(HostTensor::into_memory),
                None => frame.take(buffer, *bytes),
            };
            let is_last = last.get(&output.buffer) == Some(&index);
            let tensor = match is_last.then(take).flatten() {
                Some(memory) => HostTensor::from_memory(output.dtype, axes, memory),
                None => {
                    let contents = self.contents(frame, &given, buffer, *bytes);
                    HostTensor::from_bytes(self.runtime.heap(), output.dtype, &axes, contents)
                }
            };
            let tensor = tensor.map_err(|error| RuntimeError::Plan(error.into()))?;
            outputs.push(tensor.laid_out(&output.order));
        }
        Ok(outputs)
    }

    fn report(&self, extents: &[i64], samples: &[Times], allocated: u64) -> RunReport {
        let (segments, total_ms) = summarise(&self.plan.segments, samples);
        let names = self.program.artifact.extents.iter().cloned();
        RunReport {
            segments,
            total_ms,
            samples_ms: samples.iter().map(|times| times.total).collect(),
            peak_bytes: self.plan.input_bytes.saturating_add(allocated),
            arena_bytes: self.plan.arena_bytes as u64,
            threads: self.runtime.workers().count(),
            ranks: 1,
            extents: names.zip(extents.iter().copied()).collect(),
            version: Some(self.version),
            gpu: None,
            timeline: Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
#[allow(unsafe_code)]
mod tests;
