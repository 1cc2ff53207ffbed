//! The library's interface: load a program, resolve its inputs, compile it, run it, interpret it, check it.
//!
//! ```text
//! Session::load ──> Loaded ──resolve──> Inputs ──┬──interpret──> Execution
//!                                                └──compile, run──> Execution ──check──> Check
//! ```
//!
//! It also covers the segments of a program: their description ([`Session::segments`]), each as a separate program with
//! the map between their values ([`Session::split`]), and their execution as the whole ([`Session::parts`],
//! [`Parts::run`]):
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use fuser::compile::CompileOptions;
//! use fuser::session::{Loaded, Session};
//! use fuser_runtime::Inputs;
//!
//! let text = "task.program @f(%x: tensor<[B]x4xf32>) -> tensor<[B]xf32> {
//!   %e = fusion.exp %x
//!   %s = fusion.segment_set %e
//!   %y = fusion.sum %s dims [1]
//!   task.return %y
//! }";
//! let session = Session::new(Default::default()).unwrap();
//! let (ir, module, _warnings) = session.parse(0, "f.fir", text).unwrap();
//! let loaded = session.load(ir, module, None).unwrap();
//! let options = CompileOptions::default();
//!
//! // From shapes alone; bytes are polynomials of the extents.
//! let report = session.segments(&loaded, &options).unwrap();
//! assert_eq!(report.segments.len(), 2);
//! assert_eq!(report.crossing_bytes.text(), "16*B");
//!
//! // Which value of which segment is which of the original, and who reads it last.
//! let split = session.split(&loaded, &options).unwrap();
//! assert_eq!(split.map.values[2].name, "%s");
//! assert_eq!(split.map.values[2].last_user.as_deref(), Some("s1"));
//!
//! // The parts run as the whole does.
//! let parts = session.parts(&split).unwrap();
//! let shapes = [("B".to_string(), 3)].into();
//! let inputs = session.resolve(&loaded, &BTreeMap::new(), &shapes).unwrap();
//! let whole = session.interpret(&loaded, &inputs).unwrap();
//! let how = &mut |part: &Loaded, inputs: &Inputs| session.interpret(part, inputs);
//! let run = parts.run(&session, inputs, false, how).unwrap();
//! assert_eq!(run.execution.outputs[0].bytes(), whole.outputs[0].bytes());
//! ```
//!
//! A [`Session`] has its threads and its memory; two of them share nothing. Knows no arguments, no environment, and no
//! files but the inputs that an [`InputSpec`] names.

pub mod check;
pub mod cost;
#[cfg(feature = "codegen")]
pub mod devices;
pub mod error;
#[cfg(feature = "codegen")]
pub mod program;
pub mod signature;
pub mod source;
mod store;
pub mod tensors;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fuser_interp::{Expected, MathUlps, Options, Subject, Tensor, interpret};
use fuser_ir::def::Registry;
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostics, Ir, Op};
use fuser_pass::context::EmittedFile;
use fuser_passes::report::{self, Report};
#[cfg(all(feature = "codegen", feature = "cuda"))]
use fuser_runtime::cuda::{CudaDevice, CudaExecutable, CudaProgram};
use fuser_runtime::{
    Explicit, HostTensor, InputSpec, Inputs, RunReport, Runtime, RuntimeConfig, RuntimeError,
};

use crate::compile::{self, CompileOptions, SharedWatch};
use crate::explorer::Recorder;
#[cfg(feature = "codegen")]
use crate::split::PartsRun;
use crate::split::{self, MAP, Parts, Split, Text};
use crate::tool::explain::{self, Files, Question};
use crate::tool::load::Reader;
use tensors::Held;

pub use check::{Check, OutputCheck, Yardstick};
#[cfg(feature = "codegen")]
pub use devices::Devices;
pub use error::SessionError;
#[cfg(feature = "codegen")]
pub use program::{Origin, Program};
pub use signature::Signature;
pub use source::Source;

