//! Windows: the elements of slices, flips, pads, cats and gathers.
//!
//! Random chains of windows, permutations, reshapes and arithmetic over one tensor, in both layouts, are compared with
//! an evaluation of the ops on arrays in this file. Each refusal and query has a test of its own.
//!
//! The chains fix their shapes op by op, and evaluate each op as they add it. Random programs of squares would need an
//! evaluator of program text, and no crate below the interpreter has one.

use fuser_analysis::axes::window::{
    Form, Guard, MAX_NODES, MAX_PIECES, Node, Source, Variable, Window, WindowRefusal,
};
use fuser_analysis::axes::{Axes, AxisId, AxisRefusal, Kept};
use fuser_ir::layout;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{DType, Ir, Op, Value};
use fuser_testing::{Random, parsed};

/// The value in a border; the elements of the tensor are 0, 1, 2, ...
const FILL: i64 = -1;

/// The indices of gathers, some of them beyond the axis.
const INDICES: [i64; 5] = [2, -3, 0, 100, 1];

/// A dense array, row-major.
#[derive(Clone)]
struct Array {
    dims: Vec<usize>,
    data: Vec<i64>,
}

fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = dims.iter().product();
    let index = |mut at: usize| {
        let mut index = vec![0; dims.len()];
        for (slot, extent) in index.iter_mut().zip(dims).rev() {
            *slot = at % extent;
            at /= extent;
        }
        index
    };
    (0..count).map(index).collect()
}

impl Array {
    fn of(dims: &[usize], element: impl Fn(&[usize]) -> i64) -> Self {
        let data = indices(dims).iter().map(|index| element(index)).collect();
        let dims = dims.to_vec();
        Self { dims, data }
    }
    fn at(&self, index: &[usize]) -> i64 {
        let at = index
            .iter()
            .zip(&self.dims)
            .fold(0, |at, (i, n)| at * n + i);
        self.data[at]
    }
}

/// A chain of ops as text, and its result.
struct Chain {
    random: Random,
    lines: Vec<String>,
    value: Array,
}

fn list(items: &[usize]) -> String {
    let items: Vec<String> = items.iter().map(usize::to_string).collect();
    format!("[{}]", items.join(", "))
}

