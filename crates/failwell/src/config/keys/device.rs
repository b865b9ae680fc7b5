//! The keys of the device server.

use super::{Key, NAME_PATTERN, Number, Takes, key, text};

pub(in super::super) static DEVICE: &[Key] = &[
    key("devices", "A device, and what drives it.", Takes::Tables(ONE)),
    key("apps", "Folders that callers may install apps from; none unless given.", Takes::Texts { least: 0 }),
    key(
        "allow_capabilities",
        "Capabilities callers may set beside the harmless ones. Some make a driver run programs or read files.",
        Takes::Texts { least: 0 },
    ),
    DEVICE_TIMEOUT.key(),
    DEVICE_START.key(),
    DEVICE_IDLE.key(),
    DEVICE_QUEUE.key(),
    DEVICE_QUEUE_WAIT.key(),
    DEVICE_ANSWER.key(),
];

static ONE: &[Key] = &[
    key(
        "name",
        "What callers call it, unique in the file.",
        Takes::Text { example: "phone", pattern: Some(NAME_PATTERN) },
    ),
    key("driver", "What drives it.", Takes::Choice(&failwell_device::DriverKind::NAMES)),
    key(
        "url",
        "Where the driver runs already, with its base path.",
        Takes::Address { example: "http://127.0.0.1:4723" },
    ),
    key("headers", "Headers sent with every request to url.", Takes::Secrets),
    key(
        "command",
        "The driver to start when a session needs it, and its arguments; `{port}` becomes a free port.",
        Takes::Texts { least: 1 },
    ),
    key("env_pass", "Variables the driver inherits beside the usual ones.", Takes::Texts { least: 0 }),
    key("capabilities", "W3C capabilities of its sessions.", Takes::Anything),
    text("udid", "Which simulator, for simctl; the booted one unless given.", "booted"),
    DEVICE_SESSIONS.key(),
];

pub(in super::super) static DEVICE_SESSIONS: Number = Number {
    name: "sessions",
    about: "How many sessions it has at once: one for a phone, more for a browser.",
    from: 1,
    to: 64,
    default: 1,
};

pub(in super::super) static DEVICE_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "How long one answer of a driver may take, in seconds.",
    from: 1,
    to: 600,
    default: 30,
};

pub(in super::super) static DEVICE_START: Number = Number {
    name: "start_timeout_s",
    about: "How long a driver and its session may take to start, in seconds.",
    from: 1,
    to: 1_800,
    default: 120,
};

pub(in super::super) static DEVICE_IDLE: Number = Number {
    name: "idle_s",
    about: "After so many seconds without a call a session is ended.",
    from: 5,
    to: 86_400,
    default: 600,
};

pub(in super::super) static DEVICE_QUEUE: Number = Number {
    name: "queue",
    about: "How many calls may wait for their turn at one device.",
    from: 0,
    to: 1_000,
    default: 16,
};

pub(in super::super) static DEVICE_QUEUE_WAIT: Number = Number {
    name: "queue_wait_s",
    about: "How long a call waits for its turn, in seconds.",
    from: 1,
    to: 600,
    default: 30,
};

pub(in super::super) static DEVICE_ANSWER: Number = Number {
    name: "max_answer_bytes",
    about: "The most bytes of one answer of a driver.",
    from: 1 << 16,
    to: 1 << 30,
    default: 64 << 20,
};
