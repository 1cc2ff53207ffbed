//! `textDocument/completion`: ops, clauses and their words, types, names in scope; passes, options and flags in `RUN:`
//! lines.

use fuser::driver::flags::{self, Takes};
use fuser_ir::DType;
use fuser_ir::def::{ClauseDef, ClauseKind, OpDef};
use fuser_ir::describe;
use fuser_ir::lex::Tok;
use fuser_pass::OptionDef;
use serde_json::{Value, json};

use crate::analysis::Part;
use crate::hover;
use crate::index::{Index, Kind, Statement, op_def};
use crate::outline::sign;
use crate::server::{Answer, Query};

/// Characters that ask for a completion.
pub const TRIGGERS: [&str; 8] = ["%", "@", "^", "#", "!", ".", "-", "="];

/// The most items of one answer; the nearest come first.
const MOST: usize = 1_000;

/// Kinds of items, as the protocol numbers them.
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 6;
const PROPERTY: u32 = 10;
const ENUM_MEMBER: u32 = 20;
const TYPE: u32 = 25;
const REFERENCE: u32 = 18;

/// An item.
#[derive(Default)]
struct Item {
    label: String,
    kind: u32,
    detail: String,
    doc: String,
    /// The inserted text if it differs from the label; `$1` marks the place to fill in.
    snippet: Option<String>,
}

/// Answers the request.
pub fn completion(query: &Query<'_>) -> Answer {
    let offset = query.offset()?;
    let text = &query.analysis.text;
    let line = text.line(text.line_of(offset));
    let before = text.part(line.start..offset);
    let (start, mut items) = match hover::in_comment(query, offset) {
        true => command(before),
        false => code(query, offset, before),
    };
    let complete = items.len() <= MOST;
    items.truncate(MOST);
    let range = text.range(line.start + start..offset);
    let items: Vec<Value> = items
        .into_iter()
        .enumerate()
        .map(|(number, item)| item_json(query, item, number, &range))
        .collect();
    Ok(json!({"isIncomplete": !complete, "items": items}))
}

fn item_json(query: &Query<'_>, item: Item, number: usize, range: &Value) -> Value {
    let snippet = item.snippet.filter(|_| query.snippets);
    let format = if snippet.is_some() { 2 } else { 1 };
    let text = snippet.unwrap_or_else(|| item.label.clone());
    let mut value = json!({
        "label": item.label,
        "kind": item.kind,
        "sortText": format!("{number:05}"),
        "filterText": item.label,
        "insertTextFormat": format,
        "textEdit": {"range": range, "newText": text},
    });
    if !item.detail.is_empty() {
        value["detail"] = json!(item.detail);
    }
    if !item.doc.is_empty() {
        value["documentation"] = json!({"kind": "markdown", "value": item.doc});
    }
    value
}

/// The length of the text before its last word.
fn word_start(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.trim_end_matches(part).len()
}

fn code(query: &Query<'_>, offset: usize, before: &str) -> (usize, Vec<Item>) {
    let part = query.analysis.part_at(offset);
    let start = word_start(before, |c| c.is_ascii_alphanumeric() || "_$.-".contains(c));
    let signs = before[..start].chars().next_back();
    let kinds = [
        Kind::Value,
        Kind::Symbol,
        Kind::Block,
        Kind::Attribute,
        Kind::Type,
    ];
    if let Some(kind) = kinds.into_iter().find(|kind| Some(sign(*kind)) == signs) {
        return (start - 1, names(part, part.local(offset), kind));
    }
    if let Some(start) = element_start(before) {
        return (start, element_types());
    }
    let at = part.local(offset - (before.len() - start));
    (
        start,
        place(query, part, at, before[..start].trim().is_empty()),
    )
}

/// Inside of `tensor<4x`: the position after the last `x`.
fn element_start(before: &str) -> Option<usize> {
    let opened = ["tensor<", "vector<", "memref<"];
    let opened = opened
        .iter()
        .filter_map(|word| Some(before.rfind(word)? + word.len()));
    let open = opened.max()?;
    let inside = &before[open..];
    if inside.contains(['>', ',', ' ']) {
        return None;
    }
    let ends = inside.char_indices().zip(inside.chars().skip(1));
    let behind =
        ends.filter(|((_, c), next)| *next == 'x' && (c.is_ascii_digit() || "]?".contains(*c)));
    Some(open + behind.last().map_or(0, |((at, _), _)| at + 2))
}

