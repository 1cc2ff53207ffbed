//! Files written by passes: the requested ones, and one text combining all files about a module.
//!
//! `--explain` of `fuser-opt` and `fuser-run` is implemented here.

use fuser_pass::Instrument;
use fuser_pass::context::EmittedFile;
use fuser_passes::{
    EXPLAIN_EARLIER, EXPLAIN_ENTRIES, EXPLAIN_LATER, EXPLAIN_LATER_JSON, EXPLAIN_LATER_LIST,
    ExplainEntry,
};

use super::{color, files};

/// The values of `--explain`.
pub const VALUE: &str = "all|FILE|json:FILE|%a|%a,%b";
/// Its line of help.
pub const DOC: &str = "why segments are what they are, the most bytes lost first, in 40 lines; all of it, to stderr or FILE ('-': stdout), which has a dot or a slash in its name; as data; where one value is; why two values are in different segments";

/// The path of an answer where no file is named.
pub const STDERR: &str = "/dev/stderr";

/// The kind of an answer in at most [`MOST_LINES`] lines.
pub const BRIEF: &str = "explain-brief";

/// The maximum lines of an explanation on a terminal: about one screen.
const MOST_LINES: usize = 40;

/// The kinds whose content is JSON.
const JSON_KINDS: [&str; 2] = ["segment-report", "explain-json"];

/// A question of `--explain`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The kind of file that answers it.
    pub kind: &'static str,
    /// The path of the answer.
    pub path: String,
    /// The two values that it is about, `%a,%b`, one of them twice; none for all.
    pub pair: Option<String>,
}

impl Question {
    /// Parses nothing, `all`, `FILE`, `json:FILE`, `%a` or `%a,%b`. A question about values contains a `%` or a comma; a
    /// path contains a dot or a slash.
    pub fn parse(value: &str) -> Result<Self, String> {
        let about = |kind, path: &str, pair: Option<String>| Self {
            kind,
            path: path.to_owned(),
            pair,
        };
        match value {
            "" => return Ok(about(BRIEF, STDERR, None)),
            "all" => return Ok(about("explain", STDERR, None)),
            _ => {}
        }
        if let Some(path) = value.strip_prefix("json:") {
            return Ok(about("explain-json", path, None));
        }
        if value.starts_with('%') || (value.contains(',') && !value.contains('/')) {
            let names = value
                .split(',')
                .map(|name| name.trim().trim_start_matches('%'));
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            let (a, b) = match names.as_slice() {
                [a] if !value.contains(',') => (a, a),
                [a, b] if ![a, b].iter().any(|name| name.starts_with('@')) => (a, b),
                [..] if value.contains('@') => {
                    return Err(format!(
                        "'{value}' names segments: '%a,%b' are values, one of each segment"
                    ));
                }
                _ => return Err(format!("'{value}' is not of the form %a or %a,%b")),
            };
            return Ok(about("explain-pair", STDERR, Some(format!("%{a},%{b}"))));
        }
        if value.starts_with('@') {
            return Err(format!(
                "'{value}' is a segment: '%a' asks about one of its values, and 'all' has each segment"
            ));
        }
        match value == "-" || value.contains(['.', '/']) {
            true => Ok(about("explain", value, None)),
            false => Err(format!(
                "'{value}' is neither 'all' nor a value nor a file: '%{value}' asks about a value, '%a,%b' why two are apart, \
                 './{value}' is a file"
            )),
        }
    }
}

/// Tells passes which files are wanted.
pub struct Files {
    /// Kinds.
    pub kinds: Vec<&'static str>,
}

impl Instrument for Files {
    fn wants_file(&self, kind: &str) -> bool {
        self.kinds.contains(&kind) || (kind == "explain" && self.kinds.contains(&BRIEF))
    }
}

/// The content of this kind: the last file about each program. An explanation in words is preceded by the decisions of
/// earlier passes and followed by the changes of later ones. With several programs it is an array.
pub fn content(files: &[EmittedFile], kind: &str) -> String {
    if kind == BRIEF {
        return brief(files);
    }
    let last = last(files, kind);
    match last.as_slice() {
        [] => String::new(),
        [one] => with_later(files, one),
        several if JSON_KINDS.contains(&kind) => {
            let texts: Vec<String> = several.iter().map(|f| with_later(files, f)).collect();
            let texts: Vec<&str> = texts.iter().map(|t| t.trim_end()).collect();
            format!("[{}]\n", texts.join(",\n"))
        }
        several => several.iter().map(|f| f.content.as_str()).collect(),
    }
}

/// Writes an answer; to a terminal in color.
pub fn write(path: &str, answer: &str) -> Result<(), String> {
    match path {
        STDERR if color::on_stderr() => files::write(path, &color::painted(answer)),
        path => files::write(path, answer),
    }
}

