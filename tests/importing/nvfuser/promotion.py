def nvfuser_fusion_id2(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.BFloat16)
    tv1 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Int32)
    tv2 = fd.define_tensor(shape=[2, 3], contiguity=[True, True], dtype=DataType.Bool)
    tv3 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float)
    tv4 = fd.ops.add(tv0, tv1)
    tv5 = fd.ops.mul(tv1, 2)
    tv6 = fd.ops.mul(tv1, 0.5)
    tv7 = fd.ops.where(tv2, tv0, 0.0)
    tv8 = fd.ops.add(tv2, 1)
    tv9 = fd.ops.exp(tv1)
    tv10 = fd.ops.relu(tv0)
    tv11 = fd.ops.mul(tv0, tv3)
    tv12 = fd.ops.truediv(tv1, 4)
    tv13 = fd.ops.sum(tv1, dims=[0])
    tv14 = fd.ops.neg(tv0)
    tv15 = fd.ops.gt(tv0, tv1)
    fd.add_output(tv4)
    fd.add_output(tv5)
    fd.add_output(tv6)
    fd.add_output(tv7)
    fd.add_output(tv8)
    fd.add_output(tv9)
    fd.add_output(tv10)
    fd.add_output(tv11)
    fd.add_output(tv12)
    fd.add_output(tv13)
    fd.add_output(tv14)
    fd.add_output(tv15)

# sizes: 2 3
# sizes: 2 3
# sizes: 2 3
# sizes:
# in: -1.625 0.125 -0.375 -0.625 0.125 -1.125
# in: 1 2 1 2 1 2
# in: 1 1 1 1 1 1
# in: -0.625
# out: -0.625 2.125 0.625 1.375 1.125 0.875
# out: 2 4 2 4 2 4
# out: 0.5 1.0 0.5 1.0 0.5 1.0
# out: -1.625 0.125 -0.375 -0.625 0.125 -1.125
# out: 2 2 2 2 2 2
# out: 2.7182817 7.389056 2.7182817 7.389056 2.7182817 7.389056
# out: 0.0 0.125 0.0 0.0 0.125 0.0
# out: 1.015625 -0.078125 0.234375 0.390625 -0.078125 0.703125
# out: 0.25 0.5 0.25 0.5 0.25 0.5
# out: 3 3 3
# out: 1.625 -0.125 0.375 0.625 -0.125 1.125
# out: 0 0 0 0 0 0
