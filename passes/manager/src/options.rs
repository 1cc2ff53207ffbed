//! The options of one pass in one pipeline: parsed, checked against the table, complete (defaults filled in).

use fuser_ir::diag::{CodeDef, Diagnostic, Place};
use fuser_ir::span::Span;

use crate::codes;
use crate::def::{OptionDef, OptionKind, PassDef};
use fuser_ir::suggest::nearest;

/// A value for each option of a pass, in the order of its table.
#[derive(Clone, Debug)]
pub struct PassOptions {
    pass: &'static PassDef,
    values: Vec<String>,
}

impl PassOptions {
    /// All defaults.
    pub fn defaults(pass: &'static PassDef) -> Self {
        let values = pass.options.iter().map(|o| o.default.to_owned()).collect();
        Self { pass, values }
    }
    /// Parses `key=value key=value flag`. `at` is where `text` stands in source file `file`, for the carets.
    pub fn parse(
        pass: &'static PassDef,
        text: &str,
        file: u32,
        at: usize,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut options = Self::defaults(pass);
        let mut errors = Vec::new();
        for item in items(text) {
            let place = |from: usize, to: usize| Place::Span {
                file,
                span: Span::new((at + from) as u32, (at + to) as u32),
            };
            if let Err(error) = options.set(&item, &place) {
                errors.push(*error);
            }
        }
        if errors.is_empty() {
            Ok(options)
        } else {
            Err(errors)
        }
    }
    /// Sets one option; used for changes from the command line. The message says what is wrong.
    pub fn set_value(&mut self, name: &str, value: &str) -> Result<(), String> {
        let (index, def) = (self.pass.option(name)).ok_or_else(|| unknown(self.pass, name).0)?;
        check(def, Some(value))?;
        self.values[index] = value.to_owned();
        Ok(())
    }
    fn set(
        &mut self,
        item: &Item<'_>,
        place: &dyn Fn(usize, usize) -> Place,
    ) -> Result<(), Box<Diagnostic>> {
        let key_end = item.start + item.key.len();
        let Some((index, def)) = self.pass.option(item.key) else {
            let (message, help) = unknown(self.pass, item.key);
            let error = error(&codes::PASS_OPTION, place(item.start, key_end), message);
            return Err(Box::new(error.help(help)));
        };
        check(def, item.value.as_deref()).map_err(|message| {
            let from = item.start + item.key.len() + usize::from(item.value.is_some());
            let place = place(from.min(item.end), item.end.max(from));
            Box::new(error(&codes::OPTION_VALUE, place, message))
        })?;
        self.values[index] = item.value.clone().unwrap_or_else(|| "true".into());
        Ok(())
    }

    /// The text of option `name`.
    ///
    /// Invariant: passes ask for options of their own table only; anything else is a bug, and an internal error.
    pub fn text(&self, name: &str) -> &str {
        match self.pass.option(name) {
            Some((index, _)) => &self.values[index],
            None => panic!(
                "pass '{}' reads an undeclared option '{name}'",
                self.pass.name
            ),
        }
    }
    /// A `Bool` option.
    pub fn bool(&self, name: &str) -> bool {
        self.text(name) == "true"
    }
    /// An `Int` option.
    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(0)
    }
    /// An `Int` option whose least value is 0 or more.
    pub fn count(&self, name: &str) -> u64 {
        self.int(name).max(0) as u64
    }
    /// A `List` option.
    pub fn list(&self, name: &str) -> Vec<String> {
        let words = self.text(name).split(',').map(str::trim);
        words.filter(|w| !w.is_empty()).map(str::to_owned).collect()
    }
    /// `{key=value key=value}` with every option, or nothing where there are none.
    pub fn print(&self) -> String {
        let pairs = self.pass.options.iter().zip(&self.values);
        let pairs: Vec<String> = pairs
            .map(|(def, value)| format!("{}={}", def.name, quoted(value)))
            .collect();
        match pairs.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", pairs.join(" ")),
        }
    }
}

fn error(code: &'static CodeDef, place: Place, message: String) -> Diagnostic {
    Diagnostic::error(code, place, message)
}

fn unknown(pass: &PassDef, name: &str) -> (String, String) {
    let message = format!("pass '{}' has no option '{name}'", pass.name);
    let names: Vec<&str> = pass.options.iter().map(|o| o.name).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if names.is_empty() => "it takes no options".into(),
        None => format!("its options are {}", names.join(", ")),
    };
    (message, help)
}

fn check(def: &OptionDef, value: Option<&str>) -> Result<(), String> {
    let name = def.name;
    match (def.kind, value) {
        (OptionKind::Bool, None | Some("true" | "false")) => Ok(()),
        (OptionKind::Bool, Some(v)) => {
            Err(format!("option '{name}' is 'true' or 'false', not '{v}'"))
        }
        (_, None) => Err(format!(
            "option '{name}' needs a value, '{name}={}'",
            def.kind.placeholder()
        )),
        (OptionKind::Int { min, max }, Some(v)) => match v.parse::<i64>() {
            Ok(i) if (min..=max).contains(&i) => Ok(()),
            Ok(i) if i < min => Err(format!("option '{name}' is at least {min}, not {i}")),
            Ok(i) => Err(format!("option '{name}' is at most {max}, not {i}")),
            Err(_) => Err(format!("option '{name}' is an integer, not '{v}'")),
        },
        (OptionKind::Choice(words), Some(v)) if !words.contains(&v) => {
            let near = nearest(v, words.iter().copied());
            let near = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
            Err(format!(
                "option '{name}' is one of {}, not '{v}'{near}",
                words.join(", ")
            ))
        }
        (OptionKind::Checked { check, .. }, Some(v)) => {
            check(v).map_err(|e| format!("option '{name}': {e}"))
        }
        _ => Ok(()),
    }
}

fn quoted(value: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '{' | '}' | '"' | '\'');
    if value.chars().all(plain) {
        value.to_owned()
    } else if value.contains('"') {
        format!("'{value}'")
    } else {
        format!("\"{value}\"")
    }
}

/// `key=value`, with byte offsets in the options text.
struct Item<'a> {
    key: &'a str,
    value: Option<String>,
    start: usize,
    end: usize,
}

/// Splits at white space outside of quotes.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let end = item_end(bytes, at);
        items.push(item(text, at, end));
        at = end;
    }
    items
}

fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        match quote {
            Some(q) if q == byte => quote = None,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None if byte.is_ascii_whitespace() => return at,
            None => {}
        }
    }
    bytes.len()
}

fn item(text: &str, start: usize, end: usize) -> Item<'_> {
    let whole = &text[start..end];
    let (key, value) = match whole.split_once('=') {
        Some((key, value)) => (key, Some(unquoted(value).to_owned())),
        None => (whole, None),
    };
    Item {
        key,
        value,
        start,
        end,
    }
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value
            .strip_prefix(quote)
            .and_then(|v| v.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}
