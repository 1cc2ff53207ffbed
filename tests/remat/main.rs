//! Rematerialization on random programs of up to 18 steps in random kernels, against an exhaustive search.
//!
//! For each program: after `remat` no more bytes cross than before; every result has the same bits in the interpreter, on
//! inputs that are small integers; every op that may not be repeated stands once; and the bytes are compared with the least
//! that any choice of what is written reaches (`exact.rs`, which shares nothing with the pass). The gap's median, 99th
//! percentile and worst are printed and bounded.
//!
//! ```text
//! cargo test --test main remat                                           # a sample
//! cargo test --release --test main -- --ignored --nocapture remat        # 10,000 programs
//! ```

mod exact;

use std::collections::BTreeSet;

use fuser_interp::{Data, Options, Tensor, interpret};
use fuser_ir::{Ir, Op, Value, verify};
use fuser_pass::pipeline::PipelineBuilder;
use fuser_pass::{Catalog, Manager, PassOptions};

use exact::{Case, OpOf};
use fuser_dialects::fusion;
use fuser_ir::def::OpClass;
use fuser_testing::Kind::{Row, Square};
use fuser_testing::Step::{Cast, One, Reduce, Return, Spread, Two};
use fuser_testing::{Random, Squares, Step, parsed};

/// Wide and narrow values, reductions that may not be repeated, what is spread from rows, values that several kernels read.
const STEPS: [&[Step]; 9] = [
    &[Reduce("sum")],
    &[Spread],
    &[Cast],
    &[Cast],
    &[One(Square, &UNARY), One(Row, &UNARY)],
    &[Two(Square, &BINARY)],
    &[Two(Square, &BINARY)],
    &[Two(Square, &BINARY), Two(Row, &BINARY)],
    &[Return, One(Row, &UNARY)],
];
const UNARY: [&str; 3] = ["neg", "abs", "relu"];
const BINARY: [&str; 4] = ["add", "sub", "mul", "maximum"];
const DTYPES: [&str; 3] = ["bf16", "f32", "f64"];
/// The most steps.
const MAX_STEPS: usize = 18;

/// The outcome of remat on one program.
struct Outcome {
    before: u64,
    after: u64,
    best: u64,
    /// True if the least may be out of reach: the cost model refused a kernel as it would become (it has no common
    /// iteration space, say, or walks its inputs twice), which the exhaustive search knows nothing of.
    bound: bool,
}

/// Gaps to the optimum over many programs.
#[derive(Default)]
struct Gaps {
    all: Vec<f64>,
    /// Of programs whose least can be reached.
    free: Vec<f64>,
    illegal: usize,
    improved: usize,
    improvable: usize,
}

