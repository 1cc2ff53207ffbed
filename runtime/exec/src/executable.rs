//! Programs that are bound to extents and called on the caller's memory.
//!
//! All that extents decide is decided when an [`Executable`] is made: the version, every size, the memory of temporaries and of the workers.
//! A call checks the lengths and the alignment of what it is given, puts addresses into tables and runs the kernels; with one worker it
//! allocates nothing, takes no lock and makes no text.

use std::sync::Arc;

use fuser_artifact::Artifact;

use crate::bind::Explicit;
use crate::binding::{Addresses, Binding, COPY, CallError, Operand};
use crate::cpu::CpuProgram;
use crate::error::RuntimeError;
use crate::execute::{Address, Machine, Order, Places, copy};
use crate::memory::Memory;
use crate::run_plan::Home;
use crate::runtime::Runtime;
use crate::workers::Workers;

/// A program with its extents, its threads and its memory.
pub struct Executable {
    program: Arc<CpuProgram>,
    workers: Arc<Workers>,
    binding: Binding,
    /// The address of each buffer; those of the caller's are set by each call.
    addresses: Vec<Address>,
    /// Room for the addresses of one launch.
    pointers: Vec<Address>,
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
        let (heap, workers) = (runtime.heap(), runtime.shared_workers());
        let binding = Binding::new(program.artifact(), extents, workers.count())?;
        let plan = &binding.plan;
        let arena = heap.allocate(plan.arena_bytes)?;
        let scratch =
            heap.allocate_elements(workers.count(), plan.scratch_bytes, "the workers' scratch")?;
        let own = binding.own.iter();
        let own = own
            .map(|&buffer| heap.allocate(plan.buffers[buffer].bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let place = |home| match home {
            Home::Arena(offset) => Address::of(arena.address().wrapping_add(offset)),
            Home::Input(_) | Home::Own { .. } => Address::of(arena.address()),
        };
        let buffers = plan.buffers.iter();
        let mut addresses: Vec<Address> = buffers.map(|buffer| place(buffer.home)).collect();
        for (&buffer, memory) in binding.own.iter().zip(&own) {
            addresses[buffer] = Address::of(memory.address());
        }
        Ok(Executable {
            program,
            workers,
            addresses,
            pointers: Vec::with_capacity(plan.most_buffers()),
            scratch,
            _arena: arena,
            _own: own,
            binding,
        })
    }

    /// The artifact of the version that runs.
    pub fn artifact(&self) -> &Artifact {
        self.program.version_number(self.binding.version).artifact()
    }

    /// The bytes of each input.
    pub fn input_bytes(&self) -> &[usize] {
        &self.binding.bytes[0]
    }

    /// The bytes of each output.
    pub fn output_bytes(&self) -> &[usize] {
        &self.binding.bytes[1]
    }

    /// Runs the program. Tensors are stored as the artifact's inputs and outputs say. Inputs begin at multiples of their elements' size:
    /// kernels for a CPU load from any such address. Outputs begin at multiples of [`BUFFER_ALIGN`](fuser_artifact::limits::BUFFER_ALIGN),
    /// as kernels store lines of the cache past it.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), CallError> {
        let binding = &self.binding;
        let place = |memory: &[u8]| (memory.as_ptr().addr() as u64, Some(memory.len()));
        let given = (inputs.iter(), outputs.iter());
        let addresses = Addresses {
            inputs: None,
            outputs: Some(COPY),
        };
        binding.check(
            addresses,
            given.0.map(|x| place(x)),
            given.1.map(|y| place(y)),
        )?;
        for &(buffer, operand) in &binding.borrowed {
            let (address, bytes) = match operand {
                Operand::Input(input) => (inputs[input].as_ptr().cast_mut(), inputs[input].len()),
                Operand::Output(output) => (outputs[output].as_mut_ptr(), outputs[output].len()),
            };
            if bytes > 0 {
                self.addresses[buffer] = Address::of(address);
            }
        }
        for &(buffer, input) in &binding.copied_in {
            let from = Address::of(inputs[input].as_ptr().cast_mut());
            let bytes = binding.plan.buffers[buffer].bytes.min(inputs[input].len());
            // SAFETY: the buffer has that many bytes, in memory of its own or of an output, which no input overlaps.
            unsafe { copy(&self.workers, from, self.addresses[buffer], bytes) }
        }
        let machine = Machine {
            workers: &self.workers,
            entries: self.program.version_number(binding.version).entries(),
            places: Places {
                addresses: &self.addresses,
                scratch: Address::of(self.scratch.address()),
                scratch_stride: binding.plan.scratch_bytes,
            },
            order: Order::Parallel,
        };
        for (_, step) in &binding.plan.steps {
            machine.step(step, &mut self.pointers);
        }
        for &(buffer, output) in &binding.copied_out {
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
}
