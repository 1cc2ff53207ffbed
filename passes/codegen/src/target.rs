//! Targets: the host processor, x86-64 at each of its levels, AArch64, GPUs, and the LLVM target machines for them.
//!
//! Names are checked against our own lists before LLVM sees them, because LLVM only warns about an unknown GPU on
//! stderr and generates code for another one. Code for a level may be generated on any host;
//! [`Target::missing_on_host`] lists the features that a host lacks to run it. Below x86-64-v3, LLVM turns FMA into one
//! library call for each lane; below x86-64-v2, rounding too. `link` binds these calls.

use fuser_target::processors::{self, AARCH64, NATIVE, X86_LEVELS};
use fuser_target::{Kind, table};
use std::ffi::CStr;
use std::sync::Once;

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
use llvm_sys::support::LLVMParseCommandLineOptions;

use crate::cache::Cache;
use crate::cpu::x86::X86;
use crate::cpu::{self, Processor, aarch64, architecture, has, x86};
use crate::error::CodegenError;
use crate::gpu::{Amdgpu, Gpu, Nvptx};
use crate::host::{Host, host};
use crate::llvm;

/// The target of code generation.
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
    /// An AMD GPU, by LLVM's name (`gfx942`).
    Hip { processor: &'static str },
}

/// Loads LLVM and initializes its backends. Cheap, and safe to repeat from any thread.
pub fn initialize() -> Result<(), CodegenError> {
    llvm::load()?;
    let config = InitializationConfig::default();
    LlvmTarget::initialize_x86(&config);
    LlvmTarget::initialize_aarch64(&config);
    LlvmTarget::initialize_nvptx(&config);
    LlvmTarget::initialize_amd_gpu(&config);
    ONCE.call_once(set_options);
    Ok(())
}

/// Options of LLVM, for the whole process and always the same.
const OPTIONS: [&CStr; 4] = [
    c"fuser",
    // LLVM 22 looks for cyclic redundancy checks in loops of constant length, in time that doubles with each value that is used twice: a kernel of
    // a few dozen operations never ends.
    c"-disable-loop-idiom-hashrecognize",
    // Strength reduction before code is generated. Lowering for CPUs has done it; `GPU_PASSES` have it at their end.
    c"-disable-lsr",
    // Both schedulers compare each access to memory of a block with all others, up to this number (1,000 by default). Blocks of 1,000 stores, as
    // unrolled kernels have them, take 0.22 s in place of 0.74, for the same code.
    c"-dag-maps-huge-region=200",
];

/// Sets [`OPTIONS`].
#[allow(unsafe_code)]
fn set_options() {
    let words = OPTIONS.map(CStr::as_ptr);
    // SAFETY: strings that live for ever, and their number; LLVM copies what it keeps. It knows the options in the release that is linked.
    unsafe { LLVMParseCommandLineOptions(words.len() as i32, words.as_ptr(), c"".as_ptr()) }
}

/// Guards [`set_options`], which LLVM lets a process do once.
static ONCE: Once = Once::new();

impl Target {
    /// The processor of this process, or the reason why no code can be generated for it. The cache remembers it.
    pub fn host(cache: Option<&dyn Cache>) -> Result<Self, CodegenError> {
        let Host {
            triple,
            cpu,
            features,
        } = host(cache)?.clone();
        let target = Target::Cpu {
            triple,
            cpu,
            features,
        };
        target.check()?;
        Ok(target)
    }

    /// The code generation target for `target`. For a GPU newer than LLVM supports, it is the newest supported one.
    pub fn of(
        target: &fuser_target::Target,
        cache: Option<&dyn Cache>,
    ) -> Result<Self, CodegenError> {
        match target.kind {
            Kind::Cpu => return Target::cpu_with(target.processor, cache),
            Kind::Hip => return Target::hip(target.processor),
            Kind::Cuda => {}
        }
        let known = fuser_target::Target::of_capability(target.capability);
        let capability = known.map_or(target.capability, |known| known.capability);
        Target::cuda(&format!("sm_{capability}"))
    }

    /// The processor with this name: the host, any of an x86-64 level, or any AArch64.
    pub fn cpu(name: &str) -> Result<Self, CodegenError> {
        Target::cpu_with(name, None)
    }

