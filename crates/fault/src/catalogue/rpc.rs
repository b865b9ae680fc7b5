//! The letter: what can be wrong with the bytes of a message.

reasons! {
    RPC_NOT_JSON = "rpc/NOT_JSON" {
        Malformed, NotJson, Caller,
        title: "message is not JSON",
        hint: "send one complete JSON object; check quotes, commas and braces near byte {offset}",
        about: "The bytes do not parse as JSON. Nothing was done, and the connection is still good.",
    }
    RPC_NOT_UTF8 = "rpc/NOT_UTF8" {
        Malformed, NotJson, Caller,
        title: "message is not valid UTF-8",
        hint: "encode the message as UTF-8; the first bad byte is at {offset}",
        about: "JSON between programs is UTF-8. Another encoding, or a cut through a character, is refused.",
    }
    RPC_BAD_SHAPE = "rpc/BAD_SHAPE" {
        Malformed, BadShape, Caller,
        title: "message is not a JSON-RPC 2.0 request, notification or response",
        hint: "send an object with `jsonrpc` \"2.0\", a string `method`, an object `params` and, for requests, an `id`",
        about: "The JSON is fine but it is not a message: a scalar, a missing or wrong `jsonrpc`, a missing `method`, both `result` and `error`, or params that are neither object nor array.",
    }
    RPC_BAD_ID = "rpc/BAD_ID" {
        Malformed, BadShape, Caller,
        title: "request id is neither a string nor an integer",
        hint: "use a string or an integer as `id`; leave `id` out only for notifications",
        about: "MCP allows strings and integers as ids. `null`, fractions, booleans and objects are refused, since an answer could not be matched to them.",
    }
    RPC_TOO_DEEP = "rpc/TOO_DEEP" {
        Malformed, BadShape, Caller,
        title: "message is nested too deeply",
        detail: "message is nested deeper than {limit} levels",
        hint: "flatten the arguments to at most {limit} levels",
        about: "Deep nesting is a way to exhaust parsers. The limit is far above what tools use.",
    }
    RPC_DUPLICATE_KEY = "rpc/DUPLICATE_KEY" {
        Malformed, BadShape, Caller,
        title: "an object has the same key twice",
        hint: "send every key once; the second one is near byte {offset}",
        about: "Two parsers may pick different values for a repeated key, so a guard and a tool could see different requests. Repeated keys are refused everywhere.",
    }
    RPC_LONE_SURROGATE = "rpc/LONE_SURROGATE" {
        Malformed, BadShape, Caller,
        title: "a text holds half of a surrogate pair",
        hint: "escape characters beyond U+FFFF as a pair, or send them as plain UTF-8; see byte {offset}",
        about: "`\\ud800` alone is not a character. Parsers disagree about it, so it is refused.",
    }
    RPC_NUMBER_RANGE = "rpc/NUMBER_RANGE" {
        Malformed, BadShape, Caller,
        title: "a number is out of range",
        hint: "send numbers a 64-bit float can hold, or send them as text; see byte {offset}",
        about: "A number like 1e400 is infinity to most parsers and an error to others.",
    }
    RPC_TOO_MANY_KEYS = "rpc/TOO_MANY_KEYS" {
        Malformed, BadShape, Caller,
        title: "an object has too many keys",
        detail: "an object has more than {limit} keys",
        hint: "send at most {limit} keys per object; use an array for many entries",
        about: "Wide objects make duplicate detection expensive and are never what a tool wants.",
    }
    RPC_EMPTY_BATCH = "rpc/EMPTY_BATCH" {
        Malformed, BadShape, Caller,
        title: "batch is empty",
        hint: "send a single message, or a batch with at least one",
        about: "JSON-RPC asks for one error when a batch holds nothing.",
    }
    RPC_BATCH_NOT_ALLOWED = "rpc/BATCH_NOT_ALLOWED" {
        Malformed, BadShape, Caller,
        title: "batches are not part of this protocol version",
        hint: "send the messages one by one; only MCP 2025-03-26 and plain JSON-RPC have batches",
        about: "MCP had batches in 2025-03-26 only.",
    }
    RPC_LINE_TOO_LONG = "rpc/LINE_TOO_LONG" {
        Malformed, BadShape, Caller,
        title: "message is too long",
        detail: "message is longer than {limit} bytes",
        hint: "send less than {limit} bytes per message; pass large data by reference",
        about: "A line on standard input went past the cap. It was skipped to its end and nothing of it was done.",
    }
    RPC_DUPLICATE_ID = "rpc/DUPLICATE_ID" {
        Malformed, BadShape, Caller,
        title: "a request with this id is still in flight",
        hint: "use a new id for every request",
        about: "On one stdio connection two answers with the same id could not be told apart. Over HTTP answers belong to their exchange, so repeated ids work there.",
    }
}
