module @jit_parts_at attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x6xf32>, %arg1: tensor<4xi32>, %arg2: tensor<3x9x2xf32>, %arg3: tensor<3xi32>, %arg4: tensor<3x4xi32>) -> (tensor<4x4x6xf32> {jax.result_info = "result[0]"}, tensor<4x1x6xf32> {jax.result_info = "result[1]"}, tensor<4x9x2xf32> {jax.result_info = "result[2]"}, tensor<3x3x2xf32> {jax.result_info = "result[3]"}, tensor<3x4x2x2xf32> {jax.result_info = "result[4]"}, tensor<3x4x2xf32> {jax.result_info = "result[5]"}, tensor<3x2xf32> {jax.result_info = "result[6]"}, tensor<9x6xf32> {jax.result_info = "result[7]"}) {
    %c = stablehlo.constant dense<> : tensor<0xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_1 = stablehlo.constant dense<9> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %7 = stablehlo.concatenate %5, %6, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 4, 6>}> : (tensor<9x6xf32>, tensor<4x2xi32>) -> tensor<4x4x6xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %10 = stablehlo.compare LT, %arg1, %9, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_4 = stablehlo.constant dense<9> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %12 = stablehlo.add %arg1, %11 : tensor<4xi32>
    %13 = stablehlo.select %10, %12, %arg1 : tensor<4xi1>, tensor<4xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %16 = stablehlo.concatenate %14, %15, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %17 = "stablehlo.gather"(%arg0, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<9x6xf32>, tensor<4x2xi32>) -> tensor<4x1x6xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %19 = stablehlo.compare LT, %arg1, %18, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_7 = stablehlo.constant dense<9> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %21 = stablehlo.add %arg1, %20 : tensor<4xi32>
    %22 = stablehlo.select %19, %21, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %24 = stablehlo.compare LT, %arg1, %23, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_9 = stablehlo.constant dense<6> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %26 = stablehlo.add %arg1, %25 : tensor<4xi32>
    %27 = stablehlo.select %24, %26, %arg1 : tensor<4xi1>, tensor<4xi32>
    %28 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %31 = "stablehlo.gather"(%arg0, %30) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 9, 2>}> : (tensor<9x6xf32>, tensor<4x2xi32>) -> tensor<4x9x2xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %33 = stablehlo.compare LT, %arg3, %32, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_11 = stablehlo.constant dense<9> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %35 = stablehlo.add %arg3, %34 : tensor<3xi32>
    %36 = stablehlo.select %33, %35, %arg3 : tensor<3xi1>, tensor<3xi32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %38 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %39 = stablehlo.concatenate %37, %38, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %40 = "stablehlo.gather"(%arg2, %39) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3, 2>}> : (tensor<3x9x2xf32>, tensor<3x2xi32>) -> tensor<3x3x2xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %42 = stablehlo.compare LT, %arg4, %41, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
    %c_14 = stablehlo.constant dense<9> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %44 = stablehlo.add %arg4, %43 : tensor<3x4xi32>
    %45 = stablehlo.select %42, %44, %arg4 : tensor<3x4xi1>, tensor<3x4xi32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<3x4xi32>) -> tensor<3x4x1xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [1, 2] : (tensor<4x1xi32>) -> tensor<3x4x1xi32>
    %49 = stablehlo.concatenate %46, %48, dim = 2 : (tensor<3x4x1xi32>, tensor<3x4x1xi32>) -> tensor<3x4x2xi32>
    %50 = "stablehlo.gather"(%arg2, %49) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x9x2xf32>, tensor<3x4x2xi32>) -> tensor<3x4x2x2xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %52 = stablehlo.compare LT, %arg4, %51, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
    %c_17 = stablehlo.constant dense<9> : tensor<i32>
    %53 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %54 = stablehlo.add %arg4, %53 : tensor<3x4xi32>
    %55 = stablehlo.select %52, %54, %arg4 : tensor<3x4xi1>, tensor<3x4xi32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<3x4xi32>) -> tensor<3x4x1xi32>
    %57 = "stablehlo.gather"(%arg2, %56) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x9x2xf32>, tensor<3x4x1xi32>) -> tensor<3x4x2xf32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %58 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %59 = stablehlo.compare LT, %arg3, %58, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_19 = stablehlo.constant dense<9> : tensor<i32>
    %60 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %61 = stablehlo.add %arg3, %60 : tensor<3xi32>
    %62 = stablehlo.select %59, %61, %arg3 : tensor<3xi1>, tensor<3xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %63 = stablehlo.compare LT, %c_20, %c_21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %c_23 = stablehlo.constant dense<2> : tensor<i32>
    %64 = stablehlo.add %c_22, %c_23 : tensor<i32>
    %c_24 = stablehlo.constant dense<0> : tensor<i32>
    %65 = stablehlo.select %63, %64, %c_24 : tensor<i1>, tensor<i32>
    %66 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %67 = stablehlo.broadcast_in_dim %65, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %68 = stablehlo.concatenate %66, %67, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %69 = "stablehlo.gather"(%arg2, %68) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x9x2xf32>, tensor<3x2xi32>) -> tensor<3x1x2xf32>
    %70 = stablehlo.reshape %69 : (tensor<3x1x2xf32>) -> tensor<3x2xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x6xf32>
    %72 = "stablehlo.scatter"(%arg0, %c, %71) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %73 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %73 : tensor<f32>
    }) : (tensor<9x6xf32>, tensor<0xi32>, tensor<9x6xf32>) -> tensor<9x6xf32>
    return %8, %17, %31, %40, %50, %57, %70, %72 : tensor<4x4x6xf32>, tensor<4x1x6xf32>, tensor<4x9x2xf32>, tensor<3x3x2xf32>, tensor<3x4x2x2xf32>, tensor<3x4x2xf32>, tensor<3x2xf32>, tensor<9x6xf32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -1.375 1.375 -0.375 1.625 -0.875 1.875 -1.875 -0.125 -1.125 -0.125 -0.375
