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

/// Replaces the report computed from shapes alone by a report of a run.
pub fn take_report(module: &mut Value, symbol: &str, report: Value) {
    let programs = module["programs"].as_array_mut();
    let wanted = |program: &&mut Value| program["graph"]["symbol"] == symbol;
    if let Some(program) = programs.and_then(|list| list.iter_mut().find(wanted)) {
        program["report"] = report;
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
