pub(crate) mod client;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod pacer;
pub(crate) mod signature;
pub(crate) mod token_storage;
