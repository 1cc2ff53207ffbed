def nvfuser_fusion_id7(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False)
    tv2 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
    tv3 = fd.ops.linear(tv0, tv1, tv2)
    c4 = fd.define_scalar(0.70710678, dtype=DataType.Double)
    tv5 = fd.ops.mul(tv3, c4)
    tv6 = fd.ops.erf(tv5)
    tv7 = fd.ops.add(1.0, tv6)
    tv8 = fd.ops.mul(tv3, 0.5)
    tv9 = fd.ops.mul(tv8, tv7)
    tv10 = fd.ops.permute(tv1, dims=[1, 0])
    tv11 = fd.ops.matmul(tv0, tv10)
    fd.add_output(tv9)
    fd.add_output(tv11)

# sizes: 3 4
# sizes: 5 4
# sizes: 5
# in: 0.375 -0.625 0.125 0.375 1.625 1.125 -1.625 0.375 -0.125 -1.375 -0.875 -1.125
# in: 0.375 1.875 -0.375 1.625 1.875 1.625 -0.375 2.125 1.125 -1.125 0.375 0.375 -1.875 1.625 0.875 0.625 -1.375 2.125 0.125 -0.375
# in: 0.375 -1.125 2.125 -1.625 0.375
# out: -0.0433738 -0.16904515 3.436491 -0.0040496886 -0.08844676 4.312465 5.1562495 2.1893473 -0.00011185091 0.10769357 -0.0003315881 -0.0 2.7737198 -9.108335e-07 -0.040383887
# out: -0.46875 0.4375 1.3125 -1.375 -1.96875 3.9375 6.28125 0.09375 -2.40625 -0.1875 -4.125 -4.53125 0.65625 -3.46875 -2.4375
