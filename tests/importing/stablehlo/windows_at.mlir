module @jit_windows_at attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6x3xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4x2xi32>) -> (tensor<2x2x3xf32> {jax.result_info = "result[0]"}, tensor<4x2xf32> {jax.result_info = "result[1]"}, tensor<2x4x3xf32> {jax.result_info = "result[2]"}, tensor<4x2x3x1xf32> {jax.result_info = "result[3]"}, tensor<4x5x2x3xf32> {jax.result_info = "result[4]"}, tensor<4x1x6x2xf32> {jax.result_info = "result[5]"}, tensor<4x2x2xf32> {jax.result_info = "result[6]"}, tensor<4x2x2xf32> {jax.result_info = "result[7]"}, tensor<4xf32> {jax.result_info = "result[8]"}, tensor<1x4x2x2xf32> {jax.result_info = "result[9]"}, tensor<2x2x1xf32> {jax.result_info = "result[10]"}, tensor<4x0x2x3xf32> {jax.result_info = "result[11]"}) {
    %c = stablehlo.constant dense<[0, 3]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %c, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %c, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %c : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %7 = stablehlo.concatenate %5, %6, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 3>}> : (tensor<5x6x3xf32>, tensor<2x2xi32>) -> tensor<2x2x3xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %10 = stablehlo.compare LT, %arg1, %9, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_4 = stablehlo.constant dense<5> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %12 = stablehlo.add %arg1, %11 : tensor<4xi32>
    %13 = stablehlo.select %10, %12, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_5 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %15 = stablehlo.convert %14 : tensor<4xi32>
    %16 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %19 = stablehlo.concatenate %16, %17, %18, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %20 = "stablehlo.gather"(%arg0, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 1>}> : (tensor<5x6x3xf32>, tensor<4x3xi32>) -> tensor<4x2xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %22 = stablehlo.compare LT, %arg1, %21, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_8 = stablehlo.constant dense<6> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %24 = stablehlo.add %arg1, %23 : tensor<4xi32>
    %25 = stablehlo.select %22, %24, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %28 = stablehlo.concatenate %26, %27, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %29 = "stablehlo.gather"(%arg0, %28) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 3>}> : (tensor<5x6x3xf32>, tensor<4x2xi32>) -> tensor<2x4x3xf32>
    %c_10 = stablehlo.constant dense<1> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %31 = stablehlo.add %arg1, %30 : tensor<4xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %33 = stablehlo.compare LT, %arg1, %32, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_12 = stablehlo.constant dense<5> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %35 = stablehlo.add %arg1, %34 : tensor<4xi32>
    %36 = stablehlo.select %33, %35, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %38 = stablehlo.compare LT, %31, %37, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_14 = stablehlo.constant dense<6> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %40 = stablehlo.add %31, %39 : tensor<4xi32>
    %41 = stablehlo.select %38, %40, %31 : tensor<4xi1>, tensor<4xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %43 = stablehlo.compare LT, %arg1, %42, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_16 = stablehlo.constant dense<3> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %45 = stablehlo.add %arg1, %44 : tensor<4xi32>
    %46 = stablehlo.select %43, %45, %arg1 : tensor<4xi1>, tensor<4xi32>
    %47 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %48 = stablehlo.broadcast_in_dim %41, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %49 = stablehlo.broadcast_in_dim %46, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %50 = stablehlo.concatenate %47, %48, %49, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %51 = "stablehlo.gather"(%arg0, %50) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [0, 1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3, 1>}> : (tensor<5x6x3xf32>, tensor<4x3xi32>) -> tensor<4x2x3x1xf32>
    %c_17 = stablehlo.constant dense<9> : tensor<i32>
    %52 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %53 = stablehlo.add %arg1, %52 : tensor<4xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %54 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %55 = stablehlo.compare LT, %arg1, %54, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_19 = stablehlo.constant dense<5> : tensor<i32>
    %56 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %57 = stablehlo.add %arg1, %56 : tensor<4xi32>
    %58 = stablehlo.select %55, %57, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %59 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %60 = stablehlo.compare LT, %53, %59, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_21 = stablehlo.constant dense<6> : tensor<i32>
    %61 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %62 = stablehlo.add %53, %61 : tensor<4xi32>
    %63 = stablehlo.select %60, %62, %53 : tensor<4xi1>, tensor<4xi32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %64 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %65 = stablehlo.compare LT, %arg1, %64, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_23 = stablehlo.constant dense<3> : tensor<i32>
    %66 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %67 = stablehlo.add %arg1, %66 : tensor<4xi32>
    %68 = stablehlo.select %65, %67, %arg1 : tensor<4xi1>, tensor<4xi32>
    %69 = stablehlo.broadcast_in_dim %58, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %70 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %71 = stablehlo.broadcast_in_dim %68, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %72 = stablehlo.concatenate %69, %70, %71, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %73 = "stablehlo.gather"(%arg0, %72) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [0, 1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 5, 2, 3>}> : (tensor<5x6x3xf32>, tensor<4x3xi32>) -> tensor<4x5x2x3xf32>
    %c_24 = stablehlo.constant dense<9> : tensor<i32>
    %74 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %75 = stablehlo.subtract %arg1, %74 : tensor<4xi32>
    %c_25 = stablehlo.constant dense<0> : tensor<i32>
    %76 = stablehlo.broadcast_in_dim %c_25, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %77 = stablehlo.compare LT, %75, %76, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_26 = stablehlo.constant dense<5> : tensor<i32>
    %78 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %79 = stablehlo.add %75, %78 : tensor<4xi32>
    %80 = stablehlo.select %77, %79, %75 : tensor<4xi1>, tensor<4xi32>
    %c_27 = stablehlo.constant dense<0> : tensor<i32>
    %81 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %82 = stablehlo.compare LT, %arg1, %81, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_28 = stablehlo.constant dense<6> : tensor<i32>
    %83 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %84 = stablehlo.add %arg1, %83 : tensor<4xi32>
    %85 = stablehlo.select %82, %84, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_29 = stablehlo.constant dense<0> : tensor<i32>
    %86 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %87 = stablehlo.compare LT, %arg1, %86, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_30 = stablehlo.constant dense<3> : tensor<i32>
    %88 = stablehlo.broadcast_in_dim %c_30, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %89 = stablehlo.add %arg1, %88 : tensor<4xi32>
    %90 = stablehlo.select %87, %89, %arg1 : tensor<4xi1>, tensor<4xi32>
    %91 = stablehlo.broadcast_in_dim %80, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %92 = stablehlo.broadcast_in_dim %85, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %93 = stablehlo.broadcast_in_dim %90, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %94 = stablehlo.concatenate %91, %92, %93, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %95 = "stablehlo.gather"(%arg0, %94) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [0, 1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6, 2>}> : (tensor<5x6x3xf32>, tensor<4x3xi32>) -> tensor<4x1x6x2xf32>
    %96 = stablehlo.slice %arg0 [0:4, 0:6, 0:3] : (tensor<5x6x3xf32>) -> tensor<4x6x3xf32>
    %97 = stablehlo.slice %arg2 [0:4, 0:1] : (tensor<4x2xi32>) -> tensor<4x1xi32>
    %98 = stablehlo.reshape %97 : (tensor<4x1xi32>) -> tensor<4xi32>
    %99 = stablehlo.slice %arg2 [0:4, 1:2] : (tensor<4x2xi32>) -> tensor<4x1xi32>
    %100 = stablehlo.reshape %99 : (tensor<4x1xi32>) -> tensor<4xi32>
    %c_31 = stablehlo.constant dense<0> : tensor<i32>
    %101 = stablehlo.broadcast_in_dim %c_31, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %102 = stablehlo.compare LT, %98, %101, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_32 = stablehlo.constant dense<6> : tensor<i32>
    %103 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %104 = stablehlo.add %98, %103 : tensor<4xi32>
    %105 = stablehlo.select %102, %104, %98 : tensor<4xi1>, tensor<4xi32>
    %c_33 = stablehlo.constant dense<0> : tensor<i32>
    %106 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %107 = stablehlo.compare LT, %100, %106, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_34 = stablehlo.constant dense<3> : tensor<i32>
    %108 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %109 = stablehlo.add %100, %108 : tensor<4xi32>
    %110 = stablehlo.select %107, %109, %100 : tensor<4xi1>, tensor<4xi32>
    %111 = stablehlo.broadcast_in_dim %105, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %112 = stablehlo.broadcast_in_dim %110, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %113 = stablehlo.concatenate %111, %112, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %114 = "stablehlo.gather"(%96, %113) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<4x6x3xf32>, tensor<4x2xi32>) -> tensor<4x2x2xf32>
    %115 = stablehlo.slice %arg0 [0:4, 0:6, 0:3] : (tensor<5x6x3xf32>) -> tensor<4x6x3xf32>
    %c_35 = stablehlo.constant dense<0> : tensor<i32>
    %116 = stablehlo.broadcast_in_dim %c_35, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %117 = stablehlo.compare LT, %arg2, %116, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_36 = stablehlo.constant dense<6> : tensor<i32>
    %118 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %119 = stablehlo.add %arg2, %118 : tensor<4x2xi32>
    %120 = stablehlo.select %117, %119, %arg2 : tensor<4x2xi1>, tensor<4x2xi32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %c_37 = stablehlo.constant dense<0> : tensor<i32>
    %122 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [1, 2] : (tensor<2x1xi32>) -> tensor<4x2x1xi32>
    %124 = stablehlo.concatenate %121, %123, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
    %125 = "stablehlo.gather"(%115, %124) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x3xf32>, tensor<4x2x2xi32>) -> tensor<4x2x2xf32>
    %c_38 = stablehlo.constant dense<0> : tensor<i32>
    %126 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %127 = stablehlo.compare LT, %arg1, %126, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_39 = stablehlo.constant dense<5> : tensor<i32>
    %128 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %129 = stablehlo.add %arg1, %128 : tensor<4xi32>
    %130 = stablehlo.select %127, %129, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_40 = stablehlo.constant dense<0> : tensor<i32>
    %131 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %132 = stablehlo.compare LT, %arg1, %131, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_41 = stablehlo.constant dense<3> : tensor<i32>
    %133 = stablehlo.broadcast_in_dim %c_41, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %134 = stablehlo.add %arg1, %133 : tensor<4xi32>
    %135 = stablehlo.select %132, %134, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_42 = stablehlo.constant dense<4> : tensor<i32>
    %136 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %137 = stablehlo.convert %136 : tensor<4xi32>
    %138 = stablehlo.broadcast_in_dim %130, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %139 = stablehlo.broadcast_in_dim %137, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %140 = stablehlo.broadcast_in_dim %135, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %141 = stablehlo.concatenate %138, %139, %140, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %142 = "stablehlo.gather"(%arg0, %141) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<5x6x3xf32>, tensor<4x3xi32>) -> tensor<4xf32>
    %143 = stablehlo.slice %arg0 [0:5, 0:6, 0:3:2] : (tensor<5x6x3xf32>) -> tensor<5x6x2xf32>
    %144 = stablehlo.broadcast_in_dim %143, dims = [1, 2, 3] : (tensor<5x6x2xf32>) -> tensor<1x5x6x2xf32>
    %c_43 = stablehlo.constant dense<0> : tensor<i32>
    %145 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %146 = stablehlo.compare LT, %arg2, %145, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_44 = stablehlo.constant dense<5> : tensor<i32>
    %147 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %148 = stablehlo.add %arg2, %147 : tensor<4x2xi32>
    %149 = stablehlo.select %146, %148, %arg2 : tensor<4x2xi1>, tensor<4x2xi32>
    %c_45 = stablehlo.constant dense<0> : tensor<i32>
    %150 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %151 = stablehlo.convert %150 : tensor<4x2xi32>
    %152 = stablehlo.broadcast_in_dim %149, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %153 = stablehlo.broadcast_in_dim %151, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %154 = stablehlo.concatenate %152, %153, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
    %155 = "stablehlo.gather"(%144, %154) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 3], collapsed_slice_dims = [1, 2], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1, 2>}> : (tensor<1x5x6x2xf32>, tensor<4x2x2xi32>) -> tensor<1x4x2x2xf32>
    %156 = stablehlo.slice %arg1 [0:1] : (tensor<4xi32>) -> tensor<1xi32>
    %157 = stablehlo.reshape %156 : (tensor<1xi32>) -> tensor<i32>
    %158 = stablehlo.slice %arg1 [1:2] : (tensor<4xi32>) -> tensor<1xi32>
    %159 = stablehlo.reshape %158 : (tensor<1xi32>) -> tensor<i32>
    %c_46 = stablehlo.constant dense<0> : tensor<i32>
    %160 = stablehlo.compare LT, %157, %c_46, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_47 = stablehlo.constant dense<5> : tensor<i32>
    %161 = stablehlo.add %157, %c_47 : tensor<i32>
    %162 = stablehlo.select %160, %161, %157 : tensor<i1>, tensor<i32>
    %c_48 = stablehlo.constant dense<0> : tensor<i32>
    %163 = stablehlo.compare LT, %159, %c_48, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_49 = stablehlo.constant dense<6> : tensor<i32>
    %164 = stablehlo.add %159, %c_49 : tensor<i32>
    %165 = stablehlo.select %163, %164, %159 : tensor<i1>, tensor<i32>
    %c_50 = stablehlo.constant dense<0> : tensor<i32>
    %166 = stablehlo.dynamic_slice %arg0, %162, %165, %c_50, sizes = [2, 2, 1] : (tensor<5x6x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x1xf32>
    %c_51 = stablehlo.constant dense<0> : tensor<i32>
    %167 = stablehlo.broadcast_in_dim %c_51, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %168 = stablehlo.compare LT, %arg1, %167, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_52 = stablehlo.constant dense<5> : tensor<i32>
    %169 = stablehlo.broadcast_in_dim %c_52, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %170 = stablehlo.add %arg1, %169 : tensor<4xi32>
    %171 = stablehlo.select %168, %170, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_53 = stablehlo.constant dense<0> : tensor<i32>
    %172 = stablehlo.broadcast_in_dim %c_53, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %173 = stablehlo.compare LT, %arg1, %172, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_54 = stablehlo.constant dense<6> : tensor<i32>
    %174 = stablehlo.broadcast_in_dim %c_54, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %175 = stablehlo.add %arg1, %174 : tensor<4xi32>
    %176 = stablehlo.select %173, %175, %arg1 : tensor<4xi1>, tensor<4xi32>
    %c_55 = stablehlo.constant dense<0> : tensor<i32>
    %177 = stablehlo.broadcast_in_dim %c_55, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %178 = stablehlo.compare LT, %arg1, %177, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_56 = stablehlo.constant dense<3> : tensor<i32>
    %179 = stablehlo.broadcast_in_dim %c_56, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %180 = stablehlo.add %arg1, %179 : tensor<4xi32>
    %181 = stablehlo.select %178, %180, %arg1 : tensor<4xi1>, tensor<4xi32>
    %182 = stablehlo.broadcast_in_dim %171, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %183 = stablehlo.broadcast_in_dim %176, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %184 = stablehlo.broadcast_in_dim %181, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %185 = stablehlo.concatenate %182, %183, %184, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x0x2x3xf32>
    return %8, %20, %29, %51, %73, %95, %114, %125, %142, %155, %166, %186 : tensor<2x2x3xf32>, tensor<4x2xf32>, tensor<2x4x3xf32>, tensor<4x2x3x1xf32>, tensor<4x5x2x3xf32>, tensor<4x1x6x2xf32>, tensor<4x2x2xf32>, tensor<4x2x2xf32>, tensor<4xf32>, tensor<1x4x2x2xf32>, tensor<2x2x1xf32>, tensor<4x0x2x3xf32>
  }
}

