//! Findings by cause: one mistake of a server often shows in many checks.

use super::CheckReport;
use crate::checks::verdict::Verdict;

/// Checks that did not hold for the same reason.
pub(super) struct Cause<'a> {
    pub(super) why: &'a str,
    pub(super) is_broken: bool,
    /// Their ids, in the order of the report.
    pub(super) checks: Vec<&'a str>,
    lost: u32,
}

/// The causes, those that cost the most points first.
pub(super) fn causes(checks: &[CheckReport]) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for check in checks {
        let (Verdict::Broken { why } | Verdict::Short { why }) = &check.verdict else { continue };
        let is_broken = matches!(check.verdict, Verdict::Broken { .. });
        let lost = check.verdict.half_points(check.level).map_or(0, |(won, whole)| whole - won);
        match causes.iter_mut().find(|cause| cause.why == why && cause.is_broken == is_broken) {
            Some(cause) => {
                cause.checks.push(&check.id);
                cause.lost += lost;
            }
            None => causes.push(Cause { why, is_broken, checks: vec![&check.id], lost }),
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.lost));
    causes
}
