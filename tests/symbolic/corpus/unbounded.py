"""Loops and texts without a bound: what is true of them is true by induction, or of every length at once."""

from . import breaks, differ, holds, never, raises, same

holds("multiplying by adding", """
    def f(a: int, b: int) -> int:
        '''
        pre: b >= 0
        post: _ == a * b
        '''
        total = 0
        for _i in range(b):
            total += a
        return total
""", "after k rounds the total is a * k")

holds("odd numbers add up to squares", """
    def f(n: int) -> int:
        '''
        pre: n >= 0
        post: _ == n * n
        '''
        total = 0
        for i in range(n):
            total += 2 * i + 1
        return total
""", "k * k + 2 * k + 1 is the square of k + 1")

same("squares, by hand and by the formula", """
    def f(n: int) -> int:
        total = 0
        for i in range(n):
            total += i * i
        return total

    def g(n: int) -> int:
        return (n - 1) * n * (2 * n - 1) // 6 if n > 0 else 0
""", "the sum of the first squares")

differ("a formula that is one off", """
    def f(n: int) -> int:
        total = 0
        for i in range(n):
            total += i
        return total

    def g(n: int) -> int:
        return n * (n + 1) // 2 if n > 0 else 0
""", "n = 1: 0 against 1")

holds("a count is not negative", """
    def f(xs: list[int], limit: int) -> int:
        '''
        post: 0 <= _ <= len(xs)
        '''
        count = 0
        for x in xs:
            if x > limit:
                count += 1
        return count
""", "it grows by one at most in each round, and there are len(xs) rounds")

breaks("a count that skips one", """
    def f(xs: list[int]) -> int:
        '''
        post: _ == len(xs)
        '''
        count = 0
        for x in xs:
            if x != 31337:
                count += 1
        return count
""", "[31337]")

never("dividing in a loop by what is never zero", """
    def f(xs: list[int]) -> int:
        total = 0
        for x in xs:
            total += 100 // (x * x + 1)
        return total
""", "ZeroDivisionError", "a square and one is positive, whichever item it is")

raises("dividing in a loop by what is zero once", """
    def f(xs: list[int]) -> int:
        total = 0
        for x in xs:
            total += 100 // (x - 777)
        return total
""", "ZeroDivisionError", "[777]", lines=[4])

holds("the last number of a loop", """
    def f(n: int) -> int:
        '''
        pre: n > 0
        post: _ == n - 1
        '''
        last = 0
        for last in range(n):
            pass
        return last
""", "range(n) ends with n - 1")

breaks("a loop that never ran", """
    def f(n: int) -> int:
        for last in range(n):
            pass
        return last
""", "n = 0: the name is not bound")

breaks("an iterator that a loop has used up", """
    def f(n: int) -> int:
        '''
        pre: n >= 0
        post: _ == -1
        '''
        numbers = iter(range(n))
        for number in numbers:
            if number == 2:
                break
        return next(numbers, -1)
""", "n = 4: the loop stops at 2, and 3 is left")

breaks("what a loop does to a list", """
    def f(xs: list[int], n: int) -> int:
        '''
        pre: 0 <= n
        pre: len(xs) <= 2
        post: _ <= 4
        '''
        for i in range(n):
            xs.append(i)
        return len(xs)
""", "n = 5: five more items")

never("a text is looked through without an end", """
    def f(s: str) -> int:
        total = 0
        for c in s:
            total += ord(c)
        return 1 // (total * total + 1)
""", "ZeroDivisionError", "a square and one is positive")

holds("stripping makes nothing longer", """
    def f(s: str) -> str:
        '''post: len(_) <= len(s)'''
        return s.strip()
""", "characters go, none come")

holds("without the first character", """
    def f(s: str) -> str:
        '''post: len(_) == max(0, len(s) - 1)'''
        return s[1:]
""", "one less, or none")

holds("a place that was found is inside", """
    def f(s: str) -> int:
        '''post: -1 <= _ < len(s)'''
        return s.find("needle")
""", "-1, or where six characters fit")

breaks("upper case of the same length", """
    def f(s: str) -> str:
        '''post: len(_) == len(s)'''
        return s.upper()
""", "the German sharp s becomes two letters")

never("a part that was looked for", """
    def f(s: str) -> int:
        if "=" in s:
            return s.index("=")
        return -1
""", "ValueError", "index raises only where there is none")

raises("a part that was not looked for", """
    def f(s: str) -> int:
        return s.index("=")
""", "ValueError", "the empty text", lines=[2])

breaks("a number that is too long to be written", """
    def f(n: int) -> str:
        return str(n)
""", "10 ** 4300: Python refuses to write integers of more than 4300 digits")

holds("two lists one after the other", """
    def f(xs: list[str]) -> list[str]:
        '''post: len(_) == 2 * len(xs)'''
        return xs + xs
""", "lengths add up")
