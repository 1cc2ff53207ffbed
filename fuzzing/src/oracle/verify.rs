//! The oracle that the verifier accepts the programs that a generator calls valid.

use fuser_ir::{Ir, Op};

use super::{Finding, summary};

/// Verifies a module.
pub fn check(ir: &mut Ir, module: Op, stage: &str) -> Option<Finding> {
    let found = fuser_ir::verify(ir, module);
    found
        .has_errors()
        .then(|| Finding::new(stage, summary(&found)))
}
