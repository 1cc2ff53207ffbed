//! The check of a program: compiled as a user gets it, run, and compared with the evaluator's results; a refusal is a
//! failure as well.
//!
//! A rewritten program must give the same bits and move the same bytes.

use fuser::compile::{CompileOptions, Loader, compile};
use fuser_artifact::DType as Stored;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{DType, Ir};
use fuser_runtime::checks::first_other_value;
use fuser_runtime::{CpuProgram, HostTensor, RunResult};
use fuser_target::{GENERIC, Target};

use super::evaluator::Evaluators;
use super::program::Program;
use super::render::{self, Style, Types};
use super::rewrite::{REWRITES, Rewrite, Rewritten};
use super::{data, draw};
use crate::generate::{Case, Input, Tier};
use crate::oracle::{Finding, compiled, guard, summary};
use crate::{Source, Stats};

/// Numbers of threads whose results must be the same; the last run is a checked one.
const THREADS: [usize; 2] = [1, 2];
/// Lengths of named extents when a compiled program is run again.
const AGAIN: [u64; 6] = [0, 1, 2, 3, 7, 9];
/// One program in so many is also written differently, which is one more to compile.
const REWRITTEN: u64 = 5;

/// A set of options under which programs are compiled.
#[derive(Clone, Debug)]
pub struct Level {
    /// For messages.
    pub name: String,
    /// The options of the compiler.
    pub options: CompileOptions,
}

impl Level {
    /// A processor, as `--cpu` takes it.
    ///
    /// # Errors
    /// The name is of no known processor.
    pub fn new(cpu: &str) -> Result<Self, String> {
        let options = CompileOptions {
            target: GENERIC
                .for_processor(cpu)
                .ok_or_else(|| format!("`{cpu}` is no processor"))?,
            ..CompileOptions::default()
        };
        Ok(Self {
            name: cpu.into(),
            options,
        })
    }
    /// This machine.
    pub fn host() -> Self {
        Self {
            name: "native".into(),
            options: CompileOptions {
                target: Target {
                    masks: 1,
                    ..GENERIC
                },
                ..CompileOptions::default()
            },
        }
    }
}

/// The levels and evaluators that programs go through.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// The levels at which they are compiled.
    pub levels: &'a [Level],
    /// The evaluators of the expected results; none without NumPy.
    pub evaluators: Option<&'a Evaluators>,
}

/// The results of an execution, and the bytes that it moved.
struct Ran {
    outputs: Vec<HostTensor>,
    bytes: i64,
}

/// A drawn program, as text and as a case.
pub struct Model {
    /// The program.
    pub program: Program,
    /// As it was written first.
    pub text: String,
    /// With inputs.
    pub case: Case,
}

/// Draws a program with inputs from `seed`; for a refused program, the error has its text and the finding.
pub fn drawn(source: &mut Source, seed: u64) -> Result<Model, (String, Finding)> {
    let program = guard::run("models: draw", || draw::draw(source));
    let program = program.map_err(|finding| (String::new(), finding))?;
    let style = style(source);
    let inputs = data::inputs(&program, seed);
    written(program, &style, inputs)
}

/// Draws a program and takes it through everything.
pub fn model(seed: u64, bench: Bench, stats: &mut Stats) -> (Option<Case>, String, Vec<Finding>) {
    let source = &mut Source::seed(seed);
    let model = match drawn(source, seed) {
        Ok(model) => model,
        Err((text, finding)) => return (None, text, vec![finding]),
    };
    counted(&model, stats);
    let mut cases = vec![model.case.clone()];
    if !model.program.extents.is_empty() {
        cases.push(bound_again(&model, source, seed));
    }
    let mut examined = examine(&model.text, &cases, bench, stats);
    let rewriting = source.chance(1, REWRITTEN);
    if let (Some(ran), Some(level), true) = (&examined.ran, bench.levels.first(), rewriting) {
        let rewrite = &REWRITES[source.index(REWRITES.len())];
        stats.count("rewritten", rewrite.name);
        let found = rewritten(&model, rewrite, ran, level, source);
        examined.findings.extend(found);
    }
    let case = cases.swap_remove(examined.at);
    (Some(case), model.text, examined.findings)
}

/// The program with other lengths of its extents.
fn bound_again(model: &Model, source: &mut Source, seed: u64) -> Case {
    let extents = model.program.extents.iter();
    let extents = extents.map(|(name, _)| (*name, source.one(&AGAIN)));
    let program = model.program.bound(extents.collect());
    let extents = program.extents.iter();
    Case {
        inputs: data::inputs(&program, seed),
        extents: extents.map(|(n, l)| ((*n).to_owned(), *l)).collect(),
        ..model.case.clone()
    }
}

