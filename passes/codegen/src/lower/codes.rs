//! The diagnostic codes of code generation: FIR0811 and on.

use fuser_ir::diag::CodeDef;

/// FIR0811
pub static UNSUPPORTED_OP: CodeDef = CodeDef {
    code: "FIR0811",
    title: "an op that no kernel can contain",
    explanation: "Code generation takes the ops of the `kernel` dialect and the elementwise ops of `fusion` on scalars and \
                  vectors. Whole-tensor ops are lowered to loops before.",
    example: "$ fuser-translate x.fir --emit=llvm-ir\n\
              kernel.func @k() {\n  \
              %0 = fusion.iota dim 0 shape [4] of i32\n  \
              kernel.return\n\
              }",
};
/// FIR0812
pub static UNSUPPORTED_TYPE: CodeDef = CodeDef {
    code: "FIR0812",
    title: "a value that no register can hold",
    explanation: "Values in kernels are scalars, vectors with one axis of 1 to 1024 lanes, and one-dimensional memrefs.",
    example: "$ fuser-translate x.fir --emit=llvm-ir\n\
              kernel.func @k(%m: memref<?xf32>) {\n  \
              %0 = fusion.constant value 0.0 : vector<2000xf32>\n  \
              %i = fusion.constant value 0 : index\n  \
              kernel.store %0, %m, %i\n\
              }",
};
/// FIR0813
pub static BAD_SIGNATURE: CodeDef = CodeDef {
    code: "FIR0813",
    title: "a kernel that cannot be called",
    explanation: "A kernel takes buffers (`memref<?xT, global>`) first and `index` extents after them, and has one block.",
    example: "kernel.func @k(%x: f32) { }",
};
/// FIR0814
pub static BAD_NEST: CodeDef = CodeDef {
    code: "FIR0814",
    title: "a loop mapping that the target cannot run",
    explanation: "One grid loop at most, directly in the function and without iteration arguments; no thread loop inside a \
                  thread loop; each iteration argument of a thread loop names its `combine`.",
    example: "$ fuser-translate x.fir --emit=llvm-ir\n\
              kernel.func @k(%n: index) {\n  \
              %0 = fusion.constant value 0 : index\n  \
              %1 = fusion.constant value 1 : index\n  \
              kernel.for %0, %n, %1 map \"thread\" {\n  \
              ^bb0(%i: index):\n    \
              kernel.for %0, %n, %1 map \"thread\" {\n    \
              ^bb0(%j: index):\n    \
              }\n  \
              }\n\
              }",
};
/// FIR0815
pub static BAD_MEMORY: CodeDef = CodeDef {
    code: "FIR0815",
    title: "an allocation or a store that the target cannot do",
    explanation: "`kernel.alloc` stands directly in the function, before the loops. Beside a grid loop nothing is stored \
                  outside of it, since every worker runs what stands there. On a GPU, local memory has a static size.",
    example: "$ fuser-translate x.fir --emit=llvm-ir\n\
              kernel.func @k(%n: index) {\n  \
              %0 = fusion.constant value 0 : index\n  \
              %1 = fusion.constant value 1 : index\n  \
              kernel.for %0, %n, %1 map \"seq\" {\n  \
              ^bb0(%i: index):\n    \
              %m = kernel.alloc : memref<4xf32, tile>\n    \
              kernel.yield\n  \
              }\n  \
              kernel.return\n\
              }",
};
/// FIR0816
pub static BAD_BARRIER: CodeDef = CodeDef {
    code: "FIR0816",
    title: "a barrier that not all threads reach",
    explanation: "Inside a thread loop threads run different numbers of iterations, so a barrier there would hang.",
    example: "$ fuser-translate x.fir --emit=llvm-ir --target=cuda:sm_80\n\
              kernel.func @k(%n: index) {\n  \
              %0 = fusion.constant value 0 : index\n  \
              %1 = fusion.constant value 1 : index\n  \
              kernel.for %0, %n, %1 map \"thread\" {\n  \
              ^bb0(%i: index):\n    \
              kernel.barrier\n    \
              kernel.yield\n  \
              }\n  \
              kernel.return\n\
              }",
};
/// FIR0817
pub static FAILED: CodeDef = CodeDef {
    code: "FIR0817",
    title: "code generation failed",
    explanation: "The kernel passed all checks and LLVM refused what we built: a bug of this compiler. Please report it with \
                  the kernel.",
    example: "",
};
/// FIR0818
pub static NO_LLVM: CodeDef = CodeDef {
    code: "FIR0818",
    title: "LLVM cannot be loaded",
    explanation: "Machine code and PTX are made by LLVM 22, whose shared library is loaded when a kernel is compiled. It is looked for where it was when \
                  Fuser was built, then by the system's loader as `libLLVM.so.22.1` and `libLLVM-22.so`. Parsing, passes and \
                  interpretation need no LLVM.",
    example: "",
};

/// All of them.
pub static CODES: &[&CodeDef] = &[
    &UNSUPPORTED_OP,
    &UNSUPPORTED_TYPE,
    &BAD_SIGNATURE,
    &BAD_NEST,
    &BAD_MEMORY,
    &BAD_BARRIER,
    &FAILED,
    &NO_LLVM,
];
