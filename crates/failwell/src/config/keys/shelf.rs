//! The keys of stored files.

use super::{ConfigKey, Number, ValueType, key, text};

pub(in super::super) static SHELF: &[ConfigKey] = &[
    text("folder", "The folder of stored files; by default `shelf` in the state folder.", "./shelf"),
    SHELF_BYTES.key(),
    SHELF_ITEMS.key(),
    SHELF_BYTES_OF_ONE.key(),
    SHELF_ITEMS_OF_ONE.key(),
    key(
        "all_files",
        "Roles whose holders use the files of all callers; by default admin.",
        ValueType::Texts { least: 0 },
    ),
    SHELF_UPLOAD.key(),
    SHELF_TTL.key(),
    SHELF_LONGEST_TTL.key(),
    key("enabled", "Whether files are stored at all.", ValueType::Flag { default: true }),
];

pub(in super::super) static SHELF_BYTES: Number = Number {
    name: "max_bytes",
    about: "Total bytes of all stored files.",
    from: 1_024,
    to: 1 << 50,
    default: 1 << 30,
};

pub(in super::super) static SHELF_ITEMS: Number =
    Number { name: "max_items", about: "Number of stored files.", from: 1, to: 10_000_000, default: 10_000 };

pub(in super::super) static SHELF_BYTES_OF_ONE: Number = Number {
    name: "max_bytes_per_caller",
    about: "Total bytes of the stored files of one caller.",
    from: 1_024,
    to: 1 << 50,
    default: 256 << 20,
};

pub(in super::super) static SHELF_ITEMS_OF_ONE: Number = Number {
    name: "max_items_per_caller",
    about: "Number of stored files of one caller.",
    from: 1,
    to: 10_000_000,
    default: 2_500,
};

pub(in super::super) static SHELF_UPLOAD: Number = Number {
    name: "max_upload_bytes",
    about: "Bytes of one stored file.",
    from: 1,
    to: 1 << 40,
    default: 64 << 20,
};

pub(in super::super) static SHELF_TTL: Number = Number {
    name: "ttl_s",
    about: "Default lifetime of a stored file, in seconds.",
    from: 1,
    to: 315_360_000,
    default: 86_400,
};

pub(in super::super) static SHELF_LONGEST_TTL: Number = Number {
    name: "max_ttl_s",
    about: "Longest lifetime of a stored file, in seconds.",
    from: 1,
    to: 315_360_000,
    default: 2_592_000,
};
