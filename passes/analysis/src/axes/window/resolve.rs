//! Resolves a slice, flip, pad, cat or gather into the nodes of its window.
//!
//! A work list of *points*: a value, the index at which it is wanted, and the guards under which it is wanted. The
//! producer of the value gives the step from a point: a shape op leads to a point of its operand, a pointwise op to one
//! of each operand, a choice to one of each piece. Memory, creations, and values that the loop nest computes or keeps
//! end the search. An element used as an index becomes a node before the point that it indexes. A point that is wanted
//! twice is one node. Never recurses.

use std::rc::Rc;

use fuser_ir::def::{Computes, OpClass, Placement};
use fuser_ir::layout;
use fuser_ir::maps::{Index, IndexingMaps, Map, Reads};
use fuser_ir::types::{ExtentExpr, TensorType};
use fuser_ir::{AttrKind, DType, Ir, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::form::{Form, Guard, Holds, is_natural, minus};
mod reshape;

use super::{Axes, AxisId, MAX_NODES, MAX_PIECES, Node, Window, WindowRefusal};

/// A change of the axes that a window needs to be resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Need {
    /// An axis becomes a product of two; the inner one has length `inner`.
    Split {
        /// The axis.
        axis: AxisId,
        /// The length of its inner part.
        inner: ExtentExpr,
    },
    /// A dimension of a value becomes the product of these axes.
    Join {
        /// The value.
        value: Value,
        /// The dimension.
        dim: usize,
        /// The axes, outermost first.
        axes: Vec<AxisId>,
    },
}

