//! Rules on crates:
//!
//! - a crate of the workspace uses only those that the table allows: arrows point down the code map of `ARCHITECTURE.md`, never back;
//! - what wraps foreign code (LLVM, CUDA, threads, the parser generators) is used by the one crate that owns it;
//! - every dependency has a row in the table of `ARCHITECTURE.md`, and every row is a dependency;
//! - every dependency is used;
//! - every crate root says `#![forbid(unsafe_code)]`, but for the crates that exist to call foreign code or to be called by it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Violation, assert_none, files, source};

/// For each crate the crates of this workspace that it may use, in tests as well.
const MAY_USE: [(&str, &[&str]); 27] = [
    ("fuser-ir", &["fuser-testing"]),
    ("fuser-target", &[]),
    ("fuser-artifact", &[]),
    ("fuser-random", &[]),
    ("fuser-dialects", &["fuser-ir", "fuser-testing"]),
    ("fuser-frontends", &["fuser-ir", "fuser-dialects"]),
    ("fuser-pass", &["fuser-ir"]),
    (
        "fuser-testing",
        &["fuser-ir", "fuser-dialects", "fuser-random"],
    ),
    (
        "fuser-analysis",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-target",
            "fuser-pass",
            "fuser-testing",
        ],
    ),
    ("fuser-simplify", &PASSES),
    ("fuser-devices", &PASSES),
    ("fuser-fusion", &PASSES),
    ("fuser-lowering", &PASSES),
    (
        "fuser-passes",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-target",
            "fuser-pass",
            "fuser-analysis",
            "fuser-simplify",
            "fuser-devices",
            "fuser-fusion",
            "fuser-lowering",
            "fuser-testing",
        ],
    ),
    (
        "fuser-codegen",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-target",
            "fuser-artifact",
            "fuser-testing",
        ],
    ),
    (
        "fuser-compile",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-target",
            "fuser-pass",
            "fuser-passes",
            "fuser-codegen",
            "fuser-artifact",
        ],
    ),
    ("fuser-routines", &[]),
    (
        "fuser-runtime",
        &["fuser-artifact", "fuser-random", "fuser-routines"],
    ),
    ("fuser-cuda-sim", &["fuser-random", "fuser-target"]),
    (
        "fuser-interp",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-random",
            "fuser-testing",
        ],
    ),
    (
        "fuser",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-target",
            "fuser-pass",
            "fuser-passes",
            "fuser-codegen",
            "fuser-compile",
            "fuser-artifact",
            "fuser-random",
            "fuser-runtime",
            "fuser-interp",
            "fuser-frontends",
            "fuser-testing",
            "fuser-cuda-sim",
        ],
    ),
    (
        "fuser-fuzzing",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-devices",
            "fuser-target",
            "fuser-pass",
            "fuser-passes",
            "fuser-codegen",
            "fuser-compile",
            "fuser-artifact",
            "fuser-random",
            "fuser-runtime",
            "fuser-interp",
            "fuser-cuda-sim",
            "fuser",
        ],
    ),
    (
        "fuser-lsp",
        &[
            "fuser-ir",
            "fuser-dialects",
            "fuser-pass",
            "fuser-passes",
            "fuser-random",
            "fuser",
        ],
    ),
    ("fuser-playground", &["fuser-lsp", "fuser"]),
    ("fuser-fuzz", &["fuser-fuzzing"]),
    ("fuser-python", &["fuser"]),
    ("fuser-c", &["fuser"]),
];

/// The crates below passes. A crate of passes uses no other one.
const PASSES: [&str; 6] = [
    "fuser-ir",
    "fuser-dialects",
    "fuser-target",
    "fuser-pass",
    "fuser-analysis",
    "fuser-testing",
];

