module @jit_loop_swaps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf32>) -> (tensor<7xf32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}, tensor<7xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<7xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0, %iterArg_3 = %1, %iterArg_4 = %arg0) : tensor<i32>, tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
    cond {
      %c_5 = stablehlo.constant dense<700> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:4 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_3, %iterArg_4) : (tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) -> (tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>)
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_5 : tensor<i32>
      stablehlo.return %4, %3#0, %3#1, %3#2, %3#3 : tensor<i32>, tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
    }
    return %2#2, %2#3, %2#4 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<7xf32>, %arg2: tensor<7xf32>, %arg3: tensor<7xf32>) -> (tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.add %arg1, %arg2 : tensor<7xf32>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %2 = call @remainder(%arg2, %c_0) : (tensor<7xf32>, tensor<i32>) -> tensor<7xf32>
    %c_1 = stablehlo.constant dense<64> : tensor<i32>
    %3 = call @remainder(%1, %c_1) : (tensor<7xf32>, tensor<i32>) -> tensor<7xf32>
    %c_2 = stablehlo.constant dense<64> : tensor<i32>
    %4 = call @remainder(%arg1, %c_2) : (tensor<7xf32>, tensor<i32>) -> tensor<7xf32>
    return %0, %2, %3, %4 : tensor<i32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
  }
  func.func private @remainder(%arg0: tensor<7xf32>, %arg1: tensor<i32>) -> tensor<7xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %4 = stablehlo.compare NE, %2, %3, FLOAT : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %6 = stablehlo.compare LT, %2, %5, FLOAT : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.compare LT, %0, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i1>) -> tensor<7xi1>
    %9 = stablehlo.compare NE, %6, %8, UNSIGNED : (tensor<7xi1>, tensor<7xi1>) -> tensor<7xi1>
    %10 = stablehlo.and %9, %4 : tensor<7xi1>
    %11 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %12 = stablehlo.add %2, %11 : tensor<7xf32>
    %13 = stablehlo.select %10, %12, %2 : tensor<7xi1>, tensor<7xf32>
    return %13 : tensor<7xf32>
  }
}

// in: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125
// out: 35.875 27.625 60.625 63.375 35.875 33.125 49.625
// out: 60.0 58.0 2.0 24.0 60.0 38.0 42.0
// out: 24.125 30.375 5.375 24.625 24.125 4.875 56.375