/// The files that [`content`] is made of.
fn last<'a>(files: &'a [EmittedFile], kind: &str) -> Vec<&'a EmittedFile> {
    let mut last: Vec<&EmittedFile> = Vec::new();
    let explains = matches!(kind, "explain" | "explain-pair");
    for file in files {
        if kind == "explain" && file.kind == EXPLAIN_EARLIER {
            last.push(file);
        } else if file.kind == kind {
            let earlier = |known: &&EmittedFile| known.kind == EXPLAIN_EARLIER;
            last.retain(|known| earlier(known) || known.function != file.function);
            last.push(file);
        } else if explains
            && file.kind == EXPLAIN_LATER
            && last.iter().any(|known| known.function == file.function)
        {
            last.push(file);
        }
    }
    last
}

/// An explanation of at most [`MOST_LINES`] lines: the whole if it fits, else the entries that lose the most bytes.
fn brief(files: &[EmittedFile]) -> String {
    let whole = content(files, "explain");
    if whole.lines().count() <= MOST_LINES {
        return whole;
    }
    let groups = groups(files);
    let entries = groups.iter().enumerate();
    let entries = entries.flat_map(|(group, own)| own.entries.iter().map(move |e| (group, e)));
    let mut entries: Vec<(usize, &ExplainEntry)> = entries.collect();
    entries.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.lost));
    // One line is for the count of those that are left out.
    let (mut room, mut shown) = (MOST_LINES - 1, Vec::new());
    for &(group, entry) in &entries {
        let first = shown.iter().all(|(known, _)| *known != group);
        let head = if first {
            groups[group].head.as_str()
        } else {
            ""
        };
        let lines = head.lines().chain(entry.text.lines()).count();
        if lines > room {
            break;
        }
        room -= lines;
        shown.push((group, entry));
    }
    let left = &entries[shown.len()..];
    let lost = left
        .iter()
        .fold(0u64, |sum, (_, entry)| sum.saturating_add(entry.lost));
    let mut text = String::new();
    for (group, own) in groups.iter().enumerate() {
        let mut own_shown = shown.iter().filter(|(of, _)| *of == group).peekable();
        if own_shown.peek().is_some() {
            text += &own.head;
        }
        text.extend(own_shown.map(|(_, entry)| entry.text.as_str()));
    }
    let count = left.len();
    format!("{text}{count} more, which lose {lost} bytes: --explain=all shows all in run order\n")
}

/// The explanation of one program.
#[derive(Default)]
struct Group {
    function: Option<String>,
    /// The facts that all rests on, and what it comes to.
    head: String,
    entries: Vec<ExplainEntry>,
}

/// The explanations of all programs. Decisions of earlier passes are part of the explanation of their program.
fn groups(files: &[EmittedFile]) -> Vec<Group> {
    let last = last(files, "explain");
    let mut groups: Vec<Group> = Vec::new();
    for file in &last {
        let known = groups.iter().position(|g| g.function == file.function);
        let at = known.unwrap_or_else(|| {
            groups.push(Group {
                function: file.function.clone(),
                ..Group::default()
            });
            groups.len() - 1
        });
        let same = |f: &&EmittedFile| f.kind == EXPLAIN_ENTRIES && f.function == file.function;
        let listed = files.iter().rfind(same).filter(|_| file.kind == "explain");
        let listed = listed.and_then(|f| serde_json::from_str(&f.content).ok());
        let mut entries: Vec<ExplainEntry> = listed.unwrap_or_else(|| {
            let lines = file.content.lines();
            let lines = lines.map(|line| ExplainEntry {
                lost: 0,
                text: format!("{line}\n"),
            });
            lines.collect()
        });
        // The first line on what a later pass changed is about all of it, too.
        if file.kind != EXPLAIN_EARLIER && !entries.is_empty() {
            groups[at].head += &entries.remove(0).text;
        }
        groups[at].entries.extend(entries);
    }
    if groups.len() > 1 {
        for group in &mut groups {
            let name = group.function.as_deref().unwrap_or_default();
            group.head = format!("@{name} {}", group.head);
        }
    }
    groups
}

/// A file's content; an explanation as data with what passes after it changed.
fn with_later(files: &[EmittedFile], file: &EmittedFile) -> String {
    let after = files.iter().skip_while(|f| !std::ptr::eq(*f, file));
    let later = after.filter(|f| f.kind == EXPLAIN_LATER_JSON && f.function == file.function);
    let later: Vec<&str> = later.map(|f| f.content.as_str()).collect();
    let place = file.content.rfind(EXPLAIN_LATER_LIST);
    match place.filter(|_| file.kind == "explain-json" && !later.is_empty()) {
        None => file.content.clone(),
        Some(at) => {
            let (before, list) = file.content.split_at(at);
            let rest = list.strip_prefix(EXPLAIN_LATER_LIST).unwrap_or_default();
            let later = later.join(",\n    ");
            format!("{before}\"later\": [\n    {later}\n  ]{rest}")
        }
    }
}
