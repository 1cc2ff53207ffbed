//! Programs bound to extents: results are those of a run, whatever owns the memory; calls that cannot be made are errors.

use std::sync::Arc;

use super::*;
use crate::binding::{CallError, Operand};
use crate::executable::Executable;
use crate::memory::Memory;

fn bind(artifact: Artifact, rows: usize, threads: usize) -> (Runtime, Executable) {
    let runtime = Runtime::with_heap(Some(threads), Heap::with_limit(1 << 20)).unwrap();
    let program = Arc::new(CpuProgram::load(artifact, &Functions).unwrap());
    let extents = [("B".to_string(), rows as i64)].into();
    let executable = Executable::new(&runtime, program, &extents).unwrap();
    (runtime, executable)
}

/// Calls with `x`, and compares the outputs with those of a run.
fn check(artifact: Artifact, rows: usize, threads: usize) {
    let expected = run(artifact.clone(), rows, threads, &RunOptions::default()).unwrap();
    let (runtime, mut executable) = bind(artifact, rows, threads);
    let heap = runtime.heap();
    let x = input(heap, rows);
    let before = x.bytes().to_vec();
    let sizes = executable.output_bytes().to_vec();
    let mut outputs: Vec<Memory> = sizes
        .iter()
        .map(|bytes| heap.allocate(*bytes).unwrap())
        .collect();
    let in_use = heap.in_use();
    for _ in 0..3 {
        outputs.iter_mut().for_each(|output| output.fill(0xee));
        let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
        executable.run(&[x.bytes()], &mut places).unwrap();
        for (output, expected) in outputs.iter().zip(&expected.outputs) {
            assert_eq!(output[..], *expected.bytes());
        }
        assert!(x.bytes() == before);
    }
    assert_eq!(heap.in_use(), in_use);
}

#[test]
fn calls_give_what_runs_give() {
    for threads in [1, 3] {
        for rows in [0, 1, 2, 13, 127] {
            check(several_steps(), rows, threads);
        }
    }
}

#[test]
fn outputs_that_share_memory_are_all_written() {
    // The second output is the first one's memory, the third is the input's.
    let mut artifact = one_kernel("double");
    artifact.outputs.push(matrix_tensor("again", 1));
    artifact.outputs.push(matrix_tensor("view", 0));
    check(artifact, 13, 2);
    // The output updates the input, which stays as it is for the caller.
    let mut artifact = one_kernel("double");
    artifact.outputs[0].buffer = 0;
    artifact.updates.push(0);
    artifact.buffers.pop();
    artifact.steps[0] = launch(0, &[0, 0], rows());
    check(artifact, 13, 1);
}

#[test]
fn calls_that_cannot_be_made_are_errors() {
    let (runtime, mut executable) = bind(one_kernel("double"), 3, 1);
    let memory = |bytes| runtime.heap().allocate(bytes).unwrap();
    let (x, mut y) = (memory(3 * ROW * 4 + 64), memory(3 * ROW * 4 + 64));
    let whole = 3 * ROW * 4;
    let mut call = |from: std::ops::Range<usize>, to: std::ops::Range<usize>| {
        executable.run(&[&x[from]], &mut [&mut y[to]])
    };
    assert_eq!(call(0..whole, 64..64 + whole), Ok(()));
    let bytes = |operand, found| CallError::Bytes {
        operand,
        expected: whole,
        found,
    };
    assert_eq!(
        call(0..whole - 1, 0..whole),
        Err(bytes(Operand::Input(0), whole - 1))
    );
    assert_eq!(
        call(0..whole, 0..whole + 1),
        Err(bytes(Operand::Output(0), whole + 1))
    );
    let skewed = |call: Result<(), CallError>| call.unwrap_err().to_string();
    assert_eq!(call(4..4 + whole, 0..whole), Ok(()));
    assert_eq!(
        skewed(call(2..2 + whole, 0..whole)),
        "the memory of input 0 is not aligned to 4 bytes: it begins 2 bytes past such an address; give a copy"
    );
    assert_eq!(
        skewed(call(0..whole, 32..32 + whole)),
        "the memory of output 0 is not aligned to 64 bytes: it begins 32 bytes past such an address; give a copy"
    );
    let count = CallError::Count {
        inputs: 1,
        outputs: 1,
    };
    assert_eq!(executable.run(&[], &mut []), Err(count));
    assert_eq!(count.to_string(), "the program has 1 inputs and 1 outputs");

    let program = CpuProgram::load(one_kernel("double"), &Functions).unwrap();
    let error = Executable::new(&runtime, Arc::new(program), &Explicit::new()).err();
    assert!(error.unwrap().to_string().contains("`B`"));
}
