def nvfuser_fusion_id8(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    T2 = fd.define_tensor(shape=[1], contiguity=[None], dtype=DataType.Float)
    T3 = fd.ops.mul(T1, T2)
    T4 = fd.ops.sub(T0, T3)
    T5 = fd.ops.set(T4)
    fd.add_output(T5, alias_input=T0)

# sizes: 3
# sizes: 3
# sizes: 1
# in: 0.625 1.125 -1.375
# in: 1.875 0.625 -0.125
# in: 1.625
# out: -2.421875 0.109375 -1.171875
