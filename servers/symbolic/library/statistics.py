"""Averages that are exact: of integers, fractions and known floats."""

from collections import Counter as _Counter
from fractions import Fraction as _Fraction
from math import fsum as _fsum
from math import sqrt as _sqrt
from statistics import StatisticsError as _StatisticsError


def _exact(data):
    """The data as exact numbers, and the type that a result has."""
    kind = int
    numbers = []
    for item in data:
        if isinstance(item, float):
            if not is_known(item) or item != item or item in (float("inf"), float("-inf")):
                unsupported("statistics of an unknown float")
            item = _Fraction(*item.as_integer_ratio())
            this = float
        elif isinstance(item, _Fraction):
            this = _Fraction
        elif isinstance(item, int):
            this = int
        else:
            unsupported("statistics of something else than numbers")
        if kind is int:
            kind = this
        elif this is not int and this is not kind:
            unsupported("statistics of floats and fractions")
        numbers.append(item)
    return kind, numbers


def _as(kind, top, bottom):
    """A quotient in the type of the data; integers stay such when they can."""
    if kind is _Fraction:
        return _Fraction(top, bottom) if isinstance(top, int) else top / bottom
    if isinstance(top, int) and isinstance(bottom, int):
        if kind is int and top % bottom == 0:
            return top // bottom
        return top / bottom
    return float(top / bottom)


def mean(data):
    kind, numbers = _exact(data)
    if not numbers:
        raise _StatisticsError("mean requires at least one data point")
    return _as(kind, sum(numbers), len(numbers))


def fmean(data, weights=None):
    if weights is not None:
        unsupported("the weights of statistics.fmean")
    numbers = list(data)
    if not numbers:
        raise _StatisticsError("fmean requires at least one data point")
    return _fsum(numbers) / len(numbers)


def _halves(data, text="no median for empty data"):
    numbers = sorted(data)
    if not numbers:
        raise _StatisticsError(text)
    return numbers, len(numbers) // 2, len(numbers) % 2


def median(data):
    numbers, middle, is_odd = _halves(data)
    if is_odd:
        return numbers[middle]
    return (numbers[middle - 1] + numbers[middle]) / 2


def median_low(data):
    numbers, middle, is_odd = _halves(data)
    return numbers[middle] if is_odd else numbers[middle - 1]


def median_high(data):
    numbers, middle, _ = _halves(data)
    return numbers[middle]


def mode(data):
    found = _Counter(data).most_common(1)
    if not found:
        raise _StatisticsError("no mode for empty data")
    return found[0][0]


def multimode(data):
    counts = _Counter(data)
    most = max(counts.values(), default=0)
    return [value for value, count in counts.items() if count == most]


def _squares(data, least, text):
    kind, numbers = _exact(data)
    count = len(numbers)
    if count < least:
        raise _StatisticsError(text)
    total = sum(numbers)
    return kind, count, count * sum([number * number for number in numbers]) - total * total


def variance(data, xbar=None):
    if xbar is not None:
        unsupported("the mean given to statistics.variance")
    kind, count, squares = _squares(data, 2, "variance requires at least two data points")
    return _as(kind, squares, count * (count - 1))


def pvariance(data, mu=None):
    if mu is not None:
        unsupported("the mean given to statistics.pvariance")
    kind, count, squares = _squares(data, 1, "pvariance requires at least one data point")
    return _as(kind, squares, count * count)


def _root(squares, count):
    """Only where the variance is a float: versions of CPython round another one's root in other ways."""
    if not is_known(squares) and not isinstance(squares, _Fraction):
        unsupported("the deviation of unknown numbers")
    exact = _Fraction(squares) / count
    nearest = float(exact)
    if exact != nearest:
        unsupported("a deviation whose square is no float")
    return _sqrt(nearest)


def stdev(data, xbar=None):
    if xbar is not None:
        unsupported("the mean given to statistics.stdev")
    _, count, squares = _squares(data, 2, "stdev requires at least two data points")
    return _root(squares, count * (count - 1))


def pstdev(data, mu=None):
    if mu is not None:
        unsupported("the mean given to statistics.pstdev")
    _, count, squares = _squares(data, 1, "pstdev requires at least one data point")
    return _root(squares, count * count)
