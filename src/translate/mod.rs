//! `fuser-translate`: a program in another form: kernels, LLVM IR, assembly, PTX, an artifact.
//!
//! Runs the same pipeline as `fuser-run` and stops where `--emit` says. Text goes to stdout or `-o`, everything else to
//! stderr; a file is written whole or not at all. With `--split-segments` the result is a folder of programs. Works on any machine: emitting PTX needs no GPU.

pub mod args;
mod folder;

pub use args::{has, manual};

use std::path::Path;

use crate::compile::Launched;
use fuser_ir::print::{self, PrintOptions};
use fuser_ir::source::SourceMap;
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op};

use fuser_target::{A100, Kind};

use crate::compile::{self, CompileOptions, ProgressSink, Target};
use crate::split::MAP;
use crate::tool::files::claims::{self, Claim};
use crate::tool::files::{self, Limit};
use crate::tool::foreign;
use crate::tool::load::{Reader, display_name};
use crate::tool::{self, Exit, Progress};
use args::{Config, Emit, Parsed};

/// Runs `fuser-translate` with these arguments, without the program's name.
pub fn run(args: &[String]) -> Exit {
    match args::parse(args) {
        Ok(Parsed::Translate(config)) => tool::guarded(|| with_target(*config)),
        Ok(Parsed::Tell(text)) => finish(files::write("-", &text)),
        Err(errors) => tool::usage(NAME, &errors),
    }
}

/// The name in messages.
const NAME: &str = "fuser-translate";
/// The step that a line of progress names.
const COMPILING: &str = "compiling";

/// The passes that run before complex numbers are exported by their parts.
const BY_PARTS: &str = "builtin.module(task.program(split-complex))";

/// Determines the target and runs the rest. Printed programs are the same on every machine; machine code is for this
/// one.
fn with_target(config: Config) -> Exit {
    let mut sources = SourceMap::default();
    if let Some(exit) = tool::wrong_passes(config.passes.as_deref()) {
        return exit;
    }
    let default = || match config.emit {
        Emit::Ptx => A100,
        Emit::Program | Emit::Export(_) | Emit::Kernel => Target::default(),
        Emit::LlvmIr | Emit::Asm | Emit::Artifact => tool::target::host(),
    };
    let mut add = |name: &str, text: &str| sources.add(name, text);
    match config.wanted.target(default, &mut add) {
        Ok(target) if config.emit == Emit::Ptx && target.kind != Kind::Cuda => {
            let error = "'--emit=ptx' needs a target of kind cuda: '--target=cuda:sm_90'";
            tool::usage(NAME, &[error.into()])
        }
        Ok(target) if config.any_address && !target.abilities().block_threads => {
            let error = "'--any-address' needs a GPU target: '--target=cuda:sm_90'";
            tool::usage(NAME, &[error.into()])
        }
        Ok(target) => file(&Config { target, ..config }),
        Err(errors) => tool::tell(&sources, errors),
    }
}

fn file(config: &Config) -> Exit {
    if let Err(message) = claims::check(&config.claims()) {
        return tool::usage(NAME, &[message]);
    }
    let text = match files::read(&config.file, Limit::default()) {
        Ok(text) => text,
        Err(message) => return finish(Err(message)),
    };
    let mut sources = SourceMap::default();
    let id = sources.add(display_name(&config.file), text.as_str());
    if let Some(folder) = &config.split {
        return split(config, &sources, id, &text, Path::new(folder));
    }
    let progress = Progress::start(NAME, COMPILING);
    let translated = translate(config, id, &text, progress.sink());
    drop(progress);
    match translated {
        Ok((result, warnings)) => {
            tool::tell(&sources, warnings.items);
            finish(files::write(&config.output, &result))
        }
        Err(found) => tool::tell(&sources, found.items),
    }
}

fn finish(written: Result<(), String>) -> Exit {
    match written {
        Ok(()) => Exit::Ok,
        Err(message) => tool::complain(NAME, &message),
    }
}

/// Writes the parts of the program, if the program and the folder are valid.
fn split(config: &Config, sources: &SourceMap, id: u32, text: &str, folder: &Path) -> Exit {
    let progress = Progress::start(NAME, COMPILING);
    let parts = load(config, id, text).and_then(|(ir, module, warnings)| {
        tool::tell(sources, warnings.items);
        let options = options(config);
        let program = compile::find_program(&ir, module, options.program.as_deref())?;
        let split = crate::split::split(&ir, program, &options)?;
        folder::check(folder).map(|old| (old, split))
    });
    drop(progress);
    match parts {
        Ok((old, split)) => {
            let mut claims = config.claims();
            let files = split.files.iter().map(|(file, _)| file.as_str());
            claims.extend(
                files
                    .chain([MAP])
                    .map(|file| Claim::written("--split-segments", folder.join(file))),
            );
            match claims::check(&claims) {
                Ok(()) => finish(folder::write(folder, &old, &split)),
                Err(message) => tool::usage(NAME, &[message]),
            }
        }
        Err(found) => tool::tell(sources, found.items),
    }
}

