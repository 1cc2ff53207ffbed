//! Unroll and jam: several rows in one step of the vector loop. Shared values are read and updated in registers, and
//! the scans of several rows overlap.
//!
//! ```text
//! for r in 0..4                          for j in 0..n step 16
//!   for j in 0..n step 16           =>     t = load(sums, j)
//!     sums[j] += x[r, j]                   store(t + x[0, j] + x[1, j] + x[2, j] + x[3, j], sums, j)
//! ```
//!
//! The rows of one column keep their order, so sums have the same bits. A loop may be jammed if its steps touch no
//! other column: no sum is carried through the vector loop, and scans along it belong to single rows. The schedule
//! decides the number of rows in a step. GPU loops stay unchanged, since threads share them.

use fuser_ir::{Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::effects::{Effect, Nest};
use super::nest::Scopes;
use super::sweep::{SweepLowering, Unsupported};

/// The maximum number of jammed rows; larger tiles run row by row.
pub(super) const MAX_ROWS: i64 = 8;

impl SweepLowering<'_> {
    /// The number of rows in the loop at `depth`, if it and its inner vector loop are jammed.
    pub(super) fn jammed_rows(&mut self, nest: &Nest, depth: usize) -> Option<i64> {
        let carries = |e: &Effect| matches!(e, Effect::Reduce(r) if r.carried_from.is_some());
        let fits = depth + 2 == nest.loops.len()
            && self.target.abilities().vectors
            && (nest.scans.iter()).all(|s| self.scans_row(s, nest, depth))
            && !nest.effects.iter().any(carries)
            && self.nest_lanes(nest).is_some()
            && nest
                .loops
                .iter()
                .skip(depth)
                .all(|&axis| self.tile_ranges(nest, axis).len() == 1);
        let axis = nest.loops[depth];
        let rows = match (self.inner_size(axis), self.range) {
            (Idx::Const(rows), None) => rows,
            _ => return None,
        };
        (fits && (2..=MAX_ROWS).contains(&rows)).then_some(rows)
    }
    /// Emits the loops at `depth` and `depth + 1`: jammed for steps with all `rows`, plain for the rows of an
    /// incomplete last step.
    pub(super) fn emit_rows(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        rows: i64,
    ) -> Result<Vec<Value>, Unsupported> {
        let axis = nest.loops[depth];
        let count = self.inner_count(axis);
        let Some(full) = self.k.equals(count, Idx::Const(rows)) else {
            self.emit_jammed(nest, depth, scopes, ivs, rows)?;
            return Ok(Vec::new());
        };
        let open = self.k.open_if();
        self.emit_jammed(nest, depth, scopes, ivs, rows)?;
        self.k.close_if(open, full);
        self.range = Some((axis, self.k.rem(count, Idx::Const(rows))));
        let left = self.emit_tile_loop(nest, depth, scopes, ivs, &[]);
        self.range = None;
        left
    }
    /// Emits the loops at `depth` and `depth + 1` as one vector loop with all `rows` in each step.
    fn emit_jammed(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
        rows: i64,
    ) -> Result<(), Unsupported> {
        let (outer, inner) = (nest.loops[depth], nest.loops[depth + 1]);
        let (shared, own) = self.split(nest, [outer, inner])?;
        let mut of_row = Vec::new();
        for row in 0..rows {
            ivs.insert(outer, Idx::Const(row));
            scopes.push(FxHashMap::default());
            self.emit_pure(nest, depth + 1, scopes, ivs, None)?;
            of_row.extend(scopes.pop());
        }
        let (count, lanes) = (self.inner_count(inner), self.nest_lanes(nest));
        let scans: Vec<Op> = nest.scans.iter().map(|scan| scan.op).collect();
        let mut handed_on = Vec::new();
        for row in 0..rows {
            ivs.insert(outer, Idx::Const(row));
            self.load_carries(nest, depth + 1, ivs);
            handed_on.extend(self.carried(&scans));
        }
        let each = handed_on.len() / of_row.len().max(1);
        let parts = match lanes.filter(|_| self.is_masked(nest, lanes)) {
            Some(lanes) => self.k.masked_intervals(Idx::ZERO, count, lanes),
            None => self.k.intervals(Idx::ZERO, count, lanes, Map::Seq),
        };
        for part in parts {
            let bounds = part.bounds();
            self.some = part.some.then(|| self.k.sub(part.to, part.from));
            handed_on = self.carried_loop(bounds, &handed_on, Map::Seq, &[], |s, iv, before| {
                let mut after = Vec::new();
                ivs.insert(inner, iv);
                scopes.push(FxHashMap::default());
                s.emit_pure(&shared, depth + 2, scopes, ivs, part.lanes)?;
                let mut sums = Vec::new();
                for r in shared.reductions() {
                    let Some((memory, at)) = s.sum_in_memory(r, ivs) else {
                        return s.refuse(
                            r.op,
                            "its accumulator was not allocated",
                            "report this program",
                        );
                    };
                    sums.push((r, memory, at, s.load_lanes(memory, at, part.lanes)));
                }
                // All loads before the stores: rows that lie a power of two apart would wait for one another's.
                let mut computed = Vec::new();
                for (row, scope) in of_row.iter().enumerate() {
                    ivs.insert(outer, Idx::Const(row as i64));
                    scopes.push(scope.clone());
                    s.carry_on(&scans, &before[row * each..]);
                    s.emit_pure(&own, depth + 2, scopes, ivs, part.lanes)?;
                    for (r, _, _, sum) in &mut sums {
                        let value = s.get(r.input, scopes, ivs, part.lanes)?;
                        *sum = s.carry(r, *sum, value, part.lanes);
                    }
                    after.extend(s.carried(&scans));
                    computed.extend(scopes.pop());
                }
                for (row, scope) in computed.into_iter().enumerate() {
                    ivs.insert(outer, Idx::Const(row as i64));
                    scopes.push(scope);
                    s.emit_effects(&own, scopes, ivs, &[], part.lanes)?;
                    scopes.pop();
                }
                for (_, memory, at, sum) in sums {
                    s.store_lanes(sum, memory, at);
                }
                scopes.pop();
                Ok(after)
            })?;
        }
        self.some = None;
        for row in 0..of_row.len() {
            ivs.insert(outer, Idx::Const(row as i64));
            self.carry_on(&scans, &handed_on[row * each..]);
            self.store_carries(nest, depth + 1, ivs);
        }
        ivs.remove(&outer);
        ivs.remove(&inner);
        Ok(())
    }
    /// Splits a nest into the part that the rows share (values constant along them, and sums over them) and the part of
    /// each row.
    fn split(&self, nest: &Nest, [outer, inner]: [usize; 2]) -> Result<(Nest, Nest), Unsupported> {
        let varies = |value: Value| self.varies(value).contains(&outer);
        let result = |op: &Op| self.ir().result(*op, 0);
        let (mut sums, mut others) = (Vec::new(), Vec::new());
        for effect in &nest.effects {
            let over = matches!(effect, Effect::Reduce(r) if r.inner.contains(&outer) && !r.inner.contains(&inner));
            let sum = match effect {
                Effect::Reduce(r) if over => self.counted_again(r)?.is_empty(),
                _ => false,
            };
            let list = if sum { &mut sums } else { &mut others };
            list.push(effect.clone());
        }
        let (own_ops, shared_ops) = nest.ops.iter().partition(|op| varies(result(op)));
        let (own_loads, shared_loads) = nest.loads.iter().partition(|v| varies(**v));
        let part = |effects, ops, loads| Nest {
            loops: nest.loops.clone(),
            effects,
            ops,
            loads,
            scans: nest.scans.clone(),
        };
        Ok((
            part(sums, shared_ops, shared_loads),
            part(others, own_ops, own_loads),
        ))
    }
}
