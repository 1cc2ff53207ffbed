//! The table that maps routine ops to the functions of the runtime.

use fuser_artifact::Routine;
use fuser_dialects::fusion;
use fuser_ir::def::OpDef;
use fuser_ir::{Ir, Op};

/// A function by the flags of its op that are set.
type ToRoutine = fn(&dyn Fn(&str) -> bool) -> Routine;

/// Each routine, in the order of the manual.
static ROUTINES: &[(&OpDef, ToRoutine)] = &[
    (&fusion::CHOLESKY, |flag| Routine::Cholesky {
        upper: flag("upper"),
    }),
    (&fusion::TRIANGULAR_SOLVE, |flag| Routine::Solve {
        right: flag("right"),
        upper: flag("upper"),
        transpose: flag("transpose"),
        unit: flag("unit"),
    }),
    (&fusion::LU, |_| Routine::Lu),
    (&fusion::QR, |_| Routine::Qr),
    (&fusion::HOUSEHOLDER_PRODUCT, |_| Routine::Reflections),
    (&fusion::EIGH, |flag| Routine::Eigh {
        upper: flag("upper"),
    }),
    (&fusion::SVD, |_| Routine::Svd),
    (&fusion::FFT, |flag| Routine::Fourier {
        inverse: flag("inverse"),
    }),
];

/// The function that `op` is; none where it is no routine.
pub fn of(ir: &Ir, op: Op) -> Option<Routine> {
    let (_, routine) = ROUTINES.iter().find(|(def, _)| ir.is(op, def))?;
    Some(routine(&|name| ir.get_attr(op, name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_routine_has_a_function() {
        let mapped: Vec<&str> = ROUTINES.iter().map(|(def, _)| def.name).collect();
        let ops: Vec<&str> = fusion::ROUTINE_OPS.iter().map(|def| def.name).collect();
        assert_eq!(mapped, ops);
    }
}
