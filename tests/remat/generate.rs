//! Random programs as text, with the same program as plain numbers for the exhaustive search.
//!
//! Matrices, rows and what is spread from rows, in bf16, f32 and f64: wide and narrow values, sums that may not be
//! repeated, values that several kernels read. Kernels are ranges of the program, so they always have an order.

use super::exact::{Case, OpOf};
use fuser_testing::Random;

/// The side of a matrix: odd, so that no width divides it.
const SIDE: u64 = 7;
/// The most ops.
const MAX_OPS: usize = 14;

/// The axes of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Both axes stored.
    Full,
    /// The first axis stored, the second spread.
    Spread,
    /// One axis.
    Row,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Type {
    shape: Shape,
    dtype: &'static str,
}

impl Type {
    fn bytes(self) -> u64 {
        let element = match self.dtype {
            "bf16" => 2,
            "f32" => 4,
            _ => 8,
        };
        match self.shape {
            Shape::Full => element * SIDE * SIDE,
            _ => element * SIDE,
        }
    }
    fn text(self) -> String {
        let dims = match self.shape {
            Shape::Full => format!("{SIDE}x{SIDE}"),
            Shape::Spread => format!("{SIDE}xb{SIDE}"),
            Shape::Row => format!("{SIDE}"),
        };
        format!("tensor<{dims}x{}>", self.dtype)
    }
}

/// A program in kernels.
pub struct Program {
    /// As `.fir`.
    pub text: String,
    /// As numbers.
    pub case: Case,
}

impl Program {
    /// The program of a seed.
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut made = Making::new(&mut random);
        let ops = 2 + random.below(MAX_OPS - 1);
        let kernels = 2 + random.below(3);
        let mut kernel = 0;
        for number in 0..ops {
            let next = number > 0 && kernel + 1 < kernels && random.below(ops) < kernels;
            kernel += usize::from(next);
            made.op(&mut random, kernel);
        }
        made.finish(&mut random)
    }

    /// The kernels as a grouping for `segment`.
    pub fn grouping(&self) -> String {
        let last = self.case.kernel.last().copied().unwrap_or(0);
        let segment = |kernel: usize| {
            let ops = self.case.kernel.iter().enumerate();
            let mine = ops.filter(|(_, k)| **k == kernel);
            let names: Vec<String> = mine
                .map(|(op, _)| format!("\"%v{}\"", self.case.inputs + op))
                .collect();
            format!("{{\"name\":\"k{kernel}\",\"ops\":[{}]}}", names.join(","))
        };
        let segments: Vec<String> = (0..=last).map(segment).collect();
        format!("{{\"segments\":[{}]}}", segments.join(","))
    }
}

/// A program so far.
struct Making {
    types: Vec<Type>,
    used: Vec<bool>,
    inputs: usize,
    lines: Vec<String>,
    /// The text of each op without its name: two equal ones would be one op in two kernels.
    bodies: Vec<String>,
    ops: Vec<OpOf>,
    kernel: Vec<usize>,
}

impl Making {
    fn new(random: &mut Random) -> Self {
        let count = 1 + random.below(3);
        let mut types = vec![Type {
            shape: Shape::Full,
            dtype: random.one(&["bf16", "f32"]),
        }];
        for _ in 1..count {
            types.push(Type {
                shape: random.one(&[Shape::Full, Shape::Row]),
                dtype: random.one(&["bf16", "f32", "f64"]),
            });
        }
        Self {
            used: vec![false; types.len()],
            inputs: types.len(),
            types,
            lines: Vec::new(),
            bodies: Vec::new(),
            ops: Vec::new(),
            kernel: Vec::new(),
        }
    }

    fn op(&mut self, random: &mut Random, kernel: usize) {
        loop {
            let (body, reads, ty, free) = self.choose(random);
            if self.bodies.contains(&body) {
                continue;
            }
            for &read in &reads {
                self.used[read] = true;
            }
            self.lines
                .push(format!("  %v{} = {body}", self.types.len()));
            let renames = body.starts_with("fusion.broadcast");
            self.bodies.push(body);
            self.types.push(ty);
            self.used.push(false);
            self.ops.push(OpOf {
                reads,
                free,
                renames,
            });
            self.kernel.push(kernel);
            return;
        }
    }

    /// An op on values that there are: its text, what it reads, what it makes, whether it may be repeated.
    fn choose(&self, random: &mut Random) -> (String, Vec<usize>, Type, bool) {
        // Late values are read more often, so that chains grow.
        let late = self.types.len().saturating_sub(4);
        let from = if random.below(3) == 0 { 0 } else { late };
        let a = from + random.below(self.types.len() - from);
        let ty = self.types[a];
        let unary = |name: &str| (format!("fusion.{name} %v{a}"), vec![a], ty, true);
        match (random.below(9), ty.shape) {
            (0, Shape::Full) => {
                let dim = random.below(2);
                let ty = Type {
                    shape: Shape::Row,
                    ..ty
                };
                (format!("fusion.sum %v{a} dims [{dim}]"), vec![a], ty, false)
            }
            (0 | 1, Shape::Row) => {
                let body = format!("fusion.broadcast %v{a} dims [0] shape [{SIDE}, {SIDE}]");
                let ty = Type {
                    shape: Shape::Spread,
                    ..ty
                };
                (body, vec![a], ty, true)
            }
            (1 | 2, _) => {
                let dtype: &str = random.one(&["bf16", "f32", "f64"]);
                let body = format!("fusion.cast %v{a} to {dtype}");
                (body, vec![a], Type { dtype, ..ty }, true)
            }
            (3, _) => {
                let name: &str = random.one(&["neg", "abs", "relu"]);
                unary(name)
            }
            _ => {
                let meets = |b: &usize| {
                    let other = self.types[*b];
                    let rank = |t: Type| t.shape == Shape::Row;
                    other.dtype == ty.dtype && rank(other) == rank(ty)
                };
                let others: Vec<usize> = (0..self.types.len()).filter(meets).collect();
                let b = random.one(&others);
                let name: &str = random.one(&["add", "sub", "mul", "maximum"]);
                let shape = match (ty.shape, self.types[b].shape) {
                    (Shape::Spread, other) => other,
                    (own, _) => own,
                };
                let reads = if a == b { vec![a] } else { vec![a, b] };
                let body = format!("fusion.{name} %v{a}, %v{b}");
                (body, reads, Type { shape, ..ty }, true)
            }
        }
    }

    fn finish(self, random: &mut Random) -> Program {
        let results = self.inputs..self.types.len();
        let outputs = results.filter(|&v| !self.used[v] || random.below(7) == 0);
        let outputs: Vec<usize> = outputs.collect();
        let list = |values: &[usize], item: &dyn Fn(usize) -> String| {
            let items: Vec<String> = values.iter().map(|&v| item(v)).collect();
            items.join(", ")
        };
        let inputs: Vec<usize> = (0..self.inputs).collect();
        let typed = |v: usize| format!("%v{v}: {}", self.types[v].text());
        let text = format!(
            "task.program @p({}) -> ({}) {{\n{}\n  task.return {}\n}}\n",
            list(&inputs, &typed),
            list(&outputs, &|v| self.types[v].text()),
            self.lines.join("\n"),
            list(&outputs, &|v| format!("%v{v}")),
        );
        Program {
            text,
            case: Case {
                bytes: self.types.iter().map(|t| t.bytes()).collect(),
                inputs: self.inputs,
                ops: self.ops,
                kernel: self.kernel,
                outputs,
            },
        }
    }
}
