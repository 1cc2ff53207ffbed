//! A program whose versions are compiled on demand, each when extents first require it.
//!
//! ```
//! use fuser::compile::CompileOptions;
//! use fuser::session::Session;
//!
//! let text = "task.program @f(%x: tensor<[N]x64xf32>) -> tensor<[N]x64xf32> { %y = fusion.neg %x\n task.return %y }";
//! let session = Session::new(Default::default()).unwrap();
//! let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
//! let loaded = session.load(ir, module, None).unwrap();
//! let program = session.program(&loaded, &CompileOptions::default());
//! for rows in [3, 5] {
//!     let inputs = session.resolve(&loaded, &Default::default(), &[("N".to_string(), rows)].into()).unwrap();
//!     let run = program.run(&session, &inputs, 1).unwrap();
//!     assert_eq!(run.outputs[0].axes()[0].extent, rows as usize);
//! }
//! ```
//!
//! Several threads may use it. An error is returned from every call that requires the failed version.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use fuser_artifact::Artifact;
use fuser_ir::loc::LocKind;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, Op};
use fuser_passes::report::Report;
#[cfg(feature = "cuda")]
use fuser_runtime::cuda::{CudaDevice, CudaExecutable, CudaProgram};
use fuser_runtime::{CpuProgram, Executable, Explicit, Inputs, RuntimeError};
use serde_json::json;

use super::store::Store;
use super::{Devices, Execution, Loaded, Result, Session, Source};
use crate::compile::{self, Classes, CompileOptions, Compiled, Drawn, Loader, Versions};
use crate::tool::load::Reader;

/// A program for the CPU, or for a GPU as `Program<CudaProgram>`, of which only the required versions are compiled.
/// Versions in the cache of its options are loaded without planning or compilation.
pub struct Program<P = CpuProgram> {
    /// The text that is parsed when a version is not in the cache; `None` for a program built from a module.
    source: Option<Arc<Source>>,
    versions: OnceLock<Versions>,
    options: CompileOptions,
    /// The names of its extents, as inputs give them.
    extents: Vec<String>,
    load: Load<P>,
    /// The code of versions, by number.
    loaded: Mutex<BTreeMap<usize, Arc<P>>>,
    kept: Option<Kept>,
}

/// Takes code to where it runs.
type Load<P> = Box<dyn Fn(Artifact) -> std::result::Result<P, RuntimeError> + Send + Sync>;

/// A program as it is given: parsed, or as text.
pub enum Origin<'a> {
    /// A module.
    Loaded(&'a Loaded),
    /// A text.
    Source(&'a Arc<Source>),
}

impl<'a> From<&'a Loaded> for Origin<'a> {
    fn from(loaded: &'a Loaded) -> Self {
        Self::Loaded(loaded)
    }
}

impl<'a> From<&'a Arc<Source>> for Origin<'a> {
    fn from(source: &'a Arc<Source>) -> Self {
        Self::Source(source)
    }
}

/// The versions of a program that a cache has.
struct Kept {
    store: Store,
    /// The machine and the options, which entries are for besides the program.
    of: String,
    /// The program's symbol; the module may have others, which it runs.
    symbol: String,
    /// The name of the program's text, if it is one: entries are for the text, under any name.
    name: Option<String>,
    classes: Mutex<Classes>,
}

/// Gives ops that stand in the text `old` the same place in the text `new`.
fn rename_places(ir: &mut Ir, module: Op, old: &str, new: &str) {
    let new = ir.sym(new);
    for op in ir.walk(module) {
        if let LocKind::File { file, line, column } = *ir.loc_kind(ir.op_loc(op))
            && ir.str(file) == old
        {
            let loc = ir.loc(LocKind::File {
                file: new,
                line,
                column,
            });
            ir.set_loc(op, loc);
        }
    }
}

