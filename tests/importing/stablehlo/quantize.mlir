module @jit_quantize attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xi8> {jax.result_info = "result[0]"}, tensor<3x1xf32> {jax.result_info = "result[1]"}, tensor<3x8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.abs %arg0 : tensor<3x8xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %cst_0 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<3x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x8xf32>
    %6 = stablehlo.divide %arg0, %5 : tensor<3x8xf32>
    %7 = call @round(%6) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %c = stablehlo.constant dense<-127> : tensor<i32>
    %c_1 = stablehlo.constant dense<127> : tensor<i32>
    %8 = call @clip(%7, %c, %c_1) : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %9 = stablehlo.convert %8 : (tensor<3x8xf32>) -> tensor<3x8xi8>
    %10 = stablehlo.convert %9 : (tensor<3x8xi8>) -> tensor<3x8xf32>
    %11 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x8xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<3x8xf32>
    return %9, %4, %12 : tensor<3x8xi8>, tensor<3x1xf32>, tensor<3x8xf32>
  }
  func.func private @round(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @clip(%arg0: tensor<3x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<3x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<3x8xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<3x8xf32>
    return %5 : tensor<3x8xf32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875
// out: 67 -37 -67 127 -82 -37 37 82 42 110 -127 -25 25 -8 -25 -25 -112 -97 22 7 127 -52 97 -52
// out: 0.016732283 0.01476378 0.016732283
// out: 1.121063 -0.6190945 -1.121063 2.125 -1.3720472 -0.6190945 0.6190945 1.3720472 0.62007874 1.6240158 -1.875 -0.3690945 0.3690945 -0.11811024 -0.3690945 -0.3690945 -1.8740157 -1.6230315 0.36811024 0.11712598 2.125 -0.8700787 1.6230315 -0.8700787
