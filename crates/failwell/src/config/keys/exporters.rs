//! The keys of exporters.

use super::{ConfigKey, Number, ValueType, key, text};

pub(super) static OTLP: &[ConfigKey] = &[
    key(
        "url",
        "The collector's address; /v1/logs and /v1/traces are added to it.",
        ValueType::Address { example: "http://127.0.0.1:4318" },
    ),
    key("headers", "Headers sent with every request.", ValueType::Secrets),
    text("ca_file", "PEM file of the only certificates to trust over https.", "./ca.pem"),
    key("logs", "Whether records are exported as logs.", ValueType::Flag { default: true }),
    key(
        "spans",
        "Whether each exchange and each upstream call is exported as a span.",
        ValueType::Flag { default: true },
    ),
    OTLP_SAMPLE.key(),
    OTLP_TIMEOUT.key(),
    OTLP_BATCH.key(),
    OTLP_QUEUE.key(),
    OTLP_RETRY.key(),
];

pub(in super::super) static OTLP_SAMPLE: Number = Number {
    name: "sample_one_in",
    about: "Sample one in N of the traces that start here; 0 is none. Other traces follow their caller's decision.",
    from: 0,
    to: 1_000_000,
    default: 1,
};

pub(in super::super) static OTLP_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "Time limit of one attempt, in seconds.",
    from: 1,
    to: 300,
    default: 10,
};

pub(in super::super) static OTLP_BATCH: Number =
    Number { name: "batch", about: "Most records or spans in one batch.", from: 1, to: 10_000, default: 512 };

pub(in super::super) static OTLP_QUEUE: Number = Number {
    name: "queue",
    about: "Most waiting spans; further ones are dropped and counted.",
    from: 1,
    to: 1_000_000,
    default: 4_096,
};

pub(in super::super) static OTLP_RETRY: Number = Number {
    name: "retry_s",
    about: "Seconds for which a batch of spans is retried; records are kept until they arrive.",
    from: 0,
    to: 3_600,
    default: 60,
};

pub(super) static POSTGRES: &[ConfigKey] = &[
    key(
        "url",
        "The database and its credentials; `${VAR}` and `${file:path}` are expanded.",
        ValueType::Address { example: "postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell" },
    ),
    text("ca_file", "PEM file of the only certificates to trust with sslmode=require.", "./ca.pem"),
    key(
        "critical",
        "Whether an answer also waits for its record there; needs `critical = true` in [audit].",
        ValueType::Flag { default: false },
    ),
    POSTGRES_TIMEOUT.key(),
    POSTGRES_BATCH.key(),
];

pub(in super::super) static POSTGRES_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "Time limit of one attempt, in seconds.",
    from: 1,
    to: 300,
    default: 10,
};

pub(in super::super) static POSTGRES_BATCH: Number =
    Number { name: "batch", about: "Most records in one batch.", from: 1, to: 10_000, default: 1_000 };
