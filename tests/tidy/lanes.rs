//! Rules on the lanes of `scripts/test.sh`: a test that the quick lane leaves out exists.

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
    assert_none(&missing(&slow, &sources));
}

/// The words of the array `SLOW`.
fn slow(script: &str) -> Vec<String> {
    let list = Regex::new(r"(?s)\nSLOW=\((.*?)\)").unwrap();
    let words = list.captures(script).map(|c| c[1].to_owned());
    let words = words.unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Those that are a part of no function's name.
fn missing(slow: &[String], sources: &[String]) -> Vec<Violation> {
    let is_known = |name: &str| {
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
    let slow = slow("LOG=x\nSLOW=(\n  takes_long\n  is_gone\n)\n");
    let found = missing(&slow, &["fn it_takes_long_to_run() {".to_owned()]);
    assert_eq!(found.len(), 1);
    assert!(found[0].what.contains("is_gone"));
}
