"""Runs single calls in CPython: does the call keep the contract, raise, or differ?

It knows contracts in its own way and shares nothing with the engine. Run as a program it makes many calls:

    oracle.py < job.json > result.json

The job has `kind` (check, exception, compare), `code`, `functions`, `exception`, and either `calls` (to be judged one by
one) or `count` (so many inputs, boundaries and random ones, none of which may show a violation).
"""

import ast
import builtins
import copy
import datetime
import enum
import fractions
import json
import math
import random
import signal
import sys
import types
import typing


class Skip(Exception):
    """The precondition does not hold, so the function may do anything."""


class Violation(Exception):
    pass


class Slow(BaseException):
    """A call that takes too long: random inputs may cause a loop of a billion rounds."""


PATIENCE = 0.05  # seconds of the processor for one call, and at most twice as many: a busy machine changes nothing


class Watch:
    """Ends calls that take too long. One timer ticks for all of them: setting one for every call would take longer than most
    calls do."""

    number = 0  # of the call under way; none is when it is even
    seen = 0  # at the last tick

    def start(self):
        signal.signal(signal.SIGPROF, self.tick)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE, PATIENCE)

    def stop(self):
        signal.setitimer(signal.ITIMER_PROF, 0)

    def tick(self, *_):
        if self.number & 1 and self.number == self.seen:
            raise Slow
        self.seen = self.number


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def conditions(kind):
    def decorator(condition, *_, **__):
        def decorate(decorated):
            decorated._conditions = [*vars(decorated).get("_conditions", []), (kind, condition)]
            return decorated
        return decorate
    return decorator


stand_in("icontract", require=conditions("pre"), ensure=conditions("post"), invariant=conditions("inv"))
stand_in("deal", pre=conditions("pre"), post=conditions("result"), ensure=conditions("post"), inv=conditions("inv"))


def invariants(kind, module):
    """The invariants of a class, as functions of an instance."""
    found = []
    for above in getattr(kind, "__mro__", ()):
        for line in (above.__doc__ or "").splitlines():
            mark, colon, text = line.strip().partition(":")
            if colon and mark == "inv":
                found.append(eval(f"lambda self: ({text.strip()})", module))
        found += [condition for mark, condition in vars(above).get("_conditions", []) if mark == "inv"]
    return found


class Whole(dict):
    """The single argument of deal's conditions: its members as attributes and as items."""

    __getattr__ = dict.__getitem__


