//! Programs bound to extents that run on the caller's device pointers and stream.
//!
//! Creating a [`CudaExecutable`] settles everything that depends on the extents: the version, all sizes, grids, the
//! memory of temporaries, and the driver's launch attributes. A run checks the given addresses, puts them into a table,
//! and calls the driver once for each step: a launch for each kernel, a copy for each output that is a view. It
//! allocates nothing, takes no lock and never waits; the stream does the work later.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use fuser_artifact::Artifact;
use fuser_artifact::limits::BUFFER_ALIGN;
use smallvec::SmallVec;

use super::graph::CudaGraph;
use super::library::ALIGNMENT;
use super::memory::DeviceMemory;
use super::program::CudaProgram;
use super::steps::{Launch, Step, Work, byte, copy, fill, steps};
use super::{CudaDevice, failed};
use crate::bind::Explicit;
use crate::binding::{Addresses, Binding, Operand};
use crate::bound::BoundProgram;
use crate::error::{RuntimeError, StepName};
use crate::plan;
use crate::run_plan::{GoesOn, Home, PlanError, RunPlan};

/// The advice on tensors that are not aligned.
const ADVICE: &str = "give a copy, or compile for tensors at any address (any_address)";

/// A program on a GPU with its extents and its memory.
///
/// Runs of one executable share the memory of temporaries. The caller either orders runs on different streams, or gives
/// each stream an executable of its own; these share the compiled code.
pub struct CudaExecutable {
    program: Arc<CudaProgram>,
    binding: Binding,
    /// The addresses of tensors that it takes.
    takes: Addresses,
    steps: Vec<Step>,
    /// The address of each buffer; each run sets those of the caller's tensors.
    addresses: Vec<u64>,
    /// Room for the addresses of one launch's parameters.
    parameters: Vec<*mut c_void>,
    /// The turns that are left of each loop that counts them.
    left: Vec<i64>,
    /// Temporaries, then zero-initialized internal buffers, then the workspace of library calls.
    scratch: DeviceMemory,
    workspace: u64,
}

// SAFETY: `parameters` is empty between runs, and everything else may be sent.
unsafe impl Send for CudaExecutable {}

impl CudaExecutable {
    /// Binds a program to `extents`, which names every extent.
    ///
    /// # Errors
    /// Extents without a value; too little memory of the device for the temporaries; a kernel whose shared memory per
    /// block, or number of blocks, exceeds the device's limit.
    pub fn new(
        program: Arc<CudaProgram>,
        extents: &Explicit,
    ) -> Result<CudaExecutable, RuntimeError> {
        let binding = Binding::new(program.artifact(), extents, 1)?;
        let version = program.version_number(binding.version);
        let steps = steps(version, &binding.plan)?;
        let (own, end) = own_places(&binding)?;
        let workspaces = steps.iter().map(|step| match &step.work {
            Work::Launch(launch) => launch.workspace(),
            _ => 0,
        });
        let workspace = workspaces.max().unwrap_or(0);
        let at = end.checked_next_multiple_of(ALIGNMENT);
        let bytes = match workspace {
            0 => Some(end),
            _ => at.and_then(|at| at.checked_add(workspace)),
        };
        let bytes = bytes.ok_or(PlanError::TooLarge)?;
        let scratch = version.device().allocate_part(bytes, bytes as u64)?;
        scratch.zero(own.first().copied().unwrap_or(end), end)?;
        let place = |home| match home {
            Home::Arena(offset) => scratch.address() + offset as u64,
            Home::Input(_) | Home::Own { .. } | Home::Part { .. } => scratch.address(),
        };
        let buffers = binding.plan.buffers.iter();
        let mut addresses: Vec<u64> = buffers.map(|buffer| place(buffer.home)).collect();
        for (&buffer, offset) in binding.own.iter().zip(own) {
            addresses[buffer] = scratch.address() + offset as u64;
        }
        for &(part, of, at) in &binding.parts {
            addresses[part] = addresses[of] + at as u64;
        }
        let most = steps.iter().map(|step| match &step.work {
            Work::Launch(launch) => launch.buffers.len() + launch.extents.len(),
            _ => 0,
        });
        let most = most.max().unwrap_or(0);
        let advice = (!version.takes_any_address()).then_some(ADVICE);
        let takes = Addresses {
            inputs: advice,
            outputs: advice,
            lines: false,
        };
        Ok(CudaExecutable {
            takes,
            program,
            steps,
            addresses,
            parameters: Vec::with_capacity(most),
            left: vec![0; binding.plan.counts()],
            // The library checks the alignment of an address that it has no use for.
            workspace: match workspace {
                0 => 0,
                _ => scratch.address() + (bytes - workspace) as u64,
            },
            scratch,
            binding,
        })
    }