fn element_types() -> Vec<Item> {
    let item = |dtype: DType| Item {
        label: dtype.name().to_owned(),
        kind: TYPE,
        ..Item::default()
    };
    DType::ALL.into_iter().map(item).collect()
}

fn types() -> Vec<Item> {
    let tensor = Item {
        label: "tensor<>".to_owned(),
        kind: TYPE,
        snippet: Some("tensor<${1:4}x${2:f32}>".to_owned()),
        ..Item::default()
    };
    std::iter::once(tensor).chain(element_types()).collect()
}

/// The names of a kind that are seen at a place, nearest first.
fn names(part: &Part, at: u32, kind: Kind) -> Vec<Item> {
    let index = part.index();
    let definitions: Vec<usize> = match kind {
        Kind::Value => index.visible(at),
        _ => {
            let all = 0..index.definitions.len();
            let scope = index.scope_at(at);
            let seen = |d: usize| {
                let definition = &index.definitions[d];
                definition.kind == kind && (kind != Kind::Block || definition.scope == scope)
            };
            all.filter(|d| seen(*d)).collect()
        }
    };
    let item = |definition: usize| {
        let span = index.definitions[definition].span;
        let label = part.source().get(span.start as usize..span.end as usize)?;
        let ty = part.value(definition).map(|v| part.ir.value_type(v));
        Some(Item {
            label: label.to_owned(),
            kind: if kind == Kind::Value {
                VARIABLE
            } else {
                REFERENCE
            },
            detail: ty.map_or(String::new(), |ty| describe::ty(&part.ir, ty)),
            ..Item::default()
        })
    };
    let mut items: Vec<Item> = definitions.into_iter().filter_map(item).collect();
    let mut seen = rustc_hash::FxHashSet::default();
    items.retain(|item| seen.insert(item.label.clone()));
    items
}

/// The items at a place that a word begins.
fn place(query: &Query<'_>, part: &Part, at: u32, begins_line: bool) -> Vec<Item> {
    let index = part.index();
    let behind = index.tokens.partition_point(|t| t.end <= at);
    let last = behind.checked_sub(1);
    let kind = last.map(|last| index.tokens[last].kind);
    let statement = last.and_then(|last| index.statement_of(last));
    let statement = statement.map(|s| &index.statements[s]);
    let named = statement.is_some_and(|s| s.name.is_some_and(|name| name < behind));
    let begins_op = match kind {
        Some(Tok::Equal) => !named,
        Some(Tok::RegionOpen | Tok::RegionClose) | None => true,
        _ => begins_line,
    };
    if begins_op {
        let results = kind != Some(Tok::Equal);
        return ops(query, part, index.scope_at(at), results);
    }
    if matches!(kind, Some(Tok::Colon | Tok::Arrow)) {
        return types();
    }
    let def = statement.and_then(|s| index.def(part.source(), part.registry(), s));
    match def.zip(statement).zip(last) {
        Some(((def, statement), last)) => clauses(part, index, def, statement, last, at),
        None => Vec::new(),
    }
}

/// The ops allowed in a scope.
fn ops(query: &Query<'_>, part: &Part, scope: usize, results: bool) -> Vec<Item> {
    let index = part.index();
    let around = index.scopes[scope].statement;
    let around = around.map(|s| index.op_name(part.source(), &index.statements[s]));
    let around = around.and_then(|name| op_def(query.registry, name));
    let around = around.map_or("builtin.module", |def| def.name);
    let fits = |def: &&OpDef| {
        let used = results || !def.results.is_empty();
        used && (def.parents.is_empty() || def.parents.contains(&around))
    };
    // Terminators and ops allowed only in this region come first, kernel ops last.
    let rank = |def: &&OpDef| (def.parents.is_empty(), def.dialect() == "kernel");
    let mut ops: Vec<&OpDef> = query.registry.ops().filter(fits).collect();
    ops.sort_by_key(rank);
    let item = |def: &OpDef| Item {
        label: def.name.to_owned(),
        kind: FUNCTION,
        detail: signature(def),
        doc: format!("{}\n\n{}", def.summary, def.doc),
        snippet: Some(snippet(def, results)),
    };
    ops.into_iter().map(item).collect()
}

