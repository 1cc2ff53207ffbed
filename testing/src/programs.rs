//! Random programs of squares and rows, as text, by tables of steps.
//!
//! A step adds one op, or two where the first alone makes neither a square nor a row. A user who needs other programs gives
//! another table.

use std::fmt::{self, Write};

use super::{Builder, Random};

/// The programs that are drawn, with the inputs `%x` and `%z`, squares, and `%w`, a row.
#[derive(Clone, Copy, Debug)]
pub struct Squares {
    /// The side of a square and the length of a row: a multiple of 8 where steps fold.
    pub side: usize,
    /// The element types of the inputs.
    pub dtypes: [&'static str; 3],
    /// Groups of steps: one group is as likely as another, and in it one step.
    pub steps: &'static [&'static [Step]],
}

/// Names of ops, one of which is drawn.
pub type Ops = &'static [&'static str];

/// A step of a program.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An op of one value.
    One(Kind, Ops),
    /// An op of two squares, or two rows, of one element type.
    Two(Kind, Ops),
    /// A reduction of a square along an axis.
    Reduce(&'static str),
    /// A row as a square, an axis of which is stored once.
    Spread,
    /// A square times a row as a square; in programs of one element type.
    Scale,
    /// A square transposed.
    Permute,
    /// A square or row in other factors, and back.
    Fold(Kind),
    /// A square of f32 in bf16, and back.
    Narrow,
    /// A square or row in another element type.
    Cast,
    /// A square as a list of its elements, or without its first and last row.
    Part,
    /// A part as a square again.
    Whole,
    /// A square flipped, or its first half twice.
    Turn,
    /// Returns a square or row, whoever reads or returns it, an input too.
    Return,
}

/// Values that a step takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Of two axes, one of them perhaps stored once.
    Square,
    /// Of one axis.
    Row,
    /// A list of as many elements as a square, or a square without its first and last row.
    Part,
}

use Kind::{Part, Row, Square};

const SUM: Step = Step::Reduce("sum");
const ADD: Step = Step::Two(Square, &["add"]);
const EXP_ROW: Step = Step::One(Row, &["exp"]);
const SET: Step = Step::One(Square, &["segment_set"]);
const SET_ROW: Step = Step::One(Row, &["segment_set"]);

/// Steps most of which are elementwise, or end what one kernel may hold.
const PLAIN: [&[Step]; 8] = [
    &[SUM],
    &[Step::Scale],
    &[Step::Permute],
    &[Step::Fold(Square)],
    &[Step::Fold(Square), Step::Fold(Row), Step::Narrow, EXP_ROW],
    &[ADD],
    &[ADD],
    &[ADD],
];

/// The same with boundaries between ops, at which kernels end.
const CUT: [&[Step]; 8] = [
    &[SUM],
    &[Step::Scale],
    &[Step::Permute],
    &[SET],
    &[Step::Fold(Square), Step::Fold(Row), Step::Narrow, SET_ROW],
    &[ADD],
    &[ADD],
    &[ADD],
];

/// The axes of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Square,
    /// A square, of which this axis is stored once.
    Spread(usize),
    Row,
    List,
    /// A square without its first and last row.
    Inner,
}

impl Shape {
    fn kind(self) -> Kind {
        match self {
            Self::Square | Self::Spread(_) => Square,
            Self::Row => Row,
            Self::List | Self::Inner => Part,
        }
    }
}

#[derive(Clone, Copy)]
struct Value {
    /// Inputs are 0 to 2.
    number: usize,
    shape: Shape,
    dtype: &'static str,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number.checked_sub(3) {
            None => write!(f, "%{}", ["x", "z", "w"][self.number]),
            Some(op) => write!(f, "%v{op}"),
        }
    }
}

impl Value {
    fn ty(&self, n: usize) -> String {
        let dtype = self.dtype;
        match self.shape {
            Shape::Square => format!("tensor<{n}x{n}x{dtype}>"),
            Shape::Spread(0) => format!("tensor<b{n}x{n}x{dtype}>"),
            Shape::Spread(_) => format!("tensor<{n}xb{n}x{dtype}>"),
            Shape::Row => format!("tensor<{n}x{dtype}>"),
            Shape::List => format!("tensor<{}x{dtype}>", n * n),
            Shape::Inner => format!("tensor<{}x{n}x{dtype}>", n - 2),
        }
    }
    fn is_alike(&self, other: &Self) -> bool {
        self.shape.kind() == other.shape.kind() && self.dtype == other.dtype
    }
}

fn pick(random: &mut Random, values: &[Value], fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let fitting: Vec<Value> = values.iter().filter(|v| fits(v)).copied().collect();
    let number = random.below(fitting.len());
    fitting.get(number).copied()
}

impl Squares {
    /// Programs of f32: sums, what is spread from rows, transposes, factorings, casts and elementwise ops.
    pub const fn plain(side: usize) -> Self {
        let dtypes = ["f32"; 3];
        let steps = &PLAIN;
        Self {
            side,
            dtypes,
            steps,
        }
    }
    /// The same with boundaries between ops, at which kernels end.
    pub const fn cut(side: usize) -> Self {
        Self {
            steps: &CUT,
            ..Self::plain(side)
        }
    }

