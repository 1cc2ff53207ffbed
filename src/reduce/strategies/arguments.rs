//! Removal of program arguments that are unused or replaceable by another one of the same type; the others lose their
//! attributes.

use fuser_ir::{Ir, Op, TypeKind, Value};

use crate::reduce::edit;
use crate::reduce::retype;
use crate::reduce::strategy::{Site, Strategy};

/// `arguments`
pub static ARGUMENTS: Strategy = Strategy {
    name: "arguments",
    doc: "drop arguments of programs and kernels; an earlier one of the same type takes the place of one that is used",
    sites,
    apply: drop_arguments,
    again: false,
};

/// `plain-arguments`
pub static PLAIN: Strategy = Strategy {
    name: "plain-arguments",
    doc: "make broadcast axes of arguments plain ones",
    sites: |ir, module| {
        let mut found = sites(ir, module);
        found.retain(|site| argument(ir, *site).is_some_and(|v| has_broadcast_axes(ir, v)));
        found
    },
    apply: make_plain,
    again: false,
};

fn argument(ir: &Ir, site: Site) -> Option<Value> {
    match site {
        Site::Part(op, index) => ir.args(ir.body(op, 0)?).get(index).copied(),
        _ => None,
    }
}

fn has_broadcast_axes(ir: &Ir, value: Value) -> bool {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.is_some_and(|t| t.dims.iter().any(|d| d.broadcast))
}

fn make_plain(ir: &mut Ir, module: Op, sites: &[Site]) {
    for site in sites {
        let Some(value) = argument(ir, *site) else {
            continue;
        };
        if let TypeKind::Tensor(mut tensor) = ir.value_kind(value).clone() {
            tensor.dims.iter_mut().for_each(|d| d.broadcast = false);
            let ty = ir.type_id(TypeKind::Tensor(tensor));
            ir.set_value_type(value, ty);
        }
    }
    retype::infer_again(ir, module);
}

fn sites(ir: &Ir, module: Op) -> Vec<Site> {
    let with_signature = |op: &Op| edit::syntax(ir, *op).signature;
    let count = |op| ir.body(op, 0).map_or(0, |b| ir.args(b).len());
    let parts = |op| (0..count(op)).map(move |i| Site::Part(op, i));
    let ops = ir.walk(module).into_iter().filter(with_signature);
    ops.flat_map(parts).collect()
}

fn drop_arguments(ir: &mut Ir, _module: Op, sites: &[Site]) {
    // The last first: indices before it stay what they are.
    for site in sites.iter().rev() {
        if let Site::Part(op, index) = *site
            && free(ir, op, index)
        {
            edit::drop_argument(ir, op, index);
        }
    }
}

/// Makes sure that nothing uses argument `index`.
fn free(ir: &mut Ir, op: Op, index: usize) -> bool {
    let Some(body) = ir.body(op, 0) else {
        return false;
    };
    let args: Vec<Value> = ir.args(body).to_vec();
    let Some((&arg, earlier)) = args.get(index).zip(args.get(..index)) else {
        return false;
    };
    if ir.is_unused(arg) {
        return true;
    }
    let same_type = |other: &&Value| ir.value_type(**other) == ir.value_type(arg);
    let Some(&other) = earlier.iter().find(same_type) else {
        return false;
    };
    ir.replace_all_uses(arg, other);
    true
}
