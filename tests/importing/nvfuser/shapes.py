def nvfuser_fusion_id3(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 6], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.reshape(T0, new_shape=[2, 2, -1])
    T2 = fd.ops.permute(T1, dims=[2, 0, 1])
    T3 = fd.ops.slice(T0, start_indices=[0, 2], end_indices=[3, 9223372036854775807], strides=[1, 1])
    T4 = fd.ops.slice(T0, start_indices=[1, 0], end_indices=[4, 4])
    T5 = fd.ops.cat([T3, T4], dim=-1)
    S6 = fd.define_scalar(2.50000, dtype=DataType.Double)
    T7 = fd.ops.pad(T3, [1, 0, 0, 2], S6)
    T8 = fd.ops.squeeze(fd.ops.sum(T0, dims=[1], keepdim=True), dims=[1])
    T9 = fd.ops.expand(fd.ops.broadcast(T8, is_broadcast_dim=[False, True]), shape=[-1, 3])
    T10 = fd.ops.triu(T0, diagonal=1)
    fd.add_output(T2)
    fd.add_output(T5)
    fd.add_output(T7)
    fd.add_output(T9)
    fd.add_output(T10)

# sizes: 4 6
# in: 2.125 2.125 -1.125 -0.875 -0.875 -0.625 -0.875 1.375 1.375 1.875 -1.625 0.625 -1.375 -1.125 -1.625 0.125 1.125 -0.875 -1.125 1.125 1.375 0.375 -0.875 1.625
# out: 2.125 -0.875 -1.375 -1.125 2.125 1.375 -1.125 1.125 -1.125 1.375 -1.625 1.375 -0.875 1.875 0.125 0.375 -0.875 -1.625 1.125 -0.875 -0.625 0.625 -0.875 1.625
# out: -1.125 -0.875 -0.875 -0.625 -0.875 1.375 1.375 1.875 1.375 1.875 -1.625 0.625 -1.375 -1.125 -1.625 0.125 -1.625 0.125 1.125 -0.875 -1.125 1.125 1.375 0.375
# out: 2.5 -1.125 -0.875 -0.875 -0.625 2.5 1.375 1.875 -1.625 0.625 2.5 -1.625 0.125 1.125 -0.875 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5
# out: 0.75 0.75 0.75 2.75 2.75 2.75 -3.75 -3.75 -3.75 2.5 2.5 2.5
# out: 0.0 2.125 -1.125 -0.875 -0.875 -0.625 0.0 0.0 1.375 1.875 -1.625 0.625 0.0 0.0 0.0 0.125 1.125 -0.875 0.0 0.0 0.0 0.0 -0.875 1.625
