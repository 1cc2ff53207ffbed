//! The op tables: each entry has its required parts, and tables do not contradict themselves.

use std::collections::BTreeSet;

use fuser_ir::def::{OpClass, OpDef};
use fuser_ir::{Traits, check};

fn ops() -> impl Iterator<Item = &'static OpDef> {
    fuser_dialects::DIALECTS.iter().flat_map(|d| d.ops).copied()
}

#[test]
fn every_op_is_documented() {
    for op in ops() {
        for text in [op.summary, op.doc, op.example] {
            assert!(
                !text.is_empty(),
                "{}: summary, doc or example is empty",
                op.name
            );
        }
        let short = op.name.split('.').next_back().unwrap_or("");
        let shown = op.example.contains(op.name) || op.example.contains(short);
        assert!(shown, "{}: its example does not show it", op.name);
        assert!(
            op.doc.ends_with('.') || op.doc.ends_with(')'),
            "{}: doc is cut off",
            op.name
        );
    }
}

#[test]
fn names_are_unique_and_belong_to_their_dialect() {
    let mut seen = BTreeSet::new();
    for dialect in fuser_dialects::DIALECTS {
        assert!(!dialect.doc.is_empty());
        for op in dialect.ops {
            assert_eq!(op.dialect(), dialect.name, "{}", op.name);
            assert!(seen.insert(op.name), "{} stands twice", op.name);
        }
    }
}

#[test]
fn tables_do_not_contradict_themselves() {
    let registry = fuser_dialects::registry();
    for op in ops() {
        let names: Vec<&str> = check::known_attributes(op).collect();
        let unique: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(
            names.len(),
            unique.len(),
            "{}: a clause stands twice",
            op.name
        );
        let middle = |count: usize| count.saturating_sub(1);
        let variadic = op
            .operands
            .iter()
            .take(middle(op.operands.len()))
            .any(|o| o.variadic)
            || op
                .results
                .iter()
                .take(middle(op.results.len()))
                .any(|r| r.variadic);
        assert!(!variadic, "{}: only the last may be variadic", op.name);
        for other in op.parents.iter().copied().chain(op.syntax.terminator) {
            assert!(registry.op(other).is_some(), "{}: no op {other}", op.name);
        }
        if let Some(end) = op.syntax.terminator.and_then(|t| registry.op(t)) {
            assert!(end.traits.contains(Traits::TERMINATOR), "{}", op.name);
            assert!(
                end.parents.contains(&op.name),
                "{} may not end {}",
                end.name,
                op.name
            );
        }
        if op.class == OpClass::Elementwise {
            let wanted = Traits::ELEMENTWISE.union(Traits::PURE);
            assert!(op.traits.contains(wanted), "{}", op.name);
        }
    }
}

#[test]
fn codes_are_unique_and_explained() {
    let mut seen = BTreeSet::new();
    for code in fuser_dialects::codes()
        .chain(check::CODES)
        .chain(fuser_ir::verify::codes::CODES)
        .chain(fuser_ir::codes::CODES)
    {
        assert!(seen.insert(code.code), "{} stands twice", code.code);
        assert!(
            !code.title.is_empty() && !code.explanation.is_empty(),
            "{}",
            code.code
        );
    }
}
