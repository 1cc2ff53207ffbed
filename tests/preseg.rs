//! The passes before segmentation change no bit: random small programs of the forms that they rewrite, run before and
//! after.
//!
//! A program is casts, shape ops, slices that are put together again, repeats and sums on tensors of few elements, empty ones
//! too. Inputs hold small whole numbers, both zeros, infinities, NaN and subnormals. Results are compared bit by bit; of a
//! NaN only that it is one, as no op says which.

use fuser::compile::run_passes;
use fuser::session::Session;
use fuser_dialects::fusion;
use fuser_interp::{Axis, Options, Tensor, interpret};
use fuser_ir::{DType, Ir, Op, Traits};
use fuser_runtime::RuntimeConfig;
use fuser_testing::Random;

const PROGRAMS: u64 = 600;
const PASSES: &str = "builtin.module(task.program(preseg))";
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];
const TYPES: [DType; 10] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
];

/// A value of the program that is being written.
#[derive(Clone)]
struct Value {
    name: String,
    /// Extents, and whether the axis is stored once.
    dims: Vec<(usize, bool)>,
    dtype: DType,
}

impl Value {
    fn shape(&self) -> String {
        let dims = self.dims.iter().map(|(extent, _)| extent.to_string());
        dims.collect::<Vec<_>>().join(", ")
    }
    fn ty(&self) -> String {
        let dim = |(extent, b): &(usize, bool)| format!("{}{extent}x", if *b { "b" } else { "" });
        let dims: String = self.dims.iter().map(dim).collect();
        format!("tensor<{dims}{}>", self.dtype.name())
    }
    fn plain(&self) -> bool {
        self.dims.iter().all(|(_, b)| !b)
    }
}

struct Writer {
    random: Random,
    lines: Vec<String>,
    values: Vec<Value>,
}

