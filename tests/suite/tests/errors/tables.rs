//! The tables, in the order in which a message is checked.

mod bytes;
mod canary;
mod ids;
mod requests;
mod shapes;
mod tools;
