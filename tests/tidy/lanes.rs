//! Rules on the lanes of `scripts/test.sh`: a test that the quick lane leaves out exists, and each test file runs in all others.

use regex::Regex;

use crate::{Violation, assert_none, files};

const SCRIPT: &str = "scripts/test.sh";

#[test]
fn the_quick_lane_leaves_out_tests_that_exist() {
    let sources: Vec<String> = files::all()
        .iter()
        .filter(|f| f.ends_with(".rs"))
        .map(|f| files::read(f))
        .collect();
    let script = files::read(SCRIPT);
    let slow = slow(&script);
    assert!(!slow.is_empty(), "{SCRIPT} has no list SLOW");
    assert_none(&missing(&slow, &sources, &files::all()));
}

/// The words of the array `SLOW`.
fn slow(script: &str) -> Vec<String> {
    let list = Regex::new(r"(?s)\nSLOW=\((.*?)\)").unwrap();
    let words = list.captures(script).map(|c| c[1].to_owned());
    let words = words.unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Those that are a part of no function's name and begin no file's.
fn missing(slow: &[String], sources: &[String], files: &[String]) -> Vec<Violation> {
    let is_known = |name: &str| {
        if name.contains('/') {
            return files.iter().any(|file| file.starts_with(name));
        }
        let function = Regex::new(&format!(r"fn \w*{name}\w*\(")).unwrap();
        sources.iter().any(|text| function.is_match(text))
    };
    let unknown = slow.iter().filter(|name| !is_known(name));
    unknown
        .map(|name| Violation::new(SCRIPT, 0, format!("no test is called '{name}'")))
        .collect()
}

#[test]
fn a_name_without_a_test_is_seen() {
    let slow = slow("LOG=x\nSLOW=(\n  takes_long\n  is_gone\n  lit/run/\n  lit/gone/\n)\n");
    let sources = ["fn it_takes_long_to_run() {".to_owned()];
    let found = missing(&slow, &sources, &["lit/run/a.fir".to_owned()]);
    assert_eq!(found.len(), 2);
    assert!(found[0].what.contains("is_gone") && found[1].what.contains("lit/gone/"));
}

/// Crates list their test binaries: a file that neither the manifest nor `tests/main.rs` names would never run.
#[test]
fn each_test_file_is_part_of_a_binary() {
    let files = files::all();
    let read = |file: String| files.contains(&file).then(|| files::read(&file));
    let unnamed = files.iter().filter(|file| {
        let Some((folder, name)) = test_file(file) else {
            return false;
        };
        let main = read(format!("{folder}tests/main.rs")).unwrap_or_default();
        let manifest = read(format!("{folder}Cargo.toml")).unwrap_or_default();
        manifest.contains("autotests = false") && !is_named(&name, &main, &manifest)
    });
    let what = "neither tests/main.rs nor Cargo.toml names it: it never runs";
    let violation = |file: &String| Violation::new(file, 0, what.to_owned());
    assert_none(&unnamed.map(violation).collect::<Vec<_>>());
}

/// The folder of the crate and the name of the test, if `file` is the root of one.
fn test_file(file: &str) -> Option<(String, String)> {
    let root = Regex::new(r"^(|.*/)tests/(\w+)(\.rs|/main\.rs)$").unwrap();
    let found = root.captures(file)?;
    Some((found[1].to_owned(), found[2].to_owned()))
}

fn is_named(name: &str, main: &str, manifest: &str) -> bool {
    main.lines().any(|line| line == format!("mod {name};"))
        || manifest.contains(&format!("name = \"{name}\"\n"))
}

#[test]
fn a_test_file_that_nothing_names_is_seen() {
    let (folder, name) = test_file("dialect/tests/new.rs").unwrap();
    assert_eq!((folder.as_str(), name.as_str()), ("dialect/", "new"));
    assert_eq!(test_file("tests/lit/main.rs").unwrap().1, "lit");
    assert_eq!(test_file("tests/tidy/files.rs"), None);
    assert!(!is_named("new", "mod old;\n", "name = \"main\"\n"));
    assert!(is_named("old", "mod old;\n", "") && is_named("main", "", "name = \"main\"\n"));
}