impl Chain {
    fn emit(&mut self, text: &str, value: Array) {
        let (from, to) = (self.lines.len(), self.lines.len() + 1);
        let text = text.replace('@', &format!("%v{from}"));
        self.lines.push(format!("  %v{to} = fusion.{text}"));
        self.value = value;
    }
    fn slice(&mut self) {
        let old = self.value.clone();
        let mut part = |n: usize| {
            let (start, step) = (self.random.below(n.min(3)), 1 + self.random.below(2));
            let most = n.saturating_sub(start).div_ceil(step);
            (start, step, 1.max(self.random.below(most + 1)).min(most))
        };
        let parts: Vec<(usize, usize, usize)> = old.dims.iter().map(|&n| part(n)).collect();
        let each = |f: fn(&(usize, usize, usize)) -> usize| -> Vec<usize> {
            parts.iter().map(f).collect()
        };
        let (starts, steps, shape) = (each(|p| p.0), each(|p| p.1), each(|p| p.2));
        let value = Array::of(&shape, |index| {
            let from = index.iter().enumerate();
            let from: Vec<usize> = from.map(|(k, i)| starts[k] + steps[k] * i).collect();
            old.at(&from)
        });
        let (starts, steps, shape) = (list(&starts), list(&steps), list(&shape));
        self.emit(
            &format!("slice @ starts {starts} shape {shape} strides {steps}"),
            value,
        );
    }
    fn pad(&mut self) {
        let old = self.value.clone();
        let rank = old.dims.len();
        let mut amounts = || -> Vec<usize> { (0..rank).map(|_| self.random.below(3)).collect() };
        let (low, high) = (amounts(), amounts());
        let dims = (0..rank).map(|k| low[k] + old.dims[k] + high[k]);
        let value = Array::of(&dims.collect::<Vec<_>>(), |index| {
            let inside = |k: usize| (low[k]..low[k] + old.dims[k]).contains(&index[k]);
            match (0..rank).all(inside) {
                true => old.at(&(0..rank).map(|k| index[k] - low[k]).collect::<Vec<_>>()),
                false => FILL,
            }
        });
        let text = format!("pad @, %fill low {} high {}", list(&low), list(&high));
        self.emit(&text, value);
    }
    fn twice(&mut self) {
        let old = self.value.clone();
        let dim = self.random.below(old.dims.len());
        let mut dims = old.dims.clone();
        dims[dim] *= 2;
        let value = Array::of(&dims, |index| {
            let mut index = index.to_vec();
            index[dim] %= old.dims[dim];
            old.at(&index)
        });
        self.emit(&format!("cat @, @ dim {dim}"), value);
    }
    /// Merges two dimensions, or splits one.
    fn regroup(&mut self) {
        let old = self.value.clone();
        let at = self.random.below(old.dims.len());
        let mut dims = old.dims.clone();
        match dims.get(at + 1).copied() {
            Some(inner) => {
                dims[at] *= inner;
                dims.remove(at + 1);
            }
            None => {
                let whole = dims[at];
                let factors: Vec<usize> = (1..=whole.max(1))
                    .filter(|f| whole.is_multiple_of(*f))
                    .collect();
                let inner = factors[self.random.below(factors.len())];
                dims[at] = whole / inner;
                dims.push(inner);
            }
        }
        let value = Array { dims, ..old };
        self.emit(&format!("reshape @ shape {}", list(&value.dims)), value);
    }
    fn negative(&mut self) {
        let old = self.value.clone();
        let value = Array::of(&old.dims, |index| -old.at(index));
        self.emit("neg @", value);
    }
    fn doubled(&mut self) {
        let old = self.value.clone();
        let value = Array::of(&old.dims, |index| 2 * old.at(index));
        self.emit("add @, @", value);
    }
    fn flip(&mut self) {
        let old = self.value.clone();
        let dim = self.random.below(old.dims.len());
        let value = Array::of(&old.dims, |index| {
            let mut index = index.to_vec();
            index[dim] = old.dims[dim] - 1 - index[dim];
            old.at(&index)
        });
        self.emit(&format!("flip @ dims [{dim}]"), value);
    }
    fn take(&mut self) {
        let old = self.value.clone();
        let dim = self.random.below(old.dims.len());
        let mut dims = old.dims.clone();
        dims[dim] = INDICES.len();
        let value = Array::of(&dims, |index| {
            let mut index = index.to_vec();
            index[dim] = INDICES[index[dim]].clamp(0, old.dims[dim] as i64 - 1) as usize;
            old.at(&index)
        });
        self.emit(&format!("take @, %n dim {dim}"), value);
    }
    /// The maximum along the last axis: a value that the loop nest computes.
    fn greatest(&mut self) {
        let old = self.value.clone();
        let Some((&last, dims)) = old.dims.split_last() else {
            return;
        };
        let value = Array::of(dims, |index| {
            let along = (0..last).map(|k| old.at(&[index, &[k]].concat()));
            along.max().expect("an element")
        });
        self.emit(&format!("max @ dims [{}]", dims.len()), value);
    }
    fn turn(&mut self) {
        let old = self.value.clone();
        let dims: Vec<usize> = old.dims.iter().rev().copied().collect();
        let value = Array::of(&dims, |index| {
            old.at(&index.iter().rev().copied().collect::<Vec<_>>())
        });
        let order: Vec<usize> = (0..dims.len()).rev().collect();
        self.emit(&format!("permute @ dims {}", list(&order)), value);
    }
}

fn program(ty: &str, body: &str, result: &str) -> (Ir, Vec<Op>) {
    let text = format!(
        "task.program @f(%v0: {ty}, %fill: f32, %n: tensor<5xi64>) -> {result} {{\n{body}\n}}\n"
    );
    let (ir, module) = parsed(&text);
    let program = ir.children(module)[0];
    let ops = ir.children(program);
    (ir, ops)
}

/// The window of the last op before the terminator, with the axes of all ops.
fn last(ir: &Ir, ops: &[Op]) -> Result<(Axes, Window), AxisRefusal> {
    let inside = &ops[..ops.len() - 1];
    let axes = Axes::build(ir, inside)?;
    let window = axes.window(inside[inside.len() - 1]).expect("a window");
    let window = window.clone();
    Ok((axes, window))
}

