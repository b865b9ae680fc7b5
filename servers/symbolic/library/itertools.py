"""Iterators that take what they go through one by one, as those of CPython do."""


class groupby:
    def __init__(self, iterable, key=None):
        self._source = iter(iterable)
        self._key = key
        # Groups handed out; only the last one still gives items.
        self._turn = 0
        self._has_key = False
        self._has_item = False
        self._is_grouped = False

    def __iter__(self):
        return self

    def __next__(self):
        self._turn += 1
        while not self._has_key or (self._is_grouped and is_same(self._target, self._current)):
            self._read()
        self._target = self._current
        self._is_grouped = True
        return self._current, _members(self, self._turn, self._target)

    def _read(self):
        item = next(self._source)
        self._current = item if self._key is None else self._key(item)
        self._item = item
        self._has_key = True
        self._has_item = True


def _members(groups, turn, target):
    while groups._turn == turn:
        if not groups._has_item:
            try:
                groups._read()
            except StopIteration:
                return
        if not is_same(target, groups._current):
            return
        groups._has_item = False
        yield groups._item


def tee(iterable, n=2, /):
    if n < 0:
        raise ValueError("n must be >= 0")
    source, seen = iter(iterable), []
    return tuple([_replayed(source, seen) for _ in range(n)])


def _replayed(source, seen):
    at = 0
    while True:
        if at == len(seen):
            try:
                item = next(source)
            except StopIteration:
                return
            seen.append(item)
        yield seen[at]
        at += 1


def _from_iterable(iterable, /):
    return _chained(iter(iterable))


def _chained(sources):
    for source in sources:
        for item in source:
            yield item


def cycle(iterable, /):
    return _cycled(iter(iterable))


def _cycled(source):
    seen = []
    for item in source:
        seen.append(item)
        yield item
    while seen:
        for item in seen:
            yield item


def islice(iterable, /, *bounds):
    if not 1 <= len(bounds) <= 3:
        raise TypeError("islice expected 2 to 4 arguments")
    start, stop, step = (None, bounds[0], None) if len(bounds) == 1 else (*bounds, None)[:3]
    limits = "must be None or an integer: 0 <= x <= sys.maxsize."
    if stop is not None and not (isinstance(stop, int) and stop != -1 and stop <= 9223372036854775807):
        raise ValueError(f"Stop argument for islice() {limits}")
    if start is not None and not (isinstance(start, int) and 0 <= start <= 9223372036854775807):
        raise ValueError(f"Indices for islice() {limits}")
    if stop is not None and stop < 0:
        raise ValueError(f"Indices for islice() {limits}")
    if step is not None and not (isinstance(step, int) and 1 <= step <= 9223372036854775807):
        raise ValueError("Step for islice() must be a positive integer or None.")
    return _sliced(iter(iterable), 0 if start is None else start, stop, 1 if step is None else step)


def _sliced(source, wanted, stop, step):
    seen = 0
    while True:
        while seen < wanted:
            try:
                next(source)
            except StopIteration:
                return
            seen += 1
        if stop is not None and seen >= stop:
            return
        try:
            item = next(source)
        except StopIteration:
            return
        seen += 1
        wanted += step
        if stop is not None and wanted > stop:
            wanted = stop
        yield item


def filterfalse(function, iterable, /):
    return _rejected(function, iter(iterable))


def _rejected(function, source):
    for item in source:
        if not (item if function is None else function(item)):
            yield item


def compress(data, selectors):
    return _selected(iter(data), iter(selectors))


def _selected(data, selectors):
    for item, wanted in zip(data, selectors):
        if wanted:
            yield item


def pairwise(iterable, /):
    return _pairs(iter(iterable))


def _pairs(source):
    for before in source:
        for item in source:
            yield before, item
            before = item


def zip_longest(*iterables, fillvalue=None):
    return _rows([iter(one) for one in iterables], fillvalue)


def _rows(sources, fill):
    active = len(sources)
    while active:
        row = []
        for place, source in enumerate(sources):
            item = fill
            if source is not None:
                try:
                    item = next(source)
                except StopIteration:
                    active -= 1
                    if not active:
                        return
                    sources[place] = None
            row.append(item)
        yield tuple(row)


def count(start=0, step=1):
    if not (isinstance(start, (int, float)) and isinstance(step, (int, float))):
        unsupported("itertools.count of something else than numbers")
    return _counted(start, step)


def _counted(current, step):
    while True:
        yield current
        current = current + step


def batched(iterable, n):
    unsupported("itertools.batched, which Python has from 3.12 on")
