"""Concurrent calls, progress, cancellation, time limits, and other calls during an analysis."""

import time

SLOW = """
def f(n: int) -> int:
    '''
    pre: n >= 0
    post: _ == n * (n + 1) // 2
    '''
    total, i = 0, 0
    while i <= n:
        total += i
        i += 1
    return total
"""
QUICK = "def f(x: int) -> int:\n    return 1 // x\n"
ENDLESS = "def f(x: int) -> int:\n    while x == x:\n        x += 1\n    return x\n"


def checks(suite):
    with suite.server() as server:
        server.call("health_check")

        def several_at_once():
            numbers = [server.begin("symbolic_check", code=QUICK.replace("1 //", f"{n} //"), function_name="f") for n in range(1, 13)]
            for number in numbers:
                content = server.answer(number)["result"]["structuredContent"]
                assert content["status"] == "counterexample", content

        def time_is_kept():
            for code in (ENDLESS, SLOW):
                began = time.monotonic()
                content = server.call("symbolic_check", code=code, function_name="f", timeout_seconds=2)["result"]["structuredContent"]
                took = time.monotonic() - began
                # A tenth more on a machine with nothing else to do; a busy one is given its time.
                assert took < 8, f"{took:.2f} s for a limit of 2"
                assert content["status"] in ("timeout", "error", "counterexample"), content

        def others_are_served():
            number = server.begin("symbolic_check", code=ENDLESS, function_name="f", timeout_seconds=60)
            began = time.monotonic()
            quick = server.call("symbolic_check", code=QUICK, function_name="f")["result"]["structuredContent"]
            assert quick["status"] == "counterexample", quick
            assert time.monotonic() - began < 40, "a quick call waited for a slow one"
            assert number not in server.answers, "the slow one ended first"
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

        def it_can_be_called_off():
            number = server.begin("symbolic_check", code=ENDLESS, function_name="f", timeout_seconds=60)
            server.until_progress()
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            began = time.monotonic()
            for _ in range(4):  # more than there are places: they are free again
                content = server.call("symbolic_check", code=QUICK, function_name="f")["result"]["structuredContent"]
                assert content["status"] == "counterexample", content
            assert time.monotonic() - began < 40
            assert number not in server.answers, "a cancelled call was answered"

        def progress_is_told():
            server.notices.clear()
            server.call("symbolic_check", code=SLOW, function_name="f", timeout_seconds=3)
            notices = [m for _, m in server.notices if m.get("method") == "notifications/progress"]
            steps = [m["params"]["progress"] for m in notices]
            assert steps and steps == sorted(set(steps)), steps

        def names_are_near():
            result = server.call("symbolic_check", code="def calculate(x: int): return x\n", function_name="calcluate")["result"]
            assert "`calculate`" in result["_meta"]["dev.failwell/fault"]["hint"], result

        def texts_are_there():
            for uri in ("config://security", "config://server", "info://capabilities"):
                contents = server.ask("resources/read", {"uri": uri})["result"]["contents"]
                assert contents[0]["mimeType"] == "application/json" and len(contents[0]["text"]) > 100, contents
            prompts = server.ask("prompts/list", {})["result"]["prompts"]
            assert len(prompts) == 4 and all(p["arguments"] for p in prompts), prompts

        for work in (several_at_once, time_is_kept, others_are_served, it_can_be_called_off, progress_is_told, names_are_near,
                     texts_are_there):
            suite.check(f"lifecycle: {work.__name__.replace('_', ' ')}", work)
