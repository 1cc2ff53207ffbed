//! Agreement of the program of a segment with a map.
//!
//! An unedited file must agree with the map completely: in its values, inputs and results, kind, and required extents.
//! An edited one must have the same inputs and results.

use fuser_dialects::task;
use fuser_ir::print::print_type;
use fuser_ir::span::Span;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Place, Value};

use super::super::locate::Step;
use super::super::map::{self, Map, Segment};
use super::super::parts::Text;
use super::super::{BAD_PART, extents, number};
use super::Mistakes;
use crate::session::Loaded;

/// The location of the first `word` in a program's text from `start` on, or of the text's start if the word is missing.
fn place(text: &Text, start: usize, word: &str) -> Place {
    let rest = text.text.get(start..).unwrap_or("");
    let ends = |at: usize| {
        let next = rest[at + word.len()..].chars().next();
        !next.is_some_and(|c| c.is_ascii_alphanumeric() || "_$.-".contains(c))
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

/// The numbers, in the original, of the inputs and results of a segment's program, in its order.
pub struct Ends {
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
}

/// Compares the program of segment `number` with its description in the map, whose text is `at`.
pub fn part(
    map: &Map,
    at: &Text,
    number: usize,
    loaded: &Loaded,
    text: &Text,
) -> Result<Ends, Vec<Diagnostic>> {
    let segment = &map.segments[number];
    if map::hash(&text.text) == segment.hash {
        let errors = as_written(map, at, number, loaded);
        if !errors.is_empty() {
            return Err(errors);
        }
    }
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

/// The mistakes of a map about an unedited program.
fn as_written(map: &Map, at: &Text, number: usize, loaded: &Loaded) -> Vec<Diagnostic> {
    let mut wrong = Mistakes::of(at);
    let (ir, segment) = (&loaded.ir, &map.segments[number]);
    let name = &segment.name;
    let mut differs = |field, same: bool, is: String| {
        if !same {
            let message =
                format!("the '{field}' of segment '{name}' is not what its file says: {is}");
            wrong.at(
                &["segments".into(), number.into(), Step::Key(field)],
                message,
            );
        }
    };
    let program = ir.symbol_name(loaded.program).unwrap_or_default();
    differs("program", segment.program == program, format!("@{program}"));
    let of_kind = |op| {
        ir.is(op, &task::SEGMENT)
            .then(|| super::super::cut::kind(ir, op))
    };
    let kind = ir.children(loaded.program).into_iter().find_map(of_kind);
    let kind = kind.unwrap_or_default();
    differs("kind", segment.kind == kind, kind.clone());
    let args = ir.body(loaded.program, 0).map_or(0, |b| ir.args(b).len());
    differs(
        "inputs",
        segment.inputs.len() == args,
        format!("{args} inputs"),
    );
    let outputs = number::returned_numbers(ir, loaded.program);
    differs(
        "outputs",
        segment.outputs == outputs,
        format!("{outputs:?}"),
    );
    let needs = extents::missing(ir, loaded.program);
    let known = |name: &String| map.extents.iter().find(|e| e.name == *name);
    let needs: Vec<i64> = needs.iter().filter_map(known).map(|e| e.index).collect();
    differs("extents", segment.extents == needs, format!("{needs:?}"));
    let values = number::values(ir, loaded.program);
    let count = values.len();
    differs(
        "values",
        segment.values.len() == count,
        format!("{count} values"),
    );
    for (position, (said, &value)) in segment.values.iter().zip(&values).enumerate() {
        let (name, ty) = (super::name(ir, value), print_type(ir, ir.value_type(value)));
        let mut differs = |field, said: &str, is: &str| {
            if said != is {
                let path = [
                    "segments".into(),
                    number.into(),
                    "values".into(),
                    position.into(),
                ];
                let message = format!(
                    "value {position} of segment '{}' is {is}, not {said}",
                    segment.name
                );
                wrong.at(&[&path[..], &[Step::Key(field)]].concat(), message);
            }
        };
        differs("name", &said.name, &name);
        differs("type", &said.ty, &ty);
    }
    wrong.found
}

struct Comparison<'a> {
    segment: &'a Segment,
    loaded: &'a Loaded,
    text: &'a Text,
    /// The offset of the program's header.
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