impl Kept {
    fn new(
        options: &CompileOptions,
        (symbol, name): (&str, Option<&str>),
        program: impl FnOnce() -> String,
    ) -> Option<Self> {
        let store = Store::of(options, program)?;
        // A machine that is not known is told by who compiles.
        let machine = fuser_codegen::Target::of(&options.target, options.cache.as_deref()).ok()?;
        let of = format!("{machine:?}\n{}", options.identity());
        let classes = store.read(&format!("classes {of}")).unwrap_or_default();
        Some(Self {
            store,
            of,
            symbol: symbol.to_owned(),
            name: name.map(str::to_owned),
            classes: Mutex::new(classes),
        })
    }
    fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn artifact(&self, number: usize) -> Option<Artifact> {
        let bytes = self.store.get(&format!("artifact {number} {}", self.of))?;
        Artifact::from_bytes(&bytes).ok()
    }
    fn drawn(&self, number: usize) -> Option<Drawn> {
        let bytes = self.store.get(&format!("drawn {number} {}", self.of))?;
        let text = String::from_utf8(bytes).ok()?;
        let (kept, text) = text.split_once('\n')?;
        let kept: Option<String> = serde_json::from_str(kept).ok()?;
        let reader = Reader::new(fuser_dialects::registry());
        let (mut ir, module) = reader.parse_again(text).ok()?;
        if let (Some(kept), Some(name)) = (&kept, &self.name) {
            rename_places(&mut ir, module, kept, name);
        }
        let program = compile::find_program(&ir, module, Some(&self.symbol)).ok()?;
        Some(Drawn { ir, program })
    }
    /// Keeps a version that was compiled, and under which extents it runs.
    fn keep(&self, number: usize, compiled: &Compiled, classes: Classes) {
        let Compiled {
            artifact, drawn, ..
        } = compiled;
        let Ok(bytes) = artifact.to_bytes() else {
            return;
        };
        let Drawn { ir, program } = &**drawn;
        let module = ir.parent_op(*program).unwrap_or(*program);
        let options = PrintOptions {
            debuginfo: self.name.is_some(),
            ..PrintOptions::default()
        };
        let name = json!(self.name);
        let text = format!("{name}\n{}", print(ir, module, &options));
        self.store
            .put(&format!("drawn {number} {}", self.of), text.as_bytes());
        self.store
            .put(&format!("artifact {number} {}", self.of), &bytes);
        let mut known = self.classes();
        if classes.tells_more_than(&known) {
            self.store.write(&format!("classes {}", self.of), &classes);
            *known = classes;
        }
    }
}

impl<P> Program<P> {
    fn loaded_by(load: Load<P>, origin: Origin<'_>, options: &CompileOptions) -> Self {
        let stage = options.stage("Cache");
        let (source, versions, extents, kept) = match origin {
            Origin::Loaded(loaded) => {
                let ir = loaded.alone();
                let text = || print(&ir, loaded.module, &PrintOptions::default());
                let symbol = loaded.ir.symbol_name(loaded.program).unwrap_or_default();
                let kept = Kept::new(options, (symbol, None), || {
                    format!("module {symbol}\n{}", text())
                });
                let versions = Versions::new(ir, loaded.module, options);
                (None, versions.into(), &loaded.signature.extents, kept)
            }
            Origin::Source(source) => {
                let kept = Kept::new(options, (source.symbol(), Some(source.name())), || {
                    source.identity()
                });
                let extents = &source.signature().extents;
                (Some(Arc::clone(source)), OnceLock::new(), extents, kept)
            }
        };
        drop(stage);
        Self {
            source,
            versions,
            options: options.clone(),
            extents: extents.clone(),
            load,
            loaded: Mutex::default(),
            kept,
        }
    }

    /// The versions, none of which is planned where all are in the cache.
    fn versions(&self) -> Result<&Versions> {
        match (self.versions.get(), &self.source) {
            (Some(versions), _) => Ok(versions),
            (None, Some(source)) => {
                let loaded = source.loaded()?;
                let make = || Versions::new(loaded.alone(), loaded.module, &self.options);
                Ok(self.versions.get_or_init(make))
            }
            // A program has one or the other.
            (None, None) => Err(fuser_ir::Diagnostics::default().into()),
        }
    }

    /// The number of versions that are known so far.
    fn known(&self) -> usize {
        let planned = self.versions.get().map_or(0, Versions::known);
        let kept = self.kept.as_ref().map_or(0, |kept| kept.classes().known);
        planned.max(kept)
    }

    /// The version that runs under these extents, by number, with its code.
    fn version(&self, extents: &Explicit) -> Result<(usize, Arc<P>)> {
        if let Some(found) = self.kept_version(extents) {
            return Ok(found);
        }
        let versions = self.versions()?;
        let version = versions.version(extents)?;
        let number = version.number;
        let mut loaded = self.all_loaded();
        if let Some(program) = loaded.get(&number) {
            return Ok((number, Arc::clone(program)));
        }
        let stage = self.options.stage("Loader");
        let program = Arc::new((self.load)(version.compiled.artifact.clone())?);
        drop(stage);
        loaded.insert(number, Arc::clone(&program));
        drop(loaded);
        if let Some(kept) = &self.kept {
            let _stage = self.options.stage("Cache");
            kept.keep(number, version.compiled, versions.classes(extents)?);
        }
        Ok((number, program))
    }

    /// The version for these extents from the cache; `None` if the cache lacks it or it cannot be loaded.
    fn kept_version(&self, extents: &Explicit) -> Option<(usize, Arc<P>)> {
        let kept = self.kept.as_ref()?;
        let number = kept.classes().find(extents)?;
        if let Some(program) = self.all_loaded().get(&number) {
            return Some((number, Arc::clone(program)));
        }
        let stage = self.options.stage("Cache");
        let artifact = kept.artifact(number)?;
        drop(stage);
        let _stage = self.options.stage("Loader");
        let program = Arc::new((self.load)(artifact).ok()?);
        let mut loaded = self.all_loaded();
        let program = loaded.entry(number).or_insert(program);
        Some((number, Arc::clone(program)))
    }

