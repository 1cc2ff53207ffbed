//! Programs that are bound on a GPU: results, the driver's calls of a run, mistakes of callers, memory that does not suffice.
//!
//! A process has one driver, which counts the calls of all threads: this is one test, on a simulated GPU with two devices.
#![cfg(all(feature = "codegen", feature = "cuda"))]

mod counting;

use std::collections::BTreeMap;
use std::sync::Arc;

use fuser::compile::CompileOptions;
use fuser::program::Gpu;
use fuser::session::{Loaded, Session};
use fuser::tool::gpu;
use fuser::{Options, Program, Tensor};
use fuser_artifact::{
    Artifact, BufferKind, BufferSpec, Code, DType, DimSpec, KernelCode, SegmentInfo, SegmentKind,
    SizeExpr, Step, Target, TensorSpec,
};
use fuser_runtime::cuda::{CudaDevice, CudaExecutable, CudaProgram, DeviceMemory};
use fuser_runtime::{HostTensor, Inputs, RunOptions, RuntimeError};

/// Two segments, a value that they hand on, and an output twice.
const PROGRAM: &str =
    "task.program @f(%x: tensor<[N]x33xf32>) -> (tensor<[N]xf32>, tensor<[N]x33xbf16>, tensor<[N]x33xbf16>) {
  %e = fusion.exp %x
  %s = fusion.segment_set %e
  %y = fusion.sum %s dims [1]
  %z = fusion.cast %s to bf16
  task.return %y, %z, %z
}";

/// Two products, one behind the other.
const PRODUCTS: &str = "task.program @f(%x: tensor<[N]x33xf32>, %v: tensor<33x17xf32>, %w: tensor<17x9xf32>) -> tensor<[N]x9xf32> {
  %h = fusion.matmul %x, %v
  %y = fusion.matmul %h, %w
  task.return %y
}";

/// One whose terms have a name.
const TERMS: &str =
    "task.program @f(%x: tensor<9x[N]xf64>, %v: tensor<[N]x17xf64>) -> tensor<9x17xf64> {
  %y = fusion.matmul %x, %v
  task.return %y
}";

/// A program in a session, with inputs for an odd number of rows.
struct Case {
    session: Session,
    loaded: Loaded,
    inputs: Inputs,
}

impl Case {
    fn new(text: &str, rows: i64) -> Case {
        let session = Session::new(Default::default()).unwrap();
        let (ir, module, _) = session.parse(0, "f.fir", text).unwrap();
        let loaded = session.load(ir, module, None).unwrap();
        let extents = [("N".to_string(), rows)].into();
        let inputs = session.resolve(&loaded, &BTreeMap::new(), &extents);
        Case {
            inputs: inputs.unwrap(),
            session,
            loaded,
        }
    }
    fn prepare(&self, device: &CudaDevice, rows: i64) -> Result<CudaExecutable, String> {
        let extents = [("N".to_string(), rows)].into();
        let options = CompileOptions::default();
        let prepared = self
            .session
            .prepare_cuda(device, &self.loaded, &extents, &options);
        prepared.map_err(|error| match error {
            fuser::session::SessionError::Runtime(error) => error.to_string(),
            other => format!("{other:?}"),
        })
    }
}

/// Tensors of a call in device memory.
struct Tensors {
    memory: [Vec<DeviceMemory>; 2],
}

