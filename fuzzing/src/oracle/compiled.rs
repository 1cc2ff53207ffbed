//! The oracle that compiled code agrees with the interpreter, on any number of threads, and stays within its buffers.
//!
//! The run is a checked one: red zones around every buffer, outputs that begin as garbage, grids walked forward and
//! backward in pieces of other sizes. The results must not depend on the number of threads, payloads of NaN apart.

use fuser::compile::{CompileOptions, Loader, compile};
use fuser_artifact::{Artifact, DType as Stored};
use fuser_interp::{Axis as InterpAxis, Tensor};
use fuser_ir::DType;
use fuser_runtime::checks::first_other_value;
use fuser_runtime::{
    Axis, CpuProgram, HostTensor, RunOptions, RunResult, Runtime, RuntimeConfig, RuntimeError,
};

use super::execute::Expected;
use super::refusal::{self, Written};
use super::{Finding, guard};
use crate::generate::{Case, Input};

/// Bytes that a run may hold.
const MEMORY: u64 = 1 << 30;
/// Numbers of threads whose results must be the same.
const THREADS: [usize; 3] = [1, 2, 3];
/// The number of threads whose run is a checked one.
const CHECKED: usize = 3;

/// The outcome of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It ran and agrees.
    Agrees {
        /// Kernels in the artifact.
        kernels: usize,
        /// The reasons that segments got another plan than the cost model's.
        other_plans: Vec<String>,
    },
    /// A limit that is stated.
    Refused(String),
    /// A broken promise.
    Found(Finding),
}

/// Compiles a copy of the case for a CPU with these options, and runs it; `name` describes the options.
pub fn check(case: &Case, expected: &Expected, name: &str, options: CompileOptions) -> Outcome {
    check_written(case, expected, name, options, Written::Program)
}

/// Like [`check`], for a case whose kernels may be written by hand.
pub fn check_written(
    case: &Case,
    expected: &Expected,
    name: &str,
    options: CompileOptions,
    written: Written,
) -> Outcome {
    let stage = format!("compiled {name}");
    let compiled = match guard::run(&stage, || compile(&case.ir, case.module, &options)) {
        Err(finding) => return Outcome::Found(finding),
        Ok(Err(diagnostics)) => {
            return refusal::judge(stage, &diagnostics, written)
                .map_or_else(Outcome::Found, Outcome::Refused);
        }
        Ok(Ok(compiled)) => compiled,
    };
    let kernels = compiled.artifact.kernels.len();
    let other_plans = compiled.other_plans.into_iter();
    let other_plans = other_plans.map(|remark| remark.reason.unwrap_or(remark.message));
    let other_plans: Vec<String> = other_plans.collect();
    let found = |what: String| Outcome::Found(Finding::new(stage.clone(), what));
    let program = match CpuProgram::load(compiled.artifact, &Loader) {
        Ok(program) => program,
        Err(error) => return found(format!("cannot be loaded: {error}")),
    };
    let run = || {
        THREADS.map(|threads| {
            execute(&program, case, threads, threads == CHECKED).map(|run| run.outputs)
        })
    };
    let runs = match guard::run(&stage, run) {
        Err(finding) => return Outcome::Found(finding),
        Ok(runs) => runs,
    };
    let mut results = Vec::new();
    for run in runs {
        match run {
            Ok(outputs) => results.push(outputs),
            Err(error) => return found(format!("cannot be run: {error}")),
        }
    }
    if let Some(what) = differs(&results) {
        return found(what);
    }
    let outputs: Option<Vec<Tensor>> = results
        .first()
        .map_or(Some(Vec::new()), |r| r.iter().map(interpreted).collect());
    match outputs.map(|outputs| expected.fault(&outputs)) {
        None => found("a result has more bytes than its shape".into()),
        Some(Some(what)) => found(what),
        Some(None) => Outcome::Agrees {
            kernels,
            other_plans,
        },
    }
}

/// Runs a program on a case's inputs; a run with `checks` is a checked one.
pub fn execute(
    program: &CpuProgram,
    case: &Case,
    threads: usize,
    checks: bool,
) -> Result<RunResult, RuntimeError> {
    let runtime = Runtime::new(RuntimeConfig {
        threads: Some(threads),
        memory_limit: Some(MEMORY),
    })?;
    let inputs = inputs(&runtime, case, program.artifact())?;
    let options = RunOptions {
        checks,
        ..RunOptions::default()
    };
    program.run(&runtime, &inputs, &Default::default(), &options)
}

/// The inputs as a run of `artifact` takes them.
pub fn inputs(
    runtime: &Runtime,
    case: &Case,
    artifact: &Artifact,
) -> Result<Vec<HostTensor>, RuntimeError> {
    let inputs = case.inputs.iter().zip(&artifact.inputs);
    let inputs = inputs.map(|(input, spec)| {
        host(runtime, input).map_err(|error| RuntimeError::Input {
            input: spec.name.clone(),
            error,
        })
    });
    inputs.collect()
}

fn host(runtime: &Runtime, input: &Input) -> Result<HostTensor, fuser_runtime::TensorError> {
    let axis = |(extent, broadcast): &(u64, bool)| match broadcast {
        true => Axis::broadcast(*extent as usize),
        false => Axis::stored(*extent as usize),
    };
    let axes: Vec<Axis> = input.axes.iter().map(axis).collect();
    HostTensor::from_elements(runtime.heap(), stored(input.dtype), &axes, &input.bytes)
}

/// The element type under the artifact's name.
pub fn stored(dtype: DType) -> Stored {
    match dtype {
        DType::F64 => Stored::F64,
        DType::F32 => Stored::F32,
        DType::F16 => Stored::F16,
        DType::BF16 => Stored::Bf16,
        DType::F8E4M3FN => Stored::F8E4M3FN,
        DType::F8E5M2 => Stored::F8E5M2,
        DType::F8E8M0FNU => Stored::F8E8M0FNU,
        DType::F4E2M1FN => Stored::F4E2M1FN,
        DType::C64 => Stored::C64,
        DType::C128 => Stored::C128,
        DType::I64 => Stored::I64,
        DType::I32 => Stored::I32,
        DType::I16 => Stored::I16,
        DType::I8 => Stored::I8,
        DType::U64 => Stored::U64,
        DType::U32 => Stored::U32,
        DType::U16 => Stored::U16,
        DType::U8 => Stored::U8,
        DType::I1 => Stored::I1,
        DType::Index => Stored::Index,
    }
}

/// A result as the interpreter has it; none where its bytes do not fit its shape.
pub fn interpreted(tensor: &HostTensor) -> Option<Tensor> {
    let dtype = DType::ALL
        .into_iter()
        .find(|d| stored(*d) == tensor.dtype())?;
    let axes = tensor.axes().iter().map(|axis| InterpAxis {
        extent: axis.extent,
        broadcast: axis.broadcast,
    });
    Tensor::from_bytes(dtype, axes.collect(), &tensor.elements())
}

fn differs(results: &[Vec<HostTensor>]) -> Option<String> {
    let (first, others) = results.split_first()?;
    let other = others
        .iter()
        .zip(&THREADS[1..])
        .find_map(|(other, threads)| {
            let pairs = first.iter().zip(other).enumerate();
            let same = |a: &HostTensor, b: &HostTensor| {
                first_other_value(a.bytes(), b.bytes(), a.dtype()).is_none()
            };
            let index = pairs.into_iter().find(|(_, (a, b))| !same(a, b));
            index.map(|(i, _)| (i, *threads))
        });
    other.map(|(i, threads)| format!("result {i} is not the same on {threads} threads as on 1"))
}
