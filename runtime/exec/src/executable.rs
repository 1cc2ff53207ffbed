//! Programs bound to extents and called on the caller's memory.
//!
//! Creating an [`Executable`] settles everything that depends on the extents: the version, all sizes, the memory of
//! temporaries and of the workers. A call checks the lengths and the alignment of its arguments, puts addresses into
//! tables and runs the kernels. With one worker it allocates nothing, takes no lock and formats no text.

use std::sync::Arc;

use fuser_artifact::Artifact;
use fuser_artifact::limits::BUFFER_ALIGN;

use crate::bind::Explicit;
use crate::binding::{Addresses, Binding, COPY, CallError, Operand};
use crate::bound::BoundProgram;
use crate::cpu::CpuProgram;
#[cfg(feature = "cuda")]
use crate::cuda::CudaGraph;
use crate::devices::{Engine, Link, MeshError, Seat, Solo};
use crate::error::RuntimeError;
use crate::execute::{Address, Cursor, Machine, Order, Places, copy};
use crate::memory::Memory;
use crate::run_plan::Home;
use crate::runtime::Runtime;
use crate::workers::Workers;

/// The addresses that kernels for a CPU take.
const ADDRESSES: Addresses = Addresses {
    inputs: None,
    outputs: Some(COPY),
    lines: true,
};

