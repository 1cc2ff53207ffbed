//! Scans inside nests: a loop that hands on the result so far.
//!
//! The result so far is a carried value, if the loop along the scanned axis is the innermost of those along which the scan varies;
//! else it is an element of tile memory for each index of the loops inside. From one step of an outer loop to the next it lies
//! in tile memory, too.
//!
//! ```text
//! along rows        loop j: c = c + x[i, j]; y[i, j] = c               c carried
//! along columns     loop i: loop j: c[j] = c[j] + x[i, j]; ...         c in memory, lanes along j
//! ```
//!
//! Each nest that needs a scan computes it from its first index on. The order is that of the indices, whatever the lanes: in a vector along
//! the scanned axis they come one after the other.

use fuser_dialects::kernel;
use fuser_ir::{Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::combine::Combine;
use super::effects::Nest;
use super::nest::Scopes;
use super::sweep::{AccDim, SweepLowering, Unsupported};
use crate::spec::Role;

/// A scan that a nest computes.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub(super) op: Op,
    pub(super) combine: Combine,
    /// The loop axis that it walks in order.
    pub(super) axis: usize,
    /// The loop of the nest that hands on its result so far; `None`: memory does.
    carried_by: Option<usize>,
    /// Memory that hands it on where no loop of the nest does, with its dims.
    memory: Option<(Value, Vec<AccDim>)>,
}

