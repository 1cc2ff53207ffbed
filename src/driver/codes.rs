//! The diagnostic codes of the driver, and all codes of all crates together.

use fuser_ir::diag::CodeDef;

fuser_ir::codes! {
    /// Printing and parsing changed the program.
    ROUNDTRIP = "FIR0650", "printing and parsing gives another program",
        "`--verify-roundtrip` prints the program in each form, parses the text in a fresh context and prints it \
         again: in the generic form with locations, both prints must be the same. A difference is a bug of Fuser; \
         the diff shows it.",
        fuser_pass::example!("fuser-opt x.fir --verify-roundtrip --test-lossy-printing");
    /// A pass changed what the program computes.
    VALIDATE = "FIR0651", "a pass changed the result",
        "`--validate` runs the reference interpreter on the program before and after each pass, on the same random \
         inputs. On small integers results must be equal bit for bit; on reals they must agree within rounding. \
         A difference is a bug of the pass.",
        "$ fuser-opt x.fir --test-miscompile --validate\n\
         task.program @f(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = fusion.sub %x, %z\n  \
         task.return %y\n\
         }";
    /// A comment expects what did not come.
    EXPECTED_MISSING = "FIR0652", "expected diagnostic was not reported",
        "With `--verify-diagnostics` each comment `// expected-error {{text}}` must be met by a diagnostic of that \
         kind on that line whose message contains the text. `@+1`, `@-1`, `@above`, `@below` move the line, \
         `@unknown` means a diagnostic without a place, `[FIR0203]` asks for a code, `-re` makes `{{...}}` inside \
         the text a regular expression.",
        fuser_pass::example!("fuser-opt x.fir --verify-diagnostics\n// expected-error@+1 {{no such message}}");
    /// A diagnostic that no comment expects.
    UNEXPECTED = "FIR0653", "unexpected diagnostic",
        "With `--verify-diagnostics` every error, warning and remark must be expected by a comment on its line. \
         `--verify-diagnostics=only-expected` admits others. Notes may be expected and need not be.",
        "$ fuser-opt x.fir --verify-diagnostics\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = fusion.ex %x\n  \
         task.return %y\n\
         }";
    /// A comment that looks like an expectation and is none.
    EXPECT_SYNTAX = "FIR0654", "malformed expectation",
        "An expectation is written `expected-error {{text}}`, with `-re`, a code in brackets and `@` an offset \
         between, and ends its line. Its regular expression must be one.",
        fuser_pass::example!("fuser-opt x.fir --verify-diagnostics\n// expected-error-re {{a {{(}} b}}");
    /// A panic outside of passes.
    INTERNAL = "FIR0655", "internal error",
        "This is a bug of Fuser, not of the program: something outside of the passes panicked, in parsing, verifying \
         or printing. Please report the input.",
        "";
    /// The rest is not shown.
    TOO_MANY = "FIR0656", "more diagnostics than are shown",
        "`--max-errors=N` sets how many are shown, 100 by default; 0 shows all.",
        "$ fuser-opt x.fir --max-errors=1\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         %y = fusion.ex %x\n  \
         task.retur %y\n\
         }";
    /// The file is no module.
    NO_MODULE = "FIR0657", "no module",
        "With `--no-implicit-module` the file must write its module out: `module { ... }`.",
        fuser_pass::example!("fuser-opt x.fir --no-implicit-module");
    /// A text of another system.
    FOREIGN = "FIR0659", "a text of another system",
        "The tools read `.fir`. What does not parse as such is told by its contents: StableHLO, HLO, jaxprs, other MLIR, Python, models of \
         ONNX, archives and data. The help says which command reads it, or how to get a text that is read.",
        "$ fuser-opt x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  \
         %0 = stablehlo.sine %arg0 : tensor<4xf32>\n  \
         return %0 : tensor<4xf32>\n\
         }";
    /// No reproducer.
    REPRODUCER = "FIR0658", "not a reproducer",
        "`--run-reproducer` reads the pipeline and the options from the comment lines at the top of a file that an \
         internal error or `--generate-reproducer` wrote: `// fuser-reproducer: 1` and what follows. It states what matters for what passes do; a flag that names \
         a file stands on the command line.",
        fuser_pass::example!("fuser-opt --run-reproducer x.fir");
}

/// Every code of every crate, sorted.
pub fn all() -> Vec<&'static CodeDef> {
    let own = CODES.iter().chain(fuser_pass::codes::CODES);
    let core = fuser_ir::codes();
    let mut all: Vec<&CodeDef> = own
        .chain(core)
        .chain(fuser_dialects::codes())
        .chain(fuser_passes::codes())
        .chain(fuser_frontends::codes::CODES)
        .chain(crate::compile::CODES)
        .chain(crate::session::error::CODES)
        .chain(crate::session::cost::CODES)
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
