"""The official Python client against the conformance fixture."""

import asyncio

import expected
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

MODE = {"session": "legacy", "modern": "2026-07-28", "auto": "auto"}


async def code_of(call):
    """The JSON-RPC code a call fails with."""
    try:
        await call
    except MCPError as error:
        return error.error.code
    return None


async def answer(_context, params):
    return types.ElicitResult(action="accept", content=expected.form(params.requested_schema))


async def listing(client):
    see, page = expected.Visit(), await client.list_tools()
    see.seen["tools"] = [tool.name for tool in page.tools]
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor)
        see.seen["tools"] += [tool.name for tool in page.tools]
    return see


async def visit(client, era):
    see = expected.Visit()
    see.check("version", client.protocol_version, expected.VERSION[era])
    see.contains("tools", [tool.name for tool in (await client.list_tools()).tools], ["test_simple_text", "test_error_handling"])

    result = await client.call_tool("test_simple_text", {})
    see.check("simple_text", result.content[0].text, expected.TEXT["simple_text"])
    see.check("error_handling", (await client.call_tool("test_error_handling", {})).is_error, True)
    see.check("unknown_tool", await code_of(client.call_tool("no_such_tool", {})), -32602)

    steps = []

    async def progress(done, total, _message):
        steps.append([done, total])

    await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
    see.check("progress", steps, [[0, 100], [50, 100], [100, 100]])

    see.contains("resources", [str(entry.uri) for entry in (await client.list_resources()).resources], ["test://static-text"])
    see.check("resource", (await client.read_resource("test://static-text")).contents[0].text, expected.TEXT["resource"])
    missing = -32002 if era == "session" else -32602
    see.check("unknown_resource", await code_of(client.read_resource("test://no-such")), missing)

    see.contains("prompts", [prompt.name for prompt in (await client.list_prompts()).prompts], ["test_simple_prompt"])
    see.check("prompt", (await client.get_prompt("test_simple_prompt")).messages[0].content.text, expected.TEXT["prompt"])
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
    see.check("prompt_arguments", prompt.messages[0].content.text, expected.TEXT["prompt_arguments"])

    reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completion = await client.complete(reference, {"name": "arg1", "value": "test"})
    see.check("completion", isinstance(completion.completion.values, list), True)

    if era == "session":
        result = await client.call_tool("test_elicitation", {"message": "Who are you?"})
        see.holds("elicitation", result.content[0].text, "testuser")
    else:
        result = await client.call_tool("test_input_required_result_elicitation", {})
        see.check("input_required", result.content[0].text, "Hello, Alice!")
    return see


async def main():
    given = expected.arguments()
    server = given.url or StdioServerParameters(command=given.stdio[0], args=given.stdio[1:])
    async with Client(server, mode=MODE[given.era], elicitation_callback=answer) as client:
        return await (listing(client) if given.list else visit(client, given.era))


asyncio.run(asyncio.wait_for(main(), expected.LIMIT)).end("py_mcp")
