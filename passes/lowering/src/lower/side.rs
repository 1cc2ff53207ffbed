//! Row-vectorized folds: a fold along the lanes' axis takes the elements of a row one by one, so the lanes hold several
//! rows instead.
//!
//! ```text
//! for r in 0..64                          for c in 0..n step 64
//!   for j in 0..n                   =>      tile[j, r] = x[r, c + j]                      read as it lies
//!     s = f(s, x[r, j])                     for j in 0..64
//!   y[r] = s                                  for r in 0..64 step 16
//!                                               s[r] = f(s[r], tile[j, r])
//! ```
//!
//! Each row is folded in order, so results have the same bits. Values that the fold reads along the lanes' axis are
//! transposed through square tiles. The schedule decides the number of rows in a step. GPU loops stay unchanged, since
//! their lanes run along another axis.

use fuser_dialects::fusion::lambda;
use fuser_ir::{DType, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::effects::{Effect, Nest};
use super::nest::Scopes;
use super::sweep::{Resident, SweepLowering, Unsupported};
use crate::spec::Role;

impl SweepLowering<'_> {
    /// True if the loops of a nest iterate over row-vectorized rows.
    pub(super) fn is_across(&self, loops: &[usize]) -> bool {
        let crossed = matches!(loops, [.., along, rows] if along > rows);
        crossed && self.target.abilities().vectors
    }
    /// True if an effect of these loops completes a fold along the innermost one, and the step has several rows around
    /// it.
    pub(super) fn goes_across(&self, loops: &[usize], effect: &Effect) -> bool {
        let (&[.., rows, along], Effect::Reduce(r)) = (loops, effect) else {
            return false;
        };
        let scan = self.ir().def_op(r.input);
        let folds = scan.is_some_and(|op| {
            self.order.contains_key(&op)
                && lambda::has_lambda(self.ir(), op)
                && self.is_one_by_one(op, along)
        });
        let spec = &self.spec.loops[rows];
        folds
            && self.target.abilities().vectors
            && r.combine.is_ordered()
            && r.inner == [along]
            && self.varies(r.input).contains(&rows)
            && spec.role != Role::Tile
            && spec.tile > 1
    }
    /// Emits the loops at `depth` and `depth + 1`, along the folded axis and along the rows, in square tiles.
    pub(super) fn emit_squares(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &mut FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        let [along, rows] = [nest.loops[depth], nest.loops[depth + 1]];
        let side = self.spec.loops[rows].tile;
        let lengths = [self.inner_size(along), self.extent[along]].into_iter();
        let size = lengths.fold(side, |least, length| match length {
            Idx::Const(length) => least.min(length),
            Idx::Value(_) => least,
        });
        let crossing = self.crossing_side(nest, [along, rows]);
        let mut squares = Vec::new();
        for value in crossing {
            let dtype = self.ir().value_kind(value).dtype().unwrap_or(DType::F32);
            let dims = vec![(along, Idx::Const(size)), (rows, Idx::Const(side))];
            self.allocate_dims(value, dims, dtype);
            squares.extend(self.pending.pop());
        }
        let staged = |v: &Value| squares.iter().any(|(value, _)| value == v);
        let inside = Nest {
            loops: nest.loops.clone(),
            effects: nest.effects.clone(),
            ops: nest.ops.clone(),
            loads: nest.loads.iter().copied().filter(|v| !staged(v)).collect(),
            scans: nest.scans.clone(),
        };
        let count = self.inner_count(along);
        let bounds = [Idx::ZERO, count, Idx::Const(size.max(1))];
        self.for_loop(bounds, Map::Seq, |s, first| {
            let to = s.k.add(first, Idx::Const(size));
            let to = match count {
                Idx::Const(count) if count % size.max(1) == 0 => to,
                _ => s.k.min(to, count),
            };
            let mut before = Vec::new();
            for (value, square) in &squares {
                let part = Resident {
                    part: Some((along, first)),
                    ..square.clone()
                };
                s.stage_square(*value, &part, [along, rows], [first, to], ivs)?;
                before.push((*value, s.resident.insert(*value, part)));
            }
            s.emit_scalar_loop(
                &inside,
                depth,
                scopes,
                ivs,
                &[],
                Vec::new(),
                [first, to],
                Map::Seq,
            )?;
            for (value, before) in before {
                match before {
                    Some(resident) => s.resident.insert(value, resident),
                    None => s.resident.remove(&value),
                };
            }
            Ok(())
        })?;
        self.free
            .extend(squares.into_iter().map(|(_, square)| square));
        Ok(())
    }
    /// The values that a row-vectorized nest reads and that are contiguous along the folded axis: in memory, or kept by
    /// an earlier phase.
    fn crossing_side(&self, nest: &Nest, both: [usize; 2]) -> Vec<Value> {
        let [along, rows] = both;
        let windows = nest.ops.iter().any(|&op| self.window(op).is_some());
        let crosses = |v: &Value| {
            let varies = self.varies(*v);
            both.iter().all(|l| varies.contains(l))
        };
        let lies = |v: &Value| crosses(v) && self.stride_is_one(*v, along);
        let loads = nest.loads.iter().copied().filter(lies);
        let operands = nest.ops.iter().flat_map(|&op| self.computed_operands(op));
        let is_kept = |v: &Value| {
            let dims = self.resident.get(v).map(|r| &r.dims[..]);
            dims.is_some_and(|d| {
                d.last().is_some_and(|d| d.0 == along) && d.iter().any(|d| d.0 == rows)
            })
        };
        let kept = operands.filter(|v| !windows && is_kept(v));
        let mut values: Vec<Value> = loads.chain(kept).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
    /// Copies the elements of `value` at indices `from..to` of the folded axis to a square tile, without transposition.
    fn stage_square(
        &mut self,
        value: Value,
        square: &Resident,
        [along, rows]: [usize; 2],
        [from, to]: [Idx; 2],
        ivs: &mut FxHashMap<usize, Idx>,
    ) -> Result<(), Unsupported> {
        let (count, lanes) = (self.inner_count(rows), self.lanes());
        self.for_loop([Idx::ZERO, count, Idx::Const(1)], Map::Seq, |s, row| {
            ivs.insert(rows, row);
            for part in s.k.intervals(from, to, lanes, Map::Seq) {
                s.for_loop(part.bounds(), Map::Seq, |s, at| {
                    ivs.insert(along, at);
                    let loaded = match s.resident.get(&value).cloned() {
                        Some(kept) => {
                            let at = s.resident_index(&kept, ivs);
                            s.k.load(kept.memory, at, part.lanes)
                        }
                        None => s.load_global(value, ivs, part.lanes, Some(along))?,
                    };
                    s.stage_lanes(square, along, (at, loaded), part.lanes, ivs);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        ivs.remove(&rows);
        ivs.remove(&along);
        Ok(())
    }
}
