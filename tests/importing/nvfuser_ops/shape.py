def nvfuser_fusion_cast(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.cast(T0, dtype=DataType.Int32)
    fd.add_output(T1)
# sizes: 2 4
# in: 2.125 0.375 -1.875 2.125 1.875 1.125 -1.375 1.375
# out: 2 0 -1 2 1 1 -1 1

def nvfuser_fusion_triu(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 5], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.triu(T0, diagonal=1)
    fd.add_output(T1)
# sizes: 4 5
# in: -1.125 -1.125 2.125 1.125 1.625 0.375 1.625 -1.375 0.625 -0.875 -0.875 -1.125 -1.125 0.625 0.625 0.875 0.625 2.125 1.875 -0.875
# out: 0.0 -1.125 2.125 1.125 1.625 0.0 0.0 -1.375 0.625 -0.875 0.0 0.0 0.0 0.625 0.625 0.0 0.0 0.0 0.0 -0.875

def nvfuser_fusion_broadcast(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.broadcast(T0, is_broadcast_dim=[True, False])
    fd.add_output(T1)
# sizes: 4
# in: 0.375 1.875 1.125 0.125
# out: 0.375 1.875 1.125 0.125

def nvfuser_fusion_broadcast_in_dim(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4], contiguity=[True], dtype=DataType.Float)
    T1 = fd.ops.broadcast_in_dim(T0, shape=[3, 4], broadcast_dims=[1])
    fd.add_output(T1)
# sizes: 4
# in: -1.125 0.625 -1.125 0.125
# out: -1.125 0.625 -1.125 0.125 -1.125 0.625 -1.125 0.125 -1.125 0.625 -1.125 0.125

def nvfuser_fusion_reshape(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 6], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.reshape(T0, new_shape=[3, 4])
    fd.add_output(T1)
# sizes: 2 6
# in: -0.125 0.375 1.375 -1.625 2.125 1.875 0.125 1.375 -1.125 1.125 -0.625 -0.375
# out: -0.125 0.375 1.375 -1.625 2.125 1.875 0.125 1.375 -1.125 1.125 -0.625 -0.375

def nvfuser_fusion_permute(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3, 4], contiguity=[True, True, True], dtype=DataType.Float)
    T1 = fd.ops.permute(T0, dims=[2, 0, 1])
    fd.add_output(T1)
# sizes: 2 3 4
# in: -0.875 1.625 1.875 -0.125 2.125 -1.375 -1.125 1.625 -0.375 0.875 0.375 -1.875 -0.125 0.125 0.625 0.625 0.125 -0.125 -1.875 -0.125 -0.875 1.875 -1.375 1.375
# out: -0.875 2.125 -0.375 -0.125 0.125 -0.875 1.625 -1.375 0.875 0.125 -0.125 1.875 1.875 -1.125 0.375 0.625 -1.875 -1.375 -0.125 1.625 -1.875 0.625 -0.125 1.375

def nvfuser_fusion_expand(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[1, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.expand(T0, shape=[3, 4])
    fd.add_output(T1)
# sizes: 1 4
# in: -1.875 0.625 1.375 1.125
# out: -1.875 0.625 1.375 1.125 -1.875 0.625 1.375 1.125 -1.875 0.625 1.375 1.125

def nvfuser_fusion_squeeze(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[1, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.squeeze(T0, dims=[0])
    fd.add_output(T1)
# sizes: 1 4
# in: -0.875 1.625 1.875 -0.125
# out: -0.875 1.625 1.875 -0.125

def nvfuser_fusion_slice(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[4, 6], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.slice(T0, start_indices=[1, 2], end_indices=[4, 5], strides=[1, 1])
    fd.add_output(T1)
# sizes: 4 6
# in: -0.875 1.125 1.375 -1.125 -1.875 1.625 -0.875 -0.375 -1.125 0.875 -1.375 -0.125 1.375 0.625 0.375 0.375 0.125 1.125 -1.375 -1.125 1.625 -1.625 1.625 -0.375
# out: -1.125 0.875 -1.375 0.375 0.375 0.125 1.625 -1.625 1.625

def nvfuser_fusion_cat(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 4], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[3, 4], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.cat([T0, T1], dim=0)
    fd.add_output(T2)
# sizes: 2 4
# in: -1.625 -0.875 -1.625 -1.875 1.625 0.375 0.875 0.125
# sizes: 3 4
# in: -1.625 -0.125 0.125 -1.375 1.875 -0.875 -1.125 -0.875 -1.375 -1.125 0.375 -0.875
# out: -1.625 -0.875 -1.625 -1.875 1.625 0.375 0.875 0.125 -1.625 -0.125 0.125 -1.375 1.875 -0.875 -1.125 -0.875 -1.375 -1.125 0.375 -0.875

def nvfuser_fusion_pad(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.pad(T0, [1, 0, 0, 2], 2.5)
    fd.add_output(T1)
# sizes: 2 3
# in: -0.625 0.125 -0.125 -0.375 -1.375 0.875
# out: 2.5 -0.625 0.125 -0.125 2.5 -0.375 -1.375 0.875 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5

def nvfuser_fusion_stride_order(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.stride_order(T0, [0, 1])
    fd.add_output(T1)
# sizes: 2 3
# in: 1.375 -0.625 1.125 1.875 -1.375 -0.125
# out: 1.375 -0.625 1.125 1.875 -1.375 -0.125

def nvfuser_fusion_size(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.mul(T0, fd.ops.size(T0, dim=1))
    fd.add_output(T1)
# sizes: 2 3
# in: -0.125 -0.375 -0.875 1.375 -1.375 0.875
# out: -0.375 -1.125 -2.625 4.125 -4.125 2.625

def nvfuser_fusion_shape(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[1, 1], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.expand(T1, shape=fd.ops.shape(T0))
    fd.add_output(T2)
# sizes: 2 3
# in: 1.625 1.625 -0.375 0.875 1.875 0.875
# sizes: 1 1
# in: 0.375
# out: 0.375 0.375 0.375 0.375 0.375 0.375

def nvfuser_fusion_iota(fd : FusionDefinition) -> None :
    T0 = fd.ops.iota(5, 2, 3, DataType.Int)
    fd.add_output(T0)
# out: 2 5 8 11 14

def nvfuser_fusion_full(fd : FusionDefinition) -> None :
    T0 = fd.ops.full(shape=[2, 3], fill_value=1.5, dtype=DataType.Float)
    fd.add_output(T0)
# out: 1.5 1.5 1.5 1.5 1.5 1.5
