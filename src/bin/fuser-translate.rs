//! `fuser-translate`: a program as kernels, LLVM IR, assembly or PTX. Everything is in `fuser::translate`.
#![forbid(unsafe_code)]

fn main() {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    std::process::exit(fuser::translate::run(&args) as i32);
}
