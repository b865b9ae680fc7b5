//! The keys of resources that are kept.

use super::{Key, Number, Takes, key, text};

pub(in super::super) static SHELF: &[Key] = &[
    text("folder", "The folder of kept resources; by default `shelf` below the folder for state.", "./shelf"),
    SHELF_BYTES.key(),
    SHELF_ITEMS.key(),
    SHELF_UPLOAD.key(),
    SHELF_TTL.key(),
    SHELF_LONGEST_TTL.key(),
    key("enabled", "Whether resources are kept at all.", Takes::Flag { default: true }),
];

pub(in super::super) static SHELF_BYTES: Number = Number {
    name: "max_bytes",
    about: "The most bytes of all kept resources together.",
    from: 1_024,
    to: 1 << 50,
    default: 1 << 30,
};

pub(in super::super) static SHELF_ITEMS: Number =
    Number { name: "max_items", about: "The most kept resources.", from: 1, to: 10_000_000, default: 10_000 };

pub(in super::super) static SHELF_UPLOAD: Number = Number {
    name: "max_upload_bytes",
    about: "The most bytes of one resource.",
    from: 1,
    to: 1 << 40,
    default: 64 << 20,
};

pub(in super::super) static SHELF_TTL: Number = Number {
    name: "ttl_s",
    about: "How long a resource is kept when nobody says, in seconds.",
    from: 1,
    to: 315_360_000,
    default: 86_400,
};

pub(in super::super) static SHELF_LONGEST_TTL: Number = Number {
    name: "max_ttl_s",
    about: "How long a resource may be kept at most, in seconds.",
    from: 1,
    to: 315_360_000,
    default: 2_592_000,
};
