//! Removal of results of programs, tasks, loops and branches, with the ops that only fed them.

use fuser_ir::{Ir, Op, Traits, Value};

use crate::reduce::edit::{self, StandIn};
use crate::reduce::strategy::{Site, Strategy};

/// `results`
pub static RESULTS: Strategy = Strategy {
    name: "results",
    doc: "drop results of programs and regions; inside, an argument takes the place of a result that is used",
    sites,
    apply: drop_results,
    again: false,
};

/// `return-first-operand`
pub static TO_FIRST_OPERAND: Strategy = Strategy {
    name: "return-first-operand",
    doc: "return the first operand of the op that makes a result of a program, instead of the result",
    sites: returned,
    apply: |ir, _, sites| return_operands(ir, sites, |values| values.first().copied()),
    again: true,
};
/// `return-last-operand`
pub static TO_LAST_OPERAND: Strategy = Strategy {
    name: "return-last-operand",
    doc: "return the last operand of the op that makes a result of a program, instead of the result",
    sites: returned,
    apply: |ir, _, sites| return_operands(ir, sites, |values| values.last().copied()),
    again: true,
};

/// Results of programs that ops compute. Only this removes the end of a chain whose types change along it.
fn returned(ir: &Ir, module: Op) -> Vec<Site> {
    let mut found = sites(ir, module);
    found.retain(|site| matches!(*site, Site::Part(op, i) if producer(ir, op, i).is_some()));
    found
}

/// The op with operands that makes returned value `index`, and the terminator.
fn producer(ir: &Ir, owner: Op, index: usize) -> Option<(Op, Op)> {
    if !edit::syntax(ir, owner).signature {
        return None;
    }
    let end = ir.body(owner, 0).and_then(|b| ir.terminator(b))?;
    let value = ir.operands(end).nth(index)?;
    let producer = ir.def_op(value)?;
    (ir.operand_count(producer) > 0).then_some((producer, end))
}

fn return_operands(ir: &mut Ir, sites: &[Site], choose: fn(&[Value]) -> Option<Value>) {
    for site in sites {
        let Site::Part(owner, index) = *site else {
            continue;
        };
        let Some((producer, end)) = producer(ir, owner, index) else {
            continue;
        };
        let operands: Vec<Value> = ir.operands(producer).collect();
        if let Some(value) = choose(&operands) {
            ir.set_operand(end, index, value);
            edit::refresh_signature(ir, owner);
        }
    }
}

fn sites(ir: &Ir, module: Op) -> Vec<Site> {
    let parts = |op: Op| (0..result_count(ir, op)).map(move |i| Site::Part(op, i));
    ir.walk(module).into_iter().flat_map(parts).collect()
}

/// Results that can be dropped.
fn result_count(ir: &Ir, op: Op) -> usize {
    if edit::syntax(ir, op).signature {
        let end = ir.body(op, 0).and_then(|b| ir.terminator(b));
        return end.map_or(0, |end| ir.operand_count(end));
    }
    match edit::yields_results(ir, op) && !ir.has(op, Traits::ISOLATED) {
        true => ir.results(op).len(),
        false => 0,
    }
}

fn drop_results(ir: &mut Ir, _module: Op, sites: &[Site]) {
    // The last first: users before what they use, and indices before a dropped one stay what they are.
    for site in sites.iter().rev() {
        let Site::Part(op, index) = *site else {
            continue;
        };
        if edit::syntax(ir, op).signature {
            edit::drop_returned(ir, op, index);
        } else if unused(ir, op, index) {
            edit::drop_yielded(ir, op, index);
        }
    }
}

/// Makes sure that nothing uses result `index`.
fn unused(ir: &mut Ir, op: Op, index: usize) -> bool {
    let result = ir.result(op, index);
    if ir.is_unused(result) {
        return true;
    }
    let to = edit::stand_in(ir, op, ir.value_type(result), StandIn::Argument);
    if let Some(to) = to {
        ir.replace_all_uses(result, to);
    }
    to.is_some()
}
