"""Lists, tuples, dicts, sets: lengths, aliases, order."""

from . import breaks, holds, never, raises

breaks("the largest, beginning at zero", """
    def f(xs: list[int]) -> int:
        '''
        pre: len(xs) > 0
        post: _ in xs
        '''
        best = 0
        for x in xs:
            if x > best:
                best = x
        return best
""", "[-1] gives 0")

holds("the largest", """
    def f(xs: list[int]) -> int:
        '''
        pre: 0 < len(xs) <= 3
        post: _ in xs and all(_ >= x for x in xs)
        '''
        best = xs[0]
        for x in xs:
            if x > best:
                best = x
        return best
""", "the best so far is an element and not less than those before")

raises("one past the end", """
    def f(xs: list[int]) -> int:
        total = 0
        for i in range(len(xs) + 1):
            total += xs[i]
        return total
""", "IndexError", "any list, the empty one too", lines=[4])

never("as far as it goes", """
    def f(xs: list[int]) -> int:
        '''pre: len(xs) <= 4'''
        total = 0
        for i in range(len(xs)):
            total += xs[i]
        return total
""", "IndexError", "range stops before the length")

holds("reversed twice", """
    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        return xs[::-1][::-1] == xs
""", "reversing is its own inverse")

holds("sorted is ordered", """
    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: all(_[i] <= _[i + 1] for i in range(len(_) - 1))
        '''
        return sorted(xs)
""", "by definition of sorted on integers")

breaks("one round of bubbles", """
    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) == 3
        post: _[0] <= _[1] <= _[2]
        '''
        ys = list(xs)
        for i in range(2):
            if ys[i] > ys[i + 1]:
                ys[i], ys[i + 1] = ys[i + 1], ys[i]
        return ys
""", "[3, 2, 1] becomes [2, 1, 3]")

holds("two rounds of bubbles", """
    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) == 3
        post: _[0] <= _[1] <= _[2]
        '''
        ys = list(xs)
        for _round in range(2):
            for i in range(2):
                if ys[i] > ys[i + 1]:
                    ys[i], ys[i + 1] = ys[i + 1], ys[i]
        return ys
""", "after one round the largest is last, after two the next")

holds("a set is not larger", """
    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        return len(set(xs)) <= len(xs)
""", "each element is in it once")

breaks("a set is as large", """
    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        return len(set(xs)) == len(xs)
""", "[0, 0]")

raises("a key that is not there", """
    def f(d: dict[str, int]) -> int:
        return d["a"]
""", "KeyError", "the empty dict", lines=[2])

never("a key with a default", """
    def f(d: dict[str, int]) -> int:
        '''pre: len(d) <= 2'''
        return d.get("a", 0)
""", "KeyError", "get does not raise")

never("a key that was looked for", """
    def f(d: dict[str, int]) -> int:
        '''pre: len(d) <= 2'''
        if "a" in d:
            return d["a"]
        return 0
""", "KeyError", "only read where it is")

