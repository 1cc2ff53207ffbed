//! A benchmark of calls: what a program of one segment takes on tiny tensors, where the kernel itself takes next to nothing.
//!
//! ```text
//! cargo run --release --example call_overhead -- [THREADS [ROWS]]
//! ```
//!
//! ROWS (4) of 8 elements in f32 are read and written; from some thousands on threads share them. Prints nanoseconds for each call of an [`Executable`](fuser_runtime::Executable) that a caller holds, beside `CpuProgram::run`, which
//! looks at shapes, plans and allocates each time. The least of several rounds counts.

use std::sync::Arc;
use std::time::Instant;

use fuser::compile::{self, CompileOptions};
use fuser::session::{Session, SessionError};
use fuser_runtime::{CpuProgram, Executable, HostTensor, RunOptions, RuntimeConfig};

const PROGRAM: &str =
    "task.program @f(%x: tensor<[N]x8xf32>, %w: tensor<8xf32>) -> tensor<[N]x8xf32> {
  %b = fusion.broadcast %w dims [1] shape [[N], 8]
  %p = fusion.mul %x, %b
  %y = fusion.relu %p
  task.return %y
}";

const ROUNDS: usize = 50;
const CALLS: u32 = 2_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |number| std::env::args().nth(number);
    let threads = argument(1).map_or(Ok(1), |text| text.parse())?;
    let rows: i64 = argument(2).map_or(Ok(4), |text| text.parse())?;
    let session = Session::new(RuntimeConfig {
        threads: Some(threads),
        memory_limit: None,
    })
    .map_err(told)?;
    let (ir, module, _) = session
        .parse(0, "f.fir", PROGRAM)
        .map_err(|_| "the program does not parse")?;
    let loaded = session.load(ir, module, None).map_err(told)?;
    let extents = [("N".to_string(), rows)].into();
    let inputs = session
        .resolve(&loaded, &Default::default(), &extents)
        .map_err(told)?;

    let mut executable = session
        .prepare(&loaded, &extents, &CompileOptions::default())
        .map_err(told)?;
    let given: Vec<&[u8]> = inputs.tensors.iter().map(HostTensor::bytes).collect();
    let mut y = session
        .runtime()
        .heap()
        .allocate(executable.output_bytes()[0])?;
    let bound = least(|| executable.run(&given, &mut [&mut y]).map_err(Into::into))?;

    let compiled = compile::compile(&loaded.ir, loaded.module, &CompileOptions::default())
        .map_err(|_| "not compiled")?;
    let program = Arc::new(CpuProgram::load(compiled.artifact, &compile::Loader)?);
    let once = RunOptions::default();
    let unbound = least(|| {
        let run = program.run(session.runtime(), &inputs.tensors, &extents, &once)?;
        assert!(run.outputs[0].bytes() == &y[..]);
        Ok(())
    })?;
    let mut again = Executable::new(session.runtime(), program, &extents)?;
    again.run(&given, &mut [&mut y])?;
    println!(
        "{threads} threads, {rows} rows: {bound:.0} ns a call, {unbound:.0} ns with shapes and memory each time"
    );
    Ok(())
}

/// An error of a session, which is a list of diagnostics.
fn told(error: SessionError) -> String {
    format!("{error:?}")
}

/// Nanoseconds of a call, in the quickest round.
fn least(
    mut call: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    Ok(least)
}
