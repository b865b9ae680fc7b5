//! The keys of the device server.

use super::{ConfigKey, NAME_PATTERN, Number, ValueType, key, text};

pub(in super::super) static DEVICE: &[ConfigKey] = &[
    key("devices", "A device and its driver.", ValueType::Tables(ONE)),
    key(
        "apps",
        "Folders from which callers may install apps; by default none.",
        ValueType::Texts { least: 0 },
    ),
    key(
        "allow_capabilities",
        "Capabilities that callers may set besides the harmless ones. Some make a driver run programs or read files.",
        ValueType::Texts { least: 0 },
    ),
    DEVICE_TIMEOUT.key(),
    DEVICE_START.key(),
    DEVICE_IDLE.key(),
    DEVICE_QUEUE.key(),
    DEVICE_QUEUE_WAIT.key(),
    DEVICE_ANSWER.key(),
];

static ONE: &[ConfigKey] = &[
    key(
        "name",
        "Its name for callers, unique in the file.",
        ValueType::Text { example: "phone", pattern: Some(NAME_PATTERN) },
    ),
    key("driver", "Its driver.", ValueType::Choice(&failwell_device::DriverKind::NAMES)),
    key(
        "url",
        "Address of a running driver, with its base path.",
        ValueType::Address { example: "http://127.0.0.1:4723" },
    ),
    key("headers", "Headers sent with every request to url.", ValueType::Secrets),
    key(
        "command",
        "The driver to start when a session needs it, and its arguments; `{port}` becomes a free port.",
        ValueType::Texts { least: 1 },
    ),
    key(
        "env_pass",
        "Environment variables that the driver inherits besides the usual ones.",
        ValueType::Texts { least: 0 },
    ),
    key("capabilities", "W3C capabilities of its sessions.", ValueType::Anything),
    text("udid", "The simulator, for simctl; by default the booted one.", "booted"),
    DEVICE_SESSIONS.key(),
];

pub(in super::super) static DEVICE_SESSIONS: Number = Number {
    name: "sessions",
    about: "Sessions at once: one for a phone, more for a browser.",
    from: 1,
    to: 64,
    default: 1,
};

pub(in super::super) static DEVICE_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "Time limit of one answer of a driver, in seconds.",
    from: 1,
    to: 600,
    default: 30,
};

pub(in super::super) static DEVICE_START: Number = Number {
    name: "start_timeout_s",
    about: "Time limit for a driver and its session to start, in seconds.",
    from: 1,
    to: 1_800,
    default: 120,
};

pub(in super::super) static DEVICE_IDLE: Number = Number {
    name: "idle_s",
    about: "A session ends after this many seconds without a call.",
    from: 5,
    to: 86_400,
    default: 600,
};

pub(in super::super) static DEVICE_QUEUE: Number =
    Number { name: "queue", about: "Calls that may wait for one device.", from: 0, to: 1_000, default: 16 };

pub(in super::super) static DEVICE_QUEUE_WAIT: Number = Number {
    name: "queue_wait_s",
    about: "How long a call waits for the device, in seconds.",
    from: 1,
    to: 600,
    default: 30,
};

pub(in super::super) static DEVICE_ANSWER: Number = Number {
    name: "max_answer_bytes",
    about: "Largest answer of a driver, in bytes.",
    from: 1 << 16,
    to: 1 << 30,
    default: 64 << 20,
};
