//! Removal of ops: the users of their results get another value of the same type.
//!
//! The choice of the replacement makes the difference. An operand of the op keeps the rest connected, so that a failure
//! that needs a chain keeps its chain. An argument cuts it; one argument of its own for each keeps values apart that a
//! failure needs apart (`x - x` hides what `x - y` shows).

use fuser_ir::entity::SecondaryMap;
use fuser_ir::{Ir, Op, Traits, Value};

use crate::reduce::edit::{self, StandIn};
use crate::reduce::retype;
use crate::reduce::strategy::{Site, Strategy};

/// `ops-to-operands`
pub static TO_OPERANDS: Strategy = Strategy {
    name: "ops-to-operands",
    doc: "remove ops; an operand of the same type takes the place of a result, else an argument of the program",
    sites: removable,
    apply: |ir, module, sites| remove(ir, module, sites, true, StandIn::Argument),
    again: false,
};
/// `ops-to-arguments`
pub static TO_ARGUMENTS: Strategy = Strategy {
    name: "ops-to-arguments",
    doc: "remove ops; an argument of the program takes the place of a result, a new one if none has the type",
    sites: removable,
    apply: |ir, module, sites| remove(ir, module, sites, false, StandIn::Argument),
    again: false,
};
/// `ops-to-fresh-arguments`
pub static TO_FRESH: Strategy = Strategy {
    name: "ops-to-fresh-arguments",
    doc: "remove ops; a new argument of the program takes the place of each result",
    sites: removable,
    apply: |ir, module, sites| remove(ir, module, sites, false, StandIn::Fresh),
    again: false,
};
/// `ops-to-constants`
pub static TO_CONSTANTS: Strategy = Strategy {
    name: "ops-to-constants",
    doc: "replace ops that have one result and operands by the constant 0",
    sites: |ir, module| {
        let mut sites = removable(ir, module);
        sites.retain(|site| matches!(*site, Site::Op(op) if has_inputs(ir, op)));
        sites
    },
    apply: |ir, module, sites| remove(ir, module, sites, false, StandIn::Constant),
    again: false,
};
/// `operands`
pub static OPERANDS: Strategy = Strategy {
    name: "operands",
    doc: "drop operands of ops that take any number of them",
    sites: optional_operands,
    apply: drop_operands,
    again: false,
};

/// All ops below the programs but terminators, which a block cannot be without.
fn removable(ir: &Ir, module: Op) -> Vec<Site> {
    let inner = |op: &Op| ir.parent_op(*op).is_some_and(|p| p != module);
    let stays = |op: Op| ir.has(op, Traits::TERMINATOR) || ir.successor_count(op) > 0;
    let ops = ir.walk(module).into_iter().skip(1).filter(inner);
    ops.filter(|&op| !stays(op)).map(Site::Op).collect()
}

fn has_inputs(ir: &Ir, op: Op) -> bool {
    let inputs = ir.operand_count(op) > 0 || !ir.op_regions(op).is_empty();
    inputs && ir.results(op).len() == 1
}

fn remove(ir: &mut Ir, module: Op, sites: &[Site], operands: bool, how: StandIn) {
    // Users before what they use: a result whose users went needs nothing in its place.
    for op in outermost(ir, module, sites).into_iter().rev() {
        let results = ir.results(op).to_vec();
        let placed = results
            .into_iter()
            .all(|r| ir.is_unused(r) || replace(ir, op, r, operands, how));
        if placed {
            ir.erase(op);
        }
    }
}

/// The ops of `sites` that lie in no other of them, in program order.
fn outermost(ir: &Ir, module: Op, sites: &[Site]) -> Vec<Op> {
    let mut chosen = SecondaryMap::<Op, bool>::default();
    for site in sites {
        if let Site::Op(op) = *site {
            chosen[op] = true;
        }
    }
    let mut found = Vec::new();
    let mut stack = vec![module];
    while let Some(op) = stack.pop() {
        match chosen[op] {
            true => found.push(op),
            false => stack.extend(ir.children(op).into_iter().rev()),
        }
    }
    found
}

fn replace(ir: &mut Ir, op: Op, result: Value, operands: bool, how: StandIn) -> bool {
    let ty = ir.value_type(result);
    let mut own = ir.operands(op).filter(|_| operands);
    let operand = own.find(|&v| ir.value_type(v) == ty && ir.def_op(v) != Some(op));
    drop(own);
    let to = match operand {
        Some(value) => Some(value),
        None => edit::stand_in(ir, op, ty, how),
    };
    if let Some(to) = to {
        ir.replace_all_uses(result, to);
    }
    to.is_some()
}

/// The optional operands of ops, beyond the minimum of the op table, if the op's types can be inferred again.
fn optional_operands(ir: &Ir, module: Op) -> Vec<Site> {
    let mut sites = Vec::new();
    for op in ir.walk(module) {
        let Some(def) = ir.def(op) else { continue };
        let variadic = def.operands.last().is_some_and(|o| o.variadic);
        if variadic && def.regions.is_empty() && !def.traits.contains(Traits::TERMINATOR) {
            let least = def.operands.len() - 1;
            sites.extend((least..ir.operand_count(op)).map(|i| Site::Part(op, i)));
        }
    }
    sites
}

fn drop_operands(ir: &mut Ir, module: Op, sites: &[Site]) {
    // The last first: indices before it stay what they are.
    for site in sites.iter().rev() {
        if let Site::Part(op, index) = *site {
            edit::drop_operand(ir, op, index);
        }
    }
    retype::infer_again(ir, module);
}
