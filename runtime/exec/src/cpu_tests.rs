//! Programs whose kernels are plain functions: results, independence of threads, in-place updates, limits, failing
//! allocations, and every check with a kernel that breaks it.

use super::*;
use std::collections::BTreeMap;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use fuser_artifact::{
    BufferKind, BufferSpec, Code, DType, DimSpec, KernelCode, SegmentInfo, SegmentKind, SizeExpr,
    Step, TensorSpec,
};

use crate::memory::Heap;
use crate::memory::tests::failing;
use crate::tensor::Axis;

#[path = "executable_tests.rs"]
mod executable;

const ROW: usize = 8;

/// The functions below, by symbol.
struct Functions;

impl CodeLoader for Functions {
    fn load(&self, _: &Target, kernels: &[KernelCode]) -> Result<Box<dyn LoadedCode>, LoadError> {
        let broken = kernels
            .iter()
            .find(|kernel| kernel.code == Code::Object(vec![0]));
        match broken {
            Some(kernel) => Err(LoadError::Refused {
                kernel: Some(kernel.name.clone()),
                log: "bad magic".to_string(),
            }),
            None => Ok(Box::new(Functions)),
        }
    }
}

impl LoadedCode for Functions {
    fn entry(&self, symbol: &str) -> Option<CpuEntry> {
        match symbol {
            "double" => Some(double),
            "row_sums" => Some(row_sums),
            "total" => Some(total),
            "after" => Some(after),
            "before" => Some(before),
            "lazy" => Some(lazy),
            "spoil" => Some(spoil),
            "unread" => Some(unread),
            "ordered" => Some(ordered),
            "overread" => Some(overread),
            "scratch" => Some(scratch_overrun),
            _ => None,
        }
    }
}

/// The elements of a launch's buffer.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe fn elements<'a>(buffers: *const *mut u8, index: usize, len: usize) -> &'a [f32] {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe { from_raw_parts((*buffers.add(index)).cast(), len) }
}

/// Row `row` of a launch's buffer, to write to.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe fn row<'a>(buffers: *const *mut u8, index: usize, row: i64) -> &'a mut [f32] {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        let start = (*buffers.add(index)).cast::<f32>();
        from_raw_parts_mut(start.add(row as usize * ROW), ROW)
    }
}

/// Buffers `x`, `y`: each row of `y` is twice that of `x`, by way of scratch.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn double(
    b: *const *mut u8,
    e: *const i64,
    begin: i64,
    end: i64,
    scratch: *mut u8,
) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        assert!(begin >= 0 && end <= *e);
        assert_eq!(scratch as usize % 64, 0);
        for index in begin..end {
            let scratch = from_raw_parts_mut(scratch.cast::<f32>(), ROW);
            scratch.copy_from_slice(row(b, 0, index));
            let to = row(b, 1, index).iter_mut();
            to.zip(scratch).for_each(|(to, from)| *to = 2.0 * *from);
        }
    }
}

/// Buffers `x`, `sums`: one sum per row.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn row_sums(b: *const *mut u8, _: *const i64, begin: i64, end: i64, _: *mut u8) {
    for index in begin..end {
        // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
        unsafe { *(*b.add(1)).cast::<f32>().add(index as usize) = row(b, 0, index).iter().sum() }
    }
}

/// Buffers `sums`, `total`: adds up; the grid is 1.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn total(b: *const *mut u8, e: *const i64, _: i64, _: i64, _: *mut u8) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe { *(*b.add(1)).cast::<f32>() = elements(b, 0, *e as usize).iter().sum() }
}

/// Writes one element after `y`.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn after(b: *const *mut u8, e: *const i64, begin: i64, end: i64, s: *mut u8) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        double(b, e, begin, end, s);
        *(*b.add(1)).cast::<f32>().add(*e as usize * ROW) = 1.0;
    }
}

/// Writes one byte before `y`.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn before(b: *const *mut u8, e: *const i64, begin: i64, end: i64, s: *mut u8) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        double(b, e, begin, end, s);
        *(*b.add(1)).sub(1) = 1;
    }
}

