//! Compares modules of the standard library with CPython: values, exceptions and their texts.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise"
)]

mod support;

/// Bodies of `f()`.
const ITERTOOLS: &[&str] = &[
    r#"from itertools import groupby
return [(k, list(g)) for k, g in groupby([1, 1, 2, 1])], [k for k, _ in groupby('aabbc', key=str.upper)]"#,
    r#"from itertools import groupby
groups = [g for _, g in groupby([1, 1, 2])]
return [list(g) for g in groups], [list(g) for g in []], list(groupby([]))"#,
    r#"from itertools import groupby
g = groupby([1, 1, 2, 2, 2, 3])
k, first = next(g)
a = next(first)
k2, second = next(g)
return k, a, list(first), k2, list(second), next(g)[0]"#,
    r#"from itertools import groupby
return len(list(groupby([0.0, -0.0, 1]))), [k for k, _ in groupby([True, 1, 0])]"#,
    r#"from itertools import groupby
return list(groupby(5))"#,
    r#"from itertools import tee
a, b = tee(iter([1, 2, 3]))
x = next(a)
c = tee('ab', 3)
return x, list(b), list(a), [list(i) for i in c], tee([1], 0)"#,
    r#"from itertools import tee
return tee([1], -1)"#,
    r#"from itertools import chain, count, islice, cycle
return list(chain('ab', [1], ())), list(islice(chain.from_iterable(([i] * i for i in count())), 6)), list(islice(cycle('ab'), 5)), list(cycle([]))"#,
    r#"from itertools import accumulate
import operator
return list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], operator.mul)), list(accumulate([1, 2], initial=10)), list(accumulate([], initial=1)), list(accumulate([3, 1], func=max))"#,
    r#"from itertools import product, permutations, combinations, combinations_with_replacement
return list(product('ab', [1, 2])), list(product([0, 1], repeat=2)), list(permutations([1, 2, 3], 2)), list(permutations('ab')), list(combinations('abc', 2)), list(combinations_with_replacement('ab', 2)), list(combinations('ab', 3)), list(product())"#,
    r#"from itertools import combinations
return list(combinations([1], -1))"#,
    r#"from itertools import islice
it = iter(range(10))
a = list(islice(it, 0, 6, 4))
return a, next(it), list(islice('abcdef', 2, None, 2)), list(islice([1, 2, 3], 2)), list(islice([1, 2], 5, 9)), list(islice([1, 2], None))"#,
    r#"from itertools import islice
return list(islice([1, 2], 0, 2, 0))"#,
    r#"from itertools import islice
return list(islice([1, 2], -1))"#,
    r#"from itertools import islice
return list(islice([1, 2], 'a'))"#,
    r#"from itertools import takewhile, dropwhile, filterfalse, starmap, compress
return list(takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 3, 1])), list(filterfalse(lambda x: x % 2, range(5))), list(filterfalse(None, [0, 1, ''])), list(starmap(pow, [(2, 3), (3, 2)])), list(compress('abcdef', [1, 0, 1, 0, 1]))"#,
    r#"from itertools import zip_longest, pairwise, repeat, count
return list(zip_longest('abc', [1], fillvalue='-')), list(zip_longest()), list(pairwise('abcd')), list(pairwise([1])), list(repeat(7, 3)), list(zip(count(5, -2), 'ab')), list(zip(count(0.5, 0.25), 'abc')), list(repeat(1, -1))"#,
    r#"from itertools import filterfalse
lazy = filterfalse(lambda x: 1 // x, [0, 1])
return 'not yet'"#,
    r#"from itertools import pairwise, count, islice
return list(islice(pairwise(count()), 3))"#,
    r#"from itertools import zip_longest
try:
    zip_longest([1], fill=2)
except TypeError:
    return 'refused'"#,
];

#[test]
fn itertools() {
    support::agree(ITERTOOLS);
}

/// Bodies of `f()`.
const FUNCTOOLS: &[&str] = &[
    r#"from functools import cmp_to_key
return sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)), max('abc', key=cmp_to_key(lambda a, b: (a < b) - (a > b))), min([2, 1], key=cmp_to_key(lambda a, b: a - b))"#,
    r#"from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
return [V(1) <= V(2), V(1) > V(2), V(2) >= V(2), V(1) < V(1), V(3) > V(1), sorted([V(2), V(1)])[0].n]"#,
    r#"from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __ge__(self, other):
        return self.n >= other.n
return [V(1) <= V(2), V(1) > V(2), V(2) >= V(2), V(1) < V(1), V(3) > V(1), V(1) < V(2)]"#,
    r#"from functools import total_ordering
