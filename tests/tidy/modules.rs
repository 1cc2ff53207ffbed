//! Rules on modules: a folder of a crate of passes names only those neighbours that the table allows.
//!
//! Crates are kept apart by their manifests (`crates.rs`), and what a module keeps private the compiler keeps; this is the order
//! of the modules inside of a crate.

use regex::Regex;

use crate::{Violation, assert_none, files, source};

/// For each folder the modules of its crate that it may name, besides itself. The first row that fits a file counts: of `segment`, only
/// the rounds, which alternate both, ask `remat`.
const MAY_NAME: [(&str, &[&str]); 9] = [
    ("passes/analysis/src/axes/", &[]),
    ("passes/analysis/src/cost/", &["axes"]),
    ("passes/fusion/src/report/", &[]),
    ("passes/fusion/src/remat/", &["budget", "planner", "report"]),
    (
        "passes/fusion/src/segment/rounds.rs",
        &["budget", "planner", "remat"],
    ),
    (
        "passes/fusion/src/segment/",
        &["budget", "planner", "report"],
    ),
    ("passes/lowering/src/lower/", &["form", "spec"]),
    ("passes/lowering/src/protect_updates/", &["spec"]),
    ("passes/lowering/src/schedule/", &["form", "spec", "trial"]),
];

#[test]
fn modules_name_only_what_they_may() {
    let files = files::with_extension(&["rs"]);
    for (folder, _) in MAY_NAME {
        let is_there = files.iter().any(|file| file.starts_with(folder));
        assert!(is_there, "there is no folder {folder}");
    }
    let broken = |file: &String| broken(file, &files::read(file));
    assert_none(&files.iter().flat_map(broken).collect::<Vec<_>>());
}

/// The modules that `text`, the content of `file`, names and may not.
fn broken(file: &str, text: &str) -> Vec<Violation> {
    let row = MAY_NAME.iter().find(|(folder, _)| file.starts_with(folder));
    let Some((folder, allowed)) = row else {
        return Vec::new();
    };
    let own = folder.rsplit('/').nth(1).unwrap_or_default();
    let path = Regex::new(r"\bcrate::(?:([a-z_]+)|\{([^}]*)\})").unwrap();
    let mut violations = Vec::new();
    for line in source::lines(text) {
        let wrong = named(&path, &line.code)
            .into_iter()
            .filter(|name| name != own && !allowed.contains(&name.as_str()));
        violations.extend(wrong.map(|name| {
            let what = format!("`{own}` may not name `{name}`");
            Violation::new(file, line.number, what)
        }));
    }
    violations
}

/// The modules that stand in a line behind `crate::`, which `path` finds, alone or in a list. Constants of the crate's root are no modules.
fn named(path: &Regex, code: &str) -> Vec<String> {
    let first = |item: &str| -> String {
        let letters = item.trim().chars();
        let name = letters.take_while(|c| c.is_ascii_lowercase() || *c == '_');
        name.collect()
    };
    let mut names = Vec::new();
    for found in path.captures_iter(code) {
        let list = found.get(1).or(found.get(2)).map_or("", |m| m.as_str());
        names.extend(list.split(',').map(first).filter(|name| !name.is_empty()));
    }
    names
}

#[test]
fn a_wrong_name_is_seen() {
    let count = |text: &str| broken("passes/lowering/src/schedule/pass.rs", text).len();
    assert_eq!(count("use crate::lower::launch::lower_sweep;"), 1);
    assert_eq!(count("use crate::{lower, spec};"), 1);
    assert_eq!(
        count("fn f() { crate::lower::f(crate::protect_updates::A) }"),
        2
    );
    assert_eq!(
        count("use crate::trial::trial;\nuse super::apart;\npub(in crate::schedule) fn f() {}"),
        0
    );
    assert_eq!(count("// crate::lower\nlet a = crate::NAME;"), 0);
    assert_eq!(broken("src/lib.rs", "use crate::lower;").len(), 0);
}
