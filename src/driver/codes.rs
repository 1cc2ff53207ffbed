//! The diagnostic codes of the driver, and all codes of all crates together.

use fuser_ir::diag::CodeDef;

/// The driver's own.
pub static CODES: &[CodeDef] = &[
    ROUNDTRIP,
    VALIDATE,
    EXPECTED_MISSING,
    UNEXPECTED,
    EXPECT_SYNTAX,
    INTERNAL,
    TOO_MANY,
    NO_MODULE,
    REPRODUCER,
];

/// Printing and parsing changed the program.
pub const ROUNDTRIP: CodeDef = CodeDef {
    code: "FIR0650",
    title: "printing and parsing gives another program",
    explanation: "`--verify-roundtrip` prints the program in each form, parses the text in a fresh context and prints it \
                  again: in the generic form with locations, both prints must be the same. A difference is a bug of Fuser; \
                  the diff shows it.",
    example: "$ fuser-opt x.fir --verify-roundtrip --test-lossy-printing\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A pass changed what the program computes.
pub const VALIDATE: CodeDef = CodeDef {
    code: "FIR0651",
    title: "a pass changed the result",
    explanation: "`--validate` runs the reference interpreter on the program before and after each pass, on the same random \
                  inputs. On small integers results must be equal bit for bit; on reals they must agree within rounding. \
                  A difference is a bug of the pass.",
    example: "$ fuser-opt x.fir --test-miscompile --validate\n\
              task.program @f(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.sub %x, %z\n  \
              task.return %y\n\
              }",
};
/// A comment expects what did not come.
pub const EXPECTED_MISSING: CodeDef = CodeDef {
    code: "FIR0652",
    title: "expected diagnostic was not reported",
    explanation: "With `--verify-diagnostics` each comment `// expected-error {{text}}` must be met by a diagnostic of that \
                  kind on that line whose message contains the text. `@+1`, `@-1`, `@above`, `@below` move the line, \
                  `@unknown` means a diagnostic without a place, `[FIR0203]` asks for a code, `-re` makes `{{...}}` inside \
                  the text a regular expression.",
    example: "$ fuser-opt x.fir --verify-diagnostics\n\
              // expected-error@+1 {{no such message}}\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A diagnostic that no comment expects.
pub const UNEXPECTED: CodeDef = CodeDef {
    code: "FIR0653",
    title: "unexpected diagnostic",
    explanation: "With `--verify-diagnostics` every error, warning and remark must be expected by a comment on its line. \
                  `--verify-diagnostics=only-expected` admits others. Notes may be expected and need not be.",
    example: "$ fuser-opt x.fir --verify-diagnostics\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.ex %x\n  \
              task.return %y\n\
              }",
};
/// A comment that looks like an expectation and is none.
pub const EXPECT_SYNTAX: CodeDef = CodeDef {
    code: "FIR0654",
    title: "malformed expectation",
    explanation: "An expectation is written `expected-error {{text}}`, with `-re`, a code in brackets and `@` an offset \
                  between, and ends its line. Its regular expression must be one.",
    example: "$ fuser-opt x.fir --verify-diagnostics\n\
              // expected-error-re {{a {{(}} b}}\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// A panic outside of passes.
pub const INTERNAL: CodeDef = CodeDef {
    code: "FIR0655",
    title: "internal error",
    explanation: "This is a bug of Fuser, not of the program: something outside of the passes panicked, in parsing, verifying \
                  or printing. Please report the input.",
    example: "",
};
/// The rest is not shown.
pub const TOO_MANY: CodeDef = CodeDef {
    code: "FIR0656",
    title: "more diagnostics than are shown",
    explanation: "`--max-errors=N` sets how many are shown, 100 by default; 0 shows all.",
    example: "$ fuser-opt x.fir --max-errors=1\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.ex %x\n  \
              task.retur %y\n\
              }",
};
/// The file is no module.
pub const NO_MODULE: CodeDef = CodeDef {
    code: "FIR0657",
    title: "no module",
    explanation: "With `--no-implicit-module` the file must write its module out: `module { ... }`.",
    example: "$ fuser-opt x.fir --no-implicit-module\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};
/// No reproducer.
pub const REPRODUCER: CodeDef = CodeDef {
    code: "FIR0658",
    title: "not a reproducer",
    explanation: "`--run-reproducer` reads the pipeline and the options from the comment lines at the top of a file that an \
                  internal error or `--generate-reproducer` wrote: `// fuser-reproducer: 1` and what follows. It states what matters for what passes do; a flag that names \
                  a file stands on the command line.",
    example: "$ fuser-opt --run-reproducer x.fir\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};

/// Every code of every crate, sorted.
pub fn all() -> Vec<&'static CodeDef> {
    let own = CODES.iter().chain(fuser_pass::codes::CODES);
    let core = fuser_ir::codes();
    let mut all: Vec<&CodeDef> = own
        .chain(core)
        .chain(fuser_dialects::codes())
        .chain(fuser_passes::codes())
        .chain(crate::compile::CODES)
        .chain(crate::session::error::CODES)
        .chain(crate::split::CODES)
        .chain([&crate::tool::target::TARGET_FILE])
        .collect();
    #[cfg(feature = "codegen")]
    all.extend(fuser_codegen::lower::codes::CODES);
    all.sort_by_key(|c| c.code);
    all
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique_and_explained() {
        let all = super::all();
        for pair in all.windows(2) {
            assert_ne!(pair[0].code, pair[1].code, "{}", pair[0].title);
        }
        for code in all {
            assert!(
                code.code.len() == 7 && code.code.starts_with("FIR"),
                "{}",
                code.code
            );
            assert!(
                !code.title.is_empty() && !code.explanation.is_empty(),
                "{}",
                code.code
            );
        }
    }
}