/// The form of an op in a line: `fusion.sum input dims [...] -> output`.
fn signature(def: &OpDef) -> String {
    let mut text = String::new();
    for operand in def.operands {
        let many = if operand.variadic { "..." } else { "" };
        let comma = if text.is_empty() { "" } else { ", " };
        text += &format!("{comma}%{}{many}", operand.name);
    }
    for clause in def.clauses {
        let (open, close) = if clause.required {
            ("", "")
        } else {
            ("[", "]")
        };
        text += &format!(" {open}{}{close}", clause.name);
    }
    let results: Vec<&str> = def.results.iter().map(|r| r.name).collect();
    match results.is_empty() {
        true => text.trim().to_owned(),
        false => format!("{} -> {}", text.trim(), results.join(", ")),
    }
}

/// The form of an op with placeholders for the parts to fill in.
fn snippet(def: &OpDef, results: bool) -> String {
    let mut number = 0;
    let mut hole = |text: &str| {
        number += 1;
        format!("${{{number}:{text}}}")
    };
    let mut text = String::new();
    if results && !def.results.is_empty() {
        let names: Vec<String> = def
            .results
            .iter()
            .map(|r| format!("%{}", hole(r.name)))
            .collect();
        text += &format!("{} = ", names.join(", "));
    }
    text += def.name;
    if def.syntax.symbol {
        text += &format!(" @{}", hole("name"));
    }
    if def.syntax.signature {
        text += &format!(
            "({}) -> ({})",
            hole("%x: tensor<4xf32>"),
            hole("tensor<4xf32>")
        );
    }
    let operands = def
        .operands
        .iter()
        .filter(|o| !o.variadic || def.operands.len() == 1);
    let operands: Vec<String> = operands.map(|o| format!("%{}", hole(o.name))).collect();
    if !operands.is_empty() {
        text += &format!(" {}", operands.join(", "));
    }
    for clause in def.clauses.iter().filter(|c| c.required) {
        text += &format!(" {}", clause.name);
        text += &match clause.kind {
            ClauseKind::Unit => String::new(),
            ClauseKind::Keyword(words) => format!(" {}", hole(words.first().unwrap_or(&""))),
            ClauseKind::I64Array | ClauseKind::Amounts => format!(" [{}]", hole("0")),
            ClauseKind::Extents => format!(" [{}]", hole("4")),
            ClauseKind::DType | ClauseKind::Type => format!(" {}", hole("f32")),
            ClauseKind::String => format!(" \"{}\"", hole("text")),
            ClauseKind::StringArray => format!(" [\"{}\"]", hole("text")),
            ClauseKind::Symbol => format!(" @{}", hole("name")),
            ClauseKind::Int | ClauseKind::Number | ClauseKind::Any => format!(" {}", hole("0")),
        };
    }
    let regions = def.regions.iter().filter(|r| !r.optional);
    for _ in regions {
        text += " {\n  $0\n}";
    }
    text
}

/// Completions after an op: the words of the clause before the cursor, or the clauses that are still missing.
fn clauses(
    part: &Part,
    index: &Index,
    def: &'static OpDef,
    statement: &Statement,
    last: usize,
    at: u32,
) -> Vec<Item> {
    let text = |at: usize| index.tokens[at].text(part.source());
    let open = index.tokens[last].kind == Tok::Word;
    if let Some(clause) = def.clause(text(last)).filter(|_| open) {
        return match clause.kind {
            ClauseKind::Keyword(words) => words.iter().map(|word| choice(word)).collect(),
            ClauseKind::DType => element_types(),
            ClauseKind::Type => types(),
            ClauseKind::Symbol => names(part, at, Kind::Symbol),
            _ => Vec::new(),
        };
    }
    let own = statement.first..statement.end.min(index.tokens.len());
    let given: Vec<&str> = own
        .filter(|at| index.tokens[*at].kind == Tok::Word)
        .map(text)
        .collect();
    let missing = def.clauses.iter().filter(|c| !given.contains(&c.name));
    let mut items: Vec<Item> = missing.map(clause).collect();
    // Operands come before clauses.
    if given.is_empty() && !def.operands.is_empty() {
        items.extend(names(part, at, Kind::Value));
    }
    items
}

