module @jit_loop_complex attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<6xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %0) : tensor<i32>, tensor<i32>, tensor<6xcomplex<f32>>
    cond {
      %c_3 = stablehlo.constant dense<600> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4:2 = func.call @closed_call(%iterArg_1, %iterArg_2) : (tensor<i32>, tensor<6xcomplex<f32>>) -> (tensor<i32>, tensor<6xcomplex<f32>>)
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %5, %4#0, %4#1 : tensor<i32>, tensor<i32>, tensor<6xcomplex<f32>>
    }
    %2 = stablehlo.real %1#2 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %3 = stablehlo.imag %1#2 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    return %2, %3 : tensor<6xf32>, tensor<6xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<6xcomplex<f32>>) -> (tensor<i32>, tensor<6xcomplex<f32>>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.real %arg1 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %2 = stablehlo.imag %arg1 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %3 = stablehlo.negate %2 : tensor<6xf32>
    %4 = stablehlo.complex %1, %3 : tensor<6xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.500000e-01,5.000000e-01)> : tensor<complex<f32>>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %6 = stablehlo.add %4, %5 : tensor<6xcomplex<f32>>
    return %0, %6 : tensor<i32>, tensor<6xcomplex<f32>>
  }
}

// in: 0.625 -0.875 2.125 2.125 -1.625 -1.125
// in: -1.125 -1.125 0.375 -0.625 0.125 -1.125
// out: 150.625 149.125 152.125 152.125 148.375 148.875
// out: -1.125 -1.125 0.375 -0.625 0.125 -1.125
