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
