#!/usr/bin/env python3
"""Writes tests/data/hard_f32.txt and hard_f64.txt: true values of the math functions where they are hard, by mpmath.

- `sin`, `cos`, `tan` at the floats nearest to multiples of pi/2, for every exponent. They are points of the lattice of
  all `(m, m 2^e / (pi/2) - n)`, found by reducing its basis (the continued fraction of `2^e / (pi/2)` as vectors).
- Every function around each break of its approximation, its overflow and underflow, at subnormals, and beside its roots
  and poles.
- Arguments that were found to be worst (`SEARCHED`): for f32 by `tests/math_exhaustive.rs`, for f64 by a search of some 10^8.

One line a point: name, operands as bits in hex, the f64 nearest to the truth as bits, and (f64) what it differs from the
truth by, in units in the last place. Run from the crate's folder: `python3 tools/hard_points.py`.
"""
import itertools
import struct
from mpmath import mp, mpf
import mpmath as m

from reference_f64 import FUNCTIONS, INVERSES, nearest

mp.prec = 1400
SEARCHED = """
exp 426d199b 40761e3584277324 408464fb4980a0c2
exp2 c2fcf3d4 bfdfaa11a2aad240 bfdfd957c37d6b14
expm1 4188a2b4 3fd66d2c856b6cda 3fd8244c7eb79108 3fdd023a758f134b 4042e43bf83ea5f3
sigmoid c085088d c00b87be1ac1ed5c c00b8b6392b2afd8 c0109aa20ad37bdf c01366077970dc91
tanh 3c7fb55f 3fcbb2a8fc635142 3fcc7f7036672c88 bfca8b505aabf5d4 bfcd0b76c0239d0b
sinh 3dfd554a 3fdce9c04e6a7708 bfdcc94ec5ed6800 bfdcea88ee293370 bfdcf7ec41a7ca70
cosh 40a7d9ff 400eee17a4cc3d00 c00ec5bdf7b9e4b6
log 3f336599 3fe66bc930ba885e 3fe67a961ef9e733
log2 3fb4c942 3ff696961a9172ad 3ff697a7b71243b5
log10 3f3ffc12 3ff500abb9ffe3fd 3ff51017b5f1d4fb
log1p 3edee321 3fda907119e17f75 3fdaa4fd8de396b5 3fdacbce988f3d21
sin 7bfe7773 bfe95dde337fea9f c07ad9ae7c3c05b1
cos 696de4ee 4052aa3938e77df8 41c02d4070df8788
tan 6847a16c 3fe898ae9c841086 3fe8bec2b66c45e0 bfe915adbe4e1064
asin 3f57047e 3feac9b39e9629b8 3feae274b50c7225 bfeacbad436e703e
acos bf11b3ad bfe08fa9ddedd6ce bfe1932b958c969b
atan 3eda3709 3fdb538ea1bc5657 3fdb7b162aec07eb 3fdb83ec233dfeef
asinh 3ec5f94f 3fd6cfd28233b908 3fd6d0a489b380ea 3fd6d380cb00d450
acosh 3f83c20e 3ff001fa680f98d2 3ff007d458bcc356 3ff007e554da3b30
atanh 3e36ec0a 3fc78cd6be63d7fa 3fc8ea808499e9e2 3fc91ae72cdd36d2
rsqrt 0080cab3 3f70041ca6185db7 40100645450ee33c 405028e8d5c43595
erf 3f888f32 3f88bc0a 3f88eb8e 3fed433333523270 3fee4b985788113c
erfc 3f012ee5 3fe0cd9f8a959c0d 400df5ab7b60fe21
pow 3fe6cec059a210a4:3ff0509ed38966de 3ff4d7f23729c0ab:3ff522186d608ed0 3ff66ef28dd857a7:c09f487e096807e2
pow 3ff69adede70bbab:c0978500b12b08db 3ff6c0e3f49ec6db:c09e4f292247d983
atan2 3fc87a88b3424f43:3fdca84c4701d920 3fe8bcb6a1c11e13:3ffcd038d5f33918 3fe944d07c54d0a3:3ffccde4f5ba38da
atan2 3fe956548fb10cbf:3ffd74a7e6bb006c
"""