@total_ordering
class V:
    pass"#,
    r#"from functools import wraps
def named(f):
    @wraps(f)
    def inner(*args):
        """Inner."""
        return f(*args) + 1
    return inner
@named
def g(x):
    """Outer."""
    return x * 2
return g(3), g.__name__, g.__doc__"#,
    r#"from functools import partial, reduce
p = partial(pow, 2)
q = partial(int, base=2)
return p(5), q('101'), p.func(3, 2), p.args, q.keywords, reduce(lambda a, b: a + b, 'abc'), reduce(max, [1, 3, 2], 0)"#,
    r#"from functools import reduce
return reduce(lambda a, b: a, [])"#,
    r#"from functools import lru_cache, cache
calls = []
@lru_cache(maxsize=None)
def fib(n):
    calls.append(n)
    return n if n < 2 else fib(n - 1) + fib(n - 2)
@cache
def twice(n):
    return n * 2
return fib(20), len(calls), twice(4), twice(4)"#,
    r#"from functools import cmp_to_key
try:
    return {cmp_to_key(lambda a, b: 0)(1)}
except TypeError:
    return 'no key'"#,
    r#"from functools import update_wrapper
def g(): pass
def h(): pass
return update_wrapper(h, g) is h, h.__name__"#,
];

#[test]
fn functools() {
    support::agree(FUNCTOOLS);
}

/// Bodies of `f()`.
const COLLECTIONS: &[&str] = &[
    r#"from collections import ChainMap
c = ChainMap({'a': 1}, {'a': 2, 'b': 3})
d = c.new_child({'z': 0})
c['q'] = 5
return c['a'], c['b'], c.get('x', 7), list(c), len(c), 'b' in c, dict(c.items()), list(c.keys()), list(c.values()), c.maps, d['a'], d.parents == c, bool(ChainMap()), repr(ChainMap({1: 2}, {}))"#,
    r#"from collections import ChainMap
return ChainMap({}, {})['k']"#,
    r#"from collections import ChainMap
c = ChainMap({'a': 1}, {'b': 2})
del c['b']"#,
    r#"from collections import ChainMap
c = ChainMap({'a': 1}, {'b': 2})
x = c.pop('a')
c.update(k=3)
e = c.copy()
e['b'] = 9
return x, c['b'], e['b'], c.setdefault('n', 4), c == {'k': 3, 'n': 4, 'b': 2}, c.popitem()"#,
    r#"from collections import Counter
c = Counter('abracadabra')
d = Counter(a=1, z=-2)
return c.most_common(2), c['x'], sorted(c.elements())[:3], c.total(), c + d, c - d, c & d, c | d, +d, -d, Counter(a=0) == Counter(), Counter(a=1) <= Counter(a=2), Counter(a=1) < Counter(a=1), Counter('aab') >= Counter('ab'), repr(Counter()), c == dict(c)"#,
    r#"from collections import Counter
c = Counter('aab')
e = c
c += Counter('bc')
c.subtract('aaa')
c.update({'q': 2})
del c['nothing']
return c, e is c, dict(c)"#,
    r#"from collections import OrderedDict
d = OrderedDict([('a', 1), ('b', 2), ('c', 3)])
d.move_to_end('a')
d.move_to_end('c', last=False)
return list(d), d.popitem(last=False), d.popitem(), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1, b=2) == {'b': 2, 'a': 1}, list(reversed(d))"#,
    r#"from collections import OrderedDict
OrderedDict().popitem()"#,
    r#"from collections import OrderedDict
OrderedDict(a=1).move_to_end('z')"#,
    r#"from collections import deque
d = deque([1, 2, 3], maxlen=3)
d.append(4)
d.appendleft(0)
e = deque([1]) + deque([2])
e += [3, 4]
e.rotate(1)
return d, e, e * 2, deque([1, 2]) < deque([1, 3]), deque([1]) == deque([1]), deque(maxlen=2), e.index(3), list(e)[1:]"#,
    r#"from collections import defaultdict
d = defaultdict(list)
d['a'].append(1)
e = defaultdict(int, {'x': 1})
e['y'] += 2
return d, e, dict(e), d.get('q'), 'q' in d, e.default_factory"#,
    r#"from collections import defaultdict
return defaultdict(None)['k']"#,
    r#"from collections import namedtuple
P = namedtuple('P', 'x y', defaults=[5])
Q = namedtuple('Q', ['a', 'b'])
p = P(1)
return p, P._make([3, 4]), p._replace(x=9), p._asdict(), P._fields, Q(1, b=2), p + (3,), p == (1, 5), [*Q(1, 2)]"#,
    r#"from collections import namedtuple
