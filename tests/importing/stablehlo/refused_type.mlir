module @jit_refused_type attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8xf32>) -> tensor<8xf8E3M4>
    %1 = stablehlo.convert %0 : (tensor<8xf8E3M4>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// in: 0.625 -0.875 2.125 2.125 -1.625 -1.125 -1.125 -1.125
