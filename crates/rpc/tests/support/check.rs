//! The first defect that the scanner finds.

use failwell_rpc::scan::{Scan, scan};
use failwell_rpc::{Defect, Limits};

pub(crate) fn verdict(bytes: &[u8], limits: &Limits) -> Option<Defect> {
    match scan(bytes, limits) {
        Err(defect) => Some(defect),
        Ok(Scan::One(envelope)) => envelope.soft_defect(),
        Ok(Scan::Batch(envelopes)) => envelopes.iter().find_map(|envelope| envelope.soft_defect()),
    }
}

/// Tries each value alone, inside an array and as a member, with whitespace around it.
pub(crate) fn check(value: &str, expect: fn(Option<Defect>) -> bool) {
    for text in [
        value.to_owned(),
        format!("[{value}]"),
        format!(" [ 0 , {value}\n] "),
        format!("{{\"a\":{value}}}"),
        format!("{{ \"b\" : [ ] ,\t\"a\"\r:\n{value} }} "),
    ] {
        let found = verdict(text.as_bytes(), &Limits::default());
        assert!(expect(found), "{text:?} gave {found:?}");
    }
}
