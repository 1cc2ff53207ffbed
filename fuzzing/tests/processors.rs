//! Every elementwise op of the table on every pair of special values, compiled for every processor that this machine
//! can be, against the interpreter.
//!
//! The programs have named extents, so that one kernel holds vector code and scalar code: a run over all elements goes
//! through vectors, runs over [`SCALAR`] elements through the rest loop alone. Results of an exact definition are
//! compared bit for bit, NaN payloads apart; approximated functions are within their bounds, and the same bits
//! everywhere.

use std::collections::BTreeMap;

use crate::values::lines::{
    Line, beginnings, chains, choices, conversions, dtypes, lines, lines_of, program,
};
use crate::values::{cycled, elements};
use fuser::compile::{CompileOptions, Loader, compile};
use fuser_dialects::fusion;
use fuser_fuzzing::generate::{Case, Input, Tier};
use fuser_fuzzing::oracle::{compiled, execute};
use fuser_interp::Tensor;
use fuser_interp::compare::{compare, compare_exact};
use fuser_ir::def::{OpDef, Traits};
use fuser_ir::{DType, Ir};
use fuser_runtime::{
    Axis, CpuProgram, HostTensor, LoadError, RunOptions, Runtime, RuntimeConfig, RuntimeError,
};
use fuser_target::{GENERIC, Kind, Target, processors};

/// Fewer elements than any vector holds that schedules ask for on a CPU and more than half of them.
const SCALAR: usize = 15;

fn case(text: &str, inputs: Vec<Input>) -> Case {
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, text);
    let module = parsed
        .module
        .unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
    let program = ir.block_ops(ir.body(module, 0).expect("a body")).next();
    Case {
        program: program.expect("the module holds the program"),
        ir,
        module,
        inputs,
        extents: BTreeMap::new(),
        tier: Tier::Exact,
    }
}

fn input(dtype: DType, bytes: Vec<u8>) -> Input {
    Input {
        dtype,
        axes: vec![(bytes.len() as u64 / dtype.bytes(), false)],
        bytes,
    }
}

/// The processors that code is made for.
fn all_processors() -> Vec<&'static str> {
    processors::of(Kind::Cpu)
}

