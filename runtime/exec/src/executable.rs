//! Programs that are bound to extents and called on the caller's memory.
//!
//! All that extents decide is decided when an [`Executable`] is made: the version, every size, the memory of temporaries and of the workers.
//! A call checks the lengths and the alignment of what it is given, puts addresses into tables and runs the kernels; with one worker it
//! allocates nothing, takes no lock and makes no text.
//!
//! An output is written where the caller wants it. One that updates an input begins as a copy of that; one that is a view, or shares
//! the memory of another output, is copied at the end.

use std::fmt;
use std::sync::Arc;

use fuser_artifact::limits::BUFFER_ALIGN;
use fuser_artifact::{Artifact, TensorSpec};

use crate::bind::{self, Explicit};
use crate::cpu::CpuProgram;
use crate::error::RuntimeError;
use crate::execute::{Address, Machine, Order, Places, copy};
use crate::memory::Memory;
use crate::run_plan::{Home, RunPlan};
use crate::runtime::Runtime;
use crate::tensor::stored_bytes;
use crate::workers::Workers;

/// A tensor of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The input of that number.
    Input(usize),
    /// The output of that number.
    Output(usize),
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Input(number) => write!(f, "input {number}"),
            Operand::Output(number) => write!(f, "output {number}"),
        }
    }
}

/// A call that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// Another number of inputs or outputs than the program has.
    Count { inputs: usize, outputs: usize },
    /// Memory of another length, in bytes, than the tensor has.
    Bytes {
        operand: Operand,
        expected: usize,
        found: usize,
    },
    /// Memory that does not begin at a multiple of [`BUFFER_ALIGN`].
    Alignment { operand: Operand },
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Count { inputs, outputs } => {
                write!(f, "the program has {inputs} inputs and {outputs} outputs")
            }
            CallError::Bytes {
                operand,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{operand} has {expected} bytes, the memory for it {found}"
                )
            }
            CallError::Alignment { operand } => {
                write!(
                    f,
                    "the memory of {operand} is not aligned to {BUFFER_ALIGN} bytes"
                )
            }
        }
    }
}

impl std::error::Error for CallError {}

/// A program with its extents, its threads and its memory.
pub struct Executable {
    program: Arc<CpuProgram>,
    version: usize,
    workers: Arc<Workers>,
    plan: RunPlan,
    /// The bytes of the inputs and of the outputs.
    bytes: [Vec<usize>; 2],
    /// The address of each buffer; those of the caller's are set by each call.
    addresses: Vec<Address>,
    /// Room for the addresses of one launch.
    pointers: Vec<Address>,
    /// The buffers that are the caller's memory.
    borrowed: Vec<(usize, Operand)>,
    /// Buffers that begin as a copy of an input.
    copied_in: Vec<(usize, usize)>,
    /// Buffers that are copied to an output at the end.
    copied_out: Vec<(usize, usize)>,
    scratch: Memory,
    _arena: Memory,
    _own: Vec<Memory>,
}

impl Executable {
    /// Binds a program to the extents, all of which are given by name.
    pub fn new(
        runtime: &Runtime,
        program: Arc<CpuProgram>,
        extents: &Explicit,
    ) -> Result<Executable, RuntimeError> {
        let whole = program.artifact();
        let nothing = whole.inputs.iter().map(|_| None).collect::<Vec<_>>();
        let extents = bind::bind(&whole.extents, &whole.inputs, &nothing, extents)?;
        let version = whole.version(&extents);
        let artifact = program.version_number(version).artifact();
        let plan = RunPlan::new(artifact, &extents)?;
        let bytes = [
            sizes(artifact, &artifact.inputs, &extents)?,
            sizes(artifact, &artifact.outputs, &extents)?,
        ];
        let (heap, workers) = (runtime.heap(), runtime.shared_workers());
        let arena = heap.allocate(plan.arena_bytes)?;
        let scratch =
            heap.allocate_elements(workers.count(), plan.scratch_bytes, "the workers' scratch")?;
        let mut executable = Executable {
            version,
            workers,
            addresses: vec![Address::of(arena.address()); plan.buffers.len()],
            pointers: Vec::with_capacity(plan.most_buffers()),
            borrowed: Vec::new(),
            copied_in: Vec::new(),
            copied_out: Vec::new(),
            scratch,
            _arena: arena,
            _own: Vec::new(),
            bytes,
            program: Arc::clone(&program),
            plan,
        };
        executable.place(runtime, &artifact.outputs)?;
        Ok(executable)
    }

