module @jit_windows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x7x9x2xf32>, %arg1: tensor<6x5xi32>, %arg2: tensor<5x5xi1>) -> (tensor<2x3x4x2xf32> {jax.result_info = "result[0]"}, tensor<2x4x5x2xf32> {jax.result_info = "result[1]"}, tensor<2x1x1x2xf32> {jax.result_info = "result[2]"}, tensor<2x6x7x2xf32> {jax.result_info = "result[3]"}, tensor<2x7x9x2xf32> {jax.result_info = "result[4]"}, tensor<2x7x9x2xf32> {jax.result_info = "result[5]"}, tensor<2x7x9x2xf32> {jax.result_info = "result[6]"}, tensor<5x2xi32> {jax.result_info = "result[7]"}, tensor<0x5xi32> {jax.result_info = "result[8]"}, tensor<4x4xi1> {jax.result_info = "result[9]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x3x4x2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %3 = "stablehlo.reduce_window"(%arg0, %2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x4x5x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<f32>
    %5 = "stablehlo.reduce_window"(%arg0, %4) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 7, 9, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x1x1x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<f32>
    %7 = "stablehlo.reduce_window"(%arg0, %6) <{base_dilations = array<i64: 1, 2, 1, 1>, padding = dense<[[0, 0], [1, 1], [2, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 3, 2, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 1, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x6x7x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.reduce_window"(%arg0, %8) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x4x5x2xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<2x4x5x2xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4x5x2xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<2x4x5x2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%10 init: %cst_5) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x4x5x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x5x2xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<2x4x5x2xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %15, %cst_7, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 1, 1, 0] : (tensor<2x4x5x2xf32>, tensor<f32>) -> tensor<2x9x11x2xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.reduce_window"(%16, %17) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x9x11x2xf32>, tensor<f32>) -> tensor<2x7x9x2xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.reduce_window"(%arg0, %19) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x4x5x2xf32>
    %21 = stablehlo.multiply %20, %20 : tensor<2x4x5x2xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x4x5x2xf32>
    %23 = stablehlo.multiply %22, %20 : tensor<2x4x5x2xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%21 init: %cst_11) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x4x5x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x4x5x2xf32>
    %26 = stablehlo.multiply %25, %23 : tensor<2x4x5x2xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.pad %arg0, %cst_13, low = [0, 1, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x9x10x2xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = "stablehlo.select_and_scatter"(%27, %26, %cst_14) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.compare GE, %arg3, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    }, {
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x9x10x2xf32>, tensor<2x4x5x2xf32>, tensor<f32>) -> tensor<2x9x10x2xf32>
    %29 = stablehlo.slice %28 [0:2, 1:8, 0:9, 0:2] : (tensor<2x9x10x2xf32>) -> tensor<2x7x9x2xf32>
    %cst_15 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<f32>
    %31 = "stablehlo.reduce_window"(%arg0, %30) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 1, 3, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.minimum %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x6x3x2xf32>
    %32 = stablehlo.multiply %31, %31 : tensor<2x6x3x2xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x6x3x2xf32>
    %34 = stablehlo.multiply %33, %31 : tensor<2x6x3x2xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%32 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x6x3x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x6x3x2xf32>
    %37 = stablehlo.multiply %36, %34 : tensor<2x6x3x2xf32>
    %cst_19 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %38 = stablehlo.pad %arg0, %cst_19, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x7x9x2xf32>, tensor<f32>) -> tensor<2x7x9x2xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = "stablehlo.select_and_scatter"(%38, %37, %cst_20) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 1, 3, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.compare LE, %arg3, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    }, {
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<2x7x9x2xf32>, tensor<2x6x3x2xf32>, tensor<f32>) -> tensor<2x7x9x2xf32>
    %40 = stablehlo.slice %39 [0:2, 0:7, 0:9, 0:2] : (tensor<2x7x9x2xf32>) -> tensor<2x7x9x2xf32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %41 = "stablehlo.reduce_window"(%arg1, %c) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %45 = stablehlo.multiply %arg3, %arg4 : tensor<i32>
      stablehlo.return %45 : tensor<i32>
    }) : (tensor<6x5xi32>, tensor<i32>) -> tensor<5x2xi32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<i32>
    %43 = "stablehlo.reduce_window"(%arg1, %42) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 7, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %45 : tensor<i32>
    }) : (tensor<6x5xi32>, tensor<i32>) -> tensor<0x5xi32>
    %c_22 = stablehlo.constant dense<false> : tensor<i1>
    %44 = "stablehlo.reduce_window"(%arg2, %c_22) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg3: tensor<i1>, %arg4: tensor<i1>):
      %45 = stablehlo.or %arg3, %arg4 : tensor<i1>
      stablehlo.return %45 : tensor<i1>
    }) : (tensor<5x5xi1>, tensor<i1>) -> tensor<4x4xi1>
    return %1, %3, %5, %7, %18, %29, %40, %41, %43, %44 : tensor<2x3x4x2xf32>, tensor<2x4x5x2xf32>, tensor<2x1x1x2xf32>, tensor<2x6x7x2xf32>, tensor<2x7x9x2xf32>, tensor<2x7x9x2xf32>, tensor<2x7x9x2xf32>, tensor<5x2xi32>, tensor<0x5xi32>, tensor<4x4xi1>
  }
}

