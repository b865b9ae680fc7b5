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
        def told(amount):
            body = '{"jsonrpc":"2.0","id":1,"method":"execute_tool","params":{"name":"fail","arguments":{"amount":%s}}}' % amount
            request = urllib.request.Request(program.address + "/rpc", body.encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()

        for amount in DENIED:
            assert "policy/DENIED" in told(amount), (amount, told(amount))
        for amount in DECIDED:
            assert "policy/DENIED" not in told(amount), (amount, told(amount))


CASES = [numbers_mean_the_same_in_every_spelling]
