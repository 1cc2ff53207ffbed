module @jit_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>, %arg1: tensor<9xi32>, %arg2: tensor<9xi16>, %arg3: tensor<9xui8>, %arg4: tensor<9xui32>) -> (tensor<9xf32> {jax.result_info = "result[0]"}, tensor<9xf32> {jax.result_info = "result[1]"}, tensor<9xi32> {jax.result_info = "result[2]"}, tensor<9xi32> {jax.result_info = "result[3]"}, tensor<9xi32> {jax.result_info = "result[4]"}, tensor<9xi32> {jax.result_info = "result[5]"}, tensor<9xi16> {jax.result_info = "result[6]"}, tensor<9xi16> {jax.result_info = "result[7]"}, tensor<9xui8> {jax.result_info = "result[8]"}, tensor<9xui8> {jax.result_info = "result[9]"}, tensor<9xui32> {jax.result_info = "result[10]"}, tensor<9xui32> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.negate %arg1 : tensor<9xi32>
    %c = stablehlo.constant dense<3> : tensor<i16>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<9xi16>
    %2 = stablehlo.subtract %arg2, %1 : tensor<9xi16>
    %c_0 = stablehlo.constant dense<29> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<9xui32>
    %4 = stablehlo.shift_left %arg4, %3 : tensor<9xui32>
    %5 = stablehlo.popcnt %arg1 : tensor<9xi32>
    %6 = stablehlo.count_leading_zeros %arg1 : tensor<9xi32>
    %7 = stablehlo.popcnt %0 : tensor<9xi32>
    %8 = stablehlo.count_leading_zeros %0 : tensor<9xi32>
    %9 = stablehlo.popcnt %2 : tensor<9xi16>
    %10 = stablehlo.count_leading_zeros %2 : tensor<9xi16>
    %11 = stablehlo.popcnt %arg3 : tensor<9xui8>
    %12 = stablehlo.count_leading_zeros %arg3 : tensor<9xui8>
    %13 = stablehlo.popcnt %4 : tensor<9xui32>
    %14 = stablehlo.count_leading_zeros %4 : tensor<9xui32>
    %15 = stablehlo.cbrt %arg0 : tensor<9xf32>
    %cst = stablehlo.constant dense<9.99999968E-21> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %17 = stablehlo.multiply %arg0, %16 : tensor<9xf32>
    %18 = stablehlo.cbrt %17 : tensor<9xf32>
    return %15, %18, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14 : tensor<9xf32>, tensor<9xf32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi32>, tensor<9xi16>, tensor<9xi16>, tensor<9xui8>, tensor<9xui8>, tensor<9xui32>, tensor<9xui32>
  }
}

// in: 1.125 2.125 1.625 0.125 1.875 2.125 2.125 -1.625 -0.125
// in: 2 1 2 2 3 2 1 3 3
// in: 1 2 2 3 1 2 3 2 1
// in: 3 3 3 3 1 2 3 2 3
// in: 2 1 2 2 1 3 2 3 1
// out: 1.0400419 1.2856408 1.1756673 0.5 1.233106 1.2856408 1.2856408 -1.1756673 -0.5
// out: 2.2407023e-07 2.7698292e-07 2.5328984e-07 1.0772173e-07 2.6566465e-07 2.7698292e-07 2.7698292e-07 -2.5328984e-07 -1.0772173e-07
// out: 1 1 1 1 2 1 1 2 2
// out: 30 31 30 30 30 30 31 30 30
// out: 31 32 31 31 31 31 32 31 31
// out: 0 0 0 0 0 0 0 0 0
// out: 15 16 16 0 15 16 0 16 15
// out: 0 0 0 16 0 0 16 0 0
// out: 2 2 2 2 1 1 2 1 2
// out: 6 6 6 6 7 6 6 6 6
// out: 1 1 1 1 1 2 1 2 1
// out: 1 2 1 1 2 1 1 1 2
