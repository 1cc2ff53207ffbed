module @jit_constants attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}, tensor<5xf32> {jax.result_info = "result[2]"}, tensor<3x3xf32> {jax.result_info = "result[3]"}, tensor<3x4xf32> {jax.result_info = "result[4]"}, tensor<2x2xi32> {jax.result_info = "result[5]"}, tensor<0x2xf32> {jax.result_info = "result[6]"}, tensor<3x4xf32> {jax.result_info = "result[7]"}) {
    %cst = stablehlo.constant dense<[[0.000000e+00, 0.142857149, 0.285714298, 0.428571433], [0.571428597, 0.714285731, 0.857142865, 1.000000e+00], [1.14285719, 1.28571427, 1.42857146, 1.57142854]]> : tensor<3x4xf32>
    %0 = stablehlo.multiply %arg0, %cst : tensor<3x4xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x4xf32>
    %3 = stablehlo.iota dim = 0 : tensor<4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = call @_linspace(%c, %c_1) : (tensor<i32>, tensor<i32>) -> tensor<5xf32>
    %5 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %6 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %8 = stablehlo.add %5, %7 : tensor<3x3xi32>
    %9 = stablehlo.compare EQ, %8, %6, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %10 = stablehlo.convert %9 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %11 = call @triu(%arg0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %c_3 = stablehlo.constant dense<7> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<0x2xf32>
    %cst_5 = stablehlo.constant dense<3.14159274> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %15 = stablehlo.multiply %arg0, %14 : tensor<3x4xf32>
    return %2, %3, %4, %10, %11, %12, %13, %15 : tensor<3x4xf32>, tensor<4xi32>, tensor<5xf32>, tensor<3x3xf32>, tensor<3x4xf32>, tensor<2x2xi32>, tensor<0x2xf32>, tensor<3x4xf32>
  }
  func.func private @_linspace(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.subtract %1, %0 : tensor<f32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.divide %2, %cst : tensor<f32>
    %4 = stablehlo.iota dim = 0 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %6 = stablehlo.divide %4, %5 : tensor<4xf32>
    %7 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.subtract %8, %6 : tensor<4xf32>
    %10 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<4xf32>
    %12 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %14 = stablehlo.multiply %13, %6 : tensor<4xf32>
    %15 = stablehlo.add %11, %14 : tensor<4xf32>
    %16 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %17 = stablehlo.concatenate %15, %16, dim = 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
    return %17 : tensor<5xf32>
  }
  func.func private @triu(%arg0: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x4xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %2 = stablehlo.add %0, %1 : tensor<3x4xi32>
    %3 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %6 = stablehlo.select %4, %5, %arg0 : tensor<3x4xi1>, tensor<3x4xf32>
    return %6 : tensor<3x4xf32>
  }
}

// in: -0.125 1.625 2.125 -0.875 -1.625 0.625 0.875 1.375 0.625 1.125 1.875 1.875
// out: inf inf inf inf inf inf inf inf inf inf inf inf
// out: 0 1 2 3
// out: 0.0 0.25 0.5 0.75 1.0
// out: 1.0 0.0 0.0 0.0 1.0 0.0 0.0 0.0 1.0
// out: -0.125 1.625 2.125 -0.875 0.0 0.625 0.875 1.375 0.0 0.0 1.875 1.875
// out: 7 7 7 7
// out:
// out: -0.3926991 5.105088 6.6758847 -2.7488937 -5.105088 1.9634955 2.7488937 4.31969 1.9634955 3.5342917 5.8904862 5.8904862