return namedtuple('P', 'x', defaults=[1, 2])"#,
    r#"from collections import namedtuple
P = namedtuple('P', 'x y')
return isinstance(P(1, 2), tuple), issubclass(P, tuple), P(1, 2) + (3,), tuple(P(1, 2)), P(1, 2)[1:], {P(1, 2): 3}[(1, 2)]"#,
];

#[test]
fn collections() {
    support::agree(COLLECTIONS);
}

/// Bodies of `f()`.
const OPERATOR: &[&str] = &[
    r#"import operator as o
return [o.pos(-3), o.invert(5), o.inv(0), o.abs(-4), o.index(True), o.lshift(1, 4), o.rshift(16, 2), o.truth([]), o.is_(None, None), o.is_not(None, 1), o.concat([1], [2]), o.countOf([1, 2, 1], 1), o.indexOf('abc', 'c'), o.neg(2), o.not_(0), o.contains([1], 1), o.mod(7, 3), o.xor(5, 1)]"#,
    r#"import operator as o
x = [1, 2]
o.setitem(x, 0, 9)
o.delitem(x, 1)
y = o.iadd(x, [3])
return x, y is x, o.imul(3, 4), o.iconcat('a', 'b'), o.ior({1}, {2}) == {1, 2}, o.ipow(2, 3)"#,
    r#"import operator as o
return o.indexOf([1], 2)"#,
    r#"import operator as o
return o.methodcaller('upper')('ab'), o.methodcaller('split', ',', maxsplit=1)('a,b,c'), o.itemgetter(0, 2, 1, 3)('abcd'), o.itemgetter('k')({'k': 1})"#,
    r#"import operator as o
class A:
    pass
a = A()
a.b = A()
a.b.c = 5
a.d = 6
return o.attrgetter('d')(a), o.attrgetter('b.c', 'd')(a)"#,
    r#"import operator as o
return o.attrgetter('zz')([])"#,
];

#[test]
fn operator() {
    support::agree(OPERATOR);
}

/// Bodies of `f()`.
const STRING: &[&str] = &[
    r#"import string
return string.capwords('hello  big world'), string.capwords('a-b', '-'), len(string.printable), string.hexdigits, 'a-b'.translate(str.maketrans('ab', 'xy', '-')), 'abc'.translate({97: 'AA', 98: None, 99: 100}), str.maketrans({'a': 1, 2: 'z'})"#,
    r#"return str.maketrans('ab', 'c')"#,
    r#"return str.maketrans({'ab': 'c'})"#,
];

#[test]
fn string() {
    support::agree(STRING);
}

/// Bodies of `f()`.
const MATH: &[&str] = &[
    r#"import math
return [math.gcd(), math.gcd(0, 0), math.gcd(-12, 18, 27), math.lcm(4, 6, 0), math.lcm(), math.lcm(-3, 4), math.perm(5), math.perm(5, 2), math.perm(2, 5), math.comb(5, 7), math.isqrt(10**30), math.prod([2, 3], start=4), math.prod([]), math.factorial(20)]"#,
    r#"import math
return math.isqrt(-1)"#,
    r#"import math
return math.comb(-1, 2)"#,
    r#"import math
return math.perm(1, -2)"#,
    r#"import math
return math.gcd(1.5, 2)"#,
    r#"import math
return [math.fsum([0.1] * 10), math.fsum([1e16, 1.0, -1e16]), math.fsum([]), math.fsum([1, 2.5]), math.fsum([float('inf'), 1]), math.fsum([-0.0]), math.fsum([1e-320, 1e-320]), math.fsum([0.1, 0.2, 0.3, -0.6])]"#,
    r#"import math
return math.fsum([float('inf'), float('-inf')])"#,
    r#"import math
return math.fsum(['a'])"#,
    r#"import math
return [math.hypot(3, 4), math.hypot(5.0, -12.0), math.hypot(), math.hypot(-2.5), math.hypot(2, 3, 6), math.hypot(float('nan'), float('inf')), math.hypot(0.75, 1.0), math.dist([1, 2], (4, 6)), math.dist([], [])]"#,
    r#"import math
return math.dist([1], [1, 2])"#,
    r#"import math
return [math.modf(-2.5), math.modf(3.0), math.modf(float('-inf')), math.modf(-2.0), math.frexp(8.0), math.frexp(-0.3), math.frexp(0.0), math.frexp(5e-324), math.ldexp(0.75, 4), math.ldexp(1.0, -1074), math.ldexp(3.0, -1075), math.ldexp(-1.0, -99999), math.ldexp(0.0, 99999), math.ulp(1.0), math.ulp(0.0), math.ulp(1.7976931348623157e308), math.nextafter(1.0, 2.0), math.nextafter(0.0, -1.0), math.nextafter(1.0, 1.0), math.remainder(5, 3), math.remainder(-7.5, 2), math.remainder(2.5, 1.0), math.remainder(3.5, 1.0), math.remainder(1e300, 7.0), math.remainder(-4.0, 2.0), math.remainder(3.0, float('inf')), math.fmod(-7.5, 2), math.fmod(7, -3)]"#,
    r#"import math
return math.ldexp(1.0, 1024)"#,
    r#"import math
return math.remainder(1.0, 0.0)"#,
    r#"import math
return math.fmod(1.0, 0.0)"#,
];

