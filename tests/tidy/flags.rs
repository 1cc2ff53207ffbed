//! Rules on the flags of `fuser-opt`: each has a row in `docs/for-mlir-users.md`, each row names a test that runs the flag, and the
//! defaults of limits are those that the help states.

use regex::Regex;

use crate::{Violation, assert_none, files};

const TABLES: &str = "docs/for-mlir-users.md";
const FLAGS: &str = "src/driver/flags/";

/// A row: the flags of its second cell, or of its first where that is a limit; the test; the line.
struct Row {
    flags: Vec<String>,
    default: Option<String>,
    test: String,
    line: usize,
}

#[test]
fn each_flag_has_a_row_and_each_row_a_test() {
    let rows = rows(&files::read(TABLES));
    let sources = files::all();
    let sources = sources.iter().filter(|f| f.starts_with(FLAGS));
    let declared: Vec<(String, String)> = sources.flat_map(|f| declared(&files::read(f))).collect();
    assert!(declared.len() > 40, "{} flags are declared", declared.len());
    let mut violations = missing(&declared, &rows);
    for row in &rows {
        violations.extend(untested(row, |file| {
            let there = files::all().iter().any(|f| f == file);
            there.then(|| files::read(file))
        }));
    }
    assert_none(&violations);
}

/// Names of the flags that a source file declares, each with the text of its declaration.
fn declared(text: &str) -> Vec<(String, String)> {
    let name = Regex::new(r#"\bflag\(\s*"([^"]+)""#).unwrap();
    let starts: Vec<(usize, String)> = name
        .captures_iter(text)
        .map(|c| (c.get(0).map_or(0, |m| m.start()), c[1].to_owned()))
        .collect();
    let end = |index: usize| starts.get(index + 1).map_or(text.len(), |next| next.0);
    let part = |index: usize| text[starts[index].0..end(index)].to_owned();
    (0..starts.len())
        .map(|i| (starts[i].1.clone(), part(i)))
        .collect()
}

fn rows(text: &str) -> Vec<Row> {
    let quoted = Regex::new(r"`-{1,2}([a-z-]+)`").unwrap();
    let lines = text.lines().zip(1..);
    let row = |(text, line): (&str, usize)| {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let test = cells.last()?.strip_prefix('`')?.strip_suffix('`')?;
        let limit = cells[0].starts_with("`--limit-");
        let cell = cells[usize::from(!limit)];
        Some(Row {
            flags: quoted
                .captures_iter(cell)
                .map(|c| c[1].to_owned())
                .collect(),
            default: limit.then(|| cells[1].to_owned()),
            test: test.to_owned(),
            line,
        })
    };
    lines
        .filter(|(l, _)| l.starts_with('|'))
        .filter_map(row)
        .collect()
}

fn missing(declared: &[(String, String)], rows: &[Row]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (flag, doc) in declared {
        let Some(row) = rows.iter().find(|r| r.flags.contains(flag)) else {
            violations.push(Violation::new(TABLES, 0, format!("no row for --{flag}")));
            continue;
        };
        if let Some(default) = &row.default
            && !doc.contains(&format!("(default {default})"))
        {
            let what = format!("--{flag} has another default");
            violations.push(Violation::new(TABLES, row.line, what));
        }
    }
    violations
}

fn untested(row: &Row, read: impl Fn(&str) -> Option<String>) -> Vec<Violation> {
    let violation = |what: String| vec![Violation::new(TABLES, row.line, what)];
    let Some(text) = read(&row.test) else {
        return violation(format!("there is no {}", row.test));
    };
    let runs = |flag: &str| {
        let mut run = text.lines().filter(|l| l.contains("RUN:"));
        let word = Regex::new(&format!(r"[\s(]--?(mlir-)?{flag}\b")).unwrap();
        run.any(|l| word.is_match(l))
    };
    match row.flags.iter().any(|f| runs(f)) {
        true => Vec::new(),
        false => violation(format!("{} runs none of {:?}", row.test, row.flags)),
    }
}

#[test]
fn the_rule_sees_what_is_missing() {
    let code = "flag(\n \"a-b\",\n &[],\n Switch,\n G::X,\n \"does (default 5)\",\n |c, v| {}), hidden(flag(\"c\", &[], Value(\"N\"), G::X, \"d\", |c, v| {}))";
    let flags = declared(code);
    assert_eq!(flags[0].0, "a-b");
    assert!(flags[0].1.contains("(default 5)"));
    assert_eq!(flags[1].0, "c");
    let text = "| `--x` | `--a-b` | | `t.fir` |\n| `--limit-z` | 7 | why | code | `t.fir` |";
    let found = rows(text);
    assert_eq!(found.len(), 2);
    assert_eq!(missing(&flags, &found).len(), 1, "no row for c");
    let limit = [("limit-z".to_owned(), "(default 6)".to_owned())];
    assert_eq!(missing(&limit, &found).len(), 1, "another default");
    assert!(untested(&found[0], |_| Some("// RUN: tool --a-b".into())).is_empty());
    assert_eq!(untested(&found[0], |_| Some("// --a-b".into())).len(), 1);
    assert_eq!(untested(&found[0], |_| None).len(), 1);
}