impl Tensors {
    fn new(device: &CudaDevice, executable: &CudaExecutable, inputs: &[HostTensor]) -> Tensors {
        let allocate = |bytes: &[usize]| -> Vec<DeviceMemory> {
            let bytes = bytes.iter();
            bytes
                .map(|bytes| device.allocate(*bytes).unwrap())
                .collect()
        };
        let mut memory = [executable.input_bytes(), executable.output_bytes()].map(allocate);
        for (memory, tensor) in memory[0].iter_mut().zip(inputs) {
            memory.upload(tensor.bytes()).unwrap();
        }
        Tensors { memory }
    }
    fn addresses(&self) -> [Vec<u64>; 2] {
        let addresses = |list: &Vec<DeviceMemory>| list.iter().map(DeviceMemory::address).collect();
        [addresses(&self.memory[0]), addresses(&self.memory[1])]
    }
    /// Overwrites the outputs.
    fn clear(&mut self) {
        for memory in &mut self.memory[1] {
            memory.upload(&vec![0xEE; memory.bytes()]).unwrap();
        }
    }
    fn outputs(&self) -> Vec<Vec<u8>> {
        let outputs = self.memory[1].iter();
        outputs
            .map(|memory| {
                let mut bytes = vec![0; memory.bytes()];
                memory.download(&mut bytes).unwrap();
                bytes
            })
            .collect()
    }
}

/// The driver's calls of `run`, by name.
fn calls(device: &CudaDevice, run: impl FnOnce()) -> BTreeMap<String, u64> {
    let now = || -> BTreeMap<String, u64> {
        let counts: serde_json::Value =
            serde_json::from_str(&device.simulated_counts().unwrap()).unwrap();
        serde_json::from_value(counts["calls"].clone()).unwrap()
    };
    let before = now();
    run();
    let mut after = now();
    after.retain(|name, count| {
        *count -= before.get(name).copied().unwrap_or(0);
        *count > 0
    });
    after
}

fn counts(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    list.iter()
        .map(|(name, n)| (name.to_string(), *n))
        .collect()
}

#[test]
fn programs_bound_on_a_gpu() {
    let device = gpu::open(Some("sm_90,devices=2,cublaslt".to_string()), 1).unwrap();
    results_are_those_of_runs(&device, PROGRAM);
    five_lines_run_a_program_on_a_gpu(&device);
    products_are_calls_of_a_library(&device);
    a_run_is_a_launch_for_each_kernel(&device);
    inputs_are_updated_where_they_lie(&device);
    tensors_begin_anywhere(&device);
    mistakes_of_callers_are_told(&device);
    memory_that_does_not_suffice_is_told_with_its_numbers(&device);
    fills_have_elements_of_every_size(&device);
    memory_of_its_own_begins_as_zeros(&device);
    shared_memory_is_asked_for_where_it_is_needed(&device);
    devices_are_counted(&device);
}

fn results_are_those_of_runs(device: &CudaDevice, text: &str) {
    for rows in [0, 1, 7, 129] {
        let case = Case::new(text, rows);
        let options = CompileOptions::default();
        let expected = case
            .session
            .run_cuda(device, &case.loaded, &case.inputs, &options, 1)
            .unwrap();
        let check = case
            .session
            .check(&case.loaded, &case.inputs, &expected.outputs);
        assert!(check.unwrap().ok(), "{rows} rows");
        let mut executable = case.prepare(device, rows).unwrap();
        let mut tensors = Tensors::new(device, &executable, &case.inputs.tensors);
        let [inputs, outputs] = tensors.addresses();
        let expected: Vec<&[u8]> = expected.outputs.iter().map(HostTensor::bytes).collect();
        // On the device's stream, on the default one, step by step, and as a graph.
        for how in 0..4 {
            tensors.clear();
            // SAFETY: the tensors are the device's memory, and are looked at behind the work.
            unsafe {
                match how {
                    0 => executable.run(&inputs, &outputs, device.stream()).unwrap(),
                    1 => executable.run(&inputs, &outputs, 0).unwrap(),
                    2 => executable.run_blocking(&inputs, &outputs, 0).unwrap(),
                    _ => {
                        let recorded = case.prepare(device, rows).unwrap();
                        let mut graph = recorded.record(&inputs, &outputs).unwrap();
                        assert!(rows == 0 || tensors.outputs()[0][0] == 0xEE);
                        graph.launch(device.stream()).unwrap();
                    }
                }
            }
            assert_eq!(tensors.outputs(), expected, "{rows} rows");
        }
    }
}

