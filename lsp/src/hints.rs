//! Inlay hints for omitted types, and lenses for the bytes of programs and segments.

use fuser_ir::lex::Tok;
use fuser_ir::print;
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::costs::spots;
use crate::hover;
use crate::index::Statement;
use crate::server::{Answer, Query};

/// The longest type that a hint shows; a longer type is inserted in full by the hint's edit.
const LONGEST: usize = 60;

/// `textDocument/inlayHint`: result types after statements that omit them. Accepting a hint inserts them.
pub fn inlay(query: &Query<'_>) -> Answer {
    let wanted = query.bytes()?;
    let mut hints = Vec::new();
    for part in &query.analysis.parts {
        let index = part.index();
        for statement in &index.statements {
            let span = part.bytes(index.span(statement));
            let outside = span.end < wanted.start || wanted.end < span.end;
            hints.extend(
                types(part, statement)
                    .filter(|_| !outside)
                    .map(|(at, types)| {
                        let position = query.analysis.text.position(at).json();
                        let mut shown: String = types.chars().take(LONGEST).collect();
                        if shown.len() < types.len() {
                            shown += "...";
                        }
                        json!({
                            "position": position,
                            "label": format!(" : {shown}"),
                            "kind": 1,
                            "textEdits": [{
                                "range": {"start": position, "end": position},
                                "newText": format!(" : {types}"),
                            }],
                        })
                    }),
            );
        }
    }
    Ok(json!(hints))
}

/// The types that a statement omits, and the byte offset at which they would be written.
fn types(part: &Part, statement: &Statement) -> Option<(usize, String)> {
    let index = part.index();
    let op = part.op(statement)?;
    if part.ir.results(op).is_empty() || part.ir.spans.get(op)?.types.is_some() {
        return None;
    }
    let types = part.ir.results(op).iter();
    let types = types.map(|&v| print::print_type(&part.ir, part.ir.value_type(v)));
    let types: Vec<String> = types.collect();
    // A location follows the types.
    let own = statement.first..statement.end;
    let location = own
        .clone()
        .rev()
        .take_while(|at| index.tokens[*at].kind != Tok::RegionClose);
    let location = location
        .filter(|at| index.tokens[*at].kind == Tok::LocOpen)
        .last();
    let last = location.unwrap_or(own.end).checked_sub(1)?;
    let end = index.tokens.get(last)?.end as usize;
    Some((part.range.start + end, types.join(", ")))
}

/// `textDocument/codeLens`: bytes and segments above programs, bytes and sweeps above segments.
pub fn lenses(query: &Query<'_>) -> Answer {
    let Some(costs) = query.costs else {
        return Ok(json!([]));
    };
    let mut lenses = Vec::new();
    for part in &query.analysis.parts {
        let index = part.index();
        for statement in index.statements.iter().filter(|s| s.symbol.is_some()) {
            let Some(op) = part.op(statement) else {
                continue;
            };
            let own = spots(&part.ir, part.ir.op_loc(op));
            let programs = costs.programs.iter();
            let programs = programs.filter(|(spot, _)| own.contains(spot));
            let programs = programs.map(|(_, report)| hover::program(report));
            let segments = own.iter().filter_map(|spot| costs.written.get(spot));
            let segments = segments
                .filter_map(|at| costs.segment(*at))
                .map(hover::segment);
            let range = query.analysis.text.range(part.bytes(index.span(statement)));
            let start = &range["start"];
            lenses.extend(programs.chain(segments).map(|title| {
                json!({
                    "range": {"start": start, "end": start},
                    "command": {"title": title, "command": ""},
                })
            }));
        }
    }
    Ok(Value::Array(lenses))
}
