//! Why the segments are what they are, in words and numbers.

use std::fmt::Write;

use fuser_ir::Ir;

use super::graph::Graph;
use super::record::name_of;
use super::search::Segmentation;
use super::verdict::Planner;
use crate::axes::value_text;

/// The segments with their price; for each cut between two, what crosses it and why they are not one; then all records.
pub(super) fn render(ir: &Ir, graph: &Graph, result: &Segmentation, planner: &Planner) -> String {
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
    cuts(ir, graph, result, &mut text);
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

/// What crosses from segment to segment.
fn cuts(ir: &Ir, graph: &Graph, result: &Segmentation, text: &mut String) {
    let mut of_op = vec![None; graph.len()];
    for (number, group) in result.groups.iter().enumerate() {
        for &op in &group.members {
            of_op[op as usize] = Some(number);
        }
    }
    for edge in &graph.edges {
        let Some(from) = edge.maker.and_then(|m| of_op[m as usize]) else {
            continue;
        };
        let mut readers: Vec<usize> = edge
            .readers
            .iter()
            .filter_map(|&r| of_op[r as usize])
            .filter(|&r| r != from)
            .collect();
        readers.sort_unstable();
        readers.dedup();
        for to in readers {
            let value = value_text(ir, edge.value);
            let _ = writeln!(
                text,
                "cut @s{from} -> @s{to}: {value}, {} bytes",
                edge.bytes
            );
        }
    }
}
