//! The reference interpreter: it executes a program as its ops' tables define it, slowly and plainly.
//!
//! Two modes. **Exact**: every op as defined, 16-bit floats computed in f32 and rounded once, reductions in index order: what a
//! pass must preserve bit for bit. **Reference**: floats in f64, and for every element a bound on how far a compiled
//! program may be from it, derived op by op (`number::bounded`): what a compiled program is compared with, without any
//! tolerance picked by hand. In a *sample* the values of reference mode are moved by errors at random (`number::sampling`).
//!
//! | file | what |
//! |---|---|
//! | `engine.rs`, `execute.rs`, `kernel.rs` | control, one `fusion` op, one `kernel` op |
//! | `turns.rs` | loops of programs |
//! | `devices.rs` | programs on the devices of a mesh |
//! | `team.rs` | who of a kernel's threads would do it, and races between them |
//! | `ops/` | what the `fusion` ops do |
//! | `number/` | arithmetic on single elements, exact and bounded |
//! | `tensor.rs`, `view.rs`, `memory.rs` | values, index arithmetic, a kernel's buffers |
//! | `compare.rs` | results against results |
//! | `expected.rs` | the results that a program is to give, with samples |
//!
//! Shares no code with passes, lowering or code generation, and knows the ops by name only. Never panics, whatever the
//! IR: what the verifier would refuse is an error here. Never uses more element operations or memory than it may.
#![forbid(unsafe_code)]

mod budget;
pub mod compare;
mod devices;
mod engine;
pub mod error;
mod execute;
pub mod expected;
mod extents;
mod kernel;
mod machine;
mod memory;
pub mod number;
mod ops;
mod packed;
mod pairs;
mod site;
mod team;
pub mod tensor;
mod turns;
mod view;

use std::collections::BTreeMap;

use fuser_ir::types::TypeKind;
use fuser_ir::{Ir, Op, Value};

pub use error::{ErrorKind, InterpError, Race, Result};
pub use expected::{Expected, Subject};
pub use number::{Bounded, F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, MathUlps, Sample};
pub use tensor::{Axis, Data, Tensor};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Compute floats in f64 with error bounds, instead of exactly as the ops are defined.
    pub reference: bool,
    /// Element operations after which to stop.
    pub fuel: u64,
    /// Bytes of tensors that may be held at once, inputs not counted.
    pub memory: u64,
    /// Threads; results do not depend on their number.
    pub threads: usize,
    /// Reference mode: what the compiled program's functions promise.
    pub math: MathUlps,
    /// Reference mode: products of 16-bit floats may be summed on tensor cores, which truncate sums instead of rounding
    /// them to nearest.
    pub tensor_cores: bool,
    /// Reference mode: products of f32 and f64 may be a part of sums, rounded once with them (fused multiply-adds), or not.
    pub contracted: bool,
    /// Threads of a kernel that touch an element in no order are an error (`ErrorKind::Race`). Kernels that barriers have not been placed in have none.
    pub races: bool,
    /// Reference mode: values belong to a sample, displaced by random errors (docs/checking.md).
    pub sample: Option<Sample>,
    /// Values of named extents that no input determines. Values for other extents must agree with the inputs.
    pub extents: BTreeMap<String, i64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reference: false,
            fuel: u64::MAX,
            memory: 16 << 30,
            threads: 1,
            math: MathUlps::default(),
            tensor_cores: false,
            contracted: false,
            races: true,
            sample: None,
            extents: BTreeMap::new(),
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// The program's results, or the buffers of a kernel after it ran.
    pub values: Vec<Tensor>,
    /// The named extents as the inputs bound them.
    pub extents: BTreeMap<String, i64>,
    /// Element operations done.
    pub operations: u64,
    /// The most bytes of tensors held at once, inputs not counted.
    pub peak_memory: u64,
}

/// Executes a `task.program` on its inputs, or a `kernel.func` on its buffers (rank-1 tensors) and extents (`index`
/// scalars).
pub fn interpret(ir: &Ir, op: Op, inputs: &[Tensor], options: &Options) -> Result<Outputs> {
    let name = ir.name(op);
    let refused = || InterpError::new(ErrorKind::NotExecutable(name.into()));
    if !matches!(name, "task.program" | "kernel.func") {
        return Err(refused().at(op));
    }
    let body = ir.body(op, 0).ok_or_else(|| refused().at(op))?;
    let mut engine = engine::Engine::new(ir, options);
    let parameters = ir.args(body);
    let inputs = pairs::inside(ir, op, inputs);
    let inputs = packed::inside(ir, op, parameters, inputs).map_err(|e| e.at(op))?;
    engine.extents.halves = packed::halves(ir, op);
    engine.team.begin(ir, op);
    engine
        .bind_inputs(parameters, &inputs)
        .map_err(|e| e.at(op))?;
    let values = engine.run(body).map_err(|e| e.at(op))?;
    let values = pairs::outside(&mut engine.machine, op, ir, values).map_err(|e| e.at(op))?;
    let mut values = packed::outside(ir, op, values).map_err(|e| e.at(op))?;
    if name == "kernel.func" {
        let is_buffer = |v: &&Value| matches!(ir.value_kind(**v), TypeKind::MemRef { .. });
        let buffers = parameters.iter().filter(is_buffer).count();
        let contents = (0..buffers).map(|number| engine.memory.remove(number, None));
        values = contents.collect::<Result<_>>()?;
    }
    Ok(outputs(engine, values))
}

/// Executes one op of a program, a single one or a whole task, on the values that it uses.
pub fn interpret_op(
    ir: &Ir,
    op: Op,
    inputs: &[(Value, Tensor)],
    options: &Options,
) -> Result<Outputs> {
    let mut engine = engine::Engine::new(ir, options);
    let (values, tensors): (Vec<Value>, Vec<Tensor>) = inputs.iter().cloned().unzip();
    engine
        .bind_inputs(&values, &tensors)
        .map_err(|e| e.at(op))?;
    let values = engine.run_op(op)?;
    Ok(outputs(engine, values))
}

fn outputs(engine: engine::Engine<'_>, values: Vec<Tensor>) -> Outputs {
    Outputs {
        values,
        extents: engine.extents.all(engine.ir),
        operations: engine.machine.budget.used(),
        peak_memory: engine.machine.budget.peak(),
    }
}
