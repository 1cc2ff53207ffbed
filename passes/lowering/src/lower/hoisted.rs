//! Hoisted phases: phases that run before outer loops. Their clause `before` names the loops that do not change their
//! values.
//!
//! ```text
//! grid loop
//!   phases before the stream loops     what they make stays in tile memory through those loops
//!   stream loops
//!     phases of the step
//! ```
//!
//! Refuses a phase whose values vary along a loop that it precedes. Refuses a phase with a reduction over outer loops
//! as well, because that is complete only after them.

use fuser_ir::Value;
use rustc_hash::FxHashMap;

use super::sweep::{Resident, SweepLowering, Unsupported};

/// A phase before loops.
#[derive(Clone, Copy, Debug)]
pub struct HoistedPhase {
    /// Its number.
    pub phase: usize,
    /// Its place: before the outer loop of this position.
    pub place: usize,
}

/// The values that hoisted phases made so far.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    scalars: FxHashMap<Value, Value>,
    resident: FxHashMap<Value, Resident>,
}

impl Outside {
    fn has(&self, memory: Value) -> bool {
        self.resident.values().any(|r| r.memory == memory)
    }
    /// True if the memory of `value` was filled before the loops.
    pub(super) fn keeps(&self, value: Value) -> bool {
        self.resident.contains_key(&value)
    }
}

impl SweepLowering<'_> {
    /// Reads the `before` clauses.
    pub(super) fn place_hoisted(&mut self) -> Result<(), Unsupported> {
        let clauses = self.flat.before.iter().enumerate();
        for (phase, names) in clauses.filter(|(_, names)| !names.is_empty()) {
            let place = match self.spec.place_before(names) {
                Ok(place) => place,
                Err(reason) => return self.refuse_sweep(reason),
            };
            self.check_hoisted(phase, place)?;
            self.hoisted.push(HoistedPhase { phase, place });
        }
        Ok(())
    }
    fn check_hoisted(&self, phase: usize, place: usize) -> Result<(), Unsupported> {
        let inner = self.outer_order().split_off(place);
        for op in self.phase_ops(phase) {
            let results = self.ir().results(op).iter();
            let varies = results
                .flat_map(|&v| self.varies(v))
                .find(|l| inner.contains(l));
            if let Some(axis) = varies {
                let name = self.spec.loops[axis].name();
                return self.refuse(
                    op,
                    format!("it varies along '{name}', before which its phase runs"),
                    "move it to a phase without `before`",
                );
            }
            if self.accumulators.iter().any(|a| a.op == op) {
                return self.refuse(
                    op,
                    "it is complete only after loops before which its phase runs",
                    "move it to a phase without `before`",
                );
            }
        }
        Ok(())
    }
    /// True if a phase runs before loops.
    pub(super) fn is_hoisted(&self, phase: usize) -> bool {
        self.hoisted.iter().any(|h| h.phase == phase)
    }
    /// Emits the phases that run before the outer loop at `place`.
    pub(super) fn emit_hoisted(&mut self, place: usize) -> Result<(), Unsupported> {
        let here = self.hoisted.iter().filter(|h| h.place == place);
        for phase in here.map(|h| h.phase).collect::<Vec<_>>() {
            self.begin_step();
            self.emit_phase(phase)?;
            self.outside = Outside {
                scalars: self.scalars.clone(),
                resident: self.resident.clone(),
            };
        }
        Ok(())
    }
    /// Discards the values of the previous step and keeps those computed before the loops. Copies of a step reuse
    /// the memory of the other copies.
    pub(super) fn begin_step(&mut self) {
        self.scalars.clone_from(&self.outside.scalars);
        self.resident.clone_from(&self.outside.resident);
        self.free.clear();
        if self.copies > 1 {
            let taken = self.taken.iter();
            let kept = |r: &&Resident| self.outside.has(r.memory);
            self.free.extend(taken.filter(|r| !kept(r)).cloned());
        }
    }
}
