def nvfuser_fusion_id1(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, is_cpu=False)
    T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Half, is_cpu=False)
    T2 = fd.ops.cast(T0, dtype=DataType.Float)
    T3, T4 = fd.ops.var_mean(T2, dims=[1], correction=0, keepdim=True)
    S5 = fd.define_scalar(1.00000e-05, dtype=DataType.Double)
    T6 = fd.ops.add(T3, S5)
    T7 = fd.ops.rsqrt(T6)
    T8 = fd.ops.sub(T0, T4)
    T9 = fd.ops.mul(T8, T7)
    T10 = fd.ops.broadcast_in_dim(T1, shape=fd.ops.shape(T0), broadcast_dims=[1])
    T11 = fd.ops.mul(T9, T10)
    T12 = fd.ops.cast(T11, dtype=DataType.Half)
    fd.add_output(T12)
    fd.add_output(T8)

# sizes: 4 6
# sizes: 6
# in: -1.375 0.375 1.875 0.125 1.625 -0.125 -0.125 2.125 -0.625 -0.625 2.125 -1.375 -0.875 -0.375 -1.625 1.625 1.125 -0.375 -1.875 -0.875 1.875 -1.875 -0.625 -0.125
# in: -1.625 -0.875 0.125 1.375 1.875 1.375
# out: 2.6621094 0.033325195 0.16662598 -0.36669922 2.0722656 -0.68115234 0.44311523 -1.1933594 -0.07952881 -0.875 2.5566406 -1.625 1.1464844 0.22741699 -0.17175293 2.09375 2.0195312 -0.35742188 1.6523438 0.20092773 0.24194336 -1.3984375 -0.061523438 0.4963379
# out: -1.7916666 -0.041666657 1.4583334 -0.29166666 1.2083334 -0.5416666 -0.375 1.875 -0.875 -0.875 1.875 -1.625 -0.7916667 -0.29166666 -1.5416666 1.7083334 1.2083334 -0.29166666 -1.2916667 -0.2916667 2.4583333 -1.2916667 -0.041666687 0.4583333
