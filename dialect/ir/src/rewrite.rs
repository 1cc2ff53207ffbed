//! Bounded greedy rewriting: folds and named patterns from a worklist, until nothing changes.
//!
//! Every op under a root is tried in program order: removed if it is dead, folded by its table, then offered to the
//! patterns of its name, in the order of benefit, highest first. An edit puts the ops that it touches back on the list.
//!
//! Guarantees: deterministic (the order is a function of the IR alone); terminates: a run stops with [`Overflow`] after
//! [`REWRITES_PER_OP`] rewrites per op of the input or [`MAX_ITERATIONS`] rounds, and names the patterns that were
//! busiest. A pattern that reports success without an edit changes nothing and is counted in
//! [`Outcome::false_successes`].
//!
//! Knows no dialect: constants are made by a function that the caller hands in. Never looks outside of the root.

use crate::attr::AttrId;
use crate::def::{Folded, OpDef, Traits};
use crate::entity::SecondaryMap;
use crate::intern::Sym;
use crate::ir::{Ir, NewOp, Op, OpName, Value};
use crate::types::TypeId;
use smallvec::SmallVec;

/// Rounds over the whole program: patterns that depend on far neighbours settle in two or three (MLIR's default, 10).
pub const MAX_ITERATIONS: u32 = 10;
/// Rewrites per op of the input: a healthy set of patterns needs fewer than two; unlimited sets hang on a ping-pong
/// pair.
pub const REWRITES_PER_OP: u64 = 64;
/// The number of patterns that an [`Overflow`] names.
const TOP_PATTERNS: usize = 5;
/// The name under which folds are counted.
pub const FOLD: &str = "fold";
/// The name under which removals of dead ops are counted.
pub const DEAD: &str = "dead";

/// A rewrite rule.
#[derive(Debug)]
pub struct Pattern {
    /// Name, as in `disable-patterns=cast-of-cast`.
    pub name: &'static str,
    /// One sentence: the forms before and after.
    pub summary: &'static str,
    /// Names of the ops it is tried on; empty: all ops.
    pub roots: &'static [&'static str],
    /// Higher is tried first.
    pub benefit: u16,
    /// Tries the pattern at an op; returns true if it changed something. A replacement of an op has exactly the op's
    /// type: a layout in the type was chosen by the user.
    pub rewrite: fn(&mut Rewriter<'_>, Op) -> bool,
}

/// Makes the constant op for a folded value: its table and its parts (the driver adds name and location).
pub type MaterializeFn = fn(&mut Ir, AttrId, TypeId) -> Option<(&'static OpDef, NewOp)>;

/// Limits and parts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// Rounds at most.
    pub max_iterations: u32,
    /// Rewrites at most, per op found at the start.
    pub rewrites_per_op: u64,
    /// Use the folds of the op tables.
    pub fold: bool,
    /// Makes constants; without it, folds to constants are not used.
    pub materialize: Option<MaterializeFn>,
    /// Erase pure ops whose results nothing uses.
    pub erase_dead: bool,
    /// Ops that are neither folded nor erased nor offered to patterns, because a user marked them.
    pub keep: Option<fn(&Ir, Op) -> bool>,
    /// Patterns left out, by name.
    pub disabled: &'a [String],
    /// If not empty, the only patterns used.
    pub enabled: &'a [String],
}

impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            max_iterations: MAX_ITERATIONS,
            rewrites_per_op: REWRITES_PER_OP,
            fold: true,
            materialize: None,
            erase_dead: true,
            keep: None,
            disabled: &[],
            enabled: &[],
        }
    }
}

/// The outcome of a run, in counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Rewrites in all.
    pub rewrites: u64,
    /// Ops looked at: the measure of the work done.
    pub visits: u64,
    /// Rounds, the last of which changed nothing.
    pub iterations: u32,
    /// Times each pattern applied, in the order of the patterns; [`FOLD`] and [`DEAD`] first. Zeros are left out.
    pub counts: Vec<(&'static str, u64)>,
    /// Patterns that said "changed" and were not, with the number of times. A defect of the pattern.
    pub false_successes: Vec<(&'static str, u64)>,
}

impl Outcome {
    /// True if anything changed.
    pub fn changed(&self) -> bool {
        self.rewrites > 0
    }
    /// Times the pattern `name` applied.
    pub fn count(&self, name: &str) -> u64 {
        let found = self.counts.iter().find(|(n, _)| *n == name);
        found.map_or(0, |(_, count)| *count)
    }
}

/// The limit was reached: the patterns undo each other, or grow the program without end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overflow {
    /// True if the number of rounds was the limit (else the number of rewrites).
    pub rounds: bool,
    /// The limit.
    pub limit: u64,
    /// The busiest patterns, busiest first.
    pub top: Vec<(&'static str, u64)>,
    /// The op at which the run stopped, if it still exists.
    pub at: Option<Op>,
}

impl std::fmt::Display for Overflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.rounds { "rounds" } else { "rewrites" };
        write!(f, "no fixed point after {} {what}; busiest: ", self.limit)?;
        for (i, (name, count)) in self.top.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}'{name}' {count}")?;
        }
        Ok(())
    }
}

