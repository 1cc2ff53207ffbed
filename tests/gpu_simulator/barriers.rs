//! Barriers left out: without one a kernel makes a mistake that the simulator finds, or it was not needed.
//!
//! A barrier is left out of the PTX of a compiled program, and the program runs on the simulated device itself, without the driver in
//! between: each run of a step has a device of its own. Where no order shows a mistake, what is stored must still be the same bits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use fuser::compile::{CompileOptions, compile};
use fuser::session::Session;
use fuser_artifact::{Artifact, BufferKind, BufferSpec, Code, Step};
use fuser_cuda_sim::device::{Device, Failure, Options};
use fuser_target::Target;
use regex::Regex;

use super::programs::{Program, examples};

/// Most blocks of the launches whose blocks take several iterations of the grid. With as many as a GPU has no block would take another one.
const FEW: u64 = 5;

/// The versions of a program: those for the lengths that it is given and those for any, of which one for grids of any length is made for [`FEW`] blocks; and,
/// where no executor runs products, the first one for the given lengths: in others a product of long rows, as loops, takes the simulator hours.
fn versions(program: &Program, target: &str) -> Vec<Artifact> {
    let session = Session::new(Default::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", &program.text).unwrap();
    let any = CompileOptions {
        target: Target::by_name(&format!("cuda:{target}")).unwrap(),
        ..CompileOptions::default()
    };
    let lengths = program.extents.iter();
    let given = CompileOptions {
        shapes: lengths.map(|(name, n)| (name.clone(), *n as u64)).collect(),
        ..any.clone()
    };
    let alone = CompileOptions {
        executors: "none".to_owned(),
        ..given.clone()
    };
    let mut few = any.clone();
    few.target.grid_blocks = FEW;
    let all = usize::MAX;
    let mut versions = Vec::<Artifact>::new();
    for (options, most) in [(given, all), (any, all), (alone, 1), (few, all)] {
        let compiled = compile(&ir, module, &options).unwrap().artifact;
        let blocks = options.target.grid_blocks;
        let bounded = |version: &Artifact| {
            let mut bounds = version.requires.iter();
            bounds.any(|bound| bound.at_most == blocks)
        };
        let named = compiled.versions().any(bounded);
        for version in compiled.versions().take(most) {
            // Behind those whose grids must fit into a launch stands one for any.
            let strides = named && !bounded(version);
            let mut known = versions.iter();
            if strides == (blocks == FEW) && !known.any(|known| known.kernels == version.kernels) {
                versions.push(version.clone());
            }
        }
    }
    versions
}

/// The bytes of an input: small numbers of any type.
pub fn input(bytes: usize) -> Vec<u8> {
    // Bits that are small floats of 16, 32 and 64 bits at once.
    let word = |n: usize| [0x00, 0x3F + (n * 7 % 3) as u8, 0x80, 0x3F + (n % 2) as u8];
    (0..bytes.div_ceil(4)).flat_map(word).take(bytes).collect()
}

/// The contents of the buffers of a program.
type Memory = Vec<Vec<u8>>;

/// Returns the contents of the buffers before a run; what nobody wrote is NaN.
fn before(artifact: &Artifact, extents: &[i64]) -> Memory {
    let held = |buffer: &BufferSpec| {
        let nobody_wrote = if buffer.kind == BufferKind::Counts {
            0
        } else {
            0xFF
        };
        vec![nobody_wrote; buffer.bytes().evaluate_size(extents).unwrap()]
    };
    let mut memory: Memory = artifact.buffers.iter().map(held).collect();
    for tensor in &artifact.inputs {
        let held = &mut memory[tensor.buffer as usize];
        *held = input(held.len());
    }
    memory
}

/// Most blocks of a launch that does not count them: those behind do the same to other rows.
const BLOCKS: u32 = 16;

/// Runs a step on a device of its own; what the buffers hold then.
fn run(
    artifact: &Artifact,
    step: &Step,
    extents: &[i64],
    machine: &str,
    before: &Memory,
) -> Result<Memory, Failure> {
    let mut after = before.clone();
    let element = |buffer: u32| artifact.buffers[buffer as usize].dtype.bytes();
    match step {
        Step::Launch {
            kernel,
            buffers,
            extents: names,
            grid,
            scratch_bytes,
            block,
            ..
        } => {
            let kernel = &artifact.kernels[*kernel as usize];
            let Code::Ptx(ptx) = &kernel.code else {
                panic!("{} has no PTX", kernel.name);
            };
            let mut device = Device::new(Options::read(machine).unwrap());
            let module = device.load(ptx)?;
            let function = device.function(module, &kernel.symbol)?;
            let shared = scratch_bytes.evaluate_size(extents).unwrap() as u64;
            device.allow_shared(function, shared as i32)?;
            let mut addresses = BTreeMap::new();
            for &buffer in buffers {
                if let Entry::Vacant(new) = addresses.entry(buffer) {
                    let held = &before[buffer as usize];
                    let address = *new.insert(device.allocate(held.len().max(1))?);
                    device.bytes(address, held.len())?.copy_from_slice(held);
                }
            }
            let pointers = buffers
                .iter()
                .map(|buffer| addresses[buffer].to_le_bytes().to_vec());
            let names = names
                .iter()
                .map(|name| name.evaluate(extents).unwrap().to_le_bytes().to_vec());
            let parameters: Vec<Vec<u8>> = pointers.chain(names).collect();
            let counts =
                |buffer: &u32| artifact.buffers[*buffer as usize].kind == BufferKind::Counts;
            let most = if buffers.iter().any(counts) {
                u32::MAX
            } else {
                BLOCKS
            };
            let grid = most.min(grid.evaluate_size(extents).unwrap() as u32);
            device.launch(function, [grid, 1, 1], [*block, 1, 1], shared, &parameters)?;
            for (buffer, address) in addresses {
                let held = &mut after[buffer as usize];
                *held = device.bytes(address, held.len())?.to_vec();
            }
        }
        Step::Copy {
            from, to, elements, ..
        } => {
            let bytes = elements.evaluate_size(extents).unwrap() * element(*from);
            after[*to as usize][..bytes].copy_from_slice(&before[*from as usize][..bytes]);
        }
        Step::Fill {
            buffer,
            elements,
            bits,
            ..
        } => {
            let (count, size) = (elements.evaluate_size(extents).unwrap(), element(*buffer));
            let bytes = bits.to_le_bytes()[..size].repeat(count);
            after[*buffer as usize][..bytes.len()].copy_from_slice(&bytes);
        }
        // One turn shows what any does.
        Step::Turn { .. } | Step::Jump { .. } => {}
        Step::Product { .. }
        | Step::Attention { .. }
        | Step::Scatter { .. }
        | Step::Sort { .. }
        | Step::Routine { .. }
        | Step::Collective { .. } => {
            panic!("no call runs on a GPU")
        }
    }
    Ok(after)
}

/// The artifact without barrier `number` of kernel `kernel`; none if there is no such one.
fn without(artifact: &Artifact, kernel: usize, number: usize) -> Option<Artifact> {
    let mut changed = artifact.clone();
    let Code::Ptx(ptx) = &mut changed.kernels.get_mut(kernel)?.code else {
        return None;
    };
    let barrier = Regex::new(r"bar\.sync|barrier\.cluster\.arrive\.aligned;\s*").unwrap();
    let found = barrier.find_iter(ptx).nth(number)?;
    // Both halves of that of a cluster are on one line then.
    let left_out = ["// left out: ", &found.as_str()[..3]].concat();
    ptx.replace_range(found.range(), &left_out);
    Some(changed)
}

/// The orders in which a barrier that is missing shows.
const ORDERS: [&str; 3] = ["order=forward", "order=reverse", "order=random,seed=5"];

/// Extents under which a version may run, whatever those before it ask for: as near as it asks to the program's; longer ones, in which a loop over
/// vectors and that over their rest have iterations; and each of them so long that rows have more than one tile.
fn extents(program: &Program, version: &Artifact) -> Vec<Vec<i64>> {
    let of = |longer: &dyn Fn(usize) -> i64| {
        let given = |(number, name): (usize, &String)| {
            let mut all = program.extents.iter();
            longer(number) + all.find(|(known, _)| known == name).unwrap().1
        };
        let mut extents: Vec<i64> = version.extents.iter().enumerate().map(given).collect();
        for multiple in &version.multiples {
            let length = &mut extents[multiple.extent as usize];
            let least = multiple.within.map_or(0, |[least, _]| i64::from(least));
            let at_least = (*length).max(least) as u64;
            *length = at_least.next_multiple_of(multiple.of.into()) as i64;
        }
        extents
    };
    let mut all = vec![of(&|_| 0), of(&|_| 8)];
    all.extend(
        (0..version.extents.len()).map(|long| of(&|number| 1024 * i64::from(number == long))),
    );
    all.dedup();
    assert!(version.runs_under(&all[0]), "{}", program.name);
    all.retain(|extents| version.runs_under(extents));
    all
}

/// The contents of the buffers before each step of a version, and behind the last one.
fn steps(program: &Program, version: &Artifact, extents: &[i64], machine: &str) -> Vec<Memory> {
    let mut memory = vec![before(version, extents)];
    for step in &version.steps {
        let after = run(version, step, extents, machine, memory.last().unwrap());
        memory.push(after.unwrap_or_else(|error| panic!("{}: {error:?}", program.name)));
    }
    memory
}

/// Barriers of a program that are found missing, and those that are not needed, told with their places: leaving all of them out changes
/// nothing. Only the step is run whose kernel has the barrier.
pub fn mutate(program: &Program, target: &str) -> (usize, Vec<String>) {
    let machines = ORDERS.map(|order| format!("{target},{order}"));
    let (mut found, mut redundant) = (0, Vec::new());
    // Others have no barrier to leave out, and rows that take the simulator minutes.
    let waits = |version: &Artifact| {
        let mut kernels = 0..version.kernels.len();
        kernels.any(|kernel| without(version, kernel, 0).is_some())
    };
    for version in versions(program, target).into_iter().filter(waits) {
        let lengths = extents(program, &version).into_iter();
        let memory = lengths.map(|extents| {
            let steps = steps(program, &version, &extents, &machines[0]);
            (extents, steps)
        });
        let memory: Vec<_> = memory.collect();
        let mut kept = version.clone();
        for (number, step) in version.steps.iter().enumerate() {
            // Runs an artifact in every way: true where what is stored is that of the version, false where it is other bits.
            let runs = |artifact: &Artifact| {
                let ways = memory
                    .iter()
                    .flat_map(|lengths| machines.iter().map(move |m| (lengths, m)));
                let mut runs = ways.map(|((extents, memory), machine)| {
                    let after = run(artifact, step, extents, machine, &memory[number])?;
                    Ok::<_, Failure>(after == memory[number + 1])
                });
                runs.try_fold(true, |all, agrees| Ok::<_, Failure>(all && agrees?))
            };
            assert!(
                runs(&version).is_ok_and(|agrees| agrees),
                "{}",
                program.name
            );
            let kernel = match step {
                Step::Launch { kernel, .. } => *kernel as usize,
                _ => version.kernels.len(),
            };
            let mut barrier = 0;
            while let Some(changed) = without(&kept, kernel, barrier) {
                let Ok(agrees) = runs(&changed) else {
                    found += 1;
                    barrier += 1;
                    continue;
                };
                // No mistake was found: then it changes nothing. It stays away, as the next one may do its work.
                assert!(
                    agrees,
                    "{}: a missing barrier changes the result, and is not found",
                    program.name
                );
                let name = &kept.kernels[kernel].name;
                redundant.push(format!("{name} on {target}"));
                kept = changed;
            }
        }
    }
    (found, redundant)
}

#[test]
fn a_barrier_of_a_row_is_found_missing() {
    let programs = examples();
    let program = programs
        .iter()
        .find(|program| program.name == "softmax")
        .unwrap();
    let (found, redundant) = mutate(program, "sm_90");
    println!("count: {found} barriers that are needed");
    assert_eq!((found, redundant), (2, Vec::new()));
}

#[test]
fn a_barrier_of_a_cluster_is_found_missing() {
    let text = "task.program @f(%x: tensor<2x16384xf32>) -> tensor<2x16384xf32> {
  %m = fusion.max %x dims [1]
  %mb = fusion.broadcast %m dims [0] shape [2, 16384]
  %d = fusion.sub %x, %mb
  %e = fusion.exp %d
  %s = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [2, 16384]
  %y = fusion.div %e, %sb
  task.return %y
}";
    // Of each reduction one over the warps of all blocks, and one before the blocks end; without clusters those over warps.
    for (target, needed) in [("sm_90", 3), ("sm_80", 2)] {
        let (found, redundant) = mutate(&Program::new("clusters", text, "f"), target);
        println!("count: {found} barriers that are needed");
        assert_eq!((found, redundant), (needed, Vec::new()), "{target}");
    }
}