    fn cpu_with(name: &str, cache: Option<&dyn Cache>) -> Result<Self, CodegenError> {
        if name == NATIVE {
            return Target::host(cache);
        }
        if name == AARCH64.0 {
            return Ok(Self::aarch64());
        }
        let level = X86_LEVELS.iter().position(|(known, _)| *known == name);
        let known = processors::of(Kind::Cpu);
        level.map(x86::level).ok_or_else(|| unknown(name, &known))
    }

    /// An x86-64-v3 processor, which has 32-byte vectors.
    pub fn x86_64_v3() -> Self {
        x86::level(2)
    }

    /// Any AArch64 processor.
    pub fn aarch64() -> Self {
        aarch64::any()
    }

    /// The features that code for this CPU needs and the host lacks; empty if the code can run.
    pub fn missing_on_host(&self) -> Result<Vec<String>, CodegenError> {
        let Target::Cpu {
            triple, features, ..
        } = self
        else {
            return Ok(Vec::new());
        };
        let arch = architecture(triple);
        let host = host(None)?;
        if arch != architecture(&host.triple) {
            return Ok(vec![arch.to_string()]);
        }
        let needed = features.split(',').filter_map(|f| f.strip_prefix('+'));
        // What every processor of an architecture has, systems do not always list.
        let everywhere = [AARCH64.1, X86_LEVELS[0].1].concat();
        let missing =
            needed.filter(|feature| !has(&host.features, feature) && !everywhere.contains(feature));
        Ok(missing.map(str::to_string).collect())
    }

    /// The GPU architecture `sm`.
    pub fn cuda(sm: &str) -> Result<Self, CodegenError> {
        let target = Target::Cuda { sm: sm.into() };
        target.check()?;
        Ok(target)
    }

    /// The AMD GPU of this name.
    pub fn hip(name: &str) -> Result<Self, CodegenError> {
        let processor = processors::known(Kind::Hip, name);
        let known = || processors::of(Kind::Hip);
        let processor = processor.ok_or_else(|| unknown(name, &known()))?;
        Ok(Target::Hip { processor })
    }