class Contract:
    """The contract of one function."""

    def __init__(self, module, name, source):
        self.module, self.name = module, name
        body, owner, short = ast.parse(source).body, None, name
        self.function = module.get(name)
        if "." in name:
            owner, _, short = name.partition(".")
            body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == owner).body
            self.function = getattr(module[owner], short)
        self.node = next(n for n in body if isinstance(n, ast.FunctionDef) and n.name == short)
        self.allowed, pre, post = (), [], []
        for line in (ast.get_docstring(self.node) or "").splitlines():
            kind, colon, text = line.strip().partition(":")
            if colon and kind == "pre":
                pre.append(text.strip())
            elif colon and kind == "post":
                post.append(text.strip())
            elif colon and kind == "raises":
                names = [part.strip() for part in text.split(",")]
                self.allowed += tuple(module.get(n) or getattr(builtins, n) for n in names)
        body = self.node.body[1:] if ast.get_docstring(self.node) else self.node.body
        for statement in body:
            if not isinstance(statement, ast.Assert):
                break
            pre.append(ast.unparse(statement.test))
        self.parameters = [a.arg for a in self.node.args.posonlyargs + self.node.args.args + self.node.args.kwonlyargs]
        self.hints = typing.get_type_hints(self.function, module)
        if owner:
            self.hints[self.parameters[0]] = module[owner]
        self.promised = [(name, one) for name in self.parameters for one in invariants(self.hints.get(name), module)]
        self.receiver = self.parameters[0] if owner else None
        # Conditions are compiled once, because they are evaluated for a hundred thousand calls.
        known = ", ".join(self.parameters)
        after = ", ".join([*self.parameters, "_", "__return__", "__old__"])
        self.pre = [eval(f"lambda {known}: ({text})", module) for text in pre]
        self.post = [eval(f"lambda {after}: ({text})", module) for text in post]
        self.needs_old = any("__old__" in text for text in post)

    def admits(self, values):
        if not all(one(values[name]) for name, one in self.promised):
            return False
        for condition in self.pre:
            try:
                if not condition(**values):
                    return False
            except Exception:
                return False
        for kind, condition in getattr(self.function, "_conditions", []):
            if kind == "pre" and not condition(**{n: values[n] for n in condition.__code__.co_varnames[: condition.__code__.co_argcount]}):
                return False
        return True

    def judge(self, values):
        """Skip, Violation, or nothing."""
        if not self.admits(values):
            raise Skip
        old = types.SimpleNamespace(**copy.deepcopy(values)) if self.needs_old else None
        try:
            result = self.function(**values)
        except Slow:
            raise
        except BaseException as error:
            if isinstance(error, self.allowed):
                return
            raise Violation(f"{type(error).__name__}: {error}") from None
        for condition in self.post:
            if not condition(**values, _=result, __return__=result, __old__=old):
                raise Violation(f"postcondition, result {result!r}")
        if not all(one(values[name]) for name, one in self.promised if name == self.receiver):
            raise Violation("invariant")
        for kind, condition in getattr(self.function, "_conditions", []):
            if kind == "result" and not condition(result):
                raise Violation(f"post, result {result!r}")
            if kind == "post":
                wanted = condition.__code__.co_varnames[: condition.__code__.co_argcount]
                known = {**values, "result": result}
                known["_"] = Whole(known)
                if not condition(**{n: known[n] for n in wanted}):
                    raise Violation(f"ensure, result {result!r}")


def copied(values):
    """A copy in which every mutable object is a new one."""
    if all(isinstance(value, (int, float, str, type(None), enum.Enum)) for value in values.values()):
        return dict(values)
    return copy.deepcopy(values)


def outcome(function, values):
    """The outcome of a call, in a form for strict comparison."""
    values = copied(values)
    try:
        result = ("returned", strict(function(**values)))
    except Slow:
        raise
    except BaseException as error:
        result = ("raised", type(error).__name__)
    return result, strict(list(values.values()))


def strict(value):
    """Equal only for values of the same type, at every depth."""
    if isinstance(value, float):
        return ("float", "nan" if value != value else value.hex())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [strict(item) for item in value])
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, sorted(repr(strict(item)) for item in value))
    if isinstance(value, dict):
        return ("dict", [(strict(k), strict(v)) for k, v in value.items()])
    return (type(value).__name__, repr(value))


