//! From a parsed module to an artifact: the pipeline, the launch plan, the code.
//!
//! ```text
//! module ──canonicalize..schedule──> sweeps ──lower-to-kernel──> kernels and launches ──codegen──> artifact
//! ```
//!
//! Guarantees: a program that cannot be compiled yields a diagnostic, and every artifact passes its own validation.
//! Does no file input or output.
#![forbid(unsafe_code)]

#[cfg(feature = "codegen")]
mod code;
mod mesh;
pub mod plan;
mod prepare;
mod product;
mod routines;
mod segments;
pub mod size;
mod turns;
#[cfg(feature = "codegen")]
mod versions;
mod watch;

use fuser_artifact::Artifact;
use fuser_dialects::kernel::product::Product;
use fuser_dialects::task::{calls, packed};
use fuser_dialects::{kernel, task};
use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};
use std::collections::BTreeMap;
use std::sync::Arc;

use fuser_pass::context::EmittedFile;
use fuser_pass::{Failure, Instrument, Manager, Pipeline, Remark, Report, place_of};
use fuser_passes::executors;
use fuser_passes::stride_grids::ANY_LENGTH;
use fuser_passes::targets::{MULTIPLES, OTHERS, SHAPE, TARGET};
use fuser_passes::unpack_floats;
use fuser_passes::use_multiples::LENGTHS;

fuser_ir::codes! {
    /// No plan can be made of a lowered program.
    NO_PLAN = "FIR0850", "a program has no launch plan",
        "Compiling ends with a plan: which kernels run in which order on which buffers, with sizes that follow from the \
         extents of the inputs. The message names what is missing: an extent that no input has (let it occur in the type of an \
         input), or an op outside of every kernel. An op gets there where `--passes` states passes without `segment`, \
         which groups ops into kernels, or where a segment was left open by hand.",
        fuser_pass::example!("fuser-translate x.fir --emit=artifact --passes=canonicalize");
    /// The target is not known.
    UNKNOWN_TARGET = "FIR0851", "the target is not known",
        "Targets are `cpu`, the machine that compiles (or the processor that `--cpu` names), `generic`, a CPU whose figures \
         depend on no machine, and GPUs, `cuda:sm_80` to `cuda:sm_120` or products as the message lists them. \
         `--print-target` shows one, `--target-file` reads others.",
        fuser_pass::example!("fuser-translate x.fir --target=cuda:sm_1 --emit=ptx");
    /// There is no such program.
    NO_PROGRAM = "FIR0852", "there is no such program in the module",
        "A module may hold several `task.program` ops; `-e NAME` chooses one. Without it there must be exactly one that no other runs.",
        "$ fuser-translate x.fir --entry=g\n\
         task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
         task.return %x\n\
         }";
    /// A length for an extent that is not there.
    NO_EXTENT = "FIR0855", "a length for an extent that there is not",
        "`--shape=B=64`, or the option `shape` of a pass, gives lengths to named extents, and the program names none like that.",
        "$ fuser-opt x.fir --segment --shape=Q=64\n\
         task.program @f(%x: tensor<[B]xf32>) -> tensor<[B]xf32> {\n  \
         %y = fusion.exp %x\n  \
         task.return %y\n\
         }";
    /// A kernel that cannot run on the target.
    TOO_LARGE = "FIR0854", "a kernel asks for more than the target has",
        "A block of a GPU has so much shared memory and no more. Programs are planned so that each kernel fits, whatever the extents; \
         a plan that was drawn by hand, or kernels of the text, may not. The message names the kernel, what it asks for and the limit.",
        "$ fuser-translate x.fir --target=h100 --emit=artifact\n\
         task.program @f(%x: tensor<100000xf32>) -> tensor<100000xf32> {\n  \
         %y = task.segment @s kind \"kernel\" {\n    \
         %y = kernel.launch %x callee @k : tensor<100000xf32>\n    \
         task.yield %y\n  \
         }\n  \
         task.return %y\n\
         }\n\
         kernel.func @k(%x: memref<?xf32>, %y: memref<?xf32>) {\n  \
         %t = kernel.alloc : memref<100000xf32, tile>\n  \
         %i = fusion.constant value 8 : index\n  \
         %a = kernel.load %x, %i : f32\n  \
         kernel.store %a, %t, %i\n  \
         %b = kernel.load %t, %i : f32\n  \
         kernel.store %b, %y, %i\n\
         }";
    /// A bug of ours, caught.
    INTERNAL = "FIR0699", "internal error",
        "A pass panicked or left a program that does not verify. That is a bug in Fuser, whatever the input. \
         `fuser-opt` writes a reproducer: attach it to the report.",
        fuser_pass::example!("fuser-run x.fir --passes=test-crash");
}

