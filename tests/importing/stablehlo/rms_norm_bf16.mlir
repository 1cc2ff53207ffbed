module @jit_rms_norm_bf16 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xbf16>, %arg1: tensor<8xbf16>) -> (tensor<3x8xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xbf16>) -> tensor<3x8xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<3x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<3x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<3x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<3x1xf32>
    %9 = stablehlo.convert %arg0 : (tensor<3x8xbf16>) -> tensor<3x8xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x8xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<3x8xf32>
    %12 = stablehlo.convert %11 : (tensor<3x8xf32>) -> tensor<3x8xbf16>
    %13 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xbf16>) -> tensor<1x8xbf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x8xbf16>) -> tensor<3x8xbf16>
    %15 = stablehlo.multiply %12, %14 : tensor<3x8xbf16>
    return %15 : tensor<3x8xbf16>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375 2.125 -0.875 -1.375 -1.625 1.375 2.125 0.625 0.625 1.375 -1.875 1.625 1.875 -1.375 2.125 1.625 -0.875 0.125 1.375
// in: 1.875 -1.625 0.875 -0.125 -0.625 1.375 0.875 -0.375
// out: 2.203125 -1.6484375 0.75 -0.12695312 0.6328125 1.1796875 1.1640625 0.20507812 -1.765625 1.8046875 0.82421875 -0.18164062 -0.26757812 0.58984375 0.82421875 0.48046875 2.03125 -2.046875 -0.8046875 -0.17773438 -0.6796875 -0.8046875 0.07324219 -0.34375