/// The compact interface, on copies of tensors of the host.
fn five_lines_run_a_program_on_a_gpu(device: &CudaDevice) {
    let program = Program::parse(
        "task.program @f(%x: tensor<[N]x3xf32>, %a: f32) -> (tensor<[N]x3xf32> {alias = 0 : i64}, tensor<[N]xf32>) {
           %y = fusion.mul %x, %a
           %s = fusion.sum %y dims [1]
           task.return %y, %s
         }",
    )
    .unwrap();
    let options = Options::default().with_gpu(Gpu::of(device.clone(), 1));
    let f = program.compile(&options.unwrap()).unwrap();
    assert_eq!(f.gpu().map(Gpu::number), Some(1));
    for rows in [0, 1, 3, 3, 65] {
        let x: Vec<f32> = (0..3 * rows).map(|i| i as f32).collect();
        let inputs = [
            Tensor::new(&[rows, 3], &x).unwrap(),
            Tensor::new(&[], &[0.5f32]).unwrap(),
        ];
        let outputs = f.run(&inputs).unwrap();
        let y: Vec<f32> = x.iter().map(|x| x / 2.0).collect();
        let s: Vec<f32> = y.chunks(3).map(|row| row.iter().sum()).collect();
        assert_eq!(outputs[0].to_vec::<f32>().unwrap(), y);
        assert_eq!(outputs[1].to_vec::<f32>().unwrap(), s);
    }
    let mut bound = f.bind(&[2], f.own_stream()).unwrap();
    let (a, mut y, mut s) = ([0u8; 4], [0u8; 24], [0u8; 8]);
    let short = bound.run(&[&[0; 20], &a], &mut [&mut y, &mut s]);
    assert!(
        short
            .unwrap_err()
            .to_string()
            .contains("has 24 bytes, the memory for it 20")
    );
}

fn a_run_is_a_launch_for_each_kernel(device: &CudaDevice) {
    let case = Case::new(PROGRAM, 7);
    let mut executable = case.prepare(device, 7).unwrap();
    // The code is compiled already.
    let again = calls(device, || {
        case.prepare(device, 7).unwrap();
    });
    assert_eq!(again.get("cuModuleLoadDataEx"), None);
    // Its memory is one piece of the device's pool, which gets it back.
    assert_eq!(again.get("cuMemAllocFromPoolAsync"), Some(&1));
    assert_eq!(again.get("cuMemFreeAsync"), Some(&1));
    assert_eq!(again.get("cuMemAlloc_v2"), None);
    // What it keeps counts as free; the system has it when it is told to.
    let free = device.memory().unwrap().0;
    let memory = device.allocate(1 << 20).unwrap();
    assert_eq!(device.memory().unwrap().0, free - (1 << 20));
    drop(memory);
    assert_eq!(device.memory().unwrap().0, free);
    let released = calls(device, || device.release_memory().unwrap());
    assert_eq!(released.get("cuMemPoolTrimTo"), Some(&1));
    assert_eq!(device.memory().unwrap().0, free);
    // One program for all extents: its code serves them.
    let (session, options) = (&case.session, CompileOptions::default());
    let program = session.program_on(device, &case.loaded, &options).unwrap();
    program.bind(&[("N".to_string(), 7)].into()).unwrap();
    let again = calls(device, || {
        program.bind(&[("N".to_string(), 8)].into()).unwrap();
    });
    assert_eq!(again.get("cuModuleLoadDataEx"), None);
    assert_eq!(again.get("cuModuleGetFunction"), None);
    let tensors = Tensors::new(device, &executable, &case.inputs.tensors);
    let [inputs, outputs] = tensors.addresses();
    let launches = executable.launches() as u64;
    assert!(launches >= 2);
    let found = calls(device, || {
        for _ in 0..10 {
            // SAFETY: the tensors are the device's memory, and outlive the runs, which the simulator ends before it returns.
            unsafe { executable.run(&inputs, &outputs, device.stream()).unwrap() }
        }
    });
    let before = counting::allocations();
    // SAFETY: as above.
    unsafe { executable.run(&inputs, &outputs, device.stream()).unwrap() }
    assert_eq!(counting::allocations(), before);
    // The third output is the second one's memory, and is copied to where the caller wants it.
    let expected = [
        ("cuCtxGetCurrent", 10),
        ("cuLaunchKernel", 10 * launches),
        ("cuMemcpyDtoDAsync_v2", 10),
    ];
    assert_eq!(found, counts(&expected));
    // SAFETY: as above.
    let mut graph = unsafe { executable.record(&inputs, &outputs).unwrap() };
    let found = calls(device, || {
        for _ in 0..10 {
            // SAFETY: as above.
            unsafe { graph.launch(device.stream()).unwrap() }
        }
    });
    let expected = [("cuCtxGetCurrent", 10), ("cuGraphLaunch", 10)];
    assert_eq!(found, counts(&expected));
}

