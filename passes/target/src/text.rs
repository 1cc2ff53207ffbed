//! Targets as text and back: a subset of TOML, one `key = value` to a line.
//!
//! ```text
//! name = "mine"
//! base = "h100"              # what is not said below is as there
//! workers = 114
//! bandwidth = "2 TB/s"       # a figure with a unit is a string
//! ```
//!
//! Keys are those of [`FIGURES`], and `name`, `kind`, `processor`, `base`. Without `base` every key is required. A `;`
//! may replace a line end, so that a target can be the value of an option ([`option`]). The output of [`print`] reads
//! back as the same target.
//!
//! Every mistake in a text is reported with its position. Never guesses a unit, never ignores a key.

use std::fmt;
use std::ops::Range;

use crate::{FIGURES, Figure, Kind, Name, Target, Unit, processors};

/// A mistake in the text of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The wrong bytes of the text; an empty range if something is missing.
    pub at: Range<usize>,
    /// The mistake.
    pub what: Wrong,
}

/// The kinds of mistakes, each with its numbers and names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A line without `key = value`.
    Line,
    /// An unknown key.
    Key(String),
    /// A duplicate key.
    Twice(String),
    /// A figure that this kind of target does not have.
    NotOf(&'static str, Kind),
    /// A value that does not have the unit of the key.
    Value(String, String),
    /// An unknown target: its name.
    Target(String),
    /// An unknown processor of a kind.
    Processor(String, Kind),
    /// Missing keys.
    Missing(Vec<&'static str>),
    /// Figures that contradict each other.
    Contradiction(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Wrong::Line => f.write_str("a line is 'key = value'"),
            Wrong::Key(key) => write!(f, "a target has no '{key}'"),
            Wrong::Twice(key) => write!(f, "'{key}' is given twice"),
            Wrong::NotOf(key, kind) => write!(
                f,
                "'{key}' is no figure of a target of kind \"{}\"",
                kind.name()
            ),
            Wrong::Value(key, wanted) => write!(f, "'{key}' is {wanted}"),
            Wrong::Target(name) => write!(f, "unknown target '{name}'"),
            Wrong::Processor(name, _) => write!(f, "unknown processor '{name}'"),
            Wrong::Missing(keys) => write!(f, "a target needs '{}'", keys.join("', '")),
            Wrong::Contradiction(text) => f.write_str(text),
        }
    }
}

/// Keys that are not figures.
const WORDS: [&str; 4] = ["name", "base", "kind", "processor"];

/// Every key.
pub fn keys() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().chain(FIGURES.iter().map(|f| f.key))
}

/// The units of a kind with their factors, the smallest first.
fn units(unit: Unit) -> &'static [(&'static str, u64)] {
    match unit {
        Unit::Count | Unit::Flag => &[],
        Unit::Bytes => &[
            ("B", 1),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
        ],
        Unit::Bandwidth => &[("MB/s", 1), ("GB/s", 1_000), ("TB/s", 1_000_000)],
        Unit::Rate => &[("Mop/s", 1), ("Gop/s", 1_000), ("Top/s", 1_000_000)],
        Unit::Time => &[("ns", 1), ("us", 1_000), ("ms", 1_000_000)],
    }
}

/// The values that `figure` accepts, for messages.
fn wanted(figure: &Figure) -> String {
    match figure.unit {
        Unit::Count => "a whole number".into(),
        Unit::Flag => "true or false".into(),
        unit => {
            let names: Vec<&str> = units(unit).iter().map(|u| u.0).collect();
            format!(
                "a number with its unit, \"12 {}\" ({})",
                names[names.len() / 2],
                names.join(", ")
            )
        }
    }
}

/// A value of `figure` as text.
pub fn value(figure: &Figure, value: u64) -> String {
    match figure.unit {
        Unit::Flag => (value != 0).to_string(),
        Unit::Count => value.to_string(),
        unit => {
            let mut whole = units(unit)
                .iter()
                .rev()
                .filter(|(_, one)| value.is_multiple_of(*one));
            let (name, one) = whole.next().copied().unwrap_or(("", 1));
            format!("\"{} {name}\"", value / one)
        }
    }
}

/// The target as text: a line for each key, with its description.
pub fn print(target: &Target) -> String {
    let lines = pairs(target)
        .into_iter()
        .map(|(key, value, doc)| format!("{:<40} # {doc}\n", format!("{key} = {value}")));
    lines.collect()
}

