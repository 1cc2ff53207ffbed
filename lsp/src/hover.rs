//! `textDocument/hover`: the definition of an op, the type and the bytes of a value, a clause, a pass, a flag, a code.

use std::ops::Range;

use fuser::driver::help;
use fuser_ir::lex::Tok;
use fuser_ir::{Op, Value as IrValue, describe};
use fuser_passes::cost::Bindings;
use fuser_passes::report::{Quantity, SegmentReport};
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::costs::{Costs, spots};
use crate::index::{Definition, Kind};
use crate::server::{Answer, Query};

/// Longest text of a definition that is shown.
const LONGEST: usize = 400;

/// Answers the request.
pub fn hover(query: &Query<'_>) -> Answer {
    let offset = query.offset()?;
    let (part, at) = query.place()?;
    let index = part.index();
    let Some(token) = index.token_at(at).filter(|_| !in_comment(query, offset)) else {
        return Ok(of_comment(query, offset));
    };
    let span = index.tokens[token].span();
    let text = index.tokens[token].text(part.source());
    let markdown = match index.tokens[token].kind {
        Tok::OpName | Tok::OpString => op(query, part, token),
        Tok::Word => word(part, token, text),
        _ => index
            .name_at(at)
            .and_then(|name| name.definition)
            .map(|definition| name(query, part, definition)),
    };
    Ok(answer(query, markdown, part.bytes(span)))
}

fn answer(query: &Query<'_>, markdown: Option<String>, bytes: Range<usize>) -> Value {
    let Some(markdown) = markdown else {
        return Value::Null;
    };
    json!({
        "contents": {"kind": "markdown", "value": markdown},
        "range": query.analysis.text.range(bytes),
    })
}

/// True if a comment begins before a byte in its line.
pub fn in_comment(query: &Query<'_>, offset: usize) -> bool {
    let part = query.analysis.part_at(offset);
    let line = query
        .analysis
        .text
        .line(query.analysis.text.line_of(offset));
    let before = query.analysis.text.part(line.start..offset.max(line.start));
    let slashes = before.match_indices("//").map(|(at, _)| line.start + at);
    let index = part.index();
    // Slashes in a string are part of its token.
    slashes.into_iter().any(|slash| {
        let local = part.local(slash);
        let token = index.token_at(local).map(|at| index.tokens[at]);
        !token.is_some_and(|t| t.start <= local && local < t.end)
    })
}

/// In comments: codes, passes and flags.
fn of_comment(query: &Query<'_>, offset: usize) -> Value {
    let text = &query.analysis.text;
    let line = text.line(text.line_of(offset));
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (line_text, at) = (text.part(line.clone()), offset.saturating_sub(line.start));
    let (before, after) = line_text.split_at_checked(at).unwrap_or((line_text, ""));
    let start = before.trim_end_matches(part).len();
    let end = at + (after.len() - after.trim_start_matches(part).len());
    let word = line_text.get(start..end).unwrap_or("");
    let is_code = word.len() == 7 && word.starts_with("FIR");
    let told = match (is_code, word.starts_with("--")) {
        (true, _) => help::explain(word),
        (_, true) => help::about(word, &fuser_passes::catalog(), query.registry),
        _ => return Value::Null,
    };
    let markdown = told
        .ok()
        .map(|told| format!("```text\n{}\n```", told.trim_end()));
    answer(query, markdown, line.start + start..line.start + end)
}

fn op(query: &Query<'_>, part: &Part, token: usize) -> Option<String> {
    let index = part.index();
    let statement = &index.statements[index.statement_of(token)?];
    let def = index.def(part.source(), part.registry(), statement);
    let mut text = String::new();
    let op = part.op(statement);
    for &result in op.map_or(&[][..], |op| part.ir.results(op)) {
        text += &value_line(part, result);
    }
    text += &op
        .map(|op| costs(query, part, op))
        .filter(|costs| !costs.is_empty())
        .map_or(String::new(), |costs| format!("{costs}\n---\n"));
    if let Some(def) = def {
        text += &format!(
            "{}\n\n{}",
            def.summary,
            fuser_dialects::docs::render_op(def)
        );
    }
    (!text.is_empty()).then_some(text)
}

/// The name, the type and the bytes of a value.
fn value_line(part: &Part, value: IrValue) -> String {
    let name = part.ir.value_name(value).unwrap_or("");
    let ty = describe::ty(&part.ir, part.ir.value_type(value));
    let name = match name {
        "" => String::new(),
        name => format!("%{} : ", name.trim_start_matches('%')),
    };
    let bytes = Quantity::bytes(&part.ir, value, &Bindings::default());
    let bytes = match part.ir.value_kind(value).dtype() {
        Some(_) => format!(" {}", amount(&bytes)),
        None => String::new(),
    };
    format!("`{name}{ty}`{bytes}\n\n")
}

