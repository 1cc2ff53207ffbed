module @jit_small attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<0x3xf32>, %arg1: tensor<1x1xf32>, %arg2: tensor<f32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<0x3xf32> {jax.result_info = "result[1]"}, tensor<1x1xf32> {jax.result_info = "result[2]"}, tensor<3x2xf32> {jax.result_info = "result[3]"}, tensor<2x1xf32> {jax.result_info = "result[4]"}, tensor<1x1xf32> {jax.result_info = "result[5]"}, tensor<1xf32> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<0x3xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<0x3xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %4 = stablehlo.multiply %arg1, %3 : tensor<1x1xf32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<3x2xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %7 = stablehlo.add %arg1, %6 : tensor<1x1xf32>
    %8 = stablehlo.concatenate %arg1, %7, dim = 0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
    %9 = stablehlo.reshape %arg2 : (tensor<f32>) -> tensor<1x1xf32>
    %10 = stablehlo.reshape %arg1 : (tensor<1x1xf32>) -> tensor<1xf32>
    return %0, %2, %4, %5, %8, %9, %10 : tensor<3xf32>, tensor<0x3xf32>, tensor<1x1xf32>, tensor<3x2xf32>, tensor<2x1xf32>, tensor<1x1xf32>, tensor<1xf32>
  }
}

// in:
// in: 0.875
// in: 1.375
// out: 0.0 0.0 0.0
// out:
// out: 1.203125
// out: 0.875 0.875 0.875 0.875 0.875 0.875
// out: 0.875 2.25
// out: 1.375
// out: 0.875
