module @jit_greatest_of_zeros attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6xf32>, %arg1: tensor<3x6xbf16>) -> (tensor<3x4xf32> {jax.result_info = "result[0]"}, tensor<3x4xi32> {jax.result_info = "result[1]"}, tensor<3x6xbf16> {jax.result_info = "result[2]"}, tensor<3x6xi32> {jax.result_info = "result[3]"}, tensor<3x4xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @copysign(%c, %arg0) : (tensor<i32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %values, %indices = chlo.top_k(%0, k = 4) : tensor<3x6xf32> -> (tensor<3x4xf32>, tensor<3x4xi32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<3x6xbf16>
    %2 = stablehlo.compare GT, %arg1, %1, FLOAT : (tensor<3x6xbf16>, tensor<3x6xbf16>) -> tensor<3x6xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = call @copysign_0(%c_0, %arg1) : (tensor<i32>, tensor<3x6xbf16>) -> tensor<3x6xbf16>
    %4 = call @_where_3(%2, %arg1, %3) : (tensor<3x6xi1>, tensor<3x6xbf16>, tensor<3x6xbf16>) -> tensor<3x6xbf16>
    %values_1, %indices_2 = chlo.top_k(%4, k = 6) : tensor<3x6xbf16> -> (tensor<3x6xbf16>, tensor<3x6xi32>)
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @copysign(%c_3, %arg0) : (tensor<i32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %values_4, %indices_5 = chlo.top_k(%5, k = 4) : tensor<3x6xf32> -> (tensor<3x4xf32>, tensor<3x4xi32>)
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %7 = stablehlo.divide %6, %values_4 : tensor<3x4xf32>
    return %values, %indices, %values_1, %indices_2, %7 : tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x6xbf16>, tensor<3x6xi32>, tensor<3x4xf32>
  }
  func.func private @copysign(%arg0: tensor<i32>, %arg1: tensor<3x6xf32>) -> tensor<3x6xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %1 = call @signbit(%arg1) : (tensor<3x6xf32>) -> tensor<3x6xi1>
    %2 = stablehlo.abs %0 : tensor<f32>
    %3 = stablehlo.negate %2 : tensor<f32>
    %4 = stablehlo.abs %0 : tensor<f32>
    %5 = call @_where(%1, %3, %4) : (tensor<3x6xi1>, tensor<f32>, tensor<f32>) -> tensor<3x6xf32>
    return %5 : tensor<3x6xf32>
  }
  func.func private @signbit(%arg0: tensor<3x6xf32>) -> tensor<3x6xi1> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x6xf32>) -> tensor<3x6xi32>
    %c = stablehlo.constant dense<31> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x6xi32>
    %2 = stablehlo.shift_right_arithmetic %0, %1 : tensor<3x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x6xi32>
    %4 = stablehlo.compare NE, %2, %3, SIGNED : (tensor<3x6xi32>, tensor<3x6xi32>) -> tensor<3x6xi1>
    %5 = stablehlo.convert %4 : tensor<3x6xi1>
    return %5 : tensor<3x6xi1>
  }
  func.func private @_where(%arg0: tensor<3x6xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<3x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3x6xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<3x6xi1>, tensor<3x6xf32>
    return %2 : tensor<3x6xf32>
  }
  func.func private @copysign_0(%arg0: tensor<i32>, %arg1: tensor<3x6xbf16>) -> tensor<3x6xbf16> {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<bf16>
    %1 = call @signbit_1(%arg1) : (tensor<3x6xbf16>) -> tensor<3x6xi1>
    %2 = stablehlo.abs %0 : tensor<bf16>
    %3 = stablehlo.negate %2 : tensor<bf16>
    %4 = stablehlo.abs %0 : tensor<bf16>
    %5 = call @_where_2(%1, %3, %4) : (tensor<3x6xi1>, tensor<bf16>, tensor<bf16>) -> tensor<3x6xbf16>
    return %5 : tensor<3x6xbf16>
  }
  func.func private @signbit_1(%arg0: tensor<3x6xbf16>) -> tensor<3x6xi1> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x6xbf16>) -> tensor<3x6xi16>
    %c = stablehlo.constant dense<15> : tensor<i16>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<3x6xi16>
    %2 = stablehlo.shift_right_arithmetic %0, %1 : tensor<3x6xi16>
    %c_0 = stablehlo.constant dense<0> : tensor<i16>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i16>) -> tensor<3x6xi16>
    %4 = stablehlo.compare NE, %2, %3, SIGNED : (tensor<3x6xi16>, tensor<3x6xi16>) -> tensor<3x6xi1>
    %5 = stablehlo.convert %4 : tensor<3x6xi1>
    return %5 : tensor<3x6xi1>
  }
  func.func private @_where_2(%arg0: tensor<3x6xi1>, %arg1: tensor<bf16>, %arg2: tensor<bf16>) -> tensor<3x6xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<bf16>) -> tensor<3x6xbf16>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<3x6xbf16>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<3x6xi1>, tensor<3x6xbf16>
    return %2 : tensor<3x6xbf16>
  }
  func.func private @_where_3(%arg0: tensor<3x6xi1>, %arg1: tensor<3x6xbf16>, %arg2: tensor<3x6xbf16>) -> tensor<3x6xbf16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x6xi1>, tensor<3x6xbf16>
    return %0 : tensor<3x6xbf16>
  }
}

// in: 1.125 1.625 -1.625 -1.375 -0.125 0.375 1.125 -0.375 -1.875 -1.125 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125
// in: -1.875 -1.875 0.375 -0.875 -0.375 0.625 -1.375 -1.625 0.875 2.125 0.875 1.625 -0.125 -1.875 0.875 0.375 1.125 0.625
// out: 0.0 0.0 0.0 -0.0 0.0 -0.0 -0.0 -0.0 0.0 0.0 0.0 0.0
// out: 0 1 5 2 0 1 2 3 0 2 3 5
// out: 0.625 0.375 -0.0 -0.0 -0.0 -0.0 2.125 1.625 0.875 0.875 -0.0 -0.0 1.125 0.875 0.625 0.375 -0.0 -0.0
// out: 5 2 0 1 3 4 3 5 2 4 0 1 4 2 5 3 0 1
// out: inf inf inf -inf inf -inf -inf -inf inf inf inf inf
