module @jit_half_precision attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xbf16>, %arg1: tensor<5x2xbf16>) -> (tensor<3x2xf32> {jax.result_info = "result[0]"}, tensor<3x2xbf16> {jax.result_info = "result[1]"}, tensor<3x5xbf16> {jax.result_info = "result[2]"}, tensor<3xbf16> {jax.result_info = "result[3]"}, tensor<3x5xf16> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xbf16>, tensor<5x2xbf16>) -> tensor<3x2xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xbf16>, tensor<5x2xbf16>) -> tensor<3x2xbf16>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %2 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x5xbf16>, tensor<bf16>) -> tensor<3xbf16>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<3xbf16>
    %4 = stablehlo.maximum %3, %2 : tensor<3xbf16>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xbf16>) -> tensor<3x1xbf16>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x1xbf16>) -> tensor<3x5xbf16>
    %7 = stablehlo.subtract %arg0, %6 : tensor<3x5xbf16>
    %8 = stablehlo.exponential %7 : tensor<3x5xbf16>
    %9 = stablehlo.convert %8 : (tensor<3x5xbf16>) -> tensor<3x5xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %12 = stablehlo.convert %11 : (tensor<3x1xf32>) -> tensor<3x1xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<3x1xbf16>) -> tensor<3x5xbf16>
    %14 = stablehlo.divide %8, %13 : tensor<3x5xbf16>
    %15 = stablehlo.convert %arg0 : (tensor<3x5xbf16>) -> tensor<3x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %17 = stablehlo.convert %16 : (tensor<3xf32>) -> tensor<3xbf16>
    %18 = stablehlo.convert %arg0 : (tensor<3x5xbf16>) -> tensor<3x5xf16>
    %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f16>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f16>) -> tensor<3x5xf16>
    %20 = stablehlo.multiply %18, %19 : tensor<3x5xf16>
    return %0, %1, %14, %17, %20 : tensor<3x2xf32>, tensor<3x2xbf16>, tensor<3x5xbf16>, tensor<3xbf16>, tensor<3x5xf16>
  }
}

// in: -1.375 1.625 0.875 -0.375 -1.625 0.875 -0.625 1.625 -0.625 0.625 -1.125 0.375 -1.625 1.125 -1.625
// in: 1.125 1.125 -0.125 1.375 0.375 1.625 1.125 1.875 -1.625 -1.875
// out: 0.796875 4.453125 -0.046875 0.421875 1.984375 1.765625
// out: 0.796875 4.4375 -0.046875 0.421875 1.984375 1.765625
// out: 0.029418945 0.58984375 0.27929688 0.080078125 0.022949219 0.23046875 0.051513672 0.48828125 0.051513672 0.1796875 0.06201172 0.27734375 0.037597656 0.5859375 0.037597656
// out: -0.875 1.875 -2.875
// out: -4.125 4.875 2.625 -1.125 -4.875 2.625 -1.875 4.875 -1.875 1.875 -3.375 1.125 -4.875 3.375 -4.875
