"""A server made with the official Python SDK, for the conformance suite: what the suite asks for, as far as the SDK goes.

    peer.py PORT

It speaks both eras, as the SDK does. What it lacks of the suite's names is no matter: it is examined directly and
through the gateway, and the two must agree.
"""

import base64
import sys

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.types import (
    AudioContent,
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

server = MCPServer("python-peer", version="1", instructions="Every tool here exists to be tested.")


def picture():
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri, mime_type, text):
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


@server.tool(structured_output=False)
def test_simple_text() -> str:
    """Answers with text"""
    return "This is a simple text response for testing."


@server.tool(structured_output=False)
def test_image_content():
    """Answers with a picture"""
    return picture()


@server.tool(structured_output=False)
def test_audio_content():
    """Answers with a sound"""
    return AudioContent(type="audio", data=SOUND, mime_type="audio/wav")


@server.tool(structured_output=False)
def test_embedded_resource():
    """Answers with a resource"""
    return embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


@server.tool(structured_output=False)
def test_multiple_content_types():
    """Answers with text, a picture and a resource"""
    text = TextContent(type="text", text="Multiple content types test:")
    return [text, picture(), embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')]


@server.tool(structured_output=False)
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three times"""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
    return "Logged"


@server.tool(structured_output=False)
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress"""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
    return "Done with progress"


@server.tool(structured_output=False)
def test_error_handling() -> str:
    """Fails"""
    raise ValueError("This tool intentionally returns an error for testing")


class Username(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@server.tool(structured_output=False)
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user"""
    answer = await ctx.elicit(message, Username)
    return f"User response: {answer.action}"


def form(message, name):
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return ElicitRequest(method="elicitation/create", params=ElicitRequestFormParams(message=message, requested_schema=schema))


@server.tool(structured_output=False)
async def test_streaming_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name"""
    return await asked_first(ctx, "user_name") or "Hello!"


@server.tool(structured_output=False)
async def test_logging_tool(ctx: Context) -> str:
    """Logs"""
    await ctx.info("A message")
    return "Logged"


@server.tool(structured_output=False)
def greet(name: str) -> str:
    """Greets"""
    return f"Hello, {name}!"


@server.tool(structured_output=False)
def confirm_delete(filename: str) -> str:
    """Deletes nothing, and asks nobody"""
    return f"Kept {filename}"


@server.tool(structured_output=False)
async def slow_compute(seconds: float, label: str = "work") -> str:
    """Sleeps; the SDK has no tasks"""
    await anyio.sleep(min(seconds, 1))
    return f"Computed {label}"


@server.tool(structured_output=False)
async def test_reconnection(ctx: Context) -> str:
    """Lets go of its client, which comes back for the answer"""
    await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return "Reconnected"


async def asked_first(ctx, key):
    """The answers of a modern client, or the question for it."""
    if ctx.input_responses and key in ctx.input_responses:
        return None
    return InputRequiredResult(input_requests={key: form("What is your name?", "name")})


@server.tool(structured_output=False)
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name"""
    return await asked_first(ctx, "user_name") or "Hello!"


@server.tool(structured_output=False)
async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Asks to confirm, keeping state"""
    if ctx.input_responses and "confirm" in ctx.input_responses:
        return "Confirmed: state-ok" if ctx.request_state == "kept" else "No state"
    return InputRequiredResult(input_requests={"confirm": form("Please confirm", "ok")}, request_state="kept")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return '{"id":"%s","templateTest":true,"data":"Data for ID: %s"}' % (id, id)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    return "Watched resource content"


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt"""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments"""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_image():
    """A prompt with a picture"""
    return [picture(), "Please analyze the image above."]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str):
    """A prompt with a resource"""
    return [embedded(resourceUri, "text/plain", "Embedded resource content for testing."), "Please process it."]


@server.completion()
async def complete(_ref, argument, _context):
    words = ["paris", "park", "party", "testValue1"]
    return Completion(values=[word for word in words if word.startswith(argument.value)], has_more=False)


async def set_level(_ctx, _params):
    return EmptyResult()


# The SDK has these only in its low-level server.
server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)


class Recent(EventStore):
    """Sent events, for clients that reconnect."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        at = int(last_event_id)
        stream_id, _ = self.events[at - 1]
        for number, (stream, message) in enumerate(self.events[at:], at + 1):
            if stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]), event_store=Recent(), retry_interval=500)
