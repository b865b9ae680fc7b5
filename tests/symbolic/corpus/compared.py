"""Refactorings: equal, and almost."""

from . import differ, same

same("twice", """
    def f(x: int) -> int:
        return x + x
    def g(x: int) -> int:
        return 2 * x
""", "distributive law")

same("shift and product", """
    def f(x: int) -> int:
        return x * 2
    def g(x: int) -> int:
        return x << 1
""", "by definition of <<")

same("absolute value by hand", """
    def f(x: int) -> int:
        return abs(x)
    def g(x: int) -> int:
        return x if x > 0 else -x
""", "zero is its own negative")

differ("zero and identity", """
    def f(x: int) -> int:
        return 0
    def g(x: int) -> int:
        return x
""", "x = 1")

same("order of a sum", """
    def f(x: int, y: int) -> int:
        return x + y
    def g(x: int, y: int) -> int:
        return y + x
""", "commutative law")

differ("order of a difference", """
    def f(x: int, y: int) -> int:
        return x - y
    def g(x: int, y: int) -> int:
        return y - x
""", "x = 1, y = 0")

differ("a needle", """
    def f(x: int) -> int:
        return x
    def g(x: int) -> int:
        if x == 987654321:
            return 0
        return x
""", "x = 987654321")

differ("halves of negative numbers", """
    def f(x: int) -> int:
        return x // 2
    def g(x: int) -> int:
        return int(x / 2)
""", "x = -1: -1 and 0")

same("difference of squares", """
    def f(x: int, y: int) -> int:
        return (x + y) * (x - y)
    def g(x: int, y: int) -> int:
        return x * x - y * y
""", "binomial formula")

same("a power of two", """
    def f(x: int) -> int:
        return x ** 2
    def g(x: int) -> int:
        return x * x
""", "by definition of **")

same("leap years", """
    def f(y: int) -> bool:
        return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    def g(y: int) -> bool:
        if y % 400 == 0:
            return True
        if y % 100 == 0:
            return False
        return y % 4 == 0
""", "400 and 100 are multiples of 4")

differ("leap years, forgotten centuries", """
    def f(y: int) -> bool:
        return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    def g(y: int) -> bool:
        return y % 4 == 0
""", "y = 100")

same("fizz, in another order", """
    def f(n: int) -> str:
        if n % 15 == 0:
            return "fizzbuzz"
        if n % 3 == 0:
            return "fizz"
        if n % 5 == 0:
            return "buzz"
        return ""
    def g(n: int) -> str:
        out = ""
        if n % 3 == 0:
            out += "fizz"
        if n % 5 == 0:
            out += "buzz"
        return out
""", "15 divides what 3 and 5 divide")

differ("fizz, in the wrong order", """
    def f(n: int) -> str:
        if n % 15 == 0:
            return "fizzbuzz"
        if n % 3 == 0:
            return "fizz"
        return ""
    def g(n: int) -> str:
        if n % 3 == 0:
            return "fizz"
        if n % 15 == 0:
            return "fizzbuzz"
        return ""
""", "n = 0")

same("De Morgan", """
    def f(a: bool, b: bool) -> bool:
        return not (a and b)
    def g(a: bool, b: bool) -> bool:
        return not a or not b
""", "four cases")

same("odd, two ways", """
    def f(x: int) -> bool:
        return x % 2 == 1
    def g(x: int) -> bool:
        return x % 2 != 0
""", "a remainder by 2 is 0 or 1")

same("remainder by divmod", """
    def f(x: int) -> int:
        return divmod(x, 7)[1]
    def g(x: int) -> int:
        return x % 7
""", "by definition of divmod")

same("a clamp inside out, in order", """
    def f(x: int, lo: int, hi: int) -> int:
        '''pre: lo <= hi'''
        return max(lo, min(x, hi))
    def g(x: int, lo: int, hi: int) -> int:
        '''pre: lo <= hi'''
        return min(hi, max(x, lo))
""", "both give the middle of three when lo <= hi")

differ("a clamp inside out", """
    def f(x: int, lo: int, hi: int) -> int:
        return max(lo, min(x, hi))
    def g(x: int, lo: int, hi: int) -> int:
        return min(hi, max(x, lo))
""", "lo = 1, hi = 0")

differ("True and 1", """
    def f(x: int) -> object:
        return x > 0
    def g(x: int) -> object:
        return 1 if x > 0 else 0
""", "the results are of another type")

differ("a list and a tuple", """
    def f(x: int) -> object:
        return [x]
    def g(x: int) -> object:
        return (x,)
""", "the results are of another type")

differ("another exception", """
    def f(x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        return x
    def g(x: int) -> int:
        if x < 0:
            raise KeyError("negative")
        return x
""", "x = -1")

same("the same exception in other words", """
    def f(x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        return x
    def g(x: int) -> int:
        if not x >= 0:
            raise ValueError("below zero")
        return x
""", "exceptions are compared by class")