/// The target as the value of an option: its name, if the name determines it.
pub fn option(target: &Target) -> String {
    if Target::by_name(target.name.as_str()) == Ok(*target) {
        return target.name.to_string();
    }
    let pairs = pairs(target)
        .into_iter()
        .map(|(key, value, _)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join("; ")
}

/// The target given by an option value: a name, or a text.
pub fn read_option(text: &str) -> Result<Target, Vec<Fault>> {
    match text.contains('=') {
        true => read(text),
        false => Target::by_name(text).map_err(|e| {
            vec![Fault {
                at: 0..text.len(),
                what: Wrong::Target(e.name),
            }]
        }),
    }
}

fn pairs(target: &Target) -> Vec<(&'static str, String, &'static str)> {
    let mut pairs = vec![
        (
            "name",
            format!("\"{}\"", target.name),
            "the name in messages",
        ),
        (
            "kind",
            format!("\"{}\"", target.kind.name()),
            "cpu, cuda or hip",
        ),
    ];
    if !processors::of(target.kind).is_empty() {
        pairs.push((
            "processor",
            format!("\"{}\"", target.processor),
            "for which processor code is made",
        ));
    }
    let figures = FIGURES.iter().filter(|f| f.is_of(target.kind));
    pairs.extend(figures.map(|f| (f.key, value(f, (f.get)(target)), f.doc)));
    pairs
}

/// A `key = value` of a text.
struct Pair<'a> {
    key: &'a str,
    /// The value without quotes.
    value: &'a str,
    quoted: bool,
    at: Range<usize>,
    value_at: Range<usize>,
}

/// Reads the text of a target, or reports everything that is wrong with it.
pub fn read(text: &str) -> Result<Target, Vec<Fault>> {
    read_beside(text, None)
}

/// Like [`read`], with `own` as a possible base in addition to those of the table.
pub fn read_beside(text: &str, own: Option<&Target>) -> Result<Target, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut found: Vec<Pair<'_>> = Vec::new();
    for (start, line) in lines(text) {
        match pair(start, line) {
            None => faults.push(Fault {
                at: start..start + line.len(),
                what: Wrong::Line,
            }),
            Some(pair) if !keys().any(|key| key == pair.key) => {
                faults.push(Fault {
                    at: pair.at,
                    what: Wrong::Key(pair.key.into()),
                });
            }
            Some(pair) if found.iter().any(|p| p.key == pair.key) => {
                faults.push(Fault {
                    at: pair.at,
                    what: Wrong::Twice(pair.key.into()),
                });
            }
            Some(pair) => found.push(pair),
        }
    }
    let mut reader = Reader {
        found,
        faults,
        end: text.len(),
    };
    let target = reader.target(own);
    match target.filter(|_| reader.faults.is_empty()) {
        Some(target) => Ok(target),
        None => {
            reader.faults.sort_by_key(|f| f.at.start);
            Err(reader.faults)
        }
    }
}

/// The lines of `text` with their offsets, without comments and surrounding white space. Lines end at line ends and at
/// `;`; empty lines are left out.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let (mut start, mut quote, mut comment) = (0, None, None);
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        match (c, quote) {
            ('\n', _) | (';', None) if c == '\n' || comment.is_none() => {
                let line = &text[start..comment.unwrap_or(at)];
                let lead = line.len() - line.trim_start().len();
                lines.push((start + lead, line.trim()));
                (start, quote, comment) = (at + 1, None, None);
            }
            ('#', None) => comment = comment.or(Some(at)),
            ('"' | '\'', None) if comment.is_none() => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    lines.retain(|(_, line)| !line.is_empty());
    lines
}

fn pair(start: usize, line: &str) -> Option<Pair<'_>> {
    let (key, value) = line.split_once('=')?;
    let value_start = start + line.len() - value.trim_start().len();
    let (key, value) = (key.trim(), value.trim());
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|q| value.strip_prefix(q)?.strip_suffix(q));
    let broken = inner.is_none() && value.starts_with(['"', '\'']);
    (!key.is_empty() && !value.is_empty() && !broken).then_some(Pair {
        key,
        value: inner.unwrap_or(value),
        quoted: inner.is_some(),
        at: start..start + key.len(),
        value_at: value_start..value_start + value.len(),
    })
}

struct Reader<'a> {
    found: Vec<Pair<'a>>,
    faults: Vec<Fault>,
    /// The length of the text.
    end: usize,
}

