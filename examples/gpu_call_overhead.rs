//! A benchmark of calls on a GPU: what the host takes for each kernel of a program that is bound, apart from the driver's own work.
//!
//! ```text
//! FUSER_CUDA=sim:sm_90,count cargo run --release --example gpu_call_overhead
//! ```
//!
//! The simulator with `count` is a driver that checks and counts calls, and runs nothing. Prints nanoseconds of host time for each run and for each
//! kernel of programs of one and of several kernels, by plain launches and as a graph, beside the driver's calls of a run. The least of several
//! rounds counts. On a GPU (without the variable) the driver's work and, once its queue is full, the kernels' time are in it.

use std::collections::BTreeMap;
use std::time::Instant;

use fuser::compile::CompileOptions;
use fuser::session::{Session, SessionError};
use fuser::tool::gpu;
use fuser_runtime::RuntimeError;
use fuser_runtime::cuda::{CudaDevice, DeviceMemory};

/// A program of so many kernels, each an exponential function.
fn program(kernels: usize) -> String {
    let step = |n: usize| {
        format!(
            "  %e{n} = fusion.exp %s{}\n  %s{n} = fusion.segment_set %e{n}\n",
            n - 1
        )
    };
    let steps: String = (1..=kernels).map(step).collect();
    format!(
        "task.program @f(%s0: tensor<[N]x8xf32>) -> tensor<[N]x8xf32> {{\n{steps}  task.return %e{kernels}\n}}"
    )
}

const ROWS: i64 = 4;
const ROUNDS: usize = 50;
const RUNS: u32 = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = gpu::open(gpu::simulator()?, 0)?;
    println!("{}", device.name()?);
    for kernels in [1, 4, 16] {
        measure(&device, kernels)?;
    }
    Ok(())
}

fn measure(device: &CudaDevice, kernels: usize) -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::new(Default::default()).map_err(told)?;
    let (ir, module, _) = session
        .parse(0, "f.fir", &program(kernels))
        .map_err(|_| "the program does not parse")?;
    let loaded = session.load(ir, module, None).map_err(told)?;
    let extents = [("N".to_string(), ROWS)].into();
    let options = CompileOptions::default();
    let mut executable = session
        .prepare_cuda(device, &loaded, &extents, &options)
        .map_err(told)?;
    let allocate = |bytes: &usize| device.allocate(*bytes);
    let x: Vec<DeviceMemory> = memory(executable.input_bytes(), allocate)?;
    let y: Vec<DeviceMemory> = memory(executable.output_bytes(), allocate)?;
    let [x, y] = [&x, &y].map(|list| list.iter().map(DeviceMemory::address).collect::<Vec<_>>());
    let launches = executable.launches();

    let before = calls(device);
    // SAFETY: the tensors are memory of the device with the bytes that the executable states, and outlive the wait.
    let mut run = || unsafe { executable.run(&x, &y, device.stream()) };
    let plain = least(device, &mut run)?;
    let told_calls = told_of(&before, &calls(device));
    // SAFETY: as above.
    let mut graph = unsafe { executable.record(&x, &y)? };
    // SAFETY: as above.
    let mut run = || unsafe { graph.launch(device.stream()) };
    let as_graph = least(device, &mut run)?;
    println!(
        "{launches} kernels: {plain:.0} ns a run, {:.0} ns a kernel ({told_calls}); as a graph {as_graph:.0} ns a run",
        plain / launches.max(1) as f64
    );
    Ok(())
}

fn memory(
    sizes: &[usize],
    allocate: impl Fn(&usize) -> Result<DeviceMemory, RuntimeError>,
) -> Result<Vec<DeviceMemory>, RuntimeError> {
    sizes.iter().map(allocate).collect()
}

/// The driver's calls so far, by name; none of a GPU, whose driver does not count.
fn calls(device: &CudaDevice) -> BTreeMap<String, u64> {
    let counts = device.simulated_counts().unwrap_or_default();
    let counts: serde_json::Value = serde_json::from_str(&counts).unwrap_or_default();
    serde_json::from_value(counts["calls"].clone()).unwrap_or_default()
}

/// The calls between two counts, for each run.
fn told_of(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> String {
    let runs = ROUNDS as f64 * f64::from(RUNS);
    let more = after.iter().filter_map(|(name, count)| {
        let more = count - before.get(name).copied().unwrap_or(0);
        (more > 0).then(|| format!("{name} {:.2}", more as f64 / runs))
    });
    more.collect::<Vec<_>>().join(", ")
}

/// An error of a session, which is a list of diagnostics.
fn told(error: SessionError) -> String {
    format!("{error:?}")
}

/// Nanoseconds of host time for each run, in the quickest round; the stream is waited for between rounds, which is not timed.
fn least(
    device: &CudaDevice,
    run: &mut dyn FnMut() -> Result<(), RuntimeError>,
) -> Result<f64, RuntimeError> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..RUNS {
            run()?;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(RUNS));
        device.synchronize()?;
    }
    Ok(least)
}
