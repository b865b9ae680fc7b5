"""Exceptions and the ways around them."""

from . import breaks, holds, never, raises

SEVERAL = """
    def f(x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        if x == 10:
            return {}[x]
        if x == 7:
            return x // (x - 7)
        if x > 1000:
            raise OverflowError("large")
        return x
"""
raises("several exceptions: the first", SEVERAL, "ValueError", "x = -1", lines=[3])
raises("several exceptions: a key", SEVERAL, "KeyError", "x = 10", lines=[5])
raises("several exceptions: its base", SEVERAL, "LookupError", "a KeyError is one", lines=[5])
raises("several exceptions: a base of two", SEVERAL, "ArithmeticError", "ZeroDivisionError and OverflowError are", lines=[7, 9])
raises("several exceptions: all of them", SEVERAL, "Exception", "every place", lines=[3, 5, 7, 9])
never("several exceptions: none of these", SEVERAL, "TypeError", "integers all the way")

never("caught", """
    def f(x: int) -> float:
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0.0
""", "ZeroDivisionError", "the handler answers")

raises("caught by the wrong hand", """
    def f(x: int) -> float:
        try:
            return 1 / x
        except ValueError:
            return 0.0
""", "ZeroDivisionError", "ZeroDivisionError is no ValueError", lines=[3])

never("caught by its base", """
    def f(d: dict[str, int]) -> int:
        '''pre: len(d) <= 1'''
        try:
            return d["a"]
        except LookupError:
            return 0
""", "KeyError", "KeyError is a LookupError")

never("swallowed by a return at the end", """
    def f(x: int) -> int:
        try:
            if x == 3:
                raise ValueError(x)
        finally:
            return x
""", "ValueError", "a return in finally drops the exception")

raises("raised again at the end", """
    def f(x: int) -> int:
        try:
            y = 10 // x
        finally:
            x += 1
        return y
""", "ZeroDivisionError", "finally without a return passes it on", lines=[3])

TRANSLATED = """
    def f(d: dict[str, int]) -> int:
        '''pre: len(d) <= 1'''
        try:
            return d["a"]
        except KeyError as error:
            raise ValueError("no a") from error
"""
raises("translated: the new one", TRANSLATED, "ValueError", "the empty dict", lines=[6])
never("translated: the old one", TRANSLATED, "KeyError", "it is caught, and another raised")

OWN = """
    class Refused(ValueError):
        pass

    class Broken(Exception):
        pass

    def f(x: int) -> int:
        if x == 5:
            raise Refused("five")
        if x == 6:
            raise Broken("six")
        return x
"""
raises("of one's own", OWN, "Refused", "x = 5", lines=[9])
raises("of one's own, by its base", OWN, "ValueError", "Refused is a ValueError", lines=[9])
raises("of one's own, the other", OWN, "Broken", "x = 6", lines=[11])

never("only the text speaks of it", """
    def f(x: int) -> int:
        if x == 5:
            raise RuntimeError("ValueError: no")
        return x
""", "ValueError", "the class counts, not the words")

raises("in the else of a try", """
    def f(x: int) -> int:
        try:
            y = x + 1
        except ZeroDivisionError:
            return 0
        else:
            return 10 // y
""", "ZeroDivisionError", "x = -1; else is not guarded", lines=[7])

raises("from a helper", """
    def check(x: int) -> None:
        if x % 97 == 96:
            raise ValueError(x)

    def f(x: int) -> int:
        check(x)
        return x
""", "ValueError", "x = 96", lines=[3])

never("a helper that is never asked so", """
    def check(x: int) -> None:
        if x < 0:
            raise ValueError(x)

    def f(x: int) -> int:
        check(x * x)
        return x
""", "ValueError", "a square is not negative")

raises("an assertion", """
    def f(x: int) -> int:
        y = x * 2
        assert y != 84
        return y
""", "AssertionError", "x = 42", lines=[3])

never("an assertion that holds", """
    def f(x: int) -> int:
        y = x * 2
        assert y % 2 == 0
        return y
""", "AssertionError", "twice an integer is even")

raises("nothing has no methods", """
    from typing import Optional

    def f(s: Optional[str]) -> str:
        return s.upper()
""", "AttributeError", "None", lines=[4])

raises("a number and a text", """
    def f(x: int) -> str:
        if x == 12:
            return x + "!"
        return "!"
""", "TypeError", "x = 12", lines=[3])

raises("an iterator at its end", """
    def f(xs: list[int]) -> int:
        return next(iter(xs))
""", "StopIteration", "the empty list", lines=[2])

raises("a variable that was not set", """
    def f(x: int) -> int:
        if x > 0:
            y = 1
        return y
""", "UnboundLocalError", "x = 0", lines=[4])

raises("a name nobody knows", """
    def f(x: int) -> int:
        if x == 8:
            return unknown_name
        return x
""", "NameError", "x = 8", lines=[3])

raises("the else of a loop", """
    def f(x: int) -> int:
        for i in range(5):
            if i == x:
                break
        else:
            raise LookupError(x)
        return i
""", "LookupError", "the else of a loop runs when nothing broke it: x = 5", lines=[6])

never("a loop that is always broken", """
    def f(x: int) -> int:
        for i in range(5):
            if i == x % 5:
                break
        else:
            raise LookupError(x)
        return i
""", "LookupError", "a remainder by 5 is met")

raises("an integer too large for a float", """
    def f(n: int) -> float:
        if n == 400:
            return float(10 ** n)
        return 0.0
""", "OverflowError", "10 ** 400 does not fit", lines=[3])

breaks("while, with a way out too early", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 8
        post: _ == n
        '''
        i = 0
        while True:
            if i >= n or i == 5:
                return i
            i += 1
""", "n = 6 gives 5")

holds("continue skips the rest", """
    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 8
        post: _ == n // 2
        '''
        count = 0
        for i in range(n):
            if i % 2 == 0:
                continue
            count += 1
        return count
""", "odd numbers below n")

holds("a closure sees its variable", """
    def f(x: int) -> int:
        '''post: _ == x + 2'''
        step = 1
        def add(y: int) -> int:
            return y + step
        step = 2
        return add(x)
""", "a closure holds the variable, not the value it had")

holds("default and keyword arguments", """
    def g(a: int, b: int = 2, *, c: int = 3) -> int:
        return a * 100 + b * 10 + c

    def f(x: int) -> int:
        '''post: _ == x * 100 + 57'''
        return g(x, c=7, b=5)
""", "b = 5, c = 7")

breaks("a recursion without a bottom", """
    def f(n: int) -> int:
        '''post: True'''
        if n == 0:
            return 0
        return f(n - 2)
""", "n = 1 goes past zero: RecursionError")
