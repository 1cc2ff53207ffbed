//! The flags of `fuser-opt`, as a table: name, MLIR's name for it, value, help, and what it sets.
//!
//! Help and parsing are derived from the table; `args` parses a command line with it.

use std::path::PathBuf;

use fuser_ir::suggest::nearest;
use fuser_pass::RemarkKind;

use super::config::{
    Action, Config, DiagnosticsFormat, Expect, Format, RemarkFormat, SPLIT_MARKER, Selection,
};

mod debugging;
mod input;
mod printing;
mod telling;

/// All flags, in the order of the help.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    let tables = [
        input::FLAGS,
        printing::FLAGS,
        telling::FLAGS,
        debugging::FLAGS,
    ];
    tables.into_iter().flatten()
}

/// The argument that a flag takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Nothing, or `=true`, `=false`.
    Switch,
    /// `=VALUE`, or `VALUE` as the next argument; shown in help under this name.
    Value(&'static str),
    /// `=VALUE` or nothing.
    Maybe(&'static str),
}

/// A heading of `--help`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// Files.
    Input,
    /// Choice of the passes.
    Passes,
    /// Checks of the IR and of results.
    Checks,
    /// Printing of IR.
    Printing,
    /// IR around passes.
    Around,
    /// Diagnostics and reports.
    Diagnostics,
    /// Time, counters, remarks, reports.
    Reports,
    /// Finding bugs of ours.
    Debugging,
    /// Limits.
    Limits,
    /// Help.
    Help,
}

impl Group {
    /// All groups, in the order of the help.
    pub const ALL: [Group; 10] = [
        Group::Input,
        Group::Passes,
        Group::Checks,
        Group::Printing,
        Group::Around,
        Group::Diagnostics,
        Group::Reports,
        Group::Debugging,
        Group::Limits,
        Group::Help,
    ];
    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Input => "Input and output",
            Group::Passes => "What runs",
            Group::Checks => "Checks",
            Group::Printing => "How IR is printed",
            Group::Around => "IR around passes",
            Group::Diagnostics => "Diagnostics",
            Group::Reports => "Timing, statistics, remarks, reports",
            Group::Debugging => "Finding bugs of the compiler",
            Group::Limits => "Limits",
            Group::Help => "Help",
        }
    }
}

/// The value given, and what it sets. The error is one line.
type Set = fn(&mut Config, Option<&str>) -> Result<(), String>;

/// A flag.
pub struct Flag {
    /// Name without dashes.
    pub name: &'static str,
    /// Other spellings: MLIR's, short ones.
    pub aliases: &'static [&'static str],
    /// Value.
    pub takes: Takes,
    /// Heading.
    pub group: Group,
    /// Only in `--help-hidden`.
    pub hidden: bool,
    /// One line.
    pub doc: &'static str,
    /// Applies it.
    pub set: Set,
}

/// The flag of a spelling.
pub fn find(name: &str) -> Option<&'static Flag> {
    all().find(|f| f.name == name || f.aliases.contains(&name))
}

/// All spellings, for "did you mean".
pub fn spellings() -> impl Iterator<Item = &'static str> {
    let shown = all().filter(|f| !f.hidden);
    shown.flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()))
}

const fn flag(
    name: &'static str,
    aliases: &'static [&'static str],
    takes: Takes,
    group: Group,
    doc: &'static str,
    set: Set,
) -> Flag {
    Flag {
        name,
        aliases,
        takes,
        group,
        hidden: false,
        doc,
        set,
    }
}

const fn hidden(mut flag: Flag) -> Flag {
    flag.hidden = true;
    flag
}

fn is_on(value: Option<&str>) -> bool {
    value != Some("false")
}
fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}
fn path(value: Option<&str>) -> Option<PathBuf> {
    value.map(PathBuf::from)
}
fn number<T: std::str::FromStr>(value: Option<&str>) -> Result<T, String> {
    let value = value.unwrap_or_default();
    value
        .parse()
        .map_err(|_| format!("'{value}' is not a number that fits"))
}
fn one_of<T: Copy>(value: Option<&str>, words: &[(&str, T)]) -> Result<T, String> {
    let value = value.unwrap_or_default();
    if let Some((_, found)) = words.iter().find(|(word, _)| *word == value) {
        return Ok(*found);
    }
    let names: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
    let near = nearest(value, names.iter().copied());
    let near = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
    Err(format!(
        "'{value}' is not one of {}{near}",
        names.join(", ")
    ))
}
fn format(value: Option<&str>) -> Result<Format, String> {
    let words = [
        ("", Format::Text),
        ("text", Format::Text),
        ("json", Format::Json),
    ];
    one_of(value, &words)
}
fn regex(value: Option<&str>) -> Result<Option<regex::Regex>, String> {
    let value = value.unwrap_or_default();
    let made = regex::Regex::new(value);
    made.map(Some)
        .map_err(|e| format!("'{value}' is no regular expression: {e}"))
}
fn selection(value: Option<&str>) -> Result<Selection, String> {
    let names = value
        .unwrap_or_default()
        .split(',')
        .map(|n| n.trim().to_owned());
    let names: Vec<String> = names.filter(|n| !n.is_empty()).collect();
    match names.is_empty() {
        true => Err("needs the name of a pass".into()),
        false => Ok(Selection::Names(names)),
    }
}
fn kind_filter(c: &mut Config, kind: RemarkKind, value: Option<&str>) -> Result<(), String> {
    c.remarks.filters[kind as usize] = regex(value)?;
    Ok(())
}
/// For flags that MLIR users type and that change nothing here.
fn accepted(_: &mut Config, _: Option<&str>) -> Result<(), String> {
    Ok(())
}
fn unsupported(_: &mut Config, _: Option<&str>) -> Result<(), String> {
    Err("plugins are not supported: passes and dialects are linked in".into())
}
