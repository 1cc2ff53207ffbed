//! The reader of a test file: the commands that it runs, and its conditions.
//!
//! A keyword counts wherever it stands in a line, so that each file can hide it in a comment of its own language. A `RUN:` line that
//! ends in `\` goes on in the next one. Of stock lit's language only what every version of it and this runner agree on is taken:
//! `DEFINE:`, `REDEFINE:`, `ALLOW_RETRIES:`, `%if`, `%T` and `%{...}` are errors.

use std::path::Path;

use crate::condition;
use crate::features::Features;

const REFUSED_KEYWORDS: [&str; 3] = ["DEFINE:", "REDEFINE:", "ALLOW_RETRIES:"];
const REFUSED_SUBSTITUTIONS: [&str; 3] = ["if", "T", "{"];

/// A test as its file states it.
#[derive(Default)]
pub struct Script {
    pub commands: Vec<Command>,
    requires: Vec<String>,
    unsupported: Vec<String>,
    expected_failures: Vec<String>,
}

/// One command, with the line that it starts on.
pub struct Command {
    pub line: usize,
    pub text: String,
}

/// The values of `%s`, `%S` (also `%p`) and `%t`.
pub struct Substitutions<'a> {
    pub source: &'a Path,
    pub directory: &'a Path,
    pub temporary: &'a Path,
}

impl Script {
    /// Reads `text`, or says what in it this runner does not run.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        let mut open = false;
        for (line, number) in text.lines().zip(1..) {
            if let Some(keyword) = REFUSED_KEYWORDS.iter().find(|k| value(line, k).is_some()) {
                return Err(format!(
                    "line {number}: `{keyword}` is not part of the shared language"
                ));
            }
            if let Some(run) = value(line, "RUN:") {
                open = script.add_run(run, number, open);
            }
            script.add_conditions(line);
        }
        match (open, script.commands.is_empty()) {
            (true, _) => Err("the last `RUN:` line ends in `\\`".to_owned()),
            (_, true) => Err("no `RUN:` line".to_owned()),
            _ => Ok(script),
        }
    }

    /// Adds one `RUN:` line; true when it goes on in the next.
    fn add_run(&mut self, run: &str, line: usize, continues: bool) -> bool {
        let open = run.ends_with('\\');
        let part = run.strip_suffix('\\').unwrap_or(run).trim();
        match self.commands.last_mut().filter(|_| continues) {
            Some(command) => {
                command.text.push(' ');
                command.text.push_str(part);
            }
            None => self.commands.push(Command {
                line,
                text: part.to_owned(),
            }),
        }
        open
    }

    fn add_conditions(&mut self, line: &str) {
        let lists = [
            ("REQUIRES:", &mut self.requires),
            ("UNSUPPORTED:", &mut self.unsupported),
            ("XFAIL:", &mut self.expected_failures),
        ];
        for (keyword, list) in lists {
            let found = value(line, keyword).into_iter();
            list.extend(found.flat_map(|v| v.split(',').map(|part| part.trim().to_owned())));
        }
    }

    /// The reason that the test cannot run here, if it cannot.
    pub fn unsupported_reason(&self, features: &Features) -> Result<Option<String>, String> {
        for condition in &self.requires {
            if !condition::evaluate(condition, features)? {
                return Ok(Some(format!("requires {condition}")));
            }
        }
        for condition in &self.unsupported {
            if condition::evaluate(condition, features)? {
                return Ok(Some(format!("unsupported with {condition}")));
            }
        }
        Ok(None)
    }

    /// True if the test is expected to fail here.
    pub fn expects_failure(&self, features: &Features) -> Result<bool, String> {
        for condition in &self.expected_failures {
            if condition == "*" || condition::evaluate(condition, features)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The text after `keyword` in `line`. A keyword is a word: `CHECK-RUN:` is not a `RUN:`.
fn value<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let at = line.find(keyword)?;
    let (before, found) = line.split_at(at);
    let is_word = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_word.then(|| found[keyword.len()..].trim())
}

impl Substitutions<'_> {
    /// Replaces each `%` form of `command`, from left to right. A `%` that begins no form stays.
    pub fn apply(&self, command: &str) -> Result<String, String> {
        let mut pieces = command.split('%');
        let mut result = pieces.next().unwrap_or_default().to_owned();
        while let Some(piece) = pieces.next() {
            if let Some(refused) = REFUSED_SUBSTITUTIONS
                .iter()
                .find(|r| piece.starts_with(**r))
            {
                return Err(format!("`%{refused}` is not part of the shared language"));
            }
            if piece.is_empty() {
                // `%%` is one percent sign; the piece behind it begins no form.
                result.push('%');
                result.push_str(pieces.next().unwrap_or_default());
                continue;
            }
            match self.path(piece) {
                Some(path) => result.push_str(&format!("{}{}", path.display(), &piece[1..])),
                None => result.push_str(&format!("%{piece}")),
            }
        }
        Ok(result)
    }

    fn path(&self, piece: &str) -> Option<&Path> {
        match piece.chars().next()? {
            's' => Some(self.source),
            'S' | 'p' => Some(self.directory),
            't' => Some(self.temporary),
            _ => None,
        }
    }
}
