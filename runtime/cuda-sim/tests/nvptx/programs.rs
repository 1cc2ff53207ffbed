//! Random functions of scalars and vectors in LLVM's IR, by all operations that kernels have and their neighbours, compiled as kernels are.
//!
//! Each is a function of three values, with a kernel around it for a GPU, and a loop for the CPU. *Exact* ones are integers and floats of 32 and
//! 64 bits by operations whose bits are defined: the simulator's results are those of LLVM's code for the CPU. The others are decoded.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use fuser_cuda_sim::device::{Device, Options};
use fuser_random::SplitMix;

/// An element type.
#[derive(Clone, Copy, PartialEq)]
struct Element {
    name: &'static str,
    /// The name in those of intrinsics.
    short: &'static str,
    bits: u32,
    float: bool,
}

const fn element(name: &'static str, short: &'static str, bits: u32, float: bool) -> Element {
    Element {
        name,
        short,
        bits,
        float,
    }
}

const INTEGERS: [Element; 4] = [
    element("i8", "i8", 8, false),
    element("i16", "i16", 16, false),
    element("i32", "i32", 32, false),
    element("i64", "i64", 64, false),
];
const FLOATS: [Element; 2] = [
    element("float", "f32", 32, true),
    element("double", "f64", 64, true),
];
const NARROW: [Element; 2] = [
    element("half", "f16", 16, true),
    element("bfloat", "bf16", 16, true),
];

/// A type: an element, or a vector of some.
#[derive(Clone, Copy)]
struct Type {
    element: Element,
    lanes: u32,
}

impl Type {
    fn of(self, element: Element) -> Type {
        Type { element, ..self }
    }
    fn text(self) -> String {
        match self.lanes {
            1 => self.element.name.to_owned(),
            lanes => format!("<{lanes} x {}>", self.element.name),
        }
    }
    fn short(self) -> String {
        match self.lanes {
            1 => self.element.short.to_owned(),
            lanes => format!("v{lanes}{}", self.element.short),
        }
    }
    fn truth(self) -> String {
        match self.lanes {
            1 => "i1".to_owned(),
            lanes => format!("<{lanes} x i1>"),
        }
    }
    fn constant(self, value: i64) -> String {
        let number = match self.element.float {
            true => format!("{value}.0"),
            false => value.to_string(),
        };
        match self.lanes {
            1 => number,
            _ => format!("splat ({} {number})", self.element.name),
        }
    }
    /// Bytes in memory, where three elements take the place of four.
    fn bytes(self) -> usize {
        (self.element.bits / 8 * self.lanes.next_power_of_two()) as usize
    }
}

/// A function that is being written.
struct Writer<'r> {
    random: &'r mut SplitMix,
    declared: &'r mut BTreeSet<String>,
    exact: bool,
    body: String,
    next: u32,
}