/// The library starts once for a device, chooses when a program is bound, and is called once for each product of a run, on the caller's stream.
fn products_are_calls_of_a_library(device: &CudaDevice) {
    let case = Case::new(PRODUCTS, 9);
    let bound = calls(device, || {
        for _ in 0..2 {
            assert_eq!(case.prepare(device, 9).unwrap().launches(), 2);
        }
    });
    assert_eq!(bound.get("cublasLtCreate"), Some(&1));
    assert_eq!(bound.get("cublasLtMatmulAlgoGetHeuristic"), Some(&4));
    // All that was described is forgotten.
    for kind in ["MatmulDesc", "MatrixLayout", "MatmulPreference"] {
        let [created, destroyed] = ["Create", "Destroy"].map(|how| format!("cublasLt{kind}{how}"));
        assert!(bound.contains_key(&created));
        assert_eq!(bound.get(&created), bound.get(&destroyed), "{kind}");
    }
    assert_eq!(bound.get("cublasLtDestroy"), None);
    results_are_those_of_runs(device, PRODUCTS);
    results_are_those_of_runs(device, TERMS);
    // Without terms our kernel sets the result to 0.
    let (session, options) = (&case.session, CompileOptions::default());
    let loaded = Case::new(TERMS, 1).loaded;
    let program = session.program_on(device, &loaded, &options).unwrap();
    for (terms, call) in [(0, "cuLaunchKernel"), (1, "cublasLtMatmul")] {
        let mut executable = program.bind(&[("N".to_string(), terms)].into()).unwrap();
        let inputs = Case::new(TERMS, terms).inputs;
        let mut tensors = Tensors::new(device, &executable, &inputs.tensors);
        tensors.clear();
        let [inputs, outputs] = tensors.addresses();
        let found = calls(device, || {
            // SAFETY: the tensors are the device's memory, and outlive the run, which the simulator ends before it returns.
            unsafe { executable.run(&inputs, &outputs, device.stream()).unwrap() }
        });
        assert_eq!(found, counts(&[("cuCtxGetCurrent", 1), (call, 1)]));
        assert!(terms > 0 || tensors.outputs()[0].iter().all(|byte| *byte == 0));
    }
    let mut executable = case.prepare(device, 9).unwrap();
    let tensors = Tensors::new(device, &executable, &case.inputs.tensors);
    let [inputs, outputs] = tensors.addresses();
    let found = calls(device, || {
        for _ in 0..10 {
            // SAFETY: the tensors are the device's memory, and outlive the runs, which the simulator ends before it returns.
            unsafe { executable.run(&inputs, &outputs, device.stream()).unwrap() }
        }
    });
    assert_eq!(
        found,
        counts(&[("cuCtxGetCurrent", 10), ("cublasLtMatmul", 20)])
    );
    let before = counting::allocations();
    // SAFETY: as above.
    unsafe { executable.run(&inputs, &outputs, device.stream()).unwrap() }
    assert_eq!(counting::allocations(), before);
    // SAFETY: as above, and there is no such stream: the call is refused.
    let told = unsafe { executable.run(&inputs, &outputs, 0xBAD0).unwrap_err() };
    assert_eq!(
        told.to_string(),
        "step 1 of 2, cuBLASLt in place of kernel `f_s0_0`: 1 times 9x17 of 33 terms, f32 to f32: cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED"
    );
    // SAFETY: as above.
    let mut graph = unsafe { executable.record(&inputs, &outputs).unwrap() };
    let found = calls(device, || {
        // SAFETY: as above.
        unsafe { graph.launch(device.stream()).unwrap() }
    });
    assert_eq!(
        found,
        counts(&[("cuCtxGetCurrent", 1), ("cuGraphLaunch", 1)])
    );
}

