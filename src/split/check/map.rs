//! Self-consistency of a map.
//!
//! Values have their positions as numbers and names of their own; segments read values that exist by then and write
//! values that do not; inputs and results of a segment have the names and types of the values that they are. When
//! nothing else is wrong, the fields that can be computed from the rest (writers, last users, occurrences, frees)
//! must have the computed value; the hash comes last, and finds the changes that no other check does.

use std::collections::{BTreeMap, BTreeSet};

use super::super::MAP;
use super::super::locate::Step;
use super::super::map::{Map, Segment};
use super::super::parts::Text;
use super::{Mistakes, same_but_layout};
use crate::tool::files::is_plain;
use fuser_ir::Diagnostic;

/// The mistakes of a map in all but its derived fields and its hash.
pub fn map(map: &Map, text: &Text) -> Vec<Diagnostic> {
    let mut wrong = Mistakes::of(text);
    values(map, &mut wrong);
    files(map, &mut wrong);
    crossing(map, &mut wrong);
    let alone = map.segments.len() == 1;
    for (number, segment) in map.segments.iter().enumerate() {
        inner(map, number, segment, alone, &mut wrong);
    }
    wrong.found
}

/// The mistakes in the derived fields and the hash of a map that is right in all else.
pub fn rest(map: &Map, text: &Text) -> Vec<Diagnostic> {
    let mut wrong = Mistakes::of(text);
    derived(map, &mut wrong);
    let found = map.checksum();
    if map.hash != found && wrong.found.is_empty() {
        let message = format!(
            "the map is not as it was written: its hash is {found}, not '{}'",
            map.hash
        );
        wrong.at(&["hash".into()], message);
    }
    let help = "write the folder anew with 'fuser-translate --split-segments'";
    wrong.found.into_iter().map(|d| d.help(help)).collect()
}

fn values(map: &Map, wrong: &mut Mistakes<'_>) {
    let mut names = BTreeMap::new();
    for (position, value) in map.values.iter().enumerate() {
        let at = |field| [Step::Key("values"), position.into(), Step::Key(field)];
        if value.index != position {
            let message = format!("value {position} has the number {}", value.index);
            wrong.at(&at("index"), message);
        }
        if let Some(first) = names.insert(&value.name, position) {
            let message = format!(
                "values {first} and {position} are both called {}",
                value.name
            );
            wrong.at(&at("name"), message);
        }
        if value.original && position > 0 && !map.values[position - 1].original {
            let message =
                format!("value {position} of the original is behind one that passes made");
            wrong.at(&at("original"), message);
        }
    }
    for (position, extent) in map.extents.iter().enumerate() {
        let number = -(position as i64) - 1;
        if extent.index != number {
            let message = format!("extent {number} has the number {}", extent.index);
            wrong.at(
                &["extents".into(), position.into(), "index".into()],
                message,
            );
        }
    }
    for (position, input) in map.inputs.iter().enumerate() {
        if *input != position {
            let message = format!("input {position} of the program has the number {input}");
            wrong.at(&["inputs".into(), position.into()], message);
        }
    }
}

/// Files are names within the folder, and each segment has a name and a file of its own.
fn files(map: &Map, wrong: &mut Mistakes<'_>) {
    let original = map.original.file.as_str();
    if !is_plain(original) || original == MAP {
        let message =
            format!("the original has the file '{original}', which is no file of the folder");
        wrong.at(&["original".into(), "file".into()], message);
    }
    let mut files = BTreeSet::from([original, MAP]);
    let mut names = BTreeSet::new();
    for (number, segment) in map.segments.iter().enumerate() {
        let at = |field| [Step::Key("segments"), number.into(), Step::Key(field)];
        let Segment { name, file, .. } = segment;
        if !files.insert(file) || !is_plain(file) {
            let message =
                format!("segment '{name}' has the file '{file}', which is no file name of its own");
            wrong.at(&at("file"), message);
        }
        if !names.insert(name) {
            let message = format!("two segments are called '{name}'");
            wrong.at(&at("name"), message);
        }
    }
}

