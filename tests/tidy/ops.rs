//! An op is known by its table: outside of the tables nothing decides by what an op is called.
//!
//! Passes, code generation and tools ask an op for its maps, class, traits, and what it computes. They may name an op of the
//! `fusion` dialect where they make one: as an argument of a call that makes ops, or as what an arm chooses to make. A rewrite
//! pattern names its roots, in `roots`. The interpreter and the dialects are the tables; the generators of random programs write
//! ops by name. What else names an op stands in [`TABLES`], with the reason.

use regex::Regex;

use crate::{Violation, assert_none, files, source};

/// Folders in which nothing decides by name.
const KEPT: [&str; 3] = ["passes/", "src/", "runtime/"];

/// Files in which an op may be named otherwise.
const TABLES: [(&str, &str); 14] = [
    (
        "passes/compile/src/mesh.rs",
        "the table from collective to the communication of the runtime",
    ),
    (
        "passes/devices/src/table.rs",
        "the ops of which more is known than their maps say: linear ones, means, lookups",
    ),
    (
        "passes/compile/src/routines.rs",
        "the table from op to the function of the runtime",
    ),
    (
        "passes/codegen/src/lower/arith/mod.rs",
        "the table from op to LLVM IR",
    ),
    (
        "passes/simplify/src/canonicalize/known_indices/affine.rs",
        "the table from op on whole numbers to what it makes of known ones",
    ),
    (
        "passes/simplify/src/canonicalize/mod.rs",
        "the table and attributes of a constant to be made",
    ),
    (
        "passes/simplify/src/decompose.rs",
        "the table from composite op to what takes it apart",
    ),
    (
        "passes/simplify/src/recognize_patterns/matching.rs",
        "finds the ops that a term names",
    ),
    (
        "passes/simplify/src/recognize_patterns/table.rs",
        "the table from the ops that an op is made of to that op",
    ),
    (
        "passes/simplify/src/split_complex.rs",
        "the table of ops that do the same with each part of a complex number",
    ),
    (
        "passes/simplify/src/split_complex/formulas.rs",
        "the tables from op on complex numbers to its formula",
    ),
    (
        "passes/simplify/src/split_complex/tape.rs",
        "makes the ops of a formula's operators",
    ),
    (
        "passes/simplify/src/unpack_floats.rs",
        "finds the op whose results hold numbers that none of its operands has",
    ),
    (
        "passes/lowering/src/lower/build.rs",
        "makes index arithmetic",
    ),
];

/// Calls that make an op of the table that they are given.
const MAKERS: [&str; 10] = [
    "build",
    "value",
    "typed",
    "make",
    "compose",
    "reduce",
    "unary",
    "binary",
    "index_op",
    "create_op",
];

/// An op of the table, as Rust names it.
const OP: &str = r"\bfusion::[A-Z][A-Z0-9_]*\b";

fn is_kept(file: &str) -> bool {
    let tests = [
        "/tests",
        "_tests",
        "/test_passes/",
        "/testing",
        "runtime/interp/",
    ];
    file.ends_with(".rs")
        && KEPT.iter().any(|k| file.starts_with(k))
        && !tests.iter().any(|t| file.contains(t))
}

#[test]
fn ops_are_known_by_their_tables() {
    let names = names();
    assert!(names.len() > 60, "the op tables were not found");
    let op = Regex::new(OP).unwrap();
    let kept = files::all().into_iter().filter(|f| is_kept(f));
    let kept: Vec<String> = kept
        .filter(|f| TABLES.iter().all(|(table, _)| f != table))
        .collect();
    assert!(kept.len() > 200, "the sources were not found");
    let broken = |file: &String| broken(file, &files::read(file), &names, &op);
    assert_none(&kept.iter().flat_map(broken).collect::<Vec<_>>());
}

#[test]
fn the_tables_are_there() {
    for (table, _) in TABLES {
        let text = files::read(table);
        assert!(text.contains("&fusion::"), "{table} names no op");
    }
}

/// The names of all ops of the dialect.
fn names() -> Vec<String> {
    let name = Regex::new(r#"name: "(fusion\.\w+)""#).unwrap();
    let tables = files::all();
    let tables = tables.iter().filter(|f| f.starts_with("dialect/fusion/"));
    let mut found = Vec::new();
    for file in tables {
        let text = files::read(file);
        found.extend(name.captures_iter(&text).map(|c| c[1].to_owned()));
    }
    found
}

fn broken(file: &str, text: &str, names: &[String], op: &Regex) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut code = String::new();
    for line in source::lines(text) {
        code += &line.code;
        code.push('\n');
    }
    for found in op.find_iter(&code) {
        if !is_made(&code[..found.start()]) {
            let line = code[..found.start()].matches('\n').count() + 1;
            let what = format!("decides by `{}`: ask its table", found.as_str());
            violations.push(Violation::new(file, line, what));
        }
    }
    for (line, number) in text.lines().zip(1..) {
        let any = line.contains("\"fusion.");
        let quoted = |name: &&String| any && line.contains(&format!("\"{name}\""));
        let told = line.trim_start().starts_with("//") || line.contains("roots: ");
        if let Some(name) = names.iter().find(quoted).filter(|_| !told) {
            violations.push(Violation::new(
                file,
                number,
                format!("names `{name}`: ask its table"),
            ));
        }
    }
    violations
}

/// True if the text after `before` is an argument of a call that makes ops, or the choice of an arm.
fn is_made(before: &str) -> bool {
    let before = before
        .trim_end_matches("fuser_dialects::")
        .trim_end_matches('&');
    let before = before.trim_end();
    if before.ends_with("=>") {
        return true;
    }
    let mut depth = 0;
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' => {
                let callee = before[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_');
                return callee
                    .into_iter()
                    .next()
                    .is_some_and(|name| MAKERS.contains(&name));
            }
            '[' | '{' => return false,
            _ => {}
        }
    }
    false
}

#[test]
fn what_decides_by_name_is_seen() {
    let names = ["fusion.exp".to_owned()];
    let op = Regex::new(OP).unwrap();
    let lines = |text: &str| -> Vec<usize> {
        broken("x.rs", text, &names, &op)
            .iter()
            .map(|v| v.line)
            .collect()
    };
    let made = "let a = b.value(&fusion::EXP, &[x], &clauses(1))?;\nlet b = self.k.binary(\n    &fuser_dialects::fusion::AND, c);\n\
                match x { A => &fusion::ADD, _ => b }\n// \"fusion.exp\", ir.is(op, &fusion::ADD)\nroots: &[\"fusion.exp\"],\n\
                maps::RESHAPE; fusion::maps::PAD; \"fusion.hint\"";
    assert_eq!(lines(made), Vec::<usize>::new());
    let decided = "if ir.is(op, &fusion::ADD) {}\nstd::ptr::eq(def, &fuser_dialects::fusion::PAD)\n\nmade_by(ir, v, &fusion::CAST)\n\
                   [(&fusion::SUM, 1)];\nstatic S: [&OpDef; 1] = [&fusion::PAD];\nname == \"fusion.exp\"\nb.value(f(&fusion::ADD), x)";
    assert_eq!(lines(decided), [1, 2, 4, 5, 6, 8, 7]);
}
