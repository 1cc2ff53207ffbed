//! Random bits: a counter-based generator, element by element.

use fuser_ir::Ir;
use fuser_ir::def::{
    ClauseKind, DTypes, OpDef, OpError, OpParts, OperandDef, ResultTypes, clause, operand,
};
use fuser_ir::types::DType;

use super::elementwise::*;
use super::shape;

/// The values of the clause `word`, in the order of the block.
pub const WORDS: &[&str] = &["x", "y", "z", "w"];

const I64: DTypes = DTypes::of(&[DType::I64]);
const COUNTER_AND_KEY: &[OperandDef] = &[
    operand("index", ew(I64), "the lower half of the counter"),
    operand("seed", ew(I64), "the key"),
    operand("offset", ew(I64), "the upper half of the counter"),
];

/// The ops of this table, in the order of the manual.
pub const PHILOX_OPS: &[&OpDef] = &[&PHILOX];

/// `fusion.philox`
pub static PHILOX: OpDef = OpDef {
    name: "fusion.philox",
    summary: "32 random bits of a counter and a key",
    doc: "A word of Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011). The counter has \
          four words of 32 bits: the lower and the upper half of `index`, then those of `offset`; the key has two, those of `seed`. \
          Ten rounds, with the multipliers `0xD2511F53` and `0xCD9E8D57` and the key's increments `0x9E3779B9` and `0xBB67AE85`, make \
          a block of four words `x y z w`, as Random123 does; `word` says which of them the result is, as an `i32` of those bits.",
    example: "// %i: tensor<4xi64>, %seed: i64, %offset: i64\n%0 = fusion.philox %i, %seed, %offset word x : tensor<4xi32>",
    operands: COUNTER_AND_KEY,
    clauses: &[clause(
        "word",
        ClauseKind::Keyword(WORDS),
        "the word of the block: x, y, z or w",
    )],
    flops: 100,
    infer: Some(infer_philox),
    ..ELEMENTWISE
};

fn infer_philox(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let form = shape::join(ir, parts.operands)?;
    shape::one(form.with(ir, DType::I32))
}
