//! Edits of a map: each one is either refused, at a place and before anything runs, or leaves the results unchanged.

use std::collections::{BTreeMap, BTreeSet};

use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostics, Place};
use fuser_runtime::{Generator, InputSpec, Inputs, RuntimeConfig};
use serde_json::{Value, json};

use super::{MAP, Map, Parts, Split, Text, split};
use crate::compile::CompileOptions;
use crate::session::{Loaded, Session};

/// Segments, inputs and results that differ in nothing but their names.
const ALIKE: &str = "task.program @f(%x: tensor<[N]x4xf32>, %w: tensor<[N]x4xf32>, %u: tensor<[M]xf32>) -> (tensor<[N]x4xf32>, tensor<[N]x4xf32>) {
  %e = fusion.exp %x
  %s = fusion.segment_set %e
  %g = fusion.neg %w
  %t = fusion.segment_set %g
  %y = fusion.sub %s, %t
  %m = fusion.sub %t, %s
  task.return %y, %m
}";
/// Results that passes find to be equal, or arguments.
const MERGED: &str = "task.program @f(%x: tensor<[N]x4xf32>) -> (tensor<[N]x4xf32>, tensor<[N]x4xf32>, tensor<[N]x4xf32>) {
  %a = fusion.exp %x
  %b = fusion.exp %x
  %s = fusion.segment_set %a
  %y = fusion.neg %s
  %z = fusion.neg %y
  task.return %a, %b, %z
}";
/// One segment.
const ONE: &str = "task.program @f(%x: tensor<[N]x4xf32>, %w: tensor<[N]x4xf32>) -> (tensor<[N]x4xf32>, tensor<[N]x4xf32>) {
  %y = fusion.sub %x, %w
  %m = fusion.sub %w, %x
  task.return %y, %m
}";

struct Case {
    session: Session,
    split: Split,
}

impl Case {
    fn new(text: &str) -> Self {
        let config = RuntimeConfig {
            threads: Some(1),
            memory_limit: Some(1 << 20),
        };
        let session = Session::new(config).unwrap();
        let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
        let loaded = session.load(ir, module, None).unwrap();
        let split = split(&loaded.ir, loaded.program, &CompileOptions::default()).unwrap();
        Self { session, split }
    }
    fn read(&self, map: &str) -> Result<Parts, Diagnostics> {
        let mut sources = SourceMap::default();
        Parts::read(&self.session, &mut |name| {
            let file = self.split.files.iter().find(|(file, _)| file == name);
            let text = if name == MAP {
                Some(map)
            } else {
                file.map(|(_, text)| text.as_str())
            };
            let text = text.ok_or_else(|| format!("there is no '{name}'"))?;
            Ok(Text::new(&mut sources, name, text.to_owned()))
        })
    }
    /// The bits of all results.
    fn run(&self, parts: &Parts) -> Vec<Vec<u8>> {
        let shapes = parts.original.signature.extents.iter();
        let shapes = shapes.map(|name| (name.clone(), 3)).collect();
        let spec = |seed| InputSpec::Generate(Generator::Random { seed });
        let names = parts.original.signature.inputs.iter().zip(1..);
        let specs: BTreeMap<_, _> = names
            .map(|(i, seed)| (i.name.clone(), spec(seed)))
            .collect();
        let inputs = self
            .session
            .resolve(&parts.original, &specs, &shapes)
            .unwrap();
        let how = &mut |part: &Loaded, inputs: &Inputs| self.session.interpret(part, inputs);
        let run = parts.run(&self.session, inputs, false, how).unwrap();
        let outputs = run.execution.outputs.iter();
        outputs.map(|o| o.bytes().to_vec()).collect()
    }
}

/// Every other value that may stand in the place of a string or number: of other types, out of range, of other fields.
fn others(value: &Value, words: &BTreeSet<String>) -> Vec<Value> {
    let mut others = vec![json!(null), json!([]), json!({}), json!(true), json!(false)];
    others.extend([
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(-2),
        json!(0.5),
        json!(""),
    ]);
    others.extend([
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e300),
    ]);
    others.extend(["x", "%x", "../x", "/etc/passwd", "tensor<4xf32>"].map(Value::from));
    if let Some(number) = value.as_i64() {
        others.extend([
            json!(number + 1),
            json!(number - 1),
            json!(number.to_string()),
        ]);
    }
    if value.is_string() {
        others.extend(words.iter().map(|w| json!(w)));
    }
    others.retain(|other| other != value);
    others
}

