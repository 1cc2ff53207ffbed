//! Rules on passes: each stands in a source file (or folder) of its own name, is in the list of all passes, and has a lit file of
//! its name. `docs/add-a-pass.md` leads through a new one.
//!
//! The passes are the `PassDef` tables of the crates of passes: each is found by its declaration, which begins with the name.

use std::path::Path;

use regex::Regex;

use crate::tables::{LESSON_ON_PASSES, touched};
use crate::{Violation, assert_none, files};

/// Folders in which passes are declared.
const PASSES: [&str; 5] = [
    "passes/simplify/",
    "passes/devices/",
    "passes/fusion/",
    "passes/lowering/",
    "passes/transforms/",
];

/// The file with the list of all passes.
const LIST: &str = "passes/transforms/src/lib.rs";

#[test]
fn each_pass_has_its_files() {
    let list = files::read(LIST);
    let files = files::all();
    let is_source = |file: &&String| {
        PASSES.iter().any(|folder| file.starts_with(folder))
            && file.ends_with(".rs")
            && !file.contains("/tests/")
    };
    let violations: Vec<Violation> = files
        .iter()
        .filter(is_source)
        .flat_map(|file| broken(file, &files::read(file), &files, &list))
        .collect();
    assert_none(&violations);
}

/// The mistakes about the passes that `text`, the content of `file`, declares; `list` is that of [`LIST`].
fn broken(file: &str, text: &str, files: &[String], list: &str) -> Vec<Violation> {
    let declaration =
        Regex::new(r#"(\w+):\s*PassDef\s*=\s*(?:PassDef\s*\{\s*name:\s*"([^"]+)")?"#).unwrap();
    let mut violations = Vec::new();
    for found in declaration.captures_iter(text) {
        let start = found.get(0).map_or(0, |whole| whole.start());
        let line = text[..start].lines().count();
        let mut violation = |what: String| violations.push(Violation::new(file, line, what));
        let Some(name) = found.get(2).map(|name| name.as_str()) else {
            violation("a `PassDef` that does not begin with its name".to_owned());
            continue;
        };
        if !is_named_after(file, name) {
            violation(format!(
                "the pass `{name}` does not stand in a file or folder of its name"
            ));
        }
        if !files.iter().any(|file| is_lit_file(file, name)) {
            violation(format!("the pass `{name}` has no lit file {name}.fir"));
        }
        let row = format!("::{},", &found[1]);
        if !list.contains(&row) {
            violation(format!("the pass `{name}` is missing in {LIST}: `{row}`"));
        }
    }
    violations
}

/// True if `file` is `inline_tasks.rs`, or lies in a folder `inline_tasks`, for the pass `inline-tasks`.
fn is_named_after(file: &str, pass: &str) -> bool {
    let module = pass.replace('-', "_");
    let path = Path::new(file).with_extension("");
    path.iter().any(|part| part == module.as_str())
}

fn is_lit_file(file: &str, pass: &str) -> bool {
    file.starts_with("lit-tests/") && file.ends_with(&format!("/{pass}.fir"))
}

#[test]
fn a_missing_file_is_seen() {
    let text = "pub static CUT_SET: PassDef = PassDef {\n    name: \"cut-set\",\n};\n";
    let lit = ["lit-tests/remat/cut-set.fir".to_owned()];
    let (source, list) = (
        "passes/fusion/src/remat/cut_set/mod.rs",
        "    &remat::CUT_SET,\n",
    );
    assert_eq!(broken(source, text, &lit, list).len(), 0);
    assert_eq!(broken(source, text, &lit, "").len(), 1);
    assert_eq!(broken(source, text, &[], list).len(), 1);
    assert_eq!(
        broken("passes/fusion/src/remat/mod.rs", text, &lit, list).len(),
        1
    );
    assert_eq!(
        broken(source, "static A: PassDef = other();", &lit, list).len(),
        1
    );
}

#[test]
fn a_new_pass_touches_as_many_files_as_the_lesson_says() {
    let touched = touched(LESSON_ON_PASSES, "A pass of patterns");
    let of_its_own = "passes/simplify/src/preseg/repeat_to_expand.rs";
    let module = "passes/simplify/src/preseg/mod.rs";
    assert_eq!(touched, [of_its_own, module, LIST]);
}
