//! Remarks of passes: the selection of wanted ones, and their formats (text, YAML as LLVM does, JSON Lines).

use fuser_pass::{Remark, RemarkKind, RemarkValue};
use serde_json::{Map, Value, json};

use super::config::{RemarkFormat, Remarks};
use super::source::Sources;

impl Remarks {
    /// True if any flag asks for remarks.
    pub fn wanted(&self) -> bool {
        let filtered = self.filter.is_some() || self.filters.iter().any(Option::is_some);
        self.format.is_some() || self.file.is_some() || filtered
    }
    /// The format: as asked, else text on stderr and YAML in a file.
    pub fn chosen_format(&self) -> RemarkFormat {
        let default = match self.file {
            Some(_) => RemarkFormat::Yaml,
            None => RemarkFormat::Text,
        };
        self.format.unwrap_or(default)
    }
    /// True if the filters admit a remark. Without any filter all remarks pass; a filter for a kind admits only that
    /// kind.
    fn admits(&self, remark: &Remark) -> bool {
        let matches = |r: &regex::Regex| r.is_match(remark.pass) || r.is_match(remark.name);
        let own = &self.filters[remark.kind as usize];
        let none = self.filter.is_none() && self.filters.iter().all(Option::is_none);
        none || self.filter.iter().chain(own).any(matches)
    }
    /// The remarks that are wanted, in order.
    pub fn select<'a>(&self, remarks: &'a [Remark]) -> Vec<&'a Remark> {
        let mut list: Vec<&Remark> = remarks.iter().filter(|r| self.admits(r)).collect();
        if self.only_final {
            let about = |r: &Remark| (r.pass, r.name, r.function.clone(), r.place.clone());
            let all = list.clone();
            let mut index = 0;
            list.retain(|remark| {
                index += 1;
                all[index..]
                    .iter()
                    .all(|later| about(later) != about(remark))
            });
        }
        list
    }
}

/// One remark in a format.
pub fn render(sources: &Sources, remark: &Remark, format: RemarkFormat) -> String {
    match format {
        RemarkFormat::Text => text(sources, remark),
        RemarkFormat::Yaml => yaml(sources, remark),
        RemarkFormat::Json => json_line(sources, remark),
    }
}

/// The message as a diagnostic shows it.
pub fn message(remark: &Remark) -> String {
    let mut text = format!(
        "[{}] {}:{}: {}",
        remark.kind.name(),
        remark.pass,
        remark.name,
        remark.message
    );
    if let Some(reason) = &remark.reason {
        text += &format!("; reason: {reason}");
    }
    if let Some(suggestion) = &remark.suggestion {
        text += &format!("; suggestion: {suggestion}");
    }
    let args: Vec<String> = remark
        .args
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    if !args.is_empty() {
        text += &format!("; {}", args.join(", "));
    }
    text
}

fn text(sources: &Sources, remark: &Remark) -> String {
    let at = match sources.spot(&remark.place) {
        Some(spot) => format!("{}:{}:{}: ", spot.file, spot.line, spot.column),
        None => String::new(),
    };
    format!("{at}remark: {}\n", message(remark))
}

fn yaml(sources: &Sources, remark: &Remark) -> String {
    let kind = match remark.kind {
        RemarkKind::Failed => "Failure",
        kind => kind.name(),
    };
    let mut text = format!("--- !{kind}\nPass:            {}\n", remark.pass);
    text += &format!("Name:            {}\n", remark.name);
    if let Some(spot) = sources.spot(&remark.place) {
        text += &format!(
            "DebugLoc:        {{ File: {}, Line: {}, Column: {} }}\n",
            quoted(&spot.file),
            spot.line,
            spot.column
        );
    }
    if let Some(function) = &remark.function {
        text += &format!("Function:        {}\n", quoted(function));
    }
    text += "Args:\n";
    text += &argument("Remark", &remark.message);
    let reason = remark.reason.iter().map(|r| argument("Reason", r));
    let suggestion = remark.suggestion.iter().map(|s| argument("Suggestion", s));
    text.extend(reason.chain(suggestion));
    text.extend(remark.args.iter().map(|(k, v)| argument(k, &v.to_string())));
    text + "...\n"
}

fn argument(key: &str, value: &str) -> String {
    format!("  - {:<16} {}\n", format!("{key}:"), quoted(value))
}

/// A YAML string in single quotes, on one line.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\n', " "))
}

fn json_line(sources: &Sources, remark: &Remark) -> String {
    let value = |v: &RemarkValue| match v {
        RemarkValue::Int(v) => json!(v),
        RemarkValue::Float(v) => json!(v),
        RemarkValue::Text(v) => json!(v),
    };
    let args: Map<String, Value> = (remark.args.iter())
        .map(|(k, v)| ((*k).to_owned(), value(v)))
        .collect();
    let spot = sources.spot(&remark.place);
    let place = spot.map(|s| json!({"file": s.file, "line": s.line, "col": s.column}));
    let line = json!({
        "v": 1,
        "kind": remark.kind.name(),
        "pass": remark.pass,
        "name": remark.name,
        "function": remark.function,
        "at": place,
        "message": remark.message,
        "reason": remark.reason,
        "suggestion": remark.suggestion,
        "args": args,
    });
    format!("{line}\n")
}
