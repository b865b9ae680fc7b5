//! The ledger.

reasons! {
    AUDIT_FAILED = "audit/FAILED" {
        Unavailable, AuditFailed, Failwell,
        title: "the audit record could not be written",
        hint: "report the reference to the operator; {done}",
        about: "The operator requires a record of every exchange, and this one could not be kept. While that is known beforehand, nothing is forwarded.",
    }
    AUDIT_NOT_CARRIED = "audit/NOT_CARRIED" {
        Unavailable, AuditFailed, Failwell,
        title: "records cannot be carried elsewhere",
        hint: "report the reference to the operator",
        about: "Written in the log alone: a collector or a database does not take what is in the ledger. The ledger keeps it meanwhile, and it is carried on from where it was left.",
    }
}
