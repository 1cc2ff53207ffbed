//! An explanation in words.

use std::fmt::Write;

use super::{CostNote, CutNote, Explanation, Premise, Reason, SegmentNote, Why};
use crate::ExplainEntry;

/// The most values of a cut that its entry names.
const NAMED_VALUES: usize = 3;

/// The whole explanation as text: the premises; the segments with their costs; each cut with its values and the reason
/// why its segments are separate; and all decisions.
pub(super) fn render(all: &Explanation) -> String {
    let mut text = head(all);
    for segment in &all.segments {
        text += &self::segment(segment);
    }
    for cut in &all.cuts {
        text += &self::cut(cut);
    }
    text += &total(all);
    for record in &all.records {
        let _ = writeln!(text, "decided: {}", record.text);
    }
    text
}

/// Entries of one or two lines: the first is about the whole program, the others about a cut or a segment each. The
/// lost bytes of a cut are the bytes that cross it; those of a segment are the bytes that it moves more than once.
pub(super) fn entries(all: &Explanation) -> Vec<ExplainEntry> {
    let entry = |lost, text| ExplainEntry { lost, text };
    let head = format!("{}; {}", head(all).trim_end(), total(all));
    let (calls, others): (Vec<_>, Vec<_>) = all.cuts.iter().partition(|cut| is_at_call(cut));
    let calls = match calls.len() {
        0 | 1 => calls
            .iter()
            .map(|cut| entry(cut.bytes, short(cut)))
            .collect(),
        _ => vec![at_calls(&calls)],
    };
    let cuts = others.iter().map(|cut| entry(cut.bytes, short(cut)));
    let segments = all.segments.iter().map(|note| {
        let text = segment(note);
        let mut lines = text.lines().take(2).map(str::to_owned);
        let mut told = lines.next().unwrap_or_default();
        if note.again > 0 {
            let _ = write!(told, ", {} bytes more than once", note.again);
        }
        let rest = lines.next().map_or(String::new(), |line| line + "\n");
        entry(note.again, format!("{told}\n{rest}"))
    });
    let records = all.records.iter();
    let records = records.map(|record| entry(0, format!("decided: {}\n", record.text)));
    let first = std::iter::once(entry(0, head));
    let cuts = calls.into_iter().chain(cuts);
    first.chain(cuts).chain(segments).chain(records).collect()
}

/// True if the segments of a cut are separate only because one of them is a call.
fn is_at_call(cut: &CutNote) -> bool {
    let why = &cut.why;
    let calls = !why.boundaries.is_empty() && why.boundaries.iter().all(|b| b.call);
    calls && why.together.is_none() && !cut.view && !cut.placed
}

/// One entry for all cuts at calls: no other grouping would save their bytes.
fn at_calls(cuts: &[&CutNote]) -> ExplainEntry {
    let bytes = cuts.iter().map(|cut| cut.bytes);
    let lost = bytes.fold(0, u64::saturating_add);
    let largest = cuts.iter().rev().max_by_key(|cut| cut.bytes);
    let largest = largest.map_or(String::new(), |cut| short(cut).lines().take(1).collect());
    let number = cuts.len();
    ExplainEntry {
        lost,
        text: format!(
            "{number} cuts at calls, which are not fused: {lost} bytes written and read\n  the largest: {largest}\n"
        ),
    }
}

fn head(all: &Explanation) -> String {
    premise(&Premise {
        target: all.target.clone(),
        extents: all.extents.clone(),
        assumed: all.assumed.clone(),
    })
}

/// `total: 128 bytes in 2 kernels, 0 workspace, 2 launches`
fn total(all: &Explanation) -> String {
    let total = &all.total;
    let calls = all.segments.iter().filter(|s| s.call.is_some()).count() as u64;
    let calls = match calls {
        0 => String::new(),
        calls => format!(" and {}", count(calls, "call")),
    };
    format!(
        "total: {} bytes in {}{calls}, {} workspace, {}\n",
        total.read_bytes.saturating_add(total.write_bytes),
        count(total.kernels, "kernel"),
        total.workspace_bytes,
        count(total.launches, "launch")
    )
}

