//! Axes of groups of ops that merge: tests whether two groups have one iteration space, at the cost of the smaller
//! group.
//!
//! Each group keeps its axis classes. To test two groups, the ops of the smaller are added to the classes of the larger
//! and rolled back; a merge keeps them. Merging n ops, one after the other or pair by pair, therefore costs about n log
//! n, and adding one op to a group costs the same for any group size.
//!
//! ```text
//! a: { %p = reshape %x : [24] -> [6, 4] }     ask(a, b): incompatible-factoring { known: [6, 4], wanted: [4, 6] }
//! b: { %q = reshape %x : [24] -> [4, 6] }     (a is as it was)
//! ```
//! Guarantees: if this test refuses two groups, `Axes::build` refuses the ops of both together. Facts that depend on
//! the whole group are reported as open instead of decided: values that slices, pads and cats read, an argument that
//! meets its own transpose, and unknown lengths. Never edits the IR.

use fuser_ir::{Ir, Op};

use super::refusal::AxisRefusal;
use super::union::AxisUnion;
use super::{is_permute, window};

/// The result of testing two groups as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Common {
    /// The groups have one iteration space.
    One,
    /// The groups have no common iteration space.
    None(AxisRefusal),
    /// The axes of the two groups alone do not decide it.
    Open(Open),
}

/// The reason why the axes of two groups alone do not decide a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// Slices, pads and cats: the set of values that only they read depends on the whole group.
    Windows,
    /// An extent is `?`: its factors depend on other facts about it.
    UnknownExtent,
    /// An argument meets its own transpose: it may be read through a window.
    Permuted,
    /// One of the groups has no iteration space even alone.
    Broken,
}

/// A group.
#[derive(Clone, Debug, Default)]
struct Member {
    ops: Vec<Op>,
    windows: bool,
    /// True if an op of the group permutes the axes of an argument.
    permutes: bool,
    /// Built on first use; `Some(None)` if the group has no iteration space.
    classes: Option<Option<AxisUnion>>,
}

/// Groups by number, and counters of the work done for them.
#[derive(Clone, Debug, Default)]
pub struct AxisGroups {
    members: Vec<Member>,
    steps: u64,
    questions: u64,
    added: u64,
}

impl AxisGroups {
    /// Adds a group of `ops` and returns its number.
    pub fn push(&mut self, ir: &Ir, ops: Vec<Op>) -> usize {
        self.members.push(Member {
            windows: ops.iter().any(|&op| window::is_window(ir, op)),
            permutes: ops.iter().any(|&op| is_permute(ir, op)),
            ops,
            classes: None,
        });
        self.members.len() - 1
    }
    /// Work done: ops added, nodes followed and users visited, including work that was rolled back.
    pub const fn steps(&self) -> u64 {
        self.steps
    }
    /// Number of tests so far.
    pub const fn questions(&self) -> u64 {
        self.questions
    }
    /// Ops added to classes, including ops that were rolled back.
    pub const fn added(&self) -> u64 {
        self.added
    }

    /// Tests whether groups `a` and `b` have one iteration space. Changes neither group.
    pub fn common(&mut self, ir: &Ir, a: usize, b: usize) -> Common {
        self.questions += 1;
        let (large, small) = self.by_size(a, b);
        if self.members[large].windows || self.members[small].windows {
            return Common::Open(Open::Windows);
        }
        let Some(mut classes) = self.take(ir, large) else {
            return Common::Open(Open::Broken);
        };
        let before = classes.steps();
        let mark = classes.mark();
        let result = self.add_all(ir, &mut classes, small);
        classes.rollback(mark);
        self.steps += classes.steps() - before;
        self.members[large].classes = Some(Some(classes));
        let permutes = self.members[large].permutes || self.members[small].permutes;
        match result {
            Ok(()) => Common::One,
            Err(refusal) if refusal.names_unknown() => Common::Open(Open::UnknownExtent),
            Err(AxisRefusal::SelfMapped { .. }) if permutes => Common::Open(Open::Permuted),
            Err(refusal) => Common::None(refusal),
        }
    }

    /// Moves the ops of `from` into `into`; leaves `from` empty.
    pub fn merge(&mut self, ir: &Ir, into: usize, from: usize) {
        let (large, small) = self.by_size(into, from);
        let windows = self.members[large].windows || self.members[small].windows;
        // Classes not built yet stay unbuilt. They are also rebuilt on the next use if the group grows to more than 1.5
        // times its size.
        let known = self.members[large].classes.take();
        let grows = self.members[small].ops.len() * 2 <= self.members[large].ops.len();
        let classes = match known.filter(|known| !windows && (grows || known.is_none())) {
            None => None,
            Some(None) => Some(None),
            Some(Some(mut classes)) => {
                let before = classes.steps();
                let result = self.add_all(ir, &mut classes, small);
                self.steps += classes.steps() - before;
                Some(result.ok().map(|()| classes))
            }
        };
        let mut member = std::mem::take(&mut self.members[large]);
        let other = std::mem::take(&mut self.members[small]);
        member.permutes |= other.permutes;
        member.ops.extend(other.ops);
        member.windows = windows;
        member.classes = classes;
        self.members[into] = member;
    }

    /// Both groups, the larger first.
    fn by_size(&self, a: usize, b: usize) -> (usize, usize) {
        match self.members[a].ops.len() >= self.members[b].ops.len() {
            true => (a, b),
            false => (b, a),
        }
    }
    /// Takes the classes out of a group, for the caller to return; `None` if the group has no iteration space.
    fn take(&mut self, ir: &Ir, group: usize) -> Option<AxisUnion> {
        match self.members[group].classes.take() {
            Some(Some(classes)) => Some(classes),
            Some(None) => {
                self.members[group].classes = Some(None);
                None
            }
            None => {
                let mut classes = AxisUnion::tracked();
                let result = self.add_all(ir, &mut classes, group);
                self.steps += classes.steps();
                if result.is_err() {
                    self.members[group].classes = Some(None);
                }
                result.ok().map(|()| classes)
            }
        }
    }
    fn add_all(
        &mut self,
        ir: &Ir,
        classes: &mut AxisUnion,
        group: usize,
    ) -> Result<(), AxisRefusal> {
        for &op in &self.members[group].ops {
            self.added += 1;
            classes.add(ir, op)?;
        }
        Ok(())
    }
}