fn number(expr: &ExtentExpr) -> i64 {
    expr.as_constant().expect("a number")
}

/// The current point of the iteration space for an index of `result`: the index of each axis.
fn walk(axes: &Axes, result: Value, index: &[usize]) -> Vec<(AxisId, i64)> {
    let mut point = Vec::new();
    for (dim, &at) in axes.value(result).iter().zip(index) {
        let mut at = at as i64;
        for &axis in dim.axes.iter().rev() {
            let length = number(axes.extent(axis).expect("known"));
            point.push((axis, at % length));
            at /= length;
        }
    }
    point
}

/// The values of forms at a point of the iteration space, given the values of some nodes.
struct Here<'a> {
    axes: &'a Axes,
    point: &'a [(AxisId, i64)],
    values: Vec<i64>,
}

impl Here<'_> {
    fn value_of(&self, form: &Form) -> i64 {
        let index = |v: &Variable| {
            let (index, length) = match &v.of {
                Source::Axis(axis) => {
                    let (_, index) = self.point.iter().find(|p| p.0 == *axis).expect("walked");
                    (*index, self.axes.extent(*axis).expect("known"))
                }
                Source::Element { node, length } => {
                    (self.values[*node].clamp(0, number(length) - 1), &**length)
                }
            };
            match v.mirrored {
                true => number(length) - 1 - index,
                false => index,
            }
        };
        let terms = form.terms.iter().map(|(v, c)| number(c) * index(v));
        number(&form.offset) + terms.sum::<i64>()
    }
    fn holds(&self, guard: &Guard) -> bool {
        (0..number(&guard.extent)).contains(&self.value_of(&guard.at))
    }
}

/// The element of `kept`, the result of a reduction, that a node reads. Without an index of its own it reads at the
/// current point.
fn kept_element(
    here: &Here<'_>,
    value: Value,
    at: &[(AxisId, Form)],
    kept: Option<&(Value, Array)>,
) -> i64 {
    let (own, array) = kept.expect("a reduction");
    assert_eq!(*own, value);
    let along = |axis: &AxisId| {
        let elsewhere = at.iter().find(|(own, _)| own == axis);
        match elsewhere {
            Some((_, form)) => here.value_of(form),
            None => here.point.iter().find(|p| p.0 == *axis).expect("walked").1,
        }
    };
    let index = here.axes.value(value).iter().map(|dim| {
        dim.axes.iter().fold(0, |sum, axis| {
            let length = number(here.axes.extent(*axis).expect("known"));
            let index = along(axis);
            assert!((0..length).contains(&index), "{index} of {length}");
            sum * length + index
        })
    });
    let index: Vec<usize> = index.map(|i| i as usize).collect();
    array.at(&index)
}

/// The value of one element, computed by the nodes. Each of the `size` elements in memory holds its own position.
fn element(
    ir: &Ir,
    axes: &Axes,
    window: &Window,
    point: &[(AxisId, i64)],
    size: i64,
    kept: Option<&(Value, Array)>,
) -> i64 {
    let values = Vec::new();
    let mut here = Here {
        axes,
        point,
        values,
    };
    for node in &window.nodes {
        let value = match node {
            Node::Load { value, at, guards } if guards.iter().all(|g| here.holds(g)) => {
                let at = here.value_of(at);
                match ir.value_kind(*value).dtype() {
                    Some(DType::I64) => INDICES[at as usize],
                    _ => {
                        assert!((0..size).contains(&at), "outside of memory: {at} of {size}");
                        at
                    }
                }
            }
            Node::Resident { value, at, guards } if guards.iter().all(|g| here.holds(g)) => {
                kept_element(&here, *value, at, kept)
            }
            // A garbage value: no node may use it.
            Node::Load { .. } | Node::Resident { .. } => i64::MIN / 3,
            Node::Here(value) if kept.is_some_and(|(own, _)| own == value) => {
                kept_element(&here, *value, &[], kept)
            }
            Node::Here(_) => FILL,
            Node::Compute { op, operands } => match ir.name(*op) {
                "fusion.neg" => here.values[operands[0]].wrapping_neg(),
                "fusion.add" => here.values[operands[0]].wrapping_add(here.values[operands[1]]),
                other => panic!("{other} in a chain"),
            },
            Node::Select {
                guards,
                inside,
                outside,
            } => match guards.iter().all(|g| here.holds(g)) {
                true => here.values[*inside],
                false => here.values[*outside],
            },
            Node::Zero(_) | Node::Numbered { .. } | Node::Made { .. } => {
                panic!("{node:?} in a chain")
            }
        };
        here.values.push(value);
    }
    *here.values.last().expect("a node")
}