holds("counting letters", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: _
        '''
        counts = {}
        for c in s:
            counts[c] = counts.get(c, 0) + 1
        return sum(counts.values()) == len(s)
""", "each letter adds one")

holds("swapping twice", """
    def f(p: tuple[int, int]) -> tuple[int, int]:
        '''post: _ == p'''
        a, b = p
        a, b = b, a
        a, b = b, a
        return (a, b)
""", "swapping is its own inverse")

holds("appending makes it longer", """
    def f(xs: list[int], x: int) -> None:
        '''
        pre: len(xs) <= 3
        post: len(xs) == len(__old__.xs) + 1 and xs[-1] == x
        '''
        xs.append(x)
""", "by definition of append")

breaks("an argument is changed", """
    def f(xs: list[int]) -> int:
        '''
        pre: 0 < len(xs) <= 2
        post: xs == __old__.xs
        '''
        xs[0] += 1
        return xs[0]
""", "[0] becomes [1]")

holds("a copy is changed", """
    def f(xs: list[int]) -> int:
        '''
        pre: 0 < len(xs) <= 2
        post: xs == __old__.xs
        '''
        ys = list(xs)
        ys[0] += 1
        return ys[0]
""", "the list made by list() is another")

raises("removing what is not there", """
    def f(xs: list[int]) -> None:
        xs.remove(3)
""", "ValueError", "the empty list", lines=[2])

raises("popping from nothing", """
    def f(xs: list[int]) -> int:
        return xs.pop()
""", "IndexError", "the empty list", lines=[2])

holds("turning keeps the length", """
    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: len(_) == len(xs)
        '''
        return xs[1:] + xs[:1]
""", "slices do not raise, and the two parts are the whole")

holds("zip ends with the shorter", """
    def f(a: list[int], b: list[int]) -> int:
        '''
        pre: len(a) <= 2 and len(b) <= 2
        post: _ == min(len(a), len(b))
        '''
        return len(list(zip(a, b)))
""", "nine pairs of lengths")

breaks("zip does not end with the first", """
    def f(a: list[int], b: list[int]) -> int:
        '''
        pre: len(a) <= 2 and len(b) <= 2
        post: _ == len(a)
        '''
        return len(list(zip(a, b)))
""", "a = [0], b = []")

holds("what a filter leaves", """
    def f(xs: list[int]) -> list[int]:
        '''
        pre: len(xs) <= 3
        post: all(x % 2 == 0 for x in _)
        '''
        return [x for x in xs if x % 2 == 0]
""", "the condition of the comprehension")

holds("all and any", """
    def f(xs: list[int]) -> bool:
        '''
        pre: len(xs) <= 3
        post: _
        '''
        return all(x > 0 for x in xs) == (not any(x <= 0 for x in xs))
""", "De Morgan")

raises("searching with a bound one too far", """
    def f(xs: list[int], x: int) -> int:
        '''pre: len(xs) <= 3'''
        lo, hi = 0, len(xs)
        while lo <= hi:
            mid = (lo + hi) // 2
            if xs[mid] == x:
                return mid
            if xs[mid] < x:
                lo = mid + 1
            else:
                hi = mid - 1
        return -1
""", "IndexError", "the empty list: mid = 0", lines=[6])

never("searching with the right bound", """
    def f(xs: list[int], x: int) -> int:
        '''pre: len(xs) <= 3'''
        lo, hi = 0, len(xs) - 1
        while lo <= hi:
            mid = (lo + hi) // 2
            if xs[mid] == x:
                return mid
            if xs[mid] < x:
                lo = mid + 1
            else:
                hi = mid - 1
        return -1
""", "IndexError", "0 <= lo <= mid <= hi < len(xs) in every round")

breaks("an average of nothing", """
    def f(xs: list[int]) -> float:
        return sum(xs) / len(xs)
""", "[] divides by zero")

raises("unpacking too few", """
    def f(xs: list[int]) -> int:
        a, b = xs
        return a + b
""", "ValueError", "the empty list", lines=[2])

holds("two elements that add up", """
    def f(xs: list[int], target: int) -> bool:
        '''
        pre: len(xs) <= 3
        post: _ == any(xs[i] + xs[j] == target for i in range(len(xs)) for j in range(i))
        '''
        seen = set()
        for x in xs:
            if target - x in seen:
                return True
            seen.add(x)
        return False
""", "every pair is met when its later element is")

breaks("two elements that add up, or one twice", """
    def f(xs: list[int], target: int) -> bool:
        '''
        pre: len(xs) <= 3
        post: _ == any(xs[i] + xs[j] == target for i in range(len(xs)) for j in range(i))
        '''
        seen = set(xs)
        for x in xs:
            if target - x in seen:
                return True
        return False
""", "[1] and 2: the element is its own partner")

holds("indices add up", """
    def f(xs: list[int]) -> int:
        '''
        pre: len(xs) <= 4
        post: _ == len(xs) * (len(xs) - 1) // 2
        '''
        total = 0
        for i, _x in enumerate(xs):
            total += i
        return total
""", "0 0 1 3 6")
