//! Help for exceeded limits: for each code, the flag that raises the limit, appended to the message.

use fuser_ir::Diagnostic;

/// A limit and the flag that raises it.
struct Row {
    code: &'static str,
    flag: &'static str,
    /// Text that the message contains, if the code stands for several limits.
    about: &'static str,
}

const fn row(code: &'static str, flag: &'static str, about: &'static str) -> Row {
    Row { code, flag, about }
}

/// Codes of limits, and the flags that set them.
const FLAGS: &[Row] = &[
    row("FIR0901", "limit-input-bytes", ""),
    row("FIR0902", "limit-region-depth", ""),
    row("FIR0903", "limit-nesting", ""),
    row("FIR0904", "limit-ops", ""),
    row("FIR0905", "limit-operands", ""),
    row("FIR0906", "limit-rank", " axes"),
    row("FIR0908", "limit-identifier-bytes", "a name "),
    row("FIR0908", "limit-string-bytes", "a string "),
    row("FIR0909", "limit-dense-elements", ""),
    row("FIR0910", "limit-expanded-parts", ""),
    row("FIR0911", "limit-errors", ""),
];

/// Limits of the representation: nothing raises them.
#[cfg(test)]
const FIXED: &[(&str, &str)] = &[
    (
        "FIR0906",
        "elements are counted in 63 bits, an extent has 64 parts",
    ),
    ("FIR0907", "integers have 128 bits"),
];

/// Says how to raise the limit that a diagnostic is about.
pub fn with_flag(mut diagnostic: Diagnostic) -> Diagnostic {
    let is = |row: &&Row| row.code == diagnostic.code && diagnostic.message.contains(row.about);
    if let Some(Row { flag, .. }) = FLAGS.iter().find(is) {
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
        for Row { code, flag, .. } in FLAGS {
            assert!(codes::all().iter().any(|c| c.code == *code), "{code}");
            assert!(flags::find(flag).is_some(), "{flag}");
        }
    }
    #[test]
    fn each_limit_has_a_flag_or_is_fixed() {
        let limits = codes::all().into_iter().map(|c| c.code);
        for code in limits.filter(|c| ("FIR0900".."FIR0950").contains(c)) {
            let raised = FLAGS.iter().any(|row| row.code == code);
            assert!(
                raised || FIXED.iter().any(|(fixed, _)| *fixed == code),
                "{code}"
            );
        }
    }
}
