module @jit_slices attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3xf32>) -> (tensor<7x3xf32> {jax.result_info = "result[0]"}, tensor<7x3xf32> {jax.result_info = "result[1]"}, tensor<7x3xf32> {jax.result_info = "result[2]"}, tensor<10x4xf32> {jax.result_info = "result[3]"}, tensor<2x3xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.slice %arg0 [1:7:2, 0:3] : (tensor<7x3xf32>) -> tensor<3x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<3x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<f32>
    %4 = stablehlo.slice %arg0 [0:7:3, 1:3] : (tensor<7x3xf32>) -> tensor<3x2xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<3x2xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<3x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
    %9 = stablehlo.add %3, %8 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %11 = stablehlo.multiply %10, %7 : tensor<3x2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.pad %11, %cst_4, low = [0, 1], high = [0, 0], interior = [2, 0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<7x3xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<3x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %15, %cst_7, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<7x3xf32>
    %17 = stablehlo.add %12, %16 : tensor<7x3xf32>
    %18 = stablehlo.reverse %arg0, dims = [0] : tensor<7x3xf32>
    %19 = call @_roll_static(%arg0) : (tensor<7x3xf32>) -> tensor<7x3xf32>
    %cst_8 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %20 = call @_pad(%arg0, %cst_8) : (tensor<7x3xf32>, tensor<f32>) -> tensor<10x4xf32>
    %21 = stablehlo.slice %arg0 [2:6:3, 0:3] : (tensor<7x3xf32>) -> tensor<2x3xf32>
    return %17, %18, %19, %20, %21 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>, tensor<10x4xf32>, tensor<2x3xf32>
  }
  func.func private @_roll_static(%arg0: tensor<7x3xf32>) -> tensor<7x3xf32> {
    %0 = stablehlo.slice %arg0 [5:7, 0:3] : (tensor<7x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.slice %arg0 [0:5, 0:3] : (tensor<7x3xf32>) -> tensor<5x3xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<7x3xf32>
    return %2 : tensor<7x3xf32>
  }
  func.func private @_pad(%arg0: tensor<7x3xf32>, %arg1: tensor<f32>) -> tensor<10x4xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 1], interior = [0, 0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<10x4xf32>
    return %1 : tensor<10x4xf32>
  }
}

// in: -0.125 0.375 0.125 -0.625 2.125 -0.375 0.875 -0.375 -0.125 2.125 -1.125 0.625 -0.125 0.875 1.125 -0.625 0.875 0.875 -0.125 -1.375 0.625
// out: 0.0 0.75 0.25 2.0 2.0 2.0 0.0 0.0 0.0 2.0 -0.25 3.25 0.0 0.0 0.0 2.0 2.0 2.0 0.0 -2.75 1.25
// out: -0.125 -1.375 0.625 -0.625 0.875 0.875 -0.125 0.875 1.125 2.125 -1.125 0.625 0.875 -0.375 -0.125 -0.625 2.125 -0.375 -0.125 0.375 0.125
// out: -0.625 0.875 0.875 -0.125 -1.375 0.625 -0.125 0.375 0.125 -0.625 2.125 -0.375 0.875 -0.375 -0.125 2.125 -1.125 0.625 -0.125 0.875 1.125
// out: 3.0 3.0 3.0 3.0 -0.125 0.375 0.125 3.0 -0.625 2.125 -0.375 3.0 0.875 -0.375 -0.125 3.0 2.125 -1.125 0.625 3.0 -0.125 0.875 1.125 3.0 -0.625 0.875 0.875 3.0 -0.125 -1.375 0.625 3.0 3.0 3.0 3.0 3.0 3.0 3.0 3.0 3.0
// out: 0.875 -0.375 -0.125 -0.625 0.875 0.875
