"""Days and spans of time. What a day is called is arithmetic of integers, known or not."""

MINYEAR = 1
MAXYEAR = 9999
_LAST = 3652059
_DAY = 86400
_SECOND = 1000000


def _whole(value, name):
    if not isinstance(value, int):
        unsupported(f"{name} that is no integer")
    return +value


class timedelta:
    days: int
    seconds: int
    microseconds: int

    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        whole_days = _whole(days, "days") + 7 * _whole(weeks, "weeks")
        rest = _whole(seconds, "seconds") + 60 * _whole(minutes, "minutes") + 3600 * _whole(hours, "hours")
        small = _whole(microseconds, "microseconds") + 1000 * _whole(milliseconds, "milliseconds")
        rest += small // _SECOND
        self._microseconds = small % _SECOND
        whole_days += rest // _DAY
        self._seconds = rest % _DAY
        self._days = whole_days
        if not -999999999 <= whole_days <= 999999999:
            raise OverflowError(f"days={whole_days}; must have magnitude <= 999999999")

    @property
    def days(self):
        return self._days

    @property
    def seconds(self):
        return self._seconds

    @property
    def microseconds(self):
        return self._microseconds

    def _all(self):
        return (self._days * _DAY + self._seconds) * _SECOND + self._microseconds

    def total_seconds(self):
        return self._all() / _SECOND

    def __repr__(self):
        named = [("days", self._days), ("seconds", self._seconds), ("microseconds", self._microseconds)]
        shown = ", ".join([f"{name}={value}" for name, value in named if value])
        return f"datetime.timedelta({shown or '0'})"

    def __str__(self):
        minutes, seconds = self._seconds // 60, self._seconds % 60
        text = f"{minutes // 60}:{_padded(minutes % 60, 2)}:{_padded(seconds, 2)}"
        if self._days:
            plural = "" if abs(self._days) == 1 else "s"
            text = f"{self._days} day{plural}, {text}"
        if self._microseconds:
            text = f"{text}.{_padded(self._microseconds, 6)}"
        return text

    def __hash__(self):
        unsupported("hash() of a timedelta")

    def __bool__(self):
        return self._all() != 0

    def __neg__(self):
        return _span(-self._all())

    def __pos__(self):
        return self

    def __abs__(self):
        return _span(abs(self._all()))

    def __add__(self, other):
        return _span(self._all() + other._all()) if isinstance(other, timedelta) else NotImplemented

    def __sub__(self, other):
        return _span(self._all() - other._all()) if isinstance(other, timedelta) else NotImplemented

    def __mul__(self, other):
        if isinstance(other, float):
            unsupported("a timedelta times a float")
        return _span(self._all() * other) if isinstance(other, int) else NotImplemented

    def __rmul__(self, other):
        return self.__mul__(other)

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._all() / other._all()
        if isinstance(other, float):
            unsupported("a timedelta divided by a float")
        if not isinstance(other, int):
            return NotImplemented
        # To the nearest microsecond, halves to the even one.
        top, bottom = (-self._all(), -other) if other < 0 else (self._all(), other)
        whole, rest = top // bottom, top % bottom
        if rest * 2 > bottom or (rest * 2 == bottom and whole % 2 == 1):
            whole += 1
        return _span(whole)

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._all() // other._all()
        return _span(self._all() // other) if isinstance(other, int) else NotImplemented

    def __mod__(self, other):
        return _span(self._all() % other._all()) if isinstance(other, timedelta) else NotImplemented

    def __divmod__(self, other):
        return self // other, self % other

    def __eq__(self, other):
        return self._all() == other._all() if isinstance(other, timedelta) else NotImplemented

    def __lt__(self, other):
        return self._all() < other._all() if isinstance(other, timedelta) else NotImplemented

    def __le__(self, other):
        return self._all() <= other._all() if isinstance(other, timedelta) else NotImplemented

    def __gt__(self, other):
        return self._all() > other._all() if isinstance(other, timedelta) else NotImplemented

    def __ge__(self, other):
        return self._all() >= other._all() if isinstance(other, timedelta) else NotImplemented


timedelta.min = timedelta(-999999999)
timedelta.max = timedelta(999999999, 86399, 999999)
timedelta.resolution = timedelta(0, 0, 1)


def _span(microseconds):
    return timedelta(0, 0, microseconds)


def _padded(value, width):
    return str(value).zfill(width)


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_length(year, month):
    if month == 2:
        return 29 if _is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _moved(start, days):
    """Some days later. Near an unknown day it is easier to go from month to month than to count all days since the year 1."""
    is_near = is_known(days) and -400 < days < 400 and not is_known((start._year, start._month, start._day))
    if not is_near:
        found = start.toordinal() + days
        if not 0 < found <= _LAST:
            raise OverflowError("date value out of range")
        return date.fromordinal(found)
    year, month, day = start._year, start._month, start._day + days
    while day < 1:
        month -= 1
        if month == 0:
            year, month = year - 1, 12
        day += _month_length(year, month)
    length = _month_length(year, month)
    while day > length:
        day -= length
        month += 1
        if month == 13:
            year, month = year + 1, 1
        length = _month_length(year, month)
    if not MINYEAR <= year <= MAXYEAR:
        raise OverflowError("date value out of range")
    return date(year, month, day)


class date:
    year: int
    month: int
    day: int

    def __init__(self, year, month=None, day=None):
        if month is None or day is None:
            raise TypeError("function missing required argument")
        for value in (year, month, day):
            if not isinstance(value, int):
                raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        if not MINYEAR <= year <= MAXYEAR:
            raise ValueError(f"year {year} is out of range")
        if not 1 <= month <= 12:
            raise ValueError("month must be in 1..12")
        if not 1 <= day <= _month_length(year, month):
            raise ValueError("day is out of range for month")
        self._year, self._month, self._day = +year, +month, +day

    @property
    def year(self):
        return self._year

    @property
    def month(self):
        return self._month

    @property
    def day(self):
        return self._day

    @classmethod
    def today(cls):
        unsupported("date.today")

    @classmethod
    def fromisoformat(cls, text):
        if not isinstance(text, str):
            raise TypeError("fromisoformat: argument must be str")
        parts = text.split("-") if is_known(text) and len(text) == 10 else []
        if not (len(parts) == 3 and [len(part) for part in parts] == [4, 2, 2] and "".join(parts).isdigit() and text.isascii()):
            unsupported("date.fromisoformat of this text")
        return cls(int(parts[0]), int(parts[1]), int(parts[2]))

    @classmethod
    def fromordinal(cls, n):
        if n < 1:
            raise ValueError("ordinal must be >= 1")
        if n > _LAST:
            raise ValueError("year is out of range")
        # Years that begin in March, four hundred of them at a time.
        days = n + 305
        cycle, rest = days // 146097, days % 146097
        year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
        rest -= 365 * year + year // 4 - year // 100
        month = (5 * rest + 2) // 153
        day = rest - (153 * month + 2) // 5 + 1
        year += 400 * cycle
        if month < 10:
            return cls(year, month + 3, day)
        return cls(year + 1, month - 9, day)

    def toordinal(self):
        year, month = self._year, self._month
        if month > 2:
            month -= 3
        else:
            year, month = year - 1, month + 9
        return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + self._day - 306

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.toordinal() % 7 or 7

    def isoformat(self):
        return f"{_padded(self._year, 4)}-{_padded(self._month, 2)}-{_padded(self._day, 2)}"

    def replace(self, year=None, month=None, day=None):
        year = self._year if year is None else year
        month = self._month if month is None else month
        return type(self)(year, month, self._day if day is None else day)

    def strftime(self, format):
        unsupported("date.strftime")

    def isocalendar(self):
        unsupported("date.isocalendar")

    def timetuple(self):
        unsupported("date.timetuple")

    def ctime(self):
        unsupported("date.ctime")

    def __repr__(self):
        return f"datetime.date({self._year}, {self._month}, {self._day})"

    def __str__(self):
        return self.isoformat()

    def __format__(self, spec):
        if spec:
            unsupported("the format of a date")
        return str(self)

    def __hash__(self):
        unsupported("hash() of a date")

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return _moved(self, other.days)

    def __radd__(self, other):
        return self.__add__(other)

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return _moved(self, -other.days)
        if isinstance(other, date):
            return timedelta(self.toordinal() - other.toordinal())
        return NotImplemented

    def _place(self):
        return (self._year * 100 + self._month) * 100 + self._day

    def __eq__(self, other):
        return self._place() == other._place() if isinstance(other, date) else NotImplemented

    def __lt__(self, other):
        return self._place() < other._place() if isinstance(other, date) else NotImplemented

    def __le__(self, other):
        return self._place() <= other._place() if isinstance(other, date) else NotImplemented

    def __gt__(self, other):
        return self._place() > other._place() if isinstance(other, date) else NotImplemented

    def __ge__(self, other):
        return self._place() >= other._place() if isinstance(other, date) else NotImplemented


date.min = date(1, 1, 1)
date.max = date(9999, 12, 31)
date.resolution = timedelta(1)
