module @jit_roundings attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32> {jax.result_info = "result[0]"}, tensor<2x5xf32> {jax.result_info = "result[1]"}, tensor<2x5xf32> {jax.result_info = "result[2]"}, tensor<2x5xf32> {jax.result_info = "result[3]"}, tensor<2x5xf32> {jax.result_info = "result[4]"}, tensor<2x5xf32> {jax.result_info = "result[5]"}, tensor<2x5xi1> {jax.result_info = "result[6]"}, tensor<2x5xi1> {jax.result_info = "result[7]"}, tensor<2x5xi1> {jax.result_info = "result[8]"}) {
    %0 = call @round(%arg0) : (tensor<2x5xf32>) -> tensor<2x5xf32>
    %1 = stablehlo.floor %arg0 : tensor<2x5xf32>
    %2 = stablehlo.ceil %arg0 : tensor<2x5xf32>
    %3 = call @trunc(%arg0) : (tensor<2x5xf32>) -> tensor<2x5xf32>
    %4 = stablehlo.round_nearest_afz %arg0 : tensor<2x5xf32>
    %5 = stablehlo.sign %arg0 : tensor<2x5xf32>
    %6 = stablehlo.is_finite %arg0 : (tensor<2x5xf32>) -> tensor<2x5xi1>
    %7 = call @isinf(%arg0) : (tensor<2x5xf32>) -> tensor<2x5xi1>
    %8 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xi1>, tensor<2x5xi1>, tensor<2x5xi1>
  }
  func.func private @round(%arg0: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<2x5xf32>
    return %0 : tensor<2x5xf32>
  }
  func.func private @trunc(%arg0: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %1 = stablehlo.compare LT, %arg0, %0, FLOAT : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
    %2 = stablehlo.ceil %arg0 : tensor<2x5xf32>
    %3 = stablehlo.floor %arg0 : tensor<2x5xf32>
    %4 = call @_where(%1, %2, %3) : (tensor<2x5xi1>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
    return %4 : tensor<2x5xf32>
  }
  func.func private @_where(%arg0: tensor<2x5xi1>, %arg1: tensor<2x5xf32>, %arg2: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x5xi1>, tensor<2x5xf32>
    return %0 : tensor<2x5xf32>
  }
  func.func private @isinf(%arg0: tensor<2x5xf32>) -> tensor<2x5xi1> {
    %0 = stablehlo.abs %arg0 : tensor<2x5xf32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.compare EQ, %0, %1, FLOAT : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
    return %2 : tensor<2x5xi1>
  }
}

// in: -0.125 1.625 2.125 -0.875 -1.625 0.625 0.875 1.375 0.625 1.125
// out: -0.0 2.0 2.0 -1.0 -2.0 1.0 1.0 1.0 1.0 1.0
// out: -1.0 1.0 2.0 -1.0 -2.0 0.0 0.0 1.0 0.0 1.0
// out: -0.0 2.0 3.0 -0.0 -1.0 1.0 1.0 2.0 1.0 2.0
// out: -0.0 1.0 2.0 -0.0 -1.0 0.0 0.0 1.0 0.0 1.0
// out: -0.0 2.0 2.0 -1.0 -2.0 1.0 1.0 1.0 1.0 1.0
// out: -1.0 1.0 1.0 -1.0 -1.0 1.0 1.0 1.0 1.0 1.0
// out: 1 1 1 1 1 1 1 1 1 1
// out: 0 0 0 0 0 0 0 0 0 0
// out: 0 0 0 0 0 0 0 0 0 0
