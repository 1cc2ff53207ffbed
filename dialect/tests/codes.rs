//! Every diagnostic code is given by its own example.

use std::collections::BTreeSet;

use fuser_dialects::docs::complete;
use fuser_ir::Ir;
use fuser_ir::diag::CodeDef;
use fuser_ir::parse::{ParseOptions, parse};

/// Codes that no text can give, or only text too long to show.
const NO_EXAMPLE: &[&str] = &[
    "FIR0215", "FIR0220", "FIR0227", "FIR0901", "FIR0902", "FIR0903", "FIR0904", "FIR0905",
    "FIR0908", "FIR0909", "FIR0910", "FIR0911",
];

fn codes() -> impl Iterator<Item = &'static CodeDef> {
    fuser_ir::codes().chain(fuser_dialects::codes())
}

/// The codes that parsing and verifying `text` gives.
fn given(text: &str, allow_unregistered: bool) -> Vec<&'static str> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let options = ParseOptions {
        allow_unregistered,
        ..ParseOptions::default()
    };
    let result = parse(&mut ir, 0, text, &options);
    let mut items = result.diagnostics.items;
    if let Some(module) = result.module {
        items.extend(fuser_ir::verify(&mut ir, module).items);
    }
    items.into_iter().map(|d| d.code).collect()
}

#[test]
fn every_code_has_an_example_that_gives_it() {
    let mut wrong = String::new();
    for code in codes() {
        let exempt = NO_EXAMPLE.contains(&code.code);
        assert_eq!(code.example.is_empty(), exempt, "{}", code.code);
        let text = complete(code.example);
        let given = given(&text, code.code != "FIR0105");
        if !exempt && !given.contains(&code.code) {
            wrong += &format!("{} gives {given:?}:\n{text}\n\n", code.code);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn codes_are_unique() {
    let mut seen = BTreeSet::new();
    for code in codes() {
        assert!(seen.insert(code.code), "{} stands twice", code.code);
        assert!(!code.title.is_empty() && !code.explanation.is_empty());
    }
}
