module @jit_scatters_at_several_axes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>, %arg3: tensor<3xf32>, %arg4: tensor<2x2xf32>, %arg5: tensor<2x4xf32>, %arg6: tensor<5x4xi1>, %arg7: tensor<3xi1>) -> (tensor<5x4xf32> {jax.result_info = "result[0]"}, tensor<5x4xf32> {jax.result_info = "result[1]"}, tensor<5x4xf32> {jax.result_info = "result[2]"}, tensor<5x4xf32> {jax.result_info = "result[3]"}, tensor<5x4xf32> {jax.result_info = "result[4]"}, tensor<5x4xf32> {jax.result_info = "result[5]"}, tensor<5x4xf32> {jax.result_info = "result[6]"}, tensor<5x4xi1> {jax.result_info = "result[7]"}, tensor<2x3x4xf32> {jax.result_info = "result[8]"}) {
    %c = stablehlo.constant dense<[[0, 1], [2, 4]]> : tensor<2x2xi32>
    %c_0 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3xi1>, tensor<3xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %6 = stablehlo.compare LT, %arg2, %5, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %8 = stablehlo.add %arg2, %7 : tensor<3xi32>
    %9 = stablehlo.select %6, %8, %arg2 : tensor<3xi1>, tensor<3xi32>
    %10 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %12 = stablehlo.concatenate %10, %11, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %13 = "stablehlo.scatter"(%arg0, %12, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<5x4xf32>
    %c_5 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %15 = stablehlo.add %arg1, %14 : tensor<3xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %17 = stablehlo.compare LT, %arg2, %16, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_7 = stablehlo.constant dense<5> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %19 = stablehlo.add %arg2, %18 : tensor<3xi32>
    %20 = stablehlo.select %17, %19, %arg2 : tensor<3xi1>, tensor<3xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %22 = stablehlo.compare LT, %15, %21, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_9 = stablehlo.constant dense<4> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %24 = stablehlo.add %15, %23 : tensor<3xi32>
    %25 = stablehlo.select %22, %24, %15 : tensor<3xi1>, tensor<3xi32>
    %26 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %28 = stablehlo.concatenate %26, %27, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %29 = "stablehlo.scatter"(%arg0, %28, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.maximum %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<5x4xf32>
    %c_10 = stablehlo.constant dense<1> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %31 = "stablehlo.scatter"(%arg0, %30, %arg5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      stablehlo.return %arg9 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<1xi32>, tensor<2x4xf32>) -> tensor<5x4xf32>
    %32 = stablehlo.iota dim = 0 : tensor<2xi32>
    %c_11 = stablehlo.constant dense<2> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.multiply %33, %32 : tensor<2xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %36 = stablehlo.add %35, %34 : tensor<2xi32>
    %c_13 = stablehlo.constant dense<1> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %38 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %39 = stablehlo.concatenate %37, %38, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %40 = "stablehlo.scatter"(%arg0, %39, %arg4) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.multiply %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<5x4xf32>
    %41 = stablehlo.slice %arg4 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x2xf32>) -> tensor<2xf32>
    %c_14 = stablehlo.constant dense<2> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_15 = stablehlo.constant dense<1> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %43, %44, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = "stablehlo.scatter"(%arg0, %45, %42) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<5x4xf32>
    %47 = stablehlo.iota dim = 0 : tensor<3xi32>
    %c_16 = stablehlo.constant dense<-2> : tensor<i32>
    %48 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %49 = stablehlo.multiply %48, %47 : tensor<3xi32>
    %c_17 = stablehlo.constant dense<4> : tensor<i32>
    %50 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %51 = stablehlo.add %50, %49 : tensor<3xi32>
    %52 = stablehlo.reverse %51, dims = [0] : tensor<3xi32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %55 = stablehlo.reverse %54, dims = [0] : tensor<3x4xf32>
    %56 = "stablehlo.scatter"(%arg0, %53, %55) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %57 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %58 = stablehlo.compare LT, %c, %57, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %c_19 = stablehlo.constant dense<5> : tensor<i32>
    %59 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %60 = stablehlo.add %c, %59 : tensor<2x2xi32>
    %61 = stablehlo.select %58, %60, %c : tensor<2x2xi1>, tensor<2x2xi32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %cst_20 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x2x4xf32>
    %64 = "stablehlo.scatter"(%arg0, %62, %63) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.minimum %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<2x2x1xi32>, tensor<2x2x4xf32>) -> tensor<5x4xf32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %65 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %66 = stablehlo.compare LT, %arg1, %65, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_22 = stablehlo.constant dense<5> : tensor<i32>
    %67 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %68 = stablehlo.add %arg1, %67 : tensor<3xi32>
    %69 = stablehlo.select %66, %68, %arg1 : tensor<3xi1>, tensor<3xi32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %70 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %71 = stablehlo.compare LT, %arg2, %70, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_24 = stablehlo.constant dense<4> : tensor<i32>
    %72 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %73 = stablehlo.add %arg2, %72 : tensor<3xi32>
    %74 = stablehlo.select %71, %73, %arg2 : tensor<3xi1>, tensor<3xi32>
    %75 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %76 = stablehlo.broadcast_in_dim %74, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %77 = stablehlo.concatenate %75, %76, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %78 = "stablehlo.scatter"(%arg6, %77, %arg7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<i1>, %arg9: tensor<i1>):
      stablehlo.return %arg9 : tensor<i1>
    }) : (tensor<5x4xi1>, tensor<3x2xi32>, tensor<3xi1>) -> tensor<5x4xi1>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %80 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %81 = stablehlo.compare LT, %c_0, %80, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_27 = stablehlo.constant dense<3> : tensor<i32>
    %82 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %83 = stablehlo.add %c_0, %82 : tensor<3xi32>
    %84 = stablehlo.select %81, %83, %c_0 : tensor<3xi1>, tensor<3xi32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %85 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %86 = stablehlo.compare LT, %arg2, %85, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_29 = stablehlo.constant dense<4> : tensor<i32>
    %87 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %88 = stablehlo.add %arg2, %87 : tensor<3xi32>
    %89 = stablehlo.select %86, %88, %arg2 : tensor<3xi1>, tensor<3xi32>
    %90 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %91 = stablehlo.broadcast_in_dim %89, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %92 = stablehlo.concatenate %90, %91, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %93 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %94 = "stablehlo.scatter"(%79, %92, %93) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %95 = stablehlo.add %arg8, %arg9 : tensor<f32>
      stablehlo.return %95 : tensor<f32>
    }) : (tensor<2x3x4xf32>, tensor<3x2xi32>, tensor<2x3xf32>) -> tensor<2x3x4xf32>
    return %13, %29, %31, %40, %46, %56, %64, %78, %94 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xi1>, tensor<2x3x4xf32>
  }
}