#[test]
fn nodes_give_every_element_of_random_chains() {
    let (mut compared, mut resolved, mut computed, mut elsewhere) = (0, 0, 0, 0);
    for seed in 0..2400u64 {
        let mut random = Random(seed);
        let dims: Vec<usize> = (0..1 + random.below(3))
            .map(|_| 1 + random.below(5))
            .collect();
        let column_major = random.below(2) == 1;
        let order: Vec<usize> = match column_major {
            true => (0..dims.len()).rev().collect(),
            false => (0..dims.len()).collect(),
        };
        // Each element holds its own position in memory.
        let mut strides = vec![0; dims.len()];
        let mut stride = 1;
        for &axis in order.iter().rev() {
            strides[axis] = stride;
            stride *= dims[axis];
        }
        let place = |index: &[usize]| {
            index
                .iter()
                .zip(&strides)
                .map(|(i, s)| i * s)
                .sum::<usize>()
        };
        let mut chain = Chain {
            random,
            lines: Vec::new(),
            value: Array::of(&dims, |index| place(index) as i64),
        };
        // Some chains begin with a value that the loop nest computes.
        let mut kept = None;
        if dims.len() > 1 && chain.random.below(3) == 0 {
            chain.greatest();
            kept = Some(chain.value.clone());
        }
        for _ in 0..chain.random.below(6) {
            match chain.random.below(9) {
                0 => chain.slice(),
                1 => chain.pad(),
                2 => chain.twice(),
                3 => chain.turn(),
                4 => chain.regroup(),
                5 => chain.negative(),
                6 => chain.flip(),
                7 => chain.take(),
                _ => chain.doubled(),
            }
        }
        chain.slice();
        let shape = |dims: &[usize]| -> String { dims.iter().map(|n| format!("{n}x")).collect() };
        let ty = format!("tensor<{}f32, {}>", shape(&dims), list(&order));
        let result = format!("tensor<{}f32>", shape(&chain.value.dims));
        let end = format!("  task.return %v{}", chain.lines.len());
        let body = format!("{}\n{end}", chain.lines.join("\n"));
        let (ir, ops) = program(&ty, &body, &result);
        let (axes, window) = match last(&ir, &ops) {
            Ok(found) => found,
            // Reshapes may merge axes that windows distinguish.
            Err(AxisRefusal::Window(
                WindowRefusal::TooManyPieces { .. } | WindowRefusal::Computed { .. },
            )) => continue,
            Err(other) => panic!("seed {seed}: {other:?}\n{body}"),
        };
        resolved += 1;
        computed += usize::from(window.computed().next().is_some());
        elsewhere += usize::from(window.elsewhere().next().is_some());
        let kept = kept.map(|array| (ir.result(ops[0], 0), array));
        let value = ir.result(ops[ops.len() - 2], 0);
        for index in indices(&chain.value.dims) {
            let point = walk(&axes, value, &index);
            assert_eq!(
                element(&ir, &axes, &window, &point, stride as i64, kept.as_ref()),
                chain.value.at(&index),
                "seed {seed}, element {index:?}\n{body}"
            );
            compared += 1;
        }
    }
    assert!(
        resolved > 1800 && computed > 600 && elsewhere > 200 && compared > 6000,
        "{resolved} windows, {computed} with arithmetic, {elsewhere} of kept values, {compared} elements"
    );
}

