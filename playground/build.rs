//! Gives the module the stack that tools have elsewhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("wasi") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=8388608");
    }
}
