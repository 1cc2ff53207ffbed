//! Replaces tile memory that no two threads share by registers.
//!
//! A row kept from one phase to the next is written and read by loops with equal distributions over threads. Each
//! thread then reads only its own stores, which needs no shared memory, barrier or load.
//!
//! ```text
//! %t = kernel.alloc : memref<1024xf32, tile>   =>   %t = kernel.alloc : memref<1024xf32, register>
//! ```
//!
//! A single element outside of thread loops is computed by all threads alike, and becomes local to each.
//!
//! Limited to [`rounds::room`] registers for each thread, in program order of the allocations: further values would be
//! spilled to slow memory.

use fuser_analysis::targets::{self, TARGET};
use fuser_dialects::kernel::{self, rounds};
use fuser_ir::types::TypeKind;
use fuser_pass::{PassContext, PassDef, StatDef};

/// `keep-in-registers`
pub static KEEP_IN_REGISTERS: PassDef = PassDef {
    name: "keep-in-registers",
    summary: "moves tile memory that no two threads share to registers",
    doc: "In each `kernel.func` of more than one thread: an allocation in `tile` memory each element of which one thread alone touches, \
          in loops of few rounds with constant bounds, becomes one in `register` memory; one of a single element that no thread \
          loop touches, one in `local` memory.",
    works_on: "kernel.func",
    anchor: &["builtin.module"],
    statistics: &[StatDef {
        name: "allocations",
        doc: "allocations moved to registers",
    }],
    options: &[TARGET],
    run: |ctx| {
        run(ctx);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) {
    let registers = targets::of(ctx).registers;
    for func in ctx.ir.children(ctx.op) {
        if !ctx.ir.is(func, &kernel::FUNC) {
            continue;
        }
        let threads = ctx.ir.int_of(func, "threads").unwrap_or(1);
        let blocks = ctx.ir.int_of(func, "cluster").unwrap_or(1).max(1);
        let mut left = rounds::room(registers, threads / blocks);
        for alloc in ctx.ir.children(func) {
            let own = rounds::own_memory(ctx.ir, alloc, threads);
            let Some((space, bytes)) = own.filter(|own| own.1 <= left) else {
                continue;
            };
            left -= bytes;
            let memory = ctx.ir.result(alloc, 0);
            if let TypeKind::MemRef { dims, dtype, .. } = ctx.ir.value_kind(memory).clone() {
                let ty = ctx.ir.type_id(TypeKind::MemRef { dims, dtype, space });
                ctx.ir.set_value_type(memory, ty);
                ctx.count("allocations", 1);
            }
        }
    }
}
