//! Reproducers: a file that holds all that is needed to see an error again. Written when a pass panics or leaves invalid
//! IR, or on request; replayed by `--run-reproducer`.
//!
//! ```text
//! // fuser-reproducer: 1
//! // version: 0.1.0
//! // pipeline: builtin.module(task.program(segment{objective=bytes}))
//! // options: --verify-each=true
//! // error: pass 'segment' panicked: ...
//! // replay: fuser-opt --run-reproducer FILE
//! module { ... }
//! ```
//!
//! The header is comments, so the file is a program like any other.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use fuser_ir::{Diagnostic, Place};
use fuser_pass::Pipeline;

use super::codes;
use super::config::Config;
use crate::tool::files;

/// First line; the number grows when the meaning of the header changes.
const MAGIC: &str = "// fuser-reproducer: 1";

/// The content of a reproducer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reproducer {
    /// Pipeline text.
    pub pipeline: String,
    /// Flags.
    pub options: Vec<String>,
}

/// The text of a reproducer.
pub fn text(pipeline: &Pipeline, config: &Config, error: &str, ir: &str) -> String {
    let error = error.lines().next().unwrap_or_default();
    format!(
        "{MAGIC}\n// version: {}\n// pipeline: {pipeline}\n// options: {}\n// error: {error}\n\
         // replay: fuser-opt --run-reproducer FILE\n{ir}\n",
        env!("CARGO_PKG_VERSION"),
        options(config).join(" "),
    )
}

/// Prefixes of the flags that a reproducer may state: those that passes depend on. A reproducer from elsewhere thus
/// names no files to be written.
const OPTIONS: [&str; 4] = [
    "--verify-each=",
    "--allow-unregistered-dialect",
    "--validate=",
    "--limit-",
];

/// The flags that matter for what passes do.
fn options(config: &Config) -> Vec<String> {
    let limits = config.limits;
    let mut flags = vec![format!("--verify-each={}", config.verify_each)];
    if config.allow_unregistered {
        flags.push("--allow-unregistered-dialect".into());
    }
    if let Some(count) = config.validate {
        flags.push(format!("--validate={count}"));
    }
    flags.push(format!(
        "--limit-rewrite-iterations={}",
        limits.rewrite_iterations
    ));
    flags.push(format!(
        "--limit-rewrites-per-op={}",
        limits.rewrites_per_op
    ));
    flags.push(format!(
        "--limit-segment-evaluations={}",
        limits.segment_evaluations
    ));
    flags
}

/// Reads the header of a reproducer.
pub fn parse(text: &str) -> Result<Reproducer, Box<Diagnostic>> {
    let mut lines = text.lines();
    if lines.next() != Some(MAGIC) {
        let message = format!("the file does not begin with '{MAGIC}'");
        let error = Diagnostic::error(&codes::REPRODUCER, Place::Unknown, message);
        return Err(Box::new(error));
    }
    let mut found = Reproducer::default();
    for line in lines.take_while(|l| l.starts_with("// ")) {
        if let Some(pipeline) = line.strip_prefix("// pipeline: ") {
            found.pipeline = pipeline.to_owned();
        } else if let Some(options) = line.strip_prefix("// options: ") {
            found.options = options.split_whitespace().map(str::to_owned).collect();
        }
    }
    let strange = |option: &&String| !OPTIONS.iter().any(|known| option.starts_with(known));
    match found.options.iter().find(strange) {
        None => Ok(found),
        Some(option) => {
            let message = format!("a reproducer cannot ask for '{option}'");
            let error = Diagnostic::error(&codes::REPRODUCER, Place::Unknown, message);
            Err(Box::new(error.help("say it on the command line")))
        }
    }
}

/// Writes a reproducer to the requested path, or to the temporary folder; returns the path.
pub fn write(config: &Config, text: &str) -> Result<PathBuf, String> {
    let path = match &config.crash_reproducer {
        Some(path) => path.clone(),
        None => std::env::temp_dir().join(format!("fuser-ice-{:016x}.fir", hash(text))),
    };
    files::write(&path.to_string_lossy(), text)?;
    Ok(path)
}

/// The same error gives the same file name.
fn hash(text: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
