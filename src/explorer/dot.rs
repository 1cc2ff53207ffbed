//! Pictures of segments as Graphviz graphs.

use serde_json::Value;

use super::picture::{self, Picture};

/// The graph of a report, or of several.
pub fn dot(report: &Value) -> String {
    let mut text = String::from(
        "digraph fuser {\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e3edfb\", fontname=\"monospace\", fontsize=11];\n  \
         edge [color=\"#0b57c4\", fontname=\"monospace\", fontsize=10];\n",
    );
    for (number, picture) in picture::of(report).iter().enumerate() {
        program(&mut text, number, picture);
    }
    text + "}\n"
}

fn program(text: &mut String, number: usize, picture: &Picture) {
    let name = |at: usize| quoted(&format!("{number} {}", picture.boxes[at].name));
    *text += &format!("  subgraph \"cluster {number}\" {{\n");
    *text += &format!("    label={};\n", quoted(&picture.title));
    for (at, node) in picture.boxes.iter().enumerate() {
        let label = quoted(&node.lines.join("\n"));
        let look = match node.fill {
            Some(color) => format!("fillcolor=\"{color}\""),
            None => "shape=ellipse, fillcolor=white".to_owned(),
        };
        *text += &format!("    {} [label={label}, {look}];\n", name(at));
    }
    *text += "  }\n";
    for arrow in &picture.arrows {
        let label = quoted(&arrow.lines.join("\n"));
        let (from, to) = (name(arrow.from), name(arrow.to));
        *text += &format!(
            "  {from} -> {to} [label={label}, penwidth={}];\n",
            arrow.width
        );
    }
}

/// A string of Graphviz, in which only line ends are escape sequences.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn segments_are_boxes_and_values_between_them_edges() {
        let report = json!({
            "program": "f\"x",
            "segments": [
                { "name": "s0", "label": "exp_0", "kind": "kernel", "ops": ["%a"], "read_bytes": 65536, "write_bytes": 4,
                  "values": [{ "name": "%x", "access": "read", "bytes": 65536 }] },
                { "name": "s1", "kind": "view", "ops": ["%b", "%c"], "values": [{ "name": "%a", "access": "read", "bytes": 4 }] },
            ],
            "crossing": [{ "value": "%a", "from": "s0", "to": "s1", "bytes": "4*B" }],
            "returned": ["%c", "%a"],
        });
        let text = dot(&report);
        for line in [
            "label=\"@f\\\"x\";",
            "\"0 s0\" [label=\"@s0\\nexp_0\\nkernel, 1 op\\nreads 65,536, writes 4\", fillcolor=\"#e3edfb\"];",
            "\"0 s1\" [label=\"@s1\\nview, 2 ops\", fillcolor=\"#eceef1\"];",
            "\"0 in %x\" -> \"0 s0\" [label=\"65,536\", penwidth=2];",
            "\"0 s0\" -> \"0 s1\" [label=\"%a\\n4*B\", penwidth=1];",
            "\"0 s1\" -> \"0 out %c\" [",
            "\"0 s0\" -> \"0 out %a\" [label=\"4*B\", penwidth=1];",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("in %a"));
    }
}
