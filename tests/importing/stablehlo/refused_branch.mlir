module @jit_refused_branch attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      stablehlo.return %arg0 : tensor<8xf32>
    }, {
      %2 = stablehlo.negate %arg0 : tensor<8xf32>
      stablehlo.return %2 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// in: -1.375 1.625 0.875 -0.375 -1.625 0.875 -0.625 1.625
// in: 2
