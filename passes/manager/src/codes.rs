//! The diagnostic codes of pipelines and passes.

use fuser_ir::diag::CodeDef;

/// All of them.
pub static CODES: &[CodeDef] = &[
    UNKNOWN_PASS,
    PIPELINE_SYNTAX,
    PASS_OPTION,
    OPTION_VALUE,
    ANCHOR,
    PANIC,
    INVALID_AFTER_PASS,
    REWRITE_LIMIT,
];

/// No such pass.
pub const UNKNOWN_PASS: CodeDef = CodeDef {
    code: "FIR0601",
    title: "unknown pass",
    explanation: "The name in the pipeline is neither a pass nor a named pipeline. `fuser-opt --list-passes` prints all of \
                  them. An op name, `task.program(...)`, opens a nested pipeline and needs parentheses.",
    example: "$ fuser-opt x.fir --pass-pipeline='builtin.module(canonicalise)'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// The text of the pipeline is wrong.
pub const PIPELINE_SYNTAX: CodeDef = CodeDef {
    code: "FIR0602",
    title: "pipeline does not parse",
    explanation: "A pipeline is `anchor(element,element)`; an element is a pass with options in braces, \
                  `canonicalize{max-iterations=3}`, or a nested pipeline. Options are separated by spaces, the parts of a \
                  list by commas.",
    example: "$ fuser-opt x.fir --pass-pipeline='builtin.module(cse'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// No such option.
pub const PASS_OPTION: CodeDef = CodeDef {
    code: "FIR0603",
    title: "unknown option of a pass",
    explanation: "`fuser-opt help PASS` prints the options of a pass with their defaults.",
    example: "$ fuser-opt x.fir --canonicalize='max-iteration=3'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// The option's value does not fit.
pub const OPTION_VALUE: CodeDef = CodeDef {
    code: "FIR0604",
    title: "value does not fit the option",
    explanation: "Each option has a kind: true or false, an integer within bounds, a word of a list, a list of words \
                  separated by commas. `fuser-opt help PASS` prints it.",
    example: "$ fuser-opt x.fir --canonicalize='max-iterations=many'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A pass on an op it does not run on.
pub const ANCHOR: CodeDef = CodeDef {
    code: "FIR0605",
    title: "pass cannot run on this op",
    explanation: "Each pass says which ops it runs on. In pipeline text the op around the pass is the one it runs on: a \
                  pass on programs stands in `builtin.module(task.program(...))`. Flags such as `--segment` nest by \
                  themselves.",
    example: "$ fuser-opt x.fir --pass-pipeline='builtin.module(segment)'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A pass panicked.
pub const PANIC: CodeDef = CodeDef {
    code: "FIR0606",
    title: "internal error in a pass",
    explanation: "This is a bug of Fuser, not of the program. A reproducer file was written: it holds the pipeline, the \
                  options and the IR before the pass, and `fuser-opt --run-reproducer FILE` replays it. Please attach it to \
                  a report.",
    example: "$ fuser-opt x.fir --test-crash\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A pass made invalid IR.
pub const INVALID_AFTER_PASS: CodeDef = CodeDef {
    code: "FIR0607",
    title: "a pass made IR that does not verify",
    explanation: "This is a bug of Fuser, not of the program: the IR was valid before the pass. A reproducer file was \
                  written. `--print-ir-after-failure` shows the IR that the pass left.",
    example: "$ fuser-opt x.fir --test-crash=mode=invalid\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// Rewriting does not come to rest.
pub const REWRITE_LIMIT: CodeDef = CodeDef {
    code: "FIR0950",
    title: "rewriting does not settle",
    explanation: "Patterns kept changing the program until the limit was reached: mostly two patterns that undo each other. \
                  The message names the busiest ones; leave one out with `disable-patterns=NAME`, or raise the limit with \
                  `--limit-rewrites-per-op=N` or `--limit-rewrite-iterations=N` if the program is just unusual.",
    example: "$ fuser-opt x.fir --test-ping-pong\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.add %x, %x\n  \
              task.return %y\n\
              }",
};