impl Writer {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut values = Vec::new();
        for name in ["x", "z"] {
            let rank = 1 + random.below(3);
            let dims = (0..rank).map(|_| (random.one(&[1, 2, 2, 3, 4, 5, 0]), false));
            values.push(Value {
                name: name.into(),
                dims: dims.collect(),
                dtype: random.one(&TYPES),
            });
        }
        Self {
            random,
            lines: Vec::new(),
            values,
        }
    }
    /// Writes `fusion.TEXT`, whose result has these dims.
    fn emit(&mut self, text: String, dims: Vec<(usize, bool)>, dtype: DType) -> Value {
        let name = format!("v{}", self.lines.len());
        self.lines.push(format!("  %{name} = fusion.{text}"));
        Value { name, dims, dtype }
    }
    fn cast(&mut self, v: &Value) -> Value {
        let to = self.random.one(&TYPES);
        let text = format!("cast %{} to {}", v.name, to.name());
        self.emit(text, v.dims.clone(), to)
    }
    fn unary(&mut self, v: &Value) -> Value {
        self.emit(format!("neg %{}", v.name), v.dims.clone(), v.dtype)
    }
    fn permute(&mut self, v: &Value) -> Value {
        let rank = v.dims.len();
        let turn = self.random.below(rank);
        let order: Vec<usize> = (0..rank).map(|i| (i + turn) % rank.max(1)).collect();
        let dims = order.iter().map(|&i| v.dims[i]).collect();
        self.emit(format!("permute %{} dims {order:?}", v.name), dims, v.dtype)
    }
    fn flatten(&mut self, v: &Value) -> Value {
        let count = v.dims.iter().map(|(extent, _)| extent).product();
        let text = format!("reshape %{} shape [{count}]", v.name);
        self.emit(text, vec![(count, false)], v.dtype)
    }
    fn broadcast(&mut self, v: &Value) -> Value {
        let at = self.random.below(v.dims.len() + 1);
        let mut dims = v.dims.clone();
        dims.insert(at, (self.random.one(&[1, 1, 3]), true));
        let kept: Vec<usize> = (0..dims.len()).filter(|&i| i != at).collect();
        let shape = Value {
            dims: dims.clone(),
            ..v.clone()
        };
        let text = format!(
            "broadcast %{} dims {kept:?} shape [{}]",
            v.name,
            shape.shape()
        );
        self.emit(text, dims, v.dtype)
    }
    fn squeeze(&mut self, v: &Value) -> Value {
        let Some(at) = v.dims.iter().position(|(extent, _)| *extent == 1) else {
            return self.broadcast(v);
        };
        let mut dims = v.dims.clone();
        dims.remove(at);
        self.emit(format!("squeeze %{} dims [{at}]", v.name), dims, v.dtype)
    }
    fn copy(&mut self, v: &Value) -> Value {
        self.emit(format!("copy %{}", v.name), v.dims.clone(), v.dtype)
    }
    fn sum(&mut self, v: &Value) -> Value {
        let at = self.random.below(v.dims.len());
        let mut dims = v.dims.clone();
        dims.remove(at);
        self.emit(format!("sum %{} dims [{at}]", v.name), dims, v.dtype)
    }
    /// A maximum, what may be NaN with it, and what is made of both: often a softmax, or nearly one.
    fn extremum(&mut self, v: &Value) -> Value {
        let at = self.random.below(v.dims.len());
        let kind = self.random.one(&["max", "min"]);
        let mut dims = v.dims.clone();
        dims.remove(at);
        let kept: Vec<usize> = (0..v.dims.len()).filter(|&i| i != at).collect();
        let reduction = |w: &mut Self, op: &str, x: &Value, at: usize| {
            w.emit(
                format!("{op} %{} dims [{at}]", x.name),
                dims.clone(),
                x.dtype,
            )
        };
        let wide = |w: &mut Self, x: &Value| {
            let mut dims = v.dims.clone();
            dims[at].1 = true;
            let text = format!("broadcast %{} dims {kept:?} shape [{}]", x.name, v.shape());
            w.emit(text, dims, x.dtype)
        };
        let pair = |w: &mut Self, op: &str, x: &Value, y: &Value| {
            w.emit(
                format!("{op} %{}, %{}", x.name, y.name),
                x.dims.clone(),
                x.dtype,
            )
        };
        let most = reduction(self, kind, v, at);
        let spread = wide(self, &most);
        let less = pair(self, "sub", v, &spread);
        if self.random.below(8) == 0 {
            return less;
        }
        let repair = self.random.one(&["sum", "prod", "max", "min", "max_num"]);
        let of = if self.random.below(2) == 0 { v } else { &less };
        let total = reduction(self, repair, of, at);
        if self.random.below(2) == 0 {
            let how = self.random.one(&["add", "sub", "maximum", "fmax"]);
            return pair(self, how, &most, &total);
        }
        let spread = wide(self, &total);
        pair(self, "mul", &less, &spread)
    }
    fn repeat(&mut self, v: &Value) -> Value {
        let at = self.random.below(v.dims.len());
        let mut dims = v.dims.clone();
        dims[at].0 *= 2;
        let text = format!("cat %{0}, %{0} dim {at}", v.name);
        self.emit(text, dims, v.dtype)
    }
    /// Two slices, something done to each, a cat: often what cancels, sometimes nearly.
    fn split(&mut self, v: &Value) -> Value {
        let mut at = self.random.below(v.dims.len());
        let length = v.dims[at].0;
        let cut = self.random.below(length + 1);
        let late = match self.random.below(5) {
            0 => cut.min(length.saturating_sub(1)),
            _ => cut,
        };
        let slice = |w: &mut Self, from: usize, to: usize| {
            let mut starts = vec![0; v.dims.len()];
            starts[at] = from;
            let mut dims = v.dims.clone();
            dims[at].0 = to - from;
            let shape = Value {
                dims: dims.clone(),
                ..v.clone()
            };
            let shape = shape.shape();
            let text = format!("slice %{} starts {starts:?} shape [{shape}]", v.name);
            w.emit(text, dims, v.dtype)
        };
        let mut parts = [slice(self, 0, cut), slice(self, late.min(cut), length)];
        for _ in 0..self.random.below(3) {
            let (kind, to) = (self.random.below(3), self.random.one(&FLOATS));
            let rank = v.dims.len();
            for part in &mut parts {
                *part = match kind {
                    0 => self.unary(part),
                    1 => {
                        let text = format!("cast %{} to {}", part.name, to.name());
                        self.emit(text, part.dims.clone(), to)
                    }
                    _ => {
                        let order: Vec<usize> = (0..rank).rev().collect();
                        let dims = order.iter().map(|&i| part.dims[i]).collect();
                        let text = format!("permute %{} dims {order:?}", part.name);
                        self.emit(text, dims, part.dtype)
                    }
                };
            }
            if kind == 2 {
                at = rank - 1 - at;
            }
        }
        if self.random.below(6) == 0 {
            parts.swap(0, 1);
        }
        let [a, b] = parts;
        let mut dims = a.dims.clone();
        dims[at] = (a.dims[at].0 + b.dims[at].0, false);
        self.emit(
            format!("cat %{}, %{} dim {at}", a.name, b.name),
            dims,
            a.dtype,
        )
    }
    fn step(&mut self) {
        let late = self.values.len().saturating_sub(1 + self.random.below(2));
        let v = match self.random.below(3) {
            0 => self.values[self.random.below(self.values.len())].clone(),
            _ => self.values[late].clone(),
        };
        let fits = !v.dims.is_empty();
        let plain = fits && v.plain();
        let small = v.dims.iter().map(|d| d.0).product::<usize>() < 200 && v.dims.len() < 6;
        let float = FLOATS.contains(&v.dtype);
        let made = match self.random.below(14) {
            0..=2 => self.cast(&v),
            3 if fits => self.permute(&v),
            4 if plain => self.flatten(&v),
            5 if small => self.broadcast(&v),
            6 if small => self.squeeze(&v),
            7 => self.copy(&v),
            8 if plain && small => self.repeat(&v),
            9 | 10 if plain => self.split(&v),
            11 if fits => self.sum(&v),
            12 | 13 if plain && float => self.extremum(&v),
            _ => self.unary(&v),
        };
        self.values.push(made);
    }
    fn text(&self) -> String {
        let parameter = |v: &Value| format!("%{}: {}", v.name, v.ty());
        let inputs: Vec<String> = self.values[..2].iter().map(parameter).collect();
        let last = &self.values[self.values.len() - 3..];
        let types: Vec<String> = last.iter().map(Value::ty).collect();
        let names: Vec<String> = last.iter().map(|v| format!("%{}", v.name)).collect();
        format!(
            "task.program @f({}) -> ({}) {{\n{}\n  task.return {}\n}}\n",
            inputs.join(", "),
            types.join(", "),
            self.lines.join("\n"),
            names.join(", ")
        )
    }
    /// A tensor for an input.
    fn data(&mut self, v: &Value) -> Tensor {
        let axes = v
            .dims
            .iter()
            .map(|&(extent, broadcast)| Axis { extent, broadcast });
        let count: usize = v.dims.iter().map(|d| d.0).product();
        let bytes = (0..count).flat_map(|_| element(&mut self.random, v.dtype));
        let bytes: Vec<u8> = bytes.collect();
        Tensor::from_bytes(v.dtype, axes.collect(), &bytes)
            .expect("as many bytes as the shape says")
    }
}