fn inputs_are_updated_where_they_lie(device: &CudaDevice) {
    let text = "task.program @f(%x: tensor<[N]xf32>, %d: tensor<[N]xf32>) -> (tensor<[N]xf32> {alias = 0 : i64}) {
  %y = fusion.add %x, %d
  task.return %y
}";
    let case = Case::new(text, 37);
    let mut executable = case.prepare(device, 37).unwrap();
    let mut tensors = Tensors::new(device, &executable, &case.inputs.tensors);
    let [inputs, outputs] = tensors.addresses();
    tensors.clear();
    let found = calls(device, || {
        // SAFETY: the tensors are the device's memory; the runs are over when they return.
        unsafe {
            executable.run(&inputs, &outputs, 0).unwrap();
            executable.run(&inputs, &inputs[..1], 0).unwrap();
        }
    });
    assert_eq!(found.get("cuLaunchKernel"), Some(&2));
    let mut updated = vec![0; 37 * 4];
    tensors.memory[0][0].download(&mut updated).unwrap();
    assert_eq!(tensors.outputs(), [updated.clone()]);
    assert_ne!(updated, case.inputs.tensors[0].bytes());
}

/// Each run takes the kernels that its addresses allow: vectors where all are multiples of 64. It makes as many calls, and allocates nothing.
fn tensors_begin_anywhere(device: &CudaDevice) {
    for text in [PROGRAM, PRODUCTS] {
        let case = Case::new(text, 129);
        let options = CompileOptions {
            any_address: true,
            ..CompileOptions::default()
        };
        let extents = [("N".to_string(), 129)].into();
        let (session, loaded) = (&case.session, &case.loaded);
        let executable = session.prepare_cuda(device, loaded, &extents, &options);
        let mut executable = executable.ok().unwrap();
        assert!(executable.takes_any_address());
        let tensors = Tensors::new(device, &executable, &case.inputs.tensors);
        let [inputs, outputs] = tensors.addresses();
        // SAFETY: the tensors are the device's memory; the run is over when it returns.
        let found = calls(device, || unsafe {
            executable.run(&inputs, &outputs, 0).unwrap()
        });
        let expected = tensors.outputs();
        // The same tensors an element further, the outputs one by one.
        let room = |bytes: &[usize]| -> Vec<DeviceMemory> {
            let bytes = bytes.iter();
            bytes
                .map(|bytes| device.allocate(bytes + 64).unwrap())
                .collect()
        };
        let mut moved = Tensors {
            memory: [executable.input_bytes(), executable.output_bytes()].map(room),
        };
        for (memory, tensor) in moved.memory[0].iter_mut().zip(&case.inputs.tensors) {
            memory
                .upload(&[&[0xEE; 4], tensor.bytes()].concat())
                .unwrap();
        }
        let [mut inputs, mut outputs] = moved.addresses();
        inputs.iter_mut().for_each(|address| *address += 4);
        for output in 0..outputs.len() {
            outputs[output] += 4;
            moved.clear();
            // SAFETY: as above.
            let again = calls(device, || unsafe {
                executable.run(&inputs, &outputs, 0).unwrap()
            });
            assert_eq!(again, found);
            for (number, (bytes, expected)) in moved.outputs().iter().zip(&expected).enumerate() {
                let from = if number <= output { 4 } else { 0 };
                assert_eq!(bytes[from..from + expected.len()], expected[..]);
                let around = [&bytes[..from], &bytes[from + expected.len()..]].concat();
                assert!(around.iter().all(|byte| *byte == 0xEE));
            }
        }
        let before = counting::allocations();
        // SAFETY: as above.
        unsafe { executable.run(&inputs, &outputs, 0).unwrap() }
        assert_eq!(counting::allocations(), before);
        // SAFETY: the call is refused.
        let refused =
            unsafe { executable.run(&[&[inputs[0] + 2], &inputs[1..]].concat(), &outputs, 0) };
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the memory of input 0 is not aligned to 4 bytes: it begins 2 bytes past such an address; give a copy"
        );
    }
}