/// Dependencies and the crates that own them.
const OWNED: [(&str, &str); 16] = [
    ("lsp-server", "fuser-lsp"),
    ("cbindgen", "fuser-c"),
    ("pyo3", "fuser-python"),
    ("numpy", "fuser-python"),
    ("inkwell", "fuser-codegen"),
    ("llvm-sys", "fuser-codegen"),
    ("cudarc", "fuser-runtime"),
    ("libloading", "fuser-runtime"),
    ("libloading", "fuser-codegen"),
    ("logos", "fuser-ir"),
    ("lalrpop", "fuser-ir"),
    ("lalrpop-util", "fuser-ir"),
    ("logos", "fuser-frontends"),
    ("lalrpop", "fuser-frontends"),
    ("lalrpop-util", "fuser-frontends"),
    ("libfuzzer-sys", "fuser-fuzz"),
];

/// The crates that may hold unsafe code; in that of fuzz targets it is that of libFuzzer's macro.
const MAY_BE_UNSAFE: [&str; 6] = [
    "fuser-c",
    "fuser-python",
    "fuser-codegen",
    "fuser-runtime",
    "fuser-cuda-sim",
    "fuser-fuzz",
];

/// The workspace, and the one beside it, which needs libFuzzer.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];

/// The heading of the dependency table in `ARCHITECTURE.md`.
const TABLE_HEADING: &str = "## Dependencies";

struct Package {
    name: String,
    manifest: String,
    dependencies: Vec<String>,
    roots: Vec<String>,
}

impl Package {
    /// The folder of the manifest, with its `/`; empty for the root.
    fn folder(&self) -> &str {
        self.manifest.trim_end_matches("Cargo.toml")
    }
}

/// The packages of both workspaces, from `cargo metadata`.
fn packages() -> Vec<Package> {
    MANIFESTS.into_iter().flat_map(packages_of).collect()
}

fn packages_of(manifest: &str) -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version=1"])
        .args(["--manifest-path", manifest])
        .current_dir(files::root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    array(&metadata["packages"]).iter().map(package).collect()
}

fn package(value: &Value) -> Package {
    let is_root = |target: &&Value| {
        let kinds = array(&target["kind"]);
        kinds.iter().any(|kind| kind == "lib" || kind == "bin")
    };
    let targets = array(&value["targets"]).iter().filter(is_root);
    Package {
        name: text(&value["name"]),
        manifest: relative(&text(&value["manifest_path"])),
        dependencies: array(&value["dependencies"])
            .iter()
            .map(|dependency| text(&dependency["name"]))
            .collect(),
        roots: targets
            .map(|target| relative(&text(&target["src_path"])))
            .collect(),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn relative(path: &str) -> String {
    let path = Path::new(path);
    let path = path.strip_prefix(files::root()).unwrap_or(path);
    path.to_string_lossy().into_owned()
}

#[test]
fn crates_use_only_what_they_may() {
    let violations: Vec<Violation> = packages().iter().flat_map(wrong_edges).collect();
    assert_none(&violations);
}

fn wrong_edges(package: &Package) -> Vec<Violation> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
        let what = format!(
            "`{}` has no row in the table of tests/tidy/crates.rs",
            package.name
        );
        return vec![Violation::new(&package.manifest, 0, what)];
    };
    let wrong = package.dependencies.iter().filter(|dependency| {
        let owners = OWNED.iter().filter(|row| row.0 == dependency.as_str());
        let mut owners = owners.map(|row| row.1).peekable();
        let foreign = owners.peek().is_some() && owners.all(|owner| owner != package.name);
        let ours = MAY_USE.iter().any(|(name, _)| *name == dependency.as_str());
        (ours && !allowed.contains(&dependency.as_str())) || foreign
    });
    wrong
        .map(|dependency| {
            let what = format!("`{}` may not use `{dependency}`", package.name);
            Violation::new(&package.manifest, 0, what)
        })
        .collect()
}