fn style(source: &mut Source) -> Style {
    Style {
        types: source.one(&[Types::Written, Types::Mixed, Types::Inferred]),
        generic: source.one(&[0, 0, 4, 16]),
        seed: source.word(),
    }
}

/// The program as text, parsed again.
fn written(
    program: Program,
    style: &Style,
    inputs: Vec<Input>,
) -> Result<Model, (String, Finding)> {
    let text = render::text(&program, style);
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, &text);
    let refused = |what: String| Finding::new("models: verify", what);
    let (false, Some(module)) = (parsed.diagnostics.has_errors(), parsed.module) else {
        return Err((text, refused(summary(&parsed.diagnostics))));
    };
    let diagnostics = fuser_ir::verify(&mut ir, module);
    if diagnostics.has_errors() {
        return Err((text, refused(summary(&diagnostics))));
    }
    let found = fuser::compile::find_program(&ir, module, None);
    let op = match found {
        Ok(op) => op,
        Err(diagnostics) => return Err((text, refused(summary(&diagnostics)))),
    };
    let extents = program.extents.iter();
    let case = Case {
        ir,
        module,
        program: op,
        inputs,
        extents: extents.map(|(n, l)| ((*n).to_owned(), *l)).collect(),
        tier: Tier::Bounded,
    };
    Ok(Model {
        program,
        text,
        case,
    })
}

fn counted(model: &Model, stats: &mut Stats) {
    stats.program(&model.case.ir, model.case.program);
    for sentence in &model.program.sentences {
        stats.count("sentence", *sentence);
    }
    for (_, length) in &model.program.extents {
        stats.count("named extent", length.to_string());
    }
    for info in &model.program.values {
        if info.ty.layout.is_some() {
            stats.count("layout", "written");
        }
    }
    for (_, alias) in &model.program.results {
        let alias = alias.map_or("new", |_| "overwrites");
        stats.count("result", alias);
    }
}

/// A case that is there already, as its text is printed.
pub fn again(case: &Case, bench: Bench, stats: &mut Stats) -> Vec<Finding> {
    let text = print(&case.ir, case.module, &PrintOptions::default());
    let cases = std::slice::from_ref(case);
    examine(&text, cases, bench, stats).findings
}

/// The outcome of examining a program.
#[derive(Default)]
struct Examined {
    findings: Vec<Finding>,
    /// The case of the first finding.
    at: usize,
    /// The first case on the first level.
    ran: Option<Ran>,
}

/// Compiles on every level, runs the cases, which differ in the lengths of extents alone, and compares.
fn examine(text: &str, cases: &[Case], bench: Bench, stats: &mut Stats) -> Examined {
    let mut examined = Examined::default();
    let mut programs = Vec::new();
    for level in bench.levels {
        match compiled_for(&cases[0], level) {
            Ok(program) => {
                stats.count("compiled", format!("models: {}", level.name));
                programs.push((level, program));
            }
            Err(finding) => examined.findings.push(finding),
        }
    }
    for (at, case) in cases.iter().enumerate() {
        let mut ran = Vec::new();
        let mut findings = Vec::new();
        for (level, program) in &programs {
            match run(program, case, level) {
                Ok(result) => ran.push((level.name.clone(), result)),
                Err(finding) => findings.push(finding),
            }
        }
        if let (Some(evaluators), false) = (bench.evaluators, ran.is_empty()) {
            findings.extend(evaluated(text, case, evaluators, &ran, stats));
        }
        if examined.findings.is_empty() {
            examined.at = at;
        }
        examined.findings.extend(findings);
        let first = ran.into_iter().next().map(|(_, ran)| ran);
        examined.ran = examined.ran.or(first);
    }
    examined
}

fn evaluated(
    text: &str,
    case: &Case,
    evaluators: &Evaluators,
    ran: &[(String, Ran)],
    stats: &mut Stats,
) -> Vec<Finding> {
    let executions: Vec<(String, &[HostTensor])> = ran
        .iter()
        .map(|(name, ran)| (name.clone(), ran.outputs.as_slice()))
        .collect();
    let answer = match evaluators.ask(text, case, &executions) {
        Ok(answer) => answer,
        Err(what) => return vec![Finding::new("models: evaluator", what)],
    };
    let kinds = ["compared or open", "known to the bit", "open", "wide"];
    for (kind, n) in kinds.into_iter().zip(answer.elements) {
        stats.add("elements", kind, n);
    }
    let error = answer
        .error
        .map(|what| Finding::new("models: evaluator", what));
    let wrong = answer.wrong.into_iter().map(|(level, index, what)| {
        let producer = producer(case, index);
        let what = format!("result {index}, made by {producer}: {what}");
        Finding::new(format!("models: {level}"), what)
    });
    error.into_iter().chain(wrong).collect()
}