    /// The artifact of the version that runs.
    pub fn artifact(&self) -> &Artifact {
        self.version().artifact()
    }

    fn version(&self) -> &CudaProgram {
        self.program.version_number(self.binding.version)
    }

    pub(super) fn device(&self) -> &CudaDevice {
        self.version().device()
    }

    pub(super) fn plan(&self) -> &RunPlan {
        &self.binding.plan
    }

    /// The bytes of each input.
    pub fn input_bytes(&self) -> &[usize] {
        &self.binding.bytes[0]
    }

    /// The bytes of each output.
    pub fn output_bytes(&self) -> &[usize] {
        &self.binding.bytes[1]
    }

    /// The bytes of an element of each input and of each output.
    pub(super) fn elements(&self) -> &[Vec<usize>; 2] {
        &self.binding.elements
    }

    /// True if tensors may start at any multiple of their element size: the program was compiled for it, or has no
    /// kernels.
    pub fn takes_any_address(&self) -> bool {
        self.takes.inputs.is_none()
    }

    /// Bytes of device memory that the executable holds.
    pub fn scratch_bytes(&self) -> usize {
        self.scratch.bytes()
    }

    /// The number of kernels that a run launches, including those replaced by library calls.
    pub fn launches(&self) -> usize {
        self.launched().count()
    }

    /// The launches of a run, each with its segment and its index among the steps.
    pub(super) fn launched(&self) -> impl Iterator<Item = (usize, usize, &Launch)> {
        let steps = self.steps.iter().enumerate();
        steps.filter_map(|(at, step)| match &step.work {
            Work::Launch(launch) => Some((self.segment(at), at, launch)),
            _ => None,
        })
    }

    /// The name of a launch's kernel.
    pub(super) fn kernel_name(&self, launch: &Launch) -> String {
        self.version().kernel_name(launch.kernel)
    }