/// The program for each of the processors that this machine can be.
fn compiled(case: &Case, names: &[&'static str]) -> Vec<(&'static str, CpuProgram)> {
    let mut programs = Vec::new();
    let plans = names.iter().flat_map(|&name| {
        // Some lanes of a vector are loaded and stored where the machine that makes the code does so, whatever
        // processor it is for.
        let plans: &[u64] = match name {
            "native" | "x86-64-v4" => &[1],
            "x86-64-v3" => &[0, 1],
            _ => &[0],
        };
        plans.iter().map(move |&masks| (name, masks))
    });
    for (name, masks) in plans {
        let users = Target { masks, ..GENERIC };
        let options = CompileOptions {
            target: users.for_processor(name).expect("a known name"),
            ..CompileOptions::default()
        };
        let made = compile(&case.ir, case.module, &options)
            .unwrap_or_else(|found| panic!("{name}: {:?}", found.items));
        match CpuProgram::load(made.artifact, &Loader) {
            Ok(program) => programs.push((name, program)),
            Err(RuntimeError::Load(LoadError::OtherCpu { missing, .. })) => {
                println!(
                    "skipped: no code for {name} runs here, missing {}",
                    missing.join(", ")
                );
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    programs
}

/// The bytes of each result of a run on the elements `from..to` of all inputs.
fn run(
    (runtime, program): (&Runtime, &CpuProgram),
    inputs: &[Input],
    from: usize,
    to: usize,
) -> Vec<Vec<u8>> {
    let tensor = |input: &Input| {
        let size = input.dtype.bytes() as usize;
        let axes: Vec<Axis> = match input.axes.as_slice() {
            [_] => vec![Axis::stored(to - from)],
            axes => axes.iter().map(|a| Axis::stored(a.0 as usize)).collect(),
        };
        let count: usize = axes.iter().map(|axis| axis.extent).product();
        let bytes = &input.bytes[from * size..(from + count) * size];
        HostTensor::from_bytes(runtime.heap(), compiled::stored(input.dtype), &axes, bytes).unwrap()
    };
    let tensors: Vec<HostTensor> = inputs.iter().map(tensor).collect();
    let options = RunOptions {
        warmup: 0,
        repeats: 1,
        checks: false,
    };
    let done = program.run(runtime, &tensors, &Default::default(), &options);
    let outputs = done.unwrap().outputs;
    outputs.iter().map(|t| t.elements().to_vec()).collect()
}

/// The results of all elements, in vectors, and in pieces that no vector fits.
fn forms(machine: (&Runtime, &CpuProgram), inputs: &[Input]) -> [(&'static str, Vec<Vec<u8>>); 2] {
    let count = inputs[0].axes[0].0 as usize;
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for from in (0..count).step_by(SCALAR) {
        let piece = run(machine, inputs, from, count.min(from + SCALAR));
        pieces.resize(piece.len(), Vec::new());
        pieces
            .iter_mut()
            .zip(piece)
            .for_each(|(all, one)| all.extend(one));
    }
    [
        ("vectors", run(machine, inputs, 0, count)),
        ("scalars", pieces),
    ]
}

/// One NaN for all, so that bytes can be compared.
fn one_nan(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    let values = crate::values::bits(dtype, bytes).into_iter();
    let one = values.map(|bits| {
        if crate::values::is_nan(dtype, bits) {
            u64::MAX
        } else {
            bits
        }
    });
    one.flat_map(u64::to_le_bytes).collect()
}

/// Compiles, runs and compares lines on all processors; gives how many results were compared.
fn check(dtype: DType, lines: &[Line], before: &str, inputs: Vec<Input>) -> usize {
    check_on(&all_processors(), dtype, lines, before, inputs)
}

fn check_on(
    names: &[&'static str],
    dtype: DType,
    lines: &[Line],
    before: &str,
    inputs: Vec<Input>,
) -> usize {
    let text = program(dtype, lines, before);
    let mut case = case(&text, inputs);
    let exact = execute::expected(&case).expect("elementwise ops are defined everywhere");
    case.tier = Tier::Bounded;
    let bounded = execute::expected(&case).expect("elementwise ops are defined everywhere");
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 28),
    });
    let runtime = runtime.expect("one thread");
    let mut first: Vec<Option<Vec<u8>>> = vec![None; lines.len()];
    let mut faults = Vec::new();
    let mut compared = 0;
    for (name, program) in compiled(&case, names) {
        for (form, results) in forms((&runtime, &program), &case.inputs) {
            for (i, (line, bytes)) in lines.iter().zip(results).enumerate() {
                compared += 1;
                let axes = exact.results[i].axes().to_vec();
                let got = Tensor::from_bytes(line.dtype, axes, &bytes).unwrap();
                let report = match line.exact {
                    true => compare_exact(&got, &exact.results[i]),
                    false => compare(&got, &bounded.results[i]),
                };
                let place = format!("{name}, {form}: {} on {}", line.text, dtype.name());
                if report.failed() {
                    let at = report.worst.as_ref().map_or(0, |w| w.index[0]);
                    let operands: Vec<String> = case
                        .inputs
                        .iter()
                        .map(|x| crate::values::shown(x, at))
                        .collect();
                    faults.push(format!(
                        "{place}: {} wrong; ({}): {:?}",
                        report.failures,
                        operands.join(", "),
                        report.worst
                    ));
                }
                let bits = one_nan(line.dtype, &bytes);
                if *first[i].get_or_insert_with(|| bits.clone()) != bits {
                    faults.push(format!("{place}: other bits than on another processor"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
    compared
}

/// `%a`, `%b`, `%c` and `%p`: all pairs of the first two.
fn pairs(dtype: DType) -> Vec<Input> {
    let all = elements(dtype);
    let pairs: Vec<(u64, u64)> = all
        .iter()
        .flat_map(|&a| all.iter().map(move |&b| (a, b)))
        .collect();
    let (a, b): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
    operands(dtype, [a.clone(), b, a])
}

/// All triples of every third value.
fn triples(dtype: DType) -> Vec<Input> {
    let few: Vec<u64> = elements(dtype).into_iter().step_by(3).collect();
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for &a in &few {
        for &b in &few {
            for &c in &few {
                all.iter_mut()
                    .zip([a, b, c])
                    .for_each(|(list, x)| list.push(x));
            }
        }
    }
    operands(dtype, all)
}

fn operands(dtype: DType, lists: [Vec<u64>; 3]) -> Vec<Input> {
    // An odd tail after the last whole vector, and several vectors even for few values.
    let count = lists[0].len().max(64).next_multiple_of(16) + 7;
    let truth: Vec<u64> = (0..count as u64).map(|i| u64::from(i % 3 == 1)).collect();
    let mut inputs: Vec<Input> = lists
        .iter()
        .map(|list| input(dtype, cycled(dtype, list, count)))
        .collect();
    inputs.push(input(DType::I1, cycled(DType::I1, &truth, count)));
    inputs
}

/// True for a type whose approximations are those of f32 between conversions.
fn is_short_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

#[test]
fn every_op_of_one_or_two_operands() {
    let mut compared = 0;
    for dtype in dtypes().filter(|&dtype| !is_short_float(dtype)) {
        compared += check(dtype, &lines(dtype, 1..=2), "", pairs(dtype));
    }
    println!("count: {compared} results of ops compared");
}

#[test]
fn every_op_of_one_or_two_operands_of_16_bits() {
    let mut compared = 0;
    for dtype in dtypes().filter(|&dtype| is_short_float(dtype)) {
        let lines = lines(dtype, 1..=2).into_iter();
        let (exact, others): (Vec<Line>, Vec<Line>) = lines.partition(|l| l.exact);
        compared += check(dtype, &exact, "", pairs(dtype));
        // The two ends are enough, and half of the time.
        compared += check_on(&["x86-64", "native"], dtype, &others, "", pairs(dtype));
    }
    println!("count: {compared} results of ops compared");
}

#[test]
fn every_op_of_three_operands() {
    for dtype in dtypes() {
        check(dtype, &lines(dtype, 3..=3), "", triples(dtype));
    }
}

#[test]
fn every_op_has_a_line() {
    let arity = |def: &OpDef| def.operands.len();
    let ops = fusion::real_ops();
    for def in ops.filter(|def| def.traits.contains(Traits::ELEMENTWISE)) {
        let count = DType::REAL
            .into_iter()
            .flat_map(|dtype| lines_of(def, dtype))
            .count();
        assert!(count > 0 && (1..=3).contains(&arity(def)), "{}", def.name);
    }
}

#[test]
fn chains_with_what_is_known_not_to_be_nan() {
    for dtype in DType::REAL
        .into_iter()
        .filter(|dtype| dtype.is_computed_float())
    {
        check(dtype, &chains(dtype), &beginnings(dtype), pairs(dtype));
    }
}

#[test]
fn choices_between_a_zero_and_a_conversion() {
    for dtype in DType::REAL
        .into_iter()
        .filter(|dtype| dtype.is_computed_float())
    {
        check(dtype, &choices(dtype), &conversions(dtype), pairs(dtype));
    }
}

/// Asserts that results equal the expected ones bit for bit; `told` names a value.
fn assert_exact(
    dtype: DType,
    results: &[Vec<u8>],
    expected: &[Tensor],
    told: impl Fn(usize) -> String,
) {
    assert_eq!(results.len(), expected.len());
    for (i, (bytes, wanted)) in results.iter().zip(expected).enumerate() {
        let got = Tensor::from_bytes(dtype, wanted.axes().to_vec(), bytes);
        let report = compare_exact(&got.unwrap(), wanted);
        assert!(report.ok(), "{}: {:?}", told(i), report.worst);
    }
}

/// Reductions of rows of every length around a vector's, with ops before them whose results the compiler knows
/// something of.
#[test]
fn extremes_of_rows() {
    const LENGTHS: [u64; 9] = [1, 2, 3, 7, 15, 16, 17, 33, 67];
    const ROWS: u64 = 41;
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 28),
    });
    let runtime = runtime.expect("one thread");
    for dtype in DType::REAL
        .into_iter()
        .filter(|dtype| dtype.is_computed_float())
    {
        let ty = dtype.name();
        let mut body = format!("  %one = fusion.constant value 1.0 : {ty}\n");
        let (mut names, mut types) = (Vec::new(), Vec::new());
        for (k, before) in ["", "sqrt %x", "fmax %x, %one", "fmin %x, %one", "neg %x"]
            .iter()
            .enumerate()
        {
            let operand = match *before {
                "" => "%x".to_string(),
                op => {
                    body += &format!("  %x{k} = fusion.{op}\n");
                    format!("%x{k}")
                }
            };
            for reduction in ["max", "min", "max_num", "min_num"] {
                body += &format!("  %{reduction}{k} = fusion.{reduction} {operand} dims [1]\n");
                names.push(format!("%{reduction}{k}"));
                types.push(format!("tensor<[M]x{ty}>"));
            }
        }
        let text = format!(
            "task.program @f(%x: tensor<[M]x[K]x{ty}>) -> ({}) {{\n{body}  task.return {}\n}}\n",
            types.join(", "),
            names.join(", ")
        );
        let all = elements(dtype);
        let mut case = case(&text, Vec::new());
        let programs = compiled(&case, &all_processors());
        for length in LENGTHS {
            // Each row begins with another value; the stride is prime to their number.
            let place = |i: u64| (i / length + i % length * 13) as usize % all.len();
            let list: Vec<u64> = (0..ROWS * length).map(|i| all[place(i)]).collect();
            let mut x = input(dtype, cycled(dtype, &list, list.len()));
            x.axes = vec![(ROWS, false), (length, false)];
            case.inputs = vec![x];
            let expected = execute::expected(&case).expect("extremes are defined everywhere");
            for (name, program) in &programs {
                let results = run((&runtime, program), &case.inputs, 0, 1);
                assert_exact(dtype, &results, &expected.results, |i| {
                    format!("{name}: {} of rows of {length} {ty}", names[i])
                });
            }
        }
    }
}

/// Whole numbers from -3 to 3 in turns that shift, from the one at `first` on, as an input of these axes.
fn small(dtype: DType, first: u64, axes: &[u64]) -> Input {
    let value = |n: i64| match dtype {
        DType::F32 => u64::from((n as f32).to_bits()),
        DType::BF16 => u64::from(half::bf16::from_f64(n as f64).to_bits()),
        _ => u64::from(n as i8 as u8),
    };
    let count: u64 = axes.iter().product();
    let place = |i: u64| (first + i + i / 5) % 7;
    let list: Vec<u64> = (0..count).map(|i| value(place(i) as i64 - 3)).collect();
    let mut x = input(dtype, cycled(dtype, &list, list.len()));
    x.axes = axes.iter().map(|&n| (n, false)).collect();
    x
}

/// Rows shorter than a vector, so that lanes run along the rows: values that end with a row, continue along it, or
/// repeat in each. Whole numbers, so that sums are exact in any order.
#[test]
fn rows_shorter_than_a_vector() {
    const LENGTHS: [u64; 8] = [1, 2, 3, 4, 7, 8, 15, 16];
    const ROWS: [u64; 7] = [0, 1, 15, 16, 17, 64, 131];
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 28),
    });
    let runtime = runtime.expect("one thread");
    for dtype in [DType::F32, DType::BF16, DType::I8] {
        let ty = dtype.name();
        for length in LENGTHS {
            let text = format!(
                "task.program @f(%x: tensor<[M]x{length}x{ty}>, %w: tensor<1x{length}x{ty}>, %z: tensor<{length}x[M]x{ty}>) -> \
                 (tensor<[M]x{length}x{ty}>, tensor<[M]x{ty}>, tensor<[M]x{length}x{ty}>, tensor<[M]x{length}x{ty}>) {{\n  \
                 %m = fusion.max %x dims [1] keepdim\n  %e = fusion.expand %m shape [[M], {length}]\n  \
                 %d = fusion.sub %x, %e\n  %s = fusion.sum %d dims [1]\n  \
                 %v = fusion.reshape %w shape [{length}]\n  \
                 %b = fusion.broadcast %v dims [1] shape [[M], {length}]\n  %y = fusion.mul %d, %b\n  \
                 %c = fusion.cumsum %d dim 1\n  %p = fusion.permute %z dims [1, 0]\n  %t = fusion.add %d, %p\n  \
                 task.return %y, %s, %c, %t\n}}\n"
            );
            let mut case = case(&text, Vec::new());
            let programs = compiled(&case, &all_processors());
            for rows in ROWS {
                case.inputs = vec![
                    small(dtype, 0, &[rows, length]),
                    small(dtype, 3, &[1, length]),
                    small(dtype, 5, &[length, rows]),
                ];
                let expected = execute::expected(&case).expect("these are defined everywhere");
                for (name, program) in &programs {
                    let results = run((&runtime, program), &case.inputs, 0, 1);
                    assert_exact(dtype, &results, &expected.results, |i| {
                        format!("{name}: result {i} of {rows} rows of {length} {ty}")
                    });
                }
            }
        }
    }
}

/// Columns of a few elements that end in their sums and are stored next to each other in short rows: lanes run along
/// the reduced axis.
#[test]
fn columns_of_rows_shorter_than_a_vector() {
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 28),
    });
    let runtime = runtime.expect("one thread");
    for dtype in [DType::F32, DType::BF16, DType::I8] {
        let ty = dtype.name();
        for (rows, length) in [(15, 2), (16, 2), (17, 3), (64, 2), (65, 15), (131, 7)] {
            let shape = format!("[N]x{rows}x{length}x{ty}");
            let text = format!(
                "task.program @f(%x: tensor<{shape}>, %w: tensor<{rows}x{length}x{ty}>) -> (tensor<{shape}>, tensor<[N]x{length}x{ty}>) {{\n  \
                 %m = fusion.max %x dims [1] keepdim\n  %e = fusion.expand %m shape [[N], {rows}, {length}]\n  \
                 %d = fusion.sub %x, %e\n  %s = fusion.sum %d dims [1]\n  \
                 %b = fusion.broadcast %w dims [1, 2] shape [[N], {rows}, {length}]\n  %y = fusion.mul %d, %b\n  \
                 task.return %y, %s\n}}\n"
            );
            let mut case = case(&text, Vec::new());
            let programs = compiled(&case, &all_processors());
            for count in [0, 1, 5] {
                case.inputs = vec![
                    small(dtype, 0, &[count, rows, length]),
                    small(dtype, 3, &[rows, length]),
                ];
                let expected = execute::expected(&case).expect("these are defined everywhere");
                for (name, program) in &programs {
                    let results = run((&runtime, program), &case.inputs, 0, 1);
                    assert_exact(dtype, &results, &expected.results, |i| {
                        format!("{name}: result {i} of {count} times {rows} rows of {length} {ty}")
                    });
                }
            }
        }
    }
}

