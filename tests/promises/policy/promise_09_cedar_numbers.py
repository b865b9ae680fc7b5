"""A condition of a policy that cannot be decided denies."""

import json
import urllib.request

from program import Program

POLICY = """
permit (principal, action, resource);
forbid (principal, action == Action::"call", resource == Tool::"lobby/echo")
    when { context.arguments has text && context.arguments.text == "no" };
forbid (principal, action == Action::"call", resource == Tool::"lobby/fail")
    when { context.arguments has amount && context.arguments.amount > 1000 };
"""
DENIED = ["5000", "5000.0", "5e3", "5E3", "5000.5", "0.5", "1e30", "-1e30", "100000000000000000000", "9223372036854775808", "null"]
DECIDED = ["5", "5.0", "1e3", "-7", "1000.00"]


def numbers_mean_the_same_in_every_spelling(binary, home):
    """M4: `5000` was denied, eight other spellings of large amounts passed."""
    policy = home.parent / (home.name + ".cedar")
    policy.write_text(POLICY)
    with Program(binary, home, f'cedar = {json.dumps(str(policy))}\nservers = ["lobby"]\n') as program:
        def result(amount):
            body = '{"jsonrpc":"2.0","id":1,"method":"execute_tool","params":{"name":"fail","arguments":{"amount":%s}}}' % amount
            request = urllib.request.Request(program.address + "/rpc", body.encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()

        for amount in DENIED:
            assert "policy/DENIED" in result(amount), (amount, result(amount))
        for amount in DECIDED:
            assert "policy/DENIED" not in result(amount), (amount, result(amount))


def no_depth_hides_an_argument(binary, home):
    """Over REST the body is the arguments. Policies and rules read every value that the scan accepts."""
    policy = home.parent / (home.name + ".cedar")
    policy.write_text(POLICY)
    rule = "[tools.lobby.arguments.echo.properties]\ntext = { maxLength = 3 }\n"
    with Program(binary, home, f'cedar = {json.dumps(str(policy))}\nservers = ["lobby"]\n{rule}') as program:
        def result(tool, member, levels):
            body = '{%s,"x":%s}' % (member, "[" * (levels - 1) + "]" * (levels - 1))
            return program.ask("POST", f"/v1/tools/{tool}", body.encode(), {"Content-Type": "application/json"})

        for levels in (2, 64, 126, 127):
            status, answer = result("fail", '"amount":5000', levels)
            assert (status, answer["detail"]["reason"]) == (403, "policy/DENIED"), (levels, answer)
            status, answer = result("echo", '"text":"four"', levels)
            # The tool's own schema, which has no `x`, is checked as well.
            assert answer["detail"]["reason"] in ("policy/ARGUMENTS", "mcp/BAD_ARGUMENTS"), (levels, answer)
            assert result("fail", '"amount":5', levels)[1]["detail"]["reason"] != "policy/DENIED", levels
        assert result("fail", '"amount":5000', 128)[1]["detail"]["reason"] == "rpc/TOO_DEEP"


def reserved_names_of_the_parser_are_arguments(binary, home):
    """A policy must not see another value of a member than the tool."""
    policy = home.parent / (home.name + ".cedar")
    policy.write_text(
        'permit (principal, action == Action::"see", resource);\n'
        'permit (principal, action == Action::"call", resource) when { context.arguments.dry_run };\n'
    )
    with Program(binary, home, f'cedar = {json.dumps(str(policy))}\nservers = ["lobby"]\n') as program:
        posing = {"$serde_json::private::RawValue": '{"dry_run":true}'}
        for arguments, denied in [({"dry_run": True}, False), ({}, True), (posing, True)]:
            answer = program.rpc("execute_tool", {"name": "fail", "arguments": arguments})
            assert (answer["error"]["data"]["reason"] == "policy/DENIED") == denied, answer


CASES = [
    numbers_mean_the_same_in_every_spelling,
    no_depth_hides_an_argument,
    reserved_names_of_the_parser_are_arguments,
]
