"builtin.module"() <{sym_name = "jit_generic"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x5xf32>, tensor<4xi32>, tensor<5x3xf32>) -> (tensor<5xf32>, tensor<3xi32>, tensor<2x4xf32>, tensor<3xf32>, tensor<4x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<5x7xf32>, tensor<2x2xf32>, tensor<3x10xf32>, tensor<1x2xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<3x5xf32>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x5xf32>, tensor<3xi32>, tensor<1x1x3x5xf32>, tensor<3x5xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}, {jax.result_info = "result[19]"}, {jax.result_info = "result[20]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg33: tensor<3x5xf32>, %arg34: tensor<4xi32>, %arg35: tensor<5x3xf32>):
    %76 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5xf32>
    %78 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %80 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %81:4 = "stablehlo.while"(%arg33, %80, %77, %79) ({
    ^bb0(%arg46: tensor<3x5xf32>, %arg47: tensor<i32>, %arg48: tensor<5xf32>, %arg49: tensor<3xi32>):
      %163 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %164 = "stablehlo.compare"(%arg47, %163) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%164) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg42: tensor<3x5xf32>, %arg43: tensor<i32>, %arg44: tensor<5xf32>, %arg45: tensor<3xi32>):
      %158 = "func.call"(%arg42, %arg43) <{callee = @dynamic_index_in_dim}> : (tensor<3x5xf32>, tensor<i32>) -> tensor<5xf32>
      %159:2 = "func.call"(%arg44, %158) <{callee = @closed_call}> : (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<i32>)
      %160 = "func.call"(%arg45, %159#1, %arg43) <{callee = @dynamic_update_index_in_dim}> : (tensor<3xi32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
      %161 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %162 = "stablehlo.add"(%arg43, %161) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg42, %162, %159#0, %160) : (tensor<3x5xf32>, tensor<i32>, tensor<5xf32>, tensor<3xi32>) -> ()
    }) : (tensor<3x5xf32>, tensor<i32>, tensor<5xf32>, tensor<3xi32>) -> (tensor<3x5xf32>, tensor<i32>, tensor<5xf32>, tensor<3xi32>)
    %82 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %84 = "stablehlo.reduce_window"(%arg33, %83) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %157 = "stablehlo.maximum"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%157) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<2x4xf32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
    %87 = "stablehlo.compare"(%arg33, %86) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
    %88 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %89 = "func.call"(%87, %arg33, %88) <{callee = @_where}> : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<i32>) -> tensor<3x5xf32>
    %90 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %91 = "stablehlo.reduce"(%89, %90) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %156 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%156) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %92 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %93 = "func.call"(%arg34, %92) <{callee = @remainder}> : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %94 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %96 = "stablehlo.compare"(%93, %95) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %97 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %99 = "stablehlo.add"(%93, %98) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %100 = "stablehlo.select"(%96, %99, %93) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %102 = "stablehlo.gather"(%arg33, %101) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<3x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
    %103 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %104 = "func.call"(%arg34, %103) <{callee = @remainder}> : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %105 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %107 = "stablehlo.compare"(%104, %106) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %108 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %110 = "stablehlo.add"(%104, %109) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %111 = "stablehlo.select"(%107, %110, %104) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %113 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x5xf32>
    %115 = "stablehlo.scatter"(%arg33, %112, %114) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %155 = "stablehlo.add"(%arg36, %arg37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%155) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<4x1xi32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %116 = "stablehlo.dot_general"(%arg33, %arg35) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
    %117 = "func.call"(%116) <{callee = @tanh}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %118 = "stablehlo.slice"(%arg34) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xi32>) -> tensor<1xi32>
    %119 = "stablehlo.reshape"(%118) : (tensor<1xi32>) -> tensor<i32>
    %120 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %121 = "stablehlo.compare"(%119, %120) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %122 = "stablehlo.convert"(%121) : (tensor<i1>) -> tensor<i32>
    %123 = "stablehlo.case"(%122) ({
      %154 = "stablehlo.cosine"(%arg33) : (tensor<3x5xf32>) -> tensor<3x5xf32>
      "stablehlo.return"(%154) : (tensor<3x5xf32>) -> ()
    }, {
      %153 = "stablehlo.sine"(%arg33) : (tensor<3x5xf32>) -> tensor<3x5xf32>
      "stablehlo.return"(%153) : (tensor<3x5xf32>) -> ()
    }) : (tensor<i32>) -> tensor<3x5xf32>
    %124 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %125 = "func.call"(%arg33, %124) <{callee = @_pad}> : (tensor<3x5xf32>, tensor<i32>) -> tensor<5x7xf32>
    %126 = "stablehlo.slice"(%arg33) <{limit_indices = array<i64: 3, 3>, start_indices = array<i64: 0, 1>, strides = array<i64: 2, 1>}> : (tensor<3x5xf32>) -> tensor<2x2xf32>
    %127 = "stablehlo.concatenate"(%arg33, %arg33) <{dimension = 1 : i64}> : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x10xf32>
    %128 = "stablehlo.slice"(%arg34) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xi32>) -> tensor<1xi32>
    %129 = "stablehlo.reshape"(%128) : (tensor<1xi32>) -> tensor<i32>
    %130 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %131 = "stablehlo.compare"(%129, %130) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %132 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %133 = "stablehlo.add"(%129, %132) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %134 = "stablehlo.select"(%131, %133, %129) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %135 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %136 = "stablehlo.dynamic_slice"(%arg33, %134, %135) <{slice_sizes = array<i64: 1, 2>}> : (tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %137 = "func.call"(%arg33) <{callee = @cumsum}> : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %138 = "stablehlo.transpose"(%arg33) <{permutation = array<i64: 1, 0>}> : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %139 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %140 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %141 = "func.call"(%arg33, %139, %140) <{callee = @clip}> : (tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<3x5xf32>
    %142:2 = "chlo.top_k"(%arg33) <{k = 2 : i64}> : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
    %143 = "stablehlo.constant"() <{value = dense<1.100000e+00> : tensor<f32>}> : () -> tensor<f32>
    %144 = "stablehlo.broadcast_in_dim"(%143) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
    %145 = "stablehlo.multiply"(%arg33, %144) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %146 = "stablehlo.reduce_precision"(%145) <{exponent_bits = 5 : i32, mantissa_bits = 3 : i32}> : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %147 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
    %148 = "stablehlo.broadcast_in_dim"(%arg33) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<3x5xf32>) -> tensor<1x1x3x5xf32>
    %149 = "stablehlo.slice"(%arg35) <{limit_indices = array<i64: 3, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<5x3xf32>) -> tensor<3x3xf32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<3x3xf32>) -> tensor<1x1x3x3xf32>
    %151 = "stablehlo.convolution"(%148, %150) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x1x3x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x5xf32>
    %152 = "stablehlo.reverse"(%arg33) <{dimensions = array<i64: 1>}> : (tensor<3x5xf32>) -> tensor<3x5xf32>
    "func.return"(%81#2, %81#3, %84, %91, %102, %115, %117, %123, %125, %126, %127, %136, %137, %138, %141, %142#0, %142#1, %146, %147, %151, %152) : (tensor<5xf32>, tensor<3xi32>, tensor<2x4xf32>, tensor<3xf32>, tensor<4x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<5x7xf32>, tensor<2x2xf32>, tensor<3x10xf32>, tensor<1x2xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<3x5xf32>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x5xf32>, tensor<3xi32>, tensor<1x1x3x5xf32>, tensor<3x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x5xf32>, tensor<i32>) -> tensor<5xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg31: tensor<3x5xf32>, %arg32: tensor<i32>):
    %73 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %74 = "stablehlo.dynamic_slice"(%arg31, %arg32, %73) <{slice_sizes = array<i64: 1, 5>}> : (tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
    %75 = "stablehlo.reshape"(%74) : (tensor<1x5xf32>) -> tensor<5xf32>
    "func.return"(%75) : (tensor<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<i32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg29: tensor<5xf32>, %arg30: tensor<5xf32>):
    %70 = "func.call"(%arg30) <{callee = @sort}> : (tensor<5xf32>) -> tensor<5xf32>
    %71 = "stablehlo.add"(%arg29, %70) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %72 = "func.call"(%arg30) <{callee = @argmax}> : (tensor<5xf32>) -> tensor<i32>
    "func.return"(%71, %72) : (tensor<5xf32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5xf32>) -> tensor<5xf32>, res_attrs = [{}], sym_name = "sort", sym_visibility = "private"}> ({
  ^bb0(%arg26: tensor<5xf32>):
    %54 = "stablehlo.sort"(%arg26) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg27: tensor<f32>, %arg28: tensor<f32>):
      %55 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %56 = "stablehlo.compare"(%arg27, %55) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %57 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %58 = "stablehlo.select"(%56, %57, %arg27) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %59 = "stablehlo.compare"(%arg27, %arg27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %60 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %61 = "stablehlo.select"(%59, %60, %58) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %63 = "stablehlo.compare"(%arg28, %62) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %65 = "stablehlo.select"(%63, %64, %arg28) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %66 = "stablehlo.compare"(%arg28, %arg28) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %67 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %68 = "stablehlo.select"(%66, %67, %65) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %69 = "stablehlo.compare"(%61, %68) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%69) : (tensor<i1>) -> ()
    }) : (tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%54) : (tensor<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5xf32>) -> tensor<i32>, sym_name = "argmax", sym_visibility = "private"}> ({
  ^bb0(%arg21: tensor<5xf32>):
    %41 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xi32>
    %42 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %44:2 = "stablehlo.reduce"(%arg21, %41, %42, %43) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<i32>, %arg24: tensor<f32>, %arg25: tensor<i32>):
      %45 = "stablehlo.compare"(%arg22, %arg24) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %46 = "stablehlo.compare"(%arg22, %arg22) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %47 = "stablehlo.or"(%45, %46) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %48 = "stablehlo.compare"(%arg22, %arg24) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %49 = "stablehlo.compare"(%arg23, %arg25) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %50 = "stablehlo.and"(%48, %49) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %51 = "stablehlo.or"(%47, %50) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %52 = "stablehlo.select"(%47, %arg22, %arg24) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %53 = "stablehlo.select"(%51, %arg23, %arg25) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%52, %53) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    "func.return"(%44#1) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3xi32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<3xi32>, %arg19: tensor<i32>, %arg20: tensor<i32>):
    %39 = "stablehlo.broadcast_in_dim"(%arg19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %40 = "stablehlo.dynamic_update_slice"(%arg18, %39, %arg20) : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
    "func.return"(%40) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x5xi1>, tensor<3x5xf32>, tensor<i32>) -> tensor<3x5xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<3x5xi1>, %arg16: tensor<3x5xf32>, %arg17: tensor<i32>):
    %36 = "stablehlo.convert"(%arg17) : (tensor<i32>) -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
    %38 = "stablehlo.select"(%arg15, %arg16, %37) : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    "func.return"(%38) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<4xi32>, %arg14: tensor<i32>):
    %15 = "stablehlo.convert"(%arg14) : (tensor<i32>) -> tensor<i32>
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.compare"(%15, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %18 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %19 = "func.call"(%17, %18, %15) <{callee = @_where_0}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %21 = "stablehlo.remainder"(%arg13, %20) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %24 = "stablehlo.compare"(%21, %23) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %27 = "stablehlo.compare"(%21, %26) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.compare"(%19, %28) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<4xi1>
    %31 = "stablehlo.compare"(%27, %30) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %32 = "stablehlo.and"(%31, %24) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %33 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %34 = "stablehlo.add"(%21, %33) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %35 = "stablehlo.select"(%32, %34, %21) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    "func.return"(%35) : (tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<i1>, %arg11: tensor<i32>, %arg12: tensor<i32>):
    %14 = "stablehlo.select"(%arg10, %arg11, %arg12) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%14) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x3xf32>) -> tensor<3x3xf32>, res_attrs = [{}], sym_name = "tanh", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<3x3xf32>):
    %13 = "stablehlo.tanh"(%arg9) : (tensor<3x3xf32>) -> tensor<3x3xf32>
    "func.return"(%13) : (tensor<3x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x5xf32>, tensor<i32>) -> tensor<5x7xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<3x5xf32>, %arg8: tensor<i32>):
    %11 = "stablehlo.convert"(%arg8) : (tensor<i32>) -> tensor<f32>
    %12 = "stablehlo.pad"(%arg7, %11) <{edge_padding_high = array<i64: 1, 1>, edge_padding_low = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<3x5xf32>, tensor<f32>) -> tensor<5x7xf32>
    "func.return"(%12) : (tensor<5x7xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x5xf32>) -> tensor<3x5xf32>, res_attrs = [{}], sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<3x5xf32>):
    %10 = "func.call"(%arg6) <{callee = @cumsum_1}> : (tensor<3x5xf32>) -> tensor<3x5xf32>
    "func.return"(%10) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x5xf32>) -> tensor<3x5xf32>, sym_name = "cumsum_1", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3x5xf32>):
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %8 = "stablehlo.reduce_window"(%arg3, %7) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %9 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%9) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    "func.return"(%8) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<3x5xf32>, res_attrs = [{}], sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x5xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
    %2 = "stablehlo.maximum"(%1, %arg0) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %3 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x5xf32>
    %5 = "stablehlo.minimum"(%4, %2) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    "func.return"(%5) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

