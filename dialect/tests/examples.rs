//! The tables' examples, as the manual shows them, are valid programs. (`syntax.rs` has their round trips.)

use fuser_dialects::docs::complete;
use fuser_ir::{Diagnostic, Ir};

fn check(name: &str, text: &str) -> Result<(), String> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, text);
    let messages = |items: Vec<Diagnostic>| -> String {
        let lines = items
            .into_iter()
            .map(|d| format!("{}: {}", d.code, d.message));
        lines.collect::<Vec<_>>().join("\n")
    };
    let Some(module) = parsed.module.filter(|_| !parsed.diagnostics.has_errors()) else {
        return Err(messages(parsed.diagnostics.items));
    };
    let verified = fuser_ir::verify(&mut ir, module);
    if verified.has_errors() {
        return Err(messages(verified.items));
    }
    let shown = ir.walk(module).into_iter().any(|op| ir.name(op) == name);
    shown
        .then_some(())
        .ok_or_else(|| "the example does not have the op".into())
}

#[test]
fn every_example_is_a_valid_program() {
    let ops = fuser_dialects::DIALECTS.iter().flat_map(|d| d.ops);
    let results = ops
        .map(|op| check(op.name, &complete(op.example)).map_err(|e| format!("{}: {e}", op.name)));
    let failed: Vec<String> = results.filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
