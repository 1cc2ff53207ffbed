module @jit_pads attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xf32>, %arg1: tensor<3x4xf32>) -> (tensor<1xf32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<0xf32> {jax.result_info = "result[3]"}, tensor<0xf32> {jax.result_info = "result[4]"}, tensor<1x3xf32> {jax.result_info = "result[5]"}, tensor<3x8xf32> {jax.result_info = "result[6]"}, tensor<0x0xf32> {jax.result_info = "result[7]"}, tensor<10x4xf32> {jax.result_info = "result[8]"}, tensor<1x7xf32> {jax.result_info = "result[9]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [2], high = [-2], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst_0, low = [-2], high = [3], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %arg0, %cst_1, low = [5], high = [-3], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %arg0, %cst_2, low = [-1], high = [0], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<0xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %arg0, %cst_3, low = [3], high = [-4], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<0xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.pad %arg1, %cst_4, low = [-4, 1], high = [2, -2], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %arg1, %cst_5, low = [4, -1], high = [-6, -1], interior = [1, 2] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x8xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %arg1, %cst_6, low = [-3, 0], high = [0, -4], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<0x0xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %arg1, %cst_7, low = [-6, 0], high = [9, 0], interior = [2, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<10x4xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.pad %arg1, %cst_8, low = [0, -3], high = [-2, 3], interior = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<1x7xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<1xf32>, tensor<2xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>, tensor<1x3xf32>, tensor<3x8xf32>, tensor<0x0xf32>, tensor<10x4xf32>, tensor<1x7xf32>
  }
}

// in: 1.125
// in: 2.125 1.625 0.125 1.875 2.125 2.125 -1.625 -0.125 0.625 -0.875 -0.375 0.625
// out: 2.0
// out: 2.0 2.0
// out: 2.0 2.0 2.0
// out:
// out:
// out: 2.0 2.0 2.0
// out: 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0
// out:
// out: 0.625 -0.875 -0.375 0.625 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0
// out: 2.0 0.125 2.0 1.875 2.0 2.0 2.0