/// The pass that groupings, explanations and hints are about.
const SEGMENT: &str = fuser_passes::segment::SEGMENT.name;

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// The target; `generic` by default, so that plans depend on no machine.
    pub target: Target,
    /// The program to compile; by default, the only one of the module.
    pub program: Option<String>,
    /// Lengths of named extents, for which decisions are made. A program with a length for every extent has one
    /// version. Decisions assume 1024 elements for other extents. A program that can run out of fast memory has another
    /// version for longer extents.
    pub shapes: BTreeMap<String, u64>,
    /// The length that others are taken to have.
    pub nominal: Option<u64>,
    /// Named extents that are multiples of a power of two. Kernels are then valid only for such extents.
    pub multiples: BTreeMap<String, u32>,
    /// Named extents restricted to a range of lengths. Kernels are then valid only for lengths in that range.
    pub lengths: BTreeMap<String, [u32; 2]>,
    /// True if a grid may have more iterations than a launch has blocks, whatever its named extents are. Otherwise
    /// kernels are valid only for extents whose grids fit into a launch.
    pub any_grid: bool,
    /// True if tensors on a GPU may start at any multiple of their element size. Each kernel then also has code for
    /// unaligned tensors, and each run selects the code by its addresses.
    pub any_address: bool,
    /// The executors that may run whole products: names separated by commas, `none`, or `all`; an empty text means
    /// `all`.
    pub executors: String,
    /// The elements of a `task.program(...)` pipeline that replace the usual ones, up to `schedule`.
    pub passes: Option<String>,
    /// Kernels and artifacts that were compiled before; none by default.
    #[cfg(feature = "codegen")]
    pub cache: Option<Arc<dyn fuser_codegen::Cache>>,
    /// The clock of passes and code generation; none by default.
    pub watch: Option<SharedWatch>,
    /// Takes the progress of passes and of code generation.
    pub progress: ProgressSink,
}

impl CompileOptions {
    /// Text that differs where the options may decide otherwise.
    pub fn identity(&self) -> String {
        let Self {
            target,
            program,
            shapes,
            nominal,
            multiples,
            lengths,
            any_grid,
            any_address,
            executors,
            passes,
            #[cfg(feature = "codegen")]
                cache: _,
            watch: _,
            progress: _,
        } = self;
        format!(
            "{target:?}\n{program:?} {shapes:?} {nominal:?} {multiples:?} {lengths:?} {any_grid} {any_address} {executors:?} {passes:?}\n"
        )
    }

    /// Informs the clock, if there is one, that the stage `name` begins. The stage ends when the returned value is
    /// dropped.
    pub fn stage(&self, name: &str) -> Stage {
        Stage::begin(self.watch.clone(), name)
    }
}

/// The version of the compiler: a digest of the sources that determine a program's artifact.
pub const VERSION: &str = env!("FUSER_PASSES");

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The artifact.
    pub artifact: Artifact,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// The segments whose chosen plan could not be lowered, with the replacement: each is a mistake of the cost model.
    pub other_plans: Vec<Remark>,
    /// Milliseconds, all of it.
    pub compile_ms: f64,
    /// The program with its segments and their schedules, before lowering to kernels.
    pub drawn: Arc<Drawn>,
}

/// A program in a module with no other.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The module's IR.
    pub ir: Ir,
    /// The program.
    pub program: Op,
}

/// The text of the whole pipeline with the passes `front` before scheduling, and the position of these passes in it.
fn pipeline_text(front: &str) -> (String, usize) {
    let back = fuser_passes::BACK;
    let head = format!("builtin.module({},task.program(", fuser_passes::DEVICES);
    let text = format!("{head}{front},schedule,protect-updates),{back})");
    (text, head.len())
}

