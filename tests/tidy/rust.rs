//! Rules on each `.rs` file:
//!
//! - it begins with a `//!` header;
//! - it has no `todo!`, `unimplemented!` or `dbg!`;
//! - each `unsafe` has its reason in a `SAFETY:` comment, or in a `# Safety` section where it is a promise asked of callers;
//! - environment variables are read in `src/` only (tests and build scripts are free);
//! - no `static` can change, and there are no thread-locals; [`STATE`] is the one exception.

use regex::Regex;

use crate::source::{self, Line};
use crate::{Violation, assert_none, files};

/// The file with the state of a process: the entry points of a driver, which have nothing else to keep it in.
const STATE: &str = "runtime/cuda-sim/src/driver.rs";

type Rule = fn(&str, &[Line]) -> Vec<Violation>;

fn check(rule: Rule) {
    let files = files::with_extension(&["rs"]);
    assert!(files.len() > 20, "the sources were not found");
    let broken = |file: &String| rule(file, &source::lines(&files::read(file)));
    let violations: Vec<Violation> = files.iter().flat_map(broken).collect();
    assert_none(&violations);
}

#[test]
fn files_begin_with_a_header() {
    check(header);
}

#[test]
fn no_placeholders() {
    check(placeholders);
}

#[test]
fn unsafe_code_gives_its_reason() {
    check(unsafe_reasons);
}

#[test]
fn environment_is_read_in_src_only() {
    check(environment);
}

#[test]
fn no_global_mutable_state() {
    check(global_state);
}

fn header(file: &str, lines: &[Line]) -> Vec<Violation> {
    let first = lines.first().map(|line| line.comment.as_str());
    match first {
        Some(comment) if comment.starts_with("//! ") => vec![],
        _ => vec![Violation::new(
            file,
            1,
            "the file does not begin with a `//!` header",
        )],
    }
}

fn placeholders(file: &str, lines: &[Line]) -> Vec<Violation> {
    matching(file, lines, r"\b(todo|unimplemented|dbg)!", "a placeholder")
}

fn environment(file: &str, lines: &[Line]) -> Vec<Violation> {
    let free = file.starts_with("src/")
        || file.starts_with("tests/")
        || file.contains("/tests/")
        || file.ends_with("build.rs");
    if free {
        return vec![];
    }
    matching(
        file,
        lines,
        r"\benv::(\{|vars?\b|vars?_os\b|set_var\b|remove_var\b)",
        "the environment is read outside src/",
    )
}

fn global_state(file: &str, lines: &[Line]) -> Vec<Violation> {
    if file == STATE {
        return vec![];
    }
    let mut violations = matching(file, lines, r"\bthread_local!", "a thread-local");
    violations.extend(matching(
        file,
        lines,
        r"\bstatic\s+mut\b|\bstatic\s+\w+\s*:.*\b(Mutex|RwLock|Atomic\w+|RefCell|Cell|UnsafeCell)\b",
        "global mutable state",
    ));
    violations
}

fn matching(file: &str, lines: &[Line], pattern: &str, what: &str) -> Vec<Violation> {
    let pattern = Regex::new(pattern).unwrap();
    let found = lines.iter().filter(|line| pattern.is_match(&line.code));
    found
        .map(|line| Violation::new(file, line.number, what))
        .collect()
}

fn unsafe_reasons(file: &str, lines: &[Line]) -> Vec<Violation> {
    let uses = Regex::new(r"\bunsafe\b").unwrap();
    // The type of a function pointer asks for nothing and promises nothing.
    let pointer_type = Regex::new(r#"\bunsafe\s+(extern\s+""\s+)?fn\s*\("#).unwrap();
    let needs_reason = |line: &Line| uses.is_match(&pointer_type.replace_all(&line.code, ""));
    let broken = (0..lines.len()).filter(|at| needs_reason(&lines[*at]) && !has_reason(lines, *at));
    broken
        .map(|at| {
            Violation::new(
                file,
                lines[at].number,
                "`unsafe` without a `SAFETY:` comment",
            )
        })
        .collect()
}

/// Looks for the reason on the line itself and upwards: through comments, attributes, and the beginning of the same statement.
fn has_reason(lines: &[Line], at: usize) -> bool {
    for (line, distance) in lines[..=at].iter().rev().zip(0..) {
        if line.comment.contains("SAFETY:") || line.comment.contains("# Safety") {
            return true;
        }
        let code = line.code.trim();
        let belongs = if code.is_empty() {
            !line.comment.is_empty()
        } else {
            distance == 0 || code.starts_with("#[") || !code.ends_with([';', '{', '}'])
        };
        if !belongs {
            return false;
        }
    }
    false
}

fn broken_lines(rule: Rule, file: &str, text: &str) -> Vec<usize> {
    let violations = rule(file, &source::lines(text));
    violations.iter().map(|violation| violation.line).collect()
}

#[test]
fn each_rule_sees_what_breaks_it() {
    let lib = "passes/manager/src/lib.rs";
    let driver = "src/driver/mod.rs";
    let cases: [(Rule, &str, &str, &[usize]); 10] = [
        (header, lib, "use std::fmt;\n//! late", &[1]),
        (header, lib, "//! A header.\n", &[]),
        (placeholders, lib, "// todo!()\nfn f() { todo!() }", &[2]),
        (environment, lib, "std::env::var(\"HOME\")", &[1]),
        (environment, lib, "use std::env::{self, var};", &[1]),
        (environment, lib, "env!(\"HOME\"); std::env::args()", &[]),
        (environment, driver, "std::env::var(\"HOME\")", &[]),
        (
            global_state,
            lib,
            "static A: u32 = 1;\nstatic mut B: u32 = 1;",
            &[2],
        ),
        (
            global_state,
            lib,
            "pub static A: std::sync::Mutex<u8> = x;",
            &[1],
        ),
        (global_state, lib, "fn f(x: &'static AtomicU8) {}", &[]),
    ];
    for (rule, file, text, expected) in cases {
        assert_eq!(broken_lines(rule, file, text), expected, "{file}: {text}");
    }
}

#[test]
fn unsafe_reasons_are_found_where_they_stand() {
    let cases = [
        ("unsafe { f() }", 1),
        ("// SAFETY: f asks for nothing.\nunsafe { f() }", 0),
        (
            "// SAFETY: f asks for nothing.\nlet x =\n    unsafe { f() };",
            0,
        ),
        ("// SAFETY: of g only.\nlet x = g();\nunsafe { f() };", 1),
        ("// SAFETY: far away.\n\nunsafe { f() }", 1),
        (
            "/// # Safety\n/// The pointer is valid.\n#[inline]\npub unsafe fn f() {}",
            0,
        ),
        ("type F = unsafe extern \"C\" fn(u8);", 0),
        ("unsafe impl Send for X {}", 1),
        ("// unsafe\nlet s = \"unsafe\";", 0),
    ];
    for (text, expected) in cases {
        let found = broken_lines(unsafe_reasons, "x.rs", text).len();
        assert_eq!(found, expected, "{text}");
    }
}