fn choice(word: &str) -> Item {
    Item {
        label: word.to_owned(),
        kind: ENUM_MEMBER,
        ..Item::default()
    }
}

fn clause(clause: &ClauseDef) -> Item {
    Item {
        label: clause.name.to_owned(),
        kind: PROPERTY,
        detail: fuser_dialects::docs::kind(clause.kind),
        doc: clause.doc.to_owned(),
        ..Item::default()
    }
}

/// Tools of `RUN:` lines.
const TOOLS: [&str; 4] = ["fuser-opt", "fuser-run", "fuser-translate", "fuser-reduce"];

/// In a comment: the commands of a `RUN:` line.
fn command(before: &str) -> (usize, Vec<Item>) {
    let Some(run) = before.find("RUN:") else {
        return (before.len(), Vec::new());
    };
    let line = &before[run + "RUN:".len()..];
    let command = line.rsplit(['|', ';']).next().unwrap_or(line);
    let start = word_start(before, |c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let word = &before[start..];
    let catalog = fuser_passes::catalog();
    if let Some(pass) = options_of(command).and_then(|name| catalog.pass(name)) {
        return (start, pass.options.iter().map(option).collect());
    }
    let shown = || catalog.passes.iter().filter(|p| !p.hidden);
    let passes = shown().map(|p| (p.name, p.summary));
    let passes = passes.chain(catalog.pipelines.iter().map(|p| (p.name, p.summary)));
    let item = |dashes: &str, name: &str, doc: &str| Item {
        label: format!("{dashes}{name}"),
        kind: FUNCTION,
        detail: doc.to_owned(),
        ..Item::default()
    };
    if word.starts_with('-') {
        let own = command.contains("fuser-opt");
        let flags = flags::all().filter(|f| own && !f.hidden && f.name.len() > 1);
        let flags = flags.map(|f| {
            let value = matches!(f.takes, Takes::Value(_));
            item(
                "--",
                &format!("{}{}", f.name, if value { "=" } else { "" }),
                f.doc,
            )
        });
        let passes = passes
            .filter(|_| own)
            .map(|(name, doc)| item("--", name, doc));
        return (start, passes.chain(flags).collect());
    }
    if in_pipeline(command) {
        return (
            start,
            passes.map(|(name, doc)| item("", name, doc)).collect(),
        );
    }
    let tools = TOOLS.iter().map(|tool| item("", tool, "a tool of Fuser"));
    let others = [
        ("FileCheck", "checks the CHECK: lines"),
        ("not", "the command must fail"),
    ];
    let others = others.iter().map(|(name, doc)| item("", name, doc));
    (start, tools.chain(others).collect())
}

fn option(option: &OptionDef) -> Item {
    let default = match option.default {
        "" => String::new(),
        default => format!(" (default: {default})"),
    };
    Item {
        label: format!("{}=", option.name),
        kind: PROPERTY,
        detail: option.kind.placeholder().to_string(),
        doc: format!("{}{default}", option.doc),
        ..Item::default()
    }
}

/// The pass whose options are being written: `segment{` or `--segment='`.
fn options_of(command: &str) -> Option<&str> {
    let open = command.rfind(['{', '\''])?;
    let (before, inside) = command.split_at(open);
    let value = inside.rsplit([' ', '{', '\'']).next().unwrap_or("");
    if inside[1..].contains(['}', '\'']) || value.contains('=') {
        return None;
    }
    let before = before.strip_suffix('=').unwrap_or(before);
    let name = before
        .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .next()?;
    Some(name.trim_start_matches('-'))
}

/// True after `--passes=` or `--pass-pipeline=` without a later space outside of quotes.
fn in_pipeline(command: &str) -> bool {
    let flags = ["--passes=", "--pass-pipeline="];
    let behind = flags
        .iter()
        .filter_map(|flag| Some(command.rfind(flag)? + flag.len()));
    let Some(value) = behind.max().and_then(|at| command.get(at..)) else {
        return false;
    };
    match value.strip_prefix(['\'', '"']) {
        Some(quoted) => !quoted.contains(['\'', '"']),
        None => !value.contains(' '),
    }
}
