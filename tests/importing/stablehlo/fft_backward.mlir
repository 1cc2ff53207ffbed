module @jit_fft_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6xf32>) -> (tensor<2x6xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %2 = stablehlo.multiply %1, %1 : tensor<2x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<2x4xf32>
    %5 = stablehlo.imag %0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<2x4xf32>
    %9 = stablehlo.add %2, %6 : tensor<2x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    %11 = call @fft_0(%arg0) : (tensor<2x6xf32>) -> tensor<2x6xcomplex<f32>>
    %12 = stablehlo.imag %11 : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
    %14 = stablehlo.add %10, %13 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %16 = stablehlo.negate %15 : tensor<2x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %18 = stablehlo.complex %17, %16 : tensor<2x6xcomplex<f32>>
    %19 = call @fft_1(%18) : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %21 = stablehlo.multiply %20, %8 : tensor<2x4xf32>
    %22 = stablehlo.negate %21 : tensor<2x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %24 = stablehlo.complex %23, %22 : tensor<2x4xcomplex<f32>>
    %25 = stablehlo.multiply %20, %4 : tensor<2x4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %27 = stablehlo.complex %25, %26 : tensor<2x4xcomplex<f32>>
    %28 = stablehlo.add %24, %27 : tensor<2x4xcomplex<f32>>
    %29 = call @fft_3(%28) : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    %30 = stablehlo.add %19, %29 : tensor<2x6xf32>
    return %30 : tensor<2x6xf32>
  }
  func.func private @fft(%arg0: tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x6xf32>) -> tensor<2x6xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<2x6xf32>) -> tensor<2x6xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    return %1 : tensor<2x6xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32> {
    %0 = call @fft_2(%arg0) : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32>
    %2 = stablehlo.convert %1 : tensor<2x6xf32>
    return %2 : tensor<2x6xf32>
  }
  func.func private @fft_2(%arg0: tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    return %0 : tensor<2x6xcomplex<f32>>
  }
  func.func private @fft_3(%arg0: tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32> {
    %0 = call @_rfft_transpose(%arg0) : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    return %0 : tensor<2x6xf32>
  }
  func.func private @_rfft_transpose(%arg0: tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32> {
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %0, %1, %c : (tensor<4xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<4xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %2, %3, %c_2 : (tensor<4xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<4xcomplex<f32>>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<4xcomplex<f32>>) -> tensor<1x4xcomplex<f32>>
    %6 = stablehlo.real %arg0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %7 = stablehlo.imag %arg0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %8 = stablehlo.negate %7 : tensor<2x4xf32>
    %9 = stablehlo.complex %6, %8 : tensor<2x4xcomplex<f32>>
    %10 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
    %11 = stablehlo.divide %9, %10 : tensor<2x4xcomplex<f32>>
    %12 = call @fft_4(%11) : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    %cst_3 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<2x6xf32>
    return %14 : tensor<2x6xf32>
  }
  func.func private @fft_4(%arg0: tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [6] : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    return %0 : tensor<2x6xf32>
  }
}

// in: 0.625 -0.875 2.125 2.125 -1.625 -1.125 -1.125 -1.125 0.375 -0.625 0.125 -1.125
// out: 6.0 -4.9999995 15.0 13.0 -7.5 -6.5 -8.0 -12.500001 1.0 -9.5 -0.5 -12.500001