/// A program with its extents, its threads and its memory.
pub struct Executable {
    program: Arc<CpuProgram>,
    workers: Arc<Workers>,
    binding: Binding,
    /// The address of each buffer; each call sets those of the caller's tensors.
    addresses: Vec<Address>,
    /// Room for the addresses of one launch.
    cursor: Cursor,
    scratch: Memory,
    /// None for a program that does not communicate.
    exchange: Option<Memory>,
    /// None for a program that keeps no packed factor.
    kept: Option<Memory>,
    /// The place among other devices; none before the first run with them.
    seat: Option<Seat>,
    /// More than one where the program runs with other devices only.
    devices: usize,
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
            Home::Input(_) | Home::Own { .. } | Home::Part { .. } => Address::of(arena.address()),
        };
        let buffers = plan.buffers.iter();
        let mut addresses: Vec<Address> = buffers.map(|buffer| place(buffer.home)).collect();
        for (&buffer, memory) in binding.own.iter().zip(&own) {
            addresses[buffer] = Address::of(memory.address());
        }
        for &(part, of, at) in &binding.parts {
            addresses[part] = addresses[of].part(at);
        }
        let mesh = program.artifact().mesh.as_ref();
        let devices = mesh.map_or(1, |mesh| mesh.devices());
        let seat = match devices {
            1 if plan.communicates() => {
                Some(Seat::of_program(&mut Solo, program.artifact(), plan)?)
            }
            _ => None,
        };
        Ok(Executable {
            exchange: plan.exchange_memory(heap)?,
            kept: plan.kept_memory(heap)?,
            seat,
            devices,
            program,
            workers,
            addresses,
            cursor: Cursor::new(plan),
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

    /// The alignment of an output's memory: [`BUFFER_ALIGN`](fuser_artifact::limits::BUFFER_ALIGN) if kernels write it
    /// with non-temporal stores of whole cache lines, else the size of an element.
    pub fn output_align(&self, output: usize) -> usize {
        match self.binding.lines.get(output) {
            Some(false) => self.binding.elements[1][output],
            _ => BUFFER_ALIGN,
        }
    }

    /// For each output, the input that it overwrites, if any: the two may be the same memory.
    pub fn overwrites(&self) -> &[Option<usize>] {
        &self.binding.overwrites
    }

    /// Runs the program. Tensors are stored as the artifact's inputs and outputs say. Inputs start at multiples of
    /// their element size, which is enough for CPU kernels. Outputs start at multiples of
    /// [`output_align`](Self::output_align).
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), CallError> {
        self.alone()?;
        let place = |memory: &[u8]| (memory.as_ptr().addr() as u64, Some(memory.len()));
        let given = (inputs.iter(), outputs.iter());
        self.binding.check(
            ADDRESSES,
            given.0.map(|x| place(x)),
            given.1.map(|y| place(y)),
        )?;
        let done = self.go(
            &mut Solo,
            &|input| inputs[input].as_ptr().cast_mut(),
            &|output| outputs[output].as_ptr().cast_mut(),
        );
        debug_assert!(done.is_ok(), "one device has no peers");
        Ok(())
    }

    /// Runs as [`run`](Self::run) does, but one device's part of a program. `engine` connects it to the other parts,
    /// and must be the same in all runs. The first run compares the programs of all devices. An error ends all parts.
    pub fn run_on(
        &mut self,
        engine: &mut dyn Engine,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RuntimeError> {
        let done = self.run_linked(engine, inputs, outputs);
        if let Err(error) = &done {
            engine.fail(&error.to_string());
        }
        done
    }

    fn run_linked(
        &mut self,
        engine: &mut dyn Engine,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RuntimeError> {
        if self.seat.is_none() {
            let whole = self.program.artifact();
            self.seat = Some(Seat::of_program(engine, whole, &self.binding.plan)?);
        }
        let place = |memory: &[u8]| (memory.as_ptr().addr() as u64, Some(memory.len()));
        let given = (inputs.iter(), outputs.iter());
        self.binding.check(
            ADDRESSES,
            given.0.map(|x| place(x)),
            given.1.map(|y| place(y)),
        )?;
        let done = self.go(
            engine,
            &|input| inputs[input].as_ptr().cast_mut(),
            &|output| outputs[output].as_ptr().cast_mut(),
        );
        Ok(done?)
    }

    /// Refuses a program that runs with other devices only.
    fn alone(&self) -> Result<(), CallError> {
        match self.devices {
            1 => Ok(()),
            devices => Err(CallError::Devices { devices }),
        }
    }

    /// Runs as [`run`](Self::run) does, on addresses. An output may be the memory of the input that it
    /// [overwrites](Self::overwrites). Then nothing is copied, and the input's contents are lost.
    ///
    /// # Errors
    /// A wrong number of addresses, or unaligned ones; null for a tensor that has elements.
    ///
    /// # Safety
    /// Each address is good for [`input_bytes`](Self::input_bytes) or [`output_bytes`](Self::output_bytes) bytes.
    /// During the call nobody writes to the inputs, and nobody else uses the outputs. An output overlaps nothing except
    /// the input that it overwrites, and that input exactly.
    pub unsafe fn run_at(
        &mut self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> Result<(), CallError> {
        self.alone()?;
        self.binding.check(
            ADDRESSES,
            inputs.iter().map(|x| (x.addr() as u64, None)),
            outputs.iter().map(|y| (y.addr() as u64, None)),
        )?;
        let (input, output) = (|at: usize| inputs[at].cast_mut(), |at: usize| outputs[at]);
        let done = self.go(&mut Solo, &input, &output);
        debug_assert!(done.is_ok(), "one device has no peers");
        Ok(())
    }

    /// Runs on addresses that are checked.
    fn go(
        &mut self,
        engine: &mut dyn Engine,
        input: &dyn Fn(usize) -> *mut u8,
        output: &dyn Fn(usize) -> *mut u8,
    ) -> Result<(), MeshError> {
        let binding = &self.binding;
        let [input_bytes, output_bytes] = &binding.bytes;
        for &(buffer, operand) in &binding.borrowed {
            let (address, bytes) = match operand {
                Operand::Input(number) => (input(number), input_bytes[number]),
                Operand::Output(number) => (output(number), output_bytes[number]),
            };
            if bytes > 0 {
                self.addresses[buffer] = Address::of(address);
            }
        }
        for &(part, of, at) in &binding.parts {
            self.addresses[part] = self.addresses[of].part(at);
        }
        for &(buffer, number) in &binding.copied_in {
            let (from, to) = (input(number), self.addresses[buffer]);
            let bytes = binding.plan.buffers[buffer].bytes.min(input_bytes[number]);
            if from != to.at(0) {
                // SAFETY: the buffer has that many bytes, in memory of its own or of an output, which no input overlaps but that at this address.
                unsafe { copy(&self.workers, Address::of(from), to, bytes) }
            }
        }
        let [exchange, kept] = [&self.exchange, &self.kept];
        let [exchange, kept] = [exchange, kept].map(|own| own.as_ref().unwrap_or(&self.scratch));
        let machine = Machine {
            workers: &self.workers,
            entries: self.program.version_number(binding.version).entries(),
            places: Places {
                addresses: &self.addresses,
                scratch: Address::of(self.scratch.address()),
                scratch_stride: binding.plan.scratch_bytes,
                exchange: Address::of(exchange.address()),
                kept: Address::of(kept.address()),
            },
            order: Order::Parallel,
            timeline: None,
        };
        machine.begin(&binding.plan);
        self.cursor.restart();
        let mut link = self.seat.as_mut().map(|seat| seat.link(engine));
        let mut at = 0;
        while let Some((_, step)) = binding.plan.steps.get(at) {
            let done = machine.step(at, step, &mut self.cursor, link.as_mut());
            at = done.map_err(|fault| {
                let number = link
                    .as_ref()
                    .map_or(0, |link: &Link<'_>| link.communications);
                binding.plan.broken(at, number, *fault)
            })?;
        }
        for &(buffer, number) in &binding.copied_out {
            let (from, to) = (self.addresses[buffer], Address::of(output(number)));
            // SAFETY: the plan has checked that the buffer has the output's bytes; this output is no buffer's memory.
            unsafe { copy(&self.workers, from, to, output_bytes[number]) }
        }
        Ok(())
    }
}

impl BoundProgram for Executable {
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
        self.overwrites()
    }

    fn output_align(&self, output: usize) -> usize {
        self.output_align(output)
    }

    fn run_on_host(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RuntimeError> {
        Ok(self.run(inputs, outputs)?)
    }

    // SAFETY: as the trait says.
    unsafe fn start(
        &mut self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        _stream: u64,
    ) -> Result<(), RuntimeError> {
        // SAFETY: the caller's word.
        Ok(unsafe { self.run_at(inputs, outputs) }?)
    }

    #[cfg(feature = "cuda")]
    // SAFETY: as the trait says.
    unsafe fn record(
        self: Box<Self>,
        _inputs: &[*const u8],
        _outputs: &[*mut u8],
    ) -> Result<CudaGraph, RuntimeError> {
        Err(RuntimeError::Target {
            expected: "an NVIDIA GPU",
            found: "a CPU",
        })
    }
}
