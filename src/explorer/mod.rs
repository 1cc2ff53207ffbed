//! The explorer: a program, its kernels, the decisions and the passes as one self-contained HTML file.
//!
//! Reading order: `record` (the effects of passes, as an instrument), `graph` (a program as data), this file (the
//! page). `dot`, `svg` and `trace` create pictures for other tools, from the report alone. `picture` holds the boxes
//! and arrows that `dot` and `svg` draw.
//!
//! The page is `explorer/dist/explorer.html`, built from `explorer/src` and kept in the repository, so that a build of
//! Fuser needs no web tools. Its data are one JSON document: the report and the explanation as written by
//! `--report=json:` and `--explain=json:`, the graph, and the text around each pass. Names of values and files may
//! contain any text. In the page the document contains no `<`, `>` or `&`, and the page displays it as plain text only.

pub mod dot;
pub mod graph;
pub mod picture;
pub mod record;
pub mod svg;
pub mod trace;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

pub use record::Recorder;

/// The kind under which `fuser-opt` keeps the data of a module.
pub const KIND: &str = "explorer";

/// The kind of the report as a graph of Graphviz.
pub const DOT: &str = "explorer-dot";

/// The kind of the report as SVG.
pub const SVG: &str = "explorer-svg";

/// The page without data.
const PAGE: &str = include_str!("../../explorer/dist/explorer.html");
/// The text that data take the place of.
const DATA: &str = "\"@FUSER_DATA@\"";

/// The source text that a module was read from.
pub struct Origin<'a> {
    /// The tool that writes the page.
    pub tool: &'a str,
    /// The name of the file.
    pub file: &'a str,
    /// The file's text.
    pub text: &'a str,
}

/// Replaces the report computed from shapes alone by a report of a run. Programs that loops, branches and devices run
/// get their times, for one turn each, and the segments that run them the times of all turns.
pub fn take_report(module: &mut Value, symbol: &str, report: Value) {
    let Some(programs) = module["programs"].as_array_mut() else {
        return;
    };
    let inside = report["inside"].as_array().cloned().unwrap_or_default();
    let runs: BTreeMap<String, Vec<(String, String)>> = programs
        .iter()
        .map(|program| {
            (
                name(&program["graph"]["symbol"]),
                callees(&program["graph"]),
            )
        })
        .collect();
    for program in programs {
        let own = name(&program["graph"]["symbol"]);
        if own == symbol {
            program["report"] = report.clone();
            add_time_inside(&mut program["report"], &runs, symbol, &inside);
            continue;
        }
        let Some(segments) = program["report"]["segments"].as_array_mut() else {
            continue;
        };
        for segment in segments {
            let of = |told: &&Value| told["program"] == *own && told["name"] == segment["name"];
            let Some(told) = inside.iter().find(of) else {
                continue;
            };
            let bytes = |of: &Value| of["read_bytes"].as_f64().zip(of["write_bytes"].as_f64());
            let sum = |of: &Value| bytes(of).map_or(0.0, |(read, written)| read + written);
            let turns = match sum(segment) > 0.0 {
                true => (sum(told) / sum(segment)).round(),
                false => continue,
            };
            for field in ["time_ms", "copy_ms"] {
                if let Some(time) = told[field].as_f64().filter(|_| turns > 0.0) {
                    segment[field] = json!(time / turns);
                }
            }
        }
    }
}

fn name(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The segments of a program that run others, with the names of those.
fn callees(graph: &Value) -> Vec<(String, String)> {
    let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    for node in nodes {
        let mut around = node;
        while let Some(up) = around["up"].as_u64().and_then(|up| nodes.get(up as usize)) {
            around = up;
        }
        for run in node["runs"].as_array().into_iter().flatten() {
            found.push((name(&around["symbol"]), name(run)));
        }
    }
    found
}

/// Adds the time of all turns to each segment that runs programs. Times of a program that two segments run are in
/// neither.
fn add_time_inside(
    report: &mut Value,
    runs: &BTreeMap<String, Vec<(String, String)>>,
    symbol: &str,
    inside: &[Value],
) {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (segment, program) in runs.get(symbol).into_iter().flatten() {
        let mut rest = vec![program.clone()];
        while let Some(program) = rest.pop() {
            if homes
                .entry(program.clone())
                .or_default()
                .insert(segment.clone())
            {
                let inner = runs.get(&program).into_iter().flatten();
                rest.extend(inner.map(|(_, inner)| inner.clone()));
            }
        }
    }
    for segment in report["segments"].as_array_mut().into_iter().flatten() {
        let alone = BTreeSet::from([name(&segment["name"])]);
        let own = inside
            .iter()
            .filter(|told| homes.get(&name(&told["program"])) == Some(&alone));
        let more: f64 = own.filter_map(|told| told["time_ms"].as_f64()).sum();
        if let Some(time) = segment["time_ms"].as_f64().filter(|_| more > 0.0) {
            segment["time_ms"] = json!(time + more);
        }
    }
}

/// The data of a page.
pub fn data(origin: &Origin<'_>, modules: Vec<Value>) -> Value {
    json!({
        "format": 1,
        "tool": origin.tool,
        "version": env!("CARGO_PKG_VERSION"),
        "source": { "file": origin.file, "text": origin.text },
        "modules": modules,
    })
}

/// The page of these data.
pub fn page(data: &Value) -> String {
    let (head, tail) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    [head, &escaped(&data.to_string()), tail].concat()
}

/// Escapes JSON so that it contains no markup. These characters occur only inside strings, where the escape denotes the
/// same character.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text += &format!("\\u{:04x}", u32::from(c));
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_place_for_data() {
        assert_eq!(PAGE.matches(DATA).count(), 1);
    }
    #[test]
    fn no_text_ends_the_data() {
        let hostile = "</script><script>alert(1)</script><!--&amp;\u{2028}\u{2029}\"\\";
        let origin = Origin {
            tool: "fuser-opt",
            file: hostile,
            text: hostile,
        };
        let data = data(&origin, vec![json!({ hostile: hostile })]);
        let page = page(&data);
        let (head, _) = PAGE.split_once(DATA).unwrap();
        let (inside, _) = page[head.len()..].split_once("</script>").unwrap();
        assert!(!inside.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<Value>(inside).unwrap(), data);
    }
}
