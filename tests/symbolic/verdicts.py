"""The corpus: checks every verdict. A call without a verdict fails."""

import json
import time

import corpus

DECIDED = {"verified", "counterexample", "found", "unreachable", "equivalent", "different", "complete", "healthy"}
FIELDS = {
    "symbolic_check": ["counterexamples", "paths_explored", "paths_verified", "time_seconds", "coverage_estimate"],
    "find_path_to_exception": ["triggering_inputs", "paths_to_exception", "total_paths_explored", "time_seconds"],
    "compare_functions": ["distinguishing_input", "paths_compared", "confidence", "time_seconds"],
    "analyze_branches": ["branches", "total_branches", "reachable_branches", "dead_code_lines", "cyclomatic_complexity",
                         "time_seconds", "analysis_mode"],
    "health_check": ["version", "python_version", "solver", "solver_version", "platform", "memory_usage_mb"],
}
PROOF = ["exhaustive", "paths", "bounds_hit", "unsupported", "assumptions", "solver", "budget_used", "replayed"]
SECONDS = 20  # for a call that says nothing else: enough for a busy machine; what is not decided by then is counted as such
UNDECIDED_ERRORS = ("TimeoutError", "UnsupportedConstruct")


class Answer:
    def __init__(self, case, result, took):
        self.case, self.result, self.took = case, result, took
        self.told = result["structuredContent"]
        self.status = self.told["status"]

    def is_undecided(self):
        """An inconclusive verdict: time, a bound, an unsupported construct."""
        if self.case.truth == "error":
            return False
        return self.status == "timeout" or (self.status == "error" and self.told.get("error_type") in UNDECIDED_ERRORS)


def ask_all(server):
    answers = {}
    for case in corpus.CASES:
        arguments = dict(case.arguments)
        if case.truth not in ("error", "healthy"):
            arguments.setdefault("timeout_seconds", SECONDS)
        began = time.monotonic()
        result = server.call(case.tool, **arguments)["result"]
        answers[case.name] = Answer(case, result, time.monotonic() - began)
    return answers


def checks(suite):
    with suite.server() as server:
        server.call("health_check")
        suite.answers = ask_all(server)
    undecided, slowest = [], []
    for name, answer in suite.answers.items():
        slowest.append((answer.took, name, answer.status))
        suite.check(f"corpus: {name}: members", lambda a=answer: members(a))
        if answer.is_undecided():
            undecided.append(name)
            told = answer.told
            print(f"  undecided: {name}: {told.get('message')} {json.dumps(told['proof'].get('bounds_hit'))}", flush=True)
        suite.check(f"corpus: {name}", lambda a=answer: right(a))
    decided = len(suite.answers) - len(undecided)
    times = sorted(took for took, _, status in slowest if status in DECIDED)
    print(f"  {len(suite.answers)} calls, {decided} decided; median {times[len(times) // 2] * 1e3:.1f} ms, "
          f"p95 {times[int(len(times) * 0.95)] * 1e3:.1f} ms, slowest {times[-1] * 1e3:.0f} ms")
    for took, name, status in sorted(slowest, reverse=True)[:15]:
        if status in DECIDED and took > 1:
            print(f"  slow: {name}: {status} after {took:.1f} s")


def members(answer):
    told = answer.told
    missing = [name for name in FIELDS[answer.case.tool] if name not in told]
    assert not missing, f"missing: {missing}"
    if answer.case.tool != "health_check":
        missing = [name for name in PROOF if name not in told["proof"]]
        assert not missing, f"missing in proof: {missing}"
    failed = told["status"] in ("error", "timeout")
    assert answer.result.get("isError", False) == failed, answer.result
    if failed:
        assert told["error_type"] and told["message"], told


def right(answer):
    case, told = answer.case, answer.told
    assert answer.status == case.truth, f"said {answer.status}, but {case.truth}: {case.why}\n{json.dumps(told)[:1500]}"
    if answer.status in ("verified", "unreachable", "equivalent"):
        assert told["proof"]["exhaustive"] is True, told["proof"]
    expected = case.expected
    if case.truth == "error":
        assert (told["error_type"], told["message"]) == (expected["error_type"], expected["message"]), told
    if "contracts" in expected:
        assert told["contracts"] == expected["contracts"], told["contracts"]
    if "vacuous" in expected:
        assert told["vacuous"] == expected["vacuous"], told
    if case.truth == "found" and "lines" in expected:
        lines = sorted({found["line"] for found in told["triggering_inputs"]})
        assert lines == expected["lines"], f"raised on lines {lines}, but it is {expected['lines']}"
    if case.tool == "analyze_branches":
        right_branches(told, expected)


def right_branches(told, expected):
    found = {branch["line"]: branch for branch in told["branches"]}
    if "lines" in expected:
        assert sorted(found) == expected["lines"], f"branches on {sorted(found)}"
    for line, can_be_true, can_be_false in expected.get("sides", []):
        branch = found[line]
        assert (branch["true_reachable"], branch["false_reachable"]) == (can_be_true, can_be_false), branch
        assert (branch["true_example"] is not None) == can_be_true, branch
        assert (branch["false_example"] is not None) == can_be_false, branch
    if "dead" in expected:
        assert told["dead_code_lines"] == expected["dead"], told["dead_code_lines"]
    if expected.get("complexity") is not None:
        assert told["cyclomatic_complexity"] == expected["complexity"], told["cyclomatic_complexity"]
