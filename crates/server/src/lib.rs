//! The corridor: the walk of one message, and the trait a tool server implements.
