//! The audit ledger.

crate::reasons! {
    pub(crate) static ROWS;

    AUDIT_FAILED = "audit/FAILED" {
        Unavailable, AuditFailed, Failwell,
        title: "the audit record could not be written",
        hint: "report the reference to the operator; {done}",
        about: "The operator requires a record of every exchange, and this record could not be written. While the ledger is known to be unwritable, requests are not forwarded.",
    }
    AUDIT_NOT_CARRIED = "audit/NOT_CARRIED" {
        Unavailable, AuditFailed, Failwell,
        title: "audit records cannot be exported",
        hint: "report the reference to the operator",
        about: "This reason appears only in the log. A collector or a database does not accept the records. The ledger keeps them, and the export resumes where it stopped.",
    }
}
