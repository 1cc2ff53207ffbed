//! Random programs on the simulated GPU agree with the interpreter, and their kernels make no mistake that it finds.
//!
//! A process has one GPU: `FUSER_TEST_GPU` names its options, `sm_80,order=reverse`, or `real`, the machine's own; by
//! default blocks and warps run in a random order on a simulated `sm_90`. `FUSER_TEST_SHARD=1/4` leaves the second of
//! four processes its share of the programs, as one waits for the driver's compiler most of the time; `357/2000` is one
//! of them.

use fuser::compile::{CompileOptions, Target, compile};
use fuser::tool::gpu;
use fuser_cuda_sim::order::Order;
use fuser_fuzzing::generate::case::file;
use fuser_fuzzing::generate::fusion::{self, Config};
use fuser_fuzzing::generate::{Case, Tier};
use fuser_fuzzing::oracle::{compiled, execute};
use fuser_fuzzing::{Source, Stats};
use fuser_runtime::cuda::{CudaDevice, CudaProgram};
use fuser_runtime::{RunOptions, Runtime};

/// Bytes that a run may hold.
const MEMORY: u64 = 1 << 30;

/// Compiles a case for the device, by options that `change` has changed, and runs it there; false where a stated limit
/// is met.
fn agrees(
    case: &Case,
    runtime: &Runtime,
    device: &CudaDevice,
    change: fn(&mut CompileOptions),
    stats: &mut Stats,
) -> Result<bool, String> {
    let mut options = CompileOptions {
        target: Target::of_capability(device.sm().into()).unwrap(),
        ..CompileOptions::default()
    };
    change(&mut options);
    let Ok(expected) = execute::expected_of(case, options.target.contract != 0) else {
        return Ok(false);
    };
    let Ok(done) = compile(&case.ir, case.module, &options) else {
        return Ok(false);
    };
    let inputs = compiled::inputs(runtime, case, &done.artifact).map_err(|e| e.to_string())?;
    let program = CudaProgram::load(done.artifact, device).map_err(|e| e.to_string())?;
    let program = std::sync::Arc::new(program);
    let once = RunOptions {
        warmup: 0,
        repeats: 1,
        checks: false,
    };
    let run = program.run(runtime, &inputs, &Default::default(), &once);
    let outputs = run.map_err(|e| e.to_string())?.outputs;
    let outputs: Option<Vec<_>> = outputs.iter().map(compiled::interpreted).collect();
    let outputs = outputs.ok_or("a result has more bytes than its shape")?;
    let fault = expected.fault(&outputs);
    expected.count(stats);
    fault.map_or(Ok(true), Err)
}

fn random_programs(count: u64, change: fn(&mut CompileOptions)) {
    programs_of(|config| config, count, change);
}

/// Random programs by options of the generator that `draw` has changed.
fn programs_of(draw: fn(Config) -> Config, count: u64, change: fn(&mut CompileOptions)) {
    let order = format!("sm_90,order={},seed=1", Order::Random.name());
    let machine = std::env::var("FUSER_TEST_GPU").unwrap_or(order);
    let simulator = (machine != "real").then(|| machine.clone());
    let device = gpu::open(simulator, 0).unwrap();
    let runtime = Runtime::new(fuser_runtime::RuntimeConfig {
        threads: Some(1),
        memory_limit: Some(MEMORY),
    });
    let runtime = runtime.unwrap();
    let shard = std::env::var("FUSER_TEST_SHARD").unwrap_or("0/1".into());
    let numbers = shard.split('/').map(|number| number.parse().unwrap());
    let [number, shards] = numbers.collect::<Vec<u64>>()[..] else {
        panic!("FUSER_TEST_SHARD: '{shard}' is no number/shards")
    };
    let (mut ran, mut failures, mut stats) = (0, Vec::new(), Stats::default());
    for seed in (number..count).step_by(shards as usize) {
        let tier = [Tier::Exact, Tier::Bounded][(seed % 2) as usize];
        let config = draw(Config::small(tier).seeded(seed));
        let case = fusion::generate(&mut Source::seed(seed), &config);
        match agrees(&case, &runtime, &device, change, &mut stats) {
            Ok(run) => ran += u64::from(run),
            Err(what) => {
                failures.push(format!("seed {seed} on {machine}: {what}"));
                // A kernel's mistake stays the device's error: nothing after it would run.
                if device.synchronize().is_err() {
                    failures.push(file(&case));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("count: {ran} random programs on {machine}\n{stats}");
    assert!(ran > count / shards / 2, "{ran} of {count} ran");
}

#[test]
fn random_programs_agree_on_the_simulated_gpu() {
    random_programs(60, |_| {});
}

#[test]
#[ignore = "minutes"]
fn two_thousand_random_programs_agree_on_the_simulated_gpu() {
    random_programs(2000, |_| {});
}

/// Launches of few blocks, each of which takes several iterations of a grid.
#[test]
fn random_programs_agree_in_launches_of_few_blocks() {
    random_programs(60, |options| options.target.grid_blocks = 3);
}

#[test]
#[ignore = "minutes"]
fn two_thousand_random_programs_agree_in_launches_of_few_blocks() {
    random_programs(2000, |options| options.target.grid_blocks = 3);
}

/// Programs most of whose types LLVM packs, two or four to a register.
fn narrow(config: Config) -> Config {
    Config {
        narrow: true,
        packed: false,
        ..config
    }
}

#[test]
fn random_programs_of_narrow_types_agree_on_the_simulated_gpu() {
    programs_of(narrow, 60, |_| {});
}

#[test]
#[ignore = "minutes"]
fn two_thousand_random_programs_of_narrow_types_agree_on_the_simulated_gpu() {
    programs_of(narrow, 2000, |_| {});
}

/// Products may be a part of sums.
#[test]
fn contracted_random_programs_agree_on_the_simulated_gpu() {
    random_programs(60, |options| options.target.contract = 1);
}

/// Tensors begin an element behind a multiple of 64.
#[test]
fn random_programs_agree_at_any_address() {
    random_programs(60, |options| options.any_address = true);
}

#[test]
#[ignore = "minutes"]
fn two_thousand_random_programs_agree_at_any_address() {
    random_programs(2000, |options| options.any_address = true);
}