impl Gaps {
    fn run(programs: std::ops::Range<u64>) -> Self {
        let mut gaps = Self::default();
        for seed in programs {
            // A grouping that is no kernel is refused before anything can be rematerialized.
            let Some(outcome) = check(seed) else {
                gaps.illegal += 1;
                continue;
            };
            assert!(
                outcome.after <= outcome.before,
                "seed {seed}: {} bytes became {}",
                outcome.before,
                outcome.after
            );
            assert!(
                outcome.best <= outcome.after,
                "seed {seed}: {} bytes are fewer than the least, {}",
                outcome.after,
                outcome.best
            );
            gaps.improvable += usize::from(outcome.best < outcome.before);
            gaps.improved += usize::from(outcome.after < outcome.before);
            let gap = outcome.after as f64 / outcome.best.max(1) as f64 - 1.0;
            gaps.all.push(gap);
            gaps.free.extend((!outcome.bound).then_some(gap));
        }
        gaps.all.sort_by(f64::total_cmp);
        gaps.free.sort_by(f64::total_cmp);
        gaps
    }
    fn tell(&self) {
        for (what, gaps) in [
            ("all programs", &self.all),
            ("where it can be reached", &self.free),
        ] {
            println!(
                "gap to the least bytes, {what}: median {:.4}, 99th percentile {:.4}, worst {:.4}; above it {} of {}",
                at(gaps, 50),
                at(gaps, 99),
                at(gaps, 100),
                gaps.iter().filter(|g| **g > 0.0).count(),
                gaps.len(),
            );
        }
        let (fell, can) = (self.improved, self.improvable);
        println!("{fell} of {can} that can fall fell");
        println!(
            "{} groupings have a segment that is no kernel",
            self.illegal
        );
        println!("count: {} random programs rematerialized", self.all.len());
    }
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

#[test]
fn a_sample_of_random_programs() {
    let gaps = Gaps::run(0..500);
    gaps.tell();
    assert!(gaps.improvable > 300, "the programs leave nothing to do");
    assert!(at(&gaps.all, 50) <= 0.0 && at(&gaps.free, 100) <= 0.0);
    assert!(gaps.free.len() * 10 >= gaps.all.len() * 9);
}

#[test]
#[ignore = "minutes; see the head of the file"]
fn ten_thousand_random_programs() {
    let gaps = Gaps::run(0..10_200);
    gaps.tell();
    assert!(at(&gaps.all, 50) <= 0.0 && at(&gaps.free, 100) <= 0.0);
}

/// The exhaustive search on cases whose least is known by hand.
#[test]
fn the_yardstick_knows_the_known_cases() {
    // (bytes, ops as (reads, may be repeated), kernel of each op, outputs, least)
    let op = |reads: &[usize], free: bool| exact::OpOf {
        reads: reads.to_vec(),
        free,
        renames: false,
    };
    // One producer, two consumers: x | y = x | z = y | u = y.
    let case = exact::Case {
        bytes: vec![64; 4],
        inputs: 1,
        ops: vec![op(&[0], true), op(&[1], true), op(&[1], true)],
        kernel: vec![0, 1, 2],
        outputs: vec![2, 3],
    };
    assert_eq!(exact::least(&case), 256);
    // Softmax cut after the sum: the maximum and the sum are loaded, the exponential is repeated.
    let case = exact::Case {
        bytes: vec![256, 4, 256, 4, 256],
        inputs: 1,
        ops: vec![
            op(&[0], false),
            op(&[0, 1], true),
            op(&[2], false),
            op(&[2, 3], true),
        ],
        kernel: vec![0, 0, 0, 1],
        outputs: vec![4],
    };
    assert_eq!(exact::least(&case), 12 * 64 + 16);
    // A product narrower than what makes it: its kernel vanishes.
    let case = exact::Case {
        bytes: vec![256, 128, 128],
        inputs: 1,
        ops: vec![op(&[0], true), op(&[1], true)],
        kernel: vec![0, 1],
        outputs: vec![2],
    };
    assert_eq!(exact::least(&case), 384);
}

/// `None` where the random grouping holds a segment that cannot be one kernel.
fn check(seed: u64) -> Option<Outcome> {
    let mut random = Random(seed);
    let squares = Squares {
        // Odd, so that no width divides it.
        side: 7,
        dtypes: [(); 3].map(|()| random.one(&DTYPES)),
        steps: &STEPS,
    };
    let steps = 2 + random.below(MAX_STEPS - 1);
    let text = squares.text(&mut random, steps);
    let (mut ir, module) = parsed(&text);
    // Equal ops would be one op in two kernels.
    run(&mut ir, module, "cse", "").unwrap_or_else(|m| panic!("seed {seed}: {m:?}"));
    let case = cut(&ir, module, &mut random);
    // Little fast memory: these small tensors are walked as large ones are on a real machine.
    let grouping = format!("target=tiny from='{}'", grouping(&ir, module, &case));
    if let Err(messages) = run(&mut ir, module, "segment", &grouping) {
        let illegal = messages.iter().all(|m| m.contains("cannot be one kernel"));
        assert!(illegal, "seed {seed}: {messages:?}");
        return None;
    }
    let (inputs, expected) = interpreted(&ir, module, None, seed);
    let views = views(&ir, module);
    let (before, _) = traffic(&ir, module, &views);
    let options = "target=tiny launch-bytes=0 arithmetic=0";
    let refused = run(&mut ir, module, "remat", options);
    let refused = refused.unwrap_or_else(|m| panic!("seed {seed}: {m:?}"));
    let (after, pinned) = traffic(&ir, module, &views);
    assert!(
        pinned.windows(2).all(|p| p[0] != p[1]),
        "seed {seed}: a reduction stands twice"
    );
    let (_, actual) = interpreted(&ir, module, Some(inputs), seed);
    for (index, (a, e)) in actual.iter().zip(&expected).enumerate() {
        assert!(
            a.data().to_bytes() == e.data().to_bytes() && a.shape() == e.shape(),
            "seed {seed}: result {index} changed\n{text}"
        );
    }
    assert_eq!(actual.len(), expected.len());
    Some(Outcome {
        before,
        after,
        best: exact::least(&case),
        bound: refused > 0,
    })
}

/// The ops of the program but for what ends it.
fn ops_of(ir: &Ir, module: Op) -> Vec<Op> {
    let mut ops = ir.children(program_of(ir, module));
    ops.pop();
    ops
}

/// The program as numbers, in kernels that are ranges of it, so that they always have an order.
fn cut(ir: &Ir, module: Op, random: &mut Random) -> Case {
    let body = ir.body(program_of(ir, module), 0).expect("a body");
    let (inputs, ops) = (ir.args(body), ops_of(ir, module));
    let results = ops.iter().map(|&op| ir.result(op, 0));
    let values: Vec<Value> = inputs.iter().copied().chain(results).collect();
    let numbers = |op: Op| -> BTreeSet<usize> {
        let place = |v| values.iter().position(|own| *own == v);
        ir.operands(op).filter_map(place).collect()
    };
    let row = |&op: &Op| OpOf {
        reads: numbers(op).into_iter().collect(),
        free: ir
            .def(op)
            .is_some_and(|def| def.class != OpClass::Reduction),
        renames: ir.is(op, &fusion::BROADCAST),
    };
    let end = *ir.children(program_of(ir, module)).last().expect("an end");
    let kernels = 2 + random.below(3);
    let mut kernel = 0;
    let kernel_of = |op: usize| {
        let next = op > 0 && kernel + 1 < kernels && random.below(ops.len()) < kernels;
        kernel += usize::from(next);
        kernel
    };
    Case {
        bytes: values.iter().map(|&v| stored(ir, v)).collect(),
        inputs: inputs.len(),
        kernel: (0..ops.len()).map(kernel_of).collect(),
        ops: ops.iter().map(row).collect(),
        outputs: numbers(end).split_off(&inputs.len()).into_iter().collect(),
    }
}

/// The kernels as a grouping for `segment`.
fn grouping(ir: &Ir, module: Op, case: &Case) -> String {
    let ops = ops_of(ir, module);
    let name = |op: &Op| ir.value_name(ir.result(*op, 0)).expect("a name");
    let segment = |kernel: usize| {
        let mine = ops.iter().zip(&case.kernel).filter(|(_, k)| **k == kernel);
        let names: Vec<String> = mine.map(|(op, _)| format!("\"%{}\"", name(op))).collect();
        format!("{{\"name\":\"k{kernel}\",\"ops\":[{}]}}", names.join(","))
    };
    let last = case.kernel.last().copied().unwrap_or(0);
    let segments: Vec<String> = (0..=last).map(segment).collect();
    format!("{{\"segments\":[{}]}}", segments.join(","))
}

/// Runs a pass; gives how many kernels it closed or barred an op from, if it says so, or what it refuses.
fn run(ir: &mut Ir, module: Op, pass: &str, options: &str) -> Result<u64, Vec<String>> {
    let catalog = Catalog {
        passes: fuser_passes::PASSES,
        pipelines: fuser_passes::PIPELINES,
        anchors: &["builtin.module", "task.program", "task.segment"],
    };
    let mut builder = PipelineBuilder::new(catalog);
    let def = catalog.pass(pass).expect("a pass");
    builder.pass(
        def,
        PassOptions::parse(def, options, 0, 0).expect("options"),
    );
    let report = Manager::new(verify::verify).run(ir, module, &builder.finish());
    let messages = report.diagnostics.items.iter().map(|d| d.message.clone());
    let messages: Vec<String> = messages.collect();
    if !messages.is_empty() {
        return Err(messages);
    }
    let told = def.statistics.iter().zip(&report.statistics[0]);
    let told = told.filter(|(s, _)| s.name == "closed" || s.name == "barred");
    Ok(told.map(|(_, count)| count).sum())
}

/// The segments whose ops only give memory another shape, by name.
fn views(ir: &Ir, module: Op) -> Vec<String> {
    let segments = ir.children(program_of(ir, module)).into_iter();
    let renames = |&s: &Op| {
        let ops = ir.children(s).into_iter();
        let mut inner = ops.filter(|&op| ir.name(op) != "task.yield").peekable();
        inner.peek().is_some() && inner.all(|op| ir.name(op) == "fusion.broadcast")
    };
    let named = segments.filter(renames).filter_map(|s| ir.symbol_name(s));
    named.map(str::to_owned).collect()
}

fn program_of(ir: &Ir, module: Op) -> Op {
    ir.children(module)[0]
}

/// Inputs of small integers (or those given), and the results.
fn interpreted(
    ir: &Ir,
    module: Op,
    inputs: Option<Vec<Tensor>>,
    seed: u64,
) -> (Vec<Tensor>, Vec<Tensor>) {
    let program = program_of(ir, module);
    let body = ir.body(program, 0).expect("a body");
    let mut random = Random(seed ^ 0x5eed);
    let inputs = inputs.unwrap_or_else(|| {
        let args = ir.args(body).iter();
        args.map(|&arg| tensor(ir, arg, &mut random)).collect()
    });
    let outputs = interpret(ir, program, &inputs, &Options::default());
    let outputs = outputs.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    (inputs, outputs.values)
}

fn tensor(ir: &Ir, value: Value, random: &mut Random) -> Tensor {
    let ty = ir.value_kind(value).as_tensor().expect("a tensor").clone();
    let extent = |d: &fuser_ir::types::Dim| match d.extent {
        fuser_ir::types::Extent::Static(n) => n as usize,
        _ => 1,
    };
    let shape: Vec<usize> = ty.dims.iter().map(extent).collect();
    let zeros = Data::zeros(ty.dtype, shape.iter().product());
    let mut data = zeros.expect("memory");
    let mut bytes = Vec::new();
    for _ in 0..data.len() {
        let whole = random.below(9) as i32 - 4;
        match ty.dtype.bytes() {
            2 => bytes.extend(half::bf16::from_f64(f64::from(whole)).to_le_bytes()),
            4 => bytes.extend((whole as f32).to_le_bytes()),
            _ => bytes.extend(f64::from(whole).to_le_bytes()),
        }
    }
    if let Some(filled) = Data::from_bytes(ty.dtype, &bytes) {
        data = filled;
    }
    Tensor::dense(ty.dtype, &shape, data).expect("a tensor")
}

/// Bytes of a value in memory.
fn stored(ir: &Ir, value: Value) -> u64 {
    let ty = ir.value_kind(value).as_tensor().expect("a tensor");
    let dims = ty.dims.iter().filter(|d| !d.broadcast);
    dims.fold(ty.dtype.bytes(), |n, d| match d.extent {
        fuser_ir::types::Extent::Static(e) => n * e,
        _ => n,
    })
}

/// Bytes that the segments load and write, those in `views` none, and the names of the reductions in them, sorted.
fn traffic(ir: &Ir, module: Op, views: &[String]) -> (u64, Vec<String>) {
    let mut bytes = 0;
    let mut pinned = Vec::new();
    for segment in ir.children(program_of(ir, module)) {
        let view = ir
            .symbol_name(segment)
            .is_some_and(|n| views.iter().any(|v| v == n));
        if ir.name(segment) != "task.segment" || view {
            continue;
        }
        let ops = ir.children(segment);
        let mut loads: Vec<Value> = ops.iter().flat_map(|&op| ir.operands(op)).collect();
        loads.retain(|&v| ir.def_op(v).is_none_or(|d| !ops.contains(&d)));
        loads.sort_unstable();
        loads.dedup();
        let writes = ir.results(segment).iter().filter(|&&v| !ir.is_unused(v));
        bytes += loads.into_iter().map(|v| stored(ir, v)).sum::<u64>();
        bytes += writes.map(|&v| stored(ir, v)).sum::<u64>();
        let sums = ops.iter().filter(|&&op| ir.name(op) == "fusion.sum");
        let names = sums.filter_map(|&op| ir.value_name(ir.result(op, 0)));
        pinned.extend(names.map(str::to_owned));
    }
    pinned.sort();
    (bytes, pinned)
}
