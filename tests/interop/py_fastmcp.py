"""The fastmcp client against the conformance fixture."""

import asyncio

import expected
import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.shared.exceptions import MCPError

MODE = {"session": "legacy", "modern": "2026-07-28", "auto": "auto"}


async def code_of(call):
    """The JSON-RPC code a call fails with."""
    try:
        await call
    except MCPError as error:
        return error.error.code
    return None


async def answer(_message, _type, params, _context):
    return expected.form(params.requested_schema)


async def listing(client):
    see = expected.Visit()
    see.seen["tools"] = [tool.name for tool in await client.list_tools()]
    return see


async def visit(client, era):
    see = expected.Visit()
    see.check("version", client.session.protocol_version, expected.VERSION[era])
    see.contains("tools", [tool.name for tool in await client.list_tools()], ["test_simple_text", "test_error_handling"])

    result = await client.call_tool("test_simple_text", {})
    see.check("simple_text", result.content[0].text, expected.TEXT["simple_text"])
    result = await client.call_tool("test_error_handling", {}, raise_on_error=False)
    see.check("error_handling", result.is_error, True)
    see.check("unknown_tool", await code_of(client.call_tool("no_such_tool", {})), -32602)

    steps = []

    async def progress(done, total, _message):
        steps.append([done, total])

    await client.call_tool("test_tool_with_progress", {}, progress_handler=progress)
    see.check("progress", steps, [[0, 100], [50, 100], [100, 100]])

    see.contains("resources", [str(entry.uri) for entry in await client.list_resources()], ["test://static-text"])
    see.check("resource", (await client.read_resource("test://static-text"))[0].text, expected.TEXT["resource"])
    missing = -32002 if era == "session" else -32602
    see.check("unknown_resource", await code_of(client.read_resource("test://no-such")), missing)

    see.contains("prompts", [prompt.name for prompt in await client.list_prompts()], ["test_simple_prompt"])
    see.check("prompt", (await client.get_prompt("test_simple_prompt")).messages[0].content.text, expected.TEXT["prompt"])
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
    see.check("prompt_arguments", prompt.messages[0].content.text, expected.TEXT["prompt_arguments"])

    reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completion = await client.complete(reference, {"name": "arg1", "value": "test"})
    see.check("completion", isinstance(completion.values, list), True)

    if era == "session":
        result = await client.call_tool("test_elicitation", {"message": "Who are you?"})
        see.holds("elicitation", result.content[0].text, "testuser")
    else:
        result = await client.call_tool("test_input_required_result_elicitation", {})
        see.check("input_required", result.content[0].text, "Hello, Alice!")
    return see


async def main():
    given = expected.arguments()
    server = given.url or StdioTransport(command=given.stdio[0], args=given.stdio[1:], keep_alive=False)
    async with Client(server, mode=MODE[given.era], elicitation_handler=answer) as client:
        return await (listing(client) if given.list else visit(client, given.era))


asyncio.run(asyncio.wait_for(main(), expected.LIMIT)).end("py_fastmcp")