/// A cut with the largest of its values and the decisive reason.
fn short(cut: &CutNote) -> String {
    let mut values = cut.values.clone();
    values.sort_by_key(|value| std::cmp::Reverse(value.bytes));
    let more = values.len().saturating_sub(NAMED_VALUES);
    values.truncate(NAMED_VALUES);
    if let Some(last) = values.last_mut().filter(|_| more > 0) {
        let _ = write!(last.name, " and {more} more");
    }
    let text = crossing(&CutNote {
        values,
        ..cut.clone()
    });
    // Without a boundary, a line about a path through other segments precedes the reason.
    let at = match cut.why.boundaries.is_empty() {
        true => usize::from(!cut.why.through.is_empty()),
        false => 0,
    };
    let why = cut.why.words.get(at).filter(|_| !cut.placed);
    text + &why.map_or(String::new(), |line| format!("  {line}\n"))
}

/// `for target 'generic' (assumed: no --target), B = 64, S = 1024 (assumed: no --shape)`
pub(super) fn premise(premise: &Premise) -> String {
    let assumed = |name: &str, flag: &str| match premise.assumed.contains(name) {
        true => format!(" (assumed: no --{flag})"),
        false => String::new(),
    };
    let mut text = format!(
        "for target '{}'{}",
        premise.target,
        assumed("target", "target")
    );
    for (name, length) in &premise.extents {
        let _ = write!(text, ", {name} = {length}{}", assumed(name, "shape"));
    }
    text + "\n"
}

/// The sentence, and the name of the reason, which the documentation explains.
fn said(reason: &Reason) -> String {
    format!("{} ({})", reason.words, reason.name)
}

