//! `fuser-opt`: reads a `.fir` program, runs passes, prints the result. Everything is in `fuser::driver`.
#![forbid(unsafe_code)]

fn main() {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    std::process::exit(fuser::driver::run(&args) as i32);
}
