//! The grammars under `editors/` are those of the op tables. `FUSER_UPDATE=1` writes them.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use fuser_lsp::grammar;

#[test]
fn grammars_are_those_of_the_tables() {
    let registry = fuser_dialects::registry();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors");
    let files = [
        (
            "vscode/syntaxes/fir.tmLanguage.json",
            grammar::textmate(&registry),
        ),
        (
            "tree-sitter-fuser/grammar.js",
            grammar::tree_sitter(&registry),
        ),
    ];
    for (file, text) in files {
        let path = root.join(file);
        if env::var_os("FUSER_UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let same = fs::read_to_string(&path).is_ok_and(|committed| committed == text);
        assert!(
            same,
            "editors/{file}: FUSER_UPDATE=1 cargo test -p fuser-lsp --test main generated writes it"
        );
    }
}

/// The extension becomes a package by VS Code's own tool, where `npm install` has put it.
#[test]
fn the_extension_is_packaged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode");
    let tool = folder.join("node_modules/.bin/vsce");
    if !tool.exists() {
        println!("skipped: no npm packages in editors/vscode; the extension is not packaged");
        return;
    }
    let output = Command::new("npm")
        .args(["run", "package"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(folder.join("fuser-fir.vsix").exists());
}