/// Result of everything here.
pub type Result<T> = std::result::Result<T, SessionError>;

/// Threads, memory and dialects.
pub struct Session {
    registry: Arc<Registry>,
    runtime: Runtime,
}

/// A module and the one program of it that is meant.
pub struct Loaded {
    /// The module's IR.
    pub ir: Ir,
    /// The module.
    pub module: Op,
    /// The program.
    pub program: Op,
    /// Its parameters and results.
    pub signature: Signature,
}

impl Loaded {
    /// A copy of the module with this program only.
    pub(crate) fn alone(&self) -> Ir {
        let mut ir = self.ir.clone();
        compile::keep_only(&mut ir, self.module, self.program);
        ir
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Execution {
    /// In the order of the signature.
    pub outputs: Vec<HostTensor>,
    /// Milliseconds of one execution.
    pub time_ms: f64,
    /// Milliseconds of compilation; 0 where nothing was compiled.
    pub compile_ms: f64,
    /// Times and bytes of segments; none of the interpreter.
    pub run: Option<RunReport>,
}

impl Execution {
    /// True if a kernel multiplied on tensor cores.
    pub fn used_tensor_cores(&self) -> bool {
        let gpu = self.run.as_ref().and_then(|run| run.gpu.as_ref());
        gpu.is_some_and(|gpu| gpu.launches.iter().any(|launch| launch.tensor_cores))
    }
}

impl Session {
    /// A session with so many threads and so much memory.
    pub fn new(config: RuntimeConfig) -> Result<Self> {
        Ok(Self {
            registry: fuser_dialects::registry(),
            runtime: Runtime::new(config)?,
        })
    }
    /// A session whose runs on a CPU end with one more, which records the work of each thread for their reports.
    pub fn recording(self) -> Self {
        Self {
            runtime: self.runtime.recording(),
            ..self
        }
    }
    /// Threads and memory.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
    /// An empty program that knows all dialects.
    pub fn empty_ir(&self) -> Ir {
        Ir::new(self.registry.clone())
    }
    /// Parses and verifies text, file number `file` of a source map. Warnings are returned with the module.
    pub fn parse(
        &self,
        file: u32,
        name: &str,
        text: &str,
    ) -> std::result::Result<(Ir, Op, Diagnostics), Diagnostics> {
        Reader::new(self.registry.clone()).load(file, name, text)
    }
    /// Chooses the program `name` of a module, or its only one.
    pub fn load(&self, ir: Ir, module: Op, name: Option<&str>) -> Result<Loaded> {
        Self::load_module(ir, module, name)
    }
    /// As [`load`](Self::load), which needs neither threads nor memory.
    pub fn load_module(mut ir: Ir, module: Op, name: Option<&str>) -> Result<Loaded> {
        let program = compile::find_program(&ir, module, name)?;
        compile::name_extents(&mut ir, program);
        let signature = signature::of(&ir, program)?;
        Ok(Loaded {
            ir,
            module,
            program,
            signature,
        })
    }
    /// Reads and makes up inputs. Inputs that `specs` does not name are random.
    pub fn resolve(
        &self,
        loaded: &Loaded,
        specs: &BTreeMap<String, InputSpec>,
        explicit: &Explicit,
    ) -> Result<Inputs> {
        self.resolve_for(&loaded.signature, specs, explicit)
    }
    /// As [`resolve`](Self::resolve), for a program of this signature.
    pub fn resolve_for(
        &self,
        signature: &Signature,
        specs: &BTreeMap<String, InputSpec>,
        explicit: &Explicit,
    ) -> Result<Inputs> {
        let Signature {
            extents, inputs, ..
        } = signature;
        let heap = self.runtime.heap();
        fuser_runtime::resolve(heap, extents, inputs, specs, explicit).map_err(|e| named(e, specs))
    }

    /// Runs the program with the interpreter, exactly as its ops are defined.
    pub fn interpret(&self, loaded: &Loaded, inputs: &Inputs) -> Result<Execution> {
        let start = Instant::now();
        let outputs = self.interpreted(loaded, inputs, Options::default())?;
        Ok(Execution {
            outputs: outputs.into_runtime(self.runtime.heap())?,
            time_ms: start.elapsed().as_secs_f64() * 1e3,
            compile_ms: 0.0,
            run: None,
        })
    }
    /// The expected results, computed by the program's reference, for comparison with many outputs
    /// ([`Session::check_with`]).
    pub fn expected(&self, loaded: &Loaded, inputs: &Inputs) -> Result<Expected> {
        let given = Held::copies(self.runtime.heap(), &inputs.tensors)?;
        let options = self.options(loaded, inputs, bounded());
        Ok(Expected::of(subject(loaded, &given.tensors, &options))?)
    }
    /// Compares outputs with what is expected of the program on these inputs.
    pub fn check_with(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        expected: &mut Expected,
        outputs: &[HostTensor],
    ) -> Result<Check> {
        let heap = self.runtime.heap();
        let given = Held::copies(heap, &inputs.tensors)?;
        let options = self.options(loaded, inputs, bounded());
        let subject = subject(loaded, &given.tensors, &options);
        let names = &loaded.signature.output_names;
        check::outputs(
            heap,
            names,
            outputs,
            expected,
            subject,
            Yardstick::Sharp(&|_, _| ()),
        )
    }
    /// The program's results by the interpreter; the copies of its inputs are gone.
    fn interpreted(&self, loaded: &Loaded, inputs: &Inputs, how: Options) -> Result<Held> {
        let heap = self.runtime.heap();
        let given = Held::copies(heap, &inputs.tensors)?;
        // What these take is no longer there.
        let options = self.options(loaded, inputs, how);
        let outputs = interpret(&loaded.ir, loaded.program, &given.tensors, &options)?;
        drop(given);
        Held::results(heap, outputs.values)
    }
    /// Compares outputs with the reference's, and with samples where bounds are too wide (docs/checking.md).
    pub fn check(&self, loaded: &Loaded, inputs: &Inputs, outputs: &[HostTensor]) -> Result<Check> {
        self.compared(
            loaded,
            inputs,
            outputs,
            (bounded(), Yardstick::Sharp(&|_, _| ())),
        )
    }
    /// Compares the outputs of an execution with the reference's. If tensor cores ran, the bound allows truncated sums.
    /// If the target requests `contracted` code, the bound allows products fused into sums.
    pub fn check_execution(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        execution: &Execution,
        contracted: bool,
        yardstick: Yardstick<'_>,
    ) -> Result<Check> {
        let reference = Options {
            tensor_cores: execution.used_tensor_cores(),
            contracted,
            ..bounded()
        };
        self.compared(loaded, inputs, &execution.outputs, (reference, yardstick))
    }
    fn compared(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        outputs: &[HostTensor],
        (reference, yardstick): (Options, Yardstick<'_>),
    ) -> Result<Check> {
        let heap = self.runtime.heap();
        let given = Held::copies(heap, &inputs.tensors)?;
        // What these take is no longer there.
        let options = self.options(loaded, inputs, reference);
        let subject = subject(loaded, &given.tensors, &options);
        let mut expected = Expected::of(subject)?;
        let names = &loaded.signature.output_names;
        check::outputs(heap, names, outputs, &mut expected, subject, yardstick)
    }
    /// The interpreter's options with what this session and the inputs decide.
    fn options(&self, loaded: &Loaded, inputs: &Inputs, how: Options) -> Options {
        let heap = self.runtime.heap();
        Options {
            memory: heap.limit().saturating_sub(heap.in_use()),
            threads: self.runtime.workers().count(),
            math: promised_ulps(),
            extents: loaded
                .signature
                .extents
                .iter()
                .cloned()
                .zip(inputs.extents.iter().copied())
                .collect(),
            ..how
        }
    }

    /// Refuses a program that needs more than `most` element operations on these inputs.
    ///
    /// # Errors
    /// Such a program, as a diagnostic at its most expensive op.
    pub fn affordable(&self, loaded: &Loaded, inputs: &Inputs, most: u64) -> Result<()> {
        let names = loaded.signature.extents.iter().cloned();
        let extents = names.zip(inputs.extents.iter().copied()).collect();
        cost::check(&loaded.ir, loaded.program, &extents, most)?;
        Ok(())
    }

    /// The program, compiled for the CPU on demand; a text is parsed only if the cache of `options` lacks the compiled
    /// code.
    #[cfg(feature = "codegen")]
    pub fn program<'a>(&self, program: impl Into<Origin<'a>>, options: &CompileOptions) -> Program {
        Program::new(program.into(), options)
    }
    /// The program, compiled for a GPU on demand; code compiled for some extents is shared with others.
    ///
    /// # Errors
    /// A device without code generation, if `options.target` is no GPU.
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    pub fn program_on<'a>(
        &self,
        device: &CudaDevice,
        program: impl Into<Origin<'a>>,
        options: &CompileOptions,
    ) -> Result<Program<CudaProgram>> {
        let options = CompileOptions {
            target: for_device(&options.target, device.sm())?,
            ..options.clone()
        };
        Ok(Program::on(device, program.into(), &options))
    }
    /// Compiles the program for the CPU, for the extents of the inputs, and runs it `repeats` times after an untimed
    /// run.
    #[cfg(feature = "codegen")]
    pub fn run_cpu(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        options: &CompileOptions,
        repeats: u32,
    ) -> Result<Execution> {
        let program = self.program(loaded, &decided(&loaded.signature, inputs, options));
        program.run(self, inputs, repeats)
    }
    /// Compiles the program for the CPU and binds it to `extents`, which must name every extent. The executable runs on
    /// the caller's memory any number of times, without checking shapes or allocating from the heap.
    ///
    /// ```
    /// use fuser::compile::CompileOptions;
    /// use fuser::session::Session;
    /// use fuser_runtime::HostTensor;
    ///
    /// let text = "task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> { %y = fusion.neg %x\n task.return %y }";
    /// let session = Session::new(Default::default()).unwrap();
    /// let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
    /// let loaded = session.load(ir, module, None).unwrap();
    /// let extents = [("N".to_string(), 3)].into();
    /// let mut executable = session.prepare(&loaded, &extents, &CompileOptions::default()).unwrap();
    ///
    /// let memory = |value: f64| {
    ///     let axes = [fuser_runtime::Axis::stored(3)];
    ///     HostTensor::from_f64(session.runtime().heap(), fuser_artifact::DType::F32, &axes, &[value; 3]).unwrap()
    /// };
    /// let (x, mut y) = (memory(2.5), session.runtime().heap().allocate(12).unwrap());
    /// executable.run(&[x.bytes()], &mut [&mut y]).unwrap();
    /// assert_eq!(y[..4], (-2.5f32).to_le_bytes());
    /// ```
    #[cfg(feature = "codegen")]
    pub fn prepare(
        &self,
        loaded: &Loaded,
        extents: &Explicit,
        options: &CompileOptions,
    ) -> Result<fuser_runtime::Executable> {
        let options = bound(options, extents);
        self.program(loaded, &options).bind(self, extents)
    }
    /// Compiles the program for a GPU and binds it to `extents`, which must name every extent. The executable runs on
    /// the caller's device pointers and stream, with one driver call for each kernel. `options.target` may name an
    /// older GPU than the device.
    ///
    /// `examples/gpu_call.rs` is a complete example.
    ///
    /// # Errors
    /// A program that cannot be compiled for the device, as diagnostics; extents without a value; too little memory of
    /// the device.
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    pub fn prepare_cuda(
        &self,
        device: &CudaDevice,
        loaded: &Loaded,
        extents: &Explicit,
        options: &CompileOptions,
    ) -> Result<CudaExecutable> {
        let options = bound(options, extents);
        self.program_on(device, loaded, &options)?.bind(extents)
    }
    /// Compiles the program for a GPU and runs it there.
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    pub fn run_cuda(
        &self,
        device: &CudaDevice,
        loaded: &Loaded,
        inputs: &Inputs,
        options: &CompileOptions,
        repeats: u32,
    ) -> Result<Execution> {
        let options = decided(&loaded.signature, inputs, options);
        let program = self.program_on(device, loaded, &options)?;
        program.run(self, inputs, repeats)
    }

    /// The program split into its segments, ready to be written to files, from shapes alone. A program without segments
    /// is segmented first, by `options`.
    pub fn split(
        &self,
        loaded: &Loaded,
        options: &CompileOptions,
    ) -> std::result::Result<Split, Diagnostics> {
        split::split(&loaded.ir, loaded.program, options)
    }

    /// The segments of the program and their traffic, from shapes alone: numbers of bytes are polynomials in the named
    /// extents. A program without segments is segmented first, by `options`.
    pub fn segments(
        &self,
        loaded: &Loaded,
        options: &CompileOptions,
    ) -> std::result::Result<Report, Diagnostics> {
        Self::report_segments(loaded, options)
    }
    /// As [`segments`](Self::segments), which needs neither threads nor memory.
    pub fn report_segments(
        loaded: &Loaded,
        options: &CompileOptions,
    ) -> std::result::Result<Report, Diagnostics> {
        traffic(loaded, &lengths(loaded, options), Some(options))
    }
    /// The report of the program as passes left it in `ir`.
    pub(crate) fn report_drawn(ir: &Ir, loaded: &Loaded, options: &CompileOptions) -> Report {
        let lengths = lengths(loaded, options);
        traffic_of(
            (ir, loaded.program),
            &loaded.signature.extents,
            &lengths,
            Some(options),
        )
    }
    /// The parts of a split program, ready to run; no file is needed.
    pub fn parts(&self, split: &Split) -> std::result::Result<Parts, Diagnostics> {
        let mut sources = SourceMap::default();
        let map = split.map.to_json();
        Parts::read(self, &mut |name| {
            let text = match name {
                MAP => Some(&map),
                name => split.files.iter().find(|(n, _)| n == name).map(|(_, t)| t),
            };
            let text = text.ok_or_else(|| format!("there is no '{name}'"))?;
            Ok(Text::new(&mut sources, name, text.clone()))
        })
    }
    /// Compiles the parts for the CPU and runs each `repeats` times; returns the inputs if they are to be kept.
    #[cfg(feature = "codegen")]
    pub fn run_parts(
        &self,
        parts: &Parts,
        inputs: Inputs,
        keep: bool,
        options: &CompileOptions,
        repeats: u32,
    ) -> Result<PartsRun> {
        parts.run(self, inputs, keep, &mut |part, inputs| {
            self.run_cpu(part, inputs, options, repeats)
        })
    }

    /// The answers to `questions` on the decisions made when the program is compiled for these inputs, one each.
    pub fn explain(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        options: &CompileOptions,
        questions: &[Question],
    ) -> std::result::Result<Vec<String>, Diagnostics> {
        let options = decided(&loaded.signature, inputs, options);
        // One run of the passes for all questions about the same values.
        let mut known: BTreeMap<&str, Vec<EmittedFile>> = BTreeMap::new();
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let pair = question.pair.as_deref().unwrap_or_default();
            if !known.contains_key(pair) {
                let same = |other: &&Question| other.pair == question.pair;
                let kinds = questions.iter().filter(same).map(|other| other.kind);
                let mut wanted = Files {
                    kinds: kinds.collect(),
                };
                let mut ir = loaded.alone();
                let files = compile::explain(&mut ir, loaded.module, &options, pair, &mut wanted)?;
                known.insert(pair, files);
            }
            let files = known.get(pair).map_or(&[][..], Vec::as_slice);
            answers.push(explain::content(files, question.kind));
        }
        Ok(answers)
    }