/// Leaves the last row out.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn lazy(b: *const *mut u8, e: *const i64, begin: i64, end: i64, s: *mut u8) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe { double(b, e, begin, end.min(*e - 1), s) }
}

/// Writes to `x`.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn spoil(b: *const *mut u8, e: *const i64, begin: i64, end: i64, s: *mut u8) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        double(b, e, begin, end, s);
        *(*b).cast::<f32>().add(1) += 1.0;
    }
}

/// Adds to `y` what was in it before.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn unread(b: *const *mut u8, _: *const i64, begin: i64, end: i64, _: *mut u8) {
    for index in begin..end {
        // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
        unsafe {
            row(b, 1, index)
                .iter_mut()
                .for_each(|y| *y = f32::from_bits(y.to_bits() ^ 1))
        }
    }
}

/// Writes to each row of `y` where the call's range begins.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn ordered(b: *const *mut u8, _: *const i64, begin: i64, end: i64, _: *mut u8) {
    for index in begin..end {
        // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
        unsafe { row(b, 1, index).fill(begin as f32) }
    }
}

/// Writes the element after the temporary `x` to all of `y`.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn overread(b: *const *mut u8, e: *const i64, begin: i64, end: i64, _: *mut u8) {
    for index in begin..end {
        // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
        unsafe {
            let value = *(*b).cast::<f32>().add(*e as usize * ROW);
            row(b, 1, index).fill(value);
        }
    }
}

/// Writes the byte after its scratch.
// SAFETY: the caller hands over buffers as the ABI says.
unsafe extern "C" fn scratch_overrun(
    b: *const *mut u8,
    e: *const i64,
    begin: i64,
    end: i64,
    s: *mut u8,
) {
    // SAFETY: the tests' artifacts give buffers, extents and scratch of these sizes.
    unsafe {
        double(b, e, begin, end, s);
        *s.add(64) = 1;
    }
}

fn rows() -> SizeExpr {
    SizeExpr::extent(0)
}

fn matrix() -> SizeExpr {
    rows() * (ROW as i64).into()
}

fn tensor(name: &str, buffer: u32, dims: Vec<DimSpec>) -> TensorSpec {
    let (name, dtype) = (name.to_string(), DType::F32);
    TensorSpec {
        name,
        dtype,
        dims,
        order: Vec::new(),
        buffer,
    }
}

fn matrix_tensor(name: &str, buffer: u32) -> TensorSpec {
    tensor(
        name,
        buffer,
        vec![DimSpec::stored(rows()), DimSpec::stored(ROW as i64)],
    )
}

fn buffer(name: &str, elements: SizeExpr, kind: BufferKind) -> BufferSpec {
    let (name, dtype) = (name.to_string(), DType::F32);
    BufferSpec {
        name,
        dtype,
        elements,
        kind,
    }
}

fn launch(kernel: u32, buffers: &[u32], grid: SizeExpr) -> Step {
    Step::Launch {
        kernel,
        segment: 0,
        buffers: buffers.to_vec(),
        extents: vec![rows()],
        grid,
        scratch_bytes: 64.into(),
        block: 1,
        product: None,
    }
}

fn empty_artifact(symbols: &[&str]) -> Artifact {
    let target = Target::Cpu {
        triple: String::new(),
        cpu: String::new(),
        features: String::new(),
    };
    let mut artifact = Artifact::new("test", target);
    artifact.extents.push("B".to_string());
    artifact.kernels = symbols
        .iter()
        .map(|symbol| KernelCode {
            name: format!("k_{symbol}"),
            symbol: symbol.to_string(),
            code: Code::Object(Vec::new()),
            shared_bytes: 0,
            any_address: None,
            lines: true,
        })
        .collect();
    artifact.segments.push(SegmentInfo {
        name: "s0".to_string(),
        label: String::new(),
        kind: SegmentKind::Kernel,
        ops: 2,
        sweeps: 1,
        read_bytes: matrix() * 4.into(),
        write_bytes: matrix() * 4.into(),
        values: Vec::new(),
    });
    artifact
}

