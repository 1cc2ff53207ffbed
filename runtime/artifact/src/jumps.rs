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
    /// All its steps.
    all: Range<usize>,
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
        let (all, parts) = match to {
            to if to <= index => (to..end, [to..index, index + 1..jump]),
            to if (end..=self.steps.len()).contains(&to) => (index..to, [index + 1..jump, end..to]),
            _ => return None,
        };
        Some(Control {
            jump,
            all,
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
        // All steps of each loop and branch, and its parts: a part lies in its own, all of another in a part.
        let mut ranges: Vec<(&Range<usize>, usize, bool)> = Vec::new();
        for (number, control) in controls.iter().enumerate() {
            ranges.push((&control.all, number, true));
            let parts = control.parts.iter().filter(|part| !part.is_empty());
            ranges.extend(parts.map(|part| (part, number, false)));
        }
        ranges
            .sort_unstable_by_key(|&(range, _, is_all)| (range.start, Reverse(range.end), is_all));
        let mut open: Vec<(&Range<usize>, usize, bool)> = Vec::new();
        for (range, number, is_all) in ranges {
            while open
                .last()
                .is_some_and(|around| around.0.end <= range.start)
            {
                open.pop();
            }
            let nests = match open.last() {
                Some((around, ..)) if range.end > around.end => false,
                Some(&(_, own, around_is_all)) if is_all => !around_is_all && own != number,
                Some(&(_, own, around_is_all)) => around_is_all && own == number,
                None => is_all,
            };
            if !nests {
                return wrong(range.start, range.end);
            }
            open.push((range, number, is_all));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{BufferKind, BufferSpec, SegmentInfo, SegmentKind, Target, TensorSpec};

    fn turn(end: u32) -> Step {
        Step::Turn {
            segment: 0,
            turns: None,
            condition: Some(0),
            end,
        }
    }
    fn jump(to: u32) -> Step {
        Step::Jump { segment: 0, to }
    }
    /// Steps of an artifact with one truth value; the error of its validation, empty if there is none.
    fn fault(steps: Vec<Step>) -> String {
        let target = Target::Cpu {
            triple: "x".into(),
            cpu: "x".into(),
            features: String::new(),
        };
        let mut artifact = Artifact::new("f", target);
        artifact.buffers.push(BufferSpec {
            name: "p".into(),
            dtype: DType::I1,
            elements: SizeExpr::constant(1),
            kind: BufferKind::Input(0),
        });
        artifact.inputs.push(TensorSpec {
            name: "p".into(),
            dtype: DType::I1,
            dims: Vec::new(),
            order: Vec::new(),
            buffer: 0,
        });
        artifact.segments.push(SegmentInfo {
            name: "s0".into(),
            label: String::new(),
            kind: SegmentKind::Control,
            ops: 1,
            sweeps: 1,
            read_bytes: SizeExpr::constant(0),
            write_bytes: SizeExpr::constant(0),
            values: Vec::new(),
        });
        artifact.steps = steps;
        let checked = artifact.validate();
        checked
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn loops_and_branches_nest() {
        let branch = || vec![turn(2), jump(2)];
        assert_eq!(fault(branch()), "");
        assert_eq!(fault(vec![turn(2), jump(0)]), "");
        // A branch in the first side of a branch, in the second, and in a loop.
        assert_eq!(fault(vec![turn(4), turn(3), jump(3), jump(4)]), "");
        assert_eq!(fault(vec![turn(2), jump(4), turn(4), jump(4)]), "");
        assert_eq!(fault(vec![turn(4), turn(3), jump(3), jump(0)]), "");
        // A loop in the condition of a loop.
        assert_eq!(fault(vec![turn(2), jump(0), turn(4), jump(0)]), "");
    }

    #[test]
    fn jumps_into_and_out_of_loops_and_branches_are_refused() {
        let refused = |steps: Vec<Step>| {
            let text = fault(steps);
            assert!(
                text.contains("it makes no loop or branch with step"),
                "{text:?}"
            );
        };
        refused(vec![jump(0)]);
        refused(vec![turn(0), jump(0)]);
        refused(vec![turn(1), jump(0)]);
        refused(vec![turn(2), jump(3)]);
        // The first side ends in the second side of another branch.
        refused(vec![turn(3), turn(4), jump(4), jump(5), jump(5)]);
        // A loop that begins outside of a side and ends in it.
        refused(vec![turn(3), turn(4), jump(4), jump(0)]);
        // A side that ends behind the loop around it.
        refused(vec![turn(4), turn(3), jump(4), jump(0)]);
    }
}