impl Reader<'_> {
    fn target(&mut self, own: Option<&Target>) -> Option<Target> {
        let base = self.word("base", "a target's name in quotes", |name| {
            let own = own.filter(|own| own.name.as_str() == name);
            let known = own.copied().or_else(|| Target::by_name(name).ok());
            known.ok_or(Some(Wrong::Target(name.into())))
        });
        let based = self.found.iter().any(|p| p.key == "base");
        let named = self.word(
            "name",
            "up to 32 letters, digits and '_.:-' in quotes",
            |n| Name::new(n).ok_or(None),
        );
        let kinds = |word: &str| Kind::ALL.into_iter().find(|k| k.name() == word).ok_or(None);
        let kind = self.word("kind", "\"cpu\", \"cuda\" or \"hip\"", kinds);
        let kind = kind.or(base.map(|b| b.kind));
        let mut target = base.unwrap_or_default();
        let mut missing = Vec::new();
        match named {
            Some(name) => target.name = name,
            None => missing.push("name"),
        }
        match kind {
            Some(kind) if base.is_some_and(|b| b.kind != kind) => {
                let what = Wrong::Value(
                    "kind".into(),
                    format!("\"{}\", as the base's", target.kind.name()),
                );
                self.fault("kind", what);
            }
            Some(kind) => target.kind = kind,
            None if based => {}
            None => missing.push("kind"),
        }
        let of_kind = target.kind;
        let processors = processors::of(of_kind);
        let given = self.found.iter().any(|p| p.key == "processor");
        // Without a kind nothing is known of processors; its own mistake is reported.
        let known = base.is_some() || kind.is_some() || !based;
        match given {
            true if !known => {}
            true if processors.is_empty() => {
                self.fault("processor", Wrong::NotOf("processor", of_kind))
            }
            true => {
                let unknown = |name: &str| Some(Wrong::Processor(name.into(), of_kind));
                let read =
                    |name: &str| processors::known(of_kind, name).ok_or_else(|| unknown(name));
                let named = self.word("processor", "a processor's name in quotes", read);
                target.processor = named.unwrap_or(target.processor);
            }
            false if !based && kind.is_some() && !processors.is_empty() => {
                missing.push("processor")
            }
            false => {}
        }
        for figure in FIGURES {
            let Some(pair) = self.found.iter().find(|p| p.key == figure.key) else {
                match (based, kind) {
                    (false, Some(kind)) if figure.is_of(kind) => missing.push(figure.key),
                    // The default figures are those of a CPU; a figure of another kind is zero.
                    (false, _) => (figure.set)(&mut target, 0),
                    _ => {}
                }
                continue;
            };
            if !figure.is_of(target.kind) {
                self.fault(figure.key, Wrong::NotOf(figure.key, target.kind));
                continue;
            }
            match number(figure, pair) {
                Some(value) => (figure.set)(&mut target, value),
                None => self.fault(figure.key, Wrong::Value(figure.key.into(), wanted(figure))),
            }
        }
        missing.retain(|key| self.found.iter().all(|p| p.key != *key));
        if !missing.is_empty() {
            self.faults.push(Fault {
                at: self.end..self.end,
                what: Wrong::Missing(missing),
            });
        }
        if self.faults.is_empty()
            && let Some(text) = target.contradiction()
        {
            let first = text.split('\'').nth(1).unwrap_or_default().to_owned();
            self.fault(&first, Wrong::Contradiction(text));
        }
        Some(target)
    }
    /// The value of a key that is no figure. The error of `read` is the mistake; without one, the message is `wanted`.
    fn word<T>(
        &mut self,
        key: &str,
        wanted: &str,
        read: impl Fn(&str) -> Result<T, Option<Wrong>>,
    ) -> Option<T> {
        let pair = self.found.iter().find(|p| p.key == key)?;
        let what = match read(pair.value) {
            Ok(value) if pair.quoted => return Some(value),
            Err(Some(wrong)) if pair.quoted => wrong,
            _ => Wrong::Value(key.into(), wanted.into()),
        };
        self.fault(key, what);
        None
    }
    /// Reports a mistake in the value of `key`, or at the end of the text without that key.
    fn fault(&mut self, key: &str, what: Wrong) {
        let pair = self.found.iter().find(|p| p.key == key);
        let at = pair.map_or(self.end..self.end, |p| p.value_at.clone());
        self.faults.push(Fault { at, what });
    }
}

/// The value of a figure in its base unit.
fn number(figure: &Figure, pair: &Pair<'_>) -> Option<u64> {
    match figure.unit {
        Unit::Flag if pair.quoted => None,
        Unit::Flag => match pair.value {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        },
        Unit::Count if pair.quoted => None,
        Unit::Count => scaled(pair.value, 1),
        unit if pair.quoted => {
            let (number, name) = pair.value.trim().rsplit_once(' ')?;
            let (_, one) = units(unit).iter().find(|(n, _)| *n == name)?;
            scaled(number.trim(), *one)
        }
        _ => None,
    }
}

