//! A program on a GPU: its kernels, and runs of it.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr, result, sys};
use fuser_artifact::{Artifact, Code, KernelCode, Target, TensorSpec};

use super::{CudaDevice, Module, failed, load_module, simulator};
use crate::bind::Explicit;
use crate::cpu::RunResult;
use crate::error::RuntimeError;
use crate::inputs::{as_declared, bind_tensors};
use crate::load::LoadError;
use crate::memory::MemoryError;
use crate::report::{GpuReport, RunReport, Times, summarise};
use crate::run_plan::{Home, PlannedStep, RunPlan};
use crate::runtime::{RunOptions, Runtime};
use crate::tensor::{Axis, HostTensor};

/// Most blocks of a grid along its first and its second axis.
const MAX_GRID: [i64; 2] = [i32::MAX as i64, u16::MAX as i64];

/// Shared memory that a block may have without asking for more.
const DEFAULT_SHARED: u64 = 48 * 1024;

/// A program whose kernels are on the device.
pub struct CudaProgram {
    artifact: Artifact,
    device: CudaDevice,
    functions: Vec<sys::CUfunction>,
    /// Keeps the functions callable.
    _modules: Vec<Module>,
    /// The versions after this one.
    others: Vec<CudaProgram>,
}

impl CudaProgram {
    /// Checks an artifact and compiles its PTX, of all versions. Kernels with the same PTX share a module.
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
        let mut modules: Vec<Module> = Vec::new();
        let mut by_text: BTreeMap<&str, sys::CUmodule> = BTreeMap::new();
        let mut functions = Vec::with_capacity(artifact.kernels.len());
        for kernel in &artifact.kernels {
            let ptx = match &kernel.code {
                Code::Ptx(text) => text.as_str(),
                Code::Object(_) => "",
            };
            let module = match by_text.get(ptx) {
                Some(module) => *module,
                None => {
                    let module = load_module(device, &kernel.name, ptx)?;
                    let handle = module.handle;
                    modules.push(module);
                    by_text.insert(ptx, handle);
                    handle
                }
            };
            functions.push(function(module, kernel)?);
        }
        Ok(CudaProgram {
            device: device.clone(),
            functions,
            _modules: modules,
            artifact,
            others: Vec::new(),
        })
    }

    /// The version that runs under these extents.
    fn version(&self, extents: &[i64]) -> &CudaProgram {
        let number = self.artifact.version(extents);
        let other = number.checked_sub(1).and_then(|n| self.others.get(n));
        other.unwrap_or(self)
    }

    /// Runs the program. `inputs` are in the artifact's order; `runtime` gives host memory for the outputs.
    pub fn run(
        &self,
        runtime: &Runtime,
        inputs: &[HostTensor],
        explicit: &Explicit,
        options: &RunOptions,
    ) -> Result<RunResult, RuntimeError> {
        let artifact = &self.artifact;
        let extents = bind_tensors(&artifact.extents, &artifact.inputs, inputs, explicit)?;
        let program = self.version(&extents);
        let plan = RunPlan::new(&program.artifact, &extents)?;
        let converted = as_declared(runtime.heap(), artifact, &extents, inputs)?;
        let inputs = inputs.iter().zip(&converted);
        let inputs: Vec<&HostTensor> = inputs
            .map(|(given, other)| other.as_ref().unwrap_or(given))
            .collect();
        let device_bytes = self.check_memory(&plan)?;
        let run = Run {
            program,
            runtime,
            plan: &plan,
            inputs: &inputs,
        };
        let result = run.all(options);
        // No work on the stream may still use the memory that is dropped now, even after an error.
        let idle = self.device.stream.synchronize();
        let (outputs, samples) = result?;
        idle.map_err(failed("cuStreamSynchronize"))?;
        let (segments, total_ms) = summarise(&plan.segments, &samples);
        let report = RunReport {
            segments,
            total_ms,
            peak_bytes: device_bytes,
            arena_bytes: plan.arena_bytes as u64,
            threads: 0,
            version: Some(artifact.version_of(&extents)),
            gpu: Some(GpuReport {
                name: self.device.name()?,
                simulator: simulator::report(),
            }),
            extents: artifact.extents.iter().cloned().zip(extents).collect(),
        };
        Ok(RunResult { outputs, report })
    }

    /// Refuses a plan that the device's free memory does not hold; returns what it needs.
    fn check_memory(&self, plan: &RunPlan) -> Result<u64, RuntimeError> {
        let needed = plan.allocated_bytes(0)?.saturating_add(plan.input_bytes);
        let (free, _) = self
            .device
            .context
            .mem_get_info()
            .map_err(failed("cuMemGetInfo"))?;
        let limit = free as u64;
        if needed > limit {
            let in_use = 0;
            return Err(MemoryError::Limit {
                needed,
                in_use,
                limit,
            }
            .into());
        }
        Ok(needed)
    }
}

