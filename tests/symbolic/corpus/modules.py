"""Modules of the standard library: what goes in is unknown, what comes out is what CPython would give."""

from . import breaks, differ, never, raises, refused
from . import holds as proven
from . import same as proven_same

# Inputs that each proof faces here: most are small lists, and CPython takes its time with these modules.
INPUTS = 20000


def holds(name, code, why, **expected):
    proven(name, code, why, inputs=INPUTS, **expected)


def same(name, code, why, **expected):
    proven_same(name, code, why, inputs=INPUTS, **expected)


# itertools

holds("groups are runs", """
    from itertools import groupby

    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: all(a != b for a, b in zip(_, _[1:]))
        '''
        return [key for key, group in groupby(xs)]
""", "two runs of one value would be one run")

breaks("groups are not distinct", """
    from itertools import groupby

    def f(xs: list[int]) -> list[int]:
        '''post: len(set(_)) == len(_)'''
        return [key for key, group in groupby(xs)]
""", "a value that comes back begins another run: [0, 1, 0]")

holds("groups hold everything", """
    from itertools import groupby

    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: _ == xs
        '''
        return [x for _, group in groupby(xs, key=lambda x: x % 2) for x in group]
""", "every item is in the group of its key")

breaks("groups that are kept", """
    from itertools import groupby

    def f(xs: list[int]) -> int:
        '''post: _ == len(xs)'''
        groups = [group for _, group in groupby(xs)]
        return sum(len(list(group)) for group in groups)
""", "a group gives nothing once the next one has begun")

holds("both tees see it all", """
    from itertools import tee

    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        a, b = tee(iter(xs))
        return list(a) == xs and list(b) == xs
""", "what one has read is kept for the other")

breaks("one iterator, read twice", """
    from itertools import tee

    def f(xs: list[int]) -> bool:
        '''post: _'''
        source = iter(xs)
        a, b = tee(source)
        return next(source, None) == next(a, None)
""", "what is taken from the source is gone for the tees: [0, 1]")

holds("pairs of neighbours", """
    from itertools import pairwise

    def f(xs: list[int]) -> list[tuple[int, int]]:
        '''
        pre: len(xs) <= 4
        post: len(_) == max(0, len(xs) - 1)
        '''
        return list(pairwise(xs))
""", "each item but the last has one after it")

breaks("growing all the way", """
    from itertools import pairwise

    def f(xs: list[int]) -> bool:
        '''post: _ == (xs == sorted(xs))'''
        return all(a < b for a, b in pairwise(xs))
""", "two that are equal are sorted and do not grow")

never("laziness", """
    from itertools import filterfalse, islice

    def f(x: int) -> list[int]:
        return list(islice(filterfalse(lambda y: 10 // y, [20, 0]), min(max(x, 0), 1)))
""", "ZeroDivisionError", "the second item is never looked at")

raises("laziness and one more", """
    from itertools import filterfalse, islice

    def f(x: int) -> list[int]:
        return list(islice(filterfalse(lambda y: 10 // y, [20, 0]), min(max(x, 0), 2)))
""", "ZeroDivisionError", "x = 2 asks for the second item", lines=[4])

holds("zipped to the longest", """
    from itertools import zip_longest

    def f(xs: list[int], ys: list[int]) -> int:
        '''
        pre: len(xs) <= 2 and len(ys) <= 2
        post: _ == max(len(xs), len(ys))
        '''
        return len(list(zip_longest(xs, ys)))
""", "the shorter one is filled up")

breaks("zipped to the longest and added", """
    from itertools import zip_longest

    def f(xs: list[int], ys: list[int]) -> int:
        return sum(x + y for x, y in zip_longest(xs, ys))
""", "None is what fills, and it cannot be added")

same("a running sum and another", """
    from itertools import accumulate

    def f(xs: list[int]) -> list[int]:
        '''pre: len(xs) <= 3'''
        return list(accumulate(xs, initial=0))

    def g(xs: list[int]) -> list[int]:
        sums = [0]
        for x in xs:
            sums.append(sums[-1] + x)
        return sums
""", "accumulate adds from left to right")

differ("a running maximum and another", """
    from itertools import accumulate

    def f(xs: list[int]) -> list[int]:
        return list(accumulate(xs, max))

    def g(xs: list[int]) -> list[int]:
        best, found = 0, []
        for x in xs:
            best = max(best, x)
            found.append(best)
        return found
""", "below zero the second begins with zero")

holds("every second one", """
    from itertools import compress, cycle

    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 4
        post: _ == xs[::2]
        '''
        return list(compress(xs, cycle([True, False])))
""", "a cycle has no end, the data have")

# functools

