//! The program, its folder and its peers, as the tests start them.

pub(super) mod folder;
pub(super) mod node;
pub(super) mod redis;
pub(super) mod several;
