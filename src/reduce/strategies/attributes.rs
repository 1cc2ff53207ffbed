//! Drops redundant text: discardable attributes, optional clauses, attributes of arguments and results, layouts.

use std::collections::BTreeSet;

use fuser_ir::{Ir, Op, Sym};

use crate::reduce::retype::{self, Change};
use crate::reduce::strategy::{Site, Strategy};

/// `attributes`
pub static ATTRIBUTES: Strategy = Strategy {
    name: "attributes",
    doc: "drop discardable attributes, optional clauses, attributes of arguments and results",
    sites,
    apply: |ir, _, sites| {
        for site in sites {
            if let Site::Attr(op, key) = *site {
                let key = ir.str(key).to_owned();
                ir.remove_attr(op, &key);
            }
        }
    },
    again: false,
};
/// `layouts`
pub static LAYOUTS: Strategy = Strategy {
    name: "layouts",
    doc: "make tensors with a layout dense",
    sites: |ir, module| {
        let layouts = retype::tensors(ir, module);
        let layouts: BTreeSet<_> = layouts.iter().filter_map(|t| t.encoding).collect();
        layouts.into_iter().map(Site::Layout).collect()
    },
    apply: |ir, module, sites| {
        let mut change = Change::default();
        for site in sites {
            if let Site::Layout(layout) = *site {
                change.layouts.insert(layout);
            }
        }
        change.apply(ir, module);
    },
    again: false,
};

fn sites(ir: &Ir, module: Op) -> Vec<Site> {
    let mut sites = Vec::new();
    for op in ir.walk(module) {
        let keys = ir.attrs(op).iter().map(|(key, _)| *key);
        let dropped = keys.filter(|key| is_optional(ir, op, *key));
        sites.extend(dropped.map(|key| Site::Attr(op, key)));
    }
    sites
}

/// True if `op` is valid without the attribute. Symbol names always stay, because other ops refer to them.
fn is_optional(ir: &Ir, op: Op, key: Sym) -> bool {
    let key = ir.str(key);
    if matches!(key, "sym_name" | "function_type") {
        return false;
    }
    let Some(def) = ir.def(op) else { return true };
    let clause = def.clauses.iter().find(|c| c.name == key);
    clause.is_none_or(|c| !c.required)
}
