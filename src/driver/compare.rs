//! `--compare-segmentations`: one program under two groupings, and their differences.
//!
//! The pipeline runs twice, once with each grouping, and the two segment reports are compared. All figures are
//! therefore those of this program in this run, whatever figures the files contain. Segments have different names on
//! the two sides: the pairs that share the most ops correspond.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fuser_pass::Pipeline;
use serde_json::{Value as Json, json};

use super::chunk::{Compiler, Input, Outcome};

/// A comparison of two pipelines.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The names of the two sides.
    pub names: [String; 2],
    /// The pipeline of each side.
    pub pipelines: [Pipeline; 2],
    /// For programs instead of people.
    pub json: bool,
}

/// Compiles a chunk both ways; the text of the outcome is the comparison.
pub fn compile(compiler: &mut Compiler<'_>, input: Input<'_>, comparison: &Comparison) -> Outcome {
    let mut total = Outcome::default();
    let mut reports = Vec::new();
    for pipeline in &comparison.pipelines {
        compiler.pipeline = pipeline.clone();
        let outcome = compiler.compile(input);
        let failed = outcome.text.is_none();
        total.diagnostics.extend(outcome.diagnostics);
        total.remarks.extend(outcome.remarks);
        total.internal |= outcome.internal;
        if failed {
            return total;
        }
        let files = outcome
            .files
            .into_iter()
            .filter(|f| f.kind == "segment-report");
        // The last one about a program counts.
        let own = files.filter_map(|f| Some((f.function?, serde_json::from_str(&f.content).ok()?)));
        reports.push(own.collect::<BTreeMap<String, Json>>());
    }
    let [before, after] = reports.as_slice() else {
        return total;
    };
    let programs = before
        .iter()
        .filter_map(|(name, b)| Some((b, after.get(name)?)));
    let compared: Vec<Json> = programs
        .map(|(b, a)| compare(&comparison.names, b, a))
        .collect();
    total.text = Some(match comparison.json {
        true => format!("{:#}", whole(compared)),
        false => compared.iter().map(words).collect::<Vec<_>>().join("\n"),
    });
    total
}

/// One comparison, or a list of several.
fn whole(mut compared: Vec<Json>) -> Json {
    match compared.len() {
        1 => compared.remove(0),
        _ => Json::Array(compared),
    }
}

/// A segment of a report.
struct Segment<'a> {
    name: &'a str,
    ops: BTreeSet<&'a str>,
}

fn segments(report: &Json) -> Vec<Segment<'_>> {
    let list = report["segments"].as_array().into_iter().flatten();
    list.map(|segment| {
        let ops = segment["ops"].as_array().into_iter().flatten();
        Segment {
            name: segment["name"].as_str().unwrap_or_default(),
            ops: ops.filter_map(Json::as_str).collect(),
        }
    })
    .collect()
}

/// The corresponding segment on the other side for each segment of `before`. Pairs that share the most ops are matched
/// first.
fn matching<'a>(before: &[Segment<'a>], after: &[Segment<'a>]) -> BTreeMap<&'a str, &'a str> {
    let mut holders = BTreeMap::<&str, Vec<usize>>::new();
    for (number, segment) in after.iter().enumerate() {
        for &op in &segment.ops {
            holders.entry(op).or_default().push(number);
        }
    }
    let mut shared = BTreeMap::<(usize, usize), usize>::new();
    for (number, segment) in before.iter().enumerate() {
        for op in &segment.ops {
            for &other in holders.get(op).into_iter().flatten() {
                *shared.entry((number, other)).or_default() += 1;
            }
        }
    }
    let mut pairs: Vec<_> = shared.into_iter().collect();
    // The sort is stable: among equals the earlier segments come first.
    pairs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (mut left, mut right) = (BTreeSet::new(), BTreeSet::new());
    let mut found = BTreeMap::new();
    for ((b, a), _) in pairs {
        if !left.contains(&b) && !right.contains(&a) {
            left.insert(b);
            right.insert(a);
            found.insert(before[b].name, after[a].name);
        }
    }
    found
}

