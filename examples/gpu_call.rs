//! A program on a GPU from text to results: compiled and bound once, then run on device pointers and on a stream.
//!
//! ```text
//! cargo run --release --example gpu_call                        # the first GPU
//! FUSER_CUDA=sim:sm_90 cargo run --release --example gpu_call   # a simulated one
//! ```
//!
//! The pointers here come from [`CudaDevice::allocate`](fuser_runtime::cuda::CudaDevice::allocate); any device memory of the same device will do: PyTorch's
//! `tensor.data_ptr()`, CuPy's `array.data.ptr`, on `torch.cuda.current_stream().cuda_stream` or `cupy.cuda.get_current_stream().ptr`.

use fuser::compile::CompileOptions;
use fuser::session::{Session, SessionError};
use fuser::tool::gpu;

/// A softmax of each row: 1 input of `[N, 1000]` f32, 1 output of the same shape.
const PROGRAM: &str = "task.program @softmax(%x: tensor<[N]x1000xf32>) -> tensor<[N]x1000xf32> {
  %m  = fusion.max %x dims [1]
  %mb = fusion.broadcast %m dims [0] shape [[N], 1000]
  %d  = fusion.sub %x, %mb
  %e  = fusion.exp %d
  %s  = fusion.sum %e dims [1]
  %sb = fusion.broadcast %s dims [0] shape [[N], 1000]
  %y  = fusion.div %e, %sb
  task.return %y
}";

const ROWS: usize = 37;
const COLUMNS: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The GPU, and the program for it with N bound to 37.
    let device = gpu::open(gpu::simulator()?, 0)?;
    let session = Session::new(Default::default()).map_err(told)?;
    let (ir, module, _) = session
        .parse(0, "softmax.fir", PROGRAM)
        .map_err(|_| "the program does not parse")?;
    let loaded = session.load(ir, module, None).map_err(told)?;
    let extents = [("N".to_string(), ROWS as i64)].into();
    let mut executable = session
        .prepare_cuda(&device, &loaded, &extents, &CompileOptions::default())
        .map_err(told)?;

    // Tensors in device memory: row-major, 148,000 bytes each.
    let values = (0..ROWS * COLUMNS).map(|n| (n % 17) as f32);
    let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let mut x = device.allocate(executable.input_bytes()[0])?;
    let y = device.allocate(executable.output_bytes()[0])?;
    x.upload(&bytes)?;

    // Runs, one behind the other on a stream; nothing waits until the result is wanted.
    for _ in 0..3 {
        // SAFETY: the memory is alive until the stream has been waited for below, and has the bytes that the executable states.
        unsafe { executable.run(&[x.address()], &[y.address()], device.stream())? }
    }
    let mut result = vec![0; y.bytes()];
    y.download(&mut result)?;

    // Each row of a softmax sums up to one.
    let values = result
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let values: Vec<f32> = values.collect();
    let worst = values
        .chunks_exact(COLUMNS)
        .map(|row| (row.iter().sum::<f32>() - 1.0).abs())
        .fold(0.0, f32::max);
    println!(
        "{}: {} launches a run, {} bytes of temporaries; rows sum up to 1 within {worst:.1e}",
        device.name()?,
        executable.launches(),
        executable.scratch_bytes()
    );
    assert!(worst < 1e-5);
    Ok(())
}

/// An error of a session, which is a list of diagnostics.
fn told(error: SessionError) -> String {
    format!("{error:?}")
}
