//! Targets: the host processor and NVIDIA GPUs, and the LLVM target machines for them.
//!
//! Names are checked against our own lists before LLVM sees them: LLVM answers an unknown GPU with a warning on stderr
//! and code for some other one. An x86 host must be x86-64-v3 or later, because below it LLVM turns FMA, rounding and
//! half precision into one library call per lane.

use inkwell::OptimizationLevel;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget,
};
use inkwell::targets::{TargetMachine, TargetTriple};
use inkwell::values::FunctionValue;

use crate::error::CodegenError;

/// The GPU architectures that code is generated for: compute capability 8.0 to 9.0.
pub const GPU_TARGETS: [&str; 5] = ["sm_80", "sm_86", "sm_87", "sm_89", "sm_90"];

/// What an x86 processor must have: the parts of x86-64-v3 that kernels use.
const X86_NEEDS: [&str; 6] = ["avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt"];

const NVPTX_TRIPLE: &str = "nvptx64-nvidia-cuda";

/// What code is generated for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A CPU: LLVM's triple, processor name and feature string.
    Cpu {
        triple: String,
        cpu: String,
        features: String,
    },
    /// An NVIDIA GPU, by architecture name (`sm_90`).
    Cuda { sm: String },
}

/// Makes the backends known to LLVM. Cheap, and safe to call again from any thread.
pub fn initialize() {
    let config = InitializationConfig::default();
    LlvmTarget::initialize_x86(&config);
    LlvmTarget::initialize_aarch64(&config);
    LlvmTarget::initialize_nvptx(&config);
}

impl Target {
    /// The processor that this process runs on, or why kernels cannot run there.
    pub fn host() -> Result<Self, CodegenError> {
        initialize();
        let target = Target::Cpu {
            triple: TargetMachine::get_default_triple()
                .as_str()
                .to_string_lossy()
                .into_owned(),
            cpu: text(TargetMachine::get_host_cpu_name().to_string()),
            features: text(TargetMachine::get_host_cpu_features().to_string()),
        };
        target.check()?;
        Ok(target)
    }

    /// An x86-64-v3 processor: the portable baseline, and what tests use to cover hosts without AVX-512.
    pub fn x86_64_v3() -> Self {
        Target::Cpu {
            triple: "x86_64-unknown-linux-gnu".into(),
            cpu: "x86-64-v3".into(),
            features: String::new(),
        }
    }

    /// The GPU architecture `sm`.
    pub fn cuda(sm: &str) -> Result<Self, CodegenError> {
        let target = Target::Cuda { sm: sm.into() };
        target.check()?;
        Ok(target)
    }

