//! The files of the checkout, without those that are built or fetched.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours, unless they are crates; hidden folders other than [`HIDDEN`] are left out as well.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// Hidden folders of ours.
const HIDDEN: [&str; 2] = [".ci", ".github"];

/// Extensions of files with text that people write. `Cargo.lock` is written by cargo.
const TEXT: [&str; 13] = [
    "rs", "md", "toml", "sh", "py", "fir", "test", "json", "yml", "yaml", "lalrpop", "txt", "ts",
];

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under the root whose extension is one of `extensions`, relative to the root, sorted.
pub fn with_extension(extensions: &[&str]) -> Vec<String> {
    let matches = |path: &&String| {
        let extension = Path::new(path.as_str()).extension().unwrap_or_default();
        extensions.iter().any(|wanted| extension == *wanted)
    };
    let files = all();
    files.iter().filter(matches).cloned().collect()
}

/// Every file of text, relative to the root.
pub fn texts() -> Vec<String> {
    let mut texts = with_extension(&TEXT);
    texts.push(".ci/run".to_owned());
    texts
}

/// Every file under the root, relative to it, sorted.
pub fn all() -> Vec<String> {
    let mut pending = vec![root().to_path_buf()];
    let mut files = Vec::new();
    while let Some(directory) = pending.pop() {
        for path in entries(&directory) {
            if !path.is_dir() {
                files.push(relative(&path));
            } else if is_ours(&path) {
                pending.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The text of a file that [`all`] lists.
pub fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{directory:?}: {error}"));
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn is_ours(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let is_crate = directory.join("Cargo.toml").exists();
    let is_skipped = SKIPPED.contains(&name.as_ref()) && !is_crate;
    HIDDEN.contains(&name.as_ref()) || !(name.starts_with('.') || is_skipped)
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

#[test]
fn a_crate_named_target_is_ours() {
    assert!(all().contains(&"passes/target/src/lib.rs".to_owned()));
}