/// The mistakes of `passes`, whose text stands at `at` in source `file`.
pub fn passes_faults(passes: &str, file: u32, at: usize) -> Vec<Diagnostic> {
    let (text, head) = pipeline_text(passes);
    let parsed = fuser_pass::pipeline::parse(&text, file, &fuser_passes::catalog());
    let inside = |place: usize| (place.saturating_sub(head).min(passes.len()) + at) as u32;
    let mut errors = parsed.err().unwrap_or_default();
    for error in &mut errors {
        if let Place::Span { span, .. } = &mut error.place {
            *span = Span::new(inside(span.start as usize), inside(span.end as usize));
        }
    }
    errors
}

/// Named extents to which `passes` give lengths, and which `program` does not have.
pub fn unknown_extents(ir: &Ir, program: Op, passes: &str) -> Vec<String> {
    let (text, _) = pipeline_text(passes);
    let known = plan::extent_table(ir, program).names();
    let parsed = fuser_pass::pipeline::parse(&text, 0, &fuser_passes::catalog());
    let Ok(parsed) = parsed else {
        return Vec::new();
    };
    let mut named = lengths(&parsed.pipeline);
    named.retain(|name| !known.contains(name));
    named
}

/// Names of extents to which the options of passes give lengths, in order.
pub fn lengths(pipeline: &Pipeline) -> Vec<String> {
    let passes = pipeline.passes().into_iter();
    let passes = passes.filter(|step| step.pass.option(SHAPE.name).is_some());
    let items = passes.flat_map(|step| step.options.list(SHAPE.name));
    let names = items.filter_map(|item| Some(item.split_once('=')?.0.trim().to_owned()));
    let mut names: Vec<String> = names.filter(|name| name != OTHERS).collect();
    names.sort();
    names.dedup();
    names
}

/// The whole pipeline for the target of `options`.
pub fn pipeline(options: &CompileOptions) -> Result<Pipeline, Diagnostics> {
    let front = options.passes.as_deref().unwrap_or(fuser_passes::FRONT);
    let (text, _) = pipeline_text(front);
    let parsed = fuser_pass::pipeline::parse(&text, 0, &fuser_passes::catalog());
    let mut pipeline = parsed.map_err(|items| Diagnostics { items })?.pipeline;
    fill(&mut pipeline, options);
    Ok(pipeline)
}

/// Sets the pass options that follow from `options`, except options that the pipeline text sets itself.
fn fill(pipeline: &mut Pipeline, options: &CompileOptions) {
    for_target(pipeline, &options.target);
    let others = options.nominal.map(|n| (OTHERS, n));
    let ranges = options.lengths.iter();
    let ranges: Vec<(&str, String)> = ranges
        .map(|(name, [least, most])| (name.as_str(), format!("{least}..{most}")))
        .collect();
    let shapes = options.shapes.iter().map(|(name, n)| (name.as_str(), *n));
    let shapes = shapes.filter(|(name, _)| !options.lengths.contains_key(*name));
    let shapes = shapes.chain(others).map(|(name, n)| (name, n.to_string()));
    for_shapes(pipeline, shapes.chain(ranges.iter().cloned()));
    let multiples = options.multiples.iter();
    let multiples: Vec<String> = multiples.map(|(name, of)| format!("{name}={of}")).collect();
    pipeline.fill_option(MULTIPLES.name, &multiples.join(","));
    let lengths = ranges.into_iter();
    let lengths: Vec<String> = lengths
        .map(|(name, range)| format!("{name}={range}"))
        .collect();
    pipeline.fill_option(LENGTHS.name, &lengths.join(","));
    if options.any_grid {
        pipeline.fill_option(ANY_LENGTH.name, "true");
    }
    for_executors(pipeline, &options.executors);
}

/// Sets the target in the passes of a pipeline, except those that name one themselves.
pub fn for_target(pipeline: &mut Pipeline, target: &Target) {
    pipeline.fill_option(TARGET.name, &fuser_target::text::option(target));
}

/// Sets the lengths of named extents in the passes of a pipeline, except those that have some themselves.
pub fn for_shapes<'a>(
    pipeline: &mut Pipeline,
    shapes: impl Iterator<Item = (&'a str, impl std::fmt::Display)>,
) {
    let items: Vec<String> = shapes.map(|(name, n)| format!("{name}={n}")).collect();
    if !items.is_empty() {
        pipeline.fill_option(SHAPE.name, &items.join(","));
    }
}

/// Sets the executors of whole products in all passes, except where the pipeline text sets them itself.
pub fn for_executors(pipeline: &mut Pipeline, names: &str) {
    pipeline.fill_option(executors::OPTION.name, names);
}

