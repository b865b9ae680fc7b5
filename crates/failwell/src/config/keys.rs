//! The one table of what may stand in the file.

mod carriers;
mod consent;
mod custom;
mod device;
mod identity;
mod jwt;
mod rules;
mod shelf;
mod tasks;

use super::Builtin;
use carriers::{OTLP, POSTGRES};
pub(super) use carriers::{
    OTLP_BATCH, OTLP_QUEUE, OTLP_RETRY, OTLP_SAMPLE, OTLP_TIMEOUT, POSTGRES_BATCH, POSTGRES_TIMEOUT,
};
use consent::{APPROVAL, PIN};
pub(super) use consent::{EXPIRES, PIN_ACTIONS, WAIT};
use custom::CUSTOM;
pub(super) use custom::{FUEL, INSTANCES, MEMORY_MB, PRIORITY, TIMEOUT_MS};
use device::DEVICE;
pub(super) use device::{
    DEVICE_ANSWER, DEVICE_IDLE, DEVICE_QUEUE, DEVICE_QUEUE_WAIT, DEVICE_SESSIONS, DEVICE_START,
    DEVICE_TIMEOUT,
};
pub(super) use identity::{BURST, CONCURRENCY};
use identity::{KEY, LIMITS};
use jwt::JWT;
use rules::{PROMPTS, RESOURCES, RULE, TOOLS};
use shelf::SHELF;
pub(super) use shelf::{SHELF_BYTES, SHELF_ITEMS, SHELF_LONGEST_TTL, SHELF_TTL, SHELF_UPLOAD};
use tasks::TASKS;
pub(super) use tasks::TASKS_TIMEOUT;

/// One key of the file.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: Takes,
}

