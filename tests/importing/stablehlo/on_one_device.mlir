module @jit_on_one_device attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=1, "b"=1]> {stablehlo.mesh = {axes = [{name = "a", size = 1 : i64}, {name = "b", size = 1 : i64}]}}
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4x6xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"a"}, {"b"}]> : tensor<4x6xf32>
    %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %20 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %4 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %20 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.divide %4, %5 : tensor<4x6xf32>
    %c = stablehlo.constant dense<1> : tensor<ui32>
    %c_1 = stablehlo.constant dense<1> : tensor<ui32>
    %7 = stablehlo.partition_id : tensor<ui32>
    %8 = stablehlo.divide %7, %c : tensor<ui32>
    %9 = stablehlo.remainder %8, %c_1 : tensor<ui32>
    %10 = stablehlo.convert %9 : (tensor<ui32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.add %10, %c_2 : tensor<i32>
    %12 = stablehlo.convert %11 : (tensor<i32>) -> tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %14 = stablehlo.multiply %6, %13 : tensor<4x6xf32>
    %15 = stablehlo.add %3, %14 : tensor<4x6xf32>
    %16 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %17 = stablehlo.add %15, %16 : tensor<4x6xf32>
    %18 = "stablehlo.collective_permute"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %19 = stablehlo.add %17, %18 : tensor<4x6xf32>
    return %19, %2 : tensor<4x6xf32>, tensor<4x6xf32>
  }
}

// in: 1.875 1.625 1.375 1.625 -1.625 1.375 2.125 -0.875 -1.375 -1.625 1.375 2.125 0.625 0.625 1.375 -1.875 1.625 1.875 -1.375 2.125 1.625 -0.875 0.125 1.375
// out: 15.0 13.0 11.0 13.0 -13.0 11.0 17.0 -7.0 -11.0 -13.0 11.0 17.0 5.0 5.0 11.0 -15.0 13.0 15.0 -11.0 17.0 13.0 -7.0 1.0 11.0
// out: 3.75 3.25 2.75 3.25 -3.25 2.75 4.25 -1.75 -2.75 -3.25 2.75 4.25 1.25 1.25 2.75 -3.75 3.25 3.75 -2.75 4.25 3.25 -1.75 0.25 2.75
