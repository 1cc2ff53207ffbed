//! A binding is a program bound to extents: the selected version, its plan, and the owner of each buffer's memory.
//! Callers pass operands in each call; devices store their addresses where the binding says.
//!
//! An output is written to the caller's memory. An output that updates an input starts as a copy of it. An output that
//! is a view, or shares memory with another output, is copied at the end.

use std::fmt;

use fuser_artifact::limits::BUFFER_ALIGN;
use fuser_artifact::{Artifact, TensorSpec};

use crate::bind::{self, Explicit};
use crate::devices::MeshError;
use crate::error::RuntimeError;
use crate::run_plan::{Home, PlannedStep, RunPlan};
use crate::tensor::stored_bytes;

/// The advice on memory that is not aligned.
pub(crate) const COPY: &str = "give a copy";

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
    /// Memory that does not begin at a multiple of so many bytes.
    Alignment {
        operand: Operand,
        address: u64,
        to: usize,
        /// The advice.
        advice: &'static str,
    },
    /// More bytes to copy than the memory on a device has.
    Beyond { expected: usize, found: usize },
    /// Address 0 for a tensor that has elements.
    Null { operand: Operand },
    /// A program of several devices, called on one.
    Devices { devices: usize },
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
            CallError::Alignment {
                operand,
                address,
                to,
                advice,
            } => {
                let past = address % *to as u64;
                write!(
                    f,
                    "the memory of {operand} is not aligned to {to} bytes: it begins {past} bytes past such an address; {advice}"
                )
            }
            CallError::Beyond { expected, found } => {
                write!(
                    f,
                    "{found} bytes are to be copied, the memory has {expected}"
                )
            }
            CallError::Null { operand } => {
                write!(f, "{operand} has no memory: its address is 0")
            }
            CallError::Devices { devices } => {
                write!(f, "{}", MeshError::NoEngine { devices: *devices })
            }
        }
    }
}

impl std::error::Error for CallError {}

/// The addresses that kernels accept: multiples of the element size, or of [`BUFFER_ALIGN`] if a message for unaligned
/// ones is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub inputs: Option<&'static str>,
    pub outputs: Option<&'static str>,
    /// True if this applies only to outputs that kernels store in whole cache lines.
    pub lines: bool,
}

/// A program bound to extents.
pub(crate) struct Binding {
    /// The version that runs, counted from 0.
    pub version: usize,
    pub plan: RunPlan,
    /// The bytes of the inputs and of the outputs.
    pub bytes: [Vec<usize>; 2],
    /// The bytes of an element of each input and output; for complex types, the bytes of one part.
    pub elements: [Vec<usize>; 2],
    /// The buffers that are the caller's memory.
    pub borrowed: Vec<(usize, Operand)>,
    /// Buffers that are parts: the buffer, the one that it is part of, and the offset in bytes.
    pub parts: Vec<(usize, usize, usize)>,
    /// Buffers that belong to no caller's tensor and are not temporaries: they have memory of their own.
    pub own: Vec<usize>,
    /// Buffers that begin as a copy of an input.
    pub copied_in: Vec<(usize, usize)>,
    /// Buffers that are copied to an output at the end.
    pub copied_out: Vec<(usize, usize)>,
    /// True for an output that a CPU kernel stores in whole cache lines.
    pub lines: Vec<bool>,
    /// For each output the input that it overwrites, if any.
    pub overwrites: Vec<Option<usize>>,
}

impl Binding {
    /// Binds an artifact with all its versions to `extents`, which names every extent, for `workers` workers.
    pub fn new(
        whole: &Artifact,
        extents: &Explicit,
        workers: usize,
    ) -> Result<Binding, RuntimeError> {
        let nothing = whole.inputs.iter().map(|_| None).collect::<Vec<_>>();
        let extents = bind::bind(&whole.extents, &whole.inputs, &nothing, extents)?;
        let version = whole.version(&extents);
        let artifact = whole.versions().nth(version).unwrap_or(whole);
        let mut binding = Binding {
            version,
            plan: RunPlan::new(artifact, &extents, workers)?,
            bytes: [
                sizes(artifact, &artifact.inputs, &extents)?,
                sizes(artifact, &artifact.outputs, &extents)?,
            ],
            elements: [&artifact.inputs, &artifact.outputs].map(|tensors| {
                tensors
                    .iter()
                    .map(|tensor| tensor.dtype.part().bytes())
                    .collect()
            }),
            borrowed: Vec::new(),
            parts: Vec::new(),
            own: Vec::new(),
            copied_in: Vec::new(),
            copied_out: Vec::new(),
            lines: Vec::new(),
            overwrites: vec![None; artifact.outputs.len()],
        };
        binding.place(&artifact.outputs);
        binding.lines = binding.line_outputs(artifact);
        Ok(binding)
    }

