"""CrossHair, called directly in one warm process: one line of JSON in, one out. Run by its own environment's Python.

    {"code": …, "function": …, "seconds": …}            → the verdict on the function's contract
    {"code": …, "a": …, "b": …, "seconds": …}           → whether two functions differ

Verdicts are CrossHair's own: confirmed, counterexample, unknown (it says neither), nothing (it finds nothing to check).
"""

import importlib
import json
import pathlib
import sys
import tempfile
import time

from crosshair.core_and_libs import MessageType, analyze_function, run_checkables
from crosshair.diff_behavior import ExceptionEquivalenceType, diff_behavior
from crosshair.fnutil import FunctionInfo
from crosshair.options import DEFAULT_OPTIONS, AnalysisKind, AnalysisOptionSet

FOUND = (MessageType.POST_FAIL, MessageType.POST_ERR, MessageType.EXEC_ERR)


def load(folder, number, code):
    name = f"case_{number}"
    (folder / f"{name}.py").write_text(code)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def check(module, request):
    kinds = [AnalysisKind.PEP316, AnalysisKind.asserts, AnalysisKind.icontract, AnalysisKind.deal]
    kinds = [kind for kind in kinds if request.get("kind") in (None, kind.name)]
    options = AnalysisOptionSet(
        per_condition_timeout=request["seconds"], per_path_timeout=request["seconds"] / 2, analysis_kind=kinds,
        report_all=True,
    )
    function = FunctionInfo.from_module(module, request["function"]) if "." not in request["function"] else None
    if function is None:
        return "nothing", []
    messages = run_checkables(analyze_function(function, options))
    states = [message.state for message in messages]
    messages = [f"{message.state.name}: {message.message}" for message in messages]
    if any(state in FOUND for state in states):
        return "counterexample", messages
    if states and all(state == MessageType.CONFIRMED for state in states):
        return "confirmed", messages
    return ("unknown" if states else "nothing"), messages


def compare(module, request):
    a, b = (FunctionInfo.from_module(module, request[name]) for name in ("a", "b"))
    options = DEFAULT_OPTIONS.overlay(AnalysisOptionSet(per_condition_timeout=request["seconds"], per_path_timeout=request["seconds"] / 2))
    found = diff_behavior(a, b, options, ExceptionEquivalenceType.SAME_TYPE)
    if isinstance(found, str):
        return "unknown", [found]
    return ("counterexample" if found else "unknown"), [str(one) for one in found[:1]]


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        sys.path.insert(0, place)
        for number, line in enumerate(sys.stdin):
            request = json.loads(line)
            began = time.monotonic()
            try:
                module = load(folder, number, request["code"])
                verdict, messages = compare(module, request) if "a" in request else check(module, request)
            except BaseException as error:
                verdict, messages = "error", [f"{type(error).__name__}: {error}"]
            answer = {"verdict": verdict, "seconds": time.monotonic() - began, "told": [text[:300] for text in messages]}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