/// Checks that each segment reads values that exist by then, and writes values that do not.
fn crossing(map: &Map, wrong: &mut Mistakes<'_>) {
    let count = map.values.len();
    let known = |value: Option<usize>| value.filter(|v| *v < count);
    let mut there: BTreeSet<usize> = (0..map.inputs.len()).collect();
    for (number, segment) in map.segments.iter().enumerate() {
        let name = &segment.name;
        let at = |field, position: usize| {
            [
                Step::Key("segments"),
                number.into(),
                Step::Key(field),
                position.into(),
            ]
        };
        let mut read = BTreeSet::new();
        for (position, value) in segment.reads().enumerate() {
            let message = match known(value) {
                None => format!("input {position} of segment '{name}' is no value of the original"),
                Some(v) if there.contains(&v) && read.insert(v) => continue,
                Some(v) => format!(
                    "segment '{name}' reads value {v} ({}), which nobody has written by then, or twice",
                    map.values[v].name
                ),
            };
            wrong.at(&at("inputs", position), message);
        }
        let mut given = BTreeSet::new();
        for (position, value) in segment.writes().enumerate() {
            let inner = segment.outputs[position];
            let again = segment.inputs.contains(&inner) || !given.insert(inner);
            let message = match known(value) {
                None => {
                    format!("result {position} of segment '{name}' is no value of the original")
                }
                Some(v) if there.insert(v) || again => continue,
                Some(v) => format!(
                    "segment '{name}' writes value {v} ({}), which is there already",
                    map.values[v].name
                ),
            };
            wrong.at(&at("outputs", position), message);
        }
    }
    for (position, output) in map.outputs.iter().enumerate() {
        if !there.contains(output) {
            let message =
                format!("result {position} of the program is value {output}, which nobody writes");
            wrong.at(&["outputs".into(), position.into()], message);
        }
    }
}

/// Checks that the values of a segment are the values of the original that the map states.
fn inner(map: &Map, number: usize, segment: &Segment, alone: bool, wrong: &mut Mistakes<'_>) {
    let Segment { name, .. } = segment;
    let at = |list, position: usize| {
        [
            Step::Key("segments"),
            number.into(),
            Step::Key(list),
            position.into(),
        ]
    };
    for (position, input) in segment.inputs.iter().enumerate() {
        if *input != position {
            let message = format!("input {position} of segment '{name}' has the number {input}");
            wrong.at(&at("inputs", position), message);
        }
    }
    for (position, value) in segment.values.iter().enumerate() {
        let field = |field| {
            let [a, b, c, d] = at("values", position);
            [a, b, c, d, Step::Key(field)]
        };
        if value.value != position {
            let message = format!(
                "value {position} of segment '{name}' has the number {}",
                value.value
            );
            wrong.at(&field("value"), message);
        }
        let Some(index) = value.original else {
            continue;
        };
        let end = segment.inputs.contains(&position) || segment.outputs.contains(&position);
        let Some(original) = map.values.get(index).filter(|v| v.original || end) else {
            let message = format!(
                "{} of segment '{name}' is no value of the original",
                value.name
            );
            wrong.at(&field("original"), message);
            continue;
        };
        let same = same_but_layout(&value.ty, &original.ty);
        // The results of an only segment are those of the program, whatever passes called them.
        let named = match end {
            true => value.name == original.name || (alone && segment.outputs.contains(&position)),
            false => base(&value.name, &original.name),
        };
        if !same || !named {
            let message = format!(
                "{} of segment '{name}', a `{}`, is not {} of the original, a `{}`",
                value.name, value.ty, original.name, original.ty
            );
            wrong.at(&field("original"), message);
        }
    }
}

/// True if `name` is `original`, or that with a number behind it: `%x_1` for `%x`, `%_3_1` for `%3`.
fn base(name: &str, original: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let numbered = |stem: &str| {
        let rest = name.strip_prefix(stem)?.strip_prefix('_')?;
        Some(digits(rest))
    };
    let number = original.strip_prefix('%').filter(|rest| digits(rest));
    let stem = number.map(|number| format!("%_{number}"));
    name == original || numbered(stem.as_deref().unwrap_or(original)) == Some(true)
}

/// Checks the fields that follow from the rest.
fn derived(map: &Map, wrong: &mut Mistakes<'_>) {
    let mut truth = map.clone();
    truth.relate();
    for (position, (said, is)) in map.values.iter().zip(&truth.values).enumerate() {
        let mut differs = |field, same: bool| {
            if !same {
                let message = format!(
                    "the segments say otherwise about '{field}' of {}",
                    said.name
                );
                wrong.at(
                    &["values".into(), position.into(), Step::Key(field)],
                    message,
                );
            }
        };
        differs("written_by", said.written_by == is.written_by);
        differs("last_user", said.last_user == is.last_user);
        differs("is", said.is == is.is);
    }
    for (number, (said, is)) in map.segments.iter().zip(&truth.segments).enumerate() {
        if said.frees != is.frees {
            let message = format!(
                "the users of what segment '{}' frees say otherwise",
                said.name
            );
            wrong.at(&["segments".into(), number.into(), "frees".into()], message);
        }
    }
}
