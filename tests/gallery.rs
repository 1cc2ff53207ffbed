//! The pictures of docs/gallery.md are those that the tools draw. `FUSER_UPDATE_DOCS=1` draws them anew.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn pictures_are_drawn_as_today() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pictures = fs::read_dir(root.join("docs/pictures/gallery")).unwrap();
    let mut old = Vec::new();
    for picture in pictures.map(|entry| entry.unwrap().path()) {
        let name = picture.file_stem().unwrap().to_str().unwrap().to_owned();
        let folders = ["examples", "examples/models"].map(|folder| root.join(folder));
        let mut programs = folders.iter().map(|at| at.join(format!("{name}.fir")));
        let program = programs.find(|program| program.exists()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let drawn = folder.path().join("drawn.svg");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fuser-opt"));
        let command = command.args(["--preseg", "--segment", "--remat", "--schedule", "-o"]);
        let command = command.arg("/dev/null").arg(program);
        let report = format!("--report=svg:{}", drawn.display());
        let output = command.arg(report).output().unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        let text = fs::read_to_string(drawn).unwrap();
        match env::var_os("FUSER_UPDATE_DOCS") {
            Some(_) => fs::write(&picture, text).unwrap(),
            None if fs::read_to_string(&picture).unwrap() == text => {}
            None => old.push(name),
        }
    }
    let hint = "FUSER_UPDATE_DOCS=1 cargo test --test main pictures";
    assert_eq!(old, Vec::<String>::new(), "{hint}");
}
