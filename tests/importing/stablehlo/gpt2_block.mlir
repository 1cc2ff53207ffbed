module @jit_gpt2_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<4x12xf32>, %arg4: tensor<12xf32>, %arg5: tensor<4x4xf32>, %arg6: tensor<4xf32>, %arg7: tensor<4xf32>, %arg8: tensor<4xf32>, %arg9: tensor<4x8xf32>, %arg10: tensor<8xf32>, %arg11: tensor<8x4xf32>, %arg12: tensor<4xf32>, %arg13: tensor<1x3x4xf32>, %arg14: tensor<1x3x4xf32>) -> (tensor<1x3x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = call @_var(%arg0, %c) : (tensor<1x3x4xf32>, tensor<i32>) -> tensor<1x3x1xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<1x3x4xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %8 = stablehlo.add %4, %7 : tensor<1x3x1xf32>
    %9 = stablehlo.sqrt %8 : tensor<1x3x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<1x3x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %13 = stablehlo.multiply %6, %12 : tensor<1x3x4xf32>
    %14 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<1x3x4xf32>
    %17 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %19 = stablehlo.add %16, %18 : tensor<1x3x4xf32>
    %20 = stablehlo.dot_general %19, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x12xf32>) -> tensor<1x3x12xf32>
    %21 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<1x3x12xf32>
    %23 = stablehlo.add %20, %22 : tensor<1x3x12xf32>
    %24 = stablehlo.slice %23 [0:1, 0:3, 0:4] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %25 = stablehlo.slice %23 [0:1, 0:3, 4:8] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %26 = stablehlo.slice %23 [0:1, 0:3, 8:12] : (tensor<1x3x12xf32>) -> tensor<1x3x4xf32>
    %27 = stablehlo.reshape %24 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %28 = stablehlo.reshape %25 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %29 = stablehlo.reshape %26 : (tensor<1x3x4xf32>) -> tensor<1x3x2x2xf32>
    %30 = stablehlo.dot_general %27, %28, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x2x3x3xf32>
    %cst_3 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %32 = stablehlo.divide %30, %31 : tensor<1x2x3x3xf32>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %33 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i1>) -> tensor<3x3xi1>
    %34 = call @tril(%33) : (tensor<3x3xi1>) -> tensor<3x3xi1>
    %cst_5 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %35 = call @_where_0(%34, %32, %cst_5) : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x3xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<1x2x3xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %41 = stablehlo.subtract %35, %40 : tensor<1x2x3x3xf32>
    %42 = stablehlo.exponential %41 : tensor<1x2x3x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x3xf32>
    %46 = stablehlo.divide %42, %45 : tensor<1x2x3x3xf32>
    %47 = stablehlo.dot_general %29, %46, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x3x2x2xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x2x3xf32>
    %48 = stablehlo.transpose %47, dims = [0, 3, 1, 2] : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    %49 = stablehlo.reshape %48 : (tensor<1x3x2x2xf32>) -> tensor<1x3x4xf32>
    %50 = stablehlo.dot_general %49, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x4xf32>) -> tensor<1x3x4xf32>
    %51 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %53 = stablehlo.add %50, %52 : tensor<1x3x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %55 = stablehlo.compare GT, %arg13, %54, FLOAT : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xi1>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %57 = stablehlo.divide %53, %56 : tensor<1x3x4xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = call @_where_1(%55, %57, %cst_11) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
    %59 = stablehlo.add %arg0, %58 : tensor<1x3x4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %63 = stablehlo.divide %61, %62 : tensor<1x3x1xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %64 = call @_var(%59, %c_14) : (tensor<1x3x4xf32>, tensor<i32>) -> tensor<1x3x1xf32>
    %65 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %66 = stablehlo.subtract %59, %65 : tensor<1x3x4xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %68 = stablehlo.add %64, %67 : tensor<1x3x1xf32>
    %69 = stablehlo.sqrt %68 : tensor<1x3x1xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %71 = stablehlo.divide %70, %69 : tensor<1x3x1xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %73 = stablehlo.multiply %66, %72 : tensor<1x3x4xf32>
    %74 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %76 = stablehlo.multiply %73, %75 : tensor<1x3x4xf32>
    %77 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %79 = stablehlo.add %76, %78 : tensor<1x3x4xf32>
    %80 = stablehlo.dot_general %79, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x4xf32>, tensor<4x8xf32>) -> tensor<1x3x8xf32>
    %81 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x3x8xf32>
    %83 = stablehlo.add %80, %82 : tensor<1x3x8xf32>
    %84 = stablehlo.multiply %83, %83 : tensor<1x3x8xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<1x3x8xf32>
    %cst_17 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<1x3x8xf32>
    %88 = stablehlo.add %83, %87 : tensor<1x3x8xf32>
    %cst_18 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %90 = stablehlo.multiply %89, %88 : tensor<1x3x8xf32>
    %91 = stablehlo.tanh %90 : tensor<1x3x8xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %93 = stablehlo.add %92, %91 : tensor<1x3x8xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1x3x8xf32>
    %95 = stablehlo.multiply %94, %93 : tensor<1x3x8xf32>
    %96 = stablehlo.multiply %83, %95 : tensor<1x3x8xf32>
    %97 = stablehlo.dot_general %96, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x3x8xf32>, tensor<8x4xf32>) -> tensor<1x3x4xf32>
    %98 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
    %100 = stablehlo.add %97, %99 : tensor<1x3x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %102 = stablehlo.compare GT, %arg14, %101, FLOAT : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xi1>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %104 = stablehlo.divide %100, %103 : tensor<1x3x4xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %105 = call @_where_1(%102, %104, %cst_23) : (tensor<1x3x4xi1>, tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
    %106 = stablehlo.add %59, %105 : tensor<1x3x4xf32>
    return %106 : tensor<1x3x4xf32>
  }
  func.func private @_var(%arg0: tensor<1x3x4xf32>, %arg1: tensor<i32>) -> tensor<1x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<1x3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1x3x4xf32>
    %6 = chlo.square %5 : tensor<1x3x4xf32> -> tensor<1x3x4xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<1x3x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<1x3x1xf32>, tensor<f32>) -> tensor<1x3x1xf32>
    return %14 : tensor<1x3x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<1x3x1xf32>, %arg2: tensor<f32>) -> tensor<1x3x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x3x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<1x3x1xf32>
    return %2 : tensor<1x3x1xf32>
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
  func.func private @_where_0(%arg0: tensor<3x3xi1>, %arg1: tensor<1x2x3x3xf32>, %arg2: tensor<f32>) -> tensor<1x2x3x3xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<3x3xi1>) -> tensor<1x2x3x3xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x2x3x3xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
    return %3 : tensor<1x2x3x3xf32>
  }
  func.func private @_where_1(%arg0: tensor<1x3x4xi1>, %arg1: tensor<1x3x4xf32>, %arg2: tensor<f32>) -> tensor<1x3x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x3x4xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<1x3x4xi1>, tensor<1x3x4xf32>
    return %2 : tensor<1x3x4xf32>
  }
}

