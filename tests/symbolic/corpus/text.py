"""Strings: code points, whose case mappings are longer than they look."""

from . import breaks, holds, never, raises

breaks("upper and back", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: _
        '''
        return s.upper().lower() == s.lower()
""", "the sharp s becomes two letters")

breaks("capitals are as long", """
    def f(s: str) -> bool:
        '''
        pre: len(s) == 1
        post: _
        '''
        return len(s.upper()) == 1
""", "the sharp s becomes two letters")

breaks("small letters are as long", """
    def f(s: str) -> bool:
        '''
        pre: len(s) == 1
        post: _
        '''
        return len(s.lower()) == 1
""", "the capital i with a dot becomes two characters")

breaks("folding is more than lowering", """
    def f(s: str) -> bool:
        '''
        pre: len(s) == 1
        post: _
        '''
        return s.casefold() == s.lower()
""", "the sharp s")

holds("stripping twice", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: _
        '''
        return s.strip().strip() == s.strip()
""", "what is stripped has no spaces at its ends")

raises("a digit that is no number", """
    def f(s: str) -> int:
        if len(s) == 1 and s.isdigit():
            return int(s)
        return 0
""", "ValueError", "the superscript two is a digit, and int does not take it", lines=[3])

never("a decimal is a number", """
    def f(s: str) -> int:
        if len(s) == 1 and s.isdecimal():
            return int(s)
        return 0
""", "ValueError", "int takes every decimal of Unicode")

raises("the first of nothing", """
    def f(s: str) -> str:
        return s[0]
""", "IndexError", "the empty text", lines=[2])

never("the first of something", """
    def f(s: str) -> str:
        if s:
            return s[0]
        return ""
""", "IndexError", "a text that is true has a character")

holds("split and joined", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: _
        '''
        return ",".join(s.split(",")) == s
""", "split with a separator loses the separators alone, and join puts them back")

breaks("split at spaces and joined", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 3
        post: _
        '''
        return " ".join(s.split()) == s
""", "a single space splits to nothing")

holds("three letters on", """
    def f(c: str) -> str:
        '''
        pre: len(c) == 1 and "a" <= c <= "z"
        post: "a" <= _ <= "z"
        '''
        return chr((ord(c) - 97 + 3) % 26 + 97)
""", "a remainder by 26 is 0 to 25")

holds("nothing left to replace", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 2
        post: _
        '''
        return "a" not in s.replace("a", "")
""", "every a is taken out, and none can come up")

breaks("replacing may make what it replaces", """
    def f(s: str) -> bool:
        '''
        pre: len(s) <= 4
        post: _
        '''
        return "ab" not in s.replace("ab", "")
""", "aabb becomes ab")

raises("looking for what is not there", """
    def f(s: str) -> int:
        return s.index("x")
""", "ValueError", "the empty text", lines=[2])

never("looking without raising", """
    def f(s: str) -> int:
        return s.find("x")
""", "ValueError", "find answers -1")

breaks("joining is not commutative", """
    def f(a: str, b: str) -> bool:
        '''post: _'''
        return a + b == b + a
""", "a and b, one letter each")

raises("the password", """
    def f(s: str) -> int:
        if s == "xyzzy":
            raise PermissionError(s)
        return len(s)
""", "PermissionError", "the text itself", lines=[3])

raises("the password, letter by letter", """
    def f(s: str) -> int:
        if len(s) == 4 and s[0] == "o" and s[3] == "n" and s[1:3] == "pe":
            raise PermissionError(s)
        return len(s)
""", "PermissionError", "open", lines=[3])

holds("written and read", """
    def f(x: int) -> bool:
        '''
        pre: -99 <= x <= 99
        post: _
        '''
        return int(str(x)) == x
""", "199 cases")

breaks("a palindrome by its ends alone", """
    def f(s: str) -> bool:
        '''
        pre: len(s) == 4
        post: _ == (s == s[::-1])
        '''
        return s[0] == s[-1]
""", "abca")

holds("a palindrome by both pairs", """
    def f(s: str) -> bool:
        '''
        pre: len(s) == 4
        post: _ == (s == s[::-1])
        '''
        return s[0] == s[3] and s[1] == s[2]
""", "four characters make two pairs")

holds("padding makes it long enough", """
    def f(s: str) -> str:
        '''
        pre: len(s) <= 3
        post: len(_) == 5
        '''
        return s + "." * (5 - len(s))
""", "5 - len(s) is at least 2")

breaks("a prefix is cut without looking", """
    def f(s: str) -> str:
        '''
        pre: len(s) <= 5
        post: "no " + _ == s
        '''
        return s[3:]
""", "a text that does not begin so")