class Inputs:
    """Values of annotated types: the edges of each, constants of the code and their neighbours, and random ones."""

    def __init__(self, module, source, seed=20261115):
        self.random = random.Random(seed)
        self.module = module
        constants = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)]
        numbers = {c for c in constants if type(c) in (int, float)}
        whole = {int(n) for n in numbers if math.isfinite(n)}
        self.ints = sorted({0, 1, -1, 2, -2, 3, 7, 10, 2**31, 2**53, 2**53 + 1, 2**63, -(2**63), 2**64, 10**30}
                           | {n + d for n in whole for d in (-1, 0, 1)} | {-n for n in whole} | {n // 2 for n in whole})
        self.floats = [0.0, -0.0, 1.0, -1.0, 0.1, 0.2, 0.3, 1.5, math.nan, math.inf, -math.inf, 5e-324, 1e16, 1.7e308, -1e308,
                       2.2250738585072014e-308, 4503599627370496.5] + [float(n) for n in numbers if abs(n) < 1e308]
        letters = {c for text in constants if isinstance(text, str) and len(text) <= 12 for c in text}
        self.texts = [t for t in constants if isinstance(t, str) and len(t) <= 12]
        self.letters = sorted(letters | set("ab z,. \t\n09AZ\u00df\u0130\u0131\u00b2\u0660\u1e9e\ufb01\u2167\u3000\U0001d7d8\U0010ffff\u0345"))

    def maker(self, kind):
        """A function that makes values of a type."""
        choose, length = self.random.choice, self.length
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if kind is bool:
            return lambda: choose((False, True))
        if kind is int:
            return self.integer
        if kind is float:
            return self.float
        if kind is str:
            return self.text
        if kind is type(None) or kind is None:
            return lambda: None
        if kind is fractions.Fraction:
            return lambda: fractions.Fraction(self.integer(), self.integer() or 1)
        if kind is datetime.date:
            last = datetime.date.max.toordinal()
            return lambda: datetime.date.fromordinal(self.random.randint(1, last))
        if kind is datetime.timedelta:
            return lambda: datetime.timedelta(self.random.randint(-9999, 9999), self.random.randrange(86400), self.random.randrange(10**6))
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            members = list(kind)
            return lambda: choose(members)
        if origin is typing.Literal:
            return lambda: choose(parts)
        if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields"):
            hints = typing.get_type_hints(kind)
            fields = [(name, self.maker(hints[name])) for name in getattr(kind, "_fields", None) or kind.__dataclass_fields__]
            return lambda: kind(**{name: make() for name, make in fields})
        if origin is tuple and parts[-1:] == (...,):
            make = self.maker(parts[0])
            return lambda: tuple(make() for _ in range(length()))
        makers = [self.maker(part) for part in parts]
        if origin is list:
            return lambda: [makers[0]() for _ in range(length())]
        if origin is set:
            return lambda: {makers[0]() for _ in range(length())}
        if origin is frozenset:
            return lambda: frozenset(makers[0]() for _ in range(length()))
        if origin is dict:
            return lambda: {makers[0](): makers[1]() for _ in range(length())}
        if origin is tuple:
            return lambda: tuple(make() for make in makers)
        if origin in (typing.Union, types.UnionType):
            return lambda: choose(makers)()
        if isinstance(kind, type) and kind.__module__ == "corpus_case":
            hints = typing.get_type_hints(kind.__init__)
            hints.pop("return", None)
            fields = [(name, self.maker(hint)) for name, hint in hints.items()]
            return lambda: kind(**{name: make() for name, make in fields})
        raise TypeError(f"no values of {kind}")

    def length(self):
        return self.random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))

    is_calm = False  # no large integers: the function makes a round for each

    def integer(self):
        roll = self.random.random()
        if self.is_calm:
            return self.random.randint(-2000, 2000) if roll < 0.2 else self.random.randint(-20, 40)
        if roll < 0.35:
            return self.random.choice(self.ints)
        if roll < 0.75:
            return self.random.randint(-20, 40)
        if roll < 0.9:
            return self.random.randint(-2000, 2000)
        return self.random.randint(-(2**70), 2**70)

    def float(self):
        roll = self.random.random()
        if roll < 0.35:
            return self.random.choice(self.floats)
        if roll < 0.7:
            return self.random.uniform(-100.0, 100.0)
        if roll < 0.8:
            return float(self.random.randint(-1000, 1000))
        import struct
        return struct.unpack("<d", struct.pack("<Q", self.random.getrandbits(64)))[0]

    def text(self):
        roll = self.random.random()
        if roll < 0.15 and self.texts:
            return self.random.choice(self.texts)
        letters = [self.random.choice(self.letters) for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 2, 3, 4)))]
        if roll > 0.85 and letters:
            point = self.random.randrange(0x110000)
            letters[0] = chr(point if not 0xD800 <= point < 0xE000 else 0x41)
        return "".join(letters)


def is_plain_type(kind):
    """Whether values of a type cannot be changed, and are written in full by repr."""
    return kind in (bool, int, float, str, None, type(None)) or (
        typing.get_origin(kind) in (typing.Union, types.UnionType, tuple)
        and all(part is ... or is_plain_type(part) for part in typing.get_args(kind))
    )


