"""Every way to write a contract."""

from . import add, breaks, holds

holds("docstring", """
    def f(x: int) -> int:
        '''
        Doubles.

        pre: x > 0
        post: _ > x
        '''
        return x * 2
""", "2x > x for x > 0", contracts=["docstring"])

breaks("docstring, broken", """
    def f(x: int) -> int:
        '''
        pre: x >= 0
        post: __return__ > x
        '''
        return x * 2
""", "x = 0", contracts=["docstring"])

holds("docstring with an allowed exception", """
    def f(x: int) -> int:
        '''
        post: _ > 0
        raises: ValueError
        '''
        if x <= 0:
            raise ValueError(x)
        return x
""", "what is not raised is positive")

breaks("docstring with another exception allowed", """
    def f(x: int) -> int:
        '''
        post: _ > 0
        raises: KeyError
        '''
        if x <= 0:
            raise ValueError(x)
        return x
""", "x = 0 raises ValueError")

holds("docstring with the old value", """
    def f(xs: list[int]) -> None:
        '''
        pre: len(xs) <= 2
        post: xs == __old__.xs + [1]
        '''
        xs.append(1)
""", "by definition of append")

holds("asserts", """
    def f(x: int) -> int:
        assert x > 0
        y = x + 1
        assert y > 1
        return y
""", "the first is the precondition, the second follows", contracts=["asserts"])

breaks("asserts, broken", """
    def f(x: int) -> int:
        assert x > 0
        y = x - 1
        assert y > 0
        return y
""", "x = 1", contracts=["asserts"])

breaks("an assert without a precondition", """
    def f(x: int) -> int:
        y = x * x - 6 * x + 9
        assert y > 0
        return y
""", "x = 3 gives 0", contracts=["asserts"])

holds("several asserts at the beginning", """
    def f(x: int, y: int) -> int:
        assert 0 <= x < 10
        assert y > x
        z = y - x
        assert z > 0
        return z
""", "y > x")

holds("icontract", """
    import icontract

    @icontract.require(lambda x: x > 0)
    @icontract.ensure(lambda x, result: result > x)
    def f(x: int) -> int:
        return x + x
""", "2x > x for x > 0", contracts=["icontract"])

breaks("icontract, broken", """
    import icontract

    @icontract.require(lambda x: x >= 0)
    @icontract.ensure(lambda x, result: result > x)
    def f(x: int) -> int:
        return x + x
""", "x = 0", contracts=["icontract"])

holds("deal", """
    import deal

    @deal.pre(lambda x: x > 0)
    @deal.post(lambda result: result > 1)
    def f(x: int) -> int:
        return x + 1
""", "x + 1 > 1", contracts=["deal"])

breaks("deal, broken", """
    import deal

    @deal.pre(lambda x: x >= 0)
    @deal.ensure(lambda x, result: result > 2 * x)
    def f(x: int) -> int:
        return x + 1
""", "x = 1: 2 > 2 is false", contracts=["deal"])

holds("none: nothing may be raised", """
    def f(x: int) -> int:
        return x * 3
""", "multiplication does not raise", contracts=["implicit"])

breaks("none: something is raised", """
    def f(x: int) -> int:
        return 100 // (x - 50)
""", "x = 50", contracts=["implicit"])

add("a precondition nobody meets", "symbolic_check", "error", "there is no such x, so that nothing is asked of the function", """
    def f(x: int) -> int:
        '''
        pre: x > 0 and x < 0
        post: False
        '''
        return x
""", {"function_name": "f"}, error_type="ValueError", vacuous=True,
    message="No input satisfies the precondition, so there is nothing to check")

breaks("a postcondition that is always false", """
    def f(x: int) -> int:
        '''post: False'''
        return x
""", "any x")

breaks("two postconditions, one broken", """
    def f(x: int) -> int:
        '''
        post: _ >= x
        post: _ % 2 == 0
        '''
        return x + x % 3
""", "x = 1 gives 2; x = 3 gives 3, which is odd")

holds("two postconditions, both kept", """
    def f(x: int) -> int:
        '''
        post: _ >= x
        post: _ % 2 == 0
        '''
        return x + x % 2
""", "an odd x gets one more")

breaks("everything in one argument", """
    import deal

    @deal.ensure(lambda _: len(_.result) == len(_["items"]))
    def f(items: list[int]) -> dict[int, int]:
        return dict(zip(items, items))
""", "[0, 0]: the same key twice", contracts=["deal"])

breaks("a function as an argument", """
    from typing import Callable

    def f(g: Callable[[int], int]) -> int:
        '''post: _ != 42'''
        return g(g(100))
""", "a function that gives 42 for everything")
