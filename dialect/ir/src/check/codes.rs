//! Codes of an op against its table: FIR0210 to FIR0219. A code is never reused.

use crate::diag::CodeDef;

/// All of them.
pub static CODES: &[CodeDef] = &[
    OPERAND_COUNT,
    OPERAND_TYPE,
    CLAUSE_MISSING,
    CLAUSE_KIND,
    CLAUSE_UNKNOWN,
    OP_RULE,
    REGION_COUNT,
    RESULT_COUNT,
    RESULT_TYPE,
    TYPES_MISSING,
];

const fn code(code: &'static str, title: &'static str, explanation: &'static str) -> CodeDef {
    CodeDef {
        code,
        title,
        explanation,
        example: "",
    }
}

/// FIR0210
pub const OPERAND_COUNT: CodeDef = CodeDef {
    example: "// %x: f32\n%0 = fusion.add %x",
    ..code(
        "FIR0210",
        "wrong number of operands",
        "The op's table lists its operands; a variadic last operand stands for zero or more values.",
    )
};
/// FIR0211
pub const OPERAND_TYPE: CodeDef = CodeDef {
    example: "// %x: tensor<4xi32>\n%0 = fusion.exp %x",
    ..code(
        "FIR0211",
        "operand of a type that the op does not take",
        "Nothing is promoted or converted implicitly: insert a `fusion.cast` where another element type is wanted.",
    )
};
/// FIR0212
pub const CLAUSE_MISSING: CodeDef = CodeDef {
    example: "// %x: tensor<4xf32>\n%0 = fusion.sum %x",
    ..code(
        "FIR0212",
        "clause missing",
        "The clause has no default. `fuser-opt --help-op NAME` and docs/dialects list an op's clauses.",
    )
};
/// FIR0213
pub const CLAUSE_KIND: CodeDef = CodeDef {
    example: "// %x: tensor<4xf32>\n%0 = \"fusion.sum\"(%x) {dims = \"1\"} : (tensor<4xf32>) -> tensor<f32>",
    ..code(
        "FIR0213",
        "clause with a value of the wrong kind",
        "Each clause takes one kind of value: a list of integers, a shape, an element type, a word.",
    )
};
/// FIR0214
pub const CLAUSE_UNKNOWN: CodeDef = CodeDef {
    example: "// %x: f32\n%0 = fusion.exp %x {fast = true}",
    ..code(
        "FIR0214",
        "unknown clause or attribute",
        "An op takes the clauses of its table, and attributes with a dot in their name (`fusion.hint`), which belong to \
         whoever reads them.",
    )
};
/// FIR0215
pub const OP_RULE: CodeDef = CodeDef {
    example: "",
    ..code(
        "FIR0215",
        "the op's own rule is broken",
        "A rule stated in the op's definition, without a code of its own.",
    )
};
/// FIR0216
pub const REGION_COUNT: CodeDef = CodeDef {
    example: "\"task.pattern\"() {sym_name = \"p\"} : () -> ()",
    ..code(
        "FIR0216",
        "wrong number of regions",
        "The op's table lists its regions; only those marked optional may be left out.",
    )
};
/// FIR0217
pub const RESULT_COUNT: CodeDef = CodeDef {
    example: "// %x: f32\n%0:2 = \"fusion.exp\"(%x) : (f32) -> (f32, f32)",
    ..code(
        "FIR0217",
        "wrong number of results",
        "The op's table, or what its region yields, says how many results there are.",
    )
};
/// FIR0218
pub const RESULT_TYPE: CodeDef = CodeDef {
    example: "// %x: tensor<4xf32>\n%0 = fusion.exp %x : tensor<5xf32>",
    ..code(
        "FIR0218",
        "stated type is not the inferred one",
        "Types may be left out where they can be inferred. Where they stand they must be the inferred ones; only the \
         layout of a tensor may be added.",
    )
};
/// FIR0219
pub const TYPES_MISSING: CodeDef = CodeDef {
    example: "%0 = kernel.alloc",
    ..code(
        "FIR0219",
        "result types cannot be inferred",
        "Nothing but the written type tells what this op makes.",
    )
};
