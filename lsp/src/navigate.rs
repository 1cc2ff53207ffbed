//! Definitions, references, highlights, renaming.
//!
//! A rename is applied to a copy of the text and checked before it is answered. It is refused if a name would change
//! its meaning, or if the text would have more mistakes. The rules of names therefore exist in one place, the index and
//! the parser.

use std::sync::Arc;

use fuser_ir::Diagnostic;
use fuser_ir::span::Span;
use serde_json::{Value, json};

use crate::analysis::{Analysis, Part};
use crate::index::Index;
use crate::server::{Answer, Query, Refusal};
use crate::text::Text;

/// The definition that the name at the place means.
fn meant<'p>(query: &'p Query<'_>) -> Result<Option<(&'p Part, usize)>, Refusal> {
    let (part, at) = query.place()?;
    let name = part.index().name_at(at);
    Ok(name.and_then(|n| n.definition).map(|d| (part, d)))
}

fn location(query: &Query<'_>, part: &Part, span: Span) -> Value {
    json!({"uri": query.uri, "range": query.analysis.text.range(part.bytes(span))})
}

/// `textDocument/definition`
pub fn definition(query: &Query<'_>) -> Answer {
    let place = meant(query)?.map(|(part, definition)| {
        let span = part.index().definitions[definition].span;
        location(query, part, span)
    });
    Ok(place.unwrap_or(Value::Null))
}

/// `textDocument/references`
pub fn references(query: &Query<'_>) -> Answer {
    let with = query.params["context"]["includeDeclaration"].as_bool();
    let with = with.unwrap_or(true);
    let Some((part, definition)) = meant(query)? else {
        return Ok(json!([]));
    };
    let names = part.index().uses(definition);
    let names = names.filter(|name| with || !name.defines);
    Ok(names.map(|name| location(query, part, name.span)).collect())
}

/// `textDocument/documentHighlight`
pub fn highlight(query: &Query<'_>) -> Answer {
    /// Read and write, as the protocol numbers them.
    const KINDS: [u32; 2] = [2, 3];
    let Some((part, definition)) = meant(query)? else {
        return Ok(json!([]));
    };
    let highlights = part.index().uses(definition).map(|name| {
        let range = query.analysis.text.range(part.bytes(name.span));
        json!({"range": range, "kind": KINDS[usize::from(name.defines)]})
    });
    Ok(highlights.collect())
}

/// `textDocument/prepareRename`
pub fn prepare_rename(query: &Query<'_>) -> Answer {
    let (part, at) = query.place()?;
    let name = part.index().name_at(at);
    let Some(name) = name.filter(|name| name.definition.is_some()) else {
        return Ok(Value::Null);
    };
    let bytes = part.bytes(name.span);
    let text = query.analysis.text.part(bytes.clone());
    Ok(json!({"range": query.analysis.text.range(bytes), "placeholder": text}))
}

/// `textDocument/rename`
pub fn rename(query: &Query<'_>) -> Answer {
    let new = query.params["newName"].as_str();
    let new = new.ok_or_else(|| Refusal::params("there is no new name"))?;
    let Some((part, definition)) = meant(query)? else {
        return Err(Refusal::failed("no name with a definition stands here"));
    };
    let index = part.index();
    let sign = part.source()[index.definitions[definition].span.start as usize..]
        .chars()
        .next();
    let sign = sign.unwrap_or('%').to_string();
    let new = format!("{sign}{}", new.strip_prefix(&sign).unwrap_or(new));
    let spans: Vec<Span> = index.uses(definition).map(|name| name.span).collect();
    let text = replaced(part.source(), &spans, &new);
    let after = Index::new(&text, part.registry());
    if !same_meaning(index, &after) {
        return Err(Refusal::failed(format!(
            "`{new}` is no name, or means something else here"
        )));
    }
    let before = errors(query, part, part.source());
    if errors(query, part, &text) > before {
        return Err(Refusal::failed(format!("`{new}` is taken or no name")));
    }
    let text = &query.analysis.text;
    let edit = |span: &Span| json!({"range": text.range(part.bytes(*span)), "newText": new});
    let edits: Vec<Value> = spans.iter().map(edit).collect();
    Ok(edits_of(query, edits))
}

/// A change of the document, tied to its version so that it applies to no other one.
pub fn edits_of(query: &Query<'_>, edits: Vec<Value>) -> Value {
    let document = json!({"uri": query.uri, "version": query.version});
    json!({"documentChanges": [{"textDocument": document, "edits": edits}]})
}

/// `source` with `new` in the place of each span, which ascend.
fn replaced(source: &str, spans: &[Span], new: &str) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for span in spans {
        text += source.get(at..span.start as usize).unwrap_or("");
        text += new;
        at = span.end as usize;
    }
    text + source.get(at..).unwrap_or("")
}

/// True if two texts have the same number of names with the same meanings.
fn same_meaning(before: &Index, after: &Index) -> bool {
    let meanings = |index: &Index| {
        let names = index.names.iter();
        Vec::from_iter(names.map(|n| (n.kind, n.definition, n.defines)))
    };
    before.tokens.len() == after.tokens.len() && meanings(before) == meanings(after)
}

/// The mistakes that a text has in the place of a part.
fn errors(query: &Query<'_>, part: &Part, text: &str) -> usize {
    count(query, part, text, Diagnostic::is_error)
}

/// The diagnostics of some kind that a text has in the place of a part.
pub fn count(
    query: &Query<'_>,
    part: &Part,
    text: &str,
    wanted: impl Fn(&Diagnostic) -> bool,
) -> usize {
    if text == part.source() {
        return part.found.iter().filter(|d| wanted(d)).count();
    }
    let text = Arc::new(Text::new(text.to_owned()));
    let analysis = Analysis::new(query.registry, text, &query.analysis.name);
    let found = analysis.parts.iter().flat_map(|p| &p.found);
    found.filter(|d| wanted(d)).count()
}
