//! Failures of upstreams and their tools, and the answers that callers get.

pub(super) mod faults;
mod slow;
mod tool_failures;
mod upstream_output;
