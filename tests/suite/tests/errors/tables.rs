//! The tables, in the order a message is looked at.

mod bytes;
mod canary;
mod ids;
mod requests;
mod shapes;
mod tools;
