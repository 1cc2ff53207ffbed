//! The op that ends a lambda.

use fuser_ir::def::{OpDef, Traits, TypeConstraint, operands};

/// The ops of this table, in the order of the manual.
pub const TERMINATOR_OPS: &[&OpDef] = &[&YIELD];

/// `fusion.yield`
pub static YIELD: OpDef = OpDef {
    name: "fusion.yield",
    summary: "gives the accumulators of a lambda",
    doc: "Ends the lambda of a `fusion.fold` or `fusion.scan`; its operands are the accumulators after an element, in their order and of \
          their types.",
    example: "// %x: tensor<4xi32>\n%most = fusion.fold %x dim 0 init [0] {\n^bb0(%m: i32, %e: i32):\n  %n = fusion.maximum %m, %e\n  fusion.yield %n\n} : tensor<i32>",
    operands: &[operands(
        "values",
        TypeConstraint::ANY,
        "the accumulators, in order",
    )],
    traits: Traits::TERMINATOR,
    parents: &["fusion.fold", "fusion.scan"],
    ..OpDef::EMPTY
};
