"""Attacks every proof and replays every finding, with CPython and an oracle that shares no code with the engine."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import verdicts

ORACLE = pathlib.Path(__file__).resolve().parent / "oracle.py"
INPUTS = int(os.environ.get("FAILWELL_SYMBOLIC_INPUTS", "100000"))
KINDS = {"symbolic_check": "check", "find_path_to_exception": "exception", "compare_functions": "compare"}
PROVEN = ("verified", "unreachable", "equivalent")
FOUND = ("counterexample", "found", "different")


def checks(suite):
    if suite.answers is None:
        with suite.server() as server:
            suite.answers = verdicts.ask_all(server)
    tried = []
    jobs = []
    for answer in suite.answers.values():
        if answer.case.tool not in KINDS:
            continue
        if answer.status in PROVEN:
            jobs.append((f"proof: {answer.case.name}", lambda a=answer: tried.append(attack(a))))
        elif answer.status in FOUND:
            jobs.append((f"finding: {answer.case.name}", lambda a=answer: replay(a)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for future in [pool.submit(suite.check, name, job) for name, job in jobs]:
            future.result()
    print(f"  {len(tried)} proofs faced {sum(tried)} inputs, {len(jobs) - len(tried)} findings were replayed")


def job_of(answer, **more):
    arguments = answer.case.arguments
    functions = [arguments[name] for name in ("function_name", "function_a", "function_b") if name in arguments]
    return {"kind": KINDS[answer.case.tool], "code": arguments["code"], "functions": functions,
            "exception": arguments.get("exception_type"), **more}


def ask(job):
    ran = subprocess.run([sys.executable, str(ORACLE)], input=json.dumps(job), capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout)


def attack(answer):
    result = ask(job_of(answer, count=INPUTS))
    assert result["violation"] is None, f"{answer.status}, but {result['violation']}"
    return result["tried"]


def replay(answer):
    content = answer.content
    found = content.get("counterexamples") or content.get("triggering_inputs") or [content.get("distinguishing_input")]
    calls = [one["call"] for one in found]
    assert calls, content
    for call, shown in zip(calls, ask(job_of(answer, calls=calls))):
        assert shown is not None and not shown.startswith("SKIPPED"), f"{call} shows nothing: {shown}"
