//! Products and attention as frontends write them, of random ranks, orders of axes, types and forms:
//! `recognize-patterns` finds each, as `decompose` does under its name, and the program keeps its meaning: by the
//! interpreter after the pass, and compiled with executors and without.

use std::collections::BTreeMap;

use fuser::compile::CompileOptions;
use fuser_fuzzing::generate::{Case, Input, Tier};
use fuser_fuzzing::oracle::compiled::{self, Outcome};
use fuser_fuzzing::oracle::execute::{self, Expected};
use fuser_fuzzing::oracle::passes;
use fuser_fuzzing::{Source, Stats};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{DType, Ir, float};
use fuser_pass::Manager;

/// Programs of each kind.
const CASES: u64 = 120;
const FUEL: u64 = 1 << 28;
const PASS: &str = "recognize-patterns";
const COMPILED: &str = "recognize-patterns,canonicalize,cse,decompose,preseg,segment";

/// A program that grows line by line.
struct Text<'a> {
    source: &'a mut Source,
    dtype: DType,
    parameters: Vec<String>,
    inputs: Vec<Input>,
    lines: String,
    count: usize,
}

/// A value and its axes: letters, each of one length.
#[derive(Clone)]
struct Value {
    name: String,
    axes: Vec<char>,
}

fn length(axis: char) -> u64 {
    match axis {
        'b' => 2,
        'c' => 3,
        's' => 9,
        't' => 11,
        'k' | 'd' => 8,
        'e' => 10,
        _ => 8,
    }
}

fn shape(axes: &[char]) -> String {
    let lengths: Vec<String> = axes.iter().map(|&a| length(a).to_string()).collect();
    lengths.join(", ")
}