/// A grid of at least so many blocks: the first axis as long as it may be, then the second.
fn grid_of(blocks: i64) -> Option<[u32; 2]> {
    let columns = blocks.min(MAX_GRID[0]).max(1);
    let rows = (blocks - 1).max(0) / columns + 1;
    let fits = rows <= MAX_GRID[1];
    fits.then_some([columns as u32, rows as u32])
}

fn check_target(target: &Target, device: &CudaDevice) -> Result<(), RuntimeError> {
    match target {
        Target::Cuda { sm } if *sm <= device.sm => Ok(()),
        Target::Cuda { sm } => Err(RuntimeError::Capability {
            needed: *sm,
            found: device.sm,
        }),
        Target::Cpu { .. } => Err(RuntimeError::Target {
            expected: "an NVIDIA GPU",
            found: "a CPU",
        }),
    }
}

fn function(module: sys::CUmodule, kernel: &KernelCode) -> Result<sys::CUfunction, RuntimeError> {
    let missing = || LoadError::NoSymbol {
        kernel: kernel.name.clone(),
        symbol: kernel.symbol.clone(),
    };
    let symbol = CString::new(kernel.symbol.as_str()).map_err(|_| missing())?;
    // SAFETY: the module is loaded, and stays so for as long as the program lives.
    let function = unsafe { result::module::get_function(module, symbol) };
    Ok(function.map_err(|_| missing())?)
}

struct Run<'a> {
    program: &'a CudaProgram,
    runtime: &'a Runtime,
    plan: &'a RunPlan,
    inputs: &'a [&'a HostTensor],
}

/// Device memory of a run.
struct DeviceFrame {
    /// The address of each buffer.
    addresses: Vec<sys::CUdeviceptr>,
    /// The memory that the addresses point into.
    _slices: Vec<CudaSlice<u8>>,
}

