//! The reader of a command line. It is written by hand because order matters: pass flags run in the given order.
//!
//! `-x` and `--x` are equivalent; values follow as `--x=v` or `--x v`. All mistakes are reported, not only the first
//! one.

use fuser_pass::{Catalog, PassDef};

use super::config::{Action, Config, Requested};
use super::flags::{self, Flag, Takes};
use crate::tool;

/// The name in messages.
const NAME: &str = "fuser-opt";

/// The configuration, or one line for each mistake.
pub fn parse(args: &[String], catalog: &Catalog<'_>) -> Result<Config, Vec<String>> {
    let mut reader = Reader {
        config: Config::default(),
        catalog,
        errors: Vec::new(),
        positional: Vec::new(),
        detached: None,
    };
    let mut rest = args.iter();
    let mut before = None;
    while let Some(arg) = rest.next() {
        if arg == "--" {
            reader.positional.extend(rest.by_ref().cloned());
        } else if arg.len() > 1 && arg.starts_with('-') && reader.positional != ["help"] {
            reader.flag(arg, &mut rest);
        } else {
            reader.positional.push(arg.clone());
            reader.detached(arg, before);
        }
        before = Some(arg);
    }
    reader.finish()
}

/// `-o`, `--color`
fn dashed(name: &str) -> String {
    format!("{}{name}", if name.len() == 1 { "-" } else { "--" })
}

struct Reader<'a> {
    config: Config,
    catalog: &'a Catalog<'a>,
    errors: Vec<String>,
    positional: Vec<String>,
    /// Advice on an argument that may be the value of the preceding flag, which accepts a value only after `=`.
    detached: Option<String>,
}

impl Reader<'_> {
    fn flag(&mut self, arg: &str, rest: &mut std::slice::Iter<'_, String>) {
        let body = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
        let body = body.unwrap_or(arg);
        // `--segment{a=b}` is accepted beside `--segment=a=b`: it is what pipeline text looks like.
        if let Some((name, options)) = braces(body)
            && let Some(pass) = self.catalog.pass(name)
        {
            return self.pass(pass, options);
        }
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        if let Some(flag) = flags::find(name) {
            self.known(flag, name, value, rest);
        } else if let Some(pass) = self.catalog.pass(name) {
            self.pass(pass, value.unwrap_or_default());
        } else if let Some(def) = self.catalog.pipeline(name) {
            self.config.requested.push(Requested::Named(def));
        } else {
            self.unknown(arg, name);
        }
    }
    fn pass(&mut self, pass: &'static PassDef, options: &str) {
        let inner = options.strip_prefix('{').and_then(|o| o.strip_suffix('}'));
        let options = inner.unwrap_or(options).to_owned();
        let request = Requested::Pass(pass.name.to_owned(), options);
        self.config.requested.push(request);
    }
    fn known(
        &mut self,
        flag: &'static Flag,
        name: &str,
        value: Option<&str>,
        rest: &mut std::slice::Iter<'_, String>,
    ) {
        let value = match (flag.takes, value) {
            (Takes::Value(what), None) => {
                match tool::value_behind(&dashed(name), what, rest, |name| self.is_known(name)) {
                    Ok(value) => Some(value),
                    Err(message) => return self.errors.push(message),
                }
            }
            (Takes::Switch, Some(v)) => match tool::flags::switch(v) {
                Some(on) => Some(if on { "true" } else { "false" }),
                None => {
                    let message = format!("{} is 'true' or 'false', not '{v}'", dashed(name));
                    return self.errors.push(message);
                }
            },
            (_, value) => value,
        };
        if let Err(message) = (flag.set)(&mut self.config, value) {
            self.errors.push(format!("{}: {message}", dashed(name)));
        }
    }
    /// Notes an argument that stands behind a flag without a value.
    fn detached(&mut self, arg: &str, before: Option<&String>) {
        let name = before.and_then(|b| b.strip_prefix("--")).unwrap_or("");
        let maybe = flags::find(name).is_some_and(|flag| matches!(flag.takes, Takes::Maybe(_)));
        if maybe || self.catalog.pass(name).is_some() {
            self.detached = Some(format!(
                "; the value of '--{name}' stands behind '=': '--{name}={arg}'"
            ));
        }
    }
    fn is_known(&self, name: &str) -> bool {
        flags::find(name).is_some() || self.catalog.pass(name).is_some()
    }
    fn unknown(&mut self, arg: &str, name: &str) {
        let names = flags::spellings().chain(self.catalog.names());
        self.errors
            .push(tool::flags::unknown(NAME, arg, name, names));
    }
    fn finish(mut self) -> Result<Config, Vec<String>> {
        self.commands();
        if let [input] = self.positional.as_slice() {
            self.config.input = Some(input.clone());
        } else if self.positional.len() > 1 && self.errors.is_empty() {
            let list = self.positional.join(", ");
            let detached = self.detached.take().unwrap_or_default();
            self.errors
                .push(format!("one input file at most, not {list}{detached}"));
        }
        if self.config.pipeline.is_some() && !self.config.requested.is_empty() {
            let message = "--pass-pipeline and pass flags exclude each other: write the passes into the pipeline";
            self.errors.push(message.into());
        }
        let conflict = self.config.wanted.conflict();
        self.errors.extend(conflict.map(str::to_owned));
        if self.config.action.is_none() {
            let idle = self.config.idle().map(str::to_owned);
            self.errors.extend(idle);
        }
        if self.errors.is_empty() {
            Ok(self.config)
        } else {
            Err(self.errors)
        }
    }
    /// `help [PASS]`, `help --FLAG` and `explain CODE`.
    fn commands(&mut self) {
        let words: Vec<&str> = self.positional.iter().map(String::as_str).collect();
        let action = match words.as_slice() {
            ["help"] => Action::Help(false),
            ["help", pass] => Action::HelpPass((*pass).to_owned()),
            ["explain", code] => Action::Explain((*code).to_owned()),
            ["explain"] => Action::Explain(String::new()),
            _ => return,
        };
        self.config.action = Some(action);
        self.positional.clear();
    }
}