// in: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125 -1.375 1.625 0.125 -1.375 -1.375 -0.375 0.875 -0.375 1.625 -1.875 -0.125 0.125 2.125 -0.875 1.625 -1.625 -0.625 1.125 0.375 1.875 1.125 1.875 1.625 -1.375 1.875 1.625 -1.375 2.125 1.125 -0.625 -1.375 -0.375 1.875 1.375 -1.125 0.125 1.625 0.625 -0.625 -1.625 2.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 1.625 0.625 -1.125 -0.625 0.875 0.875 -0.625 -1.375 -1.375 -0.875 1.375 1.625 -0.625 0.625 0.125 -0.875 0.375 -1.375 0.125 -1.375 -0.875 -0.875 -1.875 -0.375 1.125 0.875 1.375 1.625 -1.625 1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125
// in: 2 2 2 2
// in: 2 2 3 2 2 1 3 1
// out: -1.125 1.375 1.625 0.125 -1.375 1.625 -0.625 0.875 0.875 -0.625 -1.375 -1.375
// out: 1.625 -1.625 1.625 -1.625 1.625 -1.625 1.625 -1.625
// out: 1.125 0.375 1.875 1.125 0.375 1.875 1.125 0.375 1.875 1.125 0.375 1.875 0.125 1.625 0.625 0.125 1.625 0.625 0.125 1.625 0.625 0.125 1.625 0.625
// out: 2.125 0.875 -0.875 1.625 0.125 -1.375 2.125 0.875 -0.875 1.625 0.125 -1.375 2.125 0.875 -0.875 1.625 0.125 -1.375 2.125 0.875 -0.875 1.625 0.125 -1.375
// out: -0.375 0.875 -0.375 1.625 -1.875 -0.125 -1.375 1.875 1.625 -1.375 2.125 1.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 -0.625 0.625 0.125 -0.875 0.375 -1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125 -0.375 0.875 -0.375 1.625 -1.875 -0.125 -1.375 1.875 1.625 -1.375 2.125 1.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 -0.625 0.625 0.125 -0.875 0.375 -1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125 -0.375 0.875 -0.375 1.625 -1.875 -0.125 -1.375 1.875 1.625 -1.375 2.125 1.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 -0.625 0.625 0.125 -0.875 0.375 -1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125 -0.375 0.875 -0.375 1.625 -1.875 -0.125 -1.375 1.875 1.625 -1.375 2.125 1.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 -0.625 0.625 0.125 -0.875 0.375 -1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125
// out: 2.125 -0.875 1.375 1.625 -1.375 1.625 -1.375 -1.375 0.875 -0.375 -1.875 -0.125 2.125 -0.875 1.375 1.625 -1.375 1.625 -1.375 -1.375 0.875 -0.375 -1.875 -0.125 2.125 -0.875 1.375 1.625 -1.375 1.625 -1.375 -1.375 0.875 -0.375 -1.875 -0.125 2.125 -0.875 1.375 1.625 -1.375 1.625 -1.375 -1.375 0.875 -0.375 -1.875 -0.125
// out: -1.375 1.625 -1.375 -1.375 1.875 1.625 1.875 1.625 1.625 0.625 -1.625 2.125 1.375 1.625 0.625 0.125
// out: 0.125 -1.375 0.125 -1.375 1.125 1.875 1.125 0.375 0.125 1.625 1.875 1.375 -0.875 1.375 -0.625 0.875
// out: 0.875 0.875 0.875 0.875
// out: -0.625 -0.375 -0.625 -0.375 1.625 -1.125 -0.625 -0.375 -0.625 -0.375 0.125 -0.875 1.625 -1.125 0.125 -0.875
// out: 0.125 -0.625 -0.625 -0.875
// out:
