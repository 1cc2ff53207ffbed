module @jit_elements_at attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4x5xf32>, %arg1: tensor<2x3xi32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<2x3x4xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}, tensor<3x2x3xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %1 = stablehlo.add %arg1, %0 : tensor<2x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %3 = stablehlo.compare LT, %arg1, %2, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %5 = stablehlo.add %arg1, %4 : tensor<2x3xi32>
    %6 = stablehlo.select %3, %5, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %8 = stablehlo.compare LT, %1, %7, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_3 = stablehlo.constant dense<4> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %10 = stablehlo.add %1, %9 : tensor<2x3xi32>
    %11 = stablehlo.select %8, %10, %1 : tensor<2x3xi1>, tensor<2x3xi32>
    %12 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %14 = stablehlo.concatenate %12, %13, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
    %15 = "stablehlo.gather"(%arg0, %14) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x5xf32>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %17 = stablehlo.subtract %arg1, %16 : tensor<2x3xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %19 = stablehlo.compare LT, %arg1, %18, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_6 = stablehlo.constant dense<3> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %21 = stablehlo.add %arg1, %20 : tensor<2x3xi32>
    %22 = stablehlo.select %19, %21, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %24 = stablehlo.compare LT, %17, %23, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_8 = stablehlo.constant dense<5> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %26 = stablehlo.add %17, %25 : tensor<2x3xi32>
    %27 = stablehlo.select %24, %26, %17 : tensor<2x3xi1>, tensor<2x3xi32>
    %28 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
    %31 = "stablehlo.gather"(%arg0, %30) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4, 1>}> : (tensor<3x4x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x4xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %33 = stablehlo.compare LT, %arg1, %32, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %35 = stablehlo.add %arg1, %34 : tensor<2x3xi32>
    %36 = stablehlo.select %33, %35, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %c_12 = stablehlo.constant dense<2> : tensor<i32>
    %38 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %39 = stablehlo.convert %37 : tensor<2x3xi32>
    %40 = stablehlo.convert %38 : tensor<2x3xi32>
    %41 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %42 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %43 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %44 = stablehlo.concatenate %41, %42, %43, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x3xi32>
    %45 = "stablehlo.gather"(%arg0, %44) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<3x4x5xf32>, tensor<2x3x3xi32>) -> tensor<2x3xf32>
    %46 = stablehlo.slice %arg0 [0:3, 0:3, 0:1] : (tensor<3x4x5xf32>) -> tensor<3x3x1xf32>
    %47 = stablehlo.reshape %46 : (tensor<3x3x1xf32>) -> tensor<3x3xf32>
    %48 = call @diagonal(%47) : (tensor<3x3xf32>) -> tensor<3xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %50 = stablehlo.compare LT, %arg1, %49, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_14 = stablehlo.constant dense<4> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %52 = stablehlo.add %arg1, %51 : tensor<2x3xi32>
    %53 = stablehlo.select %50, %52, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %54 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %55 = stablehlo.compare LT, %arg1, %54, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_16 = stablehlo.constant dense<5> : tensor<i32>
    %56 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %57 = stablehlo.add %arg1, %56 : tensor<2x3xi32>
    %58 = stablehlo.select %55, %57, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %59 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %60 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %61 = stablehlo.concatenate %59, %60, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
    %62 = "stablehlo.gather"(%arg0, %61) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1, 2], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1, 1>}> : (tensor<3x4x5xf32>, tensor<2x3x2xi32>) -> tensor<3x2x3xf32>
    return %15, %31, %45, %48, %62 : tensor<2x3x5xf32>, tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3x2x3xf32>
  }
  func.func private @diagonal(%arg0: tensor<3x3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %1 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %3 = stablehlo.add %0, %2 : tensor<3x3xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %5 = stablehlo.convert %4 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<3xi32>
      %9 = stablehlo.iota dim = 0 : tensor<3xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = stablehlo.add %8, %12 : tensor<3xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<3xi1>, tensor<3xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %18 = stablehlo.add %9, %17 : tensor<3xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<3xi1>, tensor<3xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<3x3xf32>, tensor<3x2xi32>) -> tensor<3xf32>
      stablehlo.return %23 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    return %7 : tensor<3xf32>
  }
}

// in: -1.375 -1.375 1.375 0.125 0.625 0.625 1.125 -1.875 0.125 -1.375 -0.375 1.875 0.375 -1.625 0.375 -1.375 1.125 2.125 2.125 0.625 1.625 -0.375 -1.375 0.125 -0.125 0.875 2.125 -0.875 1.625 -1.375 -0.625 1.375 -0.875 0.875 -0.125 0.125 2.125 1.375 1.625 0.375 2.125 2.125 -1.375 -1.125 -0.625 0.375 1.625 0.125 2.125 -0.375 1.875 0.625 1.125 -0.875 0.625 1.375 1.875 1.625 2.125 -1.375
// in: 3 2 3 1 1 1
// out: 1.375 1.875 1.625 2.125 -1.375 1.375 1.875 1.625 2.125 -1.375 1.375 1.875 1.625 2.125 -1.375 -0.625 1.375 -0.875 0.875 -0.125 -0.625 1.375 -0.875 0.875 -0.125 -0.625 1.375 -0.875 0.875 -0.125
// out: -0.625 -0.375 0.625 -1.375 -1.125 2.125 -0.875 2.125 -0.625 -0.375 0.625 -1.375 -1.375 -0.875 -0.875 1.375 -1.375 -0.875 -0.875 1.375 -1.375 -0.875 -0.875 1.375
// out: 2.125 0.375 2.125 -1.875 -1.875 -1.875
// out: -1.375 0.875 1.875
// out: 2.125 0.375 2.125 1.125 1.125 1.125 1.625 -0.875 1.625 2.125 2.125 2.125 2.125 1.125 2.125 1.625 1.625 1.625
