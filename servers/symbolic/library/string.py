"""Words and tables of letters."""


def capwords(s, sep=None):
    return (sep or " ").join([word.capitalize() for word in s.split(sep)])


def _maketrans(x, y=None, z=None):
    if y is None:
        if not isinstance(x, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        table = {}
        for key, value in x.items():
            if isinstance(key, str):
                if len(key) != 1:
                    raise ValueError("string keys in translate table must be of length 1")
                key = ord(key)
            elif not isinstance(key, int):
                raise TypeError("keys in translate table must be strings or integers")
            table[key] = value
        return table
    if not isinstance(x, str):
        raise TypeError("first maketrans argument must be a string if there is a second argument")
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {}
    for one, other in zip(x, y):
        table[ord(one)] = ord(other)
    for letter in z or "":
        table[ord(letter)] = None
    return table


def _translate(text, table):
    out = []
    for letter in text:
        try:
            found = table[ord(letter)]
        except LookupError:
            found = letter
        if isinstance(found, int):
            if not 0 <= found <= 0x10FFFF:
                raise ValueError("character mapping must be in range(0x110000)")
            found = chr(found)
        elif found is None:
            found = ""
        elif not isinstance(found, str):
            raise TypeError("character mapping must return integer, None or str")
        out.append(found)
    return "".join(out)
