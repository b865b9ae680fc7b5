//! JSON-RPC: failures of reading the bytes of a message.

crate::reasons! {
    pub(crate) static ROWS;

    RPC_NOT_JSON = "rpc/NOT_JSON" {
        Malformed, NotJson, Caller,
        title: "message is not JSON",
        hint: "send one complete JSON object; check quotes, commas and braces near byte {offset}",
        about: "The bytes do not parse as JSON. The message is discarded; the connection stays usable.",
    }
    RPC_CONTENT_TYPE = "rpc/CONTENT_TYPE" {
        Malformed, NotJson, Caller,
        title: "the Content-Type header does not say JSON",
        hint: "send the header `Content-Type: application/json`",
        about: "`/rpc` reads JSON only, and answers every other body like one that is not JSON. The body was not read.",
    }
    RPC_NOT_UTF8 = "rpc/NOT_UTF8" {
        Malformed, NotJson, Caller,
        title: "message is not valid UTF-8",
        hint: "encode the message as UTF-8; the first bad byte is at {offset}",
        about: "JSON messages are UTF-8. A message in another encoding, or with an incomplete character, is rejected.",
    }
    RPC_BAD_SHAPE = "rpc/BAD_SHAPE" {
        Malformed, BadShape, Caller,
        title: "message is not a JSON-RPC 2.0 request, notification or response",
        hint: "send an object with `jsonrpc` \"2.0\", a string `method`, an object `params` and, for requests, an `id`",
        about: "The JSON is valid but is not a JSON-RPC message. Examples: a scalar, a wrong `jsonrpc`, no `method`, both `result` and `error`, or params that are neither object nor array.",
    }
    RPC_BAD_ID = "rpc/BAD_ID" {
        Malformed, BadShape, Caller,
        title: "request id is neither a string nor an integer",
        hint: "use a string or an integer as `id`; leave `id` out only for notifications",
        about: "MCP allows strings and integers as ids. Other ids are rejected because a response could not be matched to them.",
    }
    RPC_TOO_DEEP = "rpc/TOO_DEEP" {
        Malformed, BadShape, Caller,
        title: "message is nested too deeply",
        detail: "message is nested deeper than {limit} levels",
        hint: "flatten the arguments to at most {limit} levels",
        about: "Deep nesting can exhaust a parser. The limit is far above the depth that tools use.",
    }
    RPC_DUPLICATE_KEY = "rpc/DUPLICATE_KEY" {
        Malformed, BadShape, Caller,
        title: "an object has the same key twice",
        hint: "send every key once; the second one is near byte {offset}",
        about: "Parsers disagree about which value of a repeated key counts, so a guard and a tool could see different requests. Repeated keys are rejected everywhere.",
    }
    RPC_LONE_SURROGATE = "rpc/LONE_SURROGATE" {
        Malformed, BadShape, Caller,
        title: "a string contains an unpaired surrogate",
        hint: "escape characters beyond U+FFFF as a surrogate pair, or send them as UTF-8; see byte {offset}",
        about: "`\\ud800` alone is not a character. Parsers handle it differently, so it is rejected.",
    }
    RPC_NUMBER_RANGE = "rpc/NUMBER_RANGE" {
        Malformed, BadShape, Caller,
        title: "a number is out of range",
        hint: "send numbers that fit a 64-bit float, or send them as strings; see byte {offset}",
        about: "Some parsers read a number such as 1e400 as infinity, and others reject it.",
    }
    RPC_TOO_MANY_KEYS = "rpc/TOO_MANY_KEYS" {
        Malformed, BadShape, Caller,
        title: "an object has too many keys",
        detail: "an object has more than {limit} keys",
        hint: "send at most {limit} keys per object; use an array for many entries",
        about: "Duplicate detection is expensive for objects with very many keys. The limit is far above the number of keys that tools use.",
    }
    RPC_EMPTY_BATCH = "rpc/EMPTY_BATCH" {
        Malformed, BadShape, Caller,
        title: "batch is empty",
        hint: "send a single message, or a batch with at least one",
        about: "JSON-RPC 2.0 requires one error response for an empty batch.",
    }
    RPC_BATCH_NOT_ALLOWED = "rpc/BATCH_NOT_ALLOWED" {
        Malformed, BadShape, Caller,
        title: "batches are not part of this protocol version",
        hint: "send the messages one by one; only MCP 2025-03-26 and plain JSON-RPC have batches",
        about: "MCP 2025-03-26 is the only MCP version with batches.",
    }
    RPC_LINE_TOO_LONG = "rpc/LINE_TOO_LONG" {
        Malformed, BadShape, Caller,
        title: "message is too long",
        detail: "message is longer than {limit} bytes",
        hint: "send less than {limit} bytes per message; pass large data by reference",
        about: "A line on stdin exceeded the limit. The line was skipped and not processed.",
    }
    RPC_DUPLICATE_ID = "rpc/DUPLICATE_ID" {
        Malformed, BadShape, Caller,
        title: "a request with this id is still in flight",
        hint: "use a new id for every request",
        about: "On a stdio connection, two responses with the same id could not be told apart. Over HTTP each response belongs to its own exchange, so repeated ids are allowed.",
    }
}
