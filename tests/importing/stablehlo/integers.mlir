module @jit_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xi32>, %arg1: tensor<6xi32>) -> (tensor<6xi32> {jax.result_info = "result[0]"}, tensor<6xi32> {jax.result_info = "result[1]"}, tensor<6xi32> {jax.result_info = "result[2]"}, tensor<6xi32> {jax.result_info = "result[3]"}, tensor<6xi32> {jax.result_info = "result[4]"}, tensor<6xi32> {jax.result_info = "result[5]"}, tensor<6xi32> {jax.result_info = "result[6]"}, tensor<6xi32> {jax.result_info = "result[7]"}, tensor<6xi32> {jax.result_info = "result[8]"}, tensor<6xi32> {jax.result_info = "result[9]"}, tensor<6xi32> {jax.result_info = "result[10]"}, tensor<6xi32> {jax.result_info = "result[11]"}, tensor<6xi32> {jax.result_info = "result[12]"}) {
    %0 = call @floor_divide(%arg0, %arg1) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
    %1 = call @remainder(%arg0, %arg1) : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
    %2 = stablehlo.remainder %arg0, %arg1 : tensor<6xi32>
    %3 = stablehlo.and %arg0, %arg1 : tensor<6xi32>
    %4 = stablehlo.or %arg0, %arg1 : tensor<6xi32>
    %5 = stablehlo.xor %arg0, %arg1 : tensor<6xi32>
    %6 = stablehlo.not %arg0 : tensor<6xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %8 = stablehlo.shift_left %arg0, %7 : tensor<6xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %10 = stablehlo.shift_right_arithmetic %arg0, %9 : tensor<6xi32>
    %11 = stablehlo.abs %arg0 : tensor<6xi32>
    %12 = stablehlo.sign %arg0 : tensor<6xi32>
    %c_1 = stablehlo.constant dense<-2> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %13 = call @clip(%arg0, %c_1, %c_2) : (tensor<6xi32>, tensor<i32>, tensor<i32>) -> tensor<6xi32>
    %14 = stablehlo.multiply %arg0, %arg1 : tensor<6xi32>
    return %0, %1, %2, %3, %4, %5, %6, %8, %10, %11, %12, %13, %14 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
  }
  func.func private @floor_divide(%arg0: tensor<6xi32>, %arg1: tensor<6xi32>) -> tensor<6xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<6xi32>
    %1 = stablehlo.sign %arg0 : tensor<6xi32>
    %2 = stablehlo.sign %arg1 : tensor<6xi32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %7 = stablehlo.and %3, %6 : tensor<6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %9 = stablehlo.subtract %0, %8 : tensor<6xi32>
    %10 = call @_where(%7, %9, %0) : (tensor<6xi1>, tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
    return %10 : tensor<6xi32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xi32>, %arg2: tensor<6xi32>) -> tensor<6xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<6xi1>, tensor<6xi32>
    return %0 : tensor<6xi32>
  }
  func.func private @remainder(%arg0: tensor<6xi32>, %arg1: tensor<6xi32>) -> tensor<6xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %1 = stablehlo.compare EQ, %arg1, %0, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<6xi1>, tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<6xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    %12 = stablehlo.and %11, %6 : tensor<6xi1>
    %13 = stablehlo.add %4, %3 : tensor<6xi32>
    %14 = stablehlo.select %12, %13, %4 : tensor<6xi1>, tensor<6xi32>
    return %14 : tensor<6xi32>
  }
  func.func private @clip(%arg0: tensor<6xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<6xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<6xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<6xi32>
    return %5 : tensor<6xi32>
  }
}

// in: 3 1 1 3 1 1
// in: 2 3 2 3 1 2
// out: 1 0 0 1 1 0
// out: 1 1 1 0 0 1
// out: 1 1 1 0 0 1
// out: 2 1 0 3 1 0
// out: 3 3 3 3 1 3
// out: 1 2 3 0 0 3
// out: -4 -2 -2 -4 -2 -2
// out: 12 4 4 12 4 4
// out: 1 0 0 1 0 0
// out: 3 1 1 3 1 1
// out: 1 1 1 1 1 1
// out: 3 1 1 3 1 1
// out: 6 3 2 9 1 2