/// `9,280 bytes`, or a polynomial.
pub fn amount(bytes: &Quantity) -> String {
    match bytes.number() {
        Some(number) => format!("{} bytes", grouped(number)),
        None => format!("{} bytes", bytes.text()),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The segments that an op is part of.
fn costs(query: &Query<'_>, part: &Part, op: Op) -> String {
    let Some(costs) = query.costs else {
        return String::new();
    };
    let spots = spots(&part.ir, part.ir.op_loc(op));
    let mut own: Vec<_> = spots
        .iter()
        .filter_map(|spot| costs.ops.get(spot))
        .flatten()
        .collect();
    own.sort_unstable();
    own.dedup();
    let lines = own.into_iter().filter_map(|at| costs.segment(*at));
    let lines = lines.map(|s| format!("in segment `{}` ({}): {}\n\n", s.name, s.kind, segment(s)));
    let programs = costs
        .programs
        .iter()
        .filter(|(spot, _)| spots.contains(spot));
    let programs = programs.map(|(_, report)| format!("{}\n\n", program(report)));
    lines.chain(programs).collect()
}

/// The costs of a segment in a line.
pub fn segment(segment: &SegmentReport) -> String {
    let mut text = format!(
        "reads {}, writes {}, {}",
        amount(&segment.read_bytes),
        amount(&segment.write_bytes),
        counted(segment.sweeps as u64, "sweep", "sweeps"),
    );
    if let Some(launches) = segment.launches {
        text += &format!(", {}", counted(launches, "launch", "launches"));
    }
    text
}

/// The costs of a program in a line.
pub fn program(report: &fuser_passes::report::Report) -> String {
    format!(
        "{}: reads {}, writes {}",
        counted(report.segments.len() as u64, "segment", "segments"),
        amount(&report.read_bytes),
        amount(&report.write_bytes),
    )
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

/// A name: the value with its segments, or the text that defines it.
fn name(query: &Query<'_>, part: &Part, definition: usize) -> String {
    let index = part.index();
    let Definition {
        kind, statement, ..
    } = index.definitions[definition];
    let statement = &index.statements[statement];
    let mut text = String::new();
    if kind == Kind::Value {
        if let Some(value) = part.value(definition) {
            text += &value_line(part, value);
        }
        if let Some(op) = part.op(statement).filter(|_| statement.regions.is_empty()) {
            text += &costs(query, part, op);
        }
        text += &crossings(query, part, definition);
    } else if let Some(op) = part.op(statement) {
        text += &costs(query, part, op);
    }
    format!("{text}```fir\n{}\n```", header(part, definition))
}

/// The segments between which a value crosses memory.
fn crossings(query: &Query<'_>, part: &Part, definition: usize) -> String {
    let source = part.source();
    let span = part.index().definitions[definition].span;
    let name = source.get(span.start as usize..span.end as usize);
    let (Some(costs), Some(name)) = (query.costs, name) else {
        return String::new();
    };
    let own = own_program(part, definition, costs);
    let crossing = own.iter().flat_map(|report| &report.crossing);
    let crossing = crossing.filter(|c| c.value == name);
    crossing
        .map(|c| {
            let bytes = amount(&c.bytes);
            format!(
                "crosses memory from `{}` to `{}`: {bytes}\n\n",
                c.from, c.to
            )
        })
        .collect()
}

/// The report of the program around a definition.
fn own_program<'c>(
    part: &Part,
    definition: usize,
    costs: &'c Costs,
) -> Option<&'c fuser_passes::report::Report> {
    let index = part.index();
    let mut scope = Some(index.definitions[definition].scope);
    while let Some(at) = scope {
        let statement = index.scopes[at].statement.map(|s| &index.statements[s]);
        if let Some(op) = statement.and_then(|s| part.op(s)) {
            let spots = spots(&part.ir, part.ir.op_loc(op));
            let mut programs = costs.programs.iter();
            if let Some((_, report)) = programs.find(|(spot, _)| spots.contains(spot)) {
                return Some(report);
            }
        }
        scope = index.scopes[at].parent;
    }
    None
}

/// The text of a statement up to its first region.
fn header(part: &Part, definition: usize) -> String {
    let index = part.index();
    let statement = &index.statements[index.definitions[definition].statement];
    let span = index.span(statement);
    let end = statement.regions.first();
    let end = end.map_or(span.end, |at| index.scopes[*at].open);
    let text = part.source().get(span.start as usize..end as usize);
    let text = text.unwrap_or("").trim_end_matches('{').trim_end();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A clause, the word of one, or an element type.
fn word(part: &Part, token: usize, text: &str) -> Option<String> {
    let index = part.index();
    let statement = &index.statements[index.statement_of(token)?];
    let def = index.def(part.source(), part.registry(), statement)?;
    let clause = def.clause(text)?;
    let kind = fuser_dialects::docs::kind(clause.kind);
    let may = if clause.required { "" } else { " (optional)" };
    Some(format!(
        "clause `{text}`{may}: {}\n\ntakes {kind}",
        clause.doc
    ))
}
