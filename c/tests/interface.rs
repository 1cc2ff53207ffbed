//! The interface as seen from C: the header matches the sources, and a program in C works with it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header that cbindgen makes of the sources.
fn header() -> String {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = builder.with_src(folder().join("src/lib.rs"));
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_that_of_the_sources() {
    let path = folder().join("include/fuser.h");
    if std::env::var_os("FUSER_UPDATE").is_some() {
        std::fs::write(&path, header()).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == header(),
        "include/fuser.h is not that of src/lib.rs: FUSER_UPDATE=1 cargo test -p fuser-c writes it"
    );
}

/// The shared library, in the folder of the test or a folder above.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let name = format!(
        "{}fuser_c{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let mut folders = here.ancestors().skip(1);
    folders
        .find_map(|folder| Some(folder.join(&name)).filter(|path| path.is_file()))
        .unwrap()
}

/// Compiles a C file with the header; false where there is no compiler.
fn compile(compiler: &str, source: &Path, to: &Path, flags: &[&str]) -> bool {
    let library = library();
    let place = library.parent().unwrap();
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-I"]);
    command
        .arg(folder().join("include"))
        .args(flags)
        .arg(source);
    command.arg("-o").arg(to).arg("-L").arg(place);
    command
        .arg("-lfuser_c")
        .arg(format!("-Wl,-rpath,{}", place.display()));
    match command.output() {
        Err(_) => {
            println!("skipped: `{compiler}` not found; nothing is compiled with the header");
            false
        }
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}");
            true
        }
    }
}

#[test]
fn a_program_in_c_parses_compiles_and_runs() {
    let made = tempfile::tempdir().unwrap();
    let program = made.path().join("call");
    if !compile(
        "cc",
        &folder().join("tests/call.c"),
        &program,
        &["-std=c99"],
    ) {
        return;
    }
    for turn in ["first", "second"] {
        let mut command = Command::new(&program);
        let output = command
            .env("FUSER_CACHE_DIR", made.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{turn}: {told}{errors}");
        assert_eq!(told.lines().last(), Some("ok"), "{errors}");
    }
}

#[test]
fn the_header_is_for_cpp_too() {
    let made = tempfile::tempdir().unwrap();
    let source = made.path().join("x.cpp");
    std::fs::write(
        &source,
        "#include \"fuser.h\"\nint main() { return fuser_interface() == FUSER_INTERFACE ? 0 : 1; }\n",
    )
    .unwrap();
    let program = made.path().join("x");
    if compile("c++", &source, &program, &[]) {
        assert!(Command::new(program).status().unwrap().success());
    }
}
