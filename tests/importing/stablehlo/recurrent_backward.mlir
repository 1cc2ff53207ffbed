module @jit_recurrent_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<3x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<3x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5:9 = stablehlo.while(%iterArg = %arg0, %iterArg_12 = %arg1, %iterArg_13 = %arg2, %iterArg_14 = %c, %iterArg_15 = %0, %iterArg_16 = %1, %iterArg_17 = %2, %iterArg_18 = %3, %iterArg_19 = %4) : tensor<4x2xf32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
    cond {
      %c_20 = stablehlo.constant dense<4> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_14, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %17 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_14) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %18:5 = func.call @closed_call(%iterArg_12, %iterArg_13, %iterArg_15, %17) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_16, %18#1, %iterArg_14) : (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_17, %18#2, %iterArg_14) : (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>
      %21 = func.call @dynamic_update_index_in_dim(%iterArg_18, %18#3, %iterArg_14) : (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>
      %22 = func.call @dynamic_update_index_in_dim(%iterArg_19, %18#4, %iterArg_14) : (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_14, %c_20 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %23, %18#0, %19, %20, %21, %22 : tensor<4x2xf32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
    }
    %6 = stablehlo.multiply %5#5, %5#5 : tensor<4x3xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %8 = stablehlo.multiply %7, %5#5 : tensor<4x3xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %12 = stablehlo.multiply %11, %8 : tensor<4x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %16:10 = stablehlo.while(%iterArg = %12, %iterArg_12 = %arg0, %iterArg_13 = %5#6, %iterArg_14 = %5#7, %iterArg_15 = %5#8, %iterArg_16 = %arg2, %iterArg_17 = %c_11, %iterArg_18 = %14, %iterArg_19 = %15, %iterArg_20 = %13) : tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>
    cond {
      %c_21 = stablehlo.constant dense<4> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_17, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %c_21 = stablehlo.constant dense<4> : tensor<i32>
      %17 = stablehlo.subtract %c_21, %iterArg_17 : tensor<i32>
      %c_22 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.subtract %17, %c_22 : tensor<i32>
      %19 = func.call @dynamic_index_in_dim_0(%iterArg, %18) : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
      %20 = func.call @dynamic_index_in_dim(%iterArg_12, %18) : (tensor<4x2xf32>, tensor<i32>) -> tensor<2xf32>
      %21 = func.call @dynamic_index_in_dim_0(%iterArg_13, %18) : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
      %22 = func.call @dynamic_index_in_dim_0(%iterArg_14, %18) : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
      %23 = func.call @dynamic_index_in_dim_0(%iterArg_15, %18) : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
      %24:3 = func.call @closed_call_1(%iterArg_16, %iterArg_18, %iterArg_19, %iterArg_20, %19, %20, %21, %22, %23) : (tensor<3x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>)
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %25 = stablehlo.add %iterArg_17, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %25, %24#0, %24#1, %24#2 : tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>
    }
    return %16#7, %16#8 : tensor<2x3xf32>, tensor<3x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
    %2 = stablehlo.add %0, %1 : tensor<3xf32>
    %3 = stablehlo.tanh %2 : tensor<3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %5 = stablehlo.subtract %4, %3 : tensor<3xf32>
    return %3, %3, %arg2, %3, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<4x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<3x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<3x3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>, %arg5: tensor<2xf32>, %arg6: tensor<3xf32>, %arg7: tensor<3xf32>, %arg8: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>) {
    %0 = stablehlo.add %arg3, %arg4 : tensor<3xf32>
    %1 = stablehlo.multiply %0, %arg8 : tensor<3xf32>
    %2 = stablehlo.multiply %1, %arg7 : tensor<3xf32>
    %3 = stablehlo.add %1, %2 : tensor<3xf32>
    %4 = stablehlo.dot_general %3, %arg6, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %6 = stablehlo.add %arg2, %5 : tensor<3x3xf32>
    %7 = stablehlo.dot_general %3, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
    %8 = stablehlo.dot_general %3, %arg5, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<2xf32>) -> tensor<3x2xf32>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %10 = stablehlo.add %arg1, %9 : tensor<2x3xf32>
    return %10, %6, %7 : tensor<2x3xf32>, tensor<3x3xf32>, tensor<3xf32>
  }
}

// in: 1.875 -0.375 -1.125 1.125 1.625 -0.875 -0.375 -1.625
// in: 2.125 2.125 0.875 0.375 0.375 0.625
// in: 1.125 0.375 1.375 0.125 -0.375 -1.375 1.375 -0.625 0.875
// out: -1.0102696 0.13237278 0.85684526 0.023171775 0.13957265 1.6784889
// out: 1.2445714 -0.17321494 0.025110006 1.2414528 -0.1935285 0.008423686 1.1595892 -0.1672544 -0.05494255