impl SweepLowering<'_> {
    /// The scans of a nest, each with memory that holds its start where its first index lies in this step.
    pub(super) fn begin_scans(&mut self, nest: &Nest) -> Result<Vec<Scan>, Unsupported> {
        let mut scans = Vec::new();
        for &op in &nest.ops {
            let combine = Combine::of_scan(self.ir(), op);
            if let (Some(combine), Some(axis)) = (combine, self.scan_loop(op)?) {
                scans.push(self.begin_scan(nest, op, combine, axis)?);
            }
        }
        Ok(scans)
    }
    /// The loop axis that walks the scanned axis; `None` where that has extent 1.
    fn scan_loop(&self, op: Op) -> Result<Option<usize>, Unsupported> {
        let Some(axis) = self.axes.scanned(op) else {
            return Ok(None);
        };
        let index = self.spec.loop_of(axis);
        let alone = index.filter(|&l| self.spec.loops[l].axes.len() == 1);
        match alone.map(|l| self.spec.loops[l].role) {
            Some(Role::Stream | Role::Tile) => Ok(alone),
            Some(Role::Grid) => self.refuse(
                op,
                "workers share the axis that it walks in order",
                "give that axis the role \"stream\" or \"tile\"",
            ),
            None => self.refuse(
                op,
                "the axis that it walks in order is walked together with another one",
                "walk it as a loop of its own",
            ),
        }
    }
    fn begin_scan(
        &mut self,
        nest: &Nest,
        op: Op,
        combine: Combine,
        axis: usize,
    ) -> Result<Scan, Unsupported> {
        let depth = self.depth(nest, self.ir().result(op, 0));
        let place = nest.loops.iter().position(|&l| l == axis);
        let carried_by = place.filter(|place| place + 1 == depth);
        let order = self.outer_order();
        let steps = order.iter().position(|&l| l == axis);
        // Steps along these come before the next index of the scan.
        let inside = steps.map_or(&[][..], |at| &order[at + 1..]);
        let mut dims = Vec::new();
        for &l in inside.iter().filter(|l| !nest.loops.contains(l)) {
            dims.push((l, self.extent[l], true));
        }
        for &l in nest.loops[..depth].iter().filter(|l| **l != axis) {
            match inside.contains(&l) {
                true => dims.push((l, self.extent[l], true)),
                false => dims.push((l, self.inner_size(l), false)),
            }
        }
        let dims = dims.into_iter();
        let dims: Vec<AccDim> = dims
            .map(|(axis, size, whole)| AccDim { axis, size, whole })
            .collect();
        let stays = steps.is_none() && carried_by.is_some();
        let memory = match stays {
            true => None,
            false => {
                let first = steps.map_or(&[][..], |at| &order[at..]);
                Some((self.start_memory(op, combine, &dims, first)?, dims))
            }
        };
        Ok(Scan {
            op,
            combine,
            axis,
            carried_by,
            memory,
        })
    }
    /// Memory of these dims that is filled with the start of a scan in the first iteration of the outer loops `first`.
    fn start_memory(
        &mut self,
        op: Op,
        combine: Combine,
        dims: &[AccDim],
        first: &[usize],
    ) -> Result<Value, Unsupported> {
        let dtype = self.result_dtype(op);
        let sizes: Vec<Idx> = dims.iter().map(|d| d.size).collect();
        let memory = self.k.alloc(&sizes, combine.accumulator(dtype));
        self.at_start(first, |s| {
            let start = combine.start(&mut s.k, dtype);
            // No tile is longer than its axis.
            let mut size = Idx::Const(1);
            for (number, (dim, &of)) in dims.iter().zip(&sizes).enumerate() {
                let used = match number {
                    0 => s.k.min(of, s.extent[dim.axis]),
                    _ => of,
                };
                size = s.k.mul(size, used);
            }
            s.copy_loop(size, |k, at, lanes| {
                let value = k.splat(start, lanes);
                k.store(value, memory, at);
                Ok(())
            })
        })?;
        Ok(memory)
    }
    /// Before the loop at `depth`: what it hands on is what the steps before it gave.
    pub(super) fn load_carries(&mut self, nest: &Nest, depth: usize, ivs: &FxHashMap<usize, Idx>) {
        for scan in nest.carried_by(depth) {
            let value = match &scan.memory {
                Some((memory, dims)) => {
                    let at = self.accumulator_index(dims, ivs);
                    self.k.load(*memory, at, None)
                }
                None => {
                    let dtype = self.result_dtype(scan.op);
                    scan.combine.start(&mut self.k, dtype)
                }
            };
            self.carries.insert(scan.op, value);
        }
    }
    /// After the loop at `depth`: what it handed on last is for the next step.
    pub(super) fn store_carries(&mut self, nest: &Nest, depth: usize, ivs: &FxHashMap<usize, Idx>) {
        for scan in nest.carried_by(depth) {
            let last = self.carries.remove(&scan.op);
            if let (Some((memory, dims)), Some(last)) = (&scan.memory, last) {
                let at = self.accumulator_index(dims, ivs);
                self.k.store(last, *memory, at);
            }
        }
    }
    /// A loop of a nest that carries the values `inits` and, behind them, what its scans hand on.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn scanning_loop(
        &mut self,
        nest: &Nest,
        depth: usize,
        bounds: [Idx; 3],
        inits: &[Value],
        map: Map,
        names: &[&str],
        body: impl FnOnce(&mut Self, Idx, &[Value]) -> Result<Vec<Value>, Unsupported>,
    ) -> Result<Vec<Value>, Unsupported> {
        let own = inits.len();
        let scans: Vec<Op> = nest.carried_by(depth).map(|scan| scan.op).collect();
        let mut inits = inits.to_vec();
        inits.extend(scans.iter().filter_map(|op| self.carries.get(op)));
        let mut after = self.carried_loop(bounds, &inits, map, names, |s, iv, args| {
            let (args, carried) = args.split_at(own);
            s.carries
                .extend(scans.iter().copied().zip(carried.iter().copied()));
            let mut next = body(s, iv, args)?;
            next.extend(scans.iter().filter_map(|op| s.carries.get(op)));
            Ok(next)
        })?;
        let last = after.split_off(own);
        self.carries.extend(scans.into_iter().zip(last));
        Ok(after)
    }
    /// The result of a scan at the current point, from what was handed on, which it becomes.
    pub(super) fn emit_scan(
        &mut self,
        scan: &Scan,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let element = self.get(self.ir().operand(scan.op, 0), scopes, ivs, lanes)?;
        let dtype = self.result_dtype(scan.op);
        let element = self.k.cast(element, scan.combine.accumulator(dtype));
        let result = match (self.carries.get(&scan.op), &scan.memory) {
            (Some(&before), _) => {
                let along = lanes.filter(|_| self.is_vector_axis(scan.axis, ivs, lanes));
                let result = match along {
                    Some(_) => self.scan_lanes(scan.combine, before, element, along),
                    None => scan.combine.apply(&mut self.k, before, element),
                };
                let last = along.map_or(result, |lanes| self.extract(result, lanes as i64 - 1));
                self.carries.insert(scan.op, last);
                result
            }
            (None, Some((memory, dims))) => {
                let last = dims.last();
                let lanes =
                    lanes.filter(|_| last.is_some_and(|d| self.is_vector_axis(d.axis, ivs, lanes)));
                let at = self.accumulator_index(dims, ivs);
                let before = self.k.load(*memory, at, lanes);
                let element = self.k.splat(element, lanes);
                let result = scan.combine.apply(&mut self.k, before, element);
                self.k.store(result, *memory, at);
                result
            }
            (None, None) => {
                return self.refuse(
                    scan.op,
                    "no loop hands on its result",
                    "report this program",
                );
            }
        };
        Ok(self.k.cast(result, dtype))
    }
    /// The lanes of a vector put together one after the other, from `before` on; each keeps what it gave.
    fn scan_lanes(
        &mut self,
        combine: Combine,
        before: Value,
        vector: Value,
        lanes: Option<u64>,
    ) -> Value {
        let vector = self.k.splat(vector, lanes);
        let ty = self.k.ir.value_type(vector);
        let kind = self.k.ir.string_attr(combine.name());
        let kind = [("combine", kind)];
        self.k.value(&kernel::SCAN, &[vector, before], &kind, ty)
    }
}

impl Nest {
    /// The scans whose results the loop at `depth` hands on.
    fn carried_by(&self, depth: usize) -> impl Iterator<Item = &Scan> {
        let scans = self.scans.iter();
        scans.filter(move |scan| scan.carried_by == Some(depth))
    }
}
