//! Segments and the values that cross between them as a Graphviz graph, from the report alone.

use serde_json::Value;

/// Values from outside that a program may read to have each drawn.
const MOST_INPUTS: usize = 24;

/// The graph of a report, or of several.
pub fn dot(report: &Value) -> String {
    let mut text = String::from(
        "digraph fuser {\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e3edfb\", fontname=\"monospace\", fontsize=11];\n  \
         edge [color=\"#0b57c4\", fontname=\"monospace\", fontsize=10];\n",
    );
    match report {
        Value::Array(reports) => {
            for (number, one) in reports.iter().enumerate() {
                program(&mut text, number, one);
            }
        }
        one => program(&mut text, 0, one),
    }
    text + "}\n"
}

fn program(text: &mut String, number: usize, report: &Value) {
    let name = |segment: &Value| quoted(&format!("{number} {}", word(segment)));
    *text += &format!("  subgraph \"cluster {number}\" {{\n");
    *text += &format!(
        "    label={};\n",
        quoted(&format!("@{}", word(&report["program"])))
    );
    for segment in list(&report["segments"]) {
        let color = match segment["kind"].as_str() {
            Some("library") => "#efe5fb",
            Some("copy") => "#fbf0d8",
            Some("view") => "#eceef1",
            Some("loop") => "#ddf3e4",
            _ => "#e3edfb",
        };
        let label = quoted(&lines(segment).join("\n"));
        let segment = name(&segment["name"]);
        *text += &format!("    {segment} [label={label}, fillcolor=\"{color}\"];\n");
    }
    inputs(text, number, report);
    *text += "  }\n";
    for one in list(&report["crossing"]) {
        let label = quoted(&format!(
            "{}\n{}",
            word(&one["value"]),
            count(&one["bytes"])
        ));
        let width = width(&one["bytes"]);
        let (from, to) = (name(&one["from"]), name(&one["to"]));
        *text += &format!("  {from} -> {to} [label={label}, penwidth={width}];\n");
    }
}

/// The values from outside: segments read them and no segment writes them.
fn inputs(text: &mut String, number: usize, report: &Value) {
    let crosses = |value: &Value, to: &Value| {
        let crossing = list(&report["crossing"]).iter();
        let mut same = crossing.filter(|one| one["value"] == value["name"]);
        same.any(|one| one["to"] == *to)
    };
    let mut read: Vec<(&Value, &Value)> = Vec::new();
    for segment in list(&report["segments"]) {
        let values = list(&segment["values"]).iter();
        let reads = values.filter(|value| value["access"] == "read");
        let outside = reads.filter(|value| !crosses(value, &segment["name"]));
        read.extend(outside.map(|value| (value, &segment["name"])));
    }
    let mut names: Vec<&str> = read.iter().map(|(value, _)| word(&value["name"])).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_INPUTS {
        return;
    }
    let node = |name: &str| quoted(&format!("{number} in {name}"));
    for name in &names {
        let label = quoted(name);
        *text += &format!(
            "    {} [label={label}, shape=ellipse, fillcolor=white];\n",
            node(name)
        );
    }
    for (value, to) in &read {
        let (from, label) = (node(word(&value["name"])), quoted(&count(&value["bytes"])));
        let to = quoted(&format!("{number} {}", word(to)));
        let width = width(&value["bytes"]);
        *text += &format!("    {from} -> {to} [label={label}, penwidth={width}];\n");
    }
}

/// The label of a segment.
fn lines(segment: &Value) -> Vec<String> {
    let ops = list(&segment["ops"]).len();
    let mut lines = vec![
        format!("@{}", word(&segment["name"])),
        format!(
            "{}, {ops} op{}",
            word(&segment["kind"]),
            if ops == 1 { "" } else { "s" }
        ),
    ];
    if segment["kind"] != "view" {
        lines.insert(1, word(&segment["label"]).to_owned());
        let [reads, writes] = ["read_bytes", "write_bytes"].map(|field| count(&segment[field]));
        lines.push(format!("reads {reads}, writes {writes}"));
    }
    if let Some(time) = segment["time_ms"].as_f64() {
        let share = segment["copy_ms"].as_f64().filter(|_| time > 0.0);
        let share = share.map(|copy| format!(", {:.0} % of a copy", 100.0 * copy / time));
        lines.push(format!("{time:.3} ms{}", share.unwrap_or_default()));
    }
    lines
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Bytes, with their thousands apart, or the polynomial.
fn count(bytes: &Value) -> String {
    match bytes.as_i64() {
        Some(number) => crate::run::table::grouped(number),
        None => word(bytes).to_owned(),
    }
}

/// The width of a line: one point, plus one for each factor of 16 in bytes above 4 KiB.
fn width(bytes: &Value) -> u64 {
    let bits = u64::from(bytes.as_u64().unwrap_or(0).checked_ilog2().unwrap_or(0));
    1 + bits.saturating_sub(12) / 4
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
        });
        let text = dot(&report);
        for line in [
            "label=\"@f\\\"x\";",
            "\"0 s0\" [label=\"@s0\\nexp_0\\nkernel, 1 op\\nreads 65,536, writes 4\", fillcolor=\"#e3edfb\"];",
            "\"0 s1\" [label=\"@s1\\nview, 2 ops\", fillcolor=\"#eceef1\"];",
            "\"0 in %x\" -> \"0 s0\" [label=\"65,536\", penwidth=2];",
            "\"0 s0\" -> \"0 s1\" [label=\"%a\\n4*B\", penwidth=1];",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("in %a"));
    }
}