fn mistakes_of_callers_are_told(device: &CudaDevice) {
    let case = Case::new(PROGRAM, 7);
    let mut executable = case.prepare(device, 7).unwrap();
    let tensors = Tensors::new(device, &executable, &case.inputs.tensors);
    let [inputs, outputs] = tensors.addresses();
    let mut told = |inputs: &[u64], outputs: &[u64]| {
        // SAFETY: the call is refused.
        let refused = unsafe { executable.run(inputs, outputs, 0) };
        refused.unwrap_err().to_string()
    };
    assert_eq!(
        told(&inputs, &outputs[1..]),
        "the program has 1 inputs and 3 outputs"
    );
    assert_eq!(
        told(&[inputs[0] + 4], &outputs),
        "the memory of input 0 is not aligned to 64 bytes: it begins 4 bytes past such an address; give a copy, or compile for tensors at any address (any_address)"
    );
    assert_eq!(
        told(&inputs, &[outputs[0], 0, outputs[2]]),
        "output 1 has no memory: its address is 0"
    );
    let mut short = device.allocate(8).unwrap();
    let refused = short.upload(&[0; 9]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "9 bytes are to be copied, the memory has 8"
    );
    // A stream that is none.
    // SAFETY: the driver refuses it.
    let refused = unsafe { executable.run(&inputs, &outputs, 0x1238) }.unwrap_err();
    let text = refused.to_string();
    assert!(text.starts_with("step 1 of "), "{text}");
    assert!(text.contains("kernel `"), "{text}");
    assert!(
        text.ends_with("cuLaunchKernel failed: CUDA_ERROR_INVALID_HANDLE"),
        "{text}"
    );
}

fn memory_that_does_not_suffice_is_told_with_its_numbers(device: &CudaDevice) {
    let (free, total) = device.memory().unwrap();
    let case = Case::new(PROGRAM, 1);
    let rows = 1 << 24;
    let error = case.prepare(device, rows).err().unwrap();
    let bytes = rows * 33 * 4;
    let expected = format!(
        "too little memory on the GPU: asked for {bytes} bytes, {free} of {total} are free; the program takes {bytes} in all"
    );
    assert_eq!(error, expected);
}

/// A program that does one step: a vector of 5 elements `y`, written by it.
fn one_step(dtype: DType, steps: Vec<Step>, kernels: Vec<KernelCode>) -> Artifact {
    let mut artifact = Artifact::new("f", Target::Cuda { sm: 80 });
    artifact.outputs.push(TensorSpec {
        name: "y".to_string(),
        dtype,
        dims: vec![DimSpec::stored(5)],
        order: Vec::new(),
        buffer: 0,
    });
    artifact.buffers.push(BufferSpec {
        name: "y".to_string(),
        dtype,
        elements: 5.into(),
        kind: BufferKind::Output(0),
    });
    artifact.segments.push(SegmentInfo {
        name: "s0".to_string(),
        label: String::new(),
        kind: SegmentKind::Kernel,
        ops: 1,
        sweeps: 1,
        read_bytes: 0.into(),
        write_bytes: 0.into(),
        values: Vec::new(),
    });
    artifact.steps = steps;
    artifact.kernels = kernels;
    artifact
}

/// The bytes of `y`.
fn run_one_step(device: &CudaDevice, artifact: Artifact) -> Result<Vec<u8>, RuntimeError> {
    let program = Arc::new(CudaProgram::load(artifact, device)?);
    let session = Session::new(Default::default()).unwrap();
    let once = RunOptions::default();
    let run = program.run(session.runtime(), &[], &Default::default(), &once)?;
    Ok(run.outputs[0].bytes().to_vec())
}

