"""CrossHair's own examples: the verdict of Failwell against their folder (bugs_detected, correct_code) and against its own verdict.

CrossHair takes minutes for them, so its verdicts are kept in crosshair.json; `record.py` makes that file anew. Where we
differ, differences.json says why, example by example; a difference without an explanation fails, and so does an explanation
without a difference.
"""

import ast
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 2  # many of the examples have no bounds, and use all of it
MARKS = ("pre:", "post:", "raises:")


def examples(environments):
    """Every function with a contract: its name, the code of its file, and whether its folder says that it is broken."""
    packages = environments / "peers" / "lib"
    [folder] = packages.glob("python*/site-packages/crosshair/examples")
    for path in sorted(folder.glob("*/*/*.py")):
        code = path.read_text()
        for node in ast.parse(code).body:
            if isinstance(node, ast.FunctionDef) and has_contract(node):
                name = f"{path.relative_to(folder)}::{node.name}"
                yield name, code, node.name, path.parent.name == "bugs_detected"


def has_contract(node):
    text = ast.get_docstring(node) or ""
    decorators = {ast.unparse(one).split("(")[0] for one in node.decorator_list}
    decorated = any(name.split(".")[-1] in ("require", "ensure", "pre", "post", "chain") for name in decorators)
    return decorated or any(line.strip().startswith(MARKS) for line in text.splitlines())


def checks(suite):
    theirs = json.loads((HERE / "crosshair.json").read_text())
    explained = json.loads((HERE / "differences.json").read_text())
    counts, differing, late = {}, set(), set()
    with suite.server() as server:
        for name, code, function, broken in examples(suite.environments):
            content = server.call("symbolic_check", code=code, function_name=function, timeout_seconds=SECONDS)["result"]["structuredContent"]
            ours = content["status"] if content["status"] in ("verified", "counterexample") else "undecided"
            counts[ours] = counts.get(ours, 0) + 1
            expected = "counterexample" if broken else "verified"
            other = {"confirmed": "verified", "counterexample": "counterexample"}.get(theirs.get(name))
            if content.get("error_type") == "TimeoutError":
                late.add(name)
            if ours == "undecided":
                print(f"  undecided: {name}: {content.get('message')}", flush=True)
            elif ours != expected or (other and ours != other):
                differing.add(name)

            def check(name=name, ours=ours, content=content):
                assert name in theirs, "not in crosshair.json: run record.py"
                if name in differing:
                    assert name in explained, f"we say {ours}, CrossHair {theirs[name]}: {json.dumps(content)[:800]}"

            suite.check(f"peers: {name}", check)
    print(f"  {sum(counts.values())} examples of CrossHair: {counts}; {len(differing)} differences, all explained")

    def no_more():
        # On a busy machine the time limit may end the search before a difference is found.
        assert set(explained) - differing <= late, f"explained, but no difference: {sorted(set(explained) - differing)}"

    suite.check("peers: explanations", no_more)