/// `y = kernel(x)`, matrices of B rows.
fn one_kernel(symbol: &str) -> Artifact {
    let mut artifact = empty_artifact(&[symbol]);
    artifact.inputs.push(matrix_tensor("x", 0));
    artifact.outputs.push(matrix_tensor("y", 1));
    artifact.buffers = vec![
        buffer("x", matrix(), BufferKind::Input(0)),
        buffer("y", matrix(), BufferKind::Output(0)),
    ];
    artifact.steps.push(launch(0, &[0, 1], rows()));
    artifact
}

/// `t = fill 3; u = copy x; v = double u; sums = row_sums v; total = total sums`, and `x` itself as an output.
fn several_steps() -> Artifact {
    let mut artifact = empty_artifact(&["double", "row_sums", "total"]);
    artifact.inputs.push(matrix_tensor("x", 0));
    artifact.outputs = vec![
        tensor("total", 1, vec![]),
        matrix_tensor("v", 5),
        tensor("t", 6, vec![]),
    ];
    artifact.buffers = vec![
        buffer("x", matrix(), BufferKind::Input(0)),
        buffer("total", 1.into(), BufferKind::Output(0)),
        buffer("u", matrix(), BufferKind::Temp { first: 1, last: 2 }),
        buffer("w", matrix(), BufferKind::Temp { first: 2, last: 3 }),
        buffer("sums", rows(), BufferKind::Temp { first: 3, last: 4 }),
        buffer("v", matrix(), BufferKind::Output(1)),
        buffer("t", 1.into(), BufferKind::Output(2)),
    ];
    let copy = |from, to| Step::Copy {
        segment: 0,
        from,
        to,
        elements: matrix(),
    };
    let bits = u64::from(3f32.to_bits());
    artifact.steps = vec![
        Step::Fill {
            segment: 0,
            buffer: 6,
            elements: 1.into(),
            bits,
        },
        copy(0, 2),
        launch(0, &[2, 3], rows()),
        launch(1, &[3, 4], rows()),
        launch(2, &[4, 1], 1.into()),
        launch(0, &[0, 5], rows()),
    ];
    artifact
}

fn input(heap: &Heap, rows: usize) -> HostTensor {
    let axes = [Axis::stored(rows), Axis::stored(ROW)];
    let values: Vec<f64> = (0..rows * ROW).map(|i| (i % 17) as f64 - 8.0).collect();
    HostTensor::from_f64(heap, DType::F32, &axes, &values).unwrap()
}

fn checked() -> RunOptions {
    RunOptions {
        checks: true,
        ..RunOptions::default()
    }
}

fn run(
    artifact: Artifact,
    rows: usize,
    threads: usize,
    options: &RunOptions,
) -> Result<RunResult, RuntimeError> {
    let runtime = Runtime::with_heap(Some(threads), Heap::with_limit(1 << 26))?;
    let program = CpuProgram::load(artifact, &Functions)?;
    let inputs = [input(runtime.heap(), rows)];
    program.run(&runtime, &inputs, &Explicit::new(), options)
}

fn values(tensor: &HostTensor) -> Vec<f64> {
    tensor.values().collect()
}

fn refused(artifact: Artifact) -> String {
    run(artifact, 13, 2, &checked()).unwrap_err().to_string()
}

#[test]
fn results_are_the_same_for_every_number_of_threads() {
    let mut seen: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for threads in [1, 2, 3, 7] {
        for rows in [0, 1, 2, 13, 127, 257] {
            let result = run(several_steps(), rows, threads, &checked()).unwrap();
            let x = values(&input(&Heap::with_limit(1 << 20), rows));
            let doubled: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
            // Small whole numbers: every order of summation gives the same.
            assert_eq!(values(&result.outputs[0]), [doubled.iter().sum::<f64>()]);
            assert_eq!(values(&result.outputs[1]), doubled);
            assert_eq!(values(&result.outputs[2]), [3.0]);
            let all: Vec<u8> = result
                .outputs
                .iter()
                .flat_map(|output| output.bytes().to_vec())
                .collect();
            assert_eq!(*seen.entry(rows).or_insert(all.clone()), all);
        }
    }
}

