module @jit_llama_block_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<4x2xf32>, %arg5: tensor<4x4xf32>, %arg6: tensor<4xf32>, %arg7: tensor<4x6xf32>, %arg8: tensor<4x6xf32>, %arg9: tensor<6x4xf32>, %arg10: tensor<1x3x4xf32>) -> (tensor<1x3x4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4x4xf32> {jax.result_info = "result[2]"}, tensor<4x2xf32> {jax.result_info = "result[3]"}, tensor<4x2xf32> {jax.result_info = "result[4]"}, tensor<4x4xf32> {jax.result_info = "result[5]"}, tensor<4xf32> {jax.result_info = "result[6]"}, tensor<4x6xf32> {jax.result_info = "result[7]"}, tensor<4x6xf32> {jax.result_info = "result[8]"}, tensor<6x4xf32> {jax.result_info = "result[9]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<1x3x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<1x3x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %6 = stablehlo.divide %4, %5 : tensor<1x3x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x3x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<1x3x1xf32>
    %10 = stablehlo.divide %9, %8 : tensor<1x3x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<1x3x1xf32>
    %13 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %14 = stablehlo.multiply %arg0, %13 : tensor<1x3x4xf32>
    %15 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<1x3x4xf32>
    %18 = stablehlo.dot_general %17, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %19 = stablehlo.reshape %18 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %20 = stablehlo.iota dim = 0 : tensor<1xf32>
    %21 = stablehlo.negate %20 : tensor<1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %23 = stablehlo.divide %21, %22 : tensor<1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %25 = stablehlo.power %24, %23 : tensor<1xf32>
    %26 = stablehlo.iota dim = 0 : tensor<3xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<3x1xf32>
    %30 = stablehlo.multiply %27, %29 : tensor<3x1xf32>
    %31 = stablehlo.cosine %30 : tensor<3x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [1, 3] : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
    %33 = stablehlo.sine %30 : tensor<3x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 3] : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
    %35 = stablehlo.slice %19 [0:1, 0:3, 0:2, 0:1] : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x1xf32>
    %36 = stablehlo.slice %19 [0:1, 0:3, 0:2, 1:2] : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x1xf32>
    %37 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<1x3x2x1xf32>
    %39 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %40 = stablehlo.multiply %36, %39 : tensor<1x3x2x1xf32>
    %41 = stablehlo.subtract %38, %40 : tensor<1x3x2x1xf32>
    %42 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %43 = stablehlo.multiply %36, %42 : tensor<1x3x2x1xf32>
    %44 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %45 = stablehlo.multiply %35, %44 : tensor<1x3x2x1xf32>
    %46 = stablehlo.add %43, %45 : tensor<1x3x2x1xf32>
    %47 = stablehlo.concatenate %41, %46, dim = 3 : (tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x2xf32>
    %48 = stablehlo.dot_general %17, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x2xf32>) -> tensor<1x3x2xf32>
    %49 = stablehlo.reshape %48 : (tensor<1x3x2xf32>) -> tensor<1x3x1x2xf32>
    %50 = stablehlo.iota dim = 0 : tensor<1xf32>
    %51 = stablehlo.negate %50 : tensor<1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %53 = stablehlo.divide %51, %52 : tensor<1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %55 = stablehlo.power %54, %53 : tensor<1xf32>
    %56 = stablehlo.iota dim = 0 : tensor<3xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %58 = stablehlo.broadcast_in_dim %55, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<3x1xf32>
    %60 = stablehlo.multiply %57, %59 : tensor<3x1xf32>
    %61 = stablehlo.cosine %60 : tensor<3x1xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [1, 3] : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
    %63 = stablehlo.sine %60 : tensor<3x1xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [1, 3] : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
    %65 = stablehlo.slice %49 [0:1, 0:3, 0:1, 0:1] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x1xf32>
    %66 = stablehlo.slice %49 [0:1, 0:3, 0:1, 1:2] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x1xf32>
    %67 = stablehlo.multiply %65, %62 : tensor<1x3x1x1xf32>
    %68 = stablehlo.multiply %66, %64 : tensor<1x3x1x1xf32>
    %69 = stablehlo.subtract %67, %68 : tensor<1x3x1x1xf32>
    %70 = stablehlo.multiply %66, %62 : tensor<1x3x1x1xf32>
    %71 = stablehlo.multiply %65, %64 : tensor<1x3x1x1xf32>
    %72 = stablehlo.add %70, %71 : tensor<1x3x1x1xf32>
    %73 = stablehlo.concatenate %69, %72, dim = 3 : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x2xf32>
    %74 = stablehlo.dot_general %17, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x2xf32>) -> tensor<1x3x2xf32>
    %75 = stablehlo.reshape %74 : (tensor<1x3x2xf32>) -> tensor<1x3x1x2xf32>
    %76 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 4] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x2x2xf32>
    %77 = stablehlo.reshape %76 : (tensor<1x3x1x2x2xf32>) -> tensor<1x3x2x2xf32>
    %78 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2, 4] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x2x2xf32>
    %79 = stablehlo.reshape %78 : (tensor<1x3x1x2x2xf32>) -> tensor<1x3x2x2xf32>
    %80 = stablehlo.dot_general %47, %77, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x3xf32>
    %cst_8 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %82 = stablehlo.divide %80, %81 : tensor<1x2x3x3xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %83 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %84 = call @tril(%83) : (tensor<3x3xi1>) -> tensor<3x3xi1>
    %cst_9 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %85:3 = call @_where(%84, %82, %cst_9) : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>)
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86 = stablehlo.reduce(%85#0 init: %cst_10) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %87 = stablehlo.reshape %86 : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %89 = stablehlo.compare EQ, %85#0, %88, FLOAT : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi1>
    %90 = stablehlo.convert %89 : (tensor<1x2x3x3xi1>) -> tensor<1x2x3x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.reduce(%90 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %93 = stablehlo.maximum %92, %86 : tensor<1x2x3xf32>
    %94 = stablehlo.compare EQ, %86, %93, FLOAT : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %97 = stablehlo.select %94, %95, %96 : tensor<1x2x3xi1>, tensor<1x2x3xf32>
    %cst_15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %99 = stablehlo.compare EQ, %98, %93, FLOAT : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %102 = stablehlo.select %99, %100, %101 : tensor<1x2x3xi1>, tensor<1x2x3xf32>
    %103 = stablehlo.divide %97, %102 : tensor<1x2x3xf32>
    %104 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %106 = stablehlo.subtract %85#0, %105 : tensor<1x2x3x3xf32>
    %107 = stablehlo.exponential %106 : tensor<1x2x3x3xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %108 = stablehlo.reduce(%107 init: %cst_18) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %111 = stablehlo.divide %107, %110 : tensor<1x2x3x3xf32>
    %112 = stablehlo.multiply %109, %109 : tensor<1x2x3x1xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x2x3x1xf32>
    %114 = stablehlo.divide %113, %112 : tensor<1x2x3x1xf32>
    %115 = stablehlo.dot_general %79, %111, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x2x3xf32>
    %116 = stablehlo.transpose %115, dims = [0, 3, 1, 2] : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    %117 = stablehlo.reshape %116 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %118 = stablehlo.dot_general %117, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %119 = stablehlo.add %arg0, %118 : tensor<1x3x4xf32>
    %120 = stablehlo.multiply %119, %119 : tensor<1x3x4xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %122 = stablehlo.multiply %121, %119 : tensor<1x3x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%120 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %124 = stablehlo.broadcast_in_dim %123, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_22 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %126 = stablehlo.divide %124, %125 : tensor<1x3x1xf32>
    %cst_23 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %128 = stablehlo.add %126, %127 : tensor<1x3x1xf32>
    %129 = stablehlo.rsqrt %128 : tensor<1x3x1xf32>
    %130 = stablehlo.divide %129, %128 : tensor<1x3x1xf32>
    %cst_24 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %132 = stablehlo.multiply %131, %130 : tensor<1x3x1xf32>
    %133 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %134 = stablehlo.multiply %119, %133 : tensor<1x3x4xf32>
    %135 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %137 = stablehlo.multiply %134, %136 : tensor<1x3x4xf32>
    %138 = stablehlo.dot_general %137, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x6xf32>) -> tensor<1x3x6xf32>
    %139:3 = call @silu(%138) : (tensor<1x3x6xf32>) -> (tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>)
    %140 = stablehlo.dot_general %137, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x6xf32>) -> tensor<1x3x6xf32>
    %141 = stablehlo.multiply %139#0, %140 : tensor<1x3x6xf32>
    %142 = stablehlo.dot_general %141, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x6xf32>, tensor<6x4xf32>) -> tensor<1x3x4xf32>
    %143 = stablehlo.add %119, %142 : tensor<1x3x4xf32>
    %144 = stablehlo.dot_general %arg10, %141, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<1x3x6xf32>) -> tensor<4x6xf32>
    %145 = stablehlo.transpose %144, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %146 = stablehlo.dot_general %arg10, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<6x4xf32>) -> tensor<1x3x6xf32>
    %147 = stablehlo.multiply %139#0, %146 : tensor<1x3x6xf32>
    %148 = stablehlo.multiply %146, %140 : tensor<1x3x6xf32>
    %149 = stablehlo.dot_general %147, %137, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x6xf32>, tensor<1x3x4xf32>) -> tensor<6x4xf32>
    %150 = stablehlo.transpose %149, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %151 = stablehlo.dot_general %147, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x6xf32>, tensor<4x6xf32>) -> tensor<1x3x4xf32>
    %152 = call @silu_0(%139#1, %139#2, %138, %148) : (tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
    %153 = stablehlo.dot_general %152, %137, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x6xf32>, tensor<1x3x4xf32>) -> tensor<6x4xf32>
    %154 = stablehlo.transpose %153, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %155 = stablehlo.dot_general %152, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x6xf32>, tensor<4x6xf32>) -> tensor<1x3x4xf32>
    %156 = stablehlo.add %151, %155 : tensor<1x3x4xf32>
    %157 = stablehlo.multiply %134, %156 : tensor<1x3x4xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_25) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %159 = stablehlo.reshape %158 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %160 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %161 = stablehlo.multiply %156, %160 : tensor<1x3x4xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %162 = stablehlo.reduce(%159 init: %cst_26) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %163 = stablehlo.multiply %119, %161 : tensor<1x3x4xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.reduce(%163 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %165 = stablehlo.reshape %164 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %166 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %167 = stablehlo.multiply %161, %166 : tensor<1x3x4xf32>
    %168 = stablehlo.add %arg10, %167 : tensor<1x3x4xf32>
    %169 = stablehlo.multiply %165, %132 : tensor<1x3x1xf32>
    %cst_28 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %171 = stablehlo.divide %169, %170 : tensor<1x3x1xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%171 init: %cst_29) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %175 = stablehlo.multiply %174, %122 : tensor<1x3x4xf32>
    %176 = stablehlo.add %168, %175 : tensor<1x3x4xf32>
    %177 = stablehlo.dot_general %176, %117, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<4x4xf32>
    %178 = stablehlo.transpose %177, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %179 = stablehlo.dot_general %176, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %180 = stablehlo.reshape %179 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %181 = stablehlo.transpose %180, dims = [0, 2, 3, 1] : (tensor<1x3x2x2xf32>) -> tensor<1x2x2x3xf32>
    %182 = stablehlo.dot_general %181, %79, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x2x2x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x3xf32>
    %183 = stablehlo.dot_general %181, %111, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x2x2x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x2x3xf32>
    %184 = stablehlo.transpose %183, dims = [0, 3, 1, 2] : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    %185 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %186 = stablehlo.multiply %182, %185 : tensor<1x2x3x3xf32>
    %187 = stablehlo.multiply %186, %107 : tensor<1x2x3x3xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %188 = stablehlo.reduce(%187 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %189 = stablehlo.reshape %188 : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %190 = stablehlo.negate %189 : tensor<1x2x3x1xf32>
    %191 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %192 = stablehlo.divide %182, %191 : tensor<1x2x3x3xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %193 = stablehlo.reduce(%190 init: %cst_31) applies stablehlo.add across dimensions = [0, 3] : (tensor<1x2x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
    %194 = stablehlo.broadcast_in_dim %193, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
    %196 = stablehlo.add %192, %195 : tensor<1x2x3x3xf32>
    %197 = stablehlo.multiply %196, %107 : tensor<1x2x3x3xf32>
    %198 = call @_where_1(%85#1, %85#2, %197) : (tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
    %cst_32 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %200 = stablehlo.divide %198, %199 : tensor<1x2x3x3xf32>
    %201 = stablehlo.dot_general %200, %47, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x3x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
    %202 = stablehlo.transpose %201, dims = [0, 2, 1, 3] : (tensor<1x2x3x2xf32>) -> tensor<1x3x2x2xf32>
    %203 = stablehlo.dot_general %200, %77, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x3x3xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x2xf32>
    %204 = stablehlo.transpose %203, dims = [0, 2, 1, 3] : (tensor<1x2x3x2xf32>) -> tensor<1x3x2x2xf32>
    %205 = stablehlo.reshape %184 : (tensor<1x3x2x2xf32>) -> tensor<1x3x1x2x2xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %206 = stablehlo.reduce(%205 init: %cst_33) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [1, 3] : (tensor<3x2xf32>) -> tensor<1x3x1x2xf32>
    %208 = stablehlo.reshape %202 : (tensor<1x3x2x2xf32>) -> tensor<1x3x1x2x2xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.reduce(%208 init: %cst_34) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x3x1x2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [1, 3] : (tensor<3x2xf32>) -> tensor<1x3x1x2xf32>
    %211 = stablehlo.reshape %207 : (tensor<1x3x1x2xf32>) -> tensor<1x3x2xf32>
    %212 = stablehlo.dot_general %211, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2xf32>, tensor<1x3x4xf32>) -> tensor<2x4xf32>
    %213 = stablehlo.transpose %212, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %214 = stablehlo.dot_general %211, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2xf32>, tensor<4x2xf32>) -> tensor<1x3x4xf32>
    %215 = stablehlo.slice %210 [0:1, 0:3, 0:1, 0:1] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x1xf32>
    %216 = stablehlo.slice %210 [0:1, 0:3, 0:1, 1:2] : (tensor<1x3x1x2xf32>) -> tensor<1x3x1x1xf32>
    %217 = stablehlo.multiply %216, %64 : tensor<1x3x1x1xf32>
    %218 = stablehlo.multiply %216, %62 : tensor<1x3x1x1xf32>
    %219 = stablehlo.negate %215 : tensor<1x3x1x1xf32>
    %220 = stablehlo.multiply %219, %64 : tensor<1x3x1x1xf32>
    %221 = stablehlo.add %218, %220 : tensor<1x3x1x1xf32>
    %222 = stablehlo.multiply %215, %62 : tensor<1x3x1x1xf32>
    %223 = stablehlo.add %217, %222 : tensor<1x3x1x1xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %224 = stablehlo.pad %221, %cst_35, low = [0, 0, 0, 1], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<1x3x1x2xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %225 = stablehlo.pad %223, %cst_36, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<1x3x1x1xf32>, tensor<f32>) -> tensor<1x3x1x2xf32>
    %226 = stablehlo.add %224, %225 : tensor<1x3x1x2xf32>
    %227 = stablehlo.reshape %226 : (tensor<1x3x1x2xf32>) -> tensor<1x3x2xf32>
    %228 = stablehlo.dot_general %227, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2xf32>, tensor<1x3x4xf32>) -> tensor<2x4xf32>
    %229 = stablehlo.transpose %228, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %230 = stablehlo.dot_general %227, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2xf32>, tensor<4x2xf32>) -> tensor<1x3x4xf32>
    %231 = stablehlo.add %214, %230 : tensor<1x3x4xf32>
    %232 = stablehlo.slice %204 [0:1, 0:3, 0:2, 0:1] : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x1xf32>
    %233 = stablehlo.slice %204 [0:1, 0:3, 0:2, 1:2] : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x1xf32>
    %234 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %235 = stablehlo.multiply %233, %234 : tensor<1x3x2x1xf32>
    %236 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %237 = stablehlo.multiply %233, %236 : tensor<1x3x2x1xf32>
    %238 = stablehlo.negate %232 : tensor<1x3x2x1xf32>
    %239 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %240 = stablehlo.multiply %238, %239 : tensor<1x3x2x1xf32>
    %241 = stablehlo.add %237, %240 : tensor<1x3x2x1xf32>
    %242 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x2x1xf32>
    %243 = stablehlo.multiply %232, %242 : tensor<1x3x2x1xf32>
    %244 = stablehlo.add %235, %243 : tensor<1x3x2x1xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %245 = stablehlo.pad %241, %cst_37, low = [0, 0, 0, 1], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x3x2x1xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.pad %244, %cst_38, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<1x3x2x1xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
    %247 = stablehlo.add %245, %246 : tensor<1x3x2x2xf32>
    %248 = stablehlo.reshape %247 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %249 = stablehlo.dot_general %248, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<4x4xf32>
    %250 = stablehlo.transpose %249, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %251 = stablehlo.dot_general %248, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %252 = stablehlo.add %231, %251 : tensor<1x3x4xf32>
    %253 = stablehlo.multiply %14, %252 : tensor<1x3x4xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_39) applies stablehlo.add across dimensions = [1] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %255 = stablehlo.reshape %254 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %256 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %257 = stablehlo.multiply %252, %256 : tensor<1x3x4xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %258 = stablehlo.reduce(%255 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %259 = stablehlo.multiply %arg0, %257 : tensor<1x3x4xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %260 = stablehlo.reduce(%259 init: %cst_41) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %261 = stablehlo.reshape %260 : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %262 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %263 = stablehlo.multiply %257, %262 : tensor<1x3x4xf32>
    %264 = stablehlo.add %176, %263 : tensor<1x3x4xf32>
    %265 = stablehlo.multiply %261, %12 : tensor<1x3x1xf32>
    %cst_42 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %267 = stablehlo.divide %265, %266 : tensor<1x3x1xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %268 = stablehlo.reduce(%267 init: %cst_43) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %269 = stablehlo.broadcast_in_dim %268, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %270 = stablehlo.broadcast_in_dim %269, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x4xf32>
    %271 = stablehlo.multiply %270, %2 : tensor<1x3x4xf32>
    %272 = stablehlo.add %264, %271 : tensor<1x3x4xf32>
    return %272, %258, %250, %229, %213, %178, %162, %154, %150, %145 : tensor<1x3x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>
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
  func.func private @_where(%arg0: tensor<3x3xi1>, %arg1: tensor<1x2x3x3xf32>, %arg2: tensor<f32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x3xi1>) -> tensor<1x2x3x3xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    return %3, %1, %4 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  }
  func.func private @silu(%arg0: tensor<1x3x6xf32>) -> (tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<1x3x6xf32>
    %1 = stablehlo.exponential %0 : tensor<1x3x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x6xf32>
    %3 = stablehlo.add %2, %1 : tensor<1x3x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x6xf32>
    %5 = stablehlo.divide %4, %3 : tensor<1x3x6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x6xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<1x3x6xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<1x3x6xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<1x3x6xf32>
    return %9, %8, %5 : tensor<1x3x6xf32>, tensor<1x3x6xf32>, tensor<1x3x6xf32>
  }
  func.func private @silu_0(%arg0: tensor<1x3x6xf32>, %arg1: tensor<1x3x6xf32>, %arg2: tensor<1x3x6xf32>, %arg3: tensor<1x3x6xf32>) -> tensor<1x3x6xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<1x3x6xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<1x3x6xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<1x3x6xf32>
    %3 = stablehlo.add %1, %2 : tensor<1x3x6xf32>
    return %3 : tensor<1x3x6xf32>
  }
  func.func private @_where_1(%arg0: tensor<1x2x3x3xi1>, %arg1: tensor<1x2x3x3xf32>, %arg2: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
    return %1 : tensor<1x2x3x3xf32>
  }
}

