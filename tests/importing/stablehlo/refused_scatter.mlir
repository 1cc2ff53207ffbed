module @jit_refused_scatter attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x2xf32>, %arg1: tensor<65xi32>) -> (tensor<8x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<65xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<65xi32>, tensor<65xi32>) -> tensor<65xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<65xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<65xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<65xi1>, tensor<65xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<65xi32>) -> tensor<65x1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<65x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<65x2xf32>
    %8 = "stablehlo.scatter"(%arg0, %5, %7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = stablehlo.sine %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<8x2xf32>, tensor<65x1xi32>, tensor<65x2xf32>) -> tensor<8x2xf32>
    return %8 : tensor<8x2xf32>
  }
}

// in: 1.875 0.875 0.875 1.375 -0.875 -0.625 -1.125 -1.875 -0.125 0.375 2.125 -1.375 2.125 1.125 -0.125 -0.625
// in: 3 2 1 3 1 3 1 3 1 2 2 3 3 1 3 3 1 2 2 1 1 2 2 3 3 1 1 3 1 2 2 3 2 3 3 3 3 2 3 2 2 1 1 3 1 1 1 3 3 1 1 1 3 2 2 1 1 1 1 1 3 1 2 2 1
