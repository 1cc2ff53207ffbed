//! The diagnostic codes of pipelines and passes.

/// The example of a code that a command gives on a program of one op, `x.fir`.
#[macro_export]
macro_rules! example {
    ($command:literal) => {
        concat!(
            "$ ",
            $command,
            "\ntask.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %y = fusion.exp %x\n  task.return %y\n}"
        )
    };
}

fuser_ir::codes! {
    /// No such pass.
    UNKNOWN_PASS = "FIR0601", "unknown pass",
        "The name in the pipeline is neither a pass nor a named pipeline. `fuser-opt --list-passes` prints all of \
         them. An op name, `task.program(...)`, opens a nested pipeline and needs parentheses.",
        crate::example!("fuser-opt x.fir --pass-pipeline='builtin.module(canonicalise)'");
    /// The text of the pipeline is wrong.
    PIPELINE_SYNTAX = "FIR0602", "pipeline does not parse",
        "A pipeline is `anchor(element,element)`; an element is a pass with options in braces, \
         `canonicalize{max-iterations=3}`, or a nested pipeline. Options are separated by spaces, the parts of a \
         list by commas.",
        crate::example!("fuser-opt x.fir --pass-pipeline='builtin.module(cse'");
    /// No such option.
    PASS_OPTION = "FIR0603", "unknown option of a pass",
        "`fuser-opt help PASS` prints the options of a pass with their defaults.",
        crate::example!("fuser-opt x.fir --canonicalize='max-iteration=3'");
    /// The option's value does not fit.
    OPTION_VALUE = "FIR0604", "value does not fit the option",
        "Each option has a kind: true or false, an integer within bounds, a word of a list, a list of words \
         separated by commas. `fuser-opt help PASS` prints it.",
        crate::example!("fuser-opt x.fir --canonicalize='max-iterations=many'");
    /// A pass on an op it does not run on.
    ANCHOR = "FIR0605", "pass cannot run on this op",
        "Each pass says which ops it runs on. In pipeline text the op around the pass is the one it runs on: a \
         pass on programs stands in `builtin.module(task.program(...))`. Flags such as `--segment` nest by \
         themselves.",
        crate::example!("fuser-opt x.fir --pass-pipeline='builtin.module(segment)'");
    /// A pass that would do nothing.
    NOTHING_TO_DO = "FIR0608", "a pass has nothing to work on",
        "Some passes work on what others make: `schedule` on the segments of `segment`, `lower-to-kernel` on the sweeps of `schedule`, others on \
         kernels. Neither is such an op in the program nor does a pass before make one. `--pipeline-to=PASS` runs all that come before.",
        crate::example!("fuser-opt x.fir --schedule");
    /// A pass panicked.
    PANIC = "FIR0606", "internal error in a pass",
        "This is a bug of Fuser, not of the program. A reproducer file was written: it holds the pipeline, the \
         options and the IR before the pass, and `fuser-opt --run-reproducer FILE` replays it. Please attach it to \
         a report.",
        crate::example!("fuser-opt x.fir --test-crash");
    /// A pass made invalid IR.
    INVALID_AFTER_PASS = "FIR0607", "a pass made IR that does not verify",
        "This is a bug of Fuser, not of the program: the IR was valid before the pass. A reproducer file was \
         written. `--print-ir-after-failure` shows the IR that the pass left.",
        crate::example!("fuser-opt x.fir --test-crash=mode=invalid");
    /// Rewriting does not come to rest.
    REWRITE_LIMIT = "FIR0950", "rewriting does not settle",
        "Patterns kept changing the program until the limit was reached: mostly two patterns that undo each other. \
         The message names the busiest ones; leave one out with `disable-patterns=NAME`, or raise the limit with \
         `--limit-rewrites-per-op=N` or `--limit-rewrite-iterations=N` if the program is just unusual.",
        "$ fuser-opt x.fir --test-ping-pong\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = fusion.add %x, %x\n  \
         task.return %y\n\
         }";
}
