module @jit_refused_complex attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
  func.func private @fft(%arg0: tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [4] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    return %1 : tensor<4x4xcomplex<f32>>
  }
}

// in: 1.875 0.875 0.875 1.375 -0.875 -0.625 -1.125 -1.875 -0.125 0.375 2.125 -1.375 2.125 1.125 -0.125 -0.625
