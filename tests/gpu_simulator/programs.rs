//! Small programs for the simulator: the examples with short axes, and the programs of all lit files.

use std::path::{Path, PathBuf};

use fuser_dialects::fusion;
use fuser_ir::def::OpDef;
use regex::Regex;

/// A program of a text.
pub struct Program {
    /// The name in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// The symbol.
    pub entry: String,
    /// Values of its named extents.
    pub extents: Vec<(String, i64)>,
}

impl Program {
    /// A program of a text; its named extents get odd values that differ.
    pub fn new(name: &str, text: &str, entry: &str) -> Program {
        let names = Regex::new(r"\[([A-Za-z_]\w*)\]").unwrap();
        let mut found: Vec<&str> = names
            .captures_iter(text)
            .map(|c| c.get(1).unwrap().as_str())
            .collect();
        found.sort_unstable();
        found.dedup();
        let values = [3, 37, 5, 9, 4, 7, 11, 13, 6, 10].into_iter().cycle();
        Program {
            name: name.to_owned(),
            text: text.to_owned(),
            entry: entry.to_owned(),
            extents: found.into_iter().map(str::to_owned).zip(values).collect(),
        }
    }
    /// The arguments of `fuser-run` for it.
    pub fn arguments(&self) -> Vec<String> {
        let extents = self
            .extents
            .iter()
            .map(|(name, value)| format!("--shape={name}={value}"));
        [format!("--entry={}", self.entry)]
            .into_iter()
            .chain(extents)
            .collect()
    }
}

/// Long axes of the examples, and the short ones that stand for them: odd where the axis was one of rows.
const SHORT: [(&str, &str); 4] = [
    ("32768", "67"),
    ("16384", "5"),
    ("8192", "263"),
    ("4096", "65"),
];

/// More of them, in the example that has three long axes.
const SHORTER: [(&str, &str); 3] = [("56x", "3x"), ("56,", "3,"), ("1024", "41")];

/// The examples and the models, with short axes.
pub fn examples() -> Vec<Program> {
    let symbol = Regex::new(r"task\.program @([\w$.]+)").unwrap();
    let example = |file: PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let more = SHORTER.iter().filter(|_| name == "issue_2473");
        let text = std::fs::read_to_string(&file).unwrap();
        let short = |text: String, (long, short): &(&str, &str)| text.replace(long, short);
        let text = SHORT.iter().chain(more).fold(text, short);
        let entry = &symbol.captures(&text).unwrap()[1];
        Program::new(name, &text, entry)
    };
    let files = files(&root().join("examples")).into_iter();
    files.map(example).collect()
}

/// The programs of all lit files whose tensors have at most [`LARGEST`] elements; many are wrong on purpose.
pub fn lit_programs() -> Vec<Program> {
    let program = Regex::new(r"(?ms)task\.program @([\w$.]+).*?^\}").unwrap();
    let cut = Regex::new(r"(?m)^// -----.*$").unwrap();
    let mut all = Vec::new();
    for file in files(&root().join("lit-tests")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for chunk in cut.split(&text) {
            for found in program.captures_iter(chunk) {
                let small = Program::new("", &found[0], &found[1]);
                let name = format!("{} @{}", file.display(), small.entry);
                // No GPU runs a routine (lit-tests/run/routines.fir).
                let routine = |def: &&OpDef| found[0].contains(def.name);
                if largest(&found[0]) <= LARGEST && !fusion::ROUTINE_OPS.iter().any(routine) {
                    let text = chunk.to_owned();
                    all.push(Program {
                        name,
                        text,
                        ..small
                    });
                }
            }
        }
    }
    all
}

/// Most elements of a tensor.
const LARGEST: u64 = 300_000;

/// The elements of the largest tensor of a text, named extents left out.
pub fn largest(text: &str) -> u64 {
    let tensors = Regex::new(r"tensor<([^>]*)>").unwrap();
    let length = Regex::new(r"(\d+)x").unwrap();
    let elements = |tensor: &str| -> u64 {
        let lengths = length
            .captures_iter(tensor)
            .map(|c| c[1].parse().unwrap_or(u64::MAX));
        lengths.fold(1, u64::saturating_mul)
    };
    tensors
        .captures_iter(text)
        .map(|c| elements(&c[1]))
        .max()
        .unwrap_or(0)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The `.fir` files under a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut pending, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "fir") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
