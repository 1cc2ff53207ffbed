//! Whether a map agrees with itself, and whether a file still is the segment that the map says it is.
//!
//! Every mistake is reported, in the file in which it has to be mended.

use std::collections::BTreeSet;

use fuser_ir::print::print_type;
use fuser_ir::span::Span;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Place, Value};

use super::map::{self, Map, Segment};
use super::parts::Text;
use super::{BAD_MAP, BAD_PART, number};
use crate::session::Loaded;

/// The place of the first `word` of a text, from `start` on; of its beginning where the word is not there.
pub(super) fn place(text: &Text, start: usize, word: &str) -> Place {
    let start = if word.is_empty() { 0 } else { start };
    let rest = text.text.get(start..).unwrap_or("");
    let ends = |at: usize| {
        let next = rest[at + word.len()..].chars().next();
        word.is_empty() || !next.is_some_and(|c| c.is_ascii_alphanumeric() || "_$.-".contains(c))
    };
    let found = rest
        .match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| ends(at));
    let (at, length) = found.map_or((0, 0), |at| (start + at, word.len()));
    Place::Span {
        file: text.file,
        span: Span::new(at as u32, (at + length) as u32),
    }
}

/// What is wrong with a map.
pub(super) fn map(map: &Map, text: &Text) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut wrong = |word: String, message: String| {
        errors.push(Diagnostic::error(&BAD_MAP, place(text, 0, &word), message));
    };
    let count = map.values.len();
    for (position, value) in map.values.iter().enumerate() {
        if value.index != position {
            let message = format!("value {position} has the number {}", value.index);
            wrong(format!("\"{}\"", value.name), message);
        }
    }
    let mut there: BTreeSet<usize> = map.inputs.iter().copied().collect();
    let mut files = BTreeSet::from([map.original.file.as_str()]);
    for segment in &map.segments {
        let name = format!("\"{}\"", segment.name);
        if !files.insert(&segment.file) || !is_plain(&segment.file) {
            let message = format!(
                "segment '{}' has the file '{}', which is no file name of its own",
                segment.name, segment.file
            );
            wrong(format!("\"{}\"", segment.file), message);
        }
        let reads: Vec<Option<usize>> = segment.reads().collect();
        for (position, value) in reads.iter().enumerate() {
            let ready = value.is_some_and(|v| there.contains(&v) && v < count);
            if !ready || reads[..position].contains(value) {
                let message = match value {
                    Some(v) if *v < count => format!(
                        "segment '{}' reads value {v} ({}), which nobody has written by then, or twice",
                        segment.name, map.values[*v].name
                    ),
                    _ => format!(
                        "input {position} of segment '{}' is no value of the original",
                        segment.name
                    ),
                };
                wrong(name.clone(), message);
            }
        }
        for (position, value) in segment.writes().enumerate() {
            match value.filter(|v| *v < count) {
                Some(value) => {
                    there.insert(value);
                }
                None => wrong(
                    name.clone(),
                    format!(
                        "result {position} of segment '{}' is no value of the original",
                        segment.name
                    ),
                ),
            }
        }
    }
    for (position, output) in map.outputs.iter().enumerate() {
        if !there.contains(output) {
            let message =
                format!("result {position} of the program is value {output}, which nobody writes");
            wrong("\"outputs\"".into(), message);
        }
    }
    errors
}

/// A name within the folder.
fn is_plain(file: &str) -> bool {
    !file.is_empty() && !file.contains(['/', '\\']) && !matches!(file, "." | "..")
}

/// Whether the original is the program that the map was made for.
pub(super) fn original(map: &Map, loaded: &Loaded, text: &Text) -> Vec<Diagnostic> {
    if map::hash(&text.text) != map.original.hash {
        let message = format!(
            "'{}' is not the program that the map was made for",
            text.name
        );
        let error = Diagnostic::error(&BAD_MAP, place(text, 0, ""), message);
        return vec![error.help("write the folder anew with 'fuser-translate --split-segments'")];
    }
    let args = loaded.ir.body(loaded.program, 0);
    let args = args.map_or(0, |b| loaded.ir.args(b).len());
    let outputs = number::returned(&loaded.ir, loaded.program).len();
    if (args, outputs) == (map.inputs.len(), map.outputs.len()) {
        return Vec::new();
    }
    let message = format!(
        "the program has {args} inputs and {outputs} results, the map {} and {}",
        map.inputs.len(),
        map.outputs.len()
    );
    vec![Diagnostic::error(&BAD_MAP, place(text, 0, ""), message)]
}

/// Numbers, in the original, of the inputs and results of a segment's program, in its order.
pub(super) struct Ends {
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
}

