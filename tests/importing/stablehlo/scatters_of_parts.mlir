module @jit_scatters_of_parts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x2x3xf32>) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}, tensor<4x6xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<[[0], [3]]> : tensor<2x1xi32>
    %c_0 = stablehlo.constant dense<[[1], [4]]> : tensor<2x1xi32>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x6xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %2 = stablehlo.multiply %c, %1 : tensor<2x1xi32>
    %3 = "stablehlo.scatter"(%arg0, %2, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x6xf32>
    %4 = "stablehlo.scatter"(%arg0, %c_0, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x2x3xf32>) -> tensor<4x6xf32>
    return %0, %3, %4 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
}

// in: 1.125 1.625 -1.625 -1.375 -0.125 0.375 1.125 -0.375 -1.875 -1.125 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125 -1.875 -1.875 0.375 -0.875 -0.375 0.625
// in: -1.375 -1.625 0.875 2.125 0.875 1.625
// in: -0.125 -1.875 0.875 0.375 1.125 0.625 0.125 -1.875 0.875 -1.125 0.125 -1.375
// out: -1.375 -1.625 0.875 -1.375 -0.125 0.375 1.125 -0.375 -1.875 -1.125 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125 2.125 0.875 1.625 -0.875 -0.375 0.625
// out: 1.875 0.875 0.875 -1.375 -0.125 0.375 1.125 -0.375 -1.875 -1.125 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125 -1.875 -1.875 0.375 -0.875 -0.375 0.625
// out: 1.125 1.5 -3.5 -0.5 -0.125 0.375 1.125 0.0 -0.75 -0.5 -0.125 -0.375 1.875 -0.125 0.625 0.625 -1.625 1.125 -1.875 -1.875 0.375 -0.875 -0.375 0.625
