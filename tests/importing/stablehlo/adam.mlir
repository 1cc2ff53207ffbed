module @jit_adam attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<3xf32>, %arg5: tensor<2x3xf32>, %arg6: tensor<3xf32>, %arg7: tensor<2x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<2x3xf32> {jax.result_info = "result[3]"}, tensor<2x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xf32> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.multiply %0, %arg4 : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.multiply %2, %arg2 : tensor<3xf32>
    %4 = stablehlo.add %1, %3 : tensor<3xf32>
    %cst_1 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %6 = stablehlo.multiply %5, %arg6 : tensor<3xf32>
    %7 = stablehlo.multiply %6, %arg6 : tensor<3xf32>
    %cst_2 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %9 = stablehlo.multiply %8, %arg2 : tensor<3xf32>
    %10 = stablehlo.multiply %9, %arg2 : tensor<3xf32>
    %11 = stablehlo.add %7, %10 : tensor<3xf32>
    %cst_3 = stablehlo.constant dense<2.710000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.divide %4, %12 : tensor<3xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<3xf32>
    %cst_5 = stablehlo.constant dense<0.00299700093> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %17 = stablehlo.divide %11, %16 : tensor<3xf32>
    %18 = stablehlo.sqrt %17 : tensor<3xf32>
    %cst_6 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %20 = stablehlo.add %18, %19 : tensor<3xf32>
    %21 = stablehlo.divide %15, %20 : tensor<3xf32>
    %22 = stablehlo.subtract %arg0, %21 : tensor<3xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %24 = stablehlo.multiply %23, %arg5 : tensor<2x3xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %26 = stablehlo.multiply %25, %arg3 : tensor<2x3xf32>
    %27 = stablehlo.add %24, %26 : tensor<2x3xf32>
    %cst_9 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %29 = stablehlo.multiply %28, %arg7 : tensor<2x3xf32>
    %30 = stablehlo.multiply %29, %arg7 : tensor<2x3xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %32 = stablehlo.multiply %31, %arg3 : tensor<2x3xf32>
    %33 = stablehlo.multiply %32, %arg3 : tensor<2x3xf32>
    %34 = stablehlo.add %30, %33 : tensor<2x3xf32>
    %cst_11 = stablehlo.constant dense<2.710000e-01> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %36 = stablehlo.divide %27, %35 : tensor<2x3xf32>
    %cst_12 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %38 = stablehlo.multiply %37, %36 : tensor<2x3xf32>
    %cst_13 = stablehlo.constant dense<0.00299700093> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %40 = stablehlo.divide %34, %39 : tensor<2x3xf32>
    %41 = stablehlo.sqrt %40 : tensor<2x3xf32>
    %cst_14 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %43 = stablehlo.add %41, %42 : tensor<2x3xf32>
    %44 = stablehlo.divide %38, %43 : tensor<2x3xf32>
    %45 = stablehlo.subtract %arg1, %44 : tensor<2x3xf32>
    return %22, %4, %11, %45, %27, %34 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}

// in: 1.125 2.125 1.625
// in: 0.125 1.875 2.125 2.125 -1.625 -0.125
// in: 0.625 -0.875 -0.375
// in: 0.625 1.375 0.375 -1.375 0.875 1.625
// in: -1.125 0.375 -0.625
// in: 1.875 -1.625 0.125 1.875 -0.125 -1.375
// in: 1.375 2.125 2.125
// in: 1.875 -0.375 1.125 2.125 0.375 1.875
// out: 1.1263963 2.1247623 1.6255707
// out: -0.9499999 0.24999997 -0.6
// out: 1.8891251 4.511875 4.51125
// out: 0.12311373 1.8820937 2.1247306 2.123526 -1.6248657 -0.12384166
// out: 1.75 -1.3249999 0.15 1.55 -0.024999999 -1.0749999
// out: 3.5125 0.142375 1.2645 4.513 0.14125 3.5147502
