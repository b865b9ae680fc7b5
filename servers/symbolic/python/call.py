# One call of one function, with what is to be known around it. Follows watch.py.
class Old:
    """Parameters as they were before the call."""


class Run:
    def __init__(self, request):
        import linecache
        import types

        self.request = request
        self.module = types.ModuleType("code")
        self.space = self.module.__dict__
        sys.modules["code"] = self.module
        linecache.cache["<code>"] = (len(request["code"]), None, request["code"].splitlines(True), "<code>")
        self.outcomes = [None] * len(request["conditions"])
        self.sides = Sides()
        self.old = Old()

    def answer(self):
        try:
            exec(compile(self.sides.watching(self.request, self.space), "<code>", "exec", dont_inherit=True), self.space)
        except MemoryError:
            return {"problem": "memory"}
        except BaseException as error:
            return {"problem": "load", "class": type(error).__name__, "line": line_of(error)}
        function, arguments, options = self.prepare()
        names = self.names(function, arguments, options)
        self.look(names, before=True)
        returned = raised = None
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + 8)  # our own frames are not the function's
        try:
            returned = function(*arguments, **options)
        except BaseException as error:
            raised = error
        sys.setrecursionlimit(limit)
        if isinstance(raised, MemoryError) and not is_raised_by_code(raised):
            return {"problem": "memory"}
        if raised is None:
            names.update({"_": returned, "__return__": returned, "result": returned})
            self.look(names, before=False)
        return self.result(names, returned, raised)

    def prepare(self):
        """The function, and what it is called with, made inside the module."""
        function = self.space
        for step in self.request["function"].split("."):
            function = function[step] if function is self.space else getattr(function, step)
        unlimited = Digits()
        arguments = [eval(text, self.space) for text in self.request["args"]]
        options = {name: eval(text, self.space) for name, text in self.request["kwargs"]}
        unlimited.restore()
        return function, arguments, options

    def names(self, function, arguments, options):
        import copy
        import inspect

        try:
            bound = inspect.signature(function).bind(*arguments, **options)
        except (TypeError, ValueError):
            return {}
        bound.apply_defaults()
        self.parameters = list(bound.arguments)
        # What goes into the call must be the very objects that are looked at.
        if self.request["conditions"]:
            for name, value in bound.arguments.items():
                try:
                    setattr(self.old, name, copy.deepcopy(value))
                except Exception:
                    pass
        return dict(bound.arguments)

    def look(self, names, before):
        for place, condition in enumerate(self.request["conditions"]):
            if condition["before"] != before:
                continue
            space = {**self.space, **names, "__old__": self.old, "OLD": self.old}
            try:
                value = eval(condition["text"].strip(), space)
                if condition["snapshot"] is not None:
                    setattr(self.old, condition["snapshot"], value)
                    value = True
                self.outcomes[place] = "holds" if value else "fails"
            except BaseException as error:
                self.outcomes[place] = ["raised", type(error).__name__]

    def result(self, names, returned, raised):
        unlimited = Digits()
        after = [shown(names[name]) for name in getattr(self, "parameters", []) if name in names]
        result = {"args_after": after, "conditions": self.outcomes, "sides": sorted(self.sides.taken)}
        if raised is None:
            result["returned"] = {"repr": shown(returned), "type": type(returned).__name__, "value": Data(self.space).of(returned)}
        else:
            result["raised"] = {
                "class": type(raised).__name__,
                "mro": [base.__name__ for base in type(raised).__mro__],
                "message": message_of(raised),
                "line": line_of(raised),
                "traceback": traceback_of(raised),
            }
        unlimited.restore()
        return result


class Digits:
    """Integers of any length may be written, until restored."""

    def __init__(self):
        self.before = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else None
        if self.before is not None:
            sys.set_int_max_str_digits(0)

    def restore(self):
        if self.before is not None:
            sys.set_int_max_str_digits(self.before)


def shown(value):
    import re

    try:
        text = repr(value)
    except BaseException as error:
        text = "<%s without repr: %s>" % (type(value).__name__, type(error).__name__)
    return re.sub(r" at 0x[0-9a-fA-F]+", " at 0x0", text)[:65536].encode("utf-8", "backslashreplace").decode("utf-8")


def message_of(error):
    try:
        return str(error)[:4096].encode("utf-8", "backslashreplace").decode("utf-8")
    except BaseException:
        return ""


def frames_of(error):
    frame, found = error.__traceback__, []
    while frame is not None:
        code = frame.tb_frame.f_code
        if code.co_filename == "<code>":
            found.append((frame.tb_lineno, code.co_name))
        frame = frame.tb_next
    return found


def line_of(error):
    if isinstance(error, SyntaxError) and error.filename == "<code>":
        return error.lineno
    found = frames_of(error)
    return found[-1][0] if found else None


def is_raised_by_code(error):
    import linecache

    line = line_of(error)
    return line is not None and "raise" in linecache.getline("<code>", line)


def traceback_of(error):
    import linecache

    found = frames_of(error)
    if len(found) > 40:
        found = found[:20] + [None] + found[-20:]
    lines = ["Traceback (most recent call last):"]
    for frame in found:
        if frame is None:
            lines.append("  ...")
            continue
        lines.append('  File "<code>", line %d, in %s' % frame)
        source = linecache.getline("<code>", frame[0]).strip()
        if source:
            lines.append("    " + source)
    message = message_of(error)
    lines.append(type(error).__name__ + (": " + message if message else ""))
    return "\n".join(lines)


class Data:
    """A value as data, or nothing where it is more than that."""

    def __init__(self, space):
        self.space, self.left = space, 20000

    def of(self, value):
        try:
            return self.written(value, 0)
        except (Opaque, RecursionError):
            return None

    def written(self, value, depth):
        import enum

        self.left -= 1
        if self.left < 0 or depth > 60:
            raise Opaque
        kind, deeper = type(value), lambda item: self.written(item, depth + 1)
        if value is None:
            return {"n": 0}
        if kind is bool:
            return value
        if kind is int:
            return {"i": str(value)}
        if kind is float:
            return {"f": repr(value)}
        if kind is str:
            self.left -= len(value) // 8
            return {"s": [ord(point) for point in value]} if any(0xD800 <= ord(p) < 0xE000 for p in value) else value
        if kind is bytes:
            return {"b": list(value)}
        if kind in (list, tuple, set, frozenset):
            return {{list: "l", tuple: "t", set: "S", frozenset: "F"}[kind]: [deeper(item) for item in value]}
        if kind is dict:
            return {"d": [[deeper(key), deeper(item)] for key, item in value.items()]}
        # What the code imported may keep what it holds elsewhere than in attributes: a counter, a date.
        if self.space.get(kind.__name__) is not kind or kind.__module__ != "code":
            raise Opaque
        if isinstance(value, enum.Enum) and value.name:
            return {"e": [kind.__name__, value.name]}
        return {"c": [kind.__name__, [[name, deeper(item)] for name, item in self.fields(value, kind)]]}

    def fields(self, value, kind):
        import dataclasses

        if dataclasses.is_dataclass(kind):
            return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(kind) if field.init]
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return list(zip(kind._fields, value))
        if not hasattr(value, "__dict__"):
            raise Opaque
        return sorted(vars(value).items())


class Opaque(Exception):
    pass


serve()
