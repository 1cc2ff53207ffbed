module @jit_refused_convolution attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x5x5x2xf32>, %arg1: tensor<3x3x2x4xf32>) -> (tensor<1x5x5x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x5x5x4xf32>
    return %0 : tensor<1x5x5x4xf32>
  }
}

// in: 0.625 -0.125 -0.375 1.875 -0.375 -0.875 1.625 -1.625 -0.125 -0.625 -1.875 1.125 2.125 1.375 -0.625 0.375 1.625 -0.625 -0.125 1.875 -1.125 1.875 0.875 -0.125 1.375 -0.375 -0.375 0.625 1.875 1.125 0.875 0.625 1.625 -0.125 1.125 -0.125 0.625 0.625 -0.375 1.875 -0.875 -1.875 1.125 -1.625 0.375 1.125 -1.375 -0.125 0.375 1.375
// in: 0.125 0.375 0.375 -0.125 -1.875 2.125 1.625 -0.375 -0.375 0.625 1.875 0.375 -0.875 -1.625 0.125 -1.375 0.625 1.375 1.375 0.125 -1.375 0.875 -1.125 -0.125 -1.125 1.625 -1.875 1.625 -0.875 -0.125 -0.125 -1.375 1.375 1.625 1.375 0.125 1.875 0.375 0.625 0.125 0.125 -1.875 1.625 0.125 -1.375 -1.625 1.875 -1.625 1.375 1.625 0.375 -1.375 -0.125 1.125 -1.875 -0.125 0.125 0.125 1.375 0.125 -0.875 -1.375 0.375 -1.625 -1.875 0.625 0.125 -1.625 -1.875 -1.625 0.125 -1.875
