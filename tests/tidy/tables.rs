//! Every op stands in every table that has to know it: a missing one is named, so that nobody has to search.
//!
//! The op tables of the dialect are the rows; this is what else an op needs. Types, text, diagnostics, help, axes, costs,
//! segmentation and random programs follow from the row alone. `docs/add-an-op.md` leads through it.

use regex::Regex;

use crate::{Violation, assert_none, files};

/// The op tables, by what their ops are.
const ELEMENTWISE: &[&str] = &["unary", "binary", "select", "philox"];
const REDUCTIONS: &[&str] = &["reduction"];
const SCANS: &[&str] = &["scan"];
const ALL: &[&str] = &[
    "unary",
    "binary",
    "select",
    "philox",
    "creation",
    "random",
    "reshape",
    "window",
    "gather",
    "reduction",
    "arg",
    "scan",
    "product",
    "convolution",
    "attention",
    "scatter",
    "sort",
    "routine",
    "composite",
    "complex",
];
/// Op tables that random programs draw from: all but the routines.
const DRAWN: &[&str] = &[
    "unary",
    "binary",
    "select",
    "philox",
    "creation",
    "random",
    "reshape",
    "window",
    "gather",
    "reduction",
    "arg",
    "scan",
    "product",
    "attention",
    "scatter",
    "sort",
    "composite",
    "complex",
];

/// A table besides: which ops it has, where it stands, and what an op's entry looks like, with the op's name for `{}` and the name
/// of its row for `{ROW}`.
struct Table {
    ops: &'static [&'static str],
    files: &'static str,
    entry: &'static str,
    why: &'static str,
}

const TABLES: [Table; 9] = [
    Table {
        ops: ALL,
        files: "runtime/interp/src/ops/code.rs",
        entry: r#"\("{}", "#,
        why: "the interpreter does not execute it",
    },
    Table {
        ops: ELEMENTWISE,
        files: "passes/codegen/src/lower/arith/mod.rs",
        entry: r"&fusion::{ROW},",
        why: "there is no code for it, neither for CPU nor for GPU",
    },
    Table {
        ops: REDUCTIONS,
        files: "dialect/fusion/reduction.rs",
        entry: r#""fusion\.{}",\s+computes: Some"#,
        why: "its row does not say how elements are put together",
    },
    Table {
        ops: SCANS,
        files: "dialect/fusion/scan.rs",
        entry: r#""fusion\.{}",\s+computes: Some"#,
        why: "its row does not say how elements are put together",
    },
    Table {
        ops: DRAWN,
        files: "fuzzing/evaluator/",
        entry: r#""{}":|"{}"[,}]"#,
        why: "the evaluator with NumPy does not know it",
    },
    Table {
        ops: ELEMENTWISE,
        files: "passes/codegen/tests/elementwise",
        entry: r"\bfusion::{ROW}\b|float_case!\({ROW}",
        why: "no test of code generation has it",
    },
    Table {
        ops: ALL,
        files: "dialect/tests/errors.rs",
        entry: r#""(fusion\.)?{}""#,
        why: "no bad program of it is refused",
    },
    Table {
        ops: ALL,
        files: "docs/dialects/fusion.md",
        entry: r"\n## `fusion\.{}`",
        why: "the manual has no entry: FUSER_UPDATE_DOCS=1 writes it",
    },
    Table {
        ops: ALL,
        files: "lit-tests/",
        entry: r"\bfusion\.{}\b",
        why: "no lit file has it",
    },
];

#[test]
fn every_op_stands_in_every_table() {
    let rows: Vec<Row> = ALL.iter().flat_map(|table| rows(table)).collect();
    assert!(rows.len() > 60, "the op tables were not found");
    assert_none(
        &TABLES
            .iter()
            .flat_map(|table| missing(table, &text(table.files), &rows))
            .collect::<Vec<_>>(),
    );
}

/// An op's row: its table, the name of the row and that of the op, without the dialect.
struct Row {
    table: &'static str,
    row: String,
    op: String,
}

