module @jit_causal_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x2x4xf32>, %arg1: tensor<2x3x2x4xf32>, %arg2: tensor<2x3x2x4xf32>) -> (tensor<2x3x2x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> tensor<2x2x3x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x3x3xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x2x3x3xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %4 = call @tril(%3) : (tensor<3x3xi1>) -> tensor<3x3xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %5 = call @_where(%4, %2, %cst_0) : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x3xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x2x3xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x2x3x3xf32>
    %12 = stablehlo.exponential %11 : tensor<2x2x3x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x2x3xf32>) -> tensor<2x2x3x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x2x3x3xf32>
    %17 = stablehlo.dot_general %arg2, %16, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x2x4xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x3xf32>
    %18 = stablehlo.transpose %17, dims = [0, 3, 1, 2] : (tensor<2x2x4x3xf32>) -> tensor<2x3x2x4xf32>
    return %18 : tensor<2x3x2x4xf32>
  }
  func.func private @tril(%arg0: tensor<3x3xi1>) -> tensor<3x3xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<3x3xi32>
    %3 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<3x3xi1>, tensor<3x3xi1>
    return %6 : tensor<3x3xi1>
  }
  func.func private @_where(%arg0: tensor<3x3xi1>, %arg1: tensor<2x2x3x3xf32>, %arg2: tensor<f32>) -> tensor<2x2x3x3xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x3xi1>) -> tensor<2x2x3x3xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x3x3xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
    return %3 : tensor<2x2x3x3xf32>
  }
}

// in: 0.375 0.375 1.625 -0.125 1.375 -1.625 0.125 -0.625 -1.875 0.625 -0.125 -1.875 -0.625 1.625 -1.625 1.625 1.875 -1.875 -1.375 1.375 -1.875 -1.125 1.375 0.875 0.125 -1.375 -1.125 0.875 -0.875 2.125 -0.125 2.125 -0.625 0.875 -1.125 -1.375 1.875 -0.375 1.125 -0.875 -1.875 2.125 2.125 -0.625 1.875 0.375 -0.375 -0.375
// in: 1.125 -1.375 1.625 -0.375 -0.875 1.375 2.125 -0.125 2.125 0.875 0.625 0.375 1.125 -1.625 -1.375 1.125 0.375 0.875 -0.375 1.375 0.125 -1.375 -0.875 2.125 -1.375 1.625 -1.625 1.875 -1.125 2.125 1.125 0.625 0.875 -0.375 -0.125 -1.875 2.125 0.875 1.625 0.625 0.625 0.875 -1.625 -1.875 -1.625 2.125 1.625 -0.375
// in: -1.875 -1.625 0.875 2.125 -1.375 1.125 -1.875 0.125 1.125 1.125 -1.875 1.375 -1.125 0.875 1.625 -0.625 1.125 -0.625 1.625 0.875 -0.625 -1.375 0.125 -1.125 -0.875 -1.125 -0.875 -0.125 1.625 0.625 1.375 0.125 0.125 1.375 1.625 2.125 1.375 -1.625 -0.875 -1.375 0.375 1.125 -1.125 -0.625 -1.375 0.875 1.875 -1.625
// out: -1.875 -1.625 0.875 2.125 -1.375 1.125 -1.875 0.125 -0.9923551 -0.8159088 0.06590888 1.9043387 -1.2026736 0.9526736 0.5375696 -0.39197922 0.062228665 -0.3396278 0.080048576 1.5005726 -1.0891625 0.21513355 -0.90427274 -0.37592453 -0.875 -1.125 -0.875 -0.125 1.625 0.625 1.375 0.125 -0.33601677 0.22245808 0.47245806 1.0877123 1.3818964 -1.5629332 -0.8129332 -1.3336222 -0.5246865 -0.38355398 -0.5173762 0.15464099 1.2776601 -1.3894782 -0.6292802 -1.29617
