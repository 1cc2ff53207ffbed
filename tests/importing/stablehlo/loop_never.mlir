module @jit_loop_never attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8xf32>, tensor<i32>
    cond {
      %c = stablehlo.constant dense<99> : tensor<i32>
      %1 = stablehlo.compare GT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %2 = stablehlo.multiply %iterArg, %1 : tensor<8xf32>
      %c = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.subtract %iterArg_0, %c : tensor<i32>
      stablehlo.return %2, %3 : tensor<8xf32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<8xf32>, tensor<i32>
  }
}

// in: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125 -1.375
// in: 3
// out: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125 -1.375
// out: 3