impl Text<'_> {
    /// Appends `NAME = RIGHT` of these axes.
    fn line(&mut self, right: &str, axes: &[char]) -> Value {
        self.count += 1;
        let name = format!("%v{}", self.count);
        self.lines += &format!("  {name} = {right}\n");
        let axes = axes.to_vec();
        Value { name, axes }
    }
    fn op(&mut self, op: &str, operands: &[&Value]) -> Value {
        let names: Vec<&str> = operands.iter().map(|v| v.name.as_str()).collect();
        self.line(
            &format!("fusion.{op} {}", names.join(", ")),
            &operands[0].axes,
        )
    }
    /// An input with these axes in any order.
    fn input(&mut self, axes: &[char], dtype: DType) -> Value {
        let mut own = axes.to_vec();
        self.source.shuffle(&mut own);
        let name = format!("%x{}", self.inputs.len());
        let lengths: String = own.iter().map(|&a| format!("{}x", length(a))).collect();
        self.parameters
            .push(format!("{name}: tensor<{lengths}{}>", dtype.name()));
        let elements = own.iter().map(|&a| length(a)).product();
        let size = dtype.bytes() as usize;
        // A quarter of the masks keep no element, so whole rows are excluded.
        let kept = if self.source.chance(1, 4) { 0 } else { 2 };
        let element = |_| match dtype {
            DType::I1 => vec![u8::from(self.source.chance(kept, 3))],
            _ => {
                let bits = float::narrow(dtype, (2.0 * self.source.unit() - 1.0).to_bits());
                bits.to_le_bytes()[..size].to_vec()
            }
        };
        let bytes: Vec<u8> = (0..elements).flat_map(element).collect();
        self.inputs.push(Input {
            dtype,
            axes: own.iter().map(|&a| (length(a), false)).collect(),
            bytes,
        });
        Value { name, axes: own }
    }
    fn cast(&mut self, x: &Value, dtype: DType) -> Value {
        self.line(
            &format!("fusion.cast {} to {}", x.name, dtype.name()),
            &x.axes,
        )
    }
    fn wide(&mut self, x: &Value) -> Value {
        match self.dtype {
            DType::F32 => x.clone(),
            _ => self.cast(x, DType::F32),
        }
    }
    fn permuted(&mut self, x: &Value, axes: &[char]) -> Value {
        let order: Vec<String> = axes
            .iter()
            .map(|a| place(&x.axes, *a).to_string())
            .collect();
        self.line(
            &format!("fusion.permute {} dims [{}]", x.name, order.join(", ")),
            axes,
        )
    }
    /// `x` along all of `space`.
    fn spread(&mut self, x: &Value, space: &[char]) -> Value {
        let own: Vec<char> = space
            .iter()
            .copied()
            .filter(|a| x.axes.contains(a))
            .collect();
        let x = match own == x.axes {
            true => x.clone(),
            false => self.permuted(x, &own),
        };
        let dims: Vec<String> = own.iter().map(|a| place(space, *a).to_string()).collect();
        let text = format!(
            "fusion.broadcast {} dims [{}] shape [{}]",
            x.name,
            dims.join(", "),
            shape(space)
        );
        match own.len() == space.len() {
            true => x,
            false => self.line(&text, space),
        }
    }
    /// `x` in f32, broadcast to `space`, converted before or after the broadcast.
    fn factor(&mut self, x: &Value, space: &[char]) -> Value {
        match self.source.chance(1, 2) {
            true => {
                let x = self.wide(x);
                self.spread(&x, space)
            }
            false => {
                let x = self.spread(x, space);
                self.wide(&x)
            }
        }
    }
    fn along(&mut self, op: &str, x: &Value, axis: char) -> Value {
        let at = place(&x.axes, axis);
        let axes: Vec<char> = x.axes.iter().copied().filter(|&a| a != axis).collect();
        if self.source.chance(1, 4) {
            let kept = format!("fusion.{op} {} dims [{at}] keepdim", x.name);
            let kept = self.line(&kept, &x.axes);
            return self.line(&format!("fusion.squeeze {} dims [{at}]", kept.name), &axes);
        }
        self.line(&format!("fusion.{op} {} dims [{at}]", x.name), &axes)
    }
    /// The sum of products of `x` and `y` along `axis`, both in f32 along all of a space.
    fn product(&mut self, x: &Value, y: &Value, axis: char) -> Value {
        let product = match self.source.chance(1, 2) {
            true => self.op("mul", &[x, y]),
            false => self.op("mul", &[y, x]),
        };
        self.along("sum", &product, axis)
    }
    fn number(&mut self, value: &str) -> Value {
        self.line(&format!("fusion.constant value {value} : f32"), &[])
    }
    fn any_order(&mut self, axes: &str) -> Vec<char> {
        let mut axes: Vec<char> = axes.chars().collect();
        self.source.shuffle(&mut axes);
        axes
    }
    /// The program that returns `x`, in the type of the inputs; with a name, as a pattern.
    fn case(mut self, x: Value, pattern: Option<&str>) -> (Case, String) {
        let x = match self.dtype {
            DType::F32 => x,
            dtype => self.cast(&x, dtype),
        };
        let lengths: String = x.axes.iter().map(|&a| format!("{}x", length(a))).collect();
        let (parameters, lines) = (self.parameters.join(", "), &self.lines);
        let body = match pattern {
            None => format!("{lines}  task.return {}\n", x.name),
            Some(name) => format!(
                "  %y = task.pattern @{name} {{\n{lines}  task.yield {}\n  }}\n  task.return %y\n",
                x.name
            ),
        };
        let text = format!(
            "task.program @f({parameters}) -> tensor<{lengths}{}> {{\n{body}}}\n",
            self.dtype.name(),
        );
        let mut ir = Ir::new(fuser_dialects::registry());
        let parsed = fuser_ir::parse::parse_str(&mut ir, &text);
        let errors = format!("{:?}\n{text}", parsed.diagnostics);
        let module = parsed.module.unwrap_or_else(|| panic!("{errors}"));
        let program = ir.block_ops(ir.body(module, 0).expect("a body")).next();
        let case = Case {
            program: program.expect("the module holds the program"),
            ir,
            module,
            inputs: self.inputs,
            extents: BTreeMap::new(),
            tier: Tier::Bounded,
        };
        (case, text)
    }
}

fn place(axes: &[char], axis: char) -> usize {
    axes.iter().position(|&a| a == axis).expect("an axis")
}

/// Axes of both factors, of one, and of the other; a bias where it may be one.
fn product(text: &mut Text<'_>) -> Value {
    const KINDS: [(&str, &str, &str); 8] = [
        ("", "m", "n"),
        ("b", "m", "n"),
        ("bc", "m", "n"),
        ("", "cm", "n"),
        ("", "m", "cn"),
        ("", "bcm", "n"),
        ("b", "cm", "n"),
        ("", "bm", "cn"),
    ];
    let (shared, rows, columns) = text.source.one(&KINDS);
    let dtype = text.dtype;
    let own = |axes: &str| format!("{shared}{axes}k").chars().collect::<Vec<char>>();
    let x = text.input(&own(rows), dtype);
    let y = text.input(&own(columns), dtype);
    let space = text.any_order(&format!("{shared}{rows}{columns}k"));
    let (x, y) = (text.factor(&x, &space), text.factor(&y, &space));
    let z = text.product(&x, &y, 'k');
    if text.source.chance(1, 2) {
        return z;
    }
    let bias = text.input(&['n'], dtype);
    let bias = text.factor(&bias, &z.axes);
    text.op("add", &[&z, &bias])
}

