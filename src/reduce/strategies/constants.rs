//! Replacement of constants by 0 or 1, so that readers of the result need not wonder about the number.

use fuser_ir::def::Computes;
use fuser_ir::{AttrKind, Ir, Op};

use crate::reduce::edit;
use crate::reduce::strategy::{Site, Strategy};

/// `constants-to-0`
pub static TO_ZERO: Strategy = Strategy {
    name: "constants-to-0",
    doc: "make constants 0",
    sites: odd_constants,
    apply: |ir, _, sites| set(ir, sites, 0),
    again: false,
};
/// `constants-to-1`
pub static TO_ONE: Strategy = Strategy {
    name: "constants-to-1",
    doc: "make constants 1",
    sites: odd_constants,
    apply: |ir, _, sites| set(ir, sites, 1),
    again: false,
};

/// Constants that are neither 0 nor 1.
fn odd_constants(ir: &Ir, module: Op) -> Vec<Site> {
    let is_odd = |op: &Op| ir.computes(*op) == Some(Computes::Constant) && !is_plain(ir, *op);
    let ops = ir.walk(module).into_iter();
    ops.filter(is_odd).map(Site::Op).collect()
}

fn is_plain(ir: &Ir, op: Op) -> bool {
    match ir.attr_of(op, "value") {
        Some(AttrKind::Int { value, .. }) => matches!(value, 0 | 1),
        Some(AttrKind::Float { bits, .. }) => {
            [0.0_f64, 1.0].iter().any(|plain| plain.to_bits() == *bits)
        }
        Some(AttrKind::Bool(_)) => true,
        _ => false,
    }
}

fn set(ir: &mut Ir, sites: &[Site], value: i8) {
    for site in sites {
        let Site::Op(op) = *site else { continue };
        let dtype = ir
            .results(op)
            .first()
            .and_then(|&r| ir.value_kind(r).dtype());
        if let Some(dtype) = dtype {
            let value = edit::number(ir, dtype, value);
            ir.set_attr(op, "value", value);
        }
    }
}
