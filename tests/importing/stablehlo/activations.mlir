module @jit_activations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x7xf32>) -> (tensor<2x7xf32> {jax.result_info = "result[0]"}, tensor<2x7xf32> {jax.result_info = "result[1]"}, tensor<2x7xf32> {jax.result_info = "result[2]"}, tensor<2x7xf32> {jax.result_info = "result[3]"}, tensor<2x7xf32> {jax.result_info = "result[4]"}, tensor<2x7xf32> {jax.result_info = "result[5]"}, tensor<2x7xf32> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x7xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x7xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<2x7xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<2x7xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<2x7xf32>
    %7 = stablehlo.tanh %6 : tensor<2x7xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %9 = stablehlo.add %8, %7 : tensor<2x7xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<2x7xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<2x7xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %14 = stablehlo.multiply %13, %arg0 : tensor<2x7xf32>
    %15 = stablehlo.negate %arg0 : tensor<2x7xf32>
    %cst_4 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %17 = stablehlo.multiply %15, %16 : tensor<2x7xf32>
    %18 = chlo.erfc %17 : tensor<2x7xf32> -> tensor<2x7xf32>
    %19 = stablehlo.multiply %14, %18 : tensor<2x7xf32>
    %20 = call @silu(%arg0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    %21 = call @relu(%arg0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    %22 = call @softplus(%arg0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    %23 = call @leaky_relu(%arg0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    %24 = call @elu(%arg0) : (tensor<2x7xf32>) -> tensor<2x7xf32>
    return %12, %19, %20, %21, %22, %23, %24 : tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>
  }
  func.func private @silu(%arg0: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x7xf32>
    %1 = stablehlo.exponential %0 : tensor<2x7xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %3 = stablehlo.add %2, %1 : tensor<2x7xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %5 = stablehlo.divide %4, %3 : tensor<2x7xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<2x7xf32>
    return %6 : tensor<2x7xf32>
  }
  func.func private @relu(%arg0: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x7xf32>
    return %1 : tensor<2x7xf32>
  }
  func.func private @softplus(%arg0: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x7xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x7xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<2x7xf32>
    %7 = stablehlo.abs %3 : tensor<2x7xf32>
    %8 = stablehlo.negate %7 : tensor<2x7xf32>
    %9 = stablehlo.exponential %8 : tensor<2x7xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<2x7xf32>
    %11 = stablehlo.add %1, %10 : tensor<2x7xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x7xi1>, tensor<2x7xf32>
    return %12 : tensor<2x7xf32>
  }
  func.func private @leaky_relu(%arg0: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.compare GE, %arg0, %0, FLOAT : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xi1>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<2x7xf32>
    %4 = call @_where(%1, %arg0, %3) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
    return %4 : tensor<2x7xf32>
  }
  func.func private @_where(%arg0: tensor<2x7xi1>, %arg1: tensor<2x7xf32>, %arg2: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x7xi1>, tensor<2x7xf32>
    return %0 : tensor<2x7xf32>
  }
  func.func private @elu(%arg0: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where_0(%3, %cst_1, %arg0) : (tensor<2x7xi1>, tensor<f32>, tensor<2x7xf32>) -> tensor<2x7xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<2x7xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<2x7xf32>
    %8 = call @_where(%1, %arg0, %7) : (tensor<2x7xi1>, tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
    return %8 : tensor<2x7xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x7xi1>, %arg1: tensor<f32>, %arg2: tensor<2x7xf32>) -> tensor<2x7xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<2x7xi1>, tensor<2x7xf32>
    return %2 : tensor<2x7xf32>
  }
}

// in: -1.375 -1.375 1.375 0.125 0.625 0.625 1.125 -1.875 0.125 -1.375 -0.375 1.875 0.375 -1.625
// out: -0.11651141 -0.11651141 1.2584885 0.0687172 0.45872116 0.45872116 0.9782248 -0.05700091 0.0687172 -0.11651141 -0.13269223 1.817999 0.24230777 -0.08480503
// out: -0.11627792 -0.11627792 1.2587221 0.06871728 0.45875904 0.45875904 0.9784186 -0.056993175 0.06871728 -0.11627792 -0.13268635 1.8180069 0.24231367 -0.0846321
// out: -0.27749318 -0.27749318 1.0975068 0.066401176 0.4070968 0.4070968 0.8492794 -0.24930795 0.066401176 -0.27749318 -0.15275003 1.625692 0.22224998 -0.26733926
// out: 0.0 0.0 1.375 0.125 0.625 0.625 1.125 0.0 0.125 0.0 0.0 1.875 0.375 0.0
// out: 0.22541265 0.22541265 1.6004126 0.757599 1.0537007 1.0537007 1.4061501 0.14267506 0.757599 0.22541265 0.52312326 2.0176752 0.89812326 0.17974463
// out: -0.01375 -0.01375 1.375 0.125 0.625 0.625 1.125 -0.018749999 0.125 -0.01375 -0.00375 1.875 0.375 -0.01625
// out: -0.74716043 -0.74716043 1.375 0.125 0.625 0.625 1.125 -0.846645 0.125 -0.74716043 -0.31271067 1.875 0.375 -0.8030883