/// Scores, their softmax along `t`, and its product with values: with or without a bias, a mask, an order of keys, and
/// guards, in any order of axes.
fn attention(text: &mut Text<'_>) -> Value {
    let (batch, dtype) = (text.source.one(&["", "b", "bc"]), text.dtype);
    let own = |axes: &str| format!("{batch}{axes}").chars().collect::<Vec<char>>();
    let q = text.input(&own("sd"), dtype);
    // Keys and values that heads share.
    let shared = text.source.chance(1, 4);
    let of = |axes: &str| {
        if shared {
            axes.chars().collect()
        } else {
            own(axes)
        }
    };
    let k = text.input(&of("td"), dtype);
    let v = text.input(&of("te"), dtype);
    let space = text.any_order(&format!("{batch}std"));
    let (mut q, k) = (text.factor(&q, &space), text.factor(&k, &space));
    // The scale is applied to the scores or to the queries.
    let (op, scale) = match text.source.below(3) {
        0 => ("mul", Some("0.375")),
        1 => ("div", Some("2.5")),
        _ => ("", None),
    };
    let early = text.source.chance(1, 2);
    let scaled = |text: &mut Text<'_>, x: &Value| match scale {
        Some(scale) => {
            let scale = text.number(scale);
            text.op(op, &[x, &scale])
        }
        None => x.clone(),
    };
    if early {
        q = scaled(text, &q);
    }
    let mut scores = text.product(&q, &k, 'd');
    let space = scores.axes.clone();
    if !early {
        scores = scaled(text, &scores);
    }
    let mut masked = false;
    let bias = text.source.chance(1, 2);
    let none = text.number("0xFF800000");
    // Some frontends mask with a number.
    let low = ["-1.0e9", "-3.4028235e38", "-1.0e4"];
    let low = text.source.one(&low);
    let (low, lowers) = (text.number(low), text.source.chance(1, 2));
    let mut biased = false;
    match text.source.below(4) {
        0 => {
            let axes = if bias { own("st") } else { vec!['s', 't'] };
            let bias = text.input(&axes, dtype);
            let bias = text.factor(&bias, &space);
            biased = true;
            scores = text.op("add", &[&scores, &bias]);
        }
        1 => {
            masked = true;
            let axes = if bias { own("st") } else { vec!['s', 't'] };
            let mask = text.input(&axes, DType::I1);
            let mask = text.spread(&mask, &space);
            let hides = text.source.chance(1, 2);
            // No f16 leaves out a row as a number does.
            let out = if lowers && dtype != DType::F16 {
                &low
            } else {
                &none
            };
            let operands = match hides {
                true => [&mask, out, &scores],
                false => [&mask, &scores, out],
            };
            let chosen = text.op("where", &operands);
            scores = Value {
                axes: space.clone(),
                ..chosen
            };
        }
        _ => {}
    }
    if text.source.chance(1, 3) {
        let index = |text: &mut Text<'_>, axis: char| {
            let index = format!("fusion.iota dim 0 shape [{}] of i64", length(axis));
            let index = text.line(&index, &[axis]);
            text.spread(&index, &space)
        };
        let (query, key) = (index(text, 's'), index(text, 't'));
        let (predicate, left, right, kept) = match text.source.below(4) {
            0 => ("le", &key, &query, true),
            1 => ("ge", &query, &key, true),
            2 => ("gt", &key, &query, false),
            _ => ("lt", &query, &key, false),
        };
        let line = format!(
            "fusion.compare {}, {} predicate {predicate}",
            left.name, right.name
        );
        let seen = text.line(&line, &space);
        let out = if lowers && !masked && !biased {
            &low
        } else {
            &none
        };
        scores = match kept {
            true => text.op("where", &[&seen, &scores, out]),
            false => text.op("where", &[&seen, out, &scores]),
        };
        scores.axes = space.clone();
    }
    // A row that leaves out all keys is 0 only where that is guarded.
    let guarded = masked || text.source.chance(1, 3);
    let zero = text.number("0.0");
    let mut greatest = text.along("max", &scores, 't');
    if guarded {
        let line = format!(
            "fusion.compare {}, {} predicate eq",
            greatest.name, none.name
        );
        let lowest = text.line(&line, &greatest.axes.clone());
        let chosen = text.op("where", &[&lowest, &zero, &greatest]);
        greatest = Value {
            axes: greatest.axes,
            ..chosen
        };
    }
    let greatest = text.spread(&greatest, &space);
    let below = text.op("sub", &[&scores, &greatest]);
    let weights = text.op("exp", &[&below]);
    let total = text.along("sum", &weights, 't');
    let behind = text.any_order(&format!("{batch}ste"));
    let first = text.source.chance(1, 2);
    let divided = |text: &mut Text<'_>, x: &Value| {
        let divisor = text.spread(&total, &x.axes);
        let quotient = text.op("div", &[x, &divisor]);
        if !guarded {
            return quotient;
        }
        let line = format!("fusion.compare {}, {} predicate eq", total.name, zero.name);
        let empty = text.line(&line, &total.axes);
        let empty = text.spread(&empty, &x.axes);
        let chosen = text.op("where", &[&empty, &zero, &quotient]);
        Value {
            axes: x.axes.clone(),
            ..chosen
        }
    };
    let weights = match first {
        true => divided(text, &weights),
        false => weights,
    };
    let weights = text.spread(&weights, &behind);
    let v = text.factor(&v, &behind);
    let sums = text.product(&weights, &v, 't');
    match first {
        true => sums,
        false => divided(text, &sums),
    }
}

