"""Elements: types, special values, rounding, and results with the bounds within which they must lie."""

import dataclasses

import numpy as np
import torch

# Each element type: how it is held, and for a float the bits of exponent and fraction.
TYPES = {
    "f64": (np.float64, (11, 52)), "f32": (np.float32, (8, 23)), "f16": (np.uint16, (5, 10)), "bf16": (np.uint16, (8, 7)),
    "f8E4M3FN": (np.uint8, (4, 3)), "f8E5M2": (np.uint8, (5, 2)), "f8E8M0FNU": (np.uint8, (8, 0)),
    "i64": (np.int64, None), "i32": (np.int32, None), "i16": (np.int16, None), "i8": (np.int8, None),
    "ui64": (np.uint64, None), "ui32": (np.uint32, None), "ui16": (np.uint16, None), "ui8": (np.uint8, None),
    "i1": (np.bool_, None), "index": (np.int64, None),
    "complex<f32>": (np.complex64, None), "complex<f64>": (np.complex128, None),
}
# Complex types, and that of their parts.
PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}
EXTENTS = [0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 65]
MOST = 700  # elements of a drawn tensor


# Floats of 8 bits.
SMALL = {"f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2, "f8E8M0FNU": torch.float8_e8m0fnu}


def is_float(dtype):
    return TYPES[dtype][1] is not None


def tensor(dtype, shape, stored_once=()):
    """The text of a tensor type, some of whose axes are stored once."""
    return "tensor<" + "".join(f"{'b' * (k in stored_once and n != 1)}{n}x" for k, n in enumerate(shape)) + dtype + ">"


def stored(raw, dtype):
    """An array as its file holds it."""
    return raw.view(np.float16) if dtype == "f16" else raw


def loaded(raw, dtype):
    """An array from a file, as it is held."""
    held = np.dtype(TYPES[dtype][0])
    return np.array(raw).view(held).reshape(raw.shape) if raw.dtype != held else raw


def bits(raw):
    """The bits of elements, as integers."""
    raw = np.ascontiguousarray(raw).reshape(raw.shape)
    return raw.view(np.dtype(f"u{raw.dtype.itemsize}")) if raw.dtype != np.bool_ else raw.view(np.uint8)


# --- floats -------------------------------------------------------------------------------------------------------------------------


def widen(raw, dtype):
    """Elements of a float type in the type that computes: f32, or f64 for f64. Exact."""
    if dtype == "f16":
        return raw.view(np.float16).astype(np.float32)
    if dtype == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if dtype in SMALL:
        return torch.arange(256, dtype=torch.uint8).view(SMALL[dtype]).float().numpy()[raw]
    return raw


def to_odd(x, target):
    """Rounds so that rounding once more gives what rounding at once gives: what is not exact gets an odd last bit."""
    near = x.astype(target)
    back = near.astype(x.dtype)
    words = np.int64 if target == np.float64 else np.int32
    wrong = (back != x) & np.isfinite(back) & (near.view(words) & 1 == 0)
    near = np.where(wrong, np.nextafter(near, np.where(x > back, np.inf, -np.inf).astype(target)), near)
    return np.where(np.isinf(back) & np.isfinite(x), np.copysign(np.finfo(target).max, near), near)


def narrow(x, dtype):
    """Rounds float32, float64 or long double to a float type once, to nearest even."""
    x = np.asarray(x)
    if dtype in ("f64", "f32"):
        return x.astype(TYPES[dtype][0])
    if x.dtype == np.longdouble:
        x = to_odd(x, np.float64)
    if dtype == "f16":
        return x.astype(np.float16).view(np.uint16)
    if x.dtype == np.float64:
        x = to_odd(x, np.float32)
    if dtype in SMALL:
        small = torch.from_numpy(np.array(x, np.float32)).to(SMALL[dtype]).view(torch.uint8).numpy()
        # Of what is no positive number PyTorch makes a scale too.
        return small if dtype != "f8E8M0FNU" else np.where(x > 0, small, np.uint8(0xFF))
    word = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((word + 0x7FFF + ((word >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def computes(dtype):
    """The element type in which elements of a float type are computed."""
    return "f64" if dtype == "f64" else "f32"


def ulp(x, dtype):
    """The unit in the last place of numbers, in a float type, subnormals included."""
    exponent, fraction = TYPES[dtype][1]
    least = 2 - 2 ** (exponent - 1)
    magnitude = np.abs(np.where(np.isfinite(x), x, 1)).astype(np.longdouble)
    _, power = np.frexp(magnitude)
    power = np.where(magnitude == 0, least, np.maximum(power - 1, least))
    return np.ldexp(np.longdouble(1), power - fraction)


def unit(dtype):
    """The unit roundoff of a float type."""
    return np.longdouble(2.0) ** -(TYPES[dtype][1][1] + 1)


# --- results ------------------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Exact:
    """Elements that are known to the bit; all NaN are equal, unless `payloads` are kept."""

    dtype: str
    raw: np.ndarray
    payloads: bool = False
    stored_once: tuple = ()

    @property
    def type(self):
        return tensor(self.dtype, self.shape, self.stored_once)

    @property
    def shape(self):
        return self.raw.shape

    @property
    def size(self):
        return self.raw.size

    def mismatch(self, got):
        if got.shape != self.raw.shape:
            return ()
        if self.dtype in PARTS:
            of = PARTS[self.dtype]
            both = [Exact(of, part(self.raw)).mismatch(part(got)) for part in (np.real, np.imag)]
            return next((place for place in both if place is not None), None)
        same = bits(got) == bits(np.array(self.raw))
        if is_float(self.dtype) and not self.payloads:
            same |= np.isnan(widen(got, self.dtype)) & np.isnan(widen(self.raw, self.dtype))
        return None if same.all() else tuple(int(i) for i in np.argwhere(~same)[0])

    def tell(self, place, got):
        if got.shape != self.raw.shape:
            return f"shape {got.shape}, expected {self.raw.shape}"
        return f"element {list(place)} is {shown(got, self.dtype, place)}, expected {shown(self.raw, self.dtype, place)}"


@dataclasses.dataclass
class Within:
    """Floats that lie within `bound` of `value` before they are rounded to the element type; `open` ones may be anything."""

    dtype: str
    value: np.ndarray
    bound: np.ndarray
    open: np.ndarray = None

    @property
    def type(self):
        return tensor(self.dtype, self.shape)

    @property
    def shape(self):
        return self.value.shape

    @property
    def size(self):
        return self.value.size

    def ends(self):
        value, bound = self.value.astype(np.longdouble), np.broadcast_to(self.bound, self.value.shape)
        bound = np.where(np.isfinite(value), bound, 0)
        return [widen(narrow(end, self.dtype), self.dtype) for end in (value - bound, value + bound)]

    def mismatch(self, got):
        if got.shape != self.shape:
            return ()
        low, high = self.ends()
        number = widen(got, self.dtype)
        same = ((low <= number) & (number <= high)) | (np.isnan(self.value) & np.isnan(number))
        if self.open is not None:
            same |= self.open
        return None if same.all() else tuple(int(i) for i in np.argwhere(~same)[0])

    def tell(self, place, got):
        if got.shape != self.shape:
            return f"shape {got.shape}, expected {self.shape}"
        low, high = self.ends()
        return f"element {list(place)} is {shown(got, self.dtype, place)}, expected {low[place]!r} to {high[place]!r}"


def shown(raw, dtype, place):
    if dtype in PARTS:
        return repr(raw[place])
    number = widen(raw, dtype)[place] if is_float(dtype) else raw[place]
    return f"{number!r} ({int(bits(np.array(raw))[place]):#x})"


# --- draws --------------------------------------------------------------------------------------------------------------------------


class Draw:
    """A source of choices for one draw of an op."""

    def __init__(self, rng, types, every, met):
        # The element types of each operand, and all there are.
        self.rng, self.types, self.every, self.met = rng, types, every, met

    def differs(self, name, mask):
        """Counts elements that differ by definition under `name`, and returns their mask."""
        count = int(np.count_nonzero(mask))
        if count:
            self.met[name] += count
        return mask

    def one(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, of):
        return bool(self.rng.random() < of)

    def dtype(self, operand=0):
        return self.one(self.types[operand])

    def shape(self, least=0, most=3):
        while True:
            shape = tuple(self.one(EXTENTS) for _ in range(int(self.rng.integers(least, most + 1))))
            if np.prod(shape, dtype=np.int64) <= MOST:
                return shape

    def raw(self, dtype, shape):
        """Elements of all kinds: small ones, random bits, and special values."""
        kind = self.one(["small", "bits", "special", "mixed", "mixed"])
        make = {"small": self.small, "bits": self.random_bits, "special": self.special}
        if kind != "mixed":
            return make[kind](dtype, shape)
        picked = self.rng.integers(3, size=shape)
        return np.choose(picked, [make[name](dtype, shape) for name in make]).astype(TYPES[dtype][0]).reshape(shape)

    def small(self, dtype, shape):
        if is_float(dtype):
            scale = self.one([1.0, 0.01, 10.0])
            return narrow(self.rng.standard_normal(shape) * scale, dtype).reshape(shape)
        if dtype == "i1":
            return self.rng.integers(2, size=shape).astype(np.bool_)
        low = 0 if dtype.startswith("u") else -9
        return self.rng.integers(low, 10, size=shape).astype(TYPES[dtype][0])

    def random_bits(self, dtype, shape):
        held = np.dtype(TYPES[dtype][0])
        if held == np.bool_:
            return self.small(dtype, shape)
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self.rng.bytes(count * held.itemsize), held).reshape(shape).copy()

    def special(self, dtype, shape):
        pool = specials(dtype)
        return pool[self.rng.integers(len(pool), size=shape)].reshape(shape)

    def like(self, dtype, shape, others):
        """Elements of which some are those of another operand, so that comparisons meet equal ones."""
        raw = self.raw(dtype, shape)
        same = self.rng.random(shape) < 0.2
        return np.where(same, others, raw).astype(raw.dtype).reshape(shape)


def specials(dtype):
    """Zeros of both signs, ones, the least and greatest, subnormals, infinities and NaN; extreme integers."""
    if dtype == "i1":
        return np.array([False, True])
    if not is_float(dtype):
        held = TYPES[dtype][0]
        info = np.iinfo(held)
        around = {info.min, info.min + 1, -1, 0, 1, 2, 3, info.bits - 1, info.bits, info.bits + 1, info.max - 1, info.max, info.max // 2}
        return np.array([n for n in sorted(around) if info.min <= n <= info.max], held)
    if dtype in SMALL:
        return np.arange(256, dtype=np.uint8)
    exponent, fraction = TYPES[dtype][1]
    top, one = ((1 << exponent) - 1) << fraction, ((1 << (exponent - 1)) - 1) << fraction
    words = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, one - 1, one, one + 1, one + (1 << fraction), one - (1 << fraction),
             top - 1, top - 2, top, top | 1 << (fraction - 1), top | 1 << (fraction - 1) | 1, one + (1 << (fraction - 1)), one + 3 * (1 << (fraction - 1))]
    sign = 1 << (exponent + fraction)
    word = np.array(words + [w | sign for w in words], np.dtype(f"u{(exponent + fraction + 1) // 8}"))
    return word.view(TYPES[dtype][0])