holds("a comparison as a key", """
    from functools import cmp_to_key

    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: _ == sorted(xs, reverse=True)
        '''
        return sorted(xs, key=cmp_to_key(lambda a, b: b - a))
""", "the comparison turns the order of integers around")

breaks("a comparison that loses", """
    from functools import cmp_to_key

    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) == 2
        post: _ == sorted(xs)
        '''
        return sorted(xs, key=cmp_to_key(lambda a, b: abs(a) - abs(b)))
""", "[0, -1] stays as it is")

VERSION = """
    from functools import total_ordering

    @total_ordering
    class Version:
        def __init__(self, major: int, minor: int):
            self.major = major
            self.minor = minor

        def __eq__(self, other):
            return (self.major, self.minor) == (other.major, other.minor)

        def __lt__(self, other):
            return {less}

    def f(a: Version, b: Version) -> bool:
        '''post: _'''
        return (a <= b) == (not a > b) and not (a > b and b > a)
"""
holds("total ordering", VERSION.format(less="(self.major, self.minor) < (other.major, other.minor)"),
      "what is derived from a total order is consistent with it")
breaks("total ordering of half an order", VERSION.format(less="self.major < other.major"),
       "two that differ in minor alone: neither is less, nor are they equal, so that each is greater than the other")

# collections

holds("the first map wins", """
    from collections import ChainMap

    def f(a: int, b: int) -> int:
        '''post: _ == a'''
        return ChainMap({"k": a}, {"k": b})["k"]
""", "maps are searched in order")

raises("deleting from a later map", """
    from collections import ChainMap

    def f(key: str) -> None:
        chain = ChainMap({"a": 1}, {"b": 2})
        del chain[key]
""", "KeyError", "deletion looks at the first map alone: 'b'", lines=[5])

holds("counting is the same in any order", """
    from collections import Counter

    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        return Counter(xs) == Counter(reversed(xs)) and Counter(xs) <= Counter(xs + xs)
""", "a counter knows no order")

breaks("counters that differ by nothing", """
    from collections import Counter

    def f(n: int) -> bool:
        '''post: not _'''
        return Counter(a=n) == Counter()
""", "n = 0: none of 'a' is as good as no 'a'")

holds("ordered dicts know their order", """
    from collections import OrderedDict

    def f(a: int, b: int) -> bool:
        '''post: _ == (a == b)'''
        return OrderedDict([(a, 1), (b, 1)]) == OrderedDict([(b, 1), (a, 1)])
""", "with two keys the order differs")

holds("the oldest goes first", """
    from collections import OrderedDict

    def f(keys: list[int]) -> list[int]:
        '''
        pre: 1 <= len(keys) <= 3
        post: len(_) == len(set(keys)) - 1
        '''
        seen = OrderedDict()
        for key in keys:
            seen[key] = True
            seen.move_to_end(key)
        seen.popitem(last=False)
        return list(seen)
""", "one of the distinct keys is taken away")

# operator, string, math

holds("methods by name", """
    from operator import attrgetter, itemgetter, methodcaller

    def f(xs: list[int]) -> int:
        '''
        pre: len(xs) <= 3
        post: _ == xs.count(7)
        '''
        return methodcaller("count", 7)(xs)
""", "the caller calls the method")

holds("letters by table", """
    def f(s: str) -> str:
        '''
        pre: len(s) <= 2
        post: "a" not in _ and "-" not in _
        '''
        return s.translate(str.maketrans("a", "b", "-"))
""", "the table replaces the one and removes the other")

breaks("letters by a table that makes them", """
    def f(s: str) -> str:
        '''
        pre: len(s) <= 2
        post: "a" not in _
        '''
        return s.translate(str.maketrans("ab", "ba"))
""", "'b' becomes 'a'")

holds("a common divisor with a known number", """
    import math

    def f(x: int) -> int:
        '''post: _ in (1, 2, 3, 4, 6, 12) and x % _ == 0'''
        return math.gcd(x, 12)
""", "the divisor divides both")

breaks("a common divisor that is one", """
    import math

    def f(x: int) -> int:
        '''
        pre: x % 2 == 1
        post: _ == 1
        '''
        return math.gcd(x, 12)
""", "3 is odd")

holds("a common multiple with a known number", """
    import math

    def f(x: int) -> int:
        '''
        pre: x > 0
        post: _ % x == 0 and _ % 10 == 0 and _ <= 10 * x
        '''
        return math.lcm(x, 10)
""", "a multiple of both, at most their product")

holds("a common divisor of two", """
    import math

    def f(x: int, y: int) -> int:
        '''
        pre: 0 < x <= 6 and 0 < y <= 6
        post: x % _ == 0 and y % _ == 0
        '''
        return math.gcd(x, y)
""", "Euclid's algorithm ends")

