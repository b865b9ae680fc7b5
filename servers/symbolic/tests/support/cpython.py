"""Runs calls in this Python. One JSON object per line in, one per line out."""

import copy
import json
import resource
import signal
import sys
import traceback
import types


def namespace(code, request=None, sides=None):
    for name in ("icontract", "deal"):
        sys.modules.setdefault(name, inert(name))
    module = types.ModuleType("analysed")
    sys.modules["analysed"] = module
    if request is not None:
        code = sides.watching(request, module.__dict__)
    exec(compile(code, "<analysed>", "exec"), module.__dict__)
    return module.__dict__


def inert(name):
    module = types.ModuleType(name)

    def decorator(*args, **kwargs):
        return lambda function: function

    module.__getattr__ = lambda attribute: decorator
    return module


def run(request):
    sides = Sides()
    names = namespace(request["code"], request, sides)
    function = names
    for index, part in enumerate(request["function"].split(".")):
        function = function[part] if index == 0 else getattr(function, part)
    args = [eval(text, names) for text in request["args"]]
    kwargs = {name: eval(text, names) for name, text in request["kwargs"]}
    import inspect

    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        local = dict(bound.arguments)
    except TypeError:
        local = {}
    old = types.SimpleNamespace(**copy.deepcopy(local))
    outcomes = []
    for condition in request["conditions"]:
        if condition["before"]:
            outcomes.append(evaluate(condition, names, local, old))
    answer = {}
    try:
        result = function(*args, **kwargs)
        answer["returned"] = [repr(result), type(result).__name__]
    except BaseException as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<analysed>"]
        answer["raised"] = [
            type(error).__name__,
            [c.__name__ for c in type(error).__mro__],
            str(error),
            frames[-1].lineno if frames else None,
        ]
    local.update({"_": None, "__old__": old, "OLD": old})
    if "returned" in answer:
        local.update({"_": result, "__return__": result, "result": local.get("result", result)})
    for condition in request["conditions"]:
        if not condition["before"]:
            outcomes.append(evaluate(condition, names, local, old) if "returned" in answer else "none")
    answer["conditions"] = outcomes
    answer["after"] = [repr(value) for value in args]
    answer["sides"] = sorted(sides.taken)
    return answer


def evaluate(condition, names, local, old):
    try:
        value = eval(condition["text"], {**names, **local})
    except BaseException as error:
        return "!" + type(error).__name__
    if condition["snapshot"]:
        setattr(old, condition["snapshot"], value)
        return "holds"
    return "holds" if value else "fails"


class TooLong(BaseException):
    pass


def too_long(*_):
    raise TooLong


def batch(requests):
    """Many plain calls: repr, or class and text of the exception."""
    signal.signal(signal.SIGALRM, too_long)
    return [one(request) for request in requests]


def one(request):
    try:
        signal.setitimer(signal.ITIMER_REAL, request.get("seconds", 0.1))
        try:
            names = namespace(request["code"])
            args = [eval(text, names) for text in request["args"]]
            return ["returned", repr(names["f"](*args))]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (TooLong, MemoryError):
        return ["skipped"]
    except BaseException as error:
        return ["raised", type(error).__name__, str(error)]


resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = batch(request["batch"]) if "batch" in request else run(request)
    except BaseException as error:
        answer = {"broken": repr(error)}
    print(json.dumps(answer), flush=True)
