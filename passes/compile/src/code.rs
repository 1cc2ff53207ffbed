//! The last step: machine code for the kernels of a lowered program.

use fuser_artifact::limits::BUFFER_ALIGN;
use fuser_artifact::{Artifact, Step};
use fuser_codegen::Cache;
use fuser_codegen::lower::{self as codegen, Around, Emission, Multiprocessor, Options};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};

use super::{
    CompileOptions, Compiled, Launched, Lowered, NO_PLAN, Target, UNKNOWN_TARGET, Versions,
};

/// Compiles `module` for the target of `options`: the versions of its program up to the one for the given extents.
pub fn compile(ir: &Ir, module: Op, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    let shapes = options.shapes.iter();
    let given = shapes.map(|(name, &n)| (name.clone(), i64::try_from(n).unwrap_or(i64::MAX)));
    Versions::new(ir.clone(), module, options).chain(&given.collect())
}

impl Launched {
    fn kernels(&self) -> codegen::Kernels<'_> {
        codegen::Kernels {
            funcs: &self.funcs,
            products: &self.products,
        }
    }
}

/// The artifact of a lowered program, with the code of its kernels. `length` gives the lengths of named extents that
/// determine the sizes of results.
pub(super) fn generate(
    ir: &Ir,
    module: Op,
    lowered: &Lowered,
    options: &CompileOptions,
    length: impl Fn(&str) -> Option<u64>,
) -> Result<Artifact, Diagnostics> {
    let _stage = options.stage("Codegen");
    let mut artifact = lowered.artifact.clone();
    let cache = options.cache.as_deref();
    let target = backend(&options.target, cache)?;
    artifact.target = describe(&target);
    let codegen = Options {
        noalias: !artifact.steps.iter().any(is_in_place),
        ..codegen_options(&options.target)
    };
    let mut results = codegen::buffer_bytes(ir, module, |name| length(ir.str(name)));
    for (kernel, argument) in between_lines(&artifact) {
        let kernel = lowered.launched.funcs.get(kernel as usize);
        let symbol = kernel.and_then(|&kernel| ir.strings.lookup(ir.symbol_name(kernel)?));
        let bytes = symbol.and_then(|symbol| results.get_mut(&symbol)?.get_mut(argument));
        // Nothing is stored past the caches there.
        if let Some(bytes) = bytes {
            *bytes = 0;
        }
    }
    let kernels = lowered.launched.kernels();
    let tell = |done, all| options.progress.tell("compiling kernels", done, all);
    let around = Around {
        cache,
        told: Some(&tell),
    };
    let compile =
        |codegen| codegen::compile_kernels(ir, kernels, &target, codegen, &results, around);
    artifact.kernels = compile(codegen)?;
    if options.any_address && options.target.abilities().block_threads {
        let others = compile(Options {
            any_address: true,
            ..codegen
        })?;
        for (kernel, other) in artifact.kernels.iter_mut().zip(others) {
            kernel.any_address = Some(other.code);
        }
    }
    Ok(artifact)
}

/// The arguments of kernels that are parts of buffers between two lines of the cache: the kernel's number and the
/// argument's.
fn between_lines(artifact: &Artifact) -> impl Iterator<Item = (u32, usize)> {
    let between = |buffer: &u32| {
        let part = artifact.buffers.get(*buffer as usize)?.part()?;
        Some(!part.1.is_multiple_of(BUFFER_ALIGN as u64))
    };
    artifact.steps.iter().flat_map(move |step| {
        let (kernel, buffers) = match step {
            Step::Launch {
                kernel, buffers, ..
            } => (*kernel, &buffers[..]),
            _ => (0, &[][..]),
        };
        let arguments = buffers.iter().enumerate();
        let arguments = arguments.filter(move |(_, buffer)| between(buffer) == Some(true));
        arguments.map(move |(argument, _)| (kernel, argument))
    })
}

/// True if a launch has one buffer twice: it writes over its input.
fn is_in_place(step: &Step) -> bool {
    let Step::Launch { buffers, .. } = step else {
        return false;
    };
    let mut sorted = buffers.clone();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// The kernels of a lowered module, and its products that are kernels, as text; for unaligned tensors if `options`
/// permit them.
pub fn emit(
    ir: &Ir,
    module: Op,
    kernels: &Launched,
    options: &CompileOptions,
    what: Emission,
) -> Result<String, Diagnostics> {
    let backend = backend(&options.target, None)?;
    let codegen = Options {
        any_address: options.any_address,
        ..codegen_options(&options.target)
    };
    codegen::emit(ir, module, kernels.kernels(), &backend, codegen, what)
}

fn codegen_options(target: &Target) -> Options {
    Options {
        stream_beyond: target.last_cache_bytes,
        ask_ahead: target.ask_ahead_bytes,
        approximate: target.approximate != 0,
        contract: target.contract != 0,
        multiprocessor: Multiprocessor {
            number: target.workers,
            shared_bytes: target.shared_per_sm,
            reserved_bytes: target
                .shared_per_sm
                .saturating_sub(target.shared_per_block_optin),
            registers: target.registers,
            threads: target.resident_threads,
        },
        ..Options::default()
    }
}

fn backend(
    target: &Target,
    cache: Option<&dyn Cache>,
) -> Result<fuser_codegen::Target, Diagnostics> {
    fuser_codegen::Target::of(target, cache).map_err(|e| {
        let error = |code| Diagnostic::error(code, Place::Unknown, e.to_string());
        let own = e.code().map(|(code, help)| error(code).help(help));
        Diagnostics {
            items: vec![own.unwrap_or_else(|| error(&UNKNOWN_TARGET))],
        }
    })
}

fn describe(target: &fuser_codegen::Target) -> fuser_artifact::Target {
    match target {
        fuser_codegen::Target::Cuda { sm } => {
            let digits: String = sm.chars().filter(char::is_ascii_digit).collect();
            fuser_artifact::Target::Cuda {
                sm: digits.parse().unwrap_or(0),
            }
        }
        fuser_codegen::Target::Hip { processor } => fuser_artifact::Target::Hip {
            processor: (*processor).into(),
        },
        fuser_codegen::Target::Cpu {
            triple,
            cpu,
            features,
        } => fuser_artifact::Target::Cpu {
            triple: triple.clone(),
            cpu: cpu.clone(),
            features: features.clone(),
        },
    }
}

/// The artifact's own validation. A failure is a bug of the planner, reported as a diagnostic.
pub(super) fn check(artifact: &Artifact) -> Result<(), Diagnostics> {
    artifact.validate().map_err(|e| {
        let message = format!("the launch plan is not valid: {e}");
        Diagnostics {
            items: vec![
                Diagnostic::error(&NO_PLAN, Place::Unknown, message).help("report this program"),
            ],
        }
    })
}