    /// The instructions of its family, if this is a GPU.
    pub fn gpu(&self) -> Option<&'static dyn Gpu> {
        match self {
            Target::Cpu { .. } => None,
            Target::Cuda { .. } => Some(&Nvptx),
            Target::Hip { .. } => Some(&Amdgpu),
        }
    }

    /// True for a GPU with packed bf16 addition and multiplication: from compute capability 9.0 on (PTX ISA,
    /// `add{.rnd}.bf16x2`).
    pub fn has_bf16(&self) -> bool {
        self.capability() >= 90
    }

    /// True for a GPU whose blocks form clusters: from compute capability 9.0 on (PTX ISA, `barrier.cluster`).
    pub fn has_clusters(&self) -> bool {
        self.capability() >= 90
    }

    /// The compute capability of a GPU times ten; 0 of a CPU.
    fn capability(&self) -> u32 {
        match self {
            Target::Cuda { sm } => {
                let digits = sm.trim_matches(|c: char| !c.is_ascii_digit());
                digits.parse().unwrap_or(0)
            }
            Target::Cpu { .. } | Target::Hip { .. } => 0,
        }
    }

    /// The widest vector registers of a CPU, in bytes; for a GPU 16, the widest load.
    pub fn vector_bytes(&self) -> u32 {
        match self {
            Target::Cuda { .. } | Target::Hip { .. } => 16,
            Target::Cpu {
                triple, features, ..
            } => match architecture(triple) {
                x86::NAME => x86::vector_bytes(features),
                _ => 16,
            },
        }
    }

    /// The features of an x86 processor that select code sequences; `None` for other processors.
    pub fn x86(&self) -> Option<X86> {
        match self {
            Target::Cpu {
                triple, features, ..
            } if architecture(triple) == x86::NAME => Some(X86::of(features)),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), CodegenError> {
        match self {
            Target::Cuda { sm } => match gpus().any(|known| known == sm) {
                true => Ok(()),
                false => Err(unknown(sm, &gpus().collect::<Vec<_>>())),
            },
            Target::Hip { processor } => Target::hip(processor).map(|_| ()),
            Target::Cpu { triple, .. } => match architecture(triple) {
                x86::NAME | aarch64::NAME => Ok(()),
                _ => Err(unknown(
                    triple,
                    &[x86::NAME, aarch64::NAME, "sm_80 .. sm_120"],
                )),
            },
        }
    }

    fn triple(&self) -> TargetTriple {
        TargetTriple::create(match (self, self.gpu()) {
            (_, Some(gpu)) => gpu.triple(),
            (Target::Cpu { triple, .. }, _) => triple,
            _ => "",
        })
    }

    /// The processor in LLVM's terms.
    fn processor(&self) -> Processor<'_> {
        match self {
            Target::Cuda { sm } => (sm, String::new(), ""),
            Target::Hip { processor } => (processor, String::new(), ""),
            Target::Cpu {
                triple,
                cpu,
                features,
            } => match architecture(triple) {
                x86::NAME => x86::processor(cpu, features),
                _ => aarch64::processor(cpu, features),
            },
        }
    }

    /// LLVM's machine for this target.
    pub fn machine(&self) -> Result<TargetMachine, CodegenError> {
        initialize()?;
        self.check()?;
        let triple = self.triple();
        let (cpu, features, _) = self.processor();
        let (reloc, level) = (RelocMode::PIC, OptimizationLevel::Aggressive);
        LlvmTarget::from_triple(&triple)
            .map_err(CodegenError::internal)?
            // The small model: code and its constants are one allocation; the JIT default would be the large one.
            .create_target_machine(&triple, cpu, &features, level, reloc, CodeModel::Small)
            .ok_or_else(|| CodegenError::Internal(format!("no machine for {triple:?}")))
    }

    /// Sets the attributes that code generation reads from functions rather than from the machine.
    pub fn mark(&self, context: &Context, function: FunctionValue<'_>) {
        if self.gpu().is_some() {
            return;
        }
        let (cpu, features, tuned) = self.processor();
        let mut pairs = vec![
            ("target-cpu", cpu),
            ("target-features", features.as_str()),
            ("tune-cpu", tuned),
            // Keeps rbp for the frame: a vector that is loaded with rbp as its base comes later than with any other (docs/performance.md).
            ("frame-pointer", "all"),
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

/// The GPU architectures that code is generated for, by LLVM's names.
pub fn gpus() -> impl Iterator<Item = &'static str> {
    table::names().filter_map(|name| name.strip_prefix("cuda:"))
}

fn unknown(name: &str, known: &[&str]) -> CodegenError {
    CodegenError::UnknownTarget {
        name: name.into(),
        known: known.iter().map(|s| s.to_string()).collect(),
    }
}

/// The LLVM passes for GPUs: LLVM's own, and those that its backend adds. Alignment comes first: joined stores have one
/// of two addresses.
const GPU_PASSES: &str = "function(infer-alignment),default<O3>,function(loop(loop-reduce))";

impl Target {
    /// Checks `module` and runs LLVM's optimizer over it. Floating point stays strict: no pass may reassociate or
    /// contract. The loop vectorizer is off because vectors are explicit in our IR.
    pub fn optimize(
        &self,
        module: &Module<'_>,
        machine: &TargetMachine,
    ) -> Result<(), CodegenError> {
        module.verify().map_err(CodegenError::internal)?;
        let options = PassBuilderOptions::create();
        options.set_loop_vectorization(false);
        options.set_loop_interleaving(false);
        options.set_loop_slp_vectorization(false);
        let passes = match self.gpu() {
            Some(_) => GPU_PASSES,
            None => cpu::PASSES,
        };
        module
            .run_passes(passes, machine, options)
            .map_err(CodegenError::internal)?;
        match self.gpu() {
            Some(gpu) => gpu.repair(module),
            None => cpu::repair(module),
        }
    }
}

/// Object code of an optimized module.
pub fn emit_object(module: &Module<'_>, machine: &TargetMachine) -> Result<Vec<u8>, CodegenError> {
    let buffer = machine
        .write_to_memory_buffer(module, FileType::Object)
        .map_err(CodegenError::internal)?;
    Ok(buffer.as_slice().to_vec())
}

/// Assembly of an optimized module; PTX for NVIDIA's GPUs.
pub fn emit_assembly(module: &Module<'_>, machine: &TargetMachine) -> Result<String, CodegenError> {
    let buffer = machine
        .write_to_memory_buffer(module, FileType::Assembly)
        .map_err(CodegenError::internal)?;
    let bytes = buffer.as_slice();
    Ok(String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(bytes)).into_owned())
}