/// The op that makes a result.
fn producer(case: &Case, index: usize) -> String {
    let ir = &case.ir;
    let returned = ir.body(case.program, 0).and_then(|body| ir.last_op(body));
    let value = returned.and_then(|op| ir.operands(op).nth(index));
    let op = value.and_then(|v| ir.def_op(v));
    op.map_or("the caller".into(), |op| ir.name(op).to_owned())
}

fn stage(level: &Level) -> String {
    format!("models: {}", level.name)
}

fn compiled_for(case: &Case, level: &Level) -> Result<CpuProgram, Finding> {
    let stage = stage(level);
    let compiled = guard::run(&stage, || compile(&case.ir, case.module, &level.options))?;
    let compiled = compiled
        .map_err(|diagnostics| Finding::new(format!("{stage} refused"), summary(&diagnostics)))?;
    CpuProgram::load(compiled.artifact, &Loader)
        .map_err(|error| Finding::new(&stage, format!("cannot be loaded: {error}")))
}

fn run(program: &CpuProgram, case: &Case, level: &Level) -> Result<Ran, Finding> {
    let stage = stage(level);
    let mut runs = Vec::new();
    for threads in THREADS {
        let checks = threads == THREADS[THREADS.len() - 1];
        let done = guard::run(&stage, || compiled::execute(program, case, threads, checks))?;
        let done = done.map_err(|error| Finding::new(&stage, format!("cannot be run: {error}")))?;
        runs.push(done);
    }
    let first = runs.swap_remove(0);
    let same = runs
        .iter()
        .all(|other| other_bits(&first.outputs, &other.outputs).is_none());
    if !same {
        let what = "the results depend on the number of threads";
        return Err(Finding::new(stage, what));
    }
    Ok(Ran {
        bytes: bytes(&first),
        outputs: first.outputs,
    })
}

fn bytes(run: &RunResult) -> i64 {
    let segments = run.report.segments.iter();
    segments.map(|s| s.read_bytes + s.write_bytes).sum()
}

/// The first result that has other bits, payloads of NaN apart.
fn other_bits(a: &[HostTensor], b: &[HostTensor]) -> Option<usize> {
    let differ = |(a, b): (&HostTensor, &HostTensor)| {
        a.axes() != b.axes() || first_other_value(a.bytes(), b.bytes(), a.dtype()).is_some()
    };
    a.iter().zip(b).position(differ)
}

/// The finding about the program written differently, if there is one.
fn rewritten(
    model: &Model,
    rewrite: &Rewrite,
    ran: &Ran,
    level: &Level,
    source: &mut Source,
) -> Option<Finding> {
    let stage = format!("models: {}", rewrite.name);
    let Rewritten {
        program,
        parameters,
        results,
    } = rewrite.apply(&model.program, source);
    let inputs = parameters.iter().map(|i| model.case.inputs[*i].clone());
    let inputs = inputs.collect();
    let other = match written(program, &style(source), inputs) {
        Ok(other) => other,
        Err((_, finding)) => return Some(finding),
    };
    let text = |what: String| {
        let what = format!("{what}\n{}", other.text);
        Some(Finding::new(&stage, what.replace('\n', "\n// ")))
    };
    let run = compiled_for(&other.case, level).and_then(|p| run(&p, &other.case, level));
    let mut again = match run {
        Ok(again) => again,
        Err(finding) => return text(finding.to_string()),
    };
    let moved = std::mem::take(&mut again.outputs);
    let mut placed: Vec<Option<HostTensor>> = moved.iter().map(|_| None).collect();
    for (place, tensor) in results.iter().zip(moved) {
        placed[*place] = Some(tensor);
    }
    let placed: Vec<HostTensor> = placed.into_iter().flatten().collect();
    if let Some(index) = other_bits(&ran.outputs, &placed) {
        return text(format!("result {index} has other bits"));
    }
    (again.bytes != ran.bytes).then(|| {
        let what = format!("{} bytes are moved, before {}", again.bytes, ran.bytes);
        text(what)
    })?
}

/// The name of an element type of a result.
pub fn name_of(dtype: Stored) -> &'static str {
    let found = DType::ALL
        .into_iter()
        .find(|d| compiled::stored(*d) == dtype);
    found.map_or("none", DType::name)
}
