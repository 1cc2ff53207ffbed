module @jit_embedding attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi32>, %arg1: tensor<5x4xf32>, %arg2: tensor<3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<2x3xi1>, tensor<2x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
    %7 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x3x4xf32>
    return %9 : tensor<2x3x4xf32>
  }
}

// in: 2 3 3 1 1 2
// in: 0.875 1.375 0.625 1.125 1.875 1.875 1.875 1.625 1.125 1.875 -1.875 -1.875 1.375 -0.125 1.125 0.125 1.875 -1.625 0.875 -1.875
// in: -1.375 1.625 -0.875 2.125 -0.625 1.375 2.125 -0.625 2.125 0.875 2.125 -0.625
// out: -0.25 3.5 -2.75 0.25 0.75 1.25 3.25 -0.5 3.5 0.75 3.25 -0.5 0.5 3.5 1.0 3.75 1.25 3.25 4.0 1.0 3.25 2.75 0.25 -2.5