/// Finds the program to work on.
pub fn find_program(ir: &Ir, module: Op, name: Option<&str>) -> Result<Op, Diagnostics> {
    let all = ir.children(module).into_iter();
    let programs: Vec<Op> = match name {
        // Those that others run are parts of these.
        None => calls::roots(ir, module),
        Some(_) => all.filter(|&op| ir.is(op, &task::PROGRAM)).collect(),
    };
    let names: Vec<&str> = programs.iter().filter_map(|&p| ir.symbol_name(p)).collect();
    let error = |message: String| Diagnostic::error(&NO_PROGRAM, place_of(ir, module), message);
    match (name, programs.as_slice()) {
        (None, [one]) => Ok(*one),
        (None, []) => Err(one(error("the module has no 'task.program'".into()))),
        (None, _) => {
            let error = error("the module has several programs".into());
            Err(one(error.help(format!(
                "choose one with '-e': {}",
                names.join(", ")
            ))))
        }
        (Some(name), _) => {
            let found = programs.iter().find(|&&p| ir.symbol_name(p) == Some(name));
            let missing = || {
                let error = error(format!("there is no program '@{name}'"));
                one(error.help(format!("there are: {}", names.join(", "))))
            };
            found.copied().ok_or_else(missing)
        }
    }
}

/// Runs pipeline text on the module; errors of passes come back as diagnostics.
pub fn run_passes(ir: &mut Ir, module: Op, text: &str) -> Result<Report, Diagnostics> {
    let catalog = fuser_passes::catalog();
    let parsed =
        fuser_pass::pipeline::parse(text, 0, &catalog).map_err(|items| Diagnostics { items })?;
    run_pipeline(ir, module, &parsed.pipeline)
}

fn run_pipeline(ir: &mut Ir, module: Op, pipeline: &Pipeline) -> Result<Report, Diagnostics> {
    run_watched(ir, module, pipeline, &ProgressSink::default(), None)
}

fn run_watched(
    ir: &mut Ir,
    module: Op,
    pipeline: &Pipeline,
    progress: &ProgressSink,
    watcher: Option<&mut dyn Instrument>,
) -> Result<Report, Diagnostics> {
    let mut manager = Manager::new(fuser_ir::verify::verify);
    manager.without_remarks = true;
    manager.progress = progress.clone();
    if let Some(watcher) = watcher {
        manager.watch(watcher);
    }
    let report = manager.run(ir, module, pipeline);
    match &report.failure {
        None => Ok(report),
        Some(Failure::Diagnostics { .. }) => Err(report.diagnostics),
        Some(Failure::Internal { pass, message, .. }) => Err(internal(ir, module, pass, message)),
    }
}