#[test]
fn what_is_planned_is_what_is_allocated() {
    let runtime = Runtime::with_heap(Some(3), Heap::with_limit(1 << 20)).unwrap();
    let program = CpuProgram::load(several_steps(), &Functions).unwrap();
    let inputs = [input(runtime.heap(), 127)];
    runtime.heap().reset_peak();
    let options = RunOptions {
        warmup: 1,
        repeats: 3,
        checks: false,
    };
    let result = program
        .run(&runtime, &inputs, &Explicit::new(), &options)
        .unwrap();
    let report = &result.report;
    assert_eq!(report.peak_bytes, runtime.heap().peak());
    // `u` and `w` are live together, `sums` takes the place of `u`; 127 rows of 32 bytes are padded to 64.
    assert_eq!(report.arena_bytes, 2 * (127 * 32 + 32));
    assert_eq!(
        (report.threads, &report.extents[..]),
        (3, &[("B".to_string(), 127)][..])
    );
    assert_eq!(report.segments[0].read_bytes, 127 * 32);
    assert!(report.segments[0].time_ms > 0.0 && report.total_ms >= report.segments[0].time_ms);
    drop((result, inputs));
    assert_eq!(runtime.heap().in_use(), 0);
}

#[test]
fn an_input_that_is_updated_in_place_stays_as_it_is_for_the_caller() {
    let mut artifact = one_kernel("double");
    // `x = double x`: the output lives in the input's buffer.
    artifact.outputs[0].buffer = 0;
    artifact.updates.push(0);
    artifact.buffers.pop();
    artifact.steps[0] = launch(0, &[0, 0], rows());
    let runtime = Runtime::with_heap(Some(2), Heap::with_limit(1 << 20)).unwrap();
    let inputs = [input(runtime.heap(), 5)];
    let before = inputs[0].bytes().to_vec();
    let program = CpuProgram::load(artifact, &Functions).unwrap();
    let options = RunOptions {
        warmup: 2,
        repeats: 2,
        checks: true,
    };
    let result = program
        .run(&runtime, &inputs, &Explicit::new(), &options)
        .unwrap();
    let doubled: Vec<f64> = inputs[0].values().map(|x| 2.0 * x).collect();
    assert_eq!(values(&result.outputs[0]), doubled);
    assert_eq!(inputs[0].bytes(), before);
}

/// `x = double x`, and `flat`, a view of `x`.
fn updating() -> Artifact {
    let mut artifact = one_kernel("double");
    artifact.outputs[0].buffer = 0;
    artifact.updates.push(0);
    artifact.buffers.pop();
    artifact.steps[0] = launch(0, &[0, 0], rows());
    artifact
}

#[test]
fn an_input_that_is_given_away_is_updated_where_it_lies() {
    for rows in [0, 1, 5, 129] {
        let runtime = Runtime::with_heap(Some(2), Heap::with_limit(1 << 20)).unwrap();
        let program = CpuProgram::load(updating(), &Functions).unwrap();
        let x = input(runtime.heap(), rows);
        let (address, doubled) = (x.address(), x.values().map(|x| 2.0 * x).collect::<Vec<_>>());
        runtime.heap().reset_peak();
        let before = runtime.heap().in_use();
        let result = program.update(&runtime, vec![x], &Explicit::new()).unwrap();
        assert_eq!(values(&result.outputs[0]), doubled);
        assert_eq!(result.outputs[0].address(), address);
        // Scratch for two workers, and nothing else.
        assert_eq!(runtime.heap().peak(), before + 2 * 64);
    }
}

#[test]
fn of_outputs_that_share_an_input_the_last_one_has_its_memory() {
    let mut artifact = updating();
    let flat = |name| tensor(name, 0, vec![DimSpec::stored(matrix())]);
    artifact.outputs.extend([flat("flat"), flat("again")]);
    let runtime = Runtime::with_heap(Some(2), Heap::with_limit(1 << 20)).unwrap();
    let program = CpuProgram::load(artifact, &Functions).unwrap();
    let x = input(runtime.heap(), 3);
    let address = x.address();
    let result = program.update(&runtime, vec![x], &Explicit::new()).unwrap();
    let outputs = &result.outputs;
    assert_eq!(outputs[2].address(), address);
    assert_eq!(outputs[1].extents(), [24]);
    assert_eq!(outputs[0].bytes(), outputs[2].bytes());
    assert_eq!(outputs[1].bytes(), outputs[2].bytes());
}

