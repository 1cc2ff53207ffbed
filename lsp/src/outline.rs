//! Symbols, folds and selections: the structure of a document.

use fuser_ir::lex::Tok;
use fuser_ir::span::Span;
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::index::{Kind, Statement};
use crate::server::{Answer, Query, Refusal};
use crate::text::Text;

/// The maximum nesting of symbols; deeper ones become siblings of their parent, because answers are serialized
/// recursively.
const DEEPEST: usize = 24;

/// The maximum number of statements for which values are listed as symbols. Longer lists are of no use, and editors
/// request them after each edit.
const MOST: usize = 2_000;

/// Kinds of symbols, as the protocol numbers them.
const FUNCTION: u32 = 12;
const VARIABLE: u32 = 13;
const CONSTANT: u32 = 14;
const NAMESPACE: u32 = 3;

/// `textDocument/documentSymbol`: ops with regions, with what they hold, values, aliases.
pub fn symbols(query: &Query<'_>) -> Answer {
    let mut all = Vec::new();
    let count = query.analysis.parts.iter();
    let count: usize = count.map(|part| part.index().statements.len()).sum();
    for part in &query.analysis.parts {
        let structure = |s: &&Statement| !s.regions.is_empty() || s.symbol.is_some();
        let statements = part.index().statements.iter();
        let statements = statements.filter(|s| count <= MOST || structure(s));
        // Symbols whose children are being read, outermost first.
        let mut open: Vec<(usize, Value)> = Vec::new();
        for statement in statements {
            while let Some((_, symbol)) = open.pop_if(|(end, _)| *end <= statement.first) {
                add(&mut open, &mut all, symbol);
            }
            let Some(symbol) = symbol(query, part, statement) else {
                continue;
            };
            if statement.regions.is_empty() || open.len() >= DEEPEST {
                add(&mut open, &mut all, symbol);
            } else {
                open.push((statement.end, symbol));
            }
        }
        while let Some((_, symbol)) = open.pop() {
            add(&mut open, &mut all, symbol);
        }
    }
    Ok(json!(all))
}

fn add(open: &mut [(usize, Value)], all: &mut Vec<Value>, symbol: Value) {
    let children = open.last_mut().map(|(_, outer)| &mut outer["children"]);
    match children.and_then(Value::as_array_mut) {
        Some(children) => children.push(symbol),
        None => all.push(symbol),
    }
}

fn symbol(query: &Query<'_>, part: &Part, statement: &Statement) -> Option<Value> {
    let index = part.index();
    let source = part.source();
    let name = |at: usize| {
        let span = index.definitions[at].span;
        source
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    };
    let op = index.op_name(source, statement);
    let results: Vec<&str> = statement.results.iter().map(|at| name(*at)).collect();
    let aliases = index.tokens.get(statement.first).map(|t| t.kind);
    let (label, kind) = match (statement.symbol, statement.regions.is_empty()) {
        (Some(symbol), _) => (name(symbol).to_owned(), FUNCTION),
        (None, false) => (op.to_owned(), NAMESPACE),
        (None, true) if !results.is_empty() => (results.join(", "), VARIABLE),
        (None, true) if matches!(aliases, Some(Tok::HashId | Tok::BangId)) => (
            index.tokens[statement.first].text(source).to_owned(),
            CONSTANT,
        ),
        _ => return None,
    };
    let whole = index.span(statement);
    let chosen = match (statement.symbol, statement.name) {
        (Some(symbol), _) => index.definitions[symbol].span,
        (None, Some(name)) if results.is_empty() => index.tokens[name].span(),
        _ => index.tokens[statement.first].span(),
    };
    let range = |span: Span| query.analysis.text.range(part.bytes(span));
    Some(json!({
        // No client takes an empty name.
        "name": if label.is_empty() { "?" } else { label.as_str() },
        "detail": op,
        "kind": kind,
        "range": range(whole),
        "selectionRange": range(chosen),
        "children": [],
    }))
}

/// `textDocument/foldingRange`: regions, statements of several lines, comments of several lines.
pub fn folding(query: &Query<'_>) -> Answer {
    let text = &query.analysis.text;
    let mut folds = Vec::new();
    let mut fold = |start: usize, end: usize, kind: &str| {
        if start < end {
            folds.push(json!({"startLine": start, "endLine": end, "kind": kind}));
        }
    };
    for part in &query.analysis.parts {
        let index = part.index();
        let line = |byte: u32| text.line_of(part.range.start + byte as usize);
        for scope in index.scopes.iter().skip(1) {
            // The line of the `}` stays.
            let last = line(scope.close).saturating_sub(usize::from(scope.closed));
            fold(line(scope.open), last, "region");
        }
        for statement in index.statements.iter().filter(|s| s.regions.is_empty()) {
            let span = index.span(statement);
            fold(line(span.start), line(span.end), "region");
        }
    }
    let mut first = None;
    for at in 0..=text.lines() {
        let is_comment = at < text.lines() && is_comment(text, at);
        match (is_comment, first) {
            (true, None) => first = Some(at),
            (false, Some(start)) => {
                fold(start, at - 1, "comment");
                first = None;
            }
            _ => {}
        }
    }
    Ok(json!(folds))
}

fn is_comment(text: &Text, line: usize) -> bool {
    text.part(text.line(line)).trim_start().starts_with("//")
}

/// `textDocument/selectionRange`: the token, the statement, the regions around.
pub fn selection(query: &Query<'_>) -> Answer {
    let positions = query.params["positions"].as_array();
    let positions = positions.ok_or_else(|| Refusal::params("there are no positions"))?;
    let mut answers = Vec::new();
    for position in positions {
        let params = json!({"position": position});
        let query = Query {
            params: &params,
            ..*query
        };
        answers.push(around(&query)?);
    }
    Ok(json!(answers))
}

fn around(query: &Query<'_>) -> Result<Value, Refusal> {
    let (part, at) = query.place()?;
    let index = part.index();
    let mut spans = Vec::new();
    if let Some(token) = index.token_at(at) {
        spans.push(index.tokens[token].span());
        let statement = index.statement_of(token);
        spans.extend(statement.map(|s| index.span(&index.statements[s])));
    }
    let mut scope = Some(index.scope_at(at));
    while let Some(open) = scope {
        let open = &index.scopes[open];
        spans.push(Span::new(open.open, open.close));
        let statement = open.statement.map(|s| index.span(&index.statements[s]));
        spans.extend(statement);
        scope = open.parent;
    }
    // A selection holds the one before it; nothing else may.
    let mut kept: Vec<Span> = Vec::new();
    for span in spans {
        let inner = kept.last().copied();
        let holds =
            |inner: Span| span != inner && span.start <= inner.start && inner.end <= span.end;
        if inner.is_none_or(holds) && kept.len() < DEEPEST {
            kept.push(span);
        }
    }
    let mut answer = Value::Null;
    for span in kept.into_iter().rev() {
        let range = query.analysis.text.range(part.bytes(span));
        answer = match answer {
            Value::Null => json!({"range": range}),
            parent => json!({"range": range, "parent": parent}),
        };
    }
    if answer.is_null() {
        let here = query.offset()?;
        answer = json!({"range": query.analysis.text.range(here..here)});
    }
    Ok(answer)
}

/// The signs that begin names, by kind.
pub fn sign(kind: Kind) -> char {
    match kind {
        Kind::Value => '%',
        Kind::Symbol => '@',
        Kind::Block => '^',
        Kind::Attribute => '#',
        Kind::Type => '!',
    }
}