// in: 1.875 -0.875 -0.875 -0.125 1.875 -1.375 -0.875 0.125 -0.875 -0.375 -0.625 -1.625
// in: -1.875 -1.625 0.875 2.125
// in: 1.875 0.875 1.875 -0.125 0.375 0.625 -0.375 -0.875 0.875 -0.625 0.375 -1.625 -1.125 -1.875 0.625 1.375
// in: 1.625 1.375 1.875 -1.875 1.375 -0.625 0.875 -1.625
// in: -1.125 -0.125 -0.875 0.625 1.875 0.375 1.875 -1.375
// in: -0.125 0.875 -1.375 0.625 -0.375 -0.125 0.375 -0.625 0.875 1.875 -1.375 -1.625 -0.875 -1.375 -0.375 -0.375
// in: -1.125 -0.875 -0.625 0.625
// in: 1.625 0.875 -1.625 0.875 0.875 1.375 -1.125 -1.375 -1.875 1.125 -0.375 -0.875 0.875 0.375 0.125 -1.125 -1.375 1.375 -0.625 -1.625 1.875 -0.125 -0.125 0.625
// in: -0.125 0.875 1.875 -1.625 -0.625 2.125 1.875 -0.875 -0.875 -0.125 1.375 -0.625 -1.875 -1.875 -1.125 -0.875 2.125 -0.625 1.875 0.375 -1.875 -1.625 1.375 1.875
// in: -0.875 -1.125 0.375 0.125 -0.125 -0.375 -1.125 -0.375 0.125 1.875 0.625 1.875 2.125 0.625 0.125 -0.875 1.125 -1.375 -0.375 -0.125 -0.125 -1.375 0.125 0.125
// in: 0.375 -1.625 -0.125 -1.875 -0.875 0.375 0.625 -0.375 -0.375 2.125 1.125 -0.375
// out: -15.057002 -22.329002 -12.282917 -52.88698 2.1404212 5.7700715 1.858493 13.954893 -0.012778521 2.278112 2.4898603 -0.8064102
// out: 16.332003 -5.468091 12.155058 5.2991304
// out: 7.39124e-06 -1.018035e-05 2.8379987e-10 7.791631e-10 -4.697448e-06 6.4700243e-06 -1.4680548e-10 -6.765873e-10 1.6095953e-06 -2.21697e-06 4.34355e-11 2.6895483e-10 -5.586432e-07 7.6949124e-07 -8.908079e-11 3.0664626e-10
// out: -4.744266e-06 6.448922e-06 3.6619615e-06 -2.1675128e-06 -1.033191e-06 1.4043868e-06 7.8133223e-07 7.751935e-07
// out: 27.703835 -4.3544345 -9.848144 0.4296176 5.993007 -1.6032372 2.7837384 -4.3935595
// out: 10.969799 -28.776642 -15.3392105 -1.1210345 -1.5187478 8.662069 11.10325 -4.223621 0.8257031 0.05522115 3.1091797 -2.1635814 2.0508804 -1.4836401 4.6114035 -3.8567572
// out: -2.760713 -0.24353862 -13.405952 6.4235663
// out: 0.79602003 0.94124967 -0.22367105 0.31687343 1.0670451 1.0505116 -0.9897547 -1.1051149 -0.37355846 1.2986928 4.9725633 -0.9994353 -1.3217821 -1.4344308 0.7162724 -1.4562399 -5.100162 -1.80927 1.3797748 1.9912126 0.28240842 -1.2810948 -4.6140833 1.7605262
// out: 0.113684855 -0.2148096 -0.9670336 0.3423037 -0.30254412 0.16580655 0.29162398 0.18381369 0.3190736 1.4697211 -2.3368502 0.48166698 -0.428291 0.39053443 2.0294192 -1.5452255 2.016135 -0.63416564 -0.27535442 -0.31347454 -0.88252723 -1.2870526 2.4695837 -0.40638238
// out: -0.047510367 -0.79004014 -0.3049689 0.026696112 -0.2888078 1.3989849 0.075793095 1.6661729 -0.14759767 -0.8163981 -0.050234765 -0.60807604 -0.9904222 6.454408 3.1101534 -0.44051108 0.84091294 -2.3439732 -1.8482652 1.6496319 -0.39480472 0.2399058 0.5375693 -0.8079417