/// Compares a segment's program with what the map says of it.
pub(super) fn part(
    map: &Map,
    segment: &Segment,
    loaded: &Loaded,
    text: &Text,
) -> Result<Ends, Vec<Diagnostic>> {
    let part = Comparison {
        segment,
        loaded,
        text,
        header: loaded
            .ir
            .spans
            .get(loaded.program)
            .map_or(0, |s| s.name.start as usize),
    };
    let mut errors = part.extents(map);
    let reads = part.inputs(&mut errors);
    let writes = part.outputs(&mut errors);
    match errors.is_empty() {
        true => Ok(Ends { reads, writes }),
        false => Err(errors),
    }
}

struct Comparison<'a> {
    segment: &'a Segment,
    loaded: &'a Loaded,
    text: &'a Text,
    /// Where the program's header begins.
    header: usize,
}

impl Comparison<'_> {
    fn name(&self, value: Value) -> String {
        let name = self.loaded.ir.value_name(value);
        name.map_or_else(|| "a value without a name".into(), |n| format!("%{n}"))
    }
    fn ty(&self, value: Value) -> String {
        let ir = &self.loaded.ir;
        print_type(ir, ir.value_type(value))
    }
    fn error(&self, word: &str, message: String) -> Diagnostic {
        let place = place(self.text, self.header, word);
        let message = format!("segment '{}': {message}", self.segment.name);
        Diagnostic::error(&BAD_PART, place, message)
    }
    fn extents(&self, map: &Map) -> Vec<Diagnostic> {
        let known = |name: &String| map.extents.iter().any(|e| e.name == *name);
        let names = self.loaded.signature.extents.iter();
        let strange = names.filter(|n| !known(n));
        strange
            .map(|name| {
                let message = format!("the original program has no extent '{name}'");
                self.error(&format!("[{name}]"), message)
            })
            .collect()
    }
    fn inputs(&self, errors: &mut Vec<Diagnostic>) -> Vec<usize> {
        let Segment { values, inputs, .. } = self.segment;
        let wanted: Vec<_> = inputs.iter().filter_map(|&v| values.get(v)).collect();
        let body = self.loaded.ir.body(self.loaded.program, 0);
        let args = body.map_or(&[][..], |b| self.loaded.ir.args(b));
        let mut reads = Vec::with_capacity(args.len());
        for &arg in args {
            let (name, ty) = (self.name(arg), self.ty(arg));
            let Some(known) = wanted.iter().find(|w| w.name == name) else {
                let error = self.error(&name, format!("the map knows no input {name}"));
                let near = nearest(&name, wanted.iter().map(|w| w.name.as_str()));
                errors.push(match near {
                    Some(near) => error.help(format!("did you mean '{near}'?")),
                    None => error.help(format!(
                        "its inputs are {}",
                        list(wanted.iter().map(|w| &w.name))
                    )),
                });
                continue;
            };
            if known.ty != ty {
                let message = format!("input {name} is a `{ty}`, the map says `{}`", known.ty);
                errors.push(self.error(&name, message));
            }
            reads.extend(known.original);
        }
        reads
    }
    fn outputs(&self, errors: &mut Vec<Diagnostic>) -> Vec<usize> {
        let Segment {
            values, outputs, ..
        } = self.segment;
        let wanted: Vec<_> = outputs.iter().filter_map(|&v| values.get(v)).collect();
        let returned = number::returned(&self.loaded.ir, self.loaded.program);
        if returned.len() != wanted.len() {
            let names = list(wanted.iter().map(|w| &w.name));
            let message = format!(
                "it gives {} results, the map says {}: {names}",
                returned.len(),
                wanted.len()
            );
            errors.push(self.error("task.return", message));
            return Vec::new();
        }
        let names: Vec<String> = returned.iter().map(|&v| self.name(v)).collect();
        for (position, (&value, wanted)) in returned.iter().zip(&wanted).enumerate() {
            let (name, ty) = (&names[position], self.ty(value));
            let elsewhere = names.iter().position(|n| *n == wanted.name);
            if ty != wanted.ty {
                let message = format!(
                    "result {position} is {name}, a `{ty}`; the map says {}, a `{}`",
                    wanted.name, wanted.ty
                );
                errors.push(self.error("task.return", message));
            } else if *name != wanted.name && elsewhere.is_some() {
                let message = format!("result {position} is {name}, the map says {}", wanted.name);
                let error = self.error("task.return", message);
                errors.push(error.help("results stay in their order"));
            }
        }
        self.segment.writes().flatten().collect()
    }
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}
