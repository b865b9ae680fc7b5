"""`re`: patterns that are known, on texts that are not."""

from . import breaks, differ, holds, never, raises, same

holds("a word of small letters", """
    import re

    def f(s: str) -> bool:
        '''
        pre: len(s) <= 3
        post: not _ or s.islower()
        '''
        return s.isascii() and re.fullmatch(r"[a-z]+", s) is not None
""", "one letter at least, and all of them small")

breaks("a pattern that ends before the end", """
    import re

    def f(s: str) -> int:
        '''
        pre: len(s) <= 3
        '''
        return int(s) if re.match(r"[0-9]+", s) else 0
""", "1a begins with a digit and is no number")

never("a pattern up to the end", """
    import re

    def f(s: str) -> int:
        '''
        pre: len(s) <= 3
        '''
        return int(s) if re.fullmatch(r"[0-9]+", s) else 0
""", "ValueError", "digits alone are a number")

breaks("a dollar is not the end", """
    import re

    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: not _ or len(s) == 1
        '''
        return re.match(r"a$", s) is not None
""", "a and a newline: $ matches before a newline at the end")

never("a group that may be absent", """
    import re

    def f(s: str) -> int:
        '''
        pre: len(s) <= 3
        '''
        found = re.fullmatch(r"(a)?b", s)
        if found is None or found.group(1) is None:
            return 0
        return len(found.group(1))
""", "TypeError", "a group that did not take part is None, and that is asked for")

raises("a group that was absent", """
    import re

    def f(s: str) -> int:
        '''
        pre: len(s) <= 3
        '''
        found = re.fullmatch(r"(a)?b", s)
        return len(found.group(1)) if found else 0
""", "TypeError", "b alone: the group is None", lines=[8])

raises("a group that is not there", """
    import re

    def f(s: str) -> str:
        found = re.match(r"(x)", s)
        return found.group(2) if found else ""
""", "IndexError", "there is one group", lines=[5])

same("a class and its letters", """
    import re

    def f(s: str) -> bool:
        '''pre: len(s) <= 2'''
        return re.search(r"[xyz]", s) is not None

    def g(s: str) -> bool:
        return "x" in s or "y" in s or "z" in s
""", "any of the three, anywhere")

differ("greedy and not", """
    import re

    def f(s: str) -> str:
        '''pre: len(s) <= 4'''
        return re.sub(r"<.*>", "", s)

    def g(s: str) -> str:
        return re.sub(r"<.*?>", "", s)
""", "<>a> : nothing is left against a>")

same("splitting by a pattern of one letter", """
    import re

    def f(s: str) -> list[str]:
        '''pre: len(s) <= 3'''
        return re.split(r",", s)

    def g(s: str) -> list[str]:
        return s.split(",")
""", "a comma is a comma")

breaks("digits are more than ten", """
    import re

    def f(s: str) -> bool:
        '''
        pre: len(s) == 1
        post: not _ or s in "0123456789"
        '''
        return re.fullmatch(r"\\d", s) is not None
""", "the Arabic digits are digits too")