/// Products that are cut to fewer bits where they are stored at a distance, a vector's single last lane too: the bytes
/// between are others'.
#[test]
fn casts_that_are_stored_at_a_distance() {
    const LENGTHS: [u64; 5] = [1, 2, 3, 17, 31];
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(1 << 28),
    });
    let runtime = runtime.expect("one thread");
    for from in [DType::I64, DType::I32, DType::I16] {
        for to in [DType::I32, DType::I16, DType::I8] {
            for step in [2, 3] {
                let ty = from.name();
                let text = format!(
                    "task.program @f(%x: tensor<5x{step}x[N]x{ty}>) -> tensor<5x[N]x{step}x{to}> {{\n  \
                     %s = fusion.mul %x, %x\n  %c = fusion.cast %s to {to}\n  \
                     %y = fusion.permute %c dims [0, 2, 1]\n  task.return %y\n}}\n",
                    to = to.name()
                );
                let mut case = case(&text, Vec::new());
                let programs = compiled(&case, &all_processors());
                for length in LENGTHS {
                    let mask = u64::MAX >> (64 - from.bits());
                    let count = 5 * step * length;
                    let list: Vec<u64> = (0..count)
                        .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask)
                        .collect();
                    let mut x = input(from, cycled(from, &list, list.len()));
                    x.axes = [5, step, length].map(|n| (n, false)).to_vec();
                    case.inputs = vec![x];
                    let expected = execute::expected(&case).expect("these are defined everywhere");
                    for (name, program) in &programs {
                        let results = run((&runtime, program), &case.inputs, 0, 1);
                        assert_exact(to, &results, &expected.results, |_| {
                            format!("{name}: {ty} to {} at {step}, {length}", to.name())
                        });
                    }
                }
            }
        }
    }
}
