//! How a limit is raised: the flag of each code, said under the message.

use fuser_ir::Diagnostic;

/// Codes of limits, and the flags that set them.
const FLAGS: &[(&str, &str)] = &[
    ("FIR0901", "limit-input-bytes"),
    ("FIR0902", "limit-region-depth"),
    ("FIR0903", "limit-nesting"),
    ("FIR0904", "limit-ops"),
    ("FIR0905", "limit-operands"),
    ("FIR0909", "limit-dense-elements"),
    ("FIR0910", "limit-expanded-parts"),
    ("FIR0911", "limit-errors"),
];

/// Says how to raise the limit that a diagnostic is about.
pub fn with_flag(mut diagnostic: Diagnostic) -> Diagnostic {
    if let Some((_, flag)) = FLAGS.iter().find(|(code, _)| *code == diagnostic.code) {
        diagnostic.helps.push(format!("--{flag}=N sets the limit"));
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{codes, flags};

    #[test]
    fn codes_and_flags_exist() {
        for (code, flag) in FLAGS {
            assert!(codes::all().iter().any(|c| c.code == *code), "{code}");
            assert!(flags::find(flag).is_some(), "{flag}");
        }
    }
}