    fn all_loaded(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<P>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The traffic of the version that runs on these inputs, segment by segment.
    ///
    /// # Errors
    /// A program that cannot be compiled.
    pub fn report(&self, inputs: &Inputs) -> Result<Report> {
        let extents = self.named(inputs);
        let lengths: Vec<_> = (inputs.extents.iter())
            .map(|&n| u64::try_from(n).ok())
            .collect();
        let report = |drawn: &Drawn| {
            let program = (&drawn.ir, drawn.program);
            let mut report =
                super::traffic_of(program, &self.extents, &lengths, Some(&self.options));
            if self.source.is_none() {
                // Entries of a module are for all modules that print like it, wherever their ops stand.
                let segments = report.segments.iter_mut();
                segments.for_each(|segment| segment.lines.clear());
            }
            report
        };
        if self
            .versions
            .get()
            .is_none_or(|versions| versions.known() == 0)
            && let Some(kept) = &self.kept
            && let Some(number) = kept.classes().find(&extents)
            && let Some(drawn) = kept.drawn(number)
        {
            return Ok(report(&drawn));
        }
        Ok(report(&self.versions()?.version(&extents)?.compiled.drawn))
    }

    /// The extents of inputs by name.
    fn named(&self, inputs: &Inputs) -> Explicit {
        let names = self.extents.iter().cloned();
        names.zip(inputs.extents.iter().copied()).collect()
    }

    /// Runs a version, as `run` does.
    fn run_by(
        &self,
        inputs: &Inputs,
        run: impl FnOnce(
            &Arc<P>,
            &Explicit,
        ) -> std::result::Result<fuser_runtime::RunResult, RuntimeError>,
    ) -> Result<Execution> {
        let start = Instant::now();
        let extents = self.named(inputs);
        let (number, program) = self.version(&extents)?;
        let compile_ms = start.elapsed().as_secs_f64() * 1e3;
        let stage = self.options.stage("Run");
        let mut done = run(&program, &extents)?;
        drop(stage);
        done.report.version = Some((number, self.known()));
        Ok(super::execution(done, compile_ms))
    }
}

impl Program {
    pub(super) fn new(origin: Origin<'_>, options: &CompileOptions) -> Self {
        let load = Box::new(|artifact| CpuProgram::load(artifact, &Loader));
        Self::loaded_by(load, origin, options)
    }

    /// Runs the program `repeats` times after an untimed run. A program for several devices runs on all of them, as
    /// threads of this process.
    pub fn run(&self, session: &Session, inputs: &Inputs, repeats: u32) -> Result<Execution> {
        self.run_on(session, inputs, repeats, &mut Devices::default())
    }

    /// As [`run`](Self::run), on these devices.
    pub fn run_on(
        &self,
        session: &Session,
        inputs: &Inputs,
        repeats: u32,
        devices: &mut Devices<'_>,
    ) -> Result<Execution> {
        let options = super::run_options(repeats);
        self.run_by(inputs, |program, extents| {
            devices.run(program, &session.runtime, inputs, extents, &options)
        })
    }

    /// The program bound to `extents`, which must name every extent. The executable runs on the caller's memory any
    /// number of times, without checking shapes or allocating from the heap.
    pub fn bind(&self, session: &Session, extents: &Explicit) -> Result<Executable> {
        let (_, program) = self.version(extents)?;
        Ok(Executable::new(&session.runtime, program, extents)?)
    }
}

#[cfg(feature = "cuda")]
impl Program<CudaProgram> {
    /// The program for a device; `options` name a GPU whose code the device can run.
    pub(super) fn on(device: &CudaDevice, origin: Origin<'_>, options: &CompileOptions) -> Self {
        let device = device.clone();
        let load = Box::new(move |artifact| CudaProgram::load(artifact, &device));
        Self::loaded_by(load, origin, options)
    }

    /// Runs the program on host tensors `repeats` times after an untimed run.
    pub fn run(&self, session: &Session, inputs: &Inputs, repeats: u32) -> Result<Execution> {
        let options = super::run_options(repeats);
        self.run_by(inputs, |program, extents| {
            program.run(&session.runtime, &inputs.tensors, extents, &options)
        })
    }

    /// The program bound to `extents`, which must name every extent. The executable runs on the caller's device
    /// pointers and stream.
    pub fn bind(&self, extents: &Explicit) -> Result<CudaExecutable> {
        let (_, program) = self.version(extents)?;
        Ok(CudaExecutable::new(program, extents)?)
    }
}
