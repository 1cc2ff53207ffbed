//! An explanation in words.

use std::fmt::Write;

use super::{CostNote, CutNote, Explanation, SegmentNote, Why};

/// The segments with their price; for each cut between two, what crosses it and why they are not one; then all records.
pub(super) fn render(all: &Explanation) -> String {
    let mut text = String::new();
    for segment in &all.segments {
        text += &self::segment(segment);
    }
    for cut in &all.cuts {
        text += &self::cut(cut);
    }
    let total = &all.total;
    let _ = writeln!(
        text,
        "total: {} bytes in {} kernels, {} workspace, {} launches",
        total.read_bytes.saturating_add(total.write_bytes),
        total.kernels,
        total.workspace_bytes,
        total.launches
    );
    for record in &all.records {
        let _ = writeln!(text, "{}", record.text);
    }
    text
}

/// `segment @s0 (2 ops, up to %y): kernel, 1 sweeps, reads 32 bytes, writes 32, workspace 0, launches 1`
pub(super) fn segment(note: &SegmentNote) -> String {
    let last = note.ops.last().map_or("nothing", String::as_str);
    let mut text = format!(
        "segment @{} ({} ops, up to {last}): ",
        note.name,
        note.ops.len()
    );
    let _ = match (&note.kind, note.sweeps, &note.no_plan) {
        (Some(kind), Some(sweeps), _) => writeln!(
            text,
            "{kind}, {sweeps} sweeps, reads {} bytes, writes {}, workspace {}, launches {}",
            note.cost.read_bytes,
            note.cost.write_bytes,
            note.cost.workspace_bytes,
            note.cost.launches
        ),
        (_, _, Some(reason)) => writeln!(text, "the cost model has no plan: {}", reason.text),
        _ => writeln!(text, "the cost model has no plan"),
    };
    for reason in &note.refused {
        let _ = writeln!(text, "  better, but refused: {}", reason.text);
    }
    text
}

fn cut(cut: &CutNote) -> String {
    let names: Vec<&str> = cut.values.iter().map(|v| v.name.as_str()).collect();
    let (from, to, names) = (&cut.from, &cut.to, names.join(" "));
    let mut text = format!(
        "cut @{from} -> @{to}: {names}, {} bytes written and read\n",
        cut.bytes
    );
    for line in why(&cut.why) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The reasons that segments stay apart, a line for each.
pub(super) fn why(why: &Why) -> Vec<String> {
    let mut lines = Vec::new();
    for boundary in &why.boundaries {
        lines.push(format!(
            "a boundary of the user, or a placement that an op demands, lies between: {} goes from {} to {}",
            boundary.value, boundary.producer, boundary.user
        ));
    }
    if !why.through.is_empty() {
        let names: Vec<String> = why.through.iter().map(|n| format!("@{n}")).collect();
        lines.push(format!(
            "paths lead through {}: one kernel would have to take that in",
            names.join(", ")
        ));
    }
    if let Some(reason) = &why.refused {
        lines.push(format!("one kernel is refused: {}", reason.text));
    }
    if let Some(together) = &why.together {
        let (together, apart) = (bytes(together), bytes(&why.apart));
        let change = match together.cmp(&apart) {
            std::cmp::Ordering::Less => format!("{} fewer", apart - together),
            std::cmp::Ordering::Equal => "as many".into(),
            std::cmp::Ordering::Greater => format!("{} more", together - apart),
        };
        lines.push(format!(
            "{}one kernel would move {together} bytes in {} sweeps, {} kernels move {apart}{}: {change}",
            match why.refused {
                Some(_) => "without that boundary ",
                None => "",
            },
            why.sweeps.unwrap_or(0),
            why.apart.kernels,
            why.sweeps_apart.map_or(String::new(), |s| format!(" in {s}")),
        ));
    }
    lines
}

fn bytes(cost: &CostNote) -> u64 {
    let outer = cost.read_bytes.saturating_add(cost.write_bytes);
    outer.saturating_add(cost.workspace_bytes)
}