#[test]
fn math() {
    support::agree(MATH);
}

/// Bodies of `f()`.
const FRACTIONS: &[&str] = &[
    r#"from fractions import Fraction as F
a, b = F(3, 4), F(-5, 6)
return a + b, a - b, a * b, a / b, a // b, a % b, divmod(a, b), a ** 3, a ** -2, -a, abs(b), int(b), float(a), round(F(5, 2)), round(F(7, 2)), round(b, 1), a < b, a == F(6, 8), hash is hash, str(a), repr(b), F(6, 3), F(0.5), F('1.25'), F('3/4'), F(2), F(), a.numerator, b.denominator, bool(F(0))"#,
    r#"from fractions import Fraction as F
return 1 + F(1, 2), 2 * F(1, 2), 1 - F(1, 3), 1 / F(1, 3), 7 // F(3, 2), 7 % F(3, 2), 0.5 + F(1, 2), F(1, 2) * 0.5, F(1, 2) == 0.5, F(1, 2) < 1, 1 > F(1, 2), F(1, 2) == 'x', F(1, 3) == 1 / 3, sum([F(1, 2), F(1, 3)]), max(F(1, 2), 0.25), sorted([F(1, 2), F(1, 3), 0])"#,
    r#"from fractions import Fraction as F
import math
return F(1.1).limit_denominator(10), F(22, 7).limit_denominator(5), math.floor(F(-1, 2)), math.ceil(F(1, 2)), math.trunc(F(-3, 2)), F.from_float(0.75), F(3, 4).as_integer_ratio(), {F(1, 2): 'h'}[F(2, 4)], math.sqrt(F(1, 4))"#,
    r#"from fractions import Fraction as F
return F(1, 0)"#,
    r#"from fractions import Fraction as F
return F(1, 2) / 0"#,
    r#"from fractions import Fraction as F
return F('a')"#,
    r#"from fractions import Fraction as F
return F(1, 2) + 'a'"#,
    r#"from fractions import Fraction as F
return F(1.5, 2)"#,
    r#"from fractions import Fraction as F
return F(1, 2) < 'a'"#,
];

#[test]
fn fractions() {
    support::agree(FRACTIONS);
}

/// Bodies of `f()`.
const STATISTICS: &[&str] = &[
    r#"import statistics as s
return [s.mean([1, 2]), s.mean([1, 3]), s.mean([0.1, 0.2, 0.3]), s.mean([1, 2.5]), s.mean([True, False]), s.median([3, 1, 2]), s.median([4, 1, 2, 3]), s.median_low([1, 2]), s.median_high([1, 2]), s.mode('abca'), s.multimode('abab'), s.multimode([]), s.variance([1, 2, 4]), s.pvariance([1, 2, 4]), s.variance([1, 3]), s.fmean([1, 2, 4]), s.variance([0.5, 1.5, 4.0]), s.pvariance([2]), s.stdev([0.0, 1.0]), s.stdev([1, 3]), s.pstdev([2, 4, 4, 4, 5, 5, 7, 9])]"#,
    r#"import statistics as s
from fractions import Fraction as F
return s.mean([F(1, 2), F(1, 3)]), s.mean([F(1, 2), 1]), s.variance([F(1, 2), F(1, 3)]), s.median([F(1, 2), 1])"#,
    r#"import statistics
return statistics.mean([])"#,
    r#"import statistics
return statistics.median([])"#,
    r#"import statistics
return statistics.mode([])"#,
    r#"import statistics
return statistics.variance([1])"#,
    r#"import statistics
try:
    statistics.mean(iter([]))
except statistics.StatisticsError as e:
    return str(e), isinstance(e, ValueError)"#,
];

