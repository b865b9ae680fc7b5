"""Calls with known truth. Each case says what is true, and why; nothing here was taken from what a tool answered.

A case is one call of one tool. `truth` is the status that is right. An honest "not decided" would be no mistake, but all of
them are decided, and have to stay so.
"""

import textwrap

CASES = []


class Case:
    def __init__(self, name, tool, truth, why, arguments, **expected):
        self.name, self.tool, self.truth, self.why, self.arguments, self.expected = name, tool, truth, why, arguments, expected


def add(name, tool, truth, why, code, arguments, **expected):
    if code is not None:
        arguments = {"code": textwrap.dedent(code).strip() + "\n", **arguments}
    assert all(case.name != name for case in CASES), name
    CASES.append(Case(name, tool, truth, why, arguments, **expected))


def holds(name, code, why, function="f", **expected):
    """Every input keeps the contract."""
    add(name, "symbolic_check", "verified", why, code, {"function_name": function}, **expected)


def breaks(name, code, why, function="f", **expected):
    """Some input breaks the contract."""
    add(name, "symbolic_check", "counterexample", why, code, {"function_name": function}, **expected)


def raises(name, code, exception, why, function="f", **expected):
    """Some input raises it. `lines`: every line it comes from."""
    arguments = {"function_name": function, "exception_type": exception}
    add(name, "find_path_to_exception", "found", why, code, arguments, **expected)


def never(name, code, exception, why, function="f", **expected):
    """No input raises it."""
    arguments = {"function_name": function, "exception_type": exception}
    add(name, "find_path_to_exception", "unreachable", why, code, arguments, **expected)


def same(name, code, why, a="f", b="g", **expected):
    add(name, "compare_functions", "equivalent", why, code, {"function_a": a, "function_b": b}, **expected)


def differ(name, code, why, a="f", b="g", **expected):
    add(name, "compare_functions", "different", why, code, {"function_a": a, "function_b": b}, **expected)


def branches(name, code, why, sides, dead=(), complexity=None, function="f"):
    """`sides`: for each branch, in order of lines, line, whether it can be true, whether it can be false."""
    arguments = {"function_name": function, "symbolic_reachability": True}
    add(name, "analyze_branches", "complete", why, code, arguments, sides=sides, dead=list(dead), complexity=complexity)


def listed(name, code, why, lines, complexity, function="f"):
    """Branches by syntax alone."""
    add(name, "analyze_branches", "complete", why, code, {"function_name": function}, lines=lines, complexity=complexity)


def refused(name, tool, arguments, error_type, message, why):
    add(name, tool, "error", why, None, arguments, error_type=error_type, message=message)


from . import classes, compared, containers, contracts, control, floats, numbers, refusals, text  # noqa: E402, F401
from . import branching, modules, patterns, shared, unbounded  # noqa: E402, F401
