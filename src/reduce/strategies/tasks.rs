//! Removal of boundaries and regions; the ops inside move outside.

use fuser_dialects::kernel;
use fuser_dialects::task::outline;
use fuser_ir::{Ir, Op, Traits, Value};

use crate::reduce::edit::{self, FOR_BOUNDS, FOR_INDUCTION, StandIn};
use crate::reduce::strategy::{Site, Strategy};

/// `inline-tasks`
pub static INLINE: Strategy = Strategy {
    name: "inline-tasks",
    doc: "dissolve segments, sweeps, phases and patterns",
    sites: |ir, module| {
        let mut ops = ir.walk(module);
        ops.retain(|&op| outline::is_boundary(ir, op));
        ops.into_iter().map(Site::Op).collect()
    },
    apply: dissolve,
    again: false,
};
/// `unnest`
pub static UNNEST: Strategy = Strategy {
    name: "unnest",
    doc: "put the first region of a loop, branch or module in the place of the op: one iteration, the first alternative",
    sites: nests,
    apply: unnest,
    again: false,
};

fn dissolve(ir: &mut Ir, _module: Op, sites: &[Site]) {
    for site in sites {
        if let Site::Op(op) = *site {
            outline::dissolve(ir, op);
        }
    }
}

fn nests(ir: &Ir, module: Op) -> Vec<Site> {
    let is_nest = |op: Op| {
        let regions = ir.op_regions(op);
        let single = regions
            .first()
            .is_some_and(|&r| ir.region_blocks(r).count() == 1);
        single && !edit::syntax(ir, op).signature && !outline::is_boundary(ir, op)
    };
    let inner = ir.walk(module).into_iter().skip(1);
    inner.filter(|&op| is_nest(op)).map(Site::Op).collect()
}

fn unnest(ir: &mut Ir, _module: Op, sites: &[Site]) {
    // Inner ones first, so that an op moves out of all that go.
    for site in sites.iter().rev() {
        if let Site::Op(op) = *site {
            unnest_one(ir, op);
        }
    }
}

fn unnest_one(ir: &mut Ir, op: Op) {
    let Some(body) = ir.body(op, 0) else { return };
    for index in 0..ir.args(body).len() {
        let arg = ir.args(body)[index];
        let Some(to) = first_value(ir, op, index, arg) else {
            return;
        };
        ir.replace_all_uses(arg, to);
    }
    let yielded: Vec<Value> = match ir.last_op(body).filter(|&o| ir.has(o, Traits::TERMINATOR)) {
        Some(end) => {
            let values = ir.operands(end).collect();
            ir.erase(end);
            values
        }
        None => vec![],
    };
    ir.inline_block_before(body, op);
    let results = ir.results(op).to_vec();
    for (from, to) in results.into_iter().zip(yielded) {
        ir.replace_all_uses(from, to);
    }
    ir.erase(op);
}

/// The value of body argument `index` when the region is first entered.
fn first_value(ir: &mut Ir, op: Op, index: usize, arg: Value) -> Option<Value> {
    if ir.is(op, &kernel::FOR) {
        let at = match index < FOR_INDUCTION {
            true => index,
            false => FOR_BOUNDS + index - FOR_INDUCTION,
        };
        return (at < ir.operand_count(op)).then(|| ir.operand(op, at));
    }
    edit::stand_in(ir, op, ir.value_type(arg), StandIn::Argument)
}
