//! Boundaries around the ops of a random fusion: patterns, segments with sweeps and phases, bare sweeps, with all their
//! clauses.
//!
//! Drawing a boundary changes no op, so the program computes the same, and removing the boundaries restores its text.
//! The clauses are decisions without an effect on values: any clauses that the verifier admits are drawn, whether or
//! not a scheduler would choose them.

use fuser_dialects::task::{self, ops, outline};
use fuser_ir::def::OpDef;
use fuser_ir::types::Dim;
use fuser_ir::{AttrKind, Ir, Op};

use super::Case;
use crate::Source;

/// The most ops in one boundary.
const MOST: u64 = 6;

/// Draws boundaries around ranges of the program's ops; a case of one op or more has one at least.
pub fn draw(case: &mut Case, source: &mut Source) {
    let mut drawing = Drawing {
        ir: &mut case.ir,
        source,
        named: 0,
    };
    let all = drawing.inside(case.program);
    let mut first = true;
    for group in drawing.groups(&all) {
        if first || drawing.source.chance(3, 4) {
            drawing.program_level(&group);
            first = false;
        }
    }
}

/// Draws patterns alone, as a frontend would: around some ranges, some of them inside others.
pub fn label(case: &mut Case, source: &mut Source) {
    let mut drawing = Drawing {
        ir: &mut case.ir,
        source,
        named: 0,
    };
    let mut pending = vec![drawing.inside(case.program)];
    while let Some(all) = pending.pop() {
        for group in drawing.groups(&all) {
            if group.len() > 1 && group.len() < all.len() && drawing.source.chance(1, 2) {
                drawing.pattern(&group);
                pending.push(group);
            }
        }
    }
}

struct Drawing<'a, 's> {
    ir: &'a mut Ir,
    source: &'s mut Source,
    named: usize,
}

impl Drawing<'_, '_> {
    /// The ops in a task but its terminator.
    fn inside(&self, task: Op) -> Vec<Op> {
        let Some(body) = self.ir.body(task, 0) else {
            return Vec::new();
        };
        let last = self.ir.terminator(body);
        let ops = self.ir.block_ops(body);
        ops.filter(|op| Some(*op) != last).collect()
    }
    /// Ranges of neighbours.
    fn groups(&mut self, all: &[Op]) -> Vec<Vec<Op>> {
        let mut groups = Vec::new();
        let mut rest = all;
        while !rest.is_empty() {
            let length = 1 + self.source.index(rest.len().min(MOST as usize));
            groups.push(rest[..length].to_vec());
            rest = &rest[length..];
        }
        groups
    }
    fn boundary(&mut self, group: &[Op], kind: &'static OpDef, name: Option<&str>) -> Option<Op> {
        // Neighbours in order without the terminator can always be outlined.
        outline::outline(self.ir, group, kind, name).ok()
    }
    fn program_level(&mut self, group: &[Op]) {
        self.named += 1;
        match self.source.below(6) {
            0 => self.pattern(group),
            1 => self.sweep(group),
            _ => {
                let name = format!("s{}", self.named);
                if let Some(segment) = self.boundary(group, &task::SEGMENT, Some(&name)) {
                    self.segment(segment);
                }
            }
        }
    }
    fn pattern(&mut self, group: &[Op]) {
        let name = self.source.one(&["softmax", "linear", "nobody_knows"]);
        self.boundary(group, &task::PATTERN, Some(name));
    }
    fn segment(&mut self, segment: Op) {
        if self.source.chance(1, 2) {
            let kind = self.source.one(ops::SEGMENT_KINDS);
            let kind = self.ir.string_attr(kind);
            self.ir.set_attr(segment, "kind", kind);
        }
        let all = self.inside(segment);
        for group in self.groups(&all) {
            match self.source.below(4) {
                0 => {}
                1 => self.pattern(&group),
                _ => self.sweep(&group),
            }
        }
    }
    fn sweep(&mut self, group: &[Op]) {
        let Some(sweep) = self.boundary(group, &task::SWEEP, None) else {
            return;
        };
        self.sweep_clauses(sweep);
        let all = self.inside(sweep);
        for group in self.groups(&all) {
            match self.source.below(4) {
                0 => {}
                1 => self.pattern(&group),
                _ => {
                    let phase = self.boundary(&group, &task::PHASE, None);
                    if let Some(phase) = phase.filter(|_| self.source.chance(1, 4)) {
                        let before = self.ir.string_array_attr(&["a0"]);
                        self.ir.set_attr(phase, "before", before);
                    }
                }
            }
        }
    }
    fn sweep_clauses(&mut self, sweep: Op) {
        let count = self.source.index(4);
        let names: Vec<String> = (0..count).map(|i| format!("a{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let roles: Vec<&str> = names.iter().map(|_| self.source.one(ops::ROLES)).collect();
        let numbers: Vec<u64> = names.iter().map(|_| 1 + self.source.below(64)).collect();
        let tile: Vec<i64> = numbers.iter().map(|n| *n as i64).collect();
        let extents = numbers.iter().map(|n| Dim::fixed(*n)).collect();
        let lists = [
            ("axes", self.ir.string_array_attr(&names)),
            ("roles", self.ir.string_array_attr(&roles)),
            ("tile", self.ir.i64_array_attr(&tile)),
            ("extents", self.ir.attr(AttrKind::Extents(extents))),
        ];
        for (name, list) in lists {
            if self.source.chance(2, 3) {
                self.ir.set_attr(sweep, name, list);
            }
        }
        for name in ["vector", "partials", "threads"] {
            if self.source.chance(1, 3) {
                let number = 1 + self.source.below(16) as i64;
                let number = self.ir.int_attr(number);
                self.ir.set_attr(sweep, name, number);
            }
        }
    }
}
