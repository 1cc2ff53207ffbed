module @jit_applied attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x2xf32>, %arg1: tensor<3xi32>, %arg2: tensor<4xi32>) -> (tensor<8x2xf32> {jax.result_info = "result[0]"}, tensor<8x2xf32> {jax.result_info = "result[1]"}, tensor<8x2xf32> {jax.result_info = "result[2]"}, tensor<8x2xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<[0, 7]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %c, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %c, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %c : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %8 = "stablehlo.scatter"(%arg0, %5, %7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %40 = stablehlo.exponential %arg3 : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<8x2xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<8x2xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %10 = stablehlo.compare LT, %arg1, %9, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %12 = stablehlo.add %arg1, %11 : tensor<3xi32>
    %13 = stablehlo.select %10, %12, %arg1 : tensor<3xi1>, tensor<3xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %17 = "stablehlo.scatter"(%arg0, %14, %16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %40 = stablehlo.sine %arg3 : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<8x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<8x2xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %19 = stablehlo.compare LT, %arg2, %18, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_8 = stablehlo.constant dense<8> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %21 = stablehlo.add %arg2, %20 : tensor<4xi32>
    %22 = stablehlo.select %19, %21, %arg2 : tensor<4xi1>, tensor<4xi32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %24 = stablehlo.convert %23 : tensor<4xi32>
    %25 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %27 = stablehlo.concatenate %25, %26, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %30 = "stablehlo.scatter"(%arg0, %27, %29) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %40 = stablehlo.multiply %arg3, %cst_16 : tensor<f32>
      %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %41 = stablehlo.add %40, %cst_17 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<8x2xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<8x2xf32>
    %31 = stablehlo.iota dim = 0 : tensor<2xi32>
    %c_12 = stablehlo.constant dense<2> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %33 = stablehlo.multiply %32, %31 : tensor<2xi32>
    %c_13 = stablehlo.constant dense<1> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %35 = stablehlo.add %34, %33 : tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %39 = "stablehlo.scatter"(%arg0, %36, %38) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %40 = stablehlo.tanh %arg3 : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<8x2xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<8x2xf32>
    return %17, %30, %8, %39 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>
  }
}

// in: 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 1.375
// in: 1 3 1
// in: 2 3 1 2
// out: 2.125 0.625 0.6943696 0.81578535 0.375 1.375 0.99853134 -0.9022676 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 1.375
// out: 2.125 0.625 0.875 4.75 0.375 8.5 1.625 -1.25 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 1.375
// out: 8.372897 1.868246 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 -0.875 1.625 1.875 -1.875 1.1331484 3.9550767
// out: 2.125 0.625 0.70390564 0.95404524 0.375 1.375 0.9253462 -0.809301 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 1.375
