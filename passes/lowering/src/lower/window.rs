//! Slices, pads and cats inside a nest: their operands are read at an index that follows from the point of the walk.
//!
//! A window is a list of nodes (see `axes::window`), emitted in order: loads at an affine address, ops, choices. A
//! guarded load reads only the lanes that its guards admit, so that no address outside of memory is accessed. In a
//! choice between such a load and another value, the other value fills the remaining lanes. A guard along the lanes
//! becomes the range of active lanes; any other guard makes that range empty if it is false. A value kept by an earlier
//! phase is read from its tile in the same way. That tile covers all indices along the axes that the window shifts.
//!
//! ```text
//! %y = fusion.cat %a, %b dim 0         %0 = kernel.load_within %b, %i - 3, 0.0, 3 - %i, 5 - (%i - 3)
//!                                =>    %y = kernel.load_within %a, %i, %0, 0 - %i, 3 - %i
//! ```

use fuser_analysis::axes::AxisId;
use fuser_analysis::axes::window::{Form, Guard, Kept, Node, Source, Window};
use fuser_dialects::{fusion, kernel};
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::Idx;
use super::nest::Scopes;
use super::sweep::{SweepLowering, Unsupported};

/// A point of the walk.
struct Point {
    /// The index along each axis that a window needs.
    index: FxHashMap<AxisId, Idx>,
    /// The axis along which lanes run, and their number.
    lanes: Option<(AxisId, u64)>,
    /// The nodes of the window that are computed there.
    values: Vec<Option<Value>>,
}

impl Point {
    /// The lanes, where the form differs from one to the next.
    fn lanes_of(&self, form: &Form) -> Option<u64> {
        let (axis, lanes) = self.lanes?;
        form.varies(axis).then_some(lanes)
    }
    fn lanes_of_any(&self, guards: &[Guard]) -> Option<u64> {
        guards.iter().find_map(|g| self.lanes_of(&g.at))
    }
}