/// Rewrites everything inside `root` (not `root` itself) until nothing changes.
pub fn rewrite_greedily(
    ir: &mut Ir,
    root: Op,
    patterns: &[&Pattern],
    config: &Config<'_>,
) -> Result<Outcome, Overflow> {
    let patterns = chosen(patterns, config);
    let mut driver = Driver::new(ir, root, patterns, config);
    loop {
        if driver.outcome.iterations == config.max_iterations {
            return Err(driver.overflow(true, config.max_iterations.into()));
        }
        driver.outcome.iterations += 1;
        let before = driver.outcome.rewrites;
        driver.round(root)?;
        if driver.outcome.rewrites == before {
            return Ok(driver.finish());
        }
    }
}

fn chosen<'p>(patterns: &[&'p Pattern], config: &Config<'_>) -> Vec<&'p Pattern> {
    let wanted = |p: &&&Pattern| {
        let on = config.enabled.is_empty() || config.enabled.iter().any(|n| n == p.name);
        on && !config.disabled.iter().any(|n| n == p.name)
    };
    let mut list: Vec<&Pattern> = patterns.iter().filter(wanted).copied().collect();
    // Stable: equal benefits keep the order of the table.
    list.sort_by_key(|p| std::cmp::Reverse(p.benefit));
    list
}

/// The IR as patterns may edit it: each edit is noticed, so that the ops it touches are tried again.
pub struct Rewriter<'a> {
    ir: &'a mut Ir,
    list: Vec<Op>,
    listed: SecondaryMap<Op, bool>,
    edits: u64,
}

impl Rewriter<'_> {
    /// The program.
    pub fn ir(&self) -> &Ir {
        self.ir
    }
    /// The program, to intern types and attributes. Edits made through it must be reported to [`Rewriter::touch`].
    pub fn ir_mut(&mut self) -> &mut Ir {
        self.ir
    }
    /// Reports an edit of `op`: it and the users of its results are tried again.
    pub fn touch(&mut self, op: Op) {
        self.edits += 1;
        self.push(op);
        self.push_users_of(op);
    }
    /// Makes an op before `anchor`, at the location of `anchor` where `new` names none.
    pub fn insert_before(&mut self, anchor: Op, def: &'static OpDef, mut new: NewOp) -> Op {
        new.loc = new.loc.or(Some(self.ir.op_loc(anchor)));
        let op = self.ir.create_op(def, new);
        self.ir.insert_before(anchor, op);
        self.edits += 1;
        self.push(op);
        op
    }
    /// Replaces `op` by a new op with the same result types, names and location.
    pub fn replace_with_op(
        &mut self,
        op: Op,
        def: &'static OpDef,
        operands: &[Value],
        attrs: &[(Sym, AttrId)],
    ) -> Op {
        let results = self.ir.results(op).iter();
        let results = results.map(|&r| (self.ir.value_type(r), self.ir.value_name_sym(r)));
        let new = NewOp {
            operands: SmallVec::from_slice(operands),
            results: results.collect(),
            attrs: SmallVec::from_slice(attrs),
            ..NewOp::default()
        };
        let made = self.insert_before(op, def, new);
        let values: SmallVec<[Value; 2]> = SmallVec::from_slice(self.ir.results(made));
        self.replace(op, &values);
        made
    }
    /// Points all uses of `op`'s results at `values` and erases `op`. Names go along where `values` have none.
    pub fn replace(&mut self, op: Op, values: &[Value]) {
        self.push_users_of(op);
        let results: SmallVec<[Value; 2]> = SmallVec::from_slice(self.ir.results(op));
        for (&from, &to) in results.iter().zip(values) {
            self.ir.replace_all_uses(from, to);
            if let Some(def) = self.ir.def_op(to) {
                self.push(def);
            }
        }
        self.erase(op);
    }
    /// Erases `op`; the producers of its operands are tried again, since they may be dead now.
    pub fn erase(&mut self, op: Op) {
        let feeding: SmallVec<[Value; 4]> = self.ir.operands(op).collect();
        self.ir.erase(op);
        self.edits += 1;
        for value in feeding {
            if let Some(def) = self.ir.def_op(value) {
                self.push(def);
            }
        }
    }
    /// Sets operand `index` of `op`.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let old = self.ir.operand(op, index);
        self.ir.set_operand(op, index, value);
        if let Some(def) = self.ir.def_op(old) {
            self.push(def);
        }
        self.touch(op);
    }
    /// Sets an attribute of `op`.
    pub fn set_attr(&mut self, op: Op, name: &str, value: AttrId) {
        self.ir.set_attr(op, name, value);
        self.touch(op);
    }
    fn push(&mut self, op: Op) {
        if !self.listed[op] {
            self.listed[op] = true;
            self.list.push(op);
        }
    }
    fn push_users_of(&mut self, op: Op) {
        let results: SmallVec<[Value; 2]> = SmallVec::from_slice(self.ir.results(op));
        for result in results {
            let users: SmallVec<[Op; 8]> = self.ir.users(result).collect();
            users.into_iter().for_each(|user| self.push(user));
        }
    }
    fn pop(&mut self) -> Option<Op> {
        loop {
            let op = self.list.pop()?;
            self.listed[op] = false;
            if !self.ir.is_erased(op) {
                return Some(op);
            }
        }
    }
}

