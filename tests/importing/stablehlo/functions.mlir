module @jit_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32> {jax.result_info = "result[0]"}, tensor<2x5xf32> {jax.result_info = "result[1]"}, tensor<2x5xf32> {jax.result_info = "result[2]"}, tensor<2x5xf32> {jax.result_info = "result[3]"}, tensor<2x5xf32> {jax.result_info = "result[4]"}, tensor<2x5xf32> {jax.result_info = "result[5]"}, tensor<2x5xf32> {jax.result_info = "result[6]"}, tensor<2x5xf32> {jax.result_info = "result[7]"}, tensor<2x5xf32> {jax.result_info = "result[8]"}, tensor<2x5xf32> {jax.result_info = "result[9]"}, tensor<2x5xf32> {jax.result_info = "result[10]"}, tensor<2x5xf32> {jax.result_info = "result[11]"}, tensor<2x5xf32> {jax.result_info = "result[12]"}, tensor<2x5xf32> {jax.result_info = "result[13]"}, tensor<2x5xf32> {jax.result_info = "result[14]"}, tensor<2x5xf32> {jax.result_info = "result[15]"}, tensor<2x5xf32> {jax.result_info = "result[16]"}, tensor<2x5xf32> {jax.result_info = "result[17]"}, tensor<2x5xf32> {jax.result_info = "result[18]"}, tensor<2x5xf32> {jax.result_info = "result[19]"}) {
    %0 = stablehlo.abs %arg0 : tensor<2x5xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x5xf32>
    %3 = stablehlo.exponential %arg0 : tensor<2x5xf32>
    %4 = stablehlo.log %2 : tensor<2x5xf32>
    %5 = stablehlo.log_plus_one %2 : tensor<2x5xf32>
    %6 = stablehlo.exponential_minus_one %arg0 : tensor<2x5xf32>
    %7 = stablehlo.sqrt %2 : tensor<2x5xf32>
    %8 = stablehlo.sine %arg0 : tensor<2x5xf32>
    %9 = stablehlo.cosine %arg0 : tensor<2x5xf32>
    %10 = stablehlo.tan %arg0 : tensor<2x5xf32>
    %11 = stablehlo.tanh %arg0 : tensor<2x5xf32>
    %12 = stablehlo.atan2 %arg0, %2 : tensor<2x5xf32>
    %13 = stablehlo.power %2, %arg0 : tensor<2x5xf32>
    %14 = chlo.erf %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %15 = stablehlo.negate %arg0 : tensor<2x5xf32>
    %16 = stablehlo.exponential %15 : tensor<2x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %18 = stablehlo.add %17, %16 : tensor<2x5xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %20 = stablehlo.divide %19, %18 : tensor<2x5xf32>
    %21 = chlo.sinh %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %22 = chlo.cosh %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %23 = chlo.asinh %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %24 = chlo.atan %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %25 = chlo.erfc %arg0 : tensor<2x5xf32> -> tensor<2x5xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %27 = stablehlo.divide %26, %2 : tensor<2x5xf32>
    %28 = stablehlo.divide %arg0, %2 : tensor<2x5xf32>
    return %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %20, %21, %22, %23, %24, %25, %27, %28 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  }
}

// in: -0.125 1.625 2.125 -0.875 -1.625 0.625 0.875 1.375 0.625 1.125
// out: 0.8824969 5.0784187 8.372897 0.416862 0.19691168 1.868246 2.3988752 3.9550767 1.868246 3.080217
// out: -0.47000363 0.7537718 0.96508086 0.31845373 0.7537718 0.11778303 0.31845373 0.62860864 0.11778303 0.48550782
// out: 0.48550782 1.1394343 1.2878543 0.86499745 1.1394343 0.7537718 0.86499745 1.0560527 0.7537718 0.96508086
// out: -0.117503084 4.0784187 7.372897 -0.583138 -0.8030883 0.86824596 1.3988752 2.9550767 0.86824596 2.080217
// out: 0.7905694 1.4577379 1.6201851 1.172604 1.4577379 1.0606601 1.172604 1.3693064 1.0606601 1.2747549
// out: -0.12467473 0.99853134 0.8503198 -0.7675435 -0.99853134 0.58509725 0.7675435 0.9808931 0.58509725 0.9022676
// out: 0.9921977 -0.054177135 -0.52626634 0.6409969 -0.054177135 0.8109631 0.6409969 0.19454771 0.8109631 0.4311765
// out: -0.12565513 -18.430862 -1.6157594 -1.1974217 18.430862 0.7214844 1.1974217 5.0419154 0.7214844 2.0925713
// out: -0.124353 0.9253462 0.97187275 -0.70390564 -0.9253462 0.5545997 0.70390564 0.87982666 0.5545997 0.809301
// out: -0.19739556 0.65284663 0.68052125 -0.5667292 -0.65284663 0.5070985 0.5667292 0.63274884 0.5070985 0.6055447
// out: 1.0605105 3.4037547 7.7740936 0.75680697 0.2937932 1.0763917 1.3213408 2.3734317 1.0763917 1.7266728
// out: -0.1403162 0.9784437 0.99734586 -0.784075 -0.9784437 0.6232408 0.784075 0.94817007 0.6232408 0.88838816
// out: 0.46879062 0.83548355 0.8933094 0.29421496 0.16451646 0.6513549 0.70578504 0.7981868 0.6513549 0.754915
// out: -0.12532577 2.4407535 4.126732 -0.9910067 -2.4407535 0.6664923 0.9910066 1.8511186 0.6664923 1.3777822
// out: 1.0078226 2.6376653 4.2461653 1.4078686 2.6376653 1.2017537 1.4078686 2.1039581 1.2017537 1.7024347
// out: -0.12467675 1.2621593 1.4981793 -0.79016876 -1.2621593 0.5901437 0.79016876 1.1233647 0.5901437 0.9670597
// out: -0.12435499 1.0191414 1.1309538 -0.71883 -1.0191414 0.55859935 0.71883 0.94200015 0.55859935 0.84415394
// out: 1.1403162 0.021556268 0.0026540295 1.784075 1.9784437 0.37675917 0.21592498 0.05182993 0.37675917 0.11161177
// out: 1.6 0.47058824 0.3809524 0.72727275 0.47058824 0.8888889 0.72727275 0.53333336 0.8888889 0.61538464
// out: -0.2 0.7647059 0.8095238 -0.6363636 -0.7647059 0.5555556 0.6363636 0.73333335 0.5555556 0.6923077