/// The module of the file, with the warnings of its import; warnings of a program's own text are reported when it is
/// compiled.
fn load(config: &Config, id: u32, text: &str) -> Result<(Ir, Op, Diagnostics), Diagnostics> {
    let name = display_name(&config.file);
    let registry = fuser_dialects::registry();
    let Some(format) = config.import else {
        let (ir, module, _) = Reader::new(registry).load(id, name, text)?;
        return Ok((ir, module, Diagnostics::default()));
    };
    let imported = fuser_frontends::import(format, &registry, id, name, text, &config.lengths);
    imported.map_err(|errors| foreign::in_place_of(format, &registry, id, name, text, errors))
}

fn options(config: &Config) -> CompileOptions {
    CompileOptions {
        target: config.target,
        program: config.entry.clone(),
        passes: config.passes.clone(),
        executors: config.executors.clone(),
        any_address: config.any_address,
        #[cfg(feature = "codegen")]
        cache: config.cache.open().map(|cache| cache as _),
        ..CompileOptions::default()
    }
}

fn translate(
    config: &Config,
    id: u32,
    text: &str,
    progress: ProgressSink,
) -> Result<(String, Diagnostics), Diagnostics> {
    let (mut ir, module, mut warnings) = load(config, id, text)?;
    let options = CompileOptions {
        progress,
        ..options(config)
    };
    let (text, told) = emit(&mut ir, module, config, &options)?;
    warnings.items.extend(told.items);
    Ok((text, warnings))
}

fn emit(
    ir: &mut Ir,
    module: Op,
    config: &Config,
    options: &CompileOptions,
) -> Result<(String, Diagnostics), Diagnostics> {
    match config.emit {
        Emit::Artifact => return artifact(ir, module, options),
        Emit::Program | Emit::Export(_) if options.program.is_some() => {
            let program = compile::find_program(ir, module, options.program.as_deref())?;
            compile::keep_only(ir, module, program);
        }
        _ => {}
    }
    let printing = PrintOptions {
        debuginfo: config.places,
        ..PrintOptions::default()
    };
    match config.emit {
        Emit::Program => {
            let text = print::print(ir, module, &printing);
            return Ok((text, Diagnostics::default()));
        }
        Emit::Export(format) => {
            if fuser_frontends::needs_parts(format, ir, module) {
                compile::run_passes(ir, module, BY_PARTS)?;
            }
            let text = fuser_frontends::export(format, ir, module)?;
            return Ok((text, Diagnostics::default()));
        }
        _ => {}
    }
    let (lowered, launched) = lower_if_needed(ir, module, options)?;
    let text = match config.emit {
        Emit::Program | Emit::Kernel => print::print(ir, module, &printing),
        other => code(ir, module, &launched, other, options)?,
    };
    Ok((text, lowered))
}

/// Lowers the module unless it already contains kernels, so that the output of `--emit=kernel` can be edited and read
/// again.
fn lower_if_needed(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
) -> Result<(Diagnostics, Launched), Diagnostics> {
    let has_kernels = ir
        .children(module)
        .iter()
        .any(|&op| ir.is(op, &fuser_dialects::kernel::FUNC));
    if has_kernels {
        let launched = compile::launched(ir, module, options);
        return Ok((Diagnostics::default(), launched));
    }
    compile::lower(ir, module, options).map(|l| (l.diagnostics, l.launched))
}

#[cfg(feature = "codegen")]
fn artifact(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
) -> Result<(String, Diagnostics), Diagnostics> {
    let compiled = compile::compile(ir, module, options)?;
    let json = compiled
        .artifact
        .to_json()
        .map_err(|e| no_plan(e.to_string()))?;
    Ok((json, compiled.diagnostics))
}

#[cfg(feature = "codegen")]
fn no_plan(message: String) -> Diagnostics {
    let place = fuser_ir::Place::Unknown;
    Diagnostics {
        items: vec![Diagnostic::error(&compile::NO_PLAN, place, message)],
    }
}

#[cfg(feature = "codegen")]
fn code(
    ir: &Ir,
    module: Op,
    launched: &Launched,
    emit: Emit,
    options: &CompileOptions,
) -> Result<String, Diagnostics> {
    use fuser_codegen::lower::Emission;
    let what = if emit == Emit::LlvmIr {
        Emission::LlvmIr
    } else {
        Emission::Assembly
    };
    compile::emit(ir, module, launched, options, what)
}

#[cfg(not(feature = "codegen"))]
fn artifact(_: &mut Ir, _: Op, _: &CompileOptions) -> Result<(String, Diagnostics), Diagnostics> {
    Err(without_code())
}

#[cfg(not(feature = "codegen"))]
fn code(_: &Ir, _: Op, _: &Launched, _: Emit, _: &CompileOptions) -> Result<String, Diagnostics> {
    Err(without_code())
}

#[cfg(not(feature = "codegen"))]
fn without_code() -> Diagnostics {
    let message = "unsupported: this build has no code generation";
    let error = Diagnostic::error(&compile::UNKNOWN_TARGET, fuser_ir::Place::Unknown, message);
    Diagnostics {
        items: vec![error.help("build it with the feature 'codegen', or use --emit=kernel")],
    }
}
