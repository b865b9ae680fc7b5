"""The Inspector's command line against the conformance fixture: one process per request, no handlers."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import expected

TOOLS = pathlib.Path(os.environ.get("FAILWELL_TOOLS", pathlib.Path(__file__).resolve().parents[2] / ".tools"))
LAUNCHER = TOOLS / "npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERA = {"session": "legacy", "modern": "modern", "auto": "auto"}


def ask(given, home, *method):
    """Runs one request; returns the result object, or the error object of the command line."""
    target = [given.url, "--transport", "http"] if given.url else ["--transport", "stdio"]
    command = [TOOLS / "npm/bin/node", LAUNCHER, "--cli", *target, "--protocol-era", ERA[given.era], "--format", "json", "--quiet"]
    command += ["--method", *method]
    if given.stdio:
        command += ["--", *given.stdio]
    environment = os.environ | {"HOME": home, "MCP_CATALOG_PATH": f"{home}/mcp.json"}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=expected.LIMIT, check=False
    )
    if done.stdout.strip():
        # Warnings of its libraries go to the terminal, not into the result.
        sys.stderr.write(done.stderr)
        return json.loads(done.stdout)["result"]
    return json.loads(done.stderr.strip().splitlines()[-1])["error"]


def main():
    given = expected.arguments()
    see = expected.Visit()
    with tempfile.TemporaryDirectory() as home:
        tools = ask(given, home, "tools/list")["tools"]
        if given.list:
            see.seen["tools"] = [tool["name"] for tool in tools]
            see.end("inspector")
        see.contains("tools", [tool["name"] for tool in tools], ["test_simple_text", "test_error_handling"])
        result = ask(given, home, "tools/call", "--tool-name", "test_simple_text")
        see.check("simple_text", result["content"][0]["text"], expected.TEXT["simple_text"])
        result = ask(given, home, "tools/call", "--tool-name", "test_error_handling")
        see.check("error_handling", result["isError"], True)
        # The command line looks the name up in tools/list, and prints its own message instead of the server's code.
        see.check("unknown_tool", ask(given, home, "tools/call", "--tool-name", "no_such_tool")["code"], "tool_not_found")
        result = ask(given, home, "resources/read", "--uri", "test://static-text")
        see.check("resource", result["contents"][0]["text"], expected.TEXT["resource"])
        see.check("unknown_resource", ask(given, home, "resources/read", "--uri", "test://no-such")["code"], "error")
        words = ["--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=hello", "arg2=world"]
        result = ask(given, home, "prompts/get", *words)
        see.check("prompt_arguments", result["messages"][0]["content"]["text"], expected.TEXT["prompt_arguments"])
    see.end("inspector")


main()
