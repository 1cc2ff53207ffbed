//! Diagnostics for programs: JSON Lines and SARIF. The schemas are in docs/schemas; `v` increases when a field changes
//! its meaning.

use fuser_ir::diag::CodeDef;
use fuser_ir::{Diagnostic, Place, Severity};
use serde_json::{Value, json};

use super::source::Sources;

/// Version of the JSON form.
const VERSION: u32 = 1;

/// One diagnostic as one line of JSON.
pub fn json_line(sources: &Sources, diagnostic: &Diagnostic, function: Option<String>) -> String {
    let labels: Vec<Value> = (diagnostic.notes.iter())
        .map(|n| json!({"at": at(sources, &n.place), "message": n.message}))
        .collect();
    let fixes: Vec<Value> = (diagnostic.fixes.iter())
        .map(|f| json!({"span": at(sources, &f.place), "replacement": f.replacement}))
        .collect();
    let docs = match diagnostic.code {
        "" => Value::Null,
        code => json!(format!("fuser-opt explain {code}")),
    };
    let value = json!({
        "v": VERSION,
        "severity": diagnostic.severity.name(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "op": diagnostic.op,
        "pass": diagnostic.pass,
        "function": function,
        "primary": at(sources, &diagnostic.place),
        "labels": labels,
        "helps": diagnostic.helps,
        "fixes": fixes,
        "docs": docs,
    });
    format!("{value}\n")
}

fn at(sources: &Sources, place: &Place) -> Value {
    let Some(spot) = sources.spot(place) else {
        return Value::Null;
    };
    let bytes = spot.bytes;
    json!({
        "file": spot.file,
        "line": spot.line,
        "col": spot.column,
        "endLine": spot.end_line,
        "endCol": spot.end_column,
        "byteStart": bytes.as_ref().map(|b| b.start),
        "byteEnd": bytes.as_ref().map(|b| b.end),
    })
}

/// All diagnostics as one SARIF 2.1.0 document.
pub fn sarif(sources: &Sources, diagnostics: &[Diagnostic], codes: &[&CodeDef]) -> String {
    let mut used: Vec<&&CodeDef> = codes
        .iter()
        .filter(|c| diagnostics.iter().any(|d| d.code == c.code))
        .collect();
    used.sort_by_key(|c| c.code);
    let rules: Vec<Value> = used.iter().map(|c| rule(c)).collect();
    let results: Vec<Value> = diagnostics.iter().map(|d| result(sources, d)).collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fuser-opt",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn rule(code: &CodeDef) -> Value {
    json!({
        "id": code.code,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
    })
}

fn result(sources: &Sources, diagnostic: &Diagnostic) -> Value {
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "note",
    };
    let locations: Vec<Value> = location(sources, &diagnostic.place, None)
        .into_iter()
        .collect();
    let related: Vec<Value> = (diagnostic.notes.iter())
        .filter_map(|n| location(sources, &n.place, Some(&n.message)))
        .collect();
    let mut text = diagnostic.message.clone();
    for help in &diagnostic.helps {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let mut value = json!({
        "level": level,
        "message": {"text": text},
        "locations": locations,
        "relatedLocations": related,
    });
    if !diagnostic.code.is_empty() {
        value["ruleId"] = json!(diagnostic.code);
    }
    value
}

fn location(sources: &Sources, place: &Place, message: Option<&str>) -> Option<Value> {
    let spot = sources.spot(place)?;
    let mut value = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&spot.file)},
            "region": {
                "startLine": spot.line,
                "startColumn": spot.column,
                "endLine": spot.end_line,
                "endColumn": spot.end_column,
            },
        },
    });
    if let Some(message) = message {
        value["message"] = json!({"text": message});
    }
    Some(value)
}

/// A file name as a URI: relative names unchanged, absolute ones with their scheme. Bytes that a URI cannot contain are
/// written `%XX`.
fn uri(file: &str) -> String {
    let mut uri = String::from(if file.starts_with('/') { "file://" } else { "" });
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn file_names_as_uris() {
        assert_eq!(uri("a/b-c.fir"), "a/b-c.fir");
        assert_eq!(uri("/tmp/x y.fir"), "file:///tmp/x%20y.fir");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
        assert_eq!(uri("\u{e4}:%"), "%C3%A4%3A%25");
    }
}
