//! `textDocument/codeAction`: fixes for diagnostics.
//!
//! A fix is offered only if its diagnostic is gone afterwards. Mistakes that it uncovers behind that are no reason against it.

use std::ops::Range;

use fuser_ir::Diagnostic;
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::commands;
use crate::diagnose;
use crate::navigate::{count, edits_of};
use crate::server::{Answer, Query};

/// The maximum number of fixes tried for one request; each is a text to parse.
const MOST: usize = 16;

/// Answers the request.
pub fn actions(query: &Query<'_>) -> Answer {
    let wanted = query.bytes()?;
    let only = query.params["context"]["only"].as_array();
    let quick = |kind: &Value| {
        kind.as_str()
            .is_some_and(|k| k.is_empty() || k == "quickfix")
    };
    if only.is_some_and(|kinds| !kinds.iter().any(quick)) {
        return Ok(json!([]));
    }
    let mut actions = Vec::new();
    for part in &query.analysis.parts {
        for diagnostic in &part.found {
            let touches =
                |bytes: &Range<usize>| bytes.start <= wanted.end && wanted.start <= bytes.end;
            let place = query.analysis.bytes(&diagnostic.place).filter(touches);
            if place.is_none() || actions.len() >= MOST {
                continue;
            }
            actions.extend(action(query, part, diagnostic));
        }
    }
    let commands = commands::fixes(&query.analysis.text, &wanted).into_iter();
    actions.extend(commands.map(|fix| {
        let edit = json!({"range": query.analysis.text.range(fix.bytes), "newText": fix.by});
        quick_fix(query, &fix.by, &fix.diagnostic, vec![edit])
    }));
    Ok(json!(actions))
}

fn quick_fix(query: &Query<'_>, by: &str, diagnostic: &Value, edits: Vec<Value>) -> Value {
    json!({
        "title": format!("Write `{by}`"),
        "kind": "quickfix",
        "isPreferred": true,
        "diagnostics": [diagnostic],
        "edit": edits_of(query, edits),
    })
}

/// The mend of a diagnostic: all of its fixes together.
fn action(query: &Query<'_>, part: &Part, diagnostic: &Diagnostic) -> Option<Value> {
    let mut fixes = Vec::new();
    for fix in &diagnostic.fixes {
        let bytes = query.analysis.bytes(&fix.place)?;
        fixes.push((bytes, fix.replacement.as_str()));
    }
    fixes.sort_by_key(|(bytes, _)| bytes.start);
    let first = *fixes.first().map(|(_, by)| by)?;
    if !mends(query, part, diagnostic, &fixes) {
        return None;
    }
    let text = &query.analysis.text;
    let edit =
        |(bytes, by): (Range<usize>, &str)| json!({"range": text.range(bytes), "newText": by});
    let edits = fixes.into_iter().map(edit).collect();
    let diagnostic = diagnose::diagnostic(query.uri, query.analysis, diagnostic);
    Some(quick_fix(query, first, &diagnostic, edits))
}

/// True if the text has fewer such diagnostics with these fixes, which ascend.
fn mends(
    query: &Query<'_>,
    part: &Part,
    diagnostic: &Diagnostic,
    fixes: &[(Range<usize>, &str)],
) -> bool {
    let source = part.source();
    let (mut text, mut at) = (String::new(), 0);
    for (bytes, by) in fixes {
        let (start, end) = (part.local(bytes.start), part.local(bytes.end));
        let Some(before) = source.get(at..start as usize) else {
            return false;
        };
        text += before;
        text += by;
        at = end as usize;
    }
    text += source.get(at..).unwrap_or("");
    let such = |d: &Diagnostic| d.message == diagnostic.message;
    count(query, part, &text, such) < count(query, part, source, such)
}
