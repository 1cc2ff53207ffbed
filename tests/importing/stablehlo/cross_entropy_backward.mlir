module @jit_cross_entropy_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x7xf32>, %arg1: tensor<4xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x7xf32> {jax.result_info = "result[1]"}) {
    %0:3 = call @log_softmax(%arg0) : (tensor<4x7xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x1xf32>)
    %1 = call @_one_hot(%arg1) : (tensor<4xi32>) -> tensor<4x7xf32>
    %2 = stablehlo.multiply %0#0, %1 : tensor<4x7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.divide %4, %cst_1 : tensor<f32>
    %6 = stablehlo.negate %5 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.negate %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_3 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
    %11 = stablehlo.multiply %10, %1 : tensor<4x7xf32>
    %12 = call @log_softmax_0(%0#1, %0#2, %11) : (tensor<4x7xf32>, tensor<4x1xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    return %6, %12 : tensor<f32>, tensor<4x7xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x7xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x7xf32>
    %6 = stablehlo.exponential %5 : tensor<4x7xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.log %8 : tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x7xf32>
    return %11, %6, %8 : tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<4xi32>) -> tensor<4x7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x7xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x7xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x7xi32>) -> tensor<4x7xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
    %5 = stablehlo.convert %4 : (tensor<4x7xi1>) -> tensor<4x7xf32>
    return %5 : tensor<4x7xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<4x7xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x7xf32>) -> tensor<4x7xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x7xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x7xf32>
    return %7 : tensor<4x7xf32>
  }
}

// in: 1.375 -0.375 0.875 -1.125 2.125 -1.625 -0.875 0.875 -1.875 -0.125 -1.375 2.125 -0.625 1.625 -0.625 1.625 -1.875 -1.875 -0.875 0.375 -1.375 0.625 0.125 -1.875 -0.625 0.125 1.875 -0.625
// in: 1 1 2 3
// out: 3.7440853
// out: 0.060465693 -0.23949264 0.0366743 0.0049633263 0.12800588 0.0030104097 0.006373037 0.033931985 -0.24783081 0.01248288 0.0035764049 0.118434265 0.007571249 0.07183401 0.016633185 0.15781127 -0.24523452 0.0047654873 0.012953938 0.04521369 0.00785696 0.039317455 0.023847241 0.0032273731 -0.23873536 0.023847241 0.1372314 0.011264639
