//! Why the segments are what they are, in words and numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fuser_ir::Ir;

use super::borders::separated;
use super::graph::{Edge, Graph};
use super::record::name_of;
use super::search::{Group, Segmentation};
use super::verdict::Planner;
use crate::axes::value_text;

/// The segments with their price; for each cut between two, what crosses it and why they are not one; then all records.
pub(super) fn render(
    ir: &Ir,
    graph: &Graph,
    result: &Segmentation,
    planner: &mut Planner,
) -> String {
    let mut text = String::new();
    for (number, group) in result.groups.iter().enumerate() {
        let last = group.members.last().and_then(|&m| name_of(ir, graph, m));
        let name = last.map_or(String::new(), |v| value_text(ir, v));
        let _ = write!(
            text,
            "segment @s{number} ({} ops, up to {name}): ",
            group.members.len()
        );
        let _ = match &group.verdict {
            None => writeln!(text, "the cost model does not know its op"),
            Some(v) => writeln!(
                text,
                "{}, {} sweeps, reads {} bytes, writes {}, workspace {}",
                v.kind.name(),
                v.sweeps,
                v.cost.read_bytes,
                v.cost.write_bytes,
                v.cost.workspace_bytes
            ),
        };
        for refusal in group.verdict.iter().flat_map(|v| v.rejected.iter()) {
            let _ = writeln!(text, "  better, but refused: {}", refusal.render(ir));
        }
    }
    cuts(ir, graph, result, planner, &mut text);
    let total = result.cost(graph, planner);
    let _ = writeln!(
        text,
        "total: {} bytes in {} kernels, {} workspace",
        total.read_bytes.saturating_add(total.write_bytes),
        total.launches,
        total.workspace_bytes
    );
    for record in &result.records {
        let _ = writeln!(text, "{}", record.render(ir));
    }
    text
}

/// Each pair of segments between which values cross: which, and what one kernel for both would cost or break.
fn cuts(ir: &Ir, graph: &Graph, result: &Segmentation, planner: &mut Planner, text: &mut String) {
    for ((from, to), edges) in crossing(graph, result) {
        let bytes = edges
            .iter()
            .fold(0u64, |sum, e| sum.saturating_add(e.bytes));
        let names: Vec<String> = edges.iter().map(|e| value_text(ir, e.value)).collect();
        let names = names.join(" ");
        let _ = writeln!(
            text,
            "cut @s{from} -> @s{to}: {names}, {bytes} bytes written and read"
        );
        let reason = why(ir, graph, result, planner, from, to);
        let _ = writeln!(text, "  {reason}");
    }
}

type Cut = (usize, usize);

/// The values between segments, by pair.
fn crossing<'g>(graph: &'g Graph, result: &Segmentation) -> BTreeMap<Cut, Vec<&'g Edge>> {
    // The groups that compute each op: the first writes, the others have a copy.
    let mut homes = vec![Vec::new(); graph.len()];
    for (number, group) in result.groups.iter().enumerate() {
        for op in group.computed() {
            homes[op as usize].push(number);
        }
    }
    let mut cuts = BTreeMap::<Cut, Vec<&Edge>>::new();
    for edge in &graph.edges {
        let made = edge.maker.map_or(&[][..], |m| &homes[m as usize]);
        let Some(&from) = made.first() else {
            continue;
        };
        let readers = edge.readers.iter().flat_map(|&r| &homes[r as usize]);
        let readers: BTreeSet<usize> = readers.filter(|r| !made.contains(r)).copied().collect();
        for to in readers {
            cuts.entry((from, to)).or_default().push(edge);
        }
    }
    cuts
}

/// Why two segments are not one.
fn why(
    ir: &Ir,
    graph: &Graph,
    result: &Segmentation,
    planner: &mut Planner,
    from: usize,
    to: usize,
) -> String {
    let (a, b) = (&result.groups[from], &result.groups[to]);
    let mut members = [a.computed(), b.computed()].concat();
    members.sort_unstable();
    members.dedup();
    let border = members.iter().any(|&reader| {
        let own = graph.ops[reader as usize];
        let makers = graph.producers(reader).map(|(m, _)| m);
        let mut crossing = makers.filter(|m| a.members.contains(m) && b.members.contains(&reader));
        crossing.any(|m| separated(ir, graph.ops[m as usize], own))
    });
    if border {
        return "a border of the user, or a placement that an op demands, lies between".into();
    }
    match planner.ask(ir, graph, &members) {
        Err(refusal) => format!("one kernel is refused: {}", refusal.render(ir)),
        Ok(verdict) => {
            let cost = |g: &Group| g.verdict.as_ref().map(|v| v.cost);
            let apart = cost(a).zip(cost(b)).map(|(a, b)| a.plus(&b));
            let apart = apart.map_or("?".into(), |c| c.bytes().to_string());
            format!(
                "one kernel would move {} bytes in {} sweeps, two move {apart}",
                verdict.cost.bytes(),
                verdict.sweeps
            )
        }
    }
}
