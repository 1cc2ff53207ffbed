module @jit_sorts_of_pairs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>, %arg2: tensor<3x7xi32>) -> (tensor<3x7xf32> {jax.result_info = "result[0]"}, tensor<3x7xf32> {jax.result_info = "result[1]"}, tensor<3x7xi32> {jax.result_info = "result[2]"}, tensor<3x7xf32> {jax.result_info = "result[3]"}, tensor<3x7xf32> {jax.result_info = "result[4]"}, tensor<3xbf16> {jax.result_info = "result[5]"}) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.compare EQ, %arg3, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.select %4, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %6 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %7 = stablehlo.select %6, %cst_1, %5 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.compare EQ, %arg4, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.select %8, %cst_3, %arg4 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %11 = stablehlo.select %10, %cst_4, %9 : tensor<i1>, tensor<f32>
      %12 = stablehlo.compare LT, %7, %11, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    }) : (tensor<3x7xf32>, tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>)
    %1:3 = "stablehlo.sort"(%arg2, %arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>):
      %4 = stablehlo.compare LT, %arg3, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<3x7xi32>, tensor<3x7xf32>, tensor<3x7xf32>) -> (tensor<3x7xi32>, tensor<3x7xf32>, tensor<3x7xf32>)
    %2 = stablehlo.convert %arg0 : (tensor<3x7xf32>) -> tensor<3x7xbf16>
    %3 = call @median(%2) : (tensor<3x7xbf16>) -> tensor<3xbf16>
    return %0#0, %0#1, %1#0, %1#1, %1#2, %3 : tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xi32>, tensor<3x7xf32>, tensor<3x7xf32>, tensor<3xbf16>
  }
  func.func private @median(%arg0: tensor<3x7xbf16>) -> tensor<3xbf16> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = call @quantile(%arg0, %cst) : (tensor<3x7xbf16>, tensor<f32>) -> tensor<3xbf16>
    return %0 : tensor<3xbf16>
  }
  func.func private @quantile(%arg0: tensor<3x7xbf16>, %arg1: tensor<f32>) -> tensor<3xbf16> {
    %0 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<3x7xbf16>, tensor<3x7xbf16>) -> tensor<3x7xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.or across dimensions = [1] : (tensor<3x7xi1>, tensor<i1>) -> tensor<3xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<3xi1>) -> tensor<3x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %3 = call @_where(%2, %cst, %arg0) : (tensor<3x1xi1>, tensor<f32>, tensor<3x7xbf16>) -> tensor<3x7xbf16>
    %4 = "stablehlo.sort"(%3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %24 = stablehlo.compare EQ, %arg2, %cst_10, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %25 = stablehlo.select %24, %cst_11, %arg2 : tensor<i1>, tensor<bf16>
      %26 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_12 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
      %27 = stablehlo.select %26, %cst_12, %25 : tensor<i1>, tensor<bf16>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %28 = stablehlo.compare EQ, %arg3, %cst_13, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %29 = stablehlo.select %28, %cst_14, %arg3 : tensor<i1>, tensor<bf16>
      %30 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_15 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
      %31 = stablehlo.select %30, %cst_15, %29 : tensor<i1>, tensor<bf16>
      %32 = stablehlo.compare LT, %27, %31, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    }) : (tensor<3x7xbf16>) -> tensor<3x7xbf16>
    %cst_0 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.subtract %cst_0, %cst_1 : tensor<f32>
    %6 = stablehlo.multiply %arg1, %5 : tensor<f32>
    %7 = stablehlo.floor %6 : tensor<f32>
    %8 = stablehlo.ceil %6 : tensor<f32>
    %9 = stablehlo.subtract %6, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.subtract %cst_3, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.clamp %cst_5, %7, %11 : tensor<f32>
    %cst_6 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.subtract %cst_6, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.clamp %cst_8, %8, %13 : tensor<f32>
    %15 = stablehlo.convert %12 : (tensor<f32>) -> tensor<i32>
    %16 = stablehlo.convert %14 : (tensor<f32>) -> tensor<i32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.gather"(%4, %17) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x7xbf16>, tensor<1xi32>) -> tensor<3xbf16>
    %19 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.gather"(%4, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x7xbf16>, tensor<1xi32>) -> tensor<3xbf16>
    %21 = stablehlo.add %18, %20 : tensor<3xbf16>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %22 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<3xbf16>
    %23 = stablehlo.multiply %21, %22 : tensor<3xbf16>
    return %23 : tensor<3xbf16>
  }
  func.func private @_where(%arg0: tensor<3x1xi1>, %arg1: tensor<f32>, %arg2: tensor<3x7xbf16>) -> tensor<3x7xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<3x1xi1>) -> tensor<3x7xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<3x7xbf16>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<3x7xi1>, tensor<3x7xbf16>
    return %3 : tensor<3x7xbf16>
  }
}

// in: -1.375 1.625 0.875 -0.375 -1.625 0.875 -0.625 1.625 -0.625 0.625 -1.125 0.375 -1.625 1.125 -1.625 1.125 1.125 -0.125 1.375 0.375 1.625
// in: 1.125 1.875 -1.625 -1.875 0.625 1.125 1.125 1.375 -0.375 1.625 0.125 -1.375 -1.125 1.375 0.875 1.625 2.125 1.375 -0.625 0.375 -0.125
// in: 1 3 3 2 1 2 2 3 3 1 1 1 1 3 1 1 1 1 3 3 1
// out: -1.625 -1.375 -0.625 -0.375 0.875 0.875 1.625 -1.625 -1.125 -0.625 0.375 0.625 1.125 1.625 -1.625 -0.125 0.375 1.125 1.125 1.375 1.625
// out: 0.625 1.125 1.125 -1.875 -1.625 1.125 1.875 -1.125 0.125 -0.375 -1.375 1.625 1.375 1.375 0.875 1.375 0.375 1.625 2.125 -0.625 -0.125
// out: 1 1 1 1 1 1 1 1 3 1 1 1 2 2 3 3 3 2 3 3 3
// out: -1.375 1.125 0.625 -1.125 -1.625 -1.625 1.625 -1.625 1.625 1.125 -0.125 0.375 0.875 -0.625 1.625 -0.625 0.875 -0.375 1.375 0.375 1.125
// out: 1.125 1.625 1.625 0.125 0.625 -1.125 -0.125 0.875 1.875 2.125 1.375 -1.375 1.125 1.125 1.375 -0.375 -1.625 -1.875 -0.625 0.375 1.375
// out: -0.375 0.375 1.125
