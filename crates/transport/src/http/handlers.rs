//! The handlers of the route table.

pub(super) mod front_page;
pub(super) mod mcp;
pub(super) mod openapi;
pub(super) mod pages;
pub(super) mod rest;
pub(super) mod rpc;