impl Writer<'_> {
    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        self.random.one(all)
    }
    fn below(&mut self, bound: u32) -> i64 {
        self.random.below(bound as usize) as i64
    }
    fn op(&mut self, text: &str) -> String {
        self.next += 1;
        let _ = writeln!(self.body, "  %v{} = {text}", self.next);
        format!("%v{}", self.next)
    }
    /// An intrinsic of operands of its type; `flag` is a truth value behind them.
    fn call(&mut self, name: &str, ty: Type, operands: &[&str], flag: &str) -> String {
        let text = ty.text();
        let types = vec![text.as_str(); operands.len()].join(", ");
        let behind = if flag.is_empty() { "" } else { ", i1" };
        let name = format!("@llvm.{name}.{}", ty.short());
        let declaration = format!("declare {text} {name}({types}{behind})");
        self.declared.insert(declaration);
        let given: Vec<String> = operands.iter().map(|x| format!("{text} {x}")).collect();
        let flag = if flag.is_empty() {
            String::new()
        } else {
            format!(", i1 {flag}")
        };
        self.op(&format!("call {text} {name}({}{flag})", given.join(", ")))
    }
    /// One more value, of those that are there.
    fn step(&mut self, values: &[String], ty: Type) -> String {
        let pick = |random: &mut SplitMix| values[random.below(values.len())].clone();
        let [a, b, c] = [pick(self.random), pick(self.random), pick(self.random)];
        match ty.element.float {
            true => self.float(ty, [&a, &b, &c]),
            false => self.integer(ty, [&a, &b, &c]),
        }
    }
    fn float(&mut self, ty: Type, [a, b, c]: [&str; 3]) -> String {
        const PAIRS: [&str; 5] = ["fadd", "fsub", "fmul", "fdiv", "frem"];
        const PREDICATES: [&str; 14] = [
            "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
            "une", "uno",
        ];
        let text = ty.text();
        match self.below(14) {
            0..4 => {
                let name = PAIRS[self.below(4) as usize];
                self.op(&format!("{name} {text} {a}, {b}"))
            }
            4 => self.op(&format!("fneg {text} {a}")),
            5 => self.call("fma", ty, &[a, b, c], ""),
            6 => {
                let name = self.one(&["minimum", "maximum", "minimumnum", "maximumnum"]);
                self.call(name, ty, &[a, b], "")
            }
            7 => {
                let inner = self.call("maximumnum", ty, &[a, b], "");
                self.call("maximumnum", ty, &[&inner, c], "")
            }
            8 => self.call("maximum", ty, &[a, &ty.constant(0)], ""),
            9 => {
                let names = [
                    "fabs",
                    "sqrt",
                    "floor",
                    "ceil",
                    "trunc",
                    "rint",
                    "roundeven",
                ];
                let name = self.one(&names);
                self.call(name, ty, &[a], "")
            }
            // Signs of zeros and of what is no number are open.
            10 if !self.exact => {
                let name = self.one(&["minnum", "maxnum", "copysign"]);
                self.call(name, ty, &[a, b], "")
            }
            11 if !self.exact => self.op(&format!("frem {text} {a}, {b}")),
            12 => {
                let size = self.call("fabs", ty, &[a], "");
                let infinity = match (ty.element.name, ty.lanes) {
                    ("float" | "double", 1) => "0x7FF0000000000000".to_owned(),
                    ("float" | "double", _) => {
                        format!("splat ({} 0x7FF0000000000000)", ty.element.name)
                    }
                    _ => ty.constant(1),
                };
                let holds = self.op(&format!("fcmp oeq {text} {size}, {infinity}"));
                self.op(&format!(
                    "select {} {holds}, {text} {b}, {text} {c}",
                    ty.truth()
                ))
            }
            _ => {
                let predicate = self.one(&PREDICATES);
                let holds = self.op(&format!("fcmp {predicate} {text} {a}, {b}"));
                self.op(&format!(
                    "select {} {holds}, {text} {a}, {text} {c}",
                    ty.truth()
                ))
            }
        }
    }
    fn integer(&mut self, ty: Type, [a, b, c]: [&str; 3]) -> String {
        const SHIFTS: [&str; 3] = ["shl", "lshr", "ashr"];
        let (text, bits) = (ty.text(), ty.element.bits);
        match self.below(22) {
            0..3 => {
                let name = self.one(&["add", "sub", "mul", "and", "or", "xor"]);
                self.op(&format!("{name} {text} {a}, {b}"))
            }
            3 => self.op(&format!("sub {text} {}, {a}", ty.constant(0))),
            4 => self.op(&format!("xor {text} {a}, {}", ty.constant(-1))),
            5 => {
                // Neither a divisor of 0 nor one of -1.
                let half = self.op(&format!("lshr {text} {b}, {}", ty.constant(1)));
                let divisor = self.op(&format!("or {text} {half}, {}", ty.constant(1)));
                let name = self.one(&["sdiv", "udiv", "srem", "urem"]);
                self.op(&format!("{name} {text} {a}, {divisor}"))
            }
            6 => {
                let divisor = self.one(&[2, 3, 5, 7, 10, 16, 100]);
                let name = self.one(&["sdiv", "udiv", "srem", "urem"]);
                self.op(&format!("{name} {text} {a}, {}", ty.constant(divisor)))
            }
            7 => {
                let by = self.op(&format!(
                    "and {text} {b}, {}",
                    ty.constant(i64::from(bits) - 1)
                ));
                let name = self.one(&SHIFTS);
                self.op(&format!("{name} {text} {a}, {by}"))
            }
            8 | 9 => {
                let (name, by) = (self.one(&SHIFTS), self.below(bits));
                let moved = self.op(&format!("{name} {text} {a}, {}", ty.constant(by)));
                match self.below(2) {
                    0 => moved,
                    _ => {
                        let mask = (1_i64 << (1 + self.below(bits - 2))) - 1;
                        self.op(&format!("and {text} {moved}, {}", ty.constant(mask)))
                    }
                }
            }
            10 => {
                let at = 1 + self.below(bits - 2);
                let low = self.op(&format!("and {text} {a}, {}", ty.constant((1 << at) - 1)));
                let high = self.op(&format!("shl {text} {b}, {}", ty.constant(at)));
                self.op(&format!("or {text} {low}, {high}"))
            }
            11 | 12 => {
                let names = [
                    "smin", "smax", "umin", "umax", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat",
                ];
                let name = self.one(&names);
                self.call(name, ty, &[a, b], "")
            }
            13 => {
                let name = self.one(&["smin", "smax", "umin"]);
                let inner = self.call(name, ty, &[a, b], "");
                self.call("smax", ty, &[&inner, &ty.constant(0)], "")
            }
            14 => {
                let low = self.call("smax", ty, &[a, &ty.constant(-50)], "");
                self.call("smin", ty, &[&low, &ty.constant(77)], "")
            }
            15 => {
                let name = self.one(&["ctpop", "bitreverse"]);
                self.call(name, ty, &[a], "")
            }
            // LLVM 22 cannot select a swap of the bytes of vectors of i32.
            16 if bits > 8 && (bits, ty.lanes) != (32, ty.lanes.max(2)) => {
                self.call("bswap", ty, &[a], "")
            }
            17 => {
                let name = self.one(&["abs", "ctlz", "cttz"]);
                self.call(name, ty, &[a], "false")
            }
            18 => {
                let name = self.one(&["fshl", "fshr"]);
                match self.below(2) {
                    0 => self.call(name, ty, &[a, b, c], ""),
                    _ => {
                        let by = ty.constant(self.below(bits));
                        self.call(name, ty, &[a, a, &by], "")
                    }
                }
            }
            19 if bits < 64 => {
                let wide = match bits {
                    8 => INTEGERS[1],
                    16 => INTEGERS[2],
                    _ => INTEGERS[3],
                };
                let wide_text = ty.of(wide).text();
                let extend = self.one(&["sext", "zext"]);
                let [a, b] =
                    [a, b].map(|x| self.op(&format!("{extend} {text} {x} to {wide_text}")));
                let product = self.op(&format!("mul {wide_text} {a}, {b}"));
                let by = ty.of(wide).constant(self.one(&[i64::from(bits), 3]));
                let high = self.op(&format!("lshr {wide_text} {product}, {by}"));
                self.op(&format!("trunc {wide_text} {high} to {text}"))
            }
            _ => self.chosen(ty, [a, b, c]),
        }
    }
    /// A choice by a comparison or two, or what holds as an integer.
    fn chosen(&mut self, ty: Type, [a, b, c]: [&str; 3]) -> String {
        const PREDICATES: [&str; 10] = [
            "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
        ];
        let (text, truth) = (ty.text(), ty.truth());
        let predicate = self.one(&PREDICATES);
        let mut holds = self.op(&format!("icmp {predicate} {text} {a}, {b}"));
        if self.below(3) == 0 {
            let (predicate, joins) = (self.one(&PREDICATES), self.one(&["and", "or", "xor"]));
            let other = self.op(&format!("icmp {predicate} {text} {b}, {c}"));
            holds = self.op(&format!("{joins} {truth} {holds}, {other}"));
        }
        match self.below(3) {
            0 => {
                let extend = self.one(&["sext", "zext"]);
                self.op(&format!("{extend} {truth} {holds} to {text}"))
            }
            _ => self.op(&format!("select {truth} {holds}, {text} {a}, {text} {c}")),
        }
    }
    /// A value of another element type.
    fn converted(&mut self, value: &str, from: Type, to: Element) -> String {
        let (a, b) = (from.text(), from.of(to).text());
        let (own, bits) = (from.element, to.bits);
        if own == to {
            return value.to_owned();
        }
        match (own.float, to.float) {
            (true, true) if own.bits == bits => {
                let wide = from.of(FLOATS[0]).text();
                let value = self.op(&format!("fpext {a} {value} to {wide}"));
                self.op(&format!("fptrunc {wide} {value} to {b}"))
            }
            (true, true) => {
                let name = if bits > own.bits { "fpext" } else { "fptrunc" };
                self.op(&format!("{name} {a} {value} to {b}"))
            }
            (true, false) => {
                let name = self.one(&["fptosi", "fptoui"]);
                let name = format!("@llvm.{name}.sat.{}.{}", from.of(to).short(), from.short());
                self.declared.insert(format!("declare {b} {name}({a})"));
                self.op(&format!("call {b} {name}({a} {value})"))
            }
            (false, true) => {
                let name = self.one(&["sitofp", "uitofp"]);
                self.op(&format!("{name} {a} {value} to {b}"))
            }
            (false, false) => {
                let name = if bits > own.bits {
                    self.one(&["sext", "zext"])
                } else {
                    "trunc"
                };
                self.op(&format!("{name} {a} {value} to {b}"))
            }
        }
    }
}