// in: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125 -1.375 1.625 0.125 -1.375 -1.375
// in: -0.375 0.875 -0.375 1.625
// in: -1.875 -0.125 0.125 2.125
// in: -0.875 1.625 -1.625 -0.625 1.125 0.375 1.875 1.125 1.875 1.625 -1.375 1.875 1.625 -1.375 2.125 1.125 -0.625 -1.375 -0.375 1.875 1.375 -1.125 0.125 1.625 0.625 -0.625 -1.625 2.125 -1.125 0.125 0.875 -0.625 0.125 -0.875 1.625 0.625 -1.125 -0.625 0.875 0.875 -0.625 -1.375 -1.375 -0.875 1.375 1.625 -0.625 0.625
// in: 0.125 -0.875 0.375 -1.375 0.125 -1.375 -0.875 -0.875 -1.875 -0.375 1.125 0.875
// in: 1.375 1.625 -1.625 1.375 -1.625 -0.625 -1.625 -1.375 0.125 -0.125 -0.375 -0.125 -0.125 0.375 0.625 -0.375
// in: 1.125 0.625 0.125 -1.625
// in: 1.625 -1.125 -0.625 1.375
// in: 1.625 2.125 1.375 1.375
// in: 1.125 1.625 0.375 1.375 -0.875 -0.125 1.375 1.125 -0.125 0.375 -0.375 -0.125 -1.875 -0.875 1.125 1.625 1.375 -1.625 -1.375 1.375 0.875 1.625 -0.125 -0.125 -0.875 1.625 -1.375 -0.625 -1.625 0.125 0.625 0.375
// in: 0.375 -1.125 -0.375 -0.625 0.875 -0.875 0.625 -0.125
// in: 2.125 0.875 -1.125 0.875 -0.625 0.125 -1.125 -0.125 -1.875 0.125 0.125 -0.625 0.125 -1.375 1.875 -0.625 1.375 0.875 1.125 -1.625 1.125 0.625 -1.625 -0.875 1.875 -1.125 1.375 0.125 -0.625 -0.375 -1.625 -1.625
// in: 1.625 1.125 -1.375 1.375
// in: 1.375 -1.875 1.875 0.625 0.625 -0.875 1.375 -0.125 1.375 1.375 0.625 0.375
// in: 0.125 -1.875 0.625 -1.875 1.625 -0.375 0.625 1.875 1.875 -1.125 -0.625 -0.125
// out: 23.220364 2.125 7.999178 -2.0142636 22.789179 1.625 7.9234962 -9.663496 24.120667 -4.809718 11.1806755 -2.1041377
