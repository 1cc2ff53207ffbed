//! Removal of whole programs and kernels. It runs first, because no other edit removes as much with one test.

use fuser_ir::{Ir, Op};

use crate::reduce::strategy::{Site, Strategy};

/// `programs`
pub static PROGRAMS: Strategy = Strategy {
    name: "programs",
    doc: "remove what stands directly in the module: programs, kernels, modules",
    sites: |ir, module| ir.children(module).into_iter().map(Site::Op).collect(),
    apply: remove,
    again: false,
};

fn remove(ir: &mut Ir, _module: Op, sites: &[Site]) {
    for site in sites {
        if let Site::Op(op) = *site {
            ir.erase(op);
        }
    }
}
