//! `--cpu` chooses instructions, never the order of a sum: random reductions, norms and softmaxes of small and ragged
//! shapes give the same bits on every processor that this machine can be.

use std::collections::BTreeMap;
use std::fmt::Write;

use fuser_random::SplitMix;
use fuser_target::processors;

use super::{folder, run};

/// Programs, and results of each.
const PROGRAMS: usize = 6;
const RESULTS: usize = 16;
/// Lengths around those of vectors.
const LENGTHS: [usize; 18] = [
    1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 19, 31, 33, 45, 67, 79, 130,
];
const TYPES: [&str; 5] = ["f32", "f32", "f64", "bf16", "f16"];

/// A list of numbers as a clause has it.
fn list(numbers: &[usize]) -> String {
    format!("{numbers:?}")
}

/// Writes the ops of result `%y{number}` from `%x{number}`; gives their types.
fn result(text: &mut String, number: usize, draw: &mut SplitMix) -> [String; 2] {
    let rank = 1 + draw.below(3);
    let mut shape: Vec<usize> = (0..rank).map(|_| draw.one(&LENGTHS)).collect();
    while shape.iter().product::<usize>() > 20_000 {
        shape[draw.below(rank)] = draw.one(&LENGTHS[..6]);
    }
    let count = 1 + draw.below(rank);
    let first = draw.below(rank + 1 - count);
    let dims: Vec<usize> = (first..first + count).collect();
    let kept: Vec<usize> = (0..rank).filter(|axis| !dims.contains(axis)).collect();
    let dtype = draw.one(&TYPES);
    let ty = |axes: &mut dyn Iterator<Item = usize>| {
        let extents = axes.map(|axis| format!("{}x", shape[axis]));
        format!("tensor<{}{dtype}>", extents.collect::<String>())
    };
    let [whole, reduced] = [ty(&mut (0..rank)), ty(&mut kept.iter().copied())];
    let (dims, kept, space) = (list(&dims), list(&kept), list(&shape));
    let mut op = |name: &str, rest: String| {
        writeln!(text, "  %{name}{number} = fusion.{rest}").unwrap();
    };
    let x = |name: &str| format!("%{name}{number}");
    match draw.below(8) {
        kind @ 0..=2 => {
            let name = ["sum", "mean", "prod"][kind];
            op("y", format!("{name} {} dims {dims}", x("x")));
            [whole, reduced]
        }
        3 => {
            writeln!(
                text,
                "  %y{number}, %m{number} = fusion.var_mean %x{number} dims {dims} correction 0"
            )
            .unwrap();
            [whole, reduced]
        }
        4 => {
            op("e", format!("exp {}", x("x")));
            op("y", format!("sum {} dims {dims}", x("e")));
            [whole, reduced]
        }
        5 => {
            op("y", format!("cumsum {} dim {first}", x("x")));
            [whole.clone(), whole]
        }
        6 => {
            op("m", format!("max {} dims {dims}", x("x")));
            op(
                "b",
                format!("broadcast {} dims {kept} shape {space}", x("m")),
            );
            op("d", format!("sub {}, {}", x("x"), x("b")));
            op("e", format!("exp {}", x("d")));
            op("s", format!("sum {} dims {dims}", x("e")));
            op(
                "t",
                format!("broadcast {} dims {kept} shape {space}", x("s")),
            );
            op("y", format!("div {}, {}", x("e"), x("t")));
            [whole.clone(), whole]
        }
        _ => {
            op("q", format!("mul {}, {}", x("x"), x("x")));
            op("m", format!("mean {} dims {dims}", x("q")));
            op("r", format!("rsqrt {}", x("m")));
            op(
                "b",
                format!("broadcast {} dims {kept} shape {space}", x("r")),
            );
            op("y", format!("mul {}, {}", x("x"), x("b")));
            [whole.clone(), whole]
        }
    }
}

/// A program of several results, each of an operand of its own.
fn program(draw: &mut SplitMix) -> String {
    let mut body = String::new();
    let types: Vec<[String; 2]> = (0..RESULTS).map(|i| result(&mut body, i, draw)).collect();
    let numbered = || types.iter().enumerate();
    let inputs: Vec<String> = numbered()
        .map(|(i, [x, _])| format!("%x{i}: {x}"))
        .collect();
    let outputs: Vec<String> = types.iter().map(|[_, y]| y.clone()).collect();
    let names: Vec<String> = numbered().map(|(i, _)| format!("%y{i}")).collect();
    let [inputs, outputs, names] = [inputs, outputs, names].map(|list| list.join(", "));
    format!("task.program @f({inputs}) -> ({outputs}) {{\n{body}  task.return {names}\n}}\n")
}

#[test]
fn all_processors_sum_in_one_order() {
    let folder = folder();
    let mut draw = SplitMix(45);
    let mut skipped = BTreeMap::new();
    let mut compared = 0;
    for number in 0..PROGRAMS {
        let text = program(&mut draw);
        std::fs::write(folder.path().join("p.fir"), &text).unwrap();
        let mut first: Option<(&str, Vec<Vec<u8>>)> = None;
        for name in processors::of(fuser_target::Kind::Cpu) {
            let flags =
                format!("p.fir --seed {number} --repeat 1 --no-cache --output-dir {name} --cpu");
            let output = run(&folder, &format!("{flags} {name}"));
            let message = String::from_utf8(output.stderr).unwrap();
            if message.contains("FIR1004") {
                skipped.insert(name, message);
                continue;
            }
            assert!(output.status.success(), "{name}: {message}\n{text}");
            let read = |i: usize| std::fs::read(folder.path().join(name).join(format!("y{i}.npy")));
            let found: Vec<Vec<u8>> = (0..RESULTS).map(|i| read(i).unwrap()).collect();
            match &first {
                None => first = Some((name, found)),
                Some((other, expected)) => {
                    let differ = (0..RESULTS).filter(|&i| found[i] != expected[i]);
                    let differ: Vec<usize> = differ.collect();
                    assert!(
                        differ.is_empty(),
                        "{name} and {other} differ in {differ:?}:\n{text}"
                    );
                    compared += RESULTS;
                }
            }
        }
    }
    for (name, why) in skipped {
        eprintln!("skipped: no code for {name} runs here: {}", why.trim());
    }
    println!("count: {compared} results of one processor beside another");
}