#[test]
fn a_view_of_an_input_costs_no_step() {
    let mut artifact = one_kernel("double");
    artifact
        .outputs
        .push(tensor("flat", 0, vec![DimSpec::stored(matrix())]));
    let result = run(artifact.clone(), 13, 2, &checked()).unwrap();
    let runtime = Runtime::with_heap(Some(1), Heap::with_limit(1 << 20)).unwrap();
    let x = input(runtime.heap(), 13);
    assert_eq!(values(&result.outputs[1]), values(&x));
    assert_eq!(result.outputs[1].extents(), [13 * ROW]);
    // Given away, the input is the view's memory.
    let (address, before) = (x.address(), values(&x));
    let program = CpuProgram::load(artifact, &Functions).unwrap();
    let result = program.update(&runtime, vec![x], &Explicit::new()).unwrap();
    assert_eq!(result.outputs[1].address(), address);
    assert_eq!(values(&result.outputs[1]), before);
}

#[test]
fn outputs_may_share_a_buffer() {
    let mut artifact = one_kernel("double");
    artifact
        .outputs
        .push(tensor("flat", 1, vec![DimSpec::stored(matrix())]));
    let result = run(artifact, 3, 2, &checked()).unwrap();
    assert_eq!(result.outputs[1].extents(), [24]);
    assert_eq!(result.outputs[0].bytes(), result.outputs[1].bytes());
}

#[test]
fn every_allocation_may_fail() {
    let program = CpuProgram::load(several_steps(), &Functions).unwrap();
    let plain = Heap::with_limit(1 << 20);
    let inputs = [input(&plain, 13)];
    let mut refusals = 0;
    loop {
        let heap = failing(refusals);
        let runtime = Runtime::with_heap(Some(2), heap.clone()).unwrap();
        match program.run(&runtime, &inputs, &Explicit::new(), &checked()) {
            Ok(_) => break,
            Err(error) => {
                let text = error.to_string();
                assert!(text.ends_with("bytes, the system has none"), "{text}");
            }
        }
        assert_eq!(heap.in_use(), 0, "leak after refusal {refusals}");
        refusals += 1;
    }
    // Lean: arena, scratch, three outputs. Guarded, twice: arena, scratch, seven buffers.
    assert_eq!(refusals, 5 + 2 * 9);
}

#[test]
fn a_limit_refuses_before_anything_is_allocated() {
    let runtime = Runtime::with_heap(Some(1), Heap::with_limit(1000)).unwrap();
    let inputs = [input(&Heap::with_limit(1 << 20), 127)];
    let program = CpuProgram::load(one_kernel("double"), &Functions).unwrap();
    let error = program
        .run(&runtime, &inputs, &Explicit::new(), &RunOptions::default())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "too little memory: needs 4128 bytes, limit 1000"
    );
    assert_eq!(runtime.heap().peak(), 0);
}

#[test]
fn broken_kernels_are_found_out() {
    let overwritten = |side, buffer, kernel| {
        format!(
            "check failed: memory {side} buffer `{buffer}` was written in step 0 (kernel `k_{kernel}`)"
        )
    };
    assert_eq!(
        refused(one_kernel("after")),
        overwritten("after", "y", "after")
    );
    assert_eq!(
        refused(one_kernel("before")),
        overwritten("before", "y", "before")
    );
    assert_eq!(
        refused(one_kernel("scratch")),
        overwritten("after", "scratch", "scratch")
    );
    let text = "check failed: element 96 of output `y` was never written";
    assert_eq!(refused(one_kernel("lazy")), text);
    let text = "check failed: element 1 of input `x` was changed";
    assert_eq!(refused(one_kernel("spoil")), text);
    let text = "check failed: element 0 of output `y` depends on memory that was never written, on the order of grid iterations, or on chance";
    assert_eq!(refused(one_kernel("unread")), text);
    let error = run(one_kernel("ordered"), 13, 1, &checked()).unwrap_err();
    let text = text.replace("element 0", "element 8");
    assert_eq!(error.to_string(), text);
}