// in: -0.375 -0.625 1.125 -0.375 1.375 0.375 -1.375 0.125 -0.375 0.375 0.375 0.375 0.375 1.625 -0.625 -1.625 0.875 1.125 -0.125 1.375
// in: 1 3 2
// in: 2 3 3
// in: -0.875 -1.875 0.625
// in: 1.375 -1.625 0.625 1.125
// in: -1.875 0.625 -0.625 -1.375 -0.375 0.375 -1.375 -0.625
// in: 1 0 0 1 1 1 0 1 0 0 1 1 1 1 0 0 0 1 0 1
// in: 1 1 1
// out: -0.375 -0.625 1.125 -0.375 1.375 0.375 -2.25 0.125 -0.375 0.375 0.375 1.0 0.375 1.625 -0.625 -3.5 0.875 1.125 -0.125 1.375
// out: -0.375 -0.625 1.125 -0.375 1.375 0.375 -1.375 0.125 -0.375 0.375 0.375 0.375 0.375 1.625 -0.625 0.625 0.875 1.125 -0.125 1.375
// out: -0.375 -0.625 1.125 -0.375 -1.875 0.625 -0.625 -1.375 -0.375 0.375 -1.375 -0.625 0.375 1.625 -0.625 -1.625 0.875 1.125 -0.125 1.375
// out: -0.375 -0.625 1.125 -0.375 1.890625 0.375 2.234375 0.125 -0.234375 0.375 0.421875 0.375 0.375 1.625 -0.625 -1.625 0.875 1.125 -0.125 1.375
// out: -0.375 -0.625 1.125 -0.375 1.375 0.375 -1.375 0.125 -0.375 1.75 -1.25 0.375 0.375 1.625 -0.625 -1.625 0.875 1.125 -0.125 1.375
// out: 1.125 0.875 2.625 1.125 1.375 0.375 -1.375 0.125 1.125 1.875 1.875 1.875 0.375 1.625 -0.625 -1.625 2.375 2.625 1.375 2.875
// out: -0.375 -0.625 0.25 -0.375 0.25 0.25 -1.375 0.125 -0.375 0.25 0.25 0.25 0.375 1.625 -0.625 -1.625 0.25 0.25 -0.125 0.25
// out: 1 0 0 1 1 1 1 1 0 0 1 1 1 1 0 1 0 1 0 1
// out: 0.0 0.0 0.0 -1.875 0.0 0.0 -0.875 0.625 0.0 0.0 0.0 0.0 0.0 0.0 0.0 -1.875 0.0 0.0 -0.875 0.625 0.0 0.0 0.0 0.0
