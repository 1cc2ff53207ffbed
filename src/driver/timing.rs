//! `--timing`: the time of each part. A report as a list or a tree, as JSON, or as a Chrome trace.
//!
//! Intervals are recorded as they open and close; each report is computed from them at the end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fuser_ir::{Diagnostic, Ir, Op};
use fuser_pass::{Failure, Instrument, PassRun};
use serde_json::{Value, json};

use crate::compile::{SharedWatch, Watch};

/// An interval.
#[derive(Debug)]
struct Interval {
    name: String,
    start: Duration,
    length: Duration,
    depth: usize,
}

/// The clock.
#[derive(Debug)]
pub struct Timing {
    zero: Instant,
    intervals: Vec<Interval>,
    /// Open intervals, by index.
    open: Vec<usize>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            zero: Instant::now(),
            intervals: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl Timing {
    /// Opens an interval inside the one that is open.
    pub fn begin(&mut self, name: impl Into<String>) {
        let interval = Interval {
            name: name.into(),
            start: self.zero.elapsed(),
            length: Duration::ZERO,
            depth: self.open.len(),
        };
        self.open.push(self.intervals.len());
        self.intervals.push(interval);
    }
    /// Closes the interval that is open.
    pub fn end(&mut self) {
        if let Some(index) = self.open.pop() {
            let interval = &mut self.intervals[index];
            interval.length = self.zero.elapsed().saturating_sub(interval.start);
        }
    }
    /// The report for people.
    pub fn text(&self, tree: bool) -> String {
        let total = self.zero.elapsed();
        let rows = if tree { self.tree() } else { self.list() };
        let bar = format!("==={}===\n", "-".repeat(74));
        let title = format!("{:>53}\n", "... Execution time report ...");
        let mut text = format!("{bar}{title}{bar}");
        text += &format!(
            "  Total Execution Time: {:.6} seconds\n\n",
            total.as_secs_f64()
        );
        text += "  ----Wall Time----  ----Name----\n";
        let known: Duration = self.outer().map(|i| i.length).sum();
        for row in &rows {
            let indent = "  ".repeat(row.depth);
            text += &line(row.length, total, &format!("{indent}{}", row.name));
        }
        text += &line(total.saturating_sub(known), total, "Rest");
        text + &line(total, total, "Total")
    }
    /// The report for programs: an array of `{name, depth, wall}`, seconds.
    pub fn json(&self, tree: bool) -> String {
        let rows = if tree { self.tree() } else { self.list() };
        let total = self.zero.elapsed().as_secs_f64();
        let rows: Vec<Value> = rows.iter().map(|r| r.json()).collect();
        format!("{}\n", json!({"v": 1, "total": total, "rows": rows}))
    }
    /// A Chrome trace.
    pub fn trace(&self) -> String {
        let events = self.events();
        format!(
            "{}\n",
            json!({"traceEvents": events, "displayTimeUnit": "ms"})
        )
    }
    /// The events of such a trace.
    pub fn events(&self) -> Vec<Value> {
        let event = |i: &Interval| {
            let (ts, dur) = (i.start.as_secs_f64() * 1e6, i.length.as_secs_f64() * 1e6);
            json!({"name": i.name, "ph": "X", "ts": ts, "dur": dur, "pid": 1, "tid": 1})
        };
        self.intervals.iter().map(event).collect()
    }
    fn outer(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(|i| i.depth == 0)
    }
    /// Same names merged, longest first; what holds others counts without them.
    fn list(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (index, interval) in self.intervals.iter().enumerate() {
            let inside: Duration = self.inside(index).map(|i| i.length).sum();
            let own = interval.length.saturating_sub(inside);
            add(&mut rows, Row::new(&interval.name, 0, own));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.length));
        rows
    }
    /// In order; equal neighbours at one level merged.
    fn tree(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut path: Vec<String> = Vec::new();
        for interval in &self.intervals {
            path.truncate(interval.depth);
            path.push(interval.name.clone());
            let mut row = Row::new(&interval.name, interval.depth, interval.length);
            row.path.clone_from(&path);
            match rows.iter_mut().find(|r| r.path == row.path) {
                Some(known) => known.length += row.length,
                None => rows.push(row),
            }
        }
        rows
    }
    /// The intervals directly inside.
    fn inside(&self, index: usize) -> impl Iterator<Item = &Interval> {
        let depth = self.intervals[index].depth;
        let after = self.intervals[index + 1..].iter();
        let inside = after.take_while(move |i| i.depth > depth);
        inside.filter(move |i| i.depth == depth + 1)
    }
}

