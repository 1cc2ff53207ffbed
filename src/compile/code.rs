//! The last step: machine code for the kernels of a lowered program.

use std::time::Instant;

use fuser_artifact::Artifact;
use fuser_codegen::lower::{self as codegen, Emission, Options};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place};

use super::{CompileOptions, Compiled, Lowered, NO_PLAN, Target, UNKNOWN_TARGET};

/// Compiles `module` for the target of `options`. The module is lowered in place.
pub fn compile(ir: &mut Ir, module: Op, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    let start = Instant::now();
    let Lowered { mut artifact, diagnostics, .. } = super::lower(ir, module, options)?;
    let target = backend(&options.target)?;
    artifact.target = describe(&target, &options.target);
    artifact.kernels = codegen::compile_kernels(ir, module, &target, Options::default())?;
    check(&artifact)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(Compiled { artifact, diagnostics, compile_ms })
}

/// The kernels of a lowered module as text.
pub fn emit(ir: &Ir, module: Op, target: &Target, what: Emission) -> Result<String, Diagnostics> {
    codegen::emit(ir, module, &backend(target)?, Options::default(), what)
}

fn backend(target: &Target) -> Result<fuser_codegen::Target, Diagnostics> {
    let found = match target {
        Target::Host => fuser_codegen::Target::host(),
        Target::Cuda(sm) => fuser_codegen::Target::cuda(sm),
    };
    found.map_err(|e| Diagnostics { items: vec![Diagnostic::error(&UNKNOWN_TARGET, Place::Unknown, e.to_string())] })
}

fn describe(target: &fuser_codegen::Target, wanted: &Target) -> fuser_artifact::Target {
    match wanted {
        Target::Cuda(sm) => {
            let digits: String = sm.chars().filter(char::is_ascii_digit).collect();
            fuser_artifact::Target::Cuda { sm: digits.parse().unwrap_or(0) }
        }
        Target::Host => fuser_artifact::Target::Cpu {
            triple: target.triple.clone(),
            cpu: target.cpu.clone(),
            features: target.features.clone(),
        },
    }
}

/// The artifact's own check: a failure here is a bug of the planner, told as a diagnostic.
fn check(artifact: &Artifact) -> Result<(), Diagnostics> {
    artifact.validate().map_err(|e| {
        let message = format!("the launch plan is not valid: {e}");
        Diagnostics { items: vec![Diagnostic::error(&NO_PLAN, Place::Unknown, message).help("report this program")] }
    })
}
