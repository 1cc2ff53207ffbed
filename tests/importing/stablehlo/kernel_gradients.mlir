module @jit_kernel_gradients attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x7x2xf32>, %arg1: tensor<3x3x2x3xf32>, %arg2: tensor<2x1x2x2xf32>, %arg3: tensor<2x3x1x4xf32>, %arg4: tensor<2x6x7x4xf32>) -> (tensor<3x3x2x3xf32> {jax.result_info = "result[0]"}, tensor<3x3x2x3xf32> {jax.result_info = "result[1]"}, tensor<2x1x2x2xf32> {jax.result_info = "result[2]"}, tensor<2x3x1x4xf32> {jax.result_info = "result[3]"}, tensor<2x1x2x2xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<3x3x2x3xf32>) -> tensor<2x6x7x3xf32>
    %1 = stablehlo.slice %arg4 [0:2, 0:6, 0:7, 0:3] : (tensor<2x6x7x4xf32>) -> tensor<2x6x7x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x6x7x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x6x7x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x6x7x3xf32>
    %5 = stablehlo.multiply %4, %1 : tensor<2x6x7x3xf32>
    %6 = stablehlo.convolution(%arg0, %5) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x6x7x3xf32>) -> tensor<3x3x2x3xf32>
    %7 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 2], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<3x3x2x3xf32>) -> tensor<2x4x6x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x4x6x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x6x3xf32>
    %10 = stablehlo.convolution(%arg0, %9) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 2], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x4x6x3xf32>) -> tensor<3x3x2x3xf32>
    %11 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[2, 1], [3, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x1x2x2xf32>) -> tensor<2x7x5x2xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<2x7x5x2xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x7x5x2xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<2x7x5x2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%12 init: %cst_4) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x7x5x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x7x5x2xf32>
    %17 = stablehlo.multiply %16, %14 : tensor<2x7x5x2xf32>
    %18 = stablehlo.convolution(%arg0, %17) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [2, 1], pad = [[2, 1], [3, -1]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x7x5x2xf32>) -> tensor<2x1x2x2xf32>
    %19 = stablehlo.convolution(%arg0, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x3x1x4xf32>) -> tensor<2x6x7x4xf32>
    %20 = stablehlo.multiply %19, %arg4 : tensor<2x6x7x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_6) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x6x7x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6x7x4xf32>
    %23 = stablehlo.multiply %22, %arg4 : tensor<2x6x7x4xf32>
    %24 = stablehlo.convolution(%arg0, %23) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x7x2xf32>, tensor<2x6x7x4xf32>) -> tensor<2x3x1x4xf32>
    %25 = stablehlo.slice %arg0 [0:0, 0:6, 0:7, 0:2] : (tensor<2x6x7x2xf32>) -> tensor<0x6x7x2xf32>
    %26 = stablehlo.convolution(%25, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<0x6x7x2xf32>, tensor<2x1x2x2xf32>) -> tensor<0x6x7x2xf32>
    %27 = stablehlo.multiply %26, %26 : tensor<0x6x7x2xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<0x6x7x2xf32>
    %29 = stablehlo.multiply %28, %26 : tensor<0x6x7x2xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%27 init: %cst_9) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<0x6x7x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<0x6x7x2xf32>
    %32 = stablehlo.multiply %31, %29 : tensor<0x6x7x2xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x1x2x2xf32>
    return %6, %10, %18, %24, %33 : tensor<3x3x2x3xf32>, tensor<3x3x2x3xf32>, tensor<2x1x2x2xf32>, tensor<2x3x1x4xf32>, tensor<2x1x2x2xf32>
  }
}