fn fills_have_elements_of_every_size(device: &CudaDevice) {
    let bits = 0x8899_AABB_CCDD_EEFFu64;
    for (dtype, bits) in [
        (DType::I1, 1),
        (DType::Bf16, bits),
        (DType::F32, bits),
        (DType::F64, bits),
        (DType::I64, 0x7777_7777_7777_7777),
    ] {
        let fill = Step::Fill {
            segment: 0,
            buffer: 0,
            elements: 5.into(),
            bits,
        };
        let found = calls(device, || {
            let bytes = run_one_step(device, one_step(dtype, vec![fill], Vec::new())).unwrap();
            let element = &bits.to_le_bytes()[..dtype.bytes()];
            assert_eq!(bytes, element.repeat(5), "{dtype}");
        });
        // Memory is waited for, the result, and the run.
        assert_eq!(found["cuStreamSynchronize"], 3, "{dtype}");
    }
}

/// A buffer that is more than the output in it belongs to the program, and begins as zeros.
fn memory_of_its_own_begins_as_zeros(device: &CudaDevice) {
    let mut artifact = one_step(DType::I32, Vec::new(), Vec::new());
    artifact.buffers[0].elements = 9.into();
    assert_eq!(run_one_step(device, artifact).unwrap(), [0; 20]);
}

/// A kernel with 40,000 bytes of shared memory of its own, which writes its parameter of 8 bytes.
const SHARED: &str = ".version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(
.param .u64 .ptr .global .align 64 p
)
.maxntid 32
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.shared .align 4 .b8 s[40000];
ld.param.b64 %rd1, [p];
mov.b64 %rd2, s;
mov.u32 %r1, 7;
st.shared.b32 [%rd2+39996], %r1;
ld.shared.b32 %r2, [%rd2+39996];
st.global.b32 [%rd1], %r2;
ret;
}
";

fn shared_memory_is_asked_for_where_it_is_needed(device: &CudaDevice) {
    let program = |dynamic: i64| {
        let launch = Step::Launch {
            kernel: 0,
            segment: 0,
            buffers: vec![0],
            extents: Vec::new(),
            grid: 1.into(),
            scratch_bytes: SizeExpr::constant(dynamic),
            block: 1,
            product: None,
        };
        let kernel = KernelCode {
            name: "k".to_string(),
            symbol: "k".to_string(),
            code: Code::Ptx(SHARED.to_string()),
            shared_bytes: 40_000,
            any_address: None,
            lines: true,
        };
        run_one_step(device, one_step(DType::I32, vec![launch], vec![kernel]))
    };
    let asked = |dynamic| {
        let found = calls(device, || {
            assert_eq!(program(dynamic).unwrap()[..4], [7, 0, 0, 0]);
        });
        found.contains_key("cuFuncSetAttribute")
    };
    // 48 KiB are 49,152 bytes, 227 KiB 232,448.
    assert!(!asked(9_152));
    assert!(asked(9_153));
    assert!(asked(232_448 - 40_000));
    let error = program(232_448 - 39_999).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a block of kernel `k` asks for 232449 bytes of shared memory, the device has 232448 for one"
    );
}

fn devices_are_counted(device: &CudaDevice) {
    let options = || Some("sm_90,devices=2,cublaslt".to_string());
    let error = gpu::open(options(), 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unsupported: no device (there is no GPU 2, the driver has 2, counted from 0)"
    );
    assert!(gpu::open(options(), usize::MAX).is_err());
    let first = gpu::open(options(), 0).unwrap();
    assert!(first != *device);
    // Memory of one is not the other's.
    let (mut here, there) = (first.allocate(64).unwrap(), device.allocate(64).unwrap());
    here.upload(&[1; 64]).unwrap();
    assert_ne!(here.address(), there.address());
    assert_eq!(first.memory().unwrap().1, device.memory().unwrap().1);
}