/// What a key takes.
pub(super) enum Takes {
    Text {
        example: &'static str,
        pattern: Option<&'static str>,
    },
    /// An address that may hold a password where it should not.
    Address {
        example: &'static str,
    },
    /// An address, or a table of these keys with the address among them.
    AddressOr {
        example: &'static str,
        keys: &'static [Key],
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text that may hold `${VAR}` and `${file:path}`, and is shown to nobody.
    Secret,
    Flag {
        default: bool,
    },
    Number(&'static Number),
    /// A list of text with at least this many items.
    Texts {
        least: usize,
    },
    /// The names of built-in servers.
    Servers,
    /// A table of text that may hold `${VAR}` and `${file:path}`.
    Secrets,
    /// A table of text.
    Pairs,
    /// A table of JSON Schemas by name.
    Schemas,
    /// A table of anything, shown to nobody; text in it may hold `${VAR}` and `${file:path}`.
    Anything,
    /// A table of tables with these keys, by the name of a server.
    Named(&'static [Key]),
    Table(&'static [Key]),
    Tables(&'static [Key]),
}

/// A whole number with its bounds.
pub(super) struct Number {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) default: u64,
}

impl Number {
    const fn key(&'static self) -> Key {
        Key { name: self.name, about: self.about, takes: Takes::Number(self) }
    }
}

const fn key(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, takes }
}

const fn text(name: &'static str, about: &'static str, example: &'static str) -> Key {
    key(name, about, Takes::Text { example, pattern: None })
}

/// A name that begins with a letter, and has neither two underscores in a row nor one at its end.
pub(super) const NAME_PATTERN: &str = "^[a-z]([a-z0-9-]|_[a-z0-9-])*$";

pub(super) static ROOT: &[Key] = &[
    text("listen", "Address and port for `failwell up`.", "127.0.0.1:8484"),
    text("data_dir", "The folder for state; by default the user's state folder.", "./state"),
    key(
        "state",
        "Where several nodes keep what they share: memory for one node alone, or an address of Redis or Valkey.",
        Takes::AddressOr { example: "redis://127.0.0.1:6379", keys: STATE },
    ),
    key("servers", "The built-in servers to offer; by default all.", Takes::Servers),
    key(
        "require_key",
        "Whether every caller needs a key. The first start makes one for an admin and shows it once; the admin makes the others.",
        Takes::Flag { default: false },
    ),
    key("key", "A key that a caller may present.", Takes::Tables(KEY)),
    key("jwt", "Tokens that a caller may present, of an OAuth 2.0 authorization server.", Takes::Table(JWT)),
    key("limits", "How much callers may ask for.", Takes::Table(LIMITS)),
    key("upstream", "A server behind the gateway.", Takes::Tables(UPSTREAM)),
    key("tools", "What callers see of a server's tools; `*` for every server.", Takes::Named(TOOLS)),
    key("prompts", "What callers see of a server's prompts.", Takes::Named(PROMPTS)),
    key("resources", "What callers see of a server's resources.", Takes::Named(RESOURCES)),
    key("rule", "A rule about some callers.", Takes::Tables(RULE)),
    key("approval", "What becomes of a call that needs a person's yes.", Takes::Table(APPROVAL)),
    key("pin", "What is done when definitions of upstreams change.", Takes::Table(PIN)),
    text("cedar", "A file of Cedar policies: what callers may see and do.", "policies.cedar"),
    key("shelf", "Resources that are kept: where, how many, for how long.", Takes::Table(SHELF)),
    key("audit", "The ledger: what is kept of each exchange, and where.", Takes::Table(AUDIT)),
    key("guard", "What messages may carry.", Takes::Table(GUARD)),
    key("device", "The device server: phones, simulators and mobile browsers.", Takes::Table(DEVICE)),
    key("tasks", "The tasks server: Remember The Milk.", Takes::Table(TASKS)),
];

static STATE: &[Key] = &[
    key(
        "url",
        "The address, over TLS with rediss://; may hold `${VAR}` and `${file:path}`.",
        Takes::Address { example: "rediss://:${REDIS_PASSWORD}@redis.example:6379" },
    ),
    text("ca_file", "Whom to trust over TLS, and nobody else: certificates as PEM.", "./ca.pem"),
];

static GUARD: &[Key] = &[
    key("secrets", "Keys, tokens and passwords.", Takes::Table(GUARD_RULE)),
    key("pii", "What tells who somebody is.", Takes::Table(GUARD_RULE)),
    key("injection", "Text that wants to command a model.", Takes::Table(INJECTION)),
    key("custom", "A guard of your own.", Takes::Tables(CUSTOM)),
];

const ACTION: Key = key(
    "action",
    "What is done with what is found: block, redact, audit_only or off.",
    Takes::Text { example: "redact", pattern: Some("^(block|redact|audit_only|off)$") },
);
const CATEGORIES: Key =
    key("categories", "What is looked for; by default everything but entropy.", Takes::Texts { least: 1 });
const DIRECTIONS: Key = key(
    "directions",
    "Where it is looked for: requests, results, errors, notices; by default everywhere.",
    Takes::Texts { least: 1 },
);
const ACTIONS: Key = key("servers", "Actions of single servers, by name.", Takes::Pairs);

static GUARD_RULE: &[Key] = &[ACTION, CATEGORIES, DIRECTIONS, ACTIONS];

static INJECTION: &[Key] = &[
    ACTION,
    key(
        "sensitivity",
        "How readily it speaks up: relaxed, standard or strict.",
        Takes::Text { example: "standard", pattern: Some("^(relaxed|standard|strict)$") },
    ),
    CATEGORIES,
    DIRECTIONS,
    ACTIONS,
];

pub(super) static AUDIT: &[Key] = &[
    key(
        "ledger",
        "Whether exchanges are written down; failures are logged either way.",
        Takes::Flag { default: true },
    ),
    key(
        "critical",
        "Whether an answer may only leave when its record is on disk.",
        Takes::Flag { default: false },
    ),
    key(
        "bodies",
        "Whether requests and answers are kept too, redacted and capped.",
        Takes::Flag { default: false },
    ),
    BODY_BYTES.key(),
    text("jsonl", "A file for copies of the records, as JSON Lines.", "audit.jsonl"),
    text("csv", "A file for copies of the records, as CSV.", "audit.csv"),
    text("text", "A file for copies of the records, as text.", "audit.log"),
    key(
        "otlp",
        "An OpenTelemetry collector for the records, and for a span of each exchange, over OTLP/HTTP.",
        Takes::AddressOr { example: "http://127.0.0.1:4318", keys: OTLP },
    ),
    key(
        "postgres",
        "A PostgreSQL database for copies of the records of several nodes.",
        Takes::AddressOr {
            example: "postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell",
            keys: POSTGRES,
        },
    ),
    key("retention", "How much the ledger keeps; the oldest records go first.", Takes::Table(RETENTION)),
    key("rotation", "How large the files of copies grow.", Takes::Table(ROTATION)),
];

static RETENTION: &[Key] = &[KEEP_DAYS.key(), KEEP_RECORDS.key(), KEEP_MB.key()];

static ROTATION: &[Key] = &[ROTATE_MB.key(), ROTATE_FILES.key()];

pub(super) static BODY_BYTES: Number = Number {
    name: "body_bytes",
    about: "How many bytes of each body are kept.",
    from: 256,
    to: 1 << 20,
    default: 16 << 10,
};

pub(super) static KEEP_DAYS: Number =
    Number { name: "days", about: "For how many days; 0 for ever.", from: 0, to: 36_500, default: 30 };

pub(super) static KEEP_RECORDS: Number = Number {
    name: "records",
    about: "How many records; 0 for any number.",
    from: 0,
    to: 1_000_000_000,
    default: 1_000_000,
};

pub(super) static KEEP_MB: Number = Number {
    name: "size_mb",
    about: "How many megabytes; 0 for any number.",
    from: 0,
    to: 1_000_000,
    default: 1_024,
};

pub(super) static ROTATE_MB: Number = Number {
    name: "size_mb",
    about: "Megabytes after which a new file is begun; 0 for never.",
    from: 0,
    to: 1_000_000,
    default: 100,
};

pub(super) static ROTATE_FILES: Number =
    Number { name: "files", about: "How many older files are kept.", from: 0, to: 1_000, default: 5 };

pub(super) static UPSTREAM: &[Key] = &[
    key(
        "name",
        "Its name, unique in the file.",
        Takes::Text { example: "files", pattern: Some(NAME_PATTERN) },
    ),
    key("command", "The program to start and its arguments.", Takes::Texts { least: 1 }),
    key("url", "The address of a server over HTTP.", Takes::Address { example: "https://tools.example/mcp" }),
    key("transport", "How it speaks over HTTP; found out when it is not said.", Takes::Choice(TRANSPORTS)),
    text("cwd", "The folder the program starts in.", "."),
    key("env", "Variables for the program.", Takes::Secrets),
    key(
        "env_pass",
        "Variables the program inherits, PATH and HOME unless given; nothing else is inherited.",
        Takes::Texts { least: 0 },
    ),
    key("headers", "Headers sent with every request.", Takes::Secrets),
    text("ca_file", "Whom to trust over https, and nobody else: certificates as PEM.", "./ca.pem"),
    key(
        "auth",
        "Where to get the token it wants to see, by OAuth 2.0 client credentials.",
        Takes::Table(AUTH),
    ),
    key("sessions", "Whether callers share a session with it.", Takes::Choice(SESSIONS)),
    MAX_SESSIONS.key(),
    TIMEOUT.key(),
    START_TIMEOUT.key(),
    LIST_WAIT.key(),
    IDLE_STOP.key(),
    MAX_MESSAGE_BYTES.key(),
    key("restart", "How often the program may be started again.", Takes::Table(RESTART)),
    key(
        "trusted_errors",
        "Whether callers may see excerpts of its error messages.",
        Takes::Flag { default: false },
    ),
    key(
        "instructions",
        "Whether clients are told how it says it is to be used.",
        Takes::Flag { default: true },
    ),
];

/// Streamable HTTP, and HTTP+SSE of 2024-11-05.
pub(super) const TRANSPORTS: &[&str] = &["http", "sse"];

/// One session for all callers, or one for each.
pub(super) const SESSIONS: &[&str] = &["shared", "per_caller"];

static AUTH: &[Key] = &[
    key(
        "token_url",
        "The address of the token endpoint.",
        Takes::Address { example: "https://login.example/oauth/token" },
    ),
    text("client_id", "Who Failwell is there.", "failwell"),
    key("client_secret", "What proves it.", Takes::Secret),
    text("scope", "What the token should allow.", "tools.read tools.call"),
    text(
        "audience",
        "Whom the token is for, where the endpoint wants it under this name.",
        "https://tools.example",
    ),
    text("resource", "Whom the token is for, as RFC 8707 names it.", "https://tools.example/mcp"),
];

static RESTART: &[Key] = &[RESTART_BUDGET.key(), RESTART_WINDOW.key()];

pub(super) static MAX_SESSIONS: Number = Number {
    name: "max_sessions",
    about: "How many sessions callers may have with it at once.",
    from: 1,
    to: 10_000,
    default: 100,
};

pub(super) static TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "How long one request may take, in seconds.",
    from: 1,
    to: 3_600,
    default: 60,
};

pub(super) static START_TIMEOUT: Number = Number {
    name: "start_timeout_s",
    about: "How long starting or connecting may take, in seconds.",
    from: 1,
    to: 3_600,
    default: 30,
};

pub(super) static LIST_WAIT: Number = Number {
    name: "list_wait_s",
    about: "How long it may hold up a list of all servers, in seconds; later it is listed when it answers.",
    from: 1,
    to: 60,
    default: 2,
};

pub(super) static IDLE_STOP: Number = Number {
    name: "idle_stop_s",
    about: "Stop it after this many seconds without a request; 0 for never.",
    from: 0,
    to: 86_400,
    default: 0,
};

pub(super) static MAX_MESSAGE_BYTES: Number = Number {
    name: "max_message_bytes",
    about: "The largest message it may send, in bytes.",
    from: 64 << 10,
    to: 1 << 30,
    default: 16 << 20,
};

pub(super) static RESTART_BUDGET: Number = Number {
    name: "budget",
    about: "How many starts are allowed within the window.",
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

/// The names of the built-in servers.
pub(super) fn servers() -> Vec<&'static str> {
    Builtin::ALL.into_iter().map(Builtin::name).collect()
}