/// One run: the rewriter, the patterns by op name, the counters.
struct Driver<'a, 'p> {
    rewriter: Rewriter<'a>,
    root: Op,
    patterns: Vec<&'p Pattern>,
    by_name: SecondaryMap<OpName, Option<std::rc::Rc<[usize]>>>,
    config: Config<'a>,
    max_rewrites: u64,
    folds: u64,
    dead: u64,
    applied: Vec<u64>,
    false_successes: Vec<u64>,
    outcome: Outcome,
}

impl<'a, 'p> Driver<'a, 'p> {
    fn new(ir: &'a mut Ir, root: Op, patterns: Vec<&'p Pattern>, config: &Config<'a>) -> Self {
        let count = patterns.len();
        Self {
            rewriter: Rewriter {
                ir,
                list: Vec::new(),
                listed: SecondaryMap::default(),
                edits: 0,
            },
            root,
            patterns,
            by_name: SecondaryMap::default(),
            config: *config,
            max_rewrites: u64::MAX,
            folds: 0,
            dead: 0,
            applied: vec![0; count],
            false_successes: vec![0; count],
            outcome: Outcome::default(),
        }
    }
    fn round(&mut self, root: Op) -> Result<(), Overflow> {
        self.fill(root);
        while let Some(op) = self.rewriter.pop() {
            self.outcome.visits += 1;
            if op != self.root && self.step(op) {
                self.outcome.rewrites += 1;
                if self.outcome.rewrites >= self.max_rewrites {
                    let mut overflow = self.overflow(false, self.max_rewrites);
                    overflow.at = Some(op).filter(|&op| !self.rewriter.ir.is_erased(op));
                    return Err(overflow);
                }
            }
        }
        Ok(())
    }
    /// Puts all ops on the list so that they are popped in program order.
    fn fill(&mut self, root: Op) {
        let mut ops = self.rewriter.ir.walk(root);
        if self.max_rewrites == u64::MAX {
            let ops = ops.len() as u64;
            self.max_rewrites = ops.saturating_mul(self.config.rewrites_per_op).max(1);
        }
        ops.reverse();
        for &op in &ops {
            self.rewriter.listed[op] = true;
        }
        self.rewriter.list = ops;
    }
    /// Tries everything at `op`; returns true if it changed something.
    fn step(&mut self, op: Op) -> bool {
        if self
            .config
            .keep
            .is_some_and(|keep| keep(self.rewriter.ir, op))
        {
            return false;
        }
        if self.config.erase_dead && is_trivially_dead(self.rewriter.ir, op) {
            self.rewriter.erase(op);
            self.dead += 1;
            return true;
        }
        if self.config.fold && self.fold(op) {
            self.folds += 1;
            return true;
        }
        let candidates = self.candidates(op);
        candidates.iter().any(|&index| self.apply(index, op))
    }
    fn apply(&mut self, index: usize, op: Op) -> bool {
        let before = self.rewriter.edits;
        let said = (self.patterns[index].rewrite)(&mut self.rewriter, op);
        let changed = self.rewriter.edits != before;
        self.applied[index] += u64::from(changed);
        self.false_successes[index] += u64::from(said && !changed);
        changed
    }
    fn candidates(&mut self, op: Op) -> std::rc::Rc<[usize]> {
        let name = self.rewriter.ir.name_id(op);
        if let Some(list) = &self.by_name[name] {
            return list.clone();
        }
        let text = self.rewriter.ir.name(op);
        let fits = |p: &Pattern| p.roots.is_empty() || p.roots.contains(&text);
        let all = self.patterns.iter().enumerate();
        let list: std::rc::Rc<[usize]> = all.filter(|(_, p)| fits(p)).map(|(i, _)| i).collect();
        self.by_name[name] = Some(list.clone());
        list
    }
    fn fold(&mut self, op: Op) -> bool {
        let Some(fold) = self.rewriter.ir.def(op).and_then(|def| def.fold) else {
            return false;
        };
        match fold(self.rewriter.ir, op) {
            None => false,
            Some(Folded::Values(values)) => self.fold_to_values(op, &values),
            Some(Folded::Constant(attr)) => self.fold_to_constant(op, attr),
        }
    }
    fn fold_to_values(&mut self, op: Op, values: &[Value]) -> bool {
        let results = self.rewriter.ir.results(op);
        if values.len() != results.len() || results.iter().any(|r| values.contains(r)) {
            return false;
        }
        self.rewriter.replace(op, values);
        true
    }
    fn fold_to_constant(&mut self, op: Op, attr: AttrId) -> bool {
        let (Some(materialize), &[result]) =
            (self.config.materialize, self.rewriter.ir.results(op))
        else {
            return false;
        };
        let ir = &mut *self.rewriter.ir;
        let (ty, name) = (ir.value_type(result), ir.value_name_sym(result));
        let Some((def, mut new)) = materialize(ir, attr, ty) else {
            return false;
        };
        if ir.is(op, def) {
            return false;
        }
        new.results = SmallVec::from_slice(&[(ty, name)]);
        let constant = self.rewriter.insert_before(op, def, new);
        let value = self.rewriter.ir.result(constant, 0);
        self.rewriter.replace(op, &[value]);
        true
    }
    fn overflow(&self, rounds: bool, limit: u64) -> Overflow {
        let mut top = self.counts(&self.applied);
        top.extend([(FOLD, self.folds), (DEAD, self.dead)]);
        top.retain(|(_, count)| *count > 0);
        top.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        top.truncate(TOP_PATTERNS);
        Overflow {
            rounds,
            limit,
            top,
            at: None,
        }
    }
    fn counts(&self, counters: &[u64]) -> Vec<(&'static str, u64)> {
        let pairs = self.patterns.iter().zip(counters);
        pairs
            .filter(|(_, c)| **c > 0)
            .map(|(p, c)| (p.name, *c))
            .collect()
    }
    fn finish(mut self) -> Outcome {
        let own = [(FOLD, self.folds), (DEAD, self.dead)];
        let mut counts: Vec<_> = own.into_iter().filter(|(_, c)| *c > 0).collect();
        counts.extend(self.counts(&self.applied));
        self.outcome.counts = counts;
        self.outcome.false_successes = self.counts(&self.false_successes);
        self.outcome
    }
}