holds("an integer root", """
    import math

    def f(n: int) -> int:
        '''
        pre: n >= 0
        post: _ * _ <= n < (_ + 1) * (_ + 1)
        '''
        return math.isqrt(n)
""", "what isqrt is defined by")

breaks("an integer root that is exact", """
    import math

    def f(n: int) -> int:
        '''
        pre: n >= 0
        post: _ * _ == n
        '''
        return math.isqrt(n)
""", "2 is no square")

# fractions, statistics

holds("halves and thirds", """
    from fractions import Fraction

    def f(x: int) -> Fraction:
        '''post: _ * 6 == 5 * x'''
        return Fraction(x, 2) + Fraction(x, 3)
""", "3x/6 + 2x/6")

breaks("a fraction that is whole", """
    from fractions import Fraction

    def f(x: int) -> bool:
        '''post: _'''
        return Fraction(x, 3) == x // 3
""", "1/3")

holds("between two fractions", """
    from fractions import Fraction

    def f(a: Fraction, b: Fraction) -> Fraction:
        '''
        pre: a < b
        post: a < _ < b
        '''
        return (a + b) / 2
""", "the middle of two is between them, and fractions do not round")

raises("a fraction of nothing", """
    from fractions import Fraction

    def f(x: int) -> Fraction:
        return 1 / Fraction(x - 5, 3)
""", "ZeroDivisionError", "x = 5", lines=[4])

holds("a mean of the same", """
    import statistics

    def f(a: int, b: int) -> bool:
        '''post: _'''
        return statistics.mean([a, a, a]) == a and statistics.median_low([a, b]) == min(a, b)
""", "three times a number divided by three is an integer again")

breaks("a mean is no median", """
    import statistics

    def f(a: int, b: int, c: int) -> bool:
        '''
        pre: abs(a) < 100 and abs(b) < 100 and abs(c) < 100
        post: _
        '''
        return statistics.mean([a, b, c]) == statistics.median([a, b, c])
""", "0, 0, 3")

raises("a mean of nothing", """
    import statistics

    def f(xs: list[int]) -> float:
        '''pre: len(xs) <= 2'''
        return statistics.mean(xs)
""", "ValueError", "StatisticsError is a ValueError: []", lines=[5])

# datetime

holds("there and back again", """
    from datetime import date, timedelta

    def f(day: date) -> date:
        '''
        pre: day.year < 9000
        post: _ == day
        '''
        return day + timedelta(days=30) - timedelta(days=30)
""", "days are counted")

breaks("a month has thirty days", """
    from datetime import date, timedelta

    def f(day: date) -> date:
        '''
        pre: day.year == 2023
        post: _.month != day.month
        '''
        return day + timedelta(days=30)
""", "the first of January plus thirty days is the 31st")

breaks("a year later", """
    from datetime import date

    def f(day: date) -> date:
        '''pre: day.year < 9000'''
        return day.replace(year=day.year + 1)
""", "the 29th of February has no such day in the next year")

holds("hours and days", """
    from datetime import timedelta

    def f(hours: int) -> timedelta:
        '''
        pre: 0 <= hours < 1000
        post: _.days == hours // 24 and _.seconds == hours % 24 * 3600
        '''
        return timedelta(hours=hours)
""", "a span is kept in days and seconds of the day")

# json

holds("numbers as text", """
    import json

    def f(x: int) -> str:
        '''
        pre: 0 <= x < 100
        post: _ == "[" + str(x) + ", null]"
        '''
        return json.dumps([x, None])
""", "an integer is written in decimal")

raises("text that is not JSON", """
    import json

    def f(n: int) -> object:
        return json.loads(["1", "[", "{}"][n % 3])
""", "ValueError", "JSONDecodeError is a ValueError: n = 1", lines=[4])

# Integers beyond what CPython reads in decimal.

breaks("an integer of thousands of digits", """
    def f(x: int) -> bool:
        '''post: _'''
        return x < 10 ** 5000
""", "the counterexample is written in hexadecimal, because CPython reads no decimal this long")

refused("a generator to be analysed", "symbolic_check",
        {"code": "def f(x: int):\n    yield x\n", "function_name": "f"}, "UnsupportedConstruct",
        "Construct not supported: a generator as the function to analyse; analyse one that returns list() of it, or of its first "
        "items (line 1)", "calling a generator does nothing yet")

refused("a function of a later Python", "symbolic_check",
        {"code": "from itertools import batched\ndef f(x: int):\n    return list(batched([x], 1))\n", "function_name": "f"},
        "UnsupportedConstruct", "Construct not supported: itertools.batched, which Python has from 3.12 on (line 3)",
        "CPython may not have it")
