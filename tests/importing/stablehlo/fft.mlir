module @jit_fft attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32>, %arg1: tensor<3x7xf32>) -> (tensor<2x8xf32> {jax.result_info = "result[0]"}, tensor<2x8xf32> {jax.result_info = "result[1]"}, tensor<3x7xf32> {jax.result_info = "result[2]"}, tensor<3x7xf32> {jax.result_info = "result[3]"}, tensor<3x7xf32> {jax.result_info = "result[4]"}, tensor<3x7xf32> {jax.result_info = "result[5]"}, tensor<2x5xf32> {jax.result_info = "result[6]"}, tensor<2x5xf32> {jax.result_info = "result[7]"}, tensor<3x4xf32> {jax.result_info = "result[8]"}, tensor<3x4xf32> {jax.result_info = "result[9]"}, tensor<3x4xf32> {jax.result_info = "result[10]"}, tensor<3x4xf32> {jax.result_info = "result[11]"}, tensor<2x8xf32> {jax.result_info = "result[12]"}, tensor<2x8xf32> {jax.result_info = "result[13]"}, tensor<3x7xf32> {jax.result_info = "result[14]"}, tensor<3x7xf32> {jax.result_info = "result[15]"}) {
    %0 = call @fft(%arg0) : (tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x7xf32>) -> tensor<7x3xf32>
    %2 = call @fft_0(%1) : (tensor<7x3xf32>) -> tensor<7x3xcomplex<f32>>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<7x3xcomplex<f32>>) -> tensor<3x7xcomplex<f32>>
    %4 = call @fft_1(%arg1) : (tensor<3x7xf32>) -> tensor<3x7xcomplex<f32>>
    %5 = call @fft_2(%arg0) : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    %6 = call @fft_3(%arg1) : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    %7 = call @fft_4(%arg1) : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    %8 = stablehlo.real %0 : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
    %9 = stablehlo.imag %0 : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
    %10 = stablehlo.real %3 : (tensor<3x7xcomplex<f32>>) -> tensor<3x7xf32>
    %11 = stablehlo.imag %3 : (tensor<3x7xcomplex<f32>>) -> tensor<3x7xf32>
    %12 = stablehlo.real %4 : (tensor<3x7xcomplex<f32>>) -> tensor<3x7xf32>
    %13 = stablehlo.imag %4 : (tensor<3x7xcomplex<f32>>) -> tensor<3x7xf32>
    %14 = stablehlo.real %5 : (tensor<2x5xcomplex<f32>>) -> tensor<2x5xf32>
    %15 = stablehlo.imag %5 : (tensor<2x5xcomplex<f32>>) -> tensor<2x5xf32>
    %16 = stablehlo.real %6 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %17 = stablehlo.imag %6 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %18 = stablehlo.real %7 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %19 = stablehlo.imag %7 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %20 = call @fft_5(%0) : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
    %21 = stablehlo.real %20 : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xf32>
    %22 = call @fft_2(%arg0) : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    %23 = call @fft_6(%22) : (tensor<2x5xcomplex<f32>>) -> tensor<2x8xf32>
    %24 = call @fft_3(%arg1) : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %25 = call @_pad(%24, %c) : (tensor<3x4xcomplex<f32>>, tensor<i32>) -> tensor<3x4xcomplex<f32>>
    %26 = call @fft_7(%25) : (tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32>
    %27 = call @fft_4(%arg1) : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %28 = call @_pad(%27, %c_0) : (tensor<3x4xcomplex<f32>>, tensor<i32>) -> tensor<3x4xcomplex<f32>>
    %29 = call @fft_8(%28) : (tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32>
    return %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %21, %23, %26, %29 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x7xf32>, tensor<3x7xf32>
  }
  func.func private @fft(%arg0: tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
    return %1 : tensor<2x8xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<7x3xf32>) -> tensor<7x3xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<7x3xf32>) -> tensor<7x3xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [3] : (tensor<7x3xcomplex<f32>>) -> tensor<7x3xcomplex<f32>>
    return %1 : tensor<7x3xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<3x7xf32>) -> tensor<3x7xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<3x7xf32>) -> tensor<3x7xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [3, 7] : (tensor<3x7xcomplex<f32>>) -> tensor<3x7xcomplex<f32>>
    return %1 : tensor<3x7xcomplex<f32>>
  }
  func.func private @fft_2(%arg0: tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
    return %0 : tensor<2x5xcomplex<f32>>
  }
  func.func private @fft_3(%arg0: tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [7] : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>
  }
  func.func private @fft_4(%arg0: tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 7] : (tensor<3x7xf32>) -> tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>
  }
  func.func private @fft_5(%arg0: tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
    return %0 : tensor<2x8xcomplex<f32>>
  }
  func.func private @fft_6(%arg0: tensor<2x5xcomplex<f32>>) -> tensor<2x8xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [8] : (tensor<2x5xcomplex<f32>>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @_pad(%arg0: tensor<3x4xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<3x4xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x4xcomplex<f32>>
    return %1 : tensor<3x4xcomplex<f32>>
  }
  func.func private @fft_7(%arg0: tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [7] : (tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func private @fft_8(%arg0: tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [3, 7] : (tensor<3x4xcomplex<f32>>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
}

// in: 1.375 -1.625 -1.125 -0.875 -1.125 1.375 1.625 0.375 -1.875 -1.625 -0.625 -0.125 0.625 0.125 -0.875 -1.375
// in: 0.875 1.125 -1.875 -1.625 -0.125 -0.375 1.875 0.125 -0.125 -0.125 0.875 0.375 -1.375 1.125 1.125 2.125 1.375 -0.875 -0.625 0.875 0.875
// out: 0.0 1.2625631 -0.25 3.7374368 1.5 3.7374368 -0.25 1.2625631 -5.75 -4.6213202 0.25 -0.37867975 0.25 -0.37867975 0.25 -4.6213202
// out: 0.0 5.7552037 -0.25 0.25520372 0.0 -0.25520372 0.25 -5.7552037 0.0 0.103553385 0.0 0.6035534 0.0 -0.6035534 0.0 -0.103553385
// out: 2.125 3.125 -0.625 -1.625 -0.375 -0.875 3.875 0.25 0.125 -2.5 -1.625 0.0 -0.125 0.875 0.25 0.125 -2.5 -1.625 0.0 -0.125 0.875
// out: 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.8660254 1.9485571 1.299038 -1.5155444 -0.8660254 1.9485571 -0.21650635 -0.8660254 -1.9485571 -1.299038 1.5155444 0.8660254 -1.9485571 0.21650635
// out: 5.625 8.625148 0.67182755 -4.671975 -4.671975 0.67182755 8.625148 -3.0 3.6993463 4.2797623 -1.112067 -2.739999 -1.5210598 2.1440165 -3.0 2.1440165 -1.5210598 -2.739999 -1.112067 4.2797623 3.6993463
// out: 0.0 0.8849963 -0.1376226 1.7395306 -1.7395306 0.1376226 -0.8849963 3.4641016 6.975892 -5.500013 1.9131141 1.8074722 -2.3605046 -0.237885 -3.4641016 0.237885 2.3605046 -1.8074722 -1.9131141 5.500013 -6.975892
// out: 0.0 1.2625632 -0.25 3.7374368 1.5 -5.75 -4.6213202 0.25 -0.37867975 0.25
// out: 0.0 5.7552037 -0.25 0.25520372 0.0 0.0 0.103553414 -0.0 0.6035534 0.0
// out: -0.125 4.822837 1.1435101 -2.841347 0.875 -0.04393983 2.0332947 -1.9893547 4.875 3.8462505 -2.5049772 0.15872684
// out: 0.0 2.6995912 -1.092377 0.6150574 0.0 -0.45831236 2.1519303 1.0321801 0.0 -1.3562825 -1.197176 0.09229308
// out: 5.625 8.625148 0.67182755 -4.671975 -3.0 3.6993463 4.2797623 -1.112067 -3.0 2.1440165 -1.5210598 -2.739999
// out: 0.0 0.8849963 -0.1376226 1.7395306 3.4641016 6.975892 -5.500013 1.9131141 -3.4641016 0.237885 2.3605046 -1.8074722
// out: 1.375 -1.6249999 -1.125 -0.875 -1.125 1.3749999 1.625 0.375 -1.875 -1.625 -0.625 -0.12500006 0.625 0.12499994 -0.875 -1.375
// out: 1.375 -1.625 -1.125 -0.875 -1.125 1.375 1.625 0.375 -1.875 -1.625 -0.625 -0.12500006 0.625 0.12499994 -0.875 -1.375
// out: 0.875 1.125 -1.8750001 -1.6250001 -0.12499994 -0.37500003 1.8750001 0.12500004 -0.125 -0.125 0.87500006 0.37499997 -1.3750001 1.125 1.1250001 2.125 1.3750001 -0.87500006 -0.6249999 0.8749999 0.875
// out: 0.87499994 1.1249999 -1.875 -1.6249999 -0.12499982 -0.37500006 1.8749999 0.12500009 -0.12499991 -0.125 0.87499994 0.3749999 -1.375 1.125 1.125 2.125 1.375 -0.875 -0.62499994 0.8749998 0.875