// in: 0.5 1.0 -2.0 1.0 -0.25 0.0 0.5 -1.0 1.75 -2.0 -1.0 -0.5 0.25 -0.5 -1.5 -2.0 -2.0 -2.0 -1.5 1.75 -1.25 0.5 1.0 -1.25 -1.0 -0.5 -1.0 1.75 -1.5 1.5 1.0 1.25 -1.75 -0.5 0.5 -0.25 0.5 0.5 0.5 -2.0 1.75 0.0 1.5 -1.0 -0.75 1.5 -1.5 -1.75 -0.75 0.5 -1.75 1.25 -0.75 -1.25 0.0 1.5 1.5 1.25 -1.0 -2.0 1.0 0.75 1.0 -2.0 -2.0 0.0 -0.75 -0.5 1.5 -1.25 0.0 -0.75 -1.0 1.0 -1.5 -0.75 -1.75 -1.5 -1.0 0.75 0.25 -0.25 -1.5 1.0 1.0 -1.25 -2.0 -0.75 -1.5 1.0 0.0 0.0 -1.0 0.0 1.75 -1.25 1.0 -2.0 -0.75 1.5 1.25 -1.75 1.25 1.25 -0.25 -0.75 1.75 1.75 0.5 -0.5 -1.25 1.5 -1.0 0.0 0.5 -1.25 -0.75 0.75 -1.25 0.5 1.75 0.5 0.5 -0.25 1.75 -1.25 -0.75 0.5 0.5 -1.75 -1.5 0.75 1.25 0.5 1.5 -0.5 -0.75 1.0 -2.0 -1.25 -1.25 -0.5 -1.5 1.0 1.25 -0.5 -2.0 0.75 -1.75 0.25 -1.5 1.75 0.5 1.75 0.25 0.75 -0.5 1.0 -1.75 -1.5 -0.75 0.75 -0.25 1.25 1.75 -0.5 -0.5 0.0
// in: 0.5 -0.25 0.25 1.75 0.75 -0.75 -0.5 -0.5 -1.5 -2.0 1.0 -0.5 -0.75 0.5 0.25 1.5 0.25 1.5 0.25 -0.75 -0.75 1.75 0.25 -1.25 1.25 1.25 -2.0 -1.5 0.75 -0.5 -0.75 -1.75 -1.25 1.25 1.25 1.25 0.25 -1.5 -0.75 0.0 1.75 -1.0 0.0 -0.25 0.0 0.0 0.75 -1.75 1.75 1.25 1.0 -1.0 -0.25 -0.25
// in: -1.0 -2.0 0.75 -2.0 1.0 -1.25 0.5 -0.75
// in: -1.25 1.5 -0.25 1.5 -1.25 -0.25 -0.75 -0.25 -2.0 0.5 -0.75 1.25 -1.25 -0.75 -2.0 1.0 0.0 -0.5 1.5 0.25 1.75 0.75 0.25 0.0
// in: -1.25 0.75 1.0 0.75 -0.5 -2.0 0.75 -2.0 1.0 -1.5 -1.0 -1.25 0.0 -1.25 -1.0 -2.0 1.75 -1.25 -1.25 0.25 -1.5 1.5 1.0 -0.75 -0.5 -0.75 0.75 -0.5 -1.0 0.5 -1.5 1.0 -0.5 1.75 -1.0 -0.5 1.25 0.75 -2.0 -0.75 -2.0 1.25 -0.5 -1.25 0.75 1.25 -1.75 0.0 -0.75 0.75 1.5 0.0 0.75 -0.75 0.25 -0.25 0.75 -2.0 -1.25 -2.0 1.75 0.0 -0.25 -0.25 -2.0 1.25 1.25 -2.0 0.25 0.0 -0.5 -0.25 1.5 0.25 -0.25 0.75 0.75 0.0 1.25 0.25 0.25 -0.25 0.25 0.25 1.5 -1.25 -0.75 0.0 -0.75 0.5 1.25 -1.25 -2.0 1.75 0.0 0.75 1.0 1.75 -2.0 -1.0 1.75 -0.25 -0.5 -1.0 -2.0 -2.0 1.75 -2.0 -1.5 -1.25 -1.0 1.25 -0.75 -1.5 -0.5 0.75 -0.25 -1.25 -1.75 -1.75 -0.25 -1.25 0.25 0.5 -0.5 0.0 -2.0 0.0 -1.5 -0.25 -1.75 -1.0 -0.5 -0.25 -2.0 1.5 -0.5 -1.25 -1.25 0.75 -0.25 -1.0 -0.25 -1.25 -1.5 -0.75 1.75 -1.75 0.0 1.5 -0.25 -0.75 0.0 -1.5 0.75 -2.0 0.25 -2.0 -2.0 -1.25 0.75 -0.5 -0.5 0.25 -1.75 1.75 -0.25 1.5 1.0 -1.25 -1.0 0.25 1.25 1.5 -0.25 -1.75 1.75 1.25 0.75 -0.5 -1.5 1.0 -1.25 -0.75 1.25 0.5 -1.0 0.0 0.25 -1.75 -1.0 1.0 0.5 1.25 0.75 -0.25 -1.0 -0.5 -1.25 1.75 -2.0 -0.75 -1.75 1.5 0.5 -0.5 1.0 -0.75 -0.25 -0.75 1.0 -2.0 0.0 -1.0 1.75 -1.25 -0.5 -2.0 -0.25 0.0 1.0 -0.25 -1.25 -2.0 1.5 -1.5 1.0 1.5 -0.75 -1.5 0.75 -0.75 -2.0 1.75 1.5 -1.75 0.75 -0.5 -1.75 1.0 1.25 -2.0 -1.75 -1.75 1.75 1.5 1.25 0.5 -1.75 -1.0 0.0 -0.25 -1.75 -1.25 0.75 1.5 -1.75 1.75 -0.75 -1.75 1.5 0.0 0.5 -1.5 1.5 -0.5 -0.75 0.75 1.0 0.75 -1.25 -1.25 0.25 -0.75 -2.0 -0.5 1.0 -0.5 -0.5 0.5 1.75 1.0 -1.5 -0.75 0.0 -0.25 -1.25 -1.75 0.5 -0.75 -0.75 1.75 1.25 0.0 1.5 0.0 1.5 0.25 -0.75 0.25 0.75 1.0 1.75 -1.0 -1.75 -0.75 0.25 1.5 1.5 -0.25 -2.0 1.75 -1.25 -1.5 -1.25 1.0 0.0 -0.25 -0.75 -0.25 0.75 1.5 1.75 -1.5 0.75 0.0 -0.75 -1.25 -1.75 -0.75 -1.25 1.25 1.5 -0.5 -0.5 1.0
// out: -1.0 2.3125 18.625 5.9375 -1.875 7.1875 8.125 7.75 1.4375 5.5 7.125 2.25 -1.125 -10.9375 8.8125 0.8125 5.3125 -2.1875 -6.125 8.25 27.9375 -14.375 -15.0 -10.375 1.625 -29.875 -3.1875 14.4375 -4.75 16.1875 6.125 -16.5625 13.125 4.5625 15.375 10.5 12.125 11.75 9.125 3.625 -2.0625 -9.0 20.5625 4.875 -0.25 28.125 5.6875 -12.75 -21.75 10.8125 11.75 -10.8125 -1.4375 -2.9375
// out: -12.5 -12.5 -12.5 -2.0 -2.0 -2.0 -17.5 -17.5 -17.5 3.5 3.5 3.5 -15.0 -15.0 -15.0 5.5 5.5 5.5 -10.25 -10.25 -10.25 -2.75 -2.75 -2.75 -2.75 -2.75 -2.75 -8.0 -8.0 -8.0 2.25 2.25 2.25 -7.25 -7.25 -7.25 -12.5 -12.5 -12.5 -2.0 -2.0 -2.0 -17.5 -17.5 -17.5 3.5 3.5 3.5 -15.0 -15.0 -15.0 5.5 5.5 5.5
// out: -95.25 -117.09375 81.4375 -130.84375 85.0625 -105.84375 35.03125 -36.1875
// out: -6.125 8.25 -10.375 15.125 1.625 -29.875 16.1875 -3.875 6.125 -16.5625 10.5 -21.5 12.125 11.75 -9.0 1.625 20.5625 4.875 -12.75 5.75 -21.75 10.8125 -2.9375 -14.0
// out: 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