/// Little-endian bytes of an element: a small whole number, or something odd.
fn element(random: &mut Random, dtype: DType) -> Vec<u8> {
    let small = random.below(17) as i64 - 8;
    let odd = [
        -0.0,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        1e-41,
        65520.0,
        3.3e38,
    ];
    let float = match random.below(3) {
        0 => random.one(&odd),
        _ => small as f64,
    };
    match dtype {
        DType::F64 => float.to_le_bytes().to_vec(),
        DType::F32 => (float as f32).to_le_bytes().to_vec(),
        DType::BF16 => (((float as f32).to_bits() >> 16) as u16)
            .to_le_bytes()
            .to_vec(),
        DType::F16 => random
            .one(&[0x3c00u16, 0x8000, 0x7e00, 0xfc00, 1, 0x7bff])
            .to_le_bytes()
            .to_vec(),
        // The low bits of a large number: every byte of every width matters.
        _ => (small * 0x0123_4567_89ab_cdef).to_le_bytes()[..dtype.bytes() as usize].to_vec(),
    }
}

/// True if two tensors have the same bits, NaN for NaN.
fn same(a: &Tensor, b: &Tensor) -> bool {
    let float = FLOATS.contains(&a.dtype());
    let alike = |i: usize| a.data().float(i).is_nan() && b.data().float(i).is_nan();
    let bytes = (a.data().to_bytes(), b.data().to_bytes());
    let size = a.dtype().bytes() as usize;
    let pairs = bytes.0.chunks(size).zip(bytes.1.chunks(size)).enumerate();
    let mut pairs = pairs.map(|(i, (x, y))| x == y || (float && alike(i)));
    a.dtype() == b.dtype()
        && a.axes() == b.axes()
        && bytes.0.len() == bytes.1.len()
        && pairs.all(|p| p)
}

