"""Classes, enums, literals, unions."""

from . import breaks, holds, never, raises

holds("a literal has its values alone", """
    from typing import Literal

    def f(unit: Literal["m", "km"]) -> int:
        '''post: _ in (1, 1000)'''
        if unit == "m":
            return 1
        if unit == "km":
            return 1000
        return 0
""", "two values, both met")

breaks("a literal that was forgotten", """
    from typing import Literal

    def f(unit: Literal["m", "km", "cm"]) -> int:
        '''post: _ > 0'''
        if unit == "m":
            return 1
        if unit == "km":
            return 1000
        return 0
""", "cm")

ENUM = """
    from enum import Enum

    class Colour(Enum):
        RED = 1
        GREEN = 2
        BLUE = 3

    def f(c: Colour) -> int:
        if c is Colour.RED:
            return 1
        if c == Colour.GREEN:
            return 2
        if c.value == 3:
            return 3
        raise ValueError(c)
"""
never("an enum has its members alone", ENUM, "ValueError", "three members, all met")

raises("an enum's member that was forgotten", """
    from enum import Enum

    class Colour(Enum):
        RED = 1
        GREEN = 2
        BLUE = 3

    def f(c: Colour) -> int:
        match c:
            case Colour.RED:
                return 1
            case Colour.GREEN:
                return 2
        raise ValueError(c)
""", "ValueError", "BLUE", lines=[14])

holds("optional, looked at", """
    from typing import Optional

    def f(x: Optional[int]) -> int:
        '''post: _ >= 0'''
        if x is None:
            return 0
        return x * x
""", "None gives 0, numbers their square")

breaks("optional, not looked at", """
    from typing import Optional

    def f(x: Optional[int]) -> int:
        return x + 1
""", "None")

breaks("optional, looked at by truth", """
    from typing import Optional

    def f(x: Optional[int]) -> int:
        '''post: x is None or _ == x'''
        return x or -1
""", "0 is false too")

holds("a union by its types", """
    from typing import Union

    def f(x: Union[int, str]) -> int:
        if isinstance(x, int):
            return x + 1
        return len(x)
""", "what is no int is a str")

breaks("a union with one type forgotten", """
    def f(x: int | str | None) -> int:
        if isinstance(x, str):
            return len(x)
        return x + 1
""", "None")

POINT = """
    from dataclasses import dataclass

    @dataclass
    class Point:
        x: int
        y: int

        def moved(self, by: int) -> "Point":
            return Point(self.x + by, self.y)

        def distance(self) -> int:
            return abs(self.x) + abs(self.y)
"""
holds("a dataclass", POINT + """
    def f(p: Point, by: int) -> Point:
        '''post: _.x - by == p.x and _.y == p.y'''
        return p.moved(by)
""", "moved adds to x alone")

breaks("a dataclass, with a distance that may be zero", POINT + """
    def f(p: Point) -> int:
        return 100 // p.distance()
""", "Point(0, 0)")

holds("dataclasses are compared by their fields", POINT + """
    def f(a: int, b: int) -> bool:
        '''post: _ == (a == b)'''
        return Point(a, 1) == Point(b, 1)
""", "the generated comparison")

holds("a plain class", """
    class Account:
        def __init__(self, balance: int) -> None:
            self.balance = balance

        def deposit(self, amount: int) -> None:
            if amount > 0:
                self.balance += amount

    def f(start: int, amount: int) -> int:
        '''post: _ >= start'''
        account = Account(start)
        account.deposit(amount)
        return account.balance
""", "only positive amounts are added")

breaks("a plain class, and an account in the red", """
    class Account:
        def __init__(self, balance: int) -> None:
            self.balance = balance

        def withdraw(self, amount: int) -> None:
            if amount <= self.balance:
                self.balance -= amount

    def f(start: int, amount: int) -> int:
        '''
        pre: start >= 0
        post: 0 <= _ <= start
        '''
        account = Account(start)
        account.withdraw(amount)
        return account.balance
""", "a negative amount adds")

holds("inheritance", """
    class Shape:
        def area(self) -> int:
            return 0

        def doubled(self) -> int:
            return 2 * self.area()

    class Square(Shape):
        def __init__(self, side: int) -> None:
            self.side = side

        def area(self) -> int:
            return self.side * self.side

    def f(side: int) -> int:
        '''post: _ == 2 * side * side'''
        return Square(side).doubled()
""", "the method of the subclass is called")

holds("match on shapes of tuples", """
    def f(p: tuple[int, int]) -> int:
        '''post: _ >= 0'''
        match p:
            case (0, 0):
                return 0
            case (x, 0):
                return abs(x)
            case (0, y):
                return abs(y)
            case (x, y):
                return abs(x) + abs(y)
        return -1
""", "the last pattern takes every pair")

holds("a generator", """
    def numbers(n: int):
        for i in range(n):
            yield i * i

    def f(n: int) -> int:
        '''
        pre: 0 <= n <= 5
        post: _ == sum(i * i for i in range(n))
        '''
        return sum(numbers(n))
""", "six cases: 0 0 1 5 14 30")

holds("a lambda as a key", """
    def f(a: int, b: int) -> int:
        '''post: abs(_) == max(abs(a), abs(b))'''
        return max([a, b], key=lambda x: abs(x))
""", "max by absolute value")
