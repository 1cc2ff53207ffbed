#!/usr/bin/env python3
"""Writes src/math/coefficients.rs: the polynomials of the math library, fitted with mpmath.

Run it from the crate's folder after changing a fit: `python3 tools/coefficients.py > src/math/coefficients.rs; cargo fmt`.
Each entry is a Chebyshev fit, whose error is within a small factor of the best polynomial of its degree; the
coefficients are rounded to the type that evaluates them, lowest power first.
"""
import struct
from mpmath import mp, mpf, chebyfit, exp, log, log1p, sin, cos, erf, erfc, erfinv, sqrt, atan, asin, pi

mp.prec = 200
LN2 = log(2)




def series(coeffs):
    """A function near zero from its power series: used where the closed form cancels."""
    return lambda x: sum(c * x**k for k, c in enumerate(coeffs))


def patched(closed, small, limit=mpf(2) ** -40):
    return lambda x: small(x) if abs(x) < limit else closed(x)


def f32(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def literal(x, width):
    """Shortest decimal that reads back as the same value."""
    if width == 64:
        return repr(float(x))
    value = f32(x)
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if f32(float(text)) == value:
            break
    return repr(float(text))


exp_tail = patched(lambda r: (exp(r) - 1 - r) / r**2, series([mpf(1) / 2, mpf(1) / 6, mpf(1) / 24]))
exp2_tail = patched(lambda r: (mpf(2) ** r - 1) / r, series([LN2, LN2**2 / 2, LN2**3 / 6]))
log_tail = patched(lambda f: (log1p(f) - f) / f**2, series([-mpf(1) / 2, mpf(1) / 3, -mpf(1) / 4]))
atanh_tail = patched(
    lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z, series([mpf(2) / 3, mpf(2) / 5])
)
sin_tail = patched(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, series([-mpf(1) / 6, mpf(1) / 120]))
cos_tail = patched(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, series([mpf(1) / 24, -mpf(1) / 720]))
erf_head = patched(lambda z: erf(sqrt(z)) / sqrt(z) - 1, series([2 / sqrt(pi) - 1, -2 / sqrt(pi) / 3]))
atan_tail = patched(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, series([-mpf(1) / 3, mpf(1) / 5]))
asin_tail = patched(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, series([mpf(1) / 6, mpf(3) / 40]))


def erfcx_map(t):
    """(1 + 2x) * erfcx(x) with t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def erfcinv(y):
    """Halley's method from the asymptotic series on; near 1 from the inverse of erf."""
    if y > mpf("0.05"):
        return erfinv(1 - y)
    x = sqrt(-log(y * sqrt(pi) * sqrt(-log(y))))
    while True:
        step = (erfc(x) - y) / (-2 / sqrt(pi) * exp(-x * x))
        step = step / (1 + x * step)
        x -= step
        if abs(step) < x * mpf(2) ** -150:
            return x


def erfinv_head(w):
    """erfinv(x) / x with w = -log(1 - x^2)."""
    if w < mpf(2) ** -60:
        return sqrt(pi) / 2
    e = exp(-w)
    y = e / (1 + sqrt(1 - e))
    return erfcinv(y) / (1 - y)


def erfinv_tail(t):
    """erfinv(x) / x * t with t = 1 / sqrt(-log(1 - x^2))."""
    return erfinv_head(1 / (t * t)) * t


def erfc_log(x):
    return -log(erfc(x)) / x


HALF_LN2 = LN2 / 2 * mpf("1.0001")
LOG_LO, LOG_HI = sqrt(mpf(1) / 2) - 1 - mpf("1e-7"), sqrt(mpf(2)) - 1 + mpf("1e-7")
ATANH_HI = (LOG_HI / (2 + LOG_HI)) ** 2 * mpf("1.0001")
OCTANT = (pi / 4 * mpf("1.0001")) ** 2

FITS = [
    # name, text, function, interval, degree for f32, degree for f64
    ("EXP_TAIL", "(e^r - 1 - r) / r^2 for |r| <= ln(2)/2", exp_tail, (-HALF_LN2, HALF_LN2), 4, 11),
    ("EXP_LONG_TAIL", "(e^r - 1 - r) / r^2 for |r| <= ln(2)/2", exp_tail, (-HALF_LN2, HALF_LN2), 5, None),
    ("EXP2_TAIL", "(2^r - 1) / r for |r| <= 1/2", exp2_tail, (-mpf("0.50001"), mpf("0.50001")), 5, 12),
    ("LOG_TAIL", "(log(1+f) - f) / f^2 for sqrt(1/2) <= 1+f <= sqrt(2)", log_tail, (LOG_LO, LOG_HI), 9, None),
    ("ATANH_TAIL", "(log((1+s)/(1-s)) / s - 2) / z, z = s^2", atanh_tail, (mpf(0), ATANH_HI), None, 8),
    ("SIN_TAIL", "(sin(r)/r - 1) / z, z = r^2, |r| <= pi/4", sin_tail, (mpf(0), OCTANT), 3, 7),
    ("COS_TAIL", "(cos(r) - 1 + z/2) / z^2, z = r^2, |r| <= pi/4", cos_tail, (mpf(0), OCTANT), 3, 6),
    ("ERF_HEAD", "erf(x)/x - 1 in z = x^2, |x| <= 1", erf_head, (mpf(0), mpf(1)), 7, 13),
    ("ERFC_LOG", "-log(erfc(x)) / x for 1 <= x <= 4", erfc_log, (mpf("0.999"), mpf(4)), 7, None),
    ("ERFCX", "(1 + 2x) erfcx(x) in t = (x-4)/(x+4), 0 <= x <= 28", erfcx_map, (mpf(-1), mpf("0.75")), 12, 26),
    ("ERFINV_HEAD", "erfinv(x)/x in w = -log(1 - x^2), 0 <= w <= 5", erfinv_head, (mpf(0), mpf(5)), None, 10),
    ("ERFINV_TAIL", "t erfinv(x)/x in t = 1/sqrt(w), 5 <= w <= 745", erfinv_tail, (1 / sqrt(mpf(745)), 1 / sqrt(mpf(5))), None, 14),
    ("ATAN_TAIL", "(atan(r)/r - 1) / z, z = r^2, |r| <= tan(pi/8)", atan_tail, (mpf(0), mpf("0.1716")), 4, 10),
    ("ASIN_TAIL", "(asin(r)/r - 1) / z, z = r^2, |r| <= 1/2", asin_tail, (mpf(0), mpf("0.2501")), 5, 13),
]


def two_over_pi_words():
    """The bits of 2/pi after the binary point, in 32-bit words."""
    words, x = [], 2 / mp.pi
    for _ in range(40):
        x = x * 2**32
        word = int(x)
        words.append(word)
        x -= word
    return words


def main():
    print("//! Polynomial coefficients of the math library. Written by `tools/coefficients.py`; do not edit.")
    print("//!")
    print("//! Lowest power first. An `F32` table is rounded to f32 and evaluated in f32; each fit's greatest absolute")
    print("//! error over its interval stands in its comment.")
    print("#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]")
    for name, text, f, interval, d32, d64 in FITS:
        for degree, width in ((d32, 32), (d64, 64)):
            if degree is None:
                continue
            coeffs, err = chebyfit(f, list(interval), degree + 1, error=True)
            print(f"\n/// {text}; fit error 2^{float(log(err) / LN2):.1f}.")
            print(f"pub const {name}_F{width}: [f64; {degree + 1}] = [")
            for c in reversed(coeffs):
                print(f"    {literal(c, width)},")
            print("];")
    mp.prec = 1400
    print("\n/// 2/pi in binary: word 0 holds the 32 bits after the point.")
    words = two_over_pi_words()
    print(f"pub const TWO_OVER_PI: [u32; {len(words)}] = [")
    for word in words:
        print(f"    0x{word:08x},")
    print("];")


if __name__ == "__main__":
    main()
