//! The keys of what carries records elsewhere.

use super::{Key, Number, Takes, key, text};

pub(super) static OTLP: &[Key] = &[
    key(
        "url",
        "The collector's address; /v1/logs and /v1/traces are added to it.",
        Takes::Address { example: "http://127.0.0.1:4318" },
    ),
    key("headers", "Headers sent with every request.", Takes::Secrets),
    text("ca_file", "Whom to trust over https, and nobody else: certificates as PEM.", "./ca.pem"),
    key("logs", "Whether the ledger's records go there, as logs.", Takes::Flag { default: true }),
    key("spans", "Whether each exchange and each upstream call is a span.", Takes::Flag { default: true }),
    OTLP_SAMPLE.key(),
    OTLP_TIMEOUT.key(),
    OTLP_BATCH.key(),
    OTLP_QUEUE.key(),
    OTLP_RETRY.key(),
];

pub(in super::super) static OTLP_SAMPLE: Number = Number {
    name: "sample_one_in",
    about: "Of traces that begin here, one in so many is kept; 0 for none. Others keep to what their caller decided.",
    from: 0,
    to: 1_000_000,
    default: 1,
};

pub(in super::super) static OTLP_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "How long one attempt may take, in seconds.",
    from: 1,
    to: 300,
    default: 10,
};

pub(in super::super) static OTLP_BATCH: Number = Number {
    name: "batch",
    about: "How many records or spans go at once at the most.",
    from: 1,
    to: 10_000,
    default: 512,
};

pub(in super::super) static OTLP_QUEUE: Number = Number {
    name: "queue",
    about: "How many spans wait at the most; more are dropped and counted.",
    from: 1,
    to: 1_000_000,
    default: 4_096,
};

pub(in super::super) static OTLP_RETRY: Number = Number {
    name: "retry_s",
    about: "For how many seconds a batch of spans is tried again; records are kept until they arrive.",
    from: 0,
    to: 3_600,
    default: 60,
};

pub(super) static POSTGRES: &[Key] = &[
    key(
        "url",
        "The database, and how to get in; may hold `${VAR}` and `${file:path}`.",
        Takes::Address { example: "postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell" },
    ),
    text("ca_file", "Whom to trust with sslmode=require, and nobody else: certificates as PEM.", "./ca.pem"),
    key(
        "critical",
        "Whether an answer also waits for its record to be there; needs `critical = true` of [audit].",
        Takes::Flag { default: false },
    ),
    POSTGRES_TIMEOUT.key(),
    POSTGRES_BATCH.key(),
];

pub(in super::super) static POSTGRES_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "How long one attempt may take, in seconds.",
    from: 1,
    to: 300,
    default: 10,
};

pub(in super::super) static POSTGRES_BATCH: Number = Number {
    name: "batch",
    about: "How many records go at once at the most.",
    from: 1,
    to: 10_000,
    default: 1_000,
};
