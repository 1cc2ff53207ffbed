#!/usr/bin/env python3
"""Writes the table of edges that tests/complex.rs compares with: python3 make_edges.py > edges.txt

Each line is one function of a complex number with parts that are zero, one, huge, infinite or NaN: `op type : a b => re im`.
The results are NumPy's (2.4.6, glibc 2.36), which are those of the C library, so of Annex G of ISO/IEC 9899 where it says
something. Rows of the annex that are written down below are compared first, so that the table does not hang on one library.
"""
import itertools
import math

import numpy as np

np.seterr(all="ignore")
INF, NAN, PI = math.inf, math.nan, math.pi
FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}
# Annex G.6: the function, an argument, its value; None where the annex leaves a sign open, or an exception may be raised instead.
ANNEX = [
    ("exp", (0, 0), (1, 0)), ("exp", (1, INF), (NAN, NAN)), ("exp", (INF, 0), (INF, 0)), ("exp", (-INF, INF), (0, 0)), ("exp", (INF, INF), (INF, NAN)),
    ("exp", (-INF, NAN), (0, 0)), ("exp", (INF, NAN), (INF, NAN)), ("exp", (NAN, 0), (NAN, 0)), ("exp", (NAN, 1), (NAN, NAN)),
    ("log", (-0.0, 0), (-INF, PI)), ("log", (0, 0), (-INF, 0)), ("log", (1, INF), (INF, PI / 2)), ("log", (1, NAN), (NAN, NAN)),
    ("log", (-INF, 1), (INF, PI)), ("log", (INF, 1), (INF, 0)), ("log", (-INF, INF), (INF, 3 * PI / 4)), ("log", (INF, INF), (INF, PI / 4)),
    ("log", (INF, NAN), (INF, NAN)), ("log", (NAN, INF), (INF, NAN)), ("log", (NAN, 1), (NAN, NAN)),
    ("sqrt", (-0.0, 0), (0, 0)), ("sqrt", (NAN, INF), (INF, INF)), ("sqrt", (-INF, 1), (0, INF)), ("sqrt", (INF, NAN), (INF, NAN)),
    ("cosh", (0, 0), (1, 0)), ("cosh", (0, INF), (NAN, 0)), ("cosh", (1, INF), (NAN, NAN)), ("cosh", (INF, 0), (INF, 0)), ("cosh", (INF, INF), (INF, NAN)),
    ("cosh", (NAN, 0), (NAN, 0)), ("cosh", (INF, NAN), (INF, NAN)),
    ("sinh", (0, INF), (0, NAN)), ("sinh", (1, INF), (NAN, NAN)), ("sinh", (INF, 0), (INF, 0)), ("sinh", (INF, INF), (INF, NAN)),
    ("sinh", (NAN, 0), (NAN, 0)), ("sinh", (INF, NAN), (INF, NAN)),
    ("tanh", (1, INF), (NAN, NAN)), ("tanh", (INF, 1), (1, 0)), ("tanh", (INF, INF), (1, 0)), ("tanh", (0, NAN), (0, NAN)), ("tanh", (NAN, 0), (NAN, 0)),
    ("acos", (0, NAN), (PI / 2, NAN)), ("acos", (-INF, INF), (3 * PI / 4, -INF)), ("acos", (1, INF), (PI / 2, -INF)), ("acos", (NAN, INF), (NAN, -INF)),
    ("asinh", (1, INF), (INF, PI / 2)), ("asinh", (INF, 1), (INF, 0)), ("asinh", (INF, NAN), (INF, NAN)), ("asinh", (NAN, 0), (NAN, 0)),
    ("acosh", (0, NAN), (NAN, PI / 2)), ("acosh", (-INF, 1), (INF, PI)), ("acosh", (NAN, INF), (INF, NAN)),
    ("atanh", (0, NAN), (0, NAN)), ("atanh", (1, 0), (INF, 0)), ("atanh", (1, INF), (0, PI / 2)), ("atanh", (INF, NAN), (0, NAN)), ("atanh", (NAN, INF), (0, PI / 2)),
    ("atan", (NAN, INF), (NAN, 0)), ("atan", (INF, NAN), (PI / 2, 0)), ("atan", (NAN, 1), (NAN, NAN)),
]


def close(x, y):
    return math.isnan(x) and math.isnan(y) or x == y or abs(x - y) < 1e-15 * abs(y)


for op, (a, b), (re, im) in ANNEX:
    value = FUNCTIONS[op](np.complex128(complex(a, b)))
    assert close(abs(value.real), abs(re)) and close(abs(value.imag), abs(im)), (op, a, b, value, re, im)

for (op, function), (name, dtype, part, huge) in itertools.product(
    FUNCTIONS.items(), [("complex<f32>", np.complex64, np.float32, 3e38), ("complex<f64>", np.complex128, np.float64, 1e308)]
):
    edges = [part(x) for x in (0.0, -0.0, 1.0, -1.0, huge, -huge, INF, -INF, NAN)]
    for a, b in itertools.product(edges, edges):
        z = np.array([0], dtype)
        z.real, z.imag = a, b
        (value,) = function(z)
        print(op, name, ":", float(a), float(b), "=>", float(value.real), float(value.imag))
