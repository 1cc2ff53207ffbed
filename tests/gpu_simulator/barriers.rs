//! Barriers left out: without one a kernel makes a mistake that the simulator finds, or it was not needed.
//!
//! A barrier is left out of the PTX of a compiled program, and the program runs on the simulated device itself, without the driver in
//! between: each run has a device of its own. Where no order shows a mistake, the outputs must still be the same bits.

use fuser::compile::{CompileOptions, compile};
use fuser::session::Session;
use fuser_artifact::{Artifact, BufferKind, Code, Step};
use fuser_cuda_sim::device::{Device, Failure, Options};
use fuser_target::Target;

use super::programs::{Program, examples};

fn compiled(program: &Program, target: &str) -> Artifact {
    let session = Session::new(Default::default()).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", &program.text).unwrap();
    let lengths = program
        .extents
        .iter()
        .map(|(name, n)| (name.clone(), *n as u64));
    let mut options = CompileOptions {
        target: Target::by_name(&format!("cuda:{target}")).unwrap(),
        ..CompileOptions::default()
    };
    options.shapes.extend(lengths);
    compile(&ir, module, &options).unwrap().artifact
}

/// The bytes of an input: small numbers of any type.
fn input(bytes: usize) -> Vec<u8> {
    // Bits that are small floats of 16, 32 and 64 bits at once.
    let word = |n: usize| [0x00, 0x3F + (n * 7 % 3) as u8, 0x80, 0x3F + (n % 2) as u8];
    (0..bytes.div_ceil(4)).flat_map(word).take(bytes).collect()
}

/// Runs a program on a device; the bytes of its outputs.
fn run(artifact: &Artifact, extents: &[i64], machine: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let artifact = artifact.versions().nth(artifact.version(extents)).unwrap();
    let mut device = Device::new(Options::read(machine).unwrap());
    let size = |buffer: u32| {
        let bytes = artifact.buffers[buffer as usize].bytes();
        bytes.evaluate_size(extents).unwrap()
    };
    let mut addresses = Vec::new();
    for number in 0..artifact.buffers.len() as u32 {
        addresses.push(device.allocate(size(number).max(1))?);
        if artifact.buffers[number as usize].kind == BufferKind::Counts {
            device
                .bytes(addresses[number as usize], size(number))?
                .fill(0);
        }
    }
    let at = |buffer: u32| addresses[buffer as usize];
    for tensor in &artifact.inputs {
        let bytes = input(size(tensor.buffer));
        device
            .bytes(at(tensor.buffer), bytes.len())?
            .copy_from_slice(&bytes);
    }
    for step in &artifact.steps {
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
                let module = device.load(ptx)?;
                let function = device.function(module, &kernel.symbol)?;
                let shared = scratch_bytes.evaluate_size(extents).unwrap() as u64;
                device.allow_shared(function, shared as i32)?;
                let pointers = buffers
                    .iter()
                    .map(|buffer| at(*buffer).to_le_bytes().to_vec());
                let names = names
                    .iter()
                    .map(|name| name.evaluate(extents).unwrap().to_le_bytes().to_vec());
                let parameters: Vec<Vec<u8>> = pointers.chain(names).collect();
                let grid = grid.evaluate_size(extents).unwrap() as u32;
                device.launch(function, [grid, 1, 1], [*block, 1, 1], shared, &parameters)?;
            }
            Step::Copy {
                from, to, elements, ..
            } => {
                let bytes = elements.evaluate_size(extents).unwrap() * element(*from);
                let copied = device.bytes(at(*from), bytes)?.to_vec();
                device.bytes(at(*to), bytes)?.copy_from_slice(&copied);
            }
            Step::Fill {
                buffer,
                elements,
                bits,
                ..
            } => {
                let (count, size) = (elements.evaluate_size(extents).unwrap(), element(*buffer));
                let bytes = bits.to_le_bytes()[..size].repeat(count);
                device
                    .bytes(at(*buffer), bytes.len())?
                    .copy_from_slice(&bytes);
            }
            Step::Product { .. }
            | Step::Attention { .. }
            | Step::Scatter { .. }
            | Step::Sort { .. } => {
                panic!("no call runs on a GPU")
            }
        }
    }
    let outputs = artifact.outputs.iter().map(|tensor| {
        let bytes = device.bytes(at(tensor.buffer), size(tensor.buffer))?;
        Ok(bytes.to_vec())
    });
    outputs.collect()
}

/// The artifact without barrier `number` of kernel `kernel`; none if there is no such one.
fn without(artifact: &Artifact, kernel: usize, number: usize) -> Option<Artifact> {
    let mut changed = artifact.clone();
    let Code::Ptx(ptx) = &mut changed.kernels.get_mut(kernel)?.code else {
        return None;
    };
    let (at, _) = ptx.match_indices("bar.sync").nth(number)?;
    ptx.insert_str(at, "// left out: ");
    *ptx = ptx.replace("left out: bar.sync", "left out");
    Some(changed)
}

/// The orders in which a barrier that is missing shows.
const ORDERS: [&str; 3] = ["order=forward", "order=reverse", "order=random,seed=5"];

/// Barriers of a program that are found missing, and those that are not needed: leaving all of them out changes nothing.
fn mutate(program: &Program, target: &str) -> (usize, usize) {
    let mut artifact = compiled(program, target);
    let values = |name: &String| {
        let mut all = program.extents.iter();
        all.find(|(known, _)| known == name).unwrap().1
    };
    let extents: Vec<i64> = artifact.extents.iter().map(values).collect();
    let machines = ORDERS.map(|order| format!("{target},{order}"));
    let runs = |artifact: &Artifact| {
        machines
            .clone()
            .map(|machine| run(artifact, &extents, &machine))
    };
    let expected = runs(&artifact)[0].clone();
    assert!(
        expected.is_ok() && runs(&artifact).iter().all(|run| *run == expected),
        "{}",
        program.name
    );
    let (mut found, mut redundant) = (0, 0);
    for kernel in 0..artifact.kernels.len() {
        let mut number = 0;
        while let Some(changed) = without(&artifact, kernel, number) {
            let runs = runs(&changed);
            if runs.iter().any(Result::is_err) {
                found += 1;
                number += 1;
                continue;
            }
            // No mistake was found: then it changes nothing. It stays away, as the next one may do its work.
            assert!(
                runs.iter().all(|run| *run == expected),
                "{}: a missing barrier changes the result, and is not found",
                program.name
            );
            redundant += 1;
            artifact = changed;
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
    assert_eq!((found, redundant), (2, 0));
}

#[test]
#[ignore = "half a minute"]
fn every_barrier_is_found_missing() {
    let mut redundant_ones = Vec::new();
    for program in examples() {
        for target in ["sm_80", "sm_90"] {
            let (found, redundant) = mutate(&program, target);
            let told = format!(
                "{} on {target}: {found} barriers are needed, {redundant} are not",
                program.name
            );
            println!("{told}");
            redundant_ones.extend((redundant > 0).then_some(told));
        }
    }
    assert_eq!(redundant_ones, Vec::<String>::new());
}
