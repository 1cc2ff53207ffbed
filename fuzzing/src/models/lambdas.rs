//! Writes folds and scans with a lambda, and last elements.

use super::program::{Clause, V};
use super::types::Type;
use super::writer::Writer;

impl Writer<'_> {
    /// A fold, or with `steps` a scan, of `x` along `dim`, by a lambda with accumulators of its type. Given are their
    /// initial values, the text between the arguments `%a0`, ..., `%e` and the end, the yielded values, and the ranges
    /// of the results.
    pub fn lambda(
        &mut self,
        steps: bool,
        x: V,
        dim: usize,
        init: &[&str],
        (body, yielded): (&str, &str),
        ranges: &[(f64, f64)],
    ) -> Vec<V> {
        let dtype = self.dtype_of(x).name();
        let arguments = (0..init.len()).map(|n| format!("%a{n}: {dtype}"));
        let arguments: Vec<String> = arguments.chain([format!("%e: {dtype}")]).collect();
        let body = body.replace("TYPE", dtype);
        let lambda = format!(
            "{{\n  ^bb0({}):\n{body}    fusion.yield {yielded}\n  }}",
            arguments.join(", ")
        );
        let mut dims = self.dims(x);
        match steps {
            true => dims[dim] = dims[dim].plain(),
            false => _ = dims.remove(dim),
        }
        let ty = Type::tensor(self.dtype_of(x), dims);
        let numbers = init.iter().map(|n| (*n).to_owned()).collect();
        let clauses = vec![
            Clause::Int("dim", dim as u64),
            Clause::Numbers("init", numbers),
        ];
        let name = if steps { "scan" } else { "fold" };
        let mut results = vec![self.write(name, &[x], clauses, ty.clone(), ranges[0])];
        results.extend(
            ranges[1..]
                .iter()
                .map(|&range| self.value("step", ty.clone(), range)),
        );
        if let Some(op) = self.program.ops.last_mut() {
            op.results.clone_from(&results);
            op.lambda = Some(lambda);
        }
        results
    }
    /// The last element along `dim`, 0 where there is none.
    pub fn last_along(&mut self, x: V, dim: usize) -> V {
        let dims = self.remains(x, &[dim], false).dims;
        let clauses = vec![Clause::Int("dim", dim as u64), Clause::Int("otherwise", 0)];
        let ty = Type::tensor(self.dtype_of(x), dims);
        let range = self.range(x);
        self.write("last", &[x], clauses, ty, range)
    }
}