fn case(seed: u64, make: fn(&mut Text<'_>) -> Value, pattern: Option<&str>) -> (Case, String) {
    let mut source = Source::seed(seed);
    let mut text = Text {
        dtype: source.one(&[DType::F32, DType::F32, DType::BF16, DType::F16]),
        source: &mut source,
        parameters: Vec::new(),
        inputs: Vec::new(),
        lines: String::new(),
        count: 0,
    };
    let result = make(&mut text);
    text.case(result, pattern)
}

/// Panics where the case, compiled with these passes and executors, computes something else.
fn computes(case: &Case, expected: &Expected, told: &str, [passes, executors]: [&str; 2]) {
    let options = CompileOptions {
        passes: (!passes.is_empty()).then(|| passes.into()),
        executors: executors.into(),
        ..CompileOptions::default()
    };
    match compiled::check(case, expected, executors, options) {
        Outcome::Agrees { .. } => {}
        Outcome::Refused(text) => panic!("{told}: {text}"),
        Outcome::Found(finding) => panic!("{told}: {finding}"),
    }
}

fn recognized(kind: &str, make: fn(&mut Text<'_>) -> Value) {
    let mut stats = Stats::default();
    for seed in 0..CASES {
        let (flat, text) = case(seed, make, None);
        let told = format!("{kind}, seed {seed}\n{text}");
        let expected = execute::expected(&flat).expect("products are defined everywhere");
        let name = if kind == "attention" {
            "sdpa"
        } else {
            "matmul"
        };
        let found = changed(&flat, &expected, &told, (PASS, &mut stats));
        let found = found.replace("fusion.linear ", "fusion.matmul ");
        assert!(
            found.contains(&format!("fusion.{name} ")),
            "{told}\n{found}"
        );
        computes(&flat, &expected, &told, [COMPILED, ""]);
        // A product with a bias is one without as well.
        let name = if kind == "attention" {
            "sdpa"
        } else {
            "matmul"
        };
        let (named, text) = case(seed, make, Some(name));
        let told = format!("{kind}, seed {seed}\n{text}");
        let taken = changed(&named, &expected, &told, ("decompose", &mut stats));
        assert!(
            taken.contains(&format!("fusion.{name} ")),
            "{told}\n{taken}"
        );
        computes(&named, &expected, &told, ["", ""]);
        computes(&named, &expected, &told, ["", "none"]);
    }
    assert_eq!(stats.of("execution", "out of fuel"), 0, "{stats}");
    println!("count: {CASES} random programs of {kind} recognized, and {CASES} patterns taken");
}

/// Panics if a pass leaves the case unchanged or changes its results; returns the new case.
fn changed(
    case: &Case,
    expected: &Expected,
    told: &str,
    (pass, stats): (&str, &mut Stats),
) -> String {
    let parsed = fuser_pass::pipeline::parse(pass, 0, &fuser::catalog());
    let pipeline = parsed
        .unwrap_or_else(|_| panic!("{pass} is a pass"))
        .pipeline;
    let before = stats.of("pass changed", pass);
    let outcome = passes::check(case, expected, &pipeline, FUEL, stats);
    assert_eq!(outcome.findings, Vec::new(), "{told}");
    assert_eq!(stats.of("pass changed", pass), before + 1, "{told}");
    let mut ir = case.ir.clone();
    Manager::new(fuser_ir::verify).run(&mut ir, case.module, &pipeline);
    print(&ir, case.module, &PrintOptions::default())
}

#[test]
fn products_are_recognized() {
    recognized("products", product);
}

#[test]
fn attention_is_recognized() {
    recognized("attention", attention);
}
