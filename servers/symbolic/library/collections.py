"""Several mappings seen as one, and what counters and named tuples leave to Python."""


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            try:
                return mapping[key]
            except KeyError:
                pass
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def _merged(self):
        merged = {}
        for mapping in reversed(self.maps):
            for key in mapping:
                merged[key] = None
        return merged

    def __len__(self):
        return len(self._merged())

    def __iter__(self):
        return iter(self._merged())

    def __bool__(self):
        return any([bool(mapping) for mapping in self.maps])

    def keys(self):
        return _View(self, lambda key: key)

    def values(self):
        return _View(self, lambda key: self[key])

    def items(self):
        return _View(self, lambda key: (key, self[key]))

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        del self.maps[0][key]

    def pop(self, key, *args):
        if key not in self.maps[0] and not args:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        return self.maps[0].pop(key, *args)

    def popitem(self):
        if not self.maps[0]:
            raise KeyError("No keys found in the first mapping.")
        return self.maps[0].popitem()

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other=(), /, **named):
        self.maps[0].update(other, **named)

    def clear(self):
        self.maps[0].clear()

    def copy(self):
        return type(self)(self.maps[0].copy(), *self.maps[1:])

    def new_child(self, m=None, **kwargs):
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return type(self)(m, *self.maps)

    @property
    def parents(self):
        return type(self)(*self.maps[1:])

    def __eq__(self, other):
        if isinstance(other, ChainMap):
            return dict(self.items()) == dict(other.items())
        if isinstance(other, dict):
            return dict(self.items()) == other
        return NotImplemented

    def __repr__(self):
        return f"{type(self).__name__}({', '.join([repr(mapping) for mapping in self.maps])})"


class _View:
    def __init__(self, chain, shape):
        self._chain = chain
        self._shape = shape

    def __len__(self):
        return len(self._chain)

    def __iter__(self):
        for key in self._chain:
            yield self._shape(key)

    def __contains__(self, wanted):
        for item in self:
            if is_same(item, wanted):
                return True
        return False

    def __eq__(self, other):
        unsupported("== of the views of a ChainMap")

    def __repr__(self):
        unsupported("the repr of a view of a ChainMap")


def _counts_below(a, b):
    """`a <= b` of counters: what is not there counts as none."""
    for counts in (a, b):
        for key in counts:
            if not a[key] <= b[key]:
                return False
    return True


def _counts_equal(a, b):
    for counts in (a, b):
        for key in counts:
            if not a[key] == b[key]:
                return False
    return True
