module @jit_pooled_tangents attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x7x2xf32>, %arg1: tensor<1x6x7x2xf32>) -> (tensor<1x3x3x2xf32> {jax.result_info = "result[0]"}, tensor<1x3x3x2xf32> {jax.result_info = "result[1]"}, tensor<1x3x4x2xf32> {jax.result_info = "result[2]"}, tensor<1x6x4x2xf32> {jax.result_info = "result[3]"}, tensor<1x6x7x2xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst_0, %cst_1) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %41 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %42 = stablehlo.select %41, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %43 = stablehlo.select %41, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %42, %43 : tensor<f32>, tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>)
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg0, %3) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x3x4x2xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst_3, %cst_4) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %41 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %42 = stablehlo.select %41, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %43 = stablehlo.select %41, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %42, %43 : tensor<f32>, tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>)
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<f32>
    %7 = "stablehlo.reduce_window"(%arg0, %6) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.minimum %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x6x4x2xf32>
    %cst_6 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst_6, %cst_7) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %41 = stablehlo.compare LE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %42 = stablehlo.select %41, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %43 = stablehlo.select %41, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %42, %43 : tensor<f32>, tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x6x4x2xf32>, tensor<1x6x4x2xf32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.reduce_window"(%arg0, %9) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
    %11 = stablehlo.multiply %10, %10 : tensor<1x3x3x2xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<1x3x3x2xf32>
    %13 = stablehlo.multiply %10, %10 : tensor<1x3x3x2xf32>
    %cst_9 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<1x3x3x2xf32>
    %16 = stablehlo.multiply %10, %10 : tensor<1x3x3x2xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %18 = stablehlo.multiply %17, %10 : tensor<1x3x3x2xf32>
    %cst_11 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %20 = stablehlo.multiply %19, %16 : tensor<1x3x3x2xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%12 init: %cst_12) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %23 = stablehlo.multiply %22, %20 : tensor<1x3x3x2xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.pad %arg0, %cst_14, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x6x7x2xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = "stablehlo.select_and_scatter"(%24, %23, %cst_15) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.compare GE, %arg2, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %41 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x6x7x2xf32>
    %26 = stablehlo.slice %25 [0:1, 0:6, 0:7, 0:2] : (tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32>
    %27 = stablehlo.multiply %26, %26 : tensor<1x6x7x2xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x6x7x2xf32>
    %29 = stablehlo.multiply %28, %26 : tensor<1x6x7x2xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%27 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x6x7x2xf32>
    %32 = stablehlo.multiply %31, %29 : tensor<1x6x7x2xf32>
    %cst_19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33:2 = "stablehlo.reduce_window"(%arg0, %32, %cst_19, %cst_20) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %41 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %42 = stablehlo.select %41, %arg2, %arg4 : tensor<i1>, tensor<f32>
      %43 = stablehlo.select %41, %arg3, %arg5 : tensor<i1>, tensor<f32>
      stablehlo.return %42, %43 : tensor<f32>, tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>)
    %34 = stablehlo.multiply %22, %33#1 : tensor<1x3x3x2xf32>
    %cst_21 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<1x3x3x2xf32>
    %37 = stablehlo.multiply %36, %18 : tensor<1x3x3x2xf32>
    %cst_22 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.pad %arg0, %cst_22, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x6x7x2xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = "stablehlo.select_and_scatter"(%38, %37, %cst_23) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.compare GE, %arg2, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %41 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %41 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x6x7x2xf32>
    %40 = stablehlo.slice %39 [0:1, 0:6, 0:7, 0:2] : (tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32>
    return %1, %2#1, %5#1, %8#1, %40 : tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1x3x4x2xf32>, tensor<1x6x4x2xf32>, tensor<1x6x7x2xf32>
  }
}

// in: 1.875 0.875 0.875 1.375 -0.875 -0.625 -1.125 -1.875 -0.125 0.375 2.125 -1.375 2.125 1.125 -0.125 -0.625 0.875 -0.125 -0.875 2.125 -1.125 1.375 -1.625 1.625 -1.375 0.375 0.125 2.125 1.875 -1.875 1.875 1.875 -0.625 -0.375 -0.125 -1.125 -1.125 0.375 0.875 2.125 1.875 -0.625 -1.125 1.875 -1.625 -0.125 0.625 2.125 -0.125 1.125 1.875 1.375 1.375 -0.375 2.125 0.375 -0.125 -0.875 -1.625 1.375 -1.625 -0.875 -1.625 0.875 1.375 -1.625 -0.875 -0.875 1.375 -0.375 0.625 -1.375 -1.125 -0.875 -1.875 -1.125 0.875 -1.875 0.875 -0.625 -1.625 -0.125 -1.625 -0.125
// in: 1.625 1.875 -0.375 -1.625 1.375 0.625 0.625 -0.625 0.375 -1.875 1.625 1.375 1.875 -0.125 -1.875 2.125 1.875 1.375 -1.375 1.625 0.375 0.375 0.625 -0.625 0.125 1.625 -1.375 -0.125 0.125 1.625 0.625 1.875 1.875 -0.375 -1.875 1.125 1.125 1.375 -1.375 2.125 0.125 -0.125 -0.625 -1.125 0.875 -0.875 0.375 -0.375 -0.125 -1.625 -1.625 0.875 -1.125 -1.875 1.875 -0.125 1.125 2.125 1.375 -0.375 -1.875 -1.125 0.125 -0.375 1.875 -0.875 0.125 -1.125 -0.625 -0.875 1.125 -0.625 -1.125 -0.125 0.125 -0.875 -1.625 0.625 -0.125 1.625 1.875 -1.875 -0.125 -0.125
// out: 1.875 2.125 -0.125 2.125 2.125 2.125 1.875 2.125 1.875 2.125 2.125 2.125 0.625 1.375 1.375 0.875 1.375 -0.125
// out: 1.625 1.625 0.375 1.625 1.625 -0.125 0.125 -0.375 -1.625 -0.375 1.875 2.125 1.125 -0.375 1.875 -0.375 1.875 -1.875
// out: 1.625 -1.625 -0.375 1.625 1.625 -0.625 1.625 -0.125 0.125 1.875 0.625 -0.375 -1.625 2.125 1.875 2.125 1.125 -0.375 -1.625 -0.375 1.875 -0.375 -0.625 -1.875
// out: -1.875 2.125 0.625 -0.625 0.625 -0.625 0.125 1.375 -1.875 1.625 0.625 -0.625 0.625 -0.625 0.125 1.375 0.875 1.625 0.875 1.125 0.625 1.125 0.125 -0.125 0.875 1.625 0.875 1.125 0.125 -0.875 0.125 -1.125 0.875 -0.625 0.125 0.625 0.125 0.625 1.875 -1.125 1.375 -0.625 0.125 0.625 0.125 0.625 1.875 -1.125
// out: 237.30469 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.0703125 0.0 345.4453 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1381.7812 0.0 0.0 0.0 0.0 0.0 0.0 0.0 345.4453 237.30469 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 345.4453 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1381.7812 0.0 0.0 237.30469 0.0 0.0 0.0 345.4453 0.0 0.0 0.0 0.0 93.58594 0.0 0.0 0.0 24.117188 374.34375 0.0 0.0 0.0 0.0 0.0 8.7890625 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -0.0703125 0.0 0.0