fn rows(table: &'static str) -> Vec<Row> {
    let text = files::read(&format!("dialect/fusion/{table}.rs"));
    let row =
        Regex::new(r#"static ([A-Z0-9_]+): OpDef = OpDef \{\s+name: "fusion\.(\w+)""#).unwrap();
    let rows = row.captures_iter(&text);
    rows.map(|c| Row {
        table,
        row: c[1].to_owned(),
        op: c[2].to_owned(),
    })
    .collect()
}

/// All that a table's place holds.
fn text(place: &str) -> String {
    let files = files::all()
        .into_iter()
        .filter(|file| file.starts_with(place));
    files
        .map(|file| files::read(&file))
        .collect::<Vec<_>>()
        .join("\n")
}

fn missing(table: &Table, text: &str, rows: &[Row]) -> Vec<Violation> {
    let wanted = rows.iter().filter(|row| table.ops.contains(&row.table));
    let lacks = |row: &&Row| {
        let entry = table
            .entry
            .replace("{ROW}", &row.row)
            .replace("{}", &row.op);
        !Regex::new(&entry).unwrap().is_match(text)
    };
    let violation = |row: &Row| {
        let what = format!("`fusion.{}` is missing: {}", row.op, table.why);
        Violation::new(table.files, 0, what)
    };
    wanted.filter(lacks).map(violation).collect()
}

#[test]
fn what_is_missing_is_named() {
    let rows = [Row {
        table: "unary",
        row: "NOWHERE".into(),
        op: "nowhere".into(),
    }];
    for table in TABLES.iter().filter(|table| table.ops.contains(&"unary")) {
        let found = missing(table, &text(table.files), &rows);
        let what: Vec<&str> = found.iter().map(|v| v.what.as_str()).collect();
        assert_eq!(
            what,
            [format!("`fusion.nowhere` is missing: {}", table.why)]
        );
    }
}

/// The document that leads through a new op.
const LESSON: &str = "docs/add-an-op.md";
/// The document that leads through a new pass.
pub(crate) const LESSON_ON_PASSES: &str = "docs/add-a-pass.md";
/// The document that leads through a new processor.
const LESSON_ON_TARGETS: &str = "docs/add-a-target.md";

#[test]
fn the_lessons_show_what_stands_in_the_sources() {
    for lesson in [LESSON, LESSON_ON_PASSES, LESSON_ON_TARGETS] {
        let shown = pieces(&files::read(lesson));
        assert!(shown.len() >= 6, "{lesson} shows no pieces");
        let odd = |(file, piece): &(String, String)| {
            (!files::read(file).contains(piece.as_str()))
                .then(|| Violation::new(lesson, 0, format!("not in {file}:\n{piece}")))
        };
        assert_none(&shown.iter().filter_map(odd).collect::<Vec<_>>());
    }
}

#[test]
fn a_new_op_touches_as_many_files_as_the_lesson_says() {
    let touched = touched(LESSON, "A unary op");
    let sources = |t: &&Table| t.files.ends_with(".rs") && !t.files.contains("/tests/");
    let tables = TABLES.iter().filter(sources);
    let tables = tables.filter(|table| table.ops.contains(&"unary"));
    let mut wanted: Vec<&str> = tables.map(|table| table.files).collect();
    wanted.insert(0, "dialect/fusion/unary.rs");
    assert_eq!(touched, wanted);
    assert_eq!(touched.len(), 3);
}

/// The files of which a section of a document shows pieces, in order.
pub(crate) fn touched(document: &str, section: &str) -> Vec<String> {
    let text = files::read(document);
    let part = text.split("\n## ").find(|part| part.starts_with(section));
    let pieces = pieces(part.unwrap()).into_iter();
    let mut files: Vec<String> = pieces.map(|(file, _)| file).collect();
    files.dedup();
    files
}

/// The pieces of Rust that a document shows, each with the file that its first line names.
fn pieces(text: &str) -> Vec<(String, String)> {
    let block = Regex::new(r"(?s)```rust\n// (\S+)\n(.*?)```").unwrap();
    block
        .captures_iter(text)
        .map(|c| (c[1].to_owned(), c[2].to_owned()))
        .collect()
}
