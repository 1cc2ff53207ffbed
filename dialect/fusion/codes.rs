//! Diagnostic codes of the `fusion` dialect: FIR03xx. A code is never reused.

use fuser_ir::diag::CodeDef;

/// All of them.
pub static CODES: &[CodeDef] = &[
    EXTENTS_DISAGREE,
    DTYPES_DISAGREE,
    UNKNOWN_EXTENT,
    BAD_AXIS,
    BAD_SHAPE,
    ELEMENT_COUNT,
    BROADCAST_AXIS,
    BAD_CONSTANT,
    OUT_OF_BOUNDS,
    MIXED_FORMS,
    NO_SUCH_CAST,
    LAMBDA,
    COMPLEX_VALUE,
];

/// FIR0301
pub const EXTENTS_DISAGREE: CodeDef = CodeDef {
    code: "FIR0301",
    title: "extents disagree",
    explanation: "Operands of an elementwise op have the same rank and the same extents, axis by axis. Nothing is \
                  broadcast implicitly but scalars: an axis of extent 1 does not stretch. Use `fusion.broadcast` for a \
                  missing axis, `fusion.expand` for an axis of extent 1.",
    example: "// %x: tensor<4xf32>, %y: tensor<5xf32>\n%0 = fusion.add %x, %y",
};
/// FIR0302
pub const DTYPES_DISAGREE: CodeDef = CodeDef {
    code: "FIR0302",
    title: "element types disagree",
    explanation: "Operands have one element type; nothing is promoted. Cast one of them.",
    example: "// %x: tensor<4xf32>, %y: tensor<4xbf16>\n%0 = fusion.add %x, %y",
};
/// FIR0303
pub const UNKNOWN_EXTENT: CodeDef = CodeDef {
    code: "FIR0303",
    title: "an unnamed extent equals no other",
    explanation: "`?` is an extent that nobody named: it agrees with nothing, not even with another `?`. Give it a name, \
                  `[N]`; equal names are equal extents.",
    example: "// %x: tensor<?xf32>\n%0 = fusion.add %x, %x",
};
/// FIR0304
pub const BAD_AXIS: CodeDef = CodeDef {
    code: "FIR0304",
    title: "axis out of range, repeated or out of order",
    explanation: "Axes count from 0. Lists of axes ascend strictly (but for `fusion.permute`, whose list is a permutation).",
    example: "// %x: tensor<4x5xf32>\n%0 = fusion.sum %x dims [2]",
};
/// FIR0305
pub const BAD_SHAPE: CodeDef = CodeDef {
    code: "FIR0305",
    title: "the shape does not fit the operand",
    explanation: "Axes that the op keeps have the operand's extent in `shape`.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.broadcast %x dims [0] shape [5, 8]",
};
/// FIR0306
pub const ELEMENT_COUNT: CodeDef = CodeDef {
    code: "FIR0306",
    title: "a reshape must keep the number of elements",
    explanation: "The products of the extents must be equal as polynomials of the named extents.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.reshape %x shape [5]",
};
/// FIR0307
pub const BROADCAST_AXIS: CodeDef = CodeDef {
    code: "FIR0307",
    title: "a broadcast axis cannot be treated so",
    explanation: "A `b` axis is stored once. A reshape keeps it whole, and only ops that introduce `b` axes may write them \
                  in a shape. `fusion.copy ... dense` turns `b` axes into plain ones.",
    example: "// %x: tensor<4xb2xf32>\n%0 = fusion.reshape %x shape [8]",
};
/// FIR0308
pub const BAD_CONSTANT: CodeDef = CodeDef {
    code: "FIR0308",
    title: "a constant that its type cannot hold",
    explanation: "An integer constant must be in the range of its type; a float needs a float type; `dense` must have as \
                  many elements as the type.",
    example: "%0 = fusion.constant value true : f32",
};
/// FIR0309
pub const OUT_OF_BOUNDS: CodeDef = CodeDef {
    code: "FIR0309",
    title: "not provably inside the operand",
    explanation: "A slice must lie inside its operand for every value of the named extents; amounts of padding are not \
                  negative.",
    example: "// %x: tensor<5xf32>\n%0 = fusion.slice %x starts [2] shape [4]",
};
/// FIR0310
pub const MIXED_FORMS: CodeDef = CodeDef {
    code: "FIR0310",
    title: "tensors and vectors do not mix",
    explanation: "Elementwise ops take tensors, vectors or scalars. A scalar goes with either; a tensor and a vector have \
                  no common shape.",
    example: "// %x: tensor<4xf32>, %y: vector<4xf32>\n%0 = fusion.add %x, %y",
};
/// FIR0311
pub const NO_SUCH_CAST: CodeDef = CodeDef {
    code: "FIR0311",
    title: "a bit cast needs types of the same width",
    explanation: "`fusion.bitcast` keeps every bit, so both element types have the same number of bits. `i1` has no stored \
                  bits of its own and takes no part.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.bitcast %x to f16",
};
/// FIR0312
pub const LAMBDA: CodeDef = CodeDef {
    code: "FIR0312",
    title: "a lambda that does not fit its op",
    explanation: "The lambda of a fold or scan has an argument for each accumulator, which are as many as `init` has numbers, and then one for \
                  each operand, of its element type. All are scalars. It holds elementwise ops and constants on scalars, sees nothing but \
                  its arguments, and yields the accumulators, in order and of their types.",
    example: "// %x: tensor<4xf32>\n%0 = fusion.fold %x dim 0 init [0.0] {\n^bb0(%sum: f32, %e: f32):\n  fusion.yield %sum, %e\n} : tensor<f32>",
};
/// FIR0313
pub const COMPLEX_VALUE: CodeDef = CodeDef {
    code: "FIR0313",
    title: "a complex number where a real one is needed",
    explanation: "A complex number becomes no real one by a cast, as a part of it would vanish, and two of them have no order. `fusion.real`, `fusion.imag` \
                  and `fusion.abs` say what is meant.",
    example: "// %x: tensor<4xcomplex<f32>>\n%0 = fusion.cast %x to f32",
};
