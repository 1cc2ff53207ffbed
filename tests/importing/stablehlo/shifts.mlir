module @jit_shifts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xui8>, %arg1: tensor<5xui8>, %arg2: tensor<6xui32>, %arg3: tensor<6xui32>) -> (tensor<5xui8> {jax.result_info = "result[0]"}, tensor<5xui8> {jax.result_info = "result[1]"}, tensor<5xui8> {jax.result_info = "result[2]"}, tensor<6xui32> {jax.result_info = "result[3]"}, tensor<6xui32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<80> : tensor<ui8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %1 = stablehlo.multiply %arg0, %0 : tensor<5xui8>
    %c_0 = stablehlo.constant dense<1431655765> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %3 = stablehlo.multiply %arg2, %2 : tensor<6xui32>
    %c_1 = stablehlo.constant dense<1> : tensor<ui8>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %5 = stablehlo.subtract %arg1, %4 : tensor<5xui8>
    %c_2 = stablehlo.constant dense<4> : tensor<ui8>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %7 = stablehlo.multiply %5, %6 : tensor<5xui8>
    %8 = stablehlo.shift_right_logical %1, %arg1 : tensor<5xui8>
    %9 = stablehlo.shift_right_arithmetic %1, %arg1 : tensor<5xui8>
    %10 = stablehlo.shift_right_arithmetic %1, %7 : tensor<5xui8>
    %11 = stablehlo.shift_right_arithmetic %3, %arg3 : tensor<6xui32>
    %c_3 = stablehlo.constant dense<16> : tensor<ui32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<6xui32>
    %13 = stablehlo.multiply %arg3, %12 : tensor<6xui32>
    %14 = stablehlo.shift_right_arithmetic %3, %13 : tensor<6xui32>
    return %8, %9, %10, %11, %14 : tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<6xui32>, tensor<6xui32>
  }
}

// in: 1 2 2 1 3
// in: 1 2 1 1 3
// in: 1 2 2 3 3 1
// in: 3 3 2 1 2 1
// out: 40 40 80 40 30
// out: 40 232 208 40 254
// out: 80 250 160 80 255
// out: 178956970 4116010325 3937053354 4294967295 4294967295 715827882
// out: 0 4294967295 4294967295 4294967295 4294967295 21845
