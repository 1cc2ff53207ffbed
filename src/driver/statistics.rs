//! `--pass-statistics`: the counters of each pass.

use std::collections::BTreeMap;

use fuser_pass::{PassDef, Pipeline, Report};
use serde_json::{Map, Value, json};

/// Counters of all chunks, by step of the pipeline.
#[derive(Default)]
pub struct Statistics {
    steps: BTreeMap<usize, (&'static PassDef, Vec<u64>)>,
}

impl Statistics {
    /// Adds those of one run.
    pub fn add(&mut self, pipeline: &Pipeline, report: &Report) {
        for step in pipeline.passes() {
            let Some(counts) = report.statistics.get(step.index) else {
                continue;
            };
            let zeros = || (step.pass, vec![0; counts.len()]);
            let (_, totals) = self.steps.entry(step.index).or_insert_with(zeros);
            totals.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
        }
    }
    /// The report for people: by pass, sorted by name, or by step in the order of the pipeline.
    pub fn text(&self, by_step: bool) -> String {
        let bar = format!("==={}===\n", "-".repeat(74));
        let title = format!("{:>53}\n", "... Pass statistics report ...");
        let mut text = format!("{bar}{title}{bar}");
        for (pass, counts) in self.rows(by_step) {
            text += &format!("{}\n", pass.name);
            for (stat, count) in pass.statistics.iter().zip(&counts) {
                text += &format!("  (S) {count:>6} {} - {}\n", stat.name, stat.doc);
            }
        }
        text
    }
    /// The report for programs.
    pub fn json(&self, by_step: bool) -> String {
        let row = |(pass, counts): (&PassDef, Vec<u64>)| {
            let pairs = pass.statistics.iter().zip(counts);
            let map: Map<String, Value> =
                pairs.map(|(s, c)| (s.name.to_owned(), json!(c))).collect();
            json!({"pass": pass.name, "statistics": map})
        };
        let rows: Vec<Value> = self.rows(by_step).into_iter().map(row).collect();
        format!("{}\n", json!({"v": 1, "passes": rows}))
    }
    fn rows(&self, by_step: bool) -> Vec<(&'static PassDef, Vec<u64>)> {
        if by_step {
            return self.steps.values().cloned().collect();
        }
        let mut merged: BTreeMap<&str, (&PassDef, Vec<u64>)> = BTreeMap::new();
        for (pass, counts) in self.steps.values() {
            let zeros = || (*pass, vec![0; counts.len()]);
            let (_, totals) = merged.entry(pass.name).or_insert_with(zeros);
            totals.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
        }
        merged.into_values().collect()
    }
}
