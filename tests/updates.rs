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
use fuser_testing::Kind::{Row, Square};
use fuser_testing::Step::{One, Permute, Reduce, Return, Spread, Two};
use fuser_testing::{Random, Squares};

const PROGRAMS: u64 = 96;

/// Steps that keep numbers small.
const STEPS: [&[fuser_testing::Step]; 8] = [
    &[Two(Square, &["add", "sub"])],
    &[Two(Square, &["add", "sub"])],
    &[Permute],
    &[One(Square, &["segment_set", "neg"])],
    &[One(Row, &["segment_set", "neg"])],
    &[Reduce("max")],
    &[Spread],
    &[Return],
];

/// A program of squares of side `n`, some results of which overwrite arguments of their type.
fn text(random: &mut Random, n: usize) -> String {
    let squares = Squares {
        steps: &STEPS,
        ..Squares::plain(n)
    };
    let steps = 3 + random.below(8);
    let text = squares.text(random, steps);
    let (head, rest) = text.split_once("-> (").unwrap();
    let (types, rest) = rest.split_once(')').unwrap();
    let square = format!("tensor<{n}x{n}xf32>");
    let mut free = vec![
        (0, square.clone()),
        (1, square),
        (2, format!("tensor<{n}xf32>")),
    ];
    let result = |ty: &str| {
        let fits = |place: &usize| free[*place].1 == ty;
        let fitting: Vec<usize> = (0..free.len()).filter(fits).collect();
        let place = fitting.get(random.below(fitting.len() + 1));
        let alias = place.map(|&place| free.remove(place).0);
        let alias = alias.map(|alias| format!(" {{alias = {alias} : i64}}"));
        format!("{ty}{}", alias.unwrap_or_default())
    };
    let results: Vec<String> = types.split(", ").map(result).collect();
    format!("{head}-> ({}){rest}", results.join(", "))
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
        let ranks = [2, 2, 1];
        let mut numbers = |rank: u32| -> Vec<f64> {
            let number = |_| random.below(9) as f64 - 4.0;
            (0..n.pow(rank)).map(number).collect()
        };
        let data = ranks.map(|rank| (vec![Axis::stored(n); rank as usize], numbers(rank)));
        let tensors = || -> Vec<HostTensor> {
            let tensor = |(axes, v): &(Vec<Axis>, Vec<f64>)| {
                HostTensor::from_f64(runtime.heap(), DType::F32, axes, v)
            };
            data.iter().map(|v| tensor(v).unwrap()).collect()
        };
        let axis = InterpAxis {
            extent: n,
            broadcast: false,
        };
        let given = tensors().into_iter().zip(ranks).map(|(t, rank)| {
            let axes = vec![axis; rank as usize];
            Tensor::from_bytes(fuser_ir::DType::F32, axes, t.bytes()).unwrap()
        });
        let given: Vec<Tensor> = given.collect();
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
                let elements = 0..wanted.stored_len();
                let wanted: Vec<f64> = elements.map(|i| wanted.data().float(i)).collect();
                assert_eq!(found, wanted, "seed {seed}, result {index}\n{text}");
            }
        }
    }
    // Both ways must have been taken, or the test says nothing of one.
    assert!(in_place >= 32, "only {in_place} results in place");
    assert!(copied >= 32, "only {copied} results copied");
    println!(
        "count: {PROGRAMS} random programs whose results overwrite arguments: {in_place} in place, {copied} copied"
    );
}

/// Scatters into arguments: every way to combine, zeros of both signs, indices that meet and that lie outside, tensors behind views; against the
/// interpreter, with checks and on inputs that are given away.
#[test]
fn scatters_put_their_updates_into_the_argument() {
    let session = Session::new(RuntimeConfig::default()).unwrap();
    let runtime = session.runtime();
    let (cache, rows) = (
        "tensor<5x7xf32> {alias = 0 : i64}",
        "tensor<3x7xf32> {alias = 2 : i64}",
    );
    let bodies = [
        (
            cache,
            "%y = fusion.index_put %c, %i, %u dim 0 combine COMBINE",
        ),
        (
            cache,
            "%v = fusion.exp %u\n  %y = fusion.index_put %c, %i, %v dim 0 combine COMBINE",
        ),
        (
            cache,
            "%n = fusion.neg %c\n  %s = fusion.sum %n dims [0]\n  %b = fusion.broadcast %s dims [1] shape [3, 7]\n  \
             %y = fusion.index_put %c, %i, %b dim 0 combine COMBINE",
        ),
        // Not in place: its updates are the argument's own rows.
        (
            rows,
            "%y = fusion.index_put %u, %i, %u dim 0 combine COMBINE",
        ),
    ];
    let (mut in_place, mut copied) = (0, 0);
    for combine in ["set", "add", "mul", "max", "min"] {
        for (ty, body) in bodies {
            let body = body.replace("COMBINE", combine);
            let text = format!(
                "task.program @f(%c: tensor<5x7xf32>, %i: tensor<3xi64>, %u: tensor<3x7xf32>) -> ({ty}) {{\n  \
                 {body}\n  task.return %y\n}}\n"
            );
            let parsed = session.parse(0, "scatter.fir", &text);
            let (ir, module, _) = parsed.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
            let values = |n: usize| (0..n).map(move |i| [-0.0, 1.0, -2.0, 3.0, 0.0][i % 5]);
            let axes =
                |lengths: &[usize]| lengths.iter().map(|&n| Axis::stored(n)).collect::<Vec<_>>();
            let tensors = || -> Vec<HostTensor> {
                let f32s = |lengths: &[usize], v: Vec<f64>| {
                    HostTensor::from_f64(runtime.heap(), DType::F32, &axes(lengths), &v).unwrap()
                };
                let index =
                    HostTensor::from_f64(runtime.heap(), DType::I64, &axes(&[3]), &[2.0, 9.0, 2.0]);
                vec![
                    f32s(&[5, 7], values(35).collect()),
                    index.unwrap(),
                    f32s(&[3, 7], values(21).collect()),
                ]
            };
            let dtypes = [
                fuser_ir::DType::F32,
                fuser_ir::DType::I64,
                fuser_ir::DType::F32,
            ];
            let shapes: [&[usize]; 3] = [&[5, 7], &[3], &[3, 7]];
            let given = tensors()
                .into_iter()
                .zip(dtypes)
                .zip(shapes)
                .map(|((t, dtype), shape)| {
                    let axis = |&extent: &usize| InterpAxis {
                        extent,
                        broadcast: false,
                    };
                    Tensor::from_bytes(dtype, shape.iter().map(axis).collect(), t.bytes()).unwrap()
                });
            let given: Vec<Tensor> = given.collect();
            let program = ir.children(module)[0];
            let expected = interpret(&ir, program, &given, &Options::default()).unwrap();
            let compiled = compile(&ir, module, &CompileOptions::default()).unwrap();
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
                let run = run.unwrap_or_else(|e| panic!("{e}\n{text}"));
                let bits = |v: f64| (v as f32).to_bits();
                let found: Vec<u32> = run.outputs[0].values().map(bits).collect();
                let data = expected.values[0].data();
                let wanted: Vec<u32> = (0..expected.values[0].stored_len())
                    .map(|i| bits(data.float(i)))
                    .collect();
                assert_eq!(found, wanted, "{text}");
            }
        }
    }
    assert!(
        in_place == 15 && copied == 5,
        "{in_place} in place, {copied} copied"
    );
}
