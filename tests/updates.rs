//! Results that overwrite arguments: random programs on squares, compiled, against the interpreter, for which an alias means
//! nothing.
//!
//! Rows, columns, transpositions and boundaries decide whether a result may be written where its argument lies; what must not
//! be is a wrong element. Numbers are small and whole, so that every order gives the same bits. Each program runs on inputs
//! that are borrowed, with red zones and walked backward, and on inputs that are given away.
#![cfg(feature = "codegen")]

use fuser::compile::{CompileOptions, Loader, compile};
use fuser::session::Session;
use fuser_artifact::{Artifact, DType, Step};
use fuser_interp::{Axis as InterpAxis, Options, Tensor, interpret};
use fuser_runtime::{Axis, CpuProgram, Explicit, HostTensor, RunOptions, RuntimeConfig};
use fuser_testing::Random;

const PROGRAMS: u64 = 48;
const INPUTS: usize = 3;

/// A program over `n` by `n` tensors `%x0` to `%x2`, the first results of which overwrite arguments.
fn text(random: &mut Random, n: usize) -> String {
    let ty = format!("tensor<{n}x{n}xf32>");
    let mut values: Vec<String> = (0..INPUTS).map(|i| format!("%x{i}")).collect();
    let mut lines = Vec::new();
    for step in 0..2 + random.below(6) {
        let (a, b) = (
            values[random.below(values.len())].clone(),
            values[random.below(values.len())].clone(),
        );
        let v = format!("%v{step}");
        let dim = random.below(2);
        lines.push(match random.below(8) {
            0 | 1 => format!("{v} = fusion.add {a}, {b}"),
            2 => format!("{v} = fusion.sub {a}, {b}"),
            3 => format!("{v} = fusion.permute {a} dims [1, 0]"),
            4 => format!("{v} = fusion.segment_set {a}"),
            5 => format!("{v} = fusion.neg {a}"),
            _ => format!(
                "%m{step} = fusion.max {a} dims [{dim}]\n  \
                 %w{step} = fusion.broadcast %m{step} dims [{}] shape [{n}, {n}]\n  \
                 {v} = fusion.sub {b}, %w{step}",
                1 - dim
            ),
        });
        values.push(v);
    }
    let updated = 1 + random.below(INPUTS);
    let turn = random.below(INPUTS);
    let mut results = Vec::new();
    let mut returned = Vec::new();
    for i in 0..updated + random.below(2) {
        let late = values.len() - 1 - random.below(4.min(values.len()));
        returned.push(values[late].clone());
        let alias = (turn + i) % INPUTS;
        let attrs = format!("{ty} {{alias = {alias} : i64}}");
        results.push(if i < updated { attrs } else { ty.clone() });
    }
    let inputs: Vec<String> = (0..INPUTS).map(|i| format!("%x{i}: {ty}")).collect();
    format!(
        "task.program @f({}) -> ({}) {{\n  {}\n  task.return {}\n}}\n",
        inputs.join(", "),
        results.join(", "),
        lines.join("\n  "),
        returned.join(", ")
    )
}

/// The number of inputs written by kernels, and that of inputs written by copies at the end.
fn kinds(artifact: &Artifact) -> (usize, usize) {
    let copied = artifact.updates.iter().filter(|&&input| {
        let buffer = artifact.inputs[input as usize].buffer;
        let copies = |step: &Step| matches!(step, Step::Copy { to, .. } if *to == buffer);
        artifact.steps.iter().any(copies)
    });
    let copied = copied.count();
    (artifact.updates.len() - copied, copied)
}

#[test]
fn what_overwrites_an_argument_is_right_wherever_it_is_written() {
    let config = RuntimeConfig {
        threads: Some(2),
        memory_limit: Some(1 << 28),
    };
    let session = Session::new(config).unwrap();
    let runtime = session.runtime();
    let (mut in_place, mut copied) = (0, 0);
    for seed in 0..PROGRAMS {
        let mut random = Random(seed);
        let n = [1, 5, 17, 33][random.below(4)];
        let text = text(&mut random, n);
        let parsed = session.parse(0, "random.fir", &text);
        let (ir, module, _) = parsed.unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let numbers = || -> Vec<f64> { (0..n * n).map(|_| random.below(9) as f64 - 4.0).collect() };
        let data: Vec<Vec<f64>> = std::iter::repeat_with(numbers).take(INPUTS).collect();
        let tensors = || -> Vec<HostTensor> {
            let axes = [Axis::stored(n), Axis::stored(n)];
            let tensor = |v: &Vec<f64>| HostTensor::from_f64(runtime.heap(), DType::F32, &axes, v);
            data.iter().map(|v| tensor(v).unwrap()).collect()
        };
        let given: Vec<Tensor> = tensors()
            .iter()
            .map(|t| {
                let axis = InterpAxis {
                    extent: n,
                    broadcast: false,
                };
                Tensor::from_bytes(fuser_ir::DType::F32, vec![axis; 2], t.bytes()).unwrap()
            })
            .collect();
        let program = ir.children(module)[0];
        let expected = interpret(&ir, program, &given, &Options::default()).unwrap();
        let compiled = compile(&ir, module, &CompileOptions::default());
        let compiled = compiled.unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let (here, there) = kinds(&compiled.artifact);
        (in_place, copied) = (in_place + here, copied + there);
        let program = CpuProgram::load(compiled.artifact, &Loader).unwrap();
        let checked = RunOptions {
            checks: true,
            ..RunOptions::default()
        };
        let borrowed = program.run(runtime, &tensors(), &Explicit::new(), &checked);
        let owned = program.update(runtime, tensors(), &Explicit::new());
        for run in [borrowed, owned] {
            let run = run.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            for (index, (found, wanted)) in run.outputs.iter().zip(&expected.values).enumerate() {
                let found: Vec<f64> = found.values().collect();
                let wanted: Vec<f64> = (0..n * n).map(|i| wanted.data().float(i)).collect();
                assert_eq!(found, wanted, "seed {seed}, result {index}\n{text}");
            }
        }
    }
    // Both ways must have been taken, or the test says nothing of one.
    assert!(in_place >= 16, "only {in_place} results in place");
    assert!(copied >= 8, "only {copied} results copied");
    println!("count: {PROGRAMS} random programs whose results overwrite arguments");
}