/// `1 sweep`, `2 sweeps`
fn count(number: u64, noun: &str) -> String {
    let end = match (number, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {noun}{end}")
}

/// `segment @s0 (2 ops, up to %y): kernel, 1 sweep, reads 32 bytes, writes 32, workspace 0, launches 1`
pub(super) fn segment(note: &SegmentNote) -> String {
    let last = note.ops.last().map_or("nothing", String::as_str);
    let ops = count(note.ops.len() as u64, "op");
    let mut text = format!("segment @{} ({ops}, up to {last}): ", note.name);
    let _ = match (&note.kind, note.sweeps, &note.no_plan) {
        (Some("view"), ..) => writeln!(text, "view, nothing runs"),
        (Some(kind), Some(sweeps), _) => writeln!(
            text,
            "{kind}, {}, reads {} bytes, writes {}, workspace {}, launches {}",
            count(sweeps as u64, "sweep"),
            note.cost.read_bytes,
            note.cost.write_bytes,
            note.cost.workspace_bytes,
            note.cost.launches
        ),
        (_, _, Some(reason)) => writeln!(text, "the cost model has no plan: {}", said(reason)),
        _ => writeln!(text, "the cost model has no plan"),
    };
    if let Some(call) = &note.call {
        let _ = writeln!(text, "  {call}");
    }
    for reason in &note.refused {
        let _ = writeln!(text, "  better, but refused: {}", said(reason));
    }
    text
}

/// The values that cross between two segments, and the reasons why these are separate.
pub(super) fn cut(cut: &CutNote) -> String {
    let mut text = crossing(cut);
    for line in why(&cut.why).iter().filter(|_| !cut.placed) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// `cut @s0 -> @s1: %a %b, 64 bytes written and read`
pub(super) fn crossing(cut: &CutNote) -> String {
    let names: Vec<&str> = cut.values.iter().map(|v| v.name.as_str()).collect();
    let (from, to, names) = (&cut.from, &cut.to, names.join(" "));
    match (cut.view, cut.placed) {
        (true, _) => {
            format!("cut @{from} -> @{to}: {names}, a view, for which no bytes are written\n")
        }
        (_, true) => format!("cut @{from} -> @{to}: {names}, written where it lies in the cat\n"),
        _ => format!(
            "cut @{from} -> @{to}: {names}, {} bytes written and read\n",
            cut.bytes
        ),
    }
}

/// Names of refusals caused by a boundary between two segments.
const BY_BOUNDARY: [&str; 4] = ["barrier", "call-alone", "hint-apart", "must-be-in-memory"];

/// Nanoseconds as microseconds.
fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// The reasons why segments are separate, one per line.
pub(super) fn why(why: &Why) -> Vec<String> {
    let mut lines = Vec::new();
    for boundary in why.boundaries.iter().filter(|b| !b.call) {
        let (value, words) = (&boundary.value, &boundary.words);
        let line = format!(
            "{words} lies between: {value} goes from {} to {}",
            boundary.producer, boundary.user
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if why.boundaries.iter().any(|b| b.call) {
        lines.push("a call is not fused".into());
    }
    if !why.through.is_empty() {
        let names: Vec<String> = why.through.iter().map(|n| format!("@{n}")).collect();
        let more = match why.more_through {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!(
            "paths lead through {}{more}: one kernel would have to take that in",
            names.join(", ")
        ));
    }
    let is_told =
        |r: &&Reason| !why.boundaries.is_empty() && BY_BOUNDARY.contains(&r.name.as_str());
    if let Some(reason) = why.refused.as_ref().filter(|r| !is_told(r)) {
        lines.push(format!("one kernel is refused: {}", said(reason)));
    }
    if let Some(together) = &why.together {
        let (within, within_apart) = (workspace(together), workspace(&why.apart));
        let times = (micros(together.time_ns), micros(why.apart.time_ns));
        let (together, apart) = (bytes(together), bytes(&why.apart));
        let change = match together.cmp(&apart) {
            std::cmp::Ordering::Less if why.is_cheaper => {
                format!("{} fewer, which costs less than apart", apart - together)
            }
            std::cmp::Ordering::Less => format!("{} fewer", apart - together),
            std::cmp::Ordering::Equal => "as many".into(),
            std::cmp::Ordering::Greater => format!("{} more", together - apart),
        };
        lines.push(format!(
            "{}one kernel would move {together} bytes{within} in {}, {} {apart}{within_apart}{}: {change}; by the model they take {} and {} us",
            match why.refused {
                Some(_) => "without that boundary ",
                None => "",
            },
            count(why.sweeps.unwrap_or(0) as u64, "sweep"),
            match why.apart.kernels {
                kernels @ 2.. => format!("{kernels} kernels move"),
                _ => "apart they move".to_owned(),
            },
            why.sweeps_apart
                .map_or(String::new(), |s| format!(" in {s}")),
            times.0,
            times.1,
        ));
        if let Some(cost) = why.together.as_ref().filter(|c| c.again_bytes > 0) {
            lines.push(format!(
                "one kernel would compute again what takes as long as moving {} bytes more",
                cost.again_bytes
            ));
        }
        if let Some(cost) = why.together.as_ref().filter(|c| c.wait_bytes > 0) {
            lines.push(format!(
                "one kernel would hold narrow strips of columns, and wait for their rows as long as moving {} bytes more takes",
                cost.wait_bytes
            ));
        }
    }
    lines
}

/// The suffix ` (64 of them in workspace)`; empty without workspace.
fn workspace(cost: &CostNote) -> String {
    match cost.workspace_bytes {
        0 => String::new(),
        bytes => format!(" ({bytes} of them in workspace)"),
    }
}

fn bytes(cost: &CostNote) -> u64 {
    let outer = cost.read_bytes.saturating_add(cost.write_bytes);
    outer.saturating_add(cost.workspace_bytes)
}
