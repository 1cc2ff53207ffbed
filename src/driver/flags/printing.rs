//! Flags: the form of printed IR, and the occasions.

use super::*;
use Group as G;
use Takes::{Switch, Value};

/// In the order of the help.
pub static FLAGS: &[Flag] = &[
    flag(
        "print-op-generic",
        &["mlir-print-op-generic"],
        Switch,
        G::Printing,
        "print the generic form",
        |c, v| {
            c.printing.generic = is_on(v);
            Ok(())
        },
    ),
    flag(
        "print-debuginfo",
        &["mlir-print-debuginfo", "mlir-pretty-debuginfo"],
        Switch,
        G::Printing,
        "print locations",
        |c, v| {
            c.printing.debuginfo = is_on(v);
            Ok(())
        },
    ),
    flag(
        "print-types",
        &[],
        Value("on|off"),
        G::Printing,
        "print result types that inference gives (default: on)",
        |c, v| {
            let words = [
                ("on", true),
                ("off", false),
                ("true", true),
                ("false", false),
            ];
            c.printing.types = one_of(v, &words)?;
            Ok(())
        },
    ),
    flag(
        "anonymous-names",
        &[],
        Switch,
        G::Printing,
        "print %0, %1, ... instead of names",
        |c, v| {
            c.printing.anonymous = is_on(v);
            Ok(())
        },
    ),
    flag(
        "elide-elementsattrs-if-larger",
        &["mlir-elide-elementsattrs-if-larger"],
        Value("N"),
        G::Printing,
        "leave out the elements of larger dense attributes",
        |c, v| {
            c.printing.elide_larger = Some(number(v)?);
            Ok(())
        },
    ),
    hidden(flag(
        "mlir-print-local-scope",
        &[
            "mlir-print-assume-verified",
            "mlir-use-nameloc-as-prefix",
            "mlir-print-unique-ssa-ids",
        ],
        Switch,
        G::Printing,
        "accepted: printing has no aliases, keeps names and never fails",
        accepted,
    )),
    hidden(flag(
        "mlir-elide-resource-strings-if-larger",
        &[],
        Value("N"),
        G::Printing,
        "accepted: there are no resource strings",
        accepted,
    )),
    flag(
        "print-ir-before",
        &["mlir-print-ir-before"],
        Value("PASS,..."),
        G::Around,
        "print the IR before these passes, to stderr",
        |c, v| {
            c.print_ir.before = selection(v)?;
            Ok(())
        },
    ),
    flag(
        "print-ir-after",
        &["mlir-print-ir-after"],
        Value("PASS,..."),
        G::Around,
        "print the IR after these passes",
        |c, v| {
            c.print_ir.after = selection(v)?;
            Ok(())
        },
    ),
    flag(
        "print-ir-before-all",
        &["mlir-print-ir-before-all"],
        Switch,
        G::Around,
        "before all passes",
        |c, v| {
            c.print_ir.before = if is_on(v) {
                Selection::All
            } else {
                Selection::Nothing
            };
            Ok(())
        },
    ),
    flag(
        "print-ir-after-all",
        &["mlir-print-ir-after-all"],
        Switch,
        G::Around,
        "after all passes",
        |c, v| {
            c.print_ir.after = if is_on(v) {
                Selection::All
            } else {
                Selection::Nothing
            };
            Ok(())
        },
    ),
    flag(
        "print-ir-after-change",
        &["mlir-print-ir-after-change"],
        Switch,
        G::Around,
        "after passes that changed it (of all, or of those chosen)",
        |c, v| {
            c.print_ir.after_change = is_on(v);
            Ok(())
        },
    ),
    flag(
        "print-ir-after-failure",
        &["mlir-print-ir-after-failure"],
        Switch,
        G::Around,
        "after a pass that failed",
        |c, v| {
            c.print_ir.after_failure = is_on(v);
            Ok(())
        },
    ),
    flag(
        "print-ir-module-scope",
        &["mlir-print-ir-module-scope"],
        Switch,
        G::Around,
        "print the whole module each time",
        |c, v| {
            c.print_ir.module_scope = is_on(v);
            Ok(())
        },
    ),
    flag(
        "print-ir-tree-dir",
        &["mlir-print-ir-tree-dir"],
        Value("DIR"),
        G::Around,
        "write files DIR/op/N_pass.fir instead",
        |c, v| {
            c.print_ir.tree_dir = path(v);
            Ok(())
        },
    ),
    flag(
        "print-ir-diff",
        &[],
        Switch,
        G::Around,
        "print what each pass changed, as a diff",
        |c, v| {
            c.print_ir.diff = is_on(v);
            Ok(())
        },
    ),
];
