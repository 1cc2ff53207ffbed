//! Codes of the verifier: FIR0220 to FIR0239 (FIR0210 to FIR0219 are in `check.rs`). A code is never reused.

use crate::diag::CodeDef;

/// All of them.
pub static CODES: &[CodeDef] = &[
    STRUCTURE,
    REGION_BLOCKS,
    TERMINATOR_MISSING,
    TERMINATOR_EARLY,
    TERMINATOR_OTHER,
    SUCCESSOR,
    NOT_DOMINATED,
    ISOLATED,
    SYMBOL_TAKEN,
    SYMBOL_MISSING,
    PARENT,
    UNKNOWN_OP,
    SIGNATURE,
    SYMBOL_UNKNOWN,
    LAYOUT,
];

/// FIR0220
pub const STRUCTURE: CodeDef = CodeDef {
    code: "FIR0220",
    title: "the program's storage is damaged",
    explanation: "A list of ops, blocks or uses is not linked as it must be. No text can cause this: it is a bug of the pass that \
                  ran before, please report it.",
    example: "",
};
/// FIR0221
pub const REGION_BLOCKS: CodeDef = CodeDef {
    code: "FIR0221",
    title: "wrong number of blocks in a region",
    explanation: "A region has at least one block; the regions of tasks and kernels have exactly one.",
    example: "\"task.pattern\"() ({\n}) {sym_name = \"p\"} : () -> ()",
};
/// FIR0222
pub const TERMINATOR_MISSING: CodeDef = CodeDef {
    code: "FIR0222",
    title: "a block does not end in a terminator",
    explanation: "The last op of a block says what comes after it: `task.yield`, `task.return`, `kernel.yield`, \
                  `kernel.return`.",
    example: "// %x: f32\n\"task.pattern\"() ({\n  %0 = fusion.exp %x\n}) {sym_name = \"p\"} : () -> ()",
};
/// FIR0223
pub const TERMINATOR_EARLY: CodeDef = CodeDef {
    code: "FIR0223",
    title: "a terminator before the end of its block",
    explanation: "Nothing can follow a terminator in its block.",
    example: "task.program @f(%x: f32) {\n  task.return\n  %0 = fusion.exp %x\n  task.return\n}",
};
/// FIR0224
pub const TERMINATOR_OTHER: CodeDef = CodeDef {
    code: "FIR0224",
    title: "the wrong terminator",
    explanation: "Programs end in `task.return`, other tasks in `task.yield`, kernels in `kernel.return`, loops and branches in \
                  `kernel.yield`.",
    example: "task.program @f() {\n  task.yield\n}",
};
/// FIR0225
pub const SUCCESSOR: CodeDef = CodeDef {
    code: "FIR0225",
    title: "a successor that cannot be one",
    explanation: "A successor is a block of the same region other than the entry block, and gets one value per block argument, of \
                  its type. Only the last op of a block has successors.",
    example: "\"task.pattern\"() ({\n^bb0:\n  \"cf.br\"()[^bb0] : () -> ()\n}) {sym_name = \"p\"} : () -> ()",
};
/// FIR0226
pub const NOT_DOMINATED: CodeDef = CodeDef {
    code: "FIR0226",
    title: "a value is used where it is not yet defined",
    explanation: "A value can be used after its definition in the same block, and in regions inside. It cannot be used before it, \
                  nor outside of the region that defines it.",
    example: "// %x: f32\n%0 = \"fusion.exp\"(%1) : (f32) -> f32\n%1 = fusion.exp %x",
};
/// FIR0227
pub const ISOLATED: CodeDef = CodeDef {
    code: "FIR0227",
    title: "a value from outside of an isolated region",
    explanation: "Programs and kernels see nothing of their surroundings: pass the value as an argument. The parser does not even \
                  know the value's name there (FIR0106); only a pass can cause this.",
    example: "",
};
/// FIR0229
pub const SYMBOL_TAKEN: CodeDef = CodeDef {
    code: "FIR0229",
    title: "a symbol declared twice",
    explanation: "Within a module, and within a program for its segments, each symbol stands once.",
    example: "task.program @f() {\n}\ntask.program @f() {\n}",
};
/// FIR0230
pub const SYMBOL_MISSING: CodeDef = CodeDef {
    code: "FIR0230",
    title: "an op without its symbol",
    explanation: "Programs, segments and kernels have a name: `task.segment @s0 { ... }`.",
    example: "task.segment {\n}",
};
/// FIR0231
pub const PARENT: CodeDef = CodeDef {
    code: "FIR0231",
    title: "an op where it does not belong",
    explanation: "Phases stand in sweeps, sweeps in segments or programs, segments in programs, programs and kernels in modules.",
    example: "task.phase {\n}",
};
/// FIR0232
pub const UNKNOWN_OP: CodeDef = CodeDef {
    code: "FIR0232",
    title: "an op that its dialect does not have",
    explanation: "The dialect is known and its tables list no op of this name. docs/dialects lists what there is.",
    example: "// %x: f32\n%0 = \"fusion.ad\"(%x, %x) : (f32, f32) -> f32",
};
/// FIR0233
pub const SIGNATURE: CodeDef = CodeDef {
    code: "FIR0233",
    title: "signature and body disagree",
    explanation: "An op with a signature has a function type, and its entry block has one argument of each parameter type.",
    example: "\"task.program\"() ({\n^bb0(%x: f32):\n  task.return\n}) {function_type = () -> (), sym_name = \"f\"} : () -> ()",
};
/// FIR0234
pub const SYMBOL_UNKNOWN: CodeDef = CodeDef {
    code: "FIR0234",
    title: "a symbol that nothing declares",
    explanation: "A clause that takes a symbol names an op of an enclosing symbol table: of the program or the module.",
    example: "// %x: tensor<4xf32>\n%0 = kernel.launch %x callee @missing : tensor<4xf32>",
};
/// FIR0235
pub const LAYOUT: CodeDef = CodeDef {
    code: "FIR0235",
    title: "no layout",
    explanation: "The encoding of a tensor type is its layout: a list of all its axes, each once, outermost in memory first. \
                  `tensor<2x3xf32, [1, 0]>` is column-major.",
    example: "// %x: tensor<2x3xf32>\n%0 = fusion.exp %x : tensor<2x3xf32, [0, 0]>",
};
