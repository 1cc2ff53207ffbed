//! The library in five lines: a program from text, compiled, run on tensors.
//!
//! ```
//! use fuser::{Options, Program, Tensor};
//!
//! # fn main() -> Result<(), fuser::Error> {
//! let program = Program::parse("task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {
//!   %y = fusion.exp %x
//!   task.return %y
//! }")?;
//! let compiled = program.compile(&Options::default())?;
//! let outputs = compiled.run(&[Tensor::new(&[2], &[0.0f32, 1.0])?])?;
//! assert_eq!(outputs[0].shape(), [2]);
//! assert_eq!(outputs[0].to_vec::<f32>()?[0], 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Program`] | a verified program, its signature, its segments |
//! | [`Compiled`] | the program for this machine: versions of the code by extents, ready to be called from several threads |
//! | [`Tensor`] | elements in host memory, row-major |
//! | [`Options`] | target, GPU, threads, passes, cache |
//! | [`Error`] | a standard error: code, message, place and the rendered text |
//!
//! [`session`](crate::session) is the layer below, with every step by itself. Reads no files and no environment, but
//! for the cache that [`Options::with_cache`] asks for and the GPU that [`Gpu::open`] opens.

mod caller;
#[cfg(feature = "codegen")]
mod compiled;
mod error;
#[cfg(all(feature = "codegen", feature = "cuda"))]
mod gpu;
#[cfg(feature = "codegen")]
mod layout;
mod segments;
mod tensor;

use std::sync::Arc;

use fuser_frontends::Format;
use fuser_ir::print::{self, PrintOptions};
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostics, Ir, Op, Value};
use fuser_passes::report::Report;
#[cfg(feature = "codegen")]
use fuser_runtime::RuntimeConfig;

use crate::compile::CompileOptions;
use crate::explorer;
#[cfg(feature = "codegen")]
use crate::session::SessionError;
use crate::session::{Loaded, Session, Signature};
use crate::tool::load::Reader;

#[cfg(feature = "codegen")]
pub use compiled::{Bound, Compiled, Layouts, OutputType};
pub use error::Error;
pub use fuser_artifact::{DType, DimSpec, TensorSpec};
pub use fuser_frontends::nvfuser::op_names as nvfuser_ops;
pub use fuser_ir::def::{ClauseKind, OpDef};
#[cfg(feature = "cuda")]
pub use fuser_runtime::cuda::{CudaGraph, DeviceMemory};
pub use fuser_runtime::memory::{Memory, Raw};
pub use fuser_runtime::{Axis, Heap, Pool, RuntimeError, element};
#[cfg(all(feature = "codegen", feature = "cuda"))]
pub use gpu::Gpu;
#[cfg(feature = "codegen")]
pub use layout::Layout;
pub use segments::{Drawing, SplitProgram, WhatIf};
pub use tensor::{Element, Tensor};

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

/// The ops of the `fusion` dialect, each a row of the compiler's table: name, definition, operands, clauses, results.
pub fn ops() -> &'static [&'static OpDef] {
    let mut dialects = fuser_dialects::DIALECTS.iter();
    let fusion = dialects.find(|dialect| dialect.name == "fusion");
    fusion.map_or(&[], |dialect| dialect.ops)
}

/// A verified program.
#[derive(Clone)]
pub struct Program {
    loaded: Arc<Loaded>,
    sources: SourceMap,
    warnings: Vec<Error>,
}

/// The options of a compilation.
#[derive(Clone)]
pub struct Options {
    /// Target, extents that decisions are made for, executors, passes and the cache.
    pub compile: CompileOptions,
    /// The session with threads and memory, which several programs may share; without one, a program has its own.
    pub session: Option<Arc<Session>>,
    /// The threads of a program without a session; by default, as many as the machine runs at a time.
    pub threads: Option<usize>,
    /// The GPU that programs run on; `None` for the CPU. [`with_gpu`](Self::with_gpu) sets it.
    #[cfg(all(feature = "codegen", feature = "cuda"))]
    pub gpu: Option<Gpu>,
}

