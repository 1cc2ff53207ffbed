//! The oracle that a printed program parses to the same program, names and places included, in every form.
//!
//! Forms: custom, with locations, without result types, and generic. Printing twice gives the same text; parsing into
//! fresh tables gives a program whose canonical text is that of the first.

use fuser_ir::equal::first_difference;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, Op};

use super::{Finding, summary};
use crate::Stats;

/// The forms that keep everything, and those that leave locations out.
const FORMS: [(&str, PrintOptions); 4] = [
    ("debuginfo", form(false, true, true)),
    ("generic", form(true, true, true)),
    ("custom", form(false, false, true)),
    ("no types", form(false, false, false)),
];

const fn form(generic: bool, debuginfo: bool, types: bool) -> PrintOptions {
    PrintOptions {
        generic,
        debuginfo,
        types,
        anonymous: false,
        elide: None,
        local_scope: false,
    }
}

/// Takes a valid module through every form.
pub fn check(ir: &Ir, module: Op, stats: &mut Stats) -> Vec<Finding> {
    let faults = FORMS.iter().filter_map(|(name, options)| {
        stats.count("round trip", *name);
        let what = fault(ir, module, options)?;
        Some(Finding::new(format!("text: {name}"), what))
    });
    faults.collect()
}

fn fault(ir: &Ir, module: Op, options: &PrintOptions) -> Option<String> {
    let text = print(ir, module, options);
    let mut fresh = Ir::new(fuser_dialects::registry());
    let parse = fuser_ir::parse::ParseOptions {
        allow_unregistered: true,
        ..Default::default()
    };
    let result = fuser_ir::parse::parse(&mut fresh, 0, &text, &parse);
    let Some(parsed) = result.module else {
        return Some(format!("is not parsed: {}", summary(&result.diagnostics)));
    };
    let found = fuser_ir::verify(&mut fresh, parsed);
    if found.has_errors() {
        return Some(format!("does not verify: {}", summary(&found)));
    }
    // Without locations in the text, the parsed program has positions in the text as locations, which are not compared.
    let canonical = PrintOptions {
        generic: true,
        ..*options
    };
    let canonical = PrintOptions {
        types: true,
        ..canonical
    };
    let (wanted, got) = (
        print(ir, module, &canonical),
        print(&fresh, parsed, &canonical),
    );
    if let Some(difference) = first_difference(&wanted, &got) {
        return Some(format!("is another program, {difference}"));
    }
    let again = print(&fresh, parsed, options);
    let difference = first_difference(&text, &again)?;
    Some(format!("prints otherwise the second time, {difference}"))
}