def load(code):
    module = types.ModuleType("corpus_case")
    sys.modules["corpus_case"] = module
    exec(compile(code, "<code>", "exec"), module.__dict__)
    return module.__dict__


class Judge:
    def __init__(self, job):
        self.job, self.kind, self.source = job, job["kind"], job["code"]
        self.module = load(self.source)
        self.contracts = [Contract(self.module, name, self.source) for name in job["functions"]]
        if self.kind == "exception":
            name = job["exception"]
            self.wanted = self.module.get(name) or getattr(builtins, name)

    def shows(self, values):
        """The finding for this input: a violation, the exception or a difference; `None` without one."""
        first = self.contracts[0]
        if self.kind == "check":
            try:
                return first.judge(values)
            except Skip:
                raise
            except Violation as found:
                return str(found)
        if not all(contract.admits(copied(values)) for contract in self.contracts):
            raise Skip
        if self.kind == "exception":
            try:
                first.function(**values)
            except Slow:
                raise
            except BaseException as error:
                return type(error).__name__ if isinstance(error, self.wanted) else None
            return None
        results = [outcome(contract.function, values) for contract in self.contracts]
        return None if results[0] == results[1] else f"{results[0]} against {results[1]}"

    def attack(self, count):
        """Tries `count` inputs. The outcome of a repeated input is reused."""
        first = self.contracts[0]
        hints = first.hints
        inputs, tried, skipped, slow = Inputs(self.module, self.source), 0, 0, 0
        names = first.parameters
        makers = [inputs.maker(hints[name]) for name in names]
        if not makers:
            count = 1
        watch, seen, is_plain = Watch(), {}, all(is_plain_type(hints[name]) for name in names)
        watch.start()
        while tried < count and skipped < 40 * count:
            try:
                row = tuple([make() for make in makers])
            except (ValueError, TypeError, AssertionError, ArithmeticError):
                skipped += 1  # a value its constructor refuses
                continue
            # Equal is not the same: True is 1, and 0.0 is -0.0.
            key = repr(row) if is_plain else None
            if key in seen:
                known = seen[key]
                tried, skipped = tried + known, skipped + 1 - known
                if skipped > 2_000 and tried == 0:
                    break
                continue
            values, shown = dict(zip(names, row)), None
            try:
                watch.number += 1
                shown = self.shows(values if is_plain else copied(values))
                watch.number += 1
            except (Skip, Slow) as why:
                watch.number += watch.number & 1
                skipped += 1
                slow += isinstance(why, Slow)
                if key is not None:
                    seen[key] = 0
                inputs.is_calm = slow > 20
                if (skipped > 2_000 and tried == 0) or slow > 100:
                    break
                continue
            tried += 1
            if key is not None:
                seen[key] = 1
            if shown is not None:
                watch.stop()
                return {"tried": tried, "skipped": skipped, "violation": f"{row!r}: {shown}"}
        watch.stop()
        return {"tried": tried, "skipped": skipped, "violation": None}

    def replay(self, call):
        """The finding for a call, given as source."""
        # The call may contain an integer that is too long for Python's limit, so the limit is off while it is parsed.
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        tree = ast.parse(call, mode="eval").body
        sys.set_int_max_str_digits(limit)
        space = {**self.module, "nan": math.nan, "inf": math.inf}
        # One namespace for all arguments: an object that is passed twice is assigned to a name.
        value = lambda node: eval(compile(ast.Expression(node), "<call>", "eval"), space)  # noqa: E731
        values = dict(zip(self.contracts[0].parameters, [value(a) for a in tree.args]))
        values.update({k.arg: value(k.value) for k in tree.keywords})
        try:
            return self.shows(values)
        except Skip:
            return "SKIPPED: the precondition does not hold"


def main():
    job = json.load(sys.stdin)
    sys.setrecursionlimit(1000)
    judge = Judge(job)
    if "calls" in job:
        json.dump([judge.replay(call) for call in job["calls"]], sys.stdout)
    else:
        json.dump(judge.attack(job["count"]), sys.stdout)


if __name__ == "__main__":
    main()
