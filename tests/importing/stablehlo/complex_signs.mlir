module @jit_complex_signs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<2x3xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = call @_where(%1, %arg0, %c) : (tensor<6xi1>, tensor<6xf32>, tensor<i32>) -> tensor<6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %4 = stablehlo.compare GT, %arg0, %3, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %6 = stablehlo.maximum %arg1, %5 : tensor<6xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @_where_0(%4, %c_2, %6) : (tensor<6xi1>, tensor<i32>, tensor<6xf32>) -> tensor<6xf32>
    %8 = stablehlo.complex %2, %7 : tensor<6xcomplex<f32>>
    %9 = stablehlo.sign %8 : tensor<6xcomplex<f32>>
    %10 = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f32>>
    %11 = stablehlo.real %9 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %12 = stablehlo.imag %9 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %13 = stablehlo.real %10 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %14 = stablehlo.imag %10 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    return %11, %12, %13, %14 : tensor<6xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xf32>, %arg2: tensor<i32>) -> tensor<6xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<6xi1>, tensor<6xf32>
    return %2 : tensor<6xf32>
  }
  func.func private @_where_0(%arg0: tensor<6xi1>, %arg1: tensor<i32>, %arg2: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<6xi1>, tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375
// in: 2.125 -0.875 -1.375 -1.625 1.375 2.125
// out: 1.0 1.0 1.0 1.0 0.0 1.0
// out: 0.0 0.0 0.0 0.0 1.0 0.0
// out: 0.0 1.0 2.0 0.0 1.0 2.0
// out: 0.0 0.0 0.0 0.0 0.0 0.0