    /// Gives each buffer its place.
    fn place(&mut self, runtime: &Runtime, outputs: &[TensorSpec]) -> Result<(), RuntimeError> {
        let arena = self._arena.address();
        for (index, buffer) in self.plan.buffers.iter().enumerate() {
            let is_whole = |output: &usize| self.bytes[1].get(*output) == Some(&buffer.bytes);
            let mut here =
                (0..outputs.len()).filter(|&output| outputs[output].buffer as usize == index);
            match buffer.home {
                Home::Arena(offset) => {
                    self.addresses[index] = Address::of(arena.wrapping_add(offset))
                }
                Home::Input(input) => self.borrowed.push((index, Operand::Input(input))),
                Home::Own { update_of } => {
                    match here.clone().next().filter(is_whole) {
                        Some(output) => {
                            here.next();
                            self.borrowed.push((index, Operand::Output(output)));
                        }
                        None => {
                            let memory = runtime.heap().allocate(buffer.bytes)?;
                            self.addresses[index] = Address::of(memory.address());
                            self._own.push(memory);
                        }
                    }
                    self.copied_in.extend(update_of.map(|input| (index, input)));
                }
            }
            self.copied_out.extend(here.map(|output| (index, output)));
        }
        Ok(())
    }

    /// The artifact of the version that runs.
    pub fn artifact(&self) -> &Artifact {
        self.program.version_number(self.version).artifact()
    }

    /// The bytes of each input.
    pub fn input_bytes(&self) -> &[usize] {
        &self.bytes[0]
    }

    /// The bytes of each output.
    pub fn output_bytes(&self) -> &[usize] {
        &self.bytes[1]
    }

    /// Runs the program. Tensors are stored as the artifact's inputs and outputs say, at addresses that are multiples of [`BUFFER_ALIGN`].
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), CallError> {
        self.check(inputs, outputs)?;
        for &(buffer, operand) in &self.borrowed {
            let (address, bytes) = match operand {
                Operand::Input(input) => (inputs[input].as_ptr().cast_mut(), inputs[input].len()),
                Operand::Output(output) => (outputs[output].as_mut_ptr(), outputs[output].len()),
            };
            if bytes > 0 {
                self.addresses[buffer] = Address::of(address);
            }
        }
        for &(buffer, input) in &self.copied_in {
            let from = Address::of(inputs[input].as_ptr().cast_mut());
            let bytes = self.plan.buffers[buffer].bytes.min(inputs[input].len());
            // SAFETY: the buffer has that many bytes, in memory of its own or of an output, which no input overlaps.
            unsafe { copy(&self.workers, from, self.addresses[buffer], bytes) }
        }
        let machine = Machine {
            workers: &self.workers,
            entries: self.program.version_number(self.version).entries(),
            places: Places {
                addresses: &self.addresses,
                scratch: Address::of(self.scratch.address()),
                scratch_stride: self.plan.scratch_bytes,
            },
            order: Order::Parallel,
        };
        for (_, step) in &self.plan.steps {
            machine.step(step, &mut self.pointers);
        }
        for &(buffer, output) in &self.copied_out {
            let to = Address::of(outputs[output].as_mut_ptr());
            // SAFETY: the plan has checked that the buffer has the output's bytes; this output is no buffer's memory.
            unsafe {
                copy(
                    &self.workers,
                    self.addresses[buffer],
                    to,
                    outputs[output].len(),
                )
            }
        }
        Ok(())
    }

    fn check(&self, inputs: &[&[u8]], outputs: &[&mut [u8]]) -> Result<(), CallError> {
        let [expected_in, expected_out] = &self.bytes;
        if inputs.len() != expected_in.len() || outputs.len() != expected_out.len() {
            return Err(CallError::Count {
                inputs: expected_in.len(),
                outputs: expected_out.len(),
            });
        }
        for (number, (memory, expected)) in inputs.iter().zip(expected_in).enumerate() {
            check_one(Operand::Input(number), memory, *expected)?;
        }
        for (number, (memory, expected)) in outputs.iter().zip(expected_out).enumerate() {
            check_one(Operand::Output(number), memory, *expected)?;
        }
        Ok(())
    }
}

fn check_one(operand: Operand, memory: &[u8], expected: usize) -> Result<(), CallError> {
    let found = memory.len();
    if found != expected {
        return Err(CallError::Bytes {
            operand,
            expected,
            found,
        });
    }
    let aligned = found == 0 || memory.as_ptr().addr().is_multiple_of(BUFFER_ALIGN);
    aligned
        .then_some(())
        .ok_or(CallError::Alignment { operand })
}

/// The bytes of tensors as they are stored.
fn sizes(
    artifact: &Artifact,
    tensors: &[TensorSpec],
    extents: &[i64],
) -> Result<Vec<usize>, RuntimeError> {
    let size = |tensor: &TensorSpec| {
        let axes = bind::axes(tensor, &artifact.extents, extents)?;
        stored_bytes(tensor.dtype, &axes).map_err(|error| RuntimeError::Plan(error.into()))
    };
    tensors.iter().map(size).collect()
}