class Format:
    def __init__(self, name, precision, top, letter, word):
        self.name, self.precision, self.top, self.letter, self.word = name, precision, top, letter, word
        self.bottom = 3 - top - precision
        self.digits = 8 if precision == 24 else 16
        self.greatest = mpf(2) ** top * (1 - mpf(2) ** -precision)
        self.normal, self.least = mpf(2) ** (2 - top), mpf(2) ** self.bottom

    def bits(self, x):
        return struct.unpack(self.word, struct.pack(self.letter, x))[0]

    def from_bits(self, bits):
        return struct.unpack(self.letter, struct.pack(self.word, bits))[0]

    def round(self, v):
        """The float nearest to v, as a Python float; beyond the greatest, the greatest."""
        v = max(-self.greatest, min(self.greatest, mpf(v)))
        if v == 0:
            return 0.0
        exponent = max(int(m.floor(m.log(abs(v), 2))), 2 - self.top) - self.precision + 1
        return float(m.nint(v / mpf(2) ** exponent) * mpf(2) ** exponent)

    def beside(self, x, steps):
        """The finite floats at these distances from x, in units in its last place, not past zero."""
        sign, bits = (-1, self.bits(-x)) if x < 0 else (1, self.bits(x))
        for step in steps:
            if 0 <= bits + step <= self.bits(float(self.greatest)):
                yield sign * self.from_bits(bits + step)


F32 = Format("f32", 24, 128, "<f", "<I")
F64 = Format("f64", 53, 1024, "<d", "<Q")


