//! Completions and manual pages, generated from the tables of flags: `TOOL completions bash|zsh|fish`, `TOOL man`.
//!
//! Each tool lists its flags as rows; `complete` writes them for shells, `page` as a manual page. Passes of `fuser-opt`
//! are flags too, with their options as values. This code refers to no flag by name.

mod complete;
mod page;

use fuser_pass::{OptionKind, PassDef};

use super::{Exit, complain, files, usage};

pub use complete::SHELLS;

/// The value of a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// There is none.
    Nothing,
    /// A required value, after `=` or as the next argument, in the form that help shows.
    Needed(&'static str),
    /// It stands behind `=`, or is left out.
    Optional(&'static str),
}

/// A flag.
#[derive(Clone, Debug)]
pub struct Row {
    /// Spellings without dashes.
    pub names: Vec<&'static str>,
    /// Its value.
    pub value: Value,
    /// Its line of help.
    pub doc: &'static str,
    /// The heading that it stands under.
    pub heading: &'static str,
}

impl Row {
    /// A switch, or a flag with a value if `value` is not empty; the value is optional if it is in brackets.
    pub fn new(names: &[&'static str], value: &'static str, doc: &'static str) -> Self {
        let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
        Self {
            names: names.to_vec(),
            value: match inner {
                Some(inner) => Value::Optional(inner),
                None if value.is_empty() => Value::Nothing,
                None => Value::Needed(value),
            },
            doc,
            heading: "Options",
        }
    }
}

/// A tool.
#[derive(Clone, Debug)]
pub struct Manual {
    /// Its name.
    pub tool: &'static str,
    /// Its arguments: `[flags] FILE`.
    pub usage: &'static str,
    /// Its purpose in a few words.
    pub summary: &'static str,
    /// Its purpose in a paragraph.
    pub about: &'static str,
    /// Its flags.
    pub flags: Vec<Row>,
    /// Passes that are flags.
    pub passes: Vec<&'static PassDef>,
    /// The meaning of its exit statuses.
    pub exit: &'static str,
}

/// The manuals of all tools.
pub fn all() -> [Manual; 4] {
    [
        crate::driver::help::manual(),
        crate::run::args::manual(),
        crate::translate::manual(),
        crate::reduce::args::manual(),
    ]
}

/// Answers `completions SHELL` and `man`; none for another command line.
pub fn answer(tool: &str, args: &[String]) -> Option<Exit> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let manual = || all().into_iter().find(|manual| manual.tool == tool);
    let text = match words.as_slice() {
        ["completions", shell] => complete::script(&manual()?, shell),
        ["completions"] => Err(format!("for which shell? {}", SHELLS.join(", "))),
        ["man"] => Ok(page::page(&manual()?)),
        _ => return None,
    };
    Some(match text.map(|text| files::write("-", &text)) {
        Ok(Ok(())) => Exit::Ok,
        Ok(Err(error)) => complain(tool, &error),
        Err(error) => usage(tool, &[error]),
    })
}

/// The values that a shell can offer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Offers {
    /// Words, those that go on with `=` or `:` included.
    words: Vec<String>,
    /// True if a file or folder may be named.
    files: bool,
}

impl Offers {
    /// The alternatives of a value in the form of the help text: `auto|always|never`, `FILE|json:FILE`, `N`.
    fn of(value: Value) -> Self {
        let (Value::Needed(text) | Value::Optional(text)) = value else {
            return Self::default();
        };
        let mut offers = Self::default();
        for part in text.split('|') {
            let word = part.split_once(':').filter(|(_, rest)| is_file(rest));
            match word {
                _ if is_file(part) => offers.files = true,
                Some((form, _)) => offers.words.push(format!("{form}:")),
                None if is_word(part) => offers.words.push(part.to_owned()),
                None => {}
            }
        }
        offers
    }
    /// Options of a pass, with their values where these are known.
    fn of_pass(pass: &PassDef) -> Self {
        let mut words = Vec::new();
        for option in pass.options {
            match option.kind {
                OptionKind::Bool => {
                    words.extend(["true", "false"].map(|v| format!("{}={v}", option.name)))
                }
                OptionKind::Choice(values) => {
                    words.extend(values.iter().map(|v| format!("{}={v}", option.name)));
                }
                _ => words.push(format!("{}=", option.name)),
            }
        }
        Self {
            words,
            files: false,
        }
    }
}

fn is_file(part: &str) -> bool {
    ["FILE", "DIR"]
        .iter()
        .any(|name| part.trim_start_matches('@').starts_with(name))
}

fn is_word(part: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | ':');
    !part.is_empty() && part.chars().all(plain)
}

/// `-o`, `--output`
fn dashed(name: &str) -> String {
    format!("{}{name}", if name.len() == 1 { "-" } else { "--" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_offered_as_help_shows_them() {
        let offers = |text| Offers::of(Value::Needed(text));
        let words = |text| offers(text).words.join(" ");
        assert_eq!(words("auto|always|never"), "auto always never");
        assert_eq!(words("cpu|h100|cuda:sm_90|..."), "cpu h100 cuda:sm_90");
        assert_eq!(words("all|FILE|json:FILE|%a|%a,%b"), "all json:");
        assert!(offers("all|FILE|json:FILE|%a|%a,%b").files && offers("DIR").files);
        assert_eq!(offers("N"), Offers::default());
        assert_eq!(Offers::of(Value::Nothing), Offers::default());
    }

    #[test]
    fn no_flag_is_offered_twice() {
        for manual in all() {
            let flags = manual.flags.iter().flat_map(|row| row.names.clone());
            let mut names: Vec<&str> = flags
                .chain(manual.passes.iter().map(|pass| pass.name))
                .collect();
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None, "{}", manual.tool);
        }
    }

    #[test]
    fn every_flag_of_every_tool_is_in_all_texts() {
        for manual in all() {
            let page = page::page(&manual);
            for shell in SHELLS {
                let script = complete::script(&manual, shell).unwrap();
                for row in &manual.flags {
                    for name in &row.names {
                        let fish = format!(" -l '{name}'");
                        let (shown, letter) = (dashed(name), format!(" -s '{name}'"));
                        let found = [shown, fish, letter]
                            .iter()
                            .any(|text| script.contains(text));
                        assert!(found, "{} {shell} {name}", manual.tool);
                    }
                }
                for pass in &manual.passes {
                    assert!(script.contains(pass.name), "{shell} {}", pass.name);
                }
            }
            let escaped = |name: &str| dashed(name).replace('-', "\\-");
            for row in &manual.flags {
                assert!(row.names.iter().all(|name| page.contains(&escaped(name))));
            }
        }
        assert!(complete::script(&all()[0], "csh").is_err());
    }
}
