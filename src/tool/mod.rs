//! The parts that all tools share: reading and writing files, making a module of a text, reporting mistakes, exit
//! statuses.
//!
//! `files` reads and writes, `explain` puts together what passes leave, `load` makes modules, `foreign` knows texts of other systems, `flags`
//! what is said wrong, `target` finds the target, `cache` keeps kernels, `color` knows terminals, `manual` writes completions and manual pages, `gpu` is the simulated GPU; this file reports mistakes and holds the
//! exit statuses. Results go to stdout, everything else to stderr.

pub mod cache;
pub mod color;
pub mod explain;
pub mod files;
pub mod flags;
pub mod foreign;
pub mod gpu;
mod limits;
pub mod load;
pub mod manual;
mod progress;
pub mod target;

pub use progress::Progress;

use std::process::ExitCode;

use fuser_ir::render::{RenderOptions, render};
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics};

/// The stack that the work may need: what a process mostly has.
const STACK_BYTES: usize = 8 << 20;

/// Runs `tool` on the arguments of the process; on a thread with a stack of its own, where the process has a small one.
pub fn main(tool: &'static str, work: fn(&[String]) -> Exit) -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
    limits::large_files_are_errors();
    if limits::stack().is_some_and(|bytes| bytes >= STACK_BYTES as u64) {
        return ExitCode::from(run(tool, &args, work) as u8);
    }
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let exit = match thread.spawn(move || run(tool, &args, work)) {
        Ok(work) => work.join().unwrap_or(Exit::Internal),
        Err(error) => complain(tool, &format!("cannot start a thread: {error}")),
    };
    ExitCode::from(exit as u8)
}

/// Runs `tool` on arguments, where they do not ask for its manual.
pub fn run(tool: &str, args: &[String], work: fn(&[String]) -> Exit) -> Exit {
    manual::answer(tool, args).unwrap_or_else(|| work(args))
}

/// The exit status of a run, worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// The program or an input is wrong, cannot be compiled, or a check failed.
    Diagnostics = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A bug of ours.
    Internal = 3,
    /// Every performed check passed, but less than half of an output could be checked.
    NotChecked = 4,
}

/// Tells mistakes of the command line of `tool`.
pub fn usage(tool: &str, errors: &[String]) -> Exit {
    for error in errors {
        complain(tool, error);
    }
    files::say(&format!("{tool}: '{tool} --help' lists all flags\n"));
    Exit::Usage
}

/// The value of `flag`: the next argument in `rest`, unless that argument is itself a flag. `what` describes the value;
/// `is_flag` recognizes names without dashes.
pub fn value_behind<'a>(
    flag: &str,
    what: &str,
    rest: &mut std::slice::Iter<'a, String>,
    is_flag: impl Fn(&str) -> bool,
) -> Result<&'a str, String> {
    let body = |arg: &'a str| arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
    let name = |arg: &'a str| body(arg)?.split(['=', '{']).next();
    let next = rest.as_slice().first().map(String::as_str);
    match next {
        Some(value) if !name(value).is_some_and(is_flag) => {
            rest.next();
            Ok(value)
        }
        Some(taken) => Err(format!(
            "{flag} needs a value: {flag} {what}, and '{taken}' is a flag; {flag}={taken} gives it as the value"
        )),
        None => Err(format!("{flag} needs a value: {flag} {what}")),
    }
}

/// Reads `NAME=LENGTH,...` into `lengths`; `what` is the word for the value in messages, since not every value is a
/// length.
pub fn lengths<N>(
    lengths: &mut std::collections::BTreeMap<String, N>,
    value: &str,
    what: &str,
) -> Result<(), String>
where
    N: std::str::FromStr + PartialEq + Copy + std::fmt::Display,
{
    for item in value.split(',').filter(|item| !item.is_empty()) {
        let pair = item.split_once('=');
        let pair = pair.and_then(|(name, length)| Some((name.trim(), length.trim().parse().ok()?)));
        let (name, length) =
            pair.ok_or_else(|| format!("'{item}' is not of the form NAME={what}"))?;
        match lengths.insert(name.to_string(), length) {
            Some(other) if other != length => {
                return Err(format!("'{name}' is given as {other} and as {length}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Tells what is wrong with the text of `--passes`, if anything is.
pub fn wrong_passes(passes: Option<&str>) -> Option<Exit> {
    let (passes, flag) = (passes?, "--passes=");
    let mut sources = SourceMap::default();
    let file = sources.add("<command line>", format!("{flag}{passes}"));
    let errors = crate::compile::passes_faults(passes, file, flag.len());
    (!errors.is_empty()).then(|| {
        tell(&sources, errors);
        Exit::Usage
    })
}

/// Tells that something outside of the program does not work: a file, mostly.
pub fn complain(tool: &str, error: &str) -> Exit {
    files::say(&format!("{tool}: error: {error}\n"));
    Exit::Diagnostics
}

/// Does the work. A panic is a bug of ours and says so; nothing has been written by then.
pub fn guarded(work: impl FnOnce() -> Exit) -> Exit {
    let work = std::panic::AssertUnwindSafe(work);
    std::panic::catch_unwind(work).unwrap_or_else(|_| {
        let code = crate::INTERNAL.code;
        files::say(&format!(
            "error: [{code}] internal error: this is a bug in Fuser; nothing was written\n"
        ));
        Exit::Internal
    })
}

/// Tells diagnostics as text; the exit code that they mean.
pub fn tell(sources: &SourceMap, list: Vec<Diagnostic>) -> Exit {
    let options = RenderOptions {
        color: color::on_stderr(),
        ..RenderOptions::default()
    };
    let list = Diagnostics { items: list };
    files::say(&shown(&list, sources, options));
    let internal = |d: &Diagnostic| d.code == crate::INTERNAL.code;
    match list.has_errors() {
        true if list.items.iter().any(internal) => Exit::Internal,
        true => Exit::Diagnostics,
        false => Exit::Ok,
    }
}

/// Diagnostics as text. A diagnostic without a place in the program prints without one.
pub fn shown(list: &Diagnostics, sources: &SourceMap, options: RenderOptions) -> String {
    render(list, sources, options).replace("<unknown>: ", "")
}
