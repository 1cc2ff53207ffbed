//! Formatting on all texts of the repository: it keeps every token and comment, is done once, and leaves what the
//! printer prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fuser_ir::def::Registry;
use fuser_ir::{Ir, parse, print};
use fuser_lsp::analysis::SEPARATOR;
use fuser_lsp::format::format;
use fuser_lsp::index::Index;

fn texts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pending = vec![root.join("lit-tests"), root.join("examples")];
    let mut texts = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "fir") {
                texts.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    texts.sort();
    texts
}

fn formatted(registry: &Registry, text: &str) -> Option<String> {
    format(text, &Index::new(text, registry))
}

/// The tokens and the comments of a text, without the space around them.
fn content(registry: &Registry, text: &str) -> Vec<String> {
    let index = Index::new(text, registry);
    let (mut at, mut content) = (0, Vec::new());
    let comments = |gap: &str| -> Vec<String> {
        let lines = gap.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    for token in &index.tokens {
        content.extend(comments(&text[at..token.start as usize]));
        content.push(token.text(text).to_owned());
        at = token.end as usize;
    }
    content.extend(comments(&text[at..]));
    content
}

#[test]
fn formatting_keeps_everything_and_is_done_once() {
    let registry = fuser_dialects::registry();
    let mut count = 0;
    for (path, text) in texts() {
        for part in text.split(SEPARATOR) {
            let Some(once) = formatted(&registry, part) else {
                continue;
            };
            count += 1;
            let path = path.display();
            assert_eq!(
                content(&registry, &once),
                content(&registry, part),
                "{path}"
            );
            assert_eq!(formatted(&registry, &once).as_ref(), Some(&once), "{path}");
        }
    }
    assert!(count > 500);
    println!("count: {count} texts formatted");
}

#[test]
fn what_the_printer_prints_is_formatted() {
    let registry = fuser_dialects::registry();
    let mut count = 0;
    for (path, text) in texts() {
        for part in text.split(SEPARATOR) {
            let mut ir = Ir::new(Arc::clone(&registry));
            let Some(module) = parse::parse_str(&mut ir, part).module else {
                continue;
            };
            for generic in [false, true] {
                let options = print::PrintOptions {
                    generic,
                    ..print::PrintOptions::default()
                };
                let printed = print::print(&ir, module, &options);
                let Some(formatted) = formatted(&registry, &printed) else {
                    panic!("{}: {printed}", path.display());
                };
                assert_eq!(
                    formatted.trim_end(),
                    printed.trim_end(),
                    "{}",
                    path.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 500);
    println!("count: {count} printed texts formatted");
}
