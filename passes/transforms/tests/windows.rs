//! Windows: where the elements of slices, pads and cats lie.
//!
//! Random chains of windows and permutations over one tensor, in both layouts, against an evaluation of the ops on arrays
//! written here; and each refusal and question by itself.

mod common;

use fuser_ir::layout;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op};
use fuser_passes::axes::window::{MAX_DEPTH, MAX_PIECES, Source, Window, WindowRefusal};

/// What a border holds, where the tensor holds 0, 1, 2, ...
const FILL: i64 = -1;

/// Numbers from a multiplicative congruence, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        let step = self.0.wrapping_mul(6364136223846793005);
        self.0 = step.wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound.max(1) as u64) as usize
    }
}

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
    fn iota(dims: &[usize]) -> Self {
        let count: usize = dims.iter().product();
        Self::of(dims, |index| {
            index.iter().zip(dims).fold(0, |at, (i, n)| at * n + i) as i64 % count.max(1) as i64
        })
    }
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

/// A chain of ops as text, and what it gives.
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
    let text = format!("task.program @f(%v0: {ty}, %fill: f32) -> {result} {{\n{body}\n}}\n");
    let (ir, module) = common::parsed(&text);
    let program = ir.children(module)[0];
    let ops = ir.children(program);
    (ir, ops)
}

/// The window that the last op before the end is, everything before it inside.
fn last(ir: &Ir, ops: &[Op]) -> Result<Window, WindowRefusal> {
    Window::resolve(ir, ops[ops.len() - 2], |_| true)
}

fn number(expr: &ExtentExpr) -> i64 {
    expr.as_constant().expect("a number")
}

/// What the pieces say of one element: its place in memory, or a border.
fn element(window: &Window, index: &[usize]) -> i64 {
    let at = |dim: usize| index[dim] as i64;
    let piece = window.pieces.iter().find(|piece| {
        piece.guards.iter().all(|g| {
            let place = g.scale * at(g.dim) + number(&g.offset);
            (0..number(&g.extent)).contains(&place)
        })
    });
    match &piece.expect("every element has a piece").source {
        Source::Fill(_) => FILL,
        Source::Memory {
            offset, strides, ..
        } => {
            let steps = strides.iter().enumerate();
            number(offset) + steps.map(|(k, s)| number(s) * at(k)).sum::<i64>()
        }
        Source::Reshaped { .. } => panic!("only a reshape alone is read by numbers"),
    }
}

#[test]
fn pieces_give_every_element_of_random_chains() {
    let (mut compared, mut resolved) = (0, 0);
    for seed in 0..1200u64 {
        let mut random = Random(seed.wrapping_mul(0x9e3779b97f4a7c15) + 1);
        let dims: Vec<usize> = (0..1 + random.below(3))
            .map(|_| 1 + random.below(5))
            .collect();
        let column_major = random.below(2) == 1;
        let order: Vec<usize> = match column_major {
            true => (0..dims.len()).rev().collect(),
            false => (0..dims.len()).collect(),
        };
        let x = Array::iota(&dims);
        let mut chain = Chain {
            random,
            lines: Vec::new(),
            value: x.clone(),
        };
        for _ in 0..chain.random.below(4) {
            match chain.random.below(4) {
                0 => chain.slice(),
                1 => chain.pad(),
                2 => chain.twice(),
                _ => chain.turn(),
            }
        }
        chain.slice();
        let shape = |dims: &[usize]| -> String { dims.iter().map(|n| format!("{n}x")).collect() };
        let ty = format!("tensor<{}f32, {}>", shape(&dims), list(&order));
        let result = format!("tensor<{}f32>", shape(&chain.value.dims));
        let end = format!("  task.return %v{}", chain.lines.len());
        let body = format!("{}\n{end}", chain.lines.join("\n"));
        let (ir, ops) = program(&ty, &body, &result);
        let window = match last(&ir, &ops) {
            Ok(window) => window,
            Err(WindowRefusal::TooManyPieces { .. }) => continue,
            Err(other) => panic!("seed {seed}: {other:?}\n{body}"),
        };
        resolved += 1;
        // Where in memory element number `n` of the tensor lies.
        let mut strides = vec![0; dims.len()];
        let mut stride = 1;
        for &axis in order.iter().rev() {
            strides[axis] = stride;
            stride *= dims[axis];
        }
        let places: Vec<i64> = indices(&dims)
            .iter()
            .map(|index| {
                index
                    .iter()
                    .zip(&strides)
                    .map(|(i, s)| i * s)
                    .sum::<usize>() as i64
            })
            .collect();
        for index in indices(&chain.value.dims) {
            let expected = match chain.value.at(&index) {
                FILL => FILL,
                n => places[n as usize],
            };
            assert_eq!(
                element(&window, &index),
                expected,
                "seed {seed}, element {index:?}\n{body}"
            );
            compared += 1;
        }
    }
    assert!(
        resolved > 900 && compared > 3000,
        "{resolved} windows, {compared} elements"
    );
}

