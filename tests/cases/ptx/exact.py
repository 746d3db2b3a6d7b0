"""Binary floating formats with exact rounding, and PTX's operations on bit patterns, in exact fractions."""
import math
from fractions import Fraction


# ---- numbers -------------------------------------------------------------------------------------------
class Format:
    """A binary floating format with infinities; values are bit patterns."""

    def __init__(self, name, width, mantissa, canonical_nan):
        self.name, self.width, self.mantissa, self.nan = name, width, mantissa, canonical_nan
        self.exponent_bits = width - 1 - mantissa
        self.bias = (1 << (self.exponent_bits - 1)) - 1
        self.sign = 1 << (width - 1)
        self.inf = ((1 << self.exponent_bits) - 1) << mantissa
        self.largest = self.inf - 1
        self.emin = 1 - self.bias

    def is_nan(self, x):
        return (x & ~self.sign) > self.inf

    def is_inf(self, x):
        return (x & ~self.sign) == self.inf

    def is_subnormal(self, x):
        return 0 < (x & ~self.sign) < (1 << self.mantissa)

    def negative(self, x):
        return bool(x & self.sign)

    def value(self, x):
        field = (x >> self.mantissa) & ((1 << self.exponent_bits) - 1)
        fraction = x & ((1 << self.mantissa) - 1)
        if field:
            fraction |= 1 << self.mantissa
        magnitude = Fraction(fraction) * Fraction(2) ** (max(field, 1) - self.bias - self.mantissa)
        return -magnitude if self.negative(x) else magnitude

    def flush(self, x):
        return x & self.sign if self.is_subnormal(x) else x

    def round(self, value, mode, zero_negative=False, ftz=False):
        """Bits of an exact value; zero_negative is the sign of an exact zero."""
        if value == 0:
            return self.sign if zero_negative else 0
        sign, magnitude = (self.sign, -value) if value < 0 else (0, value)
        exponent = 0
        n, d = magnitude.numerator, magnitude.denominator
        exponent = n.bit_length() - d.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        tiny = exponent < self.emin
        exponent = max(exponent, self.emin)
        quotient = magnitude / Fraction(2) ** (exponent - self.mantissa)
        whole = quotient.numerator // quotient.denominator
        rest = quotient - whole
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
              "rna": rest >= Fraction(1, 2),
              "rz": False, "rm": rest > 0 and bool(sign), "rp": rest > 0 and not sign}[mode]
        whole += bool(up)
        if whole >> (self.mantissa + 1):
            whole >>= 1
            exponent += 1
        if exponent > self.bias:
            overflow = {"rn": True, "rna": True, "rz": False, "rm": bool(sign), "rp": not sign}[mode]
            return sign | (self.inf if overflow else self.largest)
        if whole >> self.mantissa == 0:
            bits = whole
        else:
            bits = ((exponent + self.bias) << self.mantissa) | (whole & ((1 << self.mantissa) - 1))
        if ftz and 0 < bits < (1 << self.mantissa):
            bits = 0
        return sign | bits


F16 = Format("f16", 16, 10, 0x7FFF)
BF16 = Format("bf16", 16, 7, 0x7FFF)
F32 = Format("f32", 32, 23, 0x7FFFFFFF)
F64 = Format("f64", 64, 52, None)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}
NAN = "nan"


def signed(x, width):
    x &= (1 << width) - 1
    return x - (1 << width) if x >> (width - 1) else x


def unsigned(x, width):
    return x & ((1 << width) - 1)


def typed(x, t):
    w = int(t[1:])
    return signed(x, w) if t[0] == "s" else unsigned(x, w)


# ---- operations on bit patterns ------------------------------------------------------------------------
def nan_of(f):
    return NAN if f.nan is None else f.nan


def f_add(f, a, b, mode="rn", ftz=False):
    if ftz:
        a, b = f.flush(a), f.flush(b)
    if f.is_nan(a) or f.is_nan(b) or (f.is_inf(a) and f.is_inf(b) and a != b):
        return nan_of(f)
    if f.is_inf(a):
        return a
    if f.is_inf(b):
        return b
    total = f.value(a) + f.value(b)
    if total == 0:
        both_negative = f.negative(a) and f.negative(b)
        same = f.negative(a) == f.negative(b)
        zero_negative = both_negative if same and f.value(a) == 0 else mode == "rm"
        return f.round(total, mode, zero_negative)
    return f.round(total, mode, ftz=ftz)


def f_neg(f, a):
    return a ^ f.sign


def f_sub(f, a, b, mode="rn", ftz=False):
    if f.is_nan(b):
        return nan_of(f)
    return f_add(f, a, f_neg(f, b), mode, ftz)


