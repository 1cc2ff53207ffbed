module @jit_refused_top_k attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
    return %values, %indices : tensor<3xf32>, tensor<3xi32>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375 2.125 -0.875
