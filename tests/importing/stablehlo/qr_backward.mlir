module @jit_qr_backward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf32>) -> (tensor<5x3xf32> {jax.result_info = "result"}) {
    %0:6 = call @qr(%arg0) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>)
    %1 = stablehlo.multiply %0#0, %0#0 : tensor<5x3xf32>
    %2 = stablehlo.multiply %1, %0#0 : tensor<5x3xf32>
    %3 = stablehlo.multiply %0#0, %0#0 : tensor<5x3xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<5x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<f32>
    %7 = stablehlo.multiply %0#1, %0#1 : tensor<3x3xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %9 = stablehlo.multiply %8, %0#1 : tensor<3x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<f32>
    %11 = stablehlo.add %6, %10 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %13 = stablehlo.multiply %12, %9 : tensor<3x3xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %15 = stablehlo.multiply %14, %5 : tensor<5x3xf32>
    %16 = call @qr_0(%0#1, %0#2, %0#3, %0#4, %0#5, %0#0, %15, %13) : (tensor<3x3xf32>, tensor<3x5xf32>, tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
    return %16 : tensor<5x3xf32>
  }
  func.func private @qr(%arg0: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>) {
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=5, j=3, k=5, l=3, m=3}, custom>} : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
    %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=5, j=3, k=3, l=5, m=3}, custom>} : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
    %2 = stablehlo.slice %0#0 [0:3, 0:3] : (tensor<5x3xf32>) -> tensor<3x3xf32>
    %3 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %5 = stablehlo.add %3, %4 : tensor<3x3xi32>
    %6 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %9 = stablehlo.select %7, %8, %2 : tensor<3x3xi1>, tensor<3x3xf32>
    %10 = stablehlo.transpose %1, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %11 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %13 = stablehlo.add %11, %12 : tensor<3x3xi32>
    %14 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %17 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %19 = stablehlo.add %17, %18 : tensor<3x3xi32>
    %20 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %21 = stablehlo.compare EQ, %19, %20, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %22 = stablehlo.convert %21 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    return %1, %9, %10, %15, %16, %22 : tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>
  }
  func.func private @qr_0(%arg0: tensor<3x3xf32>, %arg1: tensor<3x5xf32>, %arg2: tensor<3x3xi1>, %arg3: tensor<3x3xf32>, %arg4: tensor<3x3xf32>, %arg5: tensor<5x3xf32>, %arg6: tensor<5x3xf32>, %arg7: tensor<3x3xf32>) -> tensor<5x3xf32> {
    %0 = stablehlo.dot_general %arg7, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.negate %0 : tensor<3x3xf32>
    %2 = stablehlo.dot_general %arg6, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %4 = stablehlo.negate %3 : tensor<3x3xf32>
    %5 = stablehlo.add %1, %3 : tensor<3x3xf32>
    %6 = stablehlo.add %0, %4 : tensor<3x3xf32>
    %7 = stablehlo.multiply %arg4, %5 : tensor<3x3xf32>
    %8 = stablehlo.negate %7 : tensor<3x3xf32>
    %9 = stablehlo.add %6, %7 : tensor<3x3xf32>
    %10 = stablehlo.add %9, %8 : tensor<3x3xf32>
    %11 = stablehlo.negate %5 : tensor<3x3xf32>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %13 = stablehlo.add %5, %12 : tensor<3x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %15 = stablehlo.select %arg2, %13, %14 : tensor<3x3xi1>, tensor<3x3xf32>
    %16 = stablehlo.add %10, %15 : tensor<3x3xf32>
    %17 = stablehlo.dot_general %16, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %19 = stablehlo.add %arg6, %18 : tensor<5x3xf32>
    %20 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %19) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=3, j=3, k=5, l=3, m=5, n=3}, custom>} : (tensor<3x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    return %20 : tensor<5x3xf32>
  }
}

// in: -1.375 -1.375 1.375 0.125 0.625 0.625 1.125 -1.875 0.125 -1.375 -0.375 1.875 0.375 -1.625 0.375
// out: -2.7830985 -2.9047086 2.4566119 -0.065712705 1.0018123 0.9501348 2.7109733 -3.743122 0.30970478 -2.3609939 -0.61332357 4.062755 0.77731955 -3.254025 0.741854
