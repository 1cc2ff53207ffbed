module @jit_batch_norm_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<2x3x2x3xf32>) -> (tensor<2x3x2x3xf32> {jax.result_info = "result[0]"}, tensor<2x3x2x3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.divide %0, %1 : tensor<3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:5 = call @_var(%arg0, %c) : (tensor<2x3x2x3xf32>, tensor<i32>) -> (tensor<3xf32>, tensor<2x3x2x3xf32>, tensor<f32>, tensor<i1>, tensor<3xf32>)
    %4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<2x3x2x3xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.add %3#0, %7 : tensor<3xf32>
    %9 = stablehlo.sqrt %8 : tensor<3xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.divide %10, %9 : tensor<3xf32>
    %12 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %14 = stablehlo.divide %6, %13 : tensor<2x3x2x3xf32>
    %15 = stablehlo.multiply %12, %12 : tensor<1x3x1x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %17 = stablehlo.divide %16, %15 : tensor<1x3x1x1xf32>
    %18 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %20 = stablehlo.multiply %14, %19 : tensor<2x3x2x3xf32>
    %21 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %23 = stablehlo.add %20, %22 : tensor<2x3x2x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%arg3 init: %cst_4) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %25 = stablehlo.reshape %24 : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_5) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<3xf32>
    %27 = stablehlo.multiply %14, %arg3 : tensor<2x3x2x3xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %29 = stablehlo.reshape %28 : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %30 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %31 = stablehlo.multiply %arg3, %30 : tensor<2x3x2x3xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<3xf32>
    %33 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %34 = stablehlo.multiply %31, %33 : tensor<2x3x2x3xf32>
    %35 = stablehlo.multiply %34, %6 : tensor<2x3x2x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_8) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %37 = stablehlo.reshape %36 : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %38 = stablehlo.negate %37 : tensor<1x3x1x1xf32>
    %39 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %40 = stablehlo.divide %31, %39 : tensor<2x3x2x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<3xf32>
    %42 = stablehlo.multiply %41, %11 : tensor<3xf32>
    %43 = stablehlo.negate %40 : tensor<2x3x2x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_10) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %45 = stablehlo.reshape %44 : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_11) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<3xf32>
    %47 = call @_var_0(%3#1, %3#2, %3#3, %3#4, %42) : (tensor<2x3x2x3xf32>, tensor<f32>, tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x2x3xf32>
    %48 = stablehlo.add %40, %47 : tensor<2x3x2x3xf32>
    %cst_12 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %50 = stablehlo.divide %46, %49 : tensor<3xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [1] : (tensor<3xf32>) -> tensor<2x3x2x3xf32>
    %52 = stablehlo.add %48, %51 : tensor<2x3x2x3xf32>
    return %23, %52, %32, %26 : tensor<2x3x2x3xf32>, tensor<2x3x2x3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func private @_var(%arg0: tensor<2x3x2x3xf32>, %arg1: tensor<i32>) -> (tensor<3xf32>, tensor<2x3x2x3xf32>, tensor<f32>, tensor<i1>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x2x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x2x3xf32>
    %6 = chlo.square %5 : tensor<2x3x2x3xf32> -> tensor<2x3x2x3xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x2x3xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<2x3x2x3xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.divide %11, %12 : tensor<3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15:2 = call @_where(%14, %13, %cst_5) : (tensor<i1>, tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
    return %15#0, %8, %10, %14, %15#1 : tensor<3xf32>, tensor<2x3x2x3xf32>, tensor<f32>, tensor<i1>, tensor<3xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<3xf32>, %arg2: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    return %2, %3 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @_var_0(%arg0: tensor<2x3x2x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) -> tensor<2x3x2x3xf32> {
    %0 = call @_where_1(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.divide %0, %1 : tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> tensor<2x3x2x3xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<2x3x2x3xf32>
    %5 = stablehlo.negate %4 : tensor<2x3x2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %7 = stablehlo.reshape %6 : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %9 = stablehlo.divide %7, %8 : tensor<1x3x1x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<3xf32>) -> tensor<2x3x2x3xf32>
    %12 = stablehlo.add %4, %11 : tensor<2x3x2x3xf32>
    return %12 : tensor<2x3x2x3xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// in: 0.625 -0.125 -0.375 1.875 -0.375 -0.875 1.625 -1.625 -0.125 -0.625 -1.875 1.125 2.125 1.375 -0.625 0.375 1.625 -0.625 -0.125 1.875 -1.125 1.875 0.875 -0.125 1.375 -0.375 -0.375 0.625 1.875 1.125 0.875 0.625 1.625 -0.125 1.125 -0.125
// in: 0.625 0.625 -0.375
// in: 1.875 -0.875 -1.875
// in: 1.125 -1.625 0.375 1.125 -1.375 -0.125 0.375 1.375 0.125 0.375 0.375 -0.125 -1.875 2.125 1.625 -0.375 -0.375 0.625 1.875 0.375 -0.875 -1.625 0.125 -1.375 0.625 1.375 1.375 0.125 -1.375 0.875 -1.125 -0.125 -1.125 1.625 -1.875 1.625
// out: 2.0519927 1.5968685 1.4451605 2.810533 1.4451605 1.1417444 -0.14594185 -1.8434503 -1.0599849 -1.32114 -1.9740279 -0.40709704 -2.484368 -2.166437 -1.3186204 -1.7425287 -2.272414 -1.3186204 1.5968685 2.810533 0.9900364 2.810533 2.2037008 1.5968685 -0.27651942 -1.1905625 -1.1905625 -0.66825217 -0.015364289 -0.40709704 -1.9544828 -1.8485057 -2.272414 -1.5305746 -2.0604599 -1.5305746
// out: 0.74413955 -0.82260084 0.42507958 0.57405925 -0.6368767 0.1896956 0.19691354 0.1593948 -0.23511046 -0.19066043 -0.40597934 -0.15036917 0.2281845 -1.1579853 -0.1207961 0.31440282 -0.20136909 0.30311215 1.3013119 0.11893512 -0.23141249 -1.0947292 0.10329128 -0.6708927 0.28442734 0.37471366 0.37471366 -0.10591912 -0.6740657 0.37194115 0.42602527 0.105271384 0.11656212 -0.32710487 0.640802 -0.32710487
// out: 2.7712 -4.735613 -10.332764
// out: -2.0 5.5 0.75