/// A function of three values.
struct Function {
    from: Type,
    to: Type,
    text: String,
}

/// Operands of a function begin so many bytes apart; results take as many.
const APART: usize = 32 * 64;

/// The threads of a kernel.
const THREADS: usize = 32;

fn function(
    number: usize,
    random: &mut SplitMix,
    declared: &mut BTreeSet<String>,
    exact: bool,
) -> Function {
    let lanes = random.one(&[1, 1, 2, 2, 3, 4, 4, 8]);
    let mut elements = [&INTEGERS[..], &INTEGERS[..2], &FLOATS].concat();
    if !exact {
        elements.extend([NARROW, NARROW, NARROW].concat());
    }
    let element = random.one(&elements);
    let from = Type { element, lanes };
    let mut ty = from;
    let steps = random.one(&[1, 2, 3, 6]);
    let mut writer = Writer {
        random,
        declared,
        exact,
        body: String::new(),
        next: 0,
    };
    let mut values: Vec<String> = ["%a", "%b", "%c"].map(str::to_owned).into();
    for _ in 0..steps {
        values.push(writer.step(&values, ty));
        if writer.below(4) == 0 {
            let to = writer.one(&elements);
            let last = values.split_off(values.len() - 3);
            values = last
                .iter()
                .map(|value| writer.converted(value, ty, to))
                .collect();
            ty = ty.of(to);
        }
    }
    let (a, b, result) = (from.text(), ty.text(), values.pop().unwrap());
    let text = format!(
        "define internal {b} @g{number}({a} %a, {a} %b, {a} %c) alwaysinline {{\n{}  ret {b} {result}\n}}\n",
        writer.body
    );
    Function { from, to: ty, text }
}

