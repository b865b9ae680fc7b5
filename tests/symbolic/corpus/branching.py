"""Which sides of branches can be taken."""

from . import branches, listed

branches("both sides", """
    def f(x: int) -> int:
        if x > 0:
            return 1
        return 0
""", "x = 1 and x = 0", [(2, True, True)], complexity=2)

branches("a contradiction inside", """
    def f(x: int) -> int:
        if x > 10:
            if x < 5:
                return 1
            return 2
        return 3
""", "nothing is above 10 and below 5", [(2, True, True), (3, False, True)], dead=[4], complexity=3)

branches("a condition that is always true", """
    def f(x: int) -> int:
        if x == x:
            return 1
        return 0
""", "integers equal themselves", [(2, True, False)], dead=[4], complexity=2)

branches("the same condition for floats", """
    def f(x: float) -> int:
        if x == x:
            return 1
        return 0
""", "nan does not", [(2, True, True)], complexity=2)

branches("a later case that is covered", """
    def f(x: int) -> str:
        if x >= 0:
            return "a"
        elif x < 0:
            return "b"
        else:
            return "c"
""", "an integer is at least zero or below", [(2, True, True), (4, True, False)], dead=[7], complexity=3)

branches("a needle as a side", """
    def f(x: int) -> int:
        if x * 3 == 370370367:
            return 1
        return 0
""", "3 * 123456789 = 370370367", [(2, True, True)], complexity=2)

branches("parity excludes a side", """
    def f(x: int) -> int:
        y = 2 * x
        if y % 2 == 1:
            return 1
        return 0
""", "twice an integer is even", [(3, False, True)], dead=[4], complexity=2)

branches("three in a row", """
    def f(x: int, y: int) -> int:
        if x > y:
            return 1
        if x < y:
            return 2
        if x == y:
            return 3
        return 4
""", "a total order", [(2, True, True), (4, True, True), (6, True, False)], dead=[8], complexity=4)

branches("a loop that is bounded", """
    def f(n: int) -> int:
        i = 0
        while i < 3:
            i += 1
        if i == 3:
            return n
        return 0
""", "the loop ends with i = 3", [(3, True, True), (5, True, False)], dead=[7], complexity=3)

branches("a precondition makes it dead", """
    def f(x: int) -> int:
        assert x > 0
        if x <= 0:
            return 1
        return 0
""", "the assertion at the beginning is the precondition", [(3, False, True)], dead=[4], complexity=None)

listed("by syntax: none", """
    def f(x: int) -> int:
        return x
""", "no branches", [], 1)

listed("by syntax: two", """
    def f(x: int) -> int:
        if x > 0:
            return 1
        elif x < -5:
            return 2
        return 0
""", "an if and an elif", [2, 4], 3)

listed("by syntax: a loop and an if", """
    def f(n: int) -> int:
        total = 0
        while n > 0:
            if n % 2:
                total += n
            n -= 1
        return total
""", "a while and an if", [3, 4], 3)
