"""Functions for operators that the interpreter has no function of its own for."""


def pos(a, /):
    return +a


def invert(a, /):
    return ~a


inv = invert


def index(a, /):
    if not isinstance(a, int):
        unsupported("operator.index of something else than an integer")
    return +a


def lshift(a, b, /):
    return a << b


def rshift(a, b, /):
    return a >> b


def matmul(a, b, /):
    return a @ b


def truth(a, /):
    return bool(a)


def is_(a, b, /):
    return a is b


def is_not(a, b, /):
    return a is not b


def concat(a, b, /):
    if not isinstance(a, (list, tuple, str)):
        unsupported("operator.concat of this")
    return a + b


def countOf(a, b, /):
    total = 0
    for item in a:
        if is_same(item, b):
            total += 1
    return total


def indexOf(a, b, /):
    for place, item in enumerate(a):
        if is_same(item, b):
            return place
    raise ValueError("sequence.index(x): x not in sequence")


def setitem(a, b, c, /):
    a[b] = c


def delitem(a, b, /):
    del a[b]


def iadd(a, b, /):
    a += b
    return a


def isub(a, b, /):
    a -= b
    return a


def imul(a, b, /):
    a *= b
    return a


def ior(a, b, /):
    a |= b
    return a


def iand(a, b, /):
    a &= b
    return a


def ixor(a, b, /):
    a ^= b
    return a


def ifloordiv(a, b, /):
    a //= b
    return a


def itruediv(a, b, /):
    a /= b
    return a


def imod(a, b, /):
    a %= b
    return a


def ipow(a, b, /):
    a **= b
    return a


def ilshift(a, b, /):
    a <<= b
    return a


def irshift(a, b, /):
    a >>= b
    return a


def iconcat(a, b, /):
    if not isinstance(a, (list, tuple, str)):
        unsupported("operator.iconcat of this")
    a += b
    return a


def methodcaller(name, /, *args, **kwargs):
    if not isinstance(name, str):
        raise TypeError("method name must be a string")

    def call(obj, /):
        return getattr(obj, name)(*args, **kwargs)

    return call


def attrgetter(attr, /, *attrs):
    wanted = (attr, *attrs)
    for one in wanted:
        if not isinstance(one, str):
            raise TypeError("attribute name must be a string")
    paths = [one.split(".") for one in wanted]

    def getter(obj, /):
        found = tuple([_reached(obj, path) for path in paths])
        return found if attrs else found[0]

    return getter


def _reached(value, path):
    for name in path:
        value = getattr(value, name)
    return value