/// Runs the passes of [`lower`] up to scheduled sweeps: the program in segments, for reports.
pub fn run_front(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<(), Diagnostics> {
    let front = pipeline(options)?.up_to("schedule");
    run_pipeline(ir, module, &front.unwrap_or_else(Pipeline::empty))?;
    Ok(())
}

/// Runs the same passes with an instrument that selects files, and returns these files. `pair` names two values to
/// explain, `%a,%b`, or is empty.
pub fn explain(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
    pair: &str,
    wanted: &mut dyn Instrument,
) -> Result<Vec<EmittedFile>, Diagnostics> {
    let front = pipeline(options)?.up_to("schedule");
    let mut front = front.unwrap_or_else(Pipeline::empty);
    // Any text is a value of that option.
    let _ = front.set_option(SEGMENT, "explain", pair);
    Ok(run_watched(ir, module, &front, &options.progress, Some(wanted))?.files)
}

/// Runs the passes of [`run_front`] except `schedule`. The result is the program in segments, for later compilation.
pub fn run_segment(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<(), Diagnostics> {
    let front = pipeline(options)?.up_to("schedule");
    let front = front.unwrap_or_else(Pipeline::empty);
    let last = front.passes().len().saturating_sub(1);
    run_pipeline(ir, module, &front.before(last))?;
    Ok(())
}

/// A moment between the passes of [`run_front`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The programs that loops run have the arguments that they keep.
    Hoisted,
    /// Just before `segment`.
    BeforeSegment,
}

/// Runs the passes of [`run_front`]; `change` edits the program at a moment between them.
pub fn run_front_changed(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
    moment: Moment,
    change: &mut dyn FnMut(&mut Ir) -> Result<(), Diagnostics>,
) -> Result<(), Diagnostics> {
    let front = pipeline(options)?.up_to("schedule");
    let front = front.unwrap_or_else(Pipeline::empty);
    let passes = front.passes();
    let last = |name| passes.iter().rposition(|step| step.pass.name == name);
    let at = match moment {
        Moment::Hoisted => last(fuser_passes::hoist::HOIST.name).map_or(0, |at| at + 1),
        Moment::BeforeSegment => last(SEGMENT).unwrap_or(passes.len()),
    };
    run_pipeline(ir, module, &front.before(at))?;
    change(ir)?;
    run_pipeline(ir, module, &front.from(at))?;
    Ok(())
}

/// Runs the passes up to `segment`, which creates the segments of `grouping`, the text of a segment report.
pub fn draw(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
    grouping: &str,
) -> Result<(), Diagnostics> {
    let front = pipeline(options)?.up_to(SEGMENT);
    let Some(mut front) = front else {
        let message = "no segments are drawn: the passes have no 'segment'";
        let code = &fuser_pass::codes::UNKNOWN_PASS;
        return Err(one(Diagnostic::error(code, Place::Unknown, message)));
    };
    // Any text is a value of that option.
    let _ = front.set_option(SEGMENT, "from", grouping);
    run_pipeline(ir, module, &front)?;
    Ok(())
}

/// The files that `segment` leaves about a program whose segments are drawn.
pub fn explain_drawn(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
    wanted: &mut dyn Instrument,
) -> Result<Vec<EmittedFile>, Diagnostics> {
    let text = format!("builtin.module(task.program({SEGMENT}))");
    let parsed = fuser_pass::pipeline::parse(&text, 0, &fuser_passes::catalog());
    let mut pipeline = parsed.map_err(|items| Diagnostics { items })?.pipeline;
    fill(&mut pipeline, options);
    Ok(run_watched(ir, module, &pipeline, &options.progress, Some(wanted))?.files)
}

/// Runs all passes up to kernels and launches. Returns the plan without code.
pub fn lower(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<Lowered, Diagnostics> {
    let program = find_program(ir, module, options.program.as_deref())?;
    if let Some(name) = options
        .passes
        .as_deref()
        .and_then(|passes| unknown_extents(ir, program, passes).into_iter().next())
    {
        return Err(one(no_extent(ir, program, &name)));
    }
    keep_only(ir, module, program);
    name_extents(ir, program);
    let options = &for_halves(ir, program, options)?;
    let pipeline = pipeline(options)?;
    let run = |ir: &mut Ir, passes: &Pipeline| {
        let mut watch = options.watch.as_ref().map(SharedWatch::lock);
        let watcher = watch.as_deref_mut().map(|w| w as &mut dyn Instrument);
        run_watched(ir, module, passes, &options.progress, watcher)
    };
    let upto = |pass| pipeline.up_to(pass).unwrap_or_else(Pipeline::empty);
    let [front, whole] = ["schedule", "protect-updates"].map(upto);
    let scheduled = run(ir, &front)?;
    let drawn = Arc::new(Drawn {
        ir: ir.clone(),
        program,
    });
    let mut diagnostics = scheduled.diagnostics;
    let mut other_plans = scheduled.remarks;
    other_plans.retain(|remark| remark.name == OTHER_PLAN);
    let protected = run(ir, &whole.from(front.passes().len()))?;
    let segments = segments::describe_all(ir, program);
    let lowered = run(ir, &pipeline.from(whole.passes().len()))?;
    for more in [protected, lowered] {
        diagnostics.items.extend(more.diagnostics.items);
    }
    let mut funcs = kernels(ir, module);
    let (mut artifact, products) = plan::plan_program(
        ir,
        program,
        &funcs,
        segments,
        placeholder(&options.target),
        options,
    )
    .map_err(|e| one(Diagnostic::error(&NO_PLAN, place_of(ir, e.op), e.message).help(e.help)))?;
    turns::combine(ir, module, &mut artifact, &mut funcs, &options.target);
    Ok(Lowered {
        artifact,
        launched: Launched { funcs, products },
        diagnostics,
        other_plans,
        drawn,
    })
}

/// The error for lengths of an extent that a program does not have.
pub fn no_extent(ir: &Ir, program: Op, name: &str) -> Diagnostic {
    let known = plan::extent_table(ir, program).names();
    let message = format!("the program has no extent `{name}`, to which a pass is given a length");
    Diagnostic::error(&NO_EXTENT, place_of(ir, program), message).help(match known.is_empty() {
        true => "all its extents are numbers".into(),
        false => format!("it has {}", known.join(", ")),
    })
}

/// The options with lengths for half extents, once their wholes are written as twice a half.
fn for_halves(
    ir: &mut Ir,
    program: Op,
    options: &CompileOptions,
) -> Result<CompileOptions, Diagnostics> {
    let mut options = options.clone();
    unpack_floats::halve_extents(ir, program).map_err(|error| {
        one(Diagnostic::error(
            &NO_PLAN,
            place_of(ir, program),
            format!("the program {}", error.message),
        ))
    })?;
    for (half, whole) in packed::halves(ir, program) {
        let (half, whole) = (ir.str(half).to_string(), ir.str(whole));
        if let Some(&length) = options.shapes.get(whole) {
            options.shapes.insert(half.clone(), length / 2);
        }
        if let Some(&of) = options.multiples.get(whole) {
            options.multiples.insert(half.clone(), (of / 2).max(1));
        }
        if let Some(&[least, most]) = options.lengths.get(whole) {
            options.lengths.insert(half, [least.div_ceil(2), most / 2]);
        }
    }
    Ok(options)
}

/// The kernels that a program launches.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// Functions, in the order in which the plan numbers them.
    pub funcs: Vec<Op>,
    /// Products that are kernels of a GPU, which it numbers behind them.
    pub products: Vec<Product>,
}

/// The kernels of a module of kernels; without products if planning fails.
pub fn launched(ir: &Ir, module: Op, options: &CompileOptions) -> Launched {
    let funcs = kernels(ir, module);
    let planned = find_program(ir, module, options.program.as_deref()).map(|program| {
        let segments = segments::describe_all(ir, program);
        let target = placeholder(&options.target);
        plan::plan_program(ir, program, &funcs, segments, target, options)
    });
    let products = match planned {
        Ok(Ok((_, products))) => products,
        _ => Vec::new(),
    };
    Launched { funcs, products }
}

fn kernels(ir: &Ir, module: Op) -> Vec<Op> {
    let all = ir.children(module).into_iter();
    all.filter(|&op| ir.is(op, &kernel::FUNC)).collect()
}

/// A program as kernels and a plan.
#[derive(Debug)]
pub struct Lowered {
    /// The plan.
    pub artifact: Artifact,
    /// The kernels that it launches.
    pub launched: Launched,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// Segments whose chosen plan could not be lowered, and what was done instead.
    pub other_plans: Vec<Remark>,
    /// The program with its segments and their schedules.
    pub drawn: Arc<Drawn>,
}

/// The kind of machine, before code is made for one.
fn placeholder(target: &Target) -> fuser_artifact::Target {
    match target.kind {
        Kind::Cpu => fuser_artifact::Target::Cpu {
            triple: String::new(),
            cpu: String::new(),
            features: String::new(),
        },
        Kind::Cuda => fuser_artifact::Target::Cuda { sm: 0 },
        Kind::Hip => fuser_artifact::Target::Hip {
            processor: String::new(),
        },
    }
}

#[cfg(feature = "codegen")]
pub use code::{compile, emit};
pub use fuser_pass::ProgressSink;
pub use fuser_passes::place_barriers::PLACE_BARRIERS;
pub use fuser_passes::schedule::OTHER_PLAN;
use fuser_target::Kind;
pub use fuser_target::Target;
pub use prepare::{keep_only, name_extents};
#[cfg(feature = "codegen")]
pub use versions::{Class, Classes, Version, Versions};
pub use watch::{SharedWatch, Stage, Watch};

fn one(diagnostic: Diagnostic) -> Diagnostics {
    Diagnostics {
        items: vec![diagnostic],
    }
}

fn internal(ir: &Ir, module: Op, pass: &str, message: &str) -> Diagnostics {
    let text = format!("internal error in pass '{pass}': {message}");
    let diagnostic = Diagnostic::error(&INTERNAL, place_of(ir, module), text);
    Diagnostics {
        items: vec![diagnostic.help("run fuser-opt with the same passes: it writes a reproducer")],
    }
}

#[cfg(test)]
mod tests;
