"""Orders made from functions."""


def cmp_to_key(mycmp):
    class KeyWrapper:
        __hash__ = None

        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

        def __gt__(self, other):
            return mycmp(self.obj, other.obj) > 0

        def __le__(self, other):
            return mycmp(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return mycmp(self.obj, other.obj) >= 0

        def __eq__(self, other):
            return mycmp(self.obj, other.obj) == 0

    return KeyWrapper


def _from(root, negated, joined):
    """A comparison by another one: perhaps negated, perhaps with equality `or` inequality `and` added."""

    def compared(self, other):
        result = getattr(type(self), root)(self, other)
        if result is NotImplemented:
            return result
        if negated:
            result = not result
        if joined == "or":
            return result or self == other
        if joined == "and":
            return result and self != other
        return result

    return compared


_DERIVED = {
    "__lt__": [("__gt__", True, "and"), ("__le__", False, "or"), ("__ge__", True, "")],
    "__le__": [("__ge__", True, "or"), ("__lt__", False, "and"), ("__gt__", True, "")],
    "__gt__": [("__lt__", True, "and"), ("__ge__", False, "or"), ("__le__", True, "")],
    "__ge__": [("__le__", True, "or"), ("__gt__", False, "and"), ("__lt__", True, "")],
}


def total_ordering(cls):
    defined = [name for name in _DERIVED if hasattr(cls, name)]
    if not defined:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    root = defined[0]
    for name, negated, joined in _DERIVED[root]:
        if name not in defined:
            setattr(cls, name, _from(root, negated, joined))
    return cls