    /// A program of so many ops or one more. Values that nothing reads are returned.
    pub fn text(self, random: &mut Random, ops: usize) -> String {
        let n = self.side;
        let input = |number: usize| Value {
            number,
            shape: [Shape::Square, Shape::Square, Shape::Row][number],
            dtype: self.dtypes[number],
        };
        let mut values: Vec<Value> = (0..3).map(input).collect();
        let mut lines: Vec<String> = Vec::new();
        let mut returned = Vec::new();
        while lines.len() < ops {
            let mut any = |fits: &dyn Fn(&Value) -> bool| pick(random, &values, fits);
            let a = any(&|v| v.shape.kind() == Square).expect("an input");
            let b = any(&|v| v.is_alike(&a)).expect("itself");
            let r = any(&|v| v.shape == Shape::Row).expect("an input");
            let (by, dim) = (random.word() as usize, random.below(2));
            let group = random.one(self.steps);
            let step = random.one(group);
            let mut detour = |call: String| {
                lines.push(call);
                format!("%v{}", lines.len() - 1)
            };
            let spread = format!("broadcast {r} dims [{dim}] shape [{n}, {n}]");
            let (v, call, shape) = match step {
                // They take all of a square in memory.
                Step::Reduce(_) | Step::Fold(Square) | Step::Part | Step::Turn
                    if a.shape != Shape::Square =>
                {
                    continue;
                }
                Step::One(kind, ops) => {
                    let v = match kind {
                        Square => Some(a),
                        Row => Some(r),
                        Part => pick(random, &values, |v| v.shape.kind() == Part),
                    };
                    let Some(v) = v else { continue };
                    (v, format!("{} {v}", ops[by % ops.len()]), v.shape)
                }
                Step::Two(kind, ops) => {
                    let (v, w) = match kind {
                        Square => (a, b),
                        _ => (
                            r,
                            pick(random, &values, |v| v.is_alike(&r)).expect("itself"),
                        ),
                    };
                    let shape = match v.shape == w.shape {
                        true => v.shape,
                        false => Shape::Square,
                    };
                    (v, format!("{} {v}, {w}", ops[by % ops.len()]), shape)
                }
                Step::Reduce(op) => (a, format!("{op} {a} dims [{dim}]"), Shape::Row),
                Step::Spread => (r, spread, Shape::Spread(1 - dim)),
                Step::Scale => (a, format!("mul {a}, {}", detour(spread)), Shape::Square),
                Step::Permute => {
                    let shape = match a.shape {
                        Shape::Spread(axis) => Shape::Spread(1 - axis),
                        other => other,
                    };
                    (a, format!("permute {a} dims [1, 0]"), shape)
                }
                Step::Fold(kind) => {
                    let (v, whole, parts) = match kind {
                        Row => (r, vec![n], [vec![n / 4, 4], vec![4, n / 4], vec![2, n / 2]]),
                        _ => (
                            a,
                            vec![n, n],
                            [vec![n * n], vec![2 * n, n / 2], vec![n / 8, 8, n]],
                        ),
                    };
                    let parts = detour(format!("reshape {v} shape {:?}", parts[by % 3]));
                    (v, format!("reshape {parts} shape {whole:?}"), v.shape)
                }
                Step::Narrow => {
                    let narrow = detour(format!("cast {a} to bf16"));
                    (a, format!("cast {narrow} to f32"), a.shape)
                }
                Step::Cast => {
                    let (v, dtype) = ([a, r][dim], ["bf16", "f32", "f64"][by % 3]);
                    let to = Value { dtype, ..v };
                    (to, format!("cast {v} to {dtype}"), v.shape)
                }
                Step::Part if dim == 0 => {
                    let call = format!("reshape {a} shape [{}]", n * n);
                    (a, call, Shape::List)
                }
                Step::Part => {
                    let call = format!("slice {a} starts [1, 0] shape [{}, {n}]", n - 2);
                    (a, call, Shape::Inner)
                }
                Step::Whole => {
                    let Some(v) = pick(random, &values, |v| v.shape.kind() == Part) else {
                        continue;
                    };
                    let call = match v.shape {
                        Shape::List => format!("reshape {v} shape [{n}, {n}]"),
                        _ => {
                            let zero = detour(format!("constant value 0.0 : {}", v.dtype));
                            format!("pad {v}, {zero} low [1, 0] high [1, 0]")
                        }
                    };
                    (v, call, Shape::Square)
                }
                Step::Turn if by % 2 == 0 => (a, format!("flip {a} dims [{dim}]"), Shape::Square),
                Step::Turn => {
                    let half = detour(format!("slice {a} starts [0, 0] shape [{}, {n}]", n / 2));
                    (a, format!("cat {half}, {half} dim 0"), Shape::Square)
                }
                Step::Return => {
                    returned.push([a, r][dim]);
                    continue;
                }
            };
            let number = lines.len() + 3;
            values.push(Value { number, shape, ..v });
            lines.push(call);
        }
        let mut body = String::new();
        for (op, call) in lines.iter().enumerate() {
            let _ = writeln!(body, "  %v{op} = fusion.{call}");
        }
        let results = values.split_off(3);
        let is_unread = |v: &&Value| {
            let name = v.to_string();
            let words = body.split([' ', ',', '\n']);
            words.filter(|word| *word == name).count() == 1
        };
        let unread = results.iter().filter(is_unread);
        let outputs: Vec<Value> = unread.chain(&returned).copied().collect();
        let list = |of: &[Value], item: &dyn Fn(&Value) -> String| {
            of.iter().map(item).collect::<Vec<String>>().join(", ")
        };
        format!(
            "task.program @f({}) -> ({}) {{\n{body}  task.return {}\n}}\n",
            list(&values, &|v| format!("{v}: {}", v.ty(n))),
            list(&outputs, &|v| v.ty(n)),
            list(&outputs, &Value::to_string)
        )
    }
    /// The same as a block with its ops, but for what ends it.
    pub fn block(self, random: &mut Random, ops: usize) -> Builder {
        Builder::of(&self.text(random, ops))
    }
}
