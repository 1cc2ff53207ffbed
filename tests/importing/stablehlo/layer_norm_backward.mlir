module @jit_layer_norm_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<4x8xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = call @_var(%arg0, %c) : (tensor<4x8xf32>, tensor<i32>) -> (tensor<4x1xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>)
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<4x8xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %8 = stablehlo.add %4#0, %7 : tensor<4x1xf32>
    %9 = stablehlo.sqrt %8 : tensor<4x1xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<4x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %13 = stablehlo.divide %12, %9 : tensor<4x1xf32>
    %14 = stablehlo.multiply %9, %9 : tensor<4x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<4x1xf32>
    %17 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %18 = stablehlo.multiply %6, %17 : tensor<4x8xf32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %21 = stablehlo.multiply %18, %20 : tensor<4x8xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %24 = stablehlo.add %21, %23 : tensor<4x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%arg3 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %26 = stablehlo.reshape %25 : (tensor<8xf32>) -> tensor<1x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %28 = stablehlo.multiply %18, %arg3 : tensor<4x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %30 = stablehlo.reshape %29 : (tensor<8xf32>) -> tensor<1x8xf32>
    %31 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %32 = stablehlo.multiply %arg3, %31 : tensor<4x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%30 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %34 = stablehlo.multiply %6, %32 : tensor<4x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %36 = stablehlo.reshape %35 : (tensor<4xf32>) -> tensor<4x1xf32>
    %37 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %38 = stablehlo.multiply %32, %37 : tensor<4x8xf32>
    %39 = stablehlo.multiply %36, %16 : tensor<4x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<4x1xf32>
    %42 = stablehlo.negate %41 : tensor<4x1xf32>
    %43 = stablehlo.multiply %42, %11 : tensor<4x1xf32>
    %44 = stablehlo.negate %38 : tensor<4x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_11) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %46 = stablehlo.reshape %45 : (tensor<4xf32>) -> tensor<4x1xf32>
    %47 = call @_var_0(%4#1, %4#2, %4#3, %4#4, %43) : (tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %48 = stablehlo.add %38, %47 : tensor<4x8xf32>
    %cst_12 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %50 = stablehlo.divide %46, %49 : tensor<4x1xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %53 = stablehlo.add %48, %52 : tensor<4x8xf32>
    return %53, %33, %27 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @_var(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>) -> (tensor<4x1xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x8xf32>
    %6 = chlo.square %5 : tensor<4x8xf32> -> tensor<4x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x8xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16:2 = call @_where(%15, %14, %cst_5) : (tensor<i1>, tensor<4x1xf32>, tensor<f32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<4x1xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<4x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<f32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    return %2, %3 : tensor<4x1xf32>, tensor<4x1xf32>
  }
  func.func private @_var_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x1xf32>, %arg4: tensor<4x1xf32>) -> tensor<4x8xf32> {
    %0 = call @_where_1(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<4x8xf32>
    %6 = stablehlo.negate %5 : tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.reshape %7 : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<4x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
    %13 = stablehlo.add %5, %12 : tensor<4x8xf32>
    return %13 : tensor<4x8xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xf32>) -> tensor<4x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<4x1xf32>
    return %1 : tensor<4x1xf32>
  }
}

// in: 0.625 -0.125 -0.375 1.875 -0.375 -0.875 1.625 -1.625 -0.125 -0.625 -1.875 1.125 2.125 1.375 -0.625 0.375 1.625 -0.625 -0.125 1.875 -1.125 1.875 0.875 -0.125 1.375 -0.375 -0.375 0.625 1.875 1.125 0.875 0.625
// in: 1.625 -0.125 1.125 -0.125 0.625 0.625 -0.375 1.875
// in: -0.875 -1.875 1.125 -1.625 0.375 1.125 -1.375 -0.125
// in: 0.375 1.375 0.125 0.375 0.375 -0.125 -1.875 2.125 1.625 -0.375 -0.375 0.625 1.875 0.375 -0.875 -1.625 0.125 -1.375 0.625 1.375 1.375 0.125 -1.375 0.875 -1.125 -0.125 -1.125 1.625 -1.875 1.625 -0.875 -0.125
// out: 0.20337975 -0.85453856 -0.6992905 0.23052508 -0.6161817 -1.1367742 0.7736146 2.0992656 2.1283925 0.044327945 -0.20048453 -0.25778508 0.66029745 -0.028264433 0.27647415 -2.6229582 0.020806104 -0.60003436 0.010026902 -0.25099668 -0.1127052 -0.025890976 0.104620844 0.8541734 -1.7697388 0.35546476 -1.3786346 0.27094632 -0.7757678 2.0262291 1.04285 0.22865123
// out: -1.160579 1.6110963 1.8921874 2.5171504 -2.1904335 1.509968 -2.546457 -3.9485383
// out: 1.0 -0.5 -0.75 4.0 1.75 2.0 -5.0 1.25
