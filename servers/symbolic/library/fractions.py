"""Fractions. Known ones are kept in lowest terms; of unknown ones only what asks for lowest terms makes them so."""

from math import gcd as _gcd


class Fraction:
    numerator: int
    denominator: int

    def __init__(self, numerator=0, denominator=None):
        if denominator is None:
            top, bottom = _ratio_of(numerator)
        elif isinstance(numerator, (int, Fraction)) and isinstance(denominator, (int, Fraction)):
            (a, b), (c, d) = _ratio_of(numerator), _ratio_of(denominator)
            top, bottom = a * d, b * c
        else:
            raise TypeError("both arguments should be Rational instances")
        if bottom == 0:
            raise ZeroDivisionError(f"Fraction({top}, 0)")
        if bottom < 0:
            top, bottom = -top, -bottom
        if is_known(top) and is_known(bottom):
            divisor = _gcd(top, bottom)
            top, bottom = top // divisor, bottom // divisor
        self._top, self._bottom = top, bottom

    @property
    def numerator(self):
        return self._top // _gcd(self._top, self._bottom)

    @property
    def denominator(self):
        return self._bottom // _gcd(self._top, self._bottom)

    @classmethod
    def from_float(cls, f):
        if isinstance(f, int):
            return cls(f)
        if not isinstance(f, float):
            raise TypeError(f"{cls.__name__}.from_float() only takes floats, not {f!r} ({type(f).__name__})")
        return cls(*f.as_integer_ratio())

    def as_integer_ratio(self):
        return self.numerator, self.denominator

    def is_integer(self):
        unsupported("Fraction.is_integer, which Python has from 3.12 on")

    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        top, bottom = self.numerator, self.denominator
        if bottom <= max_denominator:
            return Fraction(top, bottom)
        before, current = (0, 1), (1, 0)
        n, d = top, bottom
        while True:
            whole = n // d
            size = before[1] + whole * current[1]
            if size > max_denominator:
                break
            before, current = current, (before[0] + whole * current[0], size)
            n, d = d, n - whole * d
        steps = (max_denominator - before[1]) // current[1]
        near = Fraction(before[0] + steps * current[0], before[1] + steps * current[1])
        other = Fraction(current[0], current[1])
        return other if abs(other - self) <= abs(near - self) else near

    def __repr__(self):
        return f"{type(self).__name__}({self.numerator}, {self.denominator})"

    def __str__(self):
        if self.denominator == 1:
            return str(self.numerator)
        return f"{self.numerator}/{self.denominator}"

    def __format__(self, spec):
        if spec:
            unsupported("the format of a fraction")
        return str(self)

    def __hash__(self):
        unsupported("hash() of a fraction")

    def __bool__(self):
        return self._top != 0

    def __add__(self, other):
        if isinstance(other, float):
            return float(self) + other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return Fraction(self._top * bottom + top * self._bottom, self._bottom * bottom)

    def __radd__(self, other):
        return other + float(self) if isinstance(other, float) else self.__add__(other)

    def __sub__(self, other):
        if isinstance(other, float):
            return float(self) - other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return Fraction(self._top * bottom - top * self._bottom, self._bottom * bottom)

    def __rsub__(self, other):
        if isinstance(other, float):
            return other - float(self)
        if not isinstance(other, int):
            return NotImplemented
        return Fraction(other) - self

    def __mul__(self, other):
        if isinstance(other, float):
            return float(self) * other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return Fraction(self._top * top, self._bottom * bottom)

    def __rmul__(self, other):
        return other * float(self) if isinstance(other, float) else self.__mul__(other)

    def __truediv__(self, other):
        if isinstance(other, float):
            return float(self) / other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        return _quotient(self, other)

    def __rtruediv__(self, other):
        if isinstance(other, float):
            return other / float(self)
        if not isinstance(other, int):
            return NotImplemented
        return _quotient(other, self)

    def __floordiv__(self, other):
        if isinstance(other, float):
            return float(self) // other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return (self._top * bottom) // (self._bottom * top)

    def __rfloordiv__(self, other):
        if isinstance(other, float):
            return other // float(self)
        if not isinstance(other, int):
            return NotImplemented
        return Fraction(other) // self

    def __mod__(self, other):
        if isinstance(other, float):
            return float(self) % other
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return Fraction((self._top * bottom) % (top * self._bottom), self._bottom * bottom)

    def __rmod__(self, other):
        if isinstance(other, float):
            return other % float(self)
        if not isinstance(other, int):
            return NotImplemented
        return Fraction(other) % self

    def __divmod__(self, other):
        return self // other, self % other

    def __pow__(self, other):
        if isinstance(other, Fraction) and is_known(other._bottom) and other._bottom == 1:
            other = other._top
        if not isinstance(other, int):
            unsupported("a fraction to the power of something else than an integer")
        if other >= 0:
            return Fraction(self._top ** other, self._bottom ** other)
        if self._top == 0:
            raise ZeroDivisionError(f"Fraction({self.denominator ** -other}, 0)")
        return Fraction(self._bottom ** -other, self._top ** -other)

    def __rpow__(self, other):
        if is_known(self._bottom) and self._bottom == 1 and self._top >= 0:
            return other ** self._top
        unsupported("a fraction as an exponent")

    def __neg__(self):
        return Fraction(-self._top, self._bottom)

    def __pos__(self):
        return Fraction(self._top, self._bottom)

    def __abs__(self):
        return Fraction(abs(self._top), self._bottom)

    def __int__(self):
        return self.__trunc__()

    def __trunc__(self):
        return -(-self._top // self._bottom) if self._top < 0 else self._top // self._bottom

    def __floor__(self):
        return self._top // self._bottom

    def __ceil__(self):
        return -(-self._top // self._bottom)

    def __round__(self, ndigits=None):
        if ndigits is None:
            whole, rest = self._top // self._bottom, self._top % self._bottom
            if rest * 2 < self._bottom:
                return whole
            if rest * 2 > self._bottom:
                return whole + 1
            return whole if whole % 2 == 0 else whole + 1
        scale = 10 ** abs(ndigits)
        if ndigits > 0:
            return Fraction(round(self * scale), scale)
        return Fraction(round(self / scale) * scale)

    def __float__(self):
        return self._top / self._bottom

    def __eq__(self, other):
        if isinstance(other, float):
            return _against(self, other, lambda a, b: a == b)
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        top, bottom = _parts(other)
        return self._top * bottom == top * self._bottom

    def __lt__(self, other):
        return _against(self, other, lambda a, b: a < b)

    def __gt__(self, other):
        return _against(self, other, lambda a, b: a > b)

    def __le__(self, other):
        return _against(self, other, lambda a, b: a <= b)

    def __ge__(self, other):
        return _against(self, other, lambda a, b: a >= b)


def _parts(value):
    return (value._top, value._bottom) if isinstance(value, Fraction) else (+value, 1)


def _quotient(a, b):
    (top, bottom), (other_top, other_bottom) = _parts(a), _parts(b)
    if other_top == 0:
        raise ZeroDivisionError(f"Fraction({1 if top > 0 else -1 if top < 0 else 0}, 0)")
    return Fraction(top * other_bottom, bottom * other_top)


def _against(own, other, holds):
    if isinstance(other, float):
        if other != other or other in (float("inf"), float("-inf")):
            return holds(0.0, other)
        other = Fraction(*other.as_integer_ratio())
    if not isinstance(other, (int, Fraction)):
        return NotImplemented
    top, bottom = _parts(other)
    return holds(own._top * bottom, top * own._bottom)


def _ratio_of(value):
    if isinstance(value, (int, Fraction)):
        return _parts(value)
    if isinstance(value, float):
        return value.as_integer_ratio()
    if isinstance(value, str):
        return _read(value)
    raise TypeError("argument should be a string or a Rational instance")


def _read(text):
    """`3/4`, `-1.5`, `1e-3`; underscores and other alphabets' digits are left out."""
    if not is_known(text) or not text.isascii() or "_" in text:
        unsupported("Fraction() of this text")
    rest = text.strip()
    sign = 1
    if rest[:1] in ("+", "-"):
        sign = -1 if rest[0] == "-" else 1
        rest = rest[1:]
    if "/" in rest:
        top, _, bottom = rest.partition("/")
        if not (top.isdigit() and bottom.isdigit()):
            raise ValueError(f"Invalid literal for Fraction: {text!r}")
        return sign * int(top), int(bottom)
    number, mark, power = rest.lower().partition("e")
    whole, point, part = number.partition(".")
    digits = power[1:] if power[:1] in ("+", "-") else power
    is_number = (whole + part).isdigit() and (not mark or digits.isdigit())
    if not is_number:
        raise ValueError(f"Invalid literal for Fraction: {text!r}")
    exponent = (int(power) if mark else 0) - len(part)
    top = sign * int(whole + part)
    return (top * 10 ** exponent, 1) if exponent >= 0 else (top, 10 ** -exponent)
