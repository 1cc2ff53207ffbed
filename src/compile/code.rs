//! The last step: machine code for the kernels of a lowered program.

use std::time::Instant;

use fuser_artifact::{Artifact, KernelCode, Step};
use fuser_codegen::load::Library;
use fuser_codegen::lower::{self as codegen, Emission, Options};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};
use fuser_runtime::{CodeLoader, CpuEntry, LoadError, LoadedCode};

use super::{CompileOptions, Compiled, Lowered, NO_PLAN, Target, UNKNOWN_TARGET, versions};

/// Compiles `module` for the target of `options`. The module is lowered in place, by the plan of the first version.
pub fn compile(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    let start = Instant::now();
    let mut compiled = versions::compile(ir, module, options)?;
    check(&compiled.artifact)?;
    compiled.compile_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(compiled)
}

/// Compiles `module` by one plan.
pub(super) fn compile_alone(
    ir: &mut Ir,
    module: Op,
    options: &CompileOptions,
) -> Result<Compiled, Diagnostics> {
    let Lowered {
        mut artifact,
        diagnostics,
        other_plans,
        ..
    } = super::lower(ir, module, options)?;
    let target = backend(&options.target)?;
    artifact.target = describe(&target);
    let codegen = Options {
        noalias: !artifact.steps.iter().any(is_in_place),
        ..Options::default()
    };
    artifact.kernels = codegen::compile_kernels(ir, module, &target, codegen)?;
    Ok(Compiled {
        artifact,
        diagnostics,
        other_plans,
        compile_ms: 0.0,
    })
}

/// Whether a launch has one buffer twice: it writes over what it reads.
fn is_in_place(step: &Step) -> bool {
    let Step::Launch { buffers, .. } = step else {
        return false;
    };
    let mut sorted = buffers.clone();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// The kernels of a lowered module as text.
pub fn emit(ir: &Ir, module: Op, target: &Target, what: Emission) -> Result<String, Diagnostics> {
    codegen::emit(ir, module, &backend(target)?, Options::default(), what)
}

fn backend(target: &Target) -> Result<fuser_codegen::Target, Diagnostics> {
    fuser_codegen::Target::of(target).map_err(|e| Diagnostics {
        items: vec![Diagnostic::error(
            &UNKNOWN_TARGET,
            Place::Unknown,
            e.to_string(),
        )],
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

/// Loads object code for the runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loader;

impl CodeLoader for Loader {
    fn load(
        &self,
        target: &fuser_artifact::Target,
        kernels: &[KernelCode],
    ) -> Result<Box<dyn LoadedCode>, LoadError> {
        if let Some(error) = other_cpu(target) {
            return Err(error);
        }
        let refused = |e: fuser_codegen::CodegenError| LoadError::Refused {
            kernel: None,
            log: e.to_string(),
        };
        Library::load(kernels)
            .map(|l| Box::new(Loaded(l)) as Box<dyn LoadedCode>)
            .map_err(refused)
    }
}

/// Why code for `target` cannot run on this processor.
fn other_cpu(target: &fuser_artifact::Target) -> Option<LoadError> {
    let fuser_artifact::Target::Cpu {
        triple,
        cpu,
        features,
    } = target.clone()
    else {
        return None;
    };
    let needed = fuser_codegen::Target::Cpu {
        triple,
        cpu: cpu.clone(),
        features,
    };
    let missing = needed.missing_on_host();
    (!missing.is_empty()).then_some(LoadError::OtherCpu { cpu, missing })
}

struct Loaded(Library);

impl LoadedCode for Loaded {
    fn entry(&self, symbol: &str) -> Option<CpuEntry> {
        self.0.entry(symbol).ok()
    }
}

/// The artifact's own check: a failure here is a bug of the planner, told as a diagnostic.
fn check(artifact: &Artifact) -> Result<(), Diagnostics> {
    artifact.validate().map_err(|e| {
        let message = format!("the launch plan is not valid: {e}");
        Diagnostics {
            items: vec![
                Diagnostic::error(&NO_PLAN, Place::Unknown, message).help("report this program"),
            ],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Session, SessionError};
    use fuser_runtime::CpuProgram;

    const TEXT: &str = "task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                        %y = fusion.neg %x\n  task.return %y\n}";

    /// The diagnostics of loading what was compiled, after `change` to its target.
    fn refusal(change: impl FnOnce(&mut fuser_artifact::Target)) -> Vec<Diagnostic> {
        let session = Session::new(Default::default()).unwrap();
        let (mut ir, module, _) = session.parse(0, "f.fir", TEXT).unwrap();
        let mut artifact = compile(&mut ir, module, &CompileOptions::default())
            .unwrap()
            .artifact;
        change(&mut artifact.target);
        match CpuProgram::load(artifact, &Loader) {
            Ok(_) => Vec::new(),
            Err(error) => SessionError::from(error).diagnostics(&ir),
        }
    }

    #[test]
    fn code_for_another_processor_is_refused_before_it_runs() {
        assert!(refusal(|_| {}).is_empty());
        let newer = refusal(|target| {
            if let fuser_artifact::Target::Cpu { cpu, features, .. } = target {
                *cpu = "x86-64-v9".into();
                *features += ",+no-such-unit";
            }
        });
        assert_eq!(newer.len(), 1);
        assert_eq!(newer[0].code, "FIR1004");
        let text = "the code is for the processor 'x86-64-v9', this one lacks no-such-unit";
        assert!(newer[0].message.ends_with(text), "{}", newer[0].message);
        let other = refusal(|target| {
            if let fuser_artifact::Target::Cpu { triple, .. } = target {
                *triple = "sparc-unknown-linux-gnu".into();
            }
        });
        assert!(
            other[0].message.ends_with("this one lacks sparc"),
            "{}",
            other[0].message
        );
    }
}
