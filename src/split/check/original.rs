//! Agreement of a map with the original program.
//!
//! The original is recognized by the hash of its text. The map must state it correctly: the program's name, its values
//! with their names and types, its extents, its inputs and results.

use fuser_ir::Diagnostic;
use fuser_ir::print::print_type;

use super::super::locate::Step;
use super::super::map::{self, Map};
use super::super::parts::Text;
use super::super::{BAD_MAP, extents, number};
use super::{Mistakes, field, name, same_but_layout};
use crate::session::Loaded;

/// The mistakes of a map, whose text is `at`, about the original, whose text is `text`.
pub fn original(map: &Map, at: &Text, loaded: &Loaded, text: &Text) -> Vec<Diagnostic> {
    if map::hash(&text.text) != map.original.hash {
        let message = format!(
            "'{}' is not the program that the map was made for",
            text.name
        );
        let error = Diagnostic::error(&BAD_MAP, field(text, &[]), message);
        return vec![error.help("write the folder anew with 'fuser-translate --split-segments'")];
    }
    let mut wrong = Mistakes::of(at);
    let ir = &loaded.ir;
    let program = ir.symbol_name(loaded.program).unwrap_or_default();
    if map.program != program {
        let message = format!("the program is '@{program}', not '@{}'", map.program);
        wrong.at(&["program".into()], message);
    }
    let args = ir.body(loaded.program, 0);
    let args = args.map_or(0, |b| ir.args(b).len());
    if map.inputs.len() != args {
        let message = format!("the program has {args} inputs, not {}", map.inputs.len());
        wrong.at(&["inputs".into()], message);
    }
    values(map, loaded, &mut wrong);
    let truth = extents::of(ir, loaded.program);
    if map.extents.len() != truth.len() {
        let message = format!(
            "the program has {} named extents, not {}",
            truth.len(),
            map.extents.len()
        );
        wrong.at(&["extents".into()], message);
    }
    for (position, (said, is)) in map.extents.iter().zip(&truth).enumerate() {
        let mut differs = |field, same: bool| {
            if !same {
                let message = format!("extent '{}' has another '{field}'", is.name);
                wrong.at(
                    &["extents".into(), position.into(), Step::Key(field)],
                    message,
                );
            }
        };
        differs("name", said.name == is.name);
        differs("input", said.input == is.input);
        differs("axis", said.axis == is.axis);
    }
    results(map, loaded, &mut wrong);
    wrong.found
}

fn values(map: &Map, loaded: &Loaded, wrong: &mut Mistakes<'_>) {
    let ir = &loaded.ir;
    let truth = number::values(ir, loaded.program);
    let count = map.values.iter().filter(|v| v.original).count();
    if count != truth.len() {
        let message = format!("the program has {} values, not {count}", truth.len());
        wrong.at(&["values".into()], message);
    }
    for (position, (said, &value)) in map.values.iter().zip(&truth).enumerate() {
        let (name, ty) = (name(ir, value), print_type(ir, ir.value_type(value)));
        let at = |field| [Step::Key("values"), position.into(), Step::Key(field)];
        if said.name != name {
            let message = format!("value {position} is {name}, not {}", said.name);
            wrong.at(&at("name"), message);
        }
        if said.ty != ty {
            let message = format!("{name} is a `{ty}`, not a `{}`", said.ty);
            wrong.at(&at("type"), message);
        }
    }
}

/// Checks that each result is the value that the original returns. A pass may have replaced that value by an equal one;
/// then the result must have the same type.
fn results(map: &Map, loaded: &Loaded, wrong: &mut Mistakes<'_>) {
    let returned = number::returned_numbers(&loaded.ir, loaded.program);
    if map.outputs.len() != returned.len() {
        let message = format!(
            "the program has {} results, not {}",
            returned.len(),
            map.outputs.len()
        );
        wrong.at(&["outputs".into()], message);
    }
    let written: Vec<usize> = map
        .segments
        .iter()
        .flat_map(|s| s.writes().flatten())
        .collect();
    for (position, (&said, &is)) in map.outputs.iter().zip(&returned).enumerate() {
        let (Some(found), Some(wanted)) = (map.values.get(said), map.values.get(is)) else {
            continue;
        };
        let given = is < map.inputs.len() || written.contains(&is);
        let elsewhere = map
            .outputs
            .iter()
            .zip(&returned)
            .any(|pair| pair == (&is, &is));
        let equal = (!given || elsewhere) && same_but_layout(&found.ty, &wanted.ty);
        if said != is && !equal {
            let message = format!(
                "result {position} of the program is value {is} ({}), not {said} ({})",
                wanted.name, found.name
            );
            wrong.at(&["outputs".into(), position.into()], message);
        }
    }
}
