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
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @_where(%4, %arg1, %c_1) : (tensor<6xi1>, tensor<6xf32>, tensor<i32>) -> tensor<6xf32>
    %6 = stablehlo.complex %2, %5 : tensor<6xcomplex<f32>>
    %7 = stablehlo.sign %6 : tensor<6xcomplex<f32>>
    %8 = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f32>>
    %9 = stablehlo.real %7 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %10 = stablehlo.imag %7 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %11 = stablehlo.real %8 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %12 = stablehlo.imag %8 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    return %9, %10, %11, %12 : tensor<6xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xf32>, %arg2: tensor<i32>) -> tensor<6xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<6xi1>, tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375
// in: 2.125 -0.875 -1.375 -1.625 1.375 2.125
// out: 0.66162163 0.88047105 0.70710677 0.7071068 0.0 0.5432513
// out: 0.7498379 -0.47409979 -0.70710677 -0.7071068 0.0 0.83957016
// out: 0.0 1.0 2.0 0.0 1.0 2.0
// out: 0.0 0.0 0.0 0.0 0.0 0.0
