module @jit_nearly_all attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @top_k_gt_f32_comparator_0(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func @top_k_lt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%arg0: tensor<3x9xf32>) -> (tensor<3x3xf32> {jax.result_info = "result[0]"}, tensor<3x3xi32> {jax.result_info = "result[1]"}, tensor<3x2xf32> {jax.result_info = "result[2]"}, tensor<3x2xi32> {jax.result_info = "result[3]"}, tensor<2x9xf32> {jax.result_info = "result[4]"}, tensor<2x9xi32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.iota dim = 1 : tensor<3x9xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%arg0, %0, %cst, %c) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<3x9xf32>, tensor<3x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x3xf32>, tensor<3x3xi32>)
    %2 = stablehlo.iota dim = 1 : tensor<3x9xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %3:2 = stablehlo.custom_call @ApproxTopK(%arg0, %2, %cst_1, %c_0) {backend_config = "", called_computations = [@top_k_lt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<3x9xf32>, tensor<3x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
    %4 = stablehlo.iota dim = 0 : tensor<3x9xi32>
    %c_2 = stablehlo.constant dense<-1> : tensor<i32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5:2 = stablehlo.custom_call @ApproxTopK(%arg0, %4, %cst_3, %c_2) {backend_config = "", called_computations = [@top_k_gt_f32_comparator_0], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<3x9xf32>, tensor<3x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x9xf32>, tensor<2x9xi32>)
    return %1#0, %1#1, %3#0, %3#1, %5#0, %5#1 : tensor<3x3xf32>, tensor<3x3xi32>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<2x9xf32>, tensor<2x9xi32>
  }
}

// in: 1.375 2.125 -0.875 -1.125 1.375 1.625 0.125 -1.375 1.625 0.125 -1.375 -1.375 -0.375 0.875 -0.375 1.625 -1.875 -0.125 0.125 2.125 -0.875 1.625 -1.625 -0.625 1.125 0.375 1.875
// out: 2.125 1.625 1.625 1.625 0.875 0.125 2.125 1.875 1.625
// out: 1 5 8 6 4 0 1 8 3
// out: -1.375 -1.125 -1.875 -1.375 -1.625 -0.875
// out: 7 3 7 1 4 2
// out: 1.375 2.125 -0.875 1.625 1.375 1.625 1.625 0.375 1.875 0.125 2.125 -0.875 -0.375 0.875 -0.375 1.125 -1.375 1.625
// out: 0 0 0 2 0 0 1 2 2 1 2 2 1 1 1 2 0 0
