//! MCP: failures of a request whose bytes are well-formed.

crate::reasons! {
    pub(crate) static ROWS;

    MCP_META = "mcp/META" {
        Invalid, BadMeta, Caller,
        title: "the request's _meta is missing or wrong",
        detail: "the request's _meta lacks a usable `{key}`",
        hint: "put `{key}` into params._meta of every request",
        about: "MCP 2026-07-28 is stateless. Every request carries the protocol version and the client's capabilities in `_meta`.",
    }
    MCP_HEADER = "mcp/HEADER" {
        Malformed, HeaderMismatch, Caller,
        title: "a header does not agree with the body",
        detail: "the header {header} is missing or does not agree with the body",
        hint: "send {header} with exactly the value the body has",
        about: "Proxies route by headers, and servers act on the body. MCP 2026-07-28 requires both to agree.",
    }
    MCP_VERSION = "mcp/VERSION" {
        Unsupported, UnsupportedVersion, Caller,
        title: "protocol version not supported",
        detail: "protocol version {requested} is not supported",
        hint: "use one of: {supported}",
        about: "The server does not support the protocol version that the request names.",
    }
    MCP_UNKNOWN_METHOD = "mcp/UNKNOWN_METHOD" {
        Unsupported, UnknownMethod, Caller,
        title: "unknown method",
        detail: "unknown method: {method}",
        hint: "use a method this server announced; `tools/list` shows its tools",
        about: "The method is not part of the protocol version in use, or of the server's capabilities.",
    }
    MCP_BAD_PARAMS = "mcp/BAD_PARAMS" {
        Invalid, BadParams, Caller,
        title: "the method's params are wrong",
        detail: "the params of {method} are wrong",
        hint: "fix every listed violation and send the request again",
        about: "The params do not match the method's schema. All violations are listed at once.",
    }
    MCP_NOT_INITIALIZED = "mcp/NOT_INITIALIZED" {
        Precondition, NotReady, Caller,
        title: "the session is not initialized",
        hint: "send `initialize` first, or use protocol 2026-07-28, which needs none",
        about: "In MCP 2024-11-05 to 2025-11-25 the server answers only `initialize` and `ping` before the handshake.",
    }
    MCP_ALREADY_INITIALIZED = "mcp/ALREADY_INITIALIZED" {
        Precondition, NotReady, Caller,
        title: "the session is already initialized",
        hint: "continue with this session, or open a new connection",
        about: "A second `initialize` would change the version and the capabilities of running requests.",
    }
    MCP_CAPABILITY = "mcp/CAPABILITY" {
        Unsupported, MissingCapability, Caller,
        title: "the client lacks a capability this request needs",
        detail: "the client did not declare: {required}",
        hint: "declare the capability {required} if the client has it, or use another tool",
        about: "The tool must ask the user or the model a question. The client did not declare the capability for it.",
    }
    MCP_UNKNOWN_TOOL = "mcp/UNKNOWN_TOOL" {
        NotFound, UnknownTool, Caller,
        title: "no such tool",
        detail: "Tool not found: {name}",
        hint: "call a tool from the list: `tools/list` on MCP, `list_tools` on /rpc, `GET /v1/tools` on REST",
        about: "No tool with this name is available to this caller.",
    }
    MCP_TOOL_NAME = "mcp/TOOL_NAME" {
        Invalid, BadParams, Caller,
        title: "tool name is missing",
        detail: "Tool name is required",
        hint: "put the tool's name into `name`",
        about: "The method `execute_tool` of plain JSON-RPC requires the name of the tool.",
    }
    MCP_BAD_ARGUMENTS = "mcp/BAD_ARGUMENTS" {
        Invalid, BadArguments, Caller,
        title: "the tool's arguments do not fit its schema",
        detail: "Validation Error",
        hint: "fix every listed violation and call the tool again",
        about: "The arguments were validated against the tool's input schema. The tool did not run.",
    }
    MCP_TOOL_FAILED = "mcp/TOOL_FAILED" {
        Broken, ToolFailed, Server,
        title: "the tool reported a failure",
        hint: "read the tool's message in `result`, then change the arguments and call the tool again",
        about: "The tool ran and returned a result with `isError`. MCP clients get that result unchanged. REST and `/rpc` clients get this failure, with the tool's `content` and `structuredContent` in `result`.",
    }
    MCP_UNKNOWN_PROMPT = "mcp/UNKNOWN_PROMPT" {
        NotFound, BadParams, Caller,
        title: "no such prompt",
        detail: "Prompt not found: {name}",
        hint: "use a prompt that `prompts/list` shows",
        about: "No prompt with this name is available to this caller.",
    }
    MCP_UNKNOWN_RESOURCE = "mcp/UNKNOWN_RESOURCE" {
        NotFound, ResourceNotFound, Caller,
        title: "no such resource",
        detail: "Resource not found: {uri}",
        hint: "read a resource that `resources/list` or a template shows",
        about: "No resource with this URI is available to this caller.",
    }
    MCP_BAD_CURSOR = "mcp/BAD_CURSOR" {
        Invalid, BadParams, Caller,
        title: "the cursor is not valid",
        hint: "list again from the start, without `cursor`",
        about: "Cursors are opaque and belong to one list. An expired or edited cursor, or one of another server, is rejected.",
    }
    MCP_BAD_LOG_LEVEL = "mcp/BAD_LOG_LEVEL" {
        Invalid, BadParams, Caller,
        title: "no such log level",
        hint: "use one of: debug, info, notice, warning, error, critical, alert, emergency",
        about: "MCP uses the log levels of RFC 5424.",
    }
    MCP_BAD_STATE = "mcp/BAD_STATE" {
        Invalid, BadParams, Caller,
        title: "requestState is not valid for this request",
        hint: "repeat the original request with its requestState unchanged, before it expires",
        about: "requestState is sealed. The server rejects it if it was edited, has expired, or belongs to another request or caller.",
    }
    MCP_INPUT_NEEDED = "mcp/INPUT_NEEDED" {
        Precondition, NotReady, Server,
        title: "the tool needs an answer from the client first",
        hint: "answer the inputRequests and send the request again with inputResponses and requestState",
        about: "This reason is internal: it carries a tool's question to the client. The client sees an input_required result.",
    }
    MCP_BAD_INPUT = "mcp/BAD_INPUT" {
        Invalid, BadParams, Caller,
        title: "an input response does not fit its question",
        detail: "the input response `{key}` does not fit its question",
        hint: "answer `{key}` in the form that its request asks for",
        about: "The client's answer to a question of the tool has the wrong form.",
    }
    MCP_CLIENT_REFUSED = "mcp/CLIENT_REFUSED" {
        Precondition, ToolFailed, Caller,
        title: "the client did not answer the tool's question",
        hint: "answer the question, or call the tool with arguments that need none",
        about: "The tool asked the user or the model a question. The client answered with an error or did not answer.",
    }
    MCP_UNKNOWN_TASK = "mcp/UNKNOWN_TASK" {
        NotFound, BadParams, Caller,
        title: "no such task",
        hint: "use a taskId from this server; finished tasks are removed after their ttl",
        about: "The task id is unknown, expired, or belongs to another caller.",
    }
    MCP_TOO_MANY_TASKS = "mcp/TOO_MANY_TASKS" {
        Exhausted, RateLimited, Failwell,
        title: "too many tasks are running",
        detail: "more than {limit} tasks are running",
        hint: "wait for running tasks to finish, or cancel some",
        about: "The number of tasks is limited to bound memory use.",
    }
}
