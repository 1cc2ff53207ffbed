//! Decisions as records: the change considered, its outcome and the reason, with the cost before and after.

use fuser_analysis::axes::value_text;
use fuser_analysis::cost::{Cost, Refusal};
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, Value};

use super::graph::{Graph, Index};

/// The kind of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// One kernel for a whole component.
    Component,
    /// Merges two groups.
    Merge,
    /// Merges two groups that have nothing in common.
    Horizontal,
    /// Groups the ops of neighbours anew: the optimum over few parts.
    Regroup,
    /// Moves ops from one group to another.
    Move,
    /// Copies ops of one group into others.
    Copy,
    /// A round of rematerialization, followed by merging.
    Round,
    /// One kernel for the ops of a pattern with this name.
    Label(Sym),
    /// Prefers groups grown from labels to groups grown without.
    Labels,
    /// Applies the groups of one layer to all equal layers.
    Layers,
}

impl Action {
    /// The word in records.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Component => "component",
            Action::Merge => "merge",
            Action::Horizontal => "horizontal",
            Action::Regroup => "regroup",
            Action::Move => "move",
            Action::Copy => "copy",
            Action::Round => "round",
            Action::Label(_) => "label",
            Action::Labels => "labels",
            Action::Layers => "layers",
        }
    }
}

/// A decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The kind of the decision.
    pub action: Action,
    /// Values that name the parts, each the last value that a part computes. Parts are the groups; or the ops, and the
    /// groups that they go to.
    pub parts: Vec<Value>,
    /// Number of ops concerned.
    pub ops: usize,
    /// The reason against it; `None` if the change was made.
    pub refusal: Option<Refusal>,
    /// Cost before, if known.
    pub before: Option<Cost>,
    /// Cost after, if known.
    pub after: Option<Cost>,
}

impl Record {
    /// True if `ir` contains everything that the decision names.
    pub fn is_of(&self, ir: &Ir) -> bool {
        let value = |v: Value| (v.index() < ir.value_slots()).then_some(v);
        let op = |o: Op| (o.index() < ir.op_slots()).then_some(o);
        let refusal = self.refusal.as_ref();
        self.parts.iter().all(|&part| value(part).is_some())
            && refusal.is_none_or(|refusal| refusal.map(&value, &op).is_some())
    }
    /// `merge %a + %b refused incompatible-factoring { ... } bytes 10 -> 8 launches 2 -> 1`
    pub fn render(&self, ir: &Ir) -> String {
        let parts: Vec<String> = self.parts.iter().map(|&v| value_text(ir, v)).collect();
        let outcome = match &self.refusal {
            None => "accepted".into(),
            Some(refusal) => format!("refused {}", refusal.render(ir)),
        };
        let change = match (&self.before, &self.after) {
            (Some(b), Some(a)) => format!(
                " bytes {} -> {} launches {} -> {}",
                b.bytes(),
                a.bytes(),
                b.launches,
                a.launches
            ),
            (None, Some(a)) => format!(" bytes {} launches {}", a.bytes(), a.launches),
            _ => String::new(),
        };
        let between = match self.action {
            Action::Move | Action::Copy | Action::Round => " -> ",
            _ => " + ",
        };
        let name = match self.action {
            Action::Label(name) => format!(" @{}", ir.str(name)),
            _ => String::new(),
        };
        let parts = parts.join(between);
        let gap = if parts.is_empty() { "" } else { " " };
        format!("{}{name}{gap}{parts} {outcome}{change}", self.action.name())
    }
}

/// The value that names a group: the first result of its last op.
pub(super) fn name_of(ir: &Ir, graph: &Graph, last: Index) -> Option<Value> {
    ir.results(graph.ops[last as usize]).first().copied()
}