/// `text`, digits with `_` between them and a fraction, times `one`; `None` unless that is a whole number.
fn scaled(text: &str, one: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || text.ends_with('.') || fraction.len() > 12 {
        return None;
    }
    let digits: String = [whole, fraction].concat().replace('_', "");
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    let value = digits.parse::<u64>().ok().filter(|_| plain)?;
    let parts = 10u128.pow(fraction.replace('_', "").len() as u32);
    let value = u128::from(value) * u128::from(one);
    (value % parts == 0)
        .then(|| u64::try_from(value / parts).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TARGETS;

    fn wrongs(text: &str) -> Vec<String> {
        read(text)
            .unwrap_err()
            .iter()
            .map(Fault::to_string)
            .collect()
    }

    #[test]
    fn what_is_printed_reads_back_on_lines_and_as_an_option() {
        for row in TARGETS {
            assert_eq!(read(&print(&row.target)).unwrap(), row.target);
            assert_eq!(read_option(&option(&row.target)).unwrap(), row.target);
            let other = Target {
                workers: 7,
                name: Name::new("other").unwrap(),
                ..row.target
            };
            assert_eq!(read(&print(&other)).unwrap(), other);
            let text = option(&other);
            assert!(!text.contains('\n'));
            assert_eq!(read_option(&text).unwrap(), other);
        }
    }

    #[test]
    fn a_base_gives_what_is_not_said() {
        let text = "name = 'mine' # a comment; with more\nbase = \"h100\"\nworkers=1_14\nbandwidth = \"2.5 TB/s\"";
        let mine = read(text).unwrap();
        let h100 = Target::by_name("h100").unwrap();
        let expected = Target {
            name: Name::new("mine").unwrap(),
            workers: 114,
            bytes_per_us: 2_500_000,
            ..h100
        };
        assert_eq!(mine, expected);
    }

    #[test]
    fn each_mistake_is_told_at_its_place() {
        let text = "name = \"m\"\nbase = \"h100\"\nworker = 3\nlaunch = \"3 MiB\"\nmemory = 5\nworkers = \"4\"\n[x]";
        let faults = read(text).unwrap_err();
        let told: Vec<(&str, String)> = faults
            .iter()
            .map(|f| (&text[f.at.clone()], f.to_string()))
            .collect();
        let unit = |units: &str| format!("is a number with its unit, \"12 {units}");
        let expected = [
            ("worker", "a target has no 'worker'".to_string()),
            (
                "\"3 MiB\"",
                format!("'launch' {}", unit("us\" (ns, us, ms)")),
            ),
            (
                "5",
                format!("'memory' {}", unit("MiB\" (B, KiB, MiB, GiB)")),
            ),
            ("\"4\"", "'workers' is a whole number".into()),
            ("[x]", "a line is 'key = value'".into()),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn keys_that_are_missing_are_told_together() {
        let told = wrongs("name = \"m\"\nkind = \"cpu\"");
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("a target needs 'processor', 'workers', 'memory'"),
            "{told:?}"
        );
        assert!(!told[0].contains("ptx"));
        assert_eq!(wrongs(""), ["a target needs 'name', 'kind'"]);
    }

    #[test]
    fn figures_fit_each_other_and_their_kind() {
        for (text, wrong) in [
            (
                "base='generic'; ptx=70",
                "'ptx' is no figure of a target of kind \"cpu\"",
            ),
            (
                "base='h100'; kind='cpu'",
                "'kind' is \"cuda\", as the base's",
            ),
            (
                "base='h100'; processor='native'",
                "'processor' is no figure of a target of kind \"cuda\"",
            ),
            ("base='generic'; processor='z80'", "unknown processor 'z80'"),
            ("base='h101'", "unknown target 'h101'"),
            ("base='h100'; base='h100'", "'base' is given twice"),
            (
                "base='h100'; tile-memory=\"1 MiB\"",
                "'tile-memory' is \"1 MiB\", more than 'shared-memory-opt-in', which is \"227 KiB\"",
            ),
            (
                "base='h100'; workers=0",
                "'workers' is 0, not from 1 to 1048576",
            ),
            ("base='h100'; workers=1.5", "'workers' is a whole number"),
            (
                "base='h100'; launch=\"0.0001 us\"",
                "'launch' is a number with its unit, \"12 us\" (ns, us, ms)",
            ),
        ] {
            assert_eq!(wrongs(&format!("name='m'; {text}")), [wrong], "{text}");
        }
    }
}