/// The programs that take minutes, which have a test each.
const LONG: [&str; 4] = [
    "gpt2_block_backward",
    "llama_block_backward",
    "attention",
    "attention_backward",
];

/// Leaves out every barrier of some programs on two GPUs, all of which must be needed.
fn leave_out(wanted: impl Fn(&str) -> bool) {
    let (mut all, mut redundant) = (0, Vec::new());
    for program in examples().iter().filter(|program| wanted(&program.name)) {
        for target in ["sm_80", "sm_90"] {
            let (found, more) = mutate(program, target);
            println!("{} on {target}: {found}, and {more:?}", program.name);
            all += found;
            redundant.extend(more);
        }
    }
    println!("count: {all} barriers that are needed");
    assert!(all > 0 && redundant.is_empty(), "{redundant:?}");
}

/// Leaves out every barrier of a program on two GPUs, all of which must be needed; their number.
pub fn leave_out_of(program: &Program) -> usize {
    let of = |target| {
        let (found, redundant) = mutate(program, target);
        assert_eq!(redundant, Vec::<String>::new(), "{}", program.name);
        found
    };
    of("sm_80") + of("sm_90")
}

#[test]
#[ignore = "two minutes"]
fn every_barrier_is_found_missing() {
    leave_out(|name| !LONG.contains(&name));
}

#[test]
#[ignore = "two minutes"]
fn every_barrier_of_a_gpt2_block_backward_is_found_missing() {
    leave_out(|name| name == LONG[0]);
}

#[test]
#[ignore = "two minutes"]
fn every_barrier_of_a_llama_block_backward_is_found_missing() {
    leave_out(|name| name == LONG[1]);
}

#[test]
#[ignore = "two minutes"]
fn every_barrier_of_attention_is_found_missing() {
    leave_out(|name| name == LONG[2]);
}

#[test]
#[ignore = "four minutes"]
fn every_barrier_of_an_attention_backward_is_found_missing() {
    leave_out(|name| name == LONG[3]);
}