// in: 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 1.375 -1.375 1.375 -1.375 -0.125 1.375 -0.625 -0.625 -0.875 1.125 -0.875 2.125 -0.125 0.125 0.125 0.375 0.375 0.125 2.125 1.375 1.375 0.875 0.625 -0.625 2.125 -0.125 -1.125 1.625 -1.375 1.625 0.625 -1.625 -1.875 -0.125 -1.875 -1.375 0.125 2.125 -0.125 1.375 1.875 1.375 0.625 -0.125 0.125 -0.875 0.125 -0.375 -0.875 2.125 -1.875 -1.625 -1.125 2.125 0.875 1.625 -1.125 1.125 -0.375 0.125 -1.875 0.625 1.625 0.875 -1.375 0.375 -0.875 2.125 1.625 -1.125 0.125 1.875 1.625 1.125 0.625 -1.875 1.125 0.125 -1.625 -0.875 0.375 1.125 0.125 0.625 1.625 0.875 -0.375 0.625 0.625 -1.625 -1.625 0.875 -0.375 0.625 -0.625 -1.125 -1.375 -0.375 1.375 -0.375 -0.375 0.375 2.125 -0.375 0.625 -0.125 0.625 -0.125 0.625 0.375 0.875 2.125 -1.375 0.375 -0.125 -0.375 -0.875 -1.875 -0.375 1.625 -1.625 -0.375 2.125 2.125 -1.125 -1.875 0.875 -1.875 -0.625 0.125 1.625 -1.625 0.875 0.375 -1.375 1.625 1.625 0.125 2.125 0.625 1.875 2.125 0.375 -0.875 -1.375 0.375 -1.125 1.125 1.875 -0.875 0.375 -1.875 -1.125 -0.375 1.875 2.125 0.625 0.375 0.375 -1.625 -0.375 2.125 -0.375 -1.125 -0.875 1.125 -1.875 2.125 1.625 0.375 -0.125 1.125 0.375 0.125 -0.625 -0.125 1.125 -1.875 -1.875 1.125 -0.375 1.375 -1.875 1.875 -1.375 -0.125 2.125 -1.625 0.875 1.125 -0.125 -1.625 0.125 -0.125 1.625 0.875 -0.625 -1.875 0.625 -0.875 0.875 1.625 -0.375 1.875 0.125 0.375 1.375 1.375 1.875 2.125 -1.375 -0.125 1.875 -0.625 -1.875 0.375 1.125 1.125 1.375 0.625 -1.375 1.625 -0.125 1.625 1.375 2.125 -1.875 1.625 0.625 0.125 1.375 2.125 0.125 -1.625 1.125 -1.125 -1.125
// in: 1 1 3 2 1 1 2 2 1 3 3 2 3 2 1 1 1 3 1 2 1 3 1 2 3 2 3 3 3 3
// in: 1 1 1 0 1 1 0 0 1 1 0 0 0 0 0 1 1 1 1 0 1 1 1 1 0
// out: 2.125 1.875 1.625 1.375 2.125 1.625 1.875 2.125 1.375 2.125 1.625 0.125 2.125 0.625 2.125 0.875 1.125 1.125 1.125 1.625 2.125 1.625 1.875 1.625 2.125 1.625 1.625 1.625 1.625 2.125 2.125 0.875 2.125 1.875 1.125 1.875 2.125 1.125 2.125 -0.375 1.875 2.125 1.375 1.875 2.125 1.875 0.875 1.125
// out: 2.125 1.875 1.625 1.875 2.125 1.625 1.875 2.125 1.375 2.125 1.375 2.125 1.625 2.125 2.125 0.625 2.125 2.125 2.125 2.125 1.375 1.875 1.375 1.625 2.125 1.625 2.125 1.625 2.125 1.625 0.625 1.125 1.125 1.375 1.125 2.125 0.875 0.625 0.875 0.875 2.125 1.625 1.625 1.625 1.625 2.125 2.125 2.125 0.375 0.875 2.125 1.875 2.125 1.875 2.125 2.125 2.125 1.875 2.125 -0.375 2.125 2.125 2.125 2.125 2.125 1.875 1.125 1.875 1.375 1.375 1.875 0.125 2.125 1.875 2.125 1.875 2.125 1.875 1.125 1.375
// out: 21.375 6.625 20.875 8.625
// out: -2.0 -1.0 2.5 -1.5 0.125 -1.125 2.625 -1.375 1.875 -0.625 1.375 1.375 3.875 1.625 0.75 -0.5 1.0 0.75 2.375 0.125 -0.625 -1.125 1.375 -2.375 -1.375 -3.125 3.625 -1.375 1.25 2.0 0.5 0.75 0.875 1.125 2.625 -1.125 -2.125 -1.875 3.375 -0.875 -0.375 -3.125 1.75 1.25 1.0 -3.25 2.125 0.375 3.125 -1.625 -0.125 0.875 4.875 1.875 0.375 -0.125 -2.75 1.5 1.25 -1.5 -2.125 3.125 2.125 -1.875 0.375 2.625 0.375 -1.875 2.125 1.875 0.25 0.75 -1.5 -1.75 0.625 2.875 -1.875 -1.125 -0.125 4.125 -0.875 0.875 0.625 3.625 0.5 0.25 0.0 2.5 0.625 2.375 0.625 4.375 2.625 1.125 1.375 2.125 2.625 1.375 -0.75 0.75 -1.25 2.25 1.375 1.375 -0.875 2.625 -1.375 -0.875 2.125 1.875 -0.625 -0.625 1.5 -2.0 3.25 2.0 1.625 -2.625 3.125 3.125 -1.375 -2.625 2.125 1.125 -0.375 -4.375 0.25 -0.5 1.0 2.0 -1.375 -0.375 0.875 3.625 -2.375 0.375 -0.875 2.125 -1.625 0.375 2.0 1.0 3.25 2.0 4.125 -0.375 3.125 3.875 1.875 -1.875 1.625 4.875 2.625 -1.875 2.25 0.0 3.75 -2.0 3.875 0.625 3.875 -0.625 5.375 2.125 0.625 0.625 2.625 -0.375
// out: 6.0 3.5 15.5 3.0 9.5 -0.5 14.0 -2.5 4.5 -2.0 8.0 5.5 3.5 7.5 4.0 20.0 0.5 12.5 12.0 12.5 27.75 8.25 15.75 -4.25 32.0 -18.5 16.25 -14.25 20.0 -13.0 3.75 1.25 16.25 20.25 12.5 19.0 6.0 9.0 12.25 5.25 6.25 -3.75 18.0 -16.0 11.75 -12.25 12.0 -18.5 0.25 -6.25 12.25 0.25 12.0 6.5 10.5 8.5 21.5 1.0 11.0 -7.5 36.5 -23.5 25.5 -16.0 36.5 -22.5 11.0 -6.5 35.0 0.0 24.0 6.5 4.5 -0.5 9.25 -4.25 4.75 -3.75 18.5 -7.5 13.75 -3.75 24.5 -4.0 10.75 -0.25 22.75 -0.25 12.0 0.0 0.0 -5.5 1.75 -12.25 1.75 -6.75 20.0 -3.0 18.25 3.75 27.5 4.5 9.25 0.75 20.25 -0.25 11.0 -1.0 -4.5 -5.0 -7.5 -8.0 -3.0 -3.0 1.5 4.5 4.5 7.5 3.0 8.5 -1.5 1.0 -2.5 0.0 -1.0 -1.0 2.0 2.0 -1.0 1.5 -3.0 -0.5 0.5 11.0 3.5 11.5 7.0 17.0 3.5 5.5 -5.0 1.0 -8.5 -4.5 6.0 11.0 4.75 18.75 -1.25 7.75 13.5 38.0 14.75 30.25 22.0 34.5 7.25 4.25 4.75 -12.25 -2.5 -16.5 4.0 9.0 5.75 17.25 1.75 8.25 13.0 27.0 11.25 18.75 15.0 17.5 3.75 -1.25 9.75 -13.25 6.0 -12.0 21.0 9.5 36.0 34.0 15.0 24.5 34.0 53.0 19.0 28.5 18.0 30.5 -1.0 2.0 7.5 -6.5 8.5 -8.5 17.0 0.5 30.25 16.75 13.25 16.25 21.0 26.0 7.75 9.75 3.0 13.0 -4.75 3.25 -2.25 6.75 2.5 3.5 28.5 -3.0 59.75 18.75 31.25 21.75 53.5 36.5 22.25 14.75 18.0 25.5 -4.25 10.75 -4.25 19.25 0.0 8.5 11.5 -3.5 29.5 2.0 18.0 5.5 32.5 10.5 14.5 5.0 15.0 12.5 0.5 7.5 -2.0 12.5 -2.5 5.0
// out: 4.25 0.0 0.0 3.75 0.0 2.75 3.25 0.0 0.0 0.0 0.0 3.25 3.75 0.0 0.0 0.0 0.0 2.75 0.0 0.0 2.75 0.0 0.0 0.0 0.0 0.0 8.5 0.0 0.0 0.0 0.0 0.0 0.0 8.5 2.75 2.75 0.0 0.0 0.0 4.25 0.0 0.0 3.25 0.0 0.0 1.25 0.0 0.0 0.0 0.0 0.0 0.0 4.25 0.0 2.75 3.75 0.0 0.0 0.0 0.25 0.0 0.0 0.0 0.0 4.25 0.0 0.0 0.0 8.5 0.0 3.25 0.0 0.0 0.0 0.0 0.0 0.0 3.25 0.0 0.0 0.0 0.0 0.0 3.25 0.0 0.0 0.0 3.25 0.0 1.25 0.0 2.25 0.0 0.0 0.0 0.0 4.5 0.0 0.0 0.0 1.75 0.0 1.25 1.25 0.0 0.0 1.75 0.0 1.25 0.0 0.0 0.0 0.0 2.75 0.0 0.0 0.0 4.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.75 4.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 3.25 0.0 0.0 4.25 4.25 0.0 0.0 1.75 0.0 -1.25 0.0 3.25 0.0 0.0 0.0 0.0 6.5 3.25 0.0 4.25 0.0 0.0 4.25 0.75 0.0 0.0 0.75 0.0 0.0 3.75 0.0 0.0 0.0 0.0 0.0 3.75 4.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -1.75 0.0 0.0 8.5 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 2.25 0.0 5.5 0.0 0.0 0.0 0.0 4.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 3.75 0.25 0.0 0.0 2.75 7.5 8.5 0.0 0.0 7.5 0.0 0.0 0.0 4.5 2.25 5.5 0.0 0.0 0.0 0.0 0.0 0.0 4.25 0.0 0.0 0.0 0.0 0.0 4.25 0.0 0.0 0.0 0.0 0.0
// out: 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -2.25 -3.75 0.0 0.0 0.0 0.0 -3.75 0.0 0.0 -2.75 0.0 -5.5 0.0 0.0 0.0 0.0 -1.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -1.25 0.0 0.0 -4.5 0.0 0.0 0.0 0.0 -6.5 -7.5 0.0 -7.5 -2.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.25 0.0 -1.75 0.0 0.0 0.0 0.0 -3.75 -6.5 -2.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -7.5 0.0 0.0 0.0 -2.75 0.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -7.5 0.0 0.0 -3.25 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.75 0.0 0.0 -6.5 -6.5 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -2.75 0.0 0.0 0.0 0.0 -3.75 0.0 0.0 -3.25 0.0 0.0 0.0 0.0 -3.75 0.0 0.0 0.0 0.0 0.0 -3.25 0.0 0.0 -2.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -5.5 0.0 0.0 0.0 0.0 0.0 0.0 -7.5 0.0 -1.5 0.0 0.0 0.0 0.0 0.75 -3.25 0.0 0.0 0.0 0.0 0.0 0.0 -7.5 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -2.5 0.0 0.0 -7.5 -7.5 0.0 0.0 0.0 0.0 0.0 -2.75 0.0 0.0 -6.5 0.0 0.0 0.0 -6.5 0.0 0.0 0.0 0.0 0.0 -3.75 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.75 0.0 0.0 0.0 0.0 -2.75 -0.25 0.0 0.0 -7.5 0.0 0.0 0.0 0.0 0.0 -2.75 0.0 0.0 0.0 0.0 0.0 -3.75 0.0 0.0 0.0 0.0 0.0 0.0 -3.25 0.0 0.0 0.0
// out: 6 36 36 36 18 54 9 18 54 54
// out:
// out: 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1 1