/// The segments that compute each op.
fn homes<'a>(segments: &[Segment<'a>]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut homes = BTreeMap::<&str, BTreeSet<&str>>::new();
    for segment in segments {
        for &op in &segment.ops {
            homes.entry(op).or_default().insert(segment.name);
        }
    }
    homes
}

fn compare(names: &[String; 2], before: &Json, after: &Json) -> Json {
    let (b, a) = (segments(before), segments(after));
    let same = matching(&b, &a);
    let (homes_b, homes_a) = (homes(&b), homes(&a));
    let none = BTreeSet::new();
    let ops: BTreeSet<&str> = homes_b.keys().chain(homes_a.keys()).copied().collect();
    let mut moved = Vec::new();
    for op in ops {
        let (from, to) = (
            homes_b.get(op).unwrap_or(&none),
            homes_a.get(op).unwrap_or(&none),
        );
        let stays: BTreeSet<&str> = from.iter().filter_map(|s| same.get(s).copied()).collect();
        if stays != *to || stays.len() != from.len() {
            moved.push(json!({ "value": op, "from": from, "to": to }));
        }
    }
    let there = |name: &str| same.get(name).copied();
    let cuts_b = cuts(before, &|to| there(to).unwrap_or_default().to_owned());
    let cuts_a = cuts(after, &|to| to.to_owned());
    let missing = |of: &Cuts<'_>, other: &Cuts<'_>| -> Vec<Json> {
        let gone = of.iter().filter(|(key, _)| !other.contains_key(key));
        gone.map(|(_, cut)| (*cut).clone()).collect()
    };
    let (appear, disappear) = (missing(&cuts_a, &cuts_b), missing(&cuts_b, &cuts_a));
    let figures = |name: &str, report: &Json| {
        let list = report["segments"].as_array();
        let kernels = list
            .into_iter()
            .flatten()
            .filter(|s| s["kind"] == "kernel")
            .count();
        let sweeps = list
            .into_iter()
            .flatten()
            .filter_map(|s| s["sweeps"].as_u64());
        json!({
            "grouping": name,
            "segments": list.map_or(0, Vec::len),
            "kernels": kernels,
            "sweeps": sweeps.sum::<u64>(),
            "read_bytes": report["read_bytes"],
            "write_bytes": report["write_bytes"],
            "total_bytes": report["total_bytes"],
            "crossing_bytes": report["crossing_bytes"],
            "model_ns": list.into_iter().flatten().filter_map(|s| s["model_ns"].as_u64()).sum::<u64>(),
        })
    };
    json!({
        "program": before["program"],
        "same": moved.is_empty() && appear.is_empty() && disappear.is_empty(),
        "before": figures(&names[0], before),
        "after": figures(&names[1], after),
        "matched": same,
        "moved": moved,
        "appear": appear,
        "disappear": disappear,
    })
}

type Cuts<'a> = BTreeMap<(String, String), &'a Json>;

/// The crossing values of a report by name and user; the user has the name of the corresponding segment on the other
/// side.
fn cuts<'a>(report: &'a Json, user: &dyn Fn(&str) -> String) -> Cuts<'a> {
    let list = report["crossing"].as_array().into_iter().flatten();
    let text = |cut: &Json, key: &str| cut[key].as_str().unwrap_or_default().to_owned();
    list.map(|cut| ((text(cut, "value"), user(&text(cut, "to"))), cut))
        .collect()
}

