def nvfuser_fusion_max(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.ops.max(T0, dims=[0, 2], keepdim=False, dtype=DataType.Null)
    fd.add_output(T1)
# sizes: 2 3 4
# in: 0.375 -0.375 1.375 -1.375 0.375 -0.625 1.375 1.125 -1.625 1.625 -1.125 0.125 1.875 0.375 0.125 -1.125 -0.625 -0.625 1.875 0.375 0.375 1.625 -1.375 0.875
# out: 1.875 1.875 1.625

def nvfuser_fusion_min(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.ops.min(T0, dims=[0, 2], keepdim=False, dtype=DataType.Null)
    fd.add_output(T1)
# sizes: 2 3 4
# in: -0.875 -1.875 0.625 -0.875 2.125 -1.875 1.625 0.375 -1.625 0.375 -0.375 -0.625 -0.625 1.875 2.125 -0.375 1.125 0.625 1.375 1.875 0.625 1.625 -0.375 0.125
# out: -1.875 -1.875 -1.625

def nvfuser_fusion_prod(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.ops.prod(T0, dims=[0, 2], keepdim=False, dtype=DataType.Null)
    fd.add_output(T1)
# sizes: 2 3 4
# in: -0.875 1.375 -0.375 1.125 2.125 -1.125 -0.375 1.125 1.125 -1.625 -1.625 -0.875 -1.625 -0.375 1.625 -0.125 1.625 2.125 1.125 1.625 2.125 1.125 -1.625 0.625
# out: -0.062826455 6.366686 6.311203

def nvfuser_fusion_sum(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.ops.sum(T0, dims=[0, 2], keepdim=False, dtype=DataType.Null)
    fd.add_output(T1)
# sizes: 2 3 4
# in: 0.875 -0.375 -1.125 -1.125 -0.125 1.875 -1.625 1.375 -1.375 -0.875 -0.125 1.375 0.875 -0.625 -0.375 -1.375 -1.875 -0.625 0.375 1.625 1.875 1.375 -0.375 0.625
# out: -3.25 1.0 2.5

def nvfuser_fusion_var(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.var(T0, dims=[1], correction=1, keepdim=False)
    fd.add_output(T1)
# sizes: 2 5
# in: 1.375 1.125 -1.625 0.375 0.125 -0.125 1.625 -0.875 -1.625 1.625
# out: 1.39375 2.15625

def nvfuser_fusion_var_mean(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 5], contiguity=[True, True], dtype=DataType.Float)
    T1, T2 = fd.ops.var_mean(T0, dims=[1], correction=0, keepdim=False)
    fd.add_output(T1)
    fd.add_output(T2)
# sizes: 2 5
# in: 0.125 0.875 -1.875 0.375 1.125 -1.625 -1.125 -1.375 1.875 -0.375
# out: 1.125 1.615
# out: 0.125 -0.525

def nvfuser_fusion_welford(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 5], contiguity=[True, True], dtype=DataType.Float)
    T1, T2, T3 = fd.ops.welford(T0, dims=[1])
    fd.add_output(T1)
    fd.add_output(T2)
    fd.add_output(T3)
# sizes: 2 5
# in: 1.625 0.625 -1.125 -1.375 0.625 0.875 2.125 0.875 -0.625 0.375
# out: 0.075 0.725
# out: 6.55 3.95
# out: 5 5

def nvfuser_fusion_cumsum(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cumsum(T0, dim=1)
    fd.add_output(T1)
# sizes: 3 5
# in: 1.375 0.375 1.375 0.375 -0.625 1.125 -0.625 1.375 1.375 0.625 -1.625 1.375 0.875 -0.125 -1.125
# out: 1.375 1.75 3.125 3.5 2.875 1.125 0.5 1.875 3.25 3.875 -1.625 -0.25 0.625 0.5 -0.625

def nvfuser_fusion_cumprod(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cumprod(T0, dim=1)
    fd.add_output(T1)
# sizes: 3 5
# in: 0.625 -0.375 -1.875 0.375 1.625 -0.625 0.875 -0.375 -0.875 0.375 -1.875 1.875 -0.875 0.125 1.375
# out: 0.625 -0.234375 0.43945312 0.16479492 0.26779175 -0.625 -0.546875 0.20507812 -0.17944336 -0.06729126 -1.875 -3.515625 3.0761719 0.38452148 0.52871704

def nvfuser_fusion_cummin(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cummin(T0, dim=1)
    fd.add_output(T1)
# sizes: 3 5
# in: 2.125 1.625 0.625 2.125 0.125 2.125 0.125 1.375 -0.125 0.625 1.875 1.875 1.125 -1.375 -1.625
# out: 2.125 1.625 0.625 0.625 0.125 2.125 0.125 0.125 -0.125 -0.125 1.875 1.875 1.125 -1.375 -1.625

def nvfuser_fusion_cummax(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[3, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cummax(T0, dim=1)
    fd.add_output(T1)
# sizes: 3 5
# in: 0.625 0.875 -1.375 1.125 -0.375 0.375 1.875 0.125 -0.875 -0.125 1.375 0.625 1.625 -1.125 1.375
# out: 0.625 0.875 0.875 1.125 1.125 0.375 1.875 1.875 1.875 1.875 1.375 1.375 1.625 1.625 1.625
