module @jit_windows_by_a_body attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>, %arg1: tensor<9xf32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}, tensor<5xi32> {jax.result_info = "result[1]"}, tensor<7xf32> {jax.result_info = "result[2]"}, tensor<7xf32> {jax.result_info = "result[3]"}, tensor<6xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<9xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %1:2 = "stablehlo.reduce_window"(%arg0, %0, %cst, %c) <{base_dilations = array<i64: 1>, padding = dense<1> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<i32>):
      %4 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = func.call @_where(%4, %arg2, %arg4) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %6 = func.call @_where_0(%4, %arg3, %arg5) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
    }) : (tensor<9xf32>, tensor<9xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2:2 = "stablehlo.reduce_window"(%arg0, %arg1, %cst_0, %cst_1) <{base_dilations = array<i64: 1>, padding = dense<0> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %4 = stablehlo.add %arg2, %arg4 : tensor<f32>
      %5 = stablehlo.multiply %arg3, %arg5 : tensor<f32>
      stablehlo.return %4, %5 : tensor<f32>, tensor<f32>
    }) : (tensor<9xf32>, tensor<9xf32>, tensor<f32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%arg0, %cst_2) <{base_dilations = array<i64: 1>, padding = dense<0> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 4>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %4 = stablehlo.abs %arg2 : tensor<f32>
      %5 = stablehlo.abs %arg3 : tensor<f32>
      %6 = stablehlo.maximum %4, %5 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<9xf32>, tensor<f32>) -> tensor<6xf32>
    return %1#0, %1#1, %2#0, %2#1, %3 : tensor<5xf32>, tensor<5xi32>, tensor<7xf32>, tensor<7xf32>, tensor<6xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}

// in: 1.125 1.625 -1.625 -1.375 -0.125 0.375 1.125 -0.375 -1.875
// in: -1.125 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125
// out: 1.625 1.625 0.375 1.125 -0.375
// out: 1 1 5 6 7
// out: 1.125 -1.375 -3.125 -1.125 1.375 1.125 -1.125
// out: -0.052734375 0.087890625 0.087890625 -0.14648438 -0.048828125 -0.6347656 -1.1425781
// out: 1.625 1.625 1.625 1.375 1.125 1.875
