//! Addresses on a CPU: a pointer, advanced by the terms of an index.
//!
//! An index is a sum of products. The pointer advances first by the terms of the outermost loop, then inward, and by
//! the constant last. Loop-invariant additions therefore move out of the loop (`licm`). The counter of the innermost
//! loop and the constant fit an instruction's addressing mode, which leaves little work to LLVM's strength reduction.

use fuser_dialects::kernel;
use fuser_dialects::kernel::rounds::around;
use fuser_dialects::kernel::sum::{Product, Sum};
use fuser_ir::Value;
use inkwell::values::PointerValue;
use rustc_hash::FxHashMap;

use super::Lowering;
use crate::error::CodegenError;
use crate::expr::{Elem, Val};
use crate::memory;

impl<'a, 'ctx> Lowering<'a, 'ctx> {
    /// Records the loop depth at which each value changes: the depth of the innermost counter or load that it depends
    /// on.
    pub(super) fn note_depths(&mut self) {
        let ir = self.ir;
        let mut loops = FxHashMap::default();
        for op in ir.walk(self.func) {
            let here = around(ir, op).map_or(0, |of| loops.get(&of).copied().unwrap_or(0));
            if ir.is(op, &kernel::FOR) {
                loops.insert(op, here + 1);
                let args = ir.body(op, 0).map_or(&[][..], |body| ir.args(body));
                self.depths.extend(args.iter().map(|&arg| (arg, here + 1)));
            }
            let operands = ir.operands(op).map(|value| self.depth(value)).max();
            let follows = ir.computes(op).is_some();
            let depth = if follows { operands.unwrap_or(0) } else { here };
            let results = ir.results(op).iter();
            self.depths.extend(results.map(|&result| (result, depth)));
        }
    }

    fn depth(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// The address of the element `index` of `base`.
    pub(super) fn moved(
        &self,
        base: PointerValue<'ctx>,
        elem: Elem,
        index: Value,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let sum = (!self.emit.has_threads()).then(|| Sum::of(self.ir, index, &mut |value| value));
        let Some(mut sum) = sum.flatten() else {
            return Ok(memory::element(self.emit, base, elem, self.value(index)?));
        };
        let constant = sum.take_constant();
        let depth = |product: &Product| {
            let depths = product.iter().map(|unknown| self.depth(unknown.value));
            depths.max().unwrap_or(0)
        };
        let terms = sum
            .0
            .iter()
            .map(|(product, &factor)| (depth(product), product, factor));
        let mut terms: Vec<_> = terms.collect();
        terms.sort_by_key(|term| term.0);
        let mut address = base;
        for alike in terms.chunk_by(|a, b| a.0 == b.0) {
            let mut offset = self.term(alike[0].1, alike[0].2)?;
            for &(_, product, factor) in &alike[1..] {
                offset = offset + self.term(product, factor)?;
            }
            address = memory::element(self.emit, address, elem, offset);
        }
        let constant = self.emit.constant_int(64, None, constant);
        Ok(memory::element(self.emit, address, elem, constant))
    }

    fn term(&self, product: &Product, factor: i64) -> Result<Val<'a, 'ctx>, CodegenError> {
        let mut values = product.iter().map(|unknown| self.value(unknown.value));
        let Some(first) = values.next() else {
            return Ok(self.emit.constant_int(64, None, factor));
        };
        let mut product = first?;
        for value in values {
            product = product * value?;
        }
        Ok(match factor {
            1 => product,
            _ => product * factor,
        })
    }
}