/// `segment{a=b}` as name and options.
fn braces(body: &str) -> Option<(&str, &str)> {
    let (name, rest) = body.split_once('{')?;
    Some((name, rest.strip_suffix('}')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Result<Config, Vec<String>> {
        let list: Vec<String> = list.iter().map(|s| (*s).to_owned()).collect();
        let catalog = Catalog {
            passes: fuser_passes::PASSES,
            pipelines: &[],
            anchors: &[],
        };
        parse(&list, &catalog)
    }

    #[test]
    fn both_dashes_and_both_value_forms() {
        for list in [["-o", "x"], ["--o", "x"], ["--output", "x"]] {
            assert_eq!(args(&list).unwrap().output, "x");
        }
        assert_eq!(args(&["-o=x"]).unwrap().output, "x");
        assert!(!args(&["--verify-each=false"]).unwrap().verify_each);
    }
    #[test]
    fn passes_keep_their_order() {
        let config = args(&["--cse", "-dce", "--canonicalize{max-iterations=3}", "f"]).unwrap();
        let names: Vec<String> = config.requested.iter().map(|r| format!("{r:?}")).collect();
        assert_eq!(
            names,
            [
                r#"Pass("cse", "")"#,
                r#"Pass("dce", "")"#,
                r#"Pass("canonicalize", "max-iterations=3")"#
            ]
        );
        assert_eq!(config.input.as_deref(), Some("f"));
    }
    #[test]
    fn mistakes_are_all_told() {
        let errors = args(&["--cs", "--color=red", "-o"]).unwrap_err();
        assert_eq!(
            errors,
            [
                "unknown flag '--cs'; did you mean '--cse'?",
                "--color: 'red' is not one of auto, always, true, never, false",
                "-o needs a value: -o FILE"
            ]
        );
        assert_eq!(
            args(&["--segment-report", "-o", "x"]).unwrap_err(),
            [
                "--segment-report needs a value: --segment-report FILE, and '-o' is a flag; --segment-report=-o gives it as the value"
            ]
        );
        assert_eq!(args(&["-o", "-"]).unwrap().output, "-");
        assert_eq!(
            args(&["a", "b"]).unwrap_err(),
            ["one input file at most, not a, b"]
        );
    }
    #[test]
    fn every_flag_has_a_name_of_its_own() {
        let mut names: Vec<&str> = flags::all()
            .flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()))
            // `--segment-report=FILE` asks for what the pass of that name makes.
            .chain(
                fuser_passes::PASSES
                    .iter()
                    .map(|p| p.name)
                    .filter(|n| *n != "segment-report"),
            )
            .collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