differ("one raises where the other does not", """
    def f(x: int) -> int:
        return 10 // x
    def g(x: int) -> int:
        return 10 // x if x else 0
""", "x = 0")

differ("sorted in place", """
    def f(xs: list[int]) -> list[int]:
        xs.sort()
        return list(xs)
    def g(xs: list[int]) -> list[int]:
        return sorted(xs)
""", "[1, 0]: the argument is changed by one of them")

same("sum by hand", """
    def f(xs: list[int]) -> int:
        '''pre: len(xs) <= 3'''
        return sum(xs)
    def g(xs: list[int]) -> int:
        '''pre: len(xs) <= 3'''
        total = 0
        for x in xs:
            total += x
        return total
""", "sum begins at 0")

differ("sum without the first", """
    def f(xs: list[int]) -> int:
        return sum(xs)
    def g(xs: list[int]) -> int:
        total = 0
        for x in xs[1:]:
            total += x
        return total
""", "[1]")

same("a default, two ways", """
    def f(d: dict[str, int]) -> int:
        '''pre: len(d) <= 1'''
        return d.get("a", 0)
    def g(d: dict[str, int]) -> int:
        '''pre: len(d) <= 1'''
        try:
            return d["a"]
        except KeyError:
            return 0
""", "KeyError is raised exactly where get gives the default")

differ("a default by truth", """
    def f(d: dict[str, int]) -> int:
        return d.get("a", 1)
    def g(d: dict[str, int]) -> int:
        return d.get("a") or 1
""", "a = 0")

differ("associativity of floats", """
    def f(a: float, b: float, c: float) -> float:
        '''pre: abs(a) < 1e6 and abs(b) < 1e6 and abs(c) < 1e6'''
        return (a + b) + c
    def g(a: float, b: float, c: float) -> float:
        '''pre: abs(a) < 1e6 and abs(b) < 1e6 and abs(c) < 1e6'''
        return a + (b + c)
""", "0.1, 0.2, 0.3")

same("half, two ways", """
    def f(x: float) -> float:
        '''pre: x == x'''
        return x / 2.0
    def g(x: float) -> float:
        '''pre: x == x'''
        return x * 0.5
""", "0.5 is a power of two, so that both are the correctly rounded half")

differ("a third, two ways", """
    def f(x: float) -> float:
        '''pre: 0.0 < x < 100.0'''
        return x / 3.0
    def g(x: float) -> float:
        '''pre: 0.0 < x < 100.0'''
        return x * (1.0 / 3.0)
""", "x = 5.0: 1.6666666666666667 and 1.6666666666666665")

differ("capitals, two ways", """
    def f(s: str) -> bool:
        return s.upper() == s
    def g(s: str) -> bool:
        return s.isupper()
""", "the empty text")

same("membership", """
    def f(x: int) -> bool:
        return x in (1, 2, 3)
    def g(x: int) -> bool:
        return 1 <= x <= 3
""", "integers from 1 to 3")

differ("membership of floats", """
    def f(x: float) -> bool:
        return x in (1.0, 2.0, 3.0)
    def g(x: float) -> bool:
        return 1.0 <= x <= 3.0
""", "x = 1.5")

same("early return", """
    def f(x: int) -> int:
        result = 0
        if x > 0:
            if x < 100:
                result = x
        return result
    def g(x: int) -> int:
        if x <= 0 or x >= 100:
            return 0
        return x
""", "the same interval")

differ("early return, one too far", """
    def f(x: int) -> int:
        result = 0
        if x > 0:
            if x < 100:
                result = x
        return result
    def g(x: int) -> int:
        if x <= 0 or x > 100:
            return 0
        return x
""", "x = 100")

same("ends, two ways", """
    def f(s: str) -> str:
        '''pre: len(s) <= 2'''
        return s.strip()
    def g(s: str) -> str:
        '''pre: len(s) <= 2'''
        return s.lstrip().rstrip()
""", "by definition of strip")

same("first match", """
    def f(xs: list[int]) -> int:
        '''pre: len(xs) <= 3'''
        for i, x in enumerate(xs):
            if x == 0:
                return i
        return -1
    def g(xs: list[int]) -> int:
        '''pre: len(xs) <= 3'''
        return xs.index(0) if 0 in xs else -1
""", "index finds the first")

differ("first and last match", """
    def f(xs: list[int]) -> int:
        for i, x in enumerate(xs):
            if x == 0:
                return i
        return -1
    def g(xs: list[int]) -> int:
        found = -1
        for i, x in enumerate(xs):
            if x == 0:
                found = i
        return found
""", "[0, 0]")

same("recursion and loop", """
    def f(n: int) -> int:
        '''pre: 0 <= n <= 6'''
        if n <= 1:
            return 1
        return n * f(n - 1)
    def g(n: int) -> int:
        '''pre: 0 <= n <= 6'''
        result = 1
        for i in range(2, n + 1):
            result *= i
        return result
""", "factorials of 0 to 6")