struct Row {
    name: String,
    path: Vec<String>,
    depth: usize,
    length: Duration,
}

impl Row {
    fn new(name: &str, depth: usize, length: Duration) -> Self {
        Self {
            name: name.to_owned(),
            path: Vec::new(),
            depth,
            length,
        }
    }
    fn json(&self) -> Value {
        json!({"name": self.name, "depth": self.depth, "wall": self.length.as_secs_f64()})
    }
}

fn add(rows: &mut Vec<Row>, row: Row) {
    match rows.iter_mut().find(|r| r.name == row.name) {
        Some(known) => known.length += row.length,
        None => rows.push(row),
    }
}

fn line(length: Duration, total: Duration, name: &str) -> String {
    let share = match total.as_secs_f64() {
        0.0 => 0.0,
        total => 100.0 * length.as_secs_f64() / total,
    };
    format!("  {:9.6} ({share:5.1}%)  {name}\n", length.as_secs_f64())
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A list for people.
    List,
    /// A tree for people.
    Tree,
    /// A list for programs.
    Json,
}

impl Form {
    /// The form of this name; none where no report is wanted.
    pub fn parse(name: &str) -> Result<Option<Self>, String> {
        match name {
            "list" | "true" => Ok(Some(Self::List)),
            "tree" => Ok(Some(Self::Tree)),
            "json" => Ok(Some(Self::Json)),
            "false" => Ok(None),
            other => Err(format!("'{other}' is not one of tree, list, json")),
        }
    }
}

/// A timing that is shared with the compilations that it times.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<Mutex<Timing>>);

impl Clock {
    /// The clock as compilations take it.
    pub fn watch(&self) -> SharedWatch {
        SharedWatch::new(self.0.clone())
    }
    /// The events so far, as Chrome's traces have them.
    pub fn events(&self) -> Vec<Value> {
        let timing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        timing.events()
    }
    /// The report so far.
    pub fn text(&self, form: Form) -> String {
        let timing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match form {
            Form::Json => timing.json(false),
            Form::List | Form::Tree => timing.text(form == Form::Tree),
        }
    }
}

impl PartialEq for Clock {
    /// Two clocks do the same.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Watch for Timing {
    fn begin_stage(&mut self, name: &str) {
        self.begin(name);
    }
    fn end_stage(&mut self) {
        self.end();
    }
}

impl Instrument for Timing {
    fn enter(&mut self, _: &Ir, _: Op, anchor: &str) {
        self.begin(format!("'{anchor}' Pipeline"));
    }
    fn leave(&mut self, _: &Ir, _: Op, _: &str) {
        self.end();
    }
    fn before_pass(&mut self, _: &Ir, run: PassRun<'_>) {
        self.begin(run.step.pass.name);
    }
    fn after_pass(&mut self, _: &Ir, _: PassRun<'_>) -> Vec<Diagnostic> {
        self.end();
        Vec::new()
    }
    fn pass_failed(&mut self, _: &Ir, run: PassRun<'_>, _: &Failure) {
        // A panic leaves what was open inside of the pass; a later instrument may have failed it after it was closed.
        let name = run.step.pass.name;
        let is_pass = |&i: &usize| self.intervals[i].name == name;
        let Some(depth) = self.open.iter().rposition(is_pass) else {
            return;
        };
        while self.open.len() > depth {
            self.end();
        }
    }
    fn before_verify(&mut self) {
        self.begin("(V) verifier");
    }
    fn after_verify(&mut self) {
        self.end();
    }
}
