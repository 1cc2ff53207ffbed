//! Generates the parsers from the grammars of the formats.

fn main() {
    println!("cargo:rerun-if-changed=src");
    if let Err(error) = lalrpop::Configuration::new()
        .emit_rerun_directives(false)
        .use_cargo_dir_conventions()
        .process()
    {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
