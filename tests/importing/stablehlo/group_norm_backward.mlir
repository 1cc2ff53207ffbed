module @jit_group_norm_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x4x2xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<2x4x4x2xf32>) -> (tensor<2x4x4x2xf32> {jax.result_info = "result[0]"}, tensor<2x4x4x2xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x4x4x2xf32>) -> tensor<2x2x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x2x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<2x2x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:5 = call @_var(%0, %c) : (tensor<2x2x16xf32>, tensor<i32>) -> (tensor<2x2x1xf32>, tensor<2x2x16xf32>, tensor<f32>, tensor<i1>, tensor<2x2x1xf32>)
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %9 = stablehlo.add %7#0, %8 : tensor<2x2x1xf32>
    %10 = stablehlo.rsqrt %9 : tensor<2x2x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<2x2x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<2x2x1xf32>
    %14 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
    %15 = stablehlo.multiply %6, %14 : tensor<2x2x16xf32>
    %16 = stablehlo.reshape %15 : (tensor<2x2x16xf32>) -> tensor<2x4x4x2xf32>
    %17 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x4x2xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<2x4x4x2xf32>
    %20 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x4x2xf32>
    %22 = stablehlo.add %19, %21 : tensor<2x4x4x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%arg3 init: %cst_3) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x4x4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.reshape %23 : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_4) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %26 = stablehlo.multiply %16, %arg3 : tensor<2x4x4x2xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x4x4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %28 = stablehlo.reshape %27 : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
    %29 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<2x4x4x2xf32>
    %30 = stablehlo.multiply %arg3, %29 : tensor<2x4x4x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%28 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<4xf32>
    %32 = stablehlo.reshape %30 : (tensor<2x4x4x2xf32>) -> tensor<2x2x16xf32>
    %33 = stablehlo.multiply %6, %32 : tensor<2x2x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %36 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
    %37 = stablehlo.multiply %32, %36 : tensor<2x2x16xf32>
    %38 = stablehlo.multiply %35, %13 : tensor<2x2x1xf32>
    %39 = call @_var_0(%7#1, %7#2, %7#3, %7#4, %38) : (tensor<2x2x16xf32>, tensor<f32>, tensor<i1>, tensor<2x2x1xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
    %40 = stablehlo.negate %37 : tensor<2x2x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %42 = stablehlo.reshape %41 : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %43 = stablehlo.add %39, %37 : tensor<2x2x16xf32>
    %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %45 = stablehlo.divide %42, %44 : tensor<2x2x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2x2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x16xf32>
    %48 = stablehlo.add %43, %47 : tensor<2x2x16xf32>
    %49 = stablehlo.reshape %48 : (tensor<2x2x16xf32>) -> tensor<2x4x4x2xf32>
    return %22, %49, %31, %25 : tensor<2x4x4x2xf32>, tensor<2x4x4x2xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @_var(%arg0: tensor<2x2x16xf32>, %arg1: tensor<i32>) -> (tensor<2x2x1xf32>, tensor<2x2x16xf32>, tensor<f32>, tensor<i1>, tensor<2x2x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x2x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x2x16xf32>
    %6 = chlo.square %5 : tensor<2x2x16xf32> -> tensor<2x2x16xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x16xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<2x2x16xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<2x2x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16:2 = call @_where(%15, %14, %cst_5) : (tensor<i1>, tensor<2x2x1xf32>, tensor<f32>) -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<2x2x1xf32>, tensor<2x2x16xf32>, tensor<f32>, tensor<i1>, tensor<2x2x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x2x1xf32>, %arg2: tensor<f32>) -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x2x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    return %2, %3 : tensor<2x2x1xf32>, tensor<2x2x1xf32>
  }
  func.func private @_var_0(%arg0: tensor<2x2x16xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<2x2x1xf32>, %arg4: tensor<2x2x1xf32>) -> tensor<2x2x16xf32> {
    %0 = call @_where_1(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<2x2x1xf32>, tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x2x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x16xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<2x2x16xf32>
    %6 = stablehlo.negate %5 : tensor<2x2x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x2x16xf32>, tensor<f32>) -> tensor<2x2xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x2x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x16xf32>
    %13 = stablehlo.add %5, %12 : tensor<2x2x16xf32>
    return %13 : tensor<2x2x16xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<2x2x1xf32>, %arg2: tensor<2x2x1xf32>) -> tensor<2x2x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<2x2x1xf32>
    return %1 : tensor<2x2x1xf32>
  }
}