#[test]
fn a_wrong_edge_is_seen() {
    let package = |name: &str, dependency: &str| Package {
        name: name.to_owned(),
        manifest: String::new(),
        dependencies: vec![dependency.to_owned()],
        roots: vec![],
    };
    let edges = [
        ("fuser-runtime", "fuser-ir", 1),
        ("fuser-passes", "inkwell", 1),
        ("fuser-fusion", "fuser-lowering", 1),
        ("fuser-lowering", "fuser-analysis", 0),
        ("fuser-codegen", "inkwell", 0),
        ("fuser-interp", "fuser-ir", 0),
        ("fuser-new", "fuser-ir", 1),
    ];
    for (name, dependency, expected) in edges {
        let found = wrong_edges(&package(name, dependency)).len();
        assert_eq!(found, expected, "{name} -> {dependency}");
    }
    let codegen = package("fuser-codegen", "llvm-sys");
    assert_eq!(unused(&codegen, "use llvm_sys::core;").len(), 0);
    assert_eq!(unused(&codegen, "use llvm_sys_221;").len(), 1);
}

#[test]
fn crates_forbid_unsafe_code() {
    let packages = packages();
    let safe = packages
        .iter()
        .filter(|package| !MAY_BE_UNSAFE.contains(&package.name.as_str()));
    let missing = safe
        .flat_map(|package| &package.roots)
        .filter(|root| !files::read(root).contains("\n#![forbid(unsafe_code)]\n"));
    let violations: Vec<Violation> = missing
        .map(|root| Violation::new(root, 1, "the crate does not say `#![forbid(unsafe_code)]`"))
        .collect();
    assert_none(&violations);
}

#[test]
fn dependencies_are_explained() {
    let packages = packages();
    let all = packages
        .iter()
        .flat_map(|package| package.dependencies.iter());
    let used: BTreeSet<&str> = all
        .map(String::as_str)
        .filter(|name| *name != "fuser" && !name.starts_with("fuser-"))
        .collect();
    let architecture = files::read("ARCHITECTURE.md");
    let explained = table_rows(&architecture);
    let unexplained = used.iter().filter(|name| !explained.contains(*name));
    let mut violations: Vec<Violation> = unexplained
        .map(|name| {
            Violation::new(
                "ARCHITECTURE.md",
                0,
                format!("`{name}` is used and has no row"),
            )
        })
        .collect();
    let unused = explained.iter().filter(|name| !used.contains(*name));
    violations.extend(unused.map(|name| {
        Violation::new(
            "ARCHITECTURE.md",
            0,
            format!("`{name}` has a row and is not used"),
        )
    }));
    assert_none(&violations);
}

#[test]
fn dependencies_are_used() {
    let packages = packages();
    let sources = files::with_extension(&["rs", "lalrpop"]);
    let own = |package: &Package| -> String {
        let own = sources
            .iter()
            .filter(|source| owner(source, &packages) == package.name);
        own.map(|source| code(&files::read(source))).collect()
    };
    let violations: Vec<Violation> = packages
        .iter()
        .flat_map(|package| unused(package, &own(package)))
        .collect();
    assert_none(&violations);
}

/// The package in whose folder `file` lies, the innermost where folders nest.
fn owner<'a>(file: &str, packages: &'a [Package]) -> &'a str {
    let around = packages
        .iter()
        .filter(|package| file.starts_with(package.folder()));
    let innermost = around.max_by_key(|package| package.folder().len());
    innermost.map_or("", |package| &package.name)
}

/// The text without comments and strings.
fn code(text: &str) -> String {
    let lines = source::lines(text).into_iter();
    lines.map(|line| line.code + "\n").collect()
}

/// The dependencies whose names `code`, all of the package's own, does not have.
fn unused(package: &Package, code: &str) -> Vec<Violation> {
    let words: BTreeSet<&str> = code
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let is_unused = |name: &&String| !words.contains(name.replace('-', "_").as_str());
    let unused = package.dependencies.iter().filter(is_unused);
    unused
        .map(|dependency| {
            let what = format!("`{}` does not use `{dependency}`", package.name);
            Violation::new(&package.manifest, 0, what)
        })
        .collect()
}

/// The names in the first column of the dependency table: `` | `name` | ... ``, several where one row explains several.
fn table_rows(architecture: &str) -> BTreeSet<&str> {
    let section = architecture.split_once(TABLE_HEADING).unwrap_or_default().1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let first_columns = rows.filter_map(|row| row.split('|').nth(1));
    first_columns
        .flat_map(|column| column.split('`').skip(1).step_by(2))
        .collect()
}