// in: 3 2 3 2
// in: -0.375 -0.125 -1.625 0.625 -0.375 -1.125 -1.375 -1.375 1.875 -0.625 1.625 -1.625 -1.625 -0.375 2.125 -0.125 0.875 1.125 0.625 1.625 -0.625 -1.875 -1.375 2.125 -1.625 1.125 -0.125 2.125 2.125 -1.375 -1.875 -0.375 -0.125 0.125 -1.375 1.125 0.375 -0.625 -1.625 -0.125 1.875 -0.875 -0.625 -0.125 1.125 0.125 0.625 0.375 -0.125 0.875 1.625 -0.875 1.125 0.625
// in: 1 1 3
// in: 2 2 2 2 1 2 1 3 1 3 2 1
// out: 0.375 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625 0.375 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375 -0.125 -1.875 -0.875 -0.125 0.625
// out: 0.375 0.125 2.125 -0.875 1.625 -0.875 0.375 -0.125 -0.375 -0.375 -1.875 -1.625 0.375 0.125 2.125 -0.875 1.625 -0.875 0.375 -0.125 -0.375 -0.375 -1.875 -1.625
// out: 2.125 -1.375 1.625 -1.875 -0.375 -1.875 -0.875 1.625 -1.125 1.875 -0.875 -0.125 0.625 -1.875 -0.375 1.625 -1.125 -0.125 -1.125 2.125 0.625 1.625 -0.375 -0.375 2.125 -0.875 -0.375 -1.125 -1.875 -0.875 -0.375 0.625 1.375 -0.375 -0.125 -1.125 2.125 -1.375 1.625 -1.875 -0.375 -1.875 -0.875 1.625 -1.125 1.875 -0.875 -0.125 0.625 -1.875 -0.375 1.625 -1.125 -0.125 -1.125 2.125 0.625 1.625 -0.375 -0.375 2.125 -0.875 -0.375 -1.125 -1.875 -0.875 -0.375 0.625 1.375 -0.375 -0.125 -1.125
// out: -1.625 0.625 -0.375 -1.125 -1.375 -1.375 -0.625 -1.875 -1.375 2.125 -1.625 1.125 -0.625 -0.125 1.125 0.125 0.625 0.375
// out: -0.375 -1.125 -1.375 -1.375 -0.375 -1.125 -1.375 -1.375 -0.375 -1.125 -1.375 -1.375 -0.375 -1.125 -1.375 -1.375 -0.625 -1.875 -1.375 2.125 -1.375 2.125 -1.625 1.125 -0.625 -1.875 -1.375 2.125 -1.625 1.125 -0.125 2.125 -1.625 -0.125 1.875 -0.875 -0.625 -0.125 1.125 0.125 1.875 -0.875 -0.625 -0.125 -1.625 -0.125 1.875 -0.875
// out: -0.375 -1.125 -0.375 -1.125 -0.375 -1.125 -0.375 -1.125 -0.625 -1.875 -1.375 2.125 -0.625 -1.875 -1.625 1.125 -1.625 -0.125 -0.625 -0.125 1.875 -0.875 -1.625 -0.125
// out: -1.625 0.625 -0.625 -1.875 -0.625 -0.125
// out: 2.625 0.875 0.375 3.625 0.125 0.875 2.125 2.875 2.125 3.125 -0.375 1.125 1.875 1.375 1.125 1.125 -0.375 -0.125 1.875 1.625 3.625 0.625 3.125 0.625 0.125 0.375 1.125 0.375 3.375 2.875 2.875 1.375 -0.375 0.625 1.375 2.125 1.375 2.125 1.125 2.125 -0.375 3.375 1.875 0.125 2.875 1.125 3.125 0.625 3.375 -0.375 1.375 0.375 1.375 1.125
