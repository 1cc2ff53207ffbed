//! Rules on targets: passes read figures and abilities of a target, and name neither a kind of machine nor an
//! instruction set. Each family of processors has a folder in code generation, and its instructions stand there alone.

use regex::Regex;

use crate::{Violation, assert_none, files, source};

/// Crates that decide by abilities.
const PASSES: [&str; 6] = [
    "passes/analysis/src/",
    "passes/devices/src/",
    "passes/fusion/src/",
    "passes/lowering/src/",
    "passes/simplify/src/",
    "passes/transforms/src/",
];

/// The folders of families.
const FAMILIES: [&str; 2] = ["passes/codegen/src/cpu/", "passes/codegen/src/gpu/"];

#[test]
fn passes_ask_for_abilities() {
    for folder in PASSES.into_iter().chain(FAMILIES) {
        let files = files::with_extension(&["rs"]);
        let is_there = files.iter().any(|file| file.starts_with(folder));
        assert!(is_there, "there is no folder {folder}");
    }
    let files = files::with_extension(&["rs"]);
    let sources = files.iter().filter(|file| file.starts_with("passes/"));
    let broken = |file: &String| broken(file, &files::read(file));
    assert_none(&sources.flat_map(broken).collect::<Vec<_>>());
}

/// The kinds and instruction sets that `text`, the content of `file`, names and may not.
fn broken(file: &str, text: &str) -> Vec<Violation> {
    let kind = Regex::new(r"\bKind::(Cpu|Cuda|Hip)\b|\bis_gpu\b").unwrap();
    let instructions = Regex::new(r"llvm\.(nvvm|amdgcn|x86|aarch64)\.").unwrap();
    let is_in = |folders: &[&str]| folders.iter().any(|folder| file.starts_with(folder));
    let mut violations = Vec::new();
    for (line, raw) in source::lines(text).iter().zip(text.lines()) {
        let number = line.number;
        // Strings, which lose their text in `code`.
        let named = instructions.is_match(raw) && !instructions.is_match(&line.comment);
        if is_in(&PASSES) && kind.is_match(&line.code) {
            violations.push(Violation::new(file, number, "names a kind of machine"));
        }
        let tests = file.contains("/tests/") || file.ends_with("tests.rs");
        if !tests && !is_in(&FAMILIES) && named {
            let what = "names an instruction outside of its family's folder";
            violations.push(Violation::new(file, number, what));
        }
    }
    violations
}

#[test]
fn a_named_kind_or_instruction_is_seen() {
    let text =
        "//! Kind::Cuda\nlet a = target.kind == Kind::Cuda;\nlet b = \"llvm.nvvm.barrier\";\n";
    let lines = |file: &str| -> Vec<usize> { broken(file, text).iter().map(|v| v.line).collect() };
    assert_eq!(lines("passes/lowering/src/a.rs"), [2, 3]);
    assert_eq!(lines("passes/compile/src/a.rs"), [3]);
    assert_eq!(lines("passes/codegen/src/gpu/a.rs"), [0; 0]);
}