impl Default for Options {
    /// This machine as the target, all executors, no cache.
    fn default() -> Self {
        let compile = CompileOptions {
            target: crate::tool::target::host(),
            ..CompileOptions::default()
        };
        Self {
            compile,
            session: None,
            threads: None,
            #[cfg(all(feature = "codegen", feature = "cuda"))]
            gpu: None,
        }
    }
}

impl Options {
    /// Adds a cache on disk, from which code compiled earlier by any process is loaded. It lies in `folder`; by
    /// default, in the folder that `fuser-run` uses (`FUSER_CACHE_DIR`, else the user's cache folder).
    #[cfg(feature = "codegen")]
    #[must_use]
    pub fn with_cache(mut self, folder: Option<std::path::PathBuf>) -> Self {
        let wanted = crate::tool::cache::Wanted { off: false, folder };
        self.compile.cache = wanted.open().map(|cache| cache as _);
        self
    }

    /// Validates a list of executor names.
    ///
    /// # Errors
    /// An unknown executor.
    pub fn executors(names: String) -> Result<String> {
        let wrong = |message| {
            let code = &fuser_pass::codes::OPTION_VALUE;
            let error = fuser_ir::Diagnostic::error(code, fuser_ir::Place::Unknown, message);
            Error::of(vec![error], &SourceMap::default())
        };
        let known = fuser_passes::executors::check(&names);
        known.map_err(wrong).map(|()| names)
    }

    /// The target with this name, such as `cpu` for this machine or `h100`.
    ///
    /// # Errors
    /// An unknown target.
    pub fn target(name: &str) -> Result<crate::compile::Target> {
        let found = crate::tool::target::by_name(name);
        found.map_err(|items| Error::of(items, &SourceMap::default()))
    }
}

