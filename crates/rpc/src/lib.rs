//! The letter: strict scan, messages, ids, protocol eras, and where to reply.
