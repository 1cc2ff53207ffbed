module @jit_log_sums attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>) -> (tensor<3x5xf32> {jax.result_info = "result[0]"}, tensor<3x5xf32> {jax.result_info = "result[1]"}, tensor<3x5xf32> {jax.result_info = "result[2]"}) {
    %0 = call @cumlogsumexp(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %1 = call @cumlogsumexp_0(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %2 = stablehlo.slice %arg0 [0:3, 0:4:2] : (tensor<3x5xf32>) -> tensor<3x2xf32>
    %3 = stablehlo.slice %arg0 [0:3, 1:5:2] : (tensor<3x5xf32>) -> tensor<3x2xf32>
    %4 = stablehlo.maximum %2, %3 : tensor<3x2xf32>
    %5 = stablehlo.subtract %2, %3 : tensor<3x2xf32>
    %6 = stablehlo.compare NE, %5, %5, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %7 = stablehlo.add %2, %3 : tensor<3x2xf32>
    %8 = stablehlo.abs %5 : tensor<3x2xf32>
    %9 = stablehlo.negate %8 : tensor<3x2xf32>
    %10 = stablehlo.exponential %9 : tensor<3x2xf32>
    %11 = stablehlo.log_plus_one %10 : tensor<3x2xf32>
    %12 = stablehlo.add %4, %11 : tensor<3x2xf32>
    %13 = stablehlo.select %6, %7, %12 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %15 = stablehlo.compare EQ, %2, %14, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %17 = stablehlo.select %15, %16, %2 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %19 = stablehlo.compare EQ, %13, %18, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %21 = stablehlo.select %19, %20, %13 : tensor<3x2xi1>, tensor<3x2xf32>
    %22 = stablehlo.subtract %17, %21 : tensor<3x2xf32>
    %23 = stablehlo.exponential %22 : tensor<3x2xf32>
    %cst_3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %25 = stablehlo.compare EQ, %3, %24, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %27 = stablehlo.select %25, %26, %3 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %29 = stablehlo.compare EQ, %13, %28, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %31 = stablehlo.select %29, %30, %13 : tensor<3x2xi1>, tensor<3x2xf32>
    %32 = stablehlo.subtract %27, %31 : tensor<3x2xf32>
    %33 = stablehlo.exponential %32 : tensor<3x2xf32>
    %34 = stablehlo.slice %13 [0:3, 0:1:2] : (tensor<3x2xf32>) -> tensor<3x1xf32>
    %35 = stablehlo.slice %13 [0:3, 1:2:2] : (tensor<3x2xf32>) -> tensor<3x1xf32>
    %36 = stablehlo.maximum %34, %35 : tensor<3x1xf32>
    %37 = stablehlo.subtract %34, %35 : tensor<3x1xf32>
    %38 = stablehlo.compare NE, %37, %37, FLOAT : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
    %39 = stablehlo.add %34, %35 : tensor<3x1xf32>
    %40 = stablehlo.abs %37 : tensor<3x1xf32>
    %41 = stablehlo.negate %40 : tensor<3x1xf32>
    %42 = stablehlo.exponential %41 : tensor<3x1xf32>
    %43 = stablehlo.log_plus_one %42 : tensor<3x1xf32>
    %44 = stablehlo.add %36, %43 : tensor<3x1xf32>
    %45 = stablehlo.select %38, %39, %44 : tensor<3x1xi1>, tensor<3x1xf32>
    %cst_7 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %47 = stablehlo.compare EQ, %34, %46, FLOAT : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %49 = stablehlo.select %47, %48, %34 : tensor<3x1xi1>, tensor<3x1xf32>
    %cst_9 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %51 = stablehlo.compare EQ, %45, %50, FLOAT : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %53 = stablehlo.select %51, %52, %45 : tensor<3x1xi1>, tensor<3x1xf32>
    %54 = stablehlo.subtract %49, %53 : tensor<3x1xf32>
    %55 = stablehlo.exponential %54 : tensor<3x1xf32>
    %cst_11 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %57 = stablehlo.compare EQ, %35, %56, FLOAT : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %59 = stablehlo.select %57, %58, %35 : tensor<3x1xi1>, tensor<3x1xf32>
    %cst_13 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %61 = stablehlo.compare EQ, %45, %60, FLOAT : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %63 = stablehlo.select %61, %62, %45 : tensor<3x1xi1>, tensor<3x1xf32>
    %64 = stablehlo.subtract %59, %63 : tensor<3x1xf32>
    %65 = stablehlo.exponential %64 : tensor<3x1xf32>
    %66 = stablehlo.slice %45 [0:3, 0:0] : (tensor<3x1xf32>) -> tensor<3x0xf32>
    %67 = stablehlo.slice %13 [0:3, 2:2:2] : (tensor<3x2xf32>) -> tensor<3x0xf32>
    %68 = stablehlo.maximum %66, %67 : tensor<3x0xf32>
    %69 = stablehlo.subtract %66, %67 : tensor<3x0xf32>
    %70 = stablehlo.compare NE, %69, %69, FLOAT : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
    %71 = stablehlo.add %66, %67 : tensor<3x0xf32>
    %72 = stablehlo.abs %69 : tensor<3x0xf32>
    %73 = stablehlo.negate %72 : tensor<3x0xf32>
    %74 = stablehlo.exponential %73 : tensor<3x0xf32>
    %75 = stablehlo.log_plus_one %74 : tensor<3x0xf32>
    %76 = stablehlo.add %68, %75 : tensor<3x0xf32>
    %77 = stablehlo.select %70, %71, %76 : tensor<3x0xi1>, tensor<3x0xf32>
    %cst_15 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %79 = stablehlo.compare EQ, %66, %78, FLOAT : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %81 = stablehlo.select %79, %80, %66 : tensor<3x0xi1>, tensor<3x0xf32>
    %cst_17 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %83 = stablehlo.compare EQ, %77, %82, FLOAT : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %85 = stablehlo.select %83, %84, %77 : tensor<3x0xi1>, tensor<3x0xf32>
    %86 = stablehlo.subtract %81, %85 : tensor<3x0xf32>
    %87 = stablehlo.exponential %86 : tensor<3x0xf32>
    %cst_19 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %89 = stablehlo.compare EQ, %67, %88, FLOAT : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %91 = stablehlo.select %89, %90, %67 : tensor<3x0xi1>, tensor<3x0xf32>
    %cst_21 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %93 = stablehlo.compare EQ, %77, %92, FLOAT : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %95 = stablehlo.select %93, %94, %77 : tensor<3x0xi1>, tensor<3x0xf32>
    %96 = stablehlo.subtract %91, %95 : tensor<3x0xf32>
    %97 = stablehlo.exponential %96 : tensor<3x0xf32>
    %98 = stablehlo.slice %13 [0:3, 0:1] : (tensor<3x2xf32>) -> tensor<3x1xf32>
    %99 = stablehlo.concatenate %98, %77, dim = 1 : (tensor<3x1xf32>, tensor<3x0xf32>) -> tensor<3x1xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.pad %99, %cst_23, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.pad %45, %cst_24, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %102 = stablehlo.add %100, %101 : tensor<3x2xf32>
    %103 = stablehlo.slice %arg0 [0:3, 2:5:2] : (tensor<3x5xf32>) -> tensor<3x2xf32>
    %104 = stablehlo.maximum %102, %103 : tensor<3x2xf32>
    %105 = stablehlo.subtract %102, %103 : tensor<3x2xf32>
    %106 = stablehlo.compare NE, %105, %105, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %107 = stablehlo.add %102, %103 : tensor<3x2xf32>
    %108 = stablehlo.abs %105 : tensor<3x2xf32>
    %109 = stablehlo.negate %108 : tensor<3x2xf32>
    %110 = stablehlo.exponential %109 : tensor<3x2xf32>
    %111 = stablehlo.log_plus_one %110 : tensor<3x2xf32>
    %112 = stablehlo.add %104, %111 : tensor<3x2xf32>
    %113 = stablehlo.select %106, %107, %112 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst_25 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %115 = stablehlo.compare EQ, %102, %114, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %117 = stablehlo.select %115, %116, %102 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst_27 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %119 = stablehlo.compare EQ, %113, %118, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %121 = stablehlo.select %119, %120, %113 : tensor<3x2xi1>, tensor<3x2xf32>
    %122 = stablehlo.subtract %117, %121 : tensor<3x2xf32>
    %123 = stablehlo.exponential %122 : tensor<3x2xf32>
    %cst_29 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %125 = stablehlo.compare EQ, %103, %124, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %127 = stablehlo.select %125, %126, %103 : tensor<3x2xi1>, tensor<3x2xf32>
    %cst_31 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %129 = stablehlo.compare EQ, %113, %128, FLOAT : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi1>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %131 = stablehlo.select %129, %130, %113 : tensor<3x2xi1>, tensor<3x2xf32>
    %132 = stablehlo.subtract %127, %131 : tensor<3x2xf32>
    %133 = stablehlo.exponential %132 : tensor<3x2xf32>
    %134 = stablehlo.slice %arg0 [0:3, 0:1] : (tensor<3x5xf32>) -> tensor<3x1xf32>
    %135 = stablehlo.concatenate %134, %113, dim = 1 : (tensor<3x1xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %136 = stablehlo.pad %135, %cst_33, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x5xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.pad %102, %cst_34, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x5xf32>
    %138 = stablehlo.add %136, %137 : tensor<3x5xf32>
    %139 = stablehlo.multiply %138, %138 : tensor<3x5xf32>
    %cst_35 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %141 = stablehlo.multiply %140, %138 : tensor<3x5xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.reduce(%139 init: %cst_36) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %144 = stablehlo.multiply %143, %141 : tensor<3x5xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.pad %144, %cst_38, low = [0, -1], high = [0, -1], interior = [0, 0] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x3xf32>
    %146 = stablehlo.slice %145 [0:3, 0:3:2] : (tensor<3x3xf32>) -> tensor<3x2xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.pad %144, %cst_39, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    %148 = stablehlo.slice %147 [0:3, 0:5:2] : (tensor<3x5xf32>) -> tensor<3x3xf32>
    %149 = stablehlo.slice %148 [0:3, 0:1] : (tensor<3x3xf32>) -> tensor<3x1xf32>
    %150 = stablehlo.slice %148 [0:3, 1:3] : (tensor<3x3xf32>) -> tensor<3x2xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.pad %149, %cst_40, low = [0, 0], high = [0, 4], interior = [0, 0] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x5xf32>
    %152 = stablehlo.multiply %150, %133 : tensor<3x2xf32>
    %153 = stablehlo.multiply %150, %123 : tensor<3x2xf32>
    %154 = stablehlo.add %146, %153 : tensor<3x2xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.pad %152, %cst_41, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x5xf32>
    %156 = stablehlo.add %151, %155 : tensor<3x5xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %157 = stablehlo.pad %154, %cst_42, low = [0, -1], high = [0, 0], interior = [0, 0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x1xf32>
    %158 = stablehlo.slice %157 [0:3, 0:1:2] : (tensor<3x1xf32>) -> tensor<3x1xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.pad %154, %cst_43, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x1xf32>
    %160 = stablehlo.slice %159 [0:3, 0:1:2] : (tensor<3x1xf32>) -> tensor<3x1xf32>
    %161 = stablehlo.slice %160 [0:3, 0:1] : (tensor<3x1xf32>) -> tensor<3x1xf32>
    %162 = stablehlo.slice %160 [0:3, 1:1] : (tensor<3x1xf32>) -> tensor<3x0xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %163 = stablehlo.pad %161, %cst_44, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %164 = stablehlo.multiply %162, %97 : tensor<3x0xf32>
    %165 = stablehlo.multiply %162, %87 : tensor<3x0xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %166 = stablehlo.pad %164, %cst_45, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3x2xf32>
    %167 = stablehlo.add %163, %166 : tensor<3x2xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.pad %165, %cst_46, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3x1xf32>
    %169 = stablehlo.add %158, %168 : tensor<3x1xf32>
    %170 = stablehlo.multiply %169, %65 : tensor<3x1xf32>
    %171 = stablehlo.multiply %169, %55 : tensor<3x1xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.pad %170, %cst_47, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %173 = stablehlo.add %167, %172 : tensor<3x2xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %174 = stablehlo.pad %171, %cst_48, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x2xf32>
    %175 = stablehlo.add %173, %174 : tensor<3x2xf32>
    %176 = stablehlo.multiply %175, %33 : tensor<3x2xf32>
    %177 = stablehlo.multiply %175, %23 : tensor<3x2xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.pad %176, %cst_49, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x5xf32>
    %179 = stablehlo.add %156, %178 : tensor<3x5xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %180 = stablehlo.pad %177, %cst_50, low = [0, 0], high = [0, 2], interior = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x5xf32>
    %181 = stablehlo.add %179, %180 : tensor<3x5xf32>
    return %0, %1, %181 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @cumlogsumexp(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f32>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %5 = stablehlo.abs %2 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.exponential %6 : tensor<f32>
      %8 = stablehlo.log_plus_one %7 : tensor<f32>
      %9 = stablehlo.add %1, %8 : tensor<f32>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func private @cumlogsumexp_0(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 4]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f32>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %5 = stablehlo.abs %2 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.exponential %6 : tensor<f32>
      %8 = stablehlo.log_plus_one %7 : tensor<f32>
      %9 = stablehlo.add %1, %8 : tensor<f32>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}

// in: 1.125 -0.625 -1.125 2.125 -1.375 -0.625 0.625 1.375 0.625 1.625 -1.875 -0.375 0.375 -0.125 -0.375
// out: 1.125 -0.625 -1.125 2.125 -1.375 1.2852242 0.87692904 1.4538897 2.3264134 1.6735873 1.3267655 1.1284288 1.746539 2.4090726 1.7948459
// out: 2.5309842 2.2497802 2.1916971 2.1547503 -1.375 2.5881586 2.5470977 2.3889225 1.9382617 1.625 1.3520708 1.3115888 1.1068375 0.45093942 -0.375
// out: 9.080754 1.1870071 0.4891423 6.787404 0.10185257 -0.065517545 4.13425 5.8661566 1.6839757 1.9757246 -3.4834332 1.1946697 3.1300054 1.2595246 0.48080847