#[test]
fn what_a_reduction_makes_is_read_where_it_is_kept() {
    let body = "  %e = fusion.sum %v0 dims [1]\n  \
                %s = fusion.slice %e starts [1] shape [4]\n  task.return %s";
    let (ir, ops) = program("tensor<8x3xf32>", body, "tensor<4xf32>");
    let (axes, window) = last(&ir, &ops).expect("resolves");
    let value = ir.result(ops[0], 0);
    let own: Vec<AxisId> = axes.logical(value).collect();
    let walked: Vec<AxisId> = axes.logical(ir.result(ops[1], 0)).collect();
    assert_ne!(own, walked);
    let kept: Vec<_> = window.elsewhere().collect();
    let [(read, [(axis, form)])] = kept[..] else {
        panic!("{:?}", window.nodes);
    };
    assert_eq!((read, *axis), (value, own[0]));
    assert_eq!(form.along(walked[0]), Some(ExtentExpr::constant(1)));
    assert_eq!(form.offset, ExtentExpr::constant(1));
    assert!(window.here().next().is_none() && window.loads().next().is_none());
    // That axis is merged with no other one. Neighbours along it are read as vectors.
    for kept in [Kept::InTile, Kept::InMemory] {
        assert!(!window.joins(own[0], walked[0], &ExtentExpr::constant(4), kept));
    }
    assert!(window.is_contiguous(&axes, walked[0]));
    // A value in memory is read in place.
    let axes = Axes::build(&ir, &ops[1..2]).expect("resolves");
    assert!(axes.window(ops[1]).is_some_and(Window::is_plain));
    // An axis of equal length is the same axis, read from its end.
    let body = "  %e = fusion.sum %v0 dims [1]\n  \
                %s = fusion.flip %e dims [0]\n  task.return %s";
    let (ir, turned) = program("tensor<8x3xf32>", body, "tensor<8xf32>");
    let (axes, window) = last(&ir, &turned).expect("resolves");
    let both = [0, 1].map(|op| axes.logical(ir.result(turned[op], 0)).collect::<Vec<_>>());
    assert_eq!(both[0], both[1]);
    assert!(!window.is_contiguous(&axes, both[0][0]));
    // If the window would merge two axes, they stay apart.
    let body = "  %e = fusion.sum %v0 dims [2]\n  \
                %t = fusion.permute %e dims [1, 0]\n  \
                %s = fusion.cat %e, %t dim 0\n  task.return %s";
    let (ir, square) = program("tensor<5x5x3xf32>", body, "tensor<10x5xf32>");
    let (axes, window) = last(&ir, &square).expect("resolves");
    assert_eq!(axes.logical(ir.result(square[0], 0)).count(), 2);
    assert_eq!(window.elsewhere().count(), 2);
    // At the walk's own row it is there, beside the other columns.
    let body = "  %m = fusion.max %v0 dims [1]\n  \
                %b = fusion.broadcast %m dims [0] shape [8, 3]\n  \
                %d = fusion.sub %v0, %b\n  \
                %s = fusion.slice %d starts [0, 1] shape [8, 2]\n  task.return %s";
    let (ir, ops) = program("tensor<8x3xf32>", body, "tensor<8x2xf32>");
    let (_, window) = last(&ir, &ops).expect("resolves");
    let here: Vec<Value> = window.here().collect();
    assert_eq!(here, [ir.result(ops[0], 0)]);
}

#[test]
fn a_tensor_is_its_own_index() {
    for dim in [0, 1] {
        let body = format!("  %s = fusion.take %v0, %v0 dim {dim}\n  task.return %s");
        let length = [4, 3][dim];
        let result = format!("tensor<{}xi64>", ["3x4x4", "3x3x4"][dim]);
        let (ir, ops) = program("tensor<3x4xi64>", &body, &result);
        let (axes, window) = last(&ir, &ops).expect("resolves");
        let [Node::Load { at: index, .. }, Node::Load { at, .. }] = &window.nodes[..] else {
            panic!("{:?}", window.nodes);
        };
        let ids: Vec<AxisId> = axes.logical(ir.result(ops[0], 0)).collect();
        let [outer, inner] = [[0, 1], [1, 2]][dim].map(|place| ids[place]);
        assert_eq!(index.along(outer), Some(ExtentExpr::constant(4)));
        assert_eq!(index.along(inner), Some(ExtentExpr::constant(1)));
        // The axis that is not gathered stays an axis of its own.
        let own = ids[[2, 0][dim]];
        let step = [1, 4][dim];
        assert_eq!(at.along(own), Some(ExtentExpr::constant(step)));
        assert_eq!(at.elements().collect::<Vec<_>>(), [0]);
        assert_eq!(axes.extent(own), Some(&ExtentExpr::constant(length)));
    }
}

