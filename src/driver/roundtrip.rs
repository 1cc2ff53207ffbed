//! `--verify-roundtrip`: each printed form of a program parses to the same program.
//!
//! Compared is the generic form with locations, which shows everything there is; forms without locations are compared
//! without. The copy is parsed in a fresh context.

use fuser_ir::{Diagnostic, Ir, Op, Place};
use fuser_pass::place_of;

use super::codes;
use super::config::Printing;
use super::print_ir::unified;
use super::text;
use crate::tool::load::Reader;

/// The forms, with a name for messages.
fn forms(lossy: bool) -> [(&'static str, Printing); 4] {
    let base = Printing {
        debuginfo: true,
        anonymous: lossy,
        ..Printing::default()
    };
    [
        ("custom form", base.clone()),
        ("custom form without locations", Printing::default()),
        (
            "custom form without types",
            Printing {
                types: false,
                ..base.clone()
            },
        ),
        (
            "generic form",
            Printing {
                generic: true,
                ..base
            },
        ),
    ]
}

/// The errors for all printed forms that do not parse back to an equal program. `lossy` injects a mistake: names are
/// not printed.
pub fn check(ir: &Ir, root: Op, reader: &Reader, lossy: bool) -> Vec<Diagnostic> {
    let found = forms(lossy).into_iter().filter_map(|(name, printing)| {
        let printed = text::print(ir, root, &printing);
        differs(ir, root, &printed, &printing, reader)
            .map(|why| failure(name, &why, place_of(ir, root)))
    });
    found.collect()
}

/// The first difference after a round trip, as text.
fn differs(
    ir: &Ir,
    root: Op,
    printed: &str,
    printing: &Printing,
    reader: &Reader,
) -> Option<String> {
    let full = Printing {
        generic: true,
        debuginfo: printing.debuginfo,
        ..Printing::default()
    };
    let (copy, module) = match reader.parse_again(printed) {
        Ok(copy) => copy,
        Err(found) => {
            let messages: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
            return Some(format!(
                "does not parse: {}\n{printed}",
                messages.join("; ")
            ));
        }
    };
    let before = text::print(ir, root, &full);
    let after = text::print(&copy, module, &full);
    (before != after).then(|| unified(&before, &after, "program", "printed and parsed"))
}

fn failure(form: &str, why: &str, place: Place) -> Diagnostic {
    let message = format!("the {form} does not come back as it was:\n{why}");
    Diagnostic::error(&codes::ROUNDTRIP, place, message)
}