    /// The work of all passes when the program is compiled for these inputs, as the data of the explorer.
    pub(crate) fn record(
        loaded: &Loaded,
        inputs: &Inputs,
        options: &CompileOptions,
    ) -> std::result::Result<serde_json::Value, Diagnostics> {
        Self::record_open(loaded, &decided(&loaded.signature, inputs, options))
    }
    /// As [`record`](Self::record), for the lengths that `options` give.
    pub(crate) fn record_open(
        loaded: &Loaded,
        options: &CompileOptions,
    ) -> std::result::Result<serde_json::Value, Diagnostics> {
        let recorder = Arc::new(Mutex::new(Recorder::default()));
        let options = CompileOptions {
            watch: Some(SharedWatch::new(recorder.clone())),
            ..options.clone()
        };
        let mut ir = loaded.alone();
        compile::lower(&mut ir, loaded.module, &options)?;
        let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let files = recorder.files().to_vec();
        Ok(recorder.module(&ir, loaded.module, &files))
    }

    /// The traffic of the program, segment by segment, after the passes up to scheduling; without `options`, of the
    /// program as given.
    pub fn report(
        &self,
        loaded: &Loaded,
        inputs: &Inputs,
        options: Option<&CompileOptions>,
    ) -> std::result::Result<Report, Diagnostics> {
        let lengths = inputs.extents.iter().map(|&n| u64::try_from(n).ok());
        let options = options.map(|options| decided(&loaded.signature, inputs, options));
        traffic(loaded, &lengths.collect::<Vec<_>>(), options.as_ref())
    }
}

