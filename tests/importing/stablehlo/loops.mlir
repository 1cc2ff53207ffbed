module @jit_loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_4 = %c, %iterArg_5 = %arg0) : tensor<i32>, tensor<i32>, tensor<8xf32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:2 = func.call @closed_call(%iterArg_4, %iterArg_5) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_6 : tensor<i32>
      stablehlo.return %4, %3#0, %3#1 : tensor<i32>, tensor<i32>, tensor<8xf32>
    }
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %arg0) : tensor<i32>, tensor<i32>, tensor<8xf32>
    cond {
      %c_6 = stablehlo.constant dense<2> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:2 = func.call @closed_call_0(%iterArg_4, %iterArg_5) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_6 : tensor<i32>
      stablehlo.return %4, %3#0, %3#1 : tensor<i32>, tensor<i32>, tensor<8xf32>
    }
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %2:2 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %c_3) : tensor<8xf32>, tensor<i32>
    cond {
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %3 = stablehlo.compare GT, %iterArg_4, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.negate %iterArg : tensor<8xf32>
      stablehlo.return %3, %iterArg_4 : tensor<8xf32>, tensor<i32>
    }
    return %0#2, %1#2, %2#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<8xf32>
    %3 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %5 = stablehlo.add %2, %4 : tensor<8xf32>
    return %0, %5 : tensor<i32>, tensor<8xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:3 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %1, %iterArg_3 = %arg1) : tensor<i32>, tensor<i32>, tensor<8xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg, %iterArg_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg, %c_4 : tensor<i32>
      %4 = stablehlo.sine %iterArg_3 : tensor<8xf32>
      %5 = stablehlo.convert %iterArg : (tensor<i32>) -> tensor<f32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %7 = stablehlo.multiply %4, %6 : tensor<8xf32>
      %8 = stablehlo.add %iterArg_3, %7 : tensor<8xf32>
      stablehlo.return %3, %iterArg_2, %8 : tensor<i32>, tensor<i32>, tensor<8xf32>
    }
    return %0, %2#2 : tensor<i32>, tensor<8xf32>
  }
}

// in: 0.875 1.375 -1.875 1.375 -0.125 0.125 0.625 -0.875
// in: 3
// out: 6.109375 6.171875 5.765625 6.171875 5.984375 6.015625 6.078125 5.890625
// out: 1.6425436 2.3558931 -2.8290858 2.3558931 -0.24967474 0.24967474 1.2100973 -1.6425436
// out: 0.875 1.375 -1.875 1.375 -0.125 0.125 0.625 -0.875
