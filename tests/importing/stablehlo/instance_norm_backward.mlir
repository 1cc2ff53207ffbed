module @jit_instance_norm_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x5xf32>, %arg1: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<2x3x5xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %cst_0 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6:5 = call @_var(%arg0, %c) : (tensor<2x3x5xf32>, tensor<i32>) -> (tensor<2x3x1xf32>, tensor<2x3x5xf32>, tensor<f32>, tensor<i1>, tensor<2x3x1xf32>)
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %8 = stablehlo.add %6#0, %7 : tensor<2x3x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x3x1xf32>
    %10 = stablehlo.divide %9, %8 : tensor<2x3x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<2x3x1xf32>
    %13 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
    %14 = stablehlo.multiply %5, %13 : tensor<2x3x5xf32>
    %15 = stablehlo.multiply %5, %arg1 : tensor<2x3x5xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %18 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
    %19 = stablehlo.multiply %arg1, %18 : tensor<2x3x5xf32>
    %20 = stablehlo.multiply %17, %12 : tensor<2x3x1xf32>
    %21 = call @_var_0(%6#1, %6#2, %6#3, %6#4, %20) : (tensor<2x3x5xf32>, tensor<f32>, tensor<i1>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
    %22 = stablehlo.negate %19 : tensor<2x3x5xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %24 = stablehlo.reshape %23 : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %25 = stablehlo.add %21, %19 : tensor<2x3x5xf32>
    %cst_5 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %27 = stablehlo.divide %24, %26 : tensor<2x3x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x5xf32>
    %30 = stablehlo.add %25, %29 : tensor<2x3x5xf32>
    return %14, %30 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  }
  func.func private @_var(%arg0: tensor<2x3x5xf32>, %arg1: tensor<i32>) -> (tensor<2x3x1xf32>, tensor<2x3x5xf32>, tensor<f32>, tensor<i1>, tensor<2x3x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %cst_0 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x5xf32>
    %6 = chlo.square %5 : tensor<2x3x5xf32> -> tensor<2x3x5xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<2x3x5xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<2x3x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16:2 = call @_where(%15, %14, %cst_5) : (tensor<i1>, tensor<2x3x1xf32>, tensor<f32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<2x3x1xf32>, tensor<2x3x5xf32>, tensor<f32>, tensor<i1>, tensor<2x3x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x3x1xf32>, %arg2: tensor<f32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x3x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    return %2, %3 : tensor<2x3x1xf32>, tensor<2x3x1xf32>
  }
  func.func private @_var_0(%arg0: tensor<2x3x5xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<2x3x1xf32>, %arg4: tensor<2x3x1xf32>) -> tensor<2x3x5xf32> {
    %0 = call @_where_1(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x3x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x5xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<2x3x5xf32>
    %6 = stablehlo.negate %5 : tensor<2x3x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
    %cst_1 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x3x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x5xf32>
    %13 = stablehlo.add %5, %12 : tensor<2x3x5xf32>
    return %13 : tensor<2x3x5xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<2x3x1xf32>, %arg2: tensor<2x3x1xf32>) -> tensor<2x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<2x3x1xf32>
    return %1 : tensor<2x3x1xf32>
  }
}

// in: 1.375 -0.375 0.875 -1.125 2.125 -1.625 -0.875 0.875 -1.875 -0.125 -1.375 2.125 -0.625 1.625 -0.625 1.625 -1.875 -1.875 -0.875 0.375 -1.375 0.625 0.125 -1.875 -0.625 0.125 1.875 -0.625 -0.625 -1.125
// in: -0.125 1.375 -0.375 -0.125 0.625 -1.625 0.375 -0.375 0.625 1.875 -1.125 -0.375 -0.375 -1.125 -0.375 -1.625 -0.875 0.125 -0.125 0.875 1.875 -0.125 2.125 1.625 -0.625 0.125 0.875 1.375 -0.625 0.375
// out: 0.6797724 -0.8072297 0.25491464 -1.4445163 1.3170589 -0.8933205 -0.14888674 1.5881255 -1.1414651 0.5955471 -1.156204 1.3729922 -0.6142334 1.0116785 -0.6142334 1.5849968 -0.99523044 -0.99523044 -0.2580227 0.663487 -0.81348443 1.3558073 0.81348443 -1.3558073 0.0 0.18983075 1.8508497 -0.5220346 -0.5220346 -0.99661136
// out: -0.30675673 0.8953458 -0.53989154 -0.4102863 0.36158866 -1.5732145 0.23408675 -0.9253433 0.7193721 1.5450988 -0.30706957 0.19527933 0.22641069 -0.34103104 0.22641069 -0.6741059 -0.5839557 0.15325205 0.10116601 1.0036436 0.5933695 -0.5550911 1.6301543 0.06700027 -1.7354335 -0.3163843 0.11864695 0.9887011 -0.90960646 0.11864278