def near_multiples(form, e, odd, count):
    """The `count` floats of exponent `e` nearest to odd, or to even, multiples of pi/2."""
    p, half_pi = form.precision, m.pi / 2
    scale = 1 << (2 * p - 5)
    step = mpf(2) ** (e - p + 1) / half_pi
    a, b = (1, int(m.nint((step - m.floor(step)) * scale))), (0, -scale)
    weight = lambda v: v[0] ** 2 + v[1] ** 2
    while True:
        if weight(a) > weight(b):
            a, b = b, a
        k = (2 * (a[0] * b[0] + a[1] * b[1]) + weight(a)) // (2 * weight(a))
        if k == 0:
            break
        b = (b[0] - k * a[0], b[1] - k * a[1])
    reach = [min(200, (2 << p) // max(1, int(weight(v) ** 0.5)) + 2) for v in (a, b)]
    found = {abs(i * a[0] + j * b[0]) for i in range(-reach[0], reach[0] + 1) for j in range(-reach[1], reach[1] + 1)}
    ranked = []
    for integer in found:
        if 1 << (p - 1) <= integer < 1 << p:
            n = m.nint(integer * step)
            ranked.append((abs(integer * step - n), int(n) & 1, float(mpf(2) ** (e - p + 1) * integer), int(n)))
    ranked.sort()
    return [x for _, parity, x, n in ranked if parity == odd and n > 0][:count]


def circular(form, name):
    """Where `name` nears zero, or (tan) infinity."""
    for odd in {"sin": (0,), "cos": (1,), "tan": (0, 1)}[name]:
        for e in range(0, form.top):
            yield from near_multiples(form, e, odd, 4 if e <= 30 else 2 if form is F32 else 1)
        for n in itertools.chain(range(1, 40), (2**k + d for k in range(6, 30) for d in (-1, 0, 1))):
            if n % 2 == odd:
                yield form.round(n * m.pi / 2)
    # Between quadrants, and where the reduction changes.
    for v in [(n + mpf(1) / 2) * m.pi / 2 for n in range(9)] + [mpf("1e5"), mpf("1e9")]:
        yield from form.beside(form.round(v), (-1, 0, 1))
    for v in (form.least, form.normal, mpf(2) ** -27, mpf(2) ** -13, mpf(2) ** -12, form.greatest):
        yield from form.beside(form.round(v), (-1, 0, 1))


def breaks(name, form):
    """Where an approximation of `name` changes, or its result leaves the normal range or nears a root or pole."""
    ln2, p, f64 = m.log(2), form.precision, form is F64
    ends = [form.greatest, form.normal, form.least]
    tiny = [mpf(10) ** -k for k in ((9, 17, 30) if f64 else (5, 8, 12))] + [mpf(2) ** -k for k in (p + 1, p // 2, 13)]
    small = ends[1:] + tiny
    halves = [mpf(n) + mpf(1) / 2 for n in (-1075, -1023, -151, -127, -60, -2, -1, 0, 1, 24, 59, 126, 1022)]
    over, under, vanish = m.log(form.greatest), m.log(form.normal), m.log(form.least / 2)
    exps = [h * ln2 for h in halves] + [over, under, vanish, mpf(1), mpf(-104), mpf(89), mpf(-746), mpf(710)] + small
    powers = [mpf(2) ** k for k in (-140, -60, -3, -2, -1, 1, 2, 3, 23, 24, 60, 61)]
    roots = [m.sqrt(mpf(1) / 2) * mpf(2) ** k for k in (-1, 0, 1, 2, -120, 100)]
    log = roots + powers + ends + [mpf(1), mpf("0.999"), mpf("1.001"), mpf("0.9"), mpf("1.1"), m.e, mpf(10), mpf(1000)]
    ones = [1 - mpf(2) ** -k for k in (p, p - 1, p - 4, p // 2, 5, 3)]
    eighth = m.tan(m.pi / 8)
    table = {
        "exp": exps,
        "exp2": [v for h in halves for v in (h, h - mpf(1) / 2)] + [mpf(v) for v in (128, -126, -149, -150, 1024, -1022, -1074, -1075, 129, 1025)] + small,
        "expm1": exps + [mpf(-40), -p * ln2, mpf(-1), mpf("0.5"), mpf("-0.25")],
        "sigmoid": exps + [-v for v in exps],
        "tanh": [h * ln2 / 2 for h in halves if abs(h) < 70] + [mpf("0.5"), mpf(20), mpf(40), (p + 1) * ln2 / 2, (p + 2) * ln2 / 2] + small,
        "sinh": exps + [mpf(20), over + ln2, mpf(22), mpf("0.3")],
        "cosh": exps + [mpf(20), over + ln2, mpf(22), mpf("0.3")],
        "log": log, "log2": log, "log10": log + [mpf(10) ** k for k in (-37, -5, -1, 2, 5, 10, 22, 38, 300)],
        "log1p": [v - 1 for v in roots[:4] + powers[2:] + ones] + [mpf(2) ** 60 * v for v in (m.sqrt(2), m.sqrt(mpf(1) / 2), 1)] + small + [-v for v in small] + ends,
        "asin": [mpf(1), mpf("0.5"), m.sqrt(mpf(1) / 2), mpf("0.49"), mpf("0.51")] + ones + small,
        "atan": [eighth, 1 / eighth, mpf(1), mpf("1e30"), mpf("1e300"), mpf(2) ** p, 1 / mpf("0.4"), mpf("0.4")] + small + ends,
        "asinh": small + ends + [mpf("1e15"), mpf("1e100"), mpf(1), mpf("0.5"), mpf("0.3"), mpf("0.1"), m.sqrt(mpf(1) / 2), mpf(2) ** 30],
        "acosh": [mpf(1), mpf("1.0001"), mpf("1.1"), mpf(2), mpf("1e15"), mpf("1e100"), mpf(2) ** 30, form.greatest] + [2 - v for v in ones],
        "atanh": small + ones + [mpf("0.5"), mpf(1) / 3, mpf("0.17157"), mpf("0.2"), mpf(1)],
        "erf": [mpf(1), mpf(4), mpf("3.83"), mpf("5.86"), mpf("0.5"), mpf("0.84375"), mpf(2)] + small,
        "erfc": [mpf("0.5"), mpf(1), mpf(4), mpf(28), mpf("9.19"), mpf("10.05"), mpf("26.54"), mpf("27.22"), mpf(2), mpf(20), mpf("-0.5"), mpf(-4), mpf("-5.86")] + small,
        "erfinv": small + ones + [mpf("0.5"), mpf("0.75"), m.sqrt(1 - m.exp(-5)), mpf("0.9"), mpf("0.25")],
        "erfcinv": small + [form.normal * 3, mpf("0.5"), mpf("0.25"), 1 - m.sqrt(1 - m.exp(-5)), mpf("1e-5"), mpf("1e-20"), mpf("1e-35")] + ones + [2 - v for v in ones] + [mpf("1.25"), mpf("1.75")],
        "rsqrt": powers + ends + [mpf(1), mpf(3), mpf(3) / 4],
        "sqrt": powers + ends + [mpf(1), mpf(3), mpf(3) / 4],
        "reciprocal": powers + ends + [mpf(1), mpf(3), mpf(3) / 4, 1 / form.normal, mpf(2) ** (form.top - 2)],
    }
    table["acos"] = table["asin"]
    return table[name]


OUTSIDE = {
    "log": lambda x: x <= 0, "log2": lambda x: x <= 0, "log10": lambda x: x <= 0, "rsqrt": lambda x: x <= 0, "sqrt": lambda x: x <= 0,
    "log1p": lambda x: x <= -1, "asin": lambda x: abs(x) > 1, "acos": lambda x: abs(x) > 1, "acosh": lambda x: x < 1,
    "atanh": lambda x: abs(x) >= 1, "erf": lambda x: abs(x) > 40, "erfc": lambda x: abs(x) > 40, "reciprocal": lambda x: x == 0,
    "erfinv": lambda x: abs(x) >= 1, "erfcinv": lambda x: not 0 < x < 2,
}
NEVER = lambda x: False
LARGE = {"exp": 1200, "exp2": 1200, "expm1": 1200, "sigmoid": 1200, "tanh": 100, "sinh": 1200, "cosh": 1200}
ALL = dict(FUNCTIONS, sqrt=(m.sqrt, None), reciprocal=(lambda x: 1 / x, None), **INVERSES)
BINARY = {"pow": lambda x, y: x**y, "atan2": m.atan2}


def unary(form):
    for name, (function, _) in ALL.items():
        arguments = circular(form, name) if name in ("sin", "cos", "tan") else (
            sign * x for v in breaks(name, form) for x in form.beside(form.round(v), (-1, 0, 1)) for sign in (1, -1))
        seen = set()
        for x in arguments:
            if x == 0 or x in seen or OUTSIDE.get(name, NEVER)(x) or abs(x) > LARGE.get(name, 1e400):
                continue
            seen.add(x)
            yield name, x, 0.0, function(mpf(x))


def power_points(form):
    """Results beside one, overflow, underflow and in the subnormals; bases at the logarithm's breaks."""
    bases = [m.sqrt(mpf(1) / 2), m.sqrt(2), mpf(2), mpf(10), mpf("0.1"), mpf(3), mpf("1.5"), mpf("0.7"), form.least, form.least * 3,
             form.normal, form.greatest, m.sqrt(2) * mpf(2) ** 60, m.sqrt(2) * mpf(2) ** -60]
    bases += [1 + s * mpf(2) ** -k for s in (1, -1) for k in (form.precision - 1, form.precision - 3, 20, 10, 4, 2)]
    targets = [m.log(form.greatest), m.log(form.normal), m.log(form.least), m.log(form.least / 2), mpf(1), mpf("0.3466"), mpf("-0.3466"), mpf(2) ** -20]
    for base in bases:
        x = form.round(base)
        for target in targets:
            exponent = target / m.log(mpf(x))
            if abs(exponent) <= form.greatest:
                for y in form.beside(form.round(exponent), (-1, 0, 1)):
                    yield x, y
        for y in (0.5, -0.5, 2.0, -1.0, 3.0, 1.0 / 3):
            yield x, form.round(y)
    for x in (-2.0, -1.5, -0.75, -3.0):
        for y in (2.0, 3.0, -3.0, -5.0, 63.0, -64.0, 101.0, -149.0, 151.0):
            yield x, y


def angle_points(form):
    """Ratios at the breaks, at both ends of the range, and just beyond it; all quadrants."""
    eighth = m.tan(m.pi / 8)
    ratios = [eighth, 1 / eighth, mpf(1), mpf(2) ** -form.precision, mpf(2) ** form.precision, mpf("0.4"), mpf("2.5"), form.normal, 1 / form.normal]
    scales = [mpf(1), form.least * 5, form.normal, form.greatest / 3, mpf("1e-18"), mpf("1e-150"), mpf("1e38"), mpf("1e307")]
    for ratio, scale in itertools.product(ratios, scales):
        if form.least <= scale <= form.greatest and scale * ratio >= form.least / 8 and scale * ratio <= form.greatest:
            for y in form.beside(form.round(scale * ratio), (-1, 0, 1)):
                for s, t in ((1, 1), (1, -1), (-1, -1)):
                    if y != 0:
                        yield s * y, t * form.round(scale)


def points(form):
    yield from unary(form)
    for x, y in power_points(form):
        yield "pow", x, y, BINARY["pow"](mpf(x), mpf(y))
    for y, x in angle_points(form):
        yield "atan2", y, x, BINARY["atan2"](mpf(y), mpf(x))
    for name, *found in map(str.split, SEARCHED.strip().splitlines()):
        for operands in (word.split(":") for word in found):
            if len(operands[0]) == form.digits:
                a, b = (form.from_bits(int(bits, 16)) for bits in operands + ["0"] * (2 - len(operands)))
                yield name, a, b, BINARY[name](mpf(a), mpf(b)) if name in BINARY else ALL[name][0](mpf(a))


def main():
    for form in (F32, F64):
        with open(f"tests/data/hard_{form.name}.txt", "w") as out:
            for name, x, y, truth in points(form):
                value, rest = nearest(truth)
                tail = "" if form is F32 else f" {rest:.4f}"
                print(f"{name} {form.bits(x):0{form.digits}x} {form.bits(y):x} {F64.bits(value):016x}{tail}", file=out)


if __name__ == "__main__":
    main()
