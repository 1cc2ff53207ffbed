//! Segments and the values that cross between them as boxes and arrows, from the report alone. `dot` and `svg` draw
//! them.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// The maximum number of inputs, and of results, for which each is drawn.
const MOST_ENDS: usize = 24;

/// A program.
pub struct Picture {
    /// Its name.
    pub title: String,
    /// Its segments in the order in which they run, then the values that it reads, then those that it returns.
    pub boxes: Vec<Node>,
    /// The values that cross from one box to another.
    pub arrows: Vec<Arrow>,
}

/// A box.
pub struct Node {
    /// A name that no other box of the program has.
    pub name: String,
    /// Its text.
    pub lines: Vec<String>,
    /// Its color, `#rrggbb`; none for an input or a result.
    pub fill: Option<&'static str>,
}

/// An arrow.
pub struct Arrow {
    /// The box that it leaves.
    pub from: usize,
    /// The box that it enters.
    pub to: usize,
    /// Its text: a value and bytes, or bytes.
    pub lines: Vec<String>,
    /// Its width in points.
    pub width: u64,
}

/// The pictures of a report, or of several.
pub fn of(report: &Value) -> Vec<Picture> {
    match report {
        Value::Array(reports) => reports.iter().map(program).collect(),
        one => vec![program(one)],
    }
}

fn program(report: &Value) -> Picture {
    let segments = list(&report["segments"]);
    let boxes = segments.iter().map(|segment| Node {
        name: word(&segment["name"]).to_owned(),
        lines: lines(segment),
        fill: Some(match segment["kind"].as_str() {
            Some("library") => "#efe5fb",
            Some("copy") => "#fbf0d8",
            Some("view") => "#eceef1",
            Some("control") => "#ddf3e4",
            _ => "#e3edfb",
        }),
    });
    let mut picture = Picture {
        title: format!("@{}", word(&report["program"])),
        boxes: boxes.collect(),
        arrows: Vec::new(),
    };
    let numbers = segments.iter().enumerate();
    let numbers: FxHashMap<&str, usize> = numbers.map(|(i, s)| (word(&s["name"]), i)).collect();
    inputs(&mut picture, report);
    results(&mut picture, report, &numbers);
    for one in list(&report["crossing"]) {
        let ends = ["from", "to"].map(|end| numbers.get(word(&one[end])).copied());
        if let [Some(from), Some(to)] = ends {
            picture.arrows.push(Arrow {
                from,
                to,
                lines: vec![word(&one["value"]).to_owned(), count(&one["bytes"])],
                width: width(&one["bytes"]),
            });
        }
    }
    picture
}

/// Adds the inputs of the program: values that segments read and no segment writes.
fn inputs(picture: &mut Picture, report: &Value) {
    let crossing = list(&report["crossing"]).iter();
    let crossing: FxHashSet<(&str, &str)> = crossing
        .map(|one| (word(&one["value"]), word(&one["to"])))
        .collect();
    let mut read: Vec<(&str, usize, &Value)> = Vec::new();
    for (number, segment) in list(&report["segments"]).iter().enumerate() {
        let values = list(&segment["values"]).iter();
        for value in values.filter(|value| value["access"] == "read") {
            let name = word(&value["name"]);
            if !crossing.contains(&(name, word(&segment["name"]))) {
                read.push((name, number, &value["bytes"]));
            }
        }
    }
    let mut names: Vec<&str> = read.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_ENDS {
        return;
    }
    let first = picture.boxes.len();
    picture.boxes.extend(names.iter().map(|name| Node {
        name: format!("in {name}"),
        lines: vec![(*name).to_owned()],
        fill: None,
    }));
    for (name, to, bytes) in read {
        let from = first + names.partition_point(|known| *known < name);
        let (lines, width) = (vec![count(bytes)], width(bytes));
        picture.arrows.push(Arrow {
            from,
            to,
            lines,
            width,
        });
    }
}

/// Adds the results of the program that segments make.
fn results(picture: &mut Picture, report: &Value, numbers: &FxHashMap<&str, usize>) {
    let returned = list(&report["returned"]);
    if returned.len() > MOST_ENDS {
        return;
    }
    let mut makers: FxHashMap<&str, (usize, &Value)> = FxHashMap::default();
    for (number, segment) in list(&report["segments"]).iter().enumerate() {
        let values = list(&segment["values"]).iter();
        let written = values.filter(|value| value["access"] == "write");
        makers.extend(written.map(|value| (word(&value["name"]), (number, &value["bytes"]))));
        // The results of a view are the last values of their ops.
        if segment["kind"] == "view" {
            let ops = list(&segment["ops"]).iter();
            makers.extend(ops.map(|op| (word(op), (number, &Value::Null))));
        }
    }
    for crossed in list(&report["crossing"]) {
        if let Some(&from) = numbers.get(word(&crossed["from"])) {
            makers
                .entry(word(&crossed["value"]))
                .or_insert((from, &crossed["bytes"]));
        }
    }
    let mut drawn = FxHashSet::default();
    for name in returned.iter().map(word).filter(|name| drawn.insert(*name)) {
        let Some(&(from, bytes)) = makers.get(name) else {
            continue;
        };
        let to = picture.boxes.len();
        picture.boxes.push(Node {
            name: format!("out {name}"),
            lines: vec![name.to_owned()],
            fill: None,
        });
        picture.arrows.push(Arrow {
            from,
            to,
            lines: vec![count(bytes)],
            width: width(bytes),
        });
    }
}

/// The text of a segment.
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

/// The number of bytes with thousands separators, or the polynomial in the named extents.
fn count(bytes: &Value) -> String {
    match bytes.as_i64() {
        Some(number) => crate::run::table::grouped(number),
        None => word(bytes).to_owned(),
    }
}

/// The width of a line: one point more for each sixteenfold of bytes above 4 KiB.
fn width(bytes: &Value) -> u64 {
    let bits = u64::from(bytes.as_u64().unwrap_or(0).checked_ilog2().unwrap_or(0));
    1 + bits.saturating_sub(12) / 4
}
