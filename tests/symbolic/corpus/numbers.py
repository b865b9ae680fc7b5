"""Integers: unbounded, with floors for division."""

from . import breaks, holds

holds("identity", """
    def f(x: int) -> int:
        '''post: _ == x'''
        return x
""", "the result is the argument")

holds("abs is not negative", """
    def f(x: int) -> int:
        '''post: _ >= 0'''
        return abs(x)
""", "by definition of abs on integers")

breaks("needle in a haystack", """
    def f(x: int) -> int:
        '''post: _ == 0'''
        if x == 123456789:
            return -1
        return 0
""", "x = 123456789 gives -1")

breaks("needle behind arithmetic", """
    def f(x: int) -> int:
        '''post: _ == 0'''
        if x * 31 + 7 == 3131313138:
            return 1
        return 0
""", "31 * 101010101 + 7 = 3131313138")

breaks("needle of two arguments", """
    def f(x: int, y: int) -> int:
        '''post: _ != 1'''
        if x + y == 1000003 and x - y == 1:
            return 1
        return 0
""", "x = 500002, y = 500001")

holds("parity excludes it", """
    def f(x: int) -> int:
        if 2 * x == 7:
            raise ValueError(x)
        return x
""", "twice an integer is even")

holds("quotient and remainder make the whole", """
    def f(x: int, y: int) -> bool:
        '''
        pre: y != 0
        post: _
        '''
        return (x // y) * y + x % y == x
""", "the language defines // and % so")

holds("remainder of a positive divisor", """
    def f(x: int, y: int) -> int:
        '''
        pre: y > 0
        post: 0 <= _ < y
        '''
        return x % y
""", "the remainder has the sign of the divisor")

holds("remainder of a negative divisor", """
    def f(x: int, y: int) -> int:
        '''
        pre: y < 0
        post: y < _ <= 0
        '''
        return x % y
""", "the remainder has the sign of the divisor")

breaks("division rounds down, not to zero", """
    def f(x: int) -> int:
        '''post: _ == x // 2'''
        return -(-x // 2)
""", "x = 1: -(-1 // 2) = 1, but 1 // 2 = 0")

breaks("division by zero is no contract's wish", """
    def f(x: int, y: int) -> int:
        return x // y
""", "y = 0")

holds("clamp", """
    def f(x: int, lo: int, hi: int) -> int:
        '''
        pre: lo <= hi
        post: lo <= _ <= hi
        '''
        if x < lo:
            return lo
        if x > hi:
            return hi
        return x
""", "each of the three results lies between, as lo <= hi")

breaks("clamp off by one", """
    def f(x: int, lo: int, hi: int) -> int:
        '''
        pre: lo <= hi
        post: lo <= _ <= hi
        '''
        if x < lo:
            return lo
        if x > hi + 1:
            return hi
        return x
""", "x = hi + 1 is returned as it is")

breaks("clamp without a precondition", """
    def f(x: int, lo: int, hi: int) -> int:
        '''post: lo <= _ <= hi'''
        return max(lo, min(x, hi))
""", "lo = 1, hi = 0 leaves nothing between")

holds("maximum of three", """
    def f(a: int, b: int, c: int) -> int:
        '''
        post: _ >= a and _ >= b and _ >= c
        post: _ == a or _ == b or _ == c
        '''
        if a >= b and a >= c:
            return a
        if b >= c:
            return b
        return c
""", "if a is not a maximum, b or c is one, and the larger of them is returned")

breaks("maximum of three with one comparison too few", """
    def f(a: int, b: int, c: int) -> int:
        '''post: _ >= a and _ >= b and _ >= c'''
        if a > b:
            return a
        if b > c:
            return b
        return c
""", "a = 1, b = 0, c = 2 gives 1")

holds("integers have no largest", """
    def f(x: int) -> bool:
        '''post: _'''
        return x + 1 > x
""", "integers do not overflow")

holds("cut at two to the two hundredth", """
    def f(x: int) -> int:
        '''post: _ < 2 ** 200'''
        if x < 2 ** 200:
            return x
        return 0
""", "either less, or 0")

breaks("a bound past sixty-four bits", """
    def f(x: int) -> int:
        '''post: _ < 2 ** 64'''
        if x > 2 ** 65:
            return 0
        return x
""", "x = 2 ** 64 passes")

holds("squares are not negative", """
    def f(x: int) -> int:
        '''post: _ >= 0'''
        return x * x
""", "a product of a number with itself")

holds("two is no square", """
    def f(x: int) -> int:
        if x * x == 2:
            raise ValueError(x)
        return x
""", "1 * 1 < 2 < 2 * 2")