/// The same in words.
fn words(compared: &Json) -> String {
    let (before, after) = (&compared["before"], &compared["after"]);
    let text = |v: &Json| v.as_str().map_or_else(|| v.to_string(), String::from);
    let both = |field: &str| format!("{} -> {}", text(&before[field]), text(&after[field]));
    let mut out = format!("@{}: {}\n", text(&compared["program"]), both("grouping"));
    let _ = writeln!(
        out,
        "  segments {}, kernels {}, sweeps {}",
        both("segments"),
        both("kernels"),
        both("sweeps")
    );
    let change = match (
        before["total_bytes"].as_u64(),
        after["total_bytes"].as_u64(),
    ) {
        (Some(b), Some(a)) if a < b => format!(", {} fewer", b - a),
        (Some(b), Some(a)) if a > b => format!(", {} more", a - b),
        _ => String::new(),
    };
    let _ = writeln!(
        out,
        "  bytes read {}, written {}, in all {}{change}",
        both("read_bytes"),
        both("write_bytes"),
        both("total_bytes")
    );
    let micros = |side: &Json| side["model_ns"].as_u64().unwrap_or(0) as f64 / 1e3;
    let _ = writeln!(
        out,
        "  time by the model {:.3} us -> {:.3} us",
        micros(before),
        micros(after)
    );
    if compared["same"] == true {
        out += "  the same segments\n";
    }
    let list = |names: &Json| {
        let names = names
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str);
        let names: Vec<String> = names.map(|n| format!("@{n}")).collect();
        match names.is_empty() {
            true => "nowhere".into(),
            false => names.join(" and "),
        }
    };
    for value in compared["moved"].as_array().into_iter().flatten() {
        let (from, to) = (list(&value["from"]), list(&value["to"]));
        let _ = writeln!(
            out,
            "  moved: {} from {from} to {to}",
            text(&value["value"])
        );
    }
    for (key, what) in [("disappear", "cut gone"), ("appear", "new cut")] {
        for cut in compared[key].as_array().into_iter().flatten() {
            let _ = writeln!(
                out,
                "  {what}: {}, @{} -> @{}, {} bytes",
                text(&cut["value"]),
                text(&cut["from"]),
                text(&cut["to"]),
                text(&cut["bytes"])
            );
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(segments: &[(&str, &[&str])], crossing: &[(&str, &str, &str)]) -> Json {
        let segments = segments
            .iter()
            .map(|(name, ops)| json!({ "name": name, "kind": "kernel", "ops": ops, "sweeps": 1 }));
        let crossing = crossing
            .iter()
            .map(|(value, from, to)| json!({ "value": value, "from": from, "to": to, "bytes": 4 }));
        json!({
            "program": "f", "segments": segments.collect::<Vec<_>>(), "crossing": crossing.collect::<Vec<_>>(),
            "read_bytes": 1, "write_bytes": 1, "total_bytes": 2, "crossing_bytes": 4,
        })
    }
    fn names() -> [String; 2] {
        ["a".into(), "b".into()]
    }

    #[test]
    fn other_names_are_no_difference() {
        let a = report(
            &[("s0", &["%x", "%y"]), ("s1", &["%z"])],
            &[("%y", "s0", "s1")],
        );
        let b = report(&[("q", &["%x", "%y"]), ("p", &["%z"])], &[("%y", "q", "p")]);
        let compared = compare(&names(), &a, &b);
        assert_eq!(compared["same"], true);
        assert_eq!(compared["matched"], json!({ "s0": "q", "s1": "p" }));
    }

    #[test]
    fn an_op_that_moves_changes_the_cut() {
        let a = report(
            &[("s0", &["%w", "%x", "%y"]), ("s1", &["%z"])],
            &[("%y", "s0", "s1")],
        );
        let b = report(
            &[("s0", &["%w", "%x"]), ("s1", &["%y", "%z"])],
            &[("%x", "s0", "s1")],
        );
        let compared = compare(&names(), &a, &b);
        assert_eq!(
            compared["moved"],
            json!([{ "value": "%y", "from": ["s0"], "to": ["s1"] }])
        );
        assert_eq!(compared["appear"][0]["value"], "%x");
        assert_eq!(compared["disappear"][0]["value"], "%y");
        assert_eq!(compared["appear"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn an_op_computed_again_is_told() {
        let a = report(
            &[("s0", &["%x", "%y"]), ("s1", &["%z"])],
            &[("%x", "s0", "s1")],
        );
        let b = report(&[("s0", &["%x", "%y"]), ("s1", &["%x", "%z"])], &[]);
        let compared = compare(&names(), &a, &b);
        assert_eq!(
            compared["moved"],
            json!([{ "value": "%x", "from": ["s0"], "to": ["s0", "s1"] }])
        );
        assert_eq!(compared["same"], false);
    }
}
