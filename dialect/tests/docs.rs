//! The committed pages under `docs/dialects` agree with the tables. `FUSER_UPDATE_DOCS=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use fuser_dialects::docs::{complete, render};

fn page(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dialects");
    root.join(format!("{name}.md"))
}

#[test]
fn pages_are_what_the_tables_say() {
    let update = std::env::var_os("FUSER_UPDATE_DOCS").is_some();
    for dialect in fuser_dialects::DIALECTS {
        let (path, text) = (page(dialect.name), render(dialect));
        if update {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let same = committed == text;
        assert!(same, "{}: run with FUSER_UPDATE_DOCS=1", path.display());
    }
}

#[test]
fn every_page_is_of_a_dialect() {
    let folder = page("x").parent().unwrap().to_owned();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| {
            e.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let mut wanted: Vec<&str> = fuser_dialects::DIALECTS.iter().map(|d| d.name).collect();
    wanted.sort();
    assert_eq!(names, wanted);
}

#[test]
fn examples_become_programs() {
    let text = complete("// %x: tensor<4xf32>\n%0 = fusion.exp %x");
    assert_eq!(
        text,
        "task.program @example(%x: tensor<4xf32>) {\n  %0 = fusion.exp %x\n  task.return\n}"
    );
    assert_eq!(complete("module {\n}"), "module {\n}");
    assert!(complete("%0 = a.b").contains("@example() {\n  %0 = a.b\n"));
}
