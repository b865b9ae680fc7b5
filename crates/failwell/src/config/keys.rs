//! The one table of configuration keys.

mod consent;
mod custom;
mod device;
mod exporters;
mod identity;
mod jwt;
mod rules;
mod shelf;
mod tasks;

use super::Builtin;
use consent::{APPROVAL, PIN};
pub(super) use consent::{EXPIRES, PIN_ACTIONS, WAIT};
use custom::CUSTOM;
pub(super) use custom::{FUEL, INSTANCES, MEMORY_MB, PRIORITY, TIMEOUT_MS};
use device::DEVICE;
pub(super) use device::{
    DEVICE_ANSWER, DEVICE_IDLE, DEVICE_QUEUE, DEVICE_QUEUE_WAIT, DEVICE_SESSIONS, DEVICE_START,
    DEVICE_TIMEOUT,
};
use exporters::{OTLP, POSTGRES};
pub(super) use exporters::{
    OTLP_BATCH, OTLP_QUEUE, OTLP_RETRY, OTLP_SAMPLE, OTLP_TIMEOUT, POSTGRES_BATCH, POSTGRES_TIMEOUT,
};
pub(super) use identity::{
    BODY_MB, BODY_MB_PER_CALLER, BURST, CONCURRENCY, CONNECTIONS, CONNECTIONS_PER_ADDRESS,
    SESSIONS_PER_CALLER,
};
use identity::{KEY, LIMITS};
use jwt::JWT;
use rules::{PROMPTS, RESOURCES, RULE, TOOLS};
use shelf::SHELF;
pub(super) use shelf::{
    SHELF_BYTES, SHELF_BYTES_OF_ONE, SHELF_ITEMS, SHELF_ITEMS_OF_ONE, SHELF_LONGEST_TTL, SHELF_TTL,
    SHELF_UPLOAD,
};
use tasks::TASKS;
pub(super) use tasks::TASKS_TIMEOUT;

pub(super) struct ConfigKey {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: ValueType,
}

