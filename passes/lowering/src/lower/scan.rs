//! Scans inside nests: a loop that carries the running result.
//!
//! The running result is a carried value if the loop along the scanned axis is the innermost of those along which the
//! scan varies. Otherwise it is an element of tile memory for each index of the inner loops. Between the steps of an
//! outer loop it is in tile memory, too.
//!
//! ```text
//! along rows        loop j: c = c + x[i, j]; y[i, j] = c               c carried; on a GPU threads share the loop
//! along columns     loop i: loop j: c[j] = c[j] + x[i, j]; ...         c in memory, lanes along j
//! ```
//!
//! Each nest that needs a scan computes it from its first index on. Elements are combined in index order: within a
//! vector along the scanned axis, lane by lane. A CPU carries sums and products of f32 in f64. Threads that share a row first combine groups of neighboring elements.
//! A scan with a lambda carries each of its accumulators, and is not vectorized along its axis.

use fuser_analysis::cost::carried_type;
use fuser_dialects::fusion::lambda;
use fuser_dialects::kernel::{self, scan::SCANNED};
use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::combine::{Combine, initial};
use super::effects::Nest;
use super::nest::Scopes;
use super::sweep::{AccDim, SweepLowering, Unsupported};
use crate::spec::Role;

/// The function by which a scan goes from one index to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Named(Combine),
    /// The lambda of the op.
    Lambda,
}

/// A scan that a nest computes.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub(super) op: Op,
    pub(super) way: Way,
    /// The loop axis that it walks in order.
    pub(super) axis: usize,
    /// The loop of the nest that carries the running result; `None` if memory carries it.
    carried_by: Option<usize>,
    /// True if a GPU's threads share that loop: it is the innermost one, and groups of elements may be combined.
    pub(super) shared: bool,
    /// The memory that carries the running result if no loop of the nest does: one for each accumulator, with its dims.
    memory: Option<(Vec<Value>, Vec<AccDim>)>,
}

