//! Generates the parser from `src/parse/grammar.lalrpop`.

fn main() {
    println!("cargo:rerun-if-changed=src/parse/grammar.lalrpop");
    if let Err(error) = lalrpop::Configuration::new()
        .emit_rerun_directives(false)
        .use_cargo_dir_conventions()
        .process()
    {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
