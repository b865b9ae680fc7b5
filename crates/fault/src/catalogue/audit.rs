//! The ledger.

reasons! {
    AUDIT_FAILED = "audit/FAILED" {
        Unavailable, AuditFailed, Failwell,
        title: "the audit record could not be written",
        hint: "report the reference to the operator; {done}",
        about: "The operator requires a record of every exchange, and this one could not be kept. While that is known beforehand, nothing is forwarded.",
    }
}
