//! The protocol: what can be wrong with a request whose bytes are fine.

reasons! {
    MCP_META = "mcp/META" {
        Invalid, BadMeta, Caller,
        title: "the request's _meta is missing or wrong",
        detail: "the request's _meta lacks a usable `{key}`",
        hint: "put `{key}` into params._meta of every request",
        about: "MCP 2026-07-28 is stateless: every request carries protocol version and client capabilities in `_meta`.",
    }
    MCP_HEADER = "mcp/HEADER" {
        Malformed, HeaderMismatch, Caller,
        title: "a header does not agree with the body",
        detail: "the header {header} is missing or does not agree with the body",
        hint: "send {header} with exactly the value the body has",
        about: "Proxies route by header while servers act on the body, so in MCP 2026-07-28 both must say the same.",
    }
    MCP_VERSION = "mcp/VERSION" {
        Unsupported, UnsupportedVersion, Caller,
        title: "protocol version not supported",
        detail: "protocol version {requested} is not supported",
        hint: "use one of: {supported}",
        about: "The request names a protocol version that nobody here speaks.",
    }
    MCP_UNKNOWN_METHOD = "mcp/UNKNOWN_METHOD" {
        Unsupported, UnknownMethod, Caller,
        title: "unknown method",
        detail: "unknown method: {method}",
        hint: "use a method this server announced; `tools/list` shows its tools",
        about: "The method is not part of the protocol version in use, or of a capability this server has.",
    }
    MCP_BAD_PARAMS = "mcp/BAD_PARAMS" {
        Invalid, BadParams, Caller,
        title: "the method's params are wrong",
        detail: "the params of {method} are wrong",
        hint: "fix every listed violation and send the request again",
        about: "The params do not have the shape the method needs. All violations are listed at once.",
    }
    MCP_NOT_INITIALIZED = "mcp/NOT_INITIALIZED" {
        Precondition, NotReady, Caller,
        title: "the session is not initialized",
        hint: "send `initialize` first, or use protocol 2026-07-28, which needs none",
        about: "In the session era only `initialize` and `ping` are served before the handshake.",
    }
    MCP_ALREADY_INITIALIZED = "mcp/ALREADY_INITIALIZED" {
        Precondition, NotReady, Caller,
        title: "the session is initialized already",
        hint: "go on with the session as it is, or open a new connection",
        about: "A second `initialize` on one session would change version and capabilities under running requests.",
    }
    MCP_CAPABILITY = "mcp/CAPABILITY" {
        Unsupported, MissingCapability, Caller,
        title: "the client lacks a capability this request needs",
        detail: "the client did not declare: {required}",
        hint: "declare the capability {required} if the client has it, or use another tool",
        about: "The tool must ask the user or the model something, and the client did not say that it can.",
    }
    MCP_UNKNOWN_TOOL = "mcp/UNKNOWN_TOOL" {
        NotFound, UnknownTool, Caller,
        title: "no such tool",
        detail: "Tool not found: {name}",
        hint: "call a tool that `tools/list` shows",
        about: "No tool of that name is there for this caller.",
    }
    MCP_TOOL_NAME = "mcp/TOOL_NAME" {
        Invalid, BadParams, Caller,
        title: "tool name is missing",
        detail: "Tool name is required",
        hint: "put the tool's name into `name`",
        about: "Plain JSON-RPC's `execute_tool` needs to know which tool to run.",
    }
    MCP_BAD_ARGUMENTS = "mcp/BAD_ARGUMENTS" {
        Invalid, BadArguments, Caller,
        title: "the tool's arguments do not fit its schema",
        detail: "Validation Error",
        hint: "fix every listed violation and call the tool again",
        about: "The arguments were checked against the tool's input schema before the tool ran; nothing was done.",
    }
    MCP_TOOL_FAILED = "mcp/TOOL_FAILED" {
        Broken, ToolFailed, Server,
        title: "the tool reported a failure",
        hint: "read the tool's own words in `result`, then change the arguments and call the tool again",
        about: "The tool ran, and its result says `isError`. MCP passes that result on unchanged. REST and `/rpc` answer with this failure, and the tool's `content` and `structuredContent` are its member `result`.",
    }
    MCP_UNKNOWN_PROMPT = "mcp/UNKNOWN_PROMPT" {
        NotFound, BadParams, Caller,
        title: "no such prompt",
        detail: "Prompt not found: {name}",
        hint: "use a prompt that `prompts/list` shows",
        about: "No prompt of that name is there for this caller.",
    }
    MCP_UNKNOWN_RESOURCE = "mcp/UNKNOWN_RESOURCE" {
        NotFound, ResourceNotFound, Caller,
        title: "no such resource",
        detail: "Resource not found: {uri}",
        hint: "read a resource that `resources/list` or a template shows",
        about: "No resource of that URI is there for this caller.",
    }
    MCP_BAD_CURSOR = "mcp/BAD_CURSOR" {
        Invalid, BadParams, Caller,
        title: "the cursor is not one of ours",
        hint: "start the list again without a cursor",
        about: "Cursors are opaque and belong to one list. Somebody else's, an old or an edited one is refused.",
    }
    MCP_BAD_LOG_LEVEL = "mcp/BAD_LOG_LEVEL" {
        Invalid, BadParams, Caller,
        title: "no such log level",
        hint: "use one of: debug, info, notice, warning, error, critical, alert, emergency",
        about: "Log levels are those of RFC 5424.",
    }
    MCP_BAD_STATE = "mcp/BAD_STATE" {
        Invalid, BadParams, Caller,
        title: "requestState is not valid for this request",
        hint: "repeat the original request with the requestState exactly as it was given, before it expires",
        about: "requestState is sealed: edited, expired, or sent with another request or by another caller, it is refused.",
    }
    MCP_INPUT_NEEDED = "mcp/INPUT_NEEDED" {
        Precondition, NotReady, Server,
        title: "the tool needs an answer from the client first",
        hint: "answer the inputRequests and send the request again with inputResponses and requestState",
        about: "Inside the program this carries a tool's question out to the client; the client sees an input_required result.",
    }
    MCP_BAD_INPUT = "mcp/BAD_INPUT" {
        Invalid, BadParams, Caller,
        title: "an input response does not fit its question",
        detail: "the input response `{key}` does not fit its question",
        hint: "answer `{key}` with the shape its request asked for",
        about: "The client's answer to a question of the tool has the wrong shape.",
    }
    MCP_CLIENT_REFUSED = "mcp/CLIENT_REFUSED" {
        Precondition, ToolFailed, Caller,
        title: "the client did not answer the tool's question",
        hint: "answer the question, or call the tool with arguments that need none",
        about: "The tool asked the user or the model something and the client answered with an error or not at all.",
    }
    MCP_UNKNOWN_TASK = "mcp/UNKNOWN_TASK" {
        NotFound, BadParams, Caller,
        title: "no such task",
        hint: "use a taskId this server gave to you; finished tasks are forgotten after their ttl",
        about: "The task id is unknown, expired, or belongs to another caller.",
    }
    MCP_TOO_MANY_TASKS = "mcp/TOO_MANY_TASKS" {
        Exhausted, RateLimited, Failwell,
        title: "too many tasks are running",
        detail: "more than {limit} tasks are running",
        hint: "wait for running tasks to finish, or cancel some",
        about: "The table of tasks is bounded, so that nobody can fill the memory with work that waits.",
    }
}
