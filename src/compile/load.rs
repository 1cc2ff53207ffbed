//! Loading: the compiler's object code as the runtime wants it.

use fuser_artifact::KernelCode;
use fuser_codegen::load::Library;
use fuser_runtime::{CodeLoader, CpuEntry, LoadError, LoadedCode};

/// Loads object code for the runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loader;

impl CodeLoader for Loader {
    fn load(
        &self,
        target: &fuser_artifact::Target,
        kernels: &[KernelCode],
    ) -> Result<Box<dyn LoadedCode>, LoadError> {
        let refused = |e: fuser_codegen::CodegenError| LoadError::Refused {
            kernel: None,
            log: e.to_string(),
        };
        if let Some(error) = other_cpu(target).map_err(refused)? {
            return Err(error);
        }
        Library::load(kernels)
            .map(|l| Box::new(Loaded(l)) as Box<dyn LoadedCode>)
            .map_err(refused)
    }
}

/// The reason that code for `target` cannot run on this processor.
fn other_cpu(
    target: &fuser_artifact::Target,
) -> Result<Option<LoadError>, fuser_codegen::CodegenError> {
    let fuser_artifact::Target::Cpu {
        triple,
        cpu,
        features,
    } = target.clone()
    else {
        return Ok(None);
    };
    let needed = fuser_codegen::Target::Cpu {
        triple,
        cpu: cpu.clone(),
        features,
    };
    let missing = needed.missing_on_host()?;
    Ok((!missing.is_empty()).then_some(LoadError::OtherCpu { cpu, missing }))
}

struct Loaded(Library);

impl LoadedCode for Loaded {
    fn entry(&self, symbol: &str) -> Option<CpuEntry> {
        self.0.entry(symbol).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{CompileOptions, compile};
    use crate::session::{Session, SessionError};
    use fuser_ir::Diagnostic;
    use fuser_runtime::CpuProgram;

    const TEXT: &str = "task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                        %y = fusion.neg %x\n  task.return %y\n}";

    /// The diagnostics of loading what was compiled, after `change` to its target.
    fn refusal(change: impl FnOnce(&mut fuser_artifact::Target)) -> Vec<Diagnostic> {
        let session = Session::new(Default::default()).unwrap();
        let (ir, module, _) = session.parse(0, "f.fir", TEXT).unwrap();
        let mut artifact = compile(&ir, module, &CompileOptions::default())
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
