//! The scribe: from where to reply and what happened to bytes; every code and status lives here.