/// The program on these inputs, as the interpreter takes it.
fn subject<'a>(loaded: &'a Loaded, inputs: &'a [Tensor], options: &'a Options) -> Subject<'a> {
    Subject {
        ir: &loaded.ir,
        op: loaded.program,
        inputs,
        options,
    }
}

/// The lengths of extents that options give.
fn lengths(loaded: &Loaded, options: &CompileOptions) -> Vec<Option<u64>> {
    let names = loaded.signature.extents.iter();
    let lengths = names.map(|name| options.shapes.get(name).copied());
    lengths.collect()
}

/// The report of a program for given lengths of its extents, some of which may be open; with `options`, after the
/// passes up to scheduling.
fn traffic(
    loaded: &Loaded,
    lengths: &[Option<u64>],
    options: Option<&CompileOptions>,
) -> std::result::Result<Report, Diagnostics> {
    let mut ir = loaded.alone();
    if let Some(options) = options {
        compile::run_front(&mut ir, loaded.module, options)?;
    }
    let program = (&ir, loaded.program);
    Ok(traffic_of(
        program,
        &loaded.signature.extents,
        lengths,
        options,
    ))
}

/// The report of a program as given, with these lengths of its extents.
fn traffic_of(
    (ir, program): (&Ir, Op),
    extents: &[String],
    lengths: &[Option<u64>],
    options: Option<&CompileOptions>,
) -> Report {
    let names = extents.iter().zip(lengths);
    let named = names.filter_map(|(name, length)| Some((ir.strings.lookup(name)?, (*length)?)));
    let mut model = fuser_passes::cost::Model {
        target: options.map(|options| options.target).unwrap_or_default(),
        ..Default::default()
    };
    model.bindings.named = named.collect();
    let mut report = report::report(ir, program, &model);
    // A program as given has no target.
    report.roofs = report.roofs.filter(|_| options.is_some());
    report
}

