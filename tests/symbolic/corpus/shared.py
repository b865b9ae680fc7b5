"""Arguments that are one and the same object, and promises of classes about their instances."""

from . import breaks, differ, holds, never, raises, same

breaks("the other list changes too", """
    def f(a: list[int], b: list[int]) -> None:
        '''
        pre: len(a) <= 2 and len(b) <= 2
        post: len(b) == len(__old__.b)
        '''
        a.append(1)
""", "a list that is passed twice")

holds("nobody changes anything", """
    def f(a: list[int], b: list[int]) -> int:
        '''
        pre: len(a) <= 2 and len(b) <= 2
        post: _ == len(a) + len(b)
        '''
        return len(a) + len(b)
""", "where nothing is changed it does not matter who is who")

breaks("one list, twice in a list", """
    def f(lists: list[list[int]]) -> None:
        '''
        pre: len(lists) == 2
        post: all(len(x) == len(__old__.lists[i]) + 1 for i, x in enumerate(lists))
        '''
        for one in lists:
            one.append(42)
""", "the same list twice gets two items")

holds("a copy is nobody else's", """
    def f(a: list[int], b: list[int]) -> list[int]:
        '''
        pre: len(a) <= 2 and len(b) <= 2
        post: b == __old__.b
        '''
        c = list(a)
        c.append(1)
        return c
""", "only the copy changes")

breaks("whether two are one", """
    def f(a: list[int], b: list[int]) -> bool:
        '''post: not _'''
        return a is b
""", "a list that is passed twice")

differ("an item that was changed inside", """
    def f(xs: list[list[int]]) -> None:
        if len(xs) > 1 and len(xs[0]) == 1 and xs[0][0] == 31337:
            xs[0].append(1)

    def g(xs: list[list[int]]) -> None:
        return None
""", "[[31337], []]: the first list is longer afterwards")

holds("an account keeps its invariant", """
    class Account:
        '''
        inv: self.balance >= 0
        '''

        def __init__(self, balance: int):
            self.balance = balance

        def withdraw(self, amount: int) -> None:
            '''pre: 0 <= amount'''
            if amount <= self.balance:
                self.balance -= amount
""", "what is taken is there", function="Account.withdraw", contracts=["docstring"])

breaks("an account that breaks its invariant", """
    class Account:
        '''
        inv: self.balance >= 0
        '''

        def __init__(self, balance: int):
            self.balance = balance

        def withdraw(self, amount: int) -> None:
            '''pre: 0 <= amount'''
            self.balance -= amount
""", "Account(0), 1", function="Account.withdraw")

holds("a guest may count on the invariant", """
    import icontract

    @icontract.invariant(lambda self: self.low <= self.high)
    class Range:
        def __init__(self, low: int, high: int):
            self.low = low
            self.high = high

    def f(r: Range) -> int:
        '''post: _ >= 0'''
        return r.high - r.low
""", "low is not above high", contracts=["docstring", "icontract"])

breaks("an invariant of deal that a method breaks", """
    import deal

    @deal.inv(lambda counter: counter.count >= 0)
    class Counter:
        def __init__(self, count: int):
            self.count = count

        def down(self) -> None:
            self.count -= 1
""", "Counter(0)", function="Counter.down", contracts=["deal"])

raises("a quotient that no float holds", """
    def f(a: int, b: int) -> float:
        '''pre: b > 0'''
        return a / b
""", "OverflowError", "10 ** 400 by one", lines=[3])

never("separators are no spaces of numbers", """
    def f(n: int) -> int:
        '''pre: 0 <= n <= 0'''
        try:
            return int("\\x1c1")
        except ValueError:
            return 1 // (n + 1)
""", "ZeroDivisionError", "int refuses the file separator, so that the handler runs")

same("digits of another script", """
    def f(b: bool) -> float:
        return float("\\u0661.5") + int("\\u0662")

    def g(b: bool) -> float:
        return 3.5
""", "Arabic digits are digits")

breaks("a nan as the second key", """
    def f(d: dict[float, int]) -> bool:
        '''
        pre: len(d) == 2
        post: _
        '''
        keys = list(d)
        return keys[1] == keys[1]
""", "a dict whose second key is nan")

never("a deque can be inserted into", """
    from collections import deque

    def f(n: int) -> int:
        items = deque([1])
        try:
            items.insert(0, n)
        except AttributeError:
            return 1 // 0
        return items[0]
""", "ZeroDivisionError", "deques have insert")

never("lines with their ends", """
    def f(b: bool) -> int:
        try:
            return len("a\\nb".splitlines(b))
        except TypeError:
            return 1 // 0
""", "ZeroDivisionError", "splitlines takes an argument")

holds("a remainder of floats has its divisor's sign", """
    def f(x: float) -> float:
        '''
        pre: -1e9 < x < 1e9
        post: 0.0 <= _ <= 360.0
        '''
        return x % 360.0
""", "at least zero, and 360.0 itself only by rounding")
