//! Loads that the compiler has widened.
//!
//! LLVM makes one load of four elements of three that begin at a multiple of 16 bytes, and reads the fourth register nowhere. No
//! hardware minds, so that what such an element holds, and who writes it, is no matter of the kernel: only the elements up to the last one
//! whose register some step reads are checked against other threads and against memory that nobody wrote.

use crate::decode::{Action, Register, Step};

/// Finds for each load of shared or global memory how many of its bytes are read.
pub fn find(steps: &mut [Step], registers: usize) {
    let mut read = vec![false; registers];
    for step in steps.iter() {
        step.guard
            .iter()
            .for_each(|guard| read[guard.0 as usize] = true);
        reads(&step.action, &mut |register| read[register as usize] = true);
    }
    for step in steps {
        if let Action::Load {
            to, size, checked, ..
        } = &mut step.action
        {
            let last = to.iter().rposition(|(to, _)| read[*to as usize]);
            *checked = last.map_or(0, |last| (last + 1) * *size);
        }
    }
}

/// Tells the registers that an action reads.
fn reads(action: &Action, tell: &mut dyn FnMut(Register)) {
    match action {
        Action::Compute { from, .. } => from.iter().for_each(|&register| tell(register)),
        Action::Load { base, .. } => tell(*base),
        Action::Store { from, base, .. } => from.iter().chain([base]).for_each(|&r| tell(r)),
        Action::Shuffle {
            from,
            by,
            clamp,
            members,
            ..
        } => [from, by, clamp, members]
            .into_iter()
            .for_each(|&r| tell(r)),
        Action::Reduce { from, members, .. } => [from, members].into_iter().for_each(|&r| tell(r)),
        Action::LoadMatrix { base, .. } => tell(*base),
        Action::Multiply {
            left,
            right,
            addend,
            ..
        } => left
            .iter()
            .chain(right)
            .chain(addend)
            .for_each(|&r| tell(r)),
        Action::Count { base, limit, .. } => [base, limit].into_iter().for_each(|&r| tell(r)),
        Action::Branch(_) | Action::Barrier { .. } | Action::Exit => {}
    }
}