impl Run<'_> {
    fn all(&self, options: &RunOptions) -> Result<(Vec<HostTensor>, Vec<Times>), RuntimeError> {
        let frame = self.frame()?;
        for _ in 0..options.warmup {
            self.execute(&frame)?;
        }
        let repeats = 0..options.repeats.max(1);
        let samples = repeats
            .map(|_| self.execute(&frame))
            .collect::<Result<_, _>>()?;
        Ok((self.outputs(&frame)?, samples))
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.program.device.stream
    }

    fn allocate(&self, bytes: usize) -> Result<CudaSlice<u8>, RuntimeError> {
        // SAFETY: the bytes are only handed to kernels and copies, which read none that they have not written.
        let slice = unsafe { self.stream().alloc::<u8>(bytes.max(1)) };
        slice.map_err(failed("cuMemAlloc"))
    }

    /// Memory for all buffers, and the inputs' elements in theirs.
    fn frame(&self) -> Result<DeviceFrame, RuntimeError> {
        let arena = self.allocate(self.plan.arena_bytes)?;
        let (arena_start, _) = arena.device_ptr(self.stream());
        let mut slices = Vec::new();
        let mut addresses = Vec::with_capacity(self.plan.buffers.len());
        for buffer in &self.plan.buffers {
            addresses.push(match buffer.home {
                Home::Arena(offset) => arena_start + offset as u64,
                Home::Input(_) | Home::Own { .. } => {
                    let slice = self.allocate(buffer.bytes)?;
                    let (address, _) = slice.device_ptr(self.stream());
                    slices.push(slice);
                    address
                }
            });
        }
        slices.push(arena);
        let frame = DeviceFrame {
            addresses,
            _slices: slices,
        };
        self.upload(&frame, |home| match home {
            Home::Input(input) => Some(input),
            Home::Own { .. } | Home::Arena(_) => None,
        })?;
        Ok(frame)
    }

    /// Copies inputs into the buffers for which `source` names one.
    fn upload(
        &self,
        frame: &DeviceFrame,
        source: impl Fn(Home) -> Option<usize>,
    ) -> Result<(), RuntimeError> {
        for (buffer, address) in self.plan.buffers.iter().zip(&frame.addresses) {
            let input = source(buffer.home).and_then(|input| self.inputs.get(input));
            let bytes = input.and_then(|input| input.bytes().get(..buffer.bytes));
            let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            // SAFETY: the buffer has exactly these bytes; the inputs outlive the run, which ends with a wait.
            let copied =
                unsafe { result::memcpy_htod_async(*address, bytes, self.stream().cu_stream()) };
            copied.map_err(failed("cuMemcpyHtoDAsync"))?;
        }
        Ok(())
    }

    fn event(&self) -> Result<CudaEvent, RuntimeError> {
        let timing = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let event = self.program.device.context.new_event(timing);
        let event = event.map_err(failed("cuEventCreate"))?;
        event
            .record(self.stream())
            .map_err(failed("cuEventRecord"))?;
        Ok(event)
    }

    fn execute(&self, frame: &DeviceFrame) -> Result<Times, RuntimeError> {
        self.upload(frame, |home| match home {
            Home::Own { update_of } => update_of,
            Home::Input(_) | Home::Arena(_) => None,
        })?;
        let start = self.event()?;
        let mut ends = Vec::with_capacity(self.plan.steps.len());
        for (segment, step) in &self.plan.steps {
            self.step(frame, step)?;
            ends.push((*segment, self.event()?));
        }
        self.stream()
            .synchronize()
            .map_err(failed("cuStreamSynchronize"))?;
        let mut times = Times::new(self.plan.segments.len());
        let mut begin = &start;
        for (segment, end) in &ends {
            let ms = begin
                .elapsed_ms(end)
                .map_err(failed("cuEventElapsedTime"))?;
            times.add(*segment, ms.into());
            times.total += f64::from(ms);
            begin = end;
        }
        Ok(times)
    }

    fn step(&self, frame: &DeviceFrame, step: &PlannedStep) -> Result<(), RuntimeError> {
        match step {
            PlannedStep::Launch {
                kernel,
                buffers,
                extents,
                grid,
                scratch_bytes,
                block,
            } => {
                let buffers = buffers.iter().map(|index| address(frame, *index)).collect();
                self.launch(*kernel, buffers, extents, *grid, *scratch_bytes, *block)
            }
            PlannedStep::Copy { bytes: 0, .. } => Ok(()),
            PlannedStep::Copy { from, to, bytes } => {
                let (from, to) = (address(frame, *from), address(frame, *to));
                // SAFETY: the plan has checked that both buffers have that many bytes.
                let copied = unsafe {
                    result::memcpy_dtod_async(to, from, *bytes, self.stream().cu_stream())
                };
                copied.map_err(failed("cuMemcpyDtoDAsync"))
            }
            PlannedStep::Fill {
                buffer,
                count,
                size,
                bits,
            } => self.fill(address(frame, *buffer), *count, *size, *bits),
            // An artifact for a GPU that has one is not valid.
            PlannedStep::Product { .. } => Ok(()),
        }
    }

    fn launch(
        &self,
        kernel: usize,
        mut buffers: Vec<sys::CUdeviceptr>,
        extents: &[i64],
        grid: i64,
        shared: usize,
        block: u32,
    ) -> Result<(), RuntimeError> {
        let Some(function) = self
            .program
            .functions
            .get(kernel)
            .copied()
            .filter(|_| grid > 0)
        else {
            return Ok(());
        };
        let code = self.program.artifact.kernels.get(kernel);
        let name = || code.map(|code| code.name.clone()).unwrap_or_default();
        let [columns, rows] = grid_of(grid).ok_or_else(|| RuntimeError::Grid {
            kernel: name(),
            grid,
            limit: MAX_GRID[0].saturating_mul(MAX_GRID[1]),
        })?;
        let own = code.map_or(0, |code| code.shared_bytes);
        let (bytes, limit) = (
            (shared as u64).saturating_add(own),
            self.program.device.shared,
        );
        if bytes > limit {
            let kernel = name();
            return Err(RuntimeError::SharedMemory {
                kernel,
                bytes,
                limit,
            });
        }
        // It fits: the limit of a block is far below this.
        let shared_bytes = u32::try_from(shared).unwrap_or(u32::MAX);
        if bytes > DEFAULT_SHARED {
            let attribute =
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let value = i32::try_from(shared).unwrap_or(i32::MAX);
            // SAFETY: the function is loaded.
            let set =
                unsafe { result::function::set_function_attribute(function, attribute, value) };
            set.map_err(failed("cuFuncSetAttribute"))?;
        }
        let mut extents = extents.to_vec();
        let pointers = buffers
            .iter_mut()
            .map(|buffer| (buffer as *mut sys::CUdeviceptr).cast::<c_void>());
        let values = extents
            .iter_mut()
            .map(|extent| (extent as *mut i64).cast::<c_void>());
        let mut parameters: Vec<*mut c_void> = pointers.chain(values).collect();
        // SAFETY: the artifact's word is that the kernel takes these parameters, pointers first; the driver copies them
        // before it returns, and the buffers live until the run has waited for the stream.
        let launched = unsafe {
            let stream = self.stream().cu_stream();
            let grid = (columns, rows, 1);
            result::launch_kernel(
                function,
                grid,
                (block, 1, 1),
                shared_bytes,
                stream,
                &mut parameters,
            )
        };
        launched.map_err(failed("cuLaunchKernel"))
    }

    /// Fills from the host: fills are small, and the driver has none for elements of 8 bytes.
    fn fill(
        &self,
        to: sys::CUdeviceptr,
        count: usize,
        size: usize,
        bits: u64,
    ) -> Result<(), RuntimeError> {
        if count == 0 {
            return Ok(());
        }
        let mut staged = self
            .runtime
            .heap()
            .allocate_elements(count, size, "a fill")?;
        let bytes = bits.to_le_bytes();
        let element = bytes.get(..size).unwrap_or(&bytes);
        staged
            .chunks_exact_mut(size)
            .for_each(|to| to.copy_from_slice(element));
        // SAFETY: the plan has checked that the buffer has that many bytes; the wait below keeps `staged` alive.
        let copied = unsafe { result::memcpy_htod_async(to, &staged, self.stream().cu_stream()) };
        let idle = self.stream().synchronize();
        copied.map_err(failed("cuMemcpyHtoDAsync"))?;
        idle.map_err(failed("cuStreamSynchronize"))
    }

    fn outputs(&self, frame: &DeviceFrame) -> Result<Vec<HostTensor>, RuntimeError> {
        let specs = self.program.artifact.outputs.iter().zip(&self.plan.outputs);
        let output = |(spec, axes): (&TensorSpec, &Vec<Axis>)| {
            let tensor = HostTensor::zeros(self.runtime.heap(), spec.dtype, axes);
            let mut tensor = tensor.map_err(|error| RuntimeError::Plan(error.into()))?;
            if !tensor.bytes().is_empty() {
                let from = address(frame, spec.buffer as usize);
                // SAFETY: the plan has checked that the buffer has that many bytes; the wait keeps `tensor` alive.
                let copied = unsafe {
                    result::memcpy_dtoh_async(tensor.bytes_mut(), from, self.stream().cu_stream())
                };
                let idle = self.stream().synchronize();
                copied.map_err(failed("cuMemcpyDtoHAsync"))?;
                idle.map_err(failed("cuStreamSynchronize"))?;
            }
            Ok(tensor.laid_out(&spec.order))
        };
        specs.map(output).collect()
    }
}

fn address(frame: &DeviceFrame, buffer: usize) -> sys::CUdeviceptr {
    frame.addresses.get(buffer).copied().unwrap_or(0)
}