#[test]
fn statistics() {
    support::agree(STATISTICS);
}

/// Bodies of `f()`.
const DATETIME: &[&str] = &[
    r#"from datetime import date, timedelta
d = date(2024, 2, 28)
return d + timedelta(2), d - timedelta(days=60), date(2024, 3, 1) - d, d.weekday(), d.isoweekday(), d.toordinal(), d.isoformat(), str(d), repr(d), d.replace(day=1), d.replace(year=2023), d < date(2024, 3, 1), d == date(2024, 2, 28), date.fromordinal(738000), date.fromisoformat('2020-01-31'), date.min, date.max, d.year, f'{d}', sorted([date(2, 1, 1), date(1, 1, 1)])"#,
    r#"from datetime import date
return date(2023, 2, 29)"#,
    r#"from datetime import date
return date(2023, 13, 1)"#,
    r#"from datetime import date
return date(0, 1, 1)"#,
    r#"from datetime import date, timedelta
return date.max + timedelta(1)"#,
    r#"from datetime import date, timedelta
refused = []
for attempt in (lambda: date(2020, 1, 1) + 1, lambda: date(2020, 1, 1) < 5, lambda: timedelta(1) + 1, lambda: timedelta(1) < 1):
    try:
        attempt()
    except TypeError as e:
        refused.append(type(e).__name__)
return refused, date(2020, 1, 1) == 5, timedelta(1) != 'x'"#,
    r#"from datetime import date
return date('a', 1, 1)"#,
    r#"import datetime
return datetime.date(2000, 2, 29) - datetime.timedelta(weeks=1), datetime.MINYEAR, datetime.MAXYEAR"#,
    r#"from datetime import timedelta as t
a = t(days=1, hours=2, minutes=3, seconds=4, milliseconds=5, microseconds=6)
return a, str(a), -a, str(-a), a * 3, 3 * a, a / 7, a // 7, a / t(hours=1), a // t(hours=1), a % t(hours=1), divmod(a, t(hours=1)), abs(-a), bool(t()), t(1) == t(hours=24), t(1) < t(2), a.total_seconds(), a.days, a.seconds, a.microseconds, t(seconds=-1), repr(t()), str(t(days=-1)), t.max, t(microseconds=5) / 2, t(microseconds=15) / 10, {t(1): 2}[t(hours=24)]"#,
    r#"from datetime import timedelta
return timedelta(999999999) + timedelta(1)"#,
    r#"from datetime import timedelta
return timedelta(1) / 0"#,
    r#"from datetime import timedelta
return timedelta(1) // timedelta(0)"#,
    r#"from datetime import date, timedelta
kept = []
for change in (lambda: setattr(date(1, 1, 1), 'year', 2), lambda: setattr(timedelta(1), 'more', 2)):
    try:
        change()
    except AttributeError:
        kept.append(True)
return kept"#,
];

#[test]
fn datetime() {
    support::agree(DATETIME);
}

/// Bodies of `f()`.
const JSON: &[&str] = &[
    r#"import json
return json.dumps({'a': [1, 2.5, None, True], 'b': {}}), json.dumps('é"\n\\\x00😀'), json.dumps('é', ensure_ascii=False), json.dumps({'b': 1, 'a': 2}, sort_keys=True), json.dumps([1, 2], separators=(',', ':')), json.dumps({1: 2, None: 3, True: 4, 1.5: 5}), json.dumps([]), json.dumps((1, (2,))), json.dumps(float('inf')), json.dumps(1e100)"#,
    r#"import json
return json.loads('{"a": [1, 2.5, null, true, "x\\n"], "b": {}}'), json.loads(' [] '), json.loads('-0'), json.loads('1e3'), json.loads('"\\/"'), json.loads('{"a":1,"a":2}')"#,
    r#"import json
return json.dumps({1, 2})"#,
    r#"import json
return json.dumps({(1,): 2})"#,
    r#"import json
return json.dumps(float('nan'), allow_nan=False)"#,
    r#"import json
return json.loads('[1, 2')"#,
    r#"import json
return json.loads('{"a": 1,}')"#,
    r#"import json
return json.loads('')"#,
    r#"import json
return json.loads('[1] x')"#,
    r#"import json
return json.loads('"ab')"#,
    r#"import json
return json.loads(5)"#,
    r#"import json
try:
    json.loads('{\n "a" 1}')
except json.JSONDecodeError as e:
    return str(e), e.lineno, e.colno, e.pos, e.msg, isinstance(e, ValueError)"#,
];

#[test]
fn json() {
    support::agree(JSON);
}
