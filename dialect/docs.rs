//! The dialects' manual, written from the tables: one Markdown page per dialect, and complete programs from the
//! examples.
//!
//! The pages under `docs/dialects` are the output of [`render`]; a test keeps them equal. Never reads or writes a file.

use std::fmt::Write;

use fuser_ir::def::{ClauseKind, DialectDef, OpDef};
use fuser_ir::{Traits, describe};

/// The page of one dialect.
pub fn render(dialect: &DialectDef) -> String {
    let mut page = format!("# The dialect `{}`\n\n", dialect.name);
    page += "<!-- Written from the op tables; `FUSER_UPDATE_DOCS=1 cargo test -p fuser-dialects` writes it anew. -->\n\n";
    page += dialect.doc;
    page += "\n\n| op | |\n|---|---|\n";
    for op in dialect.ops {
        let anchor = op.name.replace(['.', ' '], "");
        line(
            &mut page,
            format_args!("| [`{}`](#{anchor}) | {} |", op.name, op.summary),
        );
    }
    for op in dialect.ops {
        page += "\n";
        page += &render_op(op);
    }
    page
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}

/// The entry of one op.
pub fn render_op(op: &OpDef) -> String {
    let mut page = format!("## `{}`\n\n{}\n", op.name, op.doc);
    operands(&mut page, op);
    clauses(&mut page, op);
    regions(&mut page, op);
    results(&mut page, op);
    facts(&mut page, op);
    line(
        &mut page,
        format_args!("\n```fir\n{}\n```", complete(op.example)),
    );
    page
}

fn operands(page: &mut String, op: &OpDef) {
    if op.operands.is_empty() {
        return;
    }
    *page += "\n| operand | type | |\n|---|---|---|\n";
    for o in op.operands {
        let many = if o.variadic { "..." } else { "" };
        let ty = cell(&describe::constraint(o.ty));
        line(
            page,
            format_args!("| `{}`{many} | {ty} | {} |", o.name, o.doc),
        );
    }
}

/// Text of a cell in which `complex<f32>` is no HTML.
fn cell(text: &str) -> String {
    text.replace('<', "\\<")
}

fn clauses(page: &mut String, op: &OpDef) {
    if op.clauses.is_empty() {
        return;
    }
    *page += "\n| clause | value | |\n|---|---|---|\n";
    for c in op.clauses {
        let may = if c.required { "" } else { ", optional" };
        line(
            page,
            format_args!("| `{}` | {}{may} | {} |", c.name, kind(c.kind), c.doc),
        );
    }
}

/// The value that a clause of this kind takes, in words with an example.
pub fn kind(kind: ClauseKind) -> String {
    let text = match kind {
        ClauseKind::I64Array => "integers, `[0, 2]`",
        ClauseKind::Extents => "a shape, `[[B], 1024]`",
        ClauseKind::Amounts => "integers and named extents, `[0, [M]]`",
        ClauseKind::DType => "an element type, `bf16`",
        ClauseKind::Type => "a type",
        ClauseKind::Int => "an integer",
        ClauseKind::Number => "a number, or `dense<...>`",
        ClauseKind::String => "a string",
        ClauseKind::Keyword(words) => return format!("`{}`", words.join("`, `")),
        ClauseKind::Unit => "none",
        ClauseKind::Symbol => "a symbol, `@name`",
        ClauseKind::StringArray => "strings, `[\"a\", \"b\"]`",
        ClauseKind::Any => "any attribute",
    };
    text.into()
}

fn regions(page: &mut String, op: &OpDef) {
    for r in op.regions {
        let may = if r.optional { " (optional)" } else { "" };
        line(page, format_args!("\nRegion `{}`{may}: {}.", r.name, r.doc));
    }
}

fn results(page: &mut String, op: &OpDef) {
    if op.results.is_empty() {
        return;
    }
    *page += "\n| result | type | |\n|---|---|---|\n";
    for r in op.results {
        let many = if r.variadic { "..." } else { "" };
        let ty = cell(&describe::constraint(r.ty));
        line(
            page,
            format_args!("| `{}`{many} | {ty} | {} |", r.name, r.doc),
        );
    }
}

fn facts(page: &mut String, op: &OpDef) {
    let mut facts: Vec<String> = trait_names(op.traits).map(str::to_owned).collect();
    if !op.parents.is_empty() {
        facts.push(format!("stands in `{}`", op.parents.join("`, `")));
    }
    if let Some(maps) = op.maps {
        facts.push(format!("axes: {}", maps.doc));
    }
    if op.infer.is_none() && !op.results.is_empty() {
        facts.push("result types must be written".into());
    }
    if !facts.is_empty() {
        line(page, format_args!("\nTraits: {}.", facts.join("; ")));
    }
}

fn trait_names(traits: Traits) -> impl Iterator<Item = &'static str> {
    let names = [
        (Traits::PURE, "pure"),
        (Traits::TERMINATOR, "ends a block"),
        (Traits::ISOLATED, "isolated from the outside"),
        (Traits::SYMBOL, "declares a symbol"),
        (Traits::SYMBOL_TABLE, "holds symbols"),
        (Traits::SINGLE_BLOCK, "one block per region"),
        (Traits::NO_TERMINATOR, "no terminator"),
        (Traits::COMMUTATIVE, "commutative"),
        (Traits::ELEMENTWISE, "elementwise"),
        (Traits::IDEMPOTENT, "idempotent"),
        (Traits::BARRIER, "a boundary between segments"),
        (Traits::GRAPH_REGION, "order does not count inside"),
        (Traits::PROPAGATES_NAN, "NaN gives NaN"),
        (Traits::APPROXIMATE, "within a bound"),
    ];
    names
        .into_iter()
        .filter(move |(t, _)| traits.contains(*t))
        .map(|(_, name)| name)
}

/// Completes an example to a program. A first line `// %x: T, %y: U` declares parameters of a program around the rest;
/// `// device, %x: T` those of a program that runs on each device of a mesh.
pub fn complete(example: &str) -> String {
    let whole = ["module", "task.program", "kernel.func"];
    if whole.iter().any(|start| example.starts_with(start)) {
        return example.to_owned();
    }
    let (parameters, body) = match example.strip_prefix("// ") {
        Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
        None => ("", example),
    };
    let (parameters, device) = match parameters.strip_prefix("device") {
        Some(rest) => (rest.trim_start_matches(", "), true),
        None => (parameters, false),
    };
    let (mesh, mark) = match device {
        true => (
            "task.mesh axes [\"x\"] sizes [2]\n",
            " attributes {task.device}",
        ),
        false => ("", ""),
    };
    let mut text = format!("{mesh}task.program @example({parameters}){mark} {{\n");
    for row in body.lines() {
        line(&mut text, format_args!("  {row}"));
    }
    text + "  task.return\n}"
}