#[test]
fn reading_beyond_a_buffer_is_found_out() {
    let mut artifact = one_kernel("overread");
    let temp = |name| buffer(name, matrix(), BufferKind::Temp { first: 0, last: 2 });
    artifact.buffers.extend([temp("t"), temp("next")]);
    let fill = |buffer, bits| Step::Fill {
        segment: 0,
        buffer,
        elements: matrix(),
        bits,
    };
    artifact.steps = vec![fill(2, 1), fill(3, 2), launch(0, &[2, 1], rows())];
    // 16 rows are a multiple of 64 bytes: the next temporary follows at once.
    let error = run(artifact, 16, 1, &checked()).unwrap_err();
    let text = "check failed: element 0 of output `y` depends on where buffers lie in memory";
    assert_eq!(error.to_string(), text);
}

#[test]
fn programs_that_cannot_be_loaded_or_planned_are_errors() {
    let load = |artifact| {
        CpuProgram::load(artifact, &Functions)
            .err()
            .unwrap()
            .to_string()
    };
    let text = "the code of kernel `k_nothing` has no symbol `nothing`";
    assert_eq!(load(one_kernel("nothing")), text);
    let mut artifact = one_kernel("double");
    artifact.kernels[0].code = Code::Object(vec![0]);
    assert_eq!(load(artifact), "cannot load kernel `k_double`: bad magic");
    let mut artifact = one_kernel("double");
    artifact.target = Target::Cuda { sm: 80 };
    artifact.kernels[0].code = Code::Ptx(String::new());
    assert_eq!(
        load(artifact),
        "the artifact is for an NVIDIA GPU, this device is a CPU"
    );
    let mut artifact = one_kernel("double");
    artifact.steps[0] = launch(7, &[], rows());
    assert_eq!(
        load(artifact),
        "invalid artifact: steps[0]: kernels[7] of 1"
    );

    let mut artifact = one_kernel("double");
    artifact.buffers[1].elements = rows();
    assert_eq!(
        refused(artifact),
        "output `y` takes 416 bytes of buffer `y`, which has 52"
    );
    let mut artifact = one_kernel("double");
    artifact.buffers[0].elements = matrix() * 2.into();
    assert_eq!(
        refused(artifact),
        "input `x` has 416 bytes, its buffer is declared with 832"
    );
    let mut artifact = one_kernel("double");
    let elements = matrix() + 1.into();
    artifact.steps[0] = Step::Copy {
        segment: 0,
        from: 0,
        to: 1,
        elements,
    };
    assert_eq!(
        refused(artifact),
        "step 0 takes 420 bytes of buffer `x`, which has 416"
    );
    let mut artifact = one_kernel("double");
    artifact.steps[0] = launch(0, &[0, 1], rows() - 14.into());
    assert_eq!(refused(artifact), "size `B - 14` is -1");
}

#[test]
fn an_input_given_in_full_for_a_broadcast_axis_is_stored_once() {
    let mut artifact = one_kernel("double");
    // `x: [B]x8` where the rows are one row: `b[B]x8`, buffer of 8 elements; the kernel runs over one row.
    artifact.inputs[0].dims[0] = DimSpec::broadcast(rows());
    artifact.outputs[0].dims[0] = DimSpec::broadcast(rows());
    artifact
        .buffers
        .iter_mut()
        .for_each(|buffer| buffer.elements = (ROW as i64).into());
    artifact.steps[0] = launch(0, &[0, 1], 1.into());
    let runtime = Runtime::with_heap(Some(1), Heap::with_limit(1 << 20)).unwrap();
    let row: Vec<f64> = (0..ROW).map(|i| i as f64).collect();
    let axes = [Axis::stored(3), Axis::stored(ROW)];
    let inputs = [HostTensor::from_f64(runtime.heap(), DType::F32, &axes, &row.repeat(3)).unwrap()];
    let program = CpuProgram::load(artifact, &Functions).unwrap();
    let result = program
        .run(&runtime, &inputs, &Explicit::new(), &checked())
        .unwrap();
    assert_eq!(result.outputs[0].extents(), [3, ROW]);
    let doubled: Vec<f64> = row.iter().map(|x| 2.0 * x).collect();
    assert_eq!(values(&result.outputs[0]), doubled);
}
