//! The memory of one run.
//!
//! A frame gives every buffer of a plan an address. A lean frame uses the inputs' own memory and lets temporaries share
//! an arena. An updated input is copied first, unless the frame may overwrite it. In a guarded frame, every buffer has
//! memory of its own between two red zones, including the inputs. Memory that no input fills starts with a pattern,
//! which the checks examine.

use crate::checks::{CheckError, REDZONE, Side};
use crate::error::RuntimeError;
use crate::execute::{Address, Places};
use crate::memory::{Heap, Memory, MemoryError};
use crate::plan::padded;
use crate::run_plan::{Home, PlannedBuffer, RunPlan};
use crate::tensor::HostTensor;

/// The byte that fills red zones.
const CANARY: u8 = 0xc5;

/// The layout of a frame's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Lean,
    /// As `Lean`, except that updated inputs are written in place: nobody else may hold them.
    Updating,
    Guarded {
        pattern: u8,
    },
}

impl Mode {
    fn redzone(self) -> usize {
        match self {
            Mode::Lean | Mode::Updating => 0,
            Mode::Guarded { .. } => REDZONE,
        }
    }

    fn is_guarded(self) -> bool {
        matches!(self, Mode::Guarded { .. })
    }

    /// True if a buffer gets memory of its own.
    fn allocates(self, home: Home) -> bool {
        match home {
            Home::Own { update_of } => self != Mode::Updating || update_of.is_none(),
            Home::Input(_) | Home::Arena(_) => self.is_guarded(),
            Home::Part { .. } => false,
        }
    }
}

pub(crate) struct Frame {
    mode: Mode,
    /// The address of each buffer.
    addresses: Vec<Address>,
    /// The buffers that have memory of their own, red zones included.
    own: Vec<Option<Memory>>,
    /// Holds what addresses in it point to.
    _arena: Memory,
    scratch: Memory,
    scratch_stride: usize,
    /// None for a program that does not communicate.
    exchange: Option<Memory>,
    /// None for a program that keeps no packed factor.
    kept: Option<Memory>,
}

impl Frame {
    /// Allocates memory for a plan; the inputs must outlive every use of the frame's addresses.
    pub fn new(
        heap: &Heap,
        plan: &RunPlan,
        inputs: &[&HostTensor],
        workers: usize,
        mode: Mode,
    ) -> Result<Frame, RuntimeError> {
        let guarded = mode.is_guarded();
        let arena = heap.allocate(if guarded { 0 } else { plan.arena_bytes })?;
        let mut own = Vec::with_capacity(plan.buffers.len());
        for buffer in &plan.buffers {
            let allocate = || allocate(heap, buffer.bytes, mode);
            own.push(mode.allocates(buffer.home).then(allocate).transpose()?);
        }
        let scratch_stride = match mode {
            Mode::Lean | Mode::Updating => plan.scratch_bytes,
            Mode::Guarded { .. } => plan.scratch_bytes + 2 * REDZONE,
        };
        let scratch = heap.allocate_elements(workers, scratch_stride, "the workers' scratch")?;
        let address = |(buffer, own): (&PlannedBuffer, &Option<Memory>)| match (own, buffer.home) {
            (Some(memory), _) => memory.address().wrapping_add(mode.redzone()),
            (
                None,
                Home::Input(input)
                | Home::Own {
                    update_of: Some(input),
                },
            ) => inputs.get(input).map_or(arena.address(), |t| t.address()),
            (None, Home::Arena(offset)) => arena.address().wrapping_add(offset),
            (None, Home::Own { update_of: None } | Home::Part { .. }) => arena.address(),
        };
        let addresses = plan.buffers.iter().zip(&own).map(address);
        let mut addresses: Vec<Address> = addresses.map(Address::of).collect();
        for (part, of, at) in plan.parts() {
            addresses[part] = addresses[of].part(at);
        }
        Ok(Frame {
            mode,
            addresses,
            own,
            _arena: arena,
            scratch,
            scratch_stride,
            exchange: plan.exchange_memory(heap)?,
            kept: plan.kept_memory(heap)?,
        })
    }