#[test]
fn pieces_and_nodes_have_limits() {
    let parts = vec!["%v0"; MAX_PIECES + 1].join(", ");
    let length = 8 * (MAX_PIECES + 1);
    let body = format!("  %c = fusion.cat {parts} dim 0\n  task.return %c");
    let (ir, ops) = program("tensor<8xf32>", &body, &format!("tensor<{length}xf32>"));
    let (op, limit) = (ops[0], MAX_PIECES);
    let refused = AxisRefusal::Window(WindowRefusal::TooManyPieces { op, limit });
    assert_eq!(last(&ir, &ops).map(|_| ()), Err(refused));

    let chain = |count: usize| {
        let mut lines: Vec<String> = (0..count)
            .map(|i| format!("  %v{} = fusion.neg %v{i}", i + 1))
            .collect();
        lines.push(format!(
            "  %s = fusion.slice %v{count} starts [1] shape [7]"
        ));
        program(
            "tensor<8xf32>",
            &format!("{}\n  task.return %s", lines.join("\n")),
            "tensor<7xf32>",
        )
    };
    let (ir, ops) = chain(MAX_NODES - 2);
    assert!(last(&ir, &ops).is_ok());
    let (ir, ops) = chain(MAX_NODES);
    let (op, limit) = (ops[ops.len() - 2], MAX_NODES);
    let refused = AxisRefusal::Window(WindowRefusal::TooManyNodes { op, limit });
    assert_eq!(last(&ir, &ops).map(|_| ()), Err(refused));
}

#[test]
fn what_is_touched_counts_once() {
    let count = |body: &str, result: &str| {
        let body = format!("{body}\n  task.return %s");
        let (ir, ops) = program("tensor<64x32xf32>", &body, result);
        let axes = Axes::build(&ir, &ops[..ops.len() - 1]).expect("resolves");
        let touched = axes.touched(&ir, &ops[..ops.len() - 1], ir.operand(ops[0], 0), |n| {
            n.as_constant()?.try_into().ok()
        });
        number(&touched.expect("known"))
    };
    let plain = "  %s = fusion.slice %v0 starts [3, 1] shape [5, 7]";
    assert_eq!(count(plain, "tensor<5x7xf32>"), 35);
    // A small step touches the bytes in between, and continues in the next row.
    let stepped = "  %s = fusion.slice %v0 starts [0, 0] shape [5, 8] strides [1, 4]";
    assert_eq!(count(stepped, "tensor<5x8xf32>"), 39 * 4 + 1);
    // Distant rows share no cache line.
    let rows = "  %s = fusion.slice %v0 starts [0, 0] shape [8, 32] strides [8, 1]";
    assert_eq!(count(rows, "tensor<8x32xf32>"), 8 * 32);
    // A border is not read.
    let padded = "  %s = fusion.pad %v0, %fill low [0, 2] high [0, 2]";
    assert_eq!(count(padded, "tensor<64x36xf32>"), 64 * 32);
    // Swapped halves read the whole tensor. Elements in two overlapping slices are read once.
    let halves = "  %a = fusion.slice %v0 starts [0, 16] shape [64, 16]\n  \
                  %b = fusion.slice %v0 starts [0, 0] shape [64, 16]\n  \
                  %s = fusion.cat %a, %b dim 1";
    assert_eq!(count(halves, "tensor<64x32xf32>"), 64 * 32);
    let both = "  %a = fusion.slice %v0 starts [0, 1] shape [64, 16]\n  \
                %b = fusion.slice %v0 starts [0, 4] shape [64, 16]\n  \
                %s = fusion.add %a, %b";
    assert_eq!(count(both, "tensor<64x16xf32>"), 64 * 19);
    // A gather reads one row for each index, and no more than the rows of the tensor.
    let rows = "  %s = fusion.take %v0, %n dim 0";
    assert_eq!(count(rows, "tensor<5x32xf32>"), 5 * 32);
    let twice = "  %t = fusion.take %v0, %n dim 0\n  %u = fusion.cat %t, %t dim 0\n  \
                 %s = fusion.take %u, %n dim 0";
    assert_eq!(count(twice, "tensor<5x32xf32>"), 2 * 5 * 32);
    let few = "  %z = fusion.neg %v0\n  %b = fusion.broadcast %n dims [1] shape [64, 5]\n  \
               %d = fusion.copy %b dense\n  %s = fusion.take_along %z, %d dim 1";
    assert_eq!(count(few, "tensor<64x5xf32>"), 64 * 5);
}