/// Every other list: shorter, longer, in another order.
fn lists(list: &[Value]) -> Vec<Value> {
    let mut lists = vec![Vec::new(), list.iter().rev().cloned().collect()];
    for position in 0..list.len() {
        let mut shorter = list.to_vec();
        let one = shorter.remove(position);
        let mut longer = list.to_vec();
        longer.insert(position, one.clone());
        let mut last = list.to_vec();
        last.push(one);
        let mut swapped = list.to_vec();
        swapped.swap(position, (position + 1) % list.len());
        lists.extend([shorter, longer, last, swapped]);
    }
    lists.retain(|other| other != list);
    lists.into_iter().map(Value::from).collect()
}

/// Calls `check` with the map after each edit of one place of it.
fn edit(
    map: &mut Value,
    path: &str,
    words: &BTreeSet<String>,
    check: &mut dyn FnMut(&Value, &str),
) {
    let here = map.pointer(path).unwrap().clone();
    let mut edits = Vec::new();
    match &here {
        Value::Array(list) => {
            edits.extend(lists(list));
            for position in 0..list.len() {
                edit(map, &format!("{path}/{position}"), words, check);
            }
        }
        Value::Object(fields) => {
            for field in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(field);
                edits.push(fewer.into());
                edit(map, &format!("{path}/{field}"), words, check);
            }
            let mut more = fields.clone();
            more.insert("more".into(), json!(0));
            edits.push(more.into());
        }
        leaf => edits.extend(others(leaf, words)),
    }
    for other in edits {
        *map.pointer_mut(path).unwrap() = other;
        check(map, path);
    }
    *map.pointer_mut(path).unwrap() = here;
}

fn words(map: &Value, found: &mut BTreeSet<String>) {
    match map {
        Value::String(word) => drop(found.insert(word.clone())),
        Value::Array(list) => list.iter().for_each(|v| words(v, found)),
        Value::Object(fields) => fields.values().for_each(|v| words(v, found)),
        _ => {}
    }
}

/// Refusals have codes and places.
fn is_told(found: &Diagnostics, what: &str) {
    assert!(found.has_errors(), "{what}");
    for error in &found.items {
        let ours = error.code.starts_with("FIR101");
        assert!(ours && error.place != Place::Unknown, "{what}: {error:?}");
    }
}

/// Tries every edit and returns their number and that of the harmless ones. With `rehash` the map's own hash is made
/// anew, so that refusals do not come from the hash.
fn all_edits(text: &str, rehash: bool) -> (usize, usize) {
    let case = Case::new(text);
    let map = case.split.map.to_json();
    let parts = case.read(&map).unwrap_or_else(|d| panic!("{d:?}\n{map}"));
    let expected = case.run(&parts);
    let mut value: Value = serde_json::from_str(&map).unwrap();
    let mut known = BTreeSet::new();
    words(&value, &mut known);
    let (mut count, mut harmless) = (0, 0);
    edit(&mut value, "", &known, &mut |edited, path| {
        let mut text = edited.to_string();
        if rehash && let Ok(mut map) = serde_json::from_value::<Map>(edited.clone()) {
            map.hash = map.checksum();
            text = map.to_json();
        }
        let what = format!("{path}: {:?}", edited.pointer(path));
        match case.read(&text) {
            Err(found) => is_told(&found, &what),
            Ok(parts) => {
                // A field that is not there is one without a value.
                assert!(rehash || parts.map == case.split.map, "taken: {what}");
                assert_eq!(case.run(&parts), expected, "{what}");
                harmless += 1;
            }
        }
        count += 1;
    });
    (count, harmless)
}

#[test]
fn every_edit_of_a_map_is_told() {
    let count: usize = [ALIKE, MERGED, ONE]
        .map(|text| all_edits(text, false).0)
        .iter()
        .sum();
    println!("count: {count} edited maps");
    assert!(count > 5000, "{count}");
}

#[test]
fn an_edit_with_the_right_hash_changes_no_result() {
    for text in [ALIKE, ONE] {
        let (count, harmless) = all_edits(text, true);
        println!("count: {count} edited maps with their own hash, {harmless} of them harmless");
        assert!(count > 1000 && harmless * 10 < count, "{count} {harmless}");
    }
}