#[test]
fn what_would_have_to_be_computed_is_refused() {
    let body =
        "  %e = fusion.exp %v0\n  %s = fusion.slice %e starts [1] shape [4]\n  task.return %s";
    let (ir, ops) = program("tensor<8xf32>", body, "tensor<4xf32>");
    let value = ir.result(ops[0], 0);
    let op = ops[1];
    assert_eq!(last(&ir, &ops), Err(WindowRefusal::Computed { op, value }));
    // In memory it is read where it lies.
    assert!(Window::resolve(&ir, op, |o| o != ops[0]).is_ok());
}

#[test]
fn pieces_depth_and_extents_have_limits() {
    let parts = vec!["%v0"; MAX_PIECES + 1].join(", ");
    let length = 8 * (MAX_PIECES + 1);
    let body = format!("  %c = fusion.cat {parts} dim 0\n  task.return %c");
    let (ir, ops) = program("tensor<8xf32>", &body, &format!("tensor<{length}xf32>"));
    let (op, limit) = (ops[0], MAX_PIECES);
    assert_eq!(
        last(&ir, &ops),
        Err(WindowRefusal::TooManyPieces { op, limit })
    );

    let lines: Vec<String> = (0..=MAX_DEPTH + 1)
        .map(|i| format!("  %v{} = fusion.slice %v{i} starts [0] shape [8]", i + 1))
        .collect();
    let body = format!("{}\n  task.return %v{}", lines.join("\n"), MAX_DEPTH + 2);
    let (ir, ops) = program("tensor<8xf32>", &body, "tensor<8xf32>");
    let (op, limit) = (ops[ops.len() - 2], MAX_DEPTH);
    assert_eq!(last(&ir, &ops), Err(WindowRefusal::TooDeep { op, limit }));
}

#[test]
fn a_short_step_touches_what_lies_between() {
    let count = |body: &str, result: &str| {
        let body = format!("{body}\n  task.return %s");
        let (ir, ops) = program("tensor<64x32xf32>", &body, result);
        let touched = last(&ir, &ops).expect("resolves").touched();
        touched.iter().map(|(_, n)| number(n)).sum::<i64>()
    };
    let plain = "  %s = fusion.slice %v0 starts [3, 1] shape [5, 7]";
    assert_eq!(count(plain, "tensor<5x7xf32>"), 35);
    let stepped = "  %s = fusion.slice %v0 starts [0, 0] shape [5, 8] strides [1, 4]";
    assert_eq!(count(stepped, "tensor<5x8xf32>"), 5 * 8 * 4);
    // Rows that are far apart share no cache line.
    let rows = "  %s = fusion.slice %v0 starts [0, 0] shape [8, 32] strides [8, 1]";
    assert_eq!(count(rows, "tensor<8x32xf32>"), 8 * 32);
    // A border is not read.
    let padded = "  %s = fusion.pad %v0, %fill low [0, 2] high [0, 2]";
    assert_eq!(count(padded, "tensor<64x36xf32>"), 64 * 32);
}

#[test]
fn neighbours_in_memory_are_those_of_the_layout() {
    let one = ExtentExpr::constant(1);
    let body = "  %s = fusion.slice %v0 starts [0, 1] shape [8, 3]\n  task.return %s";
    let slice = |ty: &str| {
        let (ir, ops) = program(ty, body, "tensor<8x3xf32>");
        let tensor = ir
            .value_kind(ir.operand(ops[0], 0))
            .as_tensor()
            .expect("a tensor");
        let row_major = layout::is_row_major(&ir, tensor);
        (last(&ir, &ops).expect("resolves"), row_major)
    };
    let (rows, row_major) = slice("tensor<8x4xf32>");
    assert!(row_major && rows.is_contiguous(1, &one) && !rows.is_contiguous(0, &one));
    let (columns, row_major) = slice("tensor<8x4xf32, [1, 0]>");
    assert!(!row_major && columns.is_contiguous(0, &one) && !columns.is_contiguous(1, &one));
    // Whole rows lie behind each other; parts of rows do not; in columns the other axis is the outer one.
    let whole = "  %s = fusion.slice %v0 starts [1, 0] shape [3, 4]\n  task.return %s";
    let (ir, ops) = program("tensor<8x4xf32>", whole, "tensor<3x4xf32>");
    assert!(last(&ir, &ops).expect("resolves").joins(0, 1) && !rows.joins(0, 1));
    assert!(columns.joins(1, 0) && !columns.joins(0, 1));
    // A reshape of what is not row-major has its elements in another order than memory has.
    let body = "  %r = fusion.reshape %v0 shape [32]\n  \
                %s = fusion.slice %r starts [1] shape [4]\n  task.return %s";
    let (ir, ops) = program("tensor<8x4xf32>", body, "tensor<4xf32>");
    assert!(last(&ir, &ops).is_ok());
    let (ir, ops) = program("tensor<8x4xf32, [1, 0]>", body, "tensor<4xf32>");
    assert!(matches!(
        last(&ir, &ops),
        Err(WindowRefusal::Computed { .. })
    ));
}
