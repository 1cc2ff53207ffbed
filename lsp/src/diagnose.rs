//! Diagnostics in the protocol's form.

use fuser_ir::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::analysis::Analysis;
use crate::commands;

/// The protocol's number of an error.
pub const ERROR: u32 = 1;

/// All diagnostics of a document: of its programs in the order of the text, then of its commands.
pub fn diagnostics(uri: &str, analysis: &Analysis) -> Vec<Value> {
    let found = analysis.parts.iter().flat_map(|part| &part.found);
    let of_programs = found.map(|d| diagnostic(uri, analysis, d));
    of_programs
        .chain(commands::diagnostics(&analysis.text))
        .collect()
}

/// One diagnostic: the message with the caret's text and the advice, and the notes at their positions.
pub fn diagnostic(uri: &str, analysis: &Analysis, diagnostic: &Diagnostic) -> Value {
    let bytes = analysis.bytes(&diagnostic.place).unwrap_or_default();
    let mut lines = vec![diagnostic.message.clone()];
    if !diagnostic.label.is_empty() {
        lines.push(diagnostic.label.clone());
    }
    let mut related = Vec::new();
    for note in &diagnostic.notes {
        match analysis.bytes(&note.place) {
            Some(bytes) => related.push(json!({
                "location": {"uri": uri, "range": analysis.text.range(bytes)},
                "message": note.message,
            })),
            None => lines.push(format!("note: {}", note.message)),
        }
    }
    lines.extend(diagnostic.helps.iter().map(|help| format!("help: {help}")));
    let severity = match diagnostic.severity {
        Severity::Error => ERROR,
        Severity::Warning => 2,
        Severity::Remark => 3,
    };
    let mut value = json!({
        "range": analysis.text.range(bytes),
        "severity": severity,
        "source": "fuser",
        "message": lines.join("\n"),
    });
    if !diagnostic.code.is_empty() {
        value["code"] = json!(diagnostic.code);
    }
    if !related.is_empty() {
        value["relatedInformation"] = json!(related);
    }
    value
}