/// The type of a key's value.
pub(super) enum ValueType {
    Text {
        example: &'static str,
        pattern: Option<&'static str>,
    },
    /// An address. It may contain a password by mistake.
    Address {
        example: &'static str,
    },
    /// An address, or a table with these keys, including the address.
    AddressOr {
        example: &'static str,
        keys: &'static [ConfigKey],
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text with placeholders. It is never printed.
    Secret,
    Flag {
        default: bool,
    },
    Number(&'static Number),
    /// A list of texts with at least `least` items.
    Texts {
        least: usize,
    },
    /// The names of built-in servers.
    Servers,
    /// A table of texts with placeholders.
    Secrets,
    /// A table of texts.
    Pairs,
    /// A table of JSON Schemas by name.
    Schemas,
    /// A table of any shape with placeholders in its texts. It is never printed.
    Anything,
    /// A table of tables with these keys. The key of each table is the name of a server.
    Named(&'static [ConfigKey]),
    Table(&'static [ConfigKey]),
    Tables(&'static [ConfigKey]),
}

/// A whole number with its range.
pub(super) struct Number {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) default: u64,
}

impl Number {
    const fn key(&'static self) -> ConfigKey {
        ConfigKey { name: self.name, about: self.about, takes: ValueType::Number(self) }
    }
}

const fn key(name: &'static str, about: &'static str, takes: ValueType) -> ConfigKey {
    ConfigKey { name, about, takes }
}

const fn text(name: &'static str, about: &'static str, example: &'static str) -> ConfigKey {
    key(name, about, ValueType::Text { example, pattern: None })
}

/// Starts with a letter. Has no two underscores in a row and none at the end.
pub(super) const NAME_PATTERN: &str = "^[a-z]([a-z0-9-]|_[a-z0-9-])*$";

pub(super) static ROOT: &[ConfigKey] = &[
    text("listen", "Address and port for `failwell up`.", "127.0.0.1:8484"),
    text("data_dir", "The folder for state; by default the user's state folder.", "./state"),
    key(
        "state",
        "State shared by several nodes: memory for a single node, or the address of a Redis or Valkey.",
        ValueType::AddressOr { example: "redis://127.0.0.1:6379", keys: STATE },
    ),
    key("servers", "The built-in servers to offer; by default the demo server, lobby.", ValueType::Servers),
    key(
        "require_key",
        "Whether every caller needs a key. The first start creates an admin key. A terminal shows it once; without a terminal it is in a file of the state folder. The admin creates the other keys.",
        ValueType::Flag { default: false },
    ),
    key("key", "An API key of a caller.", ValueType::Tables(KEY)),
    key("jwt", "Tokens of an OAuth 2.0 authorization server.", ValueType::Table(JWT)),
    key("limits", "Rates and concurrency of callers.", ValueType::Table(LIMITS)),
    key("upstream", "A server behind the gateway.", ValueType::Tables(UPSTREAM)),
    key(
        "tools",
        "Visibility, names and approval of a server's tools; `*` for every server.",
        ValueType::Named(TOOLS),
    ),
    key("prompts", "Visibility and names of a server's prompts.", ValueType::Named(PROMPTS)),
    key("resources", "Visibility of a server's resources.", ValueType::Named(RESOURCES)),
    key("rule", "A rule for some callers.", ValueType::Tables(RULE)),
    key("approval", "Calls that need human approval.", ValueType::Table(APPROVAL)),
    key("pin", "Upstream tools whose definitions change.", ValueType::Table(PIN)),
    text("cedar", "A file of Cedar policies.", "policies.cedar"),
    key("shelf", "Stored files: folder, limits and lifetime.", ValueType::Table(SHELF)),
    key("audit", "The ledger and its copies.", ValueType::Table(AUDIT)),
    key("guard", "Content guards.", ValueType::Table(GUARD)),
    key("device", "The device server: phones, simulators and mobile browsers.", ValueType::Table(DEVICE)),
    key("tasks", "The tasks server: Remember The Milk.", ValueType::Table(TASKS)),
];

static STATE: &[ConfigKey] = &[
    key(
        "url",
        "The address; rediss:// uses TLS. `${VAR}` and `${file:path}` are expanded.",
        ValueType::Address { example: "rediss://:${REDIS_PASSWORD}@redis.example:6379" },
    ),
    text("ca_file", "PEM file of the only certificates to trust over TLS.", "./ca.pem"),
];

static GUARD: &[ConfigKey] = &[
    key("secrets", "Keys, tokens and passwords.", ValueType::Table(GUARD_RULE)),
    key("pii", "Personal data.", ValueType::Table(GUARD_RULE)),
    key("injection", "Prompt injection.", ValueType::Table(INJECTION)),
    key("custom", "A custom guard.", ValueType::Tables(CUSTOM)),
];

const ACTION: ConfigKey = key(
    "action",
    "Action for a match: block, redact, audit_only or off.",
    ValueType::Text { example: "redact", pattern: Some("^(block|redact|audit_only|off)$") },
);
const CATEGORIES: ConfigKey =
    key("categories", "Categories to look for; by default all but entropy.", ValueType::Texts { least: 1 });
const DIRECTIONS: ConfigKey = key(
    "directions",
    "Messages to inspect: requests, results, errors, notices; by default all.",
    ValueType::Texts { least: 1 },
);
const ACTIONS: ConfigKey = key("servers", "Actions for single servers, by name.", ValueType::Pairs);

static GUARD_RULE: &[ConfigKey] = &[ACTION, CATEGORIES, DIRECTIONS, ACTIONS];

static INJECTION: &[ConfigKey] = &[
    ACTION,
    key(
        "sensitivity",
        "Sensitivity: relaxed, standard or strict.",
        ValueType::Text { example: "standard", pattern: Some("^(relaxed|standard|strict)$") },
    ),
    CATEGORIES,
    DIRECTIONS,
    ACTIONS,
];

pub(super) static AUDIT: &[ConfigKey] = &[
    key("ledger", "Whether records are kept; failures are always logged.", ValueType::Flag { default: true }),
    key(
        "critical",
        "Whether an answer leaves only after its record is on disk.",
        ValueType::Flag { default: false },
    ),
    key(
        "bodies",
        "Whether requests and answers are stored too, redacted and capped.",
        ValueType::Flag { default: false },
    ),
    BODY_BYTES.key(),
    text("jsonl", "A file for copies of the records, as JSON Lines.", "audit.jsonl"),
    text("csv", "A file for copies of the records, as CSV.", "audit.csv"),
    text("text", "A file for copies of the records, as text.", "audit.log"),
    key(
        "otlp",
        "An OpenTelemetry collector for records and spans, over OTLP/HTTP.",
        ValueType::AddressOr { example: "http://127.0.0.1:4318", keys: OTLP },
    ),
    key(
        "postgres",
        "A PostgreSQL database for copies of the records of several nodes.",
        ValueType::AddressOr {
            example: "postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell",
            keys: POSTGRES,
        },
    ),
    key(
        "retention",
        "How much the ledger keeps; the oldest records are removed first.",
        ValueType::Table(RETENTION),
    ),
    key("rotation", "Size and number of the files of copies.", ValueType::Table(ROTATION)),
];

static RETENTION: &[ConfigKey] = &[KEEP_DAYS.key(), KEEP_RECORDS.key(), KEEP_MB.key()];

static ROTATION: &[ConfigKey] = &[ROTATE_MB.key(), ROTATE_FILES.key()];

pub(super) static BODY_BYTES: Number = Number {
    name: "body_bytes",
    about: "Stored bytes of each body.",
    from: 256,
    to: 1 << 20,
    default: 16 << 10,
};

pub(super) static KEEP_DAYS: Number =
    Number { name: "days", about: "Days; 0 is no limit.", from: 0, to: 36_500, default: 30 };

pub(super) static KEEP_RECORDS: Number = Number {
    name: "records",
    about: "Number of records; 0 is no limit.",
    from: 0,
    to: 1_000_000_000,
    default: 1_000_000,
};

pub(super) static KEEP_MB: Number =
    Number { name: "size_mb", about: "Megabytes; 0 is no limit.", from: 0, to: 1_000_000, default: 1_024 };

pub(super) static ROTATE_MB: Number = Number {
    name: "size_mb",
    about: "Megabytes after which a new file is started; 0 is never.",
    from: 0,
    to: 1_000_000,
    default: 100,
};

pub(super) static ROTATE_FILES: Number =
    Number { name: "files", about: "Number of older files.", from: 0, to: 1_000, default: 5 };

// The keys of every program that the gateway starts.
const CWD: ConfigKey = text("cwd", "Working folder of the program; by default the folder of this file.", ".");
const ENV: ConfigKey = key("env", "Environment variables of the program.", ValueType::Secrets);
const ENV_PASS: ConfigKey = key(
    "env_pass",
    "Environment variables that the program inherits; by default PATH and HOME, and no others.",
    ValueType::Texts { least: 0 },
);

pub(super) static UPSTREAM: &[ConfigKey] = &[
    key(
        "name",
        "Its name, unique in the file.",
        ValueType::Text { example: "files", pattern: Some(NAME_PATTERN) },
    ),
    key("command", "The program to start and its arguments.", ValueType::Texts { least: 1 }),
    key(
        "url",
        "The address of a server over HTTP.",
        ValueType::Address { example: "https://tools.example/mcp" },
    ),
    key("transport", "Its HTTP transport; detected by default.", ValueType::Choice(TRANSPORTS)),
    CWD,
    ENV,
    ENV_PASS,
    key("headers", "Headers sent with every request.", ValueType::Secrets),
    text("ca_file", "PEM file of the only certificates to trust over https.", "./ca.pem"),
    key("auth", "OAuth 2.0 client credentials for its token.", ValueType::Table(AUTH)),
    key("sessions", "Whether callers share one session with it.", ValueType::Choice(SESSIONS)),
    MAX_SESSIONS.key(),
    TIMEOUT.key(),
    START_TIMEOUT.key(),
    LIST_WAIT.key(),
    key(
        "lazy",
        "Whether it starts at the first need, not with `failwell up`.",
        ValueType::Flag { default: false },
    ),
    IDLE_STOP.key(),
    MAX_MESSAGE_BYTES.key(),
    key("restart", "Limit on restarts of the program.", ValueType::Table(RESTART)),
    key(
        "trusted_errors",
        "Whether callers see excerpts of its error messages.",
        ValueType::Flag { default: false },
    ),
    key("errors", "Form of results with isError for callers.", ValueType::Choice(ERRORS)),
    key("instructions", "Whether clients get its instructions.", ValueType::Flag { default: true }),
];

/// Streamable HTTP, and the HTTP+SSE transport of MCP 2024-11-05.
pub(super) const TRANSPORTS: &[&str] = &["http", "sse"];

/// Results with `isError`: as they are, without traces and places, or none of their text.
pub(super) const ERRORS: &[&str] = &["pass", "scrub", "replace"];

/// One upstream session for all callers, or one per caller.
pub(super) const SESSIONS: &[&str] = &["shared", "per_caller"];

static AUTH: &[ConfigKey] = &[
    key(
        "token_url",
        "The address of the token endpoint.",
        ValueType::Address { example: "https://login.example/oauth/token" },
    ),
    text("client_id", "The client id of Failwell.", "failwell"),
    key("client_secret", "The client secret.", ValueType::Secret),
    text("scope", "The scope of the token.", "tools.read tools.call"),
    text("audience", "The audience of the token, for endpoints that use this name.", "https://tools.example"),
    text("resource", "The resource that the token is for (RFC 8707).", "https://tools.example/mcp"),
];

static RESTART: &[ConfigKey] = &[RESTART_BUDGET.key(), RESTART_WINDOW.key()];

pub(super) static MAX_SESSIONS: Number =
    Number { name: "max_sessions", about: "Sessions with it at once.", from: 1, to: 10_000, default: 100 };

pub(super) static TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "Time limit of one request, in seconds.",
    from: 1,
    to: 3_600,
    default: 60,
};

pub(super) static START_TIMEOUT: Number = Number {
    name: "start_timeout_s",
    about: "Time limit of a start or connection, in seconds.",
    from: 1,
    to: 3_600,
    default: 30,
};

pub(super) static LIST_WAIT: Number = Number {
    name: "list_wait_s",
    about: "How long it may delay a list of all servers, in seconds; after that it is added when it answers.",
    from: 1,
    to: 60,
    default: 2,
};

pub(super) static IDLE_STOP: Number = Number {
    name: "idle_stop_s",
    about: "Stop it after this many seconds without a request; 0 is never.",
    from: 0,
    to: 86_400,
    default: 0,
};

pub(super) static MAX_MESSAGE_BYTES: Number = Number {
    name: "max_message_bytes",
    about: "The largest message it may send, in bytes. An answer to a client cannot be larger.",
    from: 64 << 10,
    to: 16 << 20,
    default: 16 << 20,
};

pub(super) static RESTART_BUDGET: Number = Number {
    name: "budget",
    about: "Number of starts allowed in the window.",
    from: 0,
    to: 1_000,
    default: 5,
};

pub(super) static RESTART_WINDOW: Number = Number {
    name: "window_s",
    about: "The length of the window, in seconds.",
    from: 1,
    to: 86_400,
    default: 60,
};

pub(super) fn servers() -> Vec<&'static str> {
    Builtin::ALL.into_iter().map(Builtin::name).collect()
}