#[test]
fn neighbours_in_memory_are_those_of_the_layout() {
    let body = "  %s = fusion.slice %v0 starts [0, 1] shape [8, 3]\n  task.return %s";
    let slice = |ty: &str| {
        let (ir, ops) = program(ty, body, "tensor<8x3xf32>");
        let tensor = ir
            .value_kind(ir.operand(ops[0], 0))
            .as_tensor()
            .expect("a tensor");
        let row_major = layout::is_row_major(&ir, tensor);
        let (axes, window) = last(&ir, &ops).expect("resolves");
        let ids: Vec<AxisId> = axes.logical(ir.result(ops[0], 0)).collect();
        let length = |axis: AxisId| axes.extent(axis).expect("known").clone();
        let lengths = [length(ids[0]), length(ids[1])];
        let even = [0, 1].map(|i| window.is_contiguous(&axes, ids[i]));
        (window, ids, lengths, (row_major, even))
    };
    let (rows, ids, lengths, known) = slice("tensor<8x4xf32>");
    assert_eq!(known, (true, [false, true]));
    assert!(!rows.joins(ids[0], ids[1], &lengths[1], Kept::InTile));
    let (columns, ids, lengths, known) = slice("tensor<8x4xf32, [1, 0]>");
    assert_eq!(known, (false, [true, false]));
    assert!(columns.joins(ids[1], ids[0], &lengths[0], Kept::InTile));
    assert!(!columns.joins(ids[0], ids[1], &lengths[1], Kept::InTile));
    // Whole rows are contiguous.
    let whole = "  %s = fusion.slice %v0 starts [1, 0] shape [3, 4]\n  task.return %s";
    let (ir, ops) = program("tensor<8x4xf32>", whole, "tensor<3x4xf32>");
    let (axes, window) = last(&ir, &ops).expect("resolves");
    let ids: Vec<AxisId> = axes.logical(ir.result(ops[0], 0)).collect();
    let length = axes.extent(ids[1]).expect("known");
    assert!(window.joins(ids[0], ids[1], length, Kept::InTile));
    // A kept value that is flipped whole is one sequence in memory; in fast memory it has an index along each axis. A
    // part of its rows is no sequence.
    for (body, shape, in_memory) in [
        ("fusion.flip %s dims [0, 1]", "5x7", true),
        ("fusion.flip %s dims [1]", "5x7", false),
        ("fusion.slice %s starts [0, 1] shape [5, 6]", "5x6", false),
    ] {
        let text = format!("  %s = fusion.sum %v0 dims [1]\n  %f = {body}\n  task.return %f");
        let result = format!("tensor<{shape}xf32>");
        let (ir, ops) = program("tensor<5x3x7xf32>", &text, &result);
        let (axes, window) = last(&ir, &ops).expect("resolves");
        let ids: Vec<AxisId> = axes.logical(ir.result(ops[1], 0)).collect();
        let length = axes.extent(ids[1]).expect("known");
        let joins = |kept| window.joins(ids[0], ids[1], length, kept);
        assert_eq!(
            (joins(Kept::InTile), joins(Kept::InMemory)),
            (false, in_memory),
            "{body}"
        );
    }
    // A part of a reshape's elements, in any layout of its operand.
    let body = "  %r = fusion.reshape %v0 shape [32]\n  \
                %s = fusion.slice %r starts [1] shape [4]\n  task.return %s";
    for ty in ["tensor<8x4xf32>", "tensor<8x4xf32, [1, 0]>"] {
        let (ir, ops) = program(ty, body, "tensor<4xf32>");
        assert!(last(&ir, &ops).is_ok());
    }
}
