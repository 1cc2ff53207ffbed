def nvfuser_fusion_id0(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False, stride_order=[1, 0])
    T1 = fd.ops.max(T0, dims=[1], keepdim=False, dtype=DataType.Null)
    T2 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
    S3 = fd.ops.size(T0, dim=0)
    S4 = fd.ops.size(T0, dim=1)
    T5 = fd.ops.broadcast_in_dim(T2, shape=[S3, S4], broadcast_dims=[0, 1])
    T6 = fd.ops.sub(T0, T5)
    T7 = fd.ops.exp(T6)
    T8 = fd.ops.sum(T7, dims=[-1], keepdim=True, dtype=DataType.Null)
    T9 = fd.ops.div(T7, T8)
    fd.add_output(T9)

# sizes: 3 5
# in: -0.125 -1.125 1.125 2.125 -1.375 -1.875 2.125 0.625 -0.375 -0.625 2.125 0.625 1.375 0.375 0.125
# out: 0.06834119 0.02514132 0.23853421 0.64840317 0.01958008 0.013200854 0.72074217 0.16081932 0.05916212 0.046075504 0.49885115 0.11130874 0.23564059 0.086687334 0.06751216
