module @jit_loop_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<300x3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = call @round(%arg1) : (tensor<3xf32>) -> tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = call @round_0(%arg0) : (tensor<300x3xf32>) -> tensor<300x3xf32>
    call @_where() : () -> ()
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<300x3xf32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<300x3xi1>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5:6 = stablehlo.while(%iterArg = %2, %iterArg_9 = %0, %iterArg_10 = %c_1, %iterArg_11 = %1, %iterArg_12 = %3, %iterArg_13 = %4) : tensor<300x3xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<300x3xf32>, tensor<300x3xi1>
    cond {
      %c_14 = stablehlo.constant dense<300> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_10, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_10) : (tensor<300x3xf32>, tensor<i32>) -> tensor<3xf32>
      %15:3 = func.call @closed_call(%iterArg_9, %iterArg_11, %14) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_12, %15#1, %iterArg_10) : (tensor<300x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<300x3xf32>
      %17 = func.call @dynamic_update_index_in_dim_2(%iterArg_13, %15#2, %iterArg_10) : (tensor<300x3xi1>, tensor<3xi1>, tensor<i32>) -> tensor<300x3xi1>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_10, %c_14 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_9, %18, %15#0, %16, %17 : tensor<300x3xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<300x3xf32>, tensor<300x3xi1>
    }
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5#3 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%5#4 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x3xf32>, tensor<f32>) -> tensor<f32>
    %8 = stablehlo.add %6, %7 : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<300x3xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %13:6 = stablehlo.while(%iterArg = %10, %iterArg_9 = %5#5, %iterArg_10 = %2, %iterArg_11 = %c_8, %iterArg_12 = %12, %iterArg_13 = %11) : tensor<300x3xf32>, tensor<300x3xi1>, tensor<300x3xf32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>
    cond {
      %c_14 = stablehlo.constant dense<300> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_11, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_14 = stablehlo.constant dense<300> : tensor<i32>
      %14 = stablehlo.subtract %c_14, %iterArg_11 : tensor<i32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.subtract %14, %c_15 : tensor<i32>
      %16 = func.call @dynamic_index_in_dim(%iterArg, %15) : (tensor<300x3xf32>, tensor<i32>) -> tensor<3xf32>
      %17 = func.call @dynamic_index_in_dim_3(%iterArg_9, %15) : (tensor<300x3xi1>, tensor<i32>) -> tensor<3xi1>
      %18 = func.call @dynamic_index_in_dim(%iterArg_10, %15) : (tensor<300x3xf32>, tensor<i32>) -> tensor<3xf32>
      %19:2 = func.call @closed_call_4(%iterArg_12, %iterArg_13, %16, %17, %18) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_11, %c_16 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_9, %iterArg_10, %20, %19#0, %19#1 : tensor<300x3xf32>, tensor<300x3xi1>, tensor<300x3xf32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>
    }
    return %13#4 : tensor<3xf32>
  }
  func.func private @round(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @round_0(%arg0: tensor<300x3xf32>) -> tensor<300x3xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<300x3xf32>
    return %0 : tensor<300x3xf32>
  }
  func.func private @_where() {
    return
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<300x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<300x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>) {
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.compare GT, %arg1, %0, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.subtract %arg1, %2 : tensor<3xf32>
    %4 = call @_where_1(%1, %3, %arg1) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %5 = stablehlo.multiply %arg2, %arg0 : tensor<3xf32>
    %6 = stablehlo.add %4, %5 : tensor<3xf32>
    %7 = stablehlo.multiply %6, %arg2 : tensor<3xf32>
    return %6, %7, %1 : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>
  }
  func.func private @_where_1(%arg0: tensor<3xi1>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3xi1>, tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<300x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<300x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<300x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<300x3xf32>
    return %1 : tensor<300x3xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<300x3xi1>, %arg1: tensor<3xi1>, %arg2: tensor<i32>) -> tensor<300x3xi1> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xi1>) -> tensor<1x3xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<300x3xi1>, tensor<1x3xi1>, tensor<i32>, tensor<i32>) -> tensor<300x3xi1>
    return %1 : tensor<300x3xi1>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<300x3xi1>, %arg1: tensor<i32>) -> tensor<3xi1> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<300x3xi1>, tensor<i32>, tensor<i32>) -> tensor<1x3xi1>
    %1 = stablehlo.reshape %0 : (tensor<1x3xi1>) -> tensor<3xi1>
    return %1 : tensor<3xi1>
  }
  func.func private @closed_call_4(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xi1>, %arg4: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.multiply %arg2, %arg4 : tensor<3xf32>
    %1 = stablehlo.add %arg1, %0 : tensor<3xf32>
    %2 = stablehlo.multiply %arg4, %1 : tensor<3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<3xf32>
    %4:2 = call @_where_5(%arg3, %1) : (tensor<3xi1>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %5 = stablehlo.add %4#0, %4#1 : tensor<3xf32>
    return %3, %5 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @_where_5(%arg0: tensor<3xi1>, %arg1: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<3xi1>, tensor<3xf32>
    %2 = stablehlo.select %arg0, %arg1, %0 : tensor<3xi1>, tensor<3xf32>
    return %2, %1 : tensor<3xf32>, tensor<3xf32>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375 2.125 -0.875 -1.375 -1.625 1.375 2.125 0.625 0.625 1.375 -1.875 1.625 1.875 -1.375 2.125 1.625 -0.875 0.125 1.375 1.875 -1.625 0.875 -0.125 -0.625 1.375 0.875 -0.375 1.625 0.125 1.625 -1.625 1.875 1.375 0.375 0.125 -0.625 -0.875 -0.875 1.375 -0.375 2.125 -0.375 0.375 -0.375 1.125 -0.375 2.125 0.625 -1.875 2.125 0.625 0.875 2.125 -0.875 -1.625 0.875 -1.125 -1.875 0.375 0.375 1.125 1.875 0.375 -0.875 0.375 -1.625 -1.875 -1.625 1.125 1.875 -0.625 -1.625 -1.625 -1.375 2.125 -1.375 0.875 0.625 -0.125 0.125 1.125 1.375 0.125 0.875 -1.375 1.875 0.625 0.875 1.125 -0.875 1.125 2.125 0.375 -0.625 1.875 1.375 2.125 1.125 1.625 1.375 -0.375 1.375 -0.875 1.875 0.375 0.125 0.875 -0.625 -1.375 1.125 0.375 1.125 -0.125 -0.125 -1.875 0.875 -0.125 -1.625 -0.375 -1.875 2.125 -1.125 -1.875 1.125 1.875 -0.875 1.875 -1.125 0.625 0.875 -1.125 -1.375 1.375 0.125 -1.375 1.625 -0.625 -0.625 0.875 -1.125 -0.125 1.125 -0.125 0.125 -0.625 1.875 -1.875 -1.625 -0.375 1.125 1.625 0.375 1.625 0.875 -1.625 0.625 0.375 1.125 -0.375 -0.625 -0.375 -0.625 2.125 -1.625 1.375 0.125 0.125 -1.875 0.125 1.625 1.875 -0.125 -0.375 1.625 1.375 2.125 1.125 2.125 1.125 -1.375 -0.125 -0.125 0.875 -0.125 1.625 -1.625 -0.625 1.375 1.125 1.375 0.125 -1.875 0.375 -1.875 -0.125 -0.625 -0.375 -1.125 1.125 -0.125 -0.375 1.875 -1.125 0.125 1.375 0.375 -0.375 -0.125 0.375 1.375 2.125 1.125 0.875 -1.375 0.125 -1.875 -0.875 -0.125 1.125 0.625 2.125 0.125 1.125 0.125 1.375 1.125 -0.625 -0.375 -0.625 0.625 -0.375 1.875 0.125 1.125 1.875 0.375 -0.125 1.625 -1.375 1.875 0.375 1.875 -0.875 1.875 0.625 -1.875 -0.625 2.125 2.125 0.625 -0.125 0.375 0.375 -1.875 0.375 -1.125 -0.125 -0.125 2.125 2.125 -1.875 -0.125 1.125 1.625 -0.875 -0.375 -1.625 -1.625 -1.125 -1.375 1.125 -0.375 1.875 -1.375 1.375 -0.625 -0.875 -0.625 0.125 1.875 -1.375 0.375 -0.125 0.625 -0.875 -0.875 -1.875 2.125 -0.875 -1.375 1.875 0.125 0.375 0.375 -0.875 -1.875 -1.625 1.875 1.875 1.375 -1.625 0.375 -1.875 -1.125 -1.625 1.875 1.125 1.125 1.875 0.625 -1.625 -1.375 0.625 -0.625 0.875 -0.625 0.125 1.625 -1.875 0.375 0.875 -0.875 -0.125 1.375 1.875 0.375 2.125 -0.625 0.625 -0.375 -1.625 0.875 -0.625 0.375 0.625 0.625 1.625 1.875 -0.125 -1.625 -0.375 -0.125 0.625 0.125 1.625 1.625 -1.125 -0.375 0.625 0.125 0.625 2.125 0.125 1.875 -0.375 0.625 2.125 1.375 1.375 -0.875 -1.375 0.125 -1.875 1.125 -0.875 -0.625 -0.125 -0.375 -1.375 2.125 -0.625 1.625 0.875 -1.375 1.125 -1.875 1.375 -0.625 1.375 -0.625 -0.625 -1.375 0.375 2.125 1.125 1.625 0.625 0.375 0.375 0.125 1.375 2.125 2.125 -1.625 1.875 -0.625 -0.875 1.625 -1.375 0.625 -0.875 0.875 1.375 0.875 -0.625 -1.125 1.125 0.375 0.625 -0.375 2.125 -1.875 -1.375 0.125 1.625 0.875 -1.875 2.125 0.625 0.625 0.375 0.125 -0.875 -1.125 -0.875 1.875 -0.375 0.875 0.125 1.625 -1.375 -0.375 -0.125 1.625 -1.625 0.625 0.125 -0.625 0.375 -0.875 -0.375 -1.875 0.125 -1.125 0.375 -0.125 0.125 0.875 -1.125 -0.625 -1.125 -1.375 -0.875 -1.125 2.125 -0.625 0.125 -1.625 1.125 0.625 -1.125 -0.625 0.125 -0.125 -0.125 2.125 -1.125 -1.125 -1.125 0.125 -0.875 0.875 1.125 0.875 1.125 -1.125 1.625 -1.875 -0.625 0.875 0.125 1.125 1.125 -1.625 0.375 1.125 1.625 1.875 -1.875 1.875 0.875 -1.125 -1.375 0.125 0.125 1.625 -0.375 -1.625 -0.125 -0.625 1.375 -0.375 -1.625 0.375 -1.875 -1.625 1.875 -1.875 0.125 1.875 -0.375 -0.125 -1.375 1.875 0.125 -0.375 0.875 0.375 1.875 -1.625 -0.375 0.125 -1.375 1.625 1.125 1.625 -0.625 1.125 1.125 0.375 1.375 -0.375 2.125 1.875 -1.375 -0.375 -0.875 -0.125 -0.375 1.875 1.375 0.375 -0.125 -1.875 -0.125 1.875 1.625 -0.875 -1.375 -0.625 -1.625 0.125 -1.625 0.375 0.125 -1.625 -1.125 0.625 -0.375 -1.375 0.125 0.875 0.125 0.875 -0.375 1.375 -1.375 2.125 1.375 -0.625 1.625 1.875 0.375 0.625 -0.875 -0.125 2.125 0.625 -1.375 -1.375 1.625 -0.375 0.625 1.125 -0.875 1.125 0.625 -1.125 0.375 -1.625 -1.875 -0.125 -0.125 1.375 1.375 0.375 0.625 0.625 -1.375 0.875 -1.125 -1.875 0.875 0.625 -1.875 1.625 0.875 -0.125 0.375 0.625 -0.375 -0.625 -0.125 -1.375 0.125 0.625 -1.625 -1.625 1.875 -1.125 -0.125 -1.125 0.875 -0.125 -1.625 -1.875 1.625 -0.125 0.875 -1.125 -0.875 0.375 1.875 -0.375 1.625 -1.875 -0.125 -0.375 -0.875 -1.875 1.625 -1.875 -1.875 -1.875 2.125 0.125 2.125 -0.125 -1.625 -1.625 2.125 0.875 -0.875 -0.125 1.375 1.875 1.625 2.125 -1.125 -1.375 -0.625 -1.625 2.125 -1.625 1.375 -0.375 0.875 2.125 -1.125 1.375 1.125 -0.875 -1.875 0.125 -0.875 0.875 -0.875 -0.625 -1.875 -1.375 -0.125 -0.625 -1.875 1.125 2.125 -0.875 0.125 -0.625 1.375 -1.375 0.375 -0.375 -1.375 1.125 -0.125 -0.875 -1.875 2.125 -0.625 -1.875 0.625 1.625 -1.125 2.125 1.875 -1.875 0.625 1.125 -1.875 2.125 -0.125 -1.375 1.875 2.125 -0.875 -0.125 -1.375 -1.625 -0.875 -1.625 0.125 -0.625 -0.375 1.625 -0.875 1.125 -0.125 -1.625 0.125 2.125 0.875 0.875 2.125 0.125 0.625 -0.625 -1.625 -1.125 -1.375 -0.375 -0.625 -1.875 1.875 0.375 -1.625 1.875 0.875 -0.375 -0.375 -0.125 -0.875 0.125 0.625 1.375 1.125 0.875 1.375 -0.375 -1.125 -0.875 -1.125 -0.625 -1.125 1.125 -1.125 0.125 -1.125 2.125 0.125 -0.125 -0.625 -1.625 0.625 -1.625 2.125 -0.625 1.375 -1.375 -1.625 -1.625 2.125 -0.625 -0.375 -0.625 -1.125 -1.125 -0.875 0.875 -1.875 1.875 -0.875 1.625 -0.125 0.875 -1.625 0.375 2.125 1.875 -0.125 -0.875 0.375 -0.875 -0.625 -1.875 1.875 -1.625 1.625 1.125 0.125 -0.625 -1.875 0.375 0.875 1.125 -0.625 -1.375 -1.375 1.875 -0.125 -0.875 1.125 -1.375 0.875 -0.875 -1.625 1.625 1.875 -1.875 0.125 0.875 1.875 0.875 -0.125 -0.625 1.875 0.875 1.625 1.125 -1.875 0.875 1.875 2.125 0.875 -0.875 0.375 -1.125 -1.875 1.125 0.625 -0.625 0.625 -1.375 1.625 -0.375 -0.375 1.875 -1.625 0.625 1.125 0.125 -0.375 1.125 -0.625 -0.375 0.875 1.375 -1.875 0.875 -1.875 1.625 2.125 1.375 1.625 1.125 1.375 1.875 0.125 -1.625 -0.375 -1.625 -1.125 0.375 -1.875 1.875 1.375 0.625 -0.875 -1.625 1.125 -1.125 -1.625 -0.375 -0.875 0.125 -0.125
// in: 0.625 -0.375 1.625
// out: 808.0 667.0 1031.0
