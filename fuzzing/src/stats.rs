//! Counts of generated cases and of their outcomes, so that a generator that no longer covers something is noticed.
//!
//! Ordered, so that the same run prints the same text.

use std::collections::BTreeMap;
use std::fmt;

use fuser_ir::{DType, Extent, Ir, Op, TypeKind};

/// Counters of one run; runs add up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// By group (`op`, `dtype`, `rank`, `outcome`, ...) and entry.
    counts: BTreeMap<&'static str, BTreeMap<String, u64>>,
}

impl Stats {
    /// Counts one.
    pub fn count(&mut self, group: &'static str, entry: impl Into<String>) {
        self.add(group, entry, 1);
    }
    /// Counts several.
    pub fn add(&mut self, group: &'static str, entry: impl Into<String>, number: u64) {
        *self
            .counts
            .entry(group)
            .or_default()
            .entry(entry.into())
            .or_default() += number;
    }
    /// The count of an entry.
    pub fn of(&self, group: &str, entry: &str) -> u64 {
        let group = self.counts.get(group);
        group.and_then(|g| g.get(entry)).copied().unwrap_or(0)
    }
    /// The entries counted in a group.
    pub fn entries(&self, group: &str) -> impl Iterator<Item = &str> {
        let group = self.counts.get(group).into_iter().flatten();
        group.map(|(entry, _)| entry.as_str())
    }
    /// The sum over a group.
    pub fn total(&self, group: &str) -> u64 {
        self.counts.get(group).map_or(0, |g| g.values().sum())
    }
    /// The share of `entry` in its group, in per cent; 100 of nothing.
    pub fn percent(&self, group: &str, entry: &str) -> u64 {
        match self.total(group) {
            0 => 100,
            total => 100 * self.of(group, entry) / total,
        }
    }
    /// Counts the plans that the cost model chose and lowering refused: none is the aim.
    pub fn other_plans(&mut self, reasons: &[String]) {
        for reason in reasons {
            self.count("other plan", shape_of(reason));
        }
    }
    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Stats) {
        for (group, entries) in &other.counts {
            for (entry, number) in entries {
                self.add(group, entry.clone(), *number);
            }
        }
    }
    /// Counts the contents of a program: ops, element types, ranks, kinds of extents, size.
    pub fn program(&mut self, ir: &Ir, root: Op) {
        let ops = ir.walk(root);
        self.count("ops per case", bucket(ops.len() as u64));
        for op in ops {
            self.count("op", ir.name(op));
            let mut values = ir.operands(op).chain(ir.results(op).iter().copied());
            if values.any(|value| ir.value_kind(value).dtype().is_some_and(DType::is_complex)) {
                self.count("op on complex numbers", ir.name(op));
            }
            for &result in ir.results(op) {
                self.ty(ir.value_kind(result));
            }
        }
    }
    fn ty(&mut self, ty: &TypeKind) {
        if let Some(dtype) = ty.dtype() {
            self.count("dtype", dtype.name());
        }
        let TypeKind::Tensor(tensor) = ty else { return };
        self.count("rank", tensor.dims.len().to_string());
        for dim in &tensor.dims {
            self.count(
                "extent",
                match (dim.broadcast, dim.extent) {
                    (true, _) => "b".into(),
                    (_, Extent::Unknown) => "?".into(),
                    (_, Extent::Symbolic(_)) => "named".into(),
                    (_, Extent::Static(n)) => bucket(n),
                },
            );
        }
    }
    /// The entries of a list that were never counted.
    pub fn missing<'a>(
        &self,
        group: &str,
        wanted: impl IntoIterator<Item = &'a str>,
    ) -> Vec<&'a str> {
        let wanted = wanted.into_iter();
        wanted.filter(|entry| self.of(group, entry) == 0).collect()
    }
    /// Element types that never occurred.
    pub fn missing_dtypes(&self) -> Vec<&'static str> {
        self.missing("dtype", DType::ALL.into_iter().map(DType::name))
    }
}

/// A message without its numbers and names, so that equal reasons count together.
pub fn shape_of(message: &str) -> String {
    let mut shape = String::new();
    let mut quoted = false;
    for c in message.chars().take(160) {
        match c {
            '\'' | '`' => {
                quoted = !quoted;
                shape.push(c);
            }
            _ if quoted => {}
            '0'..='9' if shape.contains(' ') => {
                if !shape.ends_with('#') {
                    shape.push('#');
                }
            }
            c => shape.push(c),
        }
    }
    shape
}

/// `0`, `1`, `2`, `3-4`, `5-8`, ...
fn bucket(n: u64) -> String {
    match n {
        0..=2 => n.to_string(),
        _ => {
            let top = n.next_power_of_two();
            format!("{}-{top}", top / 2 + 1)
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, entries) in &self.counts {
            writeln!(f, "{group}: {}", self.total(group))?;
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
            for line in sorted.chunks(8) {
                let cells: Vec<String> = line
                    .iter()
                    .map(|(entry, number)| format!("{entry} {number}"))
                    .collect();
                writeln!(f, "  {}", cells.join(", "))?;
            }
        }
        Ok(())
    }
}