    /// Finds out whose memory each buffer is.
    fn place(&mut self, outputs: &[TensorSpec]) {
        for (index, buffer) in self.plan.buffers.iter().enumerate() {
            let is_whole = |output: &usize| self.bytes[1].get(*output) == Some(&buffer.bytes);
            let mut here =
                (0..outputs.len()).filter(|&output| outputs[output].buffer as usize == index);
            match buffer.home {
                Home::Arena(_) => {}
                Home::Part { of, at } => self.parts.push((index, of, at)),
                Home::Input(input) => self.borrowed.push((index, Operand::Input(input))),
                Home::Own { update_of } => {
                    match here.clone().next().filter(is_whole) {
                        Some(output) => {
                            here.next();
                            self.overwrites[output] = update_of;
                            self.borrowed.push((index, Operand::Output(output)));
                        }
                        None => self.own.push(index),
                    }
                    self.copied_in.extend(update_of.map(|input| (index, input)));
                }
            }
            self.copied_out.extend(here.map(|output| (index, output)));
        }
    }

    /// For each output, true if a kernel stores its memory in whole cache lines.
    fn line_outputs(&self, artifact: &Artifact) -> Vec<bool> {
        let mut lines = vec![false; artifact.outputs.len()];
        let steps = self.plan.steps.iter().filter_map(|(_, step)| match step {
            PlannedStep::Launch {
                kernel, buffers, ..
            } => Some((kernel, buffers)),
            _ => None,
        });
        let by_lines =
            steps.filter(|(kernel, _)| artifact.kernels.get(**kernel).is_none_or(|k| k.lines));
        let whole = |buffer: &usize| {
            let part = self.parts.iter().find(|(part, ..)| part == buffer);
            part.map_or(*buffer, |(_, of, _)| *of)
        };
        for buffer in by_lines.flat_map(|(_, buffers)| buffers).map(whole) {
            for (of, operand) in &self.borrowed {
                if let Operand::Output(output) = operand
                    && *of == buffer
                {
                    lines[*output] = true;
                }
            }
        }
        lines
    }

    /// Checks the operands of a call, each given by its address and, if known, its length. Returns true if all start at
    /// multiples of [`BUFFER_ALIGN`].
    #[inline]
    pub fn check(
        &self,
        addresses: Addresses,
        inputs: impl ExactSizeIterator<Item = (u64, Option<usize>)>,
        outputs: impl ExactSizeIterator<Item = (u64, Option<usize>)>,
    ) -> Result<bool, CallError> {
        let [expected_in, expected_out] = &self.bytes;
        if inputs.len() != expected_in.len() || outputs.len() != expected_out.len() {
            return Err(CallError::Count {
                inputs: expected_in.len(),
                outputs: expected_out.len(),
            });
        }
        let mut aligned = true;
        for (number, (memory, expected)) in inputs.zip(expected_in).enumerate() {
            aligned &= self.check_one(addresses, Operand::Input(number), *expected, memory)?;
        }
        for (number, (memory, expected)) in outputs.zip(expected_out).enumerate() {
            aligned &= self.check_one(addresses, Operand::Output(number), *expected, memory)?;
        }
        Ok(aligned)
    }

    /// Checks an operand; true if it begins at a multiple of [`BUFFER_ALIGN`].
    #[inline]
    fn check_one(
        &self,
        addresses: Addresses,
        operand: Operand,
        expected: usize,
        (address, found): (u64, Option<usize>),
    ) -> Result<bool, CallError> {
        if let Some(found) = found.filter(|found| *found != expected) {
            return Err(CallError::Bytes {
                operand,
                expected,
                found,
            });
        }
        match (expected, address) {
            (0, _) => Ok(true),
            (_, 0) => Err(CallError::Null { operand }),
            _ if address.is_multiple_of(BUFFER_ALIGN as u64) => Ok(true),
            _ => self.unaligned(addresses, operand, address),
        }
    }

    /// Checks an operand that does not begin at a multiple of [`BUFFER_ALIGN`].
    fn unaligned(
        &self,
        addresses: Addresses,
        operand: Operand,
        address: u64,
    ) -> Result<bool, CallError> {
        let (advice, element) = match operand {
            Operand::Input(number) => (addresses.inputs, self.elements[0][number]),
            Operand::Output(number) => {
                let any = addresses.lines && !self.lines[number];
                (addresses.outputs.filter(|_| !any), self.elements[1][number])
            }
        };
        let (to, advice) = match advice {
            Some(advice) => (BUFFER_ALIGN, advice),
            None => (element, COPY),
        };
        match address.is_multiple_of(to as u64) {
            true => Ok(false),
            false => Err(CallError::Alignment {
                operand,
                address,
                to,
                advice,
            }),
        }
    }
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