/// Loads of the operands at `%t`, the call, and the store, in the address space of `space`.
fn around(number: usize, function: &Function, space: &str, memory: [&str; 2]) -> String {
    let Function { from, to, .. } = function;
    let (a, b) = (from.text(), to.text());
    let mut text = String::new();
    for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
        let _ = write!(
            text,
            "  %p{name} = getelementptr i8, ptr{space} {}, i64 {}\n  %q{name} = getelementptr {a}, ptr{space} %p{name}, i64 %t\n  \
             %{name} = load {a}, ptr{space} %q{name}, align {}\n",
            memory[0],
            n * APART,
            from.bytes()
        );
    }
    let _ = write!(
        text,
        "  %r = call {b} @g{number}({a} %a, {a} %b, {a} %c)\n  %q = getelementptr {b}, ptr{space} {}, i64 %t\n  \
         store {b} %r, ptr{space} %q, align {}\n",
        memory[1],
        to.bytes()
    );
    text
}

/// The module for a GPU: a kernel for each function.
fn kernels(functions: &[Function], declared: &BTreeSet<String>) -> String {
    let mut text =
        "target triple = \"nvptx64-nvidia-cuda\"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
            .to_owned();
    declared
        .iter()
        .for_each(|line| text += &format!("{line}\n"));
    for (number, function) in functions.iter().enumerate() {
        text += &function.text;
        let _ = write!(
            text,
            "define ptx_kernel void @k{number}(ptr addrspace(1) noalias align 64 %p, ptr addrspace(1) noalias align 64 %o) {{\n  \
             %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %t = zext i32 %i to i64\n{}  ret void\n}}\n",
            around(number, function, " addrspace(1)", ["%p", "%o"])
        );
    }
    text
}