impl SweepLowering<'_> {
    /// The values that `op` needs at the point of the walk: computed, loaded or kept.
    pub(super) fn computed_operands(&self, op: Op) -> Vec<Value> {
        match self.window(op) {
            Some(window) => window.walked().collect(),
            None => self.axes.reads(self.ir(), op).into_vec(),
        }
    }
    /// True if lanes along loop `last` can be read as vectors. This always holds for ops other than windows.
    pub(super) fn is_contiguous_window(&self, op: Op, last: usize) -> bool {
        let inner = self.spec.loops[last].axes.last();
        let window = self.window(op).zip(inner);
        window.is_none_or(|(window, &axis)| {
            let mut kept = window.elsewhere();
            window.is_contiguous(self.axes, axis)
                && kept.all(|(value, at)| self.is_contiguous_tile(value, at, last, axis))
        })
    }
    /// True if the lanes of loop `last` along `axis` read one kept element of `value`, or contiguous ones.
    fn is_contiguous_tile(
        &self,
        value: Value,
        at: &[(AxisId, Form)],
        last: usize,
        axis: AxisId,
    ) -> bool {
        let varies = |&(l, _): &(usize, Idx)| match self.index_along(at, l) {
            Some(form) => form.varies(axis),
            None => l == last,
        };
        let resident = self.resident.get(&value);
        let outer = resident.and_then(|r| r.dims.split_last());
        outer.is_some_and(|(_, outer)| !outer.iter().any(varies))
    }
    /// The index along loop `l` where that is not the walk's own.
    fn index_along<'i>(&self, at: &'i [(AxisId, Form)], l: usize) -> Option<&'i Form> {
        let own = |(axis, _): &&(AxisId, Form)| self.spec.loops[l].axes.contains(axis);
        at.iter().find(own).map(|(_, form)| form)
    }

    pub(super) fn emit_window(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let Some(window) = self.window(op) else {
            return self.refuse(
                op,
                "its elements are not found by index arithmetic",
                "let other ops of the sweep read it through windows only",
            );
        };
        let mut point = self.point(op, &window, ivs, self.innermost.zip(lanes))?;
        let late = late_loads(&window);
        for (number, node) in window.nodes.iter().enumerate() {
            if late[number] {
                continue;
            }
            let emitted = match node {
                Node::Load { value, at, guards } => {
                    self.load_at(*value, at, guards, None, &point)?
                }
                Node::Numbered { value, index, axes } => {
                    self.load_numbered(*value, index, axes, &point)?
                }
                Node::Resident { value, at, guards } => {
                    self.load_kept(op, *value, at, guards, ivs, &point)?
                }
                Node::Zero(dtype) => self.k.zero(*dtype),
                Node::Here(value) => self.get(*value, scopes, ivs, lanes)?,
                Node::Made { op, index } => self.made_at(*op, index.as_ref(), &point)?,
                Node::Compute { op, operands } => {
                    let operands = operands.iter().filter_map(|&n| point.values[n]);
                    let operands = operands.collect();
                    self.emit_elementwise(*op, operands)
                }
                Node::Select {
                    guards,
                    inside,
                    outside,
                } => {
                    let Some(other) = point.values[*outside] else {
                        return self.refuse_sweep("a choice of a window has one side only");
                    };
                    match (&window.nodes[*inside], point.values[*inside]) {
                        (Node::Load { value, at, guards }, None) => {
                            self.load_at(*value, at, guards, Some(other), &point)?
                        }
                        (_, Some(first)) => self.choose(guards, first, other, &point)?,
                        _ => return self.refuse_sweep("a choice of a window has one side only"),
                    }
                }
            };
            point.values[number] = Some(emitted);
        }
        match point.values.last().copied().flatten() {
            Some(value) => Ok(value),
            None => self.refuse(op, "it has no elements", "run --remove-empty"),
        }
    }

    /// The element at `at`. If the guards are false, the result is `below`, or undefined without one.
    fn load_at(
        &mut self,
        value: Value,
        at: &Form,
        guards: &[Guard],
        below: Option<Value>,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let tables = self.tables.get(&value);
        let Some(&memory) = tables.or_else(|| self.global.get(&value)) else {
            return self.refuse_sweep("a value that is read through a window is not in memory");
        };
        let address = self.form(at, point)?;
        self.load_from(memory, address, point.lanes_of(at), guards, below, point)
    }
    /// An element of a value kept by an earlier phase, at another index than that of the walk. The result is undefined
    /// if the guards are false.
    fn load_kept(
        &mut self,
        op: Op,
        value: Value,
        at: &[(AxisId, Form)],
        guards: &[Guard],
        ivs: &FxHashMap<usize, Idx>,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let is_whole = |(axis, _): &(AxisId, Form)| {
            let mut loops = self.spec.loops.iter();
            loops.any(|l| l.axes[..] == [*axis] && !l.has_outer())
        };
        let whole = at.iter().all(is_whole);
        let resident = self.resident.get(&value).filter(|_| whole).cloned();
        let Some(resident) = resident else {
            return self.refuse(
                op,
                "it reads a value at another index than that of the walk, and no earlier phase keeps all of it",
                "give the axes of that index the role \"tile\", and the value an earlier phase",
            );
        };
        let (mut address, mut moving) = (Idx::ZERO, None);
        for &(l, size) in &resident.dims {
            let lanes = point
                .lanes
                .filter(|(axis, _)| self.spec.loop_of(*axis) == Some(l));
            let (index, along) = match self.index_along(at, l) {
                Some(form) => (self.form(form, point)?, point.lanes_of(form)),
                None => (
                    ivs.get(&l).copied().unwrap_or(Idx::ZERO),
                    lanes.map(|(_, lanes)| lanes),
                ),
            };
            address = self.k.mul(address, size);
            address = self.k.add(address, index);
            moving = moving.or(along);
        }
        let loaded = self.load_from(resident.memory, address, moving, guards, None, point)?;
        let dtype = self.k.ir.value_kind(value).dtype().unwrap_or(DType::F32);
        Ok(self.k.cast(loaded, dtype))
    }
    /// The element of `memory` at an address, as a vector if the address moves along the lanes. If the guards are
    /// false, the result is `below`, or undefined without one.
    fn load_from(
        &mut self,
        memory: Value,
        address: Idx,
        moving: Option<u64>,
        guards: &[Guard],
        below: Option<Value>,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        if guards.is_empty() {
            return Ok(self.k.load(memory, address, moving));
        }
        let dtype = self.k.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
        if moving.is_some() || point.lanes_of_any(guards).is_none() {
            let fill = match below {
                Some(value) if moving.is_some() || self.k.lanes_of(value).is_none() => value,
                _ => self.k.zero(dtype),
            };
            let fill = self.k.splat(fill, moving);
            let range = self.lane_range(guards, point, moving)?;
            let loaded = self.k.load_within(memory, address, fill, range);
            return match below {
                Some(below) if moving.is_none() && self.k.lanes_of(below).is_some() => {
                    self.choose(guards, loaded, below, point)
                }
                _ => Ok(loaded),
            };
        }
        // All lanes read one element, if any of them does.
        let lanes = point.lanes_of_any(guards);
        let [first, end] = self.lane_range(guards, point, lanes)?;
        let (first, end) = (self.k.index(first), self.k.index(end));
        let any = self.k.compare("lt", first, end);
        let (yes, no) = (self.k.index(Idx::Const(1)), self.k.index(Idx::ZERO));
        let end = Idx::Value(self.k.select(any, yes, no));
        let zero = self.k.zero(dtype);
        let loaded = self.k.load_within(memory, address, zero, [Idx::ZERO, end]);
        match below {
            Some(below) => self.choose(guards, loaded, below, point),
            None => Ok(loaded),
        }
    }
    /// The element with the same row-major number: the number is computed in the shape of the window's result and split
    /// into indices of the operand.
    fn load_numbered(
        &mut self,
        value: Value,
        index: &[(Form, ExtentExpr)],
        axes: &[(ExtentExpr, ExtentExpr)],
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let Some(&memory) = self.global.get(&value) else {
            return self.refuse_sweep("a value that is read through a window is not in memory");
        };
        let mut number = Idx::ZERO;
        for (form, extent) in index {
            let extent = self.eval(extent)?;
            let index = self.form(form, point)?;
            number = self.k.mul(number, extent);
            number = self.k.add(number, index);
        }
        let mut at = Idx::ZERO;
        for (axis, (extent, stride)) in axes.iter().enumerate().rev() {
            let extent = self.eval(extent)?;
            let stride = self.eval(stride)?;
            let mut index = number;
            if axis > 0 {
                index = self.k.rem(number, extent);
                number = self.k.div(number, extent);
            }
            let term = self.k.mul(index, stride);
            at = self.k.add(at, term);
        }
        Ok(self.k.load(memory, at, None))
    }
    /// The value that a creation makes at an index.
    fn made_at(
        &mut self,
        op: Op,
        index: Option<&Form>,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let Some(form) = index else {
            let (scopes, ivs) = (Scopes::new(), FxHashMap::default());
            return self.emit_creation(op, &scopes, &ivs, None);
        };
        let first = self.form(form, point)?;
        let step = match point.lanes {
            Some((axis, _)) => self.eval(&form.along(axis).unwrap_or_default())?,
            None => Idx::ZERO,
        };
        let lanes = point.lanes_of(form).map(|lanes| (lanes, step));
        Ok(self.emit_index(op, first, lanes))
    }

    /// `inside` where all guards hold, else `outside`.
    fn choose(
        &mut self,
        guards: &[Guard],
        inside: Value,
        outside: Value,
        point: &Point,
    ) -> Result<Value, Unsupported> {
        let lanes = point.lanes_of_any(guards);
        let [first, end] = self.lane_range(guards, point, lanes)?;
        let (first, end) = (self.k.index(first), self.k.index(end));
        let lane = match lanes {
            Some(n) => {
                let ty = self.k.ir.vector(n, DType::Index);
                self.k.value(&kernel::IOTA, &[], &[], ty)
            }
            None => self.k.index(Idx::ZERO),
        };
        let from = self.k.compare("ge", lane, first);
        let to = self.k.compare("lt", lane, end);
        let holds = self.k.binary(&fusion::AND, from, to);
        Ok(self.k.select(holds, inside, outside))
    }

    /// The range of lanes that all guards admit, from the first number up to the second.
    fn lane_range(
        &mut self,
        guards: &[Guard],
        point: &Point,
        lanes: Option<u64>,
    ) -> Result<[Idx; 2], Unsupported> {
        let (mut first, mut end) = (Idx::ZERO, Idx::Const(lanes.unwrap_or(1) as i64));
        let mut holds: Option<Value> = None;
        for guard in guards {
            let at = self.form(&guard.at, point)?;
            let extent = self.eval(&guard.extent)?;
            if lanes.is_some() && point.lanes_of(&guard.at).is_some() {
                let from = self.k.sub(Idx::ZERO, at);
                let to = self.k.sub(extent, at);
                first = self.k.max(first, from);
                end = self.k.min(end, to);
                continue;
            }
            let (at, extent) = (self.k.index(at), self.k.index(extent));
            let mut both = self.k.compare("lt", at, extent);
            if guard.at.offset.as_constant().is_none_or(|c| c < 0) {
                let zero = self.k.index(Idx::ZERO);
                let from = self.k.compare("ge", at, zero);
                both = self.k.binary(&fusion::AND, from, both);
            }
            holds = Some(match holds {
                Some(others) => self.k.binary(&fusion::AND, others, both),
                None => both,
            });
        }
        if let Some(holds) = holds {
            let (yes, no) = (self.k.index(end), self.k.index(Idx::ZERO));
            end = Idx::Value(self.k.select(holds, yes, no));
        }
        Ok([first, end])
    }

    /// The value of a form in the first lane.
    fn form(&mut self, form: &Form, point: &Point) -> Result<Idx, Unsupported> {
        let mut sum = self.eval(&form.offset)?;
        for (variable, factor) in &form.terms {
            let factor = self.eval(factor)?;
            let (mut index, length) = match &variable.of {
                Source::Axis(axis) => (
                    point.index.get(axis).copied().unwrap_or(Idx::ZERO),
                    self.axes.extent(*axis),
                ),
                Source::Element { node, length } => {
                    (self.element(*node, length, point)?, Some(&**length))
                }
            };
            if variable.mirrored {
                let length = self.eval(&length.cloned().unwrap_or_default())?;
                let last = self.k.sub(length, Idx::Const(1));
                index = self.k.sub(last, index);
            }
            let term = self.k.mul(index, factor);
            sum = self.k.add(sum, term);
        }
        Ok(sum)
    }
    /// The value of a node as an index along an axis of this length, clamped to the axis.
    fn element(
        &mut self,
        node: usize,
        length: &ExtentExpr,
        point: &Point,
    ) -> Result<Idx, Unsupported> {
        let Some(value) = point.values.get(node).copied().flatten() else {
            return self.refuse_sweep("an index that is data is used before it is there");
        };
        let index = Idx::Value(self.k.cast(value, DType::Index));
        let length = self.eval(length)?;
        let last = self.k.sub(length, Idx::Const(1));
        let index = self.k.max(index, Idx::ZERO);
        Ok(self.k.min(index, last))
    }
    /// The load that a plain window is, in lanes along a loop.
    pub(super) fn emit_plain_window(
        &mut self,
        op: Op,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<(usize, u64)>,
    ) -> Result<Value, Unsupported> {
        let window = self.window(op).filter(|w| w.is_plain());
        let load = window.as_ref().and_then(|w| Some((w, w.nodes.last()?)));
        let Some((window, Node::Load { value, at, guards })) = load else {
            return self.refuse(op, "it is not one load", "walk it as a whole");
        };
        let point = self.point(op, window, ivs, lanes)?;
        self.load_at(*value, at, guards, None, &point)
    }
    /// The current point of the walk.
    fn point(
        &mut self,
        op: Op,
        window: &Window,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<(usize, u64)>,
    ) -> Result<Point, Unsupported> {
        let mut index = FxHashMap::default();
        for axis in window.axes() {
            let Some(at) = self.spec.loop_of(axis) else {
                return self.refuse(op, "one of its axes is not walked", "run --schedule");
            };
            self.check_joined(op, at)?;
            // Axes that are walked as one count along the innermost of them.
            if self.spec.loops[at].axes.last() == Some(&axis) {
                let inner = ivs.get(&at).copied().unwrap_or(Idx::ZERO);
                let here = self.k.add(self.base[at], inner);
                index.insert(axis, here);
            }
        }
        let lanes = lanes.and_then(|(l, n)| Some((*self.spec.loops[l].axes.last()?, n)));
        let values = vec![None; window.nodes.len()];
        Ok(Point {
            index,
            lanes,
            values,
        })
    }
    pub(super) fn check_joined(&self, op: Op, at: usize) -> Result<(), Unsupported> {
        let axes = &self.spec.loops[at].axes;
        let apart = |pair: &[AxisId]| !self.axes.window_joins(op, pair[0], pair[1], Kept::InTile);
        match axes.windows(2).any(apart) {
            true => self.refuse(
                op,
                "its index along one of two axes that are walked as one is needed alone",
                "walk them apart",
            ),
            false => Ok(()),
        }
    }
}

/// For each load, true if it is emitted together with the choice whose first arm it is, because it has no other use.
fn late_loads(window: &Window) -> Vec<bool> {
    let mut uses = vec![0usize; window.nodes.len()];
    let mut late = vec![false; window.nodes.len()];
    for node in &window.nodes {
        match node {
            Node::Compute { operands, .. } => operands.iter().for_each(|&n| uses[n] += 1),
            Node::Select {
                inside, outside, ..
            } => {
                let loads = matches!(&window.nodes[*inside], Node::Load { guards, .. } if !guards.is_empty());
                late[*inside] = loads;
                uses[*inside] += 1;
                uses[*outside] += 1;
            }
            _ => {}
        }
        node.forms()
            .flat_map(Form::elements)
            .for_each(|n| uses[n] += 1);
    }
    for (late, uses) in late.iter_mut().zip(uses) {
        *late &= uses == 1;
    }
    late
}