fn program(ir: &Ir, module: Op) -> Op {
    ir.children(module)[0]
}

#[test]
fn no_pass_before_segmentation_changes_a_bit() {
    let config = RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 26),
    };
    let session = Session::new(config).unwrap();
    let (mut rewritten, mut compared, mut weakened) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let mut writer = Writer::new(seed);
        for _ in 0..3 + writer.random.below(8) {
            writer.step();
        }
        let text = writer.text();
        let parsed = session.parse(0, "random.fir", &text);
        let (mut ir, module, _) = parsed.unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let inputs: Vec<Value> = writer.values[..2].to_vec();
        let inputs: Vec<Tensor> = inputs.iter().map(|v| writer.data(v)).collect();
        let run = |ir: &Ir| interpret(ir, program(ir, module), &inputs, &Options::default());
        let before = run(&ir).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let ops = ir.walk(module).len();
        let maxima = |ir: &Ir| {
            let numbers = ["fusion.max_num", "fusion.min_num"];
            let ops = ir.walk(module).into_iter();
            ops.filter(|&op| numbers.contains(&ir.name(op))).count()
        };
        let written = maxima(&ir);
        run_passes(&mut ir, module, PASSES)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let after = run(&ir).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        assert_eq!(before.values.len(), after.values.len());
        for (number, (a, b)) in before.values.iter().zip(&after.values).enumerate() {
            assert!(
                same(a, b),
                "seed {seed}, result {number}: {a:?} became {b:?}\n{text}"
            );
            compared += a.stored_len();
        }
        rewritten += usize::from(ir.walk(module).len() != ops);
        weakened += usize::from(maxima(&ir) > written);
    }
    // A generator of programs that no pass touches would prove nothing.
    assert!(
        rewritten * 2 > PROGRAMS as usize,
        "only {rewritten} programs were rewritten"
    );
    assert!(
        weakened > 30,
        "only {weakened} programs lost a maximum that keeps NaN"
    );
    assert!(compared > 10_000, "only {compared} elements were compared");
    println!("count: {PROGRAMS} random programs unchanged by the passes before segmentation");
}

/// Every elementwise op with the trait of propagating NaN, on which the pass that ignores NaN relies, does so in the
/// interpreter.
#[test]
fn what_propagates_nan_does_so_from_every_operand() {
    let config = RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 26),
    };
    let session = Session::new(config).unwrap();
    let axis = |extent| Axis {
        extent,
        broadcast: false,
    };
    let numbers = [
        0.0f32,
        -0.0,
        1.0,
        -2.5,
        f32::INFINITY,
        -f32::INFINITY,
        f32::NAN,
    ];
    let tensor = |list: Vec<f32>| {
        let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_le_bytes()).collect();
        Tensor::from_bytes(DType::F32, vec![axis(list.len())], &bytes).unwrap()
    };
    let claimed = Traits::ELEMENTWISE.union(Traits::PROPAGATES_NAN);
    let all = fusion::real_ops();
    // A cast, which has a clause, is another way to round.
    let all = all.filter(|def| def.traits.contains(claimed) && def.clauses.is_empty());
    for def in all {
        let operands = def.operands.len();
        let n = numbers.len().pow(operands as u32);
        let names: Vec<String> = (0..operands).map(|i| format!("%x{i}")).collect();
        let parameters: Vec<String> = names
            .iter()
            .map(|x| format!("{x}: tensor<{n}xf32>"))
            .collect();
        let text = format!(
            "task.program @f({}) -> tensor<{n}xf32> {{\n  %y = {} {}\n  task.return %y\n}}\n",
            parameters.join(", "),
            def.name,
            names.join(", ")
        );
        let (ir, module, _) = session.parse(0, "one.fir", &text).unwrap();
        let digit =
            |row: usize, i: usize| numbers[row / numbers.len().pow(i as u32) % numbers.len()];
        let column = |i: usize| tensor((0..n).map(|row| digit(row, i)).collect());
        let inputs: Vec<Tensor> = (0..operands).map(column).collect();
        let run = interpret(&ir, program(&ir, module), &inputs, &Options::default()).unwrap();
        for row in 0..n {
            if (0..operands).any(|i| digit(row, i).is_nan()) {
                let y = run.values[0].data().float(row);
                assert!(y.is_nan(), "{} on row {row}: {y}", def.name);
            }
        }
    }
}
