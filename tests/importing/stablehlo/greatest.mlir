module @jit_greatest attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x7xf32>, %arg1: tensor<4x5xi32>) -> (tensor<3x3xf32> {jax.result_info = "result[0]"}, tensor<3x3xi32> {jax.result_info = "result[1]"}, tensor<4x5xi32> {jax.result_info = "result[2]"}, tensor<4x5xi32> {jax.result_info = "result[3]"}, tensor<1xf32> {jax.result_info = "result[4]"}, tensor<1xi32> {jax.result_info = "result[5]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<3x7xf32> -> (tensor<3x3xf32>, tensor<3x3xi32>)
    %values_0, %indices_1 = chlo.top_k(%arg1, k = 5) : tensor<4x5xi32> -> (tensor<4x5xi32>, tensor<4x5xi32>)
    %0 = stablehlo.slice %arg0 [0:1, 0:7] : (tensor<3x7xf32>) -> tensor<1x7xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x7xf32>) -> tensor<7xf32>
    %values_2, %indices_3 = chlo.top_k(%1, k = 1) : tensor<7xf32> -> (tensor<1xf32>, tensor<1xi32>)
    return %values, %indices, %values_0, %indices_1, %values_2, %indices_3 : tensor<3x3xf32>, tensor<3x3xi32>, tensor<4x5xi32>, tensor<4x5xi32>, tensor<1xf32>, tensor<1xi32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125
// in: 1 3 1 1 1 2 1 3 3 3 2 1 1 2 2 2 2 2 2 1
// out: 2.125 1.125 0.625 1.625 1.375 0.625 2.125 0.375 0.125
// out: 3 0 6 2 0 1 6 4 5
// out: 3 1 1 1 1 3 3 3 2 1 2 2 2 1 1 2 2 2 2 1
// out: 1 0 2 3 4 2 3 4 0 1 0 3 4 1 2 0 1 2 3 4
// out: 2.125
// out: 3