/// The interpreter as reference.
fn bounded() -> Options {
    Options {
        reference: true,
        ..Options::default()
    }
}

/// The error of a file with the name of its input.
fn named(error: RuntimeError, specs: &BTreeMap<String, InputSpec>) -> SessionError {
    let RuntimeError::Npy(error) = error else {
        return error.into();
    };
    let is_file = |spec: &InputSpec| match spec {
        InputSpec::File(path) => *path == error.path,
        InputSpec::Member { archive, name } => archive.join(name) == error.path,
        InputSpec::Generate(_) => false,
    };
    let input = specs.iter().find(|(_, spec)| is_file(spec));
    match input.map(|(name, _)| name.clone()) {
        Some(input) => SessionError::File { input, error },
        None => RuntimeError::Npy(error).into(),
    }
}

/// The options with the extents of the inputs, for which decisions are made. A length of 0 counts as 1, so that the
/// code is useful for other lengths.
pub(crate) fn decided(
    loaded: &Signature,
    inputs: &Inputs,
    options: &CompileOptions,
) -> CompileOptions {
    let mut options = options.clone();
    let names = loaded.extents.iter().cloned();
    let lengths = inputs
        .extents
        .iter()
        .map(|&n| u64::try_from(n).unwrap_or(0).max(1));
    options.shapes.extend(names.zip(lengths));
    options
}

