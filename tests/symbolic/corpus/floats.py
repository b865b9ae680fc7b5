"""Floats: IEEE doubles, with NaN, infinities and rounding."""

from . import breaks, holds, never, raises

breaks("addition is not associative", """
    def f(a: float, b: float, c: float) -> bool:
        '''
        pre: abs(a) < 1e6 and abs(b) < 1e6 and abs(c) < 1e6
        post: _
        '''
        return (a + b) + c == a + (b + c)
""", "a = 0.1, b = 0.2, c = 0.3")

breaks("adding one may change nothing", """
    def f(x: float) -> bool:
        '''post: _'''
        return x + 1.0 > x
""", "x = 1e16; also inf and nan")

holds("adding one to a small number", """
    def f(x: float) -> bool:
        '''
        pre: -1000000.0 < x < 1000000.0
        post: _
        '''
        return x + 1.0 > x
""", "below 2 ** 53 the sum is rounded to something larger")

breaks("nan is not itself", """
    def f(x: float) -> bool:
        '''post: _'''
        return x == x
""", "x = nan")

holds("every number is itself", """
    def f(x: float) -> bool:
        '''
        pre: x <= 0.0 or x >= 0.0
        post: _
        '''
        return x == x
""", "the precondition leaves nan out")

breaks("times zero", """
    def f(x: float) -> float:
        '''post: _ == 0.0'''
        return x * 0.0
""", "x = inf gives nan")

holds("a tenth and two tenths", """
    def f() -> bool:
        '''post: not _'''
        return 0.1 + 0.2 == 0.3
""", "0.1 + 0.2 is 0.30000000000000004")

breaks("dividing by a float", """
    def f(x: float, y: float) -> float:
        return x / y
""", "y = 0.0, or -0.0")

holds("dividing by what is not zero", """
    def f(x: float, y: float) -> float:
        if y == 0.0:
            return 0.0
        return x / y
""", "Python raises for a zero divisor only; everything else is inf or nan")

holds("minus zero is zero", """
    def f(x: float) -> float:
        '''
        pre: x == 0.0
        post: _ == 0.0
        '''
        return -x
""", "-0.0 == 0.0")

breaks("integers do not all fit", """
    def f(n: int) -> bool:
        '''
        pre: 0 <= n < 2 ** 60
        post: _
        '''
        return int(float(n)) == n
""", "n = 2 ** 53 + 1")

holds("halves are rounded to even", """
    def f() -> int:
        '''post: _ == 4'''
        return round(0.5) + round(1.5) + round(2.5)
""", "0 + 2 + 2")

breaks("the middle may lie outside", """
    def f(a: float, b: float) -> float:
        '''
        pre: 0.0 <= a <= b <= 1.7e308
        post: _ <= b
        '''
        return (a + b) / 2.0
""", "a = b = 1.7e308: the sum is inf")

breaks("the maximum depends on the order", """
    def f(x: float, y: float) -> bool:
        '''post: _'''
        return max(x, y) == max(y, x)
""", "x = nan, y = 0.0: max gives the first argument unless the other is greater")

raises("three ways to compare are not all", """
    def f(x: float, y: float) -> int:
        if x < y:
            return -1
        if x > y:
            return 1
        if x == y:
            return 0
        raise ValueError("neither")
""", "ValueError", "nan is neither less, greater nor equal", lines=[8])

never("three ways to compare integers are all", """
    def f(x: int, y: int) -> int:
        if x < y:
            return -1
        if x > y:
            return 1
        if x == y:
            return 0
        raise ValueError("neither")
""", "ValueError", "integers are totally ordered")

raises("root of a negative number", """
    import math

    def f(x: float) -> float:
        return math.sqrt(x)
""", "ValueError", "x = -1.0", lines=[4])

never("root of a checked number", """
    import math

    def f(x: float) -> float:
        if x >= 0.0:
            return math.sqrt(x)
        return 0.0
""", "ValueError", "nan does not pass the check, and sqrt is defined from 0.0 to inf")

raises("an infinity is no integer", """
    def f(x: float) -> int:
        return int(x)
""", "OverflowError", "x = inf", lines=[2])

raises("nan is no integer", """
    def f(x: float) -> int:
        return int(x)
""", "ValueError", "x = nan", lines=[2])

breaks("discount below a cent", """
    def f(price: float) -> float:
        '''
        pre: 0.0 < price < 100.0
        post: _ < price
        '''
        return price - 1e-17
""", "price = 1.0: the difference is rounded away")

holds("clamped to one", """
    def f(x: float) -> float:
        '''
        post: 0.0 <= _ <= 1.0
        '''
        if x > 1.0:
            return 1.0
        if x >= 0.0:
            return x
        return 0.0
""", "nan passes neither comparison and gives 0.0")

breaks("clamped to one, but for nan", """
    def f(x: float) -> float:
        '''
        post: 0.0 <= _ <= 1.0
        '''
        if x > 1.0:
            return 1.0
        if x < 0.0:
            return 0.0
        return x
""", "x = nan is returned")
