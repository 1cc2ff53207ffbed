module @jit_branches attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>, %arg2: tensor<3xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1][0]"}, tensor<i1> {jax.result_info = "result[1][1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.subtract %arg1, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.clamp %c_0, %0, %c_1 : tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %14 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %15 = stablehlo.add %arg0, %14 : tensor<8xf32>
      stablehlo.return %15 : tensor<8xf32>
    }, {
      %14 = stablehlo.negate %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }, {
      %14 = stablehlo.multiply %arg0, %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %3 = stablehlo.slice %arg2 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.compare GT, %4, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.convert %5 : (tensor<i1>) -> tensor<i32>
    %7:2 = "stablehlo.case"(%6) ({
      %14 = stablehlo.exponential %arg0 : tensor<8xf32>
      %15 = stablehlo.slice %arg0 [1:2] : (tensor<8xf32>) -> tensor<1xf32>
      %16 = stablehlo.reshape %15 : (tensor<1xf32>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.compare GT, %16, %cst_8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %14, %17 : tensor<8xf32>, tensor<i1>
    }, {
      %14 = stablehlo.slice %arg0 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
      %15 = stablehlo.reshape %14 : (tensor<1xf32>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.compare GT, %15, %cst_8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %arg0, %16 : tensor<8xf32>, tensor<i1>
    }) : (tensor<i32>) -> (tensor<8xf32>, tensor<i1>)
    %c_2 = stablehlo.constant dense<7> : tensor<i32>
    %8 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.clamp %c_3, %8, %c_4 : tensor<i32>
    %10 = "stablehlo.case"(%9) ({
      %14 = stablehlo.sine %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }, {
      %14 = stablehlo.cosine %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %c_5 = stablehlo.constant dense<9> : tensor<i32>
    %11 = stablehlo.subtract %arg1, %c_5 : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.clamp %c_6, %11, %c_7 : tensor<i32>
    %13 = "stablehlo.case"(%12) ({
      %14 = stablehlo.sine %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }, {
      %14 = stablehlo.cosine %arg0 : tensor<8xf32>
      stablehlo.return %14 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %2, %7#0, %7#1, %10, %13 : tensor<8xf32>, tensor<8xf32>, tensor<i1>, tensor<8xf32>, tensor<8xf32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375
// in: 2
// in: 1.625 -1.875 -0.375
// out: -1.125 0.625 1.125 -2.125 1.375 0.625 -0.625 -1.375
// out: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375
// out: 1
// out: 0.4311765 0.8109631 0.4311765 -0.52626634 0.19454771 0.8109631 0.8109631 0.19454771
// out: 0.9022676 -0.58509725 -0.9022676 0.8503198 -0.9808931 -0.58509725 0.58509725 0.9808931