    /// The number of steps of a run: launches, copies and fills.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// True if steps may run several times or not at all.
    pub(super) fn has_loops(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step.work, Work::Turn { .. }))
    }

    /// True if the steps of a run depend on data.
    pub(super) fn has_conditions(&self) -> bool {
        let asks = |step: &Step| match step.work {
            Work::Turn { goes_on, .. } => matches!(goes_on, GoesOn::Condition(_)),
            _ => false,
        };
        self.steps.iter().any(asks)
    }

    /// The segment of a step.
    pub(super) fn segment(&self, step: usize) -> usize {
        let step = self.steps.get(step);
        let planned = step.and_then(|step| self.binding.plan.steps.get(step.index));
        planned.map_or(0, |(segment, _)| *segment)
    }

    /// Starts a run on a stream. `inputs` and `outputs` are the addresses of tensors in device memory, stored as the
    /// artifact's inputs and outputs say. They have [`input_bytes`](Self::input_bytes) and
    /// [`output_bytes`](Self::output_bytes) bytes. Addresses are multiples of
    /// [`BUFFER_ALIGN`](fuser_artifact::limits::BUFFER_ALIGN). If the program [accepts any
    /// address](Self::takes_any_address), multiples of the element size select other kernels. The address of an empty
    /// tensor is ignored. `stream` is a `CUstream` as a number (PyTorch's `torch.cuda.current_stream().cuda_stream`,
    /// CuPy's `stream.ptr`), 0 for the default one.
    ///
    /// An output that updates an input may have that input's address, which saves a copy.
    ///
    /// # Errors
    /// A wrong number of tensors, or an address that is 0 or unaligned; both are detected before any work starts. An
    /// error of the driver, with its step. Errors of kernels are returned by a later call and persist for the process:
    /// [`run_blocking`](Self::run_blocking) finds the step.
    ///
    /// # Safety
    /// Until the stream has done the work: the tensors are memory of this device with these sizes; outputs overlap no
    /// other tensor except the input that they update; and the executable is neither dropped nor run on another stream.
    /// The stream belongs to the device's primary context.
    pub unsafe fn run(
        &mut self,
        inputs: &[u64],
        outputs: &[u64],
        stream: u64,
    ) -> Result<(), RuntimeError> {
        // SAFETY: the caller's word.
        unsafe { self.run_with(inputs, outputs, stream, &mut |_, _| Ok(())) }
    }

    /// Runs the program as [`run`](Self::run) does, and waits for the stream after each step, so that an error of a
    /// kernel is reported with its step. For debugging.
    ///
    /// # Errors
    /// Those of `run`, and those of the kernels.
    ///
    /// # Safety
    /// As for `run`.
    pub unsafe fn run_blocking(
        &mut self,
        inputs: &[u64],
        outputs: &[u64],
        stream: u64,
    ) -> Result<(), RuntimeError> {
        let wait = &mut |_, stream| {
            // SAFETY: the caller's word that it is a stream.
            let done = unsafe { result::stream::synchronize(stream) };
            done.map_err(failed("cuStreamSynchronize"))
        };
        // SAFETY: the caller's word.
        unsafe { self.run_with(inputs, outputs, stream, wait) }
    }

    /// Runs the program; calls `then` with 0 before the first step, and with n after the n-th step.
    ///
    /// # Safety
    /// As for `run`.
    pub(super) unsafe fn run_with(
        &mut self,
        inputs: &[u64],
        outputs: &[u64],
        stream: u64,
        then: &mut dyn FnMut(usize, sys::CUstream) -> Result<(), RuntimeError>,
    ) -> Result<(), RuntimeError> {
        let binding = &self.binding;
        let unknown = |address: &u64| (*address, None);
        let (all_in, all_out) = (inputs.iter().map(unknown), outputs.iter().map(unknown));
        let aligned = binding.check(self.takes, all_in, all_out)?;
        let given = |operand| match operand {
            Operand::Input(input) => inputs[input],
            Operand::Output(output) => outputs[output],
        };
        for &(buffer, operand) in &binding.borrowed {
            self.addresses[buffer] = given(operand);
        }
        for &(part, of, at) in &binding.parts {
            self.addresses[part] = self.addresses[of] + at as u64;
        }
        self.device().bind()?;
        let stream: sys::CUstream = std::ptr::without_provenance_mut(stream as usize);
        let binding = &self.binding;
        for &(buffer, input) in &binding.copied_in {
            let bytes = binding.plan.buffers[buffer]
                .bytes
                .min(binding.bytes[0][input]);
            // SAFETY: the caller's word on the tensors, and the plan's that the buffer has so many bytes.
            unsafe { copy(inputs[input], self.addresses[buffer], bytes, stream)? }
        }
        then(0, stream)?;
        self.left.fill(0);
        let mut at = 0;
        while at < self.steps.len() {
            // SAFETY: the caller's word on the tensors; the plan has compared all sizes with the buffers.
            let done = unsafe { self.step(at, aligned, stream) };
            let next = done.and_then(|next| then(at + 1, stream).map(|()| next));
            at = next.map_err(|error| self.named(at, aligned, error))?;
        }
        for &(buffer, output) in &self.binding.copied_out {
            let bytes = self.binding.bytes[1][output];
            // SAFETY: as above.
            unsafe { copy(self.addresses[buffer], outputs[output], bytes, stream)? }
        }
        Ok(())
    }

    /// Starts a step of a run on aligned or unaligned tensors; returns the number of the next step.
    ///
    /// # Safety
    /// The addresses are good for the step, and the stream is valid.
    unsafe fn step(
        &mut self,
        at: usize,
        aligned: bool,
        stream: sys::CUstream,
    ) -> Result<usize, RuntimeError> {
        let (steps, addresses, parameters) =
            (&self.steps, &mut self.addresses, &mut self.parameters);
        let done = match &steps[at].work {
            Work::Turn { goes_on, end } => {
                let said = match goes_on {
                    // SAFETY: the plan has checked that the buffer has a byte.
                    GoesOn::Condition(buffer) => unsafe { byte(addresses[*buffer], stream)? },
                    GoesOn::Turns { .. } => 0,
                };
                return Ok(match goes_on.answer(&mut self.left, |_| said) {
                    true => at + 1,
                    false => *end,
                });
            }
            Work::Jump { to } => return Ok(*to),
            Work::Launch(launch) if launch.way(aligned).call().is_some() => {
                let call = launch.way(aligned).call();
                // SAFETY: the caller's word on addresses and stream; the workspace has the most bytes that a call takes.
                call.map_or(Ok(()), |call| unsafe {
                    call.start(addresses, self.workspace, stream)
                })
            }
            Work::Launch(launch) => {
                let table = addresses.as_mut_ptr();
                let buffers = launch
                    .buffers
                    .iter()
                    .map(|&buffer| table.wrapping_add(buffer));
                let extents = launch.extents.as_ptr().cast_mut();
                let extents = (0..launch.extents.len()).map(|extent| extents.wrapping_add(extent));
                parameters.clear();
                parameters.extend(buffers.map(|address| address.cast::<c_void>()));
                parameters.extend(extents.map(|extent| extent.cast::<c_void>()));
                // SAFETY: the artifact's word is that the kernel takes these parameters, pointers first; the driver copies them before it
                // returns.
                let launched = unsafe { launch.start(aligned, stream, parameters) };
                parameters.clear();
                launched.map_err(failed("cuLaunchKernel"))
            }
            // SAFETY: the caller's word.
            Work::Copy { from, to, bytes } => unsafe {
                copy(addresses[*from], addresses[*to], *bytes, stream)
            },
            Work::Fill {
                buffer,
                count,
                pattern,
            } => {
                // SAFETY: the caller's word.
                unsafe { fill(addresses[*buffer], *count, *pattern, stream) }
            }
        };
        done.map(|()| at + 1)
    }

    /// The error of a step with its name.
    fn named(&self, at: usize, aligned: bool, error: RuntimeError) -> RuntimeError {
        let mut step = StepName {
            kernel: None,
            product: None,
            number: at + 1,
            steps: self.steps.len(),
            grid: 0,
            block: 0,
            shared_bytes: 0,
        };
        if let Some(Work::Launch(launch)) = self.steps.get(at).map(|step| &step.work) {
            step.kernel = Some(self.kernel_name(launch));
            let call = launch.way(aligned).call();
            step.product = call.map(|call| call.shape.clone());
            step.grid = launch.blocks;
            step.block = launch.block;
            step.shared_bytes = launch.shared_bytes;
        }
        let error = Box::new(error);
        RuntimeError::Step { step, error }
    }
}

