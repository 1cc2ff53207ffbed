//! The oracle that any text gives located diagnostics or a program; a program that verifies prints and reads back in
//! every form.

use fuser_ir::Ir;
use fuser_ir::diag::Place;

use super::{Finding, guard, text};
use crate::Stats;

/// Parses `source`, and round-trips a valid program through every form.
pub fn check(source: &str, stats: &mut Stats) -> Vec<Finding> {
    match guard::run("parse", || parsed(source, stats)) {
        Ok(findings) => findings,
        Err(finding) => vec![finding],
    }
}

fn parsed(source: &str, stats: &mut Stats) -> Vec<Finding> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let result = fuser_ir::parse::parse_str(&mut ir, source);
    let unknown = |d: &&fuser_ir::Diagnostic| matches!(d.place, Place::Unknown);
    if let Some(diagnostic) = result.diagnostics.items.iter().find(unknown) {
        let what = format!("no place: {} {}", diagnostic.code, diagnostic.message);
        return vec![Finding::new("parse", what)];
    }
    for diagnostic in &result.diagnostics.items {
        stats.count("diagnostic", diagnostic.code);
    }
    let (false, Some(module)) = (result.diagnostics.has_errors(), result.module) else {
        stats.count("parsed", "refused");
        return match result.diagnostics.has_errors() {
            true => Vec::new(),
            false => vec![Finding::new("parse", "neither a module nor an error")],
        };
    };
    if fuser_ir::verify(&mut ir, module).has_errors() {
        stats.count("parsed", "invalid");
        return Vec::new();
    }
    stats.count("parsed", "valid");
    text::check(&ir, module, stats)
}