breaks("a square that is one", """
    def f(x: int) -> int:
        if x * x == 1522756:
            raise ValueError(x)
        return x
""", "1234 * 1234 = 1522756")

holds("average of two", """
    def f(a: int, b: int) -> int:
        '''
        pre: a <= b
        post: a <= _ <= b
        '''
        return (a + b) // 2
""", "2a <= a + b <= 2b, and floors keep the order")

holds("sign", """
    def f(x: int) -> int:
        '''
        post: (_ > 0) == (x > 0)
        post: (_ < 0) == (x < 0)
        '''
        if x > 0:
            return 1
        if x < 0:
            return -1
        return 0
""", "case by case")

holds("divmod", """
    def f(a: int, b: int) -> int:
        '''pre: b > 0'''
        q, r = divmod(a, b)
        assert a == q * b + r
        assert 0 <= r < b
        return q
""", "the language defines divmod so")

holds("sum of the first numbers, bounded", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 10
        post: _ == n * (n + 1) // 2
        '''
        total = 0
        for i in range(n + 1):
            total += i
        return total
""", "eleven cases: 0 1 3 6 10 15 21 28 36 45 55")

breaks("sum of the first numbers, off by one", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 10
        post: _ == n * (n + 1) // 2
        '''
        total = 0
        for i in range(n):
            total += i
        return total
""", "n = 1 gives 0 instead of 1")

holds("sum of the first numbers, without a bound", """
    def f(n: int) -> int:
        '''
        pre: n >= 0
        post: _ == n * (n + 1) // 2
        '''
        total = 0
        for i in range(n + 1):
            total += i
        return total
""", "by induction; no number of rounds is enough to see it")

breaks("a loop that fails in its seventh round", """
    def f(n: int) -> int:
        '''post: _ != 49'''
        i = 0
        while i < n:
            i += 1
            if i == 7:
                return 49
        return i
""", "n = 7")

holds("factorial is positive", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 6
        post: _ >= 1
        '''
        if n == 0:
            return 1
        return n * f(n - 1)
""", "1 1 2 6 24 120 720")

holds("fibonacci grows", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 8
        post: _ >= n - 1
        '''
        a, b = 0, 1
        for _i in range(n):
            a, b = b, a + b
        return a
""", "0 1 1 2 3 5 8 13 21 against -1 0 1 2 3 4 5 6 7")

holds("greatest common divisor divides", """
    def f(a: int, b: int) -> int:
        '''
        pre: 0 < a <= 12 and 0 < b <= 12
        post: a % _ == 0 and b % _ == 0
        '''
        x, y = a, b
        while y:
            x, y = y, x % y
        return x
""", "Euclid's algorithm; 144 cases")

breaks("prime up to the root, excluded", """
    def f(n: int) -> bool:
        '''
        pre: 2 <= n <= 30
        post: _ == all(n % k != 0 for k in range(2, n))
        '''
        i = 2
        while i * i < n:
            if n % i == 0:
                return False
            i += 1
        return True
""", "n = 4, 9, 25 are called prime")

holds("prime up to the root", """
    def f(n: int) -> bool:
        '''
        pre: 2 <= n <= 30
        post: _ == all(n % k != 0 for k in range(2, n))
        '''
        i = 2
        while i * i <= n:
            if n % i == 0:
                return False
            i += 1
        return True
""", "29 cases; a composite has a divisor up to its root")

holds("sum of three digits", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n < 1000
        post: 0 <= _ <= 27
        '''
        total = 0
        while n > 0:
            total += n % 10
            n //= 10
        return total
""", "three digits of at most 9")

holds("last bit", """
    def f(x: int) -> bool:
        '''post: _'''
        return (x & 1) == x % 2
""", "two's complement: the last bit is the parity, for negative numbers too")

holds("shifting is multiplying", """
    def f(x: int) -> bool:
        '''post: _'''
        return (x << 3) == x * 8
""", "by definition of << on integers")

breaks("powers grow, but not all of them", """
    def f(x: int) -> int:
        '''
        pre: x >= 0
        post: _ > x
        '''
        return x ** 2
""", "x = 0 and x = 1")

breaks("a bool is a number", """
    def f(a: bool, b: bool) -> int:
        '''post: _ < 2'''
        return a + b
""", "True + True = 2")

holds("exclusive or", """
    def f(a: bool, b: bool) -> bool:
        '''post: _ == ((a or b) and not (a and b))'''
        return a != b
""", "four cases")

breaks("an unannotated parameter may be anything", """
    def f(x):
        return x + 1
""", "x = '' raises TypeError")
