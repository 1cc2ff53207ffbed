module @jit_neighbours_of_16_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xbf16>, %arg1: tensor<6xbf16>, %arg2: tensor<6xf16>, %arg3: tensor<6xf16>) -> (tensor<6xbf16> {jax.result_info = "result[0]"}, tensor<6xf16> {jax.result_info = "result[1]"}, tensor<6xbf16> {jax.result_info = "result[2]"}, tensor<6xbf16> {jax.result_info = "result[3]"}, tensor<6xbf16> {jax.result_info = "result[4]"}, tensor<6xf16> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6xbf16>
    %cst_0 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<6xf16>
    %2 = chlo.next_after %arg0, %arg1 : tensor<6xbf16>, tensor<6xbf16> -> tensor<6xbf16>
    %3 = chlo.next_after %arg2, %arg3 : tensor<6xf16>, tensor<6xf16> -> tensor<6xf16>
    %4 = chlo.next_after %0, %arg1 : tensor<6xbf16>, tensor<6xbf16> -> tensor<6xbf16>
    %5 = chlo.next_after %arg0, %0 : tensor<6xbf16>, tensor<6xbf16> -> tensor<6xbf16>
    %6 = chlo.next_after %arg0, %arg0 : tensor<6xbf16>, tensor<6xbf16> -> tensor<6xbf16>
    %7 = chlo.next_after %arg2, %1 : tensor<6xf16>, tensor<6xf16> -> tensor<6xf16>
    return %2, %3, %4, %5, %6, %7 : tensor<6xbf16>, tensor<6xf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xf16>
  }
}

// in: -0.625 1.375 -0.375 0.625 -0.125 1.125
// in: -0.625 -1.625 -0.625 0.625 0.625 2.125
// in: -0.875 -0.125 2.125 -1.625 0.875 2.125
// in: 1.875 0.875 1.875 -1.125 1.125 0.875
// out: -0.625 1.3671875 -0.37695312 0.625 -0.12451172 1.1328125
// out: -0.8745117 -0.124938965 2.1230469 -1.6240234 0.8754883 2.1230469
// out: -9.1835e-41 -9.1835e-41 -9.1835e-41 9.1835e-41 9.1835e-41 9.1835e-41
// out: -0.62109375 1.3671875 -0.37304688 0.62109375 -0.12451172 1.1171875
// out: -0.625 1.375 -0.375 0.625 -0.125 1.125
// out: -0.8754883 -0.12512207 2.1230469 -1.6259766 0.8745117 2.1230469