impl Program {
    /// Parses and verifies the text of a module with one program.
    ///
    /// # Errors
    /// All mistakes of the text, in one error.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_named("program.fir", text, None)
    }

    /// Parses text under the file name `name`; `program` chooses one of several programs.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); a module without that program, or with several and no choice.
    pub fn parse_named(name: &str, text: &str, program: Option<&str>) -> Result<Self> {
        Self::read(name, text, program, |file| {
            Reader::new(fuser_dialects::registry()).load(file, name, text)
        })
    }

    /// Imports StableHLO in MLIR's text form, the output of `jax.jit(f).lower(...).as_text()`.
    ///
    /// # Errors
    /// All unsupported ops and all mistakes, in one error.
    pub fn import_stablehlo(text: &str) -> Result<Self> {
        Self::import(Format::StableHlo, "program.mlir", text)
    }

    /// Reads the Python text of an nvFuser definition.
    ///
    /// # Errors
    /// As [`import_stablehlo`](Self::import_stablehlo).
    pub fn import_nvfuser(text: &str) -> Result<Self> {
        Self::import(Format::NvFuser, "program.py", text)
    }

    fn import(format: Format, name: &str, text: &str) -> Result<Self> {
        let registry = fuser_dialects::registry();
        let numbers = Default::default();
        Self::read(name, text, None, |file| {
            fuser_frontends::import(format, &registry, file, name, text, &numbers)
        })
    }

    fn read(
        name: &str,
        text: &str,
        program: Option<&str>,
        read: impl FnOnce(u32) -> std::result::Result<(Ir, Op, Diagnostics), Diagnostics>,
    ) -> Result<Self> {
        let mut sources = SourceMap::default();
        let file = sources.add(name, text);
        let wrong = |list: Diagnostics| Error::of(list.items, &sources);
        let (ir, module, warnings) = read(file).map_err(wrong)?;
        let loaded = Session::load_module(ir, module, program);
        let empty = Ir::new(fuser_dialects::registry());
        let loaded = loaded.map_err(|error| Error::of(error.diagnostics(&empty), &sources))?;
        let each = warnings.items.into_iter();
        let warnings = each.map(|one| Error::of(vec![one], &sources)).collect();
        Ok(Self {
            loaded: Arc::new(loaded),
            sources,
            warnings,
        })
    }

    /// The symbol of the program, without `@`.
    pub fn name(&self) -> &str {
        let Loaded { ir, program, .. } = &*self.loaded;
        ir.symbol_name(*program).unwrap_or("")
    }

    /// Named extents, inputs and names of outputs.
    pub fn signature(&self) -> &Signature {
        &self.loaded.signature
    }

    /// For each output, the input that it overwrites; `None` for an output with memory of its own.
    pub fn aliases(&self) -> Vec<Option<usize>> {
        let Loaded {
            ir,
            program,
            signature,
            ..
        } = &*self.loaded;
        let outputs = 0..signature.output_names.len();
        let of = |output| fuser_dialects::task::updates::argument(ir, *program, output);
        outputs.map(of).collect()
    }

    /// The warnings of the text.
    pub fn warnings(&self) -> &[Error] {
        &self.warnings
    }

    /// The module as text.
    pub fn text(&self) -> String {
        let Loaded { ir, module, .. } = &*self.loaded;
        print::print(ir, *module, &PrintOptions::default())
    }

    /// The type of the value named `name` (without `%`) as text; `None` if there is no such value.
    pub fn type_of(&self, name: &str) -> Option<String> {
        let Loaded { ir, module, .. } = &*self.loaded;
        let named = |value: &Value| ir.value_name(*value) == Some(name);
        let found = ir.walk(*module).into_iter().find_map(|op| {
            let parameters = ir.body(op, 0).map_or(&[][..], |body| ir.args(body));
            let mut values = ir.results(op).iter().chain(parameters);
            values.find(|value| named(value)).copied()
        });
        found.map(|value| print::print_type(ir, ir.value_type(value)))
    }

    /// The segments with their ops and bytes, and the values that cross between them, from shapes alone. Bytes are
    /// numbers if `options` give all extents, else polynomials in their names.
    ///
    /// # Errors
    /// A program that cannot be segmented for the target.
    pub fn segments(&self, options: &Options) -> Result<Report> {
        let report = Session::report_segments(&self.loaded, &options.compile);
        report.map_err(|list| Error::of(list.items, &self.sources))
    }

    /// The explorer page with the graph of the program, the decisions, and the text around each pass: docs/explorer.md.
    ///
    /// # Errors
    /// As [`segments`](Self::segments).
    pub fn page(&self, options: &Options) -> Result<String> {
        let report = serde_json::to_value(self.segments(options)?).unwrap_or_default();
        let module = Session::record_open(&self.loaded, &options.compile);
        let mut module = module.map_err(|list| Error::of(list.items, &self.sources))?;
        explorer::take_report(&mut module, self.name(), report);
        let source = self.sources.get(0);
        let origin = explorer::Origin {
            tool: "fuser",
            file: source.map_or("", |source| source.name()),
            text: source.map_or("", |source| source.text()),
        };
        Ok(explorer::page(&explorer::data(&origin, vec![module])))
    }

    /// The module as text after the passes up to segmentation.
    ///
    /// # Errors
    /// As [`segments`](Self::segments).
    pub fn segmented_text(&self, options: &Options) -> Result<String> {
        let Loaded { ir, module, .. } = &*self.loaded;
        let mut ir = ir.clone();
        let run = crate::compile::run_front(&mut ir, *module, &options.compile);
        run.map_err(|list| Error::of(list.items, &self.sources))?;
        Ok(print::print(&ir, *module, &PrintOptions::default()))
    }

    /// Compiles the program for the CPU, or for the GPU of the options. A version of the code is created when extents
    /// first require it, or immediately if `options` give all extents.
    ///
    /// # Errors
    /// A program that cannot be compiled for the target, which is a GPU or has instructions that this machine lacks.
    #[cfg(feature = "codegen")]
    pub fn compile(&self, options: &Options) -> Result<Compiled> {
        let session = match &options.session {
            Some(session) => Arc::clone(session),
            None => Arc::new(self.told(Session::new(RuntimeConfig {
                threads: options.threads,
                memory_limit: None,
            }))?),
        };
        Compiled::new(
            session,
            Arc::clone(&self.loaded),
            self.sources.clone(),
            options,
        )
    }

    #[cfg(feature = "codegen")]
    fn told<T>(&self, result: std::result::Result<T, SessionError>) -> Result<T> {
        result.map_err(|error| Error::of(error.diagnostics(&self.loaded.ir), &self.sources))
    }
}
