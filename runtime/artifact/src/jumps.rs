//! Loops and branches among the steps of an artifact.
//!
//! ```text
//! loop                                  branch
//!   to:  condition, if any                i:   turn, if not: end
//!   i:   turn, if none: end                    first side
//!        body                             jump to
//!        jump to                          end: second side
//!   end:                                  to:
//! ```

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::artifact::{Artifact, Step};
use crate::dtype::DType;
use crate::error::{ArtifactError, Entry, Problem};
use crate::size::SizeExpr;
use crate::validate::{at, same_dtype};

/// A loop or a branch.
struct Control {
    /// The step that ends a turn or the first side.
    jump: usize,
    /// The steps of the condition and the body of a loop, or of the sides of a branch.
    parts: [Range<usize>; 2],
    is_branch: bool,
}

impl Artifact {
    /// Checks that steps which follow a turn or a side end in a jump, and the condition or the number of turns.
    pub(crate) fn check_turn(
        &self,
        index: usize,
        turns: Option<&SizeExpr>,
        condition: Option<u32>,
        end: u32,
    ) -> Result<(), Problem> {
        let control = self.control(index).ok_or(Problem::Jump { to: end })?;
        let known = turns.is_some() != condition.is_some();
        if !known || control.is_branch && condition.is_none() {
            return Err(Problem::Jump { to: end });
        }
        if let Some(turns) = turns {
            self.check_size(turns)?;
        }
        let Some(condition) = condition else {
            return Ok(());
        };
        same_dtype(DType::I1.name(), self.buffer(condition)?.dtype.name())
    }

    /// The loop or the branch that the step `index` begins; `None` if no jump ends its turn or its first side.
    fn control(&self, index: usize) -> Option<Control> {
        let &Step::Turn { end, .. } = self.steps.get(index)? else {
            return None;
        };
        let end = end as usize;
        let jump = end.checked_sub(1).filter(|&jump| jump > index)?;
        let &Step::Jump { to, .. } = self.steps.get(jump)? else {
            return None;
        };
        let to = to as usize;
        let parts = match to {
            to if to <= index => [to..index, index + 1..jump],
            to if (end..=self.steps.len()).contains(&to) => [index + 1..jump, end..to],
            _ => return None,
        };
        Some(Control {
            jump,
            parts,
            is_branch: to > index,
        })
    }

    /// Checks that each jump ends one turn or side, and that loops and branches lie within each other or apart: no step
    /// jumps into one from outside.
    pub(crate) fn check_jumps(&self) -> Result<(), ArtifactError> {
        let controls = (0..self.steps.len()).filter_map(|index| self.control(index));
        let controls: Vec<Control> = controls.collect();
        let owned: BTreeSet<usize> = controls.iter().map(|control| control.jump).collect();
        let wrong = |index: usize, to: usize| {
            let to = u32::try_from(to).unwrap_or(u32::MAX);
            at(Entry::Step(index), Err(Problem::Jump { to }))
        };
        for (index, step) in self.steps.iter().enumerate() {
            if let Step::Jump { to, .. } = step
                && !owned.contains(&index)
            {
                return wrong(index, *to as usize);
            }
        }
        let parts = controls.iter().flat_map(|control| &control.parts);
        let mut parts: Vec<&Range<usize>> = parts.filter(|part| !part.is_empty()).collect();
        parts.sort_unstable_by_key(|part| (part.start, Reverse(part.end)));
        let mut open: Vec<&Range<usize>> = Vec::new();
        for part in parts {
            while open.last().is_some_and(|around| around.end <= part.start) {
                open.pop();
            }
            if open.last().is_some_and(|around| part.end > around.end) {
                return wrong(part.start, part.end);
            }
            open.push(part);
        }
        Ok(())
    }
}
