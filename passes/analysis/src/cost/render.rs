//! Plans as text, for tests and explanations.

use std::fmt::Write;

use fuser_ir::entity::Entity;
use fuser_ir::{Ir, Op, Value};

use super::plan::{Kind, Plan, Sweep};
use crate::axes::value_text;

impl Plan {
    /// The sweeps with their roles, phases and traffic, then the cost.
    pub fn render(&self, ir: &Ir) -> String {
        if self.kind == Kind::View {
            return "view\n".into();
        }
        let mut text = String::new();
        for (number, sweep) in self.sweeps.iter().enumerate() {
            sweep.render(ir, number, &mut text);
        }
        let cost = &self.cost;
        let _ = writeln!(
            text,
            "read {} write {} workspace {}",
            cost.read_bytes, cost.write_bytes, cost.workspace_bytes
        );
        for refusal in &self.rejected {
            let _ = writeln!(text, "rejected {}", refusal.render(ir));
        }
        text
    }
}

impl Sweep {
    fn render(&self, ir: &Ir, number: usize, text: &mut String) {
        let axes = self.axes.iter();
        let axes: Vec<String> = axes
            .map(|(axis, role)| format!("{} {}", role.name(), axis.index()))
            .collect();
        let _ = writeln!(text, "sweep {number}: {}", axes.join(", "));
        for (number, phase) in self.phases.iter().enumerate() {
            let _ = writeln!(text, "  phase {number}: {}", ops_text(ir, phase));
        }
        let lists = [
            ("accumulate", ops_text(ir, &self.accumulators)),
            ("epilogue", self.epilogue_text(ir)),
            ("load", values_text(ir, &self.loads)),
            ("fetch", values_text(ir, &self.fetches)),
            ("epilogue load", values_text(ir, &self.epilogue_loads)),
            ("keep", values_text(ir, &self.keeps)),
            ("store", values_text(ir, &self.stores)),
        ];
        for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            let _ = writeln!(text, "  {name}: {list}");
        }
    }
}

impl Sweep {
    /// The epilogue walks.
    fn epilogue_text(&self, ir: &Ir) -> String {
        let walks = self.epilogues.iter().map(|walk| ops_text(ir, &walk.ops));
        walks.collect::<Vec<_>>().join("; ")
    }
}

fn ops_text(ir: &Ir, ops: &[Op]) -> String {
    let results = ops.iter().filter_map(|&op| ir.results(op).first());
    let values: Vec<Value> = results.copied().collect();
    values_text(ir, &values)
}

fn values_text(ir: &Ir, values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(|&v| value_text(ir, v)).collect();
    texts.join(" ")
}
