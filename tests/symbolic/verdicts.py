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
        self.content = result["structuredContent"]
        self.status = self.content["status"]

    def is_undecided(self):
        """An inconclusive verdict: time, a bound, an unsupported construct."""
        if self.case.truth == "error":
            return False
        return self.status == "timeout" or (self.status == "error" and self.content.get("error_type") in UNDECIDED_ERRORS)


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
            content = answer.content
            print(f"  undecided: {name}: {content.get('message')} {json.dumps(content['proof'].get('bounds_hit'))}", flush=True)
        suite.check(f"corpus: {name}", lambda a=answer: right(a))
    decided = len(suite.answers) - len(undecided)
    times = sorted(took for took, _, status in slowest if status in DECIDED)
    print(f"  {len(suite.answers)} calls, {decided} decided; median {times[len(times) // 2] * 1e3:.1f} ms, "
          f"p95 {times[int(len(times) * 0.95)] * 1e3:.1f} ms, slowest {times[-1] * 1e3:.0f} ms")
    for took, name, status in sorted(slowest, reverse=True)[:15]:
        if status in DECIDED and took > 1:
            print(f"  slow: {name}: {status} after {took:.1f} s")


def members(answer):
    content = answer.content
    missing = [name for name in FIELDS[answer.case.tool] if name not in content]
    assert not missing, f"missing: {missing}"
    if answer.case.tool != "health_check":
        missing = [name for name in PROOF if name not in content["proof"]]
        assert not missing, f"missing in proof: {missing}"
    failed = content["status"] in ("error", "timeout")
    assert answer.result.get("isError", False) == failed, answer.result
    if failed:
        assert content["error_type"] and content["message"], content


def right(answer):
    case, content = answer.case, answer.content
    assert answer.status == case.truth, f"said {answer.status}, but {case.truth}: {case.why}\n{json.dumps(content)[:1500]}"
    if answer.status in ("verified", "unreachable", "equivalent"):
        assert content["proof"]["exhaustive"] is True, content["proof"]
    expected = case.expected
    if case.truth == "error":
        assert (content["error_type"], content["message"]) == (expected["error_type"], expected["message"]), content
    if "contracts" in expected:
        assert content["contracts"] == expected["contracts"], content["contracts"]
    if "vacuous" in expected:
        assert content["vacuous"] == expected["vacuous"], content
    if case.truth == "found" and "lines" in expected:
        lines = sorted({found["line"] for found in content["triggering_inputs"]})
        assert lines == expected["lines"], f"raised on lines {lines}, but it is {expected['lines']}"
    if case.tool == "analyze_branches":
        right_branches(content, expected)


def right_branches(content, expected):
    found = {branch["line"]: branch for branch in content["branches"]}
    if "lines" in expected:
        assert sorted(found) == expected["lines"], f"branches on {sorted(found)}"
    for line, can_be_true, can_be_false in expected.get("sides", []):
        branch = found[line]
        assert (branch["true_reachable"], branch["false_reachable"]) == (can_be_true, can_be_false), branch
        assert (branch["true_example"] is not None) == can_be_true, branch
        assert (branch["false_example"] is not None) == can_be_false, branch
    if "dead" in expected:
        assert content["dead_code_lines"] == expected["dead"], content["dead_code_lines"]
    if expected.get("complexity") is not None:
        assert content["cyclomatic_complexity"] == expected["complexity"], content["cyclomatic_complexity"]
