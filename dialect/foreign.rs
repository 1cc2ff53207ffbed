//! What MLIR calls ops that are called otherwise here. Those with the same name in another dialect (`math.exp`) need no row.

/// The name there, and the name here.
pub const NAMES: &[(&str, &str)] = &[
    ("func.func", "task.program"),
    ("func", "task.program"),
    ("func.return", "task.return"),
    ("builtin.func", "task.program"),
    ("gpu.func", "kernel.func"),
    ("arith.addf", "fusion.add"),
    ("arith.addi", "fusion.add"),
    ("arith.subf", "fusion.sub"),
    ("arith.subi", "fusion.sub"),
    ("arith.mulf", "fusion.mul"),
    ("arith.muli", "fusion.mul"),
    ("arith.divf", "fusion.div"),
    ("arith.divsi", "fusion.div"),
    ("arith.divui", "fusion.div"),
    ("arith.remf", "fusion.rem"),
    ("arith.remsi", "fusion.rem"),
    ("arith.remui", "fusion.rem"),
    ("arith.negf", "fusion.neg"),
    ("arith.maximumf", "fusion.maximum"),
    ("arith.maxsi", "fusion.maximum"),
    ("arith.minimumf", "fusion.minimum"),
    ("arith.minsi", "fusion.minimum"),
    ("arith.extf", "fusion.cast"),
    ("arith.truncf", "fusion.cast"),
    ("arith.extsi", "fusion.cast"),
    ("arith.trunci", "fusion.cast"),
    ("arith.sitofp", "fusion.cast"),
    ("arith.fptosi", "fusion.cast"),
    ("math.absf", "fusion.abs"),
    ("memref.alloc", "kernel.alloc"),
    ("gpu.barrier", "kernel.barrier"),
];

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn names_there_are_not_ours_and_names_here_are() {
        let registry = crate::registry();
        for (there, here) in NAMES {
            assert!(registry.op(there).is_none(), "{there}");
            assert!(registry.op(here).is_some(), "{here}");
        }
    }
}