    /// The addresses that a machine works on.
    pub fn places(&self) -> Places<'_> {
        let [exchange, kept] =
            [&self.exchange, &self.kept].map(|own| own.as_ref().unwrap_or(&self.scratch));
        Places {
            addresses: &self.addresses,
            scratch: Address::of(self.scratch.address().wrapping_add(self.mode.redzone())),
            scratch_stride: self.scratch_stride,
            exchange: Address::of(exchange.address()),
            kept: Address::of(kept.address()),
        }
    }

    /// Puts the memory into the state in which a run begins.
    pub fn reset(&mut self, plan: &RunPlan, inputs: &[&HostTensor]) {
        let redzone = self.mode.redzone();
        for (buffer, own) in plan.buffers.iter().zip(&mut self.own) {
            let Some(memory) = own else { continue };
            if let Mode::Guarded { pattern } = self.mode {
                paint(memory, buffer.bytes, pattern);
            }
            let source = match buffer.home {
                Home::Input(input)
                | Home::Own {
                    update_of: Some(input),
                } => inputs.get(input),
                Home::Own { update_of: None } | Home::Arena(_) | Home::Part { .. } => None,
            };
            if let Some(source) = source
                && let Some(to) = memory.get_mut(redzone..redzone + buffer.bytes)
                && let Some(from) = source.bytes().get(..buffer.bytes)
            {
                to.copy_from_slice(from);
            }
        }
        if let Mode::Guarded { pattern } = self.mode {
            let stride = self.scratch_stride;
            let areas = self.scratch.chunks_exact_mut(stride);
            areas.for_each(|area| paint(area, stride - 2 * REDZONE, pattern));
        }
    }

    /// A buffer's bytes, where it has memory of its own.
    pub fn contents(&self, buffer: usize, bytes: usize) -> &[u8] {
        let redzone = self.mode.redzone();
        let memory = self.own.get(buffer).and_then(Option::as_ref);
        memory
            .and_then(|memory| memory.get(redzone..redzone + bytes))
            .unwrap_or_default()
    }

    /// Takes a buffer's memory, if that is exactly the buffer.
    pub fn take(&mut self, buffer: usize, bytes: usize) -> Option<Memory> {
        let slot = self.own.get_mut(buffer)?;
        let exact = slot.as_ref().is_some_and(|memory| memory.len() == bytes);
        slot.take_if(|_| exact && !self.mode.is_guarded())
    }

    /// Refuses red zones that somebody wrote to; `step` and `kernel` say after what.
    pub fn check_redzones(
        &self,
        plan: &RunPlan,
        step: usize,
        kernel: Option<&str>,
    ) -> Result<(), CheckError> {
        if !self.mode.is_guarded() {
            return Ok(());
        }
        let found = |buffer: &str, side| CheckError::Overwritten {
            buffer: buffer.to_string(),
            side,
            step,
            kernel: kernel.map(str::to_string),
        };
        for (buffer, own) in plan.buffers.iter().zip(&self.own) {
            let area = own.as_deref().unwrap_or_default();
            damage(area, buffer.bytes).map_or(Ok(()), |side| Err(found(&buffer.name, side)))?;
        }
        let areas = self.scratch.chunks_exact(self.scratch_stride.max(1));
        let mut damaged = areas.filter_map(|area| damage(area, self.scratch_stride - 2 * REDZONE));
        damaged
            .next()
            .map_or(Ok(()), |side| Err(found("scratch", side)))
    }
}

fn allocate(heap: &Heap, bytes: usize, mode: Mode) -> Result<Memory, RuntimeError> {
    let too_large = || MemoryError::TooLarge {
        what: "a guarded buffer".to_string(),
    };
    match mode {
        Mode::Lean | Mode::Updating => Ok(heap.allocate(bytes)?),
        Mode::Guarded { .. } => {
            let total = padded(bytes).and_then(|bytes| bytes.checked_add(2 * REDZONE));
            Ok(heap.allocate(total.ok_or_else(too_large)?)?)
        }
    }
}

/// Paints red zones around the `bytes` bytes after the first red zone, and the pattern inside.
fn paint(area: &mut [u8], bytes: usize, pattern: u8) {
    area.fill(CANARY);
    if let Some(inside) = area.get_mut(REDZONE..REDZONE + bytes) {
        inside.fill(pattern);
    }
}

/// On which side somebody wrote beyond the bytes.
fn damage(area: &[u8], bytes: usize) -> Option<Side> {
    let whole = |zone: Option<&[u8]>| zone.unwrap_or_default().iter().all(|byte| *byte == CANARY);
    if !whole(area.get(..REDZONE)) {
        return Some(Side::Before);
    }
    (!whole(area.get(REDZONE + bytes..))).then_some(Side::After)
}