/// The options with these extents, for which decisions are made.
#[cfg(feature = "codegen")]
fn bound(options: &CompileOptions, extents: &Explicit) -> CompileOptions {
    let mut options = options.clone();
    let lengths = extents.iter();
    let lengths = lengths.map(|(name, n)| (name.clone(), u64::try_from(*n).unwrap_or(0).max(1)));
    options.shapes.extend(lengths);
    options
}

/// The target for a device of this compute capability: `target` if it is an NVIDIA GPU, the newest target that the
/// device runs if it is a CPU, and an error otherwise.
#[cfg(all(feature = "codegen", feature = "cuda"))]
pub(crate) fn for_device(target: &compile::Target, capability: u32) -> Result<compile::Target> {
    match target.kind {
        fuser_target::Kind::Cuda => return Ok(*target),
        fuser_target::Kind::Hip => {
            let message = format!("no device runs code for the target '{}'", target.name);
            let unknown = &compile::UNKNOWN_TARGET;
            let error = fuser_ir::Diagnostic::error(unknown, fuser_ir::Place::Unknown, message);
            return Err(error::one(error.help("fuser-translate writes it")));
        }
        fuser_target::Kind::Cpu => {}
    }
    let found = compile::Target::for_device(capability.into());
    found.ok_or_else(|| {
        let name = format!("cuda:sm_{capability}");
        let message = format!("no code is made for this GPU, '{name}'");
        let unknown = &compile::UNKNOWN_TARGET;
        let error = fuser_ir::Diagnostic::error(unknown, fuser_ir::Place::Unknown, message);
        error::one(
            error.help("GPUs of compute capability 8.0 and newer are supported; use --device=cpu"),
        )
    })
}

#[cfg(feature = "codegen")]
fn run_options(repeats: u32) -> fuser_runtime::RunOptions {
    fuser_runtime::RunOptions {
        warmup: 1,
        repeats,
        checks: false,
    }
}

#[cfg(feature = "codegen")]
fn execution(done: fuser_runtime::cpu::RunResult, compile_ms: f64) -> Execution {
    Execution {
        outputs: done.outputs,
        time_ms: done.report.total_ms,
        compile_ms,
        run: Some(done.report),
    }
}

/// The error bounds that the compiled math library states.
#[cfg(feature = "codegen")]
pub fn promised_ulps() -> MathUlps {
    let functions = fuser_codegen::math::FUNCTIONS.iter();
    MathUlps {
        functions: functions.map(|f| (f.name.to_string(), f.max_ulp)).collect(),
        ..MathUlps::default()
    }
}

#[cfg(not(feature = "codegen"))]
pub fn promised_ulps() -> MathUlps {
    MathUlps::default()
}