/// True if `op` is pure, does not end a block, and has no used result.
pub fn is_trivially_dead(ir: &Ir, op: Op) -> bool {
    ir.has(op, Traits::PURE)
        && !ir.has(op, Traits::TERMINATOR)
        && ir.results(op).iter().all(|&r| ir.is_unused(r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::{DialectDef, Registry};
    use crate::types::DType;
    use std::sync::Arc;

    static LEAF: OpDef = OpDef {
        name: "t.leaf",
        traits: Traits::PURE,
        ..OpDef::EMPTY
    };
    static WRAP: OpDef = OpDef {
        name: "t.wrap",
        traits: Traits::PURE,
        ..OpDef::EMPTY
    };
    static SINK: OpDef = OpDef {
        name: "t.sink",
        ..OpDef::EMPTY
    };
    static ROOT: OpDef = OpDef {
        name: "t.root",
        ..OpDef::EMPTY
    };
    static T: DialectDef = DialectDef {
        name: "t",
        doc: "",
        ops: &[&LEAF, &WRAP, &SINK, &ROOT],
        discardable: &[],
    };

    fn add(ir: &mut Ir, block: crate::ir::Block, def: &'static OpDef, operands: &[Value]) -> Op {
        let ty = ir.scalar(DType::F32);
        let has_result = !std::ptr::eq(def, &SINK);
        let new = NewOp {
            operands: SmallVec::from_slice(operands),
            results: has_result.then_some((ty, None)).into_iter().collect(),
            ..NewOp::default()
        };
        let op = ir.create_op(def, new);
        ir.append_op(block, op);
        op
    }
    /// `leaf` wrapped `depth` times, and a sink.
    fn chain(depth: usize) -> (Ir, Op, Op) {
        let mut ir = Ir::new(Arc::new(Registry::new(&[&T])));
        let region = ir.new_region();
        let block = ir.append_block(region);
        let new = NewOp {
            regions: SmallVec::from_slice(&[region]),
            ..NewOp::default()
        };
        let root = ir.create_op(&ROOT, new);
        let mut last = add(&mut ir, block, &LEAF, &[]);
        for _ in 0..depth {
            let value = ir.result(last, 0);
            last = add(&mut ir, block, &WRAP, &[value]);
        }
        let value = ir.result(last, 0);
        let sink = add(&mut ir, block, &SINK, &[value]);
        (ir, root, sink)
    }
    fn unwrap_twice(rw: &mut Rewriter<'_>, op: Op) -> bool {
        let inner = rw.ir().def_op(rw.ir().operand(op, 0));
        let Some(inner) = inner.filter(|&i| rw.ir().is(i, &WRAP)) else {
            return false;
        };
        let value = rw.ir().operand(inner, 0);
        rw.replace(op, &[value]);
        true
    }
    static UNWRAP: Pattern = Pattern {
        name: "unwrap-twice",
        summary: "",
        roots: &["t.wrap"],
        benefit: 1,
        rewrite: unwrap_twice,
    };
    fn again(rw: &mut Rewriter<'_>, op: Op) -> bool {
        let operand = rw.ir().operand(op, 0);
        rw.replace_with_op(op, &WRAP, &[operand], &[]);
        true
    }
    static AGAIN: Pattern = Pattern {
        name: "again",
        summary: "",
        roots: &["t.wrap"],
        benefit: 1,
        rewrite: again,
    };
    static LIAR: Pattern = Pattern {
        name: "liar",
        summary: "",
        roots: &[],
        benefit: 9,
        rewrite: |_, _| true,
    };

    #[test]
    fn pairs_cancel_to_the_parity() {
        for depth in [0, 1, 2, 7, 33] {
            let (mut ir, root, _) = chain(depth);
            let outcome = rewrite_greedily(&mut ir, root, &[&UNWRAP], &Config::default()).unwrap();
            let left = ir.walk(root).len() - 3;
            assert_eq!(left, depth % 2, "depth {depth}");
            assert_eq!(outcome.count("unwrap-twice"), (depth / 2) as u64);
        }
    }
    #[test]
    fn overflow_names_the_busiest_pattern() {
        let (mut ir, root, _) = chain(1);
        let overflow = rewrite_greedily(&mut ir, root, &[&AGAIN], &Config::default()).unwrap_err();
        assert_eq!(overflow.limit, 4 * REWRITES_PER_OP);
        assert_eq!(overflow.top[0].0, "again");
        assert!(overflow.to_string().contains("'again' 256"), "{overflow}");
    }
    #[test]
    fn false_success_is_counted_and_harmless() {
        let (mut ir, root, _) = chain(2);
        let outcome = rewrite_greedily(&mut ir, root, &[&LIAR, &UNWRAP], &Config::default());
        let outcome = outcome.unwrap();
        assert_eq!(outcome.count("unwrap-twice"), 1);
        assert!(
            outcome
                .false_successes
                .iter()
                .any(|(n, c)| *n == "liar" && *c > 0)
        );
    }
    #[test]
    fn disabled_patterns_rest() {
        let (mut ir, root, _) = chain(2);
        let disabled = ["unwrap-twice".to_owned()];
        let config = Config {
            disabled: &disabled,
            ..Config::default()
        };
        let outcome = rewrite_greedily(&mut ir, root, &[&UNWRAP], &config).unwrap();
        assert!(!outcome.changed());
    }
    #[test]
    fn work_is_linear() {
        let visits = |depth| {
            let (mut ir, root, _) = chain(depth);
            let outcome = rewrite_greedily(&mut ir, root, &[&UNWRAP], &Config::default());
            outcome.unwrap().visits
        };
        assert!(
            visits(4096) <= 17 * visits(256),
            "{} {}",
            visits(4096),
            visits(256)
        );
    }
}