/// The module for the CPU: a program that writes the results of all functions, one after the other.
fn program(functions: &[Function], declared: &BTreeSet<String>, inputs: [&[u8]; 3]) -> String {
    let mut text = format!(
        "@out = global [{APART} x i8] zeroinitializer, align 64\ndeclare i64 @write(i32, ptr, i64)\n"
    );
    for (name, bytes) in ["ints", "floats", "doubles"].into_iter().zip(inputs) {
        let hex: String = bytes.iter().map(|byte| format!("\\{byte:02X}")).collect();
        let _ = writeln!(
            text,
            "@{name} = constant [{} x i8] c\"{hex}\", align 64",
            bytes.len()
        );
    }
    declared
        .iter()
        .for_each(|line| text += &format!("{line}\n"));
    let mut calls = String::new();
    for (number, function) in functions.iter().enumerate() {
        text += &function.text;
        let memory = ["@ints", "@floats", "@doubles"][area(function)];
        let _ = write!(
            text,
            "define void @run{number}() {{\nentry:\n  br label %loop\nloop:\n  %t = phi i64 [ 0, %entry ], [ %n, %loop ]\n{}  \
             %n = add i64 %t, 1\n  %goes = icmp ult i64 %n, {THREADS}\n  br i1 %goes, label %loop, label %end\nend:\n  \
             %w = call i64 @write(i32 1, ptr @out, i64 {APART})\n  ret void\n}}\n",
            around(number, function, "", [memory, "@out"])
        );
        let _ = writeln!(calls, "  call void @run{number}()");
    }
    text + &format!("define i32 @main() {{\n{calls}  ret i32 0\n}}\n")
}

/// The memory that a function reads: integers, floats, doubles.
fn area(function: &Function) -> usize {
    match (function.from.element.float, function.from.element.bits) {
        (false, _) => 0,
        (true, 64) => 2,
        (true, _) => 1,
    }
}

/// Random bytes with edges of integers among them, and floats around 1 with special values among them.
fn inputs(random: &mut SplitMix) -> [Vec<u8>; 3] {
    let edges = [0, 1, 0x7F, 0x80, 0xFF];
    let ints = (0..3 * APART).map(|_| match random.below(3) {
        0 => random.one(&edges),
        _ => random.word() as u8,
    });
    let ints = ints.collect();
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.0,
        2.5,
        1e-40,
        3e9,
        -1e19,
    ];
    let mut number = || match random.below(6) {
        0 => random.one(&special),
        _ => (random.unit() - 0.5) * 300.0,
    };
    let floats = (0..3 * APART / 4)
        .flat_map(|_| (number() as f32).to_le_bytes())
        .collect();
    let doubles = (0..3 * APART / 8)
        .flat_map(|_| number().to_le_bytes())
        .collect();
    [ints, floats, doubles]
}

/// Runs one of LLVM's tools; what it wrote.
fn run(tools: &Path, tool: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(tools.join(tool))
        .args(arguments)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {told}");
    output.stdout
}

/// PTX of a module, by the passes that kernels go through.
fn ptx(tools: &Path, file: &str, target: &str) -> String {
    const PASSES: &str =
        "-passes=function(infer-alignment),default<O3>,function(loop(loop-reduce))";
    let cpu = format!("-mcpu={target}");
    let optimized = format!("{file}.{target}.bc");
    run(
        tools,
        "opt",
        &[file, "-o", &optimized, PASSES, "-vectorize-slp=false", &cpu],
    );
    let text = run(tools, "llc", &["-O3", &optimized, "-o", "-", &cpu]);
    String::from_utf8(text).unwrap()
}

/// A folder for the modules of a test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
    fn write(&self, name: &str, text: &str) -> String {
        let file = self.0.join(name);
        std::fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    }
}

const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];

