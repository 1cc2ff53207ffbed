module @jit_cholesky_solve attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5xf32>, %arg1: tensor<2x5x3xf32>) -> (tensor<2x5x5xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}, tensor<2x5x3xf32> {jax.result_info = "result[2]"}, tensor<2x3x5xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.dot_general %arg0, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %2 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %3 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %5 = stablehlo.add %2, %4 : tensor<5x5xi32>
    %6 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %7 = stablehlo.convert %6 : (tensor<5x5xi1>) -> tensor<5x5xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<5x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x5x5xf32>) -> tensor<2x5x5xf32>
    %12 = stablehlo.add %1, %11 : tensor<2x5x5xf32>
    %13 = call @cholesky(%12) : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %14 = stablehlo.custom_call @lapack_strsm_ffi(%13, %arg1) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %15 = stablehlo.custom_call @lapack_strsm_ffi(%13, %14) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=5, m=3, n=5, o=3}, custom>} : (tensor<2x5x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
    %16 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
    %17 = stablehlo.custom_call @lapack_strsm_ffi(%13, %16) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=5, k=5, l=3, m=5, n=3, o=5}, custom>} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %13, %14, %15, %17 : tensor<2x5x5xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x5xf32>
  }
  func.func private @cholesky(%arg0: tensor<2x5x5xf32>) -> tensor<2x5x5xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x5x5xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x5x5xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=2, j=5, k=5, l=5, m=5}, custom>} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    %11 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %13 = stablehlo.add %11, %12 : tensor<5x5xi32>
    %14 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<2x5x5xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x5x5xf32>
    %18 = stablehlo.select %16, %10, %17 : tensor<2x5x5xi1>, tensor<2x5x5xf32>
    return %18 : tensor<2x5x5xf32>
  }
}

// in: -1.375 1.625 0.875 -0.375 -1.625 0.875 -0.625 1.625 -0.625 0.625 -1.125 0.375 -1.625 1.125 -1.625 1.125 1.125 -0.125 1.375 0.375 1.625 1.125 1.875 -1.625 -1.875 0.625 1.125 1.125 1.375 -0.375 1.625 0.125 -1.375 -1.125 1.375 0.875 1.625 2.125 1.375 -0.625 0.375 -0.125 -0.875 1.875 2.125 0.375 -1.125 -0.125 -0.125 0.875
// in: 1.875 -1.875 -1.625 -1.375 -1.875 1.625 -0.625 -1.375 -1.875 -1.875 1.625 1.875 -1.375 1.125 1.375 2.125 2.125 1.125 1.875 1.875 -0.875 -0.625 0.625 1.125 0.375 -1.375 -1.625 1.625 -0.125 1.125
// out: 3.4753597 0.0 0.0 0.0 0.0 -0.45408967 2.8934283 0.0 0.0 0.0 0.84973216 -1.7945045 2.8303416 0.0 0.0 -0.27425218 -0.23204656 0.04010375 2.9064507 0.0 1.4072284 1.4682869 -0.6343032 0.23188397 3.6035893 2.9921772 0.0 0.0 0.0 0.0 -0.81984615 3.3212914 0.0 0.0 0.0 2.3028798 -0.5465097 2.9327796 0.0 0.0 0.29765114 0.8591246 -0.23878708 3.4741063 0.0 -0.55874866 0.45954627 -0.32273054 0.49223188 2.3093927
// out: 0.5395125 -0.5395125 -0.4675775 -0.39054465 -0.73269033 0.4882367 -0.6304099 -0.78837657 -0.21253315 -0.61669046 0.46057415 0.6429089 -0.5044016 0.653001 0.2864439 0.71018517 0.71018517 0.37598038 0.7398455 0.7398455 -0.17064264 -0.6328939 -0.2066771 0.056569036 -0.17936523 -0.65379655 -0.45387203 0.67803836 0.0809478 0.71670943
// out: 0.22666359 -0.22161366 -0.12088261 -0.23589507 -0.4824642 0.108222865 -0.25125352 -0.23997483 -0.060321335 -0.20101258 0.14400892 0.2148589 -0.139972 0.1812085 0.07948849 0.49640724 0.3961637 0.15909168 0.1748082 0.25432396 -0.0426968 -0.19108215 -0.08234115 0.03922251 -0.0932282 -0.19315761 -0.17461582 0.2936003 0.035051554 0.3103454
// out: 3.5615969 -2.2918885 -1.434759 -1.5561595 -1.375 -4.5168033 -4.4953537 -0.71611565 1.3641305 1.125 -3.1109087 -1.9443728 -1.065241 1.5561595 1.375 4.758383 1.3828546 -0.20201796 -0.4248768 1.625 4.4528694 3.208993 0.27101877 -1.313471 -0.125 1.0003734 1.0087563 0.96781194 -2.178761 1.125
