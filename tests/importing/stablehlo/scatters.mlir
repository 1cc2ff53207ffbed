module @jit_scatters attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4x3xf32>, %arg3: tensor<5x4xf32>, %arg4: tensor<i32>, %arg5: tensor<3xf32>) -> (tensor<5x3xf32> {jax.result_info = "result[0]"}, tensor<5x3xf32> {jax.result_info = "result[1]"}, tensor<5x3xf32> {jax.result_info = "result[2]"}, tensor<5x3xf32> {jax.result_info = "result[3]"}, tensor<5x3xf32> {jax.result_info = "result[4]"}, tensor<5x3xf32> {jax.result_info = "result[5]"}, tensor<5x3xf32> {jax.result_info = "result[6]"}, tensor<3x5xf32> {jax.result_info = "result[7]"}, tensor<5x4xf32> {jax.result_info = "result[8]"}, tensor<5x3xf32> {jax.result_info = "result[9]"}) {
    %c = stablehlo.constant dense<[3, 0, 1, 2, 4]> : tensor<5xi32>
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<4xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<4xi1>, tensor<4xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %7 = "stablehlo.scatter"(%arg0, %6, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      stablehlo.return %arg7 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %9 = stablehlo.compare LT, %arg1, %8, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_3 = stablehlo.constant dense<5> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %11 = stablehlo.add %arg1, %10 : tensor<4xi32>
    %12 = stablehlo.select %9, %11, %arg1 : tensor<4xi1>, tensor<4xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %14 = "stablehlo.scatter"(%arg0, %13, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %16 = stablehlo.compare LT, %arg1, %15, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_5 = stablehlo.constant dense<5> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %18 = stablehlo.add %arg1, %17 : tensor<4xi32>
    %19 = stablehlo.select %16, %18, %arg1 : tensor<4xi1>, tensor<4xi32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %21 = "stablehlo.scatter"(%arg0, %20, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.multiply %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %23 = stablehlo.compare LT, %arg1, %22, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_7 = stablehlo.constant dense<5> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %25 = stablehlo.add %arg1, %24 : tensor<4xi32>
    %26 = stablehlo.select %23, %25, %arg1 : tensor<4xi1>, tensor<4xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %28 = "stablehlo.scatter"(%arg0, %27, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %30 = stablehlo.compare LT, %arg1, %29, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_9 = stablehlo.constant dense<5> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %32 = stablehlo.add %arg1, %31 : tensor<4xi32>
    %33 = stablehlo.select %30, %32, %arg1 : tensor<4xi1>, tensor<4xi32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %35 = "stablehlo.scatter"(%arg0, %34, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.minimum %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %36 = stablehlo.compare LT, %arg4, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_11 = stablehlo.constant dense<5> : tensor<i32>
    %37 = stablehlo.add %arg4, %c_11 : tensor<i32>
    %38 = stablehlo.select %36, %37, %arg4 : tensor<i1>, tensor<i32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %40 = "stablehlo.scatter"(%arg0, %39, %arg5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      stablehlo.return %arg7 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<5x3xf32>
    %c_12 = stablehlo.constant dense<2> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %42 = "stablehlo.scatter"(%arg0, %41, %arg5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<5x3xf32>
    %43 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %45 = stablehlo.compare LT, %arg1, %44, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_14 = stablehlo.constant dense<5> : tensor<i32>
    %46 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %47 = stablehlo.add %arg1, %46 : tensor<4xi32>
    %48 = stablehlo.select %45, %47, %arg1 : tensor<4xi1>, tensor<4xi32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %50 = "stablehlo.scatter"(%0, %49, %43) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<4x1xi32>, tensor<3x4xf32>) -> tensor<3x5xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %52 = stablehlo.compare LT, %c, %51, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_16 = stablehlo.constant dense<5> : tensor<i32>
    %53 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %54 = stablehlo.add %c, %53 : tensor<5xi32>
    %55 = stablehlo.select %52, %54, %c : tensor<5xi1>, tensor<5xi32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %57 = "stablehlo.scatter"(%arg3, %56, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      stablehlo.return %arg7 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %c_17 = stablehlo.constant dense<2> : tensor<i32>
    %58 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %59 = stablehlo.subtract %arg1, %58 : tensor<4xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %60 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %61 = stablehlo.compare LT, %59, %60, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_19 = stablehlo.constant dense<5> : tensor<i32>
    %62 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %63 = stablehlo.add %59, %62 : tensor<4xi32>
    %64 = stablehlo.select %61, %63, %59 : tensor<4xi1>, tensor<4xi32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %66 = "stablehlo.scatter"(%arg0, %65, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %67 = stablehlo.subtract %arg6, %arg7 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    return %7, %14, %21, %28, %35, %40, %42, %50, %57, %66 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<3x5xf32>, tensor<5x4xf32>, tensor<5x3xf32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// in: 2 1 1 2
// in: 0.125 2.125 -0.875 1.625 -0.875 -1.375 -1.125 -0.375 -1.125 1.875 1.375 1.375
// in: -0.125 -1.875 -0.875 -0.125 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -1.375 1.375 -0.375 1.625 -0.875 1.875 -1.875 -0.125
// in: 1
// in: -0.125 -0.375 2.125
// out: 1.125 -0.625 -1.125 -1.125 -0.375 -1.125 1.875 1.375 1.375 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 2.625 -2.625 -3.125 2.625 4.875 1.125 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 -3.8847656 -0.45117188 -0.9667969 0.14648438 4.017578 -0.7519531 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 2.125 -0.375 -0.625 1.875 2.125 1.375 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 -1.125 -1.375 -1.375 0.125 1.375 -0.875 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 -0.125 -0.375 2.125 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.5 1.0 2.75 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 2.625 2.625 1.625 0.375 -0.625 -2.625 4.875 -1.875 -0.125 -1.125 -3.125 1.125 -0.375 -0.375
// out: 0.625 -0.125 0.625 -0.375 0.625 -1.875 1.875 0.375 -1.375 1.375 -0.375 1.625 -0.125 -1.875 -0.875 -0.125 -0.875 1.875 -1.875 -0.125
// out: -0.875 -4.125 -1.625 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 -0.125 1.125 2.125