// in: 0.625 -0.125 -0.375 1.875 -0.375 -0.875 1.625 -1.625 -0.125 -0.625 -1.875 1.125 2.125 1.375 -0.625 0.375 1.625 -0.625 -0.125 1.875 -1.125 1.875 0.875 -0.125 1.375 -0.375 -0.375 0.625 1.875 1.125 0.875 0.625 1.625 -0.125 1.125 -0.125 0.625 0.625 -0.375 1.875 -0.875 -1.875 1.125 -1.625 0.375 1.125 -1.375 -0.125 0.375 1.375 0.125 0.375 0.375 -0.125 -1.875 2.125 1.625 -0.375 -0.375 0.625 1.875 0.375 -0.875 -1.625
// in: 0.125 -1.375 0.625 1.375
// in: 1.375 0.125 -1.375 0.875
// in: -1.125 -0.125 -1.125 1.625 -1.875 1.625 -0.875 -0.125 -0.125 -1.375 1.375 1.625 1.375 0.125 1.875 0.375 0.625 0.125 0.125 -1.875 1.625 0.125 -1.375 -1.625 1.875 -1.625 1.375 1.625 0.375 -1.375 -0.125 1.125 -1.875 -0.125 0.125 0.125 1.375 0.125 -0.875 -1.375 0.375 -1.625 -1.875 0.625 0.125 -1.625 -1.875 -1.625 0.125 -1.875 -0.875 0.625 -1.625 2.125 -1.125 0.375 2.125 -1.875 1.625 0.375 -0.625 0.125 -1.125 0.875
// out: 1.4249865 1.3450081 1.3183486 1.5582838 1.3183486 1.2650297 1.5316243 1.1850513 0.4549108 1.0414189 2.5076892 -1.0113595 -2.1843758 -1.3046136 1.0414189 -0.13159731 -0.71562314 -2.1992211 -1.8695326 -0.5507789 -2.5289094 -0.5507789 -1.2101557 -1.8695326 1.9629718 -0.575629 -0.575629 0.875 2.6882863 1.6003145 1.2376573 0.875 1.5442991 1.3467835 1.487866 1.3467835 1.4314331 1.4314331 1.3185669 1.5725156 1.3665267 2.6080534 -1.1165267 2.2976718 -0.18538168 -1.1165267 1.98729 0.43538168 -1.3046823 -0.7421406 -1.4453177 -1.3046823 -1.3046823 -1.5859531 -2.5704012 -0.3202343 2.5766885 0.10150522 0.10150522 1.3390969 2.8860865 1.029699 -0.5172907 -1.4454844
// out: 0.30982363 0.36595666 0.24248388 0.6872524 0.1625055 0.50206804 0.40382284 0.26494703 0.5259134 1.9585139 -1.3514556 -1.4426904 -1.0820966 0.33366898 -1.853789 -0.026924849 0.24171141 -0.15893088 -0.14316335 -1.3988469 0.81436676 -0.08009322 -1.1006935 -1.2970726 2.5416467 -2.5907414 1.7611458 2.155338 0.38147056 -2.1807816 -0.37537903 1.4300234 -0.5969515 -0.6082723 -0.4308869 -0.58005583 -0.34947187 -0.49055445 -0.7227557 -0.51068467 -1.1492379 1.2144804 1.8828673 -1.5491209 -0.6896874 1.5724857 1.5845294 1.4233167 0.018291607 -1.227666 -0.51403147 0.29956245 -0.9661563 1.2038121 -0.41291842 -0.052602943 2.4267635 -2.2818546 2.0497162 0.3818522 -1.0068322 0.102672845 -1.2932239 1.2726152
// out: -2.5406647 2.5489602 -3.820467 3.1430955
// out: -4.5 -2.25 -4.5 4.75