def f_mul(f, a, b, mode="rn", ftz=False):
    if ftz:
        a, b = f.flush(a), f.flush(b)
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return nan_of(f)
    zero = f.value(a) == 0 if not f.is_inf(a) else False
    zero = zero or (not f.is_inf(b) and f.value(b) == 0)
    if f.is_inf(a) or f.is_inf(b):
        return nan_of(f) if zero else sign | f.inf
    return f.round(f.value(a) * f.value(b), mode, bool(sign), ftz)


def f_fma(f, a, b, c, mode="rn", ftz=False):
    if ftz:
        a, b, c = f.flush(a), f.flush(b), f.flush(c)
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return nan_of(f)
    sign = bool((a ^ b) & f.sign)
    if f.is_inf(a) or f.is_inf(b):
        other = b if f.is_inf(a) else a
        if not f.is_inf(other) and f.value(other) == 0:
            return nan_of(f)
        if f.is_inf(c) and f.negative(c) != sign:
            return nan_of(f)
        return f.inf | (f.sign if sign else 0)
    if f.is_inf(c):
        return c
    product = f.value(a) * f.value(b)
    total = product + f.value(c)
    if total == 0:
        if product == 0 and f.value(c) == 0 and sign == f.negative(c):
            return f.round(total, mode, sign)
        return f.round(total, mode, mode == "rm")
    return f.round(total, mode, ftz=ftz)


def f_div(f, a, b, mode="rn", ftz=False):
    if ftz:
        a, b = f.flush(a), f.flush(b)
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or (f.is_inf(a) and f.is_inf(b)):
        return nan_of(f)
    if f.is_inf(a):
        return sign | f.inf
    if f.is_inf(b):
        return sign
    if f.value(b) == 0:
        return nan_of(f) if f.value(a) == 0 else sign | f.inf
    return f.round(f.value(a) / f.value(b), mode, bool(sign), ftz)


def f_sqrt(f, a, mode="rn", ftz=False):
    if ftz:
        a = f.flush(a)
    if f.is_nan(a):
        return nan_of(f)
    if f.value(a) == 0 and not f.is_inf(a):
        return a
    if f.negative(a):
        return nan_of(f)
    if f.is_inf(a):
        return a
    # An integer root with far more bits than any rounding needs, kept inexact by a trailing one.
    v = f.value(a)
    shift = 800
    scaled = v * Fraction(4) ** shift
    n = scaled.numerator // scaled.denominator
    root = math.isqrt(n)
    exact = root * root == scaled
    r = Fraction(2 * root + (0 if exact else 1), 2) / Fraction(2) ** shift
    return f.round(r, mode, ftz=ftz)


def f_minmax(f, a, b, is_max, nan=False, ftz=False):
    if ftz:
        a, b = f.flush(a), f.flush(b)
    if f.is_nan(a) or f.is_nan(b):
        if nan or (f.is_nan(a) and f.is_nan(b)):
            return nan_of(f)
        return b if f.is_nan(a) else a

    def key(x):
        return -(x & ~f.sign) - 1 if f.negative(x) else x  # -0 below +0
    return (max if is_max else min)(a, b, key=key)


def f_sat(f, x):
    if x == NAN or f.is_nan(x):
        return 0
    if f.negative(x):
        return 0
    one = f.bias << f.mantissa
    return one if x > one else x


def to_integer(f, x, mode, t, ftz=False):
    if ftz:
        x = f.flush(x)
    w = int(t[1:])
    low, high = (-(1 << (w - 1)), (1 << (w - 1)) - 1) if t[0] == "s" else (0, (1 << w) - 1)
    if f.is_nan(x):
        # cvt of a NaN gives 0 for 32-bit results and below in PTX's table, the largest of 64 bits apart.
        return None
    if f.is_inf(x):
        return unsigned(low if f.negative(x) else high, w)
    return unsigned(min(max(integral(f.value(x), mode), low), high), w)


def integral(v, mode):
    floor = v.numerator // v.denominator
    rest = v - floor
    if mode == "rzi":
        return floor if v >= 0 or rest == 0 else floor + 1
    if mode == "rmi":
        return floor
    if mode == "rpi":
        return floor + (rest > 0)
    half = Fraction(1, 2)
    return floor + (rest > half or (rest == half and floor % 2 == 1))


def convert(source, target, x, mode="rn", ftz=False):
    if ftz:
        x = source.flush(x)
    if source.is_nan(x):
        return nan_of(target)
    sign = target.sign if source.negative(x) else 0
    if source.is_inf(x):
        return sign | target.inf
    return target.round(source.value(x), mode, bool(sign), ftz)
