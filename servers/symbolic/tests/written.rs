//! A written corpus: what the random programs do not reach. Values, exceptions and their texts against CPython.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise"
)]

mod support;

use failwell_symbolic::Program;
use failwell_symbolic::analyse::{Evaluation, evaluate};
use serde_json::json;
use support::Python;

/// Each is the body of `f()`, or a module with an `f()` of its own.
const PROGRAMS: &[&str] = &[
    // Numbers in texts.
    "return int('\\u0661\\u0662'), float('\\u0661.5'), int('\\u3000 7 \\u2003')",
    "return int('\\x1c1')",
    "return float('1\\x1f')",
    "return '\\u0661'.isdecimal(), '\\u00b2'.isdecimal(), '\\u00b2'.isdigit(), '\\U0001d7d8'.isdigit()",
    "return len(str(10**4299)), len(str(2**14283))",
    "return str(10**4300)",
    // Patterns.
    "import re\nm = re.match(r'(\\w+) (\\d+)?', 'abc x')\nreturn m.group(), m.group(1), m.group(2), m.groups(), m.span(1), m.start(2)",
    "import re\nm = re.fullmatch(r'(?P<year>\\d{4})-(?P<month>\\d\\d)', '2024-05')\nreturn m.groupdict(), m['year'], m.group('month', 1)",
    "import re\nreturn re.match('a', 'b'), re.search('b', 'abc').span(), re.fullmatch('a|ab', 'ab').group()",
    "import re\nreturn re.findall(r'(a)(b)?', 'abaab'), re.findall(r'(a)', 'aba'), re.findall('x*', 'axb')",
    "import re\nreturn re.sub('x*', '-', 'abxd'), re.sub('(a)(b)', r'\\2\\1', 'abab', count=1), re.subn('b*', '.', 'abba')",
    "import re\nreturn re.split('(,)|;', 'a,b;c'), re.split('x*', 'axbc'), re.split(',', 'a,b,c', 1)",
    "import re\nreturn [m.span() for m in re.finditer('a*?', 'aa')], re.findall('a??b', 'aab')",
    "import re\nreturn re.findall('^.', 'a\\nb', re.M), re.findall('.$', 'a\\nb\\n'), re.findall('.', 'a\\n', re.S)",
    "import re\nreturn re.compile('[A-Z]', re.I).findall('aBc'), re.escape('a.b-c'), re.match(r'\\Aab\\Z', 'ab\\n')",
    "import re\nreturn re.findall(r'\\b\\w', 'ab cd-ef'), re.findall(r'\\Bb', 'ab b'), re.findall('[^a-c]', 'abcd')",
    "import re\nreturn re.match('(a|ab)(c|bcd)(d*)', 'abcd').groups(), re.match('(a+)+b', 'aaab').groups()",
    "import re\nreturn re.match('(a)|b', 'b').group(2)",
    "import re\nreturn re.match('a', 5)",
    "import re\nreturn re.match('(?:(a)|b)*', 'ab').groups(), re.match('((a)|b)+', 'ab').groups()",
    // Less common methods.
    "return 'a\\nb\\r\\nc'.splitlines(True), 'x'.encode('utf-8'), '\\u00e9'.encode(), 'a'.encode('ascii')",
    "import math\nreturn math.isclose(1.0, 1.0 + 1e-10), math.isclose(1, 2, rel_tol=0.6), math.isclose(0.0, 1e-12, abs_tol=1e-9)",
    "from collections import deque\nd = deque([1, 2])\nd.insert(1, 9)\nd.insert(-9, 0)\nreturn list(d)",
    "from collections import deque\nd = deque([1, 2], maxlen=2)\nd.insert(0, 1)",
    "s = {1, 2}\ns.symmetric_difference_update({2, 3})\nreturn sorted(s)",
    "return (7).as_integer_ratio(), (0.75).as_integer_ratio()",
    // Exceptions and their texts.
    "return [][0]",
    "return {}['k']",
    "return 1 // 0",
    "return 1 % 0",
    "return 1 / 0",
    "return 1.5 % 0.0",
    "return 1.5 // 0.0",
    "return 'a' + 1",
    "return 1 + 'a'",
    "return [1] + (2,)",
    "return int('x1')",
    "return float('1.5x')",
    "return 'abc'.index('z')",
    "return [1, 2].index(3)",
    "return [1, 2].remove(3)",
    "return (1, 2).index(3)",
    "return [].pop()",
    "return {}.popitem()",
    "return max([])",
    "return undefined_name",
    "x = [1]\nreturn x.nope",
    "return len(5)",
    "return 5[0]",
    "return (1).real, (5).bit_length()",
    "a, b = [1]\nreturn a",
    "a, b = 1, 2, 3\nreturn a",
    "a, *b = ()\nreturn a",
    "return 'a' < 1",
    "return [1] < [None]",
    "return sorted([1, 'a'])",
    "return -'a'",
    "return chr(-1)",
    "return chr(2**40)",
    "return ord('ab')",
    "return range(1, 5, 0)",
    "return 'abc'[5]",
    "return {[]: 1}",
    "return {(1, []): 1}",
    "raise ValueError('v', 2)",
    "raise KeyError('k')",
    "raise 5",
    "assert 1 > 2, 'text'",
    "assert 1 > 2",
    "return int(float('nan'))",
    "return int(float('inf'))",
    "return 2.0 ** 5000.0",
    "return float(10 ** 400)",
    "return 1 << -1",
    "return 0 ** -1",
    "return [1, 2, 3][::0]",
    "return 'a'.join([1])",
    "return 'a'.split('')",
    "return list(zip([1, 2], [3], strict=True))",
    "return next(iter([]))",
    "def g(a, b=2, *, c): return a\nreturn g(1)",
    "def g(a, b=2, *, c): return a\nreturn g(1, 2, 3, c=4)",
    "def g(a): return a\nreturn g(1, a=2)",
    "def g(a): return a\nreturn g(z=2)",
    "def g(a, b, c): return a\nreturn g()",
    "try:\n    return x\nfinally:\n    x = 1",
    "try:\n    raise KeyError('a')\nexcept LookupError as e:\n    return type(e).__name__, str(e), e.args, repr(e)",
    "try:\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        raise ValueError('inner') from e\nexcept ValueError as e:\n    return str(e)",
    "try:\n    raise\nexcept RuntimeError as e:\n    return str(e)",
    "for i in range(3):\n    try:\n        if i == 1:\n            continue\n        if i == 2:\n            break\n    finally:\n        x = i\nreturn x",
    "def g():\n    try:\n        return 1\n    finally:\n        return 2\nreturn g()",
    "def g():\n    for i in [1, 2]:\n        try:\n            return i\n        finally:\n            continue\n    return 9\nreturn g()",
    "try:\n    e = 5\n    raise ValueError\nexcept ValueError as e:\n    pass\nreturn e",
    // Numbers.
    "return [7 // 2, -7 // 2, 7 // -2, -7 // -2, 7 % 2, -7 % 2, 7 % -2, -7 % -2]",
    "return [7.5 // 2, -7.5 // 2, 7.5 % -2, -7.5 % 2, 0.0 % -1.0, -0.0 // 1.0]",
    "return [round(0.5), round(1.5), round(2.5), round(-0.5), round(2.675, 2), round(1234, -2), round(1250, -2), round(1e300)]",
    "return [1 == 1.0, 2**53 == 2.0**53, 2**53 + 1 == 2.0**53, 10**400 > 1e308, 1 < 1.5 < 2]",
    "return [0.1 + 0.2, 1e16, 1e15, 1e-4, 1e-5, 123456789012345680.0, 1.0, 5e-324, 1.7976931348623157e308]",
    "return [10**20 / 3, 2**70 / 2**68, 1 / 3, -1 / 3, 0 / -5, 2**1023 / 2**1000]",
    "return [pow(2, 10, 1000), pow(3, -1, 7), pow(2, -2), 2**-1, (-2)**3, pow(5, 3, -7)]",
    "return [5 & 3, -5 & 3, 5 | -8, 6 ^ -3, ~7, -1 >> 3, 1 << 70, True + True, True & 1, True | False]",
    "return [int('0x1f', 16), int('0b101', 0), int(' 42 '), int('1_000'), int('-7'), int('z', 36), int(-3.9), int(True)]",
    "return [float('1e3'), float(' inf '), float('-0'), float('1_0.5'), str(float('nan'))]",
    "return [divmod(-7, 3), divmod(7.5, 2), abs(-3), abs(-2.5), min(3, 1, 2), max('b', 'a'), sum([1, 2], 10), sum([0.1] * 3)]",
    "return [bin(-5), hex(255), oct(8), f'{255:#x}', f'{-5:08b}', f'{1234567:,}', f'{3.14159:.2f}', f'{5:>4}|', f'{5:^5}|', f'{5:<4}|']",
    "return [f'{0.1:.20f}', f'{1e10:g}', f'{1e-10:g}', f'{123456789:g}', f'{0.00001234:.3g}', f'{1.5:e}', f'{0.25:%}', f'{12:+d}', f'{-0.0:.1f}']",
    "return [(5).bit_length(), (255).bit_count(), (2.0).is_integer(), (2.5).is_integer(), True.real]",
    "import math\nreturn [math.floor(-2.5), math.ceil(2.1), math.sqrt(16), math.gcd(12, 18), math.factorial(10), math.isqrt(99), math.comb(5, 2), math.prod([1, 2, 3]), math.inf > 1, math.trunc(-2.7)]",
    "import math\nreturn [math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1.0), math.copysign(1, -0.0), math.fabs(-3), math.lcm(4, 6)]",
    // Strings.
    "return ['a,b,,c'.split(','), ' a  b '.split(), 'a b c'.split(' ', 1), 'abc'.partition('b'), 'abc'.rpartition('x'), 'a\\nb\\r\\nc'.splitlines()]",
    "return ['abc'[::-1], 'abc'[-2:], 'abcdef'[1:5:2], 'abc'[10:], 'abc'[-100:2], 'abc'[2:0:-1]]",
    "return ['aXbX'.replace('X', '', 1), 'abc'.replace('', '-'), 'aaa'.count('aa'), 'abc'.count(''), 'abcabc'.rfind('b'), 'abc'.find('c', 1, 2)]",
    "return ['Ab'.swapcase(), 'hello world'.title(), \"it's\".title(), 'ß'.upper(), 'ÉÀ'.lower(), 'ΑΣ'.lower(), 'abc'.capitalize()]",
    "return ['42'.zfill(5), '-42'.zfill(5), 'a'.center(4, '*'), 'ab'.center(5), 'a'.ljust(3) + '|', 'xxabxx'.strip('x'), 'abcab'.rstrip('ab')]",
    "return ['%s-%r-%d%%' % ('a', 'b', 3), '{} {1}'.format(1, 2) if False else '{0} {1} {0}'.format(1, 2), '{a:>3}'.format(a=1), '{{}}'.format()]",
    "x = 5\ny = 'q'\nreturn [f'{x=}', f'{y!r:>5}', f'{x:{x}}', f'{{}}', f'{y}{x + 1}', f'{[1, 2]}']",
    "return ['a' in 'abc', '' in '', 'abc' > 'abd', 'Z' < 'a', 'a' * 3, 'ab' 'cd', repr('a\\'b\"c'), repr('\\x00\\n\\t\\\\')]",
    "return ['12'.isdigit(), 'a1'.isalnum(), ''.isalpha(), 'A b'.isupper(), 'a'.islower(), ' \\t'.isspace(), 'Ab Cd'.istitle(), 'x_1'.isidentifier(), '²'.isdigit(), '½'.isnumeric()]",
    "return ['abc'.startswith(('x', 'a')), 'abc'.endswith('c', 0, 2), 'prefix-x'.removeprefix('prefix-'), ','.join('abc'), ''.join([])]",
    // Containers.
    "x = [3, 1, 2]\nx.sort(reverse=True)\nx.insert(1, 9)\nx.extend(range(2))\ny = x.copy()\ny.reverse()\ndel y[1:3]\ny[1:2] = [7, 7]\nreturn x, y, x.count(1), x * 2, x[::-2]",
    "x = list(range(10))\nx[::3] = 'abcd'\ndel x[-1]\nreturn x",
    "x = y = [1]\nx += [2]\nx = x + [3]\nreturn x, y, x is y",
    "x = [[0] * 2] * 2\nx[0][0] = 1\nreturn x",
    "d = {'a': 1, 'b': 2}\nd.update(c=3)\nd.update([('d', 4)])\nd['a'] = 9\nx = d.pop('b')\nreturn d, x, list(d.items()), list(d.values()), d.get('z'), d.setdefault('e', []), 'a' in d, len(d), {**d, 'a': 0}, d == {'c': 3}",
    "d = {}\nfor w in 'abca':\n    d[w] = d.get(w, 0) + 1\nreturn d, sorted(d, key=lambda k: (-d[k], k)), {v: k for k, v in d.items()}, max(d, key=d.get)",
    "d = {1: 'a', True: 'b', 1.0: 'c'}\nreturn d",
    "d = {'a': 1}\nfor k in d:\n    d['b'] = 2\nreturn d",
    "s = {1, 2, 3}\ns.add(2)\ns.discard(9)\nreturn sorted(s | {5}), sorted(s & {1, 9}), sorted(s - {1}), sorted(s ^ {1, 7}), s <= {1, 2, 3, 4}, s.isdisjoint({9}), len(s), frozenset([1]) == {1}",
    "a, (b, *c), d = 1, (2, 3, 4), 5\nreturn a, b, c, d, (*c, a), [*c, *'xy']",
    "return list(enumerate('ab', 1)), list(zip('ab', [1, 2, 3])), list(map(lambda x, y: x + y, [1, 2], [3, 4])), list(filter(None, [0, 1, '']))",
    "return [(x, y) for x in range(3) for y in range(x) if (x + y) % 2], {x: x * x for x in range(3)}, sorted({x % 2 for x in range(5)}), list(x for x in 'ab')",
    "return any([]), all([]), any(x > 2 for x in [1, 3]), sorted(['b', 'A', 'c'], key=str.lower), list(reversed([1, 2])), (1, 2) < (1, 3), [1, 2] == (1, 2)",
    "x = [1, 2, 3]\nfor i in x:\n    if i == 2:\n        break\nelse:\n    i = 99\nwhile x:\n    x.pop()\nelse:\n    i += 10\nreturn i",
    "return (y := 5) + y, [z for q in range(3) if (z := q * 2) > 1]",
    "return range(10)[3], len(range(0, 10, 3)), list(range(5, 0, -2)), 4 in range(0, 10, 2), range(3) == range(0, 3), sum(range(101))",
    // Functions, closures, generators.
    "def g(*a, k=1, **kw):\n    return a, k, kw\nreturn g(1, 2, k=3, z=4), g(*[1], **{'k': 5}), (lambda *a: a)(*'ab')",
    "def g(x, acc=[]):\n    acc.append(x)\n    return acc\ng(1)\nreturn g(2)",
    "fs = [lambda: i for i in range(3)]\nreturn [f() for f in fs]",
    "def c():\n    n = 0\n    def inc():\n        nonlocal n\n        n += 1\n        return n\n    return inc\na, b = c(), c()\na()\nreturn a(), b()",
    "def g(n):\n    for i in range(n):\n        x = yield i\n        if x:\n            yield x * 10\n    return 'end'\nit = g(3)\nout = [next(it), it.send(5), next(it)]\nreturn out + list(it)",
    "def a():\n    r = yield from b()\n    yield r\ndef b():\n    yield 1\n    yield 2\n    return 3\nreturn list(a())",
    "def g():\n    yield 1\n    raise StopIteration\nreturn list(g())",
    "def g():\n    try:\n        yield 1\n        yield 2\n    finally:\n        x = 1\nreturn [v for v in g()]",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nreturn fib(12)",
    "from functools import reduce, lru_cache, partial\n@lru_cache(maxsize=None)\ndef h(n):\n    return n if n < 2 else h(n - 1) + h(n - 2)\nreturn reduce(lambda a, b: a * b, [1, 2, 3], 10), h(40), partial(pow, 2)(5)",
    "import itertools as it\nreturn list(it.chain([1], 'a')), list(it.accumulate([1, 2, 3])), list(it.islice(it.count(5, 2), 3)), list(it.product('ab', [1, 2])), list(it.combinations([1, 2, 3], 2)), list(it.permutations([1, 2, 3], 2)), list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(it.pairwise('abc'))",
    "from collections import Counter, defaultdict, deque, OrderedDict, namedtuple\nc = Counter('abca')\nd = defaultdict(list)\nd['x'].append(1)\nq = deque([1, 2, 3], maxlen=3)\nq.append(4)\nq.appendleft(0)\nP = namedtuple('P', 'x y')\np = P(1, y=2)\nreturn c['a'], c['z'], c.most_common(1), dict(d), list(q), p.x + p[1], p == (1, 2), p._replace(x=5)",
    "import heapq, bisect\nh = [5, 1, 4]\nheapq.heapify(h)\nheapq.heappush(h, 0)\nreturn [heapq.heappop(h) for _ in range(4)], bisect.bisect([1, 2, 2, 3], 2), bisect.bisect_left([1, 2, 2, 3], 2), heapq.nlargest(2, [1, 5, 3])",
    "import copy\na = [[1], {'k': [2]}]\nb = copy.deepcopy(a)\nc = copy.copy(a)\na[0].append(9)\nreturn b, c",
    "import operator\nreturn operator.add(1, 2), sorted([(2, 'a'), (1, 'b')], key=operator.itemgetter(1)), operator.itemgetter(0, 1)('xyz')",
    "import string\nreturn string.ascii_lowercase[:3], string.digits, string.punctuation",
    // Classes.
    "class A:\n    n = 0\n    def __init__(self, v=1):\n        self.v = v\n        A.n += 1\n    def __repr__(self):\n        return f'A({self.v})'\n    def __eq__(self, o):\n        return isinstance(o, A) and self.v == o.v\n    def __lt__(self, o):\n        return self.v < o.v\n    def __len__(self):\n        return self.v\n    def __getitem__(self, i):\n        return i * 2\n    def __contains__(self, x):\n        return x == 7\n    def __call__(self, y):\n        return self.v + y\n    def __bool__(self):\n        return self.v != 5\n    def __iter__(self):\n        return iter([self.v])\n    def __add__(self, o):\n        return A(self.v + o.v)\n    def __radd__(self, o):\n        return A(o + self.v)\n    @staticmethod\n    def s(x):\n        return x\n    @classmethod\n    def c(cls):\n        return cls(42)\n    @property\n    def p(self):\n        return self.v\n    @p.setter\n    def p(self, v):\n        self.v = v\na = A(3)\na.p = 4\nreturn a, a == A(4), sorted([A(2), A(1)]), len(a), a[3], 7 in a, a(1), bool(A(5)), list(a), a + A(1), sum([A(1), A(2)], 0), A.s(9), A.c(), A.n, hasattr(a, 'zz'), getattr(a, 'zz', None)",
    "class A:\n    def m(self):\n        return 'A'\nclass B(A):\n    def m(self):\n        return 'B' + super().m()\nclass C(A):\n    def m(self):\n        return 'C' + super().m()\nclass D(B, C):\n    pass\nreturn D().m(), [c.__name__ for c in (type(D()),)], isinstance(D(), A), issubclass(B, C)",
    "class E(ValueError):\n    def __init__(self, code):\n        super().__init__(f'code {code}')\n        self.code = code\ntry:\n    raise E(7)\nexcept ValueError as e:\n    return e.code, str(e), isinstance(e, E)",
    "from dataclasses import dataclass, field\n@dataclass(frozen=True, order=True)\nclass P:\n    x: int\n    y: int = 0\n    tags: list = field(default_factory=list)\nassert P(1) == P(1, 0)\ntry:\n    P(1).x = 5\nexcept AttributeError as e:\n    m = str(e)\nreturn P(1, 2), P(1) < P(2), m",
    "from enum import Enum, IntEnum, auto\nclass C(Enum):\n    RED = 1\n    BLUE = auto()\n    ALSO = 1\nclass N(IntEnum):\n    ONE = 1\nreturn C.RED, C(2), C['BLUE'].name, C.ALSO is C.RED, [c.value for c in C], N.ONE + 1, C.RED == 1, len(C), str(C.BLUE)",
    "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 5\n    def s(self):\n        return self.x + self.y\na, b = P(1)\nreturn P(1), a + b, P(2, 3).s(), P(1)[0], len(P(1)), P(1) < P(2)",
    "class M:\n    def __enter__(self):\n        return 5\n    def __exit__(self, t, v, tb):\n        return t is ValueError\nwith M() as m:\n    x = m\n    raise ValueError\nwith M():\n    pass\nreturn x",
    "class I:\n    def __init__(self, n):\n        self.n = n\n    def __iter__(self):\n        return self\n    def __next__(self):\n        if self.n <= 0:\n            raise StopIteration\n        self.n -= 1\n        return self.n\nreturn list(I(3)), sum(I(4)), max(I(3)), 2 in I(3), dict(zip('abc', I(3)))",
    "from abc import ABC, abstractmethod\nclass S(ABC):\n    @abstractmethod\n    def a(self): ...\nclass T(S):\n    def a(self):\n        return 1\nx = T().a()\nS()",
    // match.
    "def g(v):\n    match v:\n        case 0 | 1:\n            return 'small'\n        case int(x) if x > 100:\n            return f'big {x}'\n        case [a, b]:\n            return a + b\n        case [a, *rest]:\n            return rest\n        case {'k': val, **other}:\n            return val, other\n        case str():\n            return 'text'\n        case None:\n            return 'none'\n        case (True | False) as t:\n            return t\n        case _:\n            return 'else'\nreturn [g(x) for x in (0, 1, 500, [1, 2], (1, 2, 3), {'k': 1, 'z': 2}, 'q', None, 3.5, {}, [])]",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\ndef g(v):\n    match v:\n        case P(0, y):\n            return y\n        case P(x=x, y=0):\n            return x\n        case P():\n            return 'p'\nreturn g(P(0, 1)), g(P(2, 0)), g(P(3, 3)), g(5)",
    "x: int = 5\ny: 'str'\ndel x\nreturn x",
    "global zz\nzz = 4\nreturn zz",
    "return type(1).__name__, isinstance(True, int), isinstance(1, (str, int)), type([]) is list, callable(len), issubclass(bool, int)",
    "x = 0\nfor x in range(3): pass\nreturn x, [x for x in 'q'], x",
    "if True: y = 1\nelse: z = 2\nreturn z",
    "return not [], [] or 'd', 0 and 1, None is None, 1 if [] else 2, (1, 2)[1], -2 ** 2, 2 ** 3 ** 2",
];

fn module(text: &str) -> String {
    let body: String = text.lines().map(|line| format!("    {line}\n")).collect();
    format!("def f():\n{body}")
}

#[test]
fn written_programs() {
    let python = Python::start();
    let codes: Vec<String> = PROGRAMS.iter().map(|text| module(text)).collect();
    let requests: Vec<_> = codes.iter().map(|code| json!({"code": code, "args": []})).collect();
    let answers = python.ask(&json!({ "batch": requests }));
    let mut wrong = Vec::new();
    for (code, answer) in codes.iter().zip(answers.as_array().expect("answers")) {
        let text = |index: usize| answer[index].as_str().unwrap_or_default().to_owned();
        let theirs = match text(0).as_str() {
            "returned" => Evaluation::Returned(text(1)),
            _ => Evaluation::Raised(text(1), Some(text(2))),
        };
        let program = Program::parse(code).unwrap_or_else(|problem| panic!("{problem:?}: {code}"));
        let ours = evaluate(&program, "f", &[], 200_000);
        if ours != theirs {
            wrong.push(format!("{code}ours   {ours:?}\ntheirs {theirs:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), codes.len(), wrong.join("\n"));
}