/// Results of a function, lane by lane: those that are no number are alike.
fn lanes(function: &Function, bytes: &[u8]) -> Vec<u64> {
    let ty = function.to;
    let size = (ty.element.bits / 8) as usize;
    let values = (0..THREADS).flat_map(|thread| {
        (0..ty.lanes as usize).map(move |lane| thread * ty.bytes() + lane * size)
    });
    let value = |at: usize| {
        let part = &bytes[at..at + size];
        let bits = part
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        match (ty.element.float, size) {
            (true, 4) if f32::from_bits(bits as u32).is_nan() => u64::MAX,
            (true, 8) if f64::from_bits(bits).is_nan() => u64::MAX,
            _ => bits,
        }
    };
    values.map(value).collect()
}

/// Runs a kernel on 32 threads.
fn simulated(device: &mut Device, module: u64, number: usize, input: &[u8]) -> Vec<u8> {
    let function = device.function(module, &format!("k{number}")).unwrap();
    let [from, to] = [input.len(), APART].map(|size| device.allocate(size).unwrap());
    device
        .bytes(from, input.len())
        .unwrap()
        .copy_from_slice(input);
    let parameters = [from, to].map(|address| address.to_le_bytes().to_vec());
    let launched = device.launch(function, [1; 3], [THREADS as u32, 1, 1], 0, &parameters);
    launched.unwrap_or_else(|failure| panic!("k{number}: {failure:?}"));
    let results = device.bytes(to, APART).unwrap().to_vec();
    device.free(from).unwrap();
    device.free(to).unwrap();
    results
}

#[test]
fn functions_give_what_they_give_on_the_cpu() {
    let Some(tools) = super::tools() else {
        return;
    };
    let folder = Folder::new("nvptx-exact");
    let mut random = SplitMix(11);
    let mut declared = BTreeSet::new();
    let functions: Vec<Function> = (0..400)
        .map(|number| function(number, &mut random, &mut declared, true))
        .collect();
    let inputs = inputs(&mut random);
    let [ints, floats, doubles] = &inputs;
    let text = program(&functions, &declared, [ints, floats, doubles]);
    let expected = run(&tools, "lli", &[&folder.write("cpu.ll", &text)]);
    assert_eq!(expected.len(), functions.len() * APART);
    let file = folder.write("gpu.ll", &kernels(&functions, &declared));
    let mut wrong = Vec::new();
    for target in TARGETS {
        let mut device = Device::new(Options::read(target).unwrap());
        let module = device.load(&ptx(&tools, &file, target));
        let module = module.unwrap_or_else(|failure| panic!("{target}: {failure:?}"));
        for (number, function) in functions.iter().enumerate() {
            let found = simulated(&mut device, module, number, &inputs[area(function)]);
            let expected = &expected[number * APART..];
            if lanes(function, &found) != lanes(function, expected) {
                wrong.push(format!("{target}: {}", function.text));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ: {}",
        wrong.len(),
        wrong.join("\n")
    );
    println!(
        "count: {} functions that give what they give on the CPU",
        functions.len() * TARGETS.len()
    );
}

#[test]
fn functions_of_all_types_are_decoded() {
    let Some(tools) = super::tools() else {
        return;
    };
    let folder = Folder::new("nvptx-decoded");
    let mut unknown = BTreeSet::new();
    let mut decoded = 0;
    for seed in 0..2 {
        let mut random = SplitMix(100 + seed);
        let mut declared = BTreeSet::new();
        let functions: Vec<Function> = (0..300)
            .map(|number| function(number, &mut random, &mut declared, false))
            .collect();
        let file = folder.write("all.ll", &kernels(&functions, &declared));
        for target in TARGETS {
            let text = ptx(&tools, &file, target);
            let load = |text: &str| Device::new(Options::read(target).unwrap()).load(text);
            decoded += functions.len();
            if load(&text).is_ok() {
                continue;
            }
            // Function by function, so that all that is unknown is told.
            let (head, rest) = text.split_once(".visible .entry").unwrap();
            for kernel in rest.split(".visible .entry") {
                let failure = load(&format!("{head}.visible .entry{kernel}")).err();
                unknown.extend(failure.map(|failure| format!("{target}: {}", failure.text)));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    println!("count: {decoded} functions that are decoded");
}