impl BoundProgram for CudaExecutable {
    fn artifact(&self) -> &Artifact {
        self.artifact()
    }

    fn input_bytes(&self) -> &[usize] {
        self.input_bytes()
    }

    fn output_bytes(&self) -> &[usize] {
        self.output_bytes()
    }

    fn overwrites(&self) -> &[Option<usize>] {
        &self.binding.overwrites
    }

    fn output_align(&self, output: usize) -> usize {
        match self.takes.outputs {
            None => self.binding.elements[1][output],
            Some(_) => BUFFER_ALIGN,
        }
    }

    fn run_on_host(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RuntimeError> {
        let device = self.device().clone();
        // The copies are aligned.
        let length = |bytes: usize| (BUFFER_ALIGN as u64, Some(bytes));
        self.binding.check(
            self.takes,
            inputs.iter().map(|x| length(x.len())),
            outputs.iter().map(|y| length(y.len())),
        )?;
        let [expected_in, expected_out] = &self.binding.bytes;
        let sizes = |list: &[usize]| {
            list.iter()
                .map(|&bytes| device.allocate(bytes))
                .collect::<Result<_, _>>()
        };
        let (mut given, made): (Vec<DeviceMemory>, Vec<DeviceMemory>) =
            (sizes(expected_in)?, sizes(expected_out)?);
        for (memory, bytes) in given.iter_mut().zip(inputs) {
            memory.upload(bytes)?;
        }
        let [from, to] = [&given, &made].map(|list| {
            let addresses: Vec<u64> = list.iter().map(DeviceMemory::address).collect();
            addresses
        });
        // SAFETY: the memory is this call's own and has these sizes; the downloads wait for the stream, and so does an executable that is
        // dropped.
        unsafe { self.run(&from, &to, device.stream())? }
        made.iter()
            .zip(outputs)
            .try_for_each(|(memory, bytes)| memory.download(bytes))
    }

    // SAFETY: as the trait says.
    unsafe fn start(
        &mut self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        stream: u64,
    ) -> Result<(), RuntimeError> {
        let (inputs, outputs) = numbers(inputs, outputs);
        // SAFETY: the caller's word.
        unsafe { self.run(&inputs, &outputs, stream) }
    }

    // SAFETY: as the trait says.
    unsafe fn record(
        self: Box<Self>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> Result<CudaGraph, RuntimeError> {
        let (inputs, outputs) = numbers(inputs, outputs);
        // SAFETY: the caller's word.
        unsafe { CudaExecutable::record(*self, &inputs, &outputs) }
    }
}

/// Device addresses as the driver has them.
type Numbers = SmallVec<[u64; 8]>;

fn numbers(inputs: &[*const u8], outputs: &[*mut u8]) -> (Numbers, Numbers) {
    let inputs = inputs.iter().map(|at| at.addr() as u64);
    let outputs = outputs.iter().map(|at| at.addr() as u64);
    (inputs.collect(), outputs.collect())
}

impl Drop for CudaExecutable {
    fn drop(&mut self) {
        // Nothing may use the memory that is freed now. An error here has nobody to go to.
        let _ = self.device().context.synchronize();
    }
}

/// The offsets, after the arena, of the buffers with memory of their own, and the bytes of both.
fn own_places(binding: &Binding) -> Result<(Vec<usize>, usize), PlanError> {
    let plan = &binding.plan;
    let padded = |bytes| plan::padded(bytes).ok_or(PlanError::TooLarge);
    let mut end = padded(plan.arena_bytes)?;
    let mut offsets = Vec::with_capacity(binding.own.len());
    for &buffer in &binding.own {
        offsets.push(end);
        let next = end.checked_add(padded(plan.buffers[buffer].bytes)?);
        end = next.ok_or(PlanError::TooLarge)?;
    }
    Ok((offsets, end))
}
