//! The build script gives the library the name under which CUDA's driver is looked for (`libcuda.so`), so that a process which has
//! loaded it by its path finds it where it looks for the driver.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
    }
}
