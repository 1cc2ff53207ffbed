//! Decisions as records: the change considered, its outcome and the reason, with the cost before and after.

use fuser_analysis::axes::value_text;
use fuser_analysis::cost::{Cost, Refusal};
use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Sym, Value};

use super::graph::{Graph, Index};

/// The kind of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// One kernel for all that no boundary separates.
    Component,
    /// Two groups into one.
    Merge,
    /// Two groups that have nothing in common into one.
    Horizontal,
    /// The groups of a component otherwise: the optimum over few parts.
    Regroup,
    /// Ops from one group to another.
    Move,
    /// Ops of one group in others as well.
    Copy,
    /// A round of rematerialization and of merging what it leaves.
    Round,
    /// One kernel for the ops of a pattern of this name.
    Label(Sym),
    /// The groups that begin with those of labels, in place of those that do not.
    Labels,
    /// The groups of one layer for all layers that are equal.
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
    /// A value that names each part, the last one that it makes: the groups, or the ops and the groups that they go to.
    pub parts: Vec<Value>,
    /// Ops concerned.
    pub ops: usize,
    /// The reason against it; `None`: it was done.
    pub refusal: Option<Refusal>,
    /// Cost before, where it was known.
    pub before: Option<Cost>,
    /// Cost after, where it was known.
    pub after: Option<Cost>,
}

impl Record {
    /// True if `ir` has all that the decision names.
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

/// The value that names a group: the first that its last op makes.
pub(super) fn name_of(ir: &Ir, graph: &Graph, last: Index) -> Option<Value> {
    ir.results(graph.ops[last as usize]).first().copied()
}