impl Need {
    /// True if both concern one axis or one value: a change for the first may serve the second.
    pub(in crate::axes) fn is_alike(&self, other: &Need) -> bool {
        match (self, other) {
            (Need::Split { axis: a, .. }, Need::Split { axis: b, .. }) => a == b,
            (Need::Join { value: a, .. }, Need::Join { value: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// The reason why there is no window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// There is no window.
    Refused(WindowRefusal),
    /// There may be a window after a change of the axes.
    Needs(Need),
}

/// An element of a value, wanted under guards.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Point {
    value: Value,
    index: Vec<Form>,
    guards: Vec<Guard>,
}

/// The step from a point: a node, or other points, given as points or as their numbers.
enum Step<P = Point> {
    End(Node),
    /// Another point.
    At(P),
    /// The op of other points.
    Compute(Op, Vec<P>),
    /// The first piece whose guards hold; the last piece's guards hold if no others do.
    Choose(Vec<(Vec<Guard>, P)>),
    /// The point where the guard holds, else 0.
    Within(Guard, P, DType),
    /// Points that must become nodes before the step is known.
    Behind(Vec<P>),
}

impl Step {
    /// The step with a number for each point.
    fn numbered(self, known: &mut Known) -> Step<usize> {
        let mut of = |point| known.number(point);
        match self {
            Self::End(node) => Step::End(node),
            Self::At(point) => Step::At(of(point)),
            Self::Within(guard, point, dtype) => Step::Within(guard, of(point), dtype),
            Self::Compute(op, points) => Step::Compute(op, points.into_iter().map(of).collect()),
            Self::Behind(points) => Step::Behind(points.into_iter().map(of).collect()),
            Self::Choose(pieces) => {
                let pieces = pieces.into_iter();
                Step::Choose(pieces.map(|(guards, point)| (guards, of(point))).collect())
            }
        }
    }
}

/// The points met so far, by number, and the nodes that they have become.
#[derive(Default)]
struct Known {
    numbers: FxHashMap<Rc<Point>, usize>,
    points: Vec<Rc<Point>>,
    nodes: Vec<Option<usize>>,
}

impl Known {
    fn number(&mut self, point: Point) -> usize {
        if let Some(&number) = self.numbers.get(&point) {
            return number;
        }
        let (point, number) = (Rc::new(point), self.points.len());
        self.numbers.insert(point.clone(), number);
        self.points.push(point);
        self.nodes.push(None);
        number
    }
    /// The node of a point.
    fn get(&self, point: &Point) -> Option<usize> {
        self.nodes[*self.numbers.get(point)?]
    }
}

/// Indices and the guards under which they hold.
type Way = (Vec<Guard>, Vec<Form>);

/// Work on a point, given by number.
enum Task {
    Visit(usize),
    /// Turns the point into a node once the points of the step are nodes.
    Finish(usize, Box<Step<usize>>),
}

/// True if the result of `op` may be computed at an index other than the current point.
pub fn is_link(ir: &Ir, op: Op) -> bool {
    let Some(def) = ir.def(op) else { return false };
    let pointwise = matches!(
        def.class,
        OpClass::Shape | OpClass::Elementwise | OpClass::Creation
    );
    let anywhere = |p: Placement| p == Placement::Any;
    pointwise
        && ir.results(op).len() == 1
        && def.traits.contains(Traits::PURE)
        && !def.traits.contains(Traits::BARRIER)
        && !ir.is_composite(op)
        && ir.get_attr(op, "fusion.hint").is_none()
        && def.operands.iter().all(|o| anywhere(o.placement))
        && def.results.iter().all(|r| anywhere(r.placement))
}

impl Window {
    /// The window of `op`'s result. Results of the ops in `inside` are not in memory, `axes` are the axes of the
    /// iteration space, and values in `unjoined` keep their axes.
    pub(in crate::axes) fn resolve(
        ir: &Ir,
        axes: &Axes,
        op: Op,
        inside: &FxHashSet<Op>,
        unjoined: &FxHashSet<Value>,
    ) -> Result<Window, Failure> {
        let mut resolver = Resolver {
            ir,
            axes,
            op,
            inside,
            unjoined,
            nodes: Vec::new(),
            pieces: 1,
            through: Vec::new(),
        };
        resolver.run()?;
        let (nodes, through) = (resolver.nodes, resolver.through);
        Ok(Window { nodes, through })
    }

    /// The window of the reshape `op`, which reads its operand in memory by row-major number; `None` if an extent is
    /// `?`.
    pub(in crate::axes) fn of_reshape(ir: &Ir, axes: &Axes, op: Op) -> Option<Window> {
        let (from, to) = (ir.operand(op, 0), *ir.results(op).first()?);
        let tensor = ir.value_kind(from).as_tensor()?;
        let strides = strides(ir, tensor, &layout::order(ir, tensor))?;
        let index = own_index(axes, to)?.into_iter();
        let node = Node::Numbered {
            value: from,
            index: index.zip(extents(ir, to)?).collect(),
            axes: extents(ir, from)?.into_iter().zip(strides).collect(),
        };
        Some(Window {
            nodes: vec![node],
            through: Vec::new(),
        })
    }
}

struct Resolver<'a> {
    ir: &'a Ir,
    axes: &'a Axes,
    op: Op,
    inside: &'a FxHashSet<Op>,
    unjoined: &'a FxHashSet<Value>,
    nodes: Vec<Node>,
    pieces: usize,
    through: Vec<Op>,
}

impl Resolver<'_> {
    fn unknown(&self) -> Failure {
        Failure::Refused(WindowRefusal::Unknown { op: self.op })
    }
    fn run(&mut self) -> Result<(), Failure> {
        let result = *self.ir.results(self.op).first().ok_or(self.unknown())?;
        let index = own_index(self.axes, result).ok_or(self.unknown())?;
        let root = Point {
            value: result,
            index,
            guards: Vec::new(),
        };
        let mut known = Known::default();
        let root = known.number(root);
        let mut stack = vec![Task::Visit(root)];
        let mut visits = 0;
        while let Some(task) = stack.pop() {
            match task {
                Task::Visit(point) if known.nodes[point].is_some() => {}
                Task::Visit(point) => {
                    visits += 1;
                    if visits > MAX_NODES {
                        let (op, limit) = (self.op, MAX_NODES);
                        return Err(Failure::Refused(WindowRefusal::TooManyNodes { op, limit }));
                    }
                    let step = self.step(&known.points[point].clone(), &known)?;
                    let step = step.numbered(&mut known);
                    let next: SmallVec<[usize; 4]> = match &step {
                        Step::Behind(points) => {
                            stack.push(Task::Visit(point));
                            stack.extend(points.iter().copied().map(Task::Visit));
                            continue;
                        }
                        Step::End(_) => SmallVec::new(),
                        Step::At(to) | Step::Within(_, to, _) => [*to].into_iter().collect(),
                        Step::Compute(_, points) => points.iter().copied().collect(),
                        Step::Choose(pieces) => pieces.iter().map(|p| p.1).collect(),
                    };
                    stack.push(Task::Finish(point, Box::new(step)));
                    stack.extend(next.into_iter().map(Task::Visit));
                }
                Task::Finish(point, step) => {
                    known.nodes[point] = Some(self.finish(*step, &known.nodes));
                }
            }
        }
        // The root may be the same element as an earlier node.
        self.nodes
            .truncate(known.nodes[root].map_or(0, |last| last + 1));
        self.through.sort();
        self.through.dedup();
        Ok(())
    }
    fn finish(&mut self, step: Step<usize>, nodes: &[Option<usize>]) -> usize {
        // Each point of a step was visited before.
        let at = |point: usize| nodes[point].unwrap_or(0);
        let node = match step {
            Step::At(point) => return at(point),
            Step::End(node) => node,
            Step::Behind(_) => return 0,
            Step::Within(guard, point, dtype) => {
                let outside = self.number(Node::Zero(dtype));
                let (guards, inside) = (vec![guard], at(point));
                Node::Select {
                    guards,
                    inside,
                    outside,
                }
            }
            Step::Compute(op, points) => Node::Compute {
                op,
                operands: points.into_iter().map(at).collect(),
            },
            Step::Choose(mut pieces) => {
                let Some((_, point)) = pieces.pop() else {
                    return 0;
                };
                let mut number = at(point);
                while let Some((guards, point)) = pieces.pop() {
                    self.nodes.push(Node::Select {
                        guards,
                        inside: at(point),
                        outside: number,
                    });
                    number = self.nodes.len() - 1;
                }
                return number;
            }
        };
        self.number(node)
    }
    /// The number of `node`, which may have been found already along another path.
    fn number(&mut self, node: Node) -> usize {
        match self.nodes.iter().position(|n| *n == node) {
            Some(number) => number,
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    /// The step that resolves `point`: to a node, to another point, or to an op on other points.
    fn step(&mut self, point: &Point, known: &Known) -> Result<Step, Failure> {
        let (ir, value) = (self.ir, point.value);
        let Some(tensor) = ir.value_kind(value).as_tensor() else {
            return Ok(Step::End(Node::Here(value)));
        };
        let producer = ir.def_op(value).filter(|d| self.inside.contains(d));
        let Some(producer) = producer else {
            return match tensor.dims.is_empty() {
                true => Ok(Step::End(Node::Here(value))),
                false => self.load(point, tensor),
            };
        };
        let root = producer == self.op;
        let walked = tensor.dims.is_empty() || !self.axes.is_unwalked(value);
        if !root && walked && !self.is_made(producer) && self.is_here(point) {
            return Ok(Step::End(Node::Here(value)));
        }
        if !root && !is_link(ir, producer) {
            return self.meet(producer, point);
        }
        if !root {
            self.through.push(producer);
        }
        let class = ir.def(producer).map_or(OpClass::Structure, |d| d.class);
        if class == OpClass::Creation {
            return self.creation(producer, point, tensor);
        }
        let maps = ir.maps(producer).ok_or(self.unknown())?;
        if maps.operands.contains(&Map::RowMajor) {
            return self.reshape(producer, point);
        }
        let (operands, indices) = (ir.operands(producer).enumerate(), maps.index_operands());
        let (indices, others): (Vec<_>, Vec<_>) = operands.partition(|(k, _)| indices.contains(k));
        let points = |list: &[(usize, Value)]| {
            let point = |&(number, value): &(usize, Value)| {
                let index = self.composed(producer, number, &maps, point, known);
                Ok(Point {
                    value,
                    index: index.ok_or(self.unknown())?,
                    guards: point.guards.clone(),
                })
            };
            list.iter()
                .map(point)
                .collect::<Result<Vec<Point>, Failure>>()
        };
        // Computed indices must be known before the element that they select.
        let mut behind = points(&indices)?;
        behind.retain(|point| known.get(point).is_none());
        if !behind.is_empty() {
            return Ok(Step::Behind(behind));
        }
        if maps.reads != Reads::All {
            return self.choose(producer, &maps, point, known);
        }
        let mut points = points(&others)?;
        let own = maps.operands.first().and_then(Map::axes);
        let is_element = |index: &Index| matches!(index, Index::Element(_));
        let axis = own.and_then(|own| own.iter().position(is_element));
        if let (Some(axis), [to]) = (axis, &mut points[..]) {
            return self.gather(axis, to);
        }
        match class {
            OpClass::Shape if points.len() == 1 => Ok(Step::At(points.remove(0))),
            _ => Ok(Step::Compute(producer, points)),
        }
    }

    /// The step to a point `to` whose index along `axis` is an element of an operand. If the axis may be empty, a guard
    /// selects 0 there.
    fn gather(&self, axis: usize, to: &mut Point) -> Result<Step, Failure> {
        let tensor = self.ir.value_kind(to.value).as_tensor();
        let dim = tensor.and_then(|t| t.dims.get(axis));
        let length = dim.and_then(|dim| self.ir.extent_as_expr(dim.extent));
        let (extent, dtype) = length.zip(tensor.map(|t| t.dtype)).ok_or(self.unknown())?;
        let some = minus(&extent, &ExtentExpr::constant(1)).ok_or(self.unknown())?;
        let at = Form::default();
        let guard = Guard { at, extent };
        if is_natural(&some) || to.guards.contains(&guard) {
            return Ok(Step::At(to.clone()));
        }
        if guard.extent.as_constant() == Some(0) {
            return Ok(Step::End(Node::Zero(dtype)));
        }
        to.guards.push(guard.clone());
        Ok(Step::Within(guard, to.clone(), dtype))
    }

    /// The index of operand `number` of `op` for `point` of its result; `None` if it is unknown, or if it depends on an
    /// element that is not a node yet.
    fn composed(
        &self,
        op: Op,
        number: usize,
        maps: &IndexingMaps,
        point: &Point,
        known: &Known,
    ) -> Option<Vec<Form>> {
        let operand = self.ir.operand(op, number);
        let axes = maps.operands.get(number)?.axes()?;
        let tensor = self.ir.value_kind(operand).as_tensor();
        let length =
            |axis: usize| tensor.and_then(|t| self.ir.extent_as_expr(t.dims.get(axis)?.extent));
        let index = |(axis, index): (usize, &Index)| match index {
            Index::Zero => Some(Form::default()),
            Index::Iter(iter) => {
                // Along an axis of length 1 the index is always 0.
                let one = length(axis).is_some_and(|e| e.as_constant() == Some(1));
                let own = point.index.get(*iter)?;
                Some(if one { Form::default() } else { own.clone() })
            }
            Index::Affine { iter, start, step } => {
                let steps = ExtentExpr::constant(step.checked_abs()?);
                let own = point.index.get(*iter)?.times(&steps)?;
                match step {
                    0.. => own.plus(&Form::constant((**start).clone())),
                    _ => own.mirrored(self.axes, start),
                }
            }
            Index::Element(other) => {
                let length = length(axis)?;
                if length.as_constant() == Some(1) {
                    return Some(Form::default());
                }
                let indices = maps.operands.get(*other)?.axes()?;
                let index = indices.iter().map(|index| match index {
                    Index::Iter(iter) => point.index.get(*iter).cloned(),
                    Index::Zero | Index::Affine { .. } | Index::Element(_) | Index::From { .. } => {
                        None
                    }
                });
                let held = Point {
                    value: self.ir.operand(op, *other),
                    index: index.collect::<Option<_>>()?,
                    guards: point.guards.clone(),
                };
                Some(Form::of_element(known.get(&held)?, length))
            }
            Index::From {
                iter,
                operand,
                room,
                back,
            } => {
                let own = point.index.get(*iter)?;
                if room.as_constant() == Some(0) {
                    return Some(own.clone());
                }
                let held = Point {
                    value: self.ir.operand(op, *operand),
                    index: Vec::new(),
                    guards: point.guards.clone(),
                };
                let length = room.add(&ExtentExpr::constant(1))?;
                let start = Form::of_element(known.get(&held)?, length);
                own.plus(&match back {
                    true => start.mirrored(self.axes, &ExtentExpr::default())?,
                    false => start,
                })
            }
        };
        axes.iter().enumerate().map(index).collect()
    }

    /// Choices between the operands of a pad, a cat or an update.
    fn choose(
        &mut self,
        op: Op,
        maps: &IndexingMaps,
        point: &Point,
        known: &Known,
    ) -> Result<Step, Failure> {
        let ir = self.ir;
        let mut pieces: Vec<(Vec<Guard>, Point)> = Vec::new();
        let (operands, indices) = (ir.operands(op).enumerate(), maps.index_operands());
        let mut operands: Vec<_> = operands.filter(|(k, _)| !indices.contains(k)).collect();
        if maps.reads == Reads::Last {
            operands.reverse();
        }
        for (number, operand) in operands {
            let axes = maps.operands.get(number).and_then(Map::axes);
            let axes = axes.ok_or(self.unknown())?;
            let index = self.composed(op, number, maps, point, known);
            let mut index = index.ok_or(self.unknown())?;
            let mut guards = Vec::new();
            let mut never = false;
            let lengths = match axes.is_empty() {
                true => Vec::new(),
                false => extents(ir, operand).ok_or(self.unknown())?,
            };
            for (axis, own) in axes.iter().enumerate() {
                let extent = lengths.get(axis).cloned().ok_or(self.unknown())?;
                never |= extent.as_constant() == Some(0);
                if !matches!(own, Index::Affine { .. } | Index::From { .. }) {
                    continue;
                }
                let one = extent.as_constant() == Some(1);
                let at = index[axis].clone();
                let guard = Guard { at, extent }.reduced(self.axes);
                match guard.holds(self.axes).ok_or(self.unknown())? {
                    Holds::Never => never = true,
                    Holds::Sometimes if !point.guards.contains(&guard) => guards.push(guard),
                    Holds::Sometimes | Holds::Always => {}
                }
                if one {
                    index[axis] = Form::default();
                }
            }
            if never {
                continue;
            }
            let last = guards.is_empty() || pieces.len() > MAX_PIECES;
            let mut all = point.guards.clone();
            all.extend(guards.iter().cloned());
            pieces.push((
                guards,
                Point {
                    value: operand,
                    index,
                    guards: all,
                },
            ));
            if last {
                break;
            }
        }
        if pieces.is_empty() {
            // No index reaches any operand: any operand may stand for the result.
            let to = Point {
                value: ir.operand(op, 0),
                ..point.clone()
            };
            return Ok(Step::At(to));
        }
        self.divide(pieces)
    }
    /// A choice between pieces, or the only piece.
    fn divide(&mut self, mut pieces: Vec<(Vec<Guard>, Point)>) -> Result<Step, Failure> {
        // Pieces after one without guards are never chosen.
        if let Some(sure) = pieces.iter().position(|p| p.0.is_empty()) {
            pieces.truncate(sure + 1);
        }
        if pieces.len() == 1 {
            return Ok(Step::At(pieces.remove(0).1));
        }
        self.pieces += pieces.len() - 1;
        if self.pieces > MAX_PIECES {
            let (op, limit) = (self.op, MAX_PIECES);
            return Err(Failure::Refused(WindowRefusal::TooManyPieces { op, limit }));
        }
        Ok(Step::Choose(pieces))
    }

    /// True if `op` creates equal elements, or elements that count along an axis: they are made wherever they are
    /// wanted.
    fn is_made(&self, op: Op) -> bool {
        let creates = self
            .ir
            .def(op)
            .is_some_and(|d| d.class == OpClass::Creation);
        let alone = creates && self.ir.operand_count(op) == 0;
        alone && is_link(self.ir, op) && !self.is_table(op)
    }
    fn is_table(&self, op: Op) -> bool {
        let table = |kind: &AttrKind| matches!(kind, AttrKind::Dense { splat: false, .. });
        self.ir.attr_of(op, "value").is_some_and(table)
    }

    /// The step for a creation: an element made from nothing or from a scalar.
    fn creation(&self, op: Op, point: &Point, tensor: &TensorType) -> Result<Step, Failure> {
        let ir = self.ir;
        if let Some(operand) = ir.operands(op).next() {
            return Ok(Step::At(Point {
                value: operand,
                index: Vec::new(),
                guards: Vec::new(),
            }));
        }
        if self.is_table(op) {
            return self.load(point, tensor);
        }
        let counts = ir.computes(op) == Some(Computes::Index);
        let dim = ir.int_of(op, "dim").unwrap_or(0) as usize;
        let index = point.index.get(dim).filter(|_| counts).cloned();
        Ok(Step::End(Node::Made { op, index }))
    }

    /// The step for a value in memory: a load at its address.
    fn load(&self, point: &Point, tensor: &TensorType) -> Result<Step, Failure> {
        let strides = strides(self.ir, tensor, &layout::order(self.ir, tensor));
        let strides = strides.ok_or(self.unknown())?;
        let at = point.index.iter().zip(&strides);
        let mut at = at;
        let at = at.try_fold(Form::default(), |sum, (form, stride)| {
            sum.plus(&form.times(stride)?)
        });
        Ok(Step::End(Node::Load {
            value: point.value,
            at: at.ok_or(self.unknown())?,
            guards: point.guards.clone(),
        }))
    }

    /// True if `point` is the current point of the iteration space.
    fn is_here(&self, point: &Point) -> bool {
        let dims = self.axes.value(point.value);
        let same = |(dim, form): (&super::super::DimAxes, &Form)| {
            dim.broadcast || Form::of_axes(self.axes, &dim.axes).as_ref() == Some(form)
        };
        dims.len() == point.index.len() && dims.iter().zip(&point.index).all(same)
    }
    /// The step for a value that `producer` computes only at the current point, wanted at another `point`. Fails with
    /// the axes to join so that both points agree; without such axes, reads the kept value.
    fn meet(&self, producer: Op, point: &Point) -> Result<Step, Failure> {
        let (op, value) = (self.op, point.value);
        let refused = Failure::Refused(WindowRefusal::Computed { op, value });
        let dims = self.axes.value(value);
        let lengths = extents(self.ir, value).unwrap_or_default();
        // The result of a shape op is not kept.
        let class = self.ir.def(producer).map(|def| def.class);
        let kept = class != Some(OpClass::Shape);
        if dims.len() != point.index.len() || lengths.len() != dims.len() || !kept {
            return Err(refused);
        }
        let mut at = Vec::new();
        for (dim, (form, length)) in point.index.iter().zip(&lengths).enumerate() {
            let list = &dims[dim].axes;
            if dims[dim].broadcast || Form::of_axes(self.axes, list).as_ref() == Some(form) {
                continue;
            }
            let joined = self
                .counted(form, length)
                .filter(|axes| axes[..] != list[..]);
            if let Some(axes) = joined.filter(|_| !self.unjoined.contains(&value)) {
                return Err(Failure::Needs(Need::Join { value, dim, axes }));
            }
            let lengths: Option<Vec<ExtentExpr>> =
                list.iter().map(|a| self.axes.extent(*a).cloned()).collect();
            let lengths = lengths.ok_or(self.unknown())?;
            let places: Vec<usize> = (0..lengths.len()).collect();
            match &self.digits(form, &places, &lengths)?[..] {
                [(guards, index)] if guards.is_empty() => {
                    at.extend(list.iter().copied().zip(index.iter().cloned()));
                }
                _ => return Err(refused),
            }
        }
        Ok(Step::End(Node::Resident {
            value,
            at,
            guards: point.guards.clone(),
        }))
    }
    /// The axes, outermost first, whose row-major index `form` counts, from any offset and in either direction, if
    /// their product is `length`.
    fn counted(&self, form: &Form, length: &ExtentExpr) -> Option<Vec<AxisId>> {
        let mut terms = form.terms.to_vec();
        terms.sort_by_key(|t| (t.1.as_constant().is_none(), t.1.as_constant(), t.1.clone()));
        let mut step = ExtentExpr::constant(1);
        let mut list: Vec<AxisId> = Vec::new();
        for (variable, factor) in &terms {
            let axis = variable.axis().filter(|_| *factor == step)?;
            step = step.mul(self.axes.extent(axis)?)?;
            list.insert(0, axis);
        }
        (step == *length).then_some(list)
    }
}

/// The index of each dimension of a value at the current point.
fn own_index(axes: &Axes, value: Value) -> Option<Vec<Form>> {
    let dims = axes.value(value).iter();
    let index = |dim: &super::super::DimAxes| match dim.broadcast {
        true => Some(Form::default()),
        false => Form::of_axes(axes, &dim.axes),
    };
    dims.map(index).collect()
}

/// The lengths of the dimensions of a value; `None` where one is `?`.
fn extents(ir: &Ir, value: Value) -> Option<Vec<ExtentExpr>> {
    let dims = ir.value_kind(value).as_tensor()?.dims.iter();
    dims.map(|d| ir.extent_as_expr(d.extent)).collect()
}

/// Strides of a dense buffer whose axes have this order; 0 along axes that are stored once.
fn strides(ir: &Ir, tensor: &TensorType, order: &[usize]) -> Option<Vec<ExtentExpr>> {
    let mut inner = ExtentExpr::constant(1);
    let mut strides = vec![ExtentExpr::constant(0); tensor.dims.len()];
    for &axis in order.iter().rev() {
        let dim = tensor.dims.get(axis).filter(|d| layout::matters(d));
        if let Some(dim) = dim {
            strides[axis] = inner.clone();
            inner = inner.mul(&ir.extent_as_expr(dim.extent)?)?;
        }
    }
    Some(strides)
}