// in: 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125
// in: 3 1 3 1
// in: -0.125 1.375 -0.625 -0.625 -0.875 1.125 -0.875 2.125 -0.125 0.125 0.125 0.375 0.375 0.125 2.125
// out: -3.375 -1.375 0.375 4.875 5.625
// out: 0 1 2
// out: 2.125 1.625 1.875 1.875 1.625 1.875 1.875 0.125
// out: 5.875 3.0 3.625
// out: 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625
// out: 4.125 2.625 2.875 3.875 2.375 3.375 3.625 0.875 0.125 1.375 -0.875 1.625 1.875 -1.875 0.125
// out: -0.7805885 0.99976075 0.64437824 -0.586212 -0.9773365 -0.7267833 -0.9916024 0.8146244 0.9357985
// out: 0.8503198 0.58509725 0.7675435 0.95408577 0.36627254 0.9808931 0.99853134 -0.9022676 -0.95408577 -0.58509725 -0.7675435 0.99853134 0.95408577 -0.95408577 0.12467473
// out: 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 2.125 0.625 0.875 1.875 0.375 0.0 0.0 1.375 1.625 -1.125 -1.875 -0.625 0.0 0.0 -0.875 1.625 1.875 -1.875 0.125 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
// out: 0.625 0.875 1.625 1.875
// out: 2.125 0.625 0.875 1.875 0.375 2.125 0.625 0.875 1.875 0.375 1.375 1.625 -1.125 -1.875 -0.625 1.375 1.625 -1.125 -1.875 -0.625 -0.875 1.625 1.875 -1.875 0.125 -0.875 1.625 1.875 -1.875 0.125
// out: -0.875 1.625
// out: 2.125 2.75 3.625 5.5 5.875 1.375 3.0 1.875 0.0 -0.625 -0.875 0.75 2.625 0.75 0.875
// out: 2.125 1.375 -0.875 0.625 1.625 1.625 0.875 -1.125 1.875 1.875 -1.875 -1.875 0.375 -0.625 0.125
// out: 1.0 0.625 0.875 1.0 0.375 1.0 1.0 -1.0 -1.0 -0.625 -0.875 1.0 1.0 -1.0 0.125
// out: 2.125 1.875 1.625 1.375 1.875 1.625
// out: 0 3 1 0 2 1
// out: 2.25 0.6875 0.9375 2.0 0.40625 1.5 1.75 -1.25 -2.0 -0.6875 -0.9375 1.75 2.0 -2.0 0.140625
// out: 0 1 2
// out: 1.5625 1.5 -2.625 -4.6875 -1.1875 1.09375 0.484375 0.609375 -1.765625 3.90625 3.46875 4.0 -5.34375 -1.4375 0.4375
// out: 0.375 1.875 0.875 0.625 2.125 -0.625 -1.875 -1.125 1.625 1.375 0.125 -1.875 1.875 1.625 -0.875
