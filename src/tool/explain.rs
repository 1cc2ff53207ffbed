//! Files that passes leave: those that are asked for, and one text of all that were left about a module.
//!
//! `fuser-opt` and `fuser-run` have `--explain` from here.

use fuser_pass::Instrument;
use fuser_pass::context::EmittedFile;
use fuser_passes::{EXPLAIN_EARLIER, EXPLAIN_LATER, EXPLAIN_LATER_JSON, EXPLAIN_LATER_LIST};

/// The path of an answer where no file is named.
pub const STDERR: &str = "/dev/stderr";

/// The kinds whose content is JSON.
const JSON_KINDS: [&str; 2] = ["segment-report", "explain-json"];

/// A question of `--explain`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The kind of file that answers it.
    pub kind: &'static str,
    /// The path of the answer.
    pub path: String,
    /// The two values that it is about, `%a,%b`; none for all.
    pub pair: Option<String>,
}

impl Question {
    /// Reads `FILE`, `json:FILE` or `%a,%b`. A question about values has a `%` or a comma; the path of a file a dot or a slash.
    pub fn parse(value: &str) -> Result<Self, String> {
        let about = |kind, path: &str, pair: Option<String>| Self {
            kind,
            path: path.to_owned(),
            pair,
        };
        if let Some(path) = value.strip_prefix("json:") {
            return Ok(about("explain-json", path, None));
        }
        if value.starts_with('%') || (value.contains(',') && !value.contains('/')) {
            let names = value
                .split(',')
                .map(|name| name.trim().trim_start_matches('%'));
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            let [a, b] = names.as_slice() else {
                return Err(format!("'{value}' is not of the form %a,%b"));
            };
            return Ok(about("explain-pair", STDERR, Some(format!("%{a},%{b}"))));
        }
        match value == "-" || value.contains(['.', '/']) {
            true => Ok(about("explain", value, None)),
            false => Err(format!(
                "'{value}' is neither two values nor a file: '%a,%b' asks why two values are apart, './{value}' is a file"
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
        self.kinds.contains(&kind)
    }
}

/// The content of this kind: the last about each program, before an explanation in words the decisions of earlier passes and
/// behind it the changes that later passes made; an array if there are several programs.
pub fn content(files: &[EmittedFile], kind: &str) -> String {
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
