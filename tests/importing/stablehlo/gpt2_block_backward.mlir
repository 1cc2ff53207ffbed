module @jit_gpt2_block_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<4x12xf32>, %arg4: tensor<12xf32>, %arg5: tensor<4x4xf32>, %arg6: tensor<4xf32>, %arg7: tensor<4xf32>, %arg8: tensor<4xf32>, %arg9: tensor<4x8xf32>, %arg10: tensor<8xf32>, %arg11: tensor<8x4xf32>, %arg12: tensor<4xf32>, %arg13: tensor<1x3x4xf32>, %arg14: tensor<1x3x4xf32>, %arg15: tensor<1x3x4xf32>) -> (tensor<1x3x4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}, tensor<4x12xf32> {jax.result_info = "result[3]"}, tensor<12xf32> {jax.result_info = "result[4]"}, tensor<4x4xf32> {jax.result_info = "result[5]"}, tensor<4xf32> {jax.result_info = "result[6]"}, tensor<4xf32> {jax.result_info = "result[7]"}, tensor<4xf32> {jax.result_info = "result[8]"}, tensor<4x8xf32> {jax.result_info = "result[9]"}, tensor<8xf32> {jax.result_info = "result[10]"}, tensor<8x4xf32> {jax.result_info = "result[11]"}, tensor<4xf32> {jax.result_info = "result[12]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = call @_var(%arg0, %c) : (tensor<1x3x4xf32>, tensor<i32>) -> (tensor<1x3x1xf32>, tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>)
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<1x3x4xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %8 = stablehlo.add %4#0, %7 : tensor<1x3x1xf32>
    %9 = stablehlo.sqrt %8 : tensor<1x3x1xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<1x3x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %13 = stablehlo.divide %12, %9 : tensor<1x3x1xf32>
    %14 = stablehlo.multiply %9, %9 : tensor<1x3x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<1x3x1xf32>
    %17 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %18 = stablehlo.multiply %6, %17 : tensor<1x3x4xf32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %21 = stablehlo.multiply %18, %20 : tensor<1x3x4xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %24 = stablehlo.add %21, %23 : tensor<1x3x4xf32>
    %25 = stablehlo.dot_general %24, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x12xf32>) -> tensor<1x3x12xf32>
    %26 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<1x3x12xf32>
    %28 = stablehlo.add %25, %27 : tensor<1x3x12xf32>
    %29 = stablehlo.slice %28 [0:1, 0:3, 0:4] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %30 = stablehlo.slice %28 [0:1, 0:3, 4:8] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %31 = stablehlo.slice %28 [0:1, 0:3, 8:12] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %32 = stablehlo.reshape %29 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %33 = stablehlo.reshape %30 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %34 = stablehlo.reshape %31 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %35 = stablehlo.dot_general %32, %33, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x3xf32>
    %cst_5 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %37 = stablehlo.divide %35, %36 : tensor<1x2x3x3xf32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %38 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %39 = call @tril(%38) : (tensor<3x3xi1>) -> tensor<3x3xi1>
    %cst_7 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %40:3 = call @_where_0(%39, %37, %cst_7) : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40#0 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %44 = stablehlo.compare EQ, %40#0, %43, FLOAT : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi1>
    %45 = stablehlo.convert %44 : (tensor<1x2x3x3xi1>) -> tensor<1x2x3x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %48 = stablehlo.maximum %47, %41 : tensor<1x2x3xf32>
    %49 = stablehlo.compare EQ, %41, %48, FLOAT : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %52 = stablehlo.select %49, %50, %51 : tensor<1x2x3xi1>, tensor<1x2x3xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %54 = stablehlo.compare EQ, %53, %48, FLOAT : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<1x2x3xi1>, tensor<1x2x3xf32>
    %58 = stablehlo.divide %52, %57 : tensor<1x2x3xf32>
    %59 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %61 = stablehlo.subtract %40#0, %60 : tensor<1x2x3x3xf32>
    %62 = stablehlo.exponential %61 : tensor<1x2x3x3xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_16) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %66 = stablehlo.divide %62, %65 : tensor<1x2x3x3xf32>
    %67 = stablehlo.multiply %64, %64 : tensor<1x2x3x1xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x2x3x1xf32>
    %69 = stablehlo.divide %68, %67 : tensor<1x2x3x1xf32>
    %70 = stablehlo.dot_general %34, %66, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x2x3xf32>
    %71 = stablehlo.transpose %70, dims = [0, 3, 1, 2] : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    %72 = stablehlo.reshape %71 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %73 = stablehlo.dot_general %72, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %74 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %76 = stablehlo.add %73, %75 : tensor<1x3x4xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %78 = stablehlo.compare GT, %arg13, %77, FLOAT : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xi1>
    %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %80 = stablehlo.divide %76, %79 : tensor<1x3x4xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81:2 = call @_where_1(%78, %80, %cst_20) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<f32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>)
    %82 = stablehlo.add %arg0, %81#0 : tensor<1x3x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.reduce(%82 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_22 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %86 = stablehlo.divide %84, %85 : tensor<1x3x1xf32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %87:5 = call @_var(%82, %c_23) : (tensor<1x3x4xf32>, tensor<i32>) -> (tensor<1x3x1xf32>, tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>)
    %88 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %89 = stablehlo.subtract %82, %88 : tensor<1x3x4xf32>
    %cst_24 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %91 = stablehlo.add %87#0, %90 : tensor<1x3x1xf32>
    %92 = stablehlo.sqrt %91 : tensor<1x3x1xf32>
    %cst_25 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %94 = stablehlo.divide %93, %92 : tensor<1x3x1xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %96 = stablehlo.divide %95, %92 : tensor<1x3x1xf32>
    %97 = stablehlo.multiply %92, %92 : tensor<1x3x1xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %99 = stablehlo.divide %98, %97 : tensor<1x3x1xf32>
    %100 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %101 = stablehlo.multiply %89, %100 : tensor<1x3x4xf32>
    %102 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %104 = stablehlo.multiply %101, %103 : tensor<1x3x4xf32>
    %105 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %107 = stablehlo.add %104, %106 : tensor<1x3x4xf32>
    %108 = stablehlo.dot_general %107, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x8xf32>) -> tensor<1x3x8xf32>
    %109 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x3x8xf32>
    %111 = stablehlo.add %108, %110 : tensor<1x3x8xf32>
    %112 = stablehlo.multiply %111, %111 : tensor<1x3x8xf32>
    %113 = stablehlo.multiply %112, %111 : tensor<1x3x8xf32>
    %114 = stablehlo.multiply %111, %111 : tensor<1x3x8xf32>
    %cst_28 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %116 = stablehlo.multiply %115, %114 : tensor<1x3x8xf32>
    %cst_29 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %118 = stablehlo.multiply %117, %113 : tensor<1x3x8xf32>
    %119 = stablehlo.add %111, %118 : tensor<1x3x8xf32>
    %cst_30 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %121 = stablehlo.multiply %120, %119 : tensor<1x3x8xf32>
    %122 = stablehlo.tanh %121 : tensor<1x3x8xf32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %124 = stablehlo.subtract %123, %122 : tensor<1x3x8xf32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %126 = stablehlo.add %125, %122 : tensor<1x3x8xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %128 = stablehlo.multiply %127, %126 : tensor<1x3x8xf32>
    %129 = stablehlo.multiply %111, %128 : tensor<1x3x8xf32>
    %130 = stablehlo.dot_general %129, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x8xf32>, tensor<8x4xf32>) -> tensor<1x3x4xf32>
    %131 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %132 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %133 = stablehlo.add %130, %132 : tensor<1x3x4xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %135 = stablehlo.compare GT, %arg14, %134, FLOAT : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xi1>
    %cst_35 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %137 = stablehlo.divide %133, %136 : tensor<1x3x4xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138:2 = call @_where_1(%135, %137, %cst_36) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<f32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>)
    %139 = stablehlo.add %82, %138#0 : tensor<1x3x4xf32>
    %140 = call @_where_2(%135, %138#1, %arg15) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %cst_37 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %142 = stablehlo.divide %140, %141 : tensor<1x3x4xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %143 = stablehlo.reduce(%142 init: %cst_38) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %144 = stablehlo.reshape %143 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %146 = stablehlo.dot_general %142, %129, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<1x3x8xf32>) -> tensor<4x8xf32>
    %147 = stablehlo.transpose %146, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %148 = stablehlo.dot_general %142, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<8x4xf32>) -> tensor<1x3x8xf32>
    %149 = stablehlo.multiply %111, %148 : tensor<1x3x8xf32>
    %150 = stablehlo.multiply %148, %128 : tensor<1x3x8xf32>
    %cst_40 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %152 = stablehlo.multiply %151, %149 : tensor<1x3x8xf32>
    %153 = stablehlo.multiply %152, %124 : tensor<1x3x8xf32>
    %154 = stablehlo.multiply %153, %122 : tensor<1x3x8xf32>
    %155 = stablehlo.add %153, %154 : tensor<1x3x8xf32>
    %cst_41 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %157 = stablehlo.multiply %156, %155 : tensor<1x3x8xf32>
    %158 = stablehlo.add %150, %157 : tensor<1x3x8xf32>
    %cst_42 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %159 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %160 = stablehlo.multiply %159, %157 : tensor<1x3x8xf32>
    %161 = stablehlo.multiply %160, %116 : tensor<1x3x8xf32>
    %162 = stablehlo.add %158, %161 : tensor<1x3x8xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %163 = stablehlo.reduce(%162 init: %cst_43) applies stablehlo.add across dimensions = [1] : (tensor<1x3x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %164 = stablehlo.reshape %163 : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %165 = stablehlo.reduce(%164 init: %cst_44) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %166 = stablehlo.dot_general %162, %107, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x8xf32>, tensor<1x3x4xf32>) -> tensor<8x4xf32>
    %167 = stablehlo.transpose %166, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %168 = stablehlo.dot_general %162, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x8xf32>, tensor<4x8xf32>) -> tensor<1x3x4xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.reduce(%168 init: %cst_45) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %170 = stablehlo.reshape %169 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.reduce(%170 init: %cst_46) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %172 = stablehlo.multiply %101, %168 : tensor<1x3x4xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_47) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %174 = stablehlo.reshape %173 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %175 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %176 = stablehlo.multiply %168, %175 : tensor<1x3x4xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%174 init: %cst_48) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %178 = stablehlo.multiply %89, %176 : tensor<1x3x4xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %179 = stablehlo.reduce(%178 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %180 = stablehlo.reshape %179 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %181 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %182 = stablehlo.multiply %176, %181 : tensor<1x3x4xf32>
    %183 = stablehlo.multiply %180, %99 : tensor<1x3x1xf32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %185 = stablehlo.multiply %183, %184 : tensor<1x3x1xf32>
    %186 = stablehlo.negate %185 : tensor<1x3x1xf32>
    %187 = stablehlo.multiply %186, %94 : tensor<1x3x1xf32>
    %188 = stablehlo.negate %182 : tensor<1x3x4xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.reduce(%188 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %190 = stablehlo.reshape %189 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %191 = stablehlo.add %arg15, %182 : tensor<1x3x4xf32>
    %192 = call @_var_3(%87#1, %87#2, %87#3, %87#4, %187) : (tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %193 = stablehlo.add %191, %192 : tensor<1x3x4xf32>
    %cst_52 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %195 = stablehlo.divide %190, %194 : tensor<1x3x1xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %196 = stablehlo.reduce(%195 init: %cst_53) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %198 = stablehlo.broadcast_in_dim %197, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %199 = stablehlo.add %193, %198 : tensor<1x3x4xf32>
    %200 = call @_where_2(%78, %81#1, %199) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
    %cst_54 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %202 = stablehlo.divide %200, %201 : tensor<1x3x4xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.reduce(%202 init: %cst_55) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %204 = stablehlo.reshape %203 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.reduce(%204 init: %cst_56) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %206 = stablehlo.dot_general %202, %72, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<4x4xf32>
    %207 = stablehlo.transpose %206, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %208 = stablehlo.dot_general %202, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %209 = stablehlo.reshape %208 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %210 = stablehlo.transpose %209, dims = [0, 2, 3, 1] : (tensor<1x3x2x2xf32>) -> tensor<1x2x2x3xf32>
    %211 = stablehlo.dot_general %210, %34, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x2x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x3xf32>
    %212 = stablehlo.dot_general %210, %66, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x2x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x2x3xf32>
    %213 = stablehlo.transpose %212, dims = [0, 3, 1, 2] : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    %214 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %215 = stablehlo.multiply %211, %214 : tensor<1x2x3x3xf32>
    %216 = stablehlo.multiply %215, %62 : tensor<1x2x3x3xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %217 = stablehlo.reduce(%216 init: %cst_57) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %218 = stablehlo.reshape %217 : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %219 = stablehlo.negate %218 : tensor<1x2x3x1xf32>
    %220 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %221 = stablehlo.divide %211, %220 : tensor<1x2x3x3xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %222 = stablehlo.reduce(%219 init: %cst_58) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    %224 = stablehlo.broadcast_in_dim %223, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
    %225 = stablehlo.add %221, %224 : tensor<1x2x3x3xf32>
    %226 = stablehlo.multiply %225, %62 : tensor<1x2x3x3xf32>
    %227 = call @_where_5(%40#1, %40#2, %226) : (tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    %cst_59 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %229 = stablehlo.divide %227, %228 : tensor<1x2x3x3xf32>
    %230 = stablehlo.dot_general %229, %32, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x3x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
    %231 = stablehlo.transpose %230, dims = [0, 2, 1, 3] : (tensor<1x2x3x2xf32>) -> tensor<1x3x2x2xf32>
    %232 = stablehlo.dot_general %229, %33, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x3x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
    %233 = stablehlo.transpose %232, dims = [0, 2, 1, 3] : (tensor<1x2x3x2xf32>) -> tensor<1x3x2x2xf32>
    %234 = stablehlo.reshape %213 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %235 = stablehlo.reshape %231 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %236 = stablehlo.reshape %233 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %237 = stablehlo.concatenate %236, %235, %234, dim = 2 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x12xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.reduce(%237 init: %cst_60) applies stablehlo.add across dimensions = [1] : (tensor<1x3x12xf32>, tensor<f32>) -> tensor<1x12xf32>
    %239 = stablehlo.reshape %238 : (tensor<1x12xf32>) -> tensor<1x1x12xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %240 = stablehlo.reduce(%239 init: %cst_61) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x12xf32>, tensor<f32>) -> tensor<12xf32>
    %241 = stablehlo.dot_general %237, %24, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x12xf32>, tensor<1x3x4xf32>) -> tensor<12x4xf32>
    %242 = stablehlo.transpose %241, dims = [1, 0] : (tensor<12x4xf32>) -> tensor<4x12xf32>
    %243 = stablehlo.dot_general %237, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x12xf32>, tensor<4x12xf32>) -> tensor<1x3x4xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %244 = stablehlo.reduce(%243 init: %cst_62) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %245 = stablehlo.reshape %244 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.reduce(%245 init: %cst_63) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %247 = stablehlo.multiply %18, %243 : tensor<1x3x4xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %248 = stablehlo.reduce(%247 init: %cst_64) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %249 = stablehlo.reshape %248 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %250 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %251 = stablehlo.multiply %243, %250 : tensor<1x3x4xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.reduce(%249 init: %cst_65) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %253 = stablehlo.multiply %6, %251 : tensor<1x3x4xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %255 = stablehlo.reshape %254 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %256 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %257 = stablehlo.multiply %251, %256 : tensor<1x3x4xf32>
    %258 = stablehlo.multiply %255, %16 : tensor<1x3x1xf32>
    %cst_67 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %260 = stablehlo.multiply %258, %259 : tensor<1x3x1xf32>
    %261 = stablehlo.negate %260 : tensor<1x3x1xf32>
    %262 = stablehlo.multiply %261, %11 : tensor<1x3x1xf32>
    %263 = stablehlo.negate %257 : tensor<1x3x4xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %264 = stablehlo.reduce(%263 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %265 = stablehlo.reshape %264 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %266 = stablehlo.add %199, %257 : tensor<1x3x4xf32>
    %267 = call @_var_3(%4#1, %4#2, %4#3, %4#4, %262) : (tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %268 = stablehlo.add %266, %267 : tensor<1x3x4xf32>
    %cst_69 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %270 = stablehlo.divide %265, %269 : tensor<1x3x1xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.reduce(%270 init: %cst_70) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %272 = stablehlo.broadcast_in_dim %271, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %273 = stablehlo.broadcast_in_dim %272, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %274 = stablehlo.add %268, %273 : tensor<1x3x4xf32>
    return %274, %252, %246, %242, %240, %207, %205, %177, %171, %167, %165, %147, %145 : tensor<1x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x12xf32>, tensor<12xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x4xf32>, tensor<4xf32>
  }
  func.func private @_var(%arg0: tensor<1x3x4xf32>, %arg1: tensor<i32>) -> (tensor<1x3x1xf32>, tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1x3x4xf32>
    %6 = chlo.square %5 : tensor<1x3x4xf32> -> tensor<1x3x4xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<1x3x4xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<1x3x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16:2 = call @_where(%15, %14, %cst_5) : (tensor<i1>, tensor<1x3x1xf32>, tensor<f32>) -> (tensor<1x3x1xf32>, tensor<1x3x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<1x3x1xf32>, tensor<1x3x4xf32>, tensor<f32>, tensor<i1>, tensor<1x3x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<1x3x1xf32>, %arg2: tensor<f32>) -> (tensor<1x3x1xf32>, tensor<1x3x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<1x3x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    return %2, %3 : tensor<1x3x1xf32>, tensor<1x3x1xf32>
  }
  func.func private @tril(%arg0: tensor<3x3xi1>) -> tensor<3x3xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<3x3xi32>
    %3 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<3x3xi1>, tensor<3x3xi1>
    return %6 : tensor<3x3xi1>
  }
  func.func private @_where_0(%arg0: tensor<3x3xi1>, %arg1: tensor<1x2x3x3xf32>, %arg2: tensor<f32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x3xi1>) -> tensor<1x2x3x3xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    return %3, %1, %4 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  }
  func.func private @_where_1(%arg0: tensor<1x3x4xi1>, %arg1: tensor<1x3x4xf32>, %arg2: tensor<f32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x3x4xi1>, tensor<1x3x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    return %2, %3 : tensor<1x3x4xf32>, tensor<1x3x4xf32>
  }
  func.func private @_where_2(%arg0: tensor<1x3x4xi1>, %arg1: tensor<1x3x4xf32>, %arg2: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<1x3x4xi1>, tensor<1x3x4xf32>
    return %1 : tensor<1x3x4xf32>
  }
  func.func private @_var_3(%arg0: tensor<1x3x4xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<1x3x1xf32>, %arg4: tensor<1x3x1xf32>) -> tensor<1x3x4xf32> {
    %0 = call @_where_4(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<1x3x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<1x3x4xf32>
    %7 = stablehlo.negate %6 : tensor<1x3x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<1x3x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %15 = stablehlo.add %6, %14 : tensor<1x3x4xf32>
    return %15 : tensor<1x3x4xf32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<1x3x1xf32>, %arg2: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<1x3x1xf32>
    return %1 : tensor<1x3x1xf32>
  }
  func.func private @_where_5(%arg0: tensor<1x2x3x3xi1>, %arg1: tensor<1x2x3x3xf32>, %arg2: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
    return %1 : tensor<1x2x3x3xf32>
  }
}

// in: 0.625 -0.125 -0.375 1.875 -0.375 -0.875 1.625 -1.625 -0.125 -0.625 -1.875 1.125
// in: 2.125 1.375 -0.625 0.375
// in: 1.625 -0.625 -0.125 1.875
// in: -1.125 1.875 0.875 -0.125 1.375 -0.375 -0.375 0.625 1.875 1.125 0.875 0.625 1.625 -0.125 1.125 -0.125 0.625 0.625 -0.375 1.875 -0.875 -1.875 1.125 -1.625 0.375 1.125 -1.375 -0.125 0.375 1.375 0.125 0.375 0.375 -0.125 -1.875 2.125 1.625 -0.375 -0.375 0.625 1.875 0.375 -0.875 -1.625 0.125 -1.375 0.625 1.375
// in: 1.375 0.125 -1.375 0.875 -1.125 -0.125 -1.125 1.625 -1.875 1.625 -0.875 -0.125
// in: -0.125 -1.375 1.375 1.625 1.375 0.125 1.875 0.375 0.625 0.125 0.125 -1.875 1.625 0.125 -1.375 -1.625
// in: 1.875 -1.625 1.375 1.625
// in: 0.375 -1.375 -0.125 1.125
// in: -1.875 -0.125 0.125 0.125
// in: 1.375 0.125 -0.875 -1.375 0.375 -1.625 -1.875 0.625 0.125 -1.625 -1.875 -1.625 0.125 -1.875 -0.875 0.625 -1.625 2.125 -1.125 0.375 2.125 -1.875 1.625 0.375 -0.625 0.125 -1.125 0.875 1.375 -1.375 -1.625 0.875
// in: -0.125 1.875 0.375 -1.125 1.875 2.125 0.375 0.625
// in: 1.125 1.625 1.375 -1.125 -0.375 -0.375 0.875 1.625 1.875 1.625 1.625 0.625 0.375 1.125 0.625 0.375 -0.875 -0.125 0.375 -0.625 0.875 0.125 0.125 0.125 1.375 0.125 1.875 -1.875 -0.125 2.125 2.125 2.125
// in: 0.125 1.125 1.125 -1.125
// in: -1.125 1.625 -0.875 -0.875 -0.125 -1.875 -1.875 -1.125 -0.875 1.375 -1.375 1.625
// in: -0.875 2.125 1.375 1.375 -0.125 -0.625 -0.875 0.375 1.625 0.875 0.375 -1.875
// in: 0.875 -1.625 -1.375 1.125 0.125 -0.625 0.875 -1.625 1.125 0.125 0.375 -1.625
// out: 8.727407 -5.0170717 -2.3639777 -2.346358 0.3543048 -8.378617 2.5761266 4.198186 -10.833534 15.69985 -2.0546403 -2.8116746
// out: -0.42587042 1.302891 -1.9514362 14.854124
// out: -2.8295236 4.854556 -0.29116648 17.576347
// out: 0.15837061 0.16153091 -3.0435944 0.22108385 0.036093235 0.09188658 -2.3358307 1.9857607 -13.300717 -3.7642884 17.02711 14.729392 -0.07060215 -0.07201102 1.3568444 -0.098559916 0.12558962 0.3197275 -1.096636 0.93228364 4.338669 1.9363766 -8.365248 -7.215191 0.055817295 0.056931134 -1.0727066 0.07792041 0.04671903 0.11893779 -7.350133 6.2485723 -5.070311 -1.2646046 4.2118454 3.6427424 0.17922674 0.18280323 -3.444411 0.2501988 -0.0125846565 -0.032038093 -3.6987872 3.1444516 -14.452608 -4.357362 19.065166 16.482622
// out: 0.0747366 0.07622798 -1.4363011 0.104331575 2.4437904e-06 6.198883e-06 2.3841858e-06 -2.1457672e-06 -6.0854053 -1.8074647 8.353737 7.224715
// out: 0.0 -3.4557493 0.0 -15.867473 0.0 -4.0084977 0.0 -11.072401 0.0 1.0256555 0.0 -1.1032574 0.0 -8.59976 0.0 -31.696535
// out: 0.0 -0.91144824 0.0 -4.51609
// out: -7.3663335 5.8079586 3.4492702 1.8765877
// out: -11.448629 -0.55545306 -3.7121482 -11.792935
// out: 0.55077624 5.078245 2.4574041 -0.16225341 3.049952 -0.9309344 -6.993556 5.551069 -0.3446859 -1.6541978 -0.92171735 0.502825 -4.4889326 1.7979167 2.9830794 -7.888356 0.0085452655 0.17738643 0.0789657 0.039858043 -0.20501648 0.08676789 -0.25999787 -0.43600383 0.2828654 2.592356 1.2927008 0.5374677 -1.6586168 0.36908543 -5.9124875 -6.109609
// out: -0.32813 -2.6958122 -1.3350786 0.11029394 -1.9944341 0.71682465 4.1384344 -3.2075143
// out: -0.05399745 -0.0006997604 -0.013514571 0.10325058 -0.13649566 0.16638236 0.10811945 -0.7463244 -0.026121102 -0.0023662262 -0.008253396 -4.2749615 -0.028257182 0.23172824 0.18931535 0.068335444 2.2833297 -5.82415 -4.3816895 4.4721084 0.30845225 0.3139234 0.33944514 -10.8296 1.3945923 0.27409583 0.56567585 -9.364043 1.2022545 -3.419627 -2.6058116 2.7035842
// out: 1.25 -1.6666667 -1.1111112 -0.5555556