impl SweepLowering<'_> {
    /// True if the loop inside the one at `depth` carries the scan, so that each row has a scan of its own.
    pub(super) fn scans_row(&self, scan: &Scan, nest: &Nest, depth: usize) -> bool {
        let varies = self.varies(self.ir().result(scan.op, 0));
        scan.carried_by == Some(depth + 1) && varies.contains(&nest.loops[depth])
    }
    /// The scans of a nest. Each has memory with its initial value if its first index lies in this step.
    pub(super) fn begin_scans(&mut self, nest: &Nest) -> Result<Vec<Scan>, Unsupported> {
        let mut scans = Vec::new();
        for &op in &nest.ops {
            let way = self.scan_way(op);
            if let (Some(way), Some(axis)) = (way, self.scan_loop(op)?) {
                scans.push(self.begin_scan(nest, op, way, axis)?);
            }
        }
        Ok(scans)
    }
    /// The way of a scan; none of other ops.
    fn scan_way(&self, op: Op) -> Option<Way> {
        let lambda = || lambda::lambda(self.ir(), op).map(|_| Way::Lambda);
        let named = Combine::of_scan(self.ir(), op).map(Way::Named);
        named.or_else(lambda)
    }
    /// True if `op` scans along the loop axis `axis` with a function that takes one element at a time.
    pub(super) fn is_one_by_one(&self, op: Op, axis: usize) -> bool {
        let along = self.axes.scanned(op).and_then(|a| self.spec.loop_of(a)) == Some(axis);
        along && Combine::of_scan(self.ir(), op).is_none()
    }
    /// The initial accumulators of a scan, in the types in which they are carried.
    fn starts(&mut self, op: Op, way: Way) -> Vec<Value> {
        let dtypes = self.accumulator_types(op);
        match way {
            Way::Named(combine) => {
                let start = combine.start(&mut self.k, dtypes[0]);
                let carried = self.handed_on(op, way)[0];
                vec![self.k.cast(start, carried)]
            }
            Way::Lambda => {
                let init = lambda::init(self.ir(), op).into_iter();
                let pairs = init.zip(dtypes);
                pairs
                    .map(|(n, dtype)| initial(&mut self.k, n, dtype))
                    .collect()
            }
        }
    }
    /// The element types of the results of a scan.
    fn accumulator_types(&self, op: Op) -> Vec<DType> {
        let results = self.ir().results(op).iter();
        let dtype = |&v: &Value| self.ir().value_kind(v).dtype();
        results.map(|v| dtype(v).unwrap_or(DType::F32)).collect()
    }
    /// The loop axis that iterates over the scanned axis; `None` if that axis has extent 1.
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
        way: Way,
        axis: usize,
    ) -> Result<Scan, Unsupported> {
        let depth = self.depth(nest, self.ir().result(op, 0));
        let place = nest.loops.iter().position(|&l| l == axis);
        let carried_by = place.filter(|place| place + 1 == depth);
        let groups = matches!(way, Way::Named(_)) && self.target.abilities().block_threads;
        let shared = groups && carried_by.is_some() && depth == nest.loops.len();
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
                Some((self.start_memory(op, way, &dims, first)?, dims))
            }
        };
        Ok(Scan {
            op,
            way,
            axis,
            carried_by,
            shared,
            memory,
        })
    }
    /// Allocates memory of these dims for each accumulator, and fills it with the scan's initial value in the first
    /// iteration of the outer loops `first`.
    fn start_memory(
        &mut self,
        op: Op,
        way: Way,
        dims: &[AccDim],
        first: &[usize],
    ) -> Result<Vec<Value>, Unsupported> {
        let sizes: Vec<Idx> = dims.iter().map(|d| d.size).collect();
        let memory: Vec<Value> = (self.handed_on(op, way).into_iter())
            .map(|dtype| self.k.alloc(&sizes, dtype))
            .collect();
        self.at_start(first, |s| {
            let starts = s.starts(op, way);
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
                for (&start, &memory) in starts.iter().zip(&memory) {
                    let value = k.splat(start, lanes);
                    k.store(value, memory, at);
                }
                Ok(())
            })
        })?;
        Ok(memory)
    }
    /// The types in which accumulators are handed on.
    fn handed_on(&self, op: Op, way: Way) -> Vec<DType> {
        let dtypes = self.accumulator_types(op).into_iter();
        let wide = |dtype: DType| match way {
            Way::Named(combine) => {
                let own = combine.accumulator(dtype);
                carried_type(
                    own,
                    self.ir().computes(op),
                    self.target.abilities().block_threads,
                )
            }
            Way::Lambda => dtype.compute(),
        };
        dtypes.map(wide).collect()
    }
    /// The types in which a loop carries accumulators. Threads exchange integers in their own type: sums and products
    /// wrap in it as in a wider one.
    fn carried_as(&self, scan: &Scan) -> Vec<DType> {
        let own = self.accumulator_types(scan.op);
        let wide = self.handed_on(scan.op, scan.way);
        let types = own.into_iter().zip(wide);
        let types = types.map(|(own, wide)| match scan.shared && !wide.is_float() {
            true => own.compute(),
            false => wide,
        });
        types.collect()
    }
    /// Sets the carried values of the scans before the loop at `depth`: the results of the earlier steps, or the
    /// initial values.
    pub(super) fn load_carries(&mut self, nest: &Nest, depth: usize, ivs: &FxHashMap<usize, Idx>) {
        for scan in nest.carried_by(depth) {
            let values = match &scan.memory {
                Some((memory, dims)) => {
                    let at = self.accumulator_index(dims, ivs);
                    memory.iter().map(|&m| self.k.load(m, at, None)).collect()
                }
                None => self.starts(scan.op, scan.way),
            };
            let carried = values.into_iter().zip(self.carried_as(scan));
            let carried = carried.map(|(v, dtype)| self.k.cast(v, dtype));
            let carried = carried.collect();
            self.carries.insert(scan.op, carried);
        }
    }
    /// Stores the final carried values of the loop at `depth` for the next step.
    pub(super) fn store_carries(&mut self, nest: &Nest, depth: usize, ivs: &FxHashMap<usize, Idx>) {
        for scan in nest.carried_by(depth) {
            let last = self.carries.remove(&scan.op);
            if let (Some((memory, dims)), Some(last)) = (&scan.memory, last) {
                let at = self.accumulator_index(dims, ivs);
                let wide = self.handed_on(scan.op, scan.way);
                for ((&memory, last), dtype) in memory.iter().zip(last).zip(wide) {
                    let last = self.k.cast(last, dtype);
                    self.k.store(last, memory, at);
                }
            }
        }
    }
    /// Emits a loop of a nest that carries the values `inits`, followed by the running results of its scans.
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
        let carried = self.carried(&scans);
        let mut names = names.to_vec();
        if map == Map::Thread {
            names.extend(carried.iter().map(|_| SCANNED));
        }
        let mut inits = inits.to_vec();
        inits.extend(carried);
        let mut after = self.carried_loop(bounds, &inits, map, &names, |s, iv, args| {
            let (args, carried) = args.split_at(own);
            s.carry_on(&scans, carried);
            let mut next = body(s, iv, args)?;
            next.extend(s.carried(&scans));
            Ok(next)
        })?;
        let last = after.split_off(own);
        self.carry_on(&scans, &last);
        Ok(after)
    }
    /// All that the scans hand on here, one after the other.
    pub(super) fn carried(&self, scans: &[Op]) -> Vec<Value> {
        let all = scans.iter().filter_map(|op| self.carries.get(op));
        all.flatten().copied().collect()
    }
    /// From here on the scans hand on `values`.
    pub(super) fn carry_on(&mut self, scans: &[Op], mut values: &[Value]) {
        for &op in scans {
            let count = self.ir().results(op).len().min(values.len());
            let (own, rest) = values.split_at(count);
            self.carries.insert(op, own.to_vec());
            values = rest;
        }
    }
    /// Emits a scan at the current point: returns its results and updates the carried values.
    pub(super) fn emit_scan(
        &mut self,
        scan: &Scan,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Vec<Value>, Unsupported> {
        let mut elements = Vec::new();
        for operand in self.ir().operands(scan.op).collect::<Vec<_>>() {
            elements.push(self.get(operand, scopes, ivs, lanes)?);
        }
        let along = lanes.filter(|_| self.is_vector_axis(scan.axis, lanes));
        let results = match (self.carries.get(&scan.op).cloned(), &scan.memory, along) {
            (Some(before), _, lanes) if lanes.is_some() || scan.shared => {
                let Way::Named(combine) = scan.way else {
                    return self.refuse(
                        scan.op,
                        "its lambda takes elements one by one, and lanes run along its axis",
                        "report this program",
                    );
                };
                let dtype = self.carried_as(scan)[0];
                let element = self.k.cast(elements[0], dtype);
                let result = self.scan_lanes(combine, before[0], element, lanes);
                let last = match lanes {
                    Some(count) => self.extract(result, count as i64 - 1),
                    None => result,
                };
                self.carries.insert(scan.op, vec![last]);
                vec![result]
            }
            (Some(before), ..) => {
                let results = self.put_together(scan.op, scan.way, before, elements);
                self.carries.insert(scan.op, results.clone());
                results
            }
            (None, Some((memory, dims)), _) => {
                let last = dims.last();
                let lanes =
                    lanes.filter(|_| last.is_some_and(|d| self.is_vector_axis(d.axis, lanes)));
                let at = self.accumulator_index(dims, ivs);
                let before = memory.iter().map(|&m| self.k.load(m, at, lanes)).collect();
                let elements = elements
                    .into_iter()
                    .map(|e| self.k.splat(e, lanes))
                    .collect();
                let results = self.put_together(scan.op, scan.way, before, elements);
                for (&memory, &result) in memory.iter().zip(&results) {
                    let result = self.k.splat(result, lanes);
                    self.k.store(result, memory, at);
                }
                results
            }
            (None, None, _) => {
                return self.refuse(
                    scan.op,
                    "no loop hands on its result",
                    "report this program",
                );
            }
        };
        let pairs = results.into_iter().zip(self.accumulator_types(scan.op));
        Ok(pairs
            .map(|(value, dtype)| self.k.cast(value, dtype))
            .collect())
    }
    /// Combines the carried values of a scan with `elements` and returns the new carried values.
    fn put_together(
        &mut self,
        op: Op,
        way: Way,
        before: Vec<Value>,
        elements: Vec<Value>,
    ) -> Vec<Value> {
        let wide = self.handed_on(op, way);
        let after = match way {
            Way::Named(combine) => {
                let element = self.k.cast(elements[0], wide[0]);
                vec![combine.apply(&mut self.k, before[0], element)]
            }
            Way::Lambda => {
                let pairs = before.into_iter().zip(self.accumulator_types(op));
                let mut arguments: Vec<Value> =
                    pairs.map(|(v, dtype)| self.k.cast(v, dtype)).collect();
                arguments.extend(elements);
                self.emit_lambda(op, arguments)
            }
        };
        let pairs = after.into_iter().zip(wide);
        pairs.map(|(v, dtype)| self.k.cast(v, dtype)).collect()
    }
    /// The values that the lambda of `op` yields for these arguments.
    fn emit_lambda(&mut self, op: Op, arguments: Vec<Value>) -> Vec<Value> {
        let Some((body, _)) = lambda::lambda(self.ir(), op) else {
            return arguments;
        };
        let parameters = self.ir().args(body).iter().copied();
        let mut values: FxHashMap<Value, Value> = parameters.zip(arguments).collect();
        let inside: Vec<Op> = self.ir().block_ops(body).collect();
        for inner in inside {
            let operands = self.ir().operands(inner).filter_map(|v| values.get(&v));
            let operands: Vec<Value> = operands.copied().collect();
            if Some(inner) == self.ir().terminator(body) {
                return operands;
            }
            let made = self.emit_elementwise(inner, operands);
            values.insert(self.ir().result(inner, 0), made);
        }
        Vec::new()
    }
    /// The results of a scan along an axis of extent 1: the element combined with the initial value.
    pub(super) fn emit_single_scan(&mut self, op: Op, elements: Vec<Value>) -> Vec<Value> {
        // A named scan gives its first element, bit for bit.
        let Some(Way::Lambda) = self.scan_way(op) else {
            return elements;
        };
        let before = self.starts(op, Way::Lambda);
        let after = self.put_together(op, Way::Lambda, before, elements);
        let pairs = after.into_iter().zip(self.accumulator_types(op));
        pairs.map(|(v, dtype)| self.k.cast(v, dtype)).collect()
    }
    /// Scans the lanes of a vector in order, starting from `before`; each lane holds the result up to itself.
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
