//! Programs for callers that own the memory of results: the caller chooses layouts of results, and which results
//! overwrite arguments.

use std::sync::Arc;

use fuser_dialects::task::verify::signature;
use fuser_ir::attr::AttrKind;
use fuser_ir::{Ir, layout, verify};

use super::{Error, Program, Result};
use crate::session::{Loaded, Session};
use crate::split::set_aliases;

impl Program {
    /// The program with row-major results, even for results that could be views of an argument. Result `i` overwrites
    /// argument `aliases[i]`, whatever the program says; results beyond the list overwrite nothing.
    ///
    /// ```
    /// let text = "task.program @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
    ///   %t = fusion.permute %x dims [1, 0]
    ///   task.return %t
    /// }";
    /// let program = fuser::Program::parse(text)?.for_caller(&[Some(1)])?;
    /// assert!(program.text().contains("-> (tensor<4x4xf32, [0, 1]> {alias = 1})"));
    /// # Ok::<(), fuser::Error>(())
    /// ```
    ///
    /// # Errors
    /// An argument that the program does not have, that has another type than the result, or that two results overwrite.
    pub fn for_caller(&self, aliases: &[Option<usize>]) -> Result<Self> {
        let Loaded {
            ir,
            module,
            program,
            ..
        } = &*self.loaded;
        let (mut ir, module, program) = (ir.clone(), *module, *program);
        let (inputs, mut results) = signature(&ir, program)
            .map(|(inputs, results)| (inputs.to_vec(), results.to_vec()))
            .unwrap_or_default();
        for ty in &mut results {
            let rank = ir.ty(*ty).as_tensor().map_or(0, |tensor| tensor.dims.len());
            let order: Vec<usize> = (0..rank).collect();
            *ty = match rank {
                0 | 1 => *ty,
                _ => layout::with(&mut ir, *ty, &order),
            };
        }
        let mut over = vec![None; results.len()];
        over.iter_mut()
            .zip(aliases)
            .for_each(|(to, from)| *to = *from);
        let ty = ir.function_type(inputs, results);
        let ty = ir.attr(AttrKind::Type(ty));
        ir.set_attr(program, "function_type", ty);
        ir.remove_attr(program, "res_attrs");
        set_aliases(&mut ir, program, &over);
        let found = verify(&mut ir, module);
        if found.has_errors() {
            return Err(Error::of(found.items, &self.sources));
        }
        let name = ir.symbol_name(program).map(str::to_owned);
        let loaded = Session::load_module(ir, module, name.as_deref());
        let empty = Ir::new(fuser_dialects::registry());
        let loaded = loaded.map_err(|error| Error::of(error.diagnostics(&empty), &self.sources))?;
        Ok(Self {
            loaded: Arc::new(loaded),
            sources: self.sources.clone(),
            warnings: Vec::new(),
        })
    }
}