    /// Whether this is a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Target::Cuda { .. })
    }

    /// The widest vector registers of a CPU, in bytes; 16 on a GPU, where it is the widest load.
    pub fn vector_bytes(&self) -> u32 {
        match self {
            Target::Cuda { .. } => 16,
            Target::Cpu { features, .. }
                if has(features, "avx512f") && has(features, "avx512vl") =>
            {
                64
            }
            Target::Cpu { triple, .. } if triple.starts_with("x86_64") => 32,
            Target::Cpu { .. } => 16,
        }
    }

    /// Whether this is an x86 processor whose widest vectors have 32 bytes.
    pub fn is_avx2(&self) -> bool {
        let x86 = matches!(self, Target::Cpu { triple, .. } if triple.starts_with("x86_64"));
        x86 && self.vector_bytes() == 32
    }

    fn check(&self) -> Result<(), CodegenError> {
        match self {
            Target::Cuda { sm } if GPU_TARGETS.contains(&sm.as_str()) => Ok(()),
            Target::Cuda { sm } => Err(unknown(sm, &GPU_TARGETS)),
            Target::Cpu {
                triple,
                cpu,
                features,
            } if triple.starts_with("x86_64") => check_x86(cpu, features),
            Target::Cpu { triple, .. } if triple.starts_with("aarch64") => Ok(()),
            Target::Cpu { triple, .. } => {
                Err(unknown(triple, &["x86_64", "aarch64", "sm_80 .. sm_90"]))
            }
        }
    }

    fn triple(&self) -> TargetTriple {
        TargetTriple::create(match self {
            Target::Cpu { triple, .. } => triple,
            Target::Cuda { .. } => NVPTX_TRIPLE,
        })
    }

    fn cpu_and_features(&self) -> (&str, &str) {
        match self {
            Target::Cpu { cpu, features, .. } => (cpu, features),
            Target::Cuda { sm } => (sm, ""),
        }
    }

    /// LLVM's machine for this target.
    pub fn machine(&self) -> Result<TargetMachine, CodegenError> {
        initialize();
        self.check()?;
        let triple = self.triple();
        let (cpu, features) = self.cpu_and_features();
        let (reloc, level) = (RelocMode::PIC, OptimizationLevel::Aggressive);
        LlvmTarget::from_triple(&triple)
            .map_err(CodegenError::internal)?
            // The small model: code and its constants are one allocation; the JIT default would be the large one.
            .create_target_machine(&triple, cpu, features, level, reloc, CodeModel::Small)
            .ok_or_else(|| CodegenError::Internal(format!("no machine for {triple:?}")))
    }

    /// Sets the attributes that code generation reads from functions rather than from the machine.
    pub fn mark(&self, context: &Context, function: FunctionValue<'_>) {
        let Target::Cpu { cpu, features, .. } = self else {
            return;
        };
        let mut pairs = vec![
            ("target-cpu", cpu.as_str()),
            ("target-features", features.as_str()),
        ];
        if self.vector_bytes() == 64 {
            pairs.push(("prefer-vector-width", "512"));
        }
        for (key, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            function.add_attribute(
                AttributeLoc::Function,
                context.create_string_attribute(key, value),
            );
        }
    }
}

fn check_x86(cpu: &str, features: &str) -> Result<(), CodegenError> {
    if matches!(cpu, "x86-64-v3" | "x86-64-v4") {
        return Ok(());
    }
    let missing: Vec<String> = X86_NEEDS
        .iter()
        .filter(|need| !has(features, need))
        .map(|s| s.to_string())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(CodegenError::HostTooOld { missing })
    }
}

/// Whether an LLVM feature string turns `feature` on.
fn has(features: &str, feature: &str) -> bool {
    features
        .split(',')
        .any(|item| item.strip_prefix('+') == Some(feature))
}

fn unknown(name: &str, known: &[&str]) -> CodegenError {
    CodegenError::UnknownTarget {
        name: name.into(),
        known: known.iter().map(|s| s.to_string()).collect(),
    }
}

fn text(value: String) -> String {
    value.trim_end_matches('\0').to_string()
}

/// Checks `module` and runs LLVM's optimizer over it. Floating point stays strict: no pass is given leave to reassociate
/// or contract, and the loop vectorizer is off because vectors are explicit in our IR.
pub fn optimize(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CodegenError> {
    module.verify().map_err(CodegenError::internal)?;
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(false);
    options.set_loop_interleaving(false);
    options.set_loop_slp_vectorization(false);
    module
        .run_passes("default<O3>", machine, options)
        .map_err(CodegenError::internal)
}

/// Object code of an optimized module.
pub fn emit_object(module: &Module<'_>, machine: &TargetMachine) -> Result<Vec<u8>, CodegenError> {
    let buffer = machine
        .write_to_memory_buffer(module, FileType::Object)
        .map_err(CodegenError::internal)?;
    Ok(buffer.as_slice().to_vec())
}

/// Assembly of an optimized module: the host's, or PTX.
pub fn emit_assembly(module: &Module<'_>, machine: &TargetMachine) -> Result<String, CodegenError> {
    let buffer = machine
        .write_to_memory_buffer(module, FileType::Assembly)
        .map_err(CodegenError::internal)?;
    let bytes = buffer.as_slice();
    Ok(String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(bytes)).into_owned())
}
